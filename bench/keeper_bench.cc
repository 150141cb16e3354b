// How fast a keeper is: from kill -9 of its program to the first word about it in the journal, and
// to the first word of the program's next life; and what it holds while it sleeps. Each beside a
// loop that does nothing else (raw_keeper), killed in turn, so that the load of the machine hits
// both. The ratios are what counts; the times are the machine's.
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <memory>

#include "kept.h"

namespace tend::bench {
namespace {

constexpr int kKills = 80;
constexpr int kWarmUp = 5;
constexpr auto kRest = 150ms;  // long enough that the budget is refilled and the load is gone
constexpr int kPatienceMs = 10'000;

/// A keeper of either kind, seen from outside.
class Kept {
 public:
  Kept(const fs::path& folder, const fs::path& fifo)
      : watch_(::inotify_init1(IN_CLOEXEC)), fifo_(::open(fifo.c_str(), O_RDWR | O_CLOEXEC)) {
    if (::inotify_add_watch(watch_, folder.c_str(), IN_MODIFY) < 0) give_up("no inotify");
  }
  ~Kept() {
    ::close(watch_);
    ::close(fifo_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// Waits for the program's first word, which is its number.
  void wait_for_start() {
    pollfd said{fifo_, POLLIN, 0};
    if (::poll(&said, 1, kPatienceMs) != 1) give_up("the program was not started");
    read_number();
  }

  /// Kills the program and waits for both: the journal's word and the next life's.
  void kill_once() {
    drain_hints();
    const auto from = Clock::now();
    if (::kill(program_, SIGKILL) != 0) give_up("the program is not there");
    double noted = 0;
    double said = 0;
    while (said == 0) {
      std::array<pollfd, 2> ready{{{watch_, POLLIN, 0}, {fifo_, POLLIN, 0}}};
      if (::poll(ready.data(), ready.size(), kPatienceMs) < 1) give_up("it was not started again");
      const double now = seconds_since(from) * 1e3;
      if (noted == 0 && (ready[0].revents & POLLIN) != 0 && hears_of_journal()) noted = now;
      if ((ready[1].revents & POLLIN) != 0) {
        said = now;
        read_number();
      }
    }
    noticed.push_back(noted);
    back.push_back(said);
  }

  void forget() {
    noticed.clear();
    back.clear();
  }

  std::vector<double> noticed;  // ms
  std::vector<double> back;     // ms

 private:
  bool hears_of_journal() const {
    alignas(inotify_event) std::array<char, 4096> hints{};
    const ssize_t size = ::read(watch_, hints.data(), hints.size());
    return size > 0 &&
           std::string_view(hints.data(), static_cast<std::size_t>(size)).find("journal.jsonl") !=
               std::string_view::npos;
  }
  void drain_hints() const {
    pollfd hint{watch_, POLLIN, 0};
    while (::poll(&hint, 1, 0) == 1) hears_of_journal();
  }
  void read_number() {
    std::array<char, 64> text{};
    if (::read(fifo_, text.data(), text.size() - 1) > 0) program_ = std::atoi(text.data());
  }

  int watch_;
  int fifo_;
  pid_t program_ = 0;
};

fs::path make_fifo(const BenchHome& home, const char* name) {
  const fs::path path = home.path() / name;
  if (::mkfifo(path.c_str(), 0600) != 0) give_up("no FIFO");
  return path;
}

/// A policy that never says "too often": here it is killed all the time.
fs::path write_policy(const BenchHome& home) {
  const fs::path path = home.path() / "often.toml";
  std::ofstream(path) << "[policy.often]\nextends = \"agent\"\nbudget.between_refills = 100000\n"
                         "budget.per_agent = 100000\nbudget.refill_after = \"50ms\"\n";
  return path;
}

void compare() {
  const BenchHome home;
  const fs::path our_fifo = make_fifo(home, "ours");
  const fs::path raw_fifo = make_fifo(home, "raw");
  const fs::path raw_folder = home.path() / "raw_keeper";
  fs::create_directory(raw_folder);

  // Another keeper, so that the pages of the program itself are shared as they are in real use.
  run({kTend, "run", "--detach", "--worktree", "none", "--", "/bin/sleep", "100000"});
  const fs::path quiet = home.agents().front();
  Kept raw(raw_folder, raw_fifo);
  const pid_t raw_keeper = start({kRawKeeper, raw_folder, kSpeaker, raw_fifo});
  raw.wait_for_start();
  run({kTend, "run", "--detach", "--worktree", "none", "--policy", write_policy(home), "--restart",
       "on-failure", "--", kSpeaker, our_fifo});
  const std::vector<fs::path> agents = home.agents();
  const fs::path& agent = agents[agents[0] == quiet ? 1 : 0];
  Kept ours(agent, our_fifo);
  ours.wait_for_start();

  for (int i = 0; i < kKills + kWarmUp; ++i) {
    for (Kept* one : {&ours, &raw}) {
      std::this_thread::sleep_for(kRest);
      one->kill_once();
      if (i < kWarmUp) one->forget();
    }
  }
  const Memory our_memory = memory_of(BenchHome::keeper_of(quiet));
  const Memory raw_memory = memory_of(raw_keeper);
  ::kill(raw_keeper, SIGKILL);
  ::waitpid(raw_keeper, nullptr, 0);

  table_head();
  for (const auto& [part, name] : {std::pair(0.1, "p10"), {0.5, "p50"}, {0.9, "p90"}}) {
    row(std::string("kill -9 to noted in the journal, ") + name, quantile(ours.noticed, part),
        quantile(raw.noticed, part), "ms", "1.5");
  }
  for (const auto& [part, name] : {std::pair(0.1, "p10"), {0.5, "p50"}, {0.9, "p90"}}) {
    row(std::string("kill -9 to the next life's first word, ") + name, quantile(ours.back, part),
        quantile(raw.back, part), "ms", "1.3");
  }
  row("memory of a sleeping keeper, written to", our_memory.dirty, raw_memory.dirty, "MB", "1 MB");
  row("memory of a sleeping keeper, its own", our_memory.alone, raw_memory.alone, "MB", "1 MB");
}

}  // namespace
}  // namespace tend::bench

int main() { tend::bench::compare(); }
