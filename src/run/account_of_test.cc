// What a journal tells a reader, while its keeper works on and after it is gone.
#include "run/account_of.h"

#include <chrono>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

std::optional<Standing> standing_of(Kept& kept) {
  Machine& machine = kept.universe.machine("reader");
  const auto folder = machine.folders.open(Kept::kFolder);
  EXPECT_TRUE(folder);
  auto standing = account_of(machine, **folder);
  EXPECT_TRUE(standing) << standing.error().text;
  return standing ? *std::move(standing) : std::nullopt;
}

TEST(AccountOf, says_nothing_where_there_is_no_journal) {
  Kept kept;
  EXPECT_FALSE(standing_of(kept));
}

TEST(AccountOf, is_the_account_of_the_keepers_own_judge) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(61s);
  const auto standing = standing_of(kept);
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->policy, "agent");
  EXPECT_EQ(standing->account.verdict, kept.heartbeat().verdict);
  EXPECT_EQ(standing->account.real.age, 60s);
  EXPECT_EQ(standing->account.process, ProcessState::running);
}

TEST(AccountOf, remembers_what_was_decided_and_what_came_of_it) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(900s);
  ASSERT_EQ(kept.heartbeat().life, 2U);
  const auto standing = standing_of(kept);
  ASSERT_TRUE(standing);
  const auto kill = std::ranges::find_if(standing->lately, [](const Remembered& one) {
    return one.kind == Remembered::Kind::action && one.what == "kill";
  });
  ASSERT_NE(kill, standing->lately.end());
  EXPECT_NE(kill->result, "");
  EXPECT_EQ(kill->why, "silent 840 s in phase model (limit 720 s)");
  const auto age = kept.universe.wall() - kill->at;
  EXPECT_GE(age, 50s);
  EXPECT_LE(age, 70s);
  EXPECT_LE(standing->lately.size(), kMostRemembered);
}

TEST(AccountOf, knows_what_the_keeper_will_leave_undone) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.agent.on_stall = OnStall::report;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(61s);
  const auto standing = standing_of(kept);
  ASSERT_TRUE(standing);
  const auto kill = std::ranges::find_if(standing->account.next, [](const Foreseen& one) {
    return one.decision.kind == Decision::Kind::action && one.decision.action == Action::kill;
  });
  ASSERT_NE(kill, standing->account.next.end());
  EXPECT_EQ(kill->but, "--on-stall report");
  EXPECT_TRUE(std::ranges::none_of(standing->account.next, &Foreseen::follows_kill));
}

TEST(AccountOf, counts_no_age_over_a_reboot) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(61s);
  kept.universe.reboot();
  const auto standing = standing_of(kept);
  ASSERT_TRUE(standing);
  EXPECT_FALSE(standing->of_this_boot);
  EXPECT_LE(standing->account.real.age, 60s);
}

TEST(AccountOf, changes_nothing_in_the_folder) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(61s);
  const std::string before = kept.text_of("journal.jsonl");
  (void)standing_of(kept);
  EXPECT_EQ(kept.text_of("journal.jsonl"), before);
}

}  // namespace
}  // namespace tend
