// /proc as the kernel of this machine writes it, and as none ever did.
#include "os/linux/linux_proc_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace tend {
namespace {

std::string stat_line(const std::string& name, const std::string& state = "S",
                      const std::string& threads = "1") {
  return "42 (" + name + ") " + state + " 7 42 41 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 " +
         threads +
         " 0 5555 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
         "256\n";
}

TEST(LinuxProcFiles, reads_the_fields_after_a_name_that_looks_like_fields) {
  for (const char* name : {"sleep", ") (", "a) R 1 1 (", "", "x ) S 1 2 3"}) {
    const auto stat = parse_stat(stat_line(name));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->pid, 42);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 7);
    EXPECT_EQ(stat->session, 41);
    EXPECT_EQ(stat->cpu_ticks, 100U);
    EXPECT_EQ(stat->start_ticks, 5555U);
  }
}

TEST(LinuxProcFiles, refuses_lines_that_are_none) {
  const std::string whole = stat_line("sleep");
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("42 sleep S 7"));
  EXPECT_FALSE(parse_stat(") 42 ("));
  EXPECT_FALSE(parse_stat("x" + whole));
  EXPECT_FALSE(parse_stat(whole.substr(0, 40)));
}

TEST(LinuxProcFiles, tells_a_zombie_from_a_first_thread_that_left) {
  EXPECT_TRUE(parse_stat(stat_line("x", "Z"))->is_zombie());
  EXPECT_EQ(parse_stat(stat_line("x", "Z"))->wait_status, 256);
  EXPECT_FALSE(parse_stat(stat_line("x", "Z", "2"))->is_zombie());
}

TEST(LinuxProcFiles, finds_this_process) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat && *stat);
  EXPECT_EQ((*stat)->parent, ::getppid());
  EXPECT_EQ((*stat)->session, ::getsid(0));
  EXPECT_TRUE(may_see_exit(::getpid()));
}

TEST(LinuxProcFiles, finds_nobody_where_nobody_is) {
  const auto stat = read_stat(999'999'999);
  ASSERT_TRUE(stat);
  EXPECT_FALSE(*stat);
}

TEST(LinuxProcFiles, says_where_we_are) {
  const auto place = read_place();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->boot_id.size(), 36U);
  EXPECT_NE(place->pid_ns, 0U);
}

TEST(LinuxProcFiles, lists_this_process_with_its_environment) {
  // HOME and the like may be anything; what was there at our exec is what /proc shows.
  const char* path = std::getenv("PATH");
  ASSERT_NE(path, nullptr);
  int found = 0;
  ASSERT_TRUE(list_processes([&](const Listed& listed) {
    if (listed.stat.pid != ::getpid()) return;
    ++found;
    EXPECT_EQ(read_variable(listed, "PATH"), path);
    EXPECT_EQ(read_variable(listed, "PAT"), std::nullopt);
    EXPECT_EQ(read_variable(listed, "TEND_NO_SUCH_VARIABLE"), std::nullopt);
  }));
  EXPECT_EQ(found, 1);
}

TEST(LinuxProcFiles, puts_a_start_on_the_calendar) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat && *stat);
  const double start = calendar_time((*stat)->start_ticks);
  EXPECT_LE(start, static_cast<double>(std::time(nullptr)) + 1);
  EXPECT_GT(start, calendar_time(0));
}

TEST(LinuxProcFiles, reads_no_more_than_it_is_told_to) {
  EXPECT_EQ(read_file("/proc/self/environ", 3)->size(), 3U);
  EXPECT_EQ(read_file("/does/not/exist", 3).error(), ENOENT);
}

}  // namespace
}  // namespace tend
