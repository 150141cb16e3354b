// Settings of people, with our hooks put in and taken out.
#include "app/hooks_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/hooks_diff.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

const std::string kTend = "/usr/bin/tend";

std::string installed(const std::string& text, HookAgent agent = HookAgent::claude,
                      const std::string& program = kTend) {
  auto with = with_hooks(text, agent, program);
  EXPECT_TRUE(with) << with.error().text;
  return with.value_or("");
}
std::string removed(const std::string& text, HookAgent agent = HookAgent::claude) {
  auto without = without_hooks(text, agent);
  EXPECT_TRUE(without) << without.error().text;
  return without.value_or("");
}

const std::string kSettings = R"({
  "zeta": 1,
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ],
    "Odd": 7
  },
  "alpha": [
    1.5,
    "ü"
  ]
}
)";

TEST(HooksFile, puts_a_hook_for_each_event_and_keeps_all_else_in_its_order) {
  const Json json = Json::parse(installed(kSettings));
  EXPECT_EQ(json.begin().key(), "zeta");
  EXPECT_EQ(std::prev(json.end()).key(), "alpha");
  EXPECT_EQ(json["hooks"].begin().key(), "Stop");
  EXPECT_EQ(json["hooks"]["Odd"], 7);
  EXPECT_EQ(json["hooks"]["Stop"].size(), 2U);
  EXPECT_EQ(json["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
  for (const HookedEvent& row : hooked_events(HookAgent::claude)) {
    const Json& ours = json["hooks"][std::string(row.event)].back()["hooks"][0];
    EXPECT_EQ(ours["command"], "/usr/bin/tend hook claude") << row.event;
    EXPECT_EQ(ours["timeout"], 5);
    EXPECT_EQ(ours.contains("async"), row.async);
  }
}

TEST(HooksFile, waits_for_the_hooks_whose_order_counts) {
  for (const HookedEvent& row : hooked_events(HookAgent::claude)) {
    const bool in_order = row.event.find("Tool") != row.event.npos ||
                          row.event.find("Compact") != row.event.npos || row.event == "Stop";
    EXPECT_FALSE(in_order && row.async) << row.event;
  }
}

TEST(HooksFile, counts_time_as_the_agent_does) {
  const Json gemini = Json::parse(installed("", HookAgent::gemini));
  EXPECT_EQ(gemini["hooks"]["BeforeTool"][0]["hooks"][0],
            Json::parse(R"({"name":"tend","type":"command","command":"/usr/bin/tend hook gemini",
                            "timeout":5000})"));
  const Json codex = Json::parse(installed("", HookAgent::codex));
  EXPECT_EQ(codex["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"], 5);
  EXPECT_EQ(codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
  EXPECT_FALSE(codex["hooks"]["SubagentStop"][0]["hooks"][0].contains("async"));
}

TEST(HooksFile, changes_nothing_the_second_time) {
  for (const HookAgent agent : {HookAgent::claude, HookAgent::codex, HookAgent::gemini}) {
    const std::string once = installed(kSettings, agent);
    EXPECT_NE(once, kSettings);
    EXPECT_EQ(installed(once, agent), once);
  }
}

TEST(HooksFile, takes_out_exactly_what_it_put_in) {
  for (const HookAgent agent : {HookAgent::claude, HookAgent::codex, HookAgent::gemini}) {
    EXPECT_EQ(removed(installed(kSettings, agent), agent), kSettings);
    EXPECT_EQ(removed(installed("{}\n", agent), agent), "{}\n");
    EXPECT_EQ(removed(kSettings, agent), kSettings);
  }
}

TEST(HooksFile, leaves_alone_what_only_looks_like_ours) {
  const auto one = [](const std::string& command) {
    return R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":")" + command + "\"}]}]}}";
  };
  for (const char* foreign : {"pretend hook claude", "/x/attend hook claude", "tend hook codex",
                              "tend hook claude --verbose", "echo tend hook claude", "tend beat"}) {
    EXPECT_EQ(removed(one(foreign)), one(foreign)) << foreign;
  }
  for (const char* ours :
       {"tend hook claude", "/opt/tend hook claude", "'/a b/tend' hook claude"}) {
    EXPECT_EQ(removed(one(ours)), "{}") << ours;
  }
}

TEST(HooksFile, keeps_the_neighbours_of_a_hook_of_ours) {
  const std::string text =
      R"({"hooks":{"Stop":[{"matcher":"*","hooks":[{"command":"a"},{"command":"tend hook claude"},)"
      R"({"command":"b"}]},{"hooks":[]}]}})";
  EXPECT_EQ(removed(text),
            R"({"hooks":{"Stop":[{"matcher":"*","hooks":[{"command":"a"},{"command":"b"}]},)"
            R"({"hooks":[]}]}})");
}

TEST(HooksFile, renews_the_hooks_of_a_tend_that_was_elsewhere) {
  const std::string old = installed(kSettings, HookAgent::claude, "/old place/it's/tend");
  EXPECT_EQ(find_hooks(old, HookAgent::claude)->programs,
            std::set<std::string>{"/old place/it's/tend"});
  EXPECT_EQ(installed(old), installed(kSettings)) << "in their place";
}

TEST(HooksFile, removes_a_second_one_and_those_of_events_that_are_not_hooked) {
  const std::string text = R"({"hooks":{"Stop":[{"hooks":[{"command":"tend hook claude"}]},)"
                           R"({"hooks":[{"command":"tend hook claude"}]}],)"
                           R"("WorktreeCreate":[{"hooks":[{"command":"tend hook claude"}]}]}})";
  const Json json = Json::parse(installed(text));
  EXPECT_EQ(json["hooks"]["Stop"].size(), 1U);
  EXPECT_FALSE(json["hooks"].contains("WorktreeCreate"));
}

TEST(HooksFile, writes_with_the_indentation_that_it_found) {
  EXPECT_NE(installed("{\n\t\"a\": 1\n}").find("\n\t\"hooks\": {\n\t\t\""), std::string::npos);
  EXPECT_NE(installed("{\n    \"a\": 1\n}").find("\n    \"hooks\": {\n        \""),
            std::string::npos);
  EXPECT_EQ(installed("{\"a\":1}").find('\n'), std::string::npos) << "on one line";
  EXPECT_TRUE(installed("").ends_with("}\n"));
  EXPECT_TRUE(installed("{\n  \"a\": 1\n}").ends_with("}")) << "no newline where there was none";
}

TEST(HooksFile, refuses_what_is_no_settings_file_and_says_where) {
  const auto why = [](const std::string& text) {
    const auto with = with_hooks(text, HookAgent::claude, kTend);
    return with ? "" : with.error().text;
  };
  EXPECT_EQ(why("{\"a\": 1,\n  // mine\n}"), "line 2, column 3: it is no JSON");
  EXPECT_EQ(why("{\"a\": "), "line 1, column 7: it is no JSON");
  EXPECT_EQ(why("[]"), "line 1: it is no JSON object");
  EXPECT_EQ(why(R"({"hooks":[]})"), "\"hooks\" in it is no object");
  EXPECT_EQ(why(R"({"hooks":{"Stop":{}}})"), "\"hooks\".'Stop' in it is no list");
  EXPECT_EQ(why(std::string(100'000, '[')), "line 1, column 201: nested too deep");
  EXPECT_FALSE(without_hooks("{", HookAgent::claude));
  EXPECT_FALSE(find_hooks("{", HookAgent::claude));
}

TEST(HooksFile, tells_what_stands_in_a_file) {
  const auto all = find_hooks(installed(kSettings), HookAgent::claude);
  EXPECT_EQ(all->events, hooked_events(HookAgent::claude).size());
  EXPECT_EQ(all->programs, std::set<std::string>{kTend});
  EXPECT_EQ(find_hooks(kSettings, HookAgent::claude)->events, 0U);
  EXPECT_EQ(find_hooks(R"({"hooks":{"Stop":[{"hooks":[{"command":"tend hook claude"}]}]}})",
                       HookAgent::claude)
                ->events,
            1U);
}

TEST(HooksDiff, shows_what_changes_with_a_little_around_it) {
  EXPECT_EQ(show_difference("f", "a\n", "a\n"), "");
  EXPECT_EQ(show_difference("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "--- f\n+++ f\n@@ -2 +2 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
  EXPECT_EQ(show_difference("f", "", "a\n\tb\n"), "--- f\n+++ f\n@@ -1 +1 @@\n+a\n+\tb\n");
  EXPECT_EQ(show_difference("f", "a\n", ""), "--- f\n+++ f\n@@ -1 +1 @@\n-a\n");
}

TEST(HooksDiff, shows_changes_that_are_far_apart_each_by_itself) {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  std::string after = "0\n" + before;
  after.replace(after.find("20\n"), 3, "x\n");
  EXPECT_EQ(show_difference("f", before, after),
            "--- f\n+++ f\n@@ -1 +1 @@\n+0\n 1\n 2\n 3\n@@ -17 +18 @@\n 17\n 18\n 19\n-20\n+x\n");
}

TEST(HooksFile, starts_and_ends_a_beater_with_a_session_beside_the_other_hooks) {
  const ServiceWords words{.start = {"--quiet", "--pidfile", "my beat.pid"},
                           .stop = {"--quiet", "--pidfile", "my beat.pid"}};
  const auto with = with_service(installed(kSettings), HookAgent::claude, kTend, words);
  ASSERT_TRUE(with) << with.error().text;
  const Json hooks = Json::parse(*with)["hooks"];
  ASSERT_EQ(hooks["SessionStart"].size(), 2U);
  EXPECT_EQ(hooks["SessionStart"][1]["hooks"][0]["command"],
            "/usr/bin/tend service start --caller --quiet --pidfile 'my beat.pid'");
  EXPECT_EQ(hooks["SessionEnd"][1]["hooks"][0]["command"],
            "/usr/bin/tend service stop --caller --quiet --pidfile 'my beat.pid'");
  EXPECT_EQ(with_service(*with, HookAgent::claude, kTend, words).value(), *with);
  EXPECT_EQ(installed(*with), *with) << "one kind does not touch the other";
  EXPECT_TRUE(find_hooks(*with, HookAgent::claude)->service);
  EXPECT_FALSE(find_hooks(installed(kSettings), HookAgent::claude)->service);
  EXPECT_EQ(removed(*with), kSettings);
}

}  // namespace
}  // namespace tend
