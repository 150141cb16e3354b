// Real files, links, fifos, owners, locks between processes, and a disk that fills up.
#include "os/linux/linux_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Open = Folder::Open;
using Sync = Folder::Sync;

constexpr uid_t kSomebodyElse = 4321;

mode_t mode_of(const std::string& path) {
  struct stat seen{};
  return ::lstat(path.c_str(), &seen) == 0 ? seen.st_mode & 07777 : 0;
}

bool is_root() { return ::geteuid() == 0; }

/// Runs a part of a test in a process of its own; false if something failed in it.
bool in_a_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

class LinuxFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = LinuxFolders{}.open(place.path());
    ASSERT_TRUE(opened) << opened.error().text;
    folder = std::move(*opened);
  }

  std::unique_ptr<File> open(const std::string& name, Open how) {
    auto file = folder->open(name, how);
    EXPECT_TRUE(file) << file.error().text;
    return file ? std::move(*file) : nullptr;
  }
  std::string why_not_open(const std::string& name, Open how) {
    auto file = folder->open(name, how);
    return file ? "it opened" : file.error().text;
  }

  TemporaryFolder place;
  std::unique_ptr<Folder> folder;
};

TEST_F(LinuxFolderTest, reads_a_whole_file_or_says_that_there_is_none) {
  place.write("file", "two\nlines\n");
  EXPECT_EQ(folder->read("file", 100).value(), "two\nlines\n");
  EXPECT_EQ(folder->read("file", 10).value(), "two\nlines\n");
  EXPECT_EQ(folder->read("none", 100).value(), std::nullopt);
  place.write("empty", "");
  EXPECT_EQ(folder->read("empty", 0).value(), "");
  const auto large = folder->read("file", 9);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().text, place / "file" + " is larger than 9 bytes");
}

TEST_F(LinuxFolderTest, reads_a_file_whose_size_the_system_does_not_tell) {
  auto self = LinuxFolders{}.open("/proc/" + std::to_string(::getpid()));
  ASSERT_TRUE(self) << self.error().text;
  const auto text = (*self)->read("stat", 10'000);
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_TRUE((*text)->starts_with(std::to_string(::getpid()) + " "));
  EXPECT_FALSE((*self)->read("stat", 10));
}

TEST_F(LinuxFolderTest, refuses_names_that_lead_elsewhere) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/"),
        std::string("a\0b", 3), std::string(256, 'x')}) {
    EXPECT_FALSE(folder->open(name, Open::append)) << name;
    EXPECT_FALSE(folder->read(name, 10)) << name;
    EXPECT_FALSE(folder->replace(name, "x", Sync::no)) << name;
    EXPECT_FALSE(folder->rename(name, "x")) << name;
    EXPECT_FALSE(folder->rename("x", name)) << name;
    EXPECT_FALSE(folder->facts(name)) << name;
    EXPECT_FALSE(folder->remove(name)) << name;
    EXPECT_FALSE(folder->folder(name)) << name;
    EXPECT_FALSE(folder->make_folder(name)) << name;
    EXPECT_FALSE(folder->make_new_folder(name)) << name;
  }
  EXPECT_EQ(folder->read("a/b", 1).error().text, "'a/b' is not a file name");
}

TEST_F(LinuxFolderTest, refuses_a_link) {
  place.write("target", "secret");
  std::filesystem::create_symlink("target", place / "link");
  for (const Open how : {Open::read, Open::append, Open::update}) {
    EXPECT_EQ(why_not_open("link", how), place / "link" + " is a link, not a file of ours");
  }
  EXPECT_FALSE(folder->read("link", 100));
  EXPECT_FALSE(folder->facts("link"));
  std::filesystem::create_directory_symlink(place.path(), place / "folder");
  EXPECT_FALSE(folder->folder("folder"));
  EXPECT_FALSE(folder->make_folder("folder"));
  EXPECT_EQ(folder->make_new_folder("folder").value(), nullptr);
}

TEST_F(LinuxFolderTest, refuses_what_is_no_plain_file_and_does_not_wait_for_it) {
  ASSERT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(place / "folder");
  for (const Open how : {Open::read, Open::append, Open::update}) {
    EXPECT_EQ(why_not_open("fifo", how), place / "fifo" + " is not a plain file");
    EXPECT_NE(why_not_open("folder", how), "it opened");
  }
  EXPECT_FALSE(folder->facts("fifo"));
  EXPECT_FALSE(folder->read("folder", 100));
  place.write("file", "");
  EXPECT_FALSE(folder->folder("file"));
  EXPECT_FALSE(folder->make_folder("file"));
}

TEST_F(LinuxFolderTest, refuses_to_write_a_file_that_has_another_name) {
  place.write("file", "text");
  std::filesystem::create_hard_link(place / "file", place / "other");
  EXPECT_EQ(why_not_open("file", Open::append),
            place / "file" + " has another name elsewhere, or none any more");
  EXPECT_FALSE(folder->open("file", Open::update));
  EXPECT_EQ(folder->read("file", 10).value(), "text");
}

TEST_F(LinuxFolderTest, refuses_files_and_folders_of_another_user) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  place.write("file", "text");
  ASSERT_EQ(::chown((place / "file").c_str(), kSomebodyElse, 0), 0);
  EXPECT_EQ(why_not_open("file", Open::read), place / "file" + " belongs to another user");
  EXPECT_FALSE(folder->open("file", Open::append));
  EXPECT_FALSE(folder->read("file", 10));
  EXPECT_FALSE(folder->facts("file"));
  std::filesystem::create_directory(place / "folder");
  ASSERT_EQ(::chown((place / "folder").c_str(), kSomebodyElse, 0), 0);
  EXPECT_FALSE(folder->folder("folder"));
  EXPECT_FALSE(folder->make_folder("folder"));
}

TEST_F(LinuxFolderTest, refuses_a_folder_that_others_can_write_to) {
  std::filesystem::create_directory(place / "folder");
  for (const mode_t mode : {mode_t{0770}, mode_t{0707}, mode_t{01777}}) {
    ASSERT_EQ(::chmod((place / "folder").c_str(), mode), 0);
    const auto opened = folder->folder("folder");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().text, place / "folder" + " can be changed by others: chmod go-w it");
  }
  ASSERT_EQ(::chmod((place / "folder").c_str(), 0755), 0);
  EXPECT_TRUE(folder->folder("folder"));
}

TEST_F(LinuxFolderTest, makes_files_and_folders_for_this_user_alone_whatever_the_umask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0277}}) {
    const mode_t kept = ::umask(mask);
    const std::string suffix = std::to_string(mask);
    EXPECT_TRUE(folder->open("a" + suffix, Open::append));
    EXPECT_TRUE(folder->open("u" + suffix, Open::update));
    EXPECT_TRUE(folder->open("e" + suffix, Open::exclusive));
    EXPECT_TRUE(folder->replace("r" + suffix, "x", Sync::no));
    EXPECT_TRUE(folder->make_folder("f" + suffix));
    EXPECT_TRUE(folder->make_new_folder("n" + suffix));
    EXPECT_TRUE(LinuxFolders{}.make(place / ("p" + suffix) + "/q"));
    ::umask(kept);
    for (const char* file : {"a", "u", "e", "r"})
      EXPECT_EQ(mode_of(place / (file + suffix)), 0600U);
    for (const char* made : {"f", "n", "p"}) EXPECT_EQ(mode_of(place / (made + suffix)), 0700U);
    EXPECT_EQ(mode_of(place / ("p" + suffix) + "/q"), 0700U);
  }
}

TEST_F(LinuxFolderTest, opens_in_the_four_ways) {
  EXPECT_EQ(why_not_open("file", Open::read),
            "cannot open " + place / "file" + ": No such file or directory");
  EXPECT_NE(open("file", Open::exclusive), nullptr);
  EXPECT_EQ(why_not_open("file", Open::exclusive), "cannot open " + place / "file: File exists");
  EXPECT_NE(open("file", Open::read), nullptr);
  EXPECT_NE(open("made by append", Open::append), nullptr);
  EXPECT_NE(open("made by update", Open::update), nullptr);
  EXPECT_FALSE(open("file", Open::read)->append("x"));
}

TEST_F(LinuxFolderTest, appends_behind_what_others_appended) {
  const auto one = open("log", Open::append);
  const auto two = open("log", Open::append);
  EXPECT_TRUE(one->append("a\n"));
  EXPECT_TRUE(two->append("b\n"));
  EXPECT_TRUE(one->append("c\n"));
  EXPECT_EQ(place.read("log"), "a\nb\nc\n");
  std::array<char, 10> piece{};
  EXPECT_EQ(one->read_at(2, piece).value(), 4U);
  EXPECT_EQ(std::string(piece.data(), 4), "b\nc\n");
  EXPECT_EQ(one->read_at(6, piece).value(), 0U);
}

TEST_F(LinuxFolderTest, overwrites_in_place_and_keeps_the_size) {
  const auto file = open("record", Open::exclusive);
  EXPECT_TRUE(file->append("0123456789"));
  EXPECT_TRUE(file->overwrite("abc"));
  EXPECT_EQ(place.read("record"), "abc3456789");
  EXPECT_TRUE(file->append("x"));
  EXPECT_EQ(place.read("record"), "abc3456789x");
}

TEST_F(LinuxFolderTest, cuts_and_never_grows) {
  const auto file = open("file", Open::update);
  EXPECT_TRUE(file->overwrite("0123456789"));
  EXPECT_TRUE(file->cut(4));
  EXPECT_EQ(place.read("file"), "0123");
  EXPECT_TRUE(file->cut(100));
  EXPECT_EQ(place.read("file"), "0123");
  EXPECT_TRUE(file->sync());
}

TEST_F(LinuxFolderTest, tells_and_sets_the_time_of_the_last_change) {
  const WallTime then{1'700'000'000'123'456'789ns};
  const auto file = open("file", Open::update);
  EXPECT_TRUE(file->touch(then));
  EXPECT_EQ(file->facts()->modified, then);
  EXPECT_EQ(folder->facts("file").value()->modified, then);
  EXPECT_TRUE(file->touch());
  EXPECT_GT(file->facts()->modified, then);
  const WallTime before_1970{-1'500'000'000ns};
  EXPECT_TRUE(file->touch(before_1970));
  EXPECT_EQ(file->facts()->modified, before_1970);
}

TEST_F(LinuxFolderTest, tells_two_files_of_one_name_apart) {
  EXPECT_EQ(folder->facts("file").value(), std::nullopt);
  place.write("file", "12345");
  const auto first = folder->facts("file").value();
  EXPECT_EQ(first->size, 5U);
  EXPECT_EQ(open("file", Open::read)->facts()->file, first->file);
  EXPECT_TRUE(folder->replace("file", "12345", Sync::no));
  const auto second = folder->facts("file").value();
  EXPECT_NE(second->file, first->file);
  EXPECT_TRUE(folder->remove("file"));
  place.write("file", "12345");
  EXPECT_NE(folder->facts("file").value()->file, second->file);
}

TEST_F(LinuxFolderTest, gives_blocks_back_and_finds_the_data_behind_them) {
  const std::size_t block = 4096;
  const auto file = open("file", Open::append);
  EXPECT_TRUE(file->append(std::string(4 * block, 'x')));
  EXPECT_TRUE(file->punch(0));
  EXPECT_EQ(file->data_from(0).value(), 0U);
  const auto punched = file->punch(2 * block);
  if (!punched) GTEST_SKIP() << "this file system cannot: " << punched.error().text;
  EXPECT_EQ(file->facts()->size, 4 * block);
  EXPECT_EQ(place.read("file"), std::string(2 * block, '\0') + std::string(2 * block, 'x'));
  EXPECT_EQ(file->data_from(0).value(), 2 * block);
  EXPECT_EQ(file->data_from(3 * block).value(), 3 * block);
  EXPECT_EQ(file->data_from(4 * block).value(), 4 * block);
  EXPECT_EQ(file->data_from(9 * block).value(), 4 * block);
}

TEST_F(LinuxFolderTest, replaces_a_file_whole_and_leaves_nothing_else_behind) {
  const WallTime then{1'600'000'000'000'000'000ns};
  EXPECT_TRUE(folder->replace("file", "old", Sync::no));
  const auto reader = open("file", Open::read);
  EXPECT_TRUE(folder->replace("file", "new and longer", Sync::yes, then));
  EXPECT_EQ(place.read("file"), "new and longer");
  EXPECT_EQ(folder->facts("file").value()->modified, then);
  std::array<char, 10> piece{};
  EXPECT_EQ(reader->read_at(0, piece).value(), 3U);  // who reads the old one reads on in it
  const auto entries = std::filesystem::directory_iterator(place.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(LinuxFolderTest, sweeps_what_a_killed_writer_left_but_not_what_is_being_written) {
  place.write(".file.0123456789abcdef.tmp", "half");
  place.write("notes.tmp", "not ours");
  EXPECT_TRUE(folder->replace(".file", "whole", Sync::no));
  folder->sweep(1h);
  EXPECT_EQ(place.read(".file.0123456789abcdef.tmp"), "half");
  folder->sweep(0s);
  const auto entries = std::filesystem::directory_iterator(place.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);
  EXPECT_EQ(place.read("notes.tmp"), "not ours");
  EXPECT_EQ(place.read(".file"), "whole");
}

TEST_F(LinuxFolderTest, puts_a_file_in_the_place_of_a_link_and_not_where_it_leads) {
  place.write("target", "kept");
  std::filesystem::create_symlink("target", place / "link");
  EXPECT_TRUE(folder->replace("link", "new", Sync::no));
  EXPECT_EQ(place.read("target"), "kept");
  EXPECT_EQ(folder->read("link", 10).value(), "new");
}

TEST_F(LinuxFolderTest, leaves_all_as_it_was_if_it_cannot_replace) {
  std::filesystem::create_directory(place / "folder");
  EXPECT_FALSE(folder->replace("folder", "x", Sync::no));
  const auto entries = std::filesystem::directory_iterator(place.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(LinuxFolderTest, renames_and_removes) {
  place.write("a", "text");
  EXPECT_TRUE(folder->rename("a", "b"));
  EXPECT_EQ(folder->read("a", 10).value(), std::nullopt);
  EXPECT_EQ(folder->read("b", 10).value(), "text");
  EXPECT_FALSE(folder->rename("a", "c"));
  EXPECT_TRUE(folder->remove("b"));
  EXPECT_TRUE(folder->remove("b"));
  EXPECT_EQ(folder->read("b", 10).value(), std::nullopt);
  std::filesystem::create_directory(place / "folder");
  EXPECT_FALSE(folder->remove("folder"));
}

TEST_F(LinuxFolderTest, has_folders_in_it) {
  EXPECT_EQ(folder->folder("inner").value(), nullptr);
  const auto made = folder->make_folder("inner");
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->path(), place / "inner");
  EXPECT_TRUE((*made)->replace("file", "x", Sync::yes));
  EXPECT_TRUE(folder->make_folder("inner").value() != nullptr);
  EXPECT_EQ(folder->make_new_folder("inner").value(), nullptr);
  EXPECT_NE(folder->make_new_folder("another").value(), nullptr);
  EXPECT_EQ(folder->folder("inner").value()->read("file", 10).value(), "x");
}

TEST_F(LinuxFolderTest, lists_its_folders_sorted_and_bounded) {
  for (const char* name : {"c", "a", ".d", "b"}) ASSERT_TRUE(folder->make_folder(name));
  place.write("file", "");
  std::filesystem::create_directory_symlink(place / "a", place / "link");
  const std::vector<std::string> all{".d", "a", "b", "c"};
  EXPECT_EQ(folder->folders(100).value(), all);
  EXPECT_EQ(folder->folders(100).value(), all);
  EXPECT_EQ(folder->folders(2).value(), (std::vector<std::string>{".d", "a"}));
  EXPECT_TRUE(folder->folders(0)->empty());
}

TEST_F(LinuxFolderTest, locks_a_file_for_as_long_as_it_is_open) {
  auto holder = open(".lock", Open::update);
  const auto other = open(".lock", Open::update);
  const auto reader = open(".lock", Open::read);
  EXPECT_FALSE(*other->is_locked());
  EXPECT_TRUE(*holder->lock());
  EXPECT_TRUE(*holder->lock());
  EXPECT_FALSE(*holder->is_locked());  // nobody else
  EXPECT_TRUE(*other->is_locked());
  EXPECT_TRUE(*reader->is_locked());
  EXPECT_FALSE(*other->lock());
  holder.reset();
  EXPECT_FALSE(*reader->is_locked());
  EXPECT_TRUE(*other->lock());
  EXPECT_FALSE(reader->lock());  // not open for writing: that is a failure
}

TEST_F(LinuxFolderTest, locks_out_other_processes_until_this_one_is_gone) {
  std::array<int, 2> ready{};
  std::array<int, 2> leave{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(leave.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(leave[1]);
    const auto held = folder->open(".lock", Open::update);
    const bool locked = held && *(*held)->lock();
    char byte = locked ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(leave[0], &byte, 1);  // the end of the pipe
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  const auto mine = open(".lock", Open::update);
  EXPECT_TRUE(*mine->is_locked());
  EXPECT_FALSE(*mine->lock());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(*mine->lock());
  for (const int end : {ready[0], ready[1], leave[0], leave[1]}) ::close(end);
}

// A child between fork and exec has a copy of the descriptor, but no lock of its own to lose.
TEST_F(LinuxFolderTest, keeps_its_lock_when_a_forked_child_ends) {
  const auto held = open(".lock", Open::update);
  ASSERT_TRUE(*held->lock());
  EXPECT_TRUE(in_a_child([&] { EXPECT_TRUE(*held->lock()); }));
  EXPECT_TRUE(*open(".lock", Open::update)->is_locked());
}

TEST_F(LinuxFolderTest, leaves_what_was_there_when_the_disk_is_full) {
  if (!is_root()) GTEST_SKIP() << "only root can mount a small disk";
  const bool well = in_a_child([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("none", place.path().c_str(), "tmpfs", 0, "size=64k,mode=0700"), 0);
    const auto disk = std::move(*LinuxFolders{}.open(place.path()));
    const auto log = std::move(*disk->open("log", Open::append));
    const auto record = std::move(*disk->open("record", Open::update));
    EXPECT_TRUE(log->append("first\n"));
    EXPECT_TRUE(record->overwrite(std::string(100, 'r')));
    EXPECT_TRUE(disk->replace("file", "old", Sync::no));

    const auto appended = log->append(std::string(100'000, 'x'));
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().text, "cannot write " + place / "log: No space left on device");
    EXPECT_EQ(place.read("log"), "first\n");
    EXPECT_FALSE(disk->replace("file", std::string(100'000, 'x'), Sync::yes));
    EXPECT_EQ(place.read("file"), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place.path()), {}), 3);

    place.write("rest", std::string(100'000, 'x'));  // fills what is left
    EXPECT_FALSE(disk->replace("file", "new", Sync::no));
    EXPECT_EQ(place.read("file"), "old");
    EXPECT_TRUE(record->overwrite(std::string(100, 's')));
    EXPECT_EQ(place.read("record"), std::string(100, 's'));
    EXPECT_TRUE(record->touch());
  });
  EXPECT_TRUE(well);
}

TEST_F(LinuxFolderTest, says_a_name_with_strange_letters_on_one_line) {
  const auto missing = folder->open("a\nb", Open::read);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text.find('\n'), std::string::npos);
}

class LinuxFoldersTest : public testing::Test {
 protected:
  std::string why_not(const std::string& path) {
    auto opened = folders.open(path);
    return opened ? "it opened" : opened.error().text;
  }

  TemporaryFolder place;
  LinuxFolders folders;
};

TEST_F(LinuxFoldersTest, opens_by_absolute_path_only) {
  EXPECT_EQ(why_not("relative"), "'relative' is not an absolute path");
  EXPECT_EQ(why_not(""), "'' is not an absolute path");
  EXPECT_EQ(why_not(place / "none"),
            "cannot open " + place / "none" + ": No such file or directory");
  place.write("file", "");
  EXPECT_EQ(why_not(place / "file"), place / "file" + " is not a folder");
  EXPECT_EQ(folders.open(place.path() + "//./x/../").error().text,
            "cannot open " + place / "x" + ": No such file or directory");
}

TEST_F(LinuxFoldersTest, tells_the_path_without_detours) {
  std::filesystem::create_directories(place / "a/b");
  std::filesystem::create_directory_symlink("a", place / "relative");
  std::filesystem::create_directory_symlink(place / "a", place / "absolute");
  for (const std::string way : {"a//b/", "a/./b", "a/b/../b", "relative/b", "absolute/b"}) {
    const auto opened = folders.open(place / way);
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ((*opened)->path(), place / "a/b");
  }
}

TEST_F(LinuxFoldersTest, refuses_a_link_as_the_last_part) {
  std::filesystem::create_directory(place / "real");
  std::filesystem::create_directory_symlink("real", place / "link");
  EXPECT_EQ(why_not(place / "link"), place / "link" + " is a link: name the folder it points to");
}

TEST_F(LinuxFoldersTest, gives_up_on_links_that_lead_in_circles) {
  std::filesystem::create_directory_symlink("b", place / "a");
  std::filesystem::create_directory_symlink("a", place / "b");
  EXPECT_TRUE(why_not(place / "a/x").ends_with("has too many links"));
}

TEST_F(LinuxFoldersTest, refuses_a_path_that_others_can_turn_elsewhere) {
  std::filesystem::create_directories(place / "loose/inner");
  ASSERT_EQ(::chmod((place / "loose").c_str(), 0777), 0);
  EXPECT_EQ(why_not(place / "loose/inner"),
            place / "loose" + " can be changed by others: chmod go-w it");
  EXPECT_FALSE(folders.make(place / "loose/new"));
  ASSERT_EQ(::chmod((place / "loose").c_str(), 01777), 0);
  EXPECT_EQ(why_not(place / "loose/inner"), "it opened");
}

TEST_F(LinuxFoldersTest, refuses_folders_and_links_of_another_user_on_the_way) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  std::filesystem::create_directories(place / "theirs/ours");
  ASSERT_EQ(::chown((place / "theirs").c_str(), kSomebodyElse, 0), 0);
  EXPECT_EQ(why_not(place / "theirs/ours"), place / "theirs" + " belongs to another user");
  std::filesystem::create_directories(place / "a/b");
  std::filesystem::create_directory_symlink("a", place / "link");
  EXPECT_EQ(why_not(place / "link/b"), "it opened");
  ASSERT_EQ(::lchown((place / "link").c_str(), kSomebodyElse, 0), 0);
  EXPECT_EQ(why_not(place / "link/b"), place / "link" + " is a link of another user");
}

TEST_F(LinuxFoldersTest, refuses_a_folder_of_root_to_another_user) {
  if (!is_root()) GTEST_SKIP() << "only root can become somebody else";
  std::filesystem::create_directory(place / "roots");
  ASSERT_EQ(::chmod(place.path().c_str(), 0755), 0);
  EXPECT_TRUE(in_a_child([&] {
    ASSERT_EQ(::setresuid(kSomebodyElse, kSomebodyElse, kSomebodyElse), 0);
    EXPECT_EQ(why_not(place / "roots"), place / "roots" + " belongs to another user");
    EXPECT_EQ(folders.make(place / "new").error().text,
              "cannot make " + place / "new" + ": Permission denied");
  }));
}

TEST_F(LinuxFoldersTest, makes_the_missing_parts) {
  const auto made = folders.make(place / "a/b/c");
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ((*made)->path(), place / "a/b/c");
  EXPECT_TRUE(folders.make(place / "a/b/c"));
  EXPECT_TRUE((*made)->replace("file", "x", Sync::no));
}

TEST_F(LinuxFoldersTest, knows_the_real_path_and_the_working_folder) {
  std::filesystem::create_directory_symlink(".", place / "link");
  EXPECT_EQ(folders.real_path(place / "link/link").value(), place.path());
  EXPECT_FALSE(folders.real_path(place / "none"));
  EXPECT_EQ(folders.working_folder().value(), std::filesystem::current_path());
}

}  // namespace
}  // namespace tend
