// A process whose program is a behaviour of the simulated machine, as the behaviour sees itself. It
// stands for programs that are not ours: it prints, works, forks, hangs, ends. It needs no Machine
// and is never killed at a call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/process.h"

namespace tend {

class SimKernel;
class SimSelf;
struct SimRow;

/// What a program does from its first moment on. It runs to its end at once and arranges the rest
/// with SimSelf::after().
using SimBehaviour = std::function<void(SimSelf&)>;

/// What a parent does when a child of that number ended.
using SimChildEnd = std::function<void(SimSelf&, std::int64_t pid, const ExitStatus&)>;

/// A child that a behaviour starts.
struct SimChild {
  std::vector<std::string> command;       // looked up like every command
  std::vector<std::string> environment;   // NAME=VALUE, in the place of inherited ones
  std::vector<std::string> without{};     // names of variables that it does not inherit
  bool own_session = false;               // setsid
  bool orphan = false;                    // by a parent in between that has ended (a daemon)
  std::optional<std::string> group = {};  // moved to another group, or to none ("")
};

class SimSelf {
 public:
  /// Lives as long as the row.
  SimSelf(SimKernel& kernel, SimRow& row) : kernel_(kernel), row_(row) {}

  [[nodiscard]] std::int64_t pid() const { return id().pid; }
  [[nodiscard]] const ProcessId& id() const;
  /// False once it is over; then everything below does nothing.
  [[nodiscard]] bool alive() const;
  [[nodiscard]] std::vector<std::string> command() const;
  [[nodiscard]] std::optional<std::string> variable(std::string_view name) const;
  [[nodiscard]] std::string working_folder() const;
  [[nodiscard]] Instant now() const;

  /// Once, when it has been awake that long: a sleep of the machine does not count, as with a
  /// program that sleeps or computes. What comes due while it is stopped comes when it goes on.
  void after(Duration wait, SimBehaviour then);
  /// Again and again, the first time after one interval.
  void every(Duration interval, SimBehaviour then);

  /// To its standard output or error, if that is a file and the disk has room.
  void print(std::string_view text);
  void complain(std::string_view text);
  void print_after(Duration wait, std::string text);
  void exit(int code);
  void exit_after(Duration wait, int code);
  /// Ends as by an uncaught signal.
  void crash(int signal);
  /// Returns the child's pid, 0 if there is no such command.
  std::int64_t spawn(const SimChild& child);

  /// The signal does nothing. KILL and STOP cannot be ignored.
  void ignore(Kill kill);
  /// The signal runs this instead of what it does by default.
  void on(Kill kill, SimBehaviour then);
  /// Ends only that long after SIGTERM (and SIGINT).
  void slow_to_end(Duration wait);
  /// From now on, each time a child ended and it runs.
  void when_child_ends(SimChildEnd then);
  /// Its dead children stay zombies.
  void never_reap();

  /// Files; a path that is not absolute is below the working folder.
  void write(const std::string& path, std::string_view text);
  void append(const std::string& path, std::string_view text);
  void touch(const std::string& path);
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;
  void remove(const std::string& path);

  /// A datagram to whoever receives at `path`; false if nobody does.
  bool send(const std::string& path, std::string_view text);
  /// Into a fifo; false if there is none or it is full.
  bool write_fifo(const std::string& path, std::string_view text);
  /// All that stands in a fifo, which is read with that; "" if there is none.
  std::string read_fifo(const std::string& path);
  /// Adds to the time it has used.
  void use_cpu(Duration used);
  /// From now on it uses so much of one processor, as long as it runs.
  void compute(int percent);
  /// Adds to the bytes it moved to and from disks.
  void use_disk(std::uint64_t bytes);
  /// Adds to the bytes that came in over a connection; from the first time on it has one.
  void receive(std::uint64_t bytes);

 private:
  [[nodiscard]] std::string absolute(const std::string& path) const;
  void again(Duration interval, std::shared_ptr<SimBehaviour> then);

  SimKernel& kernel_;
  SimRow& row_;
};

}  // namespace tend
