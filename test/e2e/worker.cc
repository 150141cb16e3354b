// A program to be kept: it prints numbered lines, and can be told to do what programs do to their
// keepers: hang, crash, ignore, escape, hold on to the stream. It ends by itself after ten minutes,
// so that no test can leave it behind for good.
//
//   worker [--lines N] [--every MS] [--exit CODE] [--say TEXT] [--beat] [--write FILE]
//          [--pids FILE] [--ignore-term] [--escape] [--hold-stream] [--truncate-stdout N]
//          [--stop-self N] [--hang-after N] [--crash SIGNAL]
#include <fcntl.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

#include "client/tend.h"

namespace {

constexpr unsigned kLongestLife = 600;  // seconds

struct Options {
  long lines = -1;            // then it ends; -1: never
  long every_ms = 20;         // from line to line
  int exit_code = 0;          // its end
  int crash = 0;              // a signal: its end instead
  long hang_after = -1;       // after that many lines it does nothing more
  long stop_self = -1;        // after that many lines it stops, once
  long truncate_stdout = -1;  // after that many lines it empties its output, once
  bool ignore_term = false;   // SIGINT and SIGTERM
  bool escape = false;        // leaves a process in a session of its own, with closed streams
  bool hold_stream = false;   // leaves a process that holds the output open
  bool beat = false;          // with every line, through the client library
  std::string say = "line ";  // what stands before the number
  std::string write;          // each line is appended to this file too
  std::string pids;           // "main PID", "escaped PID", "holder PID" are appended here
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "worker: %s\n", why.c_str());
  std::exit(2);
}

long number(std::string_view option, std::string_view text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    die(std::string(option) + " takes a number");
  }
  return value;
}

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == arguments.size()) die(std::string(name) + " takes a value");
      return arguments[++i];
    };
    const auto count = [&] { return number(name, value()); };
    if (name == "--lines")
      options.lines = count();
    else if (name == "--every")
      options.every_ms = count();
    else if (name == "--exit")
      options.exit_code = static_cast<int>(count());
    else if (name == "--crash")
      options.crash = static_cast<int>(count());
    else if (name == "--hang-after")
      options.hang_after = count();
    else if (name == "--stop-self")
      options.stop_self = count();
    else if (name == "--truncate-stdout")
      options.truncate_stdout = count();
    else if (name == "--ignore-term")
      options.ignore_term = true;
    else if (name == "--escape")
      options.escape = true;
    else if (name == "--hold-stream")
      options.hold_stream = true;
    else if (name == "--beat")
      options.beat = true;
    else if (name == "--say")
      options.say = value();
    else if (name == "--write")
      options.write = value();
    else if (name == "--pids")
      options.pids = value();
    else
      die("no such option: " + std::string(name));
  }
  return options;
}

void pause_ms(long ms) {
  timespec left{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void append(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0 ||
      write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    die("cannot write " + file);
  }
  close(descriptor);
}

void say(const std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno != EINTR) die("cannot write to standard output");
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Stays until it is ended.
[[noreturn]] void linger() {
  alarm(kLongestLife);
  while (true) pause();
}

/// Forks twice, so that nobody who is told of children hears of it.
void leave_behind(const std::string& name, const std::string& pids, bool in_own_session,
                  bool hold_stream) {
  const pid_t between = fork();
  if (between < 0) die("cannot fork");
  if (between > 0) {
    while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
    }
    return;
  }
  if (in_own_session) setsid();
  const pid_t last = fork();
  if (last != 0) _exit(last < 0 ? 1 : 0);
  if (!hold_stream) close_range(0, ~0U, 0);
  append(pids, name + " " + std::to_string(getpid()) + "\n");
  linger();
}

class Beats {
 public:
  explicit Beats(bool wanted) : client_(wanted ? tend_open() : nullptr) {
    if (wanted && client_ == nullptr) die(tend_why(nullptr));
  }
  ~Beats() { tend_close(client_); }
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

  void beat() {
    if (client_ != nullptr && tend_beat(client_) != 0) die(tend_why(client_));
  }

 private:
  tend_client* client_;
};

void crash(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

int work(const Options& options) {
  Beats beats(options.beat);
  for (long line = 0; line != options.lines;) {
    if (line == options.hang_after) linger();
    ++line;
    const std::string text = options.say + std::to_string(line) + "\n";
    say(text);
    append(options.write, text);
    beats.beat();
    if (line == options.truncate_stdout && ftruncate(STDOUT_FILENO, 0) != 0) {
      die("cannot truncate standard output");
    }
    if (line == options.stop_self) raise(SIGSTOP);
    if (line != options.lines) pause_ms(options.every_ms);
  }
  if (options.crash != 0) crash(options.crash);
  return options.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse({argv, static_cast<std::size_t>(argc)});
  alarm(kLongestLife);
  if (options.ignore_term) {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
  }
  append(options.pids, "main " + std::to_string(getpid()) + "\n");
  if (options.escape) leave_behind("escaped", options.pids, true, false);
  if (options.hold_stream) leave_behind("holder", options.pids, false, true);
  return work(options);
}
