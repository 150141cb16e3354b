// Real descriptors: files, pipes, a full disk.
#include "os/linux/linux_world.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "os/machine.h"

namespace tend {
namespace {

std::string read_all(ByteSource& source) {
  std::string all;
  std::array<char, 7> piece{};
  while (true) {
    const auto got = source.read(piece);
    if (!got || *got == 0) return all;
    all.append(piece.data(), *got);
  }
}

TEST(LinuxFiles, reads_a_file_to_its_end) {
  const std::string path = testing::TempDir() + "tend_linux_files";
  FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("one line\nand another\n", file);
  std::fclose(file);
  auto source = LinuxFiles{}.open(path);
  ASSERT_TRUE(source);
  EXPECT_EQ(read_all(**source), "one line\nand another\n");
  std::remove(path.c_str());
}

TEST(LinuxFiles, names_the_path_and_the_cause_of_a_failure) {
  const auto missing = LinuxFiles{}.open("/does/not/exist");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text, "cannot open /does/not/exist: No such file or directory");

  auto folder = LinuxFiles{}.open("/");
  ASSERT_TRUE(folder);
  std::array<char, 8> piece{};
  const auto got = (*folder)->read(piece);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text, "cannot read /: Is a directory");
}

TEST(LinuxOutput, keeps_its_text_back_until_it_is_flushed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  LinuxOutput out(ends[1], LinuxOutput::Buffering::full);
  std::array<char, 16> piece{};
  EXPECT_TRUE(out.write("hello\n"));
  EXPECT_LT(::read(ends[0], piece.data(), piece.size()), 0);
  EXPECT_TRUE(out.flush());
  EXPECT_EQ(::read(ends[0], piece.data(), piece.size()), 6);
  EXPECT_FALSE(out.is_terminal());
  EXPECT_EQ(out.columns(), 80);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LinuxOutput, says_so_from_then_on_when_the_reader_has_gone) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  LinuxOutput out(ends[1], LinuxOutput::Buffering::none);
  EXPECT_FALSE(out.write("nobody reads this"));
  EXPECT_FALSE(out.write("nor this"));
  EXPECT_FALSE(out.flush());
  ::close(ends[1]);
}

TEST(LinuxOutput, says_so_when_the_disk_is_full) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  LinuxOutput out(full, LinuxOutput::Buffering::full);
  EXPECT_TRUE(out.write("fits the buffer"));
  EXPECT_FALSE(out.flush());
  ::close(full);
}

TEST(LinuxEnvironment, tells_a_missing_variable_from_an_empty_one) {
  ::setenv("TEND_TEST_EMPTY", "", 1);
  ::unsetenv("TEND_TEST_MISSING");
  EXPECT_EQ(LinuxEnvironment{}.variable("TEND_TEST_EMPTY"), "");
  EXPECT_EQ(LinuxEnvironment{}.variable("TEND_TEST_MISSING"), std::nullopt);
}

TEST(LinuxEnvironment, tells_all_its_variables) {
  ::setenv("TEND_TEST_ONE", "1=one", 1);
  const auto all = LinuxEnvironment{}.all();
  EXPECT_EQ(std::ranges::count(all, "TEND_TEST_ONE=1=one"), 1);
  EXPECT_TRUE(std::ranges::all_of(all, [](const std::string& v) { return v.contains('='); }));
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(LinuxWorld, makes_no_machine_before_it_is_asked_for_one) {
  std::signal(SIGPIPE, SIG_DFL);
  const auto before = open_descriptors();
  {
    LinuxWorld world;
    Machines& machines = world.world().machines;
    EXPECT_EQ(open_descriptors(), before);
    Machine& machine = machines.machine();
    EXPECT_GT(open_descriptors(), before);
    EXPECT_EQ(&machines.machine(), &machine);
    EXPECT_EQ(std::signal(SIGPIPE, SIG_IGN), SIG_IGN);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace tend
