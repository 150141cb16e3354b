// Every state that a process can be in, with real ones.
#include "os/linux/linux_held.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "os/linux/process_testing.h"

namespace tend {
namespace {

class LinuxHeld : public testing::RealProcesses {
 protected:
  RunState state_of(const ProcessId& id) { return processes_.open(id)->look().state; }

  /// Starts a process that leaves a zombie child with exit code 7 about; the zombie's id.
  ProcessId zombie_of_another() {
    EXPECT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    other_ = started(shell("sh -c 'read go < fifo; exit 7' & echo $! > pid; exec sleep 1000"));
    const ProcessId id = identified(number_in(path("pid")));
    const auto zombie = processes_.open(id);
    // The shell would reap its child; what it becomes does not.
    const std::string name = "/proc/" + std::to_string(other_->id().pid) + "/comm";
    EXPECT_TRUE(run_until([&] { return contents(name) == "sleep\n"; }));
    std::ofstream(path("fifo")) << "go\n";
    EXPECT_TRUE(run_until([&] { return zombie->look().state == RunState::zombie; }));
    return id;
  }

  std::unique_ptr<Process> other_;
};

TEST_F(LinuxHeld, knows_itself) {
  const ProcessId self = processes_.self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(*processes_.identify(self.pid), self);
  EXPECT_EQ(state_of(self), RunState::running);
}

TEST_F(LinuxHeld, sees_a_process_run_stop_go_on_and_end) {
  const auto process = started(shell("exec sleep 1000"));
  EXPECT_EQ(process->look().state, RunState::running);
  ASSERT_TRUE(process->signal(Kill::stop));
  EXPECT_TRUE(run_until([&] { return process->look().state == RunState::stopped; }));
  ASSERT_TRUE(process->signal(Kill::cont));
  EXPECT_TRUE(run_until([&] { return process->look().state == RunState::running; }));
  ASSERT_TRUE(process->signal(Kill::terminate));
  EXPECT_EQ(end_of(*process), killed_by(SIGTERM));
  EXPECT_EQ(process->look().exit, killed_by(SIGTERM));
  EXPECT_EQ(state_of(process->id()), RunState::gone);
}

TEST_F(LinuxHeld, reaps_its_own_child_by_looking) {
  const auto process = started(shell("exit 3"));
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process->id().pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(process->look().state, RunState::gone);
  EXPECT_EQ(process->look().exit, code(3));
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process->id().pid), &info, WEXITED), -1);
}

TEST_F(LinuxHeld, sees_how_a_zombie_of_another_ended) {
  const ProcessId id = zombie_of_another();
  const auto zombie = processes_.open(id);
  EXPECT_EQ(zombie->look().state, RunState::zombie);
  EXPECT_EQ(zombie->look().exit, code(7));
}

TEST_F(LinuxHeld, keeps_how_a_zombie_of_another_ended_when_it_is_reaped) {
  const auto zombie = processes_.open(zombie_of_another());
  ASSERT_EQ(zombie->look().state, RunState::zombie);
  ASSERT_TRUE(other_->signal(Kill::kill));
  EXPECT_EQ(end_of(*zombie), code(7));
}

TEST_F(LinuxHeld, learns_the_exit_of_one_that_another_reaped) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  other_ = started(shell("sh -c 'read go < fifo; exit 9' & echo $! > pid; wait; exec sleep 1000"));
  const auto process = processes_.open(identified(number_in(path("pid"))));
  ASSERT_EQ(process->look().state, RunState::running);
  std::ofstream(path("fifo")) << "go\n";
  const ExitStatus exit = end_of(*process);
  if (exit.how == ExitStatus::How::unknown) GTEST_SKIP() << "this kernel keeps no exits";
  EXPECT_EQ(exit, code(9));
}

TEST_F(LinuxHeld, tells_a_reused_pid) {
  const auto process = started(shell("exec sleep 1000"));
  ProcessId earlier = process->id();
  earlier.start_ticks -= 1;
  const auto other = processes_.open(earlier);
  EXPECT_EQ(other->look().state, RunState::reused);
  EXPECT_FALSE(other->signal(Kill::kill));
  EXPECT_EQ(process->look().state, RunState::running);
}

TEST_F(LinuxHeld, calls_one_of_an_earlier_boot_gone) {
  ProcessId id = processes_.self();
  id.boot_id = "00000000-0000-0000-0000-000000000000";
  const auto process = processes_.open(id);
  EXPECT_EQ(process->look().state, RunState::gone);
  EXPECT_FALSE(process->signal(Kill::look));
}

TEST_F(LinuxHeld, does_not_judge_what_it_cannot_see) {
  ProcessId elsewhere = processes_.self();
  elsewhere.pid_ns += 1;
  ProcessId timeless = processes_.self();
  timeless.boot_id.clear();
  for (const ProcessId& id : {elsewhere, timeless, ProcessId{}}) {
    const auto process = processes_.open(id);
    EXPECT_EQ(process->look().state, RunState::unknown);
    EXPECT_NE(process->look().problem, "");
    EXPECT_FALSE(process->signal(Kill::look));
    const auto never = process->on_exit([] { ADD_FAILURE() << "nobody knows that it ended"; });
    EXPECT_TRUE(never);
  }
}

TEST_F(LinuxHeld, takes_a_thread_for_nobody) {
  std::atomic<pid_t> tid = 0;
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    tid = ::gettid();
    tid.notify_all();
    stop.wait(false);
  });
  tid.wait(0);
  ProcessId id = processes_.self();
  id.pid = tid;
  EXPECT_EQ(*processes_.identify(tid), std::nullopt);
  EXPECT_EQ(state_of(id), RunState::reused);
  stop = true;
  stop.notify_all();
  thread.join();
}

TEST_F(LinuxHeld, sees_work_in_a_process_whose_first_thread_left) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);
  }
  const auto process = processes_.open(identified(pid));
  const std::string stat = "/proc/" + std::to_string(pid) + "/stat";
  ASSERT_TRUE(run_until([&] { return contents(stat).find(") Z ") != std::string::npos; }));
  EXPECT_EQ(process->look().state, RunState::running);
  ASSERT_TRUE(process->signal(Kill::kill));
  EXPECT_EQ(end_of(*process), killed_by(SIGKILL));
}

TEST_F(LinuxHeld, tells_the_end_once_to_each_who_asked) {
  const auto process = started(shell("exec sleep 1000"));
  int first = 0;
  int second = 0;
  Subscribed once = process->on_exit([&] {
    ++first;
    once.reset();
  });
  const Subscribed kept = process->on_exit([&] { ++second; });
  process->on_exit([] { ADD_FAILURE() << "it was taken back"; }).reset();
  ASSERT_TRUE(process->signal(Kill::kill));
  EXPECT_TRUE(run_until([&] { return first == 1 && second == 1; }));
  EXPECT_EQ(process->look().exit, killed_by(SIGKILL));
  int after = 0;
  const Subscribed late = process->on_exit([&] { ++after; });
  EXPECT_TRUE(run_until([&] { return after == 1; }));
  EXPECT_EQ(first + second + after, 3);
}

TEST_F(LinuxHeld, tells_the_end_of_one_that_was_gone_when_it_was_opened) {
  ProcessId id = processes_.self();
  id.boot_id = "earlier";
  const auto process = processes_.open(id);
  int told = 0;
  const Subscribed end = process->on_exit([&] { ++told; });
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(run_until([&] { return told == 1; }));
}

TEST_F(LinuxHeld, hears_the_exit_of_a_child_that_was_reaped_in_passing) {
  const auto process = started(shell("exit 4"));
  const auto again = processes_.open(process->id());
  // Only the loop runs: it reaps all children, the held ones too.
  EXPECT_TRUE(run_until([&] {
    const auto gone = processes_.identify(process->id().pid);
    return gone && !*gone;
  }));
  EXPECT_EQ(process->look().exit, code(4));
  EXPECT_EQ(again->look().exit, code(4));
}

}  // namespace
}  // namespace tend
