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
  EXPECT_FALSE(file->table);
  const auto table = parse_options({"--swarm", "9", "--report-table"});
  ASSERT_TRUE(table.has_value()) << table.error().text;
  EXPECT_EQ(table->what, SimOptions::What::report);
  EXPECT_EQ(table->report, "");
  EXPECT_TRUE(table->table);
}

TEST(SimOptions, report_to_a_file_and_in_short) {
  const auto both = parse_options({"--swarm", "9", "--report", "x.md", "--report-table"});
  ASSERT_TRUE(both.has_value()) << both.error().text;
  EXPECT_EQ(both->report, "x.md");
  EXPECT_TRUE(both->table);
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
  EXPECT_EQ(error_of({"--seed", "1", "--hours", "0"}),
            "--hours is a number from 0.1 to 10000, not '0'");
  EXPECT_EQ(error_of({"--scenario", "x", "--plain"}),
            "--plain does not go together with --scenario");
  EXPECT_EQ(error_of({"--swarm", "5", "--trace"}), "--trace does not go together with --swarm");
  EXPECT_EQ(error_of({"--swarm", "5", "--shrink"}), "--shrink does not go together with --swarm");
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

TEST(SimOptions, take_all_kinds_of_faults_or_none_alone) {
  EXPECT_EQ(error_of({"--seed", "1", "--faults", "none,sleep"}),
            "--faults has 'none' beside others, and it stands alone");
  EXPECT_EQ(error_of({"--seed", "1", "--faults", "sleep,all"}),
            "--faults has 'all' beside others, and it stands alone");
}

TEST(SimOptions, refuse_what_would_be_ignored_beside_another) {
  EXPECT_EQ(error_of({"--seed", "1", "--plain", "--faults", "sleep"}),
            "--faults does not go together with --plain");
  EXPECT_EQ(error_of({"--seed", "1", "--draw", "--trace"}),
            "--trace does not go together with --draw");
  EXPECT_EQ(error_of({"--seed", "1", "--draw", "--json"}),
            "--json does not go together with --draw");
  EXPECT_EQ(error_of({"--seed", "1", "--draw", "--shrink"}),
            "--shrink does not go together with --draw");
  EXPECT_EQ(error_of({"--seed", "1", "--shrink", "--json"}),
            "--json does not go together with --shrink");
  EXPECT_EQ(error_of({"--scenario", "x", "--draw"}), "--draw wants --seed N");
}

TEST(SimOptions, refuse_an_empty_word_that_is_to_name_something) {
  EXPECT_EQ(error_of({"--scenario", ""}), "--scenario wants a word behind it, not ''");
  EXPECT_EQ(error_of({"--seed", "1", "--policy", ""}), "--policy wants a word behind it, not ''");
  EXPECT_EQ(error_of({"--swarm", "1", "--report", ""}), "--report wants a word behind it, not ''");
}

TEST(SimOptions, take_the_first_seed_and_the_last_and_none_beyond) {
  const std::string last = "18446744073709551615";
  EXPECT_EQ(parse_options({"--seed", last})->seed, UINT64_MAX);
  EXPECT_EQ(parse_options({"--seed", "0"})->seed, 0U);
  EXPECT_EQ(parse_options({"--swarm", "1", "--first", last})->first, UINT64_MAX);
  EXPECT_EQ(error_of({"--seed", "18446744073709551616"}),
            "--seed is a whole number from 0 to 18446744073709551615, not '18446744073709551616'");
  EXPECT_EQ(error_of({"--seed", "-1"}),
            "--seed is a whole number from 0 to 18446744073709551615, not '-1'");
  EXPECT_EQ(error_of({"--swarm", "2", "--first", last}),
            "--swarm finds no 2 seeds from --first 18446744073709551615 on: the last one is "
            "18446744073709551615");
}

TEST(SimOptions, have_bounds_that_their_errors_name) {
  EXPECT_EQ(parse_options({"--seed", "1", "--agents", "1000"})->wishes.agents, 1000U);
  EXPECT_EQ(error_of({"--seed", "1", "--agents", "100000"}),
            "--agents is a whole number from 1 to 1000, not '100000'");
  EXPECT_EQ(error_of({"--seed", "1", "--agents", "4294967297"}),
            "--agents is a whole number from 1 to 1000, not '4294967297'");
  EXPECT_EQ(error_of({"--swarm", "1", "--jobs", "0"}),
            "--jobs is a whole number from 1 to 1000, not '0'");
  EXPECT_EQ(error_of({"--swarm", "0"}),
            "--swarm is a whole number from 1 to 18446744073709551615, not '0'");
  for (const std::string hours : {"-1", "10001", "nan", "inf", "8h", "0x8", "", " 8"}) {
    EXPECT_EQ(error_of({"--seed", "1", "--hours", hours}),
              "--hours is a number from 0.1 to 10000, not '" + hours + "'");
  }
}

TEST(SimOptions, refuse_numbers_that_are_none) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--seed", "x"},
                                             {"--seed", ""},
                                             {"--seed", "0x10"},
                                             {"--seed", " 1"},
                                             {"--seed", "1e3"},
                                             {"--swarm", "-1"},
                                             {"--seed"},
                                             {"--sed", "1"},
                                             {"--seed", "1", "y"},
                                             {"--seed", "1", "--seed", "2"},
                                             {"--seed", "1", "--hours", "x"},
                                             {"--seed", "1", "--hours", "nan"}}) {
    const std::string error = error_of(words);
    EXPECT_NE(error, "none") << words[0];
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace tend::sim
