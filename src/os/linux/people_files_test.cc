// Files of people: replaced whole, and otherwise left as they were.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "os/linux/linux_world.h"

namespace tend {
namespace {

namespace fs = std::filesystem;

class PeopleFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tend_people_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::string bytes_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat facts{};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777U;
  }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
  LinuxFiles files;
};

TEST_F(PeopleFiles, reads_what_is_there_up_to_a_bound) {
  EXPECT_EQ(files.read(folder / "none", 10).value(), std::nullopt);
  EXPECT_EQ(files.read(folder / "none/at/all", 10).value(), std::nullopt);
  std::ofstream(folder / "ten") << "0123456789";
  EXPECT_EQ(files.read(folder / "ten", 10).value(), "0123456789");
  EXPECT_FALSE(files.read(folder / "ten", 9));
  EXPECT_FALSE(files.read(folder, 10)) << "a folder";
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(files.read(folder / "fifo", 10)) << "and it is not waited for";
}

TEST_F(PeopleFiles, keeps_the_permissions_of_what_it_replaces) {
  std::ofstream(folder / "f") << "old, and longer";
  fs::permissions(folder / "f", fs::perms{0644});
  ASSERT_TRUE(files.replace(folder / "f", "new"));
  EXPECT_EQ(bytes_of(folder / "f"), "new");
  EXPECT_EQ(mode_of(folder / "f"), 0644U);
  EXPECT_EQ(count(), 1U) << "nothing is left beside it";
}

TEST_F(PeopleFiles, makes_a_new_file_for_this_user_alone_and_the_folders_to_it) {
  ASSERT_TRUE(files.replace(folder / "a/b/f", "new"));
  EXPECT_EQ(bytes_of(folder / "a/b/f"), "new");
  EXPECT_EQ(mode_of(folder / "a/b/f"), 0600U);
}

TEST_F(PeopleFiles, writes_through_a_link) {
  fs::create_directory(folder / "dotfiles");
  std::ofstream(folder / "dotfiles/f") << "old";
  fs::create_symlink("dotfiles/f", folder / "link");
  ASSERT_TRUE(files.replace(folder / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of(folder / "dotfiles/f"), "new");
  fs::create_symlink("nowhere", folder / "dangling");
  const auto refused = files.replace(folder / "dangling", "new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, (folder / "dangling").string() + " is a link to nothing");
}

TEST_F(PeopleFiles, leaves_the_old_file_where_it_cannot_write) {
  const auto refused = files.replace("/proc/self/status", "new");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text.starts_with("cannot write /proc/")) << refused.error().text;
}

TEST_F(PeopleFiles, removes_what_is_there_and_minds_nothing_else) {
  std::ofstream(folder / "f") << "x";
  EXPECT_TRUE(files.remove(folder / "f"));
  EXPECT_FALSE(fs::exists(folder / "f"));
  EXPECT_TRUE(files.remove(folder / "f"));
  EXPECT_FALSE(files.remove(folder));
}

}  // namespace
}  // namespace tend
