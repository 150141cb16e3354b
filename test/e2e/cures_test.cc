// What is done about a program that hangs, ends or will not end: saved, killed, resumed, held,
// stopped; and that nothing of one life is left when the next begins.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

using std::chrono::seconds;

class CuresTest : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  static Arguments shell(const std::string& script) { return {"sh", "-c", script}; }
  /// Hangs in its first life, and works in every other.
  Arguments hangs_once(const Arguments& more = {}) {
    const auto work = worker(Arguments{"--pids", pids().string()} + more);
    return Arguments{"sh", "-c",
                     R"(if [ "$TEND_LIFE" = 1 ]; then exec "$@" --hang-after 3; fi; exec "$@")",
                     "sh"} +
           work;
  }
  static Arguments impatient() {
    return {"--name", "a", "--policy", "agent", "--limit", "model=1s", "--limit", "confirm=1s"};
  }
  /// All pids that stood under this name in the file.
  [[nodiscard]] std::vector<pid_t> all_pids(const std::string& name) const {
    std::vector<pid_t> result;
    for (const std::string& line : lines_of(read_file(pids()))) {
      if (line.starts_with(name + " ")) result.push_back(std::stoi(line.substr(name.size() + 1)));
    }
    return result;
  }
  static std::function<bool(const Json&)> in_life(long life) {
    return [life](const Json& heartbeat) {
      return number_in(heartbeat, "life") == life && text_in(heartbeat, "verdict") == "working";
    };
  }
  static bool is_over(const Json& heartbeat) {
    return text_in(heartbeat, "status") == "completed" ||
           text_in(heartbeat, "status") == "withdrawn";
  }
  std::string git(const Path& repository, const Arguments& arguments) {
    const auto ran =
        run({.arguments = Arguments{"git", "-C", repository.string(), "-c", "user.name=Tester",
                                    "-c", "user.email=tester@localhost"} +
                          arguments});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out;
  }
};

// Saved work.

TEST_F(CuresTest, a_name_that_is_used_again_moves_no_work_that_was_saved) {
  const Path repository = scratch() / "repository";
  std::filesystem::create_directory(repository);
  git(repository, {"init", "-q", "-b", "main"});
  for (const std::string work : {"first", "second"}) {
    std::ofstream(repository / "work.txt") << work << "\n";
    const auto ran = tend(
        {"run", "--name", "dup", "--worktree", repository.string(), "--", "sh", "-c", "exit 1"});
    EXPECT_EQ(ran.exit, 1) << ran.err;
  }
  EXPECT_EQ(git(repository, {"show", "refs/tend/dup/1:work.txt"}), "first\n");
  EXPECT_EQ(git(repository, {"show", "refs/tend/dup/1-2:work.txt"}), "second\n");
  // A keeper says what it did to people last.
  ASSERT_TRUE(eventually([&] { return done("preserve").size() == 2; }));
  const auto saved = done("preserve");
  EXPECT_TRUE(saved[1].contains("1 file in refs/tend/dup/1-2 ")) << saved[1];
}

// Hanging.

TEST_F(CuresTest, a_hanging_program_is_saved_killed_and_resumed) {
  const Path repository = scratch() / "repository";
  std::filesystem::create_directory(repository);
  git(repository, {"init", "-q", "-b", "main"});
  std::ofstream(repository / "kept.txt") << "committed\n";
  git(repository, {"add", "-A"});
  git(repository, {"commit", "-q", "-m", "first"});
  const std::string head = git(repository, {"rev-parse", "HEAD"});
  std::ofstream(repository / "kept.txt") << "changed by hand\n";

  const Path made = repository / "made.txt";
  const Path folder = keep(impatient() + Arguments{"--worktree", repository.string()},
                           hangs_once({"--write", made.string()}));
  ASSERT_TRUE(await(folder, in_life(2)));
  const std::vector<pid_t> lives = all_pids("main");
  ASSERT_EQ(lives.size(), 2U);
  EXPECT_FALSE(is_running(lives[0]));
  EXPECT_TRUE(is_running(lives[1]));

  const std::string refs = git(repository, {"for-each-ref", "--format=%(refname)", "refs/tend"});
  ASSERT_FALSE(refs.empty());
  const std::string ref = lines_of(refs).front();
  EXPECT_EQ(git(repository, {"show", ref + ":kept.txt"}), "changed by hand\n");
  EXPECT_TRUE(git(repository, {"show", ref + ":made.txt"}).starts_with("line 1\nline 2\nline 3\n"));
  EXPECT_EQ(git(repository, {"rev-parse", "HEAD"}), head);
  EXPECT_EQ(git(repository, {"diff", "--cached", "--name-only"}), "");

  // Saved before it was killed, killed before it was resumed.
  std::vector<std::string> order;
  for (const Json& event : events()) {
    const std::string action = text_in(event, "action");
    if (action == "preserve" || action == "kill" || action == "resume") order.push_back(action);
  }
  ASSERT_GE(order.size(), 3U);
  EXPECT_EQ(order.front(), "preserve");
  EXPECT_EQ(order[1], "kill");
  EXPECT_EQ(order.back(), "resume");
}

TEST_F(CuresTest, a_hanging_program_is_only_reported_if_that_was_asked) {
  const Path folder = keep(impatient() + Arguments{"--on-stall", "report"}, hangs_once());
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "verdict") == "stalled"; }));
  EXPECT_TRUE(eventually([&] {
    return done("kill") == std::vector<std::string>{"not done: --on-stall report"};
  })) << testing::PrintToString(done("kill"));
  std::this_thread::sleep_for(seconds{2});
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  EXPECT_TRUE(is_running(pid_of(pids(), "main")));
}

TEST_F(CuresTest, a_hanging_program_is_killed_and_not_resumed_if_that_was_asked) {
  const Path folder = keep(impatient() + Arguments{"--on-stall", "kill"}, hangs_once());
  ASSERT_TRUE(await(folder, is_over));
  const Json heartbeat = heartbeat_of(folder);
  EXPECT_EQ(number_in(heartbeat, "life"), 1) << heartbeat;
  EXPECT_EQ(text_in(heartbeat, "outcome"), "failed") << heartbeat;
  EXPECT_TRUE(text_in(heartbeat, "ended_by").starts_with("killed by tend")) << heartbeat;
  EXPECT_FALSE(is_running(pid_of(pids(), "main")));
}

TEST_F(CuresTest, a_hanging_program_that_ignores_signals_is_killed_all_the_same) {
  const Path folder = keep(impatient(), hangs_once({"--ignore-term"}));
  ASSERT_TRUE(await(folder, in_life(2), 2 * kPatience));
  EXPECT_EQ(done("kill"), std::vector<std::string>{"ended by SIGKILL"});
  ASSERT_EQ(all_pids("main").size(), 2U);
  EXPECT_FALSE(is_running(all_pids("main")[0]));
}

TEST_F(CuresTest, a_program_that_promised_nothing_is_not_ended_for_its_silence) {
  const Path folder = keep({"--limit", "model=1s", "--limit", "confirm=1s"}, hangs_once());
  const pid_t agent = pid_of(pids(), "main");
  std::this_thread::sleep_for(seconds{5});
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  EXPECT_TRUE(done("kill").empty());
}

TEST_F(CuresTest, a_program_that_only_writes_files_is_not_taken_for_hanging) {
  const Path tree = scratch() / "tree";
  std::filesystem::create_directory(tree);
  const Path folder =
      keep({"--name", "a", "--policy", "agent", "--limit", "model=3s", "--limit", "confirm=3s",
            "--worktree", tree.string()},
           Arguments{"sh", "-c", R"(echo begun; while :; do date +%N >"$1"/made; sleep 0.2; done)",
                     "sh", tree.string()});
  std::this_thread::sleep_for(seconds{8});  // silence and confirmation and more
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1) << heartbeat_of(folder);
  EXPECT_TRUE(done("kill").empty()) << read_file(home() / "events.jsonl");
}

// What one life leaves behind.

TEST_F(CuresTest, what_holds_the_stream_is_ended_before_the_next_life) {
  const Path folder = keep(impatient(), hangs_once({"--hold-stream"}));
  ASSERT_TRUE(await(folder, in_life(2)));
  ASSERT_EQ(all_pids("holder").size(), 2U);
  EXPECT_FALSE(is_running(all_pids("holder")[0]));
  EXPECT_TRUE(is_running(all_pids("holder")[1]));
}

TEST_F(CuresTest, S05_a_hanging_program_is_ended_and_the_group_of_its_keeper_is_not) {
  const Path folder = keep(impatient(), hangs_once());
  ASSERT_TRUE(
      await(folder, [](const Json& heartbeat) { return number_in(heartbeat, "life") > 0; }));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(await(folder, in_life(2)));
  EXPECT_EQ(number_in(heartbeat_of(folder), "keeper_pid"), keeper);
  const auto program = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  EXPECT_EQ(getpgid(program), program);
  EXPECT_NE(getpgid(program), getpgid(keeper));
}

TEST_F(CuresTest, what_escaped_into_another_session_is_ended_before_the_next_life) {
  const Path folder = keep(impatient(), hangs_once({"--escape", "--ignore-term"}));
  ASSERT_TRUE(await(folder, in_life(2), 2 * kPatience));
  ASSERT_EQ(all_pids("escaped").size(), 2U);
  EXPECT_FALSE(is_running(all_pids("escaped")[0]));
}

TEST_F(CuresTest, what_escaped_without_its_environment_is_ended_too) {
  const Path escaped = scratch() / "escaped";
  const Path folder =
      keep({"--name", "a", "--restart", "on-failure", "--policy", "agent"},
           {"sh", "-c",
            R"(env -i setsid sh -c 'echo $$ >>"$1"; exec sleep 120' sh "$1" & sleep 1; )"
            R"(if [ "$TEND_LIFE" = 1 ]; then exit 3; fi; while :; do echo on; sleep 0.2; done)",
            "sh", escaped.string()});
  ASSERT_TRUE(await(folder, in_life(2)));
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(escaped)).size() == 2; }));
  const auto lines = lines_of(read_file(escaped));
  EXPECT_FALSE(is_running(std::stoi(lines[0])));
  ASSERT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_FALSE(is_running(std::stoi(lines[1])));
}

TEST_F(CuresTest, nothing_is_left_of_a_program_that_ended_well_but_left_something) {
  const Path folder = keep({}, worker({"--lines", "3", "--escape", "--pids", pids().string()}));
  const pid_t escaped = pid_of(pids(), "escaped");
  ASSERT_TRUE(await(folder, is_over));
  EXPECT_FALSE(is_running(escaped));
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "done");
}

// Beginning again.

TEST_F(CuresTest, always_means_after_a_good_end_too) {
  const Path folder = keep({"--name", "a", "--policy", "agent", "--restart", "always"},
                           shell("echo $TEND_LIFE; sleep 0.3"));
  EXPECT_TRUE(await(folder, [](const Json& h) { return number_in(h, "life") >= 4; }));
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
}

TEST_F(CuresTest, on_failure_means_not_after_a_good_end) {
  const auto ran =
      tend({"run", "--policy", "agent", "--restart", "on-failure", "--", "sh", "-c",
            R"(echo "life $TEND_LIFE"; if [ "$TEND_LIFE" = 1 ]; then exit 3; fi; exit 0)"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "life 1\nlife 2\n");
  EXPECT_EQ(text_in(heartbeat_of(only_agent()), "outcome"), "done");
}

TEST_F(CuresTest, never_means_never) {
  const auto ran = tend(
      {"run", "--policy", "agent", "--restart", "never", "--", "sh", "-c", "echo once; exit 3"});
  EXPECT_EQ(ran.exit, 3) << ran.err;
  EXPECT_EQ(ran.out, "once\n");
  EXPECT_EQ(text_in(heartbeat_of(only_agent()), "outcome"), "failed");
}

TEST_F(CuresTest, one_that_fails_the_same_way_again_and_again_is_held) {
  const auto ran =
      tend({"run", "--name", "a", "--policy", "agent", "--restart", "on-failure", "--notify",
            "cat >>'" + (scratch() / "told").string() + "'", "--", "sh", "-c", "echo try; exit 3"});
  EXPECT_EQ(ran.exit, 75) << ran.err;
  EXPECT_EQ(ran.out, "try\ntry\ntry\n");
  EXPECT_TRUE(ran.err.contains("tend explain a")) << ran.err;
  const Path folder = only_agent();
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "looping");
  EXPECT_EQ(tend({"status"}).exit, 3);
  EXPECT_TRUE(eventually([&] { return read_file(scratch() / "told").contains("\"escalate\""); }));
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_TRUE(is_over(heartbeat_of(folder)));
}

// Stopping.

TEST_F(CuresTest, a_life_of_bounded_length_is_stopped) {
  const auto ran =
      tend(Arguments{"run", "--max-life", "1s", "--restart", "always", "--policy", "agent", "--"} +
           worker({"--pids", pids().string()}));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.exit, 128 + SIGINT) << ran.err;
  const Json heartbeat = heartbeat_of(only_agent());
  EXPECT_EQ(text_in(heartbeat, "ended_by"), "--max-life") << heartbeat;
  EXPECT_EQ(text_in(heartbeat, "outcome"), "stopped") << heartbeat;
  EXPECT_FALSE(is_running(pid_of(pids(), "main")));
}

TEST_F(CuresTest, a_second_order_in_a_hurry_overtakes_the_first) {
  const Path folder = keep({"--name", "a"}, worker({"--ignore-term", "--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  Background patient = start_tend({"stop", "a"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "intent.json"); }));
  std::this_thread::sleep_for(seconds{1});
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(tend({"stop", "--now", "a"}).exit, 0);
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(patient.wait().exit, 0);
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
}

TEST_F(CuresTest, work_is_saved_before_a_program_is_stopped) {
  const Path tree = scratch() / "tree";
  std::filesystem::create_directory(tree);
  git(tree, {"init", "-q", "-b", "main"});
  const Path folder =
      keep({"--name", "a", "--worktree", tree.string()},
           worker({"--pids", pids().string(), "--write", (tree / "made").string()}));
  ASSERT_TRUE(eventually([&] { return read_file(tree / "made").contains("line 3\n"); }));
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  const std::string refs = git(tree, {"for-each-ref", "--format=%(refname)", "refs/tend"});
  ASSERT_EQ(lines_of(refs).size(), 1U) << refs;
  EXPECT_TRUE(
      git(tree, {"show", lines_of(refs).front() + ":made"}).starts_with("line 1\nline 2\n"));
}

TEST_F(CuresTest, a_keeper_that_is_told_to_terminate_stops_its_program) {
  const Path folder =
      keep({"--restart", "always", "--policy", "agent"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGTERM));
  EXPECT_TRUE(await(folder, is_over));
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
  EXPECT_TRUE(eventually([&] { return !is_running(keeper); }));
}

}  // namespace
}  // namespace tend::e2e
