// Processes: who they are, how they are, starting and ending them. A process is never a bare
// number: it is a number with its start time, in one pid namespace, since one boot.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/loop.h"

namespace tend {

/// What a pid means: everything that must be equal for two observations to be of one process.
struct ProcessId {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, from the kernel
  std::uint64_t pid_ns = 0;
  std::string boot_id;

  bool operator==(const ProcessId&) const = default;
};

enum class RunState : std::uint8_t { running, stopped, zombie, gone, reused, unknown };

/// How a process ended, as far as it can be known.
struct ExitStatus {
  enum class How : std::uint8_t { unknown, code, signal };
  How how = How::unknown;
  int value = 0;

  bool operator==(const ExitStatus&) const = default;
};

struct Condition {
  RunState state = RunState::unknown;
  ExitStatus exit;      // zombie and gone only
  std::string problem;  // why it is unknown
};

enum class Kill : std::uint8_t { interrupt, terminate, kill, cont, stop, look, hang_up };

/// One process, held so that its number cannot come to mean another. If it was gone or reused when
/// it was opened it says so, and signals nobody.
class Process {
 public:
  virtual ~Process() = default;
  [[nodiscard]] virtual const ProcessId& id() const = 0;
  /// Reaps it if it is our child and over.
  virtual Condition look() = 0;
  /// Once, when it is over. Called soon if it is already.
  [[nodiscard]] virtual Subscribed on_exit(Callback callback) = 0;
  /// Fails if it is gone; that is no fault of the caller.
  virtual Result<void> signal(Kill kill) = 0;
};

/// Where the standard output or error of a child goes.
struct Launch {
  std::vector<std::string> command;  // looked up in the PATH of `environment`
  std::vector<std::string> environment;
  std::string working_folder;
  std::string output;  // a file to append to; empty: /dev/null
  std::string error;
  bool inherit_input = false;
  bool inherit_output = false;  // ours, and our standard error, in the place of the two files
  /// Its standard input, if it does not inherit ours: a fifo, opened for reading and writing, so
  /// that it never comes to an end. Empty: /dev/null.
  std::string input;
  /// Files opened for reading and writing (a fifo has thus always a reader), at these numbers.
  std::vector<std::pair<int, std::string>> extra;
  std::string group;  // of make_group(); empty: none
  /// A file and a place in it: there a child of spawn() writes kSigned the moment it is let through
  /// its gate, before its program runs. Empty: nowhere.
  std::pair<std::string, std::uint64_t> sign;
};

inline constexpr char kSigned = '!';

/// Why a program could not be started: what the shell's exit code would be, and the words.
struct NotStarted {
  int exit_code = 126;
  std::string text;
};

/// A child that exists but runs nothing yet: it waits. Destroyed before release(), or when this
/// process dies, it exits without having run anything.
class GatedChild {
 public:
  virtual ~GatedChild() = default;
  [[nodiscard]] virtual const ProcessId& id() const = 0;
  /// Lets it run its program. Call it once.
  virtual std::expected<std::unique_ptr<Process>, NotStarted> release() = 0;
};

/// What is known of a process without holding it.
struct Seen {
  ProcessId id;
  std::int64_t parent = 0;
  bool zombie = false;
  std::optional<std::string> mark;  // the value of the variable asked for; none: not set or hidden
  Duration cpu{};                   // used so far, its reaped children included
  std::int64_t job = 0;             // whom a terminal would signal with it: its process group
};

/// The end of a command that was run to its end.
struct Ran {
  ExitStatus exit;
  bool timed_out = false;
  std::string output;  // cut at the bound
  std::string error;
};

struct Run {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // added to our own
  std::string working_folder;            // empty: ours
  std::string input;
  Duration deadline = std::chrono::seconds{30};
  std::size_t most_output = std::size_t{1024} * 1024;
};

class Processes {
 public:
  virtual ~Processes() = default;
  /// This very process.
  [[nodiscard]] virtual ProcessId self() = 0;
  /// Who has this pid now; nullopt if nobody. Fails if it cannot be known.
  virtual Result<std::optional<ProcessId>> identify(std::int64_t pid) = 0;
  [[nodiscard]] virtual std::unique_ptr<Process> open(const ProcessId& id) = 0;
  /// Bytes that it read from and wrote to disks so far; 0 if that cannot be known.
  [[nodiscard]] virtual std::uint64_t disk_bytes(const ProcessId& id) = 0;
  /// Bytes that they received over their connections so far; nullopt if they have none, or it
  /// cannot be known.
  [[nodiscard]] virtual std::optional<std::uint64_t> received_bytes(
      std::span<const ProcessId> ids) = 0;
  /// Its environment as it was started with, NAME=VALUE; nullopt if it is gone or hidden from us.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> environment_of(
      const ProcessId& id) = 0;
  /// When it was started, by the calendar: seconds since 1970.
  [[nodiscard]] virtual double started(const ProcessId& id) = 0;

  /// Forks; the child is in a session of its own and waits. Orphans below it come to us.
  virtual std::expected<std::unique_ptr<GatedChild>, NotStarted> spawn(const Launch& launch) = 0;
  /// Starts a program in a session of its own, with no tie to us but its standard input if
  /// `inherit_input`: it is not our child, is in no group of make_group(), and outlives us.
  virtual Result<void> detach(const Launch& launch) = 0;
  /// Puts another program in our own place; the pid, its lock files' owner excepted, stays.
  virtual Result<void> become(const Launch& launch) = 0;
  /// This program's own file.
  [[nodiscard]] virtual Result<std::string> own_program() = 0;

  /// All processes of this pid namespace that can be seen, with the value that each one's
  /// environment gives `variable`.
  virtual Result<std::vector<Seen>> all(std::string_view variable) = 0;

  /// A group that processes cannot leave, new and empty; empty text where the system has none.
  virtual std::string make_group(const std::string& name) = 0;
  virtual std::vector<std::int64_t> members(const std::string& group) = 0;
  virtual void remove_group(const std::string& group) = 0;
  /// True if nothing that spawn() ever started from this process is left, known without a walk over
  /// all processes: the group is empty, or there is no group and no child. False if it is unknown,
  /// as it is for what another process had started.
  virtual bool childless(const std::string& group) = 0;

  /// Runs a command to its end, or to its deadline and ends it, children and all.
  [[nodiscard]] virtual Subscribed run(const Run& run, std::function<void(Result<Ran>)> done) = 0;
};

}  // namespace tend
