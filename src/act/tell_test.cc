// Telling people through a command, on a machine of a script.
#include "act/tell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "act/scripted_machine.h"

namespace tend {
namespace {

Incident incident_of(const std::string& agent) {
  return {.agent = agent,
          .session = "20260308-203749-x7",
          .life = 2,
          .verdict = "looping",
          .phase = "model",
          .because = {"silent for 720 s of 720 s"},
          .action = "escalate",
          .why = "it ended the same way 3 times",
          .folder = "/home/x/sessions/20260308-203749-x7",
          .at = 1773002269.25,
          .what_to_do = "tend explain coder"};
}

class TellTest : public testing::Test {
 protected:
  ScriptedMachine os_;
  std::vector<Told> told_;
  Tell tell_{os_.machine(), {"notify-me", "-v"}, [this](const Told& t) { told_.push_back(t); }};

  void end_with(Result<Ran> ran) {
    const auto end = std::exchange(os_.end_run, nullptr);
    ASSERT_TRUE(end) << "nothing runs";
    end(std::move(ran));
  }
  static Ran exited(int code, std::string error = "") {
    return {.exit = {ExitStatus::How::code, code}, .error = std::move(error)};
  }
  std::string words_after(Result<Ran> ran) {
    EXPECT_TRUE(tell_.tell(incident_of("coder")));
    end_with(std::move(ran));
    return told_.back().words;
  }
};

TEST_F(TellTest, gives_the_command_the_incident_as_json) {
  ASSERT_TRUE(tell_.tell(incident_of("coder")));
  ASSERT_EQ(os_.ran.size(), 1U);
  EXPECT_EQ(os_.ran[0].command, (std::vector<std::string>{"notify-me", "-v"}));
  EXPECT_TRUE(os_.ran[0].environment.empty());
  EXPECT_EQ(os_.ran[0].deadline, std::chrono::seconds{30});
  EXPECT_EQ(os_.ran[0].input,
            R"({"agent":"coder","session":"20260308-203749-x7","life":2,"verdict":"looping",)"
            R"("phase":"model","because":["silent for 720 s of 720 s"],)"
            R"("action":"escalate","why":"it ended the same way 3 times",)"
            R"("folder":"/home/x/sessions/20260308-203749-x7","at":1773002269.25,)"
            R"("what_to_do":"tend explain coder"})"
            "\n");
  EXPECT_TRUE(told_.empty());
  end_with(exited(0));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].heard);
  EXPECT_EQ(told_[0].words, "told by 'notify-me'");
}

TEST_F(TellTest, writes_json_whatever_the_bytes_are) {
  Incident incident = incident_of("a\xff\"b");
  const auto json = nlohmann::json::parse(format_incident(incident), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["agent"], "a\xef\xbf\xbd\"b");
}

TEST_F(TellTest, says_in_words_what_went_wrong) {
  EXPECT_EQ(words_after(exited(3)), "'notify-me' exited with 3");
  EXPECT_EQ(words_after(exited(1, "starting\nno such \x1b[1mchannel\n")),
            "'notify-me' exited with 1: no such \\x1b[1mchannel");
  EXPECT_EQ(words_after(Ran{.exit = {ExitStatus::How::signal, 11}}),
            "'notify-me' died of signal 11");
  EXPECT_EQ(words_after(Ran{.exit = {ExitStatus::How::signal, 9}, .timed_out = true}),
            "'notify-me' did not end within 30 s and was ended");
  EXPECT_EQ(words_after(fail("not found")), "'notify-me' could not be run: not found");
  for (const Told& told : told_) EXPECT_FALSE(told.heard);
}

TEST_F(TellTest, tells_one_at_a_time_in_order) {
  ASSERT_TRUE(tell_.tell(incident_of("first")));
  ASSERT_TRUE(tell_.tell(incident_of("second")));
  EXPECT_EQ(os_.ran.size(), 1U);
  EXPECT_EQ(tell_.waiting(), 2U);
  end_with(exited(1));
  ASSERT_EQ(os_.ran.size(), 2U);
  EXPECT_NE(os_.ran[1].input.find("second"), std::string::npos);
  end_with(exited(0));
  EXPECT_EQ(tell_.waiting(), 0U);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_FALSE(told_[0].heard);
  EXPECT_TRUE(told_[1].heard);
}

TEST_F(TellTest, refuses_more_than_may_wait_and_takes_again_later) {
  for (std::size_t i = 0; i < Tell::kMostWaiting; ++i) {
    ASSERT_TRUE(tell_.tell(incident_of("coder")));
  }
  const auto refused = tell_.tell(incident_of("coder"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "32 notices wait for 'notify-me': this one is not told");
  end_with(exited(0));
  EXPECT_TRUE(tell_.tell(incident_of("coder")));
}

}  // namespace
}  // namespace tend
