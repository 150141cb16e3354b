// Tells a person through a command of theirs: an incident is its standard input, as one JSON
// object. One at a time, each with a deadline, a bounded number waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/machine.h"

namespace tend {

/// Something a person should know.
struct Incident {
  std::string agent;
  std::string session;
  std::uint32_t life = 0;
  std::string verdict;
  std::string phase;
  std::vector<std::string> because;
  std::string action;
  std::string why;
  std::string folder;  // the agent's
  double at = 0;       // by the calendar: seconds since 1970
  std::string what_to_do;
};

/// {"agent":..,"session":..,"life":..,"verdict":..,"phase":..,"because":[..],"action":..,"why":..,
///  "folder":..,"at":..,"what_to_do":..} and a newline. What is no UTF-8 is replaced.
std::string format_incident(const Incident& incident);

/// What came of telling about one incident.
struct Told {
  bool heard = false;  // the command ended with exit code 0
  std::string words;   // "told by notify-me", "notify-me exited with 3: no such channel"
};

class Tell {
 public:
  static constexpr std::size_t kMostWaiting = 32;
  static constexpr Duration kDeadline = std::chrono::seconds{30};

  /// `told` is called once for every incident that tell() took, in their order and never from
  /// within tell(). `command` is not empty.
  Tell(Machine& machine, std::vector<std::string> command, std::function<void(const Told&)> told);
  Tell(const Tell&) = delete;
  Tell& operator=(const Tell&) = delete;

  /// Fails if too many wait already; this one is then not told.
  Result<void> tell(const Incident& incident);
  /// How many are not told yet, the one being told included.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  void begin();
  void finish(const Result<Ran>& ran);
  [[nodiscard]] Told told_by(const Result<Ran>& ran) const;

  Machine& machine_;
  std::vector<std::string> command_;
  std::function<void(const Told&)> told_;
  std::deque<std::string> waiting_;  // the first one is being told
  Subscribed running_;
};

}  // namespace tend
