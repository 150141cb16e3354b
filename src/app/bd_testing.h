// For tests of `bd`: a home on a simulated machine, and both programs beside it.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/bd_program.h"
#include "app/command.h"
#include "app/dispatch.h"
#include "os/sim/sim_world.h"

namespace tend {

struct BdAnswer {
  int exit = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
  /// The issue of an array of one.
  [[nodiscard]] nlohmann::json issue() const {
    const nlohmann::json all = json();
    return all.is_array() && all.size() == 1 ? all[0] : nlohmann::json::object();
  }
  /// The ids of an array.
  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const auto& issue : json()) all.push_back(issue.value("id", ""));
    return all;
  }
};

class BdHome {
 public:
  static constexpr const char* kHome = "/home/user/tend";

  BdAnswer bd(const std::vector<std::string_view>& words) {
    return run([&](World& world) { return bd_program(words, world); });
  }
  BdAnswer tend(const std::vector<std::string_view>& words) {
    return run([&](World& world) { return dispatch(commands(), words, world); });
  }

  SimUniverse universe;
  std::map<std::string, std::string> variables{{"TEND_HOME", kHome}, {"USER", "me"}};
  std::map<std::string, std::string> files;
  bool terminal = false;

 private:
  template <class Program>
  BdAnswer run(Program program) {
    SimWorld sim(universe);
    sim.environment.variables = variables;
    sim.files.contents = files;
    sim.err.terminal = terminal;
    World world = sim.world();
    const int exit = program(world);
    return {exit, sim.out.text, sim.err.text};
  }
};

}  // namespace tend
