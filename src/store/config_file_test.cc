// Where a policy may come from, with a World in memory.
#include "store/config_file.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class PolicyFromArgument : public testing::Test {
 protected:
  PolicyFromArgument() {
    sim.environment.variables["TEND_HOME"] = "/home/me/tend";
    sim.environment.variables["HOME"] = "/home/me";
    sim.files.contents["/home/me/tend/config.toml"] = "[policy.mine]\nlimits.model = \"1m\"\n";
    sim.files.contents["one.toml"] = "[policy.night]\nlimits.model = \"2m\"\n";
    sim.files.contents["two.toml"] = "[policy.night]\n[policy.day]\nlimits.model = \"3m\"\n";
    sim.files.contents["plainfile"] = "[policy.x]\nlimits.model = \"4m\"\n";
  }

  Duration model_limit(const std::string& argument) {
    World world = sim.world();
    const auto policy = policy_from_argument(argument, world);
    EXPECT_TRUE(policy.has_value()) << policy.error().text;
    return policy.value_or(Policy{}).limits.model;
  }
  std::string error(const std::string& argument) {
    World world = sim.world();
    const auto policy = policy_from_argument(argument, world);
    return policy ? "no error" : policy.error().text;
  }

  SimWorld sim;
};

TEST_F(PolicyFromArgument, takes_a_built_in_name_before_anything_else) {
  sim.files.contents["worker"] = "[policy.x]\nlimits.model = \"4m\"\n";
  EXPECT_EQ(model_limit("worker"), 720s);
}

TEST_F(PolicyFromArgument, takes_a_file_with_one_policy) {
  EXPECT_EQ(model_limit("one.toml"), 2min);
  EXPECT_EQ(model_limit("plainfile"), 4min);
}

TEST_F(PolicyFromArgument, takes_one_policy_of_a_file) {
  EXPECT_EQ(model_limit("two.toml:day"), 3min);
  EXPECT_EQ(model_limit("two.toml:agent"), 720s);
  EXPECT_EQ(model_limit("plainfile:x"), 4min);
}

TEST_F(PolicyFromArgument, takes_a_name_of_the_users_configuration) {
  EXPECT_EQ(model_limit("mine"), 1min);
}

TEST_F(PolicyFromArgument, takes_a_path_with_a_colon_in_it) {
  sim.files.contents["/a:b/one.toml"] = "[policy.x]\nlimits.model = \"5m\"\n";
  EXPECT_EQ(model_limit("/a:b/one.toml"), 5min);
  EXPECT_EQ(model_limit("/a:b/one.toml:x"), 5min);
}

TEST_F(PolicyFromArgument, does_not_take_a_folder_for_a_file) {
  sim.files.broken["mine"] = "Is a directory";
  EXPECT_EQ(model_limit("mine"), 1min);
}

TEST_F(PolicyFromArgument, asks_which_of_several_is_meant) {
  EXPECT_EQ(error("two.toml"),
            "two.toml: has several policies; say two.toml:NAME with one of: day, night");
}

TEST_F(PolicyFromArgument, lists_what_a_file_has) {
  EXPECT_EQ(
      error("two.toml:nigth"),
      "two.toml: no policy 'nigth'; there are: agent, worker, critical, overnight, plain, day, "
      "night; did you mean 'night'?");
}

TEST_F(PolicyFromArgument, lists_what_the_user_has) {
  EXPECT_EQ(error("min"),
            "/home/me/tend/config.toml: no policy 'min'; there are: agent, worker, critical, "
            "overnight, plain, mine; did you mean 'mine'?");
}

TEST_F(PolicyFromArgument, says_where_own_policies_go_when_there_are_none) {
  sim.files.contents.clear();
  EXPECT_EQ(error("workr"),
            "no policy 'workr'; there are: agent, worker, critical, overnight, plain; your own go "
            "into /home/me/tend/config.toml; did you mean 'worker'?");
}

TEST_F(PolicyFromArgument, says_what_is_wrong_with_a_file_in_one_line) {
  sim.files.contents["bad.toml"] = "[policy.p]\nlimits.x = 1\nlimits.y = 2\n";
  EXPECT_EQ(error("missing.toml"), "cannot open missing.toml: No such file or directory");
  EXPECT_EQ(error("./missing"), "cannot open ./missing: No such file or directory");
  sim.files.contents["empty.toml"] = "";
  EXPECT_EQ(error("empty.toml"), "empty.toml: has no policy; write [policy.NAME]");
  const std::string bad = error("bad.toml");
  EXPECT_EQ(bad.find("bad.toml:2: policy.p.limits.x: no such limit"), 0U) << bad;
  EXPECT_NE(bad.find("(and 1 more: tend config check bad.toml)"), std::string::npos) << bad;
}

TEST_F(PolicyFromArgument, never_reads_standard_input) {
  sim.files.contents["-"] = "[policy.x]\n";
  EXPECT_NE(error("-").find("no policy '-'"), std::string::npos);
}

TEST(DefaultConfigPath, prefers_tend_home_then_xdg_then_home) {
  SimEnvironment environment;
  EXPECT_FALSE(default_config_path(environment).has_value());
  environment.variables["HOME"] = "/home/me";
  EXPECT_EQ(*default_config_path(environment), "/home/me/.local/state/tend/config.toml");
  environment.variables["XDG_STATE_HOME"] = "relative/is/void";
  EXPECT_EQ(*default_config_path(environment), "/home/me/.local/state/tend/config.toml");
  environment.variables["XDG_STATE_HOME"] = "/state";
  EXPECT_EQ(*default_config_path(environment), "/state/tend/config.toml");
  environment.variables["TEND_HOME"] = "";
  EXPECT_EQ(*default_config_path(environment), "/state/tend/config.toml");
  environment.variables["TEND_HOME"] = "/tend";
  EXPECT_EQ(*default_config_path(environment), "/tend/config.toml");
}

TEST(LoadConfig, reads_in_pieces_and_stops_past_the_largest) {
  SimFiles files;
  files.piece = 3;
  files.contents["a.toml"] = "[policy.p]\nlimits.model = \"1m\"\n";
  files.contents["huge.toml"] = std::string(3'000'000, '#');
  EXPECT_EQ(load_config("a.toml", files)->policies.size(), 1U);
  EXPECT_EQ(describe(load_config("huge.toml", files).error().front()),
            "huge.toml: larger than 1 MB; a configuration is a few kilobytes");
}

TEST_F(PolicyFromArgument, comes_with_the_rest_of_the_users_configuration) {
  World world = sim.world();
  sim.files.contents["/home/me/tend/config.toml"] += "[tasks]\nbeads = [\"bd\"]\n";
  EXPECT_EQ(user_config(world)->beads, std::vector<std::string>{"bd"});
  sim.files.contents.erase("/home/me/tend/config.toml");
  EXPECT_TRUE(user_config(world)->policies.empty());
  sim.files.contents["/home/me/.local/state/tend/config.toml"] = "[tasks]\nbeads = [\"b\"]\n";
  EXPECT_EQ(user_config(world)->beads, std::vector<std::string>{"b"}) << "the home has none";
  sim.files.contents["/home/me/tend/config.toml"] = "[patrol]\ninterval = 0\n";
  EXPECT_EQ(user_config(world).error().text,
            "/home/me/tend/config.toml:2: patrol.interval: must be above 0; see `tend config "
            "check`");
}

}  // namespace
}  // namespace tend
