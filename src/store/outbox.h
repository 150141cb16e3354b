// Notices that leave the machine, in `tend.db`: put by who knows, sent by who has a channel. What
// is told is an incident, known by a key on a channel: one notice opens it, others update it, one
// closes it. All of them arrive at least once and in order; nobody hears of the end of something
// that it was never told of.
//
//   put ──> waiting ──take──> sending ──sent──> sent
//              ^                 │ lease ran out: can be taken again
//              ├──failed─────────┤
//              └──retry── dead <─┘ failed for the last time
//
// What is being sent is not changed any more: a later word waits behind it, and takes its place if
// the sending fails.
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

namespace tend {

inline constexpr std::size_t kLongestPayload = 256'000;  // bytes
inline constexpr std::int64_t kMostUnsent = 10'000;      // notices, dead ones included

enum class NoticeKind : std::uint8_t { open, update, close };
inline constexpr std::array<std::string_view, 3> kNoticeKindWords{"open", "update", "close"};

enum class NoticeState : std::uint8_t { waiting, sending, sent, dead };
inline constexpr std::array<std::string_view, 4> kNoticeStateWords{"waiting", "sending", "sent",
                                                                   "dead"};

struct Notice {
  std::int64_t id = 0;        // counts from 1, never given again
  std::int64_t incident = 0;  // the id of the notice that opened it, which may be pruned
  std::string channel;
  std::string key;
  NoticeKind kind = NoticeKind::open;
  NoticeState state = NoticeState::waiting;
  std::string payload;     // JSON
  std::int64_t tries = 0;  // how often it was taken
  WallTime next_at{};      // when it can be taken; of one being sent: when its lease runs out
  std::optional<std::string> last_error;
  WallTime created_at{};
  WallTime updated_at{};
  bool closed = false;    // the incident is over
  bool in_doubt = false;  // a sender vanished with it: it may have arrived
};

struct PutAnswer {
  enum class Did : std::uint8_t {
    opened,     // a new incident
    updated,    // a new notice of an open one
    replaced,   // the payload of a notice that was not sent yet
    as_before,  // it says so already
  };
  Did did = Did::opened;
  std::int64_t id = 0;  // of the notice that says so
};

/// What became of a change that was asked for, and the notice as it is now.
struct NoticeAnswer {
  enum class Did : std::uint8_t {
    done,
    as_before,  // it was so already
    no_such_notice,
    not_due,   // sent, dead, not yet, held by another or behind an earlier one
    lost,      // somebody else took it since, or it says something else by now
    given_up,  // it is dead now
    over,      // there is something later to tell
  };
  Did did = Did::done;
  Notice notice;
};

struct OutboxLimits {
  std::int64_t most_tries = 12;
  Duration first_wait = std::chrono::seconds{10};  // after the first failure; then it doubles
  Duration longest_wait = std::chrono::hours{1};
};

struct NoticeFilter {
  std::optional<NoticeState> state;
  std::optional<std::string> channel;
  std::optional<std::string> key;
  bool open_only = false;  // of incidents that are not over
  std::optional<std::int64_t> most;
};

/// How long a notice waits after it failed for the `tries`-th time (from 1). `jitter`, within
/// [0, 1), shortens that by up to a half.
Duration wait_after(std::int64_t tries, double jitter, const OutboxLimits& limits);

class Outbox {
 public:
  explicit Outbox(Database& database, const OutboxLimits& limits = {})
      : database_(database), limits_(limits) {}

  /// Channel and key are words as tasks have them, a key of up to kLongestKey bytes. A dead notice
  /// says the new payload from now on, and stays dead.
  Result<PutAnswer> put(std::string_view channel, std::string_view key, std::string_view payload,
                        WallTime now);
  /// Ends the incidents of this key, on all channels; how many they were. Those that may have been
  /// heard of get a last notice, with this payload or that of the notice before it.
  Result<std::int64_t> close(std::string_view key, const std::optional<std::string>& payload,
                             WallTime now);
  /// The same as a part of a larger change. REQUIRES that they are called within
  /// Database::change, and that their failure fails it.
  Result<PutAnswer> put_within(std::string_view channel, std::string_view key,
                               std::string_view payload, WallTime now);
  Result<std::int64_t> close_within(std::string_view key, const std::optional<std::string>& payload,
                                    WallTime now);
  /// How many were not sent, dead ones included; up to kMostUnsent there is room for more.
  Result<std::int64_t> unsent();

  /// What can be taken, longest due first, of this key or of any. Of one incident it is never more
  /// than one.
  Result<std::vector<Notice>> due(WallTime now, std::int64_t most,
                                  const std::optional<std::string>& key = std::nullopt);
  /// When the next can be, if not now; nothing if none waits or is being sent.
  Result<std::optional<WallTime>> next_due(const std::optional<std::string>& key = std::nullopt);
  /// The notice is the caller's for that long. REQUIRES a lease of more than 0 and at most a day.
  Result<NoticeAnswer> take(std::int64_t id, WallTime now, Duration lease);
  /// `held` is what take() gave. Counts even if the lease ran out, for it is true.
  Result<NoticeAnswer> sent(const Notice& held, WallTime now);
  /// A notice that nobody needs any more is dropped. For `jitter` see wait_after().
  Result<NoticeAnswer> failed(const Notice& held, std::string_view error, WallTime now,
                              double jitter);
  /// A dead notice waits again, with all its tries.
  Result<NoticeAnswer> retry(std::int64_t id, WallTime now);
  /// All that can be; how many they were.
  Result<std::int64_t> retry_all(WallTime now);

  Result<std::optional<Notice>> find(std::int64_t id);
  /// Oldest first.
  Result<std::vector<Notice>> list(const NoticeFilter& filter);
  /// Drops what did not change since that time and is needed no more: notices of incidents that
  /// are over, and those sent ones of open incidents that a later one has outdated. How many.
  Result<std::int64_t> prune(WallTime before);

 private:
  using Change = std::function<Result<NoticeAnswer::Did>(Notice&)>;
  /// Reads the notice and has it changed, all in one.
  Result<NoticeAnswer> with(std::int64_t id, const Change& change);
  Result<std::vector<Notice>> select(const std::string& rest, Database::Values values);
  Result<std::optional<Notice>> select_one(const std::string& rest, Database::List values);
  Result<PutAnswer> put_draft(const Notice& draft);
  Result<std::int64_t> add(const Notice& notice);
  Result<void> write(const Notice& notice);
  Result<void> check_room();
  Result<void> close_one(const Notice& last, const std::optional<std::string>& payload,
                         WallTime now);
  Result<NoticeAnswer::Did> give_back(Notice& notice, std::string_view error, WallTime now,
                                      double jitter);
  Result<void> take_over_later(Notice& notice);
  Result<void> drop_what_is_over(std::int64_t incident);

  Database& database_;
  OutboxLimits limits_;
};

}  // namespace tend
