// Stores that others write at this very moment, on a real disk.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "os/linux/linux_clock.h"
#include "os/linux/linux_world.h"
#include "os/linux/temporary_folder.h"
#include "store/foreign/foreign_store.h"
#include "store/foreign/foreign_write.h"

namespace tend {
namespace {

using namespace std::chrono;

bool everybody(std::int64_t, const std::optional<WallTime>&) { return true; }

/// The clock of the disk.
WallTime now_on(const TemporaryFolder& folder, LinuxFiles& files) {
  folder.write("clock", "x");
  return files.modified(folder / "clock").value().value();
}

/// How often a store is read in the middle of its writing; TEND_STORE_READS says it in full.
int reads() {
  const char* const wanted = std::getenv("TEND_STORE_READS");
  return wanted == nullptr ? 15'000 : std::max(1, std::atoi(wanted));
}

/// Writes without care, in pieces, each of them seen by who looks: over an emptied file or, where
/// the file stays as long as it is, over what is there.
class CarelessWriter {
 public:
  enum class Way : std::uint8_t { truncates, writes_over };

  CarelessWriter(std::string path, Way way, std::function<WallTime(int cycle)> clock)
      : path_(std::move(path)), way_(way), clock_(std::move(clock)) {
    write(0);
    thread_ = std::jthread([this](const std::stop_token& over) {
      for (int cycle = 1; !over.stop_requested(); ++cycle) write(cycle);
    });
  }

  /// The time of the last beat that is whole for certain, and of the one that may have begun.
  [[nodiscard]] WallTime done() const { return WallTime{nanoseconds{done_}}; }
  [[nodiscard]] WallTime begun() const { return WallTime{nanoseconds{begun_}}; }

 private:
  void write(int cycle) {
    const WallTime at = clock_(cycle);
    begun_ = at.time_since_epoch().count();
    const std::string text = fmt::format("{{\n  \"timestamp\": \"{}\",\n  \"cycle\": \"{:09}\"\n}}",
                                         format_foreign_time(at, {.decimals = 9}), cycle);
    auto mode =
        std::ios::out | (cycle > 0 && way_ == Way::writes_over ? std::ios::in : std::ios::trunc);
    std::ofstream file(path_, mode);
    constexpr std::size_t kPieces = 6;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      const std::size_t from = text.size() * piece / kPieces;
      const std::size_t to = text.size() * (piece + 1) / kPieces;
      file << text.substr(from, to - from) << std::flush;
    }
    done_ = begun_.load();
  }

  std::string path_;
  Way way_;
  std::function<WallTime(int)> clock_;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<std::int64_t> begun_ = 0;
  std::jthread thread_;
};

// S21: half-written JSON.
TEST(ForeignRace,
     S21_a_store_that_is_truncated_and_written_never_gives_a_time_that_was_not_written) {
  const TemporaryFolder folder;
  LinuxFiles files;
  const WallTime begin = now_on(folder, files);
  // The times lie an hour back, so that they can be told from those of the disk.
  const WallTime first = begin - hours{1};
  CarelessWriter writer(folder / "h.json", CarelessWriter::Way::truncates,
                        [&](int cycle) { return first + milliseconds{cycle}; });
  const ForeignStore store{
      .kind = StoreKind::json_time, .path = folder / "h.json", .field = "timestamp"};
  WallTime last = first;
  int whole = 0;
  for (int i = 0; i < reads(); ++i) {
    const auto reading = read_store(files, store, {.now = begin + hours{1}}, everybody);
    ASSERT_TRUE(reading.last_sign.has_value()) << reading.problem;
    if (reading.from_mtime) {
      ASSERT_GE(*reading.last_sign, begin) << reading.problem;
      ASSERT_NE(reading.problem, "");
    } else {
      ++whole;
      ASSERT_GE(*reading.last_sign, last);
      ASSERT_LE(*reading.last_sign, writer.begun());
      ASSERT_EQ((*reading.last_sign - first) % milliseconds{1}, nanoseconds{});
      last = *reading.last_sign;
    }
  }
  EXPECT_GT(whole, 0);
}

class CarelessWriters : public testing::TestWithParam<CarelessWriter::Way> {};

TEST_P(CarelessWriters, S21_never_look_silent_and_never_alive_for_longer_than_they_are) {
  constexpr minutes kStale{5};
  constexpr seconds kCoarse{1};
  constexpr seconds kAhead{15};
  const TemporaryFolder folder;
  LinuxFiles files;
  LinuxClock clock;
  CarelessWriter writer(folder / "s.json", GetParam(), [](int) { return LinuxClock().wall(); });
  const ForeignStore store{.kind = StoreKind::session_state, .path = folder / "s.json"};
  for (int i = 0; i < reads(); ++i) {
    const WallTime before = writer.done();
    const auto reading = read_store(files, store, {.now = clock.wall()}, everybody);
    const WallTime now = clock.wall();
    ASSERT_TRUE(reading.last_sign.has_value()) << reading.problem;
    ASSERT_GE(*reading.last_sign, before - kCoarse) << reading.problem;
    ASSERT_LE(*reading.last_sign, now + kAhead) << reading.problem;
    ASSERT_LT(now - *reading.last_sign, kStale) << reading.problem;
  }
}

INSTANTIATE_TEST_SUITE_P(ForeignRace, CarelessWriters,
                         testing::Values(CarelessWriter::Way::truncates,
                                         CarelessWriter::Way::writes_over),
                         [](const auto& way) {
                           return way.param == CarelessWriter::Way::truncates ? "truncating"
                                                                              : "writing_over";
                         });

// S21: a bare pid is whole whatever part of it is there, and still never a wrong one.
TEST(ForeignRace, S21_a_bare_pid_that_is_written_in_pieces_is_never_another) {
  const TemporaryFolder folder;
  LinuxFiles files;
  LinuxClock clock;
  const auto write = [&] {
    std::ofstream file(folder / ".running", std::ios::trunc);
    file << "47" << std::flush << "11\n" << std::flush;
  };
  write();
  std::jthread writer([&](const std::stop_token& over) {
    while (!over.stop_requested()) write();
  });
  const ForeignStore store{.kind = StoreKind::heartbeat_dir, .path = folder.path()};
  int wrong = 0;
  int whole = 0;
  for (int i = 0; i < reads() / 4; ++i) {
    const auto reading = read_store(files, store, {.now = clock.wall()}, everybody);
    wrong += reading.pid != 0 && reading.pid != 4711 ? 1 : 0;
    whole += reading.pid == 4711 ? 1 : 0;
    ASSERT_TRUE(reading.last_sign.has_value()) << reading.problem;
  }
  EXPECT_GT(whole, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(ForeignRace, writers_under_one_lock_lose_none_of_each_others_beats) {
  constexpr std::int64_t kWriters = 3;
  constexpr int kBeats = 20;
  const TemporaryFolder folder;
  LinuxFiles files;
  const WallTime begin = now_on(folder, files);
  std::string agents;
  for (std::int64_t pid = 1; pid <= kWriters; ++pid) {
    agents +=
        fmt::format("{}{{\"pid\": {}, \"last_heartbeat\": 1767557953}}", pid == 1 ? "" : ", ", pid);
  }
  folder.write("r.json", "{\"agents\": [" + agents + "]}\n");
  const auto beat = [&](std::int64_t pid) {
    const ForeignStore store{.kind = StoreKind::registry,
                             .path = folder / "r.json",
                             .field = fmt::format("agents[pid={}].last_heartbeat", pid),
                             .locked = true};
    LinuxFiles own;
    for (int i = 1, tries = 0; i <= kBeats && tries < 1'000'000; ++tries) {
      const TimeContext context{.now = begin + seconds{i}};
      const StoreBeat one{.pid = pid, .writer = {.id = fmt::format("w{}", pid), .pid = pid}};
      if (write_store(own, store, one, context, everybody)) ++i;
    }
  };
  {
    std::vector<std::jthread> writers;
    for (std::int64_t pid = 1; pid <= kWriters; ++pid) writers.emplace_back(beat, pid);
  }
  const auto wanted = floor<seconds>(begin.time_since_epoch()) + seconds{kBeats};
  const auto registry = ReadJson::parse(folder.read("r.json"));
  for (const auto& agent : registry["agents"]) {
    EXPECT_EQ(agent["last_heartbeat"].get<std::int64_t>(), wanted.count()) << agent;
  }
  EXPECT_EQ(files.read(folder / "r.json.lock", 1).value(), std::nullopt);
}

}  // namespace
}  // namespace tend
