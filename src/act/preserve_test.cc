// Preserve on version control and copying that do as a test says, in real folders; and one copy
// that is put back by its own note.
#include "act/preserve.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/scripted_machine.h"
#include "os/linux/git_testing.h"
#include "os/linux/linux_folder.h"
#include "os/linux/linux_salvager.h"

namespace tend {
namespace {

struct ScriptedVersionControl final : NoVersionControl {
  explicit ScriptedVersionControl(Loop& a_loop) : loop(a_loop) {}
  Subscribed snapshot(const SnapshotOrder& order,
                      std::function<void(Result<Snapshot>)> done) override {
    orders.push_back(order);
    return loop.at(Instant{}, [this, done = std::move(done)] { done(answer); });
  }

  Loop& loop;
  Result<Snapshot> answer = Snapshot{};
  std::vector<SnapshotOrder> orders;
};

struct ScriptedSalvager final : Salvager {
  Result<Salvage> salvage(const SalvageOrder& order) override {
    orders.push_back(order);
    return answer;
  }
  Result<Salvage> answer = Salvage{.files = 3, .bytes = 30};
  std::vector<SalvageOrder> orders;
};

class PreserveTest : public testing::Test {
 protected:
  PreserveTest() { order.worktree = scratch.path() + "/work tree"; }

  Result<Preserved> preserve() {
    auto opened = LinuxFolders().make(scratch.path() + "/folder");
    CHECK(opened);
    std::optional<Result<Preserved>> result;
    const Preserve act(machine, **opened, order, [&](const auto& told) { result = told; });
    CHECK(!result);  // never from the constructor
    scripted.pass(std::chrono::seconds{1});
    CHECK(result);
    return *result;
  }
  [[nodiscard]] std::string salvage(const std::string& name) const {
    return scratch.path() + "/folder/salvage/" + name;
  }
  std::string ref_of(const std::string& name) {
    order.agent = name;
    CHECK(preserve());
    return version_control.orders.back().ref;
  }

  ScratchFolder scratch{testing::TempDir()};
  ScriptedMachine scripted;
  ScriptedVersionControl version_control{scripted};
  ScriptedSalvager salvager;
  Machine machine{.clock = scripted,
                  .loop = scripted,
                  .folders = scripted.machine().folders,
                  .processes = scripted,
                  .sockets = scripted.machine().sockets,
                  .version_control = version_control,
                  .salvager = salvager,
                  .entropy = scripted.machine().entropy,
                  .databases = scripted.machine().databases,
                  .files = scripted.machine().files};
  PreserveOrder order{.agent = "coder",
                      .life = 3,
                      .worktree = {},
                      .why = "silent for 12 min",
                      .since = WallTime{std::chrono::hours{5}},
                      .exclude = {"/home/of/ours"}};
};

TEST_F(PreserveTest, has_nothing_to_do_without_a_work_tree) {
  order.worktree = "";
  const auto done = preserve();
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->saved);
  EXPECT_EQ(done->what, "nothing to save");
  EXPECT_TRUE(version_control.orders.empty());
}

TEST_F(PreserveTest, says_where_a_snapshot_is_and_what_is_not_in_it) {
  version_control.answer = Snapshot{
      .versioned = true, .commit = "a1b2c3d4e5f6", .ref = "refs/tend/coder/3", .files = 12};
  auto done = preserve();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->saved);
  EXPECT_EQ(done->what, "12 files in refs/tend/coder/3 (a1b2c3d)");
  EXPECT_EQ(version_control.orders[0].ref, "refs/tend/coder/3");
  EXPECT_EQ(version_control.orders[0].worktree, order.worktree);
  EXPECT_EQ(version_control.orders[0].exclude, order.exclude);
  EXPECT_EQ(version_control.orders[0].message, "Work of coder, life 3\n\nsilent for 12 min");
  EXPECT_TRUE(salvager.orders.empty());

  version_control.answer->files = 1;
  version_control.answer->left_out = {"a: too large", "b\n: odd", "c: odd", "d: odd", "e: odd"};
  done = preserve();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->what,
            "1 file in refs/tend/coder/3 (a1b2c3d); left out: a: too large, b\\x0a: odd, c: odd "
            "and 2 more");
}

TEST_F(PreserveTest, says_that_all_is_committed) {
  version_control.answer = Snapshot{.versioned = true, .left_out = {"big: too large"}};
  const auto done = preserve();
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->saved);
  EXPECT_EQ(done->what, "nothing to save, all is committed; left out: big: too large");
}

TEST_F(PreserveTest, makes_refs_that_git_takes_and_that_stay_apart) {
  const std::string plain = "Plain_name-1.2";
  EXPECT_EQ(ref_of(plain), "refs/tend/Plain_name-1.2/3");
  std::vector<std::string> refs;
  for (const std::string name :
       {"a/b", "a b", "a..b", ".hidden", "end.", "end.lock", "", "\xff~^:?*[", "@{x}", "a\nb"}) {
    refs.push_back(ref_of(name));
  }
  refs.push_back(ref_of(std::string(5000, 'x')));
  refs.push_back(ref_of(std::string(5000, 'x') + "y"));
  GitBench bench;
  for (const std::string& ref : refs) {
    EXPECT_EQ(std::ranges::count(refs, ref), 1) << ref;
    EXPECT_LT(ref.size(), 100U);
    EXPECT_EQ(bench.run("git check-ref-format '" + ref + "'", "/").exit.value, 0) << ref;
  }
}

TEST_F(PreserveTest, copies_where_there_is_no_version_control) {
  const auto done = preserve();
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_TRUE(done->saved);
  EXPECT_EQ(done->what, "3 files in " + salvage("3-1"));
  ASSERT_EQ(salvager.orders.size(), 1U);
  EXPECT_EQ(salvager.orders[0].worktree, order.worktree);
  EXPECT_EQ(salvager.orders[0].into, salvage("3-1/files"));
  EXPECT_EQ(salvager.orders[0].changed_since, order.since);
  EXPECT_EQ(salvager.orders[0].exclude,
            (std::vector<std::string>{"/home/of/ours", scratch.path() + "/folder"}));
  const std::string note = read_file(salvage("3-1/RESTORE.txt"));
  EXPECT_TRUE(note.contains("Work of coder, life 3: silent for 12 min")) << note;
  EXPECT_TRUE(note.contains("3 files")) << note;

  salvager.answer->left_out = 2;
  const auto again = preserve();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->what, "3 files, 2 left out in " + salvage("3-2"));
}

TEST_F(PreserveTest, leaves_no_note_where_nothing_was_copied_and_uses_the_folder_again) {
  salvager.answer = Salvage{};
  const auto nothing = preserve();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->saved);
  EXPECT_EQ(nothing->what, "nothing to save, no file changed");
  EXPECT_FALSE(std::filesystem::exists(salvage("3-1/RESTORE.txt")));
  salvager.answer = Salvage{.files = 1};
  EXPECT_EQ(preserve()->what, "1 file in " + salvage("3-1"));
}

TEST_F(PreserveTest, copies_when_version_control_fails_and_says_both) {
  version_control.answer = fail("git could not save it: the disk is full");
  const auto copied = preserve();
  ASSERT_TRUE(copied);
  EXPECT_TRUE(copied->saved);
  EXPECT_EQ(copied->what,
            "3 files in " + salvage("3-1") + "; git could not save it: the disk is full");
  EXPECT_EQ(copied->trouble, "git could not save it: the disk is full");
  salvager.answer = fail("cannot open it");
  const auto failed = preserve();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "cannot open it; git could not save it: the disk is full");
}

TEST_F(PreserveTest, does_not_call_nothing_what_could_not_be_copied) {
  salvager.answer = Salvage{.left_out = 2};
  const auto done = preserve();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "2 files could not be copied");
}

TEST_F(PreserveTest, makes_a_bounded_number_of_copies) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(preserve());
  const auto done = preserve();
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().text.contains("remove some")) << done.error().text;
  order.life = 4;
  EXPECT_TRUE(preserve());
}

TEST_F(PreserveTest, does_nothing_more_once_it_is_destroyed) {
  auto opened = LinuxFolders().make(scratch.path() + "/folder");
  ASSERT_TRUE(opened);
  {
    const Preserve act(machine, **opened, order, [](const auto&) { FAIL(); });
  }
  scripted.pass(std::chrono::seconds{1});
  EXPECT_TRUE(version_control.orders.empty());
}

TEST_F(PreserveTest, leaves_a_note_that_works) {
  order.worktree = scratch.path() + "/it's here";
  order.since = {};
  write_file(order.worktree + "/src/a", "precious\n");
  std::filesystem::permissions(order.worktree, std::filesystem::perms{0755});
  std::filesystem::create_symlink("src/a", order.worktree + "/link");
  LinuxSalvager real;
  Machine copying{.clock = scripted,
                  .loop = scripted,
                  .folders = machine.folders,
                  .processes = scripted,
                  .sockets = machine.sockets,
                  .version_control = version_control,
                  .salvager = real,
                  .entropy = machine.entropy,
                  .databases = machine.databases,
                  .files = machine.files};
  auto opened = LinuxFolders().make(scratch.path() + "/folder");
  ASSERT_TRUE(opened);
  bool saved = false;
  const Preserve act(copying, **opened, order,
                     [&](const auto& told) { saved = told && told->saved; });
  scripted.pass(std::chrono::seconds{1});
  ASSERT_TRUE(saved);

  write_file(order.worktree + "/src/a", "spoilt\n");
  std::filesystem::remove(order.worktree + "/link");
  const std::string note = read_file(salvage("3-1/RESTORE.txt"));
  const auto command = note.find("cp -dR ");
  ASSERT_NE(command, std::string::npos);
  GitBench bench;
  EXPECT_EQ(bench.run(note.substr(command), "/").exit.value, 0);
  EXPECT_EQ(read_file(order.worktree + "/src/a"), "precious\n");
  EXPECT_EQ(std::filesystem::read_symlink(order.worktree + "/link"), "src/a");
  EXPECT_EQ(std::filesystem::status(order.worktree).permissions(), std::filesystem::perms{0755});
}

}  // namespace
}  // namespace tend
