// `tend salvage`: what was saved, shown and had back, on a simulated machine.
#include "app/salvage_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/reading_test.h"
#include "app/salvage.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class SalvageCommand : public testing::Test {
 protected:
  static constexpr const char* kWork = "/home/user";  // where the commands run

  /// The working folder is a repository in which work of an agent was saved.
  void save_commit(const std::string& ref, const std::string& message) {
    SimUniverse& universe = reading.universe;
    universe.repositories.try_emplace(kWork);
    universe.disk.write(std::string(kWork) + "/main.cc", "int main() {}\n");
    bool saved = false;
    const auto asked = universe.machine().version_control.snapshot(
        {.worktree = kWork, .ref = ref, .message = message, .exclude = {Kept::kHome}},
        [&](const Result<Snapshot>& snapshot) { saved = snapshot && snapshot->ref == ref; });
    universe.run_for(1s);
    ASSERT_TRUE(saved);
  }
  /// An agent that worked where there is no version control was stopped.
  void save_copy() {
    reading.agent.worktree = "/home/user/plain";
    reading.universe.behaviours["worker"] = print_now_and_then;
    reading.start_keeper();
    reading.universe.run_for(5s);
    reading.universe.disk.write("/home/user/plain/notes/a.txt", "hello");
    reading.universe.disk.write("/home/user/plain/b.txt", "there");
    reading.say({.want = Want::stop, .by = "tend stop", .at = 1});
    reading.universe.run_for(60s);
    ASSERT_TRUE(reading.over());
  }

  Reading reading;
};

const std::string kRef = "refs/tend/coder/3";
const std::string kCopy = Kept::path("salvage/1-1");

TEST_F(SalvageCommand, says_that_nothing_was_saved) {
  const Answer answer = reading.tend({"salvage", "list"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "no work was saved for this repository\n");
  EXPECT_EQ(reading.tend({"salvage", "list", "--json"}).out, "");
}

TEST_F(SalvageCommand, lists_commits) {
  save_commit(kRef, "Work of coder, life 3\n\nsilent for 12 min");
  save_commit("refs/tend/a-0badcafe/1-2", "Work of a b, life 1\n\nx");
  const Answer answer = reading.tend({"salvage", "list"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("WHAT ")) << answer.out;
  EXPECT_TRUE(answer.has("\nrefs/tend/coder/3         coder  3  ")) << answer.out;
  EXPECT_TRUE(answer.has("\nrefs/tend/a-0badcafe/1-2  a b    1-2  ")) << answer.out;
}

TEST_F(SalvageCommand, lists_copies) {
  save_copy();
  const auto json = reading.tend({"salvage", "list", "--json"}).json();
  EXPECT_EQ(json["what"], kCopy);
  EXPECT_EQ(json["kind"], "copy");
  EXPECT_EQ(json["agent"], "worker-s1");
  EXPECT_EQ(json["life"], "1-1");
  EXPECT_EQ(json["files"], 2);
  EXPECT_EQ(json["from"], "/home/user/plain");
  EXPECT_EQ(json["why"], "stopped by tend stop");
  EXPECT_NE(json["at"], nullptr);
}

TEST_F(SalvageCommand, shows_a_commit_and_how_to_see_more) {
  save_commit(kRef, "Work of coder, life 3\n\nx");
  const Answer answer = reading.tend({"salvage", "show", "coder/3"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("refs/tend/coder/3\n  agent    coder, life 3\n"))
      << answer.out;
  EXPECT_TRUE(
      answer.has("\n  see      git show --stat refs/tend/coder/3\n"
                 "           git diff refs/tend/coder/3^ refs/tend/coder/3\n"
                 "  restore  tend salvage restore refs/tend/coder/3\n"))
      << answer.out;
}

TEST_F(SalvageCommand, shows_the_files_of_a_copy) {
  save_copy();
  const Answer answer = reading.tend({"salvage", "show", "worker-s1"});
  EXPECT_TRUE(answer.has("\n    b.txt\n    notes/a.txt\n")) << answer.out;
  const auto json = reading.tend({"salvage", "show", kCopy, "--json"}).json();
  EXPECT_EQ(json["paths"], (nlohmann::json{"b.txt", "notes/a.txt"}));
  EXPECT_EQ(json["paths_complete"], true);
}

TEST_F(SalvageCommand, says_in_one_line_that_there_is_no_such_work) {
  for (const char* what : {"show", "restore"}) {
    const Answer answer = reading.tend({"salvage", what, "nobody"});
    EXPECT_EQ(answer.exit, kExitNo);
    EXPECT_EQ(answer.err, std::string("tend salvage ") + what +
                              ": no saved work of 'nobody'; `tend salvage list` shows all\n");
  }
}

TEST_F(SalvageCommand, makes_a_new_work_tree_of_a_commit) {
  save_commit(kRef, "Work of coder, life 3\n\nx");
  const Answer answer = reading.tend({"salvage", "restore", kRef});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "refs/tend/coder/3 is in /home/user-coder-3\n");
  EXPECT_EQ(reading.universe.disk.read("/home/user-coder-3/main.cc"), "int main() {}\n");

  reading.universe.disk.write("/home/user-coder-3/main.cc", "mine");
  EXPECT_EQ(reading.tend({"salvage", "restore", kRef}).exit, kExitNo);
  EXPECT_EQ(reading.universe.disk.read("/home/user-coder-3/main.cc"), "mine");
}

TEST_F(SalvageCommand, restores_into_a_folder_and_onto_a_branch_that_are_named) {
  save_commit(kRef, "Work of coder, life 3\n\nx");
  const Answer answer =
      reading.tend({"salvage", "restore", "coder", "--into", "saved", "--branch", "saved"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(reading.universe.disk.read("/home/user/saved/main.cc"), "int main() {}\n");
}

TEST_F(SalvageCommand, makes_a_new_folder_of_a_copy) {
  save_copy();
  const Answer answer = reading.tend({"salvage", "restore", "worker-s1", "--into", "/home/user/r"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, kCopy + " is in /home/user/r\n");
  EXPECT_EQ(reading.universe.disk.read("/home/user/r/notes/a.txt"), "hello");
  EXPECT_EQ(reading.universe.disk.read("/home/user/r/b.txt"), "there");
}

TEST_F(SalvageCommand, touches_nothing_that_exists) {
  save_copy();
  reading.universe.disk.write("/home/user/r/b.txt", "mine");
  const Answer answer = reading.tend({"salvage", "restore", "worker-s1", "--into", "/home/user/r"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err,
            "tend salvage restore: /home/user/r is there already; name a new folder with --into\n");
  EXPECT_EQ(reading.universe.disk.read("/home/user/r/b.txt"), "mine");
  EXPECT_FALSE(reading.universe.disk.exists("/home/user/r/notes"));
}

TEST_F(SalvageCommand, takes_the_newest_of_an_agent_and_says_so) {
  save_copy();
  reading.universe.disk.write(Kept::path("salvage/1-2/files/c.txt"), "newer");
  reading.universe.disk.write(Kept::path("salvage/1-2/RESTORE.txt"),
                              "Work of worker-s1, life 1: again\n\nFrom:  /x\nHere:  1 file\n");
  reading.universe.disk.set_modified(Kept::path("salvage/1-2/RESTORE.txt"),
                                     reading.universe.wall() + 1s);
  const Answer answer = reading.tend({"salvage", "restore", "worker-s1"});
  EXPECT_EQ(answer.out, Kept::path("salvage/1-2") +
                            ", the newest of 2 of worker-s1, is in /home/user-worker-s1-1-2\n")
      << answer.err;
  EXPECT_TRUE(reading.universe.disk.exists("/home/user-worker-s1-1-2/c.txt"));
}

TEST_F(SalvageCommand, has_no_branch_for_a_copy) {
  save_copy();
  EXPECT_EQ(reading.tend({"salvage", "restore", "worker-s1", "--branch", "b"}).exit, kExitUsage);
}

TEST(InShell, quotes_what_a_shell_would_see_more_in) {
  EXPECT_EQ(in_shell("refs/tend/coder/3"), "refs/tend/coder/3");
  EXPECT_EQ(in_shell("refs/tend/$(x)/1"), "'refs/tend/$(x)/1'");
  EXPECT_EQ(in_shell("it's"), R"('it'\''s')");
  EXPECT_EQ(in_shell(""), "''");
}

}  // namespace
}  // namespace tend
