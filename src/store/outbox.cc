// Order needs no bookkeeping: a notice can be taken when no earlier one of its key and channel is
// still to be sent. That holds across incidents too, so that the end of one is never told after the
// begin of the next.
#include "store/outbox.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "judge/words.h"
#include "store/home_database.h"
#include "store/json.h"
#include "store/tasks.h"

namespace tend {
namespace {

using Did = NoticeAnswer::Did;

constexpr std::size_t kLongestError = 1'000;
constexpr Duration kLongestLease = std::chrono::hours{24};

constexpr std::string_view kColumns =
    "id, incident, channel, key, kind, state, payload, tries, next_at, last_error, created_at, "
    "updated_at, closed, in_doubt";

/// Given (now, now + kCalendarStep).
constexpr std::string_view kCanBeTaken =
    "state <> 'sent' AND state <> 'dead' AND (next_at <= ?1 OR updated_at > ?2) "
    "AND NOT EXISTS (SELECT 1 FROM notices AS earlier WHERE earlier.key = notices.key "
    "AND earlier.channel = notices.channel AND earlier.id < notices.id "
    "AND earlier.state IN ('waiting', 'sending'))";

/// Sent now, it would contradict nothing that was told since.
constexpr std::string_view kCanBeRetried =
    "state = 'dead' AND (NOT closed OR kind = 'close') "
    "AND NOT EXISTS (SELECT 1 FROM notices AS later WHERE later.key = notices.key "
    "AND later.channel = notices.channel AND later.id > notices.id)";

Notice notice_of(const DatabaseRow& row) {
  Notice notice;
  notice.id = row.number(0);
  notice.incident = row.number(1);
  notice.channel = row.text(2);
  notice.key = row.text(3);
  notice.kind = from_word<NoticeKind>(kNoticeKindWords, row.text(4)).value_or(NoticeKind::update);
  notice.state = from_word<NoticeState>(kNoticeStateWords, row.text(5)).value_or(NoticeState::dead);
  notice.payload = row.text(6);
  notice.tries = row.number(7);
  notice.next_at = from_database_time(row.number(8));
  notice.last_error = row.text_or_none(9);
  notice.created_at = from_database_time(row.number(10));
  notice.updated_at = from_database_time(row.number(11));
  notice.closed = row.number(12) != 0;
  notice.in_doubt = row.number(13) != 0;
  return notice;
}

std::string_view word_of(NoticeKind kind) {
  return kNoticeKindWords.at(static_cast<std::size_t>(kind));
}

std::string_view word_of(NoticeState state) {
  return kNoticeStateWords.at(static_cast<std::size_t>(state));
}

std::int64_t flag(bool is) { return is ? 1 : 0; }

Result<void> nothing_or(const Result<std::int64_t>& ran) {
  if (!ran) return std::unexpected(ran.error());
  return {};
}

Result<void> check_payload(std::string_view payload) {
  if (payload.size() > kLongestPayload) {
    return fail(fmt::format("the payload has {} bytes; at most {} are allowed", payload.size(),
                            kLongestPayload));
  }
  if (!ReadJson::accept(payload)) {
    return fail(fmt::format("the payload {} is not JSON", in_quotes(payload)));
  }
  return {};
}

}  // namespace

Duration wait_after(std::int64_t tries, double jitter, const OutboxLimits& limits) {
  CHECK(jitter >= 0 && jitter < 1);
  Duration wait = limits.first_wait;
  for (std::int64_t i = 1; i < tries && wait < limits.longest_wait; ++i) wait *= 2;
  wait = std::min(wait, limits.longest_wait);
  const double shorter = static_cast<double>(wait.count()) * jitter / 2;
  return wait - Duration{static_cast<Duration::rep>(shorter)};
}

// --- Reading ------------------------------------------------------------------------------------

Result<std::vector<Notice>> Outbox::select(const std::string& rest, Database::Values values) {
  std::vector<Notice> notices;
  auto read = database_.each(fmt::format("SELECT {} FROM notices WHERE {}", kColumns, rest), values,
                             [&](const DatabaseRow& row) { notices.push_back(notice_of(row)); });
  if (!read) return std::unexpected(read.error());
  return notices;
}

Result<std::optional<Notice>> Outbox::select_one(const std::string& rest, Database::List values) {
  auto found = select(rest + " LIMIT 1", Database::Values(values.begin(), values.size()));
  if (!found) return std::unexpected(found.error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::optional<Notice>> Outbox::find(std::int64_t id) { return select_one("id = ?", {id}); }

Result<std::vector<Notice>> Outbox::list(const NoticeFilter& filter) {
  std::string condition = "1";
  std::vector<DatabaseValue> values;
  const auto ask = [&](std::string_view text, std::string_view value) {
    condition += text;
    values.emplace_back(value);
  };
  if (filter.state) ask(" AND state = ?", word_of(*filter.state));
  if (filter.channel) ask(" AND channel = ?", *filter.channel);
  if (filter.key) ask(" AND key = ?", *filter.key);
  if (filter.open_only) condition += " AND NOT closed";
  values.emplace_back(filter.most.value_or(-1));
  return select(condition + " ORDER BY id LIMIT ?", values);
}

Result<std::vector<Notice>> Outbox::due(WallTime now, std::int64_t most,
                                        const std::optional<std::string>& key) {
  std::vector<DatabaseValue> values{database_time(now), database_time(now + kCalendarStep), most};
  if (key) values.emplace_back(*key);
  return select(
      fmt::format("{}{} ORDER BY next_at, id LIMIT ?3", kCanBeTaken, key ? " AND key = ?4" : ""),
      values);
}

Result<std::optional<WallTime>> Outbox::next_due(const std::optional<std::string>& key) {
  std::vector<DatabaseValue> values;
  if (key) values.emplace_back(*key);
  std::optional<std::int64_t> next;
  auto read = database_.each(
      fmt::format("SELECT min(next_at) FROM notices WHERE state <> 'sent' AND state <> 'dead'{}",
                  key ? " AND key = ?1" : ""),
      values, [&](const DatabaseRow& row) { next = row.number_or_none(0); });
  if (!read) return std::unexpected(read.error());
  if (!next) return std::nullopt;
  return from_database_time(*next);
}

// --- Putting and closing ------------------------------------------------------------------------

Result<std::int64_t> Outbox::add(const Notice& notice) {
  std::int64_t id = 0;
  auto inserted = database_.each(
      fmt::format("INSERT INTO notices({}) VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id",
                  kColumns),
      {notice.incident, std::string_view(notice.channel), std::string_view(notice.key),
       word_of(notice.kind), word_of(notice.state), std::string_view(notice.payload), notice.tries,
       database_time(notice.next_at), value_or_null(notice.last_error),
       database_time(notice.created_at), database_time(notice.updated_at), flag(notice.closed),
       flag(notice.in_doubt)},
      [&](const DatabaseRow& row) { id = row.number(0); });
  if (!inserted) return std::unexpected(inserted.error());
  if (notice.incident != 0) return id;
  const auto begun = database_.run("UPDATE notices SET incident = id WHERE id = ?", {id});
  if (!begun) return std::unexpected(begun.error());
  return id;
}

Result<void> Outbox::write(const Notice& notice) {
  return nothing_or(database_.run(
      "UPDATE notices SET state = ?, payload = ?, tries = ?, next_at = ?, last_error = ?, "
      "updated_at = ?, in_doubt = ? WHERE id = ?",
      {word_of(notice.state), std::string_view(notice.payload), notice.tries,
       database_time(notice.next_at), value_or_null(notice.last_error),
       database_time(notice.updated_at), flag(notice.in_doubt), notice.id}));
}

Result<std::int64_t> Outbox::unsent() {
  std::int64_t unsent = 0;
  auto counted = database_.each("SELECT count(*) FROM notices WHERE state <> 'sent'", {},
                                [&](const DatabaseRow& row) { unsent = row.number(0); });
  if (!counted) return std::unexpected(counted.error());
  return unsent;
}

Result<void> Outbox::check_room() {
  const auto counted = unsent();
  if (!counted) return std::unexpected(counted.error());
  if (*counted < kMostUnsent) return {};
  return fail(fmt::format("the outbox holds {} notices that were not sent: retry or prune them",
                          kMostUnsent));
}

Result<PutAnswer> Outbox::put(std::string_view channel, std::string_view key,
                              std::string_view payload, WallTime now) {
  PutAnswer answer;
  auto changed = database_.change([&]() -> Result<void> {
    auto put = put_within(channel, key, payload, now);
    if (!put) return std::unexpected(put.error());
    answer = *put;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return answer;
}

Result<PutAnswer> Outbox::put_within(std::string_view channel, std::string_view key,
                                     std::string_view payload, WallTime now) {
  if (auto ok = check_task_word("the channel", channel); !ok) return std::unexpected(ok.error());
  if (auto ok = check_task_word("the key", key, kLongestKey); !ok)
    return std::unexpected(ok.error());
  if (auto ok = check_payload(payload); !ok) return std::unexpected(ok.error());
  Notice draft;
  draft.channel = channel;
  draft.key = key;
  draft.payload = payload;
  draft.next_at = draft.created_at = draft.updated_at = now;
  return put_draft(draft);
}

Result<PutAnswer> Outbox::put_draft(const Notice& draft) {
  auto last = select_one("key = ? AND channel = ? AND NOT closed ORDER BY id DESC",
                         {std::string_view(draft.key), std::string_view(draft.channel)});
  if (!last) return std::unexpected(last.error());
  Notice notice = draft;
  auto did = PutAnswer::Did::opened;
  if (!*last) {
    if (auto room = check_room(); !room) return std::unexpected(room.error());
  } else {
    Notice& before = **last;
    if (before.payload == draft.payload) return PutAnswer{PutAnswer::Did::as_before, before.id};
    if (before.state == NoticeState::waiting || before.state == NoticeState::dead) {
      before.payload = draft.payload;
      before.updated_at = draft.updated_at;
      if (auto written = write(before); !written) return std::unexpected(written.error());
      return PutAnswer{PutAnswer::Did::replaced, before.id};
    }
    did = PutAnswer::Did::updated;
    notice.kind = NoticeKind::update;
    notice.incident = before.incident;
  }
  const auto id = add(notice);
  if (!id) return std::unexpected(id.error());
  return PutAnswer{did, *id};
}

Result<std::int64_t> Outbox::close(std::string_view key, const std::optional<std::string>& payload,
                                   WallTime now) {
  std::int64_t closed = 0;
  auto changed = database_.change([&]() -> Result<void> {
    const auto done = close_within(key, payload, now);
    if (!done) return std::unexpected(done.error());
    closed = *done;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return closed;
}

Result<std::int64_t> Outbox::close_within(std::string_view key,
                                          const std::optional<std::string>& payload, WallTime now) {
  if (payload) {
    if (auto ok = check_payload(*payload); !ok) return std::unexpected(ok.error());
  }
  const std::array<DatabaseValue, 1> values{key};
  const auto last_ones = select(
      "id IN (SELECT max(id) FROM notices WHERE key = ? AND NOT closed GROUP BY channel) "
      "ORDER BY id",
      values);
  if (!last_ones) return std::unexpected(last_ones.error());
  for (const Notice& last : *last_ones) {
    if (auto done = close_one(last, payload, now); !done) return std::unexpected(done.error());
  }
  return static_cast<std::int64_t>(last_ones->size());
}

Result<void> Outbox::close_one(const Notice& last, const std::optional<std::string>& payload,
                               WallTime now) {
  auto marked = database_.run("UPDATE notices SET closed = 1 WHERE incident = ?", {last.incident});
  if (!marked) return std::unexpected(marked.error());
  Notice end;
  end.incident = last.incident;
  end.channel = last.channel;
  end.key = last.key;
  end.kind = NoticeKind::close;
  end.payload = payload.value_or(last.payload);
  end.next_at = end.created_at = end.updated_at = now;
  end.closed = true;
  if (const auto added = add(end); !added) return std::unexpected(added.error());
  return drop_what_is_over(last.incident);
}

/// Of an incident that is over only its end is told, and not even that if nobody can have heard of
/// it. One that may have been heard of is told from the begin, for it was perhaps not.
Result<void> Outbox::drop_what_is_over(std::int64_t incident) {
  auto dropped = database_.run(
      "DELETE FROM notices WHERE incident = ? AND closed AND state = 'waiting' "
      "AND kind <> 'close' AND NOT (kind = 'open' AND in_doubt)",
      {incident});
  if (!dropped) return std::unexpected(dropped.error());
  return nothing_or(database_.run(
      "DELETE FROM notices WHERE incident = ?1 AND state = 'waiting' AND kind = 'close' "
      "AND NOT EXISTS (SELECT 1 FROM notices AS told WHERE told.incident = ?1 "
      "AND (told.state IN ('sent', 'sending') OR told.in_doubt))",
      {incident}));
}

// --- Sending ------------------------------------------------------------------------------------

Result<NoticeAnswer> Outbox::with(std::int64_t id, const Change& change) {
  NoticeAnswer answer;
  auto changed = database_.change([&]() -> Result<void> {
    auto found = find(id);
    if (!found) return std::unexpected(found.error());
    if (!*found) {
      answer.did = Did::no_such_notice;
      return {};
    }
    answer.notice = *std::move(*found);
    const auto did = change(answer.notice);
    if (!did) return std::unexpected(did.error());
    answer.did = *did;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return answer;
}

Result<NoticeAnswer> Outbox::take(std::int64_t id, WallTime now, Duration lease) {
  CHECK(lease > Duration{} && lease <= kLongestLease);
  return with(id, [&](Notice& notice) -> Result<Did> {
    const auto can = select_one(fmt::format("{} AND id = ?3", kCanBeTaken),
                                {database_time(now), database_time(now + kCalendarStep), id});
    if (!can) return std::unexpected(can.error());
    if (!*can) return Did::not_due;
    if (notice.state == NoticeState::sending) {
      notice.in_doubt = true;
      if (notice.tries >= limits_.most_tries) {
        return give_back(notice, "who sent it vanished before it was done", now, 0);
      }
    }
    notice.state = NoticeState::sending;
    ++notice.tries;
    notice.next_at = now + lease;
    notice.updated_at = now;
    if (auto written = write(notice); !written) return std::unexpected(written.error());
    return Did::done;
  });
}

Result<NoticeAnswer> Outbox::sent(const Notice& held, WallTime now) {
  return with(held.id, [&](Notice& notice) -> Result<Did> {
    if (notice.state == NoticeState::sent) return Did::as_before;
    if (notice.payload != held.payload) return Did::lost;
    notice.state = NoticeState::sent;
    notice.last_error.reset();
    notice.updated_at = now;
    if (auto written = write(notice); !written) return std::unexpected(written.error());
    return Did::done;
  });
}

Result<NoticeAnswer> Outbox::failed(const Notice& held, std::string_view error, WallTime now,
                                    double jitter) {
  return with(held.id, [&](Notice& notice) -> Result<Did> {
    if (notice.state != NoticeState::sending || notice.tries != held.tries) return Did::lost;
    return give_back(notice, error, now, jitter);
  });
}

Result<Did> Outbox::give_back(Notice& notice, std::string_view error, WallTime now, double jitter) {
  const bool is_dead = notice.tries >= limits_.most_tries;
  notice.state = is_dead ? NoticeState::dead : NoticeState::waiting;
  notice.next_at = is_dead ? now : now + wait_after(notice.tries, jitter, limits_);
  notice.last_error = one_line(error, kLongestError);
  notice.updated_at = now;
  if (auto taken = take_over_later(notice); !taken) return std::unexpected(taken.error());
  if (auto written = write(notice); !written) return std::unexpected(written.error());
  if (auto dropped = drop_what_is_over(notice.incident); !dropped) {
    return std::unexpected(dropped.error());
  }
  return is_dead ? Did::given_up : Did::done;
}

/// What came meanwhile is what it says from now on.
Result<void> Outbox::take_over_later(Notice& notice) {
  auto later = select_one("incident = ? AND id > ? AND state = 'waiting' AND kind = 'update'",
                          {notice.incident, notice.id});
  if (!later) return std::unexpected(later.error());
  if (!*later) return {};
  notice.payload = std::move((*later)->payload);
  return nothing_or(database_.run("DELETE FROM notices WHERE id = ?", {(*later)->id}));
}

Result<NoticeAnswer> Outbox::retry(std::int64_t id, WallTime now) {
  return with(id, [&](Notice& notice) -> Result<Did> {
    if (notice.state != NoticeState::dead) return Did::as_before;
    const auto can = select_one(fmt::format("{} AND id = ?", kCanBeRetried), {id});
    if (!can) return std::unexpected(can.error());
    if (!*can) return Did::over;
    notice.state = NoticeState::waiting;
    notice.tries = 0;
    notice.next_at = now;
    notice.updated_at = now;
    if (auto written = write(notice); !written) return std::unexpected(written.error());
    return Did::done;
  });
}

Result<std::int64_t> Outbox::retry_all(WallTime now) {
  return database_.run(fmt::format("UPDATE notices SET state = 'waiting', tries = 0, "
                                   "next_at = ?1, updated_at = ?1 WHERE {}",
                                   kCanBeRetried),
                       {database_time(now)});
}

Result<std::int64_t> Outbox::prune(WallTime before) {
  return database_.run(
      "DELETE FROM notices WHERE updated_at < ? AND ("
      "(closed AND state IN ('sent', 'dead') AND NOT EXISTS (SELECT 1 FROM notices AS other "
      "WHERE other.incident = notices.incident AND other.state IN ('waiting', 'sending'))) "
      "OR (NOT closed AND state = 'sent' AND EXISTS (SELECT 1 FROM notices AS other "
      "WHERE other.incident = notices.incident AND other.id > notices.id "
      "AND other.state = 'sent')))",
      {database_time(before)});
}

}  // namespace tend
