// Smaller faults of the simulated machine: kills in the middle of a write, calls that take long,
// pids that come again, what nobody sweeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHome = "/home/user/tend";

std::string at(const std::string& name) { return std::string(kHome) + "/" + name; }

TEST(SimFaults, make_a_file_unreadable_and_readable_again) {
  SimUniverse universe;
  universe.disk.write(at("a"), "1");
  const auto folder = universe.machine().folders.open(kHome).value();
  universe.disk.make_unreadable(at("a"));
  EXPECT_FALSE(folder->read("a", 10));
  universe.disk.make_readable(at("a"));
  EXPECT_EQ(folder->read("a", 10).value(), "1");
}

TEST(SimFaults, give_a_pid_again_after_the_highest) {
  SimUniverse universe;
  universe.behaviours["worker"] = [](SimSelf&) {};
  universe.most_pid = 1003;
  Machine& machine = universe.machine();  // has 1000, and lives
  const auto start = [&] { return universe.start_command({.command = {"worker"}}); };
  const std::int64_t dies = start();
  const ProcessId before = universe.facts(dies)->id;
  universe.kill(dies);
  EXPECT_EQ((std::vector{start(), start()}), (std::vector<std::int64_t>{1002, 1003}));
  universe.run_for(1min);
  EXPECT_EQ(start(), 300) << "the lowest are the system's";
  for (std::int64_t pid = 301; pid < 1000; ++pid) EXPECT_EQ(start(), pid);
  EXPECT_EQ(start(), dies) << "the living are skipped";
  EXPECT_NE(universe.facts(dies)->id.start_ticks, before.start_ticks);
  EXPECT_EQ(machine.processes.open(before)->look().state, RunState::reused);
}

/// What a file has after a kill in the middle of writing four bytes, over many seeds.
std::set<std::string> torn_by_kill(const std::string& before, Folder::Open how) {
  std::set<std::string> left;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimUniverse universe(seed);
    universe.disk.write(at("a"), before);
    Machine& machine = universe.machine();
    const auto file = machine.folders.open(kHome).value()->open("a", how).value();
    universe.kill_at_call(machine.processes.self().pid, 1, true);
    const auto write = [&] {
      return how == Folder::Open::append ? file->append("wxyz") : file->overwrite("wxyz");
    };
    EXPECT_THROW(std::ignore = write(), SimKilled);
    left.insert(*universe.disk.read(at("a")));
  }
  return left;
}

TEST(SimFaults, kill_in_the_middle_of_an_append) {
  EXPECT_EQ(torn_by_kill("ab", Folder::Open::append),
            (std::set<std::string>{"ab", "abw", "abwx", "abwxy", "abwxyz"}));
}

TEST(SimFaults, kill_in_the_middle_of_an_overwrite) {
  EXPECT_EQ(torn_by_kill("abcd", Folder::Open::update),
            (std::set<std::string>{"abcd", "wbcd", "wxcd", "wxyd", "wxyz"}));
}

TEST(SimFaults, kill_in_the_middle_of_a_replace_so_that_only_a_sweep_sees_it) {
  SimUniverse universe(5);
  universe.disk.write(at("a"), "old");
  Machine& machine = universe.machine();
  const auto folder = machine.folders.open(kHome).value();
  universe.kill_at_call(machine.processes.self().pid, 2, true);
  EXPECT_THROW(std::ignore = folder->replace("a", "new", Folder::Sync::no), SimKilled);
  EXPECT_EQ(universe.disk.read(at("a")), "old");
  EXPECT_EQ(universe.disk.files(kHome).size(), 2U);

  const auto later = universe.machine("later").folders.open(kHome).value();
  universe.run_for(1min);
  later->sweep(1h);
  EXPECT_EQ(universe.disk.files(kHome).size(), 2U) << "somebody may be writing it";
  later->sweep(1min);
  EXPECT_EQ(universe.disk.files(kHome), (std::vector{at("a")}));
}

/// Makes a file when it is told to, and notes what came of it.
struct Maker {
  explicit Maker(Machine& its_machine, std::string& its_said)
      : machine(its_machine), said(its_said) {
    timer = machine.loop.at(machine.clock.now() + 1s, [this] {
      const auto made = machine.folders.make(kHome).value()->make_file("a", "b", Folder::Sync::no);
      said = !made ? made.error().text : *made ? "made" : "taken";
    });
  }
  Machine& machine;
  std::string& said;
  Subscribed timer;
};

TEST(SimFaults, stop_a_process_in_the_middle_of_a_call_while_all_others_run) {
  SimUniverse universe;
  std::string slow;
  std::string fast;
  const auto start = [&](std::string& said) {
    return universe.start_program(
        "maker", [&](Machine& machine) { return std::make_shared<Maker>(machine, said); });
  };
  const auto pid = start(slow);
  start(fast);
  universe.pause_at_call(pid, 4, 10s);
  universe.run_for(1s);
  EXPECT_EQ(fast, "made");
  EXPECT_EQ(slow, "taken") << "it went on, and found what happened meanwhile";
  EXPECT_EQ(universe.facts(pid)->state, RunState::running);
}

TEST(SimFaults, kill_a_process_that_is_stopped_in_the_middle_of_a_call) {
  SimUniverse universe;
  std::string said;
  const auto pid = universe.start_program(
      "maker", [&](Machine& machine) { return std::make_shared<Maker>(machine, said); });
  universe.pause_at_call(pid, 4, 10s);
  universe.after(3s, [&] { universe.kill(pid); });
  universe.run_for(1min);
  EXPECT_EQ(said, "");
  EXPECT_FALSE(universe.runs(pid));
}

TEST(SimFaults, stop_nobody_who_is_not_to_be_stopped_any_more) {
  SimUniverse universe;
  std::string said;
  const auto pid = universe.start_program(
      "maker", [&](Machine& machine) { return std::make_shared<Maker>(machine, said); });
  universe.pause_at_call(pid, 3, 10s);
  universe.pause_at_call(pid, 0, {});
  universe.run_for(1s);
  EXPECT_EQ(said, "made");
}

TEST(SimFaults, hide_a_process_that_can_still_be_listed_and_signalled) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  const auto pid = universe.start_process("other");
  const auto other = machine.processes.open(universe.facts(pid)->id);
  universe.unseen.insert(pid);
  EXPECT_EQ(other->look().state, RunState::unknown);
  const auto all = machine.processes.all("").value();
  EXPECT_NE(std::ranges::find(all, other->id(), &Seen::id), all.end());
  EXPECT_TRUE(other->signal(Kill::kill));
  EXPECT_FALSE(universe.runs(pid));
}

TEST(SimFaults, let_a_call_take_its_time_while_nothing_else_happens) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  const auto folder = machine.folders.make(kHome).value();
  const auto file = folder->open("a", Folder::Open::append).value();
  const Instant begin = universe.now();
  const WallTime wall = universe.wall();
  Instant late{};
  const auto timer = machine.loop.at(begin + 1s, [&] { late = universe.now(); });
  universe.call_takes = 2s;
  universe.sync_takes = 30s;
  ASSERT_TRUE(file->append("1"));
  EXPECT_EQ(universe.now(), begin + 2s);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(universe.now(), begin + 32s);
  EXPECT_EQ(universe.wall(), wall + 32s);
  EXPECT_EQ(late, Instant{});
  universe.run_for(0s);
  EXPECT_EQ(late, begin + 32s) << "what came due runs late";
}

TEST(SimFaults, let_a_slow_machine_fall_behind_and_go_on) {
  SimUniverse universe;
  universe.call_takes = 3s;
  Machine& machine = universe.machine();
  const auto folder = machine.folders.make(kHome).value();
  const Instant begin = universe.now();
  std::vector<Duration> ticks;
  Subscribed timer;
  const std::function<void()> tick = [&] {
    ticks.push_back(universe.now() - begin);
    EXPECT_TRUE(folder->facts("a"));
    timer = machine.loop.at(begin + 2s * (static_cast<int>(ticks.size()) + 1), tick);
  };
  timer = machine.loop.at(begin + 2s, tick);
  universe.run_until(begin + 8s);
  EXPECT_EQ(ticks, (std::vector<Duration>{2s, 5s, 8s}));
  EXPECT_EQ(universe.now(), begin + 11s) << "a call is not cut short";
  universe.run_until(begin + 8s);
  EXPECT_EQ(universe.now(), begin + 11s) << "and time does not go back";
}

}  // namespace
}  // namespace tend
