// `tend signals` on streams in memory: what it prints, what it complains of, how it exits.
#include "app/signals_command.h"

#include <gtest/gtest.h>

#include <string>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

const std::string kCodex = R"({"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","exit_code":0}}
{"type":"turn.completed"}
)";

class SignalsCommand : public testing::Test {
 protected:
  int run(const std::string& path) {
    arguments.positionals = {path};
    World world = sim.world();
    return signals_command(arguments, world);
  }
  void option(const std::string& name, const std::string& value) {
    arguments.options[name].push_back(value);
  }

  SimWorld sim;
  Arguments arguments;
};

TEST_F(SignalsCommand, prints_a_line_a_signal_at_the_number_of_its_line) {
  sim.files.contents["-"] = kCodex;
  option("adapter", "codex");
  EXPECT_EQ(run("-"), kExitYes);
  EXPECT_EQ(sim.out.text,
            "{\"t\":1,\"is\":\"activity\",\"from\":\"log\"}\n"
            "{\"t\":2,\"is\":\"turn-start\"}\n"
            "{\"t\":3,\"is\":\"tool-open\",\"id\":\"i1\",\"tool\":\"command_execution\"}\n"
            "{\"t\":4,\"is\":\"tool-close\",\"id\":\"i1\"}\n"
            "{\"t\":5,\"is\":\"turn-end\"}\n");
  EXPECT_EQ(sim.err.text, "");
}

TEST_F(SignalsCommand, finds_out_the_language_by_itself) {
  sim.files.contents["s"] = "a word before it begins\n" + kCodex;
  EXPECT_EQ(run("s"), kExitYes);
  EXPECT_TRUE(sim.out.text.contains("{\"t\":1,\"is\":\"progress\"}\n")) << sim.out.text;
  EXPECT_TRUE(sim.out.text.contains("{\"t\":3,\"is\":\"turn-start\"}\n")) << sim.out.text;
}

TEST_F(SignalsCommand, takes_the_times_from_a_file_and_never_goes_back) {
  sim.files.contents["s"] = "one\ntwo\nthree\nfour\n";
  sim.files.contents["times"] = "0.5\n12.25\n3\n";
  option("adapter", "lines");
  option("times", "times");
  EXPECT_EQ(run("s"), kExitYes);
  EXPECT_EQ(sim.out.text,
            "{\"t\":0.5,\"is\":\"progress\"}\n"
            "{\"t\":12.25,\"is\":\"progress\"}\n"
            "{\"t\":12.25,\"is\":\"progress\"}\n"
            "{\"t\":12.25,\"is\":\"progress\"}\n");
}

TEST_F(SignalsCommand, names_the_line_of_a_time_that_is_none) {
  for (const std::string wrong : {"soon", "1 s", "-1", "1e300", "nan", ""}) {
    SimWorld fresh;
    fresh.files.contents["s"] = "one\ntwo\n";
    fresh.files.contents["times"] = "1\n" + wrong + "\n";
    arguments.options["times"] = {"times"};
    arguments.positionals = {"s"};
    World world = fresh.world();
    EXPECT_EQ(signals_command(arguments, world), kExitUsage) << wrong;
    EXPECT_EQ(fresh.err.text,
              "tend signals: times:2: wants a number of seconds, not '" + wrong + "'\n");
  }
}

TEST_F(SignalsCommand, passes_over_a_line_that_is_too_long_and_says_so) {
  sim.files.contents["s"] = "one\n" + std::string(17'000'000, 'x') + "\ntwo\n";
  option("adapter", "lines");
  EXPECT_EQ(run("s"), kExitYes);
  EXPECT_EQ(sim.out.text,
            "{\"t\":1,\"is\":\"progress\"}\n"
            "{\"t\":2,\"is\":\"noise\"}\n"
            "{\"t\":3,\"is\":\"progress\"}\n");
  EXPECT_EQ(sim.err.text, "tend signals: line 2 is too long and was passed over\n");
}

TEST_F(SignalsCommand, says_what_a_person_should_know_on_stderr) {
  sim.files.contents["s"] =
      R"({"type":"system","subtype":"permission_denied","tool_name":"Ba\nsh","session_id":"s"})";
  EXPECT_EQ(run("s"), kExitYes);
  EXPECT_TRUE(sim.err.text.starts_with("tend signals: 'Ba\\x0ash' was not allowed"))
      << sim.err.text;
}

TEST_F(SignalsCommand, hears_nothing_in_an_empty_stream) {
  sim.files.contents["s"] = "";
  EXPECT_EQ(run("s"), kExitYes);
  EXPECT_EQ(sim.out.text, "");
}

TEST_F(SignalsCommand, refuses_what_it_cannot_read_or_hear) {
  EXPECT_EQ(run("missing"), kExitUsage);
  EXPECT_TRUE(sim.err.text.starts_with("tend signals: ")) << sim.err.text;
  sim.files.contents["s"] = "x\n";
  sim.err.text.clear();
  option("adapter", "none");
  EXPECT_EQ(run("s"), kExitUsage);
  EXPECT_EQ(sim.err.text, "tend signals: 'none' hears nothing; choose another adapter\n");
  EXPECT_EQ(sim.out.text, "");
}

}  // namespace
}  // namespace tend
