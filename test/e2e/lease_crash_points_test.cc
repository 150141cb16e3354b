// Whoever asks for a lease is killed at every call that changes something, once each. Afterwards it
// happened or did not, the fence has not fallen, and the same command does it.
#include <cstdint>

#include "crash_points_testing.h"

namespace tend::e2e {
namespace {

class LeaseCrashPointsTest : public CrashPoints {
 protected:
  void SetUp() override {
    CrashPoints::SetUp();
    holder_ = std::make_unique<Background>(
        start({.arguments = {"sleep", "1000"}, .environment = {}, .input = ""}));
  }
  void TearDown() override {
    holder_.reset();
    CrashPoints::TearDown();
  }
  [[nodiscard]] Arguments lease(const std::string& verb, const std::string& name) const {
    return {"lease", verb, "--name", name, "--pid", std::to_string(holder_->pid())};
  }
  Json status(const std::string& name) {
    const auto said = tend({"lease", "status", "--name", name, "--json"});
    EXPECT_TRUE(said.err.empty()) << said.err;
    return Json::parse(said.out, nullptr, false);
  }
  /// "held 1"
  std::string state_of(const std::string& name) {
    const Json json = status(name);
    return text_in(json, "state") + " " + std::to_string(number_in(json, "fence"));
  }
  std::string prepared(const std::vector<std::string>& verbs) {
    std::string name = "k" + std::to_string(++made_);
    for (const std::string& verb : verbs) {
      const auto ran = tend(lease(verb, name));
      EXPECT_EQ(ran.exit, 0) << ran.err;
    }
    return name;
  }
  std::vector<Point> points_of(const Arguments& command) {
    const auto ran =
        run({.arguments = watched_by_strace(log()) + Arguments{TEND_BINARY} + command});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return points_between({}, count_calls(log()));
  }
  bool killed_at(const Point& point, const Arguments& command) {
    const auto ran =
        run({.arguments = killed_by_strace(log(), point) + Arguments{TEND_BINARY} + command});
    return ran.exit == -SIGKILL;
  }

  void kill_everywhere(const std::vector<std::string>& before, const std::string& verb,
                       const std::string& untouched, const std::string& done, int again) {
    const std::string first = prepared(before);
    ASSERT_EQ(state_of(first), untouched);
    const auto points = points_of(lease(verb, first));
    ASSERT_EQ(state_of(first), done);
    at_each(points, [&](const Point& point) {
      const std::string name = prepared(before);
      const bool reached = killed_at(point, lease(verb, name));
      const std::string found = state_of(name);
      EXPECT_TRUE(found == untouched || found == done) << found;
      const auto ran = tend(lease(verb, name));
      EXPECT_EQ(ran.exit, found == untouched ? 0 : again) << ran.err;
      EXPECT_EQ(state_of(name), done);
      return reached;
    });
  }

  std::unique_ptr<Background> holder_;
  int made_ = 0;
};

TEST_F(LeaseCrashPointsTest, a_lease_is_granted_whole_or_not_at_all) {
  kill_everywhere({}, "acquire", "free 0", "held 1", 0);
}

TEST_F(LeaseCrashPointsTest, a_lease_is_renewed_whole_or_not_at_all) {
  kill_everywhere({"acquire"}, "renew", "held 1", "held 1", 0);
}

TEST_F(LeaseCrashPointsTest, a_lease_is_given_back_whole_or_not_at_all) {
  kill_everywhere({"acquire"}, "release", "held 1", "free 1", 1);
}

/// Its program may have run or not. The next one ends it, and gets the lease under a later fence.
TEST_F(LeaseCrashPointsTest, a_runner_killed_anywhere_is_followed_at_once_under_a_later_fence) {
  const Path ledger = scratch() / "ledger";
  const auto command = [&](const std::string& name) {
    return Arguments{"lease",
                     "run",
                     "--name",
                     name,
                     "--no-wait",
                     "--ttl",
                     "1h",
                     "--",
                     "sh",
                     "-c",
                     "echo $TEND_LEASE $TEND_FENCE >>" + ledger.string() + "; sleep 0.1"};
  };
  const auto points = points_of(command(prepared({})));
  at_each(points, [&](const Point& point) {
    const std::string name = prepared({});
    const bool reached = killed_at(point, command(name));
    const long before = number_in(status(name), "fence");
    const auto next = tend(command(name));
    EXPECT_EQ(next.exit, 0) << next.err;
    const long after = number_in(status(name), "fence");
    EXPECT_GT(after, before);
    EXPECT_EQ(text_in(status(name), "state"), "free");
    EXPECT_TRUE(read_file(ledger).ends_with(name + " " + std::to_string(after) + "\n"))
        << "somebody wrote behind its back";
    EXPECT_TRUE(eventually([&] { return processes_with("TEND_LEASE=" + name).empty(); }));
    return reached;
  });
}

}  // namespace
}  // namespace tend::e2e
