// What people are told of a lease that goes from hand to hand: an event for each time that it was
// taken so, and one notice on the channels, which is closed when the lease is calm again. Whoever
// leads then closes it; if nobody does, the patrol.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "run/herald.h"
#include "store/config.h"
#include "store/leases.h"

namespace tend {

/// Who events and notices of leases are from.
inline constexpr std::string_view kLeaseVoice = "lease";

/// What the notices of one lease go by in the outbox, and how all of them begin.
inline constexpr std::string_view kLeaseKeys = "lease:";
std::string lease_key(std::string_view name);

/// In one line for people, and the command to type.
std::string words_of_flapping(std::string_view name);
std::string to_do_about(std::string_view name);

class LeaseVoice {
 public:
  /// `not_heard` gets a line for what could not be told. What is put is sent for as long as this is
  /// there and the loop runs; what is left then is sent by the patrol.
  LeaseVoice(Machine& machine, Folder& home, std::string name, std::vector<NotifyChannel> channels,
             std::function<void(const std::string&)> not_heard);

  /// It was taken once more.
  void flaps(const LeaseRecord& record);
  /// It goes from hand to hand no more. Costs a look into the outbox.
  void is_calm();

 private:
  [[nodiscard]] Result<bool> is_told();
  [[nodiscard]] Incident incident(std::string_view action, std::string why) const;
  void event(const std::string& text, bool needs_person);

  Machine& machine_;
  Folder& home_;
  std::string name_;
  std::function<void(const std::string&)> not_heard_;
  Herald herald_;
};

}  // namespace tend
