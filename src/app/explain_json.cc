// The same facts as one object; keys and units are those of docs/json.md.
#include <algorithm>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/explain_view.h"
#include "app/when.h"
#include "store/journal.h"
#include "store/json.h"

namespace tend {
namespace {

WriteJson sign_json(const SignAge& sign, bool agrees) {
  return {{"seen", sign.seen},
          {"age_s", sign.seen ? seconds_json(sign.age) : WriteJson(nullptr)},
          {"limit_s", seconds_json(sign.limit)},
          {"agrees", agrees}};
}

WriteJson optional_seconds(const std::optional<Duration>& duration) {
  return duration ? seconds_json(*duration) : WriteJson(nullptr);
}

WriteJson process_json(const Account& account) {
  return {{"state", account.process ? WriteJson(word(*account.process)) : WriteJson(nullptr)},
          {"exit", exit_json(account.exit)},
          {"agrees", account.planes.process}};
}

WriteJson self_json(const Account& account) {
  WriteJson state = nullptr;
  if (account.self) state = kSelfStateWords[static_cast<std::size_t>(*account.self)];
  return {{"state", std::move(state)},
          {"age_s", account.self ? seconds_json(account.self_age) : WriteJson(nullptr)},
          {"quiet_for_s", optional_seconds(account.quiet_for)},
          {"unanswered", account.pings_open},
          {"agrees", account.planes.self}};
}

WriteJson tools_json(const Account& account) {
  WriteJson list = WriteJson::array();
  for (const OpenTool& tool : account.tools) {
    list.push_back(
        {{"tool", tool.tool.shown()},
         {"sub_agent", tool.task.empty() ? WriteJson(nullptr) : WriteJson(tool.task.shown())},
         {"age_s", seconds_json(tool.age)},
         {"limit_s", seconds_json(tool.limit)},
         {"background", tool.background}});
  }
  return list;
}

WriteJson questions_json(const Account& account) {
  WriteJson list = WriteJson::array();
  for (const Name& question : account.questions) list.push_back(question.shown());
  const bool waits = !account.questions.empty() || account.credentials_refused;
  return {{"open", std::move(list)},
          {"credentials_refused", account.credentials_refused},
          {"age_s", waits ? seconds_json(account.person_age) : WriteJson(nullptr)}};
}

WriteJson hold_json(const Account& account) {
  if (!account.hold) return nullptr;
  return {{"cause", word(account.hold->cause)},
          {"age_s", seconds_json(account.hold->age)},
          {"to_go_s", optional_seconds(account.hold->to_go)},
          {"over", account.hold->over}};
}

WriteJson children_json(const Account& account) {
  WriteJson list = WriteJson::array();
  for (const KnownChild& child : account.children) {
    list.push_back({{"agent", child.name.shown()},
                    {"verdict", word(child.verdict)},
                    {"told_s", seconds_json(child.told)},
                    {"waits_for_parent", child.for_parent}});
  }
  return list;
}

WriteJson planes_json(const Account& account) {
  WriteJson names = WriteJson::array();
  const Planes& planes = account.planes;
  if (planes.process) names.push_back("process");
  if (planes.stream) names.push_back("stream");
  if (planes.beats) names.push_back("beats");
  if (planes.self) names.push_back("self");
  if (planes.children) names.push_back("children");
  return {{"agree", std::move(names)}, {"needed", account.planes_needed}};
}

WriteJson signs_json(const Account& account) {
  return {{"real", sign_json(account.real, false)},
          {"stream", sign_json(account.stream, account.planes.stream)},
          {"beats", sign_json(account.beats, account.planes.beats)},
          {"weak_age_s", optional_seconds(account.weak)},
          {"process", process_json(account)},
          {"self", self_json(account)},
          {"tools", tools_json(account)},
          {"questions", questions_json(account)},
          {"hold", hold_json(account)},
          {"children", children_json(account)},
          {"background", account.background},
          {"inbox", account.inbox},
          {"tasks", account.tasks},
          {"order", kWantWords[static_cast<std::size_t>(account.want)]},
          {"unfit", account.unfit.empty() ? WriteJson(nullptr) : WriteJson(account.unfit)},
          {"excused", account.excused},
          {"suspect_in_s", optional_seconds(account.suspect_in)}};
}

WriteJson next_json(const Explained& e) {
  WriteJson list = WriteJson::array();
  if (!e.standing || e.entry.over() || e.entry.keeper != KeeperIs::alive) return list;
  for (const Foreseen& one : e.standing->account.next) {
    const Decision& decision = one.decision;
    const bool is_action = decision.kind == Decision::Kind::action;
    const auto because = decision.because();
    list.push_back({{"in_s", seconds_json(one.in)},
                    {"at", calendar_json(e.now + one.in)},
                    {"kind", is_action ? "action" : "verdict"},
                    {"what", is_action ? word(decision.action) : word(decision.verdict)},
                    {"phase", word(decision.phase)},
                    {"why", because.empty() ? "" : describe(because.front())},
                    {"follows_kill", one.follows_kill},
                    {"not_done", one.but.empty() ? WriteJson(nullptr) : WriteJson(one.but)}});
  }
  return list;
}

WriteJson lately_json(const Explained& e) {
  constexpr std::array<std::string_view, 3> kKinds{"verdict", "action", "note"};
  WriteJson list = WriteJson::array();
  if (!e.standing) return list;
  for (const Remembered& one : e.standing->lately) {
    WriteJson phase = nullptr;
    if (!one.phase.empty()) phase = one.phase;
    WriteJson result = nullptr;
    if (!one.result.empty()) result = one.result;
    list.push_back({{"at", calendar_json(one.at)},
                    {"kind", kKinds[static_cast<std::size_t>(one.kind)]},
                    {"what", one.what},
                    {"phase", std::move(phase)},
                    {"why", one.why},
                    {"result", std::move(result)}});
  }
  return list;
}

}  // namespace

std::string explain_json(const Explained& e) {
  WriteJson json = agent_json(e.entry);
  const std::string folder = e.entry.known.folder->path();
  const std::string_view turn = turn_words(e.entry);
  json["turn"] = turn.empty() ? WriteJson(nullptr) : WriteJson(turn);
  json["policy"] = e.standing ? WriteJson(e.standing->policy) : WriteJson(nullptr);
  WriteJson signs = nullptr;
  WriteJson planes = nullptr;
  if (e.standing) {
    const Account& account = e.standing->account;
    signs = signs_json(account);
    planes = planes_json(account);
    const std::uint32_t done = std::max(e.entry.known.heartbeat.life, 1U) - 1;
    json["budget"] = {{"spent", std::min(account.spent, done)},
                      {"allowed", account.allowed},
                      {"spent_ever", std::min(account.spent_ever, done)},
                      {"allowed_ever", account.allowed_ever}};
  }
  json["signs"] = std::move(signs);
  json["planes"] = std::move(planes);
  json["foreseen"] = next_json(e);
  json["lately"] = lately_json(e);
  json["files"] = {{"stream", folder + "/" + kStreamFile},
                   {"stderr", folder + "/" + kErrorFile},
                   {"journal", folder + "/" + std::string(kJournalFile)}};
  if (!e.problem.empty()) json["problem"] = e.problem;
  return json_line(json);
}

}  // namespace tend
