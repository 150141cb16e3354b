// Outages, the ways back to senders, and what they are told. Who was told what is not remembered
// here: the outbox knows it, by the outage's key and the way's channel.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/words.h"
#include "store/gate.h"
#include "store/gate_arrival.h"
#include "store/home_database.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLongestWhy = 1'000;
constexpr std::string_view kOutageKey = "outage:";
constexpr std::string_view kOutageColumns = "id, agent, why, since, ended_at";

Outage outage_of(const DatabaseRow& row) {
  Outage outage;
  outage.id = row.number(0);
  outage.agent = row.text(1);
  outage.why = row.text(2);
  outage.since = from_database_time(row.number(3));
  if (const auto ended = row.number_or_none(4)) outage.ended_at = from_database_time(*ended);
  return outage;
}

Result<std::vector<Outage>> open_ones(Database& database, std::string_view rest,
                                      Database::List values) {
  std::vector<Outage> outages;
  auto read = database.each(
      fmt::format("SELECT {} FROM outages WHERE ended_at IS NULL{}", kOutageColumns, rest), values,
      [&](const DatabaseRow& row) { outages.push_back(outage_of(row)); });
  if (!read) return std::unexpected(read.error());
  return outages;
}

std::string reply_channel(std::int64_t way) { return fmt::format("{}{}", kReplyChannel, way); }

/// nullopt unless it is a JSON array of texts.
std::optional<std::vector<std::string>> words_in(std::string_view text) {
  const ReadJson json = ReadJson::parse(text, nullptr, false);
  if (!json.is_array() || json.empty()) return std::nullopt;
  std::vector<std::string> words;
  for (const ReadJson& each : json) {
    if (!each.is_string()) return std::nullopt;
    words.push_back(each.get<std::string>());
  }
  return words;
}

PendingChannel pending_of(const DatabaseRow& row) {
  PendingChannel pending;
  pending.agent = row.text(0);
  pending.channel = row.text(1);
  pending.endpoint = row.text(2);
  pending.outage = row.number(3);
  pending.since = from_database_time(row.number(4));
  pending.state =
      from_word<NoticeState>(kNoticeStateWords, row.text(5)).value_or(NoticeState::dead);
  pending.last_error = row.text_or_none(6);
  return pending;
}

}  // namespace

std::string outage_key(std::int64_t outage) { return fmt::format("{}{}", kOutageKey, outage); }

// --- Outages ------------------------------------------------------------------------------------

Result<std::optional<Outage>> Gate::open_outage(std::string_view agent) {
  auto found = open_ones(database_, " AND agent = ?", {agent});
  if (!found) return std::unexpected(found.error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::vector<Outage>> Gate::open_outages() {
  return open_ones(database_, " ORDER BY id", {});
}

Result<Outage> Gate::begin_outage(std::string_view agent, std::string_view why, WallTime now) {
  if (!agent.empty()) {
    if (auto ok = check_gate_name("the agent", agent, kLongestEndpoint); !ok) {
      return std::unexpected(ok.error());
    }
  }
  Outage outage;
  auto changed = database_.change([&]() -> Result<void> {
    auto begun = begin_within(agent, why, now);
    if (!begun) return std::unexpected(begun.error());
    outage = *std::move(begun);
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return outage;
}

Result<Outage> Gate::begin_within(std::string_view agent, std::string_view why, WallTime now) {
  auto open = open_outage(agent);
  if (!open) return std::unexpected(open.error());
  if (*open) return *std::move(*open);
  Outage outage{.agent = std::string(agent), .why = one_line(why, kLongestWhy), .since = now};
  const auto id = number("INSERT INTO outages(agent, why, since) VALUES(?, ?, ?) RETURNING id",
                         {agent, std::string_view(outage.why), database_time(now)});
  if (!id) return std::unexpected(id.error());
  outage.id = *id;
  return outage;
}

Result<Gate::Ended> Gate::end_outage(std::string_view agent, std::string_view all_clear,
                                     WallTime now) {
  Ended ended;
  auto changed = database_.change([&]() -> Result<void> {
    auto done = end_within(agent, all_clear, now);
    if (!done) return std::unexpected(done.error());
    ended = *std::move(done);
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return ended;
}

Result<Gate::Ended> Gate::end_within(std::string_view agent, std::string_view all_clear,
                                     WallTime now) {
  Ended ended;
  const auto released = database_.run(
      "UPDATE messages SET state = 'queued', updated_at = ?2 "
      "WHERE agent = ?1 AND state <> 'done' AND state = 'held'",
      {agent, database_time(now)});
  if (!released) return std::unexpected(released.error());
  ended.released = *released;
  auto open = open_outage(agent);
  if (!open) return std::unexpected(open.error());
  if (!*open) return ended;
  ended.outage = *std::move(*open);
  ended.outage->ended_at = std::max(now, ended.outage->since);
  const auto over = database_.run("UPDATE outages SET ended_at = ? WHERE id = ?",
                                  {database_time(*ended.outage->ended_at), ended.outage->id});
  if (!over) return std::unexpected(over.error());
  const std::string key = outage_key(ended.outage->id);
  const auto closed = Outbox(database_).close_within(key, std::string(all_clear), now);
  if (!closed) return std::unexpected(closed.error());
  // Of those that were closed, some may never have heard of the outage.
  const auto told =
      number("SELECT count(*) FROM notices WHERE key = ? AND kind = 'close' AND state = 'waiting'",
             {std::string_view(key)});
  if (!told) return std::unexpected(told.error());
  ended.told = *told;
  return ended;
}

// --- Ways back ----------------------------------------------------------------------------------

Result<void> Gate::answer(const Arrival& arrival, std::int64_t outage, WallTime now,
                          Received& received) {
  if (!arrival.reply || arrival.notice.empty()) return {};
  Outbox outbox(database_);
  const auto unsent = outbox.unsent();
  if (!unsent) return std::unexpected(unsent.error());
  if (*unsent >= kMostUnsent / 2) {
    received.no_room_to_answer = true;
    return {};
  }
  const auto way = keep_way(arrival, now);
  if (!way) return std::unexpected(way.error());
  const std::string channel = reply_channel(*way);
  const std::string key = outage_key(outage);
  const auto told = was_told_since(channel, key, arrival.answer_every, now);
  if (!told) return std::unexpected(told.error());
  received.answered_before = *told;
  if (*told) return {};
  const auto put = outbox.put_within(channel, key, arrival.notice, now);
  if (!put) return std::unexpected(put.error());
  received.notice = put->id;
  return {};
}

Result<std::int64_t> Gate::keep_way(const Arrival& arrival, WallTime now) {
  const ReplyWay& way = *arrival.reply;
  const Message& draft = arrival.draft;
  const std::string command = to_line(WriteJson(way.command));
  return number(
      "INSERT INTO reply_ways(agent, channel, endpoint, command, language, updated_at) "
      "VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(agent, channel, endpoint) DO UPDATE SET "
      "command = excluded.command, language = excluded.language, updated_at = excluded.updated_at "
      "RETURNING id",
      {std::string_view(draft.agent),
       std::string_view(way.channel.empty() ? draft.channel : way.channel),
       std::string_view(way.endpoint.empty() ? draft.endpoint : way.endpoint),
       std::string_view(command), std::string_view(way.language), database_time(now)});
}

Result<bool> Gate::was_told_since(std::string_view channel, std::string_view key, Duration every,
                                  WallTime now) {
  const auto last = number(
      "SELECT updated_at FROM notices WHERE key = ? AND channel = ? ORDER BY id DESC LIMIT 1",
      {key, channel});
  if (!last) return std::unexpected(last.error());
  const WallTime at = from_database_time(*last);
  return every > Duration{} && at > now - every && at <= now + kCalendarStep;
}

Result<std::optional<ReplyWay>> Gate::find_way(std::int64_t id) {
  std::optional<ReplyWay> way;
  std::string command;
  auto read =
      database_.each("SELECT channel, endpoint, command, language FROM reply_ways WHERE id = ?",
                     {id}, [&](const DatabaseRow& row) {
                       way = ReplyWay{.id = id,
                                      .channel = std::string(row.text(0)),
                                      .endpoint = std::string(row.text(1)),
                                      .language = std::string(row.text(3))};
                       command = row.text(2);
                     });
  if (!read) return std::unexpected(read.error());
  if (!way) return way;
  auto words = words_in(command);
  if (!words)
    return tend::fail(
        fmt::format("{}: what stands for reply way {} is no command", database_.path(), id));
  way->command = *std::move(words);
  return way;
}

/// The last notice of each way: what is to be told, or was told last. Of an outage that is over
/// that is its end, unless nobody heard of it.
Result<std::vector<PendingChannel>> Gate::pending(const std::optional<std::string>& agent) {
  static const std::string sql = fmt::format(
      "SELECT outages.agent, reply_ways.channel, reply_ways.endpoint, outages.id, "
      "(SELECT min(created_at) FROM notices AS own WHERE own.incident = notices.incident), "
      "notices.state, notices.last_error FROM outages "
      "JOIN notices ON notices.key = '{}' || outages.id "
      "JOIN reply_ways ON reply_ways.id = CAST(substr(notices.channel, {}) AS INTEGER) "
      "WHERE (?1 IS NULL OR outages.agent = ?1) "
      "AND notices.id = (SELECT max(id) FROM notices AS last WHERE last.key = notices.key "
      "AND last.channel = notices.channel) "
      "AND (NOT notices.closed OR (notices.kind = 'close' AND notices.state <> 'sent')) "
      "ORDER BY notices.incident",
      kOutageKey, kReplyChannel.size() + 1);
  std::vector<PendingChannel> channels;
  auto read = database_.each(sql, {value_or_null(agent)},
                             [&](const DatabaseRow& row) { channels.push_back(pending_of(row)); });
  if (!read) return std::unexpected(read.error());
  return channels;
}

Result<std::int64_t> Gate::prune(WallTime before) {
  std::int64_t dropped = 0;
  auto changed = database_.change([&]() -> Result<void> {
    const auto messages = database_.run(
        "DELETE FROM messages WHERE state = 'done' AND updated_at < ?", {database_time(before)});
    if (!messages) return std::unexpected(messages.error());
    dropped = *messages;
    const auto outages =
        database_.run(fmt::format("DELETE FROM outages WHERE ended_at < ? AND NOT EXISTS "
                                  "(SELECT 1 FROM notices WHERE key = '{}' || outages.id)",
                                  kOutageKey),
                      {database_time(before)});
    if (!outages) return std::unexpected(outages.error());
    const auto ways = database_.run(
        fmt::format("DELETE FROM reply_ways WHERE updated_at < ? AND '{}' || id NOT IN "
                    "(SELECT channel FROM notices)",
                    kReplyChannel),
        {database_time(before)});
    if (!ways) return std::unexpected(ways.error());
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return dropped;
}

}  // namespace tend
