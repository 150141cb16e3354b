// The patrol as a process, and who watches it: keepers that start another one when it was killed or
// hangs, and leave alone one that was told to end.
#include "run/patrol_process.h"

#include "base/duration.h"
#include "run/family_test.h"
#include "run/work_items.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// `tend patrol` in the place of the program that keepers start.
class PatrolProcessTest : public FamilyTest {
 protected:
  PatrolProcessTest() {
    const SimLaunchFactory keep = universe.programs.at(Family::kTend);
    universe.programs[Family::kTend] = [this, keep](Machine& machine, const Launch& launch) {
      return launch.command.at(1) == "patrol" ? be_patrol(machine, launch) : keep(machine, launch);
    };
  }

  struct Running {
    std::unique_ptr<Folder> home;
    std::unique_ptr<WorkItems> items;
    std::unique_ptr<PatrolProcess> process;
  };

  std::shared_ptr<void> be_patrol(Machine& machine, const Launch& launch) {
    ++started;
    last_command = launch.command;
    if (cannot_begin) {
      machine.loop.stop();
      return nullptr;
    }
    auto running = std::make_shared<Running>();
    running->home = machine.folders.open(Family::kHome).value();
    running->items = home_work_items(machine, *running->home);
    PatrolProcess::Settings settings;
    settings.patrol.program = Family::keeper_program();
    settings.once = launch.command.back() == "--once";
    if (launch.command.size() > 3) settings.interval = parse_duration(launch.command.at(3)).value();
    settings.patrol.policy = with_interval({}, settings.interval);
    settings.swept = [this](const Sweep& sweep) { sweeps.push_back(sweep); };
    settings.found = [this](const std::vector<SweepLine>& lines) {
      for (const SweepLine& line : lines) found.push_back(line.what + " " + line.about);
    };
    settings.deliver = [this](const Callback& sent) {
      ++delivered;
      if (sent) sent();
    };
    running->process =
        std::make_unique<PatrolProcess>(machine, *running->home, *running->items, settings);
    const auto began = running->process->begin();
    EXPECT_TRUE(began) << began.error().text;
    if (!began || *began != PatrolProcess::Began::at_work) {
      ++turned_away;
      machine.loop.stop();
    }
    return running;
  }

  std::int64_t patrol(const std::vector<std::string>& words = {"--interval", "5m"}) {
    Launch launch;
    launch.command = {Family::kTend, "patrol"};
    launch.command.insert(launch.command.end(), words.begin(), words.end());
    const std::int64_t pid = universe.start_command(launch);
    universe.run_for(1s);
    return pid;
  }
  PatrolLockState state() {
    const auto home = universe.machine().folders.open(Family::kHome).value();
    return look_at_patrol(*home).value().value();
  }
  [[nodiscard]] std::string events() const {
    return universe.disk.read(std::string(Family::kHome) + "/events.jsonl").value_or("");
  }

  int started = 0;
  int turned_away = 0;
  int delivered = 0;
  bool cannot_begin = false;
  std::vector<std::string> last_command;
  std::vector<Sweep> sweeps;
  std::vector<std::string> found;
};

TEST_F(PatrolProcessTest, it_is_the_only_one_and_beats_between_its_sweeps) {
  const auto first = patrol();
  EXPECT_TRUE(state().held);
  EXPECT_TRUE(state().record.wanted);
  EXPECT_EQ(state().record.process.pid, first);
  patrol();
  EXPECT_EQ(turned_away, 1);
  EXPECT_EQ(state().record.process.pid, first);
  for (int i = 0; i < 20; ++i) {
    universe.run_for(30s);
    EXPECT_LE(universe.wall() - state().file.modified, 31s);
  }
  EXPECT_GE(sweeps.size(), 2U);
  EXPECT_GE(delivered, 20);
}

TEST_F(PatrolProcessTest, told_to_end_it_is_not_wanted_any_more) {
  grow({});
  for (const Order order : {Order::terminate, Order::interrupt}) {
    const auto pid = patrol();
    EXPECT_TRUE(state().record.wanted);
    universe.order(pid, order);
    universe.run_for(1s);
    EXPECT_FALSE(universe.runs(pid));
    EXPECT_FALSE(state().held);
    EXPECT_FALSE(state().record.wanted);
  }
  universe.run_for(10min);
  EXPECT_EQ(started, 2) << "no keeper starts another one";
}

TEST_F(PatrolProcessTest, told_to_end_with_the_machine_it_is_wanted_after_the_next_start) {
  for (const bool for_good : {false, true}) {
    const auto pid = patrol({"--interval", "2m"});
    universe.order(pid, for_good ? Order::interrupt : Order::terminate);
    universe.run_for(1s);
    EXPECT_FALSE(universe.runs(pid));
    universe.reboot();
    started = 0;
    patrol({"--once"});
    EXPECT_EQ(state().record.wanted, !for_good);
    EXPECT_FALSE(state().record.next_boot);
    EXPECT_EQ(state().record.interval, 2min);
  }
}

TEST_F(PatrolProcessTest, that_ended_with_the_machine_is_started_by_a_keeper_of_the_next_boot) {
  const auto pid = patrol({"--interval", "2m"});
  universe.order(pid, Order::terminate);
  universe.run_for(1s);
  universe.reboot();
  started = 0;
  grow({});
  universe.run_for(3min);
  EXPECT_EQ(started, 1);
  EXPECT_TRUE(state().held);
  EXPECT_TRUE(state().record.wanted);
}

TEST_F(PatrolProcessTest, one_sweep_makes_it_neither_wanted_nor_unwanted) {
  patrol({"--once"});
  EXPECT_EQ(sweeps.size(), 1U);
  EXPECT_FALSE(state().held);
  EXPECT_FALSE(state().record.wanted);
  universe.kill(patrol({"--interval", "2m"}));
  patrol({"--once"});
  EXPECT_TRUE(state().record.wanted);
  EXPECT_EQ(state().record.interval, 2min);
}

TEST_F(PatrolProcessTest, one_sweep_ends_a_keeper_that_is_stopped_for_long_and_puts_another_on) {
  grow({});
  const auto before = family.keepers("lead");
  universe.pause(before.front());
  universe.run_for(11min);
  patrol({"--once"});
  universe.run_for(10s);
  EXPECT_FALSE(universe.runs(before.front()));
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.agents("lead").size(), 1U);
  EXPECT_FALSE(state().held);
}

TEST_F(PatrolProcessTest, killed_it_is_started_again_by_a_keeper_with_the_same_interval) {
  grow({"coder"});
  const auto first = patrol({"--interval", "2m"});
  universe.run_for(2min);
  universe.kill(first);
  ASSERT_TRUE(universe.run_until(
      [&] { return started >= 2 && state().held && state().record.process.pid != first; }, 2min));
  EXPECT_EQ(last_command,
            (std::vector<std::string>{Family::kTend, "patrol", "--interval", "120000ms"}));
  EXPECT_EQ(state().record.interval, 2min);
  universe.run_for(10min);
  EXPECT_EQ(started - turned_away, 2) << "the lock picks one";
  EXPECT_TRUE(events().contains("was gone: a new one was started"));
  family.check();
}

TEST_F(PatrolProcessTest, one_that_hangs_is_ended_and_started_again) {
  grow({});
  const auto first = patrol();
  universe.run_for(2min);
  universe.pause(first);
  ASSERT_TRUE(universe.run_until(
      [&] { return started == 2 && state().held && state().record.process.pid != first; }, 6min));
  EXPECT_FALSE(universe.runs(first));
  EXPECT_TRUE(events().contains("hung and was ended"));
}

TEST_F(PatrolProcessTest, one_that_pauses_for_less_is_left_alone) {
  grow({});
  const auto first = patrol();
  universe.run_for(2min);
  universe.pause(first);
  universe.run_for(90s);
  universe.go_on(first);
  universe.run_for(10min);
  EXPECT_TRUE(universe.runs(first));
  EXPECT_EQ(started, 1);
}

TEST_F(PatrolProcessTest, a_sleep_of_the_machine_ends_nobody) {
  grow({});
  const auto first = patrol();
  universe.run_for(2min);
  universe.sleep_machine(8h);
  universe.run_for(10min);
  EXPECT_TRUE(universe.runs(first));
  EXPECT_EQ(started, 1);
}

TEST_F(PatrolProcessTest, after_five_in_ten_minutes_a_keeper_gives_up_and_says_so_once) {
  grow({});
  universe.kill(patrol());
  cannot_begin = true;
  universe.run_for(9min);
  EXPECT_EQ(started, 6) << "the first, and five more";
  const std::string text = events();
  const std::size_t said = text.find("the patrol ends again and again");
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(text.find("the patrol ends again and again", said + 1), std::string::npos);
}

TEST_F(PatrolProcessTest, where_nobody_wants_a_patrol_keepers_start_none) {
  grow({"coder"});
  universe.run_for(10min);
  EXPECT_EQ(started, 0);
  universe.disk.write(std::string(Family::kHome) + "/.patrol", "{\"wanted\":true}");
  universe.run_for(5min);
  EXPECT_EQ(started, 0) << "a forged record names nobody";
}

TEST_F(PatrolProcessTest, each_watches_the_other) {
  grow({});
  const auto first = patrol();
  universe.run_for(1min);
  family.kill_keepers("lead");
  ASSERT_TRUE(universe.run_until([&] { return family.keepers("lead").size() == 1; }, 2min));
  EXPECT_TRUE(is_in(found, "keeper agent lead"));
  universe.kill(first);
  ASSERT_TRUE(universe.run_until([&] { return started == 2 && state().held; }, 3min));
  family.check();
}

TEST_F(PatrolProcessTest, whose_file_was_taken_away_ends) {
  const auto first = patrol();
  const auto home = universe.machine().folders.open(Family::kHome).value();
  ASSERT_TRUE(home->remove(std::string(kPatrolFile)));
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(first));
}

TEST_F(PatrolProcessTest, a_damaged_record_is_said_and_written_anew) {
  universe.disk.write(std::string(Family::kHome) + "/.patrol", "garbage");
  const auto first = patrol();
  EXPECT_TRUE(is_in(found, "note patrol"));
  EXPECT_EQ(state().record.process.pid, first);
}

}  // namespace
}  // namespace tend
