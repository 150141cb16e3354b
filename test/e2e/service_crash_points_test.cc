// Whoever starts, is or ends a beater is killed at every call that changes something, once each.
// Afterwards there is one beater or none, nobody is told otherwise, stores and lease are whole, and
// the same command does it.
#include "crash_points_testing.h"
#include "service_testing.h"

namespace tend::e2e {
namespace {

struct AtEach : CrashPoints {
  using CrashPoints::at_each;
};

class ServiceCrashPointsTest : public ServiceE2e {
 protected:
  void SetUp() override {
    ServiceE2e::SetUp();
    const auto tried = run({.arguments = {"strace", "-o", strace_log().string(), "-e",
                                          "inject=exit_group:signal=KILL", "true"}});
    if (tried.exit != -SIGKILL) GTEST_SKIP() << "strace cannot kill a program here: " << tried.err;
  }
  [[nodiscard]] Path strace_log() const { return scratch() / "strace.log"; }

  [[nodiscard]] Arguments words(const std::string& verb) const {
    Arguments all{TEND_BINARY, "service", verb, "--pidfile", pidfile().string()};
    if (verb == "stop") return all;
    return all + Arguments{"--preset", "hyrm", "--root", root().string(), "--interval", "60s"};
  }
  std::vector<Point> points_of(const Arguments& command) {
    const auto ran = run({.arguments = watched_by_strace(strace_log()) + command});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return points_between({}, count_calls(strace_log()));
  }
  /// What others read is whole, whatever happened to its writer.
  void expect_whole_stores() const {
    EXPECT_NE(beat_of("a1"), "") << read_file(registry_file());
    EXPECT_NE(lease_beat(), "") << read_file(lease_file());
  }
  /// Status, lock and processes agree.
  void expect_truth() {
    const auto said = status();
    const auto there = beaters();
    if (said.exit == 0) {
      ASSERT_EQ(there.size(), 1U) << said.out;
      EXPECT_EQ(said.out, fmt::format("Heartbeat service: RUNNING (PID: {})\n", there.front()));
    } else {
      EXPECT_FALSE(std::filesystem::exists(pidfile())) << "it was left behind";
    }
  }
  /// As before the first of them, so that all that is made is made again.
  void forget_everything() const {
    std::error_code none;
    std::filesystem::remove_all(home(), none);
    std::filesystem::remove_all(root() / "logs", none);
  }
  void expect_it_can_be_ended() {
    if (status().exit == 0) {
      EXPECT_EQ(stop().exit, 0);
    }
    EXPECT_TRUE(eventually([&] { return beaters().empty(); }));
    EXPECT_FALSE(std::filesystem::exists(pidfile()));
  }
};

TEST_F(ServiceCrashPointsTest, a_start_that_is_killed_leaves_one_beater_or_none) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  const auto points = points_of(words("start"));
  expect_it_can_be_ended();
  AtEach::at_each(points, [&](const Point& point) {
    forget_everything();
    lease("a1");
    const auto killed = run({.arguments = killed_by_strace(strace_log(), point) + words("start")});
    // One that was begun is given the time to come.
    const auto again = run({.arguments = words("start")});
    EXPECT_TRUE(again.exit == 0 || again.err.contains("already running")) << again.err;
    EXPECT_TRUE(eventually([&] { return beaters().size() == 1; }));
    expect_truth();
    expect_whole_stores();
    expect_it_can_be_ended();
    return killed.exit == -SIGKILL;
  });
}

TEST_F(ServiceCrashPointsTest, a_beater_that_is_killed_anywhere_is_followed_by_another) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  const auto lead_a_life = [&](const Arguments& by_strace) {
    Background beater = start({.arguments = by_strace + words("run")});
    const auto is_at_work = [&] { return report()["state"] == "beating"; };
    eventually([&] { return beater.is_over() || is_at_work(); });
    if (!beater.is_over() && service_pid() > 0) ::kill(service_pid(), SIGTERM);
    return beater.wait().exit;
  };
  EXPECT_EQ(lead_a_life(watched_by_strace(strace_log())), 0);
  const auto points = points_between({}, count_calls(strace_log()));
  AtEach::at_each(points, [&](const Point& point) {
    forget_everything();
    lease("a1");
    const int exit = lead_a_life(killed_by_strace(strace_log(), point));
    expect_whole_stores();
    EXPECT_EQ(status().exit, 1);
    EXPECT_FALSE(std::filesystem::exists(pidfile()));
    const auto again = run({.arguments = words("start")});
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_TRUE(becomes("state", "beating"));
    expect_truth();
    expect_it_can_be_ended();
    return exit == -SIGKILL;
  });
}

TEST_F(ServiceCrashPointsTest, a_stop_that_is_killed_is_done_by_the_next_one) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  ASSERT_EQ(run({.arguments = words("start")}).exit, 0);
  const auto points = points_of(words("stop"));
  AtEach::at_each(points, [&](const Point& point) {
    lease("a1");
    EXPECT_EQ(run({.arguments = words("start")}).exit, 0);
    const auto killed = run({.arguments = killed_by_strace(strace_log(), point) + words("stop")});
    EXPECT_TRUE(eventually([&] { return status().exit == 1 || beaters().size() == 1; }));
    expect_whole_stores();
    expect_it_can_be_ended();
    EXPECT_TRUE(is_running(subject.pid()));
    return killed.exit == -SIGKILL;
  });
}

}  // namespace
}  // namespace tend::e2e
