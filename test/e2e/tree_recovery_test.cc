// Trees of agents under kill -9: whoever is left, or `tend recover`, brings back what died, and
// nothing ever runs twice.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tree_testing.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kAll{"root", "middle", "leaf", "other"};

class TreeRecoveryTest : public TreeE2e {
 protected:
  /// root over middle over leaf, and root over other; returns when all are at work.
  void grow(const Arguments& options = {"--limit", "orphan=10m"}) {
    plan({{.name = "root", .children = {"middle", "other"}},
          {.name = "middle", .children = {"leaf"}},
          {.name = "leaf"},
          {.name = "other"}},
         options);
    keep_root("root", Arguments{"--worktree", "new"} + options);
    await_work(kAll);
  }
  void kill_everything() {
    std::vector<pid_t> pids;
    for (const std::string& name : kAll) pids.push_back(keeper_of(name));
    for (const std::string& name : kAll) pids.push_back(process_of(name));
    kill_all(pids);
  }
  [[nodiscard]] long spent(const std::string& name) const {
    const Json heartbeat = says(name);
    return heartbeat.contains("budget") ? number_in(heartbeat["budget"], "spent") : -1;
  }
  /// All that is recorded becomes that of another boot.
  void pretend_other_boot() const {
    const std::string boot = lines_of(read_file("/proc/sys/kernel/random/boot_id")).front();
    const std::string other = "00000000-1111-2222-3333-444444444444";
    ASSERT_EQ(boot.size(), other.size());
    for (const std::string& name : kAll) {
      for (const char* file : {".lock", ".heartbeat", "journal.jsonl"}) {
        const Path path = folder_of(name) / file;
        const std::string text = read_file(path);
        ASSERT_TRUE(text.contains(boot)) << path;
        std::fstream in_place(path, std::ios::in | std::ios::out | std::ios::binary);
        for (auto at = text.find(boot); at != std::string::npos; at = text.find(boot, at + 1)) {
          in_place.seekp(static_cast<std::streamoff>(at));
          in_place << other;
        }
      }
    }
  }
  /// Who got a new keeper, in that order.
  [[nodiscard]] Names new_keepers() const {
    Names names;
    for (const Json& event : events()) {
      if (text_in(event, "text").starts_with("a new keeper goes on")) {
        names.push_back(text_in(event, "agent"));
      }
    }
    return names;
  }
  /// Brings back what is gone; a second time there is nothing to do.
  void recover() {
    const auto ran = tend({"recover"});
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_TRUE(ran.out.ends_with("\nrecovered\n")) << ran.out << ran.err;
    expect_nothing_to_recover();
  }
};

// One of them.

enum class Dies { keeper, agent, both };

struct Death {
  std::string who;
  Dies what;
};

std::string words(const testing::TestParamInfo<Death>& death) {
  constexpr const char* kWords[] = {"keeper", "agent", "keeper_and_agent"};
  return death.param.who + "_" + kWords[static_cast<int>(death.param.what)];
}

class TreeDeathTest : public TreeRecoveryTest, public testing::WithParamInterface<Death> {};

TEST_P(TreeDeathTest, is_survived_and_nobody_else_notices) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const auto [who, what] = GetParam();
  const auto before = processes_of(kAll);
  std::vector<pid_t> victims;
  if (what != Dies::agent) victims.push_back(keeper_of(who));
  if (what != Dies::keeper) victims.push_back(process_of(who));
  ASSERT_NO_FATAL_FAILURE(kill_all(victims));
  // Above the root is nobody who would bring it back by himself.
  if (who == "root" && what == Dies::both) recover();
  ASSERT_TRUE(await_work(kAll));
  for (const auto& [name, pid] : before) {
    const bool died = name == who && what != Dies::keeper;
    EXPECT_EQ(process_of(name) != pid, died) << name;
    EXPECT_EQ(ledger()[name].starts.size(), died ? 2U : 1U) << name;
  }
  expect_nothing_to_recover();
  let_go();
  expect_good_end(kAll, "root");
}

INSTANTIATE_TEST_SUITE_P(Of, TreeDeathTest,
                         testing::Values(Death{"root", Dies::keeper}, Death{"root", Dies::agent},
                                         Death{"root", Dies::both}, Death{"middle", Dies::keeper},
                                         Death{"middle", Dies::agent}, Death{"middle", Dies::both},
                                         Death{"leaf", Dies::keeper}, Death{"leaf", Dies::agent},
                                         Death{"leaf", Dies::both}),
                         words);

// All of them.

TEST_F(TreeRecoveryTest, when_all_keepers_die_new_ones_are_put_on_and_no_agent_notices) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const auto before = processes_of(kAll);
  std::vector<pid_t> keepers;
  for (const std::string& name : kAll) keepers.push_back(keeper_of(name));
  ASSERT_NO_FATAL_FAILURE(kill_all(keepers));
  const auto dry = tend({"recover", "--dry-run"});
  EXPECT_TRUE(dry.out.contains("attach    root: ")) << dry.out;
  EXPECT_TRUE(dry.out.contains("4 would be recovered")) << dry.out;
  recover();
  ASSERT_TRUE(await_work(kAll));
  EXPECT_EQ(processes_of(kAll), before);
  let_go();
  expect_good_end(kAll, "root");
}

TEST_F(TreeRecoveryTest, when_everything_dies_all_is_brought_back_and_goes_on) {
  ASSERT_NO_FATAL_FAILURE(grow());
  ASSERT_NO_FATAL_FAILURE(kill_everything());
  recover();
  ASSERT_TRUE(await_work(kAll));
  for (const std::string& name : kAll) EXPECT_EQ(ledger()[name].starts.size(), 2U) << name;
  let_go();
  expect_good_end(kAll, "root");
}

TEST_F(TreeRecoveryTest, of_two_recoveries_at_once_one_acts) {
  ASSERT_NO_FATAL_FAILURE(grow());
  ASSERT_NO_FATAL_FAILURE(kill_everything());
  Background first = start_tend({"recover"});
  Background second = start_tend({"recover"});
  const std::string both = first.wait().out + second.wait().out;
  EXPECT_TRUE(both.contains("\nrecovered\n")) << both;
  EXPECT_TRUE(both.contains("nothing to recover\n")) << both;
  ASSERT_TRUE(await_work(kAll));
  for (const std::string& name : kAll) EXPECT_EQ(ledger()[name].starts.size(), 2U) << name;
  let_go();
  expect_good_end(kAll, "root");
}

TEST_F(TreeRecoveryTest,
       a_keeper_that_dies_while_a_recovery_counts_on_it_is_begun_like_the_others) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const pid_t root = keeper_of("root");
  const pid_t leaf = keeper_of("leaf");
  ASSERT_TRUE(signal_process_of(home(), root, SIGSTOP));  // it holds its lock and does nothing
  ASSERT_TRUE(signal_process_of(home(), leaf, SIGSTOP));  // it would put one on its parent itself
  ASSERT_NO_FATAL_FAILURE(kill_all({process_of("root"), keeper_of("middle")}));
  Background recovery = start_tend({"recover"});
  ASSERT_TRUE(eventually([&] { return recovery.out().contains("(by the keeper of root)"); }));
  ASSERT_TRUE(signal_process_of(home(), leaf, SIGCONT));
  ASSERT_TRUE(kill(root));
  const auto ran = recovery.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  ASSERT_TRUE(await_work(kAll));
  let_go();
  expect_good_end(kAll, "root");
}

TEST_F(TreeRecoveryTest, a_dispatch_that_was_cut_off_was_never_made) {
  plan({{.name = "root", .children = {"a"}}, {.name = "a"}, {.name = "cut"}});
  keep_root("root");
  ASSERT_TRUE(await_work({"root", "a"}));
  // As far as it came: what it was to be is written, that it was asked for is not.
  Json file = Json::parse(read_file(folder_of("a") / "agent.json"));
  file["agent"] = "cut";
  const Path cut = folder_of("a").parent_path() / "20260308-211516-k2x9";
  fs::create_directory(cut);
  fs::permissions(cut, fs::perms::owner_all);
  std::ofstream(cut / "agent.json") << file << "\n";
  fs::permissions(cut / "agent.json", fs::perms::owner_read | fs::perms::owner_write);
  expect_nothing_to_recover();
  ASSERT_NO_FATAL_FAILURE(kill_all({keeper_of("root"), process_of("root")}));
  recover();
  ASSERT_TRUE(await_work({"root", "a"}));
  EXPECT_EQ(text_in(heartbeat_of(cut), "ended_by"), "its dispatch was cut off");
  const auto again =
      run({.arguments = Arguments{"env", "-C", worktree_of("root").string(), TEND_BINARY,
                                  "dispatch", "--parent", "root", "--role", "part", "--name", "cut",
                                  "--policy", "agent", "--worktree", "new", "--"} +
                        agent("cut")});
  EXPECT_EQ(again.exit, 0) << again.err;
  let_go();
  expect_good_end({"root", "a", "cut"}, "root");
}

// Without a parent.

TEST_F(TreeRecoveryTest, a_parent_that_comes_back_in_time_finds_all_its_children_at_work) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const Names below{"middle", "leaf", "other"};
  const auto before = processes_of(below);
  ASSERT_NO_FATAL_FAILURE(kill_all({keeper_of("root"), process_of("root")}));
  ASSERT_TRUE(eventually([&] { return has_event("its parent is gone, keeper and agent"); }));
  recover();
  ASSERT_TRUE(await_work(kAll));
  EXPECT_TRUE(eventually([&] { return has_event("its parent is back and keeps it"); }));
  EXPECT_EQ(processes_of(below), before);
  let_go();
  expect_good_end(kAll, "root");
}

TEST_F(TreeRecoveryTest, orphans_end_with_their_work_saved_and_are_brought_back_for_nothing) {
  ASSERT_NO_FATAL_FAILURE(grow({"--limit", "orphan=2s", "--limit", "grace=2s"}));
  const pid_t middle = process_of("middle");
  const pid_t leaf = process_of("leaf");
  ASSERT_NO_FATAL_FAILURE(kill_all({keeper_of("root"), process_of("root")}));
  ASSERT_TRUE(await_end({"other"}));
  // The keeper of the middle one stays for the leaf, which still has a parent.
  ASSERT_TRUE(eventually([&] { return !is_running(middle); }));
  EXPECT_TRUE(is_running(keeper_of("middle")));
  EXPECT_EQ(process_of("leaf"), leaf);
  EXPECT_TRUE(is_at_work("leaf")) << says("leaf");
  EXPECT_EQ(text_in(says("other"), "outcome"), "orphaned") << says("other");
  EXPECT_EQ(text_in(says("other"), "ended_by"), "its parent was gone") << says("other");
  const std::string saved = git(repository(), {"ls-tree", "--name-only", "refs/tend/other/1"});
  EXPECT_TRUE(saved.contains("other.txt\n")) << saved;
  recover();
  ASSERT_TRUE(await_work(kAll));
  EXPECT_EQ(process_of("leaf"), leaf);
  for (const char* name : {"middle", "leaf", "other"}) EXPECT_EQ(spent(name), 0) << name;
  let_go();
  expect_good_end(kAll, "root");
}

// A restart of the machine.

TEST_F(TreeRecoveryTest, after_a_restart_of_the_machine_all_come_back_roots_first_and_for_nothing) {
  ASSERT_NO_FATAL_FAILURE(grow());
  ASSERT_NO_FATAL_FAILURE(kill_everything());
  ASSERT_NO_FATAL_FAILURE(pretend_other_boot());
  const auto dry = tend({"recover", "--dry-run"});
  EXPECT_TRUE(dry.out.starts_with("resume    root: it died with the machine\n")) << dry.out;
  recover();
  ASSERT_TRUE(await_work(kAll));
  const auto order = new_keepers();
  ASSERT_EQ(order.size(), kAll.size());
  EXPECT_EQ(order.front(), "root");
  EXPECT_EQ(order.back(), "leaf");
  for (const std::string& name : kAll) {
    EXPECT_EQ(spent(name), 0) << name << ": " << says(name);
    EXPECT_EQ(ledger()[name].starts.size(), 2U) << name;
  }
  let_go();
  expect_good_end(kAll, "root");
}

// At any moment.

class TreeChaosTest : public TreeRecoveryTest, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr int kMostKeepers = 3;  // of one agent: after five nobody replaces it for a while
  static constexpr int kMostDeaths = 2;   // of one agent: the third alike is held

  /// Kills a keeper, an agent or both, wherever they are in their work.
  void strike(bool only_keepers) {
    const std::string& who = kAll[chance_() % kAll.size()];
    const auto what = only_keepers ? Dies::keeper : static_cast<Dies>(chance_() % 3);
    const pid_t keeper = keeper_of(who);
    if (what != Dies::agent && keepers_[who] < kMostKeepers && kill(keeper)) {
      ++keepers_[who];
      ++strikes_;
    }
    const pid_t agent = process_of(who);
    if (what != Dies::keeper && deaths_[who] < kMostDeaths && kill(agent)) {
      ++deaths_[who];
      ++strikes_;
    }
  }
  void pause() { std::this_thread::sleep_for(std::chrono::milliseconds{chance_() % 300}); }
  void recover_whatever() {
    const auto ran = tend({"recover"});
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  }

  int strikes_ = 0;  // that hit

 private:
  std::minstd_rand chance_{GetParam()};
  std::map<std::string, int> keepers_;
  std::map<std::string, int> deaths_;
};

TEST_P(TreeChaosTest, kills_at_any_moment_lose_nothing_and_start_nothing_twice) {
  plan({{.name = "root", .children = {"middle", "other"}},
        {.name = "middle", .children = {"leaf"}},
        {.name = "leaf"},
        {.name = "other"}});
  cuts_dispatches_ = true;
  keep_root("root");
  for (int i = 0; i < 12; ++i) {
    strike(false);
    pause();
    if (i % 4 == 3) recover_whatever();
  }
  ASSERT_TRUE(await_work(kAll));
  let_go();
  for (int i = 0; i < 12; ++i) {
    strike(true);
    pause();
    if (i % 4 == 3) recover_whatever();
  }
  expect_good_end(kAll, "root");
  EXPECT_GT(strikes_, 6);
}

INSTANTIATE_TEST_SUITE_P(Seed, TreeChaosTest, testing::Values(1U, 2U, 3U, 4U));

}  // namespace
}  // namespace tend::e2e
