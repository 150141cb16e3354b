// Messages. Order needs no bookkeeping: whatever becomes of a message, it keeps its number, and the
// lowest of the first priority is the next.
#include "store/gate.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "judge/words.h"
#include "store/gate_arrival.h"
#include "store/home_database.h"
#include "store/json.h"

namespace tend {
namespace {

using Did = MessageAnswer::Did;

constexpr std::size_t kLongestError = 1'000;
constexpr std::string_view kVanished = "who took it vanished before it was done";

constexpr std::string_view kColumns =
    "id, agent, channel, endpoint, priority, state, key, holder, tries, forgiven, lease_until, "
    "last_error, outage, received_at, updated_at, handed_stream, handed_said, content";

/// Those of the agent ?1. SQLite has to be told of `done` to see that messages_unfinished has them.
constexpr std::string_view kUnfinished = "agent = ?1 AND state <> 'done'";
/// Given (agent, now, now + kCalendarStep).
constexpr std::string_view kLeaseRanOut =
    "state = 'taken' AND (lease_until <= ?2 OR updated_at > ?3)";

Message message_of(const DatabaseRow& row) {
  Message message;
  message.id = row.number(0);
  message.agent = row.text(1);
  message.channel = row.text(2);
  message.endpoint = row.text(3);
  message.priority = row.number(4);
  message.state =
      from_word<MessageState>(kMessageStateWords, row.text(5)).value_or(MessageState::dead);
  message.key = row.text_or_none(6);
  message.holder = row.text_or_none(7);
  message.tries = row.number(8);
  message.forgiven = row.number(9);
  message.lease_until = from_database_time(row.number(10));
  message.last_error = row.text_or_none(11);
  message.outage = row.number(12);
  message.received_at = from_database_time(row.number(13));
  message.updated_at = from_database_time(row.number(14));
  const auto stream = row.number_or_none(15);
  const auto said = row.number_or_none(16);
  if (stream && said) {
    message.handed = {static_cast<std::uint64_t>(*stream), static_cast<std::uint64_t>(*said)};
  }
  message.content = row.text(17);
  return message;
}

std::string_view word_of(MessageState state) {
  return kMessageStateWords.at(static_cast<std::size_t>(state));
}

DatabaseValue length_or_null(const std::optional<HandedAt>& handed,
                             std::uint64_t HandedAt::* length) {
  if (!handed) return {};
  return static_cast<std::int64_t>((*handed).*length);
}

bool lease_ran_out(const Message& message, WallTime now) {
  return message.state == MessageState::taken &&
         (message.lease_until <= now || message.updated_at > now + kCalendarStep);
}

Message made_from(const Message& draft, WallTime now) {
  Message message;
  message.agent = draft.agent;
  message.channel = draft.channel;
  message.endpoint = draft.endpoint;
  message.priority = draft.priority;
  message.content = draft.content;
  message.key = draft.key;
  message.received_at = message.updated_at = now;
  return message;
}

/// A row of (state, how many, when the first was received).
void add_to(GateCount& count, const DatabaseRow& row) {
  const auto state =
      from_word<MessageState>(kMessageStateWords, row.text(0)).value_or(MessageState::dead);
  const std::int64_t many = row.number(1);
  if (state == MessageState::taken) count.taken = many;
  if (state == MessageState::dead) count.dead = many;
  if (state != MessageState::queued && state != MessageState::held) return;
  (state == MessageState::held ? count.held : count.queued) = many;
  const WallTime first = from_database_time(row.number(2));
  count.oldest = std::min(count.oldest.value_or(first), first);
}

bool comes_before(const Message& a, const Message& b) {
  return std::tie(a.priority, a.id) < std::tie(b.priority, b.id);
}

}  // namespace

// --- Reading ------------------------------------------------------------------------------------

Result<std::vector<Message>> Gate::select(const std::string& rest, Database::Values values) {
  std::vector<Message> messages;
  auto read =
      database_.each(fmt::format("SELECT {} FROM messages WHERE {}", kColumns, rest), values,
                     [&](const DatabaseRow& row) { messages.push_back(message_of(row)); });
  if (!read) return std::unexpected(read.error());
  return messages;
}

Result<std::optional<Message>> Gate::select_one(const std::string& rest, Database::List values) {
  auto found = select(rest + " LIMIT 1", Database::Values(values.begin(), values.size()));
  if (!found) return std::unexpected(found.error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::int64_t> Gate::number(std::string_view sql, Database::List values) {
  std::int64_t number = 0;
  auto read = database_.each(sql, values, [&](const DatabaseRow& row) { number = row.number(0); });
  if (!read) return std::unexpected(read.error());
  return number;
}

Result<std::optional<Message>> Gate::find(std::int64_t id) { return select_one("id = ?", {id}); }

Result<std::vector<Message>> Gate::list(const std::optional<std::string>& agent,
                                        std::optional<MessageState> state, std::int64_t most) {
  std::string condition = "1";
  std::vector<DatabaseValue> values;
  if (agent) {
    condition += " AND agent = ?";
    values.emplace_back(*agent);
  }
  if (state) {
    condition += *state == MessageState::done ? " AND state = 'done'" : " AND state <> 'done'";
    condition += " AND state = ?";
    values.emplace_back(word_of(*state));
  }
  values.emplace_back(most);
  return select(condition + " ORDER BY id LIMIT ?", values);
}

Result<std::int64_t> Gate::waiting(std::string_view agent, WallTime now) {
  return number(
      fmt::format("SELECT count(*) FROM messages WHERE {} AND state IN ('queued', "
                  "'taken') AND (state = 'queued' OR ({} AND tries - forgiven < ?4))",
                  kUnfinished, kLeaseRanOut),
      {agent, database_time(now), database_time(now + kCalendarStep), limits_.most_tries});
}

Result<GateCount> Gate::count(std::string_view agent, WallTime now) {
  GateCount count;
  auto counted = database_.each(
      fmt::format("SELECT is_now, many, (SELECT received_at FROM messages WHERE id = first) FROM ("
                  "SELECT CASE WHEN NOT ({}) THEN state WHEN tries - forgiven < ?4 THEN 'queued' "
                  "ELSE 'dead' END AS is_now, count(*) AS many, min(id) AS first "
                  "FROM messages WHERE {} GROUP BY is_now)",
                  kLeaseRanOut, kUnfinished),
      {agent, database_time(now), database_time(now + kCalendarStep), limits_.most_tries},
      [&](const DatabaseRow& row) { add_to(count, row); });
  if (!counted) return std::unexpected(counted.error());
  const auto done =
      number("SELECT count(*) FROM messages WHERE agent = ? AND state = 'done'", {agent});
  if (!done) return std::unexpected(done.error());
  count.done = *done;
  return count;
}

Result<std::vector<std::string>> Gate::agents() {
  std::vector<std::string> agents;
  auto read = database_.each(
      "SELECT agent FROM messages WHERE state <> 'done' "
      "UNION SELECT agent FROM outages WHERE ended_at IS NULL ORDER BY 1",
      {}, [&](const DatabaseRow& row) { agents.emplace_back(row.text(0)); });
  if (!read) return std::unexpected(read.error());
  return agents;
}

// --- Receiving ----------------------------------------------------------------------------------

Result<Received> Gate::receive(const Arrival& arrival, WallTime now) {
  refusal_.reset();
  if (const auto fault = check_arrival(arrival)) {
    refusal_ = fault->why;
    return tend::fail(fault->text);
  }
  Received received;
  auto changed = database_.change([&]() -> Result<void> {
    auto done = receive_within(arrival, now);
    if (!done) return std::unexpected(done.error());
    received = *std::move(done);
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return received;
}

Result<Received> Gate::receive_within(const Arrival& arrival, WallTime now) {
  Received received{.did = arrival.down ? Received::Did::held : Received::Did::queued,
                    .message = made_from(arrival.draft, now)};
  Message& message = received.message;
  if (message.key) {
    auto earlier = select_one("agent = ? AND channel = ? AND key = ?",
                              {std::string_view(message.agent), std::string_view(message.channel),
                               std::string_view(*message.key)});
    if (!earlier) return std::unexpected(earlier.error());
    if (*earlier) return Received{Received::Did::duplicate, *std::move(*earlier)};
  }
  if (arrival.down) {
    const auto outage = begin_within(message.agent, arrival.why, now);
    if (!outage) return std::unexpected(outage.error());
    message.state = MessageState::held;
    message.outage = outage->id;
    if (auto ok = answer(arrival, outage->id, now, received); !ok) {
      return std::unexpected(ok.error());
    }
    if (!arrival.keep) {
      received.did = Received::Did::not_kept;
      return received;
    }
  }
  if (auto room = check_room(message.agent); !room) return std::unexpected(room.error());
  // Its agent may end before it comes to the message.
  if (arrival.reply && !arrival.down) {
    if (auto kept = keep_way(arrival, now); !kept) return std::unexpected(kept.error());
  }
  const auto id = add(message);
  if (!id) return std::unexpected(id.error());
  message.id = *id;
  return received;
}

/// Counting many takes its time. It is not needed where all messages together, going by their
/// numbers, are fewer.
Result<void> Gate::check_room(std::string_view agent) {
  const auto span =
      number("SELECT (SELECT max(id) FROM messages) - (SELECT min(id) FROM messages) + 1", {});
  if (!span) return std::unexpected(span.error());
  if (*span < kMostMessages) return {};
  const auto unfinished =
      number(fmt::format("SELECT count(*) FROM messages WHERE {}", kUnfinished), {agent});
  if (!unfinished) return std::unexpected(unfinished.error());
  if (*unfinished < kMostMessages) return {};
  refusal_ = GateRefusal::full;
  return tend::fail(
      fmt::format("{} messages for {} are not done: there is no room for more until some "
                  "are",
                  *unfinished, agent.empty() ? "nobody" : agent));
}

Result<std::int64_t> Gate::add(const Message& message) {
  static const std::string insert = fmt::format(
      "INSERT INTO messages({}) VALUES(NULL,?,?,?,?,?,?,NULL,0,0,0,NULL,?,?,?,NULL,NULL,?) "
      "RETURNING id",
      kColumns);
  return number(insert,
                {std::string_view(message.agent), std::string_view(message.channel),
                 std::string_view(message.endpoint), message.priority, word_of(message.state),
                 value_or_null(message.key), message.outage, database_time(message.received_at),
                 database_time(message.updated_at), std::string_view(message.content)});
}

// --- Working on them ----------------------------------------------------------------------------

/// As long as its lease is over, a message is as good as queued.
Result<std::optional<Message>> Gate::first_free(std::string_view agent, WallTime now) {
  auto queued = select_one(
      fmt::format("{} AND state = 'queued' ORDER BY priority, id", kUnfinished), {agent});
  if (!queued) return queued;
  auto left = select_one(fmt::format("{} AND {} ORDER BY priority, id", kUnfinished, kLeaseRanOut),
                         {agent, database_time(now), database_time(now + kCalendarStep)});
  if (!left || !*queued) return left;
  return *left && comes_before(**left, **queued) ? std::move(left) : std::move(queued);
}

Result<std::optional<Message>> Gate::first_free(std::string_view agent, bool for_nobody_too,
                                                WallTime now) {
  auto first = first_free(agent, now);
  if (!first || !for_nobody_too || agent.empty()) return first;
  auto other = first_free("", now);
  if (!other || !*first) return other;
  return *other && comes_before(**other, **first) ? std::move(other) : std::move(first);
}

Result<std::optional<Message>> Gate::next(std::string_view agent, std::string_view holder,
                                          WallTime now, bool for_nobody_too) {
  CHECK(limits_.lease > Duration{});
  if (auto ok = check_gate_name("the holder", holder, kLongestEndpoint); !ok) {
    return std::unexpected(ok.error());
  }
  std::optional<Message> taken;
  auto changed = database_.change([&]() -> Result<void> {
    auto first = first_free(agent, for_nobody_too, now);
    while (first && *first && lease_ran_out(**first, now) && !has_tries_left(**first)) {
      if (auto given = give_back(**first, kVanished, now); !given) {
        return std::unexpected(given.error());
      }
      first = first_free(agent, for_nobody_too, now);
    }
    if (!first) return std::unexpected(first.error());
    if (!*first) return {};
    taken = *std::move(*first);
    taken->state = MessageState::taken;
    taken->holder = holder;
    ++taken->tries;
    taken->lease_until = now + limits_.lease;
    taken->updated_at = now;
    taken->handed.reset();
    return write(*taken);
  });
  if (!changed) return std::unexpected(changed.error());
  return taken;
}

Result<MessageAnswer> Gate::with(std::int64_t id, const Change& change) {
  MessageAnswer answer;
  auto changed = database_.change([&]() -> Result<void> {
    auto found = find(id);
    if (!found) return std::unexpected(found.error());
    if (!*found) {
      answer.did = Did::no_such_message;
      return {};
    }
    answer.message = *std::move(*found);
    const auto did = change(answer.message);
    if (!did) return std::unexpected(did.error());
    answer.did = *did;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return answer;
}

Result<void> Gate::write(const Message& message) {
  const auto written = database_.run(
      "UPDATE messages SET state = ?, holder = ?, tries = ?, forgiven = ?, lease_until = ?, "
      "last_error = ?, updated_at = ?, handed_stream = ?, handed_said = ? WHERE id = ?",
      {word_of(message.state), value_or_null(message.holder), message.tries, message.forgiven,
       database_time(message.lease_until), value_or_null(message.last_error),
       database_time(message.updated_at), length_or_null(message.handed, &HandedAt::stream),
       length_or_null(message.handed, &HandedAt::said), message.id});
  if (!written) return std::unexpected(written.error());
  return {};
}

Result<Did> Gate::go_on_with(Message& message, std::int64_t tries, WallTime now) {
  if (message.state == MessageState::dead) return Did::given_up;
  if (message.tries != tries) return Did::lost;
  if (message.state != MessageState::taken) return Did::not_taken;
  message.lease_until = now + limits_.lease;
  message.updated_at = now;
  if (auto written = write(message); !written) return std::unexpected(written.error());
  return Did::done;
}

Result<MessageAnswer> Gate::extend(std::int64_t id, std::int64_t tries, WallTime now) {
  return with(id, [&](Message& message) { return go_on_with(message, tries, now); });
}

Result<MessageAnswer> Gate::arrived(std::int64_t id, std::int64_t tries, const HandedAt& handed,
                                    WallTime now) {
  return with(id, [&](Message& message) {
    message.handed = handed;
    return go_on_with(message, tries, now);
  });
}

Result<MessageAnswer> Gate::done(std::int64_t id, WallTime now) {
  return with(id, [&](Message& message) -> Result<Did> {
    if (message.state == MessageState::done) return Did::as_before;
    if (message.tries == 0) return Did::not_taken;
    message.state = MessageState::done;
    message.lease_until = {};
    message.last_error.reset();
    message.updated_at = now;
    if (auto written = write(message); !written) return std::unexpected(written.error());
    return Did::done;
  });
}

Result<MessageAnswer> Gate::fail(std::int64_t id, std::optional<std::int64_t> tries,
                                 std::string_view error, WallTime now) {
  return with(id, [&](Message& message) -> Result<Did> {
    if (tries && message.tries != *tries) return Did::lost;
    if (message.state == MessageState::dead) return Did::given_up;
    if (message.state != MessageState::taken) return Did::not_taken;
    return give_back(message, error, now);
  });
}

Result<Did> Gate::give_back(Message& message, std::string_view error, WallTime now) {
  const bool is_dead = !has_tries_left(message);
  message.state = is_dead ? MessageState::dead : MessageState::queued;
  message.holder.reset();
  message.handed.reset();
  message.lease_until = {};
  message.last_error = one_line(error, kLongestError);
  message.updated_at = now;
  if (auto written = write(message); !written) return std::unexpected(written.error());
  return is_dead ? Did::given_up : Did::done;
}

Result<MessageAnswer> Gate::retry(std::int64_t id, WallTime now) {
  return with(id, [&](Message& message) -> Result<Did> {
    const bool was_left = lease_ran_out(message, now) && !has_tries_left(message);
    if (message.state != MessageState::dead && !was_left) return Did::as_before;
    message.state = MessageState::queued;
    message.holder.reset();
    message.handed.reset();
    message.forgiven = message.tries;
    message.lease_until = {};
    message.updated_at = now;
    if (auto written = write(message); !written) return std::unexpected(written.error());
    return Did::done;
  });
}

}  // namespace tend
