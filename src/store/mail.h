// Mail between agents and people, in `tend.db`. A letter stays until its recipient has acknowledged
// it; only then can it be pruned. A letter with a key is sent once until then, however often a
// sender that has forgotten about it tries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/database.h"

namespace tend {

inline constexpr std::size_t kLongestSubject = 998;  // bytes, as in a line of e-mail
inline constexpr std::size_t kLongestBody = 1'000'000;
inline constexpr std::int64_t kMostUnacked = 10'000;  // letters of one recipient
inline constexpr std::int64_t kMostListed = 1'000;    // letters at once, unless asked otherwise

struct Letter {
  std::int64_t id = 0;      // counts from 1, never given again
  std::int64_t thread = 0;  // the id of its first letter, which may be pruned
  std::string from;
  std::string to;
  std::string subject;  // one line
  std::string body;
  WallTime at{};
  std::optional<WallTime> read_at;
  std::optional<WallTime> acked_at;
  std::optional<std::int64_t> reply_to;  // may be pruned
  std::optional<std::string> key;
};

/// What became of reading or acknowledging.
enum class LetterDid : std::uint8_t {
  done,
  as_before,  // it was so already
  no_such_letter,
  not_yours,  // it is for somebody else
};

/// Whether it can be sent: who it is from and to, what it says, its key. The error says what is
/// wrong with it.
Result<void> check_letter(const Letter& draft);

enum class LetterView : std::uint8_t { unread, unacked, all };

class Mailbox {
 public:
  explicit Mailbox(Database& database) : database_(database) {}

  /// Of the draft counts who it is from and to, what it says, what it replies to and its key. The
  /// id of the letter, or of the recipient's unacknowledged one with the same key, which stays as
  /// it is. The error says what is wrong with the draft.
  Result<std::int64_t> send(const Letter& draft, WallTime now);
  Result<std::optional<Letter>> find(std::int64_t id);

  /// Oldest first: of unread or unacknowledged ones the oldest `most`, of all the newest `most`.
  Result<std::vector<Letter>> inbox(std::string_view to, LetterView view,
                                    std::int64_t most = kMostListed);
  /// That of this number, or that of the letter with this id: the newest `most`, oldest first.
  Result<std::vector<Letter>> thread(std::int64_t id, std::int64_t most = kMostListed);
  /// Sent before that time and not acknowledged, whoever they are for, oldest first.
  Result<std::vector<Letter>> unacked_before(WallTime time, std::int64_t most = kMostListed);

  Result<LetterDid> read(std::int64_t id, std::string_view reader, WallTime now);
  /// Who acknowledges a letter has read it.
  Result<LetterDid> ack(std::int64_t id, std::string_view reader, WallTime now);

  /// Drops what was acknowledged before that time; how many letters that were.
  Result<std::int64_t> prune(WallTime before);

 private:
  Result<std::vector<Letter>> select(const std::string& condition, Database::List values);
  /// Does `sql`, given (now, id), if the letter is the reader's.
  Result<LetterDid> mark(std::int64_t id, std::string_view reader, std::string_view sql,
                         WallTime now);
  Result<std::int64_t> insert(const Letter& draft, WallTime now);
  Result<void> check_room(std::string_view to);
  /// 0 for what replies to nothing.
  Result<std::int64_t> thread_of(const Letter& draft);

  Database& database_;
};

}  // namespace tend
