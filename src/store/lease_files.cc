// The two newest versions are kept: whoever makes a version finds out afterwards, by those above
// it, whether it was the next one or one that others had made and put away long ago.
#include "store/lease_files.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostI64 = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestRecord = std::size_t{64} * 1024;
constexpr std::size_t kLongestName = 100;
constexpr std::size_t kMostFiles = 10'000;
constexpr int kMostReads = 100;
constexpr Duration kLeftAside = std::chrono::minutes{1};
constexpr std::string_view kBefore = "record.";
constexpr std::string_view kBehind = ".json";

// --- The text of a record -----------------------------------------------------------------------

WriteJson process_json(const ProcessId& id) {
  return {{"boot_id", id.boot_id},
          {"pid_ns", id.pid_ns},
          {"pid", id.pid},
          {"start_ticks", id.start_ticks}};
}

ProcessId process_in(const ReadJson& object, std::string_view key) {
  const ReadJson* const json = find_field(object, key);
  if (json == nullptr || !json->is_object()) return {};
  return {static_cast<std::int64_t>(whole_number(*json, "pid", kMostPid)),
          whole_number(*json, "start_ticks", kMostU64), whole_number(*json, "pid_ns", kMostU64),
          exact_text(*json, "boot_id", kLongestText)};
}

Duration duration_in(const ReadJson& object, std::string_view key) {
  const auto most = static_cast<std::uint64_t>(kLongestTime.count());
  return Duration{static_cast<Duration::rep>(whole_number(object, key, most))};
}

WallTime calendar_in(const ReadJson& object, std::string_view key) {
  return WallTime{
      std::chrono::nanoseconds{static_cast<std::int64_t>(whole_number(object, key, kMostI64))}};
}

LeaseRun run_in(const ReadJson& object) {
  const ReadJson* const json = find_field(object, "run");
  if (json == nullptr || !json->is_object()) return {};
  return {exact_text(*json, "mark", kLongestText), process_in(*json, "first"),
          exact_text(*json, "group", kLongestText)};
}

/// nullopt if they cannot be understood.
std::optional<std::vector<Duration>> takeovers_in(const ReadJson& object) {
  const ReadJson* const json = find_field(object, "takeovers_ms");
  if (json == nullptr || !json->is_array() || json->size() > kMostTakeovers) return std::nullopt;
  std::vector<Duration> takeovers;
  for (const ReadJson& each : *json) {
    if (!each.is_number_unsigned()) return std::nullopt;
    const auto at = each.get<std::uint64_t>();
    if (at > static_cast<std::uint64_t>(kLongestTime.count())) return std::nullopt;
    takeovers.emplace_back(static_cast<Duration::rep>(at));
  }
  return takeovers;
}

// --- The files ----------------------------------------------------------------------------------

std::string file_of(std::uint64_t version) {
  return fmt::format("{}{}{}", kBefore, version, kBehind);
}

/// 0 if the name is not that of a record.
std::uint64_t version_of(std::string_view file) {
  if (!file.starts_with(kBefore) || !file.ends_with(kBehind)) return 0;
  file.remove_prefix(kBefore.size());
  file.remove_suffix(kBehind.size());
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), version);
  return error == std::errc{} && end == file.data() + file.size() ? version : 0;
}

/// Oldest first.
Result<std::vector<std::uint64_t>> versions_in(Folder& folder) {
  const auto names = folder.file_names(kMostFiles);
  if (!names) return std::unexpected(names.error());
  std::vector<std::uint64_t> versions;
  for (const std::string& name : *names) {
    if (const std::uint64_t version = version_of(name); version > 0) versions.push_back(version);
  }
  std::ranges::sort(versions);
  return versions;
}

/// What is too old to matter. That it cannot be removed matters to nobody.
void put_away(Folder& folder, const std::vector<std::uint64_t>& versions, std::uint64_t newest) {
  for (const std::uint64_t version : versions) {
    if (version + 1 < newest) std::ignore = folder.remove(file_of(version));
  }
  folder.sweep(kLeftAside);
}

/// nullptr if there is none and none is to be made.
Result<std::unique_ptr<Folder>> folder_of(Folder& home, const std::string& name, bool make) {
  auto leases = make ? home.make_folder(kLeasesFolder) : home.folder(kLeasesFolder);
  if (!leases || *leases == nullptr) return leases;
  return make ? (*leases)->make_folder(name) : (*leases)->folder(name);
}

std::unexpected<Error> to_be_mended(const Folder& folder, const std::string& file,
                                    std::string_view why) {
  return fail(
      fmt::format("{}/{}: {}; nobody gets this lease until it is mended: put a copy back, or "
                  "remove the file to go on from the version before it",
                  on_one_line(folder.path()), file, why));
}

bool is_too_large(Folder& folder, const std::string& file) {
  const auto facts = folder.facts(file);
  return facts && *facts && (*facts)->size > kLongestRecord;
}

Result<LeaseRecord> understood(Folder& folder, const std::string& file, std::string_view text,
                               const std::string& name, std::uint64_t version) {
  auto record = parse_lease(text);
  if (record && record->name == name && record->version == version) return record;
  return to_be_mended(folder, file, record ? "it is of another lease" : record.error().text);
}

}  // namespace

Result<void> check_lease_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!name.empty() && name.size() <= kLongestName && name.front() != '.' &&
      std::ranges::all_of(name, fits)) {
    return {};
  }
  return fail(in_quotes(name) +
              " is no name of a lease: use letters, digits, '-', '_' and '.', at most 100");
}

std::string format_lease(const LeaseRecord& record) {
  WriteJson takeovers = WriteJson::array();
  for (const Duration each : record.takeovers) takeovers.push_back(each.count());
  return to_line({{"name", record.name},
                  {"version", record.version},
                  {"fence", record.fence},
                  {"held", record.held},
                  {"id", record.holder.id},
                  {"agent", record.holder.agent},
                  {"process", process_json(record.holder.process)},
                  {"run",
                   {{"mark", record.run.mark},
                    {"first", process_json(record.run.first)},
                    {"group", record.run.group}}},
                  {"ttl_ms", record.ttl.count()},
                  {"renewed_awake_ms", record.renewed.count()},
                  {"clock", process_json(record.clock)},
                  {"granted_at_ns", record.granted_at.time_since_epoch().count()},
                  {"renewed_at_ns", record.renewed_at.time_since_epoch().count()},
                  {"mirror", record.mirror},
                  {"why_free", record.why_free},
                  {"takeovers_ms", std::move(takeovers)},
                  {"lag_ms", record.lag.count()}}) +
         "\n";
}

Result<LeaseRecord> parse_lease(std::string_view text) {
  const auto object = parse_object(text, kLongestRecord);
  if (!object) return fail("it is no JSON object");
  const ReadJson* const held = find_field(*object, "held");
  auto takeovers = takeovers_in(*object);
  LeaseRecord record{
      .name = exact_text(*object, "name", kLongestName),
      .version = whole_number(*object, "version", kMostU64),
      .fence = whole_number(*object, "fence", kMostU64),
      .held = flag_field(*object, "held"),
      .holder = {process_in(*object, "process"), shown_text(*object, "id", kLongestText),
                 exact_text(*object, "agent", kLongestText)},
      .run = run_in(*object),
      .ttl = duration_in(*object, "ttl_ms"),
      .renewed = duration_in(*object, "renewed_awake_ms"),
      .clock = process_in(*object, "clock"),
      .granted_at = calendar_in(*object, "granted_at_ns"),
      .renewed_at = calendar_in(*object, "renewed_at_ns"),
      .mirror = exact_text(*object, "mirror", kLongestText),
      .why_free = shown_text(*object, "why_free", kLongestText),
      .takeovers = {},
      .lag = duration_in(*object, "lag_ms"),
  };
  const bool whole = held != nullptr && held->is_boolean() && takeovers && !record.name.empty() &&
                     record.version > 0 && record.fence > 0 && record.ttl > Duration::zero() &&
                     !record.clock.boot_id.empty();
  if (!whole) return fail("it is no record of a lease");
  record.takeovers = *std::move(takeovers);
  return record;
}

Result<std::optional<LeaseRecord>> LeaseFiles::read(const std::string& name) {
  if (auto fits = check_lease_name(name); !fits) return std::unexpected(fits.error());
  const auto folder = folder_of(home_, name, false);
  if (!folder) return std::unexpected(folder.error());
  if (*folder == nullptr) return std::nullopt;
  // The newest may be put away between the look at the names and the look into it.
  for (int i = 0; i < kMostReads; ++i) {
    const auto versions = versions_in(**folder);
    if (!versions) return std::unexpected(versions.error());
    if (versions->empty()) return std::nullopt;
    const std::string file = file_of(versions->back());
    const auto text = (*folder)->read(file, kLongestRecord);
    if (!text && is_too_large(**folder, file)) {
      return to_be_mended(**folder, file, "it is too large for a record of a lease");
    }
    if (!text) return std::unexpected(text.error());
    if (!*text) continue;
    auto record = understood(**folder, file, **text, name, versions->back());
    if (!record) return std::unexpected(record.error());
    return *std::move(record);
  }
  return fail((*folder)->path() + " changes all the time; try again");
}

Result<std::vector<std::string>> LeaseFiles::list() {
  const auto leases = home_.folder(kLeasesFolder);
  if (!leases) return std::unexpected(leases.error());
  if (*leases == nullptr) return std::vector<std::string>{};
  auto names = (*leases)->folders(kMostLeases);
  if (names) std::erase_if(*names, [](const std::string& name) { return !check_lease_name(name); });
  return names;
}

Result<bool> LeaseFiles::write(const LeaseRecord& next) {
  if (auto fits = check_lease_name(next.name); !fits) return std::unexpected(fits.error());
  CHECK(next.version > 0);
  const auto folder = folder_of(home_, next.name, true);
  if (!folder) return std::unexpected(folder.error());
  const auto before = versions_in(**folder);
  if (!before) return std::unexpected(before.error());
  if ((before->empty() ? 0 : before->back()) + 1 != next.version) return false;
  const std::string file = file_of(next.version);
  const auto made = (*folder)->make_file(file, format_lease(next), Folder::Sync::yes);
  if (!made || !*made) return made;
  const auto after = versions_in(**folder);
  if (!after) return std::unexpected(after.error());
  if (after->empty() || after->back() > next.version + 1) {
    std::ignore = (*folder)->remove(file);
    return false;
  }
  put_away(**folder, *after, next.version);
  return true;
}

}  // namespace tend
