// One test per warning, and that nothing is said about what fits.
#include "store/config_check.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

std::string warnings_in(std::string_view text) {
  const auto config = parse_config(text, "n.toml");
  if (!config) return "cannot be used: " + describe(config.error().front());
  std::string lines;
  for (const ConfigProblem& warning : check_config(*config)) lines += describe(warning) + "\n";
  return lines;
}

TEST(CheckConfig, finds_nothing_in_the_built_in_policies) {
  for (const std::string_view name : kBuiltInPolicies) {
    EXPECT_EQ(warnings_in("[policy.p]\nextends = \"" + std::string(name) + "\""), "") << name;
  }
}

TEST(CheckConfig, finds_nothing_in_a_sound_policy) {
  EXPECT_EQ(warnings_in(R"(
[policy.night]
extends = "overnight"
limits.model = "20m"
limits.beats = ["1h", "90m"]
[[policy.night.ladder]]
missed = 2
do = "ping"
[[policy.night.ladder]]
after = "15m"
do = "notify"
[[policy.night.ladder]]
after = "1h"
do = "escalate"
)"),
            "");
}

TEST(CheckConfig, warns_of_a_stale_limit_under_three_beats) {
  EXPECT_EQ(warnings_in("[policy.p]\nlimits.beats = [\"80s\", \"5m\"]\nlimits.confirm = 60"),
            "n.toml:2: policy.p.limits.beats: suspect after 1m20s is under 3 beats of 30s: late "
            "beats will look like silence; give it 1m30s or more\n");
}

TEST(CheckConfig, points_at_the_beat_when_that_is_what_was_changed) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nbeat = \"1m\""),
      "n.toml:2: policy.p.beat: suspect after 2m is under 3 beats of 1m: late beats will look "
      "like silence; give it 3m or more\n");
}

TEST(CheckConfig, warns_when_stalled_is_not_above_suspect) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nlimits.beats = [\"5m\", \"5m\"]"),
      "n.toml:2: policy.p.limits.beats: stalled (5m) is not above suspect (5m): the first look "
      "is the last\n");
  EXPECT_EQ(
      warnings_in("[policy.p]\nlimits.beats = [\"none\", \"5m\"]"),
      "n.toml:2: policy.p.limits.beats: stalled has a limit but suspect has none: it is never "
      "reached\n");
}

TEST(CheckConfig, warns_of_a_ceiling_below_its_limit) {
  EXPECT_EQ(warnings_in("[policy.p]\nlimits.start = \"11m\""),
            "n.toml:2: policy.p.limits.start: 11m is above the ceiling of 10m for weak signs of a "
            "start: they cannot put off the end, it comes at 13m\n");
  EXPECT_EQ(warnings_in("[policy.p]\nlimits.retry = \"7h\""),
            "n.toml:2: policy.p.limits.retry: 7h is above the ceiling of 6h for retries in a row, "
            "which comes first\n");
  EXPECT_EQ(warnings_in("[policy.p]\nlimits.start = \"none\"\nlimits.retry = \"none\""), "");
}

TEST(CheckConfig, warns_when_confirming_takes_longer_than_the_limit) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nlimits.confirm = \"6m\""),
      "n.toml:2: policy.p.limits.confirm: the second look (confirm 6m) takes longer than what "
      "it confirms: idle 5m, beats 2m\n");
  EXPECT_EQ(
      warnings_in("[policy.p]\nlimits.model = \"1m\""),
      "n.toml:2: policy.p.limits.model: the second look (confirm 2m) takes longer than what it "
      "confirms: model 1m\n");
}

TEST(CheckConfig, warns_when_orphans_have_no_time) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nlimits.orphan = 0\nlimits.grace = 0"),
      "n.toml:2: policy.p.limits.orphan: 0 leaves a parent that restarts no time to take over "
      "its own\n"
      "n.toml:3: policy.p.limits.grace: 0 leaves an orphan no time to end by itself\n");
}

TEST(CheckConfig, warns_of_a_budget_that_cannot_be_used_up) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nbudget.per_agent = 2"),
      "n.toml:2: policy.p.budget.per_agent: per_agent (2) is below between_refills (3), which "
      "is never used up\n");
}

TEST(CheckConfig, warns_of_a_ladder_out_of_order) {
  EXPECT_EQ(warnings_in(R"(
[policy.p]
ladder = [{ after = "5m", do = "notify" },
          { missed = 2, do = "ping" }]
)"),
            "n.toml:4: policy.p.ladder: out of order: ping after 2 missed (1m) stands below notify "
            "after 5m; it is taken first\n");
  EXPECT_EQ(warnings_in(R"(
[policy.p]
ladder = [{ after = "5m", do = "kill" },
          { after = "6m", do = "warn" }]
)"),
            "n.toml:4: policy.p.ladder: out of order: warn after 6m comes later than the stronger "
            "kill after 5m\n");
}

TEST(CheckConfig, ranks_resume_and_restart_alike) {
  EXPECT_EQ(warnings_in(R"(
[policy.p]
ladder = [{ after = "5m", do = "kill" }, { after = "6m", do = "restart" },
          { after = "7m", do = "resume" }]
)"),
            "");
}

TEST(CheckConfig, warns_of_a_rung_sooner_than_one_beat) {
  EXPECT_EQ(warnings_in("[policy.p]\nladder = [{ after = \"29s\", do = \"warn\" }]"),
            "n.toml:2: policy.p.ladder: warn after 29s is sooner than one beat (30s)\n");
}

TEST(CheckConfig, warns_of_a_rung_that_is_never_reached) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nladder = [{ after = \"18m\", do = \"notify\" }]"),
      "n.toml:2: policy.p.ladder: notify after 18m is never reached: silence is ended by then "
      "(after 17m, in phase tool) unless a weak sign or a tool's own limit puts that off\n");
  EXPECT_EQ(warnings_in("[policy.p]\nladder = [{ after = \"17m\", do = \"notify\" }]"), "");
  EXPECT_NE(warnings_in("[policy.p]\nextends = \"worker\"\n"
                        "ladder = [{ after = \"16m\", do = \"notify\" }]")
                .find("after 15m, in phase beats"),
            std::string::npos);
}

TEST(CheckConfig, knows_that_a_phase_without_limit_reaches_every_rung) {
  constexpr std::string_view kLadder = "ladder = [{ after = \"10h\", do = \"notify\" }]";
  for (const std::string_view head :
       {"[policy.p]\nextends = \"plain\"\n", "[policy.p]\nlimits.tool = \"none\"\n",
        "[policy.p]\nextends = \"worker\"\nlimits.beats = \"none\"\n"}) {
    EXPECT_EQ(warnings_in(std::string(head) + std::string(kLadder)), "") << head;
  }
}

TEST(CheckConfig, warns_of_direct_beside_a_ladder) {
  EXPECT_EQ(
      warnings_in("[policy.p]\nladder = [{ missed = 2, do = \"warn\" }]\ndirect = true"),
      "n.toml:3: policy.p.direct: direct restarts at the limit itself: a rung later than that "
      "is never taken\n");
}

TEST(CheckConfig, tells_an_inherited_warning_only_where_it_was_written) {
  EXPECT_EQ(warnings_in("[policy.a]\nlimits.grace = 0\n[policy.b]\nextends = \"a\""),
            "n.toml:2: policy.a.limits.grace: 0 leaves an orphan no time to end by itself\n");
}

TEST(CheckConfig, tells_what_an_heir_makes_unfit) {
  EXPECT_EQ(warnings_in(R"(
[policy.a]
ladder = [{ after = "40s", do = "warn" }]
[policy.b]
extends = "a"
beat = "41s"
limits.beats = ["5m", "10m"]
)"),
            "n.toml:4: policy.b.ladder: warn after 40s is sooner than one beat (41s)\n");
}

// ---- patrol and channels ----

TEST(CheckConfig, finds_nothing_in_a_patrol_that_fits) {
  EXPECT_EQ(warnings_in("[patrol]\ninterval = \"5m\"\n[patrol.active]\nwarn = \"off\"\n"
                        "reassign = 9\nescalate_working = \"off\"\n"),
            "");
}

TEST(CheckConfig, warns_of_sweeps_that_come_less_often_than_tasks_turn_stale) {
  EXPECT_EQ(warnings_in("[patrol]\ninterval = \"7m\"\n"),
            "n.toml:2: patrol.interval: a sweep every 7m is less often than critical tasks turn "
            "stale (5m): they are seen late\n");
  EXPECT_EQ(warnings_in("[patrol.active]\nstale = \"4m\"\n"),
            "n.toml:2: patrol.active.stale: a sweep every 5m is less often than active tasks turn "
            "stale (4m): they are seen late\n");
}

TEST(CheckConfig, warns_of_a_ladder_of_the_patrol_that_does_not_rise) {
  EXPECT_EQ(warnings_in("[patrol.active]\nping = 4\n"),
            "n.toml:2: patrol.active.ping: out of order: escalate at 3 missed comes before the "
            "milder ping at 4\n");
  EXPECT_EQ(warnings_in("[patrol.overnight]\nping = \"off\"\nwarn = 5\nescalate = 4\n"
                        "reassign = 4\n"),
            "n.toml:4: patrol.overnight.escalate: out of order: escalate at 4 missed comes before "
            "the milder warn at 5\n");
  EXPECT_EQ(warnings_in("[patrol.critical]\nescalate_working = 2\n"),
            "n.toml:2: patrol.critical.escalate_working: a worker that is known to work is "
            "escalated at 2 missed, before any other (escalate: 3)\n");
}

TEST(CheckConfig, warns_of_notices_that_others_can_read) {
  const auto with = [](const std::string& url) {
    return warnings_in("[[notify]]\nname = \"team\"\nwebhook = \"" + url + "\"\n");
  };
  EXPECT_EQ(with("http://example.org/secret"),
            "n.toml:1: notify: team goes out over http: everybody on the way can read it, and its "
            "address; use https\n");
  EXPECT_EQ(with("http://127.0.0.1:80/x"), "");
  EXPECT_EQ(with("https://example.org/secret"), "");
}

// ---- gate and probes ----

TEST(CheckConfig, finds_nothing_in_a_gate_and_probes_that_fit) {
  EXPECT_EQ(warnings_in("[gate]\nlease = \"1m\"\nreply_every = 1\n"
                        "[probe.a]\nchannel = \"tmux-keys\"\ninterval = 10\ndeadline = 20\n"
                        "[probe.b]\nchannel = \"tmux-keys\"\n"),
            "");
}

TEST(CheckConfig, warns_of_a_gate_that_hands_out_or_answers_twice) {
  EXPECT_EQ(
      warnings_in("[gate]\nlease = \"59s\"\nreply_every = 0\n"),
      "n.toml:2: gate.lease: 59s is under 1m: a message that takes longer is handed out again "
      "while somebody works on it\n"
      "n.toml:3: gate.reply_every: 0 answers every message of a sender: two machines may "
      "answer each other for ever\n");
}

TEST(CheckConfig, warns_of_a_probe_that_waits_too_short_or_asks_too_often) {
  EXPECT_EQ(warnings_in("[probe.a]\nchannel = \"tmux-keys\"\ninterval = \"5m\"\n"
                        "deadline = \"9m\"\n"),
            "n.toml:4: probe.a.deadline: 9m is under 2 questions of 5m: one answer that is late "
            "looks like none; give it 10m or more\n");
  EXPECT_EQ(warnings_in("[probe.\"a b\"]\nchannel = \"tmux-keys\"\ndeadline = \"27s\"\n"),
            "n.toml:3: probe.'a b'.deadline: a question every 9s leaves the agent little time for "
            "anything else; ask every 10s or less often\n");
}

}  // namespace
}  // namespace tend
