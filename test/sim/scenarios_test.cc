// Incidents of other supervisors, played with whole keepers on a simulated machine: each test is
// named after the row of docs/incidents.md that it covers. Those in which several want the same are
// in scenarios_of_work_test.cc; what needs real processes or real git is in
// test/e2e/scenarios_test.cc.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/growing_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

class Scenario : public Growing {
 protected:
  void grow(const Lines& children) {
    start_lead();
    for (const std::string& child : children) family.dispatch("lead", child);
    universe.run_for(30s);
  }
  static Lines numbered(const std::string& word, int count) {
    Lines names;
    for (int i = 1; i <= count; ++i) names.push_back(word + std::to_string(i));
    return names;
  }
  /// From now on it is known when each life began.
  void note_begins() {
    SimBehaviour& live = universe.behaviours["claude"];
    live = [this, before = live](SimSelf& self) {
      begins.push_back(self.now());
      before(self);
    };
  }
  /// The most that began within any such time.
  [[nodiscard]] std::ptrdiff_t most_begun_within(Duration time) const {
    std::ptrdiff_t most = 0;
    for (const Instant from : begins) {
      most = std::max(most, std::ranges::count_if(begins, [&](Instant at) {
                        return at >= from && at < from + time;
                      }));
    }
    return most;
  }
  /// As `tend reload` does it: the keeper makes room for its newer self.
  void reload_keeper(const std::string& name) {
    universe.order(family.keepers(name).front(), Order::hang_up);
    universe.run_for(1ms);
    family.put_keeper_on(name);
  }

  [[nodiscard]] std::ptrdiff_t signals_to(std::int64_t pid) const {
    return std::ranges::count_if(
        universe.sent(), [&](const SimSent& sent) { return sent.from != 0 && sent.to.pid == pid; });
  }
  [[nodiscard]] std::ptrdiff_t lives(const std::string& name) const {
    return std::ranges::count_if(
        family.begun, [&](const std::string& line) { return line.starts_with(name + " "); });
  }
  [[nodiscard]] std::ptrdiff_t events_with(const std::string& what) const {
    std::istringstream lines(family.events());
    std::ptrdiff_t count = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.contains(what)) ++count;
    }
    return count;
  }
  [[nodiscard]] std::ptrdiff_t messages_with(const std::string& name, const std::string& what) {
    return std::ranges::count_if(family.inbox(name),
                                 [&](const std::string& line) { return line.contains(what); });
  }

  std::vector<Instant> begins;
};

// --- Orders, and whom they are meant for ---------------------------------------------------------

TEST_F(Scenario, I020_an_order_for_one_that_is_over_reaches_nobody_else) {
  start_lead();
  for (const std::string when : {"before", "during", "after"}) {
    SCOPED_TRACE(when);
    const std::string alpha = "alpha-" + when;
    const std::string rust = "rust-" + when;
    family.behaves[alpha] = work_for(20s);
    family.dispatch("lead", alpha);
    universe.run_for(40s);
    ASSERT_EQ(family.outcome(alpha), "done");
    const auto stop_alpha = [&] {
      const Answer answer = tend({"stop", alpha});
      EXPECT_EQ(answer.exit, kExitYes);
      EXPECT_TRUE(answer.err.contains(alpha + " is over already")) << answer.err;
      family.order(alpha, Want::stop, true);  // one that was under way since it lived
    };
    if (when == "before") stop_alpha();
    universe.run_for(10s);
    family.dispatch("lead", rust);
    if (when == "during") stop_alpha();
    universe.run_for(5s);
    if (when == "after") stop_alpha();
    universe.run_for(1min);
    ASSERT_EQ(family.agents(rust).size(), 1U);
    EXPECT_EQ(signals_to(family.agents(rust).front()), 0);
    EXPECT_EQ(family.verdict(rust), "working");
    EXPECT_EQ(lives(rust), 1);
    EXPECT_EQ(family.outcome(alpha), "done");
  }
  family.check();
}

TEST_F(Scenario, I020_an_order_names_its_agent_and_not_only_a_name) {
  family.behaves["alpha"] = [first = true](SimSelf& self) mutable {
    std::exchange(first, false) ? work_for(20s)(self) : talk(self);
  };
  grow({"alpha"});
  const std::string first = family.folders["alpha"];
  universe.run_for(30s);
  family.dispatch("lead", "alpha");
  universe.run_for(30s);
  ASSERT_NE(family.folders["alpha"], first);
  ASSERT_EQ(family.agents("alpha").size(), 1U);
  const Answer answer = tend({"stop", first});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.err.contains("alpha is over already")) << answer.err;
  universe.run_for(1min);
  ASSERT_EQ(family.agents("alpha").size(), 1U);
  EXPECT_EQ(signals_to(family.agents("alpha").front()), 0);
  EXPECT_EQ(family.verdict("alpha"), "working");
}

TEST_F(Scenario, I028_a_process_of_another_owner_is_left_alone_whatever_its_name) {
  grow({"coder"});
  ASSERT_EQ(tend({"stop", "coder"}).exit, kExitYes);
  const auto foreign = universe.start_command(
      {.command = {"claude"}, .environment = {"TEND_AGENT=coder", "PATH=/bin"}});
  ASSERT_TRUE(universe.runs(foreign));
  universe.run_for(30min);
  EXPECT_TRUE(tend({"stop", "coder"}).err.contains("coder is over already"));
  EXPECT_EQ(tend({"recover"}).out, "nothing to recover\n");
  universe.run_for(30min);
  EXPECT_TRUE(universe.runs(foreign));
  EXPECT_EQ(signals_to(foreign), 0);
  EXPECT_EQ(family.keepers_started("coder"), 1);
  EXPECT_EQ(lives("coder"), 2) << "ours, and the foreign one";
  EXPECT_LE(events_with("process " + std::to_string(foreign)), 1);
}

// --- Completions ---------------------------------------------------------------------------------

/// Ends its turn with a monitor in the background, which closes after ten minutes and wakes it.
void monitor(SimSelf& self) {
  self.print(claude_tool("m1", R"(,"run_in_background":true)") +
             R"({"type":"system","subtype":"task_started","task_id":"w1","tool_use_id":"m1",)"
             R"("task_type":"local_bash"})"
             "\n" +
             claude_tool_closed("m1") + claude_said("I wait for it") + claude_result());
  self.after(10min, [](SimSelf& me) {
    me.print(R"({"type":"system","subtype":"background_tasks_changed","tasks":[]})"
             "\n");
    end_well(me);
  });
}

TEST_F(Scenario, I042_one_that_waits_for_its_monitor_is_not_told_of_as_done) {
  family.behaves["coder"] = monitor;
  grow({"coder"});
  universe.run_for(5min);
  EXPECT_EQ(family.verdict("coder"), "waiting");
  EXPECT_EQ(family.last_told("lead", "coder"), "waiting");
  EXPECT_EQ(messages_with("lead", "coder"), 0);
  family.kill_agents("coder");
  universe.run_for(5min);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(messages_with("lead", "coder"), 0) << "its successor waits too";
  universe.run_for(10min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(messages_with("lead", "child-done: coder"), 1);
  family.check();
}

/// The child ends after 30 s; from its 29th on something happens to the keeper of its lead.
void expect_told_once(const std::function<void(Family&, std::int64_t keeper)>& happen) {
  Family family;
  family.universe.hints = SimHints::none;
  family.behaves["coder"] = work_for(30s);
  family.root("lead");
  family.universe.run_for(5s);
  family.dispatch("lead", "coder");
  family.universe.run_for(29s);
  happen(family, family.keepers("lead").front());
  ASSERT_TRUE(family.universe.run_until([&] { return family.over("coder"); }, 20s));
  family.universe.run_for(5s);
  if (family.keepers("lead").empty()) family.put_keeper_on("lead");
  family.universe.run_for(2min);
  const Lines inbox = family.inbox("lead");
  EXPECT_EQ(std::ranges::count_if(
                inbox, [](const std::string& line) { return line.contains("child-done: coder"); }),
            1);
  EXPECT_EQ(family.heartbeat("lead").life, 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  EXPECT_EQ(family.status("lead", "coder"), "done");
  family.check();
}

TEST_F(Scenario, I090_a_completion_whose_receiver_is_gone_is_delivered_once) {
  expect_told_once([](Family& one, std::int64_t keeper) { one.universe.kill(keeper); });
  expect_told_once([](Family& one, std::int64_t keeper) {
    one.universe.pause(keeper);
    one.universe.after(60s, [&one, keeper] { one.universe.go_on(keeper); });
  });
}

TEST_F(Scenario, I090_a_completion_is_delivered_once_wherever_its_receiver_dies) {
  bool killed = true;
  for (std::uint64_t n = 1; killed && !HasFailure(); ++n) {
    SCOPED_TRACE("killed at call " + std::to_string(n));
    expect_told_once([&](Family& one, std::int64_t keeper) {
      one.universe.kill_at_call(keeper, n);
      one.universe.after(3s, [&, keeper] { killed = !one.universe.runs(keeper); });
    });
  }
}

// --- Leftovers -----------------------------------------------------------------------------------

/// A run that ends cleanly after 100 s, and after 60 s leaves these behind.
void expect_swept(bool groups, const std::vector<SimChild>& helpers) {
  Kept kept;
  kept.universe.groups = groups;
  kept.universe.behaviours["helper"] = [](SimSelf& self) { self.ignore(Kill::terminate); };
  kept.universe.behaviours["worker"] = [&helpers](SimSelf& self) {
    print_now_and_then(self);
    self.after(60s, [&helpers](SimSelf& me) {
      for (const SimChild& helper : helpers) me.spawn(helper);
    });
    self.exit_after(100s, 0);
  };
  const auto stranger =
      kept.universe.start_command({.command = {"helper"}, .environment = {"PATH=/bin"}});
  kept.start_keeper();
  kept.universe.run_for(90s);
  ASSERT_EQ(kept.universe.pids("helper").size(), helpers.size() + 1);
  kept.universe.run_for(10s + 120s);
  EXPECT_EQ(kept.universe.pids("helper"), std::vector{stranger});
  EXPECT_TRUE(std::ranges::none_of(kept.universe.sent(),
                                   [&](const SimSent& sent) { return sent.to.pid == stranger; }));
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_FALSE(kept.universe.runs(kept.keeper));
}

SimChild helper(bool orphan, std::vector<std::string> without = {}) {
  return {.command = {"helper"},
          .environment = {},
          .without = std::move(without),
          .own_session = true,
          .orphan = orphan};
}

TEST_F(Scenario, I077_helpers_that_left_the_group_are_gone_after_a_clean_exit) {
  expect_swept(false, {helper(false), helper(true)});
  expect_swept(true, {helper(false), helper(true)});
  expect_swept(true, {helper(false, {"TEND_INFRA"}), helper(true, {"TEND_INFRA"})});
}

TEST_F(Scenario, I127_a_successor_waits_until_its_predecessor_is_proven_gone) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_now_and_then;
  kept.universe.behaviours["holder"] = [](SimSelf& self) { self.ignore(Kill::terminate); };
  // Whoever is killed there is back at once: it cannot be ended from here.
  kept.universe.behaviours["nursery"] = [&kept](SimSelf& self) {
    self.every(1ms, [&kept](SimSelf& me) {
      if (kept.universe.runs("holder")) return;
      me.spawn(
          {.command = {"holder"}, .environment = {"TEND_INFRA=" + std::string(Kept::kFolder)}});
    });
  };
  const auto nursery = kept.universe.start_command({.command = {"nursery"}, .environment = {}});
  kept.start_keeper();
  kept.universe.run_for(10s);
  kept.universe.kill(kept.keeper);
  kept.universe.signal(kept.workers().front(), Kill::kill);
  kept.start_keeper();
  kept.universe.run_for(5min);
  EXPECT_TRUE(kept.workers().empty()) << "two at work on one thing";
  EXPECT_EQ(kept.heartbeat().life, 1U);
  const std::string events =
      kept.universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  EXPECT_TRUE(events.contains("something of the old life cannot be ended")) << events;
  EXPECT_TRUE(events.contains("\"needs_person\":true")) << events;
  kept.universe.signal(nursery, Kill::kill);
  kept.universe.run_for(3min);
  EXPECT_FALSE(kept.universe.runs("holder"));
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().life, 2U);
}

// --- Supervisors that restart --------------------------------------------------------------------

TEST_F(Scenario, I079_ten_children_outlive_two_upgrades_of_their_keeper_and_none_gets_a_twin) {
  const Lines names = numbered("coder", 10);
  grow(names);
  for (const bool upgraded : {true, true, false}) {
    std::map<std::string, std::vector<std::int64_t>> before;
    for (const std::string& name : names) before[name] = family.agents(name);
    upgraded ? reload_keeper("lead") : family.kill_keepers("lead");
    universe.run_for(120s);
    EXPECT_EQ(family.keepers("lead").size(), 1U);
    for (const std::string& name : names) {
      EXPECT_EQ(family.agents(name), before[name]) << name;
      EXPECT_EQ(family.keepers_started(name), 1) << name;
      EXPECT_EQ(lives(name), 1) << name;
    }
  }
  EXPECT_EQ(family.heartbeat("lead").children, 10U);
  family.check();
}

TEST_F(Scenario, I084_many_that_start_one_agent_again_at_once_start_it_once) {
  grow({"coder"});
  family.kill_both("lead");
  family.kill_both("coder");
  universe.call_takes = 50ms;  // so a start takes seconds
  for (int i = 0; i < 10; ++i) family.put_keeper_on("coder");
  universe.run_for(2s);
  for (int i = 0; i < 10; ++i) family.put_keeper_on("coder");
  universe.run_for(90s);
  EXPECT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(lives("coder"), 2);
}

TEST_F(Scenario, I155_a_start_that_hangs_on_its_lock_is_ended_and_costs_nothing) {
  universe.behaviours["tool"] = [](SimSelf& self) { self.slow_to_end(5s); };
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    if (self.variable("TEND_LIFE") == "1") self.spawn({.command = {"tool"}, .environment = {}});
  };
  grow({"coder"});
  const auto hung = family.keepers("coder").front();
  family.kill_agents("coder");
  universe.run_for(2s);  // what is left of it is being ended
  ASSERT_TRUE(family.agents("coder").empty());
  universe.pause(hung);
  for (int i = 0; i < 3; ++i) {
    universe.run_for(35s);
    family.put_keeper_on("coder");
    universe.run_for(1s);
    EXPECT_TRUE(universe.runs(hung));
    EXPECT_EQ(family.keepers("coder").size(), 1U) << "the lock is not free";
  }
  universe.run_for(80s);
  EXPECT_FALSE(universe.runs(hung));
  ASSERT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(family.heartbeat("coder").resumes_spent, 1U) << "for its death, and not for the lock";
  EXPECT_EQ(events_with("the keeper of coder hung"), 1);
  family.check();
}

// --- Work ----------------------------------------------------------------------------------------

TEST_F(Scenario, I116_commits_of_a_life_that_died_come_home_with_one_that_adds_nothing) {
  family.have_merging_child("coder");
  const std::string worktree = std::string(Family::kHome) + "/worktrees/coder";
  family.behaves["coder"] = [this, worktree](SimSelf& self) {
    talk(self);
    if (self.variable("TEND_LIFE") != "1") return self.after(60s, end_well);
    self.after(600s, [this, worktree](SimSelf& me) {
      me.write("b", "of the first life");
      universe.repositories[worktree].head["b"] = "of the first life";  // committed
    });
    self.after(610s, [](SimSelf& me) { me.crash(11); });
  };
  start_lead();
  const std::string base = universe.repositories[Family::kWork].commit;
  ASSERT_NE(base, "");
  family.dispatch("lead", "coder");
  ASSERT_TRUE(universe.run_until([&] { return family.over("coder"); }, 20min));
  universe.run_for(10s);
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.status("lead", "coder"), "unmerged") << "nothing new is not nothing";
  EXPECT_EQ(universe.repositories[Family::kWork].commit, base);
  family.kill_agents("lead");  // between two lives of it there is room to merge
  universe.run_for(1min);
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(universe.disk.read(std::string(Family::kWork) + "/b"), "of the first life");
  const SimRepository& work = universe.repositories[Family::kWork];
  EXPECT_EQ(work.commits.at(work.commit).parents.front(), base);
  EXPECT_TRUE(work.branches.contains("tend/coder"));
  EXPECT_EQ(universe.disk.read(worktree + "/b"), "of the first life");
  family.check();
}

TEST_F(Scenario, I117_one_that_died_with_its_supervisor_is_found_with_and_without_a_registry) {
  for (const bool has_registry : {true, false}) {
    SCOPED_TRACE(has_registry);
    Family one;
    one.have_merging_child("coder");
    const std::string worktree = std::string(Family::kHome) + "/worktrees/coder";
    one.behaves["coder"] = [](SimSelf& self) {
      if (self.variable("TEND_LIFE") == "1") self.write("b", "not committed");
      talk(self);
    };
    one.root("lead");
    one.universe.run_for(5s);
    one.dispatch("lead", "coder");
    one.universe.run_for(30s);
    // While it lives it is not begun again: it only gets a keeper.
    const auto living = one.agents("coder");
    one.kill_both("lead");
    one.kill_keepers("coder");
    const Lines due = one.due();
    EXPECT_TRUE(is_in(due, "coder: it lives, and its keeper is gone"));
    one.put_keeper_on("coder");
    one.universe.run_for(5s);
    EXPECT_EQ(one.agents("coder"), living);
    one.kill_both("coder");
    if (!has_registry) one.universe.disk.remove(one.path("lead", ".children"));
    EXPECT_TRUE(one.recover());
    one.universe.run_for(1min);
    EXPECT_EQ(one.agents("coder").size(), 1U);
    EXPECT_EQ(one.heartbeat("coder").life, 2U);
    EXPECT_TRUE(is_in(one.last_command["coder"], "session-of-coder"));
    const auto& refs = one.universe.repositories[Family::kWork].refs;
    EXPECT_TRUE(std::ranges::any_of(refs, [](const auto& ref) {
      const auto file = ref.second.files.find("b");
      return file != ref.second.files.end() && file->second == "not committed";
    }));
    EXPECT_EQ(one.universe.disk.read(worktree + "/b"), "not committed");
    one.check();
  }
}

TEST_F(Scenario, I195_a_full_disk_refuses_new_work_leaves_what_is_there_whole_and_blames_nobody) {
  grow({"coder"});
  const auto agents = [&] { return std::pair(family.agents("lead"), family.agents("coder")); };
  const auto files = [&] {
    return Lines{family.text_of("lead", ".children"), family.text_of("lead", "agent.json"),
                 family.text_of("coder", "agent.json")};
  };
  const auto agents_before = agents();
  const auto files_before = files();
  const auto dispatch_one = [&] {
    return tend_in("lead", {"dispatch", "--name", "late", "--", "claude", "-p", "do it"});
  };
  universe.disk.room = 0;
  const Answer refused = dispatch_one();
  EXPECT_EQ(refused.exit, kExitNo);
  EXPECT_TRUE(refused.err.contains("No space left on device")) << refused.err;
  EXPECT_EQ(refused.out, "");
  universe.run_for(1h);
  EXPECT_EQ(files(), files_before);
  for (const char* name : {"lead", "coder"}) {
    EXPECT_TRUE(parse_heartbeat(family.text_of(name, ".heartbeat"))) << name;
  }
  EXPECT_EQ(agents(), agents_before) << "nobody is ended for what could not be written";
  EXPECT_EQ(lives("late"), 0);
  universe.disk.room.reset();
  universe.run_for(5min);
  EXPECT_EQ(agents(), agents_before);
  const Answer taken = dispatch_one();
  EXPECT_EQ(taken.exit, kExitYes) << taken.err;
  universe.run_for(5s);
  EXPECT_EQ(lives("late"), 1);
  for (const char* name : {"lead", "coder"}) EXPECT_EQ(family.verdict(name), "working") << name;
}

TEST_F(Scenario, I195_a_person_hears_that_the_disk_was_full) {
  grow({"coder"});
  universe.disk.room = 0;
  universe.run_for(1h);
  universe.disk.room.reset();
  universe.run_for(5min);
  EXPECT_GE(events_with("\"needs_person\":true"), 1);
}

// --- Storms --------------------------------------------------------------------------------------

TEST_F(Scenario, I130_thirty_seven_that_died_while_nobody_looked_come_back_a_few_at_a_time) {
  const Lines names = numbered("coder", 37);
  grow(names);
  const auto lead = family.keepers("lead").front();
  universe.pause(lead);
  for (const std::string& name : names) family.kill_both(name);
  universe.run_for(60s);
  note_begins();
  universe.go_on(lead);
  universe.run_for(3min);
  EXPECT_LE(most_begun_within(200ms), 4);
  EXPECT_EQ(begins.size(), names.size());
  for (const std::string& name : names) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(lives(name), 2) << name;
  }
  family.check();
}

TEST_F(
    Scenario,
    I131_forty_that_died_come_back_one_after_the_other_and_an_overloaded_provider_costs_them_nothing) {
  const Lines names = numbered("root", 40);
  for (const std::string& name : names) family.root(name);
  universe.run_for(30s);
  for (const std::string& name : names) {
    family.behaves[name] = [this](SimSelf& self) {
      const auto lately =
          std::ranges::count_if(begins, [&](Instant at) { return self.now() - at < 2s; });
      if (lately <= 4) return talk(self);
      self.print(R"({"type":"result","subtype":"success","is_error":true,"api_error_status":529})"
                 "\n");
      self.exit_after(1s, 1);
    };
  }
  for (const std::string& name : names) family.kill_both(name);
  note_begins();
  EXPECT_EQ(tend({"recover"}).exit, kExitYes);
  EXPECT_LE(most_begun_within(1s), 4);
  universe.run_for(3h);
  for (const std::string& name : names) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(family.verdict(name), "working") << name;
    EXPECT_LE(family.heartbeat(name).resumes_spent, 1U) << name << ": for its death alone";
  }
  family.check();
}

TEST_F(Scenario, I060_fifteen_that_wait_for_the_same_limit_do_not_come_back_in_the_same_second) {
  const Lines names = numbered("root", 15);
  for (const std::string& name : names) {
    family.behaves[name] = [](SimSelf& self) {
      if (self.variable("TEND_LIFE") != "1") return talk(self);
      self.print(R"({"type":"result","subtype":"success","is_error":true,"api_error_status":429})"
                 "\n");
      self.exit_after(1s, 1);
    };
    family.root(name);
  }
  universe.run_for(60s);
  note_begins();
  universe.run_for(20min);
  EXPECT_EQ(begins.size(), names.size());
  EXPECT_LT(most_begun_within(1s), 15);
  for (const std::string& name : names) {
    EXPECT_EQ(family.verdict(name), "working") << name;
    EXPECT_EQ(family.heartbeat(name).resumes_spent, 0U) << name;
  }
}

// --- Clocks and rules ----------------------------------------------------------------------------

TEST_F(Scenario, I165_stamps_of_another_clock_make_nobody_look_dead_and_nobody_look_fresh) {
  grow({"coder"});
  for (const Duration step : {Duration{6s}, Duration{-6s}, Duration{1h}, Duration{-1h}}) {
    universe.step_wall(step);
    universe.run_for(10min);
  }
  EXPECT_EQ(family.keepers_started("coder"), 1);
  EXPECT_EQ(family.keepers_started("lead"), 1);
  EXPECT_EQ(family.verdict("coder"), "working");
  const auto silent = family.keepers("coder").front();
  universe.pause(silent);
  for (const char* file : {".lock", ".heartbeat"}) {
    universe.disk.set_modified(family.path("coder", file), universe.wall() + 1h);
  }
  universe.run_for(115s);
  EXPECT_TRUE(universe.runs(silent));
  universe.run_for(65s);
  EXPECT_FALSE(universe.runs(silent)) << "an hour in the future is no sign of life";
  EXPECT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_EQ(lives("coder"), 1);
  family.check();
}

/// A silent program is kept for 120 s without any promise, then beats are asked of it.
void ask_for_beats(Kept& kept) {
  kept.universe.behaviours["worker"] = [](SimSelf&) {};
  kept.start_keeper();
  kept.universe.run_for(120s);
  kept.universe.order(kept.keeper, Order::hang_up);
  kept.universe.run_for(1ms);
  kept.policy = *built_in_policy("worker");
  ASSERT_TRUE(set_beats(kept.policy, {.suspect = 30s, .stalled = 60s}));
  kept.start_keeper();
}

TEST_F(Scenario, I178_one_that_never_beat_is_a_fault_of_its_wiring_and_is_not_killed) {
  Kept kept;
  ask_for_beats(kept);
  kept.universe.run_for(2h);
  EXPECT_GE(kept.count("action", "warn"), 1);
  EXPECT_EQ(kept.count("action", "kill"), 0);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_TRUE(kept.universe.sent().empty());
  EXPECT_TRUE(kept.text_of("journal.jsonl").contains("check the wiring"));
}

TEST_F(Scenario, I178_a_rule_counts_from_when_it_takes_effect) {
  Kept kept;
  ask_for_beats(kept);
  kept.universe.run_for(29s);
  EXPECT_EQ(kept.count("verdict", "suspect"), 0);
}

}  // namespace
}  // namespace tend
