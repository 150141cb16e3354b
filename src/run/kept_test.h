// One kept agent on a simulated machine, for tests of the keeper: its files, its keeper, and short
// words for what tests ask about them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "os/sim/sim_universe.h"
#include "run/keeper.h"
#include "store/agent_file.h"
#include "store/heartbeat.h"
#include "store/intent.h"

namespace tend {

class Kept {
 public:
  static constexpr const char* kHome = "/home/user/tend";
  static constexpr const char* kFolder = "/home/user/tend/sessions/s1";

  explicit Kept(std::uint64_t seed = 1) : universe(seed) {
    agent.agent = "worker-s1";
    agent.session = "s1";
    agent.role = "worker";
    agent.command = {"worker"};
    agent.working_folder = "/home/user";
    agent.adapter = AdapterKind::lines;
    agent.restart = RestartPolicy::never;
    policy = *built_in_policy("plain");
    universe.disk.make_folder(kFolder);
    universe.disk.make_folder("/home/user");
  }

  /// Policy `agent`, brought back when it fails.
  void be_patient_as_with_an_agent() {
    policy = *built_in_policy("agent");
    agent.policy = "agent";
    agent.restart = RestartPolicy::on_failure;
  }

  /// Writes the agent's file and starts a keeper, which runs when the universe does.
  std::int64_t start_keeper() {
    universe.disk.write(path("agent.json"), format_agent_file(agent));
    keeper = universe.start_program("keeper", [this](Machine& machine) -> std::shared_ptr<void> {
      auto folder = machine.folders.open(kFolder);
      auto home = machine.folders.open(kHome);
      if (!folder || !home) throw std::runtime_error("no folder: " + folder.error().text);
      KeeperSettings settings{.agent = agent,
                              .policy = policy,
                              .environment = {"PATH=/bin"},
                              .runtime_folder = "/home/user"};
      auto kept = std::make_shared<Keeper>(machine, *std::move(folder), *std::move(home),
                                           std::move(settings));
      const auto began = kept->begin();
      problem = began ? "" : began.error().text;
      if (!began || *began != Keeper::Began::keeping) machine.loop.stop();
      return kept;
    });
    return keeper;
  }

  [[nodiscard]] static std::string path(const std::string& name) {
    return std::string(kFolder) + "/" + name;
  }
  [[nodiscard]] Heartbeat heartbeat() const {
    const auto text = universe.disk.read(path(".heartbeat"));
    if (!text) return {};
    return parse_heartbeat(*text).value_or(Heartbeat{});
  }
  [[nodiscard]] bool over() const { return is_terminal(heartbeat().status); }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return universe.disk.read(path(name)).value_or("");
  }
  /// The lines of the journal that say one thing: `what` is "action", "verdict", "did" or "note".
  [[nodiscard]] std::vector<std::string> journal(const std::string& what) const {
    std::vector<std::string> found;
    std::istringstream lines(text_of("journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.contains(what) && !json.contains("trace") &&
          json[what].is_string()) {
        found.push_back(json[what]);
      }
    }
    return found;
  }
  [[nodiscard]] int count(const std::string& what, const std::string& word) const {
    const auto all = journal(what);
    return static_cast<int>(std::count(all.begin(), all.end(), word));
  }
  void say(const Intent& intent) {
    Machine& machine = universe.machine();
    auto folder = machine.folders.open(kFolder);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_intent(**folder, intent));
  }
  [[nodiscard]] std::vector<std::int64_t> workers() const { return universe.pids("worker"); }

  SimUniverse universe;
  AgentFile agent;
  Policy policy;
  std::int64_t keeper = 0;
  std::string problem;
};

}  // namespace tend
