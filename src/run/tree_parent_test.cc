// Keepers in a tree, from the child's side: a parent that dies, comes back, or does not.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class TreeParent : public FamilyTest {
 protected:
  /// The lead and its keeper die, with nobody above to bring them back.
  void lose_lead() {
    family.kill_both("lead");
    universe.run_for(100ms);
  }
  /// For a child that is saved before it is killed.
  void have_work(const std::string& child) {
    family.have_repository();
    family.change = [child](AgentFile& file) {
      if (file.agent == child) file.worktree = Family::kWork;
    };
  }
  /// What was decided about it, in this order, without what is only said.
  Words deeds(const std::string& name) {
    Words words;
    for (const auto& line : family.journal(name, {})) {
      if (!line.contains("action")) continue;
      const std::string action = line["action"];
      if (action == "preserve" || action == "kill" || action == "adopt" || action == "resume") {
        words.push_back(action);
      }
    }
    return words;
  }
};

// --- A keeper that is missing --------------------------------------------------------------------

TEST_F(TreeParent, whose_keeper_died_gets_one_new_keeper_from_its_children) {
  grow({"coder", "tester", "writer"});
  const auto lead = family.agents("lead");
  family.kill_keepers("lead");
  universe.run_for(1s);
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.keepers_started("lead"), 1 + 3) << "each child's keeper cares, one is taken";
  EXPECT_EQ(family.agents("lead"), lead);
  universe.run_for(10min);
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  for (const char* name : {"coder", "tester", "writer"}) {
    EXPECT_EQ(family.heartbeat(name).life, 1U);
    EXPECT_FALSE(family.heartbeat(name).leaving);
    EXPECT_EQ(family.decided(name, "adopt"), 0) << "it was never gone";
  }
  family.check();
}

TEST_F(TreeParent, stale_heartbeat_detection_also_finds_the_hung_keeper_above) {
  grow({"coder"});
  const auto hung = family.keepers("lead").front();
  const auto lead = family.agents("lead");
  universe.pause(hung);
  universe.run_for(115s);
  EXPECT_TRUE(universe.runs(hung));
  universe.run_for(100s);
  EXPECT_FALSE(universe.runs(hung));
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.agents("lead"), lead);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  family.check();
}

TEST_F(TreeParent, that_cannot_be_looked_at_is_not_taken_for_dead) {
  grow({"coder"});
  universe.looking_fails = "Permission denied";
  family.kill_keepers("lead");
  universe.run_for(10min);
  universe.looking_fails.clear();
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  universe.run_for(1min);
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
}

// --- A parent that is gone -----------------------------------------------------------------------

TEST_F(TreeParent, parent_death_detection_lets_a_new_parent_adopt_within_120s) {
  grow({"coder"});
  const auto coder = family.agents("coder");
  lose_lead();
  EXPECT_TRUE(family.events().contains("its parent is gone, keeper and agent"));
  universe.run_for(110s);
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  family.put_keeper_on("lead");
  universe.run_for(1min);
  EXPECT_EQ(deeds("coder"), Words{"adopt"});
  EXPECT_TRUE(family.events().contains("its parent is back and keeps it"));
  universe.run_for(30min);
  EXPECT_EQ(family.agents("coder"), coder) << "it is undisturbed";
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  EXPECT_EQ(family.heartbeat("lead").life, 2U);
  EXPECT_EQ(family.last_told("lead", "coder"), "working");
  EXPECT_EQ(deeds("coder"), Words{"adopt"});
  family.check();
}

TEST_F(TreeParent, parent_death_detection_ends_an_orphan_after_its_grace_with_its_work_saved) {
  have_work("coder");
  grow({"coder"});
  universe.disk.write(std::string(Family::kWork) + "/a", "2");
  lose_lead();
  const auto coder = family.agents("coder").front();
  universe.run_for(115s);
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  universe.run_for(10s);
  EXPECT_TRUE(family.heartbeat("coder").leaving);
  EXPECT_EQ(family.verdict("coder"), "orphaned");
  EXPECT_TRUE(universe.runs(coder));
  universe.run_for(50s);
  EXPECT_TRUE(universe.runs(coder)) << "60 s of grace";
  universe.run_for(20s);
  EXPECT_FALSE(universe.runs(coder));
  EXPECT_EQ(deeds("coder"), (Words{"preserve", "kill"}));
  const auto& refs = universe.repositories[Family::kWork].refs;
  ASSERT_EQ(refs.size(), 1U);
  EXPECT_EQ(refs.begin()->second.files.at("a"), "2");
  EXPECT_EQ(family.outcome("coder"), "orphaned");
  EXPECT_EQ(family.heartbeat("coder").ended_by, "its parent was gone");
  EXPECT_TRUE(family.keepers("coder").empty());
  family.check();
}

TEST_F(TreeParent, whose_orphan_is_ended_while_the_provider_holds_it_up_has_no_orphan_any_more) {
  family.behaves["coder"] = [](SimSelf& self) {
    self.print(R"({"type":"system","subtype":"api_retry","retry_delay_ms":9000000,)"
               R"("error_status":429})"
               "\n");
  };
  grow({"coder"});
  ASSERT_EQ(family.verdict("coder"), "waiting");
  lose_lead();
  universe.run_for(5min);
  EXPECT_EQ(family.outcome("coder"), "orphaned");
  EXPECT_TRUE(family.keepers("coder").empty());
  family.check();
}

TEST_F(TreeParent, whose_orphan_went_down_with_the_machine_keeps_its_next_life) {
  grow({"coder"});
  lose_lead();
  universe.run_for(125s);
  ASSERT_TRUE(family.heartbeat("coder").leaving);
  const std::string stream = family.folders["coder"] + "/stream.jsonl";
  universe.disk.make_unreadable(stream);
  universe.run_for(20s);
  ASSERT_EQ(family.verdict("coder"), "unknown");
  universe.reboot();
  universe.disk.make_readable(stream);
  family.put_keeper_on("lead");
  universe.run_for(2min);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_FALSE(family.heartbeat("coder").leaving) << "its parent is there";
  lose_lead();
  universe.run_for(150s);
  EXPECT_EQ(family.verdict("coder"), "orphaned") << "it is watched again";
  family.check();
}

TEST_F(TreeParent, whose_orphan_was_ended_when_its_heartbeat_was_lost_has_no_orphan_any_more) {
  grow({"coder"});
  lose_lead();
  universe.run_for(125s);
  ASSERT_EQ(family.verdict("coder"), "orphaned");
  family.kill_both("coder");
  const std::string heartbeat = family.folders["coder"] + "/.heartbeat";
  std::string text = universe.disk.read(heartbeat).value();
  text.replace(text.find("\"leaving\":true"), 14, "\"leaving\":null");
  universe.disk.write(heartbeat, text);
  family.put_keeper_on("coder");
  universe.run_for(2min);
  EXPECT_EQ(family.outcome("coder"), "orphaned");
  EXPECT_TRUE(family.keepers("coder").empty());
  family.check();
}

TEST_F(TreeParent, parent_death_detection_honours_the_limits_orphan_and_grace) {
  family.policy.limits.orphan = 30s;
  family.policy.limits.grace = 300s;
  grow({"coder"});
  lose_lead();
  universe.run_for(25s);
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  universe.run_for(10s);
  EXPECT_TRUE(family.heartbeat("coder").leaving);
  universe.run_for(290s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  universe.run_for(20s);
  EXPECT_EQ(family.outcome("coder"), "orphaned");
}

TEST_F(TreeParent, whose_orphan_ends_by_itself_in_its_grace_has_it_end_well) {
  family.behaves["coder"] = work_for(30s + 150s);
  grow({"coder"});
  lose_lead();
  universe.run_for(130s);
  ASSERT_TRUE(family.heartbeat("coder").leaving);
  universe.run_for(2min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.decided("coder", "kill"), 0);
  family.put_keeper_on("lead");
  universe.run_for(1min);
  EXPECT_EQ(family.status("lead", "coder"), "done");
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  family.check();
}

TEST_F(TreeParent, that_returns_too_late_waits_for_the_end_and_resumes_without_spending_budget) {
  grow({"coder"});
  lose_lead();
  universe.run_for(130s);
  ASSERT_TRUE(family.heartbeat("coder").leaving);
  const auto coder = family.agents("coder").front();
  family.put_keeper_on("lead");
  universe.run_for(30s);
  EXPECT_TRUE(universe.runs(coder)) << "it is not hurried";
  EXPECT_EQ(family.decided("coder", "adopt"), 0) << "nobody may adopt it any more";
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(coder));
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(family.heartbeat("coder").resumes_spent, 0U);
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  EXPECT_EQ(family.outcome("coder"), "none");
  EXPECT_TRUE(is_in(family.last_command["coder"], "session-of-coder"));
  EXPECT_EQ(family.status("lead", "coder"), "active");
  universe.run_for(30min);
  EXPECT_EQ(family.verdict("coder"), "working");
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  family.check();
}

TEST_F(TreeParent, that_returns_after_the_end_resumes_it_without_spending_budget) {
  grow({"coder"});
  lose_lead();
  universe.run_for(10min);
  ASSERT_EQ(family.outcome("coder"), "orphaned");
  family.put_keeper_on("lead");
  universe.run_for(1min);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(family.heartbeat("coder").resumes_spent, 0U);
  EXPECT_EQ(family.outcome("coder"), "none");
  universe.run_for(30min);
  EXPECT_EQ(family.verdict("coder"), "working");
  family.check();
}

TEST_F(TreeParent, graceful_exit_sequence_under_subprocess_timeout_ends_all_of_an_orphan) {
  have_work("coder");
  universe.version_control_takes = 10s;
  universe.behaviours["make"] = [](SimSelf& self) {
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
  };
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    self.ignore(Kill::interrupt);
    self.slow_to_end(1h);
    self.spawn({.command = {"make"}, .environment = {}});
  };
  grow({"coder"});
  ASSERT_TRUE(universe.runs("make"));
  lose_lead();
  universe.run_for(190s);
  EXPECT_EQ(family.agents("coder").size(), 1U) << "its work is being saved first";
  universe.run_for(60s);
  EXPECT_TRUE(family.agents("coder").empty());
  EXPECT_FALSE(universe.runs("make"));
  EXPECT_EQ(family.outcome("coder"), "orphaned");
  const std::map<Kill, std::string> words{
      {Kill::interrupt, "INT"}, {Kill::terminate, "TERM"}, {Kill::kill, "KILL"}};
  Words sent;
  for (const SimSent& one : universe.sent()) {
    if (one.from == 0 || !words.contains(one.kill)) continue;
    const std::string& word = words.at(one.kill);
    if (sent.empty() || sent.back() != word) sent.push_back(word);
  }
  EXPECT_EQ(sent, (Words{"INT", "TERM", "KILL"}));
  family.check();
}

TEST_F(TreeParent, that_is_back_is_known_also_to_a_keeper_that_was_put_on_meanwhile) {
  grow({"coder"});
  const auto coder = family.agents("coder");
  lose_lead();
  universe.run_for(60s);
  family.kill_keepers("coder");
  family.put_keeper_on("lead");  // which replaces the child's keeper
  universe.run_for(10min);
  EXPECT_EQ(family.agents("coder"), coder);
  EXPECT_EQ(deeds("coder"), Words{"adopt"});
  EXPECT_FALSE(family.heartbeat("coder").leaving);
  family.check();
}

TEST_F(TreeParent, that_was_back_for_a_moment_gives_its_children_their_time_anew) {
  grow({"coder"});
  lose_lead();
  universe.run_for(100s);
  family.cannot_be_kept["lead"] = false;
  family.behaves["lead"] = [](SimSelf& self) { self.exit(1); };
  const auto keeper = family.put_keeper_on("lead");
  universe.run_for(12s);
  universe.kill(keeper);
  family.kill_agents("lead");
  universe.run_for(100s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_NE(family.verdict("coder"), "orphaned");
  family.check();
}

TEST_F(TreeParent, that_is_back_makes_no_orphan_of_one_that_died_unseen_meanwhile) {
  grow({"coder"});
  lose_lead();
  universe.run_for(40s);  // its child knows
  family.kill_both("coder");
  universe.run_for(10min);
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
}

TEST_F(TreeParent, parent_death_detection_is_told_to_every_life) {
  grow({"coder"});
  lose_lead();
  universe.run_for(60s);
  family.kill_agents("coder");
  universe.run_for(30s);
  ASSERT_EQ(family.heartbeat("coder").life, 2U) << "it is not an orphan yet";
  universe.run_for(5min);
  EXPECT_EQ(family.outcome("coder"), "orphaned");
  EXPECT_TRUE(family.keepers("coder").empty());
  family.check();
}

// --- Three generations ---------------------------------------------------------------------------

TEST_F(TreeParent, that_stays_as_an_orphan_goes_on_when_its_own_parent_is_back) {
  grow_three();
  const auto leaf = family.agents("leaf");
  lose_lead();
  universe.run_for(5min);
  EXPECT_TRUE(family.agents("mid").empty());
  EXPECT_EQ(family.keepers("mid").size(), 1U) << "it stays for its child";
  EXPECT_EQ(family.agents("leaf"), leaf) << "whose parent is kept";
  EXPECT_FALSE(family.heartbeat("leaf").leaving);
  family.put_keeper_on("lead");
  universe.run_for(2min);
  EXPECT_EQ(family.agents("mid").size(), 1U);
  EXPECT_EQ(family.heartbeat("mid").life, 2U);
  EXPECT_EQ(family.heartbeat("mid").resumes_spent, 0U);
  EXPECT_FALSE(family.heartbeat("mid").leaving);
  EXPECT_TRUE(is_in(family.last_command["mid"], "session-of-mid"));
  EXPECT_EQ(family.agents("leaf"), leaf);
  universe.run_for(30min);
  EXPECT_EQ(family.verdict("mid"), "working");
  family.check();
}

TEST_F(TreeParent, that_stays_as_an_orphan_ends_as_one_when_its_children_are_settled) {
  family.behaves["leaf"] = work_for(20min);
  grow_three();
  lose_lead();
  universe.run_for(30min);
  EXPECT_EQ(family.outcome("leaf"), "done");
  EXPECT_EQ(family.outcome("mid"), "orphaned");
  EXPECT_TRUE(family.keepers("mid").empty());
  family.put_keeper_on("lead");
  universe.run_for(2min);
  EXPECT_EQ(family.heartbeat("mid").life, 2U);
  EXPECT_TRUE(is_in(family.inbox("mid"), "child-done: leaf"));
  family.check();
}

TEST_F(TreeParent, that_died_as_a_whole_tree_is_given_up_from_the_top_down_only_where_it_is_dead) {
  grow_three();
  family.kill_both("lead");
  family.kill_both("mid");
  universe.run_for(5min);
  EXPECT_EQ(family.outcome("leaf"), "orphaned");
  family.put_keeper_on("lead");
  universe.run_for(3min);
  for (const char* name : {"lead", "mid", "leaf"}) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(family.heartbeat(name).life, 2U) << name;
  }
  EXPECT_TRUE(family.due().empty());
  family.check();
}

}  // namespace
}  // namespace tend
