// What the commands of the gate and its door do: who is meant, whether it is down, what becomes of
// the message, who is told. Nothing waits here; what is to be sent is said, and sent by a Postman.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/gate_words.h"
#include "base/result.h"
#include "os/machine.h"
#include "run/gate_mode.h"
#include "run/hire.h"
#include "store/gate.h"
#include "store/gate_settings.h"

namespace tend {

/// Why something was not done.
struct GateNo {
  enum class Kind : std::uint8_t {
    bad_input,  // it has to be said otherwise
    refused,    // it cannot be done as things stand
    trouble,    // of the machine; the same may work later
  };
  Kind kind = Kind::refused;
  std::string code;  // for programs: "no-such-message"
  std::string text;  // for people: one line
};
template <class T>
using GateResult = std::expected<T, GateNo>;

/// An agent that messages are for.
struct GateAgent {
  std::string name;                // "": nobody is known
  std::unique_ptr<Folder> folder;  // nullptr: nobody of that name is known
  GateMode mode;
};

struct ReceiveOrder {
  std::optional<std::string> agent;     // as typed; none: the one root agent
  Message draft;                        // channel, endpoint, priority, content, key
  std::vector<std::string> reply_with;  // a command; empty: nobody is answered
  std::string language;                 // of the sender; "": that of the configuration
};

struct ReceiveAnswer {
  enum class Action : std::uint8_t {
    queued,
    auto_replied,  // held, and its sender is told so
    held,
    rejected,   // not kept
    duplicate,  // `message` is the one that came before
  };
  Action action = Action::queued;
  Message message;
  GateMode mode;
  std::optional<std::int64_t> notice;  // of the outbox, to be sent at once
  std::int64_t outage = 0;
  std::string no_reply_because;  // it has a way back, and is told nothing
  std::string warning;           // what could not be done beside it; "" if all was
};
inline constexpr std::array<std::string_view, 5> kReceiveActionWords{
    "queued", "auto-replied", "held", "rejected", "duplicate"};

struct GateStatus {
  std::string agent;
  bool known = false;  // there is an agent of that name
  GateMode mode;
  std::optional<Outage> outage;
  GateCount count;
  std::vector<PendingChannel> pending;
  /// Messages or answers that were given up, or an agent that is not started any more.
  [[nodiscard]] bool needs_person() const;
};

struct ReleaseAnswer {
  std::string agent;
  std::int64_t outage = 0;  // 0: none was open
  std::int64_t released = 0;
  std::int64_t told = 0;  // channels that are told
};

class GateDesk {
 public:
  GateDesk(Machine& machine, Folder& home, GateSettings settings)
      : machine_(machine), home_(home), settings_(std::move(settings)) {}

  GateResult<ReceiveAnswer> receive(const ReceiveOrder& order);
  /// nullopt if nothing waits.
  GateResult<std::optional<Message>> next(const std::optional<std::string>& agent,
                                          const std::string& holder);
  GateResult<MessageAnswer> done(std::int64_t id);
  GateResult<MessageAnswer> fail(std::int64_t id, std::optional<std::int64_t> tries,
                                 const std::string& error);
  GateResult<MessageAnswer> retry(std::int64_t id);
  GateResult<Message> show(std::int64_t id);
  GateResult<std::vector<Message>> list(const std::optional<std::string>& agent,
                                        std::optional<MessageState> state, std::int64_t most);
  /// Of one agent; of all that have messages, are down, or are root agents that are not over.
  GateResult<std::vector<GateStatus>> status(const std::optional<std::string>& agent);
  /// For an agent that nobody keeps: its outage is over.
  GateResult<ReleaseAnswer> release(const std::optional<std::string>& agent, bool by_force);
  /// Outages that everybody forgot: their agents are well, by the word of their keepers. How many.
  GateResult<std::int64_t> end_forgotten();
  /// Tells whoever sent something before that time to an agent that is over, and waits for it
  /// still: which messages those are. How many senders will hear of it.
  GateResult<std::int64_t> tell_left(WallTime before);
  /// Ends the hold of an agent that was started too often: its name. Whether it is followed is
  /// seen later.
  GateResult<std::string> resume(const std::optional<std::string>& agent,
                                 const KeeperProgram& program);

  GateResult<GateAgent> who(const std::optional<std::string>& typed);
  /// Somebody was told something: the mirror for other tools follows. The problem, or "".
  std::string mirror(const std::string& agent);

 private:
  GateResult<Gate*> gate();
  [[nodiscard]] GateAgent agent_in(std::string name, std::unique_ptr<Folder> folder);
  GateResult<GateAgent> named(const std::string& typed);
  /// Those that are not over, oldest first.
  GateResult<std::vector<GateAgent>> roots();
  /// What is for nobody in particular is for the one root agent that there is.
  GateResult<bool> is_for_nobody_else(Gate& gate, const GateAgent& agent);
  [[nodiscard]] GateNews news(const GateAgent& agent, std::optional<std::int64_t> outage);
  /// An outage that everybody forgot ends with the word of a keeper that its agent is well.
  GateResult<void> end_what_is_over(Gate& gate, const GateAgent& agent);
  GateResult<ReleaseAnswer> end_outage(Gate& gate, const GateAgent& agent);
  /// Tells its keeper how many wait. The problem, or "".
  std::string tell_inbox(Gate& gate, const GateAgent& agent);
  GateResult<MessageAnswer> answered(Gate& gate, std::int64_t id,
                                     const Result<MessageAnswer>& answer);
  /// For other tools, in the folder that the configuration names. The problem, or "".
  std::string mirror(Gate& gate, const GateAgent& agent);
  GateResult<GateStatus> status_of(Gate& gate, const GateAgent& agent);

  Machine& machine_;
  Folder& home_;
  GateSettings settings_;
  std::unique_ptr<Database> database_;
  std::optional<Gate> gate_;
};

}  // namespace tend
