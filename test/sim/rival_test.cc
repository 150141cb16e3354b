// Each rule on what it may see, rivals in small worlds, and the report on all of them.
#include "rival.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "players.h"
#include "report.h"
#include "rival_world.h"
#include "tally.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

RivalWord says(std::string_view rival, const RivalSight& sees) {
  return rival_named(rival).judge(sees);
}

Tally play_under(std::string_view rival, const Scenario& scenario) {
  return tally_of(scenario.seed, RivalWorld(scenario, rival_named(rival)).play());
}

AgentPlan agent(std::string name, std::vector<Step> steps) {
  return {.name = std::move(name), .parent = "", .steps = std::move(steps)};
}

Step step(StepKind kind, Duration takes = {}) {
  return {.kind = kind, .takes = takes, .child = ""};
}

Scenario world_of(std::vector<AgentPlan> agents) {
  Scenario scenario;
  scenario.lasts = 2h;
  scenario.settles = 4h;
  scenario.agents = std::move(agents);
  return scenario;
}

Scenario world_with(const Fault& fault) {
  Scenario scenario = world_of({agent("lead", {step(StepKind::talk, 1h)})});
  scenario.faults = {fault};
  return scenario;
}

std::uint64_t missed(const Tally& tally) {
  std::uint64_t sum = 0;
  for (const auto& [kind, hangs] : tally.hangs) sum += hangs.missed;
  return sum;
}

// --- Rules ---------------------------------------------------------------------------------------

TEST(Rivals, have_names_titles_and_a_rhythm_of_their_own) {
  for (const Rival& rival : rivals()) {
    EXPECT_EQ(&rival_named(rival.name), &rival);
    EXPECT_FALSE(rival.title.empty()) << rival.name;
    EXPECT_FALSE(rival.rule.empty()) << rival.name;
    EXPECT_GT(rival.looks_every, 0s) << rival.name;
    const bool beats = rival.beater != Beater::none && rival.beater != Beater::hook;
    EXPECT_EQ(rival.beats_every > 0s, beats) << rival.name;
  }
}

TEST(Rivals, find_nothing_wrong_with_an_agent_that_does_everything) {
  for (const Rival& rival : rivals()) {
    EXPECT_EQ(rival.judge({.output = 1s, .beat = 1s}), RivalWord::fine) << rival.name;
  }
}

TEST(Rivals, start_a_dead_agent_again_when_it_has_been_silent_for_long_enough) {
  for (const Rival& rival : rivals()) {
    EXPECT_EQ(rival.judge({.alive = false, .output = 1h, .beat = 1h}), RivalWord::restart)
        << rival.name;
  }
}

TEST(Output120s, ends_whoever_prints_nothing_for_120_seconds) {
  EXPECT_EQ(says("output-120s", {.output = 120s - 1ms}), RivalWord::fine);
  EXPECT_EQ(says("output-120s", {.output = 120s}), RivalWord::restart);
  EXPECT_EQ(says("output-120s", {.output = 1s, .beat = 1h}), RivalWord::fine);
}

TEST(PidAlive, looks_at_nothing_but_the_process) {
  EXPECT_EQ(says("pid-alive", {.output = 9h, .beat = 9h}), RivalWord::fine);
  EXPECT_EQ(says("pid-alive", {.alive = false}), RivalWord::restart);
}

TEST(HeartbeatFile, learns_of_a_death_from_the_file_alone) {
  EXPECT_EQ(says("heartbeat-file", {.alive = false, .beat = 119s}), RivalWord::fine);
  EXPECT_EQ(says("heartbeat-file", {.alive = false, .beat = 120s}), RivalWord::restart);
  EXPECT_EQ(says("heartbeat-file", {.alive = true, .output = 9h, .beat = 30s}), RivalWord::fine);
}

TEST(HeartbeatTree, forgives_silence_while_a_child_beats) {
  EXPECT_EQ(says("heartbeat-tree", {.output = 120s, .beat = 1s}), RivalWord::restart);
  EXPECT_EQ(says("heartbeat-tree", {.output = 1h, .child_beat = 299s}), RivalWord::fine);
  EXPECT_EQ(says("heartbeat-tree", {.output = 1h, .child_beat = 300s}), RivalWord::restart);
}

TEST(HeartbeatTree, lets_a_child_leave_a_minute_after_its_dead_parent_is_stale) {
  EXPECT_EQ(says("heartbeat-tree", {.parent_beat = 179s}), RivalWord::fine);
  EXPECT_EQ(says("heartbeat-tree", {.parent_beat = 180s}), RivalWord::leave);
}

TEST(TaskHeartbeat, escalates_after_15_minutes_and_kills_nobody) {
  EXPECT_EQ(says("task-heartbeat", {.beat = 15min}), RivalWord::fine);
  EXPECT_EQ(says("task-heartbeat", {.beat = 15min + 1ms}), RivalWord::report);
  EXPECT_EQ(says("task-heartbeat", {.beat = 9h}), RivalWord::report);
  EXPECT_EQ(says("task-heartbeat", {.alive = false, .beat = 10min}), RivalWord::fine);
  EXPECT_EQ(says("task-heartbeat", {.alive = false, .beat = 11min}), RivalWord::restart);
}

TEST(Question, ends_whoever_gives_no_answer_for_15_minutes) {
  EXPECT_EQ(says("question", {.output = 1s, .beat = 15min}), RivalWord::fine);
  EXPECT_EQ(says("question", {.output = 1s, .beat = 15min + 1ms}), RivalWord::restart);
}

TEST(TwoStores, report_only_when_both_are_stale_and_nobody_said_idle) {
  EXPECT_EQ(says("two-stores", {.output = 6min, .beat = 6min}), RivalWord::report);
  EXPECT_EQ(says("two-stores", {.output = 1s, .beat = 9h}), RivalWord::fine);
  EXPECT_EQ(says("two-stores", {.output = 9h, .beat = 1s}), RivalWord::fine);
  EXPECT_EQ(says("two-stores", {.idle = true, .output = 9h, .beat = 9h}), RivalWord::fine);
}

TEST(LeaseLoop, looks_at_the_lease_and_the_process) {
  EXPECT_EQ(says("lease-loop", {.output = 9h, .beat = 180s}), RivalWord::fine);
  EXPECT_EQ(says("lease-loop", {.output = 1s, .beat = 181s}), RivalWord::restart);
}

// --- Worlds --------------------------------------------------------------------------------------

/// One is in a tool for 8 minutes, the other hangs for good.
Scenario busy_and_hung() {
  return world_of({agent("busy", {step(StepKind::tool, 8min), step(StepKind::talk, 5min)}),
                   agent("hung", {step(StepKind::talk, 5min), step(StepKind::hang_stream)})});
}

TEST(RivalWorld, has_output_120s_end_a_long_tool_again_and_again) {
  const Tally tally = play_under("output-120s", busy_and_hung());
  EXPECT_GT(tally.false_kills, 3U);
  EXPECT_EQ(tally.false_kills_in.at(StepKind::tool), tally.false_kills);
  EXPECT_EQ(tally.found_count(), 1U);
  EXPECT_EQ(tally.finished, 2U) << "what is tried again may be shorter";
}

TEST(RivalWorld, has_pid_alive_miss_the_hang) {
  const Tally tally = play_under("pid-alive", busy_and_hung());
  EXPECT_EQ(tally.kills, 0U);
  EXPECT_EQ(tally.found_count(), 0U);
  EXPECT_EQ(missed(tally), 1U);
  EXPECT_EQ(tally.finished, 1U);
}

TEST(RivalWorld, is_one_in_which_tend_does_neither) {
  const Tally tally = play_here(busy_and_hung());
  EXPECT_TRUE(tally.broken.empty()) << describe_tally(tally);
  EXPECT_EQ(tally.false_kills, 0U);
  EXPECT_EQ(tally.found_count(), 1U);
  EXPECT_EQ(missed(tally), 0U);
  EXPECT_EQ(tally.finished, 2U);
}

TEST(RivalWorld, of_the_same_seed_has_the_same_hash) {
  const Scenario scenario = draw_scenario(7, {.hours = 2h, .policy = "agent", .faults = {}});
  for (const Rival& rival : rivals()) {
    EXPECT_EQ(play_under(rival.name, scenario), play_under(rival.name, scenario)) << rival.name;
  }
}

TEST(RivalWorld, starts_children_that_are_dispatched_and_lets_their_parent_see_them_end) {
  AgentPlan lead = agent("lead", {{.kind = StepKind::dispatch, .child = "child"},
                                  step(StepKind::await),
                                  {.kind = StepKind::merge, .child = "child"}});
  AgentPlan child = agent("child", {step(StepKind::talk, 30min)});
  child.parent = "lead";
  for (const std::string_view rival : {"pid-alive", "heartbeat-tree"}) {
    const Tally tally = play_under(rival, world_of({lead, child}));
    EXPECT_EQ(tally.finished, 2U) << rival;
    EXPECT_EQ(tally.lives, 2U) << rival;
    EXPECT_EQ(tally.kills, 0U) << rival;
    EXPECT_GT(tally.agent_time, 1h) << rival;
  }
}

TEST(RivalWorld, starts_an_agent_again_that_crashed_was_killed_or_went_with_the_machine) {
  for (const FaultKind kind :
       {FaultKind::kill_agent, FaultKind::kill_all, FaultKind::shutdown, FaultKind::power_cut}) {
    for (const Rival& rival : rivals()) {
      const Tally tally =
          play_under(rival.name, world_with({.kind = kind, .at = 20min, .whom = "lead"}));
      EXPECT_EQ(tally.lives, 2U) << rival.name << static_cast<int>(kind);
      EXPECT_EQ(tally.finished, 1U) << rival.name << static_cast<int>(kind);
      EXPECT_EQ(tally.kills, 0U) << rival.name << static_cast<int>(kind);
    }
  }
  const Scenario crash = world_of({agent("lead", {step(StepKind::crash, 1min)})});
  EXPECT_EQ(play_under("pid-alive", crash).lives, 2U);
}

TEST(RivalWorld, passes_over_faults_that_only_ours_know) {
  const Tally tally = play_under(
      "pid-alive", world_with({.kind = FaultKind::kill_keeper, .at = 20min, .whom = "lead"}));
  EXPECT_EQ(tally.fault_count(), 0U);
  EXPECT_EQ(tally.lives, 1U);
}

TEST(RivalWorld, has_files_grow_old_while_the_machine_sleeps_and_own_readings_not) {
  const Fault sleep{.kind = FaultKind::sleep, .at = 20min + 7s, .lasts = 2h, .whom = ""};
  EXPECT_EQ(play_under("heartbeat-file", world_with(sleep)).false_kills, 1U);
  EXPECT_EQ(play_under("output-120s", world_with(sleep)).false_kills, 0U);
}

TEST(RivalWorld, does_not_start_what_a_person_stopped) {
  const Tally tally = play_under(
      "pid-alive", world_with({.kind = FaultKind::stop_order, .at = 20min, .whom = "lead"}));
  EXPECT_EQ(tally.lives, 1U);
  EXPECT_EQ(tally.finished, 0U);
  EXPECT_EQ(tally.kills, 0U);
}

TEST(RivalWorld, has_heartbeat_tree_give_up_after_three_attempts_at_the_same_step) {
  const Tally tally = play_under("heartbeat-tree", busy_and_hung());
  EXPECT_EQ(tally.false_kills, 4U);
  EXPECT_EQ(tally.broken.at(kGaveUp).times, 1U);
}

TEST(RivalWorld, counts_the_report_of_a_hang_as_found_and_of_work_as_false_alarm) {
  const Tally tally = play_under("two-stores", busy_and_hung());
  EXPECT_EQ(tally.kills, 0U);
  EXPECT_EQ(tally.found_count(), 1U);
  EXPECT_EQ(tally.broken.at(kFalseAlarm).times, 1U);
}

TEST(RivalWorld, beats_from_a_timer_go_on_in_a_hang_but_not_in_one_that_spins) {
  const Scenario hang = world_of({agent("lead", {step(StepKind::hang_stream)})});
  EXPECT_EQ(missed(play_under("task-heartbeat", hang)), 1U);
  const Scenario spin = world_of({agent("lead", {step(StepKind::spin)})});
  EXPECT_EQ(play_under("task-heartbeat", spin).found_count(), 1U);
}

TEST(RivalWorld, asks_an_agent_that_answers_between_its_tools_and_not_in_them) {
  std::vector<Step> tools(10, step(StepKind::tool, 9min));
  EXPECT_EQ(play_under("question", world_of({agent("lead", tools)})).kills, 0U);
  tools.push_back(step(StepKind::tool, 22min));
  EXPECT_GT(play_under("question", world_of({agent("lead", tools)})).false_kills, 0U);
}

// --- Report --------------------------------------------------------------------------------------

Reliability some_numbers() {
  Tally ours;
  ours.worlds = 10;
  ours.agents = 1234;
  ours.agent_time = 10'000h;
  ours.false_kills = 5;
  ours.hangs[StepKind::spin] = {.delays = {600s, 900s, 120s}, .missed = 1};
  Tally other = ours;
  other.false_kills = 12'345;
  other.broken[kFalseAlarm].times = 20;
  return {.settings = {.first = 11, .count = 10, .hours = 8h, .jobs = 1},
          .ours = {{.name = "agent", .title = "Tend, policy agent", .tally = ours}},
          .others = {{.name = "rule", .title = "a rule", .tally = other}}};
}

std::string contents_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Report, has_a_small_table) {
  EXPECT_EQ(format_report_table(some_numbers()),
            "| watchdog | false kills per 1,000 agent-hours | missed stalls | "
            "median time to find a stall |\n"
            "|---|---:|---:|---:|\n"
            "| **Tend** | 0.50 | 1 of 4 (25.0 %) | 10.0 min |\n"
            "| a rule | 1,235 (and 2.00 false alarms) | 1 of 4 (25.0 %) | 10.0 min |\n");
}

TEST(Report, says_which_command_made_it_and_from_which_seeds) {
  const std::string text = format_report(some_numbers());
  EXPECT_TRUE(
      text.contains("tend-sim --report docs/reliability.md --swarm 10 --first 11 --hours 8"));
  EXPECT_TRUE(text.contains("from the seeds 11 to 20")) << text;
  EXPECT_TRUE(text.contains("no promise was broken in any of the 10 worlds")) << text;
  EXPECT_TRUE(text.contains("| spin | 10.0 / 15.0, 1 missed |")) << text;
}

TEST(Report, names_what_its_rules_leave_out_of_their_designs) {
  const std::string text = format_report(some_numbers());
  const std::size_t named = text.find("What these designs have beside that");
  ASSERT_NE(named, std::string::npos);
  EXPECT_LT(named, text.find("| rule | agent-hours |"));
  for (const char* const left_out :
       {"529", "30 min overnight and 5 min for critical",
        "escalates after 30 min and its table after 15", "a poke after 20 min"}) {
    EXPECT_TRUE(text.contains(left_out)) << left_out;
  }
}

TEST(Report, has_the_same_99_of_100_as_a_tally) {
  const Reliability measured = some_numbers();
  EXPECT_TRUE(format_report(measured).contains("| spin | 10.0 / 15.0,"));
  EXPECT_TRUE(describe_tally(measured.ours[0].tally).contains("600 s (half), 900 s (99 of 100)"));
}

TEST(Report, finds_out_first_that_its_file_cannot_be_written_and_leaves_nothing_behind) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "can-publish";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "report.md";
  EXPECT_TRUE(can_publish(path).has_value());
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "old\n";
  EXPECT_TRUE(can_publish(path).has_value());
  EXPECT_EQ(contents_of(path.c_str()), "old\n");
  EXPECT_EQ(can_publish(folder / "no/such.md").error().text,
            fmt::format("cannot write {}/no/such.md: No such file or directory", folder.string()));
  EXPECT_EQ(can_publish(folder).error().text,
            fmt::format("cannot write {}: Is a directory", folder.string()));
  std::filesystem::remove_all(folder);
}

TEST(Report, lists_violations_of_ours_with_their_seeds) {
  Reliability measured = some_numbers();
  measured.ours[0].tally += tally_of_failure(17, "crash", "exit 7");
  measured.ours[0].tally += tally_of_failure(12, "crash", "exit 7");
  const std::string text = format_report(measured);
  EXPECT_TRUE(text.contains("- policy `agent`, crash: 2 times, with seed 12, 17\n")) << text;
  EXPECT_FALSE(text.contains("no promise was broken"));
}

TEST(Report, puts_its_table_between_the_marks_and_leaves_the_rest_alone) {
  EXPECT_EQ(with_table("a\n<!-- reliability -->\nold\n<!-- /reliability -->\nb\n", "| new |\n"),
            "a\n<!-- reliability -->\n| new |\n<!-- /reliability -->\nb\n");
  EXPECT_EQ(with_table("nothing\n", "| new |\n"), std::nullopt);
  EXPECT_EQ(with_table("<!-- reliability -->\n", "| new |\n"), std::nullopt);
}

TEST(Report, is_published_in_a_file_and_in_the_readme_that_wants_it) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "reliability";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::ofstream("README.md") << "a\n<!-- reliability -->\n<!-- /reliability -->\n";
  const Reliability numbers = some_numbers();
  const auto published = publish(numbers, "report.md");
  EXPECT_TRUE(published.has_value());
  EXPECT_FALSE(publish(numbers, "no/such/folder.md").has_value());
  EXPECT_EQ(contents_of("report.md"), format_report(numbers));
  EXPECT_EQ(contents_of("README.md"),
            "a\n<!-- reliability -->\n" + format_report_table(numbers) + "<!-- /reliability -->\n");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(Report, measures_every_policy_and_every_rival_the_same_way_twice) {
  const ReportSettings settings{.first = 3, .count = 1, .hours = 1h, .jobs = 2};
  const auto quiet = [](const std::string&, const Played&, const Tally&) {};
  const Reliability once = measure(settings, quiet);
  EXPECT_EQ(once.ours.size(), 6U);
  EXPECT_EQ(once.others.size(), kRivalCount);
  EXPECT_EQ(format_report(once), format_report(measure(settings, quiet)));
}

}  // namespace
}  // namespace tend::sim
