// Who is taken in and who never is, on trees made by hand.
#include "os/process_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tend {
namespace {

ProcessId id(std::int64_t pid) { return {pid, static_cast<std::uint64_t>(pid) * 10, 1, "boot"}; }

Seen seen(std::int64_t pid, std::int64_t parent, std::optional<std::string> mark = {}) {
  Seen made;
  made.id = id(pid);
  made.parent = parent;
  made.mark = std::move(mark);
  return made;
}

std::vector<std::int64_t> pids(const std::vector<ProcessId>& ids) {
  std::vector<std::int64_t> all;
  all.reserve(ids.size());
  for (const ProcessId& one : ids) all.push_back(one.pid);
  std::ranges::sort(all);
  return all;
}

using Pids = std::vector<std::int64_t>;
const ProcessId kSelf = id(50);

Pids members_of(const std::vector<Seen>& all, const Belonging& belonging, const Pids& group = {}) {
  return pids(members(all, belonging, group, kSelf));
}

TEST(ProcessTree, takes_the_marked_and_their_unmarked_descendants) {
  const std::vector<Seen> all = {seen(1, 0),          seen(50, 1),         seen(60, 50, "mine"),
                                 seen(61, 60),        seen(62, 61),        seen(70, 1),
                                 seen(71, 1, "mine"), seen(80, 1, "other")};
  EXPECT_EQ(members_of(all, {.mark = "mine"}), (Pids{60, 61, 62, 71}));
}

TEST(ProcessTree, stops_at_any_other_mark) {
  const std::vector<Seen> all = {seen(1, 0), seen(50, 1), seen(60, 50, "mine"),
                                 seen(61, 60, "other"), seen(62, 61)};
  EXPECT_EQ(members_of(all, {.mark = "mine"}), (Pids{60}));
}

TEST(ProcessTree, takes_an_empty_mark_for_none) {
  const std::vector<Seen> all = {seen(50, 1), seen(60, 50, "mine"), seen(61, 60, ""),
                                 seen(70, 1, "")};
  EXPECT_EQ(members_of(all, {.mark = "mine"}), (Pids{60, 61}));
  EXPECT_EQ(members_of(all, {.mark = ""}), (Pids{}));
}

TEST(ProcessTree, takes_the_root_whatever_its_environment_says) {
  const std::vector<Seen> all = {seen(50, 1), seen(60, 50, "other"), seen(61, 60)};
  EXPECT_EQ(members_of(all, {.mark = "mine", .root = id(60)}), (Pids{60, 61}));
}

TEST(ProcessTree, leaves_a_root_with_another_start_time_alone) {
  const std::vector<Seen> all = {seen(50, 1), seen(60, 50), seen(61, 60)};
  ProcessId reused = id(60);
  reused.start_ticks += 1;
  EXPECT_EQ(members_of(all, {.mark = "mine", .root = reused}), (Pids{}));
}

TEST(ProcessTree, takes_those_in_the_group_unless_they_carry_another_mark) {
  const std::vector<Seen> all = {seen(50, 1), seen(60, 1), seen(61, 60), seen(70, 1, "other")};
  EXPECT_EQ(members_of(all, {.mark = "mine"}, {60, 70, 99}), (Pids{60, 61}));
}

TEST(ProcessTree, never_takes_the_one_who_asks_nor_its_ancestors) {
  const std::vector<Seen> all = {seen(1, 0, "mine"),   seen(40, 1, "mine"), seen(50, 40, "mine"),
                                 seen(51, 50, "mine"), seen(52, 50),        seen(60, 1)};
  EXPECT_EQ(members_of(all, {.mark = "mine"}, {1, 40, 50}), (Pids{51}));
}

TEST(ProcessTree, walks_below_a_root_that_is_an_ancestor_of_the_one_who_asks) {
  const std::vector<Seen> all = {seen(1, 0), seen(40, 1), seen(41, 40), seen(50, 40)};
  EXPECT_EQ(members_of(all, {.mark = "mine", .root = id(40)}), (Pids{41}));
}

TEST(ProcessTree, keeps_out_what_it_is_told_to_and_all_below) {
  const std::vector<Seen> all = {seen(50, 1), seen(60, 50, "mine"), seen(61, 60),
                                 seen(62, 61, "mine"), seen(63, 60)};
  EXPECT_EQ(members_of(all, {.mark = "mine", .not_ = {id(61)}}), (Pids{60, 63}));
  ProcessId another = id(61);
  another.start_ticks += 1;
  EXPECT_EQ(members_of(all, {.mark = "mine", .not_ = {another}}), (Pids{60, 61, 62, 63}));
}

TEST(ProcessTree, leaves_zombies_out_and_looks_below_them) {
  std::vector<Seen> all = {seen(50, 1), seen(60, 50, "mine"), seen(61, 60)};
  all[1].zombie = true;
  EXPECT_EQ(members_of(all, {.mark = "mine"}), (Pids{61}));
}

TEST(ProcessTree, survives_a_circle_of_parents) {
  const std::vector<Seen> all = {seen(50, 51), seen(51, 50), seen(60, 61, "mine"), seen(61, 60)};
  EXPECT_EQ(members_of(all, {.mark = "mine"}), (Pids{60, 61}));
}

const ProcessId kKeeper = id(50);
const ProcessId kAgent = id(60);

bool is_below(const std::vector<Seen>& all, std::int64_t pid, const Pids& group = {}) {
  return stands_below(all, pid, kAgent, kKeeper, "mine", group);
}

TEST(StandsBelow, holds_for_the_process_itself_and_all_that_descend_from_it) {
  const std::vector<Seen> all = {seen(1, 0),   seen(50, 1),  seen(60, 50),
                                 seen(61, 60), seen(62, 61), seen(70, 1)};
  EXPECT_TRUE(is_below(all, 60));
  EXPECT_TRUE(is_below(all, 62)) << "whether marked or not";
  EXPECT_FALSE(is_below(all, 50)) << "the keeper is above it";
  EXPECT_FALSE(is_below(all, 70));
  EXPECT_FALSE(is_below(all, 99)) << "nobody has that pid";
}

TEST(StandsBelow, does_not_believe_an_environment_that_was_handed_around) {
  // A terminal server that one of them started, taken in by init; and a process of another mark
  // that was started by hand from one of its windows.
  const std::vector<Seen> all = {
      seen(1, 0),           seen(50, 1), seen(60, 50, "mine"),  seen(70, 1, "mine"),
      seen(71, 70, "mine"), seen(80, 1), seen(81, 80, "other"), seen(82, 81, "mine")};
  EXPECT_FALSE(is_below(all, 70));
  EXPECT_FALSE(is_below(all, 71));
  EXPECT_FALSE(is_below(all, 82));
}

TEST(StandsBelow, holds_for_orphans_that_the_keeper_took_in) {
  const std::vector<Seen> all = {seen(1, 0), seen(50, 1), seen(61, 50, "mine"), seen(62, 61),
                                 seen(63, 50)};
  EXPECT_TRUE(is_below(all, 61));
  EXPECT_TRUE(is_below(all, 62));
  EXPECT_FALSE(is_below(all, 63)) << "a child of the keeper's own";
  EXPECT_FALSE(stands_below(all, 61, kAgent, kKeeper, "", {})) << "no mark is no proof";
}

TEST(StandsBelow, holds_for_the_members_of_the_group_and_what_is_below_them) {
  const std::vector<Seen> all = {seen(1, 0), seen(50, 1), seen(71, 1), seen(72, 71)};
  EXPECT_TRUE(is_below(all, 71, {71}));
  EXPECT_TRUE(is_below(all, 72, {71}));
  EXPECT_FALSE(is_below(all, 71));
}

TEST(StandsBelow, takes_no_process_with_another_start_time_for_the_same) {
  std::vector<Seen> all = {seen(1, 0), seen(50, 1), seen(60, 50), seen(61, 60),
                           seen(62, 50, "mine")};
  all[2].id.start_ticks += 1;
  EXPECT_FALSE(is_below(all, 61));
  all[1].id.start_ticks += 1;
  EXPECT_FALSE(is_below(all, 62));
}

TEST(StandsBelow, survives_a_circle_of_parents) {
  EXPECT_FALSE(is_below({seen(70, 71), seen(71, 70)}, 70));
}

}  // namespace
}  // namespace tend
