// `tend hook` in a folder as a keeper makes it, in one that is watched, and where there is neither.
#include "app/hook_command.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/dispatch.h"
#include "app/hook_watched.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string_view>;

const std::string kActivity = "{\"is\":\"activity\",\"from\":\"log\",\"life\":1}\n";
const std::string kTurnStart = "{\"is\":\"turn-start\",\"life\":1}\n";

class HookCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tend_hook_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    write(".lock", R"({"life":1})" + std::string(1000, ' ') + "\n");
    write(".heartbeat", R"({"status":"running","life":1})");
    sim.caller.given = R"({"hook_event_name":"UserPromptSubmit"})";
    ::setenv("TEND_INFRA", folder.c_str(), 1);
    ::setenv("TEND_LIFE", "1", 1);
  }
  void TearDown() override {
    for (const char* name : {"TEND_INFRA", "TEND_LIFE"}) ::unsetenv(name);
    fs::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    fs::permissions(folder / name, fs::perms::owner_read | fs::perms::owner_write);
  }
  std::string signals() const {
    std::ifstream in(folder / "signals.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// What a call wrote; it must have been quiet and gone well.
  std::string hear(const Words& words = {"hook", "claude"}) {
    World world = sim.world();
    EXPECT_EQ(hook_quickly(words, world), 0);
    EXPECT_EQ(sim.out.text, "");
    EXPECT_EQ(sim.err.text, "");
    const std::string heard = signals();
    fs::remove(folder / "signals.jsonl");
    return heard;
  }
  /// The process of that name and number is watched, and this folder is its.
  void watch_process(std::int64_t pid) {
    ::unsetenv("TEND_INFRA");
    sim.environment.variables["TEND_HOME"] = "/home/tend";
    sim.files.contents["/home/tend/watched/" + std::to_string(pid) + "-9"] = folder.string() + "\n";
  }

  fs::path folder;
  SimWorld sim;
};

Ancestor process(std::int64_t pid, const std::string& name) {
  return {.pid = pid, .start_ticks = 9, .name = name};
}

TEST_F(HookCommand, tells_the_keeper_that_the_environment_names) {
  EXPECT_EQ(hear(), kTurnStart);
  EXPECT_EQ(hear({"hook", "--verbose", "codex"}), kTurnStart);
}

TEST_F(HookCommand, says_the_same_by_the_table) {
  World world = sim.world();
  EXPECT_EQ(dispatch(commands(), Words{"hook", "claude"}, world), 0);
  EXPECT_EQ(signals(), kTurnStart);
  EXPECT_EQ(sim.out.text + sim.err.text, "");
}

TEST_F(HookCommand, never_fails_and_never_speaks_to_the_agent) {
  World world = sim.world();
  for (const Words& words : {Words{"hook"}, Words{"hook", "emacs"}, Words{"hook", "--fast"}}) {
    sim.err.text.clear();
    EXPECT_EQ(hook_quickly(words, world), 0);
    EXPECT_TRUE(sim.err.text.starts_with("tend hook: AGENT is claude, codex or gemini"))
        << words.back();
  }
  EXPECT_EQ(sim.out.text, "");
  EXPECT_EQ(signals(), "");
}

TEST_F(HookCommand, is_quiet_when_its_life_is_over_unless_asked) {
  write(".lock", R"({"life":2})" + std::string(1000, ' ') + "\n");
  EXPECT_EQ(hear(), "");
  World world = sim.world();
  EXPECT_EQ(hook_quickly(Words{"hook", "claude", "--verbose"}, world), 0);
  EXPECT_NE(sim.err.text.find("life 2 runs now"), std::string::npos) << sim.err.text;
}

TEST_F(HookCommand, leaves_help_and_other_commands_to_the_table) {
  World world = sim.world();
  for (const Words& words :
       {Words{}, Words{"beat"}, Words{"hooks", "status"}, Words{"hook", "claude", "--help"}}) {
    EXPECT_EQ(hook_quickly(words, world), std::nullopt);
  }
}

TEST_F(HookCommand, takes_too_much_input_for_a_weak_sign) {
  sim.caller.given = std::string(std::size_t{17} * 1024 * 1024, ' ');
  EXPECT_EQ(hear(), kActivity);
}

TEST_F(HookCommand, leaves_to_the_stream_what_the_stream_says) {
  for (const char* word : {"claude", "auto"}) {
    sim.environment.variables["TEND_ADAPTER"] = word;
    EXPECT_EQ(hear(), kActivity) << word;
  }
  for (const char* word : {"lines", "none", ""}) {
    sim.environment.variables["TEND_ADAPTER"] = word;
    EXPECT_EQ(hear(), kTurnStart) << word;
  }
}

TEST_F(HookCommand, does_nothing_outside_of_any_agent) {
  ::unsetenv("TEND_INFRA");
  sim.caller.above = {process(30, "claude"), process(1, "init")};
  EXPECT_EQ(hear(), "");
}

TEST_F(HookCommand, finds_the_watched_session_above_it) {
  watch_process(20);
  sim.caller.above = {process(31, "sh"), process(30, "claude"), process(20, "bash")};
  EXPECT_EQ(hear(), kTurnStart);
  sim.caller.above[2].start_ticks = 8;
  EXPECT_EQ(hear(), "") << "another process of that number";
}

TEST_F(HookCommand, hears_a_session_inside_the_watched_one_as_a_weak_sign_only) {
  watch_process(20);
  sim.caller.above = {process(31, "sh"), process(30, "claude"), process(21, "bash"),
                      process(20, "claude")};
  EXPECT_EQ(hear(), kActivity);
  EXPECT_EQ(hear({"hook", "gemini"}), kActivity) << "whose own process is only called node";
  sim.caller.above = {process(31, "claude.exe"), process(20, "claude"), process(2, "codex")};
  EXPECT_EQ(hear(), kTurnStart) << "a launcher and its program are one, and above it is nobody's";
}

TEST_F(HookCommand, hears_a_session_inside_a_kept_one_as_a_weak_sign_only) {
  sim.caller.above = {process(31, "claude"), process(30, "bash"), process(20, "claude"),
                      process(10, "tend"), process(1, "init")};
  EXPECT_EQ(hear(), kActivity);
  sim.caller.above = {process(31, "claude"), process(30, "bash"), process(10, "tend"),
                      process(3, "claude")};
  EXPECT_EQ(hear(), kTurnStart) << "what is above the keeper is no part of the agent";
}

TEST(HookWatched, is_found_by_the_environment_alone) {
  SimEnvironment environment;
  EXPECT_FALSE(watched_path(environment));
  environment.variables["HOME"] = "/home/u";
  EXPECT_EQ(watched_path(environment).value(), "/home/u/.local/state/tend/watched");
  environment.variables["XDG_STATE_HOME"] = "/state/";
  EXPECT_EQ(watched_path(environment).value(), "/state/tend/watched");
  environment.variables["TEND_HOME"] = "/t";
  EXPECT_EQ(watched_path(environment).value(), "/t/watched");
}

TEST(HookWatched, notes_a_process_and_forgets_those_that_are_gone) {
  SimWorld sim;
  sim.environment.variables["TEND_HOME"] = "/home/tend";
  Machine& machine = sim.machines.machine();
  const ProcessId self = machine.processes.self();
  const std::string folder = "/home/tend/watched/";
  ASSERT_TRUE(note_watched(machine, sim.environment, {.pid = 99'999, .start_ticks = 5}, "/a"));
  ASSERT_TRUE(note_watched(machine, sim.environment, self, "/b"));
  const std::string own =
      folder + std::to_string(self.pid) + "-" + std::to_string(self.start_ticks);
  EXPECT_EQ(sim.universe.disk.files("/home/tend/watched"), std::vector<std::string>{own});

  const std::vector<Ancestor> above{{.pid = 7, .start_ticks = 7, .name = "sh"},
                                    {.pid = self.pid, .start_ticks = self.start_ticks, .name = ""}};
  const auto found = find_watched(sim.files, sim.environment, above);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->folder, "/b");
  EXPECT_EQ(found->distance, 1U);
}

}  // namespace
}  // namespace tend
