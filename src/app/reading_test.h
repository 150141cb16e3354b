// For tests of the commands that read: a kept agent on a simulated machine, and `tend` beside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/dispatch.h"
#include "os/sim/sim_world.h"
#include "run/kept_test.h"

namespace tend {

struct Answer {
  int exit = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
  [[nodiscard]] bool has(std::string_view text) const {
    return out.find(text) != std::string::npos;
  }
};

class Reading : public Kept {
 public:
  /// Runs one command to its end. With `interrupt_after`, Ctrl-C comes then.
  Answer tend(const std::vector<std::string_view>& words,
              std::optional<Duration> interrupt_after = std::nullopt) {
    SimWorld sim(universe);
    sim.environment.variables = variables;
    sim.environment.variables["TEND_HOME"] = kHome;
    sim.files.contents["-"] = input;
    sim.out.terminal = terminal;
    sim.out.width = width;
    if (interrupt_after) {
      const std::int64_t pid = sim.machines.pid();
      universe.after(*interrupt_after, [this, pid] { universe.order(pid, Order::interrupt); });
    }
    World world = sim.world();
    const int exit = dispatch(commands(), words, world);
    return {exit, sim.out.text, sim.err.text};
  }

  /// An agent that prints a line a second.
  void start_worker() {
    universe.behaviours["worker"] = [](SimSelf& self) {
      self.every(std::chrono::seconds{1},
                 [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
    };
    start_keeper();
  }

  std::map<std::string, std::string> variables;
  std::string input;  // what comes from standard input
  bool terminal = false;
  int width = 80;
};

}  // namespace tend
