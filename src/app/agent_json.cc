// Keys stand in the order of the contract, and none is ever left out.
#include "app/agent_json.h"

#include <cmath>

#include "app/task_view.h"
#include "app/when.h"
#include "store/json.h"

namespace tend {

nlohmann::ordered_json calendar_json(WallTime at) {
  if (at == WallTime{}) return nullptr;
  return std::round(calendar_seconds(at) * 1000) / 1000;
}

nlohmann::ordered_json seconds_json(Duration duration) {
  if (duration >= kNoLimit / 2) return nullptr;
  if (duration.count() % 1000 == 0) return duration.count() / 1000;
  return static_cast<double>(duration.count()) / 1000;
}

nlohmann::ordered_json exit_json(const Exit& exit) {
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

std::string json_line(const nlohmann::ordered_json& json) { return to_line(json) + "\n"; }

nlohmann::ordered_json agent_json(const Entry& entry, std::span<const Entry> all) {
  const Heartbeat& says = entry.known.heartbeat;
  const auto pid = [](const ProcessId& id) {
    return id.pid == 0 ? WriteJson(nullptr) : WriteJson(id.pid);
  };
  const auto or_null = [](const std::string& text) {
    return text.empty() ? WriteJson(nullptr) : WriteJson(text);
  };
  WriteJson parent = nullptr;
  if (entry.parent && *entry.parent < all.size()) {
    parent = all[*entry.parent].known.folder->path();
  } else if (!says.parent_heartbeat.empty()) {
    parent = says.parent_heartbeat.substr(0, says.parent_heartbeat.rfind('/'));
  }
  WriteJson next = nullptr;
  if (!entry.next.empty()) next = {{"what", entry.next}, {"at", calendar_json(entry.next_at)}};
  WriteJson because = WriteJson::array();
  for (const std::string& reason : entry.because) because.push_back(reason);
  const bool looked = !entry.over() && entry.keeper != KeeperIs::alive;
  constexpr std::array<std::string_view, 6> kRunWords = kProcessStateWords;
  return {
      {"agent", says.agent},
      {"session", says.session},
      {"role", says.role},
      {"verdict", word(entry.verdict)},
      {"phase", word(entry.phase)},
      {"since", calendar_json(entry.since)},
      {"because", std::move(because)},
      {"pid", pid(says.process)},
      {"keeper_pid", pid(says.keeper)},
      {"life", says.life},
      {"parent", std::move(parent)},
      {"folder", entry.known.folder ? WriteJson(entry.known.folder->path()) : WriteJson(nullptr)},
      {"budget", {{"spent", says.resumes_spent}, {"allowed", says.resumes_allowed}}},
      {"next", std::move(next)},
      {"group", kGroupWords[static_cast<std::size_t>(entry.group)]},
      {"state", entry.state},
      {"why", entry.why},
      {"to_do", or_null(entry.to_do)},
      {"status", kStatusWords[static_cast<std::size_t>(says.status)]},
      {"outcome", kWorkOutcomeWords[static_cast<std::size_t>(says.outcome)]},
      {"ended_by", or_null(says.ended_by)},
      {"exit", exit_json(says.exit)},
      {"note", or_null(says.note)},
      {"task", entry.task ? task_of_agent_json(*entry.task) : WriteJson(nullptr)},
      {"last_beat", calendar_json(entry.known.last_beat)},
      {"keeper", kKeeperWords[static_cast<std::size_t>(entry.keeper)]},
      {"process",
       looked ? WriteJson(kRunWords[static_cast<std::size_t>(entry.process)]) : WriteJson(nullptr)},
      {"problem", or_null(entry.known.problem)},
  };
}

}  // namespace tend
