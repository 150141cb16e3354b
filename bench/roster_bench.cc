// What it costs to look at a home with 1,000 agents that are all at work: `tend status` and `tend
// tree` beside opening and reading the same files. Processor time, because the disk's is not ours.
// The agents are copies of one that was really kept, in trees of 50; this program holds their
// locks, so that they count as kept.
#include <sys/resource.h>

#include <array>

#include "kept.h"

namespace tend::bench {
namespace {

constexpr std::size_t kAgents = 1000;
constexpr std::size_t kInTree = 50;
constexpr int kTimes = 11;
constexpr auto kSettle = 4s;  // so long the agent that is copied writes its journal
constexpr const char* kJournal = "journal.jsonl";
constexpr std::uintmax_t kLongJournal = std::uintmax_t{64} * 1024;
constexpr std::array<const char*, 3> kCopied{".heartbeat", "agent.json", kJournal};
constexpr std::array<const char*, 3> kRead{".heartbeat", ".lock", kJournal};

void write_all(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// A home of copies, and the locks of all of them.
class Copies {
 public:
  Copies(fs::path home, const fs::path& like) : home_(std::move(home)), like_(like) {
    const rlimit enough{kAgents + 100, kAgents + 100};
    if (::setrlimit(RLIMIT_NOFILE, &enough) != 0) give_up("too few files may be open");
    fs::path root;
    for (std::size_t i = 0; i < kAgents; ++i) {
      const std::string name = "agent" + std::to_string(10'000 + i);
      const bool is_root = i % kInTree == 0;
      if (is_root) root = home_ / "sessions" / name;
      add(is_root ? root : root / "coding" / name, name, is_root ? "" : root / ".heartbeat");
    }
  }
  ~Copies() {
    for (const int lock : locks_) ::close(lock);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  [[nodiscard]] const std::vector<fs::path>& folders() const { return folders_; }

  /// Lets each journal go on, a sign of life every millisecond, until it has that many bytes.
  void lengthen_journals(std::uintmax_t size) const {
    const std::string begin = read_all(folders_.front() / kJournal);
    const std::size_t last_line = begin.rfind("{\"t\":");
    double at = number_after(begin.substr(last_line), "\"t\":");
    const double offset = number_after(begin.substr(last_line), "\"offset\":");
    std::string more;
    while (begin.size() + more.size() < size) {
      char line[96];  // NOLINT
      std::snprintf(line, sizeof line, "{\"t\":%.3f,\"is\":\"progress\",\"offset\":%.0f}\n",
                    at += 0.001, offset);
      more += line;
    }
    for (const fs::path& folder : folders_) {
      std::ofstream(folder / kJournal, std::ios::binary | std::ios::app) << more;
    }
  }

 private:
  void add(const fs::path& folder, const std::string& name, const fs::path& parent) {
    fs::create_directories(folder);
    for (fs::path part = folder; part != home_.parent_path(); part = part.parent_path()) {
      fs::permissions(part, fs::perms::owner_all);
    }
    for (const char* const file : kCopied) {
      std::string text =
          replaced(read_all(like_ / file), "\"agent\":\"like\"", "\"agent\":\"" + name + "\"");
      text = replaced(std::move(text), "\"parent_heartbeat\":\"\"",
                      "\"parent_heartbeat\":\"" + parent.string() + "\"");
      write_all(folder / file, text);
    }
    hold(folder / ".lock");
    folders_.push_back(folder);
  }

  void hold(const fs::path& lock) {
    write_all(lock, read_all(like_ / ".lock"));
    const int file = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (file < 0 || ::fcntl(file, F_OFD_SETLK, &whole) != 0) give_up("a lock cannot be held");
    locks_.push_back(file);
  }

  fs::path home_;
  fs::path like_;
  std::vector<fs::path> folders_;
  std::vector<int> locks_;
};

double milliseconds(const rusage& usage) {
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double cost_of(const std::vector<std::string>& command) {
  rusage usage{};
  int status = 0;
  if (::wait4(start(command), &status, 0, &usage) < 0 || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0) {
    give_up(command[0] + " " + command[1] + " did not find all well");
  }
  return milliseconds(usage);
}

/// Reads all of it, and does nothing with it.
double cost_of_reading(const std::vector<fs::path>& folders) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  std::vector<char> into(std::size_t{1024} * 1024);
  for (const fs::path& folder : folders) {
    for (const char* const name : kRead) {
      const int file = ::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0) give_up("cannot read what was copied");
      while (::read(file, into.data(), into.size()) > 0) continue;
      ::close(file);
    }
  }
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  return milliseconds(after) - milliseconds(before);
}

void measure(const Copies& copies, const std::string& which) {
  std::vector<double> raw;
  std::vector<double> status;
  std::vector<double> tree;
  for (int i = 0; i < kTimes; ++i) {
    raw.push_back(cost_of_reading(copies.folders()));
    status.push_back(cost_of({kTend, "status"}));
    tree.push_back(cost_of({kTend, "tree"}));
  }
  for (const double part : {0.1, 0.5}) {
    const std::string of = (part < 0.5 ? ", p10, " : ", p50, ") + which;
    row("tend status" + of, quantile(status, part), quantile(raw, part), "ms", "150 ms");
    row("tend tree" + of, quantile(tree, part), quantile(raw, part), "ms", "150 ms");
  }
}

void compare() {
  const BenchHome home;
  run({kTend, "run", "-d", "--name", "like", "--policy", "agent", "--", "/bin/sh", "-c",
       "n=0; while [ $n -lt 300 ]; do echo line $n; n=$((n+1)); sleep 0.01; done; sleep 1000"});
  std::this_thread::sleep_for(kSettle);
  const Copies copies(home.path() / "many", home.agents().front());
  ::setenv("TEND_HOME", (home.path() / "many").c_str(), 1);
  std::printf("%zu agents in trees of %zu, all at work; processor time\n", kAgents, kInTree);
  table_head();
  const auto size = fs::file_size(copies.folders().front() / kJournal);
  measure(copies, "journals of " + std::to_string(size) + " bytes");
  copies.lengthen_journals(kLongJournal);
  measure(copies, "of " + std::to_string(kLongJournal / 1024) + " KB");
}

}  // namespace
}  // namespace tend::bench

int main() { tend::bench::compare(); }
