// Keepers in a tree, from the parent's side: it starts its children, hears of them, replaces their
// keepers, stays for them, and brings their work home.
#include <chrono>
#include <string>
#include <vector>

#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class Tree : public FamilyTest {};
class TreeWork : public FamilyTest {};

// --- Starting ------------------------------------------------------------------------------------

TEST_F(Tree, starts_a_registered_child_with_the_environment_of_whoever_asked) {
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder", {.environment = {"PATH=/opt/bin", "TOKEN=of-the-asker"}});
  universe.run_for(2s);
  ASSERT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  EXPECT_TRUE(is_in(family.last_environment["coder"], "TOKEN=of-the-asker"));
  EXPECT_TRUE(is_in(family.last_environment["coder"], "PATH=/opt/bin"));
  EXPECT_TRUE(is_in(family.last_environment["coder"],
                    "TEND_PARENT_HEARTBEAT=" + family.path("lead", ".heartbeat")));
  EXPECT_EQ(family.heartbeat("coder").parent_heartbeat, family.path("lead", ".heartbeat"));
  EXPECT_FALSE(family.text_of("coder", "agent.json").contains("of-the-asker"));
  EXPECT_EQ(family.heartbeat("lead").children, 1U);
  family.check();
}

TEST_F(Tree, starts_a_child_also_when_whoever_asked_is_gone) {
  family.root("lead");
  universe.run_for(5s);
  const auto asker = family.start_dispatcher();
  ASSERT_TRUE(family.dispatch_in(asker, "lead", "coder"));
  universe.kill(asker);
  universe.run_for(2s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
}

TEST_F(Tree, starts_what_was_requested_while_no_keeper_was_there) {
  family.root("lead");
  universe.run_for(5s);
  family.kill_keepers("lead");
  family.dispatch("lead", "coder");
  universe.run_for(1min);
  EXPECT_TRUE(family.agents("coder").empty());
  EXPECT_EQ(family.status("lead", "coder"), "requested");
  family.put_keeper_on("lead");
  universe.run_for(5s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  family.check();
}

TEST_F(Tree, is_not_harmed_by_a_torn_line_of_its_children) {
  family.root("lead");
  universe.run_for(5s);
  universe.disk.append(family.path("lead", ".children"), R"({"heartbeat":"/home/us)");
  universe.run_for(1s);
  family.dispatch("lead", "coder");
  universe.disk.append(family.path("lead", ".children"), "\0\xff{]\n\n");
  universe.run_for(1min);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  EXPECT_EQ(family.keepers("lead").size(), 1U);
}

TEST_F(Tree, starts_many_a_few_at_a_time) {
  Words names;
  for (int i = 0; i < 10; ++i) names.push_back("coder" + std::to_string(i));
  family.root("lead");
  universe.run_for(5s);
  family.kill_keepers("lead");
  for (const std::string& name : names) family.dispatch("lead", name);
  family.put_keeper_on("lead");
  universe.run_for(100ms);
  EXPECT_EQ(family.begun.size(), 5U) << "the lead, and four at once";
  universe.run_for(5s);
  for (const std::string& name : names) EXPECT_EQ(family.agents(name).size(), 1U) << name;
}

TEST_F(Tree, does_the_same_without_hints_and_with_groups_of_processes) {
  for (const SimHints hints : {SimHints::lossy, SimHints::none}) {
    Family one;
    one.universe.hints = hints;
    one.universe.groups = true;
    one.behaves["lead"] = rest;
    one.behaves["coder"] = work_for(10min);
    one.root("lead");
    one.universe.run_for(5s);
    one.dispatch("lead", "coder");
    one.universe.run_for(1min);
    EXPECT_EQ(one.agents("coder").size(), 1U);
    EXPECT_EQ(one.verdict("lead"), "waiting");
    one.kill_agents("lead");
    one.universe.run_for(1min);
    EXPECT_EQ(one.heartbeat("lead").life, 2U);
    EXPECT_EQ(one.heartbeat("coder").life, 1U) << "it does not go with its lead";
    one.universe.run_for(20min);
    EXPECT_EQ(one.status("lead", "coder"), "done");
    EXPECT_EQ(one.heartbeat("lead").life, 3U) << "resumed when all had ended";
    one.check();
  }
}

// --- Hearing -------------------------------------------------------------------------------------

TEST_F(Tree, finds_a_lead_and_a_child_that_wait_for_each_other_and_resumes_the_lead) {
  family.behaves["lead"] = [](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? rest(self) : talk(self);
  };
  family.behaves["coder"] = [](SimSelf& self) {
    self.after(10s, [](SimSelf& me) {
      me.print(claude_said("I have a question"));
      me.append(*me.variable("TEND_INFRA") + "/signals.jsonl",
                R"({"is":"tool-open","id":"w1","tool":"tend wait parent","limit":7200,"life":1})"
                "\n");
    });
  };
  grow({"coder"});
  universe.run_for(1min);
  EXPECT_TRUE(family.heartbeat("coder").asks_parent);
  EXPECT_EQ(family.verdict("lead"), "idle") << "who waits for it is no excuse";
  ASSERT_TRUE(universe.run_until([&] { return family.heartbeat("lead").life == 2; }, 15min));
  EXPECT_EQ(family.decided("coder", "kill"), 0);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
}

TEST_F(Tree, lets_a_lead_wait_while_a_child_works_and_resumes_it_when_all_have_ended) {
  family.behaves["lead"] = [](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? rest(self) : talk(self);
  };
  family.behaves["coder"] = work_for(40min);
  family.behaves["tester"] = work_for(20min);
  grow({"coder", "tester"});
  EXPECT_EQ(family.verdict("lead"), "waiting");
  EXPECT_EQ(family.last_told("lead", "coder"), "working");
  universe.run_for(38min);
  EXPECT_EQ(family.verdict("lead"), "waiting") << "one has ended, the other works";
  EXPECT_EQ(family.last_told("lead", "tester"), "finished");
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  const auto first = family.agents("lead");
  ASSERT_TRUE(universe.run_until([&] { return family.verdict("lead") == "suspect"; }, 5min));
  EXPECT_EQ(family.last_told("lead", "coder"), "finished");
  ASSERT_TRUE(universe.run_until([&] { return family.heartbeat("lead").life == 2; }, 5min));
  universe.run_for(1s);
  EXPECT_EQ(family.decided("lead", "kill"), 0);
  EXPECT_EQ(family.decided("lead", "resume"), 1);
  EXPECT_EQ(family.decided("lead", "preserve"), 1);
  EXPECT_FALSE(universe.runs(first.front()));
  EXPECT_TRUE(is_in(family.last_command["lead"], "session-of-lead"));
  const Words inbox = family.inbox("lead");
  EXPECT_EQ(inbox.size(), 2U);
  EXPECT_TRUE(is_in(inbox, "child-done: coder (coding) finished"));
  EXPECT_TRUE(is_in(inbox, "child-done: tester (coding) finished"));
  universe.run_for(30min);
  EXPECT_EQ(family.heartbeat("lead").life, 2U);
  EXPECT_EQ(family.verdict("lead"), "working");
  family.check();
}

TEST_F(Tree, lets_a_lead_work_in_a_silent_tool_while_a_child_works_also_past_its_limit) {
  family.behaves["lead"] = [](SimSelf& self) {
    self.print(claude_tool("t1", R"(,"timeout":60000)"));
    self.after(82min, [](SimSelf& me) {
      me.print(claude_tool_closed("t1"));
      end_well(me);
    });
  };
  family.behaves["coder"] = work_for(80min);
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder", {.task_id = "t1"});
  universe.run_for(70min);
  EXPECT_EQ(family.registered("lead", "coder").task_id, "t1");
  EXPECT_EQ(family.verdict("lead"), "working");
  EXPECT_TRUE(family.journal("lead", {{"verdict", "suspect"}}).empty());
  universe.run_for(30min);
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  EXPECT_EQ(family.outcome("lead"), "done");
  family.check();
}

TEST_F(Tree, finds_a_silent_tool_whose_dispatch_has_ended) {
  family.behaves["lead"] = [](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? self.print(claude_tool("t1", R"(,"timeout":60000)"))
                                      : talk(self);
  };
  family.behaves["coder"] = work_for(20min);
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder", {.task_id = "t1"});
  universe.run_for(19min);
  EXPECT_EQ(family.verdict("lead"), "working");
  universe.run_for(10min);
  EXPECT_EQ(family.heartbeat("lead").life, 2U);
  family.check();
}

TEST_F(Tree, believes_no_word_of_a_child_whose_keeper_is_dead_and_hears_it_again_later) {
  family.behaves["lead"] = rest;
  grow({"coder"});
  ASSERT_EQ(family.last_told("lead", "coder"), "working");
  universe.spawning_fails = "Resource temporarily unavailable";
  family.kill_keepers("coder");
  universe.run_for(1s);
  EXPECT_EQ(family.last_told("lead", "coder"), "unknown");
  universe.spawning_fails.clear();
  universe.run_for(1min);
  EXPECT_EQ(family.last_told("lead", "coder"), "working");
  const auto words = family.told("lead", "coder").size();
  family.kill_agents("lead");
  universe.run_for(10s);
  ASSERT_EQ(family.heartbeat("lead").life, 2U);
  EXPECT_GT(family.told("lead", "coder").size(), words) << "the new life was told";
  EXPECT_EQ(family.verdict("lead"), "waiting");
  universe.run_for(2h);
  EXPECT_EQ(family.verdict("lead"), "waiting") << "a word is said again before it is forgotten";
  family.check();
}

// --- Replacing keepers ---------------------------------------------------------------------------

TEST_F(Tree, replaces_the_dead_keeper_of_a_child_at_once) {
  grow({"coder"});
  const auto agent = family.agents("coder");
  const auto keeper = family.keepers("coder");
  family.kill_keepers("coder");
  universe.run_for(500ms);
  ASSERT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_NE(family.keepers("coder"), keeper);
  EXPECT_EQ(family.agents("coder"), agent);
  EXPECT_TRUE(family.events().contains("coder gets a new keeper"));
  universe.run_for(10min);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  EXPECT_EQ(family.keepers_started("coder"), 2);
  family.check();
}

TEST_F(Tree, brings_a_child_back_that_died_with_its_keeper) {
  grow({"coder"});
  family.kill_both("coder");
  universe.run_for(30s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_TRUE(is_in(family.last_command["coder"], "session-of-coder"));
  family.check();
}

TEST_F(Tree, stale_heartbeat_detection_replaces_a_hung_keeper_after_120s_and_not_before) {
  grow({"coder"});
  const auto hung = family.keepers("coder").front();
  const auto agent = family.agents("coder");
  universe.pause(hung);
  universe.run_for(115s);
  EXPECT_TRUE(universe.runs(hung));
  universe.run_for(65s);
  EXPECT_FALSE(universe.runs(hung));
  ASSERT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_EQ(family.agents("coder"), agent) << "the agent is left alone";
  EXPECT_TRUE(family.events().contains("the keeper of coder hung"));
  universe.run_for(10min);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  EXPECT_EQ(family.verdict("coder"), "working");
  family.check();
}

TEST_F(Tree, stale_heartbeat_detection_does_not_take_a_sleep_of_the_machine_for_a_hang) {
  grow({"coder"});
  const auto keeper = family.keepers("coder");
  universe.sleep_machine(8h);
  universe.run_for(10min);
  EXPECT_EQ(family.keepers("coder"), keeper);
  EXPECT_EQ(family.keepers_started("coder"), 1);
}

TEST_F(Tree, gives_up_on_keepers_that_die_after_five_in_ten_minutes_and_tells_a_person) {
  grow({"coder"});
  const auto agent = family.agents("coder");
  family.cannot_be_kept["coder"] = true;
  family.kill_keepers("coder");
  universe.run_for(2min);
  EXPECT_EQ(family.keepers_started("coder"), 5);
  EXPECT_TRUE(family.events().contains("5 keepers of coder died within 10 minutes"));
  const auto calls = universe.calls(family.keepers("lead").front());
  universe.run_for(7min);
  EXPECT_EQ(family.keepers_started("coder"), 5);
  EXPECT_LT(universe.calls(family.keepers("lead").front()) - calls, 3000U) << "in circles";
  EXPECT_EQ(family.agents("coder"), agent);
  family.cannot_be_kept["coder"] = false;
  universe.run_for(3min);
  EXPECT_EQ(family.keepers("coder").size(), 1U) << "later it is tried again";
  EXPECT_EQ(family.agents("coder"), agent);
}

// --- Staying -------------------------------------------------------------------------------------

TEST_F(Tree, stays_until_the_children_are_settled_and_ends_with_its_own_outcome) {
  family.behaves["lead"] = work_for(1min);
  family.behaves["coder"] = work_for(20min);
  grow({"coder"});
  universe.run_for(5min);
  EXPECT_TRUE(family.agents("lead").empty());
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_FALSE(family.over("lead"));
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.verdict("coder"), "working") << "its parent is kept";
  universe.run_for(20min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.outcome("lead"), "done");
  EXPECT_EQ(family.heartbeat("lead").ended_by, "exit 0");
  EXPECT_EQ(family.status("lead", "coder"), "done");
  EXPECT_TRUE(family.keepers("lead").empty());
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  family.check();
}

TEST_F(Tree, children_compaction_with_concurrent_readers_loses_no_line) {
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder");
  family.dispatch("lead", "tester");
  universe.run_for(5s);
  family.kill_keepers("lead");
  ChildLine line = family.registered("lead", "coder");
  for (int i = 0; i < 100; ++i) {
    universe.disk.append(family.path("lead", ".children"), format_child_line(line) + "\n");
  }
  const std::size_t long_one = family.text_of("lead", ".children").size();
  // A reader that is in the middle of the old file, and one who registers while it is compacted.
  Machine& reader = universe.machine("reader");
  auto folder = reader.folders.open(family.folders["lead"]);
  auto file = (*folder)->open(".children", Folder::Open::append);
  ASSERT_TRUE(file);
  const auto lock = lock_registry(**folder);
  ASSERT_TRUE(lock && *lock);
  family.put_keeper_on("lead");
  universe.run_for(1min);
  EXPECT_EQ(family.text_of("lead", ".children").size(), long_one) << "not while one registers";
  const auto old = (*file)->facts();
  ASSERT_TRUE(old);
  EXPECT_EQ(old->size, long_one);
  family.kill_keepers("lead");
  universe.run_for(1s);
  universe.kill(universe.pids("reader").front());
  family.kill_keepers("lead");
  family.put_keeper_on("lead");
  universe.run_for(1min);
  EXPECT_LT(family.text_of("lead", ".children").size(), long_one / 10);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  EXPECT_EQ(family.status("lead", "tester"), "active");
  family.dispatch("lead", "third");
  universe.run_for(5s);
  for (const char* name : {"coder", "tester", "third"}) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
  }
  family.check();
}

// --- What it says of its work --------------------------------------------------------------------

TEST_F(TreeWork, is_not_over_before_children_that_cannot_be_read_for_a_while) {
  family.behaves["lead"] = work_for(2min);
  family.behaves["coder"] = work_for(20min);
  grow({"coder"});
  const std::string registry = family.folders["lead"] + "/.children";
  universe.kill(family.keepers("lead").front());
  universe.disk.make_unreadable(registry);
  family.put_keeper_on("lead");
  universe.run_for(15min);
  EXPECT_EQ(family.outcome("lead"), "none");
  universe.disk.make_readable(registry);
  universe.run_for(15min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.outcome("lead"), "done");
  EXPECT_TRUE(is_in(family.inbox("lead"), "child-done: coder"));
  family.check();
}

TEST_F(TreeWork, goes_on_after_all_if_the_agent_takes_its_word_back) {
  family.behaves["coder"] = [](SimSelf& self) {
    const auto say = [](SimSelf& me, const std::string& what) {
      me.write(*me.variable("TEND_INFRA") + "/outcome.json", what);
    };
    talk(self);
    self.after(60s, [say](SimSelf& me) { say(me, R"({"outcome":"withdrawn","life":1})"); });
    self.after(90s,
               [say](SimSelf& me) { say(me, R"({"outcome":"none","phase":"again","life":1})"); });
  };
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder");
  universe.run_for(80s);
  EXPECT_EQ(word(family.heartbeat("coder").verdict), "finished");
  universe.run_for(80s);
  EXPECT_EQ(word(family.heartbeat("coder").verdict), "working");
  EXPECT_EQ(family.heartbeat("coder").work_phase, "again");
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
}

TEST_F(TreeWork, one_that_is_held_is_told_to_its_lead_once) {
  family.behaves["coder"] = [](SimSelf& self) { self.exit_after(2s, 4); };
  family.root("lead");
  universe.run_for(5s);
  family.dispatch("lead", "coder");
  universe.run_for(10min);
  ASSERT_EQ(family.heartbeat("coder").verdict, Verdict::looping);
  const auto inbox = family.inbox("lead");
  ASSERT_EQ(inbox.size(), 1U);
  EXPECT_TRUE(inbox.front().starts_with("child-held: coder is held")) << inbox.front();
  EXPECT_TRUE(inbox.front().contains("`tend unpause coder`")) << inbox.front();
}

TEST_F(TreeWork, ends_with_the_word_of_the_agent_itself) {
  for (const char* const word : {"done", "withdrawn", "escalated"}) {
    Family one;
    one.behaves["coder"] = [word](SimSelf& self) {
      talk(self);
      self.after(60s, [word](SimSelf& me) {
        me.write(*me.variable("TEND_INFRA") + "/outcome.json",
                 R"({"outcome":")" + std::string(word) + R"(","note":"so it is","life":1})");
        me.exit_after(5s, 3);
      });
    };
    one.root("lead");
    one.universe.run_for(5s);
    one.dispatch("lead", "coder");
    one.universe.run_for(3min);
    EXPECT_EQ(one.outcome("coder"), word);
    EXPECT_EQ(one.heartbeat("coder").ended_by, "its own word");
    EXPECT_EQ(one.heartbeat("coder").life, 1U) << "it is not brought back";
    const bool is_done = std::string(word) == "done";
    EXPECT_EQ(one.status("lead", "coder"), is_done ? "done" : "gone");
    EXPECT_TRUE(is_in(one.inbox("lead"), is_done ? "child-done: coder (coding) finished: so it is"
                                                 : "child-gone: coder (coding) ended, " +
                                                       std::string(word) + ": so it is"));
    one.check();
  }
}

TEST_F(TreeWork, is_done_after_a_clean_exit_without_a_word) {
  family.behaves["coder"] = work_for(1min);
  grow({"coder"});
  universe.run_for(2min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.heartbeat("coder").ended_by, "exit 0");
  EXPECT_EQ(family.status("lead", "coder"), "done");
}

TEST_F(TreeWork, takes_no_word_of_an_earlier_life) {
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    if (self.variable("TEND_LIFE") != "1") return;
    self.write(*self.variable("TEND_INFRA") + "/.tmp", "");
    self.after(60s, [](SimSelf& me) { me.crash(9); });
  };
  grow({"coder"});
  universe.run_for(1min);
  ASSERT_EQ(family.heartbeat("coder").life, 2U);
  universe.disk.write(family.path("coder", "outcome.json"), R"({"outcome":"done","life":1})");
  universe.run_for(2min);
  EXPECT_FALSE(family.over("coder"));
  EXPECT_EQ(family.verdict("coder"), "working");
}

/// It crashes as often as its budget allows, moves on in its work, and does so again.
void crash_four_times_with_phases(Family& family, const std::string& file,
                                  const std::function<std::string(int)>& text) {
  family.behaves["coder"] = [file, text](SimSelf& self) {
    const int life = std::stoi(*self.variable("TEND_LIFE"));
    self.write(*self.variable("TEND_INFRA") + "/" + file, text(life));
    // No two ends in a row are the same.
    self.print(claude_tool("t" + std::to_string(life)));
    self.after(Duration{1s} * (20 + life),
               [life](SimSelf& me) { life < 7 ? me.crash(10 + life) : talk(me); });
  };
}

TEST_F(TreeWork, has_its_budget_refilled_when_its_phase_advances) {
  const auto file = [](const std::string& phase) {
    return R"({"outcome":"none","phase":")" + phase + "\"}";
  };
  crash_four_times_with_phases(family, "outcome.json",
                               [&](int life) { return file("phase " + std::to_string(life / 3)); });
  grow({"coder"});
  universe.run_for(20min);
  EXPECT_EQ(family.heartbeat("coder").life, 7U);
  EXPECT_EQ(family.verdict("coder"), "working");
  EXPECT_EQ(family.heartbeat("coder").work_phase, "phase 2");
  family.check();
}

TEST_F(TreeWork, has_its_budget_refilled_by_the_phase_that_another_system_writes) {
  crash_four_times_with_phases(family, ".cfa-state.json", [](int life) {
    return std::string(R"({"state":")") +
           (life < 3   ? "PLAN"
            : life < 6 ? "EXECUTE"
                       : "CHECK") +
           R"(","other":[1,2]})";
  });
  grow({"coder"});
  universe.run_for(20min);
  EXPECT_EQ(family.heartbeat("coder").life, 7U);
  EXPECT_EQ(family.heartbeat("coder").work_phase, "CHECK");
  family.check();
}

TEST_F(TreeWork, is_held_when_its_phase_does_not_advance) {
  crash_four_times_with_phases(family, "outcome.json",
                               [](int) { return R"({"outcome":"none","phase":"the same"})"; });
  grow({"coder"});
  universe.run_for(20min);
  EXPECT_EQ(family.verdict("coder"), "looping");
  EXPECT_EQ(family.heartbeat("coder").life, 4U);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  family.check();
}

}  // namespace
}  // namespace tend
