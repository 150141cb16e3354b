// A town is found as its own programs find it, so that both write the same files.
#include "store/foreign/gas_town.h"

#include <chrono>

#include "base/quote.h"
#include "store/foreign/foreign_write.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLongestSession = 200;
constexpr std::size_t kLargestNote = std::size_t{64} * 1024;
constexpr std::size_t kLongestReason = 400;
/// What `ps` says is that coarse.
constexpr std::chrono::seconds kCoarse{2};

/// As the original writes it; the time becomes that of the beat.
constexpr std::string_view kFirstDeacon =
    "{\n  \"timestamp\": \"1970-01-01T00:00:00.000000000Z\",\n  \"cycle\": 0,\n"
    "  \"healthy_agents\": 0,\n  \"unhealthy_agents\": 0\n}";

/// Nobody else's process has a say here.
bool everybody(std::int64_t /*pid*/, const std::optional<WallTime>& /*started*/) { return true; }

std::string at_root(std::string_view folder, std::string_view name) {
  return (folder == "/" ? "" : std::string(folder)) + std::string(name);
}

bool is_worktree(std::string_view folder) {
  return folder.contains("/polecats/") || folder.contains("/crew/");
}

}  // namespace

ForeignStore deacon_label(const std::string& town) {
  const std::string bead(kDeaconBead);
  ForeignStore store;
  store.kind = StoreKind::label;
  store.command = {"bd", "show", bead, "--json"};
  store.set = {"bd", "update", bead, "--add-label={label}", "--remove-label={old}"};
  store.folder = town;
  store.environment = {"BEADS_DIR=" + town + "/.beads"};
  store.deadline = std::chrono::seconds{30};
  return store;
}

bool is_town(const std::string& root, const IsThere& is_there) {
  return is_there(at_root(root, "/mayor/town.json")) || is_there(at_root(root, "/mayor/."));
}

std::optional<std::string> find_town(std::string_view folder, const IsThere& is_there) {
  const bool outermost = is_worktree(folder);
  std::optional<std::string> town;
  std::optional<std::string> young;
  for (std::string_view at = folder; at.starts_with('/');) {
    if (is_there(at_root(at, "/mayor/town.json"))) {
      town = at;
      if (!outermost) return town;
    }
    if (!young && is_there(at_root(at, "/mayor/."))) young = at;
    if (at == "/") break;
    const std::size_t slash = at.rfind('/');
    at = slash == 0 ? std::string_view("/") : at.substr(0, slash);
  }
  return town ? town : young;
}

Result<void> check_session_name(std::string_view session) {
  const bool good = !session.empty() && session.size() <= kLongestSession && session != "." &&
                    session != ".." && !session.contains('/') && !session.contains('\0');
  if (!good) return fail(in_quotes(session) + " is no name of a session");
  return {};
}

Result<std::optional<std::string>> deacon_pause(Files& files, const std::string& town) {
  const std::string path = town + "/.runtime/deacon/paused.json";
  const auto text = files.read(path, kLargestNote);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto note = parse_object(**text, kLargestNote);
  if (!note) return fail(on_one_line(path) + " is no JSON object");
  if (!flag_field(*note, "paused")) return std::nullopt;
  return shown_text(*note, "reason", kLongestReason);
}

StoreReading read_session_process(Files& files, const std::string& town, const std::string& session,
                                  const TimeContext& context) {
  return read_pid_file(files, town + "/.runtime/pids/" + session + ".pid", context);
}

bool is_same_start(WallTime started, WallTime said_by_ps) {
  using namespace std::chrono;
  constexpr hours kFarthestZone{26};  // as it was then, and as it is taken for now
  const auto apart = abs(started - said_by_ps);
  const auto off = apart % minutes{15};
  return apart <= kFarthestZone && (off <= kCoarse || off >= minutes{15} - kCoarse);
}

Result<void> beat_session(Files& files, const std::string& town, const std::string& session,
                          const std::string& state, const std::string& words,
                          const TimeContext& context) {
  const ForeignStore store{.kind = StoreKind::session_state,
                           .path = town + "/.runtime/heartbeats/" + session + ".json"};
  StoreBeat beat;
  beat.state = state;
  beat.context = words;
  beat.heals = true;
  return write_store(files, store, beat, context, everybody);
}

Result<void> beat_deacon(Files& files, const std::string& town, const std::string& action,
                         const TimeContext& context) {
  const ForeignStore store{
      .kind = StoreKind::json_time, .path = town + "/deacon/heartbeat.json", .field = "timestamp"};
  StoreBeat beat;
  beat.action = action;
  beat.counter = "cycle";
  beat.first = kFirstDeacon;
  beat.heals = true;
  return write_store(files, store, beat, context, everybody);
}

Result<void> touch_deacon(Files& files, const std::string& town, const TimeContext& context) {
  const ForeignStore store{.kind = StoreKind::mtime, .path = town + "/deacon/.deacon-heartbeat"};
  return write_store(files, store, {}, context, everybody);
}

}  // namespace tend
