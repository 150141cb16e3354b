// The commands on settings files: theirs and the working folder's.
#include "app/hooks_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/dispatch.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

using Words = std::vector<std::string_view>;

class HooksCommand : public testing::Test {
 protected:
  void SetUp() override { sim.environment.variables["HOME"] = "/home/u"; }

  int run(const Words& words) {
    sim.out.text.clear();
    sim.err.text.clear();
    World world = sim.world();
    return dispatch(commands(), words, world);
  }

  const std::string kFile = "/home/u/.claude/settings.json";
  const std::string kBackup = kFile + ".tend-backup";
  SimWorld sim;
};

TEST_F(HooksCommand, installs_once_and_uninstalls_to_the_last_byte) {
  const std::string before = "{ \"model\":\"opus\",\n\"list\":[1,2] }";
  sim.files.contents[kFile] = before;
  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitYes) << sim.err.text;
  EXPECT_EQ(sim.files.contents[kBackup], before);
  const std::string after = sim.files.contents[kFile];
  EXPECT_NE(after.find(" hook claude\""), std::string::npos) << after;
  EXPECT_NE(after.find("\"opus\""), std::string::npos);

  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitYes);
  EXPECT_EQ(sim.out.text, kFile + ": all hooks are there already\n");
  EXPECT_EQ(sim.files.contents[kFile], after);

  EXPECT_EQ(run({"hooks", "uninstall", "claude"}), kExitYes);
  EXPECT_EQ(sim.files.contents[kFile], before);
  EXPECT_FALSE(sim.files.contents.contains(kBackup));
  EXPECT_EQ(run({"hooks", "uninstall", "claude"}), kExitYes);
  EXPECT_EQ(sim.out.text, kFile + ": it has no hook of ours\n");
}

TEST_F(HooksCommand, leaves_no_file_where_there_was_none) {
  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitYes) << sim.err.text;
  EXPECT_TRUE(sim.files.contents.contains(kFile));
  EXPECT_FALSE(sim.files.contents.contains(kBackup));
  EXPECT_EQ(run({"hooks", "uninstall", "claude"}), kExitYes);
  EXPECT_TRUE(sim.files.contents.empty());
}

TEST_F(HooksCommand, keeps_what_was_written_since_and_the_backup_with_it) {
  sim.files.contents[kFile] = "{\"a\":1}";
  ASSERT_EQ(run({"hooks", "install", "claude"}), kExitYes);
  std::string& text = sim.files.contents[kFile];
  text.replace(text.find("\"a\":1"), 5, "\"a\":2");
  EXPECT_EQ(run({"hooks", "uninstall", "claude"}), kExitYes);
  EXPECT_EQ(sim.files.contents[kFile], "{\"a\":2}");
  EXPECT_EQ(sim.files.contents[kBackup], "{\"a\":1}");
}

TEST_F(HooksCommand, shows_a_change_without_making_it) {
  sim.files.contents[kFile] = "{\n  \"a\": 1\n}\n";
  EXPECT_EQ(run({"hooks", "install", "claude", "--dry-run"}), kExitYes);
  EXPECT_TRUE(sim.out.text.starts_with("--- " + kFile + "\n+++ " + kFile + "\n")) << sim.out.text;
  EXPECT_NE(sim.out.text.find("\n-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n"), std::string::npos)
      << sim.out.text;
  EXPECT_EQ(sim.files.contents.size(), 1U);
  EXPECT_EQ(sim.files.contents[kFile], "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(run({"hooks", "uninstall", "claude", "--dry-run"}), kExitYes);
  EXPECT_EQ(sim.out.text, kFile + ": nothing would change\n");
}

TEST_F(HooksCommand, refuses_what_is_no_json_and_changes_nothing) {
  const std::string bad = "{\n  \"a\": 1 // one\n}";
  sim.files.contents[kFile] = bad;
  for (const char* word : {"install", "uninstall"}) {
    EXPECT_EQ(run({"hooks", word, "claude"}), kExitNo);
    EXPECT_EQ(sim.err.text, "tend hooks " + std::string(word) + ": " + kFile +
                                ": line 2, column 10: it is no JSON\n");
  }
  EXPECT_EQ(sim.files.contents.size(), 1U);
  EXPECT_EQ(sim.files.contents[kFile], bad);
  EXPECT_EQ(run({"hooks", "status"}), kExitNo);
  EXPECT_NE(sim.out.text.find("claude  user     unknown: " + kFile + ": line 2"), std::string::npos)
      << sim.out.text;
}

TEST_F(HooksCommand, says_what_the_system_said) {
  sim.files.contents[kFile] = "{}";
  sim.files.full = true;
  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitNo);
  EXPECT_EQ(sim.err.text,
            "tend hooks install: cannot write " + kBackup + ": No space left on device\n");
  sim.files.broken[kFile] = "Permission denied";
  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitNo);
  EXPECT_EQ(sim.err.text, "tend hooks install: cannot read " + kFile + ": Permission denied\n");
}

TEST_F(HooksCommand, knows_where_each_agent_looks) {
  ASSERT_EQ(run({"hooks", "install", "codex"}), kExitYes);
  EXPECT_NE(sim.out.text.find("/hooks"), std::string::npos) << "codex wants them trusted";
  ASSERT_EQ(run({"hooks", "install", "gemini"}), kExitYes);
  EXPECT_TRUE(sim.files.contents.contains("/home/u/.codex/hooks.json"));
  EXPECT_TRUE(sim.files.contents.contains("/home/u/.gemini/settings.json"));

  sim.environment.variables["CLAUDE_CONFIG_DIR"] = "/c";
  sim.environment.variables["CODEX_HOME"] = "/x";
  ASSERT_EQ(run({"hooks", "install", "claude"}), kExitYes);
  ASSERT_EQ(run({"hooks", "install", "codex"}), kExitYes);
  EXPECT_TRUE(sim.files.contents.contains("/c/settings.json"));
  EXPECT_TRUE(sim.files.contents.contains("/x/hooks.json"));

  sim.environment.variables.clear();
  EXPECT_EQ(run({"hooks", "install", "claude"}), kExitNo);
  EXPECT_NE(sim.err.text.find("HOME is not set"), std::string::npos) << sim.err.text;
}

TEST_F(HooksCommand, keeps_a_projects_settings_apart) {
  const auto here = sim.machines.machine().folders.working_folder();
  ASSERT_TRUE(here);
  ASSERT_EQ(run({"hooks", "install", "claude", "--project"}), kExitYes) << sim.err.text;
  EXPECT_TRUE(sim.files.contents.contains((*here == "/" ? "" : *here) + "/.claude/settings.json") ||
              sim.files.contents.contains(*here + "/.claude/settings.json"));
  EXPECT_FALSE(sim.files.contents.contains(kFile));
  ASSERT_EQ(run({"hooks", "status", "--json"}), kExitYes);
  EXPECT_NE(sim.out.text.find(R"({"agent":"claude","scope":"user")"), std::string::npos);
  EXPECT_NE(sim.out.text.find(R"("scope":"project","file":)"), std::string::npos);
  EXPECT_NE(sim.out.text.find(R"("installed":"yes","events":14,"of":14)"), std::string::npos)
      << sim.out.text;
}

TEST_F(HooksCommand, shows_what_is_there_in_part) {
  sim.files.contents[kFile] =
      R"({"hooks":{"Stop":[{"hooks":[{"command":"/o/tend hook claude"}]}]}})";
  EXPECT_EQ(run({"hooks", "status"}), kExitYes);
  EXPECT_NE(sim.out.text.find("claude  user     partly (1 of 14; tend hooks install claude "
                              "completes it)  " +
                              kFile + "  /o/tend\n"),
            std::string::npos)
      << sim.out.text;
}

}  // namespace
}  // namespace tend
