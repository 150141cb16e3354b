// Several agents in one home: what is judged of one depends on how the others are.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Fleet {
 public:
  /// The first `only_reported` of them are left as they are when they hang.
  explicit Fleet(bool direct, int only_reported = 0, int size = 5) : size_(size) {
    policy = *built_in_policy("agent");
    policy.limits.model = 100s;
    policy.direct = direct;
    for (int i = 0; i < size_; ++i) {
      AgentFile agent;
      agent.agent = "worker-" + std::to_string(i);
      agent.session = "s" + std::to_string(i);
      agent.command = {"worker"};
      agent.working_folder = "/home/user";
      agent.policy = "agent";
      agent.restart = RestartPolicy::on_failure;
      if (i < only_reported) agent.on_stall = OnStall::report;
      universe.disk.write(folder(i) + "/agent.json", format_agent_file(agent));
      universe.start_program("keeper", [this, i, agent](Machine& machine) -> std::shared_ptr<void> {
        auto kept = std::make_shared<Keeper>(
            machine, machine.folders.open(folder(i)).value(),
            machine.folders.open(Kept::kHome).value(),
            KeeperSettings{
                .agent = agent, .policy = policy, .environment = {}, .runtime_folder = ""});
        EXPECT_TRUE(kept->begin());
        return kept;
      });
    }
  }
  static std::string folder(int i) {
    return std::string(Kept::kHome) + "/sessions/s" + std::to_string(i);
  }
  [[nodiscard]] std::string journals() const {
    std::string all;
    for (int i = 0; i < size_; ++i) all += *universe.disk.read(folder(i) + "/journal.jsonl");
    return all;
  }
  [[nodiscard]] std::vector<std::string> verdicts() const {
    std::vector<std::string> all;
    for (int i = 0; i < size_; ++i) {
      const auto says = parse_heartbeat(*universe.disk.read(folder(i) + "/.heartbeat"));
      all.emplace_back(word(says->verdict));
    }
    return all;
  }

  SimUniverse universe;
  Policy policy;

 private:
  int size_;
};

TEST(KeeperFleet, silent_together_is_not_killed_and_a_person_is_told) {
  for (const bool direct : {false, true}) {
    Fleet fleet(direct);
    fleet.universe.behaviours["worker"] = hang;
    fleet.universe.run_for(30min);
    EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
    EXPECT_TRUE(fleet.universe.sent().empty());
    EXPECT_TRUE(fleet.journals().contains("\"action\":\"escalate\""));
  }
}

TEST(KeeperFleet, silent_for_a_while_works_on_unharmed) {
  Fleet fleet(false);
  fleet.universe.behaviours["worker"] = [](SimSelf& self) {
    hang(self);
    self.after(260s, [](SimSelf& me) { print_now_and_then(me); });
  };
  fleet.universe.run_for(20min);
  EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
  EXPECT_TRUE(fleet.universe.sent().empty());
  EXPECT_EQ(fleet.verdicts(), std::vector<std::string>(5, "working"));
}

TEST(KeeperFleet, that_fell_silent_at_other_times_is_not_silent_together) {
  Fleet fleet(false, 2);
  fleet.universe.behaviours["worker"] = [](SimSelf& self) {
    const auto name = self.variable("TEND_AGENT");
    if (name == "worker-0" || name == "worker-1") return hang(self);
    if (name != "worker-2" || self.variable("TEND_LIFE") != "1") return print_now_and_then(self);
    for (int i = 0; i < 60; ++i) {
      self.after(i * 60s, [i](SimSelf& me) { me.print(fmt::format("step {}\n", i)); });
    }
  };
  fleet.universe.run_for(80min);
  EXPECT_EQ(fleet.verdicts(),
            (std::vector<std::string>{"stalled", "stalled", "working", "working", "working"}));
  EXPECT_TRUE(fleet.journals().contains("\"action\":\"kill\""));
}

TEST(KeeperFleet, of_which_one_hangs_is_cured_of_it) {
  Fleet fleet(false);
  fleet.universe.behaviours["worker"] = [](SimSelf& self) {
    self.variable("TEND_AGENT") == "worker-3" ? hang_once(self) : print_now_and_then(self);
  };
  fleet.universe.run_for(10min);
  EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
  EXPECT_EQ(fleet.verdicts(), std::vector<std::string>(5, "working"));
  EXPECT_TRUE(fleet.journals().contains("\"action\":\"kill\""));
}

TEST(KeeperFleet, S23_three_of_four_that_hang_are_left_to_a_person_and_three_of_thirty_are_cured) {
  for (const int size : {4, 30}) {
    Fleet fleet(false, 0, size);
    fleet.universe.behaviours["worker"] = [](SimSelf& self) {
      const auto name = self.variable("TEND_AGENT");
      const bool is_one = name == "worker-0" || name == "worker-1" || name == "worker-2";
      is_one ? hang_once(self) : print_now_and_then(self);
    };
    fleet.universe.run_for(30min);
    EXPECT_EQ(fleet.journals().contains("\"action\":\"kill\""), size == 30) << size;
    EXPECT_EQ(fleet.journals().contains("\"action\":\"escalate\""), size == 4) << size;
    EXPECT_EQ(std::ranges::count(fleet.verdicts(), "working"), size == 30 ? 30 : 1) << size;
  }
}

}  // namespace
}  // namespace tend
