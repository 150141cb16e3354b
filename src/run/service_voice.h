// What a service says, and to whom: its own log, a second line in a log that others share, and the
// manager that started it (sd_notify). None of them can fail a beat.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "os/machine.h"

namespace tend {

inline constexpr std::uint64_t kMostOfLog = std::uint64_t{1024} * 1024;

class ServiceLog {
 public:
  enum class Level : std::uint8_t { info, warn, error };
  enum class For : std::uint8_t { itself, all };  // all: also the shared log

  /// `shared` may be "".
  ServiceLog(Machine& machine, std::string own, std::string shared)
      : machine_(machine), own_(std::move(own)), shared_(std::move(shared)) {}

  /// "[2026-01-04T20:19:13Z] [INFO] text"
  void say(Level level, std::string_view text, For whom);
  /// Why the last line could not be written; "" if it was.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& path() const { return own_; }

 private:
  Machine& machine_;
  std::string own_;
  std::string shared_;
  std::string problem_;
};

/// Where the manager listens, and how often it wants to hear.
struct ServiceManager {
  std::string socket;   // "": there is none
  Duration watchdog{};  // 0: it does not wait for anything
};

class ServiceNotify {
 public:
  ServiceNotify(Machine& machine, ServiceManager manager)
      : machine_(machine), manager_(std::move(manager)) {}

  void ready(std::string_view status) { send("READY=1\nSTATUS=", status); }
  void status(std::string_view status) { send("STATUS=", status); }
  void stopping(std::string_view status) { send("STOPPING=1\nSTATUS=", status); }
  /// Says twice in the time of the manager that the loop of this process turns.
  void keep_watchdog();

 private:
  void send(std::string_view what, std::string_view status);

  Machine& machine_;
  ServiceManager manager_;
  Subscribed timer_;
};

}  // namespace tend
