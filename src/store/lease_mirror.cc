// Four values are edited in place; a file that is not there is begun with just these.
#include "store/lease_mirror.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/foreign/foreign_store.h"
#include "store/foreign/json_edit.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestId = 1024;
constexpr Duration kUsualTtl = 180s;
// Its epochs are numbers of JavaScript.
constexpr std::uint64_t kMostEpochs = std::uint64_t{1} << 53U;
constexpr TimeStyle kStyle{.decimals = 3};

struct Field {
  std::string_view key;
  std::string value;  // JSON
};

JsonPath path_to(std::string_view key) {
  JsonPath path;
  path.steps.push_back({.key = std::string(key), .where = {}, .entry = {}});
  return path;
}

/// As the time that is there is written.
TimeStyle style_in(const std::string& text, const TimeContext& context) {
  const auto there = written_value(text, path_to("last_heartbeat"));
  if (!there || !*there) return kStyle;
  return style_of_time(**there, context).value_or(kStyle);
}

std::vector<Field> fields_of(const LeaseRecord& record, const std::string& text,
                             const TimeContext& context) {
  std::string id;
  append_json_text(id, record.holder.id);
  const WallTime beat = record.held ? context.now : WallTime{};
  return {{"leader_id", std::move(id)},
          {"leader_epoch", std::to_string(record.fence)},
          {"last_heartbeat", json_of_time(beat, style_in(text, context))},
          {"ttl_ms", std::to_string(record.ttl.count())}};
}

Result<std::string> text_with(const LeaseRecord& record, std::string text,
                              const TimeContext& context) {
  if (text.empty()) text = "{}\n";
  for (const Field& field : fields_of(record, text, context)) {
    auto edited = edit_json(text, path_to(field.key), field.value);
    if (!edited) return edited;
    text = *std::move(edited);
  }
  return text;
}

Result<void> check_epoch(const std::string& text, const LeaseRecord& record) {
  const ReadJson json = ReadJson::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  const std::uint64_t epoch = whole_number(json, "leader_epoch", kMostEpochs);
  if (epoch <= record.fence) return {};
  return fail(fmt::format("{} says that {} leads in epoch {}, later than our {}",
                          on_one_line(record.mirror), shown_text(json, "leader_id", kLongestId),
                          epoch, record.fence));
}

}  // namespace

Result<std::optional<LeaseMirror>> read_lease_mirror(Files& files, const std::string& path,
                                                     WallTime now) {
  const auto text = files.read(path, kLargestEdited);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const ReadJson json = ReadJson::parse(**text, nullptr, false);
  if (!json.is_object()) {
    return fail(on_one_line(path) + " is no JSON object: mend it, or leave the mirror out");
  }
  const TimeContext context{.now = now, .local_east = {}, .plain_is_local = false};
  StoreReading reading;
  const ForeignStore store{.kind = StoreKind::lease_file,
                           .path = path,
                           .field = "",
                           .session = "",
                           .label = "",
                           .command = {},
                           .set = {},
                           .folder = "",
                           .environment = {}};
  std::ignore = take_json(json, store, context, {}, reading);
  LeaseMirror mirror{.leader = shown_text(json, "leader_id", kLongestId),
                     .epoch = reading.epoch.value_or(0),
                     .valid_for = {}};
  if (reading.last_sign && !reading.released) {
    const Duration age =
        std::max(Duration{}, std::chrono::duration_cast<Duration>(now - *reading.last_sign));
    mirror.valid_for = std::max(Duration{}, reading.ttl.value_or(kUsualTtl) - age);
  }
  return mirror;
}

Result<void> write_lease_mirror(Files& files, const LeaseRecord& record, WallTime now,
                                const LockHolder& writer, const ProcessLives& lives) {
  const TimeContext context{.now = now, .local_east = {}, .plain_is_local = false};
  const auto lock = ForeignLock::take(files, record.mirror, writer, context, lives);
  if (!lock) return std::unexpected(lock.error());
  const auto text = files.read(record.mirror, kLargestEdited);
  if (!text) return std::unexpected(text.error());
  const std::string was = text->value_or("");
  if (auto ours = check_epoch(was, record); !ours) return ours;
  const auto written = text_with(record, was, context);
  if (!written) return fail(on_one_line(record.mirror) + ": " + written.error().text);
  const auto replaced =
      files.replace_if(record.mirror, *written, [&] { return (*lock)->is_held(); });
  if (!replaced) return std::unexpected(replaced.error());
  if (!*replaced) return fail(on_one_line(record.mirror) + ": its lock was taken away");
  return {};
}

}  // namespace tend
