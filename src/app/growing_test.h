// For tests of the commands that grow trees, bring their work home and bring them back: a family on
// a simulated machine, and `tend` outside of it or inside one of its agents.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/reading_test.h"
#include "run/family_test.h"

namespace tend {

/// A process of the universe that stands below another one.
class MachinesBelow final : public Machines {
 public:
  MachinesBelow(SimUniverse& universe, const Environment& environment, SimStart start)
      : universe_(universe), environment_(environment), start_(std::move(start)) {}
  Machine& machine() override {
    if (pid_ == 0) {
      start_.environment = environment_.all();
      pid_ = universe_.start_process("tend", start_);
    }
    return universe_.machine_of(pid_);
  }

 private:
  SimUniverse& universe_;
  const Environment& environment_;
  SimStart start_;
  std::int64_t pid_ = 0;
};

class Growing : public testing::Test {
 protected:
  using Words = std::vector<std::string_view>;
  using Variables = std::map<std::string, std::string>;

  /// As a person types it.
  Answer tend(const Words& words) { return tend_below(1, words, {}); }
  /// As a tool of this agent calls it.
  Answer tend_in(const std::string& agent, const Words& words) {
    return tend_below(family.agents(agent).front(), words, variables_of(agent));
  }
  Answer tend_below(std::int64_t parent, const Words& words, Variables variables) {
    SimWorld sim(universe);
    variables.insert({{"TEND_HOME", Family::kHome}, {"PATH", "/bin"}, {"HOME", "/home/user"}});
    sim.environment.variables = std::move(variables);
    MachinesBelow machines(universe, sim.environment,
                           {.environment = {}, .working_folder = working_folder, .parent = parent});
    World world{sim.files, sim.out, sim.err, sim.environment, machines, sim.caller};
    const int exit = dispatch(commands(), words, world);
    return {exit, sim.out.text, sim.err.text};
  }
  [[nodiscard]] Variables variables_of(const std::string& agent) const {
    return {{"TEND_INFRA", family.folders.at(agent)},
            {"TEND_LIFE", std::to_string(family.heartbeat(agent).life)},
            {"TEND_AGENT", agent}};
  }

  void start_lead() {
    family.root("lead");
    universe.run_for(std::chrono::seconds{5});
  }
  /// The children of an agent as its registry has them: "coder requested".
  std::vector<std::string> children_of(const std::string& agent) {
    const auto folder = universe.machine().folders.open(family.folders.at(agent));
    std::vector<std::string> lines;
    const auto registry = read_children(**folder);
    for (const ChildLine& line : registry->children) {
      lines.push_back(line.agent + " " +
                      std::string(kChildStatusWords[static_cast<std::size_t>(line.status)]));
    }
    return lines;
  }
  /// The family knows from now on where it is.
  void know(const std::string& name) {
    const std::string file = std::string(Family::kHome) + "/names/" + name;
    std::string path = universe.disk.read(file).value_or("");
    if (path.ends_with('\n')) path.pop_back();
    family.folders[name] = path;
  }
  static void expect_refused(const Answer& answer, int exit, const std::string& line) {
    EXPECT_EQ(answer.exit, exit);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(answer.err, line + "\n");
  }

  Family family;
  SimUniverse& universe = family.universe;
  std::string working_folder = "/home/user";  // of the commands
};

}  // namespace tend
