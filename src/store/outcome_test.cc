// What an agent says of its work, in our words and in those of another system.
#include "store/outcome.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kOurs = "/home/user/a/outcome.json";
constexpr const char* kForeign = "/home/user/a/.cfa-state.json";

OutcomeFile done() { return {WorkOutcome::done, "tests", "all green", 1773002269.25, 2}; }

class Outcomes : public testing::Test {
 protected:
  Outcomes() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::optional<OutcomeFile> read() { return read_outcome(*folder).value(); }
  std::optional<OutcomeFile> read_any() { return read_any_outcome(*folder).value(); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(Outcomes, are_none_before_anything_is_said) {
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(read_any(), std::nullopt);
}

TEST_F(Outcomes, come_back_as_they_were_and_the_last_one_wins) {
  ASSERT_TRUE(write_outcome(*folder, {.phase = "planning"}).has_value());
  EXPECT_EQ(read(), OutcomeFile{.phase = "planning"});
  for (const WorkOutcome outcome :
       {WorkOutcome::escalated, WorkOutcome::withdrawn, WorkOutcome::done}) {
    OutcomeFile said = done();
    said.outcome = outcome;
    ASSERT_TRUE(write_outcome(*folder, said).has_value());
    EXPECT_EQ(read(), said);
  }
  EXPECT_EQ(universe.disk.read(kOurs),
            R"({"outcome":"done","phase":"tests","note":"all green","at":1773002269.25,"life":2})"
            "\n");
}

TEST_F(Outcomes, survive_a_power_cut) {
  ASSERT_TRUE(write_outcome(*folder, done()).has_value());
  universe.disk.cut_power();
  EXPECT_EQ(read(), done());
}

TEST_F(Outcomes, are_those_that_an_agent_may_say) {
  EXPECT_EQ(write_outcome(*folder, {.outcome = WorkOutcome::orphaned}).error().text,
            "an agent may say done, withdrawn or escalated of its work, nothing else");
  for (const char* text : {"", "done", "[]", "{}", R"({"outcome":"stopped"})", R"({"outcome":1})",
                           R"({"outcome":"failed"})", R"({"outcome":"Done"})"}) {
    universe.disk.write(kOurs, text);
    EXPECT_EQ(read(), std::nullopt) << text;
  }
}

TEST_F(Outcomes, take_hostile_values_for_missing) {
  universe.disk.write(kOurs, R"({"outcome":"done","phase":5,"note":"a\u0000","at":"x","life":-1})");
  EXPECT_EQ(read(), OutcomeFile{.outcome = WorkOutcome::done});
}

TEST_F(Outcomes, are_bounded_and_on_one_line) {
  ASSERT_TRUE(write_outcome(*folder, {.outcome = WorkOutcome::done,
                                      .phase = std::string(5000, 'x'),
                                      .note = "one\ntwo" + std::string(5000, '"')})
                  .has_value());
  EXPECT_EQ(read().value().phase.size(), 128U);
  EXPECT_EQ(read().value().note.size(), 400U);
  EXPECT_TRUE(read().value().note.starts_with("one\\x0atwo"));
}

TEST_F(Outcomes, of_another_user_are_an_error) {
  universe.disk.write(kOurs, "{}");
  universe.disk.make_foreign(kOurs);
  EXPECT_FALSE(read_outcome(*folder).has_value());
  EXPECT_FALSE(read_any_outcome(*folder).has_value());
}

TEST(ForeignState, is_the_phase_and_in_the_end_the_outcome) {
  const auto outcome_of = [](const std::string& state) {
    const auto read = parse_foreign_state(R"({"state":")" + state + R"(","more":[1]})");
    EXPECT_TRUE(read.has_value()) << state;
    EXPECT_EQ(read.value_or(OutcomeFile{}).phase, state);
    return read.value_or(OutcomeFile{}).outcome;
  };
  EXPECT_EQ(outcome_of("EXECUTE"), WorkOutcome::none);
  EXPECT_EQ(outcome_of("done"), WorkOutcome::none);
  EXPECT_EQ(outcome_of("DONE"), WorkOutcome::done);
  EXPECT_EQ(outcome_of("COMPLETED_WORK"), WorkOutcome::done);
  EXPECT_EQ(outcome_of("WITHDRAWN"), WorkOutcome::withdrawn);
  EXPECT_EQ(outcome_of("FAILURE"), WorkOutcome::escalated);
  EXPECT_EQ(outcome_of("ESCALATED"), WorkOutcome::escalated);
}

TEST(ForeignState, that_cannot_be_understood_is_none) {
  for (const char* text : {"", "DONE", "[]", "{}", R"({"state":""})", R"({"state":["DONE"]})",
                           R"({"state":"a\u0000"})", R"({"state":"DONE")"}) {
    EXPECT_EQ(parse_foreign_state(text), std::nullopt) << text;
  }
}

TEST_F(Outcomes, of_another_system_count_where_ours_says_nothing) {
  universe.disk.write(kForeign, R"({"state":"COMPLETED_WORK"})");
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_EQ(read_any().value().outcome, WorkOutcome::done);
  ASSERT_TRUE(write_outcome(*folder, {.outcome = WorkOutcome::withdrawn}).has_value());
  EXPECT_EQ(read_any().value().outcome, WorkOutcome::withdrawn);
  universe.disk.write(kOurs, "torn");
  EXPECT_EQ(read_any().value().outcome, WorkOutcome::done);
}

}  // namespace
}  // namespace tend
