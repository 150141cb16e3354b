// Whose child a process may make, and the place that a child gets.
#include "run/family.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "os/sim/sim_world.h"
#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class FindParent : public FamilyTest {
 protected:
  void start_lead() {
    family.root("lead");
    universe.run_for(5s);
    environment.variables = {{"TEND_INFRA", family.folders["lead"]}, {"TEND_LIFE", "1"}};
  }
  std::int64_t start_below(std::int64_t parent) {
    return universe.start_process("tool", {.environment = environment.all(), .parent = parent});
  }
  std::int64_t start_below_lead() { return start_below(family.agents("lead").front()); }
  /// The parent's name, "" if there is none, or why not.
  std::string found_by(std::int64_t pid) {
    Machine& machine = universe.machine_of(pid);
    const auto home = machine.folders.open(Family::kHome);
    const auto found = find_parent(machine, **home, environment);
    if (!found) return found.error().text;
    return *found ? (*found)->agent.agent : "";
  }

  SimEnvironment environment;
};

class ChildPlaceTest : public FamilyTest {
 protected:
  ParentAgent start_lead() {
    family.root("lead");
    universe.run_for(5s);
    auto folder = machine.folders.open(family.folders["lead"]);
    auto agent = read_agent_file(**folder);
    return {*std::move(folder), *std::move(agent)};
  }
  Result<ChildPlace> reserve(AgentFile& child) {
    const auto home = machine.folders.open(Family::kHome);
    return reserve_child(machine, **home, lead, child);
  }
  std::string refused(AgentFile child) {
    const auto place = reserve(child);
    return place ? "it is not" : place.error().text;
  }
  AgentFile coder() {
    AgentFile child = family.file_of("coder");
    child.role = "coding";
    child.task_id = "t1";
    return child;
  }
  Result<void> enter(ChildPlace place, const AgentFile& child) {
    const auto home = machine.folders.open(Family::kHome);
    return register_child(machine, **home, lead, std::move(place), child);
  }
  std::unique_ptr<File> hold_registry() {
    const auto folder = universe.machine("other").folders.open(family.folders["lead"]);
    auto lock = lock_registry(**folder);
    EXPECT_TRUE(lock && *lock);
    return *std::move(lock);
  }

  Machine& machine = universe.machine("dispatch");
  ParentAgent lead = start_lead();
};

// --- Finding -------------------------------------------------------------------------------------

TEST_F(FindParent, finds_none_where_the_environment_names_none) {
  const auto pid = universe.start_process("tool");
  EXPECT_EQ(found_by(pid), "");
  environment.variables["TEND_INFRA"] = "";
  EXPECT_EQ(found_by(pid), "");
}

TEST_F(FindParent, finds_the_agent_that_a_process_stands_below_however_deep) {
  start_lead();
  const auto tool = start_below_lead();
  EXPECT_EQ(found_by(tool), "lead");
  EXPECT_EQ(found_by(start_below(start_below(tool))), "lead");
}

TEST_F(FindParent, finds_the_agent_of_a_process_whose_own_parent_is_gone) {
  start_lead();
  const auto tool = start_below_lead();
  const auto below = start_below(tool);
  universe.kill(tool);
  universe.run_for(1s);
  EXPECT_EQ(universe.facts(below)->parent, family.keepers("lead").front());
  EXPECT_EQ(found_by(below), "lead");
}

TEST_F(FindParent, refuses_one_whose_environment_is_of_another_time) {
  start_lead();
  EXPECT_EQ(found_by(universe.start_process("tmux", {.environment = environment.all()})),
            "this is no process of lead");
  environment.variables["TEND_LIFE"] = "2";
  EXPECT_EQ(found_by(start_below_lead()), "lead is in its life 1 by now, and this is of life 2");
  environment.variables.erase("TEND_LIFE");
  EXPECT_EQ(found_by(start_below_lead()), "lead is in its life 1 by now, and this is of life ?");
}

TEST_F(FindParent, refuses_a_folder_that_is_no_agents_of_this_home) {
  start_lead();
  const auto tool = start_below_lead();
  for (const char* const path : {"/home/user/other/sessions/s1", "/home/user/tend/sessions",
                                 "/home/user/tend", "sessions/s1"}) {
    environment.variables["TEND_INFRA"] = path;
    EXPECT_EQ(found_by(tool),
              "'" + std::string(path) + "' is an agent of another home than /home/user/tend");
  }
  environment.variables["TEND_INFRA"] = "/home/user/tend/sessions/nowhere";
  EXPECT_TRUE(found_by(tool).contains("/home/user/tend/sessions/nowhere")) << found_by(tool);
}

TEST_F(FindParent, refuses_one_that_is_over_or_was_never_started) {
  family.behaves["lead"] = work_for(30s);
  start_lead();
  const auto tool = start_below_lead();
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(tool)) << "it is ended with its agent";
  EXPECT_EQ(found_by(universe.start_process("tool")), "lead is over");
  family.make_root("later");
  environment.variables["TEND_INFRA"] = family.folders["later"];
  EXPECT_EQ(found_by(universe.start_process("tool")), "later was never started");
}

// --- Reserving -----------------------------------------------------------------------------------

TEST_F(ChildPlaceTest, is_a_folder_below_the_parent_that_says_whose_it_is) {
  AgentFile child = coder();
  const auto place = reserve(child);
  ASSERT_TRUE(place) << place.error().text;
  EXPECT_TRUE(place->folder->path().starts_with(family.folders["lead"] + "/coding/"));
  EXPECT_EQ(child.session, lead.agent.session);
  EXPECT_EQ(child.parent_heartbeat, family.path("lead", ".heartbeat"));
  EXPECT_EQ(child.dispatched_by, machine.processes.self());
}

TEST_F(ChildPlaceTest, asks_for_nothing_until_it_is_registered) {
  AgentFile child = coder();
  ASSERT_TRUE(reserve(child));
  universe.run_for(1min);
  EXPECT_EQ(family.text_of("lead", ".children"), "");
  EXPECT_EQ(universe.pids("claude").size(), 1U);
  AgentFile other = family.file_of("other");
  EXPECT_TRUE(reserve(other)) << "the registry is free again";
}

TEST_F(ChildPlaceTest, is_registered_as_requested_and_the_keeper_is_told) {
  family.kill_keepers("lead");
  AgentFile child = coder();
  auto place = reserve(child);
  ASSERT_TRUE(place);
  family.folders["coder"] = place->folder->path();
  ASSERT_TRUE(enter(*std::move(place), child));
  const ChildLine line = family.registered("lead", "coder");
  EXPECT_EQ(line.status, ChildStatus::requested);
  EXPECT_EQ(line.heartbeat, family.path("coder", ".heartbeat"));
  EXPECT_EQ(line.team, "coding");
  EXPECT_EQ(line.task_id, "t1");
  EXPECT_NEAR(line.at, calendar_seconds(universe.wall()), 1);
  EXPECT_TRUE(family.text_of("coder", "agent.json").contains(R"("coder")"));

  family.put_keeper_on("lead");
  universe.run_for(5s);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  const auto before = universe.sent().size();
  AgentFile second = family.file_of("second");
  auto next = reserve(second);
  ASSERT_TRUE(next && enter(*std::move(next), second));
  ASSERT_GT(universe.sent().size(), before);
  EXPECT_EQ(universe.sent().back().to.pid, family.keepers("lead").front());
  EXPECT_EQ(universe.sent().back().kill, Kill::look);
}

TEST_F(ChildPlaceTest, that_cannot_be_registered_leaves_its_name_free) {
  AgentFile child = coder();
  auto place = reserve(child);
  ASSERT_TRUE(place);
  universe.disk.room = 0;
  EXPECT_FALSE(enter(*std::move(place), child));
  universe.disk.room.reset();
  EXPECT_EQ(refused(coder()), "it is not");
}

TEST_F(ChildPlaceTest, waits_for_others_who_register) {
  auto held = hold_registry();
  universe.after(10s, [&] { held.reset(); });
  AgentFile child = coder();
  EXPECT_TRUE(reserve(child));
}

TEST_F(ChildPlaceTest, is_not_waited_for_without_end) {
  const auto held = hold_registry();
  EXPECT_EQ(refused(coder()), "others are being dispatched by the same agent; try again");
}

TEST_F(ChildPlaceTest, is_not_had_below_one_that_is_to_end) {
  const auto folder = machine.folders.open(family.folders["lead"]);
  const std::string refusal = "lead is being stopped (somebody): it takes no new children";
  ASSERT_TRUE(write_intent(**folder, {.want = Want::drain, .by = "somebody", .at = 1}));
  EXPECT_EQ(refused(coder()), refusal);
  ASSERT_TRUE(write_intent(**folder, {.want = Want::stop, .by = "somebody", .at = 2}));
  EXPECT_EQ(refused(coder()), refusal);
  ASSERT_TRUE(write_intent(**folder, {.want = Want::pause, .by = "somebody", .at = 3}));
  EXPECT_EQ(refused(coder()), "it is not");
}

TEST_F(ChildPlaceTest, is_not_had_under_a_name_that_is_taken_or_in_a_role_of_ours) {
  AgentFile child = coder();
  child.agent = "lead";
  EXPECT_TRUE(refused(child).starts_with("lead is not over; ")) << refused(child);
  child = coder();
  child.role = "salvage";
  EXPECT_EQ(refused(child), "--role: salvage is a name of ours, choose another");
}

TEST_F(ChildPlaceTest, is_not_had_below_one_that_has_too_many_children) {
  family.kill_keepers("lead");
  std::string lines;
  for (std::uint32_t i = 0; i < kMostChildrenAtOnce; ++i) {
    ChildLine line;
    line.heartbeat = family.folders["lead"] + "/coding/c" + std::to_string(i) + "/.heartbeat";
    line.status = ChildStatus::active;
    lines += format_child_line(line) + "\n";
  }
  universe.disk.write(family.path("lead", ".children"), lines);
  EXPECT_EQ(refused(coder()),
            "lead has 4096 children that are not settled: wait for some of them (`tend tree "
            "lead`)");
  ChildLine settled;
  settled.heartbeat = family.folders["lead"] + "/coding/c7/.heartbeat";
  settled.status = ChildStatus::gone;
  universe.disk.append(family.path("lead", ".children"), format_child_line(settled) + "\n");
  EXPECT_EQ(refused(coder()), "it is not");
}

}  // namespace
}  // namespace tend
