// A letter is written once; later only the times of its reading change.
#include "store/mail.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/home_database.h"
#include "store/json.h"
#include "store/tasks.h"

namespace tend {
namespace {

constexpr std::string_view kColumns =
    "id, thread, sender, recipient, subject, body, at, read_at, acked_at, reply_to, key";

std::optional<WallTime> time_or_none(const DatabaseRow& row, int column) {
  const auto number = row.number_or_none(column);
  return number ? std::optional(from_database_time(*number)) : std::nullopt;
}

Letter letter_of(const DatabaseRow& row) {
  Letter letter;
  letter.id = row.number(0);
  letter.thread = row.number(1);
  letter.from = row.text(2);
  letter.to = row.text(3);
  letter.subject = row.text(4);
  letter.body = row.text(5);
  letter.at = from_database_time(row.number(6));
  letter.read_at = time_or_none(row, 7);
  letter.acked_at = time_or_none(row, 8);
  letter.reply_to = row.number_or_none(9);
  letter.key = row.text_or_none(10);
  return letter;
}

/// The first number of the first row.
Result<std::optional<std::int64_t>> number_in(Database& database, std::string_view sql,
                                              Database::List values) {
  std::optional<std::int64_t> number;
  auto read = database.each(sql, values, [&](const DatabaseRow& row) {
    if (!number) number = row.number_or_none(0);
  });
  if (!read) return std::unexpected(read.error());
  return number;
}

Result<void> check_text(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() > most) {
    return fail(fmt::format("{} has {} bytes; at most {} are allowed", what, text.size(), most));
  }
  if (!is_utf8(text)) return fail(fmt::format("{} is not valid UTF-8", what));
  return {};
}

}  // namespace

Result<void> check_letter(const Letter& draft) {
  if (auto ok = check_task_word("the sender", draft.from); !ok) return ok;
  if (auto ok = check_task_word("the recipient", draft.to); !ok) return ok;
  if (draft.key) {
    if (auto ok = check_task_word("the key", *draft.key, kLongestKey); !ok) return ok;
  }
  if (auto ok = check_text("the subject", draft.subject, kLongestSubject); !ok) return ok;
  if (has_control_characters(draft.subject)) {
    return fail("the subject has control characters; it has to be one plain line");
  }
  return check_text("the body", draft.body, kLongestBody);
}

// --- Reading ------------------------------------------------------------------------------------

Result<std::vector<Letter>> Mailbox::select(const std::string& condition, Database::List values) {
  std::vector<Letter> letters;
  auto read =
      database_.each(fmt::format("SELECT {} FROM letters WHERE {}", kColumns, condition), values,
                     [&](const DatabaseRow& row) { letters.push_back(letter_of(row)); });
  if (!read) return std::unexpected(read.error());
  return letters;
}

Result<std::optional<Letter>> Mailbox::find(std::int64_t id) {
  auto found = select("id = ?", {id});
  if (!found) return std::unexpected(found.error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::vector<Letter>> Mailbox::inbox(std::string_view to, LetterView view,
                                           std::int64_t most) {
  switch (view) {
    case LetterView::unread:
      return select("recipient = ? AND read_at IS NULL ORDER BY id LIMIT ?", {to, most});
    case LetterView::unacked:
      return select("recipient = ? AND acked_at IS NULL ORDER BY id LIMIT ?", {to, most});
    case LetterView::all:
      break;
  }
  auto letters = select("recipient = ? ORDER BY id DESC LIMIT ?", {to, most});
  if (letters) std::ranges::reverse(*letters);
  return letters;
}

Result<std::vector<Letter>> Mailbox::thread(std::int64_t id, std::int64_t most) {
  auto letters = select(
      "thread = coalesce((SELECT thread FROM letters WHERE id = ?1), ?1) "
      "ORDER BY id DESC LIMIT ?2",
      {id, most});
  if (letters) std::ranges::reverse(*letters);
  return letters;
}

Result<std::vector<Letter>> Mailbox::unacked_before(WallTime time, std::int64_t most) {
  return select("acked_at IS NULL AND at < ? ORDER BY at, id LIMIT ?", {database_time(time), most});
}

// --- Changing -----------------------------------------------------------------------------------

Result<std::int64_t> Mailbox::send(const Letter& draft, WallTime now) {
  if (auto ok = check_letter(draft); !ok) return std::unexpected(ok.error());
  std::int64_t id = 0;
  auto changed = database_.change([&]() -> Result<void> {
    if (draft.key) {
      const auto earlier = number_in(
          database_, "SELECT id FROM letters WHERE recipient = ? AND key = ? AND acked_at IS NULL",
          {std::string_view(draft.to), std::string_view(*draft.key)});
      if (!earlier) return std::unexpected(earlier.error());
      if (*earlier) {
        id = **earlier;
        return {};
      }
    }
    if (auto room = check_room(draft.to); !room) return room;
    const auto inserted = insert(draft, now);
    if (!inserted) return std::unexpected(inserted.error());
    id = *inserted;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return id;
}

Result<void> Mailbox::check_room(std::string_view to) {
  const auto unacked = number_in(
      database_, "SELECT count(*) FROM letters WHERE recipient = ? AND acked_at IS NULL", {to});
  if (!unacked) return std::unexpected(unacked.error());
  if (unacked->value_or(0) < kMostUnacked) return {};
  return fail(
      fmt::format("{} has {} letters that were never acknowledged; that has to be done "
                  "before there can be more",
                  to, kMostUnacked));
}

Result<std::int64_t> Mailbox::thread_of(const Letter& draft) {
  if (!draft.reply_to) return 0;
  const auto thread =
      number_in(database_, "SELECT thread FROM letters WHERE id = ?", {*draft.reply_to});
  if (!thread) return std::unexpected(thread.error());
  if (!*thread) return fail(fmt::format("there is no letter {} to reply to", *draft.reply_to));
  return **thread;
}

Result<std::int64_t> Mailbox::insert(const Letter& draft, WallTime now) {
  const auto thread = thread_of(draft);
  if (!thread) return thread;
  const auto id =
      number_in(database_,
                "INSERT INTO letters(thread, sender, recipient, subject, body, at, reply_to, key) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                {*thread, std::string_view(draft.from), std::string_view(draft.to),
                 std::string_view(draft.subject), std::string_view(draft.body), database_time(now),
                 value_or_null(draft.reply_to), value_or_null(draft.key)});
  if (!id) return std::unexpected(id.error());
  const std::int64_t given = id->value_or(0);
  if (*thread != 0) return given;
  const auto begun = database_.run("UPDATE letters SET thread = id WHERE id = ?", {given});
  if (!begun) return std::unexpected(begun.error());
  return given;
}

Result<LetterDid> Mailbox::mark(std::int64_t id, std::string_view reader, std::string_view sql,
                                WallTime now) {
  LetterDid did = LetterDid::no_such_letter;
  auto changed = database_.change([&]() -> Result<void> {
    auto looked = database_.each(
        "SELECT recipient FROM letters WHERE id = ?", {id}, [&](const DatabaseRow& row) {
          did = row.text(0) == reader ? LetterDid::done : LetterDid::not_yours;
        });
    if (!looked || did != LetterDid::done) return looked;
    const auto marked = database_.run(sql, {database_time(now), id});
    if (!marked) return std::unexpected(marked.error());
    if (*marked == 0) did = LetterDid::as_before;
    return {};
  });
  if (!changed) return std::unexpected(changed.error());
  return did;
}

Result<LetterDid> Mailbox::read(std::int64_t id, std::string_view reader, WallTime now) {
  return mark(id, reader, "UPDATE letters SET read_at = ? WHERE id = ? AND read_at IS NULL", now);
}

Result<LetterDid> Mailbox::ack(std::int64_t id, std::string_view reader, WallTime now) {
  return mark(id, reader,
              "UPDATE letters SET acked_at = ?1, read_at = coalesce(read_at, ?1) "
              "WHERE id = ?2 AND acked_at IS NULL",
              now);
}

Result<std::int64_t> Mailbox::prune(WallTime before) {
  return database_.run("DELETE FROM letters WHERE acked_at < ?", {database_time(before)});
}

}  // namespace tend
