// A whole machine in memory, in which whole keepers run: clocks, files, processes, sockets, version
// control, and the faults of all of them. Nothing in it is real and nothing happens by chance: the
// same seed and the same test give the same run.
//
//   SimUniverse universe(7);
//   universe.behaviours["worker"] = [](SimSelf& self) {
//     self.print_after(5s, "hello\n");
//     self.exit_after(60s, 0);
//   };
//   const auto pid = universe.start_program("keeper", [](Machine& machine) {
//     return std::make_unique<Keeper>(machine, "/home/user/tend");  // lives as long as its process
//   });
//   universe.run_for(30s);                      // callbacks run, in the order of their times
//   universe.kill(pid);                         // kill -9: ~Keeper runs, but reaches nothing
//   EXPECT_FALSE(universe.disk.is_locked("/home/user/tend/.lock"));
//   EXPECT_TRUE(universe.runs("worker"));
//
// A test of a part needs no program: `Machine& machine = universe.machine();` is the machine of a
// process that is the test itself. Time moves only in run_for() and its like, never in a callback,
// unless the machine is told to be slow (call_takes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/loop.h"
#include "os/machine.h"
#include "os/process.h"
#include "os/sim/sim_database_file.h"
#include "os/sim/sim_disk.h"
#include "os/sim/sim_self.h"

namespace tend {

class SimKernel;

/// Thrown out of the call of the machine in which a simulated process was killed (or became another
/// program), up to where the universe called it. Nobody else catches it. Calls from destructors
/// that run meanwhile, or later on the dead machine, do nothing and fail.
struct SimKilled {};

/// Our own programs: made when the process starts, destroyed when it ends. A program ends itself
/// with Loop::stop(): then it is destroyed with its machine alive, and exits with 0.
using SimFactory = std::function<std::shared_ptr<void>(Machine&)>;
using SimLaunchFactory = std::function<std::shared_ptr<void>(Machine&, const Launch&)>;

struct SimStart {
  std::vector<std::string> environment;
  std::string working_folder = "/home/user";
  std::int64_t parent = 1;
};

/// The answer of a command that is run to its end.
struct SimAnswer {
  ExitStatus exit{ExitStatus::How::code, 0};
  std::string output;
  std::string error;
  Duration takes{};  // the deadline of the run or more: it times out
};

/// What is known of a process, also after its end.
struct SimFacts {
  ProcessId id;
  std::int64_t parent = 0;
  std::int64_t session = 0;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string working_folder;
  std::string group;
  RunState state = RunState::running;  // gone: reaped
  ExitStatus exit;
  bool gated = false;  // waits for its release
};

/// A signal that was sent; for checkers.
struct SimSent {
  Instant at{};
  std::int64_t from = 0;  // 0: the test
  ProcessId to;
  Kill kill{};
};

enum class SimHints : std::uint8_t {
  all,
  lossy,  // each is lost with a chance of one half
  none,   // on_change() gives nullptr
};

/// A work tree of a repository: all files below its folder.
struct SimRepository {
  struct Commit {
    std::string id;
    std::string message;
    std::map<std::string, std::string> files;  // relative path to contents
    std::vector<std::string> parents = {};
    WallTime at{};
  };
  std::map<std::string, std::string> head;  // what is checked out; set by a test, it is committed
  std::map<std::string, Commit> refs;       // of snapshots
  std::set<std::string> ignored;            // relative paths of files and folders
  std::string branch = "main";              // "": on none
  std::string commit;                       // that is checked out; "": there is none yet
  std::string merging;                      // the commit of a merge that was left in its middle
  std::string busy;                         // "a rebase"; "a merge" goes without saying
  bool index_held = false;                  // by somebody else
  std::string main;  // the path of the main work tree; "": this is it, and has what all share
  std::map<std::string, Commit> commits;        // by id
  std::map<std::string, std::string> branches;  // to ids
};

struct SimReboot {
  /// What a power cut takes; a shutdown takes nothing.
  enum class Lost : std::uint8_t {
    nothing,
    unsynced,  // all that was not synced
    torn,      // a part of it: see SimDisk::tear()
  };
  Lost lost = Lost::nothing;
  Duration takes = std::chrono::seconds{60};
};

/// Hears what happens the moment it happens. It may look, and changes nothing.
class SimObserver {
 public:
  virtual ~SimObserver() = default;
  /// It runs its command from now on.
  virtual void on_exec(const SimFacts& /*process*/) {}
  /// It is a zombie, or gone with the boot.
  virtual void on_end(const SimFacts& /*process*/) {}
  /// Before it has any effect.
  virtual void on_signal(const SimSent& /*sent*/, const SimFacts& /*to*/) {}
  /// A snapshot was saved under a ref.
  virtual void on_snapshot(const std::string& /*worktree*/,
                           const SimRepository::Commit& /*commit*/) {}
  /// A process is in the middle of a merge.
  virtual void on_half_a_merge(const std::string& /*into*/, std::int64_t /*by*/) {}
  /// A process of ours wrote into a fifo.
  virtual void on_words(std::int64_t /*from*/, const std::string& /*fifo*/,
                        std::string_view /*text*/) {}
  /// A merge commit was made and checked out.
  virtual void on_merge(const std::string& /*into*/, const SimRepository::Commit& /*merge*/) {}
};

/// What a test sets, at any time. All of it may be looked at again.
struct SimSettings {
  std::map<std::string, SimBehaviour> behaviours;    // by command[0]
  std::map<std::string, SimLaunchFactory> programs;  // the same, for programs of ours
  std::map<std::string, SimAnswer> answers;          // by the command joined with spaces, or [0]
  std::function<std::optional<SimAnswer>(const Run&)> on_run;         // asked before `answers`
  std::map<std::string, SimRepository> repositories;                  // by path
  std::map<std::string, std::shared_ptr<SimDatabaseFile>> databases;  // by path
  std::string own_program = "/usr/bin/tend";
  std::string working_folder = "/home/user";
  SimHints hints = SimHints::all;
  bool groups = false;                // whether make_group() can
  std::set<std::int64_t> hidden;      // pids whose environment cannot be read
  std::set<std::int64_t> unseen;      // pids that cannot be looked at, but listed and signalled
  std::string looking_fails;          // if not empty, why no process can be looked at
  std::string spawning_fails;         // if not empty, why fork fails
  std::string version_control_fails;  // if not empty, why nothing can be done
  Duration version_control_takes{};   // a merge is in its middle after one half of it
  std::uint64_t pid_ns = 4026531836;
  std::optional<std::int64_t> next_pid;  // the next process gets this one; how a pid is reused
  std::int64_t most_pid = 4194303;       // after it they begin again at 300
  Duration call_takes{};                 // each call of a machine that reads or changes files
  Duration sync_takes{};                 // each that syncs
  SimObserver* observer = nullptr;       // not owned
  bool keeps_log = true;  // false: `log`, `sent` and `ran` stay empty, as a long run needs it
};

class SimUniverse : public SimSettings {
 public:
  explicit SimUniverse(std::uint64_t seed = 1);
  ~SimUniverse();
  SimUniverse(const SimUniverse&) = delete;
  SimUniverse& operator=(const SimUniverse&) = delete;

  // Time.
  [[nodiscard]] Instant now() const;
  [[nodiscard]] Duration awake() const;
  [[nodiscard]] WallTime wall() const;
  void run_for(Duration time);
  void run_until(Instant when);
  /// Until it holds, looked at after every callback; false if it does not within that time.
  bool run_until(const std::function<bool()>& holds, Duration at_most);
  /// now() and wall() move, awake() does not. Timers that passed fire when the universe runs on.
  void sleep_machine(Duration time);
  void step_wall(Duration step);
  /// All processes are gone, now() begins anew, pids too; there is another boot id. Files stay.
  void reboot(const SimReboot& how = {});
  [[nodiscard]] const std::string& boot_id() const;
  /// Something that the test does at a time.
  void at(Instant when, Callback callback);
  void after(Duration wait, Callback callback);

  // Processes of ours.
  /// The factory runs when the universe does. Returns the pid.
  std::int64_t start_program(const std::string& name, SimFactory factory, SimStart start = {});
  /// A process with a machine and no program: the test drives it. Returns the pid.
  std::int64_t start_process(const std::string& name, SimStart start = {});
  /// The machine of such a process, which is made at the first use.
  Machine& machine(const std::string& name = "test");
  /// REQUIRES a living process of ours.
  Machine& machine_of(std::int64_t pid);
  /// SIGKILL. A program's object is destroyed at once, or after its callback that runs.
  void kill(std::int64_t pid);
  /// Kills it in place of the n-th call of its machine from now, 1 being the next. Reading a clock,
  /// chance or one's own id is no call; replace() is several. If that call writes bytes and is
  /// `torn`, the first of them are written, as many as chance has it. REQUIRES that no destructor
  /// of the program makes a call while the program lives on.
  void kill_at_call(std::int64_t pid, std::uint64_t n, bool torn = false);
  /// Stops it in the middle of its n-th call from now, before that has any effect; it goes on after
  /// that time, or is killed there. Everybody else runs meanwhile, and is not stopped like this.
  /// 0: not any more. REQUIRES the same, and that the universe runs it, not the test.
  void pause_at_call(std::int64_t pid, std::uint64_t n, Duration lasts);
  /// The calls of its machine so far, also after its end.
  [[nodiscard]] std::uint64_t calls(std::int64_t pid) const;
  /// SIGSTOP: nothing of it runs; what came meanwhile comes after go_on().
  void pause(std::int64_t pid);
  void go_on(std::int64_t pid);
  /// An order to a process of ours; without a subscriber it does what the system does.
  void order(std::int64_t pid, Order order);

  // All processes.
  /// As by somebody who is not there any more: `programs`, then `behaviours`. 0: no such command.
  std::int64_t start_command(const Launch& launch, std::int64_t parent = 1);
  void signal(std::int64_t pid, Kill kill);
  [[nodiscard]] std::optional<SimFacts> facts(std::int64_t pid) const;
  /// The same without a copy, until the universe runs on; nullptr if there never was one.
  [[nodiscard]] const SimFacts* find(std::int64_t pid) const;
  /// Pids of the living (not zombies) with this command[0] or name, sorted.
  [[nodiscard]] std::vector<std::int64_t> pids(const std::string& name) const;
  [[nodiscard]] bool runs(const std::string& name) const { return !pids(name).empty(); }
  [[nodiscard]] bool runs(std::int64_t pid) const;

  // Messages.
  /// As from a process with this pid; false if nobody receives there.
  bool send(std::int64_t from, const std::string& path, std::string_view text,
            bool same_user = true);
  bool write_fifo(const std::string& path, std::string_view text);

  // What happened.
  [[nodiscard]] const std::vector<SimSent>& sent() const;
  [[nodiscard]] const std::vector<Run>& ran() const;
  /// One line for every start, end and signal.
  [[nodiscard]] const std::vector<std::string>& log() const;
  /// A sum over every callback and every call so far: equal for equal runs.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  std::unique_ptr<SimKernel> kernel_;

 public:
  SimDisk& disk;
};

}  // namespace tend
