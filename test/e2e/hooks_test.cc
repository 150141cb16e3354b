// `tend hook` where it is really run: below a kept program, below a watched one, below neither.
#include "e2e.h"

namespace tend::e2e {
namespace {

class HooksTest : public E2e {
 protected:
  /// The kinds of what was said in an agent's name.
  static std::vector<std::string> said(const Path& folder) {
    std::vector<std::string> kinds;
    for (const Json& line : json_lines(folder / "signals.jsonl")) {
      kinds.push_back(text_in(line, "is"));
    }
    return kinds;
  }
  /// What a shell says that runs a hook with this event.
  static std::string hook(const std::string& event, const std::string& agent = "claude") {
    return "echo '" + event + "' | " + std::string(TEND_BINARY) + " hook " + agent + "\n";
  }
};

using Kinds = std::vector<std::string>;

TEST_F(HooksTest, a_hook_below_a_kept_program_is_heard_and_judged) {
  const Path folder = keep({"--adapter", "none", "--policy", "agent"},
                           {"sh", "-c",
                            hook(R"({"hook_event_name":"UserPromptSubmit"})") +
                                hook(R"({"hook_event_name":"PermissionRequest"})") + "sleep 600"});
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] {
    return tend({"explain", folder.string()}).out.find("waiting") != std::string::npos;
  })) << tend({"explain", folder.string()}).out;
  EXPECT_EQ(said(folder), (Kinds{"turn-start", "ask"}));
}

TEST_F(HooksTest, a_hook_below_a_watched_process_finds_its_agent) {
  const Path go = scratch() / "go";
  Background session =
      start({.arguments = {"sh", "-c",
                           "while [ ! -e " + go.string() + " ]; do sleep 0.05; done\n" +
                               "env -u TEND_INFRA sh -c \"" + "$HOOK" + "\"\n" + "sleep 600"},
             .environment = {{"HOOK", hook(R"({"hook_event_name":"UserPromptSubmit"})")},
                             {"TEND_HOME", home().string()}}});
  const auto watched = tend({"watch", std::to_string(session.pid())});
  ASSERT_EQ(watched.exit, 0) << watched.err;
  EXPECT_EQ(watched.err, "");
  const Path folder = only_agent();
  std::ignore = run({.arguments = {"touch", go.string()}});
  EXPECT_TRUE(eventually([&] { return said(folder) == Kinds{"turn-start"}; }));
  session.signal(9);
}

TEST_F(HooksTest, a_hook_that_belongs_to_nobody_does_nothing_and_goes_well) {
  for (const std::string input : {"", "{", R"({"hook_event_name":"Stop"})"}) {
    const auto ran = tend({"hook", "claude"}, input);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.out + ran.err, "");
  }
  const auto asked = tend({"hook", "claude", "--verbose"}, "{}");
  EXPECT_EQ(asked.exit, 0);
  EXPECT_EQ(asked.out, "");
  EXPECT_TRUE(asked.err.starts_with("tend hook: not inside a kept agent")) << asked.err;
}

TEST_F(HooksTest, settings_are_made_and_unmade_on_a_real_disk) {
  const auto hooks = [&](const Arguments& words) {
    return run({.arguments = Arguments{TEND_BINARY, "hooks"} + words,
                .environment = {{"HOME", scratch().string()}, {"CLAUDE_CONFIG_DIR", ""}}});
  };
  const Path file = scratch() / ".claude/settings.json";
  ASSERT_EQ(hooks({"install", "claude"}).exit, 0);
  const Json json = Json::parse(read_file(file));
  EXPECT_EQ(json["hooks"]["Stop"][0]["hooks"][0]["command"],
            std::string(TEND_BINARY) + " hook claude");
  EXPECT_NE(hooks({"status"}).out.find("claude  user     yes"), std::string::npos);
  ASSERT_EQ(hooks({"uninstall", "claude"}).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace tend::e2e
