// What each preset stands for, and how it is laid together with what people wrote.
#include "store/foreign/foreign_agent.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "store/config.h"
#include "store/foreign/gas_town.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// One system: where its stores are, and its own figures.
class PresetStores {
 public:
  PresetStores(const ForeignSetting& setting, ForeignAgent& agent)
      : setting_(setting), agent_(agent) {}

  void add() {
    switch (*setting_.preset) {
      case Preset::gastown:
        return gastown();
      case Preset::teaparty:
        return teaparty();
      case Preset::zylos:
        return zylos();
      case Preset::hyrm:
        return hyrm();
    }
  }

 private:
  /// The deacon has stores of its own beside that of every session; its label is refreshed only
  /// when it is older than half the limit.
  void gastown() {
    const bool is_deacon = agent_.name == "deacon";
    limits(is_deacon ? 5min : 3min, is_deacon ? 20min : 30min);
    const std::string root = root_or("~/gt");
    const std::string session = setting_.session.empty() ? "hq-" + agent_.name : setting_.session;
    if (is_deacon) {
      AgentStore beat =
          file("file", StoreKind::json_time, root + "/deacon/heartbeat.json", "timestamp");
      beat.counter = "cycle";
      both(beat);
      AgentStore legacy = file("legacy", StoreKind::mtime, root + "/deacon/.deacon-heartbeat", "");
      legacy.may_lag = true;
      both(legacy);
    }
    AgentStore state = file("session", StoreKind::session_state,
                            root + "/.runtime/heartbeats/" + session + ".json", "");
    state.believed = true;
    both(state);
    if (is_deacon) {
      AgentStore label = named("label", StoreKind::label);
      label.store = deacon_label(root);
      label.may_lag = true;
      agent_.sources.push_back(label);
      label.refresh_after = agent_.stale / 2;
      agent_.sinks.push_back(label);
    }
    tmux(session);
    agent_.poke = {"gt", "nudge", agent_.name,
                   "HEALTH_CHECK: heartbeat stale, respond to confirm responsiveness"};
  }

  void teaparty() {
    limits(2min, 5min);
    AgentStore folder = file("heartbeat", StoreKind::heartbeat_dir, setting_.root, "");
    folder.believed = true;
    both(folder);
  }

  /// Its monitor writes the status every second, whatever the agent does: what counts is when it
  /// saw the agent move. The other file is written by hooks of the agent.
  void zylos() {
    limits(10min, 30min);
    const std::string folder = root_or("~/zylos") + "/activity-monitor/";
    AgentStore status =
        file("status", StoreKind::json_time, folder + "agent-status.json", "last_activity");
    status.believed = true;
    agent_.sources.push_back(status);
    AgentStore hooks =
        file("hooks", StoreKind::json_time, folder + "api-activity.json", "updated_at");
    hooks.may_lag = true;
    agent_.sources.push_back(hooks);
    tmux(setting_.session.empty() ? "claude-main" : setting_.session);
  }

  void hyrm() {
    limits(2min, 210s);
    const std::string folder = root_or("/app/workspace") + "/memory/";
    const std::string role = agent_.name;
    AgentStore registry = file("registry", StoreKind::registry, folder + "agent-registry.json",
                               fmt::format("agents[assigned_role={}].last_heartbeat", role));
    registry.believed = true;
    registry.store.locked = true;
    both(registry);
    if (role != "orchestrator") return;
    AgentStore lease = file("lease", StoreKind::lease_file, folder + "orchestrator-state.json", "");
    lease.store.locked = true;
    both(lease);
  }

  void limits(Duration stale, Duration very_stale) {
    agent_.stale = setting_.stale.value_or(stale);
    const Duration longer = std::max(very_stale, agent_.stale * 2);
    agent_.very_stale = setting_.very_stale.value_or(setting_.stale ? longer : very_stale);
  }
  [[nodiscard]] std::string root_or(std::string_view usual) const {
    std::string root = setting_.root.empty() ? std::string(usual) : setting_.root;
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    return root;
  }
  static AgentStore named(std::string_view name, StoreKind kind) {
    AgentStore store;
    store.name = name;
    store.store.kind = kind;
    return store;
  }
  static AgentStore file(std::string_view name, StoreKind kind, std::string path,
                         std::string field) {
    AgentStore store = named(name, kind);
    store.store.path = std::move(path);
    store.store.field = std::move(field);
    return store;
  }
  void both(const AgentStore& store) {
    agent_.sources.push_back(store);
    agent_.sinks.push_back(store);
  }
  void tmux(const std::string& session) {
    AgentStore store = named("tmux", StoreKind::tmux);
    store.store.session = session;
    agent_.sources.push_back(store);
  }

  const ForeignSetting& setting_;
  ForeignAgent& agent_;
};

void expand(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

void expand_path(std::string& path, std::string_view name, std::string_view user_home) {
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, user_home);
  expand(path, "{agent}", name);
}

/// One that people wrote stands for one of the preset that has the same name.
void put(std::vector<AgentStore>& into, const AgentStore& store) {
  const auto same = std::ranges::find(into, store.name, &AgentStore::name);
  if (same == into.end()) {
    into.push_back(store);
  } else {
    *same = store;
  }
}

void take_written(const std::vector<AgentStore>& written, std::string_view name,
                  std::string_view role, std::vector<AgentStore>& into) {
  for (const AgentStore& store : written) {
    if (!store.role.empty() && store.role == role) put(into, store);
  }
  for (const AgentStore& store : written) {
    if (store.agent == name) put(into, store);
  }
}

}  // namespace

std::vector<std::string> foreign_names(const Config& config) {
  std::set<std::string> names;
  for (const auto& [name, setting] : config.stores) names.insert(name);
  for (const AgentStore& store : config.sources) {
    if (!store.agent.empty()) names.insert(store.agent);
  }
  return {names.begin(), names.end()};
}

ForeignAgent foreign_agent(const Config& config, std::string_view name, std::string_view role,
                           std::string_view user_home) {
  ForeignAgent agent;
  agent.name = name;
  const auto found = config.stores.find(name);
  const ForeignSetting setting = found == config.stores.end() ? ForeignSetting{} : found->second;
  if (setting.preset) {
    PresetStores(setting, agent).add();
  } else {
    agent.stale = setting.stale.value_or(agent.stale);
    agent.very_stale = setting.very_stale.value_or(4 * agent.stale);
  }
  if (setting.poke) agent.poke = *setting.poke;
  agent.poke_after = setting.poke_after.value_or(agent.very_stale);
  agent.kill = setting.kill;
  take_written(config.sources, name, role, agent.sources);
  take_written(config.sinks, name, role, agent.sinks);
  for (std::vector<AgentStore>* const list : {&agent.sources, &agent.sinks}) {
    for (AgentStore& store : *list) {
      store.stale = store.stale.value_or(agent.stale);
      expand_path(store.store.path, name, user_home);
      expand(store.store.session, "{agent}", name);
      expand(store.id, "{agent}", name);
      expand_path(store.store.folder, name, user_home);
      for (std::string& each : store.store.environment)
        expand(each, "=~/", "=" + std::string(user_home) + "/");
      for (std::string& each : store.store.command) expand(each, "{agent}", name);
      for (std::string& each : store.store.set) expand(each, "{agent}", name);
    }
  }
  for (std::string& each : agent.poke) expand(each, "{agent}", name);
  return agent;
}

}  // namespace tend
