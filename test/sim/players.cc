// A player is a fork that writes one tally to a pipe. What it did not write, its end tells.
#include "players.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace tend::sim {
namespace {

constexpr int kOutOfMemory = 12;  // how a player ends then

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto wrote = retried([&] { return ::write(descriptor, text.data(), text.size()); });
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// The life of a player. It ends with whoever started it, and in time.
[[noreturn]] void play_and_exit(pid_t starter, int result, const Scenario& scenario,
                                std::chrono::seconds most, const PlayWorld& play) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != starter) ::_exit(0);  // it ended before that was said
  const auto seconds = static_cast<rlim_t>(most.count());
  const rlimit time{.rlim_cur = seconds, .rlim_max = seconds + 10};
  ::setrlimit(RLIMIT_CPU, &time);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    write_all(result, format_tally(play(scenario)));
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  }
  ::_exit(0);
}

Tally tally_of_end(std::uint64_t seed, int status, std::chrono::seconds most) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    return tally_of_failure(seed, "does not end",
                            fmt::format("took {} s of a processor", most.count()));
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {  // nobody in a world sends that
    throw MachineTrouble(fmt::format("seed {} was killed: perhaps for lack of memory", seed));
  }
  if (WIFSIGNALED(status)) {
    return tally_of_failure(seed, "crash", fmt::format("ended by signal {}", WTERMSIG(status)));
  }
  return tally_of_failure(seed, "crash", fmt::format("exit {}", WEXITSTATUS(status)));
}

MachineTrouble cannot_start(int error) {
  return MachineTrouble(fmt::format("cannot start a player: {}", system_says(error)));
}

}  // namespace

Tally play_here(const Scenario& scenario) { return play_traced(scenario, {}); }

Tally play_traced(const Scenario& scenario, const std::function<void(const std::string&)>& trace) {
  try {
    SeededWorld world(scenario);
    world.trace = trace;
    return tally_of(scenario.seed, world.play());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return tally_of_failure(scenario.seed, "no exception", error.what());
  }
}

Players::~Players() {
  for (const Player& player : players_) {
    ::kill(player.pid, SIGKILL);
    retried([&] { return ::waitpid(player.pid, nullptr, 0); });
  }
}

void Players::begin(const Scenario& scenario, const PlayWorld& play) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw cannot_start(errno);
  Fd reading(ends[0]);
  const Fd writing(ends[1]);
  const pid_t starter = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw cannot_start(errno);
  if (pid == 0) play_and_exit(starter, writing.get(), scenario, processor_time_, play);
  players_.push_back({.seed = scenario.seed, .pid = pid, .result = std::move(reading), .text = ""});
}

std::optional<Played> Players::await_one_or(int break_off) {
  CHECK(!players_.empty());
  std::array<char, 65536> buffer{};
  for (;;) {
    std::vector<pollfd> waiting;
    waiting.reserve(players_.size() + 1);
    for (const Player& player : players_) {
      waiting.push_back({.fd = player.result.get(), .events = POLLIN, .revents = 0});
    }
    waiting.push_back({.fd = break_off, .events = POLLIN, .revents = 0});
    retried([&] { return ::poll(waiting.data(), waiting.size(), -1); });
    if (waiting.back().revents != 0) return std::nullopt;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      const auto read =
          retried([&] { return ::read(waiting[i].fd, buffer.data(), buffer.size()); });
      if (read > 0) {
        players_[i].text.append(buffer.data(), static_cast<std::size_t>(read));
        continue;
      }
      Player ended = std::move(players_[i]);
      players_.erase(players_.begin() + static_cast<std::ptrdiff_t>(i));
      return end(std::move(ended));
    }
  }
}

Played Players::end(Player player) {
  int status = 0;
  retried([&] { return ::waitpid(player.pid, &status, 0); });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (auto tally = parse_tally(player.text)) return {player.seed, *std::move(tally)};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory) {
    throw MachineTrouble(fmt::format("out of memory: seed {} wants more", player.seed));
  }
  return {player.seed, tally_of_end(player.seed, status, processor_time_)};
}

Fd catch_interrupts() {
  sigset_t signals{};
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction set{};
    const bool is_ignored = ::sigaction(signal, nullptr, &set) == 0 && set.sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaddset(&signals, signal);
  }
  const int caught = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (caught < 0) {
    throw MachineTrouble(fmt::format("cannot listen for signals: {}", system_says(errno)));
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Fd(caught);
}

int interrupt_in(const Fd& caught) {
  signalfd_siginfo heard{};
  const auto read = retried([&] { return ::read(caught.get(), &heard, sizeof heard); });
  return read == sizeof heard ? static_cast<int>(heard.ssi_signo) : 0;
}

Tally play_apart(const Scenario& scenario) {
  Players players;
  players.begin(scenario);
  return players.await_one().tally;
}

}  // namespace tend::sim
