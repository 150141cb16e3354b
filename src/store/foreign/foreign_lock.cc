// A lock that is taken away is looked at once more before it is removed: another may have done so.
#include "store/foreign/foreign_lock.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestLock = 4096;
constexpr int kMostTries = 3;
constexpr std::chrono::minutes kLongestHeld{2};

struct Held {
  std::int64_t pid = 0;
  std::string id;
  std::optional<WallTime> since;
};

Held read_held(Files& files, const std::string& path, std::string_view text,
               const TimeContext& context) {
  Held held;
  if (const auto object = parse_object(text, kLargestLock)) {
    constexpr auto kLargestPid = std::numeric_limits<std::int32_t>::max();
    held.pid = static_cast<std::int64_t>(whole_number(*object, "pid", kLargestPid));
    held.id = shown_text(*object, "agent_id", 64);
    const ReadJson* const since = find_field(*object, "locked_at");
    const auto time =
        since == nullptr ? Result<ForeignTime>(fail("")) : foreign_time_of(*since, context);
    if (time) held.since = time->at;
  }
  if (!held.since) held.since = files.modified(path).value_or(std::nullopt);
  return held;
}

std::string name_of(const Held& held) {
  const std::string name = held.pid > 0 ? "process " + std::to_string(held.pid) : "somebody";
  return name + (held.id.empty() ? "" : " (" + on_one_line(held.id) + ")");
}

bool is_forsaken(const Held& held, WallTime now, const ProcessLives& lives) {
  const bool gone = held.pid > 0 && !lives(held.pid, std::nullopt);
  return gone || (held.since && now - *held.since > kLongestHeld);
}

}  // namespace

Result<std::unique_ptr<ForeignLock>> ForeignLock::take(Files& files, const std::string& file,
                                                       const LockHolder& holder,
                                                       const TimeContext& context,
                                                       const ProcessLives& lives) {
  const std::string path = file + ".lock";
  const TimeStyle style{.decimals = 3};
  const std::string text = to_line({{"agent_id", holder.id},
                                    {"locked_at", format_foreign_time(context.now, style)},
                                    {"pid", holder.pid}});
  bool waited = false;
  for (int tries = 0; tries < kMostTries;) {
    const auto made = files.make_new(path, text);
    if (!made) return std::unexpected(made.error());
    if (*made) return std::unique_ptr<ForeignLock>(new ForeignLock(files, path, text));
    const auto there = files.read(path, kLargestLock);
    if (!there) return std::unexpected(there.error());
    ++tries;
    if (!*there) continue;
    const Held held = read_held(files, path, **there, context);
    if (!is_forsaken(held, context.now, lives)) {
      if (holder.patience && holder.patience()) {
        waited = true;
        tries = 0;
        continue;
      }
      return fail(on_one_line(file) + " is locked by " + name_of(held) +
                  (waited ? ", who did not give it up in time" : ""));
    }
    const auto again = files.read(path, kLargestLock);
    if (!again || *again != *there) continue;
    if (auto removed = files.remove(path); !removed) return std::unexpected(removed.error());
  }
  return fail(on_one_line(path) + " cannot be taken: others take it at the same time");
}

bool ForeignLock::is_held() {
  const auto text = files_.read(path_, kLargestLock);
  return text && *text == text_;
}

ForeignLock::~ForeignLock() {
  // A lock that cannot be removed is taken from us after a while.
  if (is_held()) std::ignore = files_.remove(path_);
}

}  // namespace tend
