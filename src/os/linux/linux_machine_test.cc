// The parts of the real machine, at work together through the seam alone.
#include "os/linux/linux_machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// Runs until stop(), or until a deadline that only a bug can reach.
void run(Machine& machine) {
  const Subscribed deadline = machine.loop.at(machine.clock.now() + 60s, [&] {
    ADD_FAILURE() << "the loop hangs";
    machine.loop.stop();
  });
  machine.loop.run();
}

TEST(LinuxMachine, ignores_a_reader_that_goes_away) {
  std::signal(SIGPIPE, SIG_DFL);
  LinuxMachine real;
  EXPECT_EQ(std::signal(SIGPIPE, SIG_IGN), SIG_IGN);
}

TEST(LinuxMachine, knows_this_process_and_runs_another) {
  LinuxMachine real;
  Machine& machine = real.machine();
  const ProcessId self = machine.processes.self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(machine.processes.identify(self.pid).value(), self);
  Result<Ran> ran = fail("never ran");
  const Subscribed running =
      machine.processes.run({.command = {"sh", "-c", "read word; echo \"$word $NAME\"; exit 3"},
                             .environment = {"NAME=value"},
                             .input = "hello\n"},
                            [&](Result<Ran> result) {
                              ran = std::move(result);
                              machine.loop.stop();
                            });
  run(machine);
  ASSERT_TRUE(ran) << ran.error().text;
  EXPECT_EQ(ran->output, "hello value\n");
  EXPECT_EQ(ran->exit, (ExitStatus{ExitStatus::How::code, 3}));
}

// What a child inherits from this machine must not show: a broken pipe ends it, SIGTERM too.
TEST(LinuxMachine, starts_programs_with_the_dispositions_and_the_mask_of_a_shell) {
  LinuxMachine real;
  Machine& machine = real.machine();
  const Subscribed order = machine.loop.on(Order::terminate, [] {});
  const Subscribed other = machine.loop.on(Order::hang_up, [] {});
  Result<Ran> ran = fail("never ran");
  const Subscribed running = machine.processes.run(
      {.command = {"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"}}, [&](Result<Ran> result) {
        ran = std::move(result);
        machine.loop.stop();
      });
  run(machine);
  ASSERT_TRUE(ran) << ran.error().text;
  EXPECT_EQ(ran->output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(LinuxMachine, hears_of_a_file_that_it_writes) {
  const TemporaryFolder place;
  LinuxMachine real;
  Machine& machine = real.machine();
  const auto folder = machine.folders.make(place / "a/b");
  ASSERT_TRUE(folder) << folder.error().text;
  const Subscribed hint = machine.loop.on_change((*folder)->path(), [&] { machine.loop.stop(); });
  ASSERT_NE(hint, nullptr);
  const std::string name = std::to_string(machine.entropy.number());
  ASSERT_TRUE((*folder)->replace(name, "text", Folder::Sync::no, machine.clock.wall()));
  run(machine);
  EXPECT_EQ((*folder)->read(name, 10).value(), "text");
}

TEST(LinuxMachine, leaves_a_folder_without_version_control_alone) {
  const TemporaryFolder place;
  LinuxMachine real;
  Machine& machine = real.machine();
  Result<Snapshot> snapshot = fail("never came");
  const Subscribed saving = machine.version_control.snapshot(
      {.worktree = place.path(), .ref = "refs/tend/test/1", .message = "test"},
      [&](Result<Snapshot> result) {
        snapshot = std::move(result);
        machine.loop.stop();
      });
  run(machine);
  ASSERT_TRUE(snapshot) << snapshot.error().text;
  EXPECT_FALSE(snapshot->versioned);
  place.write("work", "text");
  const auto into = machine.folders.make(place / "salvage");
  ASSERT_TRUE(into);
  const auto salvaged = machine.salvager.salvage(
      {.worktree = place.path(), .into = (*into)->path(), .exclude = {(*into)->path()}});
  ASSERT_TRUE(salvaged) << salvaged.error().text;
  EXPECT_EQ(salvaged->files, 1U);
}

}  // namespace
}  // namespace tend
