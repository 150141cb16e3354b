// One patrol at a time, and what it remembers: whole, or not at all.
#include "store/patrol_file.h"

#include <gtest/gtest.h>

#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class PatrolFiles : public testing::Test {
 protected:
  PatrolFiles() : home(universe.machine().folders.make("/home/user/tend").value()) {}

  std::unique_ptr<PatrolLock> take() {
    auto lock = PatrolLock::take(*home);
    EXPECT_TRUE(lock.has_value()) << (lock ? "" : lock.error().text);
    return lock ? *std::move(lock) : nullptr;
  }
  static PatrolRecord of_this_process() {
    return {.process = {4711, 123456, 4026531836, "boot-1"}, .interval = 90s, .wanted = true};
  }

  SimUniverse universe;
  std::unique_ptr<Folder> home;
};

TEST_F(PatrolFiles, one_patrol_holds_the_lock_and_others_see_who) {
  const auto lock = take();
  ASSERT_TRUE(lock);
  EXPECT_FALSE(lock->was_damaged());
  ASSERT_TRUE(lock->write(of_this_process()));
  Machine& other = universe.machine_of(universe.start_process("other"));
  const auto theirs = other.folders.open("/home/user/tend");
  EXPECT_EQ(*PatrolLock::take(**theirs), nullptr);
  const auto seen = look_at_patrol(**theirs);
  ASSERT_TRUE(seen && *seen);
  EXPECT_TRUE((*seen)->held);
  EXPECT_EQ((*seen)->record.process, of_this_process().process);
  EXPECT_EQ((*seen)->record.interval, 90s);
  EXPECT_TRUE((*seen)->record.wanted);
}

TEST_F(PatrolFiles, a_lock_that_is_free_still_says_who_is_wanted) {
  ASSERT_TRUE(take()->write(of_this_process()));
  const auto seen = look_at_patrol(*home);
  ASSERT_TRUE(seen && *seen);
  EXPECT_FALSE((*seen)->held);
  EXPECT_TRUE((*seen)->record.wanted);
  EXPECT_EQ(take()->record().process, of_this_process().process);
}

TEST_F(PatrolFiles, where_there_never_was_a_patrol_there_is_no_file) {
  const auto seen = look_at_patrol(*home);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(*seen);
}

TEST_F(PatrolFiles, a_forged_record_names_nobody_and_is_written_anew) {
  for (const char* forged : {"no json", "{\"wanted\":true}", "[1,2]", "{\"pid\":1", "\xff\xfe"}) {
    universe.disk.write("/home/user/tend/.patrol", forged);
    const auto seen = look_at_patrol(*home);
    ASSERT_TRUE(seen && *seen);
    EXPECT_FALSE((*seen)->record.wanted) << forged;
    EXPECT_EQ((*seen)->record.process.pid, 0) << forged;
    const auto lock = take();
    ASSERT_TRUE(lock);
    EXPECT_TRUE(lock->was_damaged()) << forged;
    ASSERT_TRUE(lock->write(of_this_process()));
    EXPECT_EQ((*look_at_patrol(*home))->record.process, of_this_process().process);
  }
}

TEST_F(PatrolFiles, a_lock_whose_name_was_taken_away_is_not_in_place) {
  const auto lock = take();
  EXPECT_TRUE(*lock->is_in_place(*home));
  ASSERT_TRUE(home->remove(std::string(kPatrolFile)));
  EXPECT_FALSE(*lock->is_in_place(*home));
}

TEST_F(PatrolFiles, a_beat_is_the_time_of_the_file) {
  const auto lock = take();
  ASSERT_TRUE(lock->write(of_this_process()));
  universe.run_for(30s);
  ASSERT_TRUE(lock->beat());
  EXPECT_EQ((*look_at_patrol(*home))->file.modified, universe.wall());
}

// --- Memory -------------------------------------------------------------------------------------

PatrolPast remembered() {
  PatrolPast past;
  past.boot_id = "boot-1";
  past.wall = WallTime{1773002269s};
  past.awake = 100s;
  past.state.last_sweep = Instant{200s};
  past.state.asked = 5min;
  past.state.unfit = PatrolUnfit::slept;
  past.state.unfit_since = Instant{150s};
  past.state.sweeps_since = 2;
  past.state.incident = true;
  PatrolMemory& memory = past.state.tasks["my-workflow:3-zyci.2.1"];
  memory.fence = 7;
  memory.last_sign = WallTime{1773002000s};
  memory.excused = -3s;
  memory.answered = true;
  memory.taken = {true, true, false, false};
  memory.pinged_at = 10min;
  memory.over_at = 11min;
  past.decided["my-workflow:3-zyci.2.1"] = {
      .at = past.wall, .rungs = {PatrolRung::ping}, .because = {"2 beats missed"}};
  past.told["task:x"] = "it is silent";
  past.pulses["/home/user/tend/sessions/s1"] = {WallTime{7s}, 90s};
  return past;
}

TEST_F(PatrolFiles, what_is_remembered_is_read_as_it_was_written) {
  const PatrolPast past = remembered();
  ASSERT_TRUE(write_patrol_past(*home, past));
  const auto read = read_patrol_past(*home);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(format_patrol_past(**read), format_patrol_past(past));
  const PatrolMemory& memory = (*read)->state.tasks.at("my-workflow:3-zyci.2.1");
  EXPECT_EQ(memory.fence, 7);
  EXPECT_EQ(memory.excused, -3s);
  EXPECT_TRUE(memory.answered);
  EXPECT_TRUE(memory.took(PatrolRung::ping));
  EXPECT_FALSE(memory.took(PatrolRung::escalate));
  EXPECT_EQ(memory.pinged_at, 10min);
  EXPECT_EQ(memory.over_at, 11min);
  EXPECT_EQ((*read)->state.last_sweep, Instant{200s});
  EXPECT_EQ((*read)->decided.at("my-workflow:3-zyci.2.1").because.front(), "2 beats missed");
  EXPECT_EQ((*read)->told.at("task:x"), "it is silent");
  EXPECT_EQ((*read)->pulses, past.pulses);
}

TEST_F(PatrolFiles, where_there_is_no_memory_none_is_read) {
  const auto read = read_patrol_past(*home);
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST_F(PatrolFiles, half_a_memory_is_none) {
  const std::string whole = format_patrol_past(remembered());
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
    universe.disk.write("/home/user/tend/patrol.json", whole.substr(0, size));
    const auto read = read_patrol_past(*home);
    ASSERT_FALSE(read) << size;
    EXPECT_TRUE(read.error().text.contains("patrol.json")) << read.error().text;
  }
}

TEST_F(PatrolFiles, a_task_of_which_nothing_was_done_takes_no_room) {
  PatrolPast past;
  past.state.tasks["quiet"].last_sign = WallTime{1s};
  const auto read = parse_patrol_past(format_patrol_past(past));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_TRUE(read->state.tasks.empty());
}

TEST_F(PatrolFiles, of_too_many_tasks_those_are_kept_of_which_most_was_done) {
  PatrolPast past;
  for (std::size_t i = 0; i < kMostEpisodes + 10; ++i) {
    past.state.tasks["t" + std::to_string(i)].excused = 1s;
  }
  past.state.tasks["zz"].taken = {true, true, true, false};
  const auto read = parse_patrol_past(format_patrol_past(past));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->state.tasks.size(), kMostEpisodes);
  EXPECT_TRUE(read->state.tasks.contains("zz"));
}

}  // namespace
}  // namespace tend
