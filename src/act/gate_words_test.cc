// What senders are told, from the payload to the words in their language.
#include "act/gate_words.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tend {
namespace {

const GateNews kNews{.agent = "claude",
                     .outage = 3,
                     .why = "stalled",
                     .at = 1773002269.25,
                     .language = "en",
                     .texts = {{"en", "It is down."}, {"zh", "系统异常，正在尝试恢复"}}};

TEST(GateWords, have_everything_that_a_sender_may_be_told) {
  const auto json = nlohmann::json::parse(auto_reply_payload(kNews));
  const nlohmann::json expected = {
      {"gate", "auto-reply"},
      {"agent", "claude"},
      {"outage", 3},
      {"why", "stalled"},
      {"at", 1773002269.25},
      {"language", "en"},
      {"texts", {{"en", "It is down."}, {"zh", "系统异常，正在尝试恢复"}}}};
  EXPECT_EQ(json, expected);
  EXPECT_EQ(nlohmann::json::parse(all_clear_payload(kNews))["gate"], "all-clear");
}

TEST(GateWords, name_the_messages_that_were_not_delivered) {
  const std::string payload = undelivered_payload(kNews, {7, 9});
  EXPECT_EQ(gate_words(payload, "en")->gate, kUndelivered);
  EXPECT_TRUE(gate_words(payload, "en")->text.contains("message 7, 9."));
  EXPECT_TRUE(gate_words(payload, "zh-CN")->text.contains("消息 7, 9 未送达"));
  EXPECT_EQ(nlohmann::json::parse(payload)["agent"], "claude");
}

TEST(GateWords, leave_out_what_is_not_known) {
  const auto json = nlohmann::json::parse(all_clear_payload({.language = "en"}));
  EXPECT_FALSE(json.contains("outage"));
  EXPECT_FALSE(json.contains("why"));
  EXPECT_EQ(json["agent"], "");
}

TEST(GateWords, are_in_the_language_of_the_sender_or_the_next_best) {
  const std::string payload = auto_reply_payload(kNews);
  EXPECT_EQ(gate_words(payload, "zh")->text, "系统异常，正在尝试恢复");
  EXPECT_EQ(gate_words(payload, "en")->text, "It is down.");
  EXPECT_EQ(gate_words(payload, "zh-CN")->text, "系统异常，正在尝试恢复");
  EXPECT_EQ(gate_words(payload, "fr")->text, "It is down.") << "the language of the configuration";
  EXPECT_EQ(gate_words(payload, "")->text, "It is down.");
  EXPECT_EQ(gate_words(payload, "zh")->gate, kAutoReply);
  EXPECT_EQ(gate_words(all_clear_payload(kNews), "zh")->gate, kAllClear);
  GateNews other = kNews;
  other.language = "de";
  EXPECT_EQ(gate_words(auto_reply_payload(other), "fr")->text, "It is down.");
}

TEST(GateWords, are_in_no_other_payload) {
  for (const char* const payload :
       {"", "[1]", "{}", R"({"gate":"auto-reply"})", R"({"gate":"auto-reply","texts":[]})",
        R"({"gate":"auto-reply","texts":{}})", R"({"gate":1,"texts":{"en":"x"}})",
        R"({"gate":"auto-reply","language":7,"texts":{"en":7}})"}) {
    EXPECT_FALSE(gate_words(payload, "en")) << payload;
  }
}

}  // namespace
}  // namespace tend
