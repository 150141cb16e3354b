// The words of tend-sim: what they mean, and what is refused.
#include "options.h"

#include <gtest/gtest.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

std::string error_of(const std::vector<std::string>& words) {
  const auto options = parse_options(words);
  return options ? "none" : options.error().text;
}

TEST(SimOptions, play_one_world) {
  const auto options =
      parse_options({"--seed", "7", "--hours", "1.5", "--agents", "4", "--policy", "worker"});
  ASSERT_TRUE(options.has_value()) << options.error().text;
  EXPECT_EQ(options->what, SimOptions::What::play);
  EXPECT_EQ(options->seed, 7U);
  EXPECT_EQ(options->wishes.hours, 90min);
  EXPECT_EQ(options->wishes.agents, 4U);
  EXPECT_EQ(options->wishes.policy, "worker");
  EXPECT_TRUE(options->wishes.all_faults);
}

TEST(SimOptions, play_a_swarm) {
  const auto options = parse_options({"--swarm", "100", "--first", "9", "--stop-after", "2"});
  ASSERT_TRUE(options.has_value()) << options.error().text;
  EXPECT_EQ(options->what, SimOptions::What::swarm);
  EXPECT_EQ(options->count, 100U);
  EXPECT_EQ(options->first, 9U);
  EXPECT_EQ(options->stop_after, 2U);
}

TEST(SimOptions, shrink_and_draw) {
  EXPECT_EQ(parse_options({"--seed", "7", "--shrink"})->what, SimOptions::What::shrink);
  EXPECT_EQ(parse_options({"--scenario", "x", "--shrink"})->what, SimOptions::What::shrink);
  EXPECT_EQ(parse_options({"--seed", "7", "--draw"})->what, SimOptions::What::draw);
}

TEST(SimOptions, report_to_a_file_or_in_short) {
  const auto file = parse_options({"--swarm", "9", "--report", "x.md"});
  ASSERT_TRUE(file.has_value()) << file.error().text;
  EXPECT_EQ(file->what, SimOptions::What::report);
  EXPECT_EQ(file->report, "x.md");
  EXPECT_EQ(parse_options({"--swarm", "9", "--report-table"})->what, SimOptions::What::report);
}

TEST(SimOptions, name_kinds_of_faults) {
  const auto some = parse_options({"--seed", "7", "--faults", "sleep,power-cut"});
  ASSERT_TRUE(some.has_value()) << some.error().text;
  EXPECT_FALSE(some->wishes.all_faults);
  EXPECT_EQ(some->wishes.faults, (std::vector{FaultKind::sleep, FaultKind::power_cut}));
  const auto none = parse_options({"--seed", "7", "--faults", "none"});
  ASSERT_TRUE(none.has_value()) << none.error().text;
  EXPECT_FALSE(none->wishes.all_faults);
  EXPECT_TRUE(none->wishes.faults.empty());
}

TEST(SimOptions, help_names_every_option) {
  const auto options = parse_options({"--help"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->what, SimOptions::What::help);
  for (const char* const name : {"--seed N", "--scenario FILE", "--swarm COUNT", "--shrink",
                                 "--draw", "--trace", "--json", "--report FILE"}) {
    EXPECT_NE(options->help.find(name), std::string::npos) << name;
  }
}

TEST(SimOptions, refuse_what_makes_no_sense_in_one_line) {
  const std::string one_source = "wants one of --seed N, --scenario FILE and --swarm COUNT";
  EXPECT_EQ(error_of({}), one_source);
  EXPECT_EQ(error_of({"--seed", "1", "--swarm", "2"}), one_source);
  EXPECT_EQ(error_of({"--seed", "1", "--first", "2"}), "--first wants --swarm");
  EXPECT_EQ(error_of({"--seed", "1", "--hours", "0"}), "--hours is between 0.1 and 10000");
  EXPECT_EQ(error_of({"--scenario", "x", "--plain"}),
            "--plain does not go together with --scenario");
  EXPECT_EQ(error_of({"--swarm", "5", "--trace"}), "--trace wants --seed N or --scenario FILE");
  EXPECT_EQ(error_of({"--seed", "1", "--report", "x"}), "--report wants --swarm");
  EXPECT_EQ(error_of({"--swarm", "5", "--report", "x", "--plain"}),
            "--plain does not go together with a report");
  EXPECT_EQ(error_of({"--seed", "1", "--policy", "lazy"}),
            "--policy is one of agent, worker, critical, overnight, plain, not 'lazy'");
}

TEST(SimOptions, point_to_the_kind_of_fault_that_was_meant) {
  EXPECT_TRUE(error_of({"--seed", "1", "--faults", "slep"})
                  .starts_with("--faults has no kind 'slep'; did you mean 'sleep'?"))
      << error_of({"--seed", "1", "--faults", "slep"});
}

TEST(SimOptions, refuse_numbers_that_are_none) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--seed", "x"}, {"--swarm", "-1"}, {"--seed"}, {"--sed", "1"}, {"--seed", "1", "y"}}) {
    const std::string error = error_of(words);
    EXPECT_NE(error, "none") << words[0];
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace tend::sim
