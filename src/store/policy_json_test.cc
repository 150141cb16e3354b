// A policy out of JSON is the very one that went in, or is refused.
#include "store/policy_json.h"

#include <gtest/gtest.h>

#include <chrono>

#include "store/config.h"

namespace tend {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PolicyJson, gives_back_every_built_in_policy) {
  for (const std::string_view name : kBuiltInPolicies) {
    const Policy policy = *built_in_policy(name);
    EXPECT_EQ(parse_policy_json(format_policy_json(policy)), policy) << name;
  }
}

TEST(PolicyJson, gives_back_a_configured_policy) {
  const auto config = parse_config(R"(
    [policy.night]
    extends = "overnight"
    beat = "45s"
    direct = true
    limits = { start = "11m", model = "none", confirm = "0s", beats = ["10m", "20m"] }
    budget = { between_refills = 2, per_agent = 5, refill_after = "1h" }
    ladder = [ { missed = 2, do = "warn" }, { after = "5m", do = "escalate" } ]
  )",
                                   "night.toml");
  if (!config) GTEST_FAIL() << describe(config.error().front());
  const Policy policy = config->find("night").value();
  ASSERT_EQ(policy.ladder.size(), 2U);
  EXPECT_EQ(parse_policy_json(format_policy_json(policy)), policy);
}

TEST(PolicyJson, gives_back_a_policy_that_limits_an_unseen_rest) {
  Policy policy = *built_in_policy("worker");
  policy.promise = Promise::watched;
  policy.unseen_rest = std::chrono::minutes{40};
  EXPECT_EQ(parse_policy_json(format_policy_json(policy)), policy);
  const std::string text = format_policy_json(policy);
  ASSERT_NE(text.find("\"unseen_rest_ms\":2400000"), std::string::npos) << text;
  EXPECT_FALSE(parse_policy_json(
      replaced(text, "\"unseen_rest_ms\":2400000", "\"unseen_rest_ms\":\"long\"")));
}

TEST(PolicyJson, refuses_what_no_policy_can_have) {
  const std::string good = format_policy_json(*built_in_policy("agent"));
  const auto error = [&](const std::string& from, const std::string& to) {
    const auto policy = parse_policy_json(replaced(good, from, to));
    return policy ? "no error" : policy.error().text;
  };
  EXPECT_EQ(error("\"stream\"", "\"streams\""), "the policy's promise does not fit");
  EXPECT_EQ(error("\"model\":720000", "\"model\":0"), "the policy's model does not fit");
  EXPECT_EQ(error("\"model\":720000", "\"modell\":720000"), "the policy's model does not fit");
  EXPECT_EQ(error("\"person\":3600000", "\"person\":null"), "the policy's person does not fit");
  EXPECT_EQ(error("\"tool\":900000", "\"tool\":1e99"), "the policy's tool does not fit");
  EXPECT_EQ(error("[120000,300000]", "[120000]"), "the policy's beats does not fit");
  EXPECT_EQ(error("\"per_agent\":9", "\"per_agent\":4294967296"),
            "the policy's budget does not fit");
  EXPECT_EQ(error("\"ladder\":[]", R"("ladder":[{"after_ms":1,"missed":0,"action":"sing"}])"),
            "the policy's ladder does not fit");
  EXPECT_EQ(error("\"ladder\":[]", R"("ladder":[{"after_ms":2,"missed":0,"action":"warn"},)"
                                   R"({"after_ms":1,"missed":0,"action":"warn"}])"),
            "the policy's ladder does not fit");
  EXPECT_EQ(error("\"direct\":false", "\"direct\":0"), "the policy's direct does not fit");
  EXPECT_EQ(error("\"name\":\"agent\"", "\"name\":5"), "the policy's name does not fit");
  EXPECT_EQ(parse_policy_json("what").error().text, "the policy is no JSON object");
}

}  // namespace
}  // namespace tend
