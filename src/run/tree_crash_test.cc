// kill -9 at every call of whoever acts on a tree: who dispatches, who recovers, and the keepers
// that stop a tree and bring work home. Whatever the moment, nobody runs twice, nothing that was
// requested is lost, and a scan finds nothing left to do.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class TreeCrash : public testing::Test {
 protected:
  /// Plays with a kill at the 1st, 2nd, ... call until one is played to its end undisturbed.
  void play_at_every_call(const std::function<bool(std::uint64_t)>& was_killed) {
    std::uint64_t points = 0;
    while (was_killed(points + 1)) {
      ++points;
      ASSERT_FALSE(HasFailure()) << "killed at call " << points;
    }
    ASSERT_FALSE(HasFailure()) << "undisturbed";
    EXPECT_GT(points, 10U);
    RecordProperty("points", static_cast<int>(points));
    std::cout << "crash points: " << points << "\n";
  }
};

/// Runs it in that process of ours, which is killed at its n-th call. True if it was.
bool is_killed_in(Family& family, std::int64_t pid, std::uint64_t n,
                  const std::function<void()>& what) {
  family.universe.kill_at_call(pid, n);
  try {
    what();
  } catch (const SimKilled&) {
    return true;
  }
  return !family.universe.runs(pid);
}

void settle_with_new_keeper(Family& family, const std::string& name, Duration time) {
  family.universe.run_for(2s);
  if (!family.over(name) && family.keepers(name).empty()) family.put_keeper_on(name);
  family.universe.run_for(time);
}

TEST_F(TreeCrash, of_who_dispatches_loses_nothing_that_was_registered) {
  play_at_every_call([](std::uint64_t n) {
    Family family;
    family.root("lead");
    family.universe.run_for(3s);
    const auto pid = family.start_dispatcher();
    const bool killed = is_killed_in(family, pid, n, [&] {
      const auto done = family.dispatch_in(pid, "lead", "coder");
      EXPECT_TRUE(done) << done.error().text;
    });
    family.universe.run_for(30s);
    const bool is_registered = family.text_of("lead", ".children").contains("coder");
    const bool runs = family.folders.contains("coder") && family.agents("coder").size() == 1;
    EXPECT_EQ(runs, is_registered);
    EXPECT_TRUE(killed || runs);
    EXPECT_EQ(family.due(), Words{});
    // Whatever was left does not stand in the way of the next one.
    family.dispatch("lead", "second");
    family.universe.run_for(10s);
    EXPECT_EQ(family.agents("second").size(), 1U);
    EXPECT_EQ(family.agents("lead").size(), 1U);
    EXPECT_EQ(family.due(), Words{});
    family.check();
    return killed;
  });
}

TEST_F(TreeCrash, of_the_keeper_that_starts_a_child_starts_it_once) {
  play_at_every_call([](std::uint64_t n) {
    Family family;
    family.root("lead");
    family.universe.run_for(3s);
    const auto keeper = family.keepers("lead").front();
    family.universe.kill_at_call(keeper, n);
    family.dispatch("lead", "coder");
    family.universe.run_for(2s);
    const bool killed = !family.universe.runs(keeper);
    settle_with_new_keeper(family, "lead", 30s);
    EXPECT_EQ(family.agents("coder").size(), 1U);
    EXPECT_EQ(family.heartbeat("coder").life, 1U);
    EXPECT_EQ(family.status("lead", "coder"), "active");
    EXPECT_EQ(family.due(), Words{});
    family.check();
    return killed;
  });
}

TEST_F(TreeCrash, of_who_recovers_is_made_good_by_the_next_one) {
  play_at_every_call([](std::uint64_t n) {
    Family family;
    family.root("lead");
    family.root("other");
    family.universe.run_for(3s);
    family.dispatch("lead", "coder");
    family.universe.run_for(10s);
    family.universe.reboot();
    const auto pid = family.universe.start_process("recover");
    const bool killed = is_killed_in(family, pid, n, [&] { family.recover_in(pid); });
    family.universe.run_for(100ms);
    EXPECT_TRUE(family.recover());
    family.universe.run_for(90s);
    for (const char* name : {"lead", "other", "coder"}) {
      EXPECT_EQ(family.agents(name).size(), 1U) << name;
      EXPECT_EQ(family.heartbeat(name).life, 2U) << name;
      EXPECT_EQ(family.heartbeat(name).resumes_spent, 0U) << name;
    }
    EXPECT_EQ(family.due(), Words{});
    family.check();
    return killed;
  });
}

void expect_recovered(Family& family) {
  for (const char* name : {"lead", "coder"}) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(family.heartbeat(name).life, 2U) << name;
    EXPECT_EQ(family.heartbeat(name).resumes_spent, 0U) << name;
    EXPECT_TRUE(is_in(family.last_command[name], "session-of-" + std::string(name))) << name;
  }
  EXPECT_EQ(family.due(), Words{});
  family.check();
}

void grow_two(Family& family) {
  family.root("lead");
  family.universe.run_for(3s);
  family.dispatch("lead", "coder");
  family.universe.run_for(10s);
}

TEST_F(TreeCrash, of_the_keeper_that_recovers_its_children_is_made_good_by_another) {
  play_at_every_call([](std::uint64_t n) {
    Family family;
    grow_two(family);
    family.universe.reboot();
    const auto keeper = family.put_keeper_on("lead");
    family.universe.kill_at_call(keeper, n);
    family.universe.run_for(500ms);
    const bool killed = !family.universe.runs(keeper);
    settle_with_new_keeper(family, "lead", 90s);
    expect_recovered(family);
    return killed;
  });
}

TEST_F(TreeCrash, of_a_keeper_that_is_shut_down_keeps_nobody_from_going_on_after_the_reboot) {
  play_at_every_call([](std::uint64_t n) {
    Family family;
    for (const char* name : {"lead", "coder"}) {
      family.behaves[name] = [](SimSelf& self) {
        talk(self);
        self.slow_to_end(1s);
      };
    }
    grow_two(family);
    const auto keeper = family.keepers("lead").front();
    family.universe.kill_at_call(keeper, n);
    for (const auto pid : family.universe.pids(Family::kTend)) {
      family.universe.order(pid, Order::terminate);
    }
    family.universe.run_for(5s);
    const bool killed =
        family.universe.facts(keeper)->exit == ExitStatus{ExitStatus::How::signal, 9};
    EXPECT_EQ(family.begun, (Words{"lead 1", "coder 1"}));
    family.universe.reboot();
    EXPECT_TRUE(family.recover());
    family.universe.run_for(90s);
    expect_recovered(family);
    return killed;
  });
}

/// One of the keepers of a tree is killed while the tree is stopped.
bool stop_tree_with_a_kill(const std::string& whose, std::uint64_t n) {
  Family family;
  family.root("lead");
  family.universe.run_for(2s);
  family.dispatch("lead", "mid");
  family.universe.run_for(2s);
  family.dispatch("mid", "leaf");
  family.universe.run_for(5s);
  const std::size_t begun = family.begun.size();
  const auto keeper = family.keepers(whose).front();
  family.universe.kill_at_call(keeper, n);
  family.order("lead", Want::stop, true);
  family.universe.run_for(5s);
  // Its end is no kill: then it was undisturbed.
  const auto exit = family.universe.facts(keeper)->exit;
  const bool killed = exit == ExitStatus{ExitStatus::How::signal, 9};
  settle_with_new_keeper(family, "lead", 60s);
  EXPECT_EQ(family.begun.size(), begun) << "somebody was begun";
  for (const char* name : {"lead", "mid", "leaf"}) {
    EXPECT_TRUE(family.agents(name).empty()) << name;
    EXPECT_TRUE(family.keepers(name).empty()) << name;
    EXPECT_EQ(family.outcome(name), "stopped") << name;
  }
  EXPECT_EQ(family.due(), Words{});
  family.check();
  return killed;
}

TEST_F(TreeCrash, of_the_keeper_at_the_top_does_not_keep_a_tree_from_being_stopped) {
  play_at_every_call([](std::uint64_t n) { return stop_tree_with_a_kill("lead", n); });
}

TEST_F(TreeCrash, of_a_keeper_in_the_middle_does_not_keep_a_tree_from_being_stopped) {
  play_at_every_call([](std::uint64_t n) { return stop_tree_with_a_kill("mid", n); });
}

struct MergePlay {
  bool killed = false;
  bool left_half = false;  // a merge was in its middle when its keeper was gone
};
/// One of the keepers is killed from the child's end on, up to the lead's.
MergePlay merge_with_a_kill(const std::string& whose, std::uint64_t n) {
  Family family;
  family.have_merging_child("coder");
  family.universe.version_control_takes = 2s;
  family.behaves["lead"] = work_for(45s);
  family.root("lead");
  family.universe.run_for(1s);
  family.dispatch("lead", "coder");
  family.universe.run_for(whose == "lead" ? 43s : 29s);
  const auto keeper = family.keepers(whose).front();
  family.universe.kill_at_call(keeper, n);
  family.universe.run_for(20s);
  const auto exit = family.universe.facts(keeper)->exit;
  const MergePlay play{.killed = exit == ExitStatus{ExitStatus::How::signal, 9},
                       .left_half = !family.universe.repositories[Family::kWork].merging.empty()};
  settle_with_new_keeper(family, "lead", 120s);
  EXPECT_TRUE(family.over("lead"));
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.outcome("lead"), "done");
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(family.universe.repositories[Family::kWork].merging, "");
  EXPECT_EQ(family.universe.disk.read(std::string(Family::kWork) + "/b").value_or(""), "of coder");
  EXPECT_EQ(family.status("lead", "coder"), "done");
  EXPECT_EQ(family.due(), Words{});
  family.check();
  return play;
}

TEST_F(TreeCrash, of_the_keeper_that_brings_work_home_leaves_one_merge_and_no_half_of_one) {
  int halves = 0;
  play_at_every_call([&](std::uint64_t n) {
    const MergePlay play = merge_with_a_kill("lead", n);
    if (play.left_half) ++halves;
    return play.killed;
  });
  EXPECT_GT(halves, 0) << "none was killed in the middle of a merge";
}

TEST_F(TreeCrash, of_the_keeper_whose_childs_work_is_committed_leaves_one_merge_too) {
  play_at_every_call([](std::uint64_t n) { return merge_with_a_kill("coder", n).killed; });
}

}  // namespace
}  // namespace tend
