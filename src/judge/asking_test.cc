// When an agent is asked, and when not.
#include "judge/asking.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr AskingPace kPace{.interval = 300s, .answer = 900s};

Asking quiet_for(Duration silent) { return {.possible = true, .seen = true, .silent = silent}; }

TEST(NextQuestion, comes_after_an_interval_of_silence) {
  EXPECT_EQ(next_question(quiet_for(0s), std::nullopt, false, kPace), 300s);
  EXPECT_EQ(next_question(quiet_for(300s), std::nullopt, false, kPace), 0s);
  EXPECT_EQ(next_question(quiet_for(300s), 100s, false, kPace), 200s) << "asked 100 s ago";
}

TEST(NextQuestion, does_not_come_while_it_could_not_be_answered) {
  Asking asking = quiet_for(1000s);
  asking.possible = false;
  EXPECT_EQ(next_question(asking, std::nullopt, true, kPace), std::nullopt);
}

TEST(NextQuestion, does_not_come_while_one_is_open) {
  Asking asking = quiet_for(5000s);
  asking.open = Name("q1");
  asking.open_for = 5000s;
  EXPECT_EQ(next_question(asking, 5000s, false, kPace), std::nullopt);
}

TEST(NextQuestion, comes_again_for_one_that_works_and_does_not_answer) {
  Asking asking = quiet_for(10s);
  asking.open = Name("q1");
  asking.overtaken = true;
  asking.open_for = 600s;
  EXPECT_EQ(next_question(asking, 600s, false, kPace), 300s);
  asking.open_for = 900s;
  EXPECT_EQ(next_question(asking, 900s, false, kPace), 290s) << "it was busy 10 s ago";
  asking.silent = 300s;
  EXPECT_EQ(next_question(asking, 900s, false, kPace), 0s);
}

TEST(NextQuestion, comes_at_once_to_a_fresh_life_that_waits_to_be_spoken_to) {
  AskingPace pace = kPace;
  pace.waits_for_us = true;
  Asking asking = quiet_for(0s);
  asking.seen = false;
  EXPECT_EQ(next_question(asking, std::nullopt, false, pace), 0s);
}

TEST(NextQuestion, comes_at_once_to_one_that_was_down) {
  EXPECT_LE(next_question(quiet_for(1s), std::nullopt, true, kPace), 0s);
  EXPECT_EQ(next_question(quiet_for(1s), 20s, true, kPace), 40s);
  Asking unseen = quiet_for(10s);
  unseen.seen = false;
  EXPECT_EQ(next_question(unseen, std::nullopt, true, kPace), 20s);
  unseen.stirs = true;
  EXPECT_EQ(next_question(unseen, std::nullopt, true, kPace), 0s);
}

TEST(NextQuestion, does_not_come_before_a_life_has_begun) {
  AskingPace hasty = kPace;
  hasty.interval = 1s;
  Asking asking = quiet_for(5s);
  asking.seen = false;
  EXPECT_EQ(next_question(asking, std::nullopt, false, hasty), 25s);
}

}  // namespace
}  // namespace tend
