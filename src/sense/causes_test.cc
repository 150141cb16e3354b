// What the agents' messages about their providers mean.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "sense/causes.h"

namespace tend {
namespace {

TEST(CauseOfStatus, knows_what_http_says_about_a_provider) {
  for (const auto& [status, cause] : {std::pair{401, Cause::auth},
                                      {403, Cause::auth},
                                      {402, Cause::quota},
                                      {408, Cause::network},
                                      {429, Cause::rate},
                                      {500, Cause::overload},
                                      {503, Cause::overload},
                                      {529, Cause::overload},
                                      {599, Cause::overload},
                                      {600, Cause::none},
                                      {200, Cause::none},
                                      {400, Cause::none},
                                      {404, Cause::none},
                                      {0, Cause::none},
                                      {-529, Cause::none}}) {
    EXPECT_EQ(cause_of_status(status), cause) << status;
  }
}

TEST(CauseOfMessage, knows_the_words_that_agents_use) {
  for (const auto& [message, cause] :
       {std::pair<std::string_view, Cause>{"Your credit balance is too low", Cause::quota},
        {"You've hit your usage limit. Upgrade to Pro", Cause::quota},
        {"Rate limit reached for requests", Cause::rate},
        {"RESOURCE_EXHAUSTED", Cause::rate},
        {"{\"type\":\"overloaded_error\"}", Cause::overload},
        {"We're currently experiencing high demand", Cause::overload},
        {"Invalid API key", Cause::auth},
        {"OAuth token has expired", Cause::auth},
        {"ProviderAuthError", Cause::auth},
        {"Request timed out.", Cause::network},
        {"stream disconnected before completion", Cause::network},
        {"TypeError: fetch failed", Cause::network},
        {"something else", Cause::none},
        {"", Cause::none}}) {
    EXPECT_EQ(cause_of_message(message), cause) << message;
  }
}

TEST(CauseOfMessage, takes_words_before_numbers_and_the_narrower_word_first) {
  EXPECT_EQ(cause_of_message("429: You exceeded your current quota"), Cause::quota);
  EXPECT_EQ(cause_of_message("500 connection reset"), Cause::network);
}

TEST(CauseOfMessage, finds_a_status_that_stands_alone) {
  EXPECT_EQ(cause_of_message("API Error: 529 ..."), Cause::overload);
  EXPECT_EQ(cause_of_message("(429)"), Cause::rate);
  EXPECT_EQ(cause_of_message("503"), Cause::overload);
  EXPECT_EQ(cause_of_message("first 200, then 401"), Cause::auth);
  EXPECT_EQ(cause_of_message("after 1429 ms"), Cause::none);
  EXPECT_EQ(cause_of_message("4290 bytes"), Cause::none);
  EXPECT_EQ(cause_of_message("42"), Cause::none);
}

TEST(CauseOfMessage, reads_only_the_beginning_of_a_long_one) {
  EXPECT_EQ(cause_of_message(std::string(1990, 'x') + " overloaded"), Cause::none);
  EXPECT_EQ(cause_of_message("overloaded" + std::string(16'000'000, '5')), Cause::overload);
}

}  // namespace
}  // namespace tend
