// An agent of another system on a simulated machine, for tests of its keeper: its stores, laid out
// as those systems lay them out, and short words for what tests ask about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "judge/stores.h"
#include "run/kept_test.h"
#include "store/foreign/foreign_agent.h"
#include "store/foreign/foreign_time.h"

namespace tend {

class KeptStores : public testing::Test {
 protected:
  KeptStores() {
    kept.agent.agent = "deacon";
    kept.agent.command.clear();
    kept.agent.store = "deacon";
    kept.agent.adapter = AdapterKind::none;
    kept.agent.on_stall = OnStall::report;
    universe.behaviours["foreign"] = [](SimSelf&) {};
    universe.answers["tell-me"] = {};
    universe.answers["gt"] = {};
    kept.config.channels = {{.name = "mail", .command = {"tell-me"}}};
  }

  // ---- Gas Town

  void be_gas_town() {
    ForeignSetting setting;
    setting.preset = Preset::gastown;
    setting.root = "/town";
    kept.config.stores["deacon"] = setting;
    universe.on_run = [this](const tend::Run& run) { return answer(run); };
  }
  std::optional<SimAnswer> answer(const tend::Run& run) const {
    if (run.command.front() == "bd") {
      return SimAnswer{.output = fmt::format(R"([{{"labels":["heartbeat:{}"]}}])", label_)};
    }
    if (run.command.front() != "tmux") return std::nullopt;
    if (painted_ == 0) return SimAnswer{.exit = {ExitStatus::How::code, 1}};
    return SimAnswer{.output = fmt::format("{} {}\n", painted_, pane_)};
  }
  void write_file() {
    universe.disk.write("/town/deacon/heartbeat.json",
                        fmt::format("{{\n  \"timestamp\": \"{}\",\n  \"cycle\": 7\n}}\n", now()));
  }
  void write_session(std::string_view state = "working") {
    universe.disk.write("/town/.runtime/heartbeats/hq-deacon.json",
                        fmt::format(R"({{"timestamp":"{}","state":"{}"}})", now(), state));
  }
  void write_label() { label_ = seconds(); }
  void paint() { painted_ = seconds(); }

  // ---- TeaParty and Hyrm

  void be_teaparty() {
    ForeignSetting setting;
    setting.preset = Preset::teaparty;
    setting.root = "/job";
    kept.config.stores["deacon"] = setting;
  }
  void write_heartbeat(std::int64_t pid, std::string_view status = "running") {
    universe.disk.write("/job/.heartbeat",
                        fmt::format(R"({{"pid":{},"parent_heartbeat":"","role":"coding",)"
                                    R"("started":{:.3f},"status":"{}"}})",
                                    pid, started(pid), status));
  }
  void be_hyrm() {
    kept.agent.agent = "orchestrator";
    kept.agent.store = "orchestrator";
    ForeignSetting setting;
    setting.preset = Preset::hyrm;
    setting.root = "/app";
    kept.config.stores["orchestrator"] = setting;
  }
  [[nodiscard]] std::string entry(const std::string& id, std::int64_t pid,
                                  std::string_view status = "working") {
    return fmt::format(R"({{"agent_id":"{}","assigned_role":"orchestrator","pid":{},)"
                       R"("last_heartbeat":"{}","status":"{}"}})",
                       id, pid, now(), status);
  }
  void write_registry(const std::vector<std::string>& entries) {
    universe.disk.write("/app/memory/agent-registry.json",
                        fmt::format(R"({{"agents":[{}]}})", fmt::join(entries, ",")));
  }
  void write_lease(const std::string& leader) {
    universe.disk.write(
        "/app/memory/orchestrator-state.json",
        fmt::format(
            R"({{"leader_id":"{}","leader_epoch":9,"last_heartbeat":"{}","ttl_ms":180000}})",
            leader, now()));
  }

  // ---- Zylos, and one of its own kind

  void be_zylos() {
    ForeignSetting setting;
    setting.preset = Preset::zylos;
    setting.root = "/z";
    kept.config.stores["deacon"] = setting;
    universe.on_run = [this](const tend::Run& run) { return answer(run); };
  }
  void write_status(std::string_view state, std::int64_t moved) {
    universe.disk.write("/z/activity-monitor/agent-status.json",
                        fmt::format("{{\n  \"state\": \"{}\",\n  \"last_activity\": {},\n"
                                    "  \"last_check\": {}\n}}\n",
                                    state, moved, seconds()));
  }
  /// As its monitor writes it every second, whatever became of the agent.
  void write_offline() {
    universe.disk.write("/z/activity-monitor/agent-status.json",
                        fmt::format("{{\n  \"state\": \"offline\",\n  \"since\": {},\n"
                                    "  \"not_running_seconds\": 60\n}}\n",
                                    seconds() - 60));
  }
  /// A registry that names a process, and a file that does not.
  void be_two_stores() {
    kept.config.stores["deacon"] = {};
    AgentStore registry;
    registry.name = "registry";
    registry.agent = "deacon";
    registry.store.kind = StoreKind::registry;
    registry.store.path = "/x/registry.json";
    registry.store.field = "agents[name=x].beat";
    AgentStore file = registry;
    file.name = "file";
    file.store.kind = StoreKind::json_time;
    file.store.path = "/x/file.json";
    file.store.field = "beat";
    kept.config.sources = {registry, file};
  }
  void write_entry(std::int64_t pid, const std::string& more = "") {
    universe.disk.write(
        "/x/registry.json",
        fmt::format(R"({{"agents":[{{"name":"x","pid":{},"beat":"{}"{}}}]}})", pid, now(), more));
  }
  void write_beat() {
    universe.disk.write("/x/file.json", fmt::format(R"({{"beat":"{}"}})", now()));
  }

  // ---- All

  std::int64_t start_foreign() {
    Launch launch;
    launch.command = {"foreign"};
    return universe.start_command(launch);
  }
  double started(std::int64_t pid) {
    const auto id = universe.machine().processes.identify(pid);
    return id && *id ? universe.machine().processes.started(**id) : 1'700'000'000;
  }
  [[nodiscard]] std::int64_t seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(universe.wall().time_since_epoch())
        .count();
  }
  [[nodiscard]] std::string now() const {
    return format_foreign_time(universe.wall(), TimeStyle{.decimals = 9});
  }

  void watch() {
    const ForeignAgent agent = foreign_agent(kept.config, kept.agent.store, "", "/home/user");
    const auto poke_after = agent.poke.empty() ? std::nullopt : std::optional(agent.poke_after);
    kept.policy = policy_of_stores({agent.stale, agent.very_stale}, poke_after, agent.kill);
    if (agent.kill) kept.agent.on_stall = OnStall::kill;
    kept.start_keeper();
    universe.run_for(std::chrono::seconds{1});
    ASSERT_EQ(kept.problem, "");
  }
  /// Runs on, and does something every half minute.
  void run_for(Duration time, const std::function<void()>& beat = nullptr) {
    constexpr Duration kStep = std::chrono::seconds{30};
    for (Duration done{}; done < time; done += kStep) {
      if (beat) beat();
      universe.run_for(std::min(kStep, time - done));
    }
  }
  [[nodiscard]] std::string verdict() const { return std::string(word(kept.heartbeat().verdict)); }
  [[nodiscard]] std::string events() const {
    return universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  }
  /// How often people were told, by what the notice says.
  [[nodiscard]] int told(std::string_view words) const {
    int count = 0;
    for (const auto& run : universe.ran()) {
      count += int{run.command.front() == "tell-me" && run.input.contains(words)};
    }
    return count;
  }
  [[nodiscard]] int ran(std::string_view program) const {
    int count = 0;
    for (const auto& run : universe.ran()) count += int{run.command.front() == program};
    return count;
  }
  void expect_nobody_was_ended() {
    EXPECT_TRUE(universe.sent().empty() ||
                std::ranges::none_of(universe.sent(), [&](const SimSent& sent) {
                  return sent.kill == Kill::terminate || sent.kill == Kill::interrupt ||
                         (sent.kill == Kill::kill && sent.from != 0);
                }));
    kept.check_replay();
  }

  Kept kept;
  SimUniverse& universe = kept.universe;
  std::int64_t label_ = 0;
  std::int64_t painted_ = 0;
  std::int64_t pane_ = 0;
};

}  // namespace tend
