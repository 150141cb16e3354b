// `tend run`: a program is kept and shows through as if nobody kept it; and what happens when the
// viewer, the keeper or the program is signalled.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

class RunTest : public E2e {
 protected:
  static Arguments shell(const std::string& script) { return {"sh", "-c", script}; }
  static Arguments run_of(const Arguments& command) { return Arguments{"run", "--"} + command; }
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }

  /// `tend run` with these options on a worker that goes on until it is ended; returns when the
  /// worker's third line was shown.
  Background start_worker(const Arguments& options, const Arguments& worker_options = {}) {
    Background viewer = start_tend(Arguments{"run"} + options + Arguments{"--"} +
                                   worker(Arguments{"--pids", pids().string()} + worker_options));
    EXPECT_TRUE(eventually([&] { return viewer.out().contains("line 3\n"); }))
        << viewer.out() << viewer.err();
    return viewer;
  }
};

std::string text(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

long number(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number() ? found->get<long>() : 0;
}

// Showing through.

TEST_F(RunTest, shows_both_streams_byte_for_byte) {
  const auto ran = tend(run_of(shell(R"(printf 'a\000b\377\r\n\nend'; printf 'to\nerror' >&2)")));
  EXPECT_EQ(ran.out, std::string("a\0b\xff\r\n\nend", 10));
  EXPECT_EQ(ran.err, "to\nerror");
  EXPECT_EQ(ran.exit, 0);
}

TEST_F(RunTest, shows_nothing_of_its_own_for_a_silent_program) {
  const auto ran = tend(run_of({"true"}));
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "");
}

TEST_F(RunTest, loses_nothing_of_a_flood) {
  std::string flood;
  for (int i = 1; i <= 1'000'000; ++i) flood += std::to_string(i) + "\n";
  const auto ran = tend(run_of({"seq", "1000000"}));
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(ran.out.size(), flood.size());
  EXPECT_TRUE(ran.out == flood);
}

TEST_F(RunTest, passes_the_exit_code_through) {
  EXPECT_EQ(tend(run_of(shell("exit 7"))).exit, 7);
  EXPECT_EQ(tend(run_of(shell("exit 255"))).exit, 255);
}

TEST_F(RunTest, turns_a_signal_into_128_plus_its_number) {
  EXPECT_EQ(tend(run_of(worker({"--lines", "1", "--crash", std::to_string(SIGKILL)}))).exit,
            128 + SIGKILL);
  EXPECT_EQ(tend(run_of(worker({"--lines", "1", "--crash", std::to_string(SIGSEGV)}))).exit,
            128 + SIGSEGV);
}

TEST_F(RunTest, says_in_one_line_that_a_program_was_not_found) {
  const auto ran = tend(run_of({"no-such-program-anywhere"}));
  EXPECT_EQ(ran.exit, 127);
  EXPECT_EQ(ran.out, "");
  ASSERT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  EXPECT_TRUE(ran.err.contains("no-such-program-anywhere")) << ran.err;
}

TEST_F(RunTest, says_in_one_line_that_a_file_is_no_program) {
  std::ofstream(scratch() / "data") << "no program\n";
  const auto ran = tend(run_of({(scratch() / "data").string()}));
  EXPECT_EQ(ran.exit, 126);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
}

TEST_F(RunTest, wants_a_command) {
  const auto ran = tend({"run"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(ran.err.empty());
  EXPECT_TRUE(agent_folders().empty());
}

TEST_F(RunTest, gives_the_program_an_empty_input_unless_told_otherwise) {
  const auto none = tend(run_of({"cat"}), "hello");
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.exit, 0);
  const auto inherited = tend({"run", "--stdin", "inherit", "--", "cat"}, "hello");
  EXPECT_EQ(inherited.out, "hello");
  EXPECT_EQ(inherited.exit, 0);
}

TEST_F(RunTest, tells_the_program_whose_it_is) {
  const auto ran = tend({"run", "--name", "coder", "--", "sh", "-c",
                         R"(printf '%s\n' "$TEND_INFRA" "$TEND_HOME" "$TEND_AGENT" "$TEND_LIFE")"
                         R"( "${TEND_RESUME-unset}" "${TEND_ATTEMPT-unset}")"});
  EXPECT_EQ(lines_of(ran.out), (std::vector<std::string>{only_agent().string(), home().string(),
                                                         "coder", "1", "unset", "unset"}));
}

TEST_F(RunTest, runs_the_program_where_it_was_called) {
  const auto ran = run({.arguments = {"sh", "-c", "cd \"$1\" && exec \"$2\" run -- pwd", "sh",
                                      scratch().string(), TEND_BINARY}});
  EXPECT_EQ(ran.out, scratch().string() + "\n") << ran.err;
}

TEST_F(RunTest, returns_while_a_process_left_behind_holds_the_stream) {
  const auto ran = tend(
      run_of(worker({"--lines", "2", "--hold-stream", "--exit", "4", "--pids", pids().string()})));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.exit, 4);
  EXPECT_EQ(ran.out, "line 1\nline 2\n");
}

TEST_F(RunTest, goes_on_showing_after_the_program_emptied_its_stream) {
  const auto ran =
      tend(run_of(worker({"--lines", "100", "--every", "10", "--truncate-stdout", "50"})));
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.out.starts_with("line 1\n")) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("line 99\nline 100\n")) << ran.out;
}

TEST_F(RunTest, keeps_two_in_one_home_apart) {
  const Arguments lines{"--lines", "20", "--every", "5", "--say"};
  Background first = start_tend(run_of(worker(lines + Arguments{"first "})));
  Background second = start_tend(run_of(worker(lines + Arguments{"second "})));
  const auto of_first = first.wait();
  const auto of_second = second.wait();
  EXPECT_EQ(of_first.exit, 0) << of_first.err;
  EXPECT_EQ(of_second.exit, 0) << of_second.err;
  EXPECT_FALSE(of_first.out.contains("second"));
  EXPECT_FALSE(of_second.out.contains("first"));
  EXPECT_EQ(lines_of(of_first.out).size(), 20U);
  EXPECT_EQ(lines_of(of_second.out).size(), 20U);
  EXPECT_EQ(agent_folders().size(), 2U);
}

TEST_F(RunTest, refuses_a_name_that_is_taken) {
  const Path folder = keep({"--name", "coder"}, worker({"--pids", pids().string()}));
  ASSERT_FALSE(folder.empty());
  const auto second = tend({"run", "--name", "coder", "--", "true"});
  EXPECT_EQ(second.exit, 1);
  EXPECT_EQ(lines_of(second.err).size(), 1U) << second.err;
  EXPECT_TRUE(second.err.contains("`tend stop coder`")) << second.err;
  EXPECT_EQ(agent_folders().size(), 1U);
  EXPECT_EQ(tend({"stop", "coder"}).exit, 0);
  EXPECT_EQ(tend({"run", "--name", "coder", "--", "true"}).exit, 0);
}

TEST_F(RunTest, gives_one_name_to_one_of_many_that_come_at_once) {
  std::vector<Background> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(start_tend({"run", "--detach", "--name", "coder", "--", "sleep", "600"}));
  }
  int started = 0;
  for (Background& one : all) started += one.wait().exit == 0 ? 1 : 0;
  EXPECT_EQ(started, 1);
  EXPECT_EQ(agent_folders().size(), 1U);
}

// What is on record.

TEST_F(RunTest, records_a_good_end) {
  EXPECT_EQ(tend({"run", "--name", "coder", "--", "true"}).exit, 0);
  const Json heartbeat = heartbeat_of(only_agent());
  EXPECT_EQ(text(heartbeat, "status"), "completed") << heartbeat;
  EXPECT_EQ(text(heartbeat, "outcome"), "done") << heartbeat;
  EXPECT_EQ(text(heartbeat, "agent"), "coder") << heartbeat;
  EXPECT_EQ(number(heartbeat, "life"), 1) << heartbeat;
}

TEST_F(RunTest, records_a_bad_end) {
  EXPECT_EQ(tend(run_of(shell("exit 3"))).exit, 3);
  const Json heartbeat = heartbeat_of(only_agent());
  EXPECT_EQ(text(heartbeat, "status"), "withdrawn") << heartbeat;
  EXPECT_EQ(text(heartbeat, "outcome"), "failed") << heartbeat;
}

TEST_F(RunTest, keeps_its_files_from_everybody_else) {
  EXPECT_EQ(tend(run_of({"true"})).exit, 0);
  ASSERT_FALSE(only_agent().empty());
  for (const auto& entry : fs::recursive_directory_iterator(home())) {
    if (entry.is_symlink()) continue;
    const auto open_to_others =
        entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all);
    EXPECT_EQ(open_to_others, fs::perms::none) << entry.path();
  }
}

TEST_F(RunTest, leaves_no_process_when_it_is_over) {
  const auto ran = tend(run_of(worker({"--lines", "3", "--pids", pids().string()})));
  EXPECT_EQ(ran.exit, 0);
  const long keeper = number(heartbeat_of(only_agent()), "keeper_pid");
  ASSERT_GT(keeper, 0);
  EXPECT_TRUE(eventually([&] { return !is_running(static_cast<pid_t>(keeper)); }));
}

// Detached.

TEST_F(RunTest, detaches_at_once_and_the_program_goes_on) {
  const auto ran = tend(Arguments{"run", "--detach", "--name", "coder", "--"} +
                        worker({"--pids", pids().string()}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Path folder = only_agent();
  ASSERT_FALSE(folder.empty());
  EXPECT_EQ(ran.out, "coder " + folder.string() + "\n");

  const pid_t agent = pid_of(pids(), "main");
  ASSERT_NE(agent, 0);
  const auto lines = [&] { return lines_of(read_file(folder / "stream.jsonl")).size(); };
  const std::size_t before = lines();
  EXPECT_TRUE(eventually([&] { return lines() > before + 5; }));
  EXPECT_TRUE(is_running(agent));
  EXPECT_TRUE(eventually([&] {
    const Json heartbeat = heartbeat_of(folder);
    return text(heartbeat, "status") == "running" && number(heartbeat, "pid") == agent;
  })) << heartbeat_of(folder);
}

TEST_F(RunTest, detached_records_the_end_by_itself) {
  const auto ran = tend(Arguments{"run", "--detach", "--"} + worker({"--lines", "5"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Path folder = only_agent();
  EXPECT_TRUE(eventually([&] { return text(heartbeat_of(folder), "status") == "completed"; }))
      << heartbeat_of(folder);
  EXPECT_EQ(read_file(folder / "stream.jsonl"), "line 1\nline 2\nline 3\nline 4\nline 5\n");
}

// Signals to the viewer.

TEST_F(RunTest, stops_the_program_when_the_viewer_is_interrupted) {
  Background viewer = start_worker({});
  const pid_t agent = pid_of(pids(), "main");
  viewer.signal(SIGINT);
  const auto ran = viewer.wait();
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.exit, 128 + SIGINT) << ran.err;
  EXPECT_FALSE(is_running(agent));
  const Json heartbeat = heartbeat_of(only_agent());
  EXPECT_EQ(text(heartbeat, "status"), "withdrawn") << heartbeat;
  EXPECT_EQ(text(heartbeat, "outcome"), "stopped") << heartbeat;
  EXPECT_EQ(number(heartbeat, "life"), 1) << heartbeat;
}

TEST_F(RunTest, stops_the_program_when_the_viewer_is_terminated) {
  Background viewer = start_worker({"--restart", "always", "--policy", "agent"});
  const pid_t agent = pid_of(pids(), "main");
  viewer.signal(SIGTERM);
  const auto ran = viewer.wait();
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.exit, 128 + SIGTERM) << ran.err;
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(text(heartbeat_of(only_agent()), "outcome"), "stopped");
  EXPECT_EQ(text(heartbeat_of(only_agent()), "ended_by"), "SIGTERM");
}

TEST_F(RunTest, interrupts_a_shell_and_the_tool_it_waits_for) {
  Background viewer = start_tend(run_of(shell("sh -c 'echo ready; exec sleep 600'; true")));
  ASSERT_TRUE(eventually([&] { return viewer.out() == "ready\n"; }));
  viewer.signal(SIGINT);
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 128 + SIGINT) << ran.err;
  const std::string journal = read_file(only_agent() / "journal.jsonl");
  EXPECT_TRUE(journal.contains("stopped: ended by SIGINT")) << journal;
}

TEST_F(RunTest, stops_also_what_escaped_into_another_session) {
  Background viewer = start_worker({}, {"--escape"});
  const pid_t escaped = pid_of(pids(), "escaped");
  ASSERT_NE(escaped, 0);
  ASSERT_TRUE(is_running(escaped));
  viewer.signal(SIGINT);
  EXPECT_FALSE(viewer.wait().timed_out);
  EXPECT_FALSE(is_running(escaped));
}

TEST_F(RunTest, stops_a_program_that_does_not_listen) {
  Background viewer = start_worker({}, {"--ignore-term"});
  const pid_t agent = pid_of(pids(), "main");
  viewer.signal(SIGINT);
  const auto ran = viewer.wait(2 * kPatience);
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.exit, 128 + SIGKILL) << ran.err;
  EXPECT_FALSE(is_running(agent));
}

TEST_F(RunTest, only_detaches_when_the_terminal_goes_away) {
  Background viewer = start_worker({});
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  viewer.signal(SIGHUP);
  EXPECT_FALSE(viewer.wait().timed_out);
  const auto lines = [&] { return lines_of(read_file(folder / "stream.jsonl")).size(); };
  const std::size_t before = lines();
  EXPECT_TRUE(eventually([&] { return lines() > before + 10; }));
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(text(heartbeat_of(folder), "status"), "running");
}

TEST_F(RunTest, only_detaches_when_the_viewer_is_killed) {
  Background viewer = start_worker({});
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  viewer.signal(SIGKILL);
  EXPECT_EQ(viewer.wait().exit, -SIGKILL);
  const auto lines = [&] { return lines_of(read_file(folder / "stream.jsonl")).size(); };
  const std::size_t before = lines();
  EXPECT_TRUE(eventually([&] { return lines() > before + 10; }));
  EXPECT_TRUE(is_running(agent));
}

// Deaths of the keeper and of the program.

TEST_F(RunTest, puts_a_new_keeper_in_the_place_of_a_killed_one) {
  Background viewer = start_worker({});
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  const Json before = heartbeat_of(folder);
  const long keeper = number(before, "keeper_pid");
  ASSERT_GT(keeper, 0) << before;
  ASSERT_NE(keeper, agent);
  ASSERT_TRUE(kill(static_cast<pid_t>(keeper)));

  EXPECT_TRUE(eventually([&] {
    const long now = number(heartbeat_of(folder), "keeper_pid");
    return now != 0 && now != keeper && is_running(static_cast<pid_t>(now));
  })) << heartbeat_of(folder);
  const Json after = heartbeat_of(folder);
  EXPECT_EQ(number(after, "pid"), agent) << after;
  EXPECT_EQ(number(after, "life"), 1) << after;
  EXPECT_EQ(text(after, "status"), "running") << after;
  EXPECT_TRUE(is_running(agent));

  const std::size_t shown = lines_of(viewer.out()).size();
  EXPECT_TRUE(eventually([&] { return lines_of(viewer.out()).size() > shown + 5; }));
  viewer.signal(SIGINT);
  const auto ran = viewer.wait();
  EXPECT_FALSE(ran.timed_out);
  EXPECT_FALSE(is_running(agent));
  const auto lines = lines_of(ran.out);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i], "line " + std::to_string(i + 1)) << "a line was lost or doubled";
  }
}

TEST_F(RunTest, brings_back_a_killed_program) {
  Background viewer = start_tend(
      Arguments{"run", "--restart", "on-failure", "--policy", "agent", "--", "sh", "-c",
                R"(echo "life $TEND_LIFE resume ${TEND_RESUME-no} attempt ${TEND_ATTEMPT-none}"; )"
                R"(exec "$0" "$@")"} +
      worker({"--pids", pids().string()}));
  ASSERT_TRUE(eventually([&] { return viewer.out().contains("line 3\n"); })) << viewer.err();
  EXPECT_TRUE(viewer.out().starts_with("life 1 resume no attempt none\n")) << viewer.out();
  const pid_t first = pid_of(pids(), "main");
  ASSERT_TRUE(kill(first));

  const Path folder = only_agent();
  EXPECT_TRUE(eventually([&] {
    const Json heartbeat = heartbeat_of(folder);
    return number(heartbeat, "life") == 2 && number(heartbeat, "pid") != first &&
           text(heartbeat, "status") == "running";
  })) << heartbeat_of(folder);
  EXPECT_TRUE(eventually([&] { return viewer.out().contains("life 2 resume 1 attempt 1\n"); }))
      << viewer.out();
  EXPECT_FALSE(viewer.is_over());
  viewer.signal(SIGINT);
  EXPECT_FALSE(viewer.wait().timed_out);
}

TEST_F(RunTest, does_not_bring_back_what_nobody_asked_to) {
  Background viewer = start_worker({});
  ASSERT_TRUE(kill(pid_of(pids(), "main")));
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 128 + SIGKILL) << ran.err;
  const Json heartbeat = heartbeat_of(only_agent());
  EXPECT_EQ(number(heartbeat, "life"), 1) << heartbeat;
  EXPECT_EQ(text(heartbeat, "outcome"), "failed") << heartbeat;
}

TEST_F(RunTest, ends_what_a_killed_program_left_before_it_brings_it_back) {
  Background viewer = start_worker({"--restart", "on-failure", "--policy", "agent"}, {"--escape"});
  const pid_t escaped = pid_of(pids(), "escaped");
  ASSERT_NE(escaped, 0);
  ASSERT_TRUE(kill(pid_of(pids(), "main")));
  const Path folder = only_agent();
  EXPECT_TRUE(eventually([&] {
    const Json heartbeat = heartbeat_of(folder);
    return number(heartbeat, "life") == 2 && text(heartbeat, "status") == "running";
  })) << heartbeat_of(folder);
  EXPECT_FALSE(is_running(escaped));
}

}  // namespace
}  // namespace tend::e2e
