// Takes notices from a home's outbox to people: one at a time on each channel, a bounded number at
// once, in the machine's loop. The database is open only while it is asked. Killed at any moment,
// what was on its way is sent again when its lease runs out: at least once, and in order.
//
// A channel is named in the configuration, or `agent:FOLDER` (from the home, or the agent's name):
// the --notify of that agent, whose own file says what it is, so that anybody can send what a dead
// keeper left. `reply:N` is a way back to who wrote to the gate, which knows it.
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

#include "act/channel.h"
#include "base/result.h"
#include "os/machine.h"
#include "store/config.h"
#include "store/outbox.h"

namespace tend {

inline constexpr std::string_view kAgentChannel = "agent:";

/// The channel of an agent's own --notify.
std::string agent_channel(const Folder& home, const std::string& folder, const std::string& agent);

class Postman {
 public:
  static constexpr std::size_t kMostAtOnce = 8;
  static constexpr std::size_t kMostInARound = 1'000;
  static constexpr Duration kLease = 2 * kSendDeadline;
  /// Nobody waits longer than that for others who write, for he may have more to do.
  static constexpr Duration kMayWait = std::chrono::seconds{1};

  struct Delivery {
    Notice notice;  // as it is now
    Told told;
    bool given_up = false;  // it is not tried again
  };
  /// The end of a round.
  struct Round {
    std::optional<WallTime> next;  // when there is more to send; nothing: all is sent or dead
    std::string problem;           // why the outbox could not be asked; "" if it could
  };
  using Delivered = std::function<void(const Delivery&)>;
  using Done = std::function<void(const Round&)>;

  /// `key`: only notices of that one. `delivered` hears what became of each notice. Both are called
  /// from the loop, and `done` last of all: it may destroy this.
  Postman(Machine& machine, Folder& home, std::vector<NotifyChannel> channels,
          std::optional<std::string> key, Delivered delivered, Done done);
  Postman(const Postman&) = delete;
  Postman& operator=(const Postman&) = delete;

  /// Sends all that is due, each once. While a round is under way this adds to it what came since.
  void send();
  /// Sends this one notice, if it is due, and no other from now on.
  void send_only(std::int64_t notice);
  [[nodiscard]] bool busy() const { return starting_ != nullptr || !sending_.empty(); }

 private:
  struct Sending {
    Notice notice;
    Way way;
    Subscribed run;
  };

  void go_on();
  Result<std::optional<WallTime>> begin_what_is_due();
  Result<void> begin(Database& database, const Notice& notice);
  void finish(const std::string& channel, const Result<Ran>& ran);
  Result<void> note(const Notice& held, const Told& told);
  Result<void> note_in(Outbox& outbox, const Notice& held, const Told& told);
  [[nodiscard]] Result<Way> way_of(Database& database, std::string_view channel);
  [[nodiscard]] Result<Way> way_of_agent(std::string_view who);
  void end_round(Round round);

  Machine& machine_;
  Folder& home_;
  std::vector<NotifyChannel> channels_;
  std::optional<std::string> key_;
  std::optional<std::int64_t> only_;  // of all notices
  Delivered delivered_;
  Done done_;
  std::map<std::string, Sending, std::less<>> sending_;  // by channel
  std::set<std::int64_t> tried_;                         // in this round
  Subscribed starting_;
};

}  // namespace tend
