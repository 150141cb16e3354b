// Between reading and replacing somebody may write who takes no lock: the text is compared once
// more when ours is on the disk already and only its name is left to be changed, and all is done
// again if it is another. What is left is the time from that reading to the rename: microseconds,
// whatever the disk takes.
#include "store/foreign/foreign_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "store/foreign/json_scan.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr int kMostTries = 10;
constexpr std::chrono::seconds kSameStart{2};  // clocks of others are that coarse
constexpr std::chrono::seconds kBeside{10};    // a beat that is ahead by less came from beside us

constexpr std::chrono::seconds kClockOfDisk{2};  // how far it may be behind

enum class Same : std::uint8_t { yes, no, unknown };

Same is_same(const StoreReading& entry, const StoreBeat& beat) {
  Same same = Same::unknown;
  std::optional<WallTime> started = beat.started;
  if (entry.pid != 0 && (beat.pid != 0 || !beat.also.empty())) {
    const auto other = std::ranges::find(beat.also, entry.pid, &StoreBeat::Process::pid);
    if (entry.pid != beat.pid && other == beat.also.end()) return Same::no;
    if (entry.pid != beat.pid) started = other->started;
    same = Same::yes;
  }
  if (entry.started && started && std::chrono::abs(*entry.started - *started) > kSameStart) {
    return Same::no;
  }
  if (!entry.id.empty() && !beat.id.empty()) {
    if (entry.id != beat.id) return Same::no;
    same = Same::yes;
  }
  return same;
}

std::string name_of(const StoreReading& entry) {
  std::string name = entry.pid != 0 ? fmt::format("process {}", entry.pid) : "";
  if (!entry.id.empty()) name += (name.empty() ? "" : ", ") + on_one_line(entry.id);
  return name.empty() ? "nobody in particular" : name;
}

/// The path with its entry chosen: the one that is of whose beat it is.
Result<JsonPath> own_entry(const ReadJson& json, JsonPath path, const StoreBeat& beat,
                           const TimeContext& context) {
  const auto step = std::ranges::find_if(path.steps, &JsonPath::Step::is_entry);
  if (step == path.steps.end()) return path;
  const std::string shown = in_quotes(format_json_path(path));
  const ReadJson* const array = find_path(json, {{path.steps.begin(), step}});
  if (array == nullptr || !array->is_array()) return fail("no array for " + shown);
  std::string others;
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (!is_wanted_entry((*array)[i], *step)) continue;
    StoreReading entry;
    take_entry((*array)[i], context, entry);
    if (is_same(entry, beat) != Same::yes) {
      others += (others.empty() ? "" : "; ") + name_of(entry);
    } else if (step->entry) {
      return fail("more than one entry of the same agent is " + shown);
    } else {
      step->entry = i;
    }
  }
  if (step->entry) return path;
  if (others.empty()) return fail("no entry is " + shown);
  return fail("the entry that is " + shown + " is of another: " + others);
}

Result<void> check_lease(const ReadJson& lease, const StoreReading& entry, const JsonPath& path,
                         const StoreBeat& beat, const TimeContext& context) {
  if (entry.id.empty() || entry.id != beat.id) {
    return fail("the lease is held by " + name_of(entry));
  }
  constexpr auto kMostEpochs = std::numeric_limits<std::int64_t>::max();
  const auto epoch = whole_number(lease, "leader_epoch", kMostEpochs);
  if (beat.epoch && *beat.epoch != epoch) {
    return fail(fmt::format("the lease is in epoch {}, not {}", epoch, *beat.epoch));
  }
  const ReadJson* const field = find_field(lease, path.steps.back().key);
  if (field == nullptr) return {};
  if (is_given_back(*field)) return fail("the lease was given back");
  const auto time = foreign_time_of(*field, context);
  if (!time) return std::unexpected(time.error());
  const auto longest = static_cast<std::uint64_t>(kLongestTime.count());
  const auto ttl = static_cast<Duration::rep>(whole_number(lease, "ttl_ms", longest));
  if (ttl > 0 && context.now - time->at > Duration{ttl}) return fail("the lease ran out");
  return {};
}

/// Whether the entry is of whom the beat is.
Result<void> check_entry(const ReadJson& entry, const ForeignStore& store, const JsonPath& path,
                         const StoreBeat& beat, const TimeContext& context) {
  StoreReading said;
  take_entry(entry, context, said);
  if (is_same(said, beat) == Same::no) return fail("the entry is of another: " + name_of(said));
  if (store.kind != StoreKind::lease_file) return {};
  return check_lease(entry, said, path, beat, context);
}

struct Field {
  std::string_view key;
  const std::optional<std::string>& value;
};
std::vector<Field> more_fields(StoreKind kind, const StoreBeat& beat) {
  if (kind == StoreKind::session_state) {
    return {{"state", beat.state}, {"context", beat.context}, {"bead", beat.task}};
  }
  if (kind == StoreKind::registry) return {{"status", beat.state}, {"current_task", beat.task}};
  if (kind == StoreKind::json_time) return {{"last_action", beat.action}};
  return {};
}

/// Now, or a beat that another process put there a moment ago and that is already later: no store
/// goes back in time because of who was faster.
WallTime newest_of(const ReadJson* field, const TimeContext& context) {
  if (field == nullptr) return context.now;
  const auto there = foreign_time_of(*field, context);
  const bool beside = there && there->at > context.now && there->at - context.now < kBeside;
  return beside ? there->at : context.now;
}

/// Puts a text at the path, and no empty one where there is none.
Result<std::string> with_text(const std::string& text, const JsonPath& path,
                              const std::string& value) {
  if (value.empty()) {
    const auto there = written_value(text, path);
    if (!there) return std::unexpected(there.error());
    if (!*there) return text;
  }
  std::string quoted;
  append_json_text(quoted, value);
  return edit_json(text, path, quoted);
}

/// What is no number counts as none yet.
Result<std::string> counted_on(const std::string& text, const JsonPath& path) {
  const auto there = written_value(text, path);
  if (!there) return std::unexpected(there.error());
  const std::string old = there->value_or("");
  std::int64_t count = 0;
  const auto read = std::from_chars(old.data(), old.data() + old.size(), count);
  const bool whole = read.ec == std::errc{} && read.ptr == old.data() + old.size();
  if (!whole || count == std::numeric_limits<std::int64_t>::max()) count = 0;
  return edit_json(text, path, std::to_string(count + 1));
}

/// For a store that is not there yet.
Result<std::string> first_text(const ForeignStore& store, const JsonPath& path,
                               const StoreBeat& beat, const TimeContext& context) {
  const bool single = path.steps.size() == 1 && !path.steps.front().is_entry();
  const bool can_be_made =
      store.kind == StoreKind::json_time || store.kind == StoreKind::session_state;
  if (!single || !can_be_made) return fail("there is none, and a beat makes none");
  if (!beat.first.empty()) return with_beat(beat.first, store, beat, context);
  const TimeStyle style{.decimals = 9};
  WriteJson json;
  json[path.steps.front().key] = format_foreign_time(context.now, style);
  if (store.kind == StoreKind::session_state) json["state"] = "working";
  for (const auto& [key, value] : more_fields(store.kind, beat)) {
    if (value && !value->empty()) json[std::string(key)] = *value;
  }
  if (!beat.counter.empty()) json[beat.counter] = 1;
  return to_line(json) + "\n";
}

/// Whether there is nothing yet that a beat could be put into.
bool begins_anew(const std::string& text, const StoreBeat& beat) {
  return text.empty() || (beat.heals && !ReadJson::parse(text, nullptr, false).is_object());
}

/// Empty if there is none; what is torn is read again.
Result<std::string> read_text(Files& files, const std::string& path) {
  Result<std::optional<std::string>> text = files.read(path, kLargestEdited);
  for (int i = 1; i < kMostTries && text && *text && !ReadJson::accept(**text); ++i) {
    text = files.read(path, kLargestEdited);
  }
  if (!text) return std::unexpected(text.error());
  return text->value_or("");
}

/// Puts the new text in the place of this one. False if there is another by now.
Result<bool> replace_same(Files& files, const std::string& path, const std::string& was,
                          const std::string& written, ForeignLock* lock) {
  bool is_locked = true;
  Result<std::optional<std::string>> now;
  const auto replaced = files.replace_if(path, written, [&] {
    is_locked = lock == nullptr || lock->is_held();
    if (is_locked) now = files.read(path, kLargestEdited);
    return is_locked && now && now->value_or("") == was;
  });
  if (!replaced) return replaced;
  if (!is_locked) return fail(on_one_line(path) + ": its lock was taken away");
  if (!now) return std::unexpected(now.error());
  return replaced;
}

/// Whether a store of one alone was beaten once more since: its last word counts, as it would have
/// a moment later.
bool is_newer(Files& files, const ForeignStore& store, const TimeContext& context,
              const ProcessLives& lives) {
  if (store.kind != StoreKind::json_time && store.kind != StoreKind::session_state) return false;
  const StoreReading now = read_store(files, store, context, lives);
  return !now.from_mtime && now.last_sign && *now.last_sign >= context.now;
}

/// The time of the last change is the beat, and nothing else is changed.
Result<void> touch(Files& files, const std::string& path, const TimeContext& context) {
  const auto touched = files.touch(path);
  if (!touched) return std::unexpected(touched.error());
  if (!*touched) {
    const auto made = files.make_new(path, "");
    if (!made) return std::unexpected(made.error());
  }
  const auto now = files.modified(path);
  if (!now) return std::unexpected(now.error());
  if (*now && **now >= context.now - kClockOfDisk) return {};
  return fail(on_one_line(path) + " was touched, and shows nothing of it");
}

/// Only one that is there, is not over and is of whose beat it is.
Result<void> touch_folder(Files& files, const ForeignStore& store, const StoreBeat& beat,
                          const TimeContext& context) {
  const std::string path = store.path + "/.heartbeat";
  const std::string shown = on_one_line(path);
  const auto text = read_text(files, path);
  if (!text) return std::unexpected(text.error());
  if (text->empty()) return fail(shown + ": there is none, and a beat makes none");
  const ReadJson json = ReadJson::parse(*text, nullptr, false);
  if (!json.is_object()) return fail(shown + " is no JSON object");
  StoreReading said;
  take_entry(json, context, said);
  if (is_same(said, beat) == Same::no) return fail(shown + " is of another: " + name_of(said));
  if (said.state == "completed" || said.state == "withdrawn") {
    return fail(shown + " is not refreshed: it is " + said.state);
  }
  return touch(files, path, context);
}

/// What is there now has our time in our entry, whatever else somebody changed since.
Result<void> check_arrived(Files& files, const ForeignStore& store, const StoreBeat& beat,
                           const TimeContext& context, const ProcessLives& lives,
                           const std::string& written) {
  const auto now = read_text(files, store.path);
  if (!now) return std::unexpected(now.error());
  if (*now == written) return {};
  StoreBeat uncounted = beat;
  uncounted.counter.clear();
  const auto changed = with_beat(*now, store, uncounted, context);
  if (changed && (*changed == *now || is_newer(files, store, context, lives))) return {};
  return fail(on_one_line(store.path) + " does not hold what was written: somebody else wrote it");
}

}  // namespace

Result<std::string> with_beat(std::string_view text, const ForeignStore& store,
                              const StoreBeat& beat, const TimeContext& context) {
  const auto wanted = time_path(store);
  if (!wanted) return std::unexpected(wanted.error());
  const auto scanned = scan_json(text);
  if (!scanned) return std::unexpected(scanned.error());
  const ReadJson json = ReadJson::parse(text, nullptr, false);
  const auto path = own_entry(json, *wanted, beat, context);
  if (!path) return std::unexpected(path.error());
  JsonPath to_entry = *path;
  to_entry.steps.pop_back();
  const ReadJson* const entry = find_path(json, to_entry);
  if (entry == nullptr || !entry->is_object() || path->steps.back().is_entry()) {
    return fail("no object that could have " + in_quotes(format_json_path(*wanted)));
  }
  if (const auto good = check_entry(*entry, store, *path, beat, context); !good) {
    return std::unexpected(good.error());
  }
  const auto old = written_value(text, *path);
  if (!old) return std::unexpected(old.error());
  const auto style = style_of_time(old->value_or(""), context).value_or(TimeStyle{});
  const WallTime at = newest_of(find_path(json, *path), context);
  auto edited = edit_json(text, *path, json_of_time(at, style));
  for (const auto& [key, value] : more_fields(store.kind, beat)) {
    if (!edited || !value) continue;
    JsonPath to_field = to_entry;
    to_field.steps.push_back({.key = std::string(key), .where = {}, .entry = {}});
    edited = with_text(*edited, to_field, *value);
  }
  if (!edited || beat.counter.empty()) return edited;
  JsonPath to_count = to_entry;
  to_count.steps.push_back({.key = beat.counter, .where = {}, .entry = {}});
  return counted_on(*edited, to_count);
}

Result<void> write_store(Files& files, const ForeignStore& store, const StoreBeat& beat,
                         const TimeContext& context, const ProcessLives& lives) {
  const std::string shown = on_one_line(store.path);
  if (beat.pid != 0 && !lives(beat.pid, beat.started)) {
    return fail(fmt::format("{} is not refreshed: process {} is gone", shown, beat.pid));
  }
  if (store.kind == StoreKind::mtime) return touch(files, store.path, context);
  if (store.kind == StoreKind::heartbeat_dir) return touch_folder(files, store, beat, context);
  const auto path = time_path(store);
  if (!path) return std::unexpected(path.error());
  std::unique_ptr<ForeignLock> lock;
  if (store.locked) {
    auto taken = ForeignLock::take(files, store.path, beat.writer, context, lives);
    if (!taken) return std::unexpected(taken.error());
    lock = *std::move(taken);
  }
  std::string why = shown + " is changed by others faster than it can be written";
  for (int i = 0; i < kMostTries; ++i) {
    const auto text = read_text(files, store.path);
    if (!text) return std::unexpected(text.error());
    const auto written = begins_anew(*text, beat) ? first_text(store, *path, beat, context)
                                                  : with_beat(*text, store, beat, context);
    if (!written) return fail(shown + ": " + written.error().text);
    const auto replaced = replace_same(files, store.path, *text, *written, lock.get());
    if (!replaced) return std::unexpected(replaced.error());
    if (!*replaced) continue;
    const auto arrived = check_arrived(files, store, beat, context, lives, *written);
    if (arrived) return {};
    why = arrived.error().text;
  }
  return fail(why);
}

}  // namespace tend
