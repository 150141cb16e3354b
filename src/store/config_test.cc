// What can be written, what comes out of it, and what is said about the rest.
#include "store/config.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

std::string all_of(const ConfigProblems& problems) {
  std::string text;
  for (const ConfigProblem& problem : problems) text += describe(problem) + "\n";
  return text;
}

Config read(std::string_view text) {
  auto config = parse_config(text, "night.toml");
  EXPECT_TRUE(config.has_value()) << all_of(config.error());
  return config.value_or(Config{});
}

Policy policy_in(std::string_view text, std::string_view name) {
  const auto policy = read(text).find(name);
  EXPECT_TRUE(policy.has_value()) << policy.error().text;
  return policy.value_or(Policy{});
}

std::string problems_in(std::string_view text) {
  const auto config = parse_config(text, "night.toml");
  return config ? "" : all_of(config.error());
}

Policy built_in(std::string_view name) { return built_in_policy(name).value(); }

TEST(ParseConfig, reads_every_key_of_a_policy) {
  const Policy night = policy_in(R"(
[policy.night]
extends = "overnight"
limits.model = "20m"
limits.start = "5m"
limits.tool = "none"
limits.grace = 90
limits.confirm = 1.5
limits.beats = ["30m", "45m"]
beat = "1m"
budget.between_refills = 4
budget.per_agent = 12
budget.refill_after = "1h"
direct = true
[[policy.night.ladder]]
missed = 2
do = "ping"
[[policy.night.ladder]]
after = "15m"
do = "escalate"
)",
                                 "night");
  Policy expected = built_in("overnight");
  expected.name = "night";
  expected.limits.model = 20min;
  expected.limits.start = 5min;
  expected.limits.tool = kNoLimit;
  expected.limits.grace = 90s;
  expected.limits.confirm = 1500ms;
  expected.limits.beats = {30min, 45min};
  expected.beat = 1min;
  expected.budget = {4, 12, 1h};
  expected.direct = true;
  expected.ladder = {{2min, 2, Action::ping}, {15min, 0, Action::escalate}};
  EXPECT_EQ(night, expected);
}

TEST(ParseConfig, extends_agent_unless_told_otherwise) {
  Policy expected = built_in("agent");
  expected.name = "mine";
  EXPECT_EQ(policy_in("[policy.mine]", "mine"), expected);
}

TEST(ParseConfig, takes_every_limit_by_its_name) {
  for (const LimitKey& key : kLimitKeys) {
    const std::string text = "[policy.p]\nlimits." + std::string(key.name) + " = \"77s\"\n";
    EXPECT_EQ(policy_in(text, "p").limits.*key.member, 77s) << key.name;
  }
}

TEST(ParseConfig, takes_none_for_beats_as_a_pair_or_a_word) {
  const Patience none{kNoLimit, kNoLimit};
  EXPECT_EQ(policy_in("[policy.p]\nlimits.beats = \"none\"", "p").limits.beats, none);
  EXPECT_EQ(policy_in("[policy.p]\nlimits.beats = [\"none\", \"none\"]", "p").limits.beats, none);
}

TEST(ParseConfig, inherits_through_other_policies_in_any_order) {
  constexpr std::string_view kText = R"(
[policy.a]
extends = "b"
limits.model = "1m"
[policy.b]
extends = "c"
limits.model = "2m"
limits.tool = "2m"
[policy.c]
extends = "worker"
limits.tool = "3m"
limits.idle = "3m"
)";
  const Policy a = policy_in(kText, "a");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.promise, Promise::beats);
  EXPECT_EQ(a.limits.model, 1min);
  EXPECT_EQ(a.limits.tool, 2min);
  EXPECT_EQ(a.limits.idle, 3min);
  EXPECT_EQ(a.limits.beats, (Patience{600s, 900s}));
}

TEST(ParseConfig, lets_the_start_of_a_worker_follow_its_beats) {
  EXPECT_EQ(
      policy_in("[policy.p]\nextends = \"worker\"\nlimits.beats = [100, 200]", "p").limits.start,
      100s);
}

TEST(ParseConfig, keeps_a_start_limit_that_was_written_anywhere_in_the_chain) {
  constexpr std::string_view kText = R"(
[policy.base]
extends = "worker"
limits.start = "7s"
[policy.heir]
extends = "base"
limits.beats = ["1m", "2m"]
[policy.both]
extends = "worker"
limits.start = "8s"
limits.beats = ["1m", "2m"]
)";
  EXPECT_EQ(policy_in(kText, "heir").limits.start, 7s);
  EXPECT_EQ(policy_in(kText, "both").limits.start, 8s);
}

TEST(ParseConfig, replaces_an_inherited_ladder_as_a_whole) {
  constexpr std::string_view kText = R"(
[[policy.base.ladder]]
missed = 2
do = "ping"
[[policy.base.ladder]]
missed = 4
do = "notify"
[policy.heir]
extends = "base"
beat = "1m"
[policy.other]
extends = "base"
ladder = [{ after = "5m", do = "kill" }]
[policy.none]
extends = "base"
ladder = []
)";
  EXPECT_EQ(policy_in(kText, "heir").ladder,
            (std::vector<Rung>{{2min, 2, Action::ping}, {4min, 4, Action::notify}}));
  EXPECT_EQ(policy_in(kText, "other").ladder, (std::vector<Rung>{{5min, 0, Action::kill}}));
  EXPECT_TRUE(policy_in(kText, "none").ladder.empty());
}

TEST(ParseConfig, sorts_the_ladder_and_remembers_the_order_of_the_file) {
  const Config config = read(R"(
[policy.p]
ladder = [{ after = "5m", do = "kill" },
          { after = "1m", do = "ping" }]
)");
  const ConfiguredPolicy& made = config.policies.at("p");
  EXPECT_EQ(made.policy.ladder.front().action, Action::ping);
  EXPECT_EQ(made.ladder.front().rung.action, Action::kill);
  EXPECT_EQ(made.ladder.front().line, 3U);
  EXPECT_EQ(made.ladder.back().line, 4U);
}

TEST(ParseConfig, does_not_overflow_on_the_longest_beats) {
  const Policy policy = policy_in(
      "[policy.p]\nbeat = \"1095000d\"\nladder = [{ missed = 10000, do = \"warn\" }]", "p");
  EXPECT_EQ(policy.ladder.front().after, kLongestTime);
}

TEST(ParseConfig, names_file_line_key_and_what_is_allowed) {
  EXPECT_EQ(problems_in("\n[policy.night]\nlimits.modell = \"20m\"\n"),
            "night.toml:3: policy.night.limits.modell: no such limit; allowed: start, model, tool, "
            "compact, retry, person, children, background, idle, exiting, confirm, orphan, grace, "
            "beats; did you mean 'model'?\n");
}

TEST(ParseConfig, tells_everything_that_is_wrong_in_the_order_of_the_lines) {
  EXPECT_EQ(
      problems_in(R"(
polcy = 1
[policy.night]
extend = "agent"
limits.model = "soon"
limits.grace = "none"
limits.idle = 0
limits.beats = "5m"
limits.tool = [1]
beat = 0
budget.per_agents = 1
budget.per_agent = -1
budget.between_refills = "3"
direct = "yes"
)"),
      "night.toml:2: polcy: no such table; allowed: policy, notify, patrol, tasks, store, "
      "source, sink, gate, probe, lease; did you mean 'policy'?\n"
      "night.toml:4: policy.night.extend: no such key; allowed: extends, limits, beat, budget, "
      "direct, ladder; did you mean 'extends'?\n"
      "night.toml:5: policy.night.limits.model: 'soon' is no duration: write 500ms, 30s, 15m, "
      "1h30m or 2d; a bare number is seconds\n"
      "night.toml:6: policy.night.limits.grace: must have an end; only start, model, tool, "
      "compact, retry, background, idle and beats may be none\n"
      "night.toml:7: policy.night.limits.idle: must be above 0; \"none\" means no limit\n"
      "night.toml:8: policy.night.limits.beats: must be a pair [suspect, stalled], like "
      "[\"2m\", \"5m\"], or \"none\"\n"
      "night.toml:9: policy.night.limits.tool: must be a duration, like \"15m\" or a number of "
      "seconds, not an array\n"
      "night.toml:10: policy.night.beat: must be above 0\n"
      "night.toml:11: policy.night.budget.per_agents: no such key; allowed: between_refills, "
      "per_agent, refill_after; did you mean 'per_agent'?\n"
      "night.toml:12: policy.night.budget.per_agent: must be from 0 to 1000000\n"
      "night.toml:13: policy.night.budget.between_refills: must be a whole number, not a "
      "string\n"
      "night.toml:14: policy.night.direct: must be true or false, not a string\n");
}

TEST(ParseConfig, tells_what_is_wrong_with_a_rung) {
  EXPECT_EQ(
      problems_in(R"(
[policy.p]
ladder = [
  { do = "ping" },
  { missed = 2, after = "1m", do = "ping" },
  { missed = 2 },
  { missed = 0, do = "ping" },
  { missed = 2, do = "hold" },
  { missed = 2, do = "pign" },
  { mised = 2, do = "ping" },
  7,
]
)"),
      "night.toml:4: policy.p.ladder: lacks its time: missed = 2 (in beats) or after = "
      "\"15m\"\n"
      "night.toml:5: policy.p.ladder: has both missed and after; keep one\n"
      "night.toml:6: policy.p.ladder: lacks do; allowed: warn, ping, notify, escalate, "
      "preserve, kill, resume, restart\n"
      "night.toml:7: policy.p.ladder.missed: must be from 1 to 10000\n"
      "night.toml:8: policy.p.ladder.do: hold cannot be a rung: only the judge knows when it "
      "applies; allowed: warn, ping, notify, escalate, preserve, kill, resume, restart\n"
      "night.toml:9: policy.p.ladder.do: no such action 'pign'; allowed: warn, ping, notify, "
      "escalate, preserve, kill, resume, restart; did you mean 'ping'?\n"
      "night.toml:10: policy.p.ladder.mised: no such key; allowed: missed, after, do; did you "
      "mean 'missed'?\n"
      "night.toml:11: policy.p.ladder: must be a table, not an integer\n");
}

TEST(ParseConfig, refuses_actions_that_only_the_judge_can_time) {
  for (const std::string_view action : {"hold", "adopt", "reassign", "degrade", "undegrade"}) {
    const std::string text =
        "[policy.p]\nladder = [{ missed = 1, do = \"" + std::string(action) + "\" }]";
    EXPECT_NE(problems_in(text).find("cannot be a rung"), std::string::npos) << action;
  }
}

TEST(ParseConfig, keeps_line_and_column_of_a_syntax_error) {
  const std::string text = problems_in("[policy.night]\nlimits.model = 12m\n");
  EXPECT_EQ(text.substr(0, 16), "night.toml:2:18:") << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(ParseConfig, survives_letters_and_brackets_where_none_belong) {
  for (const std::string_view text : {"[größe]", "ä = 1", "a = \xd2\x94", "[[[", "[[[a]]]"}) {
    EXPECT_EQ(problems_in(text).substr(0, 13), "night.toml:1:") << text;
  }
}

TEST(ParseConfig, refuses_what_is_no_table) {
  EXPECT_EQ(problems_in("policy = 3"),
            "night.toml:1: policy: must be a table of policies: [policy.NAME], not an integer\n");
  EXPECT_EQ(problems_in("policy.a = 3"),
            "night.toml:1: policy.a: must be a table, not an integer\n");
  EXPECT_EQ(problems_in("[policy.a]\nlimits = 3"),
            "night.toml:2: policy.a.limits: must be a table, like limits.model = \"12m\", not an "
            "integer\n");
}

TEST(ParseConfig, refuses_names_that_are_built_in_or_cannot_be_typed) {
  EXPECT_EQ(
      problems_in("[policy.agent]"),
      "night.toml:1: policy.agent: is built in; choose another name and extends = \"agent\"\n");
  EXPECT_EQ(
      problems_in("[policy.\"a\\nb\"]"),
      "night.toml:1: policy.'a\\x0ab': a policy's name is 1 to 64 letters, digits, - and _\n");
}

TEST(ParseConfig, says_which_policies_could_be_extended) {
  EXPECT_EQ(problems_in("[policy.day]\n[policy.night]\nextends = \"overnigth\""),
            "night.toml:3: policy.night.extends: no policy 'overnigth'; there are: agent, worker, "
            "critical, overnight, plain, day; did you mean 'overnight'?\n");
}

TEST(ParseConfig, tells_a_circle_once) {
  EXPECT_EQ(problems_in(R"(
[policy.z]
extends = "b"
[policy.b]
extends = "a"
[policy.a]
extends = "b"
)"),
            "night.toml:7: policy.a.extends: goes round in a circle: a -> b -> a\n");
  EXPECT_EQ(problems_in("[policy.a]\nextends = \"a\""),
            "night.toml:2: policy.a.extends: goes round in a circle: a -> a\n");
}

std::string chain_of_policies(std::size_t count) {
  std::string text = "[policy.p0]\n";
  for (std::size_t i = 1; i < count; ++i) {
    text += "[policy.p" + std::to_string(i) + "]\nextends = \"p" + std::to_string(i - 1) + "\"\n";
  }
  return text;
}

TEST(ParseConfig, bounds_the_depth_of_extends) {
  EXPECT_EQ(problems_in(chain_of_policies(kDeepestExtends)), "");
  EXPECT_NE(problems_in(chain_of_policies(kDeepestExtends + 1)).find("more than 16 policies deep"),
            std::string::npos);
}

TEST(ParseConfig, bounds_policies_rungs_size_and_nesting) {
  std::string many;
  for (std::size_t i = 0; i <= kMostPolicies; ++i) many += "[policy.p" + std::to_string(i) + "]\n";
  EXPECT_EQ(problems_in(many), "night.toml:1: policy: 65 policies; at most 64\n");

  std::string ladder = "[policy.p]\n";
  for (std::size_t i = 0; i <= kMostRungs; ++i) {
    ladder += "[[policy.p.ladder]]\nmissed = 1\ndo = \"warn\"\n";
  }
  EXPECT_EQ(problems_in(ladder), "night.toml:2: policy.p.ladder: 17 rungs; at most 16\n");

  EXPECT_EQ(problems_in(std::string(1'000'001, ' ')),
            "night.toml: larger than 1 MB; a configuration is a few kilobytes\n");
  EXPECT_EQ(problems_in(std::string(1'000'000, '[')).substr(0, 11), "night.toml:");

  std::string deep = "\na";
  for (int i = 0; i < 400'000; ++i) deep += ".a";
  EXPECT_EQ(problems_in(deep + " = 1"), "night.toml:2: more than 128 dots in one line\n");
}

TEST(ParseConfig, bounds_the_number_of_problems) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "x" + std::to_string(i) + " = 1\n";
  const auto config = parse_config(text, "night.toml");
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().size(), kMostProblems + 1);
  EXPECT_EQ(describe(config.error().back()), "night.toml: and 100 more problems");
}

// ---- channels, patrol, tasks ----

TEST(ParseConfig, reads_channels_in_the_order_of_the_file) {
  const Config config = read(R"(
[[notify]]
name = "mail"
command = ["mail", "-s", "it's tend", "me"]
[[notify]]
name = "team"
webhook = "https://hooks.example.org/T0/B0/secret"
slack = true
[[notify]]
name = "screen"
desktop = true
)");
  ASSERT_EQ(config.channels.size(), 3U);
  EXPECT_EQ(config.channels[0], (NotifyChannel{.name = "mail",
                                               .kind = NotifyChannel::Kind::command,
                                               .command = {"mail", "-s", "it's tend", "me"},
                                               .line = 2}));
  EXPECT_EQ(config.channels[1], (NotifyChannel{.name = "team",
                                               .kind = NotifyChannel::Kind::webhook,
                                               .url = "https://hooks.example.org/T0/B0/secret",
                                               .slack = true,
                                               .line = 5}));
  EXPECT_EQ(config.channels[2],
            (NotifyChannel{.name = "screen", .kind = NotifyChannel::Kind::desktop, .line = 9}));
}

TEST(ParseConfig, tells_what_is_wrong_with_a_channel_and_never_its_address) {
  EXPECT_EQ(problems_in(R"([[notify]]
command = ["mail"]
[[notify]]
name = "a"
[[notify]]
name = "b"
desktop = true
command = ["mail"]
[[notify]]
name = "c"
command = ["mail"]
slack = true
[[notify]]
name = "a b"
command = "mail me"
webhook = "ftp://secret"
color = "red"
[[notify]]
name = "d"
command = []
[[notify]]
name = "e"
desktop = true
[[notify]]
name = "e"
desktop = true
)"),
            "night.toml:1: notify: lacks its name, like name = \"team\"\n"
            "night.toml:3: notify: lacks its way: command = [\"PROGRAM\", ...], webhook = "
            "\"https://...\" or desktop = true\n"
            "night.toml:5: notify: has more than one of command, webhook and desktop; keep one, "
            "and write a [[notify]] for each other\n"
            "night.toml:9: notify: has slack = true, which is for a webhook\n"
            "night.toml:14: notify.name: a channel's name is 1 to 64 letters, digits, - and _\n"
            "night.toml:15: notify.command: must be a program and its arguments, like [\"mail\", "
            "\"-s\", \"tend\", \"me\"] (no shell reads it), not a string\n"
            "night.toml:16: notify.webhook: must begin with https:// or http://, have no spaces, "
            "quotes or other letters than a URL has, and at most 2000 of them\n"
            "night.toml:17: notify.color: no such key; allowed: name, command, webhook, slack, "
            "desktop\n"
            "night.toml:20: notify.command: names no program; write [\"mail\", \"-s\", \"tend\", "
            "\"me\"]\n"
            "night.toml:24: notify: there is another channel 'e'; each has a name of its own\n");
}

TEST(ParseConfig, refuses_addresses_that_could_say_more_than_an_address) {
  const auto with = [](const std::string& url) {
    return problems_in("[[notify]]\nname = \"x\"\nwebhook = '" + url + "'\n");
  };
  EXPECT_EQ(with("http://127.0.0.1:8080/a?b=c%20d&e=[1]#f"), "");
  for (const char* const url :
       {"https://", "https:///x", "https://a b", "https://a\"b", "https://a\\b", "HTTPS:/a",
        "file:///etc/passwd", "https://\xc3\xbc"}) {
    EXPECT_NE(with(url), "") << url;
  }
  EXPECT_NE(with("https://" + std::string(2000, 'a')), "");
}

TEST(ParseConfig, bounds_the_number_of_channels) {
  std::string text;
  for (int i = 0; i < 17; ++i) {
    text += "[[notify]]\nname = \"c" + std::to_string(i) + "\"\ndesktop = true\n";
  }
  EXPECT_EQ(problems_in(text), "night.toml:1: notify: 17 channels; at most 16\n");
  EXPECT_EQ(problems_in("notify = 3"),
            "night.toml:1: notify: must be a list of channels: [[notify]], not an integer\n");
}

TEST(ParseConfig, reads_every_key_of_the_patrol) {
  const PatrolPolicy patrol = read(R"(
[patrol]
interval = "2m"
shortest = 30
longest = "4m"
untaken_after = "1h"
incident_size = 5
incident_within = "20m"
[patrol.active]
stale = "20m"
warn = "off"
ping = 3
escalate = 4
reassign = 5
escalate_working = 0
[patrol.critical]
stale = "2m"
)")
                                  .patrol;
  EXPECT_EQ(patrol.sweeps.usual, 2min);
  EXPECT_EQ(patrol.sweeps.shortest, 30s);
  EXPECT_EQ(patrol.sweeps.longest, 4min);
  EXPECT_EQ(patrol.untaken_after, 1h);
  EXPECT_EQ(patrol.incident_size, 5U);
  EXPECT_EQ(patrol.incident_within, 20min);
  const PatrolPace& active = patrol.of(PatrolContext::active);
  EXPECT_EQ(active.interval, 10min);
  EXPECT_EQ(active.tolerance, 2min);
  EXPECT_EQ(active.ladder.missed, (std::array<std::uint32_t, kPatrolRungs>{0, 3, 4, 5}));
  EXPECT_EQ(active.ladder.escalate_working, PatrolLadder::kOff);
  EXPECT_EQ(patrol.of(PatrolContext::critical).interval, 1min);
  EXPECT_EQ(patrol.of(PatrolContext::critical).ladder.missed, PatrolLadder{}.missed);
  EXPECT_EQ(patrol.of(PatrolContext::overnight).interval, 15min);
}

TEST(ParseConfig, makes_room_for_an_interval_where_no_bounds_are_written) {
  const auto sweeps = [](std::string_view keys) {
    return read("[patrol]\n" + std::string(keys)).patrol.sweeps;
  };
  EXPECT_EQ(sweeps("interval = \"20s\"").shortest, 20s);
  EXPECT_EQ(sweeps("interval = \"20s\"").longest, 10min);
  EXPECT_EQ(sweeps("interval = \"1h\"").longest, 1h);
  EXPECT_EQ(sweeps("shortest = \"20m\"").usual, 20min);
  EXPECT_EQ(sweeps("longest = \"30s\"").shortest, 30s);
}

TEST(ParseConfig, tells_what_is_wrong_with_the_patrol) {
  EXPECT_EQ(problems_in(R"([patrol]
intervall = "5m"
incident_size = 1
untaken_after = 0
[patrol.active]
stale = "2ms"
warn = -1
ping = "never"
[patrol.nightly]
stale = "1h"
)"),
            "night.toml:2: patrol.intervall: no such key; allowed: interval, shortest, longest, "
            "untaken_after, incident_size, incident_within, active, overnight, critical; did you "
            "mean 'interval'?\n"
            "night.toml:3: patrol.incident_size: must be from 2 to 10000\n"
            "night.toml:4: patrol.untaken_after: must be above 0\n"
            "night.toml:6: patrol.active.stale: must be 10ms or more\n"
            "night.toml:7: patrol.active.warn: must be a number of missed beats from 1 to 10000, "
            "or \"off\"\n"
            "night.toml:8: patrol.active.ping: must be a number of missed beats from 1 to 10000, "
            "or \"off\"\n"
            "night.toml:9: patrol.nightly: no such key; allowed: interval, shortest, longest, "
            "untaken_after, incident_size, incident_within, active, overnight, critical\n");
  EXPECT_EQ(problems_in("[patrol]\nshortest = \"6m\"\ninterval = \"5m\"\n"),
            "night.toml:3: patrol: shortest (6m), interval (5m) and longest (10m) must not fall\n");
}

TEST(ParseConfig, reads_where_tasks_are) {
  EXPECT_EQ(read("[tasks]\nbeads = [\"/usr/bin/bd\", \"--quiet\"]").beads,
            (std::vector<std::string>{"/usr/bin/bd", "--quiet"}));
  EXPECT_TRUE(read("[tasks]\n").beads.empty());
  EXPECT_EQ(problems_in("[tasks]\nbeads = \"bd\"\nbead = 1\n"),
            "night.toml:2: tasks.beads: must be a program and its arguments, like [\"bd\"] (no "
            "shell reads it), not a string\n"
            "night.toml:3: tasks.bead: no such key; allowed: beads; did you mean 'beads'?\n");
}

TEST(ConfigFind, knows_the_built_ins_and_lists_what_exists) {
  const Config config = read("[policy.night]\n[policy.day]");
  EXPECT_EQ(config.find("worker"), built_in("worker"));
  EXPECT_EQ(config.find("nigt").error().text,
            "night.toml: no policy 'nigt'; there are: agent, worker, critical, overnight, plain, "
            "day, night; did you mean 'night'?");
}

}  // namespace
}  // namespace tend
