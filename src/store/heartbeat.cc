// Reading trusts nobody: a heartbeat is written by other systems too, and by whoever can write the
// folder they keep it in.
#include "store/heartbeat.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestHeartbeat = std::size_t{64} * 1024;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestNote = 400;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostBecause = 8;
constexpr std::uint64_t kMostU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();

std::string_view word(Status status) { return kStatusWords[static_cast<std::size_t>(status)]; }
std::string_view word(WorkOutcome outcome) {
  return kWorkOutcomeWords[static_cast<std::size_t>(outcome)];
}

std::string_view name_of(std::string_view text) { return cut_text(text, kLongestName); }
std::string_view note_of(std::string_view text) { return cut_text(text, kLongestNote); }

WriteJson because_json(const std::vector<std::string>& because) {
  WriteJson list = WriteJson::array();
  for (const std::string& each : because) {
    if (list.size() < kMostBecause) list.push_back(note_of(each));
  }
  return list;
}

WriteJson next_json(const Heartbeat& heartbeat) {
  if (heartbeat.next.empty()) return nullptr;
  return {{"what", note_of(heartbeat.next)}, {"at", rounded_seconds(heartbeat.next_at)}};
}

WriteJson exit_json(const Exit& exit) {
  switch (exit.how) {
    case Exit::How::code:
      return {{"code", exit.value}};
    case Exit::How::signal:
      return {{"signal", exit.value}};
    case Exit::How::unknown:
      break;
  }
  return nullptr;
}

std::vector<std::string> read_because(const ReadJson& object) {
  std::vector<std::string> because;
  const ReadJson* const list = find_field(object, "because");
  if (list == nullptr || !list->is_array()) return because;
  for (const ReadJson& each : *list) {
    std::string text = shown_text(each, kLongestNote);
    if (!text.empty() && because.size() < kMostBecause) because.push_back(std::move(text));
  }
  return because;
}

void read_next(const ReadJson& object, Heartbeat& heartbeat) {
  const ReadJson* const next = find_field(object, "next");
  if (next == nullptr || !next->is_object()) return;
  heartbeat.next = shown_text(*next, "what", kLongestNote);
  if (!heartbeat.next.empty()) heartbeat.next_at = calendar_field(*next, "at");
}

void read_budget(const ReadJson& object, Heartbeat& heartbeat) {
  const ReadJson* const budget = find_field(object, "budget");
  if (budget == nullptr || !budget->is_object()) return;
  heartbeat.resumes_spent = static_cast<std::uint32_t>(whole_number(*budget, "spent", kMostU32));
  heartbeat.resumes_allowed =
      static_cast<std::uint32_t>(whole_number(*budget, "allowed", kMostU32));
}

Exit read_exit(const ReadJson& object) {
  const ReadJson* const exit = find_field(object, "exit");
  if (exit == nullptr || !exit->is_object()) return {};
  for (const auto& [key, how] :
       {std::pair{"code", Exit::How::code}, std::pair{"signal", Exit::How::signal}}) {
    const ReadJson* const value = find_field(*exit, key);
    if (value == nullptr || !value->is_number_unsigned()) continue;
    if (*value <= 255) return {how, value->get<int>()};
  }
  return {};
}

/// Before the first life the file names the keeper's process, because other systems want one that
/// is there; we know that it is not the agent's.
void read_processes(const ReadJson& object, Heartbeat& heartbeat) {
  const std::string boot_id = exact_text(object, "boot_id", kLongestName);
  const std::uint64_t pid_ns = whole_number(object, "pid_ns", kMostU64);
  const auto read = [&](const char* pid, const char* start_ticks) {
    return ProcessId{static_cast<std::int64_t>(whole_number(object, pid, kMostPid)),
                     whole_number(object, start_ticks, kMostU64), pid_ns, boot_id};
  };
  heartbeat.process = read("pid", "start_ticks");
  heartbeat.keeper = read("keeper_pid", "keeper_start_ticks");
  if (heartbeat.process == heartbeat.keeper) {
    heartbeat.process.pid = 0;
    heartbeat.process.start_ticks = 0;
  }
}

std::string absolute_path(const ReadJson& object, std::string_view key) {
  std::string path = exact_text(object, key, kLongestPath);
  return path.starts_with('/') ? path : "";
}

}  // namespace

std::string format_heartbeat(const Heartbeat& heartbeat) {
  const bool began = heartbeat.process.pid != 0;
  const ProcessId& shown = began ? heartbeat.process : heartbeat.keeper;
  WriteJson json{
      {"pid", shown.pid},
      {"parent_heartbeat", heartbeat.parent_heartbeat},
      {"role", name_of(heartbeat.role)},
      {"started", rounded_seconds(heartbeat.started)},
      {"status", word(heartbeat.status)},
      {"boot_id", shown.boot_id},
      {"pid_ns", shown.pid_ns},
      {"start_ticks", shown.start_ticks},
      {"keeper_pid", heartbeat.keeper.pid},
      {"keeper_start_ticks", heartbeat.keeper.start_ticks},
      {"life", heartbeat.life},
      {"agent", name_of(heartbeat.agent)},
      {"session", name_of(heartbeat.session)},
      {"verdict", word(heartbeat.verdict)},
      {"phase", word(heartbeat.phase)},
      {"since", rounded_seconds(heartbeat.since)},
      {"because", because_json(heartbeat.because)},
      {"next", next_json(heartbeat)},
      {"budget", {{"spent", heartbeat.resumes_spent}, {"allowed", heartbeat.resumes_allowed}}},
      {"outcome", word(heartbeat.outcome)},
      {"ended_by", name_of(heartbeat.ended_by)},
      {"exit", exit_json(heartbeat.exit)},
      {"note", note_of(heartbeat.note)},
  };
  if (heartbeat.silent_since > 0) json["silent_since"] = rounded_seconds(heartbeat.silent_since);
  if (heartbeat.leaving) json["leaving"] = true;
  if (heartbeat.stays) json["stays"] = true;
  if (heartbeat.asks_parent) json["asks_parent"] = true;
  if (heartbeat.person_told) json["person_told"] = true;
  if (!heartbeat.work_phase.empty()) json["work_phase"] = name_of(heartbeat.work_phase);
  if (!heartbeat.task.empty()) json["task"] = cut_text(heartbeat.task, kLongestNote);
  if (heartbeat.children != 0) json["children"] = heartbeat.children;
  if (!heartbeat.divergence.empty()) json["divergence"] = note_of(heartbeat.divergence);
  if (heartbeat.degraded_since > 0) json["degraded"] = rounded_seconds(heartbeat.degraded_since);
  return to_line(json) + "\n";
}

Result<Heartbeat> parse_heartbeat(std::string_view text) {
  if (text.size() > kLargestHeartbeat) return fail("the heartbeat is larger than 64 KB");
  const auto object = parse_object(text, kLargestHeartbeat);
  if (!object) return fail("the heartbeat is no JSON object");
  Heartbeat heartbeat{
      .agent = shown_text(*object, "agent", kLongestName),
      .session = shown_text(*object, "session", kLongestName),
      .role = shown_text(*object, "role", kLongestName),
      .parent_heartbeat = absolute_path(*object, "parent_heartbeat"),
      .status = word_field<Status>(*object, "status", kStatusWords).value_or(Status::starting),
      .started = calendar_field(*object, "started"),
      .life = static_cast<std::uint32_t>(whole_number(*object, "life", kMostU32)),
      .verdict = word_field<Verdict>(*object, "verdict", kVerdictWords).value_or(Verdict::unknown),
      .phase = word_field<Phase>(*object, "phase", kPhaseWords).value_or(Phase::start),
      .since = calendar_field(*object, "since"),
      .silent_since = calendar_field(*object, "silent_since"),
      .because = read_because(*object),
      .outcome = word_field<WorkOutcome>(*object, "outcome", kWorkOutcomeWords)
                     .value_or(WorkOutcome::none),
      .ended_by = shown_text(*object, "ended_by", kLongestName),
      .exit = read_exit(*object),
      .note = shown_text(*object, "note", kLongestNote),
      .leaving = flag_field(*object, "leaving"),
      .stays = flag_field(*object, "stays"),
      .asks_parent = flag_field(*object, "asks_parent"),
      .person_told = flag_field(*object, "person_told"),
      .work_phase = shown_text(*object, "work_phase", kLongestName),
      .task = shown_text(*object, "task", kLongestNote),
      .children = static_cast<std::uint32_t>(whole_number(*object, "children", kMostU32)),
      .divergence = shown_text(*object, "divergence", kLongestNote),
      .degraded_since = calendar_field(*object, "degraded"),
  };
  read_processes(*object, heartbeat);
  read_next(*object, heartbeat);
  read_budget(*object, heartbeat);
  return heartbeat;
}

Result<std::optional<Heartbeat>> read_heartbeat(Folder& folder) {
  const std::string name(kHeartbeatFile);
  const auto text = folder.read(name, kLargestHeartbeat);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto heartbeat = parse_heartbeat(**text);
  if (!heartbeat) {
    return fail(on_one_line(folder.path()) + "/" + name + ": " + heartbeat.error().text);
  }
  return *std::move(heartbeat);
}

}  // namespace tend
