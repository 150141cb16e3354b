// The work of children that have a work tree of their own comes home.
#include <chrono>
#include <string>
#include <vector>

#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class TreeMerge : public FamilyTest {
 protected:
  TreeMerge() { family.have_merging_child("coder"); }
  std::string file(const std::string& name) {
    return universe.disk.read(std::string(Family::kWork) + "/" + name).value_or("");
  }
};

TEST_F(TreeMerge, brings_the_work_of_a_child_home_when_its_lead_is_over) {
  family.behaves["lead"] = work_for(5min);
  grow({"coder"});
  universe.run_for(2min);
  EXPECT_EQ(family.outcome("coder"), "done");
  EXPECT_EQ(family.status("lead", "coder"), "unmerged");
  EXPECT_EQ(family.merges(), 0) << "the lead works there";
  EXPECT_TRUE(is_in(family.inbox("lead"), "`tend merge coder` brings it here"));
  universe.run_for(5min);
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(file("b"), "of coder");
  EXPECT_EQ(family.status("lead", "coder"), "done");
  EXPECT_TRUE(is_in(family.inbox("lead"), "child-merged: coder: merged as "));
  EXPECT_EQ(family.outcome("lead"), "done");
  family.check();
}

TEST_F(TreeMerge, brings_it_home_between_two_lives_of_its_lead) {
  grow({"coder"});
  universe.run_for(2min);
  ASSERT_EQ(family.status("lead", "coder"), "unmerged");
  family.kill_agents("lead");
  universe.run_for(1min);
  EXPECT_EQ(family.heartbeat("lead").life, 2U);
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(family.status("lead", "coder"), "done");
  family.check();
}

TEST_F(TreeMerge, asks_again_for_the_work_of_one_that_could_not_be_read) {
  family.behaves["lead"] = work_for(30min);
  grow({"coder"});
  universe.run_for(2min);
  ASSERT_EQ(family.status("lead", "coder"), "unmerged");
  const std::string agent_file = family.path("coder", "agent.json");
  universe.disk.make_unreadable(agent_file);
  family.kill_both("lead");  // the next keeper never saw it at work
  family.recover();
  universe.run_for(2min);
  EXPECT_EQ(family.status("lead", "coder"), "unmerged");
  EXPECT_TRUE(is_in(family.inbox("lead"), "is not merged: cannot open " + agent_file));
  universe.disk.make_readable(agent_file);
  universe.run_for(40min);
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(file("b"), "of coder");
  EXPECT_EQ(family.status("lead", "coder"), "done");
  EXPECT_EQ(family.outcome("lead"), "done");
  family.check();
}

TEST_F(TreeMerge, keeps_the_branch_of_one_in_conflict_and_tells) {
  family.behaves["coder"] = [](SimSelf& self) {
    self.write("a", "of coder");
    self.after(30s, end_well);
  };
  family.behaves["lead"] = work_for(5min);
  grow({"coder"});
  universe.run_for(1min);
  universe.disk.write(std::string(Family::kWork) + "/a", "of lead");
  universe.repositories[Family::kWork].head["a"] = "of lead";
  universe.run_for(10min);
  EXPECT_EQ(family.merges(), 0);
  EXPECT_EQ(file("a"), "of lead");
  EXPECT_EQ(universe.repositories[Family::kWork].merging, "");
  EXPECT_EQ(family.status("lead", "coder"), "unmerged");
  EXPECT_TRUE(is_in(family.inbox("lead"), "stays on branch tend/coder: a"));
  EXPECT_TRUE(universe.repositories[Family::kWork].branches.contains("tend/coder"));
  EXPECT_EQ(family.outcome("lead"), "done");
  family.check();
}

TEST_F(TreeMerge, touches_nothing_where_the_lead_left_work_uncommitted) {
  family.behaves["lead"] = work_for(5min);
  grow({"coder"});
  universe.disk.write(std::string(Family::kWork) + "/a", "not committed");
  universe.run_for(10min);
  EXPECT_EQ(family.merges(), 0);
  EXPECT_EQ(file("a"), "not committed");
  EXPECT_EQ(family.status("lead", "coder"), "unmerged");
  EXPECT_TRUE(is_in(family.inbox("lead"), "child-unmerged: the work of coder is not merged"));
  EXPECT_TRUE(family.over("lead"));
}

TEST_F(TreeMerge, merges_nothing_of_one_that_withdrew) {
  family.behaves["coder"] = [](SimSelf& self) {
    self.write("b", "of coder");
    self.write(*self.variable("TEND_INFRA") + "/outcome.json",
               R"({"outcome":"withdrawn","life":1})");
    self.after(30s, end_well);
  };
  family.behaves["lead"] = work_for(3min);
  grow({"coder"});
  universe.run_for(5min);
  EXPECT_EQ(family.merges(), 0);
  EXPECT_EQ(family.status("lead", "coder"), "gone");
  EXPECT_EQ(family.outcome("lead"), "done");
}

}  // namespace
}  // namespace tend
