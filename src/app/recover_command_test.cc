// `tend recover` as people see it; who is put into which bucket stands in run/tree_stop_test.cc.
#include "app/recover_command.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "app/growing_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class RecoverCommand : public Growing {
 protected:
  /// lead -> coder, and then all of it is gone with the machine.
  void lose_all() {
    start_lead();
    family.dispatch("lead", "coder");
    universe.run_for(30s);
    universe.reboot();
    universe.run_for(1s);
  }
  std::unique_ptr<File> hold_lock() {
    const auto home = universe.machine("other").folders.open(Family::kHome);
    auto lock = lock_recovery(**home);
    EXPECT_TRUE(lock && *lock);
    return *std::move(lock);
  }
};

TEST_F(RecoverCommand, says_that_there_is_nothing_to_recover_in_an_empty_home) {
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "nothing to recover\n");
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(tend({"recover", "--json"}).out,
            R"({"dry_run":false,"due":0,"agents":[],"lost_worktrees":[]})"
            "\n");
}

TEST_F(RecoverCommand, leaves_alone_what_is_kept) {
  start_lead();
  EXPECT_EQ(tend({"recover"}).out, "nothing to recover\n");
  EXPECT_EQ(family.keepers_started("lead"), 1);
}

TEST_F(RecoverCommand, brings_everybody_back_and_says_whom_and_why) {
  lose_all();
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out,
            "resume    lead: it died with the machine\n"
            "resume    coder: it died with the machine (by the keeper of lead)\n"
            "recovered\n");
  universe.run_for(10s);
  for (const char* name : {"lead", "coder"}) {
    EXPECT_EQ(family.agents(name).size(), 1U) << name;
    EXPECT_EQ(family.heartbeat(name).life, 2U) << name;
  }
  EXPECT_EQ(tend({"recover"}).out, "nothing to recover\n");
  family.check();
}

TEST_F(RecoverCommand, does_nothing_if_it_is_only_asked) {
  lose_all();
  const Answer answer = tend({"recover", "--dry-run"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.out.ends_with("2 would be recovered\n")) << answer.out;
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 3) << answer.out;
  universe.run_for(1min);
  EXPECT_TRUE(universe.pids("claude").empty());
  EXPECT_TRUE(universe.pids(Family::kTend).empty());
  const auto lock = hold_lock();
  EXPECT_EQ(tend({"recover", "-n"}).out, answer.out) << "who only looks waits for nobody";
}

TEST_F(RecoverCommand, says_it_as_json) {
  lose_all();
  const auto found = tend({"recover", "--dry-run", "--json"}).json();
  EXPECT_EQ(found["dry_run"], true);
  EXPECT_EQ(found["due"], 2);
  ASSERT_EQ(found["agents"].size(), 2U);
  EXPECT_EQ(found["agents"][0]["agent"], "lead");
  EXPECT_EQ(found["agents"][0]["by"], "recover");
  EXPECT_EQ(found["agents"][1]["agent"], "coder");
  EXPECT_EQ(found["agents"][1]["folder"], family.folders["coder"]);
  EXPECT_EQ(found["agents"][1]["bucket"], "resume");
  EXPECT_NE(found["agents"][1]["why"], "");
  EXPECT_EQ(found["agents"][1]["by"], "lead");
  const Answer done = tend({"recover", "--json"});
  EXPECT_EQ(done.exit, kExitYes) << done.err;
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 1) << done.out;
  EXPECT_EQ(done.json()["dry_run"], false);
}

TEST_F(RecoverCommand, waits_for_another_one_and_finds_nothing_left) {
  lose_all();
  auto lock = hold_lock();
  universe.after(10s, [&] {
    family.put_keeper_on("lead");
    universe.after(20s, [&] { lock.reset(); });
  });
  const Instant before = universe.now();
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_GE(universe.now() - before, 30s);
  EXPECT_EQ(answer.err, "tend recover: waits for another one in this home\n");
  EXPECT_EQ(answer.out, "nothing to recover\n");
  EXPECT_EQ(family.keepers_started("lead"), 2);
}

TEST_F(RecoverCommand, does_not_wait_for_another_one_for_ever) {
  lose_all();
  const auto lock = hold_lock();
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(
      answer.err.ends_with("tend recover: another `tend recover` is at work in this home; "
                           "try again when it is done\n"))
      << answer.err;
  EXPECT_TRUE(universe.pids("claude").empty());
}

TEST_F(RecoverCommand, names_one_that_cannot_be_read_and_leaves_it_alone) {
  start_lead();
  family.kill_both("lead");
  universe.disk.write(family.path("lead", "agent.json"), "{");
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("unknown   lead: ")) << answer.out;
  EXPECT_TRUE(answer.out.ends_with("\nnothing to recover\n")) << answer.out;
  EXPECT_TRUE(family.keepers("lead").empty());
  EXPECT_EQ(tend({"recover", "--json"}).json()["agents"][0]["bucket"], "unknown");
}

TEST_F(RecoverCommand, lists_work_trees_that_are_no_agents_and_leaves_them_there) {
  family.have_merging_child("coder");
  const std::string lost = family.make_worktree("lost");
  start_lead();
  family.dispatch("lead", "coder");
  universe.run_for(10s);
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.out, "worktree  " + lost +
                            ": no agent's; `git worktree remove` frees it, if nothing in it is "
                            "needed\nnothing to recover\n");
  EXPECT_EQ(tend({"recover", "--json"}).json()["lost_worktrees"], nlohmann::json::array({lost}));
  EXPECT_EQ(universe.disk.read(lost + "/a"), "1");
}

TEST_F(RecoverCommand, says_who_is_not_back_in_time_and_exits_1) {
  lose_all();
  family.cannot_be_kept["coder"] = true;
  const Instant before = universe.now();
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend recover: coder is not recovered after 2m: "))
      << answer.err;
  EXPECT_TRUE(answer.err.ends_with("; see `tend explain coder`\n")) << answer.err;
  EXPECT_LE(universe.now() - before, 122s);
  EXPECT_EQ(family.agents("lead").size(), 1U);
}

TEST_F(RecoverCommand, says_that_work_waits_on_its_branch_and_is_nobodys_to_merge_now) {
  family.have_merging_child("coder");
  start_lead();
  family.dispatch("lead", "coder");
  universe.run_for(2min);
  const Answer answer = tend({"recover"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out,
            "unmerged  coder: it ended well, and its work is not merged; `tend merge "
            "coder`\nnothing to recover\n");
}

}  // namespace
}  // namespace tend
