// The gate: messages for an agent, in `tend.db`, from the moment they were received until the agent
// is done with them. While the agent is down they are held apart from its conversation, and whoever
// sent them is told so, once, and told again when it is over.
//
//   receive ──> queued ──next──> taken ──done──> done
//                 ^  ^              │ its lease ran out, or fail
//                 │  └──────────────┤
//   receive ──> held               dead: failed for the last time
//     (down)      └─release──> queued, where its age puts it
//
// An outage is one stretch of being down. The sender's channel is a way back to it (reply way);
// what is told on it goes through the outbox, as an incident of the outage: opened by the
// auto-reply, closed by the all-clear. So nobody hears of an end that was never told of its begin,
// and whoever is killed in between loses nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/database.h"
#include "store/outbox.h"

namespace tend {

inline constexpr std::size_t kLongestContent = 1'000'000;  // bytes of a message
inline constexpr std::size_t kLongestEndpoint = 1'000;     // bytes, of any other name too
inline constexpr std::size_t kMostReplyWords = 64;         // of a command
inline constexpr std::size_t kLongestReply = 16'000;       // bytes of all its words
inline constexpr std::int64_t kMostMessages = 100'000;     // of one agent, not yet done
inline constexpr std::int64_t kFirstPriority = 1;          // 1 before 2 before 3
inline constexpr std::int64_t kLastPriority = 3;
inline constexpr std::string_view kReplyChannel = "reply:";  // of the outbox: and a way's number

enum class MessageState : std::uint8_t { queued, held, taken, done, dead };
inline constexpr std::array<std::string_view, 5> kMessageStateWords{"queued", "held", "taken",
                                                                    "done", "dead"};

/// How much an agent had printed and said when a message was written to it: what ended before has
/// nothing to do with that message.
struct HandedAt {
  std::uint64_t stream = 0;  // bytes of its stream
  std::uint64_t said = 0;    // bytes of its signals

  bool operator==(const HandedAt&) const = default;
};

struct Message {
  std::int64_t id = 0;   // counts from 1, never given again
  std::string agent;     // its name; "" if nobody was known
  std::string channel;   // "telegram"
  std::string endpoint;  // who there: a chat, a number
  std::int64_t priority = kLastPriority;
  std::string content;  // UTF-8
  MessageState state = MessageState::queued;
  std::optional<std::string> key;     // the sender's: one message, however often it is sent
  std::optional<std::string> holder;  // who took it
  std::int64_t tries = 0;             // how often it was taken; tells one holder from the next
  std::int64_t forgiven = 0;          // of these: from before a retry()
  WallTime lease_until{};             // of one that is taken
  /// Of one that a keeper took for its agent: it has arrived there. Nothing: it is on its way.
  std::optional<HandedAt> handed;
  std::optional<std::string> last_error;
  std::int64_t outage = 0;  // during which it came; 0: none
  WallTime received_at{};
  WallTime updated_at{};
};

/// How somebody is answered: a command, without a shell. In each of its arguments `{channel}`,
/// `{endpoint}`, `{text}` and `{key}` are replaced; where none has `{text}`, the text is its input.
/// In an arrival, an empty channel or endpoint is that of the message.
struct ReplyWay {
  std::int64_t id = 0;
  std::string channel;
  std::string endpoint;
  std::vector<std::string> command;
  std::string language;  // of what is told
};

struct Outage {
  std::int64_t id = 0;
  std::string agent;
  std::string why;
  WallTime since{};
  std::optional<WallTime> ended_at;
};

/// What all that is told about one outage goes by in the outbox.
std::string outage_key(std::int64_t outage);

/// A channel that was told of an outage and not yet of its end.
struct PendingChannel {
  std::string agent;
  std::string channel;
  std::string endpoint;
  std::int64_t outage = 0;
  WallTime since{};
  NoticeState state = NoticeState::waiting;  // of the last that is to be told
  std::optional<std::string> last_error;
};

/// What arrives, and how things stand with its agent.
struct Arrival {
  Message draft;  // agent, channel, endpoint, priority, content, key
  std::optional<ReplyWay> reply;
  bool down = false;
  std::string why;          // it is down, in words
  bool keep = true;         // while down: held for later; false: not stored, only answered
  std::string notice{};     // what a sender is told while down: a payload for the outbox
  Duration answer_every{};  // the same sender is not answered more often
};

/// Why something that arrived is not taken.
enum class GateRefusal : std::uint8_t {
  empty,
  too_large,
  not_utf8,
  has_nul,
  bad_priority,
  bad_name,  // of the agent, the channel, the endpoint or the key
  bad_reply,
  full,
};
inline constexpr std::array<std::string_view, 8> kGateRefusalWords{
    "empty", "too-large", "not-utf8", "has-nul", "bad-priority", "bad-name", "bad-reply", "full"};

struct ArrivalFault {
  GateRefusal why = GateRefusal::empty;
  std::string text;  // one line
};

/// What is wrong with it, as far as it can be told without the database.
std::optional<ArrivalFault> check_arrival(const Arrival& arrival);

struct Received {
  enum class Did : std::uint8_t {
    queued,
    held,
    not_kept,   // the agent is down, and Arrival::keep was false
    duplicate,  // the same key was received before: `message` is that one
  };
  Did did = Did::queued;
  Message message;                     // id 0: it was not kept
  std::optional<std::int64_t> notice;  // of the outbox: the answer that is to be sent
  bool answered_before = false;        // less than answer_every ago
  bool no_room_to_answer = false;      // half of the outbox is left to what is no answer
};

struct MessageAnswer {
  enum class Did : std::uint8_t {
    done,
    as_before,
    no_such_message,
    not_taken,  // it is not being worked on
    lost,       // somebody else took it since
    given_up,   // it is dead now
  };
  Did did = Did::done;
  Message message;  // as it is now
};

struct GateCount {
  std::int64_t queued = 0;  // those whose lease ran out included
  std::int64_t held = 0;
  std::int64_t taken = 0;
  std::int64_t dead = 0;
  std::int64_t done = 0;           // that are still remembered
  std::optional<WallTime> oldest;  // received, of what is queued or held
};

struct GateLimits {
  std::int64_t most_tries = 5;
  Duration lease = std::chrono::minutes{10};
};

class Gate {
 public:
  explicit Gate(Database& database, const GateLimits& limits = {})
      : database_(database), limits_(limits) {}

  /// Durable when it returns: the message, its outage, the way back and the answer in the outbox,
  /// all or nothing. The error says what is wrong with the arrival. A duplicate changes nothing.
  Result<Received> receive(const Arrival& arrival, WallTime now);
  /// Why the last receive() failed, if it was not for the database.
  [[nodiscard]] std::optional<GateRefusal> refusal() const { return refusal_; }

  /// The first that waits for this agent, by priority, then by age; it is the holder's for a lease.
  /// One whose last holder vanished with it is given up. `for_nobody_too`: what is for nobody in
  /// particular is this agent's, and has its place among the others.
  Result<std::optional<Message>> next(std::string_view agent, std::string_view holder, WallTime now,
                                      bool for_nobody_too = false);
  /// The holder goes on with it: a lease from now. `tries` as in Message, from next().
  Result<MessageAnswer> extend(std::int64_t id, std::int64_t tries, WallTime now);
  /// It has reached the agent; a lease from now.
  Result<MessageAnswer> arrived(std::int64_t id, std::int64_t tries, const HandedAt& handed,
                                WallTime now);
  /// Counts even if the lease ran out, for it is true; not for one that nobody ever took.
  Result<MessageAnswer> done(std::int64_t id, WallTime now);
  /// It is queued again, at its place; given up if it was taken most_tries times. `tries`: only if
  /// nobody took it since.
  Result<MessageAnswer> fail(std::int64_t id, std::optional<std::int64_t> tries,
                             std::string_view error, WallTime now);
  /// A dead message is queued again, with all its tries.
  Result<MessageAnswer> retry(std::int64_t id, WallTime now);

  /// The agent is down; the outage that is open already, if there is one.
  Result<Outage> begin_outage(std::string_view agent, std::string_view why, WallTime now);
  struct Ended {
    std::optional<Outage> outage;  // nothing: none was open
    std::int64_t released = 0;     // messages
    std::int64_t told = 0;         // channels that will hear of it
  };
  /// The agent is well: what was held is queued, and whoever was told of the outage will be told
  /// `all_clear`, a payload for the outbox.
  Result<Ended> end_outage(std::string_view agent, std::string_view all_clear, WallTime now);
  Result<std::optional<Outage>> open_outage(std::string_view agent);
  /// All that are open, oldest first.
  Result<std::vector<Outage>> open_outages();

  Result<std::optional<ReplyWay>> find_way(std::int64_t id);
  /// Of one agent, or of all; oldest first.
  Result<std::vector<PendingChannel>> pending(const std::optional<std::string>& agent);

  /// How many wait for it and can be taken now.
  Result<std::int64_t> waiting(std::string_view agent, WallTime now);
  Result<GateCount> count(std::string_view agent, WallTime now);
  /// Who has messages that are not done, or is down; sorted.
  Result<std::vector<std::string>> agents();
  Result<std::optional<Message>> find(std::int64_t id);
  /// Oldest first.
  Result<std::vector<Message>> list(const std::optional<std::string>& agent,
                                    std::optional<MessageState> state, std::int64_t most);
  /// Drops what was done before that time, how many messages that were; and outages that ended
  /// before it, and ways back, of which the outbox has nothing any more.
  Result<std::int64_t> prune(WallTime before);

 private:
  using Change = std::function<Result<MessageAnswer::Did>(Message&)>;
  /// Reads the message and has it changed, all in one.
  Result<MessageAnswer> with(std::int64_t id, const Change& change);
  Result<std::vector<Message>> select(const std::string& rest, Database::Values values);
  Result<std::optional<Message>> select_one(const std::string& rest, Database::List values);
  Result<std::int64_t> number(std::string_view sql, Database::List values);
  Result<std::optional<Message>> first_free(std::string_view agent, WallTime now);
  Result<std::optional<Message>> first_free(std::string_view agent, bool for_nobody_too,
                                            WallTime now);
  Result<std::int64_t> add(const Message& message);
  Result<void> write(const Message& message);
  Result<MessageAnswer::Did> go_on_with(Message& message, std::int64_t tries, WallTime now);
  Result<MessageAnswer::Did> give_back(Message& message, std::string_view error, WallTime now);
  [[nodiscard]] bool has_tries_left(const Message& message) const {
    return message.tries - message.forgiven < limits_.most_tries;
  }

  // All below REQUIRE that Database::change is under way.
  Result<Received> receive_within(const Arrival& arrival, WallTime now);
  Result<void> check_room(std::string_view agent);
  Result<Outage> begin_within(std::string_view agent, std::string_view why, WallTime now);
  Result<Ended> end_within(std::string_view agent, std::string_view all_clear, WallTime now);
  Result<void> answer(const Arrival& arrival, std::int64_t outage, WallTime now,
                      Received& received);
  Result<std::int64_t> keep_way(const Arrival& arrival, WallTime now);
  Result<bool> was_told_since(std::string_view channel, std::string_view key, Duration every,
                              WallTime now);

  Database& database_;
  GateLimits limits_;
  std::optional<GateRefusal> refusal_;
};

}  // namespace tend
