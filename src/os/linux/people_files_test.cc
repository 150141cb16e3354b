// Files of people: replaced whole, and otherwise left as they were.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdint>
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

TEST_F(PeopleFiles, reads_a_file_of_any_size_to_its_end) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{16'383},
                                 std::size_t{16'384}, std::size_t{100'000}}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = 'y';
    std::ofstream(folder / "f") << text;
    EXPECT_TRUE(files.read(folder / "f", size).value() == text) << size;
    EXPECT_TRUE(files.read(folder / "f", size + 100'000).value() == text) << size;
    EXPECT_EQ(files.read(folder / "f", size - 1).has_value(), size == 0) << size;
  }
  const auto status = files.read("/proc/self/status", 100'000);
  ASSERT_TRUE(status && *status);
  EXPECT_TRUE((*status)->contains("Pid:")) << "whose size is said to be none";
  EXPECT_FALSE(files.read("/proc/self/status", 10));
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

TEST_F(PeopleFiles, asks_whether_to_replace_when_the_bytes_are_on_the_disk_already) {
  std::ofstream(folder / "f") << "old";
  const auto ask = [&](bool answer) {
    return files.replace_if(folder / "f", "new", [&] {
      EXPECT_EQ(bytes_of(folder / "f"), "old");
      EXPECT_EQ(count(), 2U);
      for (const auto& each : fs::directory_iterator(folder)) {
        EXPECT_EQ(bytes_of(each.path()), each.path() == folder / "f" ? "old" : "new");
      }
      return answer;
    });
  };
  EXPECT_EQ(ask(false).value(), false);
  EXPECT_EQ(bytes_of(folder / "f"), "old");
  EXPECT_EQ(count(), 1U) << "nothing is left beside it";
  EXPECT_EQ(ask(true).value(), true);
  EXPECT_EQ(bytes_of(folder / "f"), "new");
  EXPECT_EQ(count(), 1U);
}

TEST_F(PeopleFiles, makes_a_file_only_where_none_is) {
  EXPECT_TRUE(files.make_new(folder / "f", "first").value());
  EXPECT_FALSE(files.make_new(folder / "f", "second").value());
  EXPECT_EQ(bytes_of(folder / "f"), "first");
  EXPECT_EQ(mode_of(folder / "f"), 0600U);
  fs::create_symlink("nowhere", folder / "dangling");
  EXPECT_FALSE(files.make_new(folder / "dangling", "x").value());
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  EXPECT_FALSE(files.make_new(folder / "none/f", "x"));
}

TEST_F(PeopleFiles, says_when_a_plain_file_was_changed) {
  EXPECT_EQ(files.modified(folder / "none").value(), std::nullopt);
  std::ofstream(folder / "f") << "x";
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "f").c_str(), &facts), 0);
  fs::create_symlink("f", folder / "link");
  const auto changed = files.modified(folder / "link").value();
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(static_cast<std::int64_t>(calendar_seconds(*changed)), facts.st_mtim.tv_sec);
  EXPECT_FALSE(files.modified(folder)) << "a folder";
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(files.modified(folder / "fifo"));
  fs::create_symlink("loop", folder / "loop");
  EXPECT_FALSE(files.modified(folder / "loop"));
}

TEST_F(PeopleFiles, removes_what_is_there_and_minds_nothing_else) {
  std::ofstream(folder / "f") << "x";
  EXPECT_TRUE(files.remove(folder / "f"));
  EXPECT_FALSE(fs::exists(folder / "f"));
  EXPECT_TRUE(files.remove(folder / "f"));
  EXPECT_FALSE(files.remove(folder));
}

TEST_F(PeopleFiles, touches_what_is_there_and_makes_nothing) {
  EXPECT_FALSE(files.touch(folder / "none").value());
  EXPECT_EQ(count(), 0U);
  std::ofstream(folder / "file") << "text";
  fs::last_write_time(folder / "file", fs::file_time_type::clock::now() - std::chrono::hours{1});
  const auto before = files.modified(folder / "file").value().value();
  EXPECT_TRUE(files.touch(folder / "file").value());
  EXPECT_GT(files.modified(folder / "file").value().value(), before);
  EXPECT_EQ(bytes_of(folder / "file"), "text");
  EXPECT_FALSE(files.touch(folder / "file/below").value());
}

}  // namespace
}  // namespace tend
