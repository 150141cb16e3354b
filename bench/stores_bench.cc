// What it costs to sweep 10,000 heartbeat files of another system: reading each as a store beside
// statx, open, read and close of the same files. Processor time, because the disk's is not ours.
#include <sys/resource.h>
#include <sys/stat.h>

#include "kept.h"
#include "os/linux/linux_world.h"
#include "store/foreign/foreign_store.h"

namespace tend::bench {
namespace {

constexpr std::size_t kFiles = 10'000;
constexpr int kTimes = 21;
const TimeContext kNow{.now = WallTime{std::chrono::seconds{1'767'558'013}}};

double processor_milliseconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// A folder of files that are all alike.
class Sweep {
 public:
  Sweep(fs::path folder, StoreKind kind, std::string field, const std::string& text)
      : kind_(kind), field_(std::move(field)) {
    fs::create_directories(folder);
    for (std::size_t i = 0; i < kFiles; ++i) {
      paths_.push_back(folder / ("gt-rig-" + std::to_string(i) + ".json"));
      std::ofstream(paths_.back(), std::ios::binary) << text;
    }
  }

  [[nodiscard]] double raw() const {
    const double from = processor_milliseconds();
    char into[4096];  // NOLINT
    for (const std::string& path : paths_) {
      struct statx facts{};
      if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS, &facts) != 0) give_up("no file");
      const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (::read(file, into, sizeof into) <= 0) give_up("nothing in a file");
      ::close(file);
    }
    return processor_milliseconds() - from;
  }
  [[nodiscard]] double ours() {
    const double from = processor_milliseconds();
    const auto lives = [](std::int64_t, const std::optional<WallTime>&) { return true; };
    for (const std::string& path : paths_) {
      const auto reading =
          read_store(files_, {.kind = kind_, .path = path, .field = field_}, kNow, lives);
      if (!reading.last_sign || !reading.problem.empty()) give_up(reading.problem);
    }
    return processor_milliseconds() - from;
  }

 private:
  StoreKind kind_;
  std::string field_;
  std::vector<std::string> paths_;
  LinuxFiles files_;
};

void measure(Sweep sweep, const std::string& what) {
  std::vector<double> raw;
  std::vector<double> ours;
  for (int i = 0; i < kTimes; ++i) {
    raw.push_back(sweep.raw());
    ours.push_back(sweep.ours());
  }
  for (const double part : {0.1, 0.5}) {
    row(what + (part < 0.5 ? ", p10" : ", p50"), quantile(ours, part), quantile(raw, part), "ms",
        "3");
  }
}

void compare() {
  const BenchHome home;
  std::printf("%zu heartbeat files of another system; processor time\n", kFiles);
  table_head();
  measure({home.path() / "sessions", StoreKind::session_state, "",
           R"({"timestamp":"2026-01-04T20:19:13.123456789Z","state":"working",)"
           R"("context":"patrol","bead":"gt-12"})"},
          "session-state");
  measure({home.path() / "deacons", StoreKind::json_time, "timestamp",
           "{\n  \"timestamp\": \"2026-01-04T20:19:13.123456789Z\",\n  \"cycle\": 41,\n"
           "  \"last_action\": \"patrol\",\n  \"healthy_agents\": 3,\n"
           "  \"unhealthy_agents\": 0\n}"},
          "json-time");
}

}  // namespace
}  // namespace tend::bench

int main() { tend::bench::compare(); }
