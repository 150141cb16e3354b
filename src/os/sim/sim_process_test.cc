// Simulated processes live and die as the kernel's do: gates, zombies, orphans, reused pids.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr ExitStatus killed_by(int signal) { return {ExitStatus::How::signal, signal}; }
constexpr ExitStatus exited(int code) { return {ExitStatus::How::code, code}; }

class SimProcesses : public testing::Test {
 protected:
  std::unique_ptr<GatedChild> spawn(Launch launch) {
    return std::move(machine.processes.spawn(launch).value());
  }
  std::unique_ptr<Process> start(const std::string& command,
                                 std::vector<std::string> environment = {}) {
    Launch launch;
    launch.command = {command};
    launch.environment = std::move(environment);
    return std::move(spawn(launch)->release().value());
  }
  std::optional<Seen> seen(std::int64_t pid) {
    const auto all = machine.processes.all("MARK").value();
    const auto found = std::ranges::find(all, pid, [](const Seen& one) { return one.id.pid; });
    return found == all.end() ? std::nullopt : std::optional(*found);
  }

  SimUniverse universe;
  Machine& machine = universe.machine();
};

TEST_F(SimProcesses, wait_at_the_gate_with_the_environment_of_their_parent) {
  universe.behaviours["worker"] = [](SimSelf& self) { self.write("ran", "yes"); };
  auto child = spawn({.command = {"worker"}, .environment = {"MARK=1"}});
  const auto pid = child->id().pid;
  universe.run_for(1s);
  EXPECT_TRUE(universe.facts(pid)->gated);
  EXPECT_EQ(seen(pid)->mark, std::nullopt);
  const auto process = child->release();
  ASSERT_TRUE(process);
  universe.run_for(1s);
  EXPECT_EQ(seen(pid)->mark, "1");
  EXPECT_EQ(universe.disk.read("/home/user/ran"), "yes");
}

TEST_F(SimProcesses, run_nothing_if_their_gate_goes) {
  universe.behaviours["worker"] = [](SimSelf& self) { self.write("ran", "yes"); };
  auto child = spawn({.command = {"worker"}});
  const auto pid = child->id().pid;
  child.reset();
  universe.run_for(1s);
  EXPECT_EQ(universe.facts(pid)->state, RunState::gone);
  EXPECT_FALSE(universe.disk.exists("/home/user/ran"));
}

TEST_F(SimProcesses, are_not_started_without_a_program_or_an_output) {
  universe.behaviours["worker"] = [](SimSelf&) {};
  const auto unknown = spawn({.command = {"nobody"}})->release();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().exit_code, 127);
  const auto silent = spawn({.command = {"worker"}, .output = "/none/output"})->release();
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().exit_code, 126);
  EXPECT_TRUE(machine.processes.childless(""));
}

TEST_F(SimProcesses, tell_their_end_once_and_keep_how) {
  universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  const auto process = start("worker");
  int ends = 0;
  const auto exit = process->on_exit([&] { ++ends; });
  universe.run_for(4s);
  EXPECT_EQ(process->look().state, RunState::running);
  EXPECT_EQ(ends, 0);
  universe.run_for(10s);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(process->look().state, RunState::gone);
  EXPECT_EQ(process->look().exit, exited(3));
  EXPECT_FALSE(process->signal(Kill::kill));
  const auto late = process->on_exit([&] { ++ends; });
  universe.run_for(0s);
  EXPECT_EQ(ends, 2);
}

TEST_F(SimProcesses, are_zombies_while_their_parent_is_stopped) {
  universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 0); };
  const auto process = start("worker");
  const auto self = machine.processes.self().pid;
  universe.pause(self);
  universe.run_for(6s);
  EXPECT_EQ(universe.facts(process->id().pid)->state, RunState::zombie);
  Machine& other = universe.machine("other");
  EXPECT_EQ(other.processes.open(process->id())->look().state, RunState::zombie);
  universe.go_on(self);
  universe.run_for(0s);
  EXPECT_EQ(universe.facts(process->id().pid)->state, RunState::gone);
  EXPECT_EQ(process->look().exit, exited(0));
}

TEST_F(SimProcesses, hear_how_each_child_ended_unless_they_are_over) {
  universe.behaviours["child"] = [](SimSelf& self) { self.exit_after(5s, 7); };
  universe.behaviours["worker"] = [](SimSelf& self) {
    self.when_child_ends([](SimSelf& me, std::int64_t pid, const ExitStatus& exit) {
      me.print(std::to_string(pid) + " " + std::to_string(exit.value) + "\n");
    });
    self.spawn({.command = {"child"}, .environment = {}});
  };
  const auto heard = [this](bool is_killed) {
    Launch launch;
    launch.command = {"worker"};
    launch.output = "/home/user/heard";
    const auto process = std::move(spawn(launch)->release().value());
    universe.run_for(1s);
    const std::string child = std::to_string(universe.pids("child").back());
    if (is_killed) universe.kill(process->id().pid);
    universe.run_for(10s);
    return std::pair(child + " 7\n", universe.disk.read("/home/user/heard").value_or(""));
  };
  const auto [words, said] = heard(false);
  EXPECT_EQ(said, words);
  EXPECT_EQ(heard(true).second, said);
}

TEST_F(SimProcesses, end_by_signals_as_they_do_by_default) {
  universe.behaviours["worker"] = [](SimSelf&) {};
  for (const auto& [kill, number] :
       {std::pair{Kill::interrupt, 2}, {Kill::terminate, 15}, {Kill::kill, 9}}) {
    const auto process = start("worker");
    ASSERT_TRUE(process->signal(kill));
    EXPECT_EQ(process->look().exit, killed_by(number));
  }
  ASSERT_EQ(universe.sent().size(), 3U);
  EXPECT_EQ(universe.sent().back().from, machine.processes.self().pid);
}

TEST_F(SimProcesses, may_ignore_or_put_off_all_but_kill) {
  universe.behaviours["stubborn"] = [](SimSelf& self) {
    self.ignore(Kill::interrupt);
    self.slow_to_end(3s);
    self.ignore(Kill::interrupt);
  };
  const auto process = start("stubborn");
  universe.run_for(0s);
  ASSERT_TRUE(process->signal(Kill::interrupt));
  ASSERT_TRUE(process->signal(Kill::terminate));
  universe.run_for(2s);
  EXPECT_EQ(process->look().state, RunState::running);
  universe.run_for(2s);
  EXPECT_EQ(process->look().exit, killed_by(15));
}

TEST_F(SimProcesses, keep_what_came_while_they_were_stopped) {
  universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "late\n"); };
  Launch launch{.command = {"worker"}, .output = "/home/user/out"};
  const auto process = std::move(spawn(launch)->release().value());
  universe.run_for(0s);
  ASSERT_TRUE(process->signal(Kill::stop));
  ASSERT_TRUE(process->signal(Kill::terminate));
  universe.run_for(5s);
  EXPECT_EQ(process->look().state, RunState::stopped);
  EXPECT_EQ(universe.disk.read("/home/user/out"), "");
  ASSERT_TRUE(process->signal(Kill::cont));
  universe.run_for(0s);
  EXPECT_EQ(process->look().exit, killed_by(15));
}

TEST_F(SimProcesses, are_told_apart_when_a_pid_is_reused) {
  universe.behaviours["worker"] = [](SimSelf&) {};
  const auto process = start("worker");
  const ProcessId old = process->id();
  universe.kill(old.pid);
  universe.run_for(1s);
  universe.next_pid = old.pid;
  const auto other = start("worker");
  ASSERT_EQ(other->id().pid, old.pid);
  EXPECT_EQ(process->look().state, RunState::gone) << "who held it knows better";
  const auto late = machine.processes.open(old);
  EXPECT_EQ(late->look().state, RunState::reused);
  EXPECT_FALSE(late->signal(Kill::kill));
  EXPECT_EQ(other->look().state, RunState::running);
}

TEST_F(SimProcesses, come_as_orphans_to_who_adopts) {
  universe.behaviours["worker"] = [](SimSelf& self) {
    self.spawn({.command = {"helper"}, .own_session = true});
    self.spawn({.command = {"daemon"}, .without = {"MARK"}, .orphan = true});
    self.exit_after(1s, 0);
  };
  universe.behaviours["helper"] = [](SimSelf&) {};
  universe.behaviours["daemon"] = [](SimSelf&) {};
  const auto process = start("worker", {"MARK=1", "OTHER=2"});
  universe.run_for(500ms);
  const auto helper = universe.pids("helper").at(0);
  const auto daemon = universe.pids("daemon").at(0);
  const auto self = machine.processes.self().pid;
  EXPECT_EQ(seen(helper)->parent, process->id().pid);
  EXPECT_EQ(seen(daemon)->parent, self);
  EXPECT_EQ(seen(helper)->mark, "1");
  EXPECT_EQ(seen(daemon)->mark, std::nullopt);
  EXPECT_EQ(universe.facts(helper)->session, helper);
  universe.run_for(1s);
  EXPECT_EQ(seen(helper)->parent, self);
  EXPECT_FALSE(machine.processes.childless(""));
  universe.kill(helper);
  universe.kill(daemon);
  universe.run_for(0s);
  EXPECT_FALSE(seen(helper).has_value());
  EXPECT_TRUE(machine.processes.childless(""));
  EXPECT_FALSE(universe.machine("other").processes.childless("")) << "it never started any";
}

TEST_F(SimProcesses, are_members_of_the_group_they_were_started_in) {
  EXPECT_EQ(machine.processes.make_group("g"), "");
  universe.groups = true;
  const std::string group = machine.processes.make_group("g");
  ASSERT_NE(group, "");
  universe.behaviours["worker"] = [](SimSelf& self) { self.spawn({.command = {"helper"}}); };
  universe.behaviours["helper"] = [](SimSelf&) {};
  const auto process = std::move(spawn({.command = {"worker"}, .group = group})->release().value());
  universe.run_for(0s);
  EXPECT_EQ(machine.processes.members(group).size(), 2U);
  universe.kill(process->id().pid);
  EXPECT_FALSE(machine.processes.childless(group));
  universe.kill(universe.pids("helper").at(0));
  EXPECT_TRUE(machine.processes.childless(group));
}

TEST_F(SimProcesses, cannot_be_looked_at_when_looking_fails) {
  const auto process = machine.processes.open(machine.processes.self());
  universe.looking_fails = "Permission denied";
  EXPECT_EQ(process->look().state, RunState::unknown);
  EXPECT_FALSE(machine.processes.all("MARK"));
  EXPECT_FALSE(machine.processes.identify(1));
  universe.looking_fails.clear();
  EXPECT_EQ(process->look().state, RunState::running);
  ProcessId elsewhere = machine.processes.self();
  elsewhere.pid_ns = 1;
  EXPECT_EQ(machine.processes.open(elsewhere)->look().state, RunState::unknown);
}

// A program of ours that is started by a command.
class Resident {
 public:
  Resident(Machine& machine, const Launch& launch) {
    auto folder = machine.folders.make("/home/user/resident").value();
    lock_ = folder->open("lock", Folder::Open::update).value();
    const bool got = lock_->lock().value();
    auto notes = folder->open("notes", Folder::Open::append).value();
    static_cast<void>(notes->append(launch.command.at(1) + (got ? " locked\n" : " shut out\n")));
    if (launch.command.at(1) == "first") {
      Launch next = launch;
      next.command.at(1) = "second";
      timer_ = machine.loop.at(machine.clock.now() + 1s, [&machine, next] {
        static_cast<void>(machine.processes.become(next));
      });
    }
  }

 private:
  std::unique_ptr<File> lock_;
  Subscribed timer_;
};

TEST_F(SimProcesses, detach_and_become_other_programs) {
  universe.programs["/usr/bin/tend"] = [](Machine& its, const Launch& launch) {
    return std::make_unique<Resident>(its, launch);
  };
  const std::string program = machine.processes.own_program().value();
  ASSERT_TRUE(machine.processes.detach({.command = {program, "first"}}));
  EXPECT_FALSE(machine.processes.detach({.command = {"nobody"}}));
  universe.run_for(500ms);
  const auto pid = universe.pids(program).at(0);
  EXPECT_EQ(universe.facts(pid)->parent, 1);
  const ProcessId id = universe.facts(pid)->id;
  universe.run_for(1s);
  EXPECT_EQ(universe.facts(pid)->id, id) << "the same process";
  EXPECT_EQ(universe.facts(pid)->command.at(1), "second");
  EXPECT_EQ(universe.disk.read("/home/user/resident/notes"), "first locked\nsecond locked\n");
  universe.kill(machine.processes.self().pid);
  EXPECT_TRUE(universe.runs(pid)) << "it outlives who started it";
}

TEST_F(SimProcesses, run_commands_by_their_answers) {
  universe.answers["git"] = {.output = "some"};
  universe.answers["git status"] = {.output = "none", .takes = 2s};
  universe.answers["slow"] = {.takes = 1h};
  std::vector<Ran> got;
  const auto done = [&](const Result<Ran>& ran) { got.push_back(*ran); };
  const auto a = machine.processes.run({.command = {"git", "status"}}, done);
  const auto b = machine.processes.run({.command = {"git", "log"}}, done);
  const auto c = machine.processes.run({.command = {"slow"}, .deadline = 5s}, done);
  const auto d = machine.processes.run({.command = {"nobody"}}, done);
  auto never = machine.processes.run({.command = {"git"}}, done);
  never.reset();
  universe.run_for(10s);
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got.at(0).output, "some");
  EXPECT_EQ(got.at(1).exit, exited(127));
  EXPECT_EQ(got.at(2).output, "none");
  EXPECT_TRUE(got.at(3).timed_out);
  EXPECT_EQ(universe.ran().size(), 5U);
}

TEST_F(SimProcesses, hear_datagrams_and_fifos) {
  const std::string socket = "/home/user/socket";
  const std::string fifo = "/home/user/fifo";
  universe.behaviours["sender"] = [&](SimSelf& self) {
    self.send(socket, "hello");
    self.write_fifo(fifo, std::string(5000, 'x'));
    self.exit(0);
  };
  std::vector<Datagram> heard;
  std::string text;
  auto receiver =
      machine.sockets.receive(socket, [&](const Datagram& one) { heard.push_back(one); });
  ASSERT_TRUE(receiver);
  const auto reader =
      machine.sockets.read_fifo(fifo, [&](std::string_view piece) { text += piece; });
  ASSERT_TRUE(reader);
  const auto pid = start("sender")->id().pid;
  universe.run_for(1s);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard.at(0).pid, pid);
  EXPECT_EQ(heard.at(0).text, "hello");
  EXPECT_EQ(text.size(), 5000U);
  EXPECT_TRUE(universe.send(0, socket, "more"));
  receiver->reset();
  EXPECT_FALSE(universe.send(0, socket, "more"));
  universe.run_for(1s);
  EXPECT_EQ(heard.size(), 1U);
}

}  // namespace
}  // namespace tend
