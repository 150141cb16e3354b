// A whole tree that is stopped, drained, shut down with its machine, and recovered.
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

class TreeStop : public FamilyTest {
 protected:
  std::int64_t pid_of(const std::string& name) { return family.agents(name).front(); }
  void expect_stopped(const Words& names) {
    for (const std::string& name : names) {
      EXPECT_TRUE(family.agents(name).empty()) << name;
      EXPECT_TRUE(family.keepers(name).empty()) << name;
      EXPECT_EQ(family.outcome(name), "stopped") << name;
    }
    family.check();
  }
};

class TreeRecovery : public FamilyTest {
 protected:
  void expect_going_on(const Words& names, std::uint32_t life) {
    for (const std::string& name : names) {
      EXPECT_EQ(family.agents(name).size(), 1U) << name;
      EXPECT_EQ(family.heartbeat(name).life, life) << name;
      EXPECT_EQ(family.heartbeat(name).resumes_spent, 0U) << name;
      EXPECT_EQ(family.verdict(name), "working") << name;
      EXPECT_TRUE(is_in(family.last_command[name], "session-of-" + name)) << name;
    }
    EXPECT_EQ(family.due(), Words{});
    family.check();
  }
  void terminate_all_keepers() {
    for (const std::int64_t pid : universe.pids(Family::kTend)) {
      universe.order(pid, Order::terminate);
    }
  }
  std::map<std::string, std::string> buckets() {
    std::map<std::string, std::string> found;
    for (const Recovery& one : family.scan().agents) {
      const std::string by = one.by.empty() ? "" : " by " + one.by;
      EXPECT_TRUE(found.emplace(one.agent, std::string(word(one.bucket)) + by).second);
    }
    return found;
  }
};

// --- stop --tree ---------------------------------------------------------------------------------

TEST_F(TreeStop, ends_the_leaves_first_and_begins_nobody_meanwhile) {
  for (const char* name : {"lead", "mid", "leaf", "twig"}) {
    family.behaves[name] = [](SimSelf& self) {
      talk(self);
      self.slow_to_end(3s);
    };
  }
  grow_three();
  family.dispatch("mid", "twig");
  universe.run_for(10s);
  const auto lead = pid_of("lead");
  const auto mid = pid_of("mid");
  const auto leaf = pid_of("leaf");
  const auto twig = pid_of("twig");
  const std::size_t begun = family.begun.size();
  family.order("lead", Want::stop, true);
  universe.run_for(1s);
  for (const char* name : {"mid", "leaf", "twig"}) {
    EXPECT_TRUE(family.text_of(name, "intent.json").contains("stop")) << name;
  }
  EXPECT_TRUE(universe.runs(lead));
  EXPECT_TRUE(universe.runs(mid));
  universe.run_for(1min);
  ASSERT_TRUE(family.ended_at(lead));
  EXPECT_LT(*family.ended_at(leaf), *family.ended_at(mid));
  EXPECT_LT(*family.ended_at(twig), *family.ended_at(mid));
  EXPECT_LT(*family.ended_at(mid), *family.ended_at(lead));
  EXPECT_EQ(family.begun.size(), begun);
  EXPECT_EQ(family.status("lead", "mid"), "gone");
  expect_stopped({"lead", "mid", "leaf", "twig"});
  EXPECT_EQ(family.due(), Words{});
}

TEST_F(TreeStop, does_not_start_a_child_that_was_requested_in_the_last_moment) {
  family.root("lead");
  universe.run_for(10s);
  family.dispatch("lead", "late");
  family.order("lead", Want::stop, true);  // before the keeper could look
  universe.run_for(2min);
  EXPECT_EQ(family.begun, Words{"lead 1"});
  EXPECT_TRUE(family.over("lead"));
  EXPECT_TRUE(family.over("late"));
  expect_stopped({"lead", "late"});
  EXPECT_EQ(family.due(), Words{});
}

TEST_F(TreeStop, refuses_a_child_that_is_requested_after_the_order) {
  family.behaves["lead"] = [](SimSelf& self) { self.slow_to_end(5s); };
  family.root("lead");
  universe.run_for(10s);
  family.order("lead", Want::stop, true);
  const auto refused = family.dispatch_in(family.start_dispatcher(), "lead", "late");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "lead is being stopped (tend stop): it takes no new children");
}

TEST_F(TreeStop, does_not_start_one_whose_line_comes_while_its_lead_is_being_ended) {
  family.behaves["lead"] = [](SimSelf& self) {
    talk(self);
    self.slow_to_end(5s);
  };
  grow({"coder"});
  const ChildLine line = family.registered("lead", "coder");
  family.order("lead", Want::stop, true);
  ASSERT_TRUE(universe.run_until([&] { return family.over("coder"); }, 30s));
  universe.run_for(1s);
  ASSERT_EQ(family.agents("lead").size(), 1U) << "it is being ended";
  // Its place was reserved before the order.
  const std::string folder = family.folders["lead"] + "/coding/late";
  AgentFile file = family.file_of("late");
  file.parent_heartbeat = family.path("lead", ".heartbeat");
  universe.disk.write(folder + "/agent.json", format_agent_file(file));
  family.folders["late"] = folder;
  ChildLine late = line;
  late.heartbeat = folder + "/.heartbeat";
  late.agent = "late";
  late.status = ChildStatus::requested;
  universe.disk.append(family.path("lead", ".children"), format_child_line(late) + "\n");
  universe.run_for(2min);
  EXPECT_FALSE(is_in(family.begun, "late"));
  expect_stopped({"lead", "coder", "late"});
}

TEST_F(TreeStop, reaches_what_is_below_one_that_was_stopped_alone) {
  grow_three();
  family.order("mid", Want::stop, false);
  universe.run_for(30s);
  EXPECT_TRUE(family.agents("mid").empty());
  EXPECT_EQ(family.agents("leaf").size(), 1U);
  EXPECT_EQ(family.keepers("mid").size(), 1U) << "it stays for its child";
  family.order("lead", Want::stop, true);
  universe.run_for(30s);
  expect_stopped({"lead", "mid", "leaf"});
}

TEST_F(TreeStop, ends_the_lead_also_if_what_is_below_cannot_be_ended_in_time) {
  grow({"coder"});
  family.order("lead", Want::stop, true);
  universe.pause(family.keepers("coder").front());
  universe.run_for(140s);
  EXPECT_EQ(family.agents("lead").size(), 1U);
  universe.run_for(60s);
  EXPECT_TRUE(family.agents("lead").empty());
  universe.run_for(5min);
  expect_stopped({"lead", "coder"});
}

TEST_F(TreeStop, drains_from_the_leaves_up_without_ending_anybody) {
  family.behaves["lead"] = work_for(2min);
  family.behaves["mid"] = work_for(3min);
  family.behaves["leaf"] = work_for(4min);
  family.change = [](AgentFile& file) { file.restart = RestartPolicy::always; };
  grow_three();
  family.order("lead", Want::drain, true);
  universe.run_for(10s);
  for (const char* name : {"mid", "leaf"}) {
    EXPECT_TRUE(family.text_of(name, "intent.json").contains("drain")) << name;
  }
  const auto refused = family.dispatch_in(family.start_dispatcher(), "mid", "late");
  EXPECT_FALSE(refused);
  universe.run_for(5min);
  for (const char* name : {"lead", "mid", "leaf"}) {
    EXPECT_EQ(family.outcome(name), "done") << name;
    EXPECT_EQ(family.heartbeat(name).life, 1U) << name;
    EXPECT_TRUE(family.keepers(name).empty()) << name;
  }
  EXPECT_TRUE(std::ranges::none_of(universe.sent(), [](const SimSent& sent) {
    return sent.kill == Kill::interrupt || sent.kill == Kill::kill;
  }));
  family.check();
}

// --- Shutdown and reboot -------------------------------------------------------------------------

TEST_F(TreeRecovery, begins_roots_first_after_a_shutdown_and_everybody_goes_on_in_its_session) {
  for (const char* name : {"lead", "mid", "leaf", "other"}) {
    family.behaves[name] = [](SimSelf& self) {
      talk(self);
      self.slow_to_end(self.variable("TEND_AGENT") == "mid" ? 8s : 1s);
    };
  }
  grow_three();
  family.root("other");
  universe.run_for(30s);
  const std::size_t begun = family.begun.size();
  const int keepers = family.keepers_started("lead");
  terminate_all_keepers();
  universe.run_for(1min);
  EXPECT_EQ(family.begun.size(), begun) << "nothing is brought back meanwhile";
  EXPECT_EQ(family.keepers_started("lead"), keepers);
  EXPECT_FALSE(universe.runs(Family::kTend));
  EXPECT_FALSE(universe.runs("claude"));
  universe.reboot();
  EXPECT_TRUE(family.recover());
  EXPECT_EQ(family.recovered, (Words{"lead", "other"})) << "the others by their parents";
  universe.run_for(2min);
  EXPECT_EQ(Words(family.begun.begin() + static_cast<std::ptrdiff_t>(begun), family.begun.end()),
            (Words{"lead 2", "mid 2", "leaf 2", "other 2"}));
  expect_going_on({"lead", "mid", "leaf", "other"}, 2);
}

TEST_F(TreeRecovery, brings_everybody_back_after_a_crash_of_the_machine) {
  grow_three();
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  expect_going_on({"lead", "mid", "leaf"}, 2);
}

TEST_F(TreeRecovery, brings_back_the_children_of_one_that_waited_for_them) {
  family.behaves["lead"] = rest;
  grow({"coder"});
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
}

TEST_F(TreeRecovery, brings_a_lead_that_stayed_for_its_child_back_to_it) {
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    if (self.variable("TEND_LIFE") == "2") self.after(1min, end_well);
  };
  family.behaves["lead"] = work_for(30s);
  grow({"coder"});
  universe.run_for(1min);
  EXPECT_TRUE(family.agents("lead").empty());
  EXPECT_TRUE(family.heartbeat("lead").stays);
  terminate_all_keepers();
  universe.run_for(1min);
  EXPECT_TRUE(family.over("lead")) << "for now";
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(30s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_TRUE(family.agents("lead").empty()) << "its own work is over";
  EXPECT_TRUE(family.heartbeat("lead").stays);
  universe.run_for(10min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.outcome("lead"), "done");
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  family.check();
}

TEST_F(TreeRecovery, holds_one_that_was_held_for_looping_also_after_a_shutdown) {
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    self.exit_after(10s, 1);
  };
  grow({"coder"});
  ASSERT_TRUE(universe.run_until([&] { return family.verdict("coder") == "looping"; }, 20min));
  const std::uint32_t life = family.heartbeat("coder").life;
  terminate_all_keepers();
  universe.run_for(1min);
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(10min);
  EXPECT_EQ(family.agents("lead").size(), 1U);
  EXPECT_EQ(family.verdict("coder"), "looping");
  EXPECT_EQ(family.heartbeat("coder").life, life);
  universe.run_for(30min);
  EXPECT_EQ(family.heartbeat("coder").life, life + 1) << "when the hold is over";
  family.check();
}

TEST_F(TreeRecovery, goes_on_also_if_the_shutdown_did_not_wait_for_the_end) {
  for (const char* name : {"lead", "mid", "leaf"}) {
    family.behaves[name] = [](SimSelf& self) {
      talk(self);
      self.slow_to_end(1h);
    };
  }
  grow_three();
  terminate_all_keepers();
  universe.run_for(3s);
  EXPECT_TRUE(universe.runs("claude"));
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  expect_going_on({"lead", "mid", "leaf"}, 2);
}

TEST_F(TreeRecovery, brings_nobody_back_whom_a_person_had_stopped) {
  grow({"coder", "tester"});
  family.order("coder", Want::stop, false);
  universe.run_for(30s);
  family.order("tester", Want::stop, false);
  universe.run_for(100ms);
  universe.reboot();
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  EXPECT_EQ(family.agents("lead").size(), 1U);
  EXPECT_TRUE(family.agents("coder").empty());
  EXPECT_TRUE(family.agents("tester").empty());
  EXPECT_EQ(family.status("lead", "tester"), "gone");
  EXPECT_EQ(family.due(), Words{});
  family.check();
}

// --- The scan ------------------------------------------------------------------------------------

TEST_F(TreeRecovery, recovery_scan_with_mixed_child_states_puts_each_into_one_bucket) {
  family.have_repository();
  const std::string worktree = family.make_worktree("merged");
  family.change = [&](AgentFile& file) {
    if (file.agent == "lead") file.worktree = Family::kWork;
    if (file.agent != "merged") return;
    file.worktree = worktree;
    file.working_folder = worktree;
    file.own_worktree = true;
  };
  const auto says = [](const char* outcome) {
    return [outcome](SimSelf& self) {
      self.write(*self.variable("TEND_INFRA") + "/outcome.json",
                 R"({"outcome":")" + std::string(outcome) + R"(","life":1})");
      self.exit_after(60s, 0);
    };
  };
  family.behaves["settled"] = work_for(10s);
  family.behaves["done"] = work_for(60s);
  family.behaves["merged"] = [](SimSelf& self) {
    self.write("b", "2");
    self.after(60s, end_well);
  };
  family.behaves["withdrawn"] = says("withdrawn");
  grow({"settled", "kept", "left", "dead", "done", "withdrawn", "merged", "orphan", "odd"});
  family.kill_both("lead");
  universe.run_for(60s);  // some end while nobody hears of it
  family.dispatch("lead", "asked");
  for (const char* name : {"dead", "orphan", "odd"}) family.kill_both(name);
  Heartbeat orphan = family.heartbeat("orphan");
  orphan.status = Status::withdrawn;
  orphan.outcome = WorkOutcome::orphaned;
  universe.disk.write(family.path("orphan", ".heartbeat"), format_heartbeat(orphan));
  universe.disk.write(family.path("odd", "agent.json"), "{");
  family.kill_keepers("left");
  universe.disk.write(family.folders["lead"] + "/coding/cut-off/agent.json", format_agent_file([&] {
                        AgentFile file = family.file_of("cut-off");
                        file.parent_heartbeat = family.path("lead", ".heartbeat");
                        return file;
                      }()));
  const auto before = buckets();
  const std::map<std::string, std::string> expected{
      {"lead", "resume by recover"}, {"settled", "settled"},      {"kept", "adopt"},
      {"left", "attach by lead"},    {"dead", "resume by lead"},  {"done", "settled by lead"},
      {"withdrawn", "tell by lead"}, {"merged", "merge by lead"}, {"orphan", "resume by lead"},
      {"asked", "start by lead"},    {"odd", "unknown"},          {"cut-off", "settled"},
  };
  EXPECT_EQ(before, expected);
  const auto kept = family.agents("kept");
  const auto left = family.agents("left");
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  EXPECT_EQ(family.recovered, Words{"lead"});
  EXPECT_EQ(family.due(), Words{});
  EXPECT_EQ(family.agents("kept"), kept);
  EXPECT_EQ(family.agents("left"), left);
  for (const char* name : {"lead", "kept", "left", "dead", "orphan", "asked"}) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(family.keepers(name).size(), 1U) << name;
  }
  EXPECT_EQ(family.status("lead", "done"), "done");
  EXPECT_EQ(family.status("lead", "withdrawn"), "gone");
  EXPECT_TRUE(family.events().contains("odd is left alone"));
  const std::size_t begun = family.begun.size();
  EXPECT_TRUE(family.recover());
  universe.run_for(2min);
  EXPECT_EQ(family.recovered, Words{"lead"}) << "the second one finds nothing";
  EXPECT_EQ(family.begun.size(), begun);
}

TEST_F(TreeRecovery, is_done_by_one_at_a_time) {
  for (const char* name : {"one", "two", "three"}) {
    family.root(name);
    universe.run_for(2s);
  }
  universe.reboot();
  bool second = true;
  universe.after(100ms, [&] { second = family.recover(); });
  EXPECT_TRUE(family.recover());
  EXPECT_FALSE(second) << "the first was at it";
  universe.run_for(1min);
  EXPECT_EQ(family.recovered, (Words{"one", "two", "three"}));
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_EQ(family.agents(name).size(), 1U);
    EXPECT_EQ(family.heartbeat(name).life, 2U);
  }
  family.check();
}

TEST_F(TreeRecovery, begins_roots_a_moment_apart) {
  for (const char* name : {"one", "two", "three"}) family.root(name);
  universe.run_for(10s);
  universe.reboot();
  const Instant before = universe.now();
  EXPECT_TRUE(family.recover());
  EXPECT_EQ(universe.now() - before, 750ms);
}

TEST_F(TreeRecovery, names_work_trees_that_are_no_agents) {
  family.have_repository();
  family.make_worktree("lost");
  family.root("lead");
  EXPECT_EQ(family.scan().lost_worktrees, Words{std::string(Family::kHome) + "/worktrees/lost"});
}

TEST_F(TreeRecovery, calls_no_work_tree_nobodys_while_an_agent_cannot_be_read) {
  family.have_repository();
  family.make_worktree("lost");
  family.root("lead");
  universe.disk.make_unreadable(family.path("lead", "agent.json"));
  EXPECT_EQ(family.scan().lost_worktrees, Words{});
}

}  // namespace
}  // namespace tend
