// Whole runs in a simulated world: what is printed where, and the exit code.
#include "app/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "app/help.h"
#include "app/man.h"
#include "app/version.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

int echo(const Arguments& arguments, World& world) {
  for (const std::string& word : arguments.positionals) world.out.write(word + "\n");
  return kExitNeedsYou;
}

constexpr PositionalRow kWords[] = {{.name = "WORD", .help = "a word", .repeats = true}};
constexpr CommandRow kEcho[] = {{.name = "echo", .positionals = kWords, .body = echo}};

struct Seen {
  int code;
  std::string out;
  std::string err;
};

Seen run(std::initializer_list<std::string_view> words,
         std::span<const CommandRow> table = commands()) {
  SimWorld sim;
  World world = sim.world();
  const std::vector<std::string_view> list(words);
  const int code = dispatch(table, list, world);
  return {code, sim.out.text, sim.err.text};
}

TEST(Dispatch, runs_the_body_and_returns_its_exit_code) {
  const Seen seen = run({"echo", "a", "b"}, kEcho);
  EXPECT_EQ(seen.code, kExitNeedsYou);
  EXPECT_EQ(seen.out, "a\nb\n");
  EXPECT_EQ(seen.err, "");
}

TEST(Dispatch, answers_a_usage_error_with_one_line_and_2) {
  const Seen seen = run({"repaly", "x"});
  EXPECT_EQ(seen.code, kExitUsage);
  EXPECT_EQ(seen.out, "");
  EXPECT_EQ(seen.err, "tend: no command 'repaly'; did you mean 'replay'? (see 'tend --help')\n");
}

TEST(Dispatch, needs_a_trace_to_replay) {
  EXPECT_EQ(run({"replay"}).err,
            "tend replay: needs at least one TRACE (a file, or - for standard input)\n");
}

TEST(Dispatch, prints_help_to_standard_output_when_asked) {
  for (const Seen& seen :
       {run({"--help"}), run({"help"}), run({"replay", "-h"}), run({"config", "-h"})}) {
    EXPECT_EQ(seen.code, kExitYes);
    EXPECT_TRUE(seen.out.starts_with("Usage: tend")) << seen.out;
    EXPECT_EQ(seen.err, "");
  }
}

TEST(Dispatch, prints_help_and_2_when_no_command_was_named) {
  for (const Seen& seen : {run({}), run({"config"})}) {
    EXPECT_EQ(seen.code, kExitUsage);
    EXPECT_TRUE(seen.out.starts_with("Usage: tend")) << seen.out;
    EXPECT_EQ(seen.err, "");
  }
}

TEST(Dispatch, prints_version_and_commit) {
  const Seen seen = run({"--version"});
  EXPECT_EQ(seen.code, kExitYes);
  EXPECT_EQ(seen.out, "tend " + std::string(tend_version()) + " (commit " +
                          std::string(tend_commit()) + ")\n");
}

TEST(Dispatch, says_when_its_output_was_lost) {
  SimWorld sim;
  sim.out.room = 10;
  World world = sim.world();
  const std::string_view words[] = {"--help"};
  EXPECT_EQ(dispatch(commands(), words, world), kExitUsage);
  EXPECT_EQ(sim.err.text, "tend: standard output could not be written to its end\n");
}

TEST(HelpCommand, says_the_same_as_the_option) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "replay"}).out, run({"replay", "--help"}).out);
  EXPECT_EQ(run({"help", "config"}).out, run({"config", "--help"}).out);
  EXPECT_EQ(run({"help", "config", "check"}).out, run({"config", "check", "--help"}).out);
}

TEST(HelpCommand, prints_the_man_page) {
  EXPECT_EQ(run({"help", "--man"}).out, man_page(commands(), tend_version()));
}

TEST(HelpCommand, refuses_what_is_no_command) {
  EXPECT_EQ(run({"help", "repaly"}).code, kExitUsage);
  EXPECT_EQ(run({"help", "repaly"}).err,
            "tend: no command 'repaly'; did you mean 'replay'? (see 'tend --help')\n");
  EXPECT_EQ(run({"help", "replay", "more"}).err,
            "tend help: unexpected argument 'more' (see 'tend --help')\n");
}

TEST(CompletionCommand, prints_a_script_for_each_shell) {
  EXPECT_TRUE(run({"completion", "bash"}).out.ends_with("complete -F _tend tend\n"));
  EXPECT_TRUE(run({"completion", "zsh"}).out.starts_with("#compdef tend\n"));
  EXPECT_NE(run({"completion", "fish"}).out.find("complete -c tend -f\n"), std::string::npos);
  EXPECT_EQ(run({"completion", "tcsh"}).err,
            "tend completion: SHELL is bash, zsh or fish, not 'tcsh'\n");
}

}  // namespace
}  // namespace tend
