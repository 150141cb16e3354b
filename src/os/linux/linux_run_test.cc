// Commands run to their end, over their deadline, and with more output than anybody wants.
#include "os/linux/linux_run.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "os/linux/process_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class LinuxRun : public testing::RealProcesses {
 protected:
  tend::Run script(const std::string& text) {
    return {.command = {"sh", "-c", text}, .working_folder = folder_};
  }

  Result<Ran> ran(const tend::Run& run) {
    std::optional<Result<Ran>> result;
    const Subscribed running = processes_.run(run, [&](Result<Ran> end) {
      EXPECT_FALSE(result) << "told twice";
      result = std::move(end);
    });
    EXPECT_FALSE(result) << "told before the loop ran";
    if (!run_until([&] { return result.has_value(); })) return fail("it did not end");
    return *result;
  }

  bool is_gone(std::int64_t pid) {
    const auto id = processes_.identify(pid);
    return id && !*id;
  }
};

TEST_F(LinuxRun, gives_both_outputs_and_the_exit) {
  const auto result = ran(script("echo out; echo err >&2; exit 5"));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->exit, code(5));
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->error, "err\n");
  EXPECT_FALSE(result->timed_out);
}

TEST_F(LinuxRun, feeds_its_input) {
  tend::Run run = script("cat");
  run.input = std::string(3'000'000, 'x');
  run.most_output = 4'000'000;
  const auto result = ran(run);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, run.input);
  run.command = {"true"};  // does not read it
  EXPECT_EQ(ran(run)->exit, code(0));
}

TEST_F(LinuxRun, has_no_input_unless_it_is_given) {
  EXPECT_EQ(ran(script("cat; echo end"))->output, "end\n");
}

TEST_F(LinuxRun, cuts_a_huge_output_and_runs_on_to_the_end) {
  tend::Run run = script("head -c 20000000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3");
  run.most_output = 1000;
  const auto result = ran(run);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit, code(3));
  EXPECT_EQ(result->output, std::string(1000, '\0'));
  EXPECT_EQ(result->error, std::string(1000, '\0'));
}

TEST_F(LinuxRun, adds_to_our_environment) {
  ::setenv("TEND_TEST_RUN", "ours", 1);
  ::setenv("TEND_TEST_KEPT", "kept", 1);
  tend::Run run = script("echo $TEND_TEST_RUN $TEND_TEST_KEPT; pwd");
  run.environment = {"TEND_TEST_RUN=added"};
  EXPECT_EQ(ran(run)->output, "added kept\n" + folder_ + "\n");
  ::unsetenv("TEND_TEST_RUN");
  ::unsetenv("TEND_TEST_KEPT");
}

TEST_F(LinuxRun, says_what_cannot_be_run) {
  EXPECT_EQ(ran({.command = {"no-such-program-anywhere"}}).error().text,
            "cannot run 'no-such-program-anywhere': not found in PATH");
  EXPECT_EQ(ran({.command = {}}).error().text, "there is no command to run");
}

TEST_F(LinuxRun, ends_all_of_it_at_the_deadline) {
  tend::Run run = script(
      "(setsid sleep 1000 & echo $! > fled; exec sleep 1000) & sleep 1000 & "
      "echo $! > pid; echo begun; wait");
  run.deadline = 500ms;
  const auto result = ran(run);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->exit, killed_by(SIGKILL));
  EXPECT_EQ(result->output, "begun\n");
  for (const char* name : {"pid", "fled"}) {
    const std::int64_t pid = number_in(path(name));
    EXPECT_TRUE(run_until([&] { return is_gone(pid); })) << name;
  }
}

TEST_F(LinuxRun, does_not_wait_for_what_was_left_in_the_background) {
  const auto result = ran(script("sleep 1000 & echo $! > pid; echo said"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit, code(0));
  EXPECT_EQ(result->output, "said\n");
  EXPECT_FALSE(is_gone(identified(number_in(path("pid"))).pid));
}

TEST_F(LinuxRun, is_ended_when_nobody_wants_to_know) {
  Subscribed running = processes_.run(script("sleep 1000 & echo $! $$ > pid; wait"),
                                      [](const Result<Ran>&) { ADD_FAILURE() << "told"; });
  const std::int64_t pid = number_in(path("pid"));
  running.reset();
  EXPECT_TRUE(run_until([&] { return is_gone(pid); }));
}

TEST_F(LinuxRun, may_be_dropped_from_its_own_callback) {
  bool told = false;
  Subscribed running = processes_.run(script("exit 0"), [&](const Result<Ran>&) {
    told = true;
    running.reset();
  });
  EXPECT_TRUE(run_until([&] { return told; }));
  told = false;
  running = processes_.run({.command = {}}, [&](const Result<Ran>&) {
    told = true;
    running.reset();
  });
  EXPECT_TRUE(run_until([&] { return told; }));
}

TEST_F(LinuxRun, runs_many_at_once) {
  int ended = 0;
  std::vector<Subscribed> all;
  all.reserve(20);
  for (int i = 0; i < 20; ++i) {
    all.push_back(processes_.run(script("echo " + std::to_string(i)), [&, i](Result<Ran> result) {
      ASSERT_TRUE(result);
      EXPECT_EQ(result->output, std::to_string(i) + "\n");
      ++ended;
    }));
  }
  EXPECT_TRUE(run_until([&] { return ended == 20; }));
}

}  // namespace
}  // namespace tend
