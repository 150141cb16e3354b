// Of the memory either all of it is understood or nothing: half an episode would rob somebody.
#include "store/patrol_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kRecordSize = 512;
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMostCount = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLongestMemory = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kLongestId = 1024;
constexpr std::size_t kLongestWords = 1024;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostBecause = 8;
constexpr std::int64_t kVersion = 1;

constexpr std::array<std::string_view, 5> kTaskIsWords{"open", "in_progress", "blocked", "closed",
                                                       "other"};
constexpr std::array<std::string_view, 5> kUnfitWords{"fit", "began", "late", "slept", "calendar"};

template <class Enum, std::size_t N>
std::string_view word_of(Enum value, const std::array<std::string_view, N>& words) {
  return words.at(static_cast<std::size_t>(value));
}

// --- The record ---------------------------------------------------------------------------------

std::optional<PatrolRecord> parse_record(std::string_view text) {
  const auto object = parse_object(text, kRecordSize);
  if (!object || find_field(*object, "pid") == nullptr) return std::nullopt;
  const auto most_interval = static_cast<std::uint64_t>(kLongestTime.count());
  return PatrolRecord{
      .process = {static_cast<std::int64_t>(whole_number(*object, "pid", kMostPid)),
                  whole_number(*object, "start_ticks", kMostU64),
                  whole_number(*object, "pid_ns", kMostU64),
                  exact_text(*object, "boot_id", kRecordSize)},
      .interval =
          Duration{static_cast<Duration::rep>(whole_number(*object, "interval_ms", most_interval))},
      .wanted = flag_field(*object, "wanted"),
      .next_boot = flag_field(*object, "next_boot"),
  };
}

// --- The memory ---------------------------------------------------------------------------------

std::optional<std::int64_t> number_in(const ReadJson& object, const char* key) {
  const ReadJson* const field = find_field(object, key);
  if (field == nullptr || !field->is_number_integer()) return std::nullopt;
  if (field->is_number_unsigned() &&
      field->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return field->get<std::int64_t>();
}

std::optional<Duration> duration_in(const ReadJson& object, const char* key) {
  const auto number = number_in(object, key);
  if (!number || *number > kLongestTime.count() || *number < -kLongestTime.count()) {
    return std::nullopt;
  }
  return Duration{*number};
}

std::optional<WallTime> calendar_in(const ReadJson& object, const char* key) {
  const auto number = number_in(object, key);
  if (!number || *number < 0) return std::nullopt;
  return WallTime{std::chrono::nanoseconds{*number}};
}

std::optional<std::vector<PatrolRung>> rungs_in(const ReadJson& object, const char* key) {
  const ReadJson* const field = find_field(object, key);
  if (field == nullptr || !field->is_array() || field->size() > kPatrolRungs) return std::nullopt;
  std::vector<PatrolRung> rungs;
  for (const ReadJson& each : *field) {
    const auto rung = each.is_string() ? from_word<PatrolRung>(kPatrolRungWords,
                                                               each.get_ref<const std::string&>())
                                       : std::nullopt;
    if (!rung) return std::nullopt;
    rungs.push_back(*rung);
  }
  return rungs;
}

WriteJson rungs_json(const std::vector<PatrolRung>& rungs) {
  WriteJson json = WriteJson::array();
  for (const PatrolRung rung : rungs) json.push_back(word(rung));
  return json;
}

std::size_t rungs_taken(const PatrolMemory& memory) {
  return static_cast<std::size_t>(std::ranges::count(memory.taken, true));
}

/// A task of which nothing is remembered begins its episode with the next sweep, as this one did.
bool says_something(const PatrolMemory& memory) {
  return memory.excused != Duration::zero() || memory.answered || memory.pinged_at ||
         memory.over_at || rungs_taken(memory) > 0;
}

WriteJson decided_json(const PatrolDecided& decided) {
  WriteJson because = WriteJson::array();
  for (const std::string& each : decided.because) {
    if (because.size() < kMostBecause) because.push_back(cut_text(each, kLongestWords));
  }
  return {{"at_ns", decided.at.time_since_epoch().count()},
          {"rungs", rungs_json(decided.rungs)},
          {"because", std::move(because)}};
}

WriteJson memory_json(const std::string& id, const PatrolMemory& memory, const PatrolPast& past) {
  std::vector<PatrolRung> taken;
  for (std::size_t i = 0; i < kPatrolRungs; ++i) {
    if (memory.taken.at(i)) taken.push_back(static_cast<PatrolRung>(i));
  }
  WriteJson json{{"id", id},
                 {"status", word_of(memory.status, kTaskIsWords)},
                 {"fence", memory.fence},
                 {"last_sign_ns", memory.last_sign.time_since_epoch().count()},
                 {"excused_ms", memory.excused.count()},
                 {"answered", memory.answered},
                 {"taken", rungs_json(taken)}};
  if (memory.pinged_at) json["pinged_ms"] = memory.pinged_at->count();
  if (memory.over_at) json["over_ms"] = memory.over_at->count();
  const auto decided = past.decided.find(id);
  if (decided != past.decided.end()) json["decided"] = decided_json(decided->second);
  return json;
}

WriteJson tasks_json(const PatrolPast& past) {
  using One = const std::pair<const std::string, PatrolMemory>*;
  std::vector<One> kept;
  for (const auto& one : past.state.tasks) {
    if (says_something(one.second)) kept.push_back(&one);
  }
  // Who took most first, then by name.
  std::ranges::sort(kept, [](One a, One b) {
    const auto taken_a = rungs_taken(a->second);
    const auto taken_b = rungs_taken(b->second);
    return taken_a != taken_b ? taken_a > taken_b : a->first < b->first;
  });
  if (kept.size() > kMostEpisodes) kept.resize(kMostEpisodes);
  WriteJson json = WriteJson::array();
  for (const One one : kept) json.push_back(memory_json(one->first, one->second, past));
  return json;
}

bool read_decided(const ReadJson& json, PatrolDecided& decided) {
  const auto at = calendar_in(json, "at_ns");
  auto rungs = rungs_in(json, "rungs");
  const ReadJson* const because = find_field(json, "because");
  if (!at || !rungs || because == nullptr || !because->is_array()) return false;
  decided.at = *at;
  decided.rungs = *std::move(rungs);
  for (const ReadJson& each : *because) {
    if (decided.because.size() == kMostBecause) break;
    decided.because.push_back(shown_text(each, kLongestWords));
  }
  return true;
}

bool read_memory(const ReadJson& json, PatrolPast& past) {
  if (!json.is_object()) return false;
  const std::string id = exact_text(json, "id", kLongestId);
  const auto status = word_field<TaskIs>(json, "status", kTaskIsWords);
  const auto fence = number_in(json, "fence");
  const auto last_sign = calendar_in(json, "last_sign_ns");
  const auto excused = duration_in(json, "excused_ms");
  const auto taken = rungs_in(json, "taken");
  if (id.empty() || !status || !fence || !last_sign || !excused || !taken) return false;
  PatrolMemory memory;
  memory.status = *status;
  memory.fence = *fence;
  memory.last_sign = *last_sign;
  memory.excused = *excused;
  memory.answered = flag_field(json, "answered");
  memory.pinged_at = duration_in(json, "pinged_ms");
  memory.over_at = duration_in(json, "over_ms");
  for (const PatrolRung rung : *taken) memory.taken.at(static_cast<std::size_t>(rung)) = true;
  if (const ReadJson* const decided = find_field(json, "decided")) {
    if (!decided->is_object() || !read_decided(*decided, past.decided[id])) return false;
  }
  past.state.tasks[id] = memory;
  return true;
}

bool read_told(const ReadJson& json, PatrolPast& past) {
  if (!json.is_object()) return false;
  const std::string key = exact_text(json, "key", kLongestId);
  if (key.empty()) return false;
  past.told[key] = shown_text(json, "text", kLongestWords);
  return true;
}

WriteJson pulses_json(const SeenPulses& pulses) {
  WriteJson json = WriteJson::array();
  for (const auto& [folder, one] : pulses) {
    if (json.size() == kMostPulses) break;
    if (folder.size() > kLongestPath) continue;
    json.push_back({{"folder", folder},
                    {"pulse_ns", one.pulse.time_since_epoch().count()},
                    {"seen_ms", one.seen.count()}});
  }
  return json;
}

bool read_pulse(const ReadJson& json, PatrolPast& past) {
  if (!json.is_object()) return false;
  const std::string folder = exact_text(json, "folder", kLongestPath);
  const auto pulse = calendar_in(json, "pulse_ns");
  const auto seen = duration_in(json, "seen_ms");
  if (folder.empty() || !pulse || !seen) return false;
  past.pulses[folder] = {*pulse, *seen};
  return true;
}

bool read_list(const ReadJson& object, const char* key, std::size_t most, PatrolPast& past,
               bool (*read)(const ReadJson&, PatrolPast&)) {
  const ReadJson* const list = find_field(object, key);
  if (list == nullptr || !list->is_array() || list->size() > most) return false;
  return std::ranges::all_of(*list, [&](const ReadJson& each) { return read(each, past); });
}

bool read_state(const ReadJson& object, PatrolPast& past) {
  const auto wall = calendar_in(object, "wall_ns");
  const auto awake = duration_in(object, "awake_ms");
  const auto asked = duration_in(object, "asked_ms");
  const auto unfit = word_field<PatrolUnfit>(object, "unfit", kUnfitWords);
  const auto unfit_since = duration_in(object, "unfit_since_ms");
  if (!wall || !awake || !asked || !unfit || !unfit_since) return false;
  past.boot_id = exact_text(object, "boot_id", kLongestId);
  past.wall = *wall;
  past.awake = *awake;
  past.state.asked = *asked;
  past.state.unfit = *unfit;
  past.state.unfit_since = Instant{*unfit_since};
  past.state.sweeps_since =
      static_cast<std::uint32_t>(whole_number(object, "sweeps_since", kMostCount));
  past.state.incident = flag_field(object, "incident");
  if (const auto swept = duration_in(object, "swept_ms")) past.state.last_sweep = Instant{*swept};
  return true;
}

}  // namespace

// --- The lock -----------------------------------------------------------------------------------

Result<std::unique_ptr<PatrolLock>> PatrolLock::take(Folder& home) {
  auto file = LockedRecord::take(home, kPatrolFile, kRecordSize);
  if (!file) return std::unexpected(file.error());
  if (*file == nullptr) return nullptr;
  std::unique_ptr<PatrolLock> lock(new PatrolLock(*std::move(file)));
  const auto record = parse_record(lock->file_->found());
  lock->record_ = record.value_or(PatrolRecord{});
  lock->damaged_ = !record && !lock->file_->found().empty();
  return lock;
}

Result<void> PatrolLock::write(const PatrolRecord& record) {
  std::string text = to_line({{"boot_id", record.process.boot_id},
                              {"pid_ns", record.process.pid_ns},
                              {"pid", record.process.pid},
                              {"start_ticks", record.process.start_ticks},
                              {"interval_ms", record.interval.count()},
                              {"wanted", record.wanted},
                              {"next_boot", record.next_boot}});
  if (text.size() >= kRecordSize) return fail("the record of a patrol does not fit into its file");
  auto written = file_->write(std::move(text));
  if (written) record_ = record;
  return written;
}

Result<std::optional<PatrolLockState>> look_at_patrol(Folder& home) {
  const auto seen = look_at_record(home, kPatrolFile, kRecordSize);
  if (!seen) return std::unexpected(seen.error());
  if (!*seen) return std::nullopt;
  return PatrolLockState{(*seen)->held, parse_record((*seen)->text).value_or(PatrolRecord{}),
                         (*seen)->file};
}

// --- What is remembered -------------------------------------------------------------------------

std::string format_patrol_past(const PatrolPast& past) {
  const PatrolState& state = past.state;
  WriteJson told = WriteJson::array();
  for (const auto& [key, text] : past.told) {
    if (told.size() == kMostTold) break;
    told.push_back({{"key", key}, {"text", cut_text(text, kLongestWords)}});
  }
  WriteJson json{{"version", kVersion},
                 {"boot_id", past.boot_id},
                 {"wall_ns", past.wall.time_since_epoch().count()},
                 {"awake_ms", past.awake.count()}};
  if (state.last_sweep) json["swept_ms"] = state.last_sweep->time_since_epoch().count();
  json["asked_ms"] = state.asked.count();
  json["unfit"] = word_of(state.unfit, kUnfitWords);
  json["unfit_since_ms"] = state.unfit_since.time_since_epoch().count();
  json["sweeps_since"] = state.sweeps_since;
  json["incident"] = state.incident;
  json["tasks"] = tasks_json(past);
  json["told"] = std::move(told);
  json["pulses"] = pulses_json(past.pulses);
  return to_line(json) + "\n";
}

Result<PatrolPast> parse_patrol_past(std::string_view text) {
  const auto object = parse_object(text, kLongestMemory);
  if (!object) return fail("it is no JSON object");
  if (const auto version = number_in(*object, "version"); version != kVersion) {
    return fail("it is of another version of tend");
  }
  PatrolPast past;
  if (!read_state(*object, past)) return fail("its clocks cannot be read");
  if (!read_list(*object, "tasks", kMostEpisodes, past, read_memory)) {
    return fail("its tasks cannot be read");
  }
  if (!read_list(*object, "told", kMostTold, past, read_told)) {
    return fail("what was told cannot be read");
  }
  // Older versions wrote none.
  if (find_field(*object, "pulses") != nullptr &&
      !read_list(*object, "pulses", kMostPulses, past, read_pulse)) {
    return fail("its keepers cannot be read");
  }
  return past;
}

Result<std::optional<PatrolPast>> read_patrol_past(Folder& home) {
  const auto text = home.read(std::string(kPatrolMemoryFile), kLongestMemory);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto past = parse_patrol_past(**text);
  if (past) return *std::move(past);
  return fail(home.path() + "/" + std::string(kPatrolMemoryFile) + ": " + past.error().text);
}

Result<void> write_patrol_past(Folder& home, const PatrolPast& past) {
  return home.replace(std::string(kPatrolMemoryFile), format_patrol_past(past), Folder::Sync::no);
}

}  // namespace tend
