// Ends real processes, of the kinds that escape, ignore, fork and stop.
#include <gtest/gtest.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include "act/ending.h"
#include "os/linux/linux_machine.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class EndingOnLinux : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "tend-ending-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    end({.who = {.mark = folder_.string()}, .now = true});
    end({.who = {.mark = other()}, .now = true});
    fs::remove_all(folder_);
  }

  /// Starts a shell on it, and waits until it said so many lines.
  void start(const std::string& script, std::size_t lines = 1) {
    const std::string path = "PATH=" + std::string(std::getenv("PATH"));
    auto child = machine().processes.spawn(
        {.command = {"sh", "-c", script},
         .environment = {path, "TEND_INFRA=" + folder_.string(), "OTHER=" + other()},
         .working_folder = "/",
         .output = output(),
         .error = output()});
    ASSERT_TRUE(child) << child.error().text;
    root_ = (*child)->id();
    auto process = (*child)->release();
    ASSERT_TRUE(process) << process.error().text;
    process_ = std::move(*process);
    ASSERT_TRUE(loop_until([&] { return said().size() >= lines; }));
  }

  /// A shell that shares the process group of the test. Waits until it said a line.
  ProcessId start_in_our_group(const std::string& script) {
    const std::size_t lines = said().size();
    std::string saying = "exec >>'" + output() + "'; " + script;
    std::string shell = "sh";
    std::string option = "-c";
    char* const command[] = {shell.data(), option.data(), saying.data(), nullptr};
    pid_t pid = 0;
    EXPECT_EQ(posix_spawnp(&pid, "sh", nullptr, nullptr, command, environ), 0);
    EXPECT_EQ(getpgid(pid), getpgrp());
    EXPECT_TRUE(loop_until([&] { return said().size() > lines; }));
    const auto id = machine().processes.identify(pid);
    EXPECT_TRUE(id && *id);
    return id && *id ? **id : ProcessId{};
  }

  EndOrder order() {
    return {.who = {.mark = folder_.string(), .root = root_},
            .interrupt_for = milliseconds{300},
            .terminate_for = milliseconds{300}};
  }

  Ended end(EndOrder order) {
    std::optional<Ended> ended;
    const Ending ending(machine(), std::move(order), [&](const Ended& how) { ended = how; });
    EXPECT_TRUE(loop_until([&] { return ended.has_value(); }));
    return ended.value_or(Ended{});
  }

  std::vector<std::string> said() {
    std::ifstream in(output());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  bool is_there(const std::string& pid) {
    const auto all = machine().processes.all(kMarkVariable);
    EXPECT_TRUE(all);
    return std::ranges::any_of(
        *all, [&](const Seen& seen) { return seen.id.pid == std::stol(pid) && !seen.zombie; });
  }

  Machine& machine() { return os_.machine(); }
  [[nodiscard]] std::string folder() const { return folder_.string(); }
  [[nodiscard]] std::string other() const { return folder_.string() + "/other"; }
  [[nodiscard]] std::string output() const { return (folder_ / "output").string(); }

 private:
  /// Lets the loop run until it is true; false if it is not after a long time.
  bool loop_until(const std::function<bool()>& predicate) {
    Loop& loop = machine().loop;
    const Instant too_late = machine().clock.now() + seconds{60};
    Subscribed timer;
    const std::function<void()> look = [&] {
      if (predicate() || machine().clock.now() > too_late) return loop.stop();
      timer = loop.at(machine().clock.now() + milliseconds{2}, look);
    };
    timer = loop.at(machine().clock.now(), look);
    loop.run();
    return predicate();
  }

  LinuxMachine os_;
  fs::path folder_;
  ProcessId root_;
  std::unique_ptr<Process> process_;
};

TEST_F(EndingOnLinux, interrupts_one_that_listens) {
  start("echo ready; exec sleep 600");
  const Ended ended = end(order());
  EXPECT_TRUE(ended.all_gone);
  EXPECT_EQ(ended.how, "ended by SIGINT");
  EXPECT_EQ(end(order()).how, "nothing was left");
}

TEST_F(EndingOnLinux, interrupts_a_shell_that_waits_for_a_tool) {
  start("sh -c 'echo ready; exec sleep 600'; true");
  EXPECT_EQ(end(order()).how, "ended by SIGINT");
}

TEST_F(EndingOnLinux, terminates_one_that_ignores_the_interrupt) {
  start("trap '' INT; echo ready; exec sleep 600");
  EXPECT_EQ(end(order()).how, "ended by SIGTERM");
}

TEST_F(EndingOnLinux, kills_one_that_listens_to_nothing) {
  start("trap '' INT TERM; echo ready; exec sleep 600");
  EXPECT_EQ(end(order()).how, "ended by SIGKILL");
}

TEST_F(EndingOnLinux, wakes_one_that_is_stopped) {
  start("echo ready; kill -STOP $$; exec sleep 600");
  EXPECT_EQ(end(order()).how, "ended by SIGINT");
}

TEST_F(EndingOnLinux, reaches_another_session_and_a_cleared_environment) {
  start("setsid sleep 600 & echo $!; env -i sleep 600 & echo $!; echo ready; exec sleep 600", 3);
  const auto pids = said();
  ASSERT_TRUE(is_there(pids[0]));
  ASSERT_TRUE(is_there(pids[1]));
  const Ended ended = end(order());
  EXPECT_TRUE(ended.all_gone) << ended.how;
  EXPECT_FALSE(is_there(pids[0]));
  EXPECT_FALSE(is_there(pids[1]));
}

TEST_F(EndingOnLinux, catches_all_of_many_that_fork_on) {
  start(
      "trap '' INT TERM; echo ready; i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 600 & done; "
      "wait");
  const Ended ended = end(order());
  EXPECT_TRUE(ended.all_gone) << ended.how;
  const auto all = machine().processes.all(kMarkVariable);
  ASSERT_TRUE(all);
  for (const Seen& seen : *all) {
    EXPECT_NE(seen.mark, order().who.mark) << seen.id.pid;
  }
}

TEST_F(EndingOnLinux, leaves_another_mark_alone) {
  start("TEND_INFRA=$OTHER sh -c 'echo $$; exec sleep 600' & exec sleep 600", 1);
  ASSERT_TRUE(is_there(said()[0]));
  EXPECT_TRUE(end(order()).all_gone);
  EXPECT_TRUE(is_there(said()[0]));
}

TEST_F(EndingOnLinux, S05_one_in_our_own_process_group_is_ended_alone) {
  const ProcessId bystander = start_in_our_group("echo ready; exec sleep 600");
  const ProcessId one = start_in_our_group("trap '' INT; sleep 600 & sleep 600 & echo ready; wait");
  EndOrder order{.who = {.mark = folder(), .root = one},
                 .interrupt_for = milliseconds{300},
                 .terminate_for = milliseconds{300}};
  EXPECT_TRUE(end(order).all_gone);
  EXPECT_FALSE(is_there(std::to_string(one.pid)));
  EXPECT_TRUE(is_there(std::to_string(bystander.pid)));
  order.now = true;
  EXPECT_EQ(end(order).how, "nothing was left");
  EXPECT_TRUE(is_there(std::to_string(bystander.pid)));
  EXPECT_TRUE(end({.who = {.mark = folder(), .root = bystander}, .now = true}).all_gone);
}

}  // namespace
}  // namespace tend
