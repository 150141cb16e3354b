// The simulated machine keeps its promises: same run for the same seed, time that only a test
// moves, and a kill at any call.
#include "os/sim/sim_universe.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHome = "/home/user/tend";

// A small keeper: takes a lock, starts a worker gated, notes its pid, counts in a file.
class Counter {
 public:
  Counter(Machine& machine, std::string command) : machine_(machine) {
    folder_ = std::move(machine_.folders.make(kHome).value());
    lock_ = std::move(folder_->open("lock", Folder::Open::update).value());
    if (!lock_->lock().value()) {
      machine_.loop.stop();
      return;
    }
    Launch launch;
    launch.command = {std::move(command)};
    launch.environment = {"MARK=" + folder_->path()};
    launch.output = folder_->path() + "/output";
    auto child = machine_.processes.spawn(launch);
    const auto written =
        folder_->replace("pid", std::to_string((*child)->id().pid), Folder::Sync::yes);
    if (!written) return;
    auto released = (*child)->release();
    if (!released) {
      machine_.loop.stop();
      return;
    }
    child_ = std::move(*released);
    exit_ = child_->on_exit([this] { machine_.loop.stop(); });
    tick();
  }
  ~Counter() { static_cast<void>(folder_->replace("left", "orderly", Folder::Sync::no)); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

 private:
  void tick() {
    static_cast<void>(folder_->replace("count", std::to_string(++count_), Folder::Sync::no));
    timer_ = machine_.loop.at(machine_.clock.now() + 1s, [this] { tick(); });
  }

  Machine& machine_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<File> lock_;
  std::unique_ptr<Process> child_;
  Subscribed exit_;
  Subscribed timer_;
  int count_ = 0;
};

std::string at(const char* name) { return std::string(kHome) + "/" + name; }

void add_worker(SimUniverse& universe, Duration life = 1h) {
  universe.behaviours["worker"] = [life](SimSelf& self) {
    self.print("begun\n");
    self.exit_after(life, 0);
  };
}

std::int64_t start_counter(SimUniverse& universe, const std::string& command = "worker") {
  return universe.start_program("counter", [command](Machine& machine) {
    return std::make_unique<Counter>(machine, command);
  });
}

TEST(SimUniverse, runs_a_program_and_what_it_starts) {
  SimUniverse universe;
  add_worker(universe, 10s);
  const auto pid = start_counter(universe);
  universe.run_for(5500ms);
  EXPECT_EQ(universe.disk.read(at("count")), "6");
  EXPECT_EQ(universe.disk.read(at("output")), "begun\n");
  EXPECT_TRUE(universe.runs("worker"));
  EXPECT_TRUE(universe.disk.is_locked(at("lock")));
  universe.run_for(5s);
  EXPECT_FALSE(universe.runs("worker"));
  EXPECT_EQ(universe.facts(pid)->exit, (ExitStatus{ExitStatus::How::code, 0}));
  EXPECT_EQ(universe.disk.read(at("left")), "orderly");
  EXPECT_FALSE(universe.disk.is_locked(at("lock")));
}

std::pair<std::uint64_t, std::vector<std::string>> played(std::uint64_t seed) {
  SimUniverse universe(seed);
  universe.hints = SimHints::lossy;
  add_worker(universe, 20s);
  const auto pid = start_counter(universe);
  Machine& machine = universe.machine();
  int heard = 0;
  const auto folder = machine.folders.make(kHome);
  const auto hint = machine.loop.on_change(kHome, [&] { ++heard; });
  universe.after(7s, [&] { universe.kill(pid); });
  universe.after(8s, [&] { start_counter(universe); });
  universe.run_for(60s);
  std::vector<std::string> all = universe.log();
  for (const auto& path : universe.disk.files()) all.push_back(path + *universe.disk.read(path));
  all.push_back(std::to_string(heard));
  return {universe.digest(), all};
}

TEST(SimUniverse, runs_the_same_for_the_same_seed) {
  EXPECT_EQ(played(7), played(7));
  EXPECT_NE(played(7).first, played(8).first);
}

TEST(SimUniverse, kills_a_program_so_that_its_destructors_reach_nothing) {
  SimUniverse universe;
  add_worker(universe);
  const auto pid = start_counter(universe);
  universe.run_for(3s);
  universe.kill(pid);
  EXPECT_FALSE(universe.runs(pid));
  EXPECT_FALSE(universe.disk.exists(at("left")));
  EXPECT_FALSE(universe.disk.is_locked(at("lock")));
  EXPECT_TRUE(universe.runs("worker")) << "its child lives on";
  EXPECT_EQ(universe.facts(universe.pids("worker").front())->parent, 1);
  universe.run_for(3s);
  EXPECT_EQ(universe.disk.read(at("count")), "4") << "and so does nothing of it";
}

TEST(SimUniverse, kills_a_program_at_each_of_its_calls_in_turn) {
  std::uint64_t all = 0;
  {
    SimUniverse universe;
    add_worker(universe);
    const auto pid = start_counter(universe);
    universe.run_for(2s);
    all = universe.calls(pid);
  }
  ASSERT_GT(all, 15U);
  for (std::uint64_t n = 1; n <= all; ++n) {
    SimUniverse universe;
    add_worker(universe);
    const auto pid = start_counter(universe);
    universe.kill_at_call(pid, n);
    universe.run_for(2s);
    EXPECT_FALSE(universe.runs(pid)) << n;
    EXPECT_EQ(universe.calls(pid), n);
    EXPECT_FALSE(universe.disk.is_locked(at("lock"))) << n;
    EXPECT_FALSE(universe.disk.exists(at("left"))) << n;
    EXPECT_TRUE(universe.pids("(gated)").empty()) << n;
    if (universe.runs("worker")) {
      EXPECT_EQ(universe.disk.read(at("pid")), std::to_string(universe.pids("worker").front()));
    }
    if (const auto count = universe.disk.read(at("count"))) {
      EXPECT_FALSE(count->empty()) << "half a replace() was seen";
    }
  }
}

TEST(SimUniverse, throws_a_kill_out_of_a_call_that_the_test_makes) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  auto folder = machine.folders.make(kHome).value();
  universe.disk.write(at("a"), "old");
  universe.kill_at_call(machine.processes.self().pid, 3);
  EXPECT_THROW(static_cast<void>(folder->replace("a", "new", Folder::Sync::no)), SimKilled);
  EXPECT_EQ(universe.disk.read(at("a")), "old");
  EXPECT_EQ(universe.disk.files(kHome).size(), 2U) << "what was written aside lies about";
  EXPECT_FALSE(folder->remove("a"));
  EXPECT_TRUE(universe.disk.exists(at("a")));
}

TEST(SimUniverse, releases_the_locks_of_the_dead_while_their_objects_still_stand) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  auto folder = machine.folders.make(kHome).value();
  auto file = folder->open("lock", Folder::Open::update).value();
  ASSERT_TRUE(file->lock().value());
  universe.kill(machine.processes.self().pid);
  EXPECT_FALSE(universe.disk.is_locked(at("lock")));
  auto other = universe.machine("other").folders.open(kHome).value();
  auto again = other->open("lock", Folder::Open::update).value();
  ASSERT_TRUE(again->lock().value());
  file.reset();
  EXPECT_TRUE(universe.disk.is_locked(at("lock"))) << "a late destructor takes it from nobody";
}

TEST(SimUniverse, holds_what_comes_to_a_paused_program) {
  SimUniverse universe;
  add_worker(universe);
  const auto pid = start_counter(universe);
  universe.run_for(2500ms);
  universe.pause(pid);
  universe.run_for(10s);
  EXPECT_EQ(universe.disk.read(at("count")), "3");
  EXPECT_EQ(universe.facts(pid)->state, RunState::stopped);
  universe.go_on(pid);
  universe.run_for(0s);
  EXPECT_EQ(universe.disk.read(at("count")), "4") << "late, and once";
}

TEST(SimUniverse, sleeps) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(10s, 0); };
  universe.start_command({.command = {"worker"}});
  Instant fired{};
  const auto begin = machine.clock.now();
  const auto awake = machine.clock.awake();
  const auto wall = machine.clock.wall();
  const auto timer = machine.loop.at(begin + 5s, [&] { fired = machine.clock.now(); });
  universe.run_for(1s);
  universe.sleep_machine(1h);
  EXPECT_EQ(fired, Instant{}) << "not while it sleeps";
  universe.run_for(1s);
  EXPECT_EQ(fired, begin + 1h + 1s);
  EXPECT_EQ(machine.clock.awake() - awake, 2s);
  EXPECT_EQ(machine.clock.wall() - wall, 1h + 2s);
  EXPECT_TRUE(universe.runs("worker")) << "a program does not work in its sleep";
  universe.run_for(8s);
  EXPECT_FALSE(universe.runs("worker"));
}

TEST(SimUniverse, steps_the_wall_clock_alone) {
  SimUniverse universe;
  const auto now = universe.now();
  const auto wall = universe.wall();
  universe.step_wall(-2h);
  EXPECT_EQ(universe.now(), now);
  EXPECT_EQ(universe.wall() - wall, -2h);
}

TEST(SimUniverse, reboots_into_another_boot_with_the_same_files) {
  SimUniverse universe;
  add_worker(universe);
  const auto pid = start_counter(universe);
  universe.run_for(3s);
  const ProcessId before = universe.facts(pid)->id;
  const auto wall = universe.wall();
  universe.reboot();
  EXPECT_TRUE(universe.pids("worker").empty());
  EXPECT_TRUE(universe.pids("counter").empty());
  EXPECT_FALSE(universe.disk.is_locked(at("lock")));
  EXPECT_FALSE(universe.disk.exists(at("left")));
  EXPECT_EQ(universe.disk.read(at("count")), "4");
  EXPECT_NE(universe.boot_id(), before.boot_id);
  EXPECT_LT(universe.now(), Instant{1min});
  EXPECT_EQ(universe.wall() - wall, 60s);
  const auto again = start_counter(universe);
  EXPECT_EQ(again, pid) << "pids begin anew";
  Machine& machine = universe.machine();
  EXPECT_EQ(machine.processes.open(before)->look().state, RunState::gone);
}

TEST(SimUniverse, loses_in_a_power_cut_what_was_not_synced) {
  SimUniverse universe;
  auto folder = universe.machine().folders.make(kHome).value();
  ASSERT_TRUE(folder->replace("safe", "1", Folder::Sync::yes));
  ASSERT_TRUE(folder->replace("safe", "2", Folder::Sync::no));
  ASSERT_TRUE(folder->replace("lost", "1", Folder::Sync::no));
  auto lines = folder->open("lines", Folder::Open::append).value();
  ASSERT_TRUE(lines->append("a\n") && lines->sync() && lines->append("b\n"));
  universe.reboot({.lost = SimReboot::Lost::unsynced});
  EXPECT_EQ(universe.disk.read(at("safe")), "1");
  EXPECT_FALSE(universe.disk.exists(at("lost")));
  EXPECT_EQ(universe.disk.read(at("lines")), "a\n");
}

TEST(SimUniverse, fills_its_disk) {
  SimUniverse universe;
  auto folder = universe.machine().folders.make(kHome).value();
  ASSERT_TRUE(folder->replace("record", "12345", Folder::Sync::no));
  auto lines = folder->open("lines", Folder::Open::append).value();
  universe.disk.room = 3;
  const auto failed = lines->append("12345");
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().text.ends_with("No space left on device")) << failed.error().text;
  EXPECT_EQ(universe.disk.read(at("lines")), "123") << "a torn line";
  EXPECT_FALSE(folder->replace("record", "6", Folder::Sync::no));
  EXPECT_EQ(universe.disk.read(at("record")), "12345") << "the old one is left";
  EXPECT_TRUE(folder->open("record", Folder::Open::update).value()->overwrite("67890"))
      << "in place there is room";
  EXPECT_EQ(universe.disk.files(kHome).size(), 2U) << "nothing half-written lies about";
  ASSERT_TRUE(folder->remove("lines"));
  EXPECT_EQ(universe.disk.room, 3U);
}

TEST(SimUniverse, runs_a_loop_that_the_test_drives) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  const auto begin = universe.now();
  const auto timer = machine.loop.at(begin + 3s, [&] { machine.loop.stop(); });
  machine.loop.run();
  EXPECT_EQ(universe.now(), begin + 3s);
  EXPECT_THROW(machine.loop.run(), std::logic_error) << "nobody would ever stop it";
}

TEST(SimUniverse, ends_a_loop_whose_process_is_killed) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  universe.after(1s, [&] { universe.kill(machine.processes.self().pid); });
  EXPECT_THROW(machine.loop.run(), SimKilled);
}

TEST(SimUniverse, tells_orders_to_who_asked_and_ends_who_did_not) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  const auto pid = machine.processes.self().pid;
  int heard = 0;
  const auto order = machine.loop.on(Order::terminate, [&] { ++heard; });
  universe.order(pid, Order::terminate);
  universe.signal(pid, Kill::terminate);
  universe.order(pid, Order::resized);
  universe.run_for(0s);
  EXPECT_EQ(heard, 1) << "two that came at once are one";
  universe.order(pid, Order::hang_up);
  EXPECT_EQ(universe.facts(pid)->exit, (ExitStatus{ExitStatus::How::signal, 1}));
}

TEST(SimUniverse, says_no_hint_or_loses_it_if_told_so) {
  SimUniverse universe;
  Machine& machine = universe.machine();
  auto folder = machine.folders.make(kHome).value();
  int heard = 0;
  const auto hint = machine.loop.on_change(kHome, [&] { ++heard; });
  ASSERT_NE(hint, nullptr);
  universe.disk.write(at("a"), "1");
  universe.run_for(0s);
  EXPECT_EQ(heard, 1);
  universe.hints = SimHints::none;
  universe.disk.write(at("a"), "2");
  universe.run_for(0s);
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(machine.loop.on_change(kHome, [] {}), nullptr);
}

TEST(SimUniverse, gives_subscriptions_that_may_outlive_it) {
  Subscribed timer;
  std::unique_ptr<Folder> folder;
  {
    SimUniverse universe;
    timer = universe.machine().loop.at(universe.now() + 1s, [] {});
    folder = universe.machine().folders.make(kHome).value();
  }
  EXPECT_FALSE(folder->replace("a", "b", Folder::Sync::no));
}

}  // namespace
}  // namespace tend
