// `tend done` from inside an agent: what stands in its folder, who is told, and what is refused.
#include "app/done_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/reading_test.h"
#include "store/outcome.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Done : public testing::Test {
 protected:
  Done() {
    reading.start_worker();
    reading.universe.run_for(5s);
    reading.variables = {{"TEND_INFRA", Kept::kFolder}, {"TEND_LIFE", "1"}};
  }

  std::optional<OutcomeFile> outcome() {
    const auto folder = reading.universe.machine().folders.open(Kept::kFolder);
    auto read = folder ? read_outcome(**folder) : std::unexpected(folder.error());
    EXPECT_TRUE(read);
    return read ? *std::move(read) : std::nullopt;
  }

  Reading reading;
};

TEST_F(Done, writes_what_became_of_the_work) {
  const Answer answer = reading.tend(
      {"done", "--outcome", "done", "--phase", "tests", "--note", "all green\nat last"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "tend: outcome done, phase tests for worker-s1, life 1\n");
  const auto said = outcome();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->outcome, WorkOutcome::done);
  EXPECT_EQ(said->phase, "tests");
  EXPECT_EQ(said->note, "all green\\x0aat last");
  EXPECT_EQ(said->life, 1U);
  EXPECT_NEAR(said->at, calendar_seconds(reading.universe.wall()), 1);
}

TEST_F(Done, tells_the_keeper) {
  const auto before = reading.universe.sent().size();
  EXPECT_EQ(reading.tend({"done", "--outcome", "withdrawn"}).exit, kExitYes);
  const auto& sent = reading.universe.sent();
  ASSERT_GT(sent.size(), before);
  EXPECT_EQ(sent.back().to.pid, reading.keeper);
  EXPECT_EQ(sent.back().kill, Kill::look);
}

TEST_F(Done, takes_an_outcome_back_with_a_new_phase) {
  EXPECT_EQ(reading.tend({"done", "--outcome", "escalated"}).exit, kExitYes);
  const Answer answer = reading.tend({"done", "--phase", "again"});
  EXPECT_EQ(answer.out, "tend: phase again for worker-s1, life 1\n");
  EXPECT_EQ(outcome()->outcome, WorkOutcome::none);
  EXPECT_EQ(outcome()->phase, "again");
}

TEST_F(Done, prints_json_or_nothing_when_asked) {
  EXPECT_EQ(reading.tend({"done", "--phase", "x", "-q"}).out, "");
  EXPECT_EQ(
      reading.tend({"done", "--outcome", "done", "--note", "ok", "--json"}).out,
      R"({"said":"done","outcome":"done","phase":"","note":"ok","agent":"worker-s1","life":1})"
      "\n");
}

TEST_F(Done, needs_an_outcome_or_a_phase) {
  const Answer answer = reading.tend({"done", "--note", "hm"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err, "tend done: needs --outcome done|withdrawn|escalated or --phase PHASE\n");
  EXPECT_EQ(reading.tend({"done", "--phase", ""}).exit, kExitUsage);
  EXPECT_EQ(reading.tend({"done", "--outcome", "failed"}).exit, kExitUsage);
  EXPECT_FALSE(outcome());
}

TEST_F(Done, exits_2_outside_an_agent) {
  reading.variables.clear();
  const Answer answer = reading.tend({"done", "--outcome", "done"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err,
            "tend done: not inside a kept agent: TEND_INFRA is not set (start the program with "
            "`tend run -- CMD`)\n");
}

TEST_F(Done, exits_2_where_the_environment_names_no_agent) {
  reading.variables["TEND_LIFE"] = "first";
  EXPECT_EQ(reading.tend({"done", "--outcome", "done"}).exit, kExitUsage);
  reading.variables["TEND_LIFE"] = "1";
  for (const char* folder : {"/home/user/nowhere", Kept::kHome}) {
    reading.variables["TEND_INFRA"] = folder;
    const Answer answer = reading.tend({"done", "--outcome", "done"});
    EXPECT_EQ(answer.exit, kExitUsage) << folder;
    EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1) << answer.err;
  }
}

TEST_F(Done, exits_1_when_its_life_is_over) {
  reading.variables["TEND_LIFE"] = "7";
  const Answer answer = reading.tend({"done", "--outcome", "done"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend done: life 7 of worker-s1 is over; life 1 runs now\n");
  EXPECT_FALSE(outcome());
}

TEST_F(Done, exits_1_when_the_agent_has_ended) {
  reading.universe.signal(reading.workers().front(), Kill::kill);
  reading.universe.run_for(60s);
  ASSERT_TRUE(reading.over());
  const Answer answer = reading.tend({"done", "--outcome", "done"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend done: worker-s1 has ended: its status is "))
      << answer.err;
}

}  // namespace
}  // namespace tend
