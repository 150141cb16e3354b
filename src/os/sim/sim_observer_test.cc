// Who watches the simulated machine hears of everything at once, and a long run grows no log.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTree = "/home/user/work";

class Hearing final : public SimObserver {
 public:
  void on_exec(const SimFacts& process) override { add("exec", process); }
  void on_end(const SimFacts& process) override {
    add(process.state == RunState::gone ? "gone" : "end", process);
  }
  void on_signal(const SimSent& sent, const SimFacts& to) override {
    add(fmt::format("signal from {} to a {}", sent.from,
                    to.state == RunState::running ? "running" : "dead"),
        to);
  }
  void on_snapshot(const std::string& worktree, const SimRepository::Commit& commit) override {
    heard.push_back(fmt::format("snapshot {} {}", worktree, commit.files.size()));
  }
  void on_half_a_merge(const std::string& into, std::int64_t by) override {
    heard.push_back(fmt::format("half a merge {} by {}", into, by > 0 ? "a process" : "nobody"));
  }
  void on_merge(const std::string& into, const SimRepository::Commit& merge) override {
    heard.push_back(fmt::format("merge {} {}", into, merge.parents.size()));
  }

  std::vector<std::string> heard;

 private:
  void add(std::string_view what, const SimFacts& process) {
    heard.push_back(fmt::format("{} {}", what, process.command.front()));
  }
};

class SimObserverTest : public testing::Test {
 protected:
  SimObserverTest() {
    universe.observer = &hearing;
    universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(1h, 0); };
  }
  void save(const std::string& ref) {
    const auto asked =
        machine.version_control.snapshot({.worktree = kTree, .ref = ref}, [](const auto&) {});
    universe.run_for(1s);
  }

  Hearing hearing;
  SimUniverse universe;
  Machine& machine = universe.machine();
};

using Heard = std::vector<std::string>;

TEST_F(SimObserverTest, hears_of_a_life_from_its_program_to_its_end) {
  Launch launch;
  launch.command = {"worker"};
  auto child = machine.processes.spawn(launch);
  EXPECT_TRUE(hearing.heard.empty()) << "it waits at its gate";
  const auto process = (*child)->release();
  EXPECT_EQ(hearing.heard, (Heard{"exec worker"}));
  universe.run_for(2h);
  EXPECT_EQ(hearing.heard, (Heard{"exec worker", "end worker"}));
}

TEST_F(SimObserverTest, hears_of_a_signal_before_it_has_any_effect) {
  const std::int64_t pid = universe.start_process("tool");
  universe.kill(pid);
  EXPECT_EQ(hearing.heard, (Heard{"exec tool", "signal from 0 to a running tool", "end tool"}));
}

TEST_F(SimObserverTest, hears_of_everything_that_ends_with_a_boot) {
  universe.start_command({.command = {"worker"}});
  hearing.heard.clear();
  universe.reboot();
  EXPECT_EQ(hearing.heard, (Heard{"gone init", "gone test", "gone worker"}));
}

TEST_F(SimObserverTest, hears_of_a_snapshot_once) {
  universe.repositories[kTree].head = {{"a", "1"}};
  universe.disk.write("/home/user/work/a", "2");
  save("refs/tend/a/1");
  save("refs/tend/a/1");
  EXPECT_EQ(hearing.heard, (Heard{"snapshot /home/user/work 1"}));
}

TEST_F(SimObserverTest, hears_of_a_merge) {
  const std::string side = "/home/user/side";
  universe.repositories[kTree].head = {{"a", "1"}};
  universe.disk.write("/home/user/work/a", "1");
  std::string commit;
  const auto made = machine.version_control.make_worktree(
      {.repository = kTree, .path = side, .branch = "side"}, [](const auto&) {});
  universe.run_for(1s);
  universe.disk.write(side + "/b", "2");
  const auto committed = machine.version_control.commit(
      {.worktree = side}, [&](const Result<Committed>& done) { commit = done->commit; });
  universe.run_for(1s);
  const auto merged = machine.version_control.merge(
      {.into = kTree, .commit = commit, .message = "m"}, [](const auto&) {});
  universe.run_for(1s);
  EXPECT_EQ(hearing.heard,
            (Heard{"half a merge /home/user/work by a process", "merge /home/user/work 2"}));
}

TEST_F(SimObserverTest, is_told_while_no_log_is_kept) {
  universe.keeps_log = false;
  const auto noted = universe.log().size();
  const std::int64_t pid = universe.start_command({.command = {"worker"}});
  const auto asked = machine.processes.run({.command = {"tool"}}, [](const auto&) {});
  universe.kill(pid);
  universe.run_for(1s);
  EXPECT_EQ(universe.log().size(), noted);
  EXPECT_TRUE(universe.sent().empty());
  EXPECT_TRUE(universe.ran().empty());
  EXPECT_EQ(hearing.heard.size(), 3U);
}

TEST_F(SimObserverTest, can_look_at_a_process_without_a_copy) {
  const std::int64_t pid = universe.start_command({.command = {"worker"}});
  ASSERT_NE(universe.find(pid), nullptr);
  EXPECT_EQ(universe.find(pid)->command.front(), "worker");
  EXPECT_EQ(universe.find(pid + 1), nullptr);
}

}  // namespace
}  // namespace tend
