// The record is one line of JSON, filled up with spaces to a fixed size, so that writing it anew
// never needs room on the disk. The child signs in the last of these spaces when it is let run: its
// keeper may die before it can write that down.
//
//   {"boot_id":B,"pid_ns":N,"keeper_pid":P,"keeper_start_ticks":T,"life":3,"pid":P,
//    "start_ticks":T,"group":G,"released":false,"hung":false,
//    "slept_ms":0,"awake_since_ms":B,"unwritten":false}
#include "store/life_record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kRecordSize = 1024;
static_assert(kReleasedAt == kRecordSize - 2);
constexpr auto kSpaces = [] {
  std::array<char, kRecordSize> spaces{};
  spaces.fill(' ');
  return spaces;
}();
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
/// As far as a WallTime reaches.
constexpr std::uint64_t kMostTime = floor<Duration>(WallTime::duration::max()).count();
constexpr std::uint64_t kMostLife = std::numeric_limits<std::uint32_t>::max();

/// Nothing was started in 1970.
std::optional<WallTime> known(Duration since_1970) {
  if (since_1970 == Duration{}) return std::nullopt;
  return WallTime{since_1970};
}

std::string record_json(const LifeRecord& record) {
  return to_line({
      {"boot_id", record.keeper.boot_id},
      {"pid_ns", record.keeper.pid_ns},
      {"keeper_pid", record.keeper.pid},
      {"keeper_start_ticks", record.keeper.start_ticks},
      {"life", record.life},
      {"pid", record.process.pid},
      {"start_ticks", record.process.start_ticks},
      {"group", record.group},
      {"released", record.released},
      {"hung", record.hung},
      {"slept_ms", record.slept.value_or(Duration{}).count()},
      {"awake_since_ms",
       floor<Duration>(record.awake_since.value_or(WallTime{})).time_since_epoch().count()},
      {"unwritten", record.unwritten},
  });
}

/// Takes a record apart as record_json() puts it together: these fields in this order, without a
/// space or an escape between them. What is anything else may still be a record.
class InOrder {
 public:
  explicit InOrder(std::string_view text) : left_(text) {}

  /// Behind all that was asked for stands only what fills a record up.
  [[nodiscard]] bool is_whole() const {
    const std::size_t spaces = left_.size() - (left_.ends_with('\n') ? 1 : 0);
    return fits_ && left_.substr(0, spaces) == std::string_view(kSpaces.data(), spaces);
  }
  bool skip(std::string_view words) {
    const bool found = left_.starts_with(words);
    if (found) left_.remove_prefix(words.size());
    return found;
  }
  std::string text(std::string_view before) {
    if (!skip(before) || !skip("\"")) return no<std::string>();
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    const auto end = std::ranges::find_if_not(left_, is_plain);
    std::string found(left_.begin(), end);
    left_.remove_prefix(found.size());
    return skip("\"") ? found : no<std::string>();
  }
  std::uint64_t number(std::string_view before, std::uint64_t most) {
    if (!skip(before)) return no<std::uint64_t>();
    std::uint64_t found = 0;
    const char* const begin = left_.data();
    const auto [end, error] = std::from_chars(begin, begin + left_.size(), found);
    const auto size = static_cast<std::size_t>(end - begin);
    const bool is_short = size == 1 || !left_.starts_with('0');
    if (error != std::errc{} || found > most || !is_short) return no<std::uint64_t>();
    left_.remove_prefix(size);
    return found;
  }
  Duration time(std::string_view before) {
    return Duration{static_cast<Duration::rep>(number(before, kMostTime))};
  }
  bool flag(std::string_view before) {
    if (!skip(before)) return no<bool>();
    if (skip("true")) return true;
    return skip("false") ? false : no<bool>();
  }

 private:
  template <class T>
  T no() {
    fits_ = false;
    return {};
  }

  std::string_view left_;
  bool fits_ = true;
};

/// The same as the parser for everybody's JSON says, or nothing. Every keeper reads the records of
/// those around it at every beat, and all of them are our own.
std::optional<LifeRecord> parse_own_record(std::string_view text) {
  InOrder in(text);
  LifeRecord record;
  record.keeper.boot_id = in.text(R"({"boot_id":)");
  record.keeper.pid_ns = in.number(R"(,"pid_ns":)", kMostU64);
  record.keeper.pid = static_cast<std::int64_t>(in.number(R"(,"keeper_pid":)", kMostPid));
  record.keeper.start_ticks = in.number(R"(,"keeper_start_ticks":)", kMostU64);
  record.life = static_cast<std::uint32_t>(in.number(R"(,"life":)", kMostLife));
  record.process.boot_id = record.keeper.boot_id;
  record.process.pid_ns = record.keeper.pid_ns;
  record.process.pid = static_cast<std::int64_t>(in.number(R"(,"pid":)", kMostPid));
  record.process.start_ticks = in.number(R"(,"start_ticks":)", kMostU64);
  record.group = in.text(R"(,"group":)");
  record.released = in.flag(R"(,"released":)");
  record.hung = in.flag(R"(,"hung":)");
  record.slept = in.time(R"(,"slept_ms":)");
  record.awake_since = known(in.time(R"(,"awake_since_ms":)"));
  record.unwritten = in.flag(R"(,"unwritten":)");
  if (!in.skip("}") || !in.is_whole()) return std::nullopt;
  return record;
}

/// Empty for anything that is not wholly a record: half a record would name the wrong process.
LifeRecord parse_record(std::string text) {
  const bool is_signed = text.size() > kReleasedAt && text[kReleasedAt] == kSigned;
  if (is_signed) text[kReleasedAt] = ' ';
  if (auto own = parse_own_record(text)) {
    own->released = own->released || is_signed;
    return *std::move(own);
  }
  const auto object = parse_object(text, kRecordSize);
  if (!object || find_field(*object, "life") == nullptr) return {};
  const std::string boot_id = exact_text(*object, "boot_id", kRecordSize);
  const std::uint64_t pid_ns = whole_number(*object, "pid_ns", kMostU64);
  const auto process = [&](const char* pid, const char* start_ticks) {
    return ProcessId{static_cast<std::int64_t>(whole_number(*object, pid, kMostPid)),
                     whole_number(*object, start_ticks, kMostU64), pid_ns, boot_id};
  };
  const auto time = [&](const char* name) {
    return Duration{static_cast<Duration::rep>(whole_number(*object, name, kMostTime))};
  };
  std::optional<Duration> slept;
  if (find_field(*object, "slept_ms") != nullptr) slept = time("slept_ms");
  return {
      .keeper = process("keeper_pid", "keeper_start_ticks"),
      .life = static_cast<std::uint32_t>(whole_number(*object, "life", kMostLife)),
      .process = process("pid", "start_ticks"),
      .group = exact_text(*object, "group", kRecordSize),
      .released = is_signed || flag_field(*object, "released"),
      .hung = flag_field(*object, "hung"),
      .slept = slept,
      .awake_since = known(time("awake_since_ms")),
      .unwritten = flag_field(*object, "unwritten"),
  };
}

}  // namespace

Result<std::unique_ptr<KeeperLock>> KeeperLock::take(Folder& folder) {
  auto file = LockedRecord::take(folder, kLockFile, kRecordSize);
  if (!file) return std::unexpected(file.error());
  if (*file == nullptr) return nullptr;
  std::unique_ptr<KeeperLock> lock(new KeeperLock(*std::move(file)));
  lock->record_ = parse_record(lock->file_->found());
  return lock;
}

Result<void> KeeperLock::write(const LifeRecord& record) {
  const auto same_world = [&] {
    return record.process.boot_id == record.keeper.boot_id &&
           record.process.pid_ns == record.keeper.pid_ns;
  };
  if (record.process.pid != 0 && !same_world()) {
    return fail("the life's process is of another boot or pid namespace than its keeper");
  }
  std::string text = record_json(record);
  if (text.size() > kReleasedAt || !is_utf8(record.group)) {
    return fail(fmt::format("the record of a life does not fit into {} bytes of UTF-8: group {}",
                            kRecordSize, in_quotes(record.group)));
  }
  auto written = file_->write(std::move(text));
  if (written) record_ = record;
  return written;
}

Result<std::optional<LockState>> look_at_lock(Folder& folder) {
  auto seen = look_at_record(folder, kLockFile, kRecordSize);
  if (!seen) return std::unexpected(seen.error());
  if (!*seen) return std::nullopt;
  return LockState{(*seen)->held, parse_record(std::move((*seen)->text))};
}

}  // namespace tend
