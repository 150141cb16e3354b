// What is in the heartbeat file, and which changes of it cost a write.
#include "run/pulse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "/home/user/a/.heartbeat";

Heartbeat of_a_worker() {
  Heartbeat heartbeat;
  heartbeat.agent = "worker";
  heartbeat.status = Status::running;
  heartbeat.verdict = Verdict::working;
  heartbeat.since = 1773002269.25;
  return heartbeat;
}

class Pulses : public testing::Test {
 protected:
  Pulses()
      : machine(universe.machine()),
        folder(machine.folders.make("/home/user/a").value()),
        pulse(*folder, machine.clock, of_a_worker(), WallTime{}) {}

  [[nodiscard]] std::string text() const { return universe.disk.read(kPath).value_or(""); }
  /// Another number after every rewrite.
  std::uint64_t file() { return folder->facts(std::string(kHeartbeatFile)).value()->file; }
  void write() {
    const auto written = pulse.write();
    ASSERT_TRUE(written) << written.error().text;
  }
  void beat() {
    const auto beaten = pulse.beat();
    ASSERT_TRUE(beaten) << beaten.error().text;
  }

  SimUniverse universe;
  Machine& machine;
  std::unique_ptr<Folder> folder;
  Pulse pulse;
};

TEST_F(Pulses, are_written_whole_the_first_time_whatever_stands_there) {
  universe.disk.write(kPath, format_heartbeat(of_a_worker()));
  const std::uint64_t before = file();
  write();
  EXPECT_NE(file(), before) << "it was not ours";
  EXPECT_EQ(text(), format_heartbeat(of_a_worker()));
}

TEST_F(Pulses, are_not_written_again_while_they_say_the_same) {
  write();
  const std::uint64_t first = file();
  write();
  pulse.change().note = "a thought";
  pulse.change().note = "";
  write();
  EXPECT_EQ(file(), first);
}

TEST_F(Pulses, are_written_again_for_each_change_and_its_way_back) {
  write();
  const std::string first = text();
  pulse.change().children = 2;
  write();
  EXPECT_EQ(text(), format_heartbeat(pulse.says()));
  EXPECT_NE(text(), first);
  pulse.change().children = 0;
  write();
  EXPECT_EQ(text(), first);
}

TEST_F(Pulses, are_not_written_for_what_the_file_does_not_tell) {
  pulse.change().note.assign(400, 'x');
  write();
  const std::uint64_t first = file();
  pulse.change().since += 0.0001;
  pulse.change().note += "beyond what fits";
  write();
  write();
  EXPECT_EQ(file(), first);
  pulse.change().since += 0.001;
  write();
  EXPECT_NE(file(), first);
}

TEST_F(Pulses, keep_the_time_of_the_last_beat_across_a_rewrite) {
  write();
  universe.run_for(30s);
  beat();
  const WallTime beaten = pulse.last_beat();
  EXPECT_EQ(beaten, universe.wall());
  universe.run_for(10s);
  pulse.change().children = 1;
  write();
  EXPECT_EQ(universe.disk.modified(kPath), beaten);
  universe.run_for(20s);
  beat();
  EXPECT_EQ(universe.disk.modified(kPath), universe.wall());
}

TEST_F(Pulses, that_could_not_be_written_are_tried_again_though_nothing_changed) {
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(pulse.write());
  universe.disk.broken = "";
  write();
  EXPECT_EQ(text(), format_heartbeat(of_a_worker()));

  pulse.change().children = 1;
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(pulse.write());
  pulse.change().children = 0;
  universe.disk.broken = "";
  const std::uint64_t before = file();
  write();
  EXPECT_EQ(file(), before) << "what stands there is right again";
  pulse.change().children = 1;
  write();
  EXPECT_EQ(text(), format_heartbeat(pulse.says()));
}

TEST_F(Pulses, that_somebody_overwrote_or_removed_come_back_with_the_next_change) {
  write();
  beat();
  universe.disk.write(kPath, "{}");
  write();
  EXPECT_EQ(text(), "{}");
  pulse.change().children = 1;
  write();
  EXPECT_EQ(text(), format_heartbeat(pulse.says()));

  beat();
  ASSERT_TRUE(folder->remove(std::string(kHeartbeatFile)));
  beat();
  write();
  EXPECT_FALSE(universe.disk.read(kPath));
  pulse.change().children = 0;
  write();
  EXPECT_EQ(text(), format_heartbeat(of_a_worker()));
  universe.run_for(30s);
  beat();
  EXPECT_EQ(universe.disk.modified(kPath), universe.wall());
}

TEST_F(Pulses, that_were_removed_after_a_rewrite_come_back_whole_with_the_next_beat) {
  write();
  ASSERT_TRUE(folder->remove(std::string(kHeartbeatFile)));
  universe.run_for(30s);
  beat();
  EXPECT_EQ(text(), format_heartbeat(of_a_worker()));
  EXPECT_EQ(universe.disk.modified(kPath), universe.wall());
}

}  // namespace
}  // namespace tend
