// One function for each way of keeping a beat; they share how a text is read, and what an entry may
// say of itself.
#include "store/foreign/foreign_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/calendar.h"
#include "base/quote.h"
#include "store/children.h"
#include "store/foreign/json_scan.h"
#include "store/heartbeat.h"
#include "store/json.h"
#include "store/lines.h"

namespace tend {
namespace {

constexpr int kMostReads = 4;
/// What is larger is read once a look: who reads it over and over looks at nothing else meanwhile.
constexpr std::size_t kMostReadAgain = std::size_t{256} * 1024;
constexpr std::chrono::seconds kAhead{10};  // of the file's own time; clocks of disks are coarse
constexpr std::size_t kLongestState = 64;
constexpr std::size_t kLongestWords = 400;
constexpr std::size_t kLongestId = 256;
constexpr std::size_t kMostChildren = 10'000;
constexpr std::int64_t kLargestPid = std::numeric_limits<std::int32_t>::max();

std::string file_name(const std::string& path) { return on_one_line(path); }

std::string there_is_no(const std::string& path) { return "there is no " + file_name(path); }

/// The first of these fields that says something.
std::string first_text(const ReadJson& entry, std::initializer_list<std::string_view> keys,
                       std::size_t most) {
  for (const std::string_view key : keys) {
    std::string text = shown_text(entry, key, most);
    if (!text.empty()) return text;
  }
  return "";
}

void add_problem(StoreReading& reading, const std::string& problem) {
  if (!reading.problem.empty()) reading.problem += "; ";
  reading.problem += problem;
}

void take_mtime(Files& files, const std::string& path, WallTime now, StoreReading& reading) {
  const auto modified = files.modified(path);
  reading.unread = reading.unread || !modified;
  if (!modified) return add_problem(reading, modified.error().text);
  if (!*modified) return add_problem(reading, there_is_no(path));
  reading.written = *modified;
  if (const auto fits = check_plausible(**modified, now); !fits) {
    return add_problem(reading, "of its last change: " + fits.error().text);
  }
  reading.last_sign = *modified;
  reading.from_mtime = true;
}

/// A JSON text that is whole, read again while it is not; a null value and the problem if it never
/// is, or there is none.
struct WholeText {
  ReadJson json;
  bool missing = false;
  bool unread = false;
  std::string problem;
};
WholeText read_whole(Files& files, const std::string& path) {
  std::string last;
  std::size_t total = 0;
  for (int i = 0; i < kMostReads; ++i) {
    auto text = files.read(path, kLargestEdited);
    if (!text) return {nullptr, false, true, text.error().text};
    if (!*text) return {nullptr, true, false, there_is_no(path)};
    ReadJson json = ReadJson::parse(**text, nullptr, false);
    if (json.is_object() || json.is_array()) return {std::move(json), false, false, ""};
    last = **std::move(text);
    total += last.size();
    if (total > kMostReadAgain) break;
  }
  if (last.empty()) return {nullptr, false, false, file_name(path) + " is empty"};
  if (last.size() > kMostReadAgain) {
    return {nullptr, false, false, file_name(path) + " is torn, or no JSON"};
  }
  const auto scanned = scan_json(last);
  if (!scanned) return {nullptr, false, false, file_name(path) + ": " + scanned.error().text};
  return {nullptr, false, false, file_name(path) + " is neither an object nor an array"};
}

/// Whether the mtime is of the one whose store this is.
bool is_of_one(StoreKind kind) {
  return kind == StoreKind::json_time || kind == StoreKind::session_state;
}

void take_lease(const ReadJson& lease, StoreReading& reading) {
  constexpr auto kMostEpochs = std::numeric_limits<std::int64_t>::max();
  if (const ReadJson* epoch = find_field(lease, "leader_epoch"); epoch && epoch->is_number()) {
    reading.epoch = whole_number(lease, "leader_epoch", kMostEpochs);
  }
  const auto longest = static_cast<std::uint64_t>(kLongestTime.count());
  if (const auto ttl = whole_number(lease, "ttl_ms", longest); ttl > 0) {
    reading.ttl = Duration{static_cast<Duration::rep>(ttl)};
  }
}

/// A time that is later than the last change of its file is of a wrong clock, or half of it was
/// written over another one just now.
void hold_to_mtime(WallTime now, StoreReading& reading) {
  if (!reading.written || !check_plausible(*reading.written, now)) return;
  if (!reading.last_sign || *reading.last_sign - *reading.written <= kAhead) return;
  add_problem(reading, "its time is later than its last change");
  reading.last_sign = reading.written;
  reading.from_mtime = true;
}

StoreReading read_json(Files& files, const ForeignStore& store, const TimeContext& context,
                       const ProcessLives& lives) {
  StoreReading reading;
  const WholeText whole = read_whole(files, store.path);
  reading.problem = whole.problem;
  reading.unread = whole.unread;
  if (whole.missing) return reading;
  const bool understood =
      !whole.json.is_null() && take_json(whole.json, store, context, lives, reading);
  if (!is_of_one(store.kind)) return reading;
  if (!understood && is_absent(reading.state)) {
    reading.problem = "its system says that it is " + on_one_line(reading.state);
    return reading;
  }
  if (!understood) {
    take_mtime(files, store.path, context.now, reading);
    return reading;
  }
  if (const auto modified = files.modified(store.path)) reading.written = *modified;
  hold_to_mtime(context.now, reading);
  return reading;
}

/// "4711", or "4711|Sun Jan  4 20:19:13 2026".
bool take_pid_text(std::string_view text, const TimeContext& context, StoreReading& reading) {
  while (!text.empty() && std::string_view(" \r\n\t").contains(text.back())) text.remove_suffix(1);
  std::int64_t pid = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), pid);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  const bool good = read.ec == std::errc{} && pid > 0 && pid <= kLargestPid &&
                    (text.empty() || text.front() == '|');
  if (!good) return false;
  reading.pid = pid;
  if (text.empty()) return true;
  if (const auto started = parse_foreign_time(text.substr(1), context)) {
    reading.started = started->at;
  }
  return true;
}

/// The first digits of a pid are a pid too: it is whole with a time or the end of the line behind
/// it, or once nobody has written it for a while.
StoreReading read_running(Files& files, const std::string& path, const TimeContext& context) {
  constexpr std::chrono::seconds kStillWriting{2};
  StoreReading reading;
  const auto text = files.read(path, 256);
  reading.unread = !text;
  if (!text) add_problem(reading, text.error().text);
  if (!text || !*text) return reading;
  StoreReading said;
  const bool good = take_pid_text(**text, context, said);
  take_mtime(files, path, context.now, reading);
  const bool whole = (*text)->ends_with('\n') || said.started ||
                     (reading.written && context.now - *reading.written > kStillWriting);
  if (!good) {
    add_problem(reading, file_name(path) + " holds no pid");
  } else if (!whole) {
    add_problem(reading, file_name(path) + " was written just now");
  } else {
    reading.pid = said.pid;
    reading.started = said.started;
  }
  return reading;
}

void take_children(Files& files, const std::string& path, StoreReading& reading) {
  const auto text = files.read(path, kLargestEdited);
  if (!text) return add_problem(reading, text.error().text);
  std::string_view left = *text ? std::string_view(**text) : std::string_view();
  std::unordered_set<std::string> seen;
  while (!left.empty()) {
    auto line = parse_child_line(take_line(left));
    if (!line || !seen.insert(line->heartbeat).second) continue;
    if (reading.children.size() == kMostChildren) {
      return add_problem(reading, fmt::format("more than {} children", kMostChildren));
    }
    reading.children.push_back(std::move(line->heartbeat));
  }
}

StoreReading read_heartbeat_dir(Files& files, const std::string& folder,
                                const TimeContext& context) {
  const std::string path = folder + "/" + std::string(kHeartbeatFile);
  const WholeText whole = read_whole(files, path);
  StoreReading reading;
  if (whole.missing) {
    reading = read_running(files, folder + "/.running", context);
    if (!reading.last_sign && reading.problem.empty()) reading.problem = whole.problem;
  } else {
    reading.problem = whole.problem;
    reading.unread = whole.unread;
    if (whole.json.is_object()) take_entry(whole.json, context, reading);
    take_mtime(files, path, context.now, reading);
  }
  take_children(files, folder + "/" + std::string(kChildrenFile), reading);
  return reading;
}

struct Candidate {
  std::size_t number = 0;
  StoreReading entry;
  std::optional<WallTime> beat;
};

}  // namespace

Result<JsonPath> time_path(const ForeignStore& store) {
  if (!store.field.empty()) return parse_json_path(store.field);
  if (store.kind == StoreKind::session_state) return parse_json_path("timestamp");
  if (store.kind == StoreKind::lease_file) return parse_json_path("last_heartbeat");
  return fail("the store " + file_name(store.path) + " needs the field that holds its time");
}

bool is_absent(std::string_view state) { return state == "offline" || state == "stopped"; }

bool is_given_back(const ReadJson& time) {
  if (time.is_number()) return time == 0;
  return time.is_string() && parse_calendar(time.get_ref<const std::string&>()) == WallTime{};
}

void take_entry(const ReadJson& entry, const TimeContext& context, StoreReading& reading) {
  reading.state = first_text(entry, {"state", "status"}, kLongestState);
  reading.context = first_text(entry, {"context", "last_action", "message"}, kLongestWords);
  reading.task = first_text(entry, {"bead", "current_task", "task"}, kLongestId);
  reading.id = exact_text(entry, "agent_id", kLongestId);
  if (reading.id.empty()) reading.id = exact_text(entry, "leader_id", kLongestId);
  reading.pid = static_cast<std::int64_t>(whole_number(entry, "pid", kLargestPid));
  for (const std::string_view key : {"started", "pid_started", "started_at"}) {
    const ReadJson* const started = find_field(entry, key);
    if (started == nullptr || reading.started) continue;
    if (const auto time = foreign_time_of(*started, context)) reading.started = time->at;
  }
}

Result<JsonPath> choose_entry(const ReadJson& json, JsonPath path, const TimeContext& context,
                              const ProcessLives& lives) {
  const auto step = std::ranges::find_if(path.steps, &JsonPath::Step::is_entry);
  if (step == path.steps.end()) return path;
  const std::string shown = in_quotes(format_json_path(path));
  const ReadJson* const array = find_path(json, {{path.steps.begin(), step}});
  if (array == nullptr || !array->is_array()) return fail("no array for " + shown);
  const JsonPath rest{{step + 1, path.steps.end()}};
  std::vector<Candidate> wanted;
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (!is_wanted_entry((*array)[i], *step)) continue;
    Candidate& candidate = wanted.emplace_back(Candidate{.number = i, .entry = {}, .beat = {}});
    take_entry((*array)[i], context, candidate.entry);
    const ReadJson* const beat = find_path((*array)[i], rest);
    if (beat == nullptr) continue;
    if (const auto time = foreign_time_of(*beat, context)) candidate.beat = time->at;
  }
  if (wanted.empty()) return fail("no entry is " + shown);
  const std::size_t count = wanted.size();
  if (count > 1) {
    std::erase_if(wanted, [&](const Candidate& one) {
      return one.entry.pid == 0 || !lives(one.entry.pid, one.entry.started);
    });
  }
  if (wanted.empty()) {
    return fail(
        fmt::format("none of the {} entries that are {} has a living process", count, shown));
  }
  const auto newest = std::ranges::max_element(wanted, {}, &Candidate::beat);
  step->entry = newest->number;
  return path;
}

bool take_json(const ReadJson& json, const ForeignStore& store, const TimeContext& context,
               const ProcessLives& lives, StoreReading& reading) {
  const auto wanted = time_path(store);
  const auto path = !wanted ? wanted : choose_entry(json, *wanted, context, lives);
  if (!path) {
    add_problem(reading, path.error().text);
    return false;
  }
  JsonPath to_entry = *path;
  to_entry.steps.pop_back();
  if (const ReadJson* const entry = find_path(json, to_entry); entry && entry->is_object()) {
    take_entry(*entry, context, reading);
    if (store.kind == StoreKind::lease_file) take_lease(*entry, reading);
    if (store.kind == StoreKind::session_state && reading.state.empty()) reading.state = "working";
  }
  const ReadJson* const field = find_path(json, *path);
  if (field == nullptr) {
    add_problem(reading, "no field " + in_quotes(format_json_path(*wanted)) + " in " +
                             file_name(store.path));
    return false;
  }
  if (is_given_back(*field)) {
    reading.released = store.kind == StoreKind::lease_file;
    if (!reading.released) add_problem(reading, "its time is 1970, which is no time");
    return true;
  }
  const auto time = foreign_time_of(*field, context);
  if (!time) {
    add_problem(reading, time.error().text);
    return false;
  }
  reading.last_sign = time->at;
  return true;
}

Result<std::vector<StoreReading>> read_entries(Files& files, const ForeignStore& store,
                                               const TimeContext& context) {
  const auto path = time_path(store);
  if (!path) return std::unexpected(path.error());
  const auto step = std::ranges::find_if(path->steps, &JsonPath::Step::is_entry);
  const std::string shown = in_quotes(format_json_path(*path));
  if (step == path->steps.end()) return fail(shown + " names no entry of a registry");
  const WholeText whole = read_whole(files, store.path);
  if (whole.json.is_null()) return fail(whole.problem);
  const ReadJson* const array = find_path(whole.json, {{path->steps.begin(), step}});
  if (array == nullptr || !array->is_array()) return fail("no array for " + shown);
  const JsonPath rest{{step + 1, path->steps.end()}};
  std::vector<StoreReading> entries;
  for (const ReadJson& each : *array) {
    if (!is_wanted_entry(each, *step)) continue;
    StoreReading& entry = entries.emplace_back();
    take_entry(each, context, entry);
    const ReadJson* const beat = find_path(each, rest);
    if (beat == nullptr) continue;
    if (const auto time = foreign_time_of(*beat, context)) entry.last_sign = time->at;
  }
  return entries;
}

StoreReading read_pid_file(Files& files, const std::string& path, const TimeContext& context) {
  return read_running(files, path, context);
}

StoreReading read_store(Files& files, const ForeignStore& store, const TimeContext& context,
                        const ProcessLives& lives) {
  switch (store.kind) {
    case StoreKind::mtime: {
      StoreReading reading;
      take_mtime(files, store.path, context.now, reading);
      return reading;
    }
    case StoreKind::heartbeat_dir:
      return read_heartbeat_dir(files, store.path, context);
    default:
      return read_json(files, store, context, lives);
  }
}

}  // namespace tend
