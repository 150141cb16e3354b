// What the models print is what the product's adapters understand: each line proves what its model
// means by it.
#include "voice.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>

#include "sense/adapter_testing.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class Spoken : public testing::Test {
 protected:
  Spoken(Voice voice, std::unique_ptr<Adapter> adapter)
      : speech(make_speech(voice)), hear_line_(std::move(adapter)) {}

  /// The signals of all its lines.
  std::string hear(const std::string& lines) {
    std::string all;
    std::istringstream each(lines);
    for (std::string line; std::getline(each, line);) {
      const std::string heard = hear_line_(line);
      if (!heard.empty()) all += (all.empty() ? "" : " | ") + heard;
    }
    return all;
  }
  [[nodiscard]] const Conversation& conversation() const { return hear_line_.conversation(); }

  std::unique_ptr<Speech> speech;

 private:
  Hearing hear_line_;
};

class ClaudeSpeech : public Spoken {
 protected:
  ClaudeSpeech() : Spoken(Voice::claude, make_claude_adapter()) {}
};

TEST_F(ClaudeSpeech, tells_its_session_its_words_and_how_long_a_call_may_take) {
  EXPECT_EQ(hear(speech->begin("session-of-a")), "turn-start");
  EXPECT_EQ(conversation().session, "session-of-a");
  EXPECT_EQ(hear(speech->say(1)), "progress");
  EXPECT_EQ(hear(speech->open("t1", 2min)), "tool-open id=t1 tool=Bash limit=120");
  EXPECT_EQ(hear(speech->close("t1")), "tool-close id=t1");
  EXPECT_EQ(hear(speech->end_turn()), "turn-end");
}

TEST_F(ClaudeSpeech, tells_of_what_it_tries_again_and_of_what_breaks_it_off) {
  hear(speech->begin("s"));
  EXPECT_EQ(hear(speech->retry(1, 2s, 529)), "retry until=2 cause=overload");
  EXPECT_EQ(hear(speech->give_up(529)), "error cause=overload final | turn-end cause=overload");
  hear(speech->begin("s"));
  EXPECT_EQ(hear(speech->break_off()), "turn-end cause=aborted_tools (another)");
}

TEST_F(ClaudeSpeech, goes_in_circles_and_is_denied_as_it_is_counted) {
  hear(speech->begin("s"));
  hear(speech->chatter(0));
  hear(speech->chatter(1));
  EXPECT_TRUE(hear(speech->chatter(2)).contains("same=3"));
  hear(speech->deny("d"));
  hear(speech->end_turn());
  EXPECT_EQ(conversation().denied, 1U);
}

class CodexSpeech : public Spoken {
 protected:
  CodexSpeech() : Spoken(Voice::codex, make_codex_adapter()) {}
};

TEST_F(CodexSpeech, tells_its_session_its_words_and_its_calls) {
  EXPECT_EQ(hear(speech->begin("session-of-a")), "activity | turn-start");
  EXPECT_EQ(conversation().session, "session-of-a");
  EXPECT_EQ(hear(speech->say(1)), "progress");
  EXPECT_EQ(hear(speech->open("t1", 2min)), "tool-open id=t1 tool=command_execution");
  EXPECT_EQ(hear(speech->close("t1")), "tool-close id=t1");
  EXPECT_EQ(hear(speech->end_turn()), "turn-end");
}

TEST_F(CodexSpeech, tells_of_what_it_tries_again_before_it_gives_up) {
  hear(speech->begin("s"));
  EXPECT_EQ(hear(speech->retry(1, 1s, 529)), "retry cause=overload");
  EXPECT_EQ(hear(speech->give_up(529)), "error cause=overload | turn-end cause=overload");
}

TEST_F(CodexSpeech, goes_in_circles_and_is_denied_as_it_is_counted) {
  hear(speech->begin("s"));
  hear(speech->chatter(0));
  hear(speech->chatter(1));
  EXPECT_TRUE(hear(speech->chatter(2)).contains("same=3"));
  hear(speech->deny("d"));
  EXPECT_EQ(conversation().denied, 1U);
}

class GeminiSpeech : public Spoken {
 protected:
  GeminiSpeech() : Spoken(Voice::gemini, make_gemini_adapter()) {}
};

TEST_F(GeminiSpeech, tells_its_session_its_words_and_its_calls) {
  EXPECT_EQ(hear(speech->begin("session-of-a")), "turn-start | activity");
  EXPECT_EQ(conversation().session, "session-of-a");
  EXPECT_EQ(hear(speech->say(1)), "progress");
  EXPECT_EQ(hear(speech->open("t1", {})), "tool-open id=t1 tool=run_shell_command");
  EXPECT_EQ(hear(speech->close("t1")), "tool-close id=t1");
  EXPECT_EQ(hear(speech->end_turn()), "turn-end");
}

TEST_F(GeminiSpeech, tells_nothing_of_what_it_tries_again_before_it_gives_up) {
  hear(speech->begin("s"));
  EXPECT_EQ(speech->hold(1min) + speech->retry(1, 1s, 529) + speech->begin_compaction(), "");
  EXPECT_EQ(hear(speech->give_up(500)), "turn-end cause=overload");
}

TEST_F(GeminiSpeech, goes_in_circles_and_is_denied_as_it_is_counted) {
  hear(speech->begin("s"));
  hear(speech->chatter(0));
  hear(speech->chatter(1));
  EXPECT_TRUE(hear(speech->chatter(2)).ends_with("same=3"));
  hear(speech->deny("d"));
  EXPECT_EQ(conversation().denied, 1U);
}

class OpencodeSpeech : public Spoken {
 protected:
  OpencodeSpeech() : Spoken(Voice::opencode, make_opencode_adapter()) {}
};

TEST_F(OpencodeSpeech, tells_of_calls_when_they_are_over_and_of_nothing_before) {
  EXPECT_EQ(hear(speech->begin("session-of-a")), "turn-start");
  EXPECT_EQ(conversation().session, "session-of-a");
  EXPECT_EQ(speech->open("t1", 2min) + speech->open_subagent("s1"), "");
  EXPECT_EQ(hear(speech->close("t1")),
            "tool-open id=t1 tool=bash | tool-close id=t1 | progress | progress");
  EXPECT_EQ(hear(speech->say(1)), "progress");
  EXPECT_EQ(hear(speech->end_turn()), "turn-end");
}

TEST_F(OpencodeSpeech, tells_nothing_of_what_it_tries_again_before_it_gives_up) {
  hear(speech->begin("s"));
  EXPECT_EQ(speech->hold(1min) + speech->retry(1, 1s, 529) + speech->begin_compaction(), "");
  EXPECT_EQ(hear(speech->give_up(529)), "turn-end cause=overload");
}

TEST_F(OpencodeSpeech, goes_in_circles_and_is_denied_as_it_is_counted) {
  hear(speech->begin("s"));
  hear(speech->chatter(0));
  hear(speech->chatter(1));
  EXPECT_TRUE(hear(speech->chatter(2)).ends_with("same=3 | activity | activity"));
  hear(speech->deny("d"));
  EXPECT_EQ(conversation().denied, 1U);
}

}  // namespace
}  // namespace tend::sim
