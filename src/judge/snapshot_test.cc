// A restored judge goes on like the one that was never interrupted; a damaged snapshot is refused.
#include <gtest/gtest.h>

#include "judge/testing.h"

namespace tend {
namespace {

using namespace testing;

std::string snapshot_of_a_busy_judge() {
  Story story;
  story.at(0s, {spawn(), running(), claim("w1")})
      .at(1s, {turn_start()})
      .at(2s, {tool_open("t\xff\x01\"", "Task"), child("c", Verdict::working)})
      .at(5s, {retry(Cause::quota, 900s)})
      .at(7s, {ask("q")});
  return story.judge().snapshot();
}

TEST(Snapshot, reads_back_what_it_wrote_to_the_byte) {
  const std::string written = snapshot_of_a_busy_judge();
  const Result<Judge> judge = Judge::restore(*built_in_policy("agent"), written);
  ASSERT_TRUE(judge.has_value()) << judge.error().text;
  EXPECT_EQ(judge->snapshot(), written);
  EXPECT_EQ(judge->verdict(), Verdict::waiting);
}

TEST(Snapshot, is_one_line_of_ascii) {
  for (const char c : snapshot_of_a_busy_judge()) {
    ASSERT_GE(c, 0x20);
    ASSERT_LT(c, 0x7f);
  }
}

TEST(Snapshot, of_another_version_is_refused_with_what_to_do) {
  const Result<Judge> judge = Judge::restore(*built_in_policy("agent"), R"({"snapshot":2})");
  ASSERT_FALSE(judge.has_value());
  EXPECT_EQ(judge.error().text,
            "a snapshot of version 2 cannot be read, only version 1; use the tend that wrote it");
}

TEST(Snapshot, whose_version_is_a_million_brackets_is_refused) {
  const std::string deep =
      R"({"snapshot":)" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  const Result<Judge> judge = Judge::restore(*built_in_policy("agent"), deep);
  ASSERT_FALSE(judge.has_value());
  EXPECT_EQ(judge.error().text, "the snapshot is damaged: it names no version");
}

TEST(Snapshot, that_is_cut_anywhere_is_refused) {
  const std::string whole = snapshot_of_a_busy_judge();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_FALSE(Judge::restore(*built_in_policy("agent"), whole.substr(0, size)).has_value());
  }
}

TEST(Snapshot, with_a_word_out_of_range_names_the_field) {
  std::string damaged = snapshot_of_a_busy_judge();
  const std::string key = "\"want\":0";
  damaged.replace(damaged.find(key), key.size(), "\"want\":9");
  const Result<Judge> judge = Judge::restore(*built_in_policy("agent"), damaged);
  ASSERT_FALSE(judge.has_value());
  EXPECT_NE(judge.error().text.find("want does not fit"), std::string::npos) << judge.error().text;
}

}  // namespace
}  // namespace tend
