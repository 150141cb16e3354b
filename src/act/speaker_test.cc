// Each way to an agent, on a simulated machine.
#include "act/speaker.h"

#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class SpeakerTest : public testing::Test {
 protected:
  SpeakerTest() { universe.disk.make_folder("/home/user"); }

  /// What came of it; "said" if it arrived.
  std::string say(const Address& address, const std::string& text) {
    Speaker speaker(universe.machine(), "chat", address);
    std::string result = "nothing";
    speaker.say({.id = "1-ab", .line = "tend ack 1-ab", .text = text},
                [&](const Result<void>& said) { result = said ? "said" : said.error().text; });
    universe.run_for(2min);
    EXPECT_FALSE(speaker.busy());
    return result;
  }

  SimUniverse universe;
};

TEST_F(SpeakerTest, says_it_on_the_input_as_a_line_of_stream_json) {
  ASSERT_TRUE(universe.machine().sockets.make_fifo("/home/user/input"));
  EXPECT_EQ(say(ToInput{"/home/user/input"}, "a \"question\"\nof two lines"), "said");
  std::string line;
  const auto reading = universe.machine().sockets.read_fifo(
      "/home/user/input", [&](std::string_view bytes) { line += bytes; });
  universe.run_for(1s);
  EXPECT_TRUE(line.ends_with("\n"));
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["type"], "user");
  EXPECT_EQ(json["message"]["role"], "user");
  EXPECT_EQ(json["message"]["content"][0]["text"], "a \"question\"\nof two lines");
}

TEST_F(SpeakerTest, says_that_an_input_is_full) {
  ASSERT_TRUE(universe.machine().sockets.make_fifo("/home/user/input"));
  const std::string most(50'000, 'x');
  EXPECT_EQ(say(ToInput{"/home/user/input"}, most), "said");
  EXPECT_EQ(say(ToInput{"/home/user/input"}, most),
            "what stands in /home/user/input was not read yet");
}

TEST_F(SpeakerTest, pastes_it_into_a_terminal_and_presses_enter) {
  universe.answers["tmux"] = {};
  EXPECT_EQ(say(ToTerminal{"main:0"}, "go \x1b[31m on"), "said");
  ASSERT_EQ(universe.ran().size(), 3U);
  EXPECT_EQ(universe.ran()[0].input, "go  [31m on") << "nothing in it is a key";
  using Command = std::vector<std::string>;
  EXPECT_EQ(universe.ran()[1].command,
            (Command{"tmux", "paste-buffer", "-d", "-p", "-b", "tend-1-ab", "-t", "main:0"}));
  EXPECT_EQ(universe.ran()[2].command, (Command{"tmux", "send-keys", "-t", "main:0", "Enter"}));
}

TEST_F(SpeakerTest, pastes_no_keys) {
  universe.answers["tmux"] = {};
  EXPECT_EQ(say(ToTerminal{"main:0"},
                "a\x03\x04\r\x7f\xc2\x9b"
                "b\n\tc\xc3\xbc"),
            "said");
  EXPECT_EQ(universe.ran().at(0).input, "a      b\n\tc\xc3\xbc");
}

TEST_F(SpeakerTest, stops_at_the_first_step_that_fails) {
  universe.answers["tmux"] = {.exit = {ExitStatus::How::code, 1}, .error = "no such pane\n"};
  EXPECT_EQ(say(ToTerminal{"main:0"}, "go on"), "'tmux' ended with exit 1: no such pane");
  EXPECT_EQ(universe.ran().size(), 1U);
}

TEST_F(SpeakerTest, fills_in_a_command_and_gives_it_the_text) {
  universe.answers["pass-on"] = {};
  EXPECT_EQ(say(ToCommand{{"pass-on", "--to={agent}", "{id}", "{line}", "{text}"}}, "a {id}"),
            "said");
  ASSERT_EQ(universe.ran().size(), 1U);
  EXPECT_EQ(universe.ran()[0].command,
            (std::vector<std::string>{"pass-on", "--to=chat", "1-ab", "tend ack 1-ab", "a {id}"}));
  EXPECT_EQ(universe.ran()[0].input, "a {id}");
}

TEST_F(SpeakerTest, says_that_a_command_hangs) {
  universe.answers["pass-on"] = {.takes = 1h};
  EXPECT_EQ(say(ToCommand{{"pass-on"}}, "x"), "'pass-on' did not end");
}

TEST_F(SpeakerTest, puts_the_last_question_into_a_file) {
  EXPECT_EQ(say(ToFile{"/home/user/question"}, "first"), "said");
  EXPECT_EQ(say(ToFile{"/home/user/question"}, "second"), "said");
  const auto json = nlohmann::json::parse(universe.disk.read("/home/user/question").value_or(""));
  EXPECT_EQ(json["text"], "second");
  EXPECT_EQ(json["line"], "tend ack 1-ab");
}

}  // namespace
}  // namespace tend
