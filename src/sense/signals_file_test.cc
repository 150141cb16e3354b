// What may be said of an agent from outside, and by whom.
#include "sense/signals_file.h"

#include <gtest/gtest.h>

#include <string>

#include "sense/testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Took = SignalsFile::Took;

class SignalsFileTest : public testing::Test {
 protected:
  Took take(std::string_view text, Duration shift = 0s) {
    const PaddedLine line(text);
    return file.take(line.view(), 3, shift, batch);
  }
  Took take_kind(std::string_view kind) {
    return take(R"({"is":")" + std::string(kind) +
                R"(","state":"idle","event":"beat","waiting":1})");
  }

  SignalsFile file;
  SignalBatch batch;
};

TEST_F(SignalsFileTest, takes_lines_with_and_without_a_time) {
  EXPECT_EQ(take(R"({"t":5,"is":"ack","id":"p1"})"), Took::taken);
  EXPECT_EQ(take(R"({"is":"tool-open","id":"a","tool":"Bash"})"), Took::taken);
  EXPECT_EQ(take(R"({"t":-7,"is":"progress"})"), Took::taken);
  EXPECT_EQ(take(R"({"t":"noon","is":"progress"})"), Took::taken);
  ASSERT_EQ(batch.signals.size(), 4U);
  EXPECT_EQ(batch.signals[0].is, Kind::ack);
  EXPECT_EQ(batch.signals[0].id, "p1");
  EXPECT_EQ(batch.signals[1].tool, "Bash");
}

TEST_F(SignalsFileTest, takes_what_an_agent_may_say_of_itself) {
  for (const char* kind : {"beat", "progress", "noise", "tool-open", "tool-beat", "tool-close",
                           "compact-start", "compact-end", "retry", "ask", "answer", "turn-start",
                           "turn-end", "error", "state", "ack", "activity", "task", "inbox"}) {
    EXPECT_EQ(take_kind(kind), Took::taken) << kind;
  }
}

TEST_F(SignalsFileTest, refuses_what_only_others_can_know) {
  for (const char* kind :
       {"spawn", "process", "beat-failed", "status", "ping", "ping-failed", "child", "parent",
        "intent", "suspend", "lag", "clock-step", "fault", "fleet", "acted", "other", "news"}) {
    EXPECT_EQ(take_kind(kind), Took::refused) << kind;
  }
  EXPECT_EQ(take(R"({"is":"beat","by":"keeper"})"), Took::refused);
  EXPECT_EQ(take(R"({"is":"status","status":"completed"})"), Took::refused);
  EXPECT_EQ(take(R"({"is":"state","state":"blissful"})"), Took::refused);
  EXPECT_EQ(take(R"({"verdict":"working"})"), Took::refused);
  EXPECT_TRUE(batch.signals.empty());
}

TEST_F(SignalsFileTest, takes_a_beat_by_the_agent_or_by_another) {
  EXPECT_EQ(take(R"({"is":"beat","by":"agent"})"), Took::taken);
  EXPECT_EQ(take(R"({"is":"beat","by":"other"})"), Took::taken);
  ASSERT_EQ(batch.signals.size(), 2U);
  EXPECT_EQ(batch.signals[0].by, BeatBy::agent);
  EXPECT_EQ(batch.signals[1].by, BeatBy::other);
}

TEST_F(SignalsFileTest, does_not_take_the_words_of_an_old_life) {
  EXPECT_EQ(take(R"({"is":"progress","life":2})"), Took::old_life);
  EXPECT_TRUE(batch.signals.empty());
  EXPECT_EQ(take(R"({"is":"progress","life":3})"), Took::taken);
  EXPECT_EQ(take(R"({"is":"progress"})"), Took::taken);
}

TEST_F(SignalsFileTest, moves_until_to_the_clock_of_the_journal) {
  EXPECT_EQ(take(R"({"is":"state","state":"working","until":100})", 50s), Took::taken);
  EXPECT_EQ(take(R"({"is":"state","state":"working","until":100})", -500s), Took::taken);
  EXPECT_EQ(take(R"({"is":"retry","until":1e300})", kNoLimit), Took::taken);
  ASSERT_EQ(batch.signals.size(), 3U);
  EXPECT_EQ(batch.signals[0].until, Instant{150s});
  EXPECT_EQ(batch.signals[1].until, Instant{});
  EXPECT_EQ(batch.signals[2].until, Instant{kLongestTime});
}

TEST_F(SignalsFileTest, calls_bad_what_it_cannot_read) {
  for (const char* line : {"garbage", "{", "[1]", R"({"t":5})", R"({"is":7})", R"({"is":""})",
                           R"({"trace":1})", R"({"is":"progress"} x)", "{\"is\":\"\xff\"}"}) {
    EXPECT_EQ(take(line), Took::bad) << line;
  }
  EXPECT_TRUE(batch.signals.empty());
}

TEST_F(SignalsFileTest, hears_nothing_in_a_blank_line) {
  EXPECT_EQ(take(" \t\r"), Took::taken);
  EXPECT_TRUE(batch.signals.empty());
}

TEST_F(SignalsFileTest, keeps_texts_until_the_batch_is_cleared) {
  take(R"({"is":"ask","id":"first\n"})");
  take(R"({"is":"ask","id":"second"})");
  ASSERT_EQ(batch.signals.size(), 2U);
  EXPECT_EQ(batch.signals[0].id, "first\n");
  EXPECT_EQ(batch.signals[1].id, "second");
}

}  // namespace
}  // namespace tend
