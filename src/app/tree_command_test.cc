// `tend tree` on a home with a kept agent and children that are over.
#include "app/tree_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/reading_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class TreeCommand : public testing::Test {
 protected:
  void start() {
    reading.be_patient_as_with_an_agent();
    reading.start_worker();
    reading.universe.run_for(70s);
  }
  void add_child(const std::string& name, WorkOutcome outcome, Duration ago = {}) {
    const std::string folder = Kept::path("coding/" + name);
    reading.universe.disk.make_folder(Kept::path("coding"));
    reading.universe.disk.make_folder(folder);
    Heartbeat says;
    says.agent = name;
    says.session = "s1";
    says.role = "coding";
    says.status = Status::completed;
    says.outcome = outcome;
    const WallTime ended = reading.universe.wall() - ago;
    says.since = calendar_seconds(ended);
    says.parent_heartbeat = Kept::path(".heartbeat");
    reading.universe.disk.write(folder + "/.heartbeat", format_heartbeat(says));
    reading.universe.disk.set_modified(folder + "/.heartbeat", ended);
  }

  Reading reading;
};

TEST_F(TreeCommand, has_a_friendly_line_where_there_are_no_agents) {
  const Answer answer = reading.tend({"tree"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "no agents in /home/user/tend; start one: tend run -- CMD\n");
}

TEST_F(TreeCommand, shows_children_below_their_parent) {
  start();
  add_child("lint", WorkOutcome::done);
  const Answer answer = reading.tend({"tree"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out,
            "NAME         ROLE    STATE           PROGRESS  RESTARTS  WORK  WHY\n"
            "* worker-s1  worker  working, model        0s       0/3  -\n"
            "`- o lint    coding  done                   -         -  -\n");
}

TEST_F(TreeCommand, exits_3_if_one_of_those_shown_needs_you) {
  start();
  add_child("good", WorkOutcome::done);
  add_child("bad", WorkOutcome::failed);
  EXPECT_EQ(reading.tend({"tree"}).exit, kExitNeedsYou);
  EXPECT_EQ(reading.tend({"tree", "good"}).exit, kExitYes);
  EXPECT_EQ(reading.tend({"tree", "worker-s1"}).exit, kExitNeedsYou);
}

TEST_F(TreeCommand, shows_one_and_those_below_it) {
  start();
  add_child("lint", WorkOutcome::done);
  const Answer answer = reading.tend({"tree", "lint", "--json"});
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 1) << answer.out;
  EXPECT_EQ(answer.json()["name"], "lint");
  EXPECT_EQ(answer.json()["parent"], "worker-s1");
  EXPECT_EQ(answer.json()["folder"], Kept::path("coding/lint"));
  EXPECT_EQ(answer.json()["progressed_seconds_ago"], nullptr);
}

TEST_F(TreeCommand, leaves_out_what_is_over_for_long_unless_asked) {
  start();
  add_child("lint", WorkOutcome::done, 25h);
  EXPECT_FALSE(reading.tend({"tree"}).has("lint"));
  EXPECT_TRUE(reading.tend({"tree"}).has("(1 over for more than a day: --all shows it)\n"));
  EXPECT_TRUE(reading.tend({"tree", "--all"}).has("`- o lint"));
  EXPECT_TRUE(reading.tend({"tree", "worker-s1"}).has("`- o lint"));
}

TEST_F(TreeCommand, says_in_one_line_that_there_is_no_such_agent) {
  start();
  const Answer answer = reading.tend({"tree", "nobody"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend tree: no agent 'nobody'")) << answer.err;
  EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1);
}

}  // namespace
}  // namespace tend
