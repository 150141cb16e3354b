// Where groups are made, and real ones where this machine lets us.
#include "os/linux/linux_groups.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "os/linux/process_testing.h"

namespace tend {
namespace {

bool yes(const std::string& /*folder*/) { return true; }
bool only_below_unified(const std::string& folder) { return folder == "/sys/fs/cgroup/unified"; }

constexpr const char* kModern =
    "25 30 0:23 / /sys rw - sysfs sysfs rw\n"
    "31 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(LinuxGroups, are_made_below_our_own) {
  EXPECT_EQ(groups_folder(kModern, "0::/user.slice/a.scope\n", yes),
            "/sys/fs/cgroup/user.slice/a.scope");
  EXPECT_EQ(groups_folder(kModern, "0::/\n", yes), "/sys/fs/cgroup");
}

TEST(LinuxGroups, are_never_nested) {
  EXPECT_EQ(groups_folder(kModern, "0::/user.slice/tend-x\n", yes), "/sys/fs/cgroup/user.slice");
  EXPECT_EQ(groups_folder(kModern, "0::/tend-x\n", yes), "/sys/fs/cgroup");
}

TEST(LinuxGroups, are_found_beside_the_old_kind) {
  const char* mounts =
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "32 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(groups_folder(mounts, "4:memory:/m\n0::/own\n", only_below_unified),
            "/sys/fs/cgroup/unified/own");
}

TEST(LinuxGroups, follow_the_root_of_the_mount) {
  const char* mounts = "31 25 0:26 /box /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(groups_folder(mounts, "0::/box/in\n", yes), "/sys/fs/my groups/in");
  EXPECT_EQ(groups_folder(mounts, "0::/box\n", yes), "/sys/fs/my groups");
  EXPECT_EQ(groups_folder(mounts, "0::/boxed/in\n", yes), "");
  EXPECT_EQ(groups_folder(mounts, "0::/../elsewhere\n", yes), "");
}

TEST(LinuxGroups, are_nowhere_without_cgroup2) {
  EXPECT_EQ(groups_folder(kModern, "4:memory:/m\n", yes), "");
  EXPECT_EQ(groups_folder("25 30 0:23 / /sys rw - sysfs sysfs rw\n", "0::/\n", yes), "");
  EXPECT_EQ(groups_folder(kModern, "0::/\n", only_below_unified), "");
  EXPECT_EQ(groups_folder("\n\nx\n", "\n", yes), "");
}

TEST(LinuxGroups, are_left_for_what_is_above_the_first_of_them) {
  const auto outside = [](const char* own) { return folder_outside_groups(kModern, own, yes); };
  EXPECT_EQ(outside("0::/user.slice/tend-x\n"), "/sys/fs/cgroup/user.slice");
  EXPECT_EQ(outside("0::/user.slice/tend-x/made/by/it\n"), "/sys/fs/cgroup/user.slice");
  EXPECT_EQ(outside("0::/tend-x\n"), "/sys/fs/cgroup");
  EXPECT_EQ(outside("0::/user.slice/a.scope\n"), "");
  EXPECT_EQ(outside("0::/user.slice/tend-x.scope\n"), "") << "a unit of systemd";
  EXPECT_EQ(outside("0::/\n"), "");
  EXPECT_EQ(folder_outside_groups("", "0::/tend-x\n", yes), "");
}

TEST(LinuxGroups, refuse_names_that_lead_elsewhere) {
  std::string folder;
  EXPECT_EQ(make_group("", folder), "");
  EXPECT_EQ(make_group("../x", folder), "");
  EXPECT_EQ(make_group(std::string("a\0b", 3), folder), "");
  EXPECT_EQ(make_group(std::string(300, 'x'), folder), "");
}

TEST(LinuxGroups, leave_folders_of_others_alone) {
  std::string folder = ::testing::TempDir() + "tend-group-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  remove_group(folder);
  struct stat about{};
  EXPECT_EQ(::stat(folder.c_str(), &about), 0);
  EXPECT_TRUE(group_members(folder).empty());
  ::rmdir(folder.c_str());
}

class LinuxGroup : public testing::RealProcesses {
 public:
  LinuxGroup() { group_ = processes_.make_group("test-" + std::to_string(::getpid())); }
  ~LinuxGroup() override { processes_.remove_group(group_); }
  LinuxGroup(const LinuxGroup&) = delete;
  LinuxGroup& operator=(const LinuxGroup&) = delete;

 protected:
  std::string group_;
};

TEST_F(LinuxGroup, holds_what_was_started_in_it_and_what_tried_to_leave) {
  if (group_.empty()) GTEST_SKIP() << "no cgroup2 that we may write";
  EXPECT_TRUE(processes_.members(group_).empty());
  EXPECT_TRUE(processes_.childless(group_));
  Launch launch = shell("(env -i setsid sleep 1000 & echo $! > pid); exec sleep 1000");
  launch.group = group_;
  const auto process = started(launch);
  const ProcessId escaped = identified(number_in(path("pid")));
  auto members = processes_.members(group_);
  EXPECT_NE(std::ranges::find(members, process->id().pid), members.end());
  EXPECT_NE(std::ranges::find(members, escaped.pid), members.end());
  EXPECT_EQ(std::ranges::find(members, ::getpid()), members.end());

  EXPECT_FALSE(processes_.childless(group_));

  const auto other = processes_.open(escaped);
  ASSERT_TRUE(other->signal(Kill::kill));
  ASSERT_TRUE(process->signal(Kill::kill));
  EXPECT_TRUE(run_until([&] { return processes_.members(group_).empty(); }));
  EXPECT_EQ(end_of(*process), killed_by(SIGKILL));
  EXPECT_EQ(end_of(*other), killed_by(SIGKILL));
  EXPECT_TRUE(processes_.childless(group_));
  processes_.remove_group(group_);
  EXPECT_FALSE(processes_.childless(group_));
  struct stat about{};
  EXPECT_NE(::stat(group_.c_str(), &about), 0);
}

TEST_F(LinuxGroup, is_looked_for_anew_when_the_place_of_the_last_one_is_gone) {
  if (group_.empty()) GTEST_SKIP() << "no cgroup2 that we may write";
  for (const char* const last : {"/nowhere", "/tmp"}) {
    std::string folder = last;
    const std::string other = make_group("other-" + std::to_string(::getpid()), folder);
    EXPECT_TRUE(other.starts_with(folder + "/tend-other-")) << other;
    EXPECT_TRUE(group_.starts_with(folder + "/tend-test-")) << folder;
    remove_group(other);
  }
}

TEST_F(LinuxGroup, is_made_anew_if_an_empty_one_is_left) {
  if (group_.empty()) GTEST_SKIP() << "no cgroup2 that we may write";
  const std::string name = "test-" + std::to_string(::getpid());
  EXPECT_EQ(processes_.make_group(name), group_);
  Launch launch = shell("exec sleep 1000");
  launch.group = group_;
  const auto process = started(launch);
  EXPECT_EQ(processes_.make_group(name), "");
  ASSERT_TRUE(process->signal(Kill::kill));
  end_of(*process);
}

TEST_F(LinuxGroup, is_left_by_what_is_detached) {
  if (group_.empty()) GTEST_SKIP() << "no cgroup2 that we may write";
  const std::string own = contents("/proc/self/cgroup");
  // What is forked now is in the group, and detaches; the loop belongs to us alone.
  const pid_t inside = ::fork();
  if (inside == 0) {
    std::ofstream(group_ + "/cgroup.procs") << "0" << std::flush;
    const Launch launch = shell("cat /proc/self/cgroup > there; echo $$ > pid; exec sleep 1000");
    const bool detached = LinuxProcesses(loop_).detach(launch).has_value();
    std::ofstream(path("was")) << contents("/proc/self/cgroup");
    ::_exit(detached ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(inside, &status, 0), inside);
  EXPECT_EQ(status, 0);
  identified(number_in(path("pid")));
  EXPECT_NE(contents(path("was")).find("/tend-test-"), std::string::npos);
  EXPECT_EQ(contents(path("there")), own);
}

TEST_F(LinuxGroup, that_is_gone_is_why_a_program_cannot_start) {
  if (group_.empty()) GTEST_SKIP() << "no cgroup2 that we may write";
  processes_.remove_group(group_);
  Launch launch = shell("exit 0");
  launch.group = group_;
  const auto child = processes_.spawn(launch);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().exit_code, 126);
  EXPECT_NE(child.error().text.find("cannot open its group"), std::string::npos);
}

}  // namespace
}  // namespace tend
