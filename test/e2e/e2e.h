// Tests of the built `tend` on real processes. Each test has a home of its own; when it is over
// everything that carries this home in its environment is ended and the home is removed; with
// TEND_E2E_KEEP set, the home of a failed test is kept for a look.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tend::e2e {

using Path = std::filesystem::path;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
using Patience = std::chrono::milliseconds;

/// Long enough for a busy machine; nothing is expected to take that long.
inline constexpr Patience kPatience = std::chrono::seconds{30};

struct Command {
  Arguments arguments;                             // the first is looked up in the PATH
  std::map<std::string, std::string> environment;  // added to the test's own
  std::string input;                               // "": /dev/null
};

struct Finished {
  int exit = 0;  // the exit code; -n if it died of signal n
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// A command that was started in the test's scratch folder, in a session of its own. Destroyed, it
/// is killed and reaped.
class Background {
 public:
  Background(pid_t pid, Path out, Path err);
  ~Background();
  Background(Background&& other) noexcept;
  Background& operator=(Background&&) = delete;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_over() { return poll_exit(Patience{0}); }
  void signal(int number) const;
  /// What it has printed so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// Waits for its end; one that does not end is killed, and timed_out says so.
  Finished wait(Patience patience = kPatience);

 private:
  bool poll_exit(Patience patience);

  pid_t pid_;
  int pidfd_;
  std::optional<int> exit_;
  Path out_;
  Path err_;
};

/// Asks every 20 ms until it is true; false if it never was.
bool eventually(const std::function<bool()>& predicate, Patience patience = kPatience);

/// "" if there is no such file, or something else in its place.
std::string read_file(const Path& path);
std::vector<std::string> lines_of(const std::string& text);
/// An empty object as long as there is none, or none that can be read.
Json heartbeat_of(const Path& folder);
/// The objects of a file of JSON lines; a line that is none is left out.
std::vector<Json> json_lines(const Path& file);
/// A field; "" or 0 if there is none of that kind.
std::string text_in(const Json& object, const char* field);
long number_in(const Json& object, const char* field);
/// A process that is there and no zombie.
bool is_running(pid_t pid);
/// What /proc says of it, as in ps: R, S, T, Z; 0 if it is gone.
char state_letter(pid_t pid);
/// All that run with this in their environment, as in "TEND_HOME=/tmp/x", ourselves not counted.
std::vector<pid_t> processes_with(const std::string& variable);
/// Signals by pidfd, and only if the process carries `home`; false if there is none.
bool signal_process_of(const Path& home, pid_t pid, int number);

class E2e : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// TEND_HOME of every command; made by `tend` itself.
  [[nodiscard]] Path home() const { return base_ / "home"; }
  /// For files of the test.
  [[nodiscard]] Path scratch() const { return base_ / "scratch"; }

  Background start(const Command& command);
  Finished run(const Command& command, Patience patience = kPatience);
  Background start_tend(Arguments arguments, std::string input = "");
  Finished tend(Arguments arguments, std::string input = "");
  /// The command line of the worker (worker.cc) with these options.
  static Arguments worker(const Arguments& options);

  /// `tend run --detach` with these options; the agent's folder, "" if it did not start.
  Path keep(const Arguments& options, const Arguments& command);
  /// Waits for a heartbeat that is as wanted; false, and a failure that shows it, if none comes.
  bool await(const Path& folder, const std::function<bool(const Json&)>& wanted,
             Patience patience = kPatience);
  [[nodiscard]] std::vector<Json> events() const { return json_lines(home() / "events.jsonl"); }
  /// Whether an event's line contains this.
  [[nodiscard]] bool has_event(const std::string& text) const;
  /// The results of all that was done under this name: "kill", "resume".
  [[nodiscard]] std::vector<std::string> done(const std::string& action) const;

  /// The folders of all root agents, sorted.
  [[nodiscard]] std::vector<Path> agent_folders() const;
  /// The folder of the only agent, waited for until it has a heartbeat; "" if that never comes.
  Path only_agent();
  /// A pid from the file that the worker's --pids names, waited for; 0 if it never comes.
  pid_t pid_of(const Path& pids, const std::string& name);
  /// Kills one process of this home with SIGKILL.
  bool kill(pid_t pid);
  /// Ends all processes of this home; a failure if one stays. TearDown does it too.
  void end_everything();

 private:
  Path base_;
  int started_ = 0;
  std::set<Path> groups_;  // of the system, to be removed
};

/// `first` and then `more`.
Arguments operator+(Arguments first, const Arguments& more);

}  // namespace tend::e2e
