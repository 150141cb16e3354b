// Many worlds, with made-up plays in their place: sums, crashes and worlds without an end.
#include "swarm.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

Outcome some_outcome() {
  Outcome outcome;
  outcome.agents = 3;
  outcome.finished = 2;
  outcome.kills = 1;
  outcome.digest = 5;
  outcome.agent_time = 2h;
  outcome.faults[FaultKind::sleep] = 2;
  outcome.false_kills = 1;
  outcome.false_kills_in[StepKind::tool] = 1;
  HangTruth found;
  found.kind = StepKind::spin;
  found.since = 10s;
  found.known = 70s;
  HangTruth missed;
  missed.kind = StepKind::spin;
  missed.missed = true;
  HangTruth open;
  open.kind = StepKind::spin;
  outcome.hangs = {found, missed, open};
  outcome.violations = {
      {"budget", "spent \"too\" much", 20s}, {"budget", "again", 30s}, {"one life", "two", 10s}};
  return outcome;
}

Tally hold(const Scenario& scenario) {
  Outcome outcome;
  outcome.agents = 1;
  outcome.digest = scenario.seed;
  return tally_of(scenario.seed, outcome);
}

/// Every third seed fails, each in a way of its own.
Tally fail_now_and_then(const Scenario& scenario) {
  if (scenario.seed == 3) std::raise(SIGABRT);
  if (scenario.seed == 6) std::_Exit(7);
  if (scenario.seed == 9) return tally_of(scenario.seed, some_outcome());
  return hold(scenario);
}

Tally never_end(const Scenario& scenario) {
  for (volatile std::uint64_t turns = 0; turns < UINT64_MAX;) turns = turns + 1;
  return hold(scenario);
}

Tally want_too_much(const Scenario& /*scenario*/) { throw std::bad_alloc(); }

SwarmSettings settings(std::uint64_t count, PlayWorld play) {
  return {.wishes = {.hours = 1h, .policy = "", .faults = {}},
          .first = 1,
          .count = count,
          .jobs = 2,
          .play = std::move(play)};
}

Tally play_quietly(const SwarmSettings& settings) {
  return play_swarm(settings, [](const Played&, const Tally&) {});
}

TEST(Tally, tells_hangs_that_were_found_from_missed_and_open_ones) {
  const Tally tally = tally_of(4, some_outcome());
  const HangTally& hangs = tally.hangs.at(StepKind::spin);
  EXPECT_EQ(hangs.delays, std::vector<Duration>{60s});
  EXPECT_EQ(hangs.missed, 1U);
  EXPECT_EQ(hangs.open, 1U);
}

TEST(Tally, names_the_seed_of_a_violated_check_once_and_keeps_what_was_said) {
  const Tally tally = tally_of(4, some_outcome());
  EXPECT_EQ(tally.broken.at("budget").times, 2U);
  EXPECT_EQ(tally.broken.at("budget").seeds, std::vector<std::uint64_t>{4});
  EXPECT_EQ(tally.broken.at("budget").said,
            (std::vector<std::string>{"spent \"too\" much (at 20.000 s)", "again (at 30.000 s)"}));
  EXPECT_EQ(tally.first_broken(), "one life");
}

TEST(Tally, adds_up) {
  Tally sum = tally_of(4, some_outcome());
  sum += tally_of(5, some_outcome());
  EXPECT_EQ(sum.worlds, 2U);
  EXPECT_EQ(sum.agents, 6U);
  EXPECT_EQ(sum.agent_time, 4h);
  EXPECT_EQ(sum.digest, 10U);
  EXPECT_EQ(sum.faults.at(FaultKind::sleep), 4U);
  EXPECT_EQ(sum.found_count(), 2U);
  EXPECT_EQ(sum.hang_count(), 6U);
  EXPECT_EQ(sum.violations(), 6U);
  EXPECT_EQ(sum.broken.at("budget").seeds, (std::vector<std::uint64_t>{4, 5}));
}

TEST(Tally, is_read_as_it_was_written) {
  Tally tally = tally_of(4, some_outcome());
  tally += tally_of_failure(9, "crash", "ended by signal 11");
  const auto read = parse_tally(format_tally(tally));
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(*read, tally);
}

TEST(Tally, has_no_time_where_nobody_knows_when) {
  const std::string text = format_tally(tally_of_failure(9, "crash", "exit 7"));
  EXPECT_TRUE(text.contains(R"("soonest_ms":null)")) << text;
  EXPECT_EQ(parse_tally(text)->broken.at("crash").soonest, kNoLimit);
}

TEST(Tally, that_was_cut_off_is_refused) {
  const std::string text = format_tally(tally_of(4, some_outcome()));
  EXPECT_FALSE(parse_tally(text.substr(0, text.size() / 2)).has_value());
  EXPECT_FALSE(parse_tally("{}").has_value());
}

TEST(Tally, writes_its_hash_as_people_read_it_and_names_its_seed) {
  Tally tally = tally_of(4, some_outcome());
  tally.digest = 0x0fedcba987654321;
  const std::string text = format_tally("seed", 4, tally);
  EXPECT_TRUE(text.starts_with(R"({"seed":4,"worlds":1,)")) << text;
  EXPECT_TRUE(format_tally("first", 4, tally, true)
                  .starts_with(R"({"first":4,"broken_off":true,"worlds":1,)"));
  EXPECT_TRUE(text.contains(R"("hash":"0fedcba987654321")")) << text;
  EXPECT_TRUE(describe_tally(tally).ends_with("hash 0fedcba987654321\n"));
  EXPECT_EQ(parse_tally(text).value(), tally);
  for (const std::string bad : {"", "0fedcba98765432", "0fedcba98765432g", "00fedcba987654321"}) {
    std::string other = text;
    other.replace(other.find("0fedcba987654321"), 16, bad);
    EXPECT_FALSE(parse_tally(other).has_value()) << bad;
  }
}

TEST(Percentile, is_the_nearest_rank_rounded_up) {
  std::vector<Duration> delays;
  for (int i = 100; i >= 1; --i) delays.emplace_back(std::chrono::seconds{i});
  EXPECT_EQ(percentile(delays, 50), 50s);
  EXPECT_EQ(percentile(delays, 99), 99s);
  EXPECT_EQ(percentile(delays, 100), 100s);
  EXPECT_EQ(percentile({3s, 1s, 2s, 4s}, 50), 2s);
  EXPECT_EQ(percentile({3s, 1s, 2s}, 99), 3s);
  EXPECT_EQ(percentile({7s}, 1), 7s);
}

TEST(Tally, is_described_with_its_hash_and_every_violation_of_a_world) {
  EXPECT_EQ(describe_tally(tally_of(4, some_outcome())),
            "1 world, 3 agents, 2 finished, 0 lives, 2.0 agent-hours\n"
            "2 faults, 1 kill, 1 of them false (tool 1), 0 merges\n"
            "  sleep: 2\n"
            "1 of 3 hangs found\n"
            "  spin: 1 of 3 found within 60 s (half), 60 s (99 of 100), 60 s (all), 1 MISSED, "
            "1 ended before\n"
            "violated: budget, 2 times, seed 4\n"
            "  spent \"too\" much (at 20.000 s)\n"
            "  again (at 30.000 s)\n"
            "violated: one life, once, seed 4\n"
            "  two (at 10.000 s)\n"
            "3 violations, 3 of safety\n"
            "hash 0000000000000005\n");
}

TEST(Tally, tells_what_came_too_late_from_what_must_never_happen) {
  Tally tally = tally_of_failure(4, "stall found", "one hangs");
  tally += tally_of_failure(5, "nobody left", "one is");
  EXPECT_EQ(tally.violations_of_safety(), 0U);
  EXPECT_TRUE(describe_tally(tally).contains("violated, too late: stall found, once, seed 4\n"));
  EXPECT_TRUE(describe_tally(tally).contains("\n2 violations, 0 of safety\n"));
  tally += tally_of_failure(6, "crash", "exit 7");
  EXPECT_TRUE(describe_tally(tally).contains("violated: crash, once, seed 6\n"));
  EXPECT_TRUE(describe_tally(tally).contains("\n3 violations, 1 of safety\n"));
  EXPECT_TRUE(format_tally(tally).contains("\"violations_of_safety\":1"));
}

TEST(Swarm, plays_every_seed_once) {
  SwarmSettings ten = settings(10, hold);
  ten.first = 5;
  const Tally tally = play_quietly(ten);
  EXPECT_EQ(tally.worlds, 10U);
  EXPECT_EQ(tally.digest, 95U);  // 5 + 6 + ... + 14
  EXPECT_TRUE(tally.broken.empty());
}

TEST(Swarm, takes_a_crash_as_a_finding_and_goes_on) {
  const Tally tally = play_quietly(settings(10, fail_now_and_then));
  EXPECT_EQ(tally.worlds, 10U);
  EXPECT_EQ(tally.broken_worlds, 3U);
  EXPECT_EQ(tally.broken.at("crash").times, 2U);
  EXPECT_EQ(tally.broken.at("budget").seeds, std::vector<std::uint64_t>{9});
}

TEST(Swarm, stops_after_so_many_failing_seeds) {
  SwarmSettings first_only = settings(1000, fail_now_and_then);
  first_only.jobs = 1;
  first_only.stop_after = 1;
  EXPECT_EQ(play_quietly(first_only).worlds, 3U);
}

TEST(Swarm, comes_to_the_same_however_many_play_at_once) {
  SwarmSettings several = settings(40, fail_now_and_then);
  several.stop_after = 3;
  const Tally by_two = play_quietly(several);
  several.jobs = 7;
  EXPECT_EQ(play_quietly(several), by_two);
  EXPECT_EQ(by_two.worlds, 9U);
}

TEST(Swarm, that_is_broken_off_has_the_first_worlds_and_leaves_nobody_behind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd broken_off(ends[0]);
  const Fd breaks_off(ends[1]);
  SwarmSettings endless = settings(100, [](const Scenario& scenario) {
    return scenario.seed > 8 ? never_end(scenario) : hold(scenario);
  });
  endless.jobs = 3;
  endless.break_off = broken_off.get();
  const Tally tally = play_swarm(endless, [&](const Played& one, const Tally&) {
    if (one.seed != 6) return;
    EXPECT_EQ(::write(breaks_off.get(), "x", 1), 1);
  });
  EXPECT_GE(tally.worlds, 6U);
  EXPECT_LE(tally.worlds, 8U);
  EXPECT_TRUE(tally.broken.empty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Swarm, tells_of_worlds_in_the_order_of_their_seeds) {
  std::vector<std::uint64_t> heard;
  SwarmSettings ten = settings(10, hold);
  ten.jobs = 4;
  play_swarm(ten, [&](const Played& one, const Tally&) { heard.push_back(one.seed); });
  EXPECT_EQ(heard, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Interrupts, end_nobody_once_they_are_caught) {
  const Fd caught = catch_interrupts();
  EXPECT_EQ(interrupt_in(caught), 0);
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(interrupt_in(caught), SIGTERM);
  sigset_t both{};
  ::sigemptyset(&both);
  ::sigaddset(&both, SIGINT);
  ::sigaddset(&both, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
}

TEST(Players, say_what_ended_a_world) {
  Players players;
  Scenario scenario;
  scenario.seed = 3;
  players.begin(scenario, fail_now_and_then);
  EXPECT_EQ(players.await_one().tally.broken.at("crash").said.front(), "ended by signal 6");
  scenario.seed = 6;
  players.begin(scenario, fail_now_and_then);
  EXPECT_EQ(players.await_one().tally.broken.at("crash").said.front(), "exit 7");
}

TEST(Players, take_too_little_memory_for_no_finding) {
  Players players;
  Scenario scenario;
  scenario.seed = 12;
  players.begin(scenario, want_too_much);
  try {
    players.await_one();
    FAIL() << "it was a finding";
  } catch (const MachineTrouble& trouble) {
    EXPECT_STREQ(trouble.what(), "out of memory: seed 12 wants more");
  }
}

TEST(Players, take_it_for_no_finding_that_one_was_killed) {
  Players players;
  players.begin(Scenario{}, [](const Scenario&) {
    std::raise(SIGKILL);
    return Tally{};
  });
  EXPECT_THROW(players.await_one(), MachineTrouble);
}

TEST(Players, end_a_world_that_does_not_end) {
  Players players(1s);
  Scenario scenario;
  scenario.seed = 12;
  players.begin(scenario, never_end);
  const Played played = players.await_one();
  EXPECT_EQ(played.seed, 12U);
  EXPECT_EQ(played.tally.broken.at("does not end").seeds, std::vector<std::uint64_t>{12});
}

struct Heard {
  std::string text;
  SwarmProgress progress;

  explicit Heard(bool terminal)
      : progress(8, terminal, [this](const std::string& more) { text += more; }) {}
};

TEST(SwarmProgress, is_a_line_a_minute_where_nobody_watches) {
  Heard heard(false);
  const Played good{7, tally_of(7, {})};
  heard.progress.hear(good, good.tally, 59s);
  EXPECT_EQ(heard.text, "");
  heard.progress.hear(good, good.tally, 60s);
  EXPECT_EQ(heard.text,
            "1 of 8 worlds, 0 agent-hours, 0 violations (0 of safety) in 0 worlds, 0.0 a second\n");
}

TEST(SwarmProgress, names_a_failing_seed_at_once) {
  Heard heard(false);
  const Played bad{9, tally_of_failure(9, "crash", "exit 7")};
  heard.progress.hear(bad, bad.tally, 1s);
  EXPECT_EQ(heard.text, "seed 9: crash: exit 7\n");
}

TEST(SwarmProgress, writes_over_its_line_on_a_terminal) {
  Heard heard(true);
  const Played good{7, tally_of(7, {})};
  heard.progress.hear(good, good.tally, 1s);
  heard.progress.end();
  EXPECT_EQ(heard.text,
            "\r\033[K1 of 8 worlds, 0 agent-hours, 0 violations (0 of safety) in 0 worlds, "
            "1.0 a second\r\033[K");
}

}  // namespace
}  // namespace tend::sim
