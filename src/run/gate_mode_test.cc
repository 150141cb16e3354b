// Who is down, and above all who is not, whatever can be seen of it.
#include "run/gate_mode.h"

#include <gtest/gtest.h>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class GateModeTest : public KeptTest {
 protected:
  GateMode look() {
    const auto folder = universe.machine().folders.open(Kept::kFolder);
    EXPECT_TRUE(folder);
    return gate_mode_of(universe.machine(), **folder);
  }
  void start() {
    kept.start_keeper();
    universe.run_for(10s);
    ASSERT_EQ(kept.workers().size(), 1U);
  }
  /// What its keeper would write, were it to find its agent stalled.
  void write(const std::function<void(Heartbeat&)>& change) {
    Heartbeat says = kept.heartbeat();
    change(says);
    universe.disk.write(Kept::path(".heartbeat"), format_heartbeat(says));
  }
  void be_degraded() {
    write([](Heartbeat& says) {
      says.degraded_since = 1'773'002'269.25;
      says.verdict = Verdict::stalled;
      says.because = {"nothing new for 20m", "more"};
    });
  }
};

TEST_F(GateModeTest, one_that_works_is_not_down) {
  start();
  const GateMode mode = look();
  EXPECT_FALSE(mode.down);
  EXPECT_TRUE(mode.kept);
  EXPECT_FALSE(mode.over);
}

TEST_F(GateModeTest, its_keeper_says_that_it_is_down) {
  start();
  be_degraded();
  const GateMode mode = look();
  EXPECT_TRUE(mode.down);
  EXPECT_EQ(mode.why, "stalled: nothing new for 20m");
  EXPECT_NEAR(calendar_seconds(mode.since), 1773002269.25, 0.001);
}

TEST_F(GateModeTest, the_word_of_a_keeper_is_void_without_it) {
  start();
  be_degraded();
  universe.kill(kept.keeper);
  const GateMode mode = look();
  EXPECT_FALSE(mode.down) << "its process lives";
  EXPECT_FALSE(mode.kept);
}

TEST_F(GateModeTest, one_that_nobody_keeps_is_down_once_it_is_proven_gone) {
  start();
  universe.kill(kept.keeper);
  EXPECT_FALSE(look().down);
  kill_worker();
  const GateMode mode = look();
  EXPECT_TRUE(mode.down);
  EXPECT_EQ(mode.why, "its process is gone, and nobody keeps it");
}

TEST_F(GateModeTest, one_of_an_earlier_boot_is_gone) {
  start();
  universe.reboot();
  EXPECT_TRUE(look().down);
}

TEST_F(GateModeTest, one_that_is_over_is_not_down) {
  start();
  stop();
  universe.run_for(2min);
  ASSERT_TRUE(kept.over());
  const GateMode mode = look();
  EXPECT_FALSE(mode.down);
  EXPECT_TRUE(mode.over);
}

TEST_F(GateModeTest, what_cannot_be_seen_is_not_down) {
  EXPECT_FALSE(look().down) << "there is no heartbeat";
  start();
  be_degraded();
  universe.disk.write(Kept::path(".heartbeat"), "{");
  EXPECT_FALSE(look().down);
  universe.kill(kept.keeper);
  kill_worker();
  universe.disk.make_unreadable(Kept::path(".lock"));
  EXPECT_FALSE(look().down);
}

TEST_F(GateModeTest, one_in_another_pid_namespace_may_live) {
  start();
  universe.kill(kept.keeper);
  kill_worker();
  universe.disk.remove(Kept::path(".lock"));
  EXPECT_TRUE(look().down);
  write([](Heartbeat& says) {
    says.process.pid_ns += 1;
    says.keeper.pid_ns += 1;
  });
  EXPECT_FALSE(look().down);
}

TEST_F(GateModeTest, one_that_was_never_started_is_not_down) {
  Heartbeat says;
  says.agent = "worker-s1";
  says.process = universe.machine().processes.self();
  says.keeper = says.process;
  says.process.pid = says.keeper.pid = 99'999;
  universe.disk.write(Kept::path(".heartbeat"), format_heartbeat(says));
  EXPECT_FALSE(look().down);
}

}  // namespace
}  // namespace tend
