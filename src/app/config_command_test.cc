// What `tend config check` prints, where, and how it exits.
#include "app/config_command.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

class ConfigCheck : public testing::Test {
 protected:
  int check(std::vector<std::string> files, bool json = false) {
    Arguments arguments;
    arguments.positionals = std::move(files);
    if (json) arguments.options["json"] = {};
    World world = sim.world();
    return config_check_command(arguments, world);
  }

  SimWorld sim;
};

TEST_F(ConfigCheck, says_that_all_is_well) {
  sim.files.contents["night.toml"] = "[policy.night]\n[policy.day]\n";
  EXPECT_EQ(check({"night.toml"}), kExitYes);
  EXPECT_EQ(sim.out.text, "night.toml: 2 policies, all well\n");
  EXPECT_EQ(sim.err.text, "");
}

TEST_F(ConfigCheck, counts_in_words) {
  sim.files.contents["one.toml"] = "[policy.night]\n";
  sim.files.contents["none.toml"] = "[tasks]\n";
  sim.files.contents["way.toml"] = "[[notify]]\nname = \"screen\"\ndesktop = true\n";
  check({"one.toml"});
  check({"none.toml"});
  check({"way.toml"});
  EXPECT_EQ(sim.out.text,
            "one.toml: 1 policy, all well\nnone.toml: no policies, all well\n"
            "way.toml: no policies, 1 channel, all well\n");
}

TEST_F(ConfigCheck, prints_warnings_and_exits_0) {
  sim.files.contents["night.toml"] = "[policy.night]\nlimits.grace = 0\n";
  EXPECT_EQ(check({"night.toml"}), kExitYes);
  EXPECT_EQ(
      sim.out.text,
      "night.toml:2: warning: policy.night.limits.grace: 0 leaves an orphan no time to end by "
      "itself\n"
      "night.toml: 1 policy, 1 warning\n");
}

TEST_F(ConfigCheck, prints_every_error_and_exits_2) {
  sim.files.contents["night.toml"] = "[policy.night]\nbeat = 0\ndirect = 1\n";
  EXPECT_EQ(check({"night.toml"}), kExitUsage);
  EXPECT_EQ(sim.out.text, "");
  EXPECT_EQ(sim.err.text,
            "night.toml:2: policy.night.beat: must be above 0\n"
            "night.toml:3: policy.night.direct: must be true or false, not an integer\n");
}

TEST_F(ConfigCheck, looks_for_the_users_own_file) {
  sim.environment.variables["TEND_HOME"] = "/tend";
  sim.files.contents["/tend/config.toml"] = "[policy.night]\n";
  EXPECT_EQ(check({}), kExitYes);
  EXPECT_EQ(sim.out.text, "/tend/config.toml: 1 policy, all well\n");
}

TEST_F(ConfigCheck, says_what_to_do_when_there_is_none) {
  EXPECT_EQ(check({}), kExitUsage);
  sim.environment.variables["HOME"] = "/home/me";
  EXPECT_EQ(check({}), kExitUsage);
  EXPECT_EQ(sim.err.text,
            "no place for a configuration: set TEND_HOME or HOME, or name a FILE\n"
            "cannot open /home/me/.local/state/tend/config.toml: No such file or directory; write "
            "your policies there, or name a FILE\n");
}

TEST_F(ConfigCheck, prints_one_json_object) {
  sim.files.contents["bad.toml"] = "[policy.night]\nbeat = 0\n";
  sim.files.contents["odd.toml"] = "[policy.night]\nlimits.grace = 0\n";
  EXPECT_EQ(check({"bad.toml"}, true), kExitUsage);
  EXPECT_EQ(check({"odd.toml"}, true), kExitYes);
  EXPECT_EQ(sim.out.text, R"({"file":"bad.toml","errors":[{"line":2,"key":"policy.night.beat",)"
                          R"("text":"must be above 0"}],"warnings":[]})"
                          "\n"
                          R"({"file":"odd.toml","errors":[],"warnings":[{"line":2,)"
                          R"("key":"policy.night.limits.grace",)"
                          R"("text":"0 leaves an orphan no time to end by itself"}]})"
                          "\n");
  EXPECT_EQ(sim.err.text, "");
}

TEST_F(ConfigCheck, survives_a_path_that_is_no_utf8) {
  EXPECT_EQ(check({"\xff.toml"}, true), kExitUsage);
  EXPECT_NE(sim.out.text.find("\"errors\":[{"), std::string::npos);
}

}  // namespace
}  // namespace tend
