// `[lease.NAME]` of the configuration.
#include <gtest/gtest.h>

#include <string>

#include "store/config.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(ConfigLease, reads_what_a_lease_is_like) {
  const auto config = parse_config(
      "[lease.orchestrator]\nttl = \"5m\"\nmirror = \"~/hyrm/orchestrator-state.json\"\n"
      "agent = \"boss\"\n[lease.nightly]\n",
      "c.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(
      config->leases.at("orchestrator"),
      (LeaseSettings{.ttl = 5min, .mirror = "~/hyrm/orchestrator-state.json", .agent = "boss"}));
  EXPECT_EQ(config->leases.at("nightly"), LeaseSettings{});
}

TEST(ConfigLease, says_what_is_wrong) {
  const auto text = [](const std::string& toml) {
    const auto config = parse_config(toml, "c.toml");
    std::string all;
    if (config) return all;
    for (const ConfigProblem& problem : config.error()) all += describe(problem) + "\n";
    return all;
  };
  EXPECT_EQ(text("[lease.a]\nttl = \"2s\"\n"),
            "c.toml:2: lease.a.ttl: 2s is not between 3s and 1d\n");
  EXPECT_TRUE(text("[lease.a]\ntll = \"2s\"\n").contains("did you mean 'ttl'?"));
  EXPECT_TRUE(text("[lease]\na = 1\n").contains("lease.a"));
  EXPECT_TRUE(text("[lease.\"a b\"]\n").contains("is no name of a lease"));
}

}  // namespace
}  // namespace tend
