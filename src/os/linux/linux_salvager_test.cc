// Copying work out of real folders.
#include "os/linux/linux_salvager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "os/linux/fd.h"
#include "os/linux/git_testing.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

WallTime this_moment() { return WallTime{std::chrono::system_clock::now().time_since_epoch()}; }

class LinuxSalvagerTest : public testing::Test {
 protected:
  LinuxSalvagerTest() {
    fs::create_directory(from());
    fs::create_directory(into());
  }
  [[nodiscard]] std::string from() const { return scratch.path() + "/from"; }
  [[nodiscard]] std::string into() const { return scratch.path() + "/into"; }
  void write(const std::string& name, const std::string& text) const {
    write_file(from() + "/" + name, text);
  }
  void date(const std::string& name, seconds since_1970) const {
    const std::array<timespec, 2> times{timespec{since_1970.count(), 0},
                                        timespec{since_1970.count(), 0}};
    ASSERT_EQ(
        ::utimensat(AT_FDCWD, (from() + "/" + name).c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }
  [[nodiscard]] std::string copied(const std::string& name) const {
    return read_file(into() + "/" + name);
  }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return fs::exists(fs::symlink_status(into() + "/" + name));
  }
  [[nodiscard]] SalvageOrder order() const { return {.worktree = from(), .into = into()}; }

  ScratchFolder scratch{testing::TempDir()};
  LinuxSalvager salvager;
};

TEST_F(LinuxSalvagerTest, copies_files_with_their_folders_modes_and_times) {
  write("a", "first\n");
  write("deep/er/b", std::string(1'000'000, 'x'));
  write("run", "#!/bin/sh\n");
  ASSERT_EQ(::chmod((from() + "/run").c_str(), 04755), 0);
  ASSERT_EQ(::chmod((from() + "/deep").c_str(), 0750), 0);
  date("a", seconds{1'000'000'000});
  const auto done = salvager.salvage(order());
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(done->files, 3U);
  EXPECT_EQ(done->bytes, 6U + 1'000'000U + 10U);
  EXPECT_EQ(done->left_out, 0U);
  EXPECT_EQ(copied("a"), "first\n");
  EXPECT_EQ(copied("deep/er/b"), std::string(1'000'000, 'x'));
  struct stat facts{};
  ASSERT_EQ(::stat((into() + "/run").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0755U) << "but no set-user-id";
  ASSERT_EQ(::stat((into() + "/deep").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0750U);
  ASSERT_EQ(::stat((into() + "/a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mtime, 1'000'000'000);
}

TEST_F(LinuxSalvagerTest, leaves_older_files_where_they_are) {
  write("old/file", "old");
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  SalvageOrder since = order();
  since.changed_since = this_moment();
  write("new/file", "new");
  const auto done = salvager.salvage(since);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
  EXPECT_EQ(done->left_out, 0U);
  EXPECT_TRUE(is_there("new/file"));
  EXPECT_FALSE(is_there("old")) << "no folder without a file";
}

TEST_F(LinuxSalvagerTest, copies_what_was_written_in_the_very_first_moment) {
  for (int n = 0; n < 100; ++n) {
    SalvageOrder since = order();
    since.into += "/" + std::to_string(n);
    fs::create_directory(since.into);
    since.changed_since = this_moment();
    write("file", "written at once");
    const auto done = salvager.salvage(since);
    ASSERT_TRUE(done);
    ASSERT_EQ(done->files, 1U) << "after " << n;
  }
}

TEST_F(LinuxSalvagerTest, copies_what_was_unpacked_with_its_old_time) {
  SalvageOrder since = order();
  since.changed_since = this_moment();
  write("unpacked", "from an archive");
  date("unpacked", seconds{1000});
  const auto done = salvager.salvage(since);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
}

TEST_F(LinuxSalvagerTest, copies_links_and_follows_none) {
  write_file(scratch.path() + "/outside/secret", "secret");
  fs::create_symlink(scratch.path() + "/outside", from() + "/folder");
  fs::create_symlink(scratch.path() + "/outside/secret", from() + "/file");
  fs::create_symlink("nowhere", from() + "/broken");
  const auto done = salvager.salvage(order());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 3U);
  EXPECT_EQ(fs::read_symlink(into() + "/folder"), scratch.path() + "/outside");
  EXPECT_EQ(fs::read_symlink(into() + "/file"), scratch.path() + "/outside/secret");
  EXPECT_EQ(fs::read_symlink(into() + "/broken"), "nowhere");
}

TEST_F(LinuxSalvagerTest, counts_fifos_and_sockets_as_left_out) {
  write("file", "x");
  ASSERT_EQ(::mkfifo((from() + "/fifo").c_str(), 0600), 0);
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = from() + "/socket";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto done = salvager.salvage(order());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
  EXPECT_EQ(done->left_out, 2U);
}

TEST_F(LinuxSalvagerTest, keeps_to_its_bounds_and_counts_what_did_not_fit) {
  write("a", std::string(60, 'a'));
  write("b", std::string(60, 'b'));
  write("c", std::string(40, 'c'));
  SalvageOrder small = order();
  small.most_bytes = 100;
  const auto done = salvager.salvage(small);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 2U);
  EXPECT_EQ(done->bytes, 100U);
  EXPECT_EQ(done->left_out, 1U);
  EXPECT_FALSE(is_there("b"));

  SalvageOrder few = order();
  few.into = scratch.path() + "/few";
  fs::create_directory(few.into);
  few.most_files = 1;
  const auto one = salvager.salvage(few);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->files, 1U);
  EXPECT_EQ(one->left_out, 2U);
}

TEST_F(LinuxSalvagerTest, passes_over_what_is_excluded_its_own_target_and_git) {
  write("work", "x");
  write(".git/config", "x");
  write("home/state", "x");
  fs::create_directory_symlink(from() + "/home", scratch.path() + "/alias");
  SalvageOrder inside = order();
  inside.into = from() + "/salvage";
  fs::create_directory(inside.into);
  inside.exclude = {scratch.path() + "/alias"};
  const auto done = salvager.salvage(inside);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
  EXPECT_EQ(done->left_out, 0U);
  EXPECT_TRUE(fs::exists(inside.into + "/work"));
  EXPECT_FALSE(fs::exists(inside.into + "/home"));
  EXPECT_FALSE(fs::exists(inside.into + "/salvage"));
}

TEST_F(LinuxSalvagerTest, leaves_out_what_lies_too_deep) {
  std::string path;
  for (int i = 0; i < 120; ++i) path += "d/";
  write(path + "file", "x");
  write("d/file", "x");
  const auto done = salvager.salvage(order());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
  EXPECT_EQ(done->left_out, 1U);
}

TEST_F(LinuxSalvagerTest, leaves_out_what_cannot_be_read) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read everything";
  write("secret", "x");
  write("closed/file", "x");
  write("open", "x");
  ASSERT_EQ(::chmod((from() + "/secret").c_str(), 0), 0);
  ASSERT_EQ(::chmod((from() + "/closed").c_str(), 0), 0);
  const auto done = salvager.salvage(order());
  ASSERT_EQ(::chmod((from() + "/closed").c_str(), 0700), 0);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->files, 1U);
  EXPECT_EQ(done->left_out, 2U);
}

TEST_F(LinuxSalvagerTest, overwrites_nothing) {
  write("file", "new");
  write_file(into() + "/file", "there before");
  const auto done = salvager.salvage(order());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->left_out, 1U);
  EXPECT_EQ(copied("file"), "there before");
}

TEST_F(LinuxSalvagerTest, says_which_folder_it_cannot_open) {
  SalvageOrder nowhere = order();
  nowhere.worktree = scratch.path() + "/nowhere";
  EXPECT_TRUE(salvager.salvage(nowhere).error().text.contains("/nowhere"));
  nowhere = order();
  fs::create_directory_symlink(into(), scratch.path() + "/link");
  nowhere.into = scratch.path() + "/link";
  EXPECT_TRUE(salvager.salvage(nowhere).error().text.contains("/link"));
}

}  // namespace
}  // namespace tend
