// What of a program's output is new, and what only looks so.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sense/adapter.h"

namespace tend {
namespace {

using namespace std::string_literals;

class LineAdapterTest : public testing::Test {
 protected:
  /// The signals of one moment: "progress noise".
  std::string at_once(std::initializer_list<std::string_view> lines) {
    SignalBatch batch;
    for (const std::string_view line : lines) adapter->take(line, {}, batch);
    std::string text;
    for (const Signal& signal : batch.signals) {
      text += (text.empty() ? "" : " ") + std::string(word(signal.is));
    }
    return text;
  }
  std::string see(std::string_view line) { return at_once({line}); }

  std::unique_ptr<Adapter> adapter = make_line_adapter();
};

TEST_F(LineAdapterTest, takes_what_is_new_for_progress_and_what_repeats_for_noise) {
  EXPECT_EQ(see("compiling a.cc"), "progress");
  EXPECT_EQ(see("compiling b.cc"), "progress");
  EXPECT_EQ(see("compiling a.cc"), "noise");
  EXPECT_EQ(see("compiling b.cc"), "noise");
}

TEST_F(LineAdapterTest, takes_blank_lines_for_noise) {
  for (const std::string_view line : {""s, "  "s, " \t "s, "\r"s, "\0\0\0"s, "\x1b[2K\x1b[0m"s}) {
    EXPECT_EQ(see(line), "noise") << line;
  }
}

TEST_F(LineAdapterTest, remembers_the_last_256_distinct_lines) {
  for (int i = 0; i < 257; ++i) EXPECT_EQ(see("line " + std::to_string(i)), "progress");
  EXPECT_EQ(see("line 1"), "noise");
  EXPECT_EQ(see("line 0"), "progress") << "the oldest was forgotten";
  EXPECT_EQ(see("line 1"), "noise") << "seen again lately";
  EXPECT_EQ(see("line 2"), "progress");
}

TEST_F(LineAdapterTest, forgets_everything_with_the_life) {
  EXPECT_EQ(see("hello"), "progress");
  adapter->begin_life();
  EXPECT_EQ(see("hello"), "progress");
}

TEST_F(LineAdapterTest, sees_through_a_spinner) {
  EXPECT_EQ(see("| wait\r/ wait\r- wait\r\\ wait"), "progress");
  EXPECT_EQ(see("- wait\r\\ wait\r| wait"), "noise");
  EXPECT_EQ(see("- wait\r\\ wait\rdone"), "progress");
}

TEST_F(LineAdapterTest, does_not_take_colours_for_news) {
  EXPECT_EQ(see("ok"), "progress");
  for (const std::string_view line :
       {"\x1b[32mok\x1b[0m"s, "\x1b[38;5;196mok"s, "\x1b]0;a title\aok"s,
        "\x1b]8;;http://x\x1b\\ok\x1b]8;;\x1b\\"s, "\x1b(Bok"s,
        "\x1b"
        "7ok\x1b"
        "8"s,
        "\x1bPq#0\x1b\\ok"s, "o\0k"s, "ok\x1b"s, "ok\x1b["s}) {
    EXPECT_EQ(see(line), "noise") << line;
  }
}

TEST_F(LineAdapterTest, does_not_lose_text_behind_a_broken_sequence) {
  EXPECT_EQ(see("\x1b]0;never ended one"), "progress");
  EXPECT_EQ(see("\x1b]0;never ended two"), "progress");
  EXPECT_EQ(see("\x1b[1;\xc3\xa4rger"), "progress");
}

TEST_F(LineAdapterTest, makes_one_signal_of_a_flood) {
  EXPECT_EQ(at_once({"", "", ""}), "noise");
  EXPECT_EQ(at_once({"", "new", "", "newer"}), "progress");
}

TEST_F(LineAdapterTest, leaves_the_signals_of_others_alone) {
  SignalBatch batch;
  batch.signals.emplace_back().is = Kind::noise;
  batch.signals.back().life = 3;
  adapter->take("x", {}, batch);
  ASSERT_EQ(batch.signals.size(), 2U);
  EXPECT_EQ(batch.signals[0].is, Kind::noise);
  EXPECT_EQ(batch.signals[1].is, Kind::progress);
}

TEST_F(LineAdapterTest, reads_a_long_line_of_escapes_in_one_pass) {
  std::string line;
  for (int i = 0; i < 2'000'000; ++i) line += "\x1b]";
  EXPECT_EQ(see(line), "noise");
}

}  // namespace
}  // namespace tend
