// Keepers come and go, the program stays: killed keepers and their successors, a keeper that is
// replaced by its newer self, and what is known of an end that happened in between.
#include <fcntl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class SuccessorsTest : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  [[nodiscard]] Path go() const { return scratch() / "go"; }

  /// Prints and waits until the file `go` is there, then ends with this code.
  [[nodiscard]] Arguments ends_when_told(int code) const {
    return {"sh",
            "-c",
            R"(echo "main $$" >>"$2"; while [ ! -e "$1" ]; do echo on; sleep 0.1; done; exit "$3")",
            "sh",
            go().string(),
            pids().string(),
            std::to_string(code)};
  }
  void let_go() const { ::close(::creat(go().c_str(), 0600)); }

  /// SIGKILL for the keeper; returns when its lock must be free.
  void kill_keeper(const Path& folder) {
    const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
    ASSERT_TRUE(kill(keeper));
    ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  }
  /// The program came to us when its keeper died: takes its end off our hands.
  static void reap(pid_t agent) {
    ASSERT_TRUE(eventually([&] { return waitpid(agent, nullptr, WNOHANG) == agent; }));
  }
  [[nodiscard]] std::size_t starts() const { return lines_of(read_file(pids())).size(); }
  static bool is_over(const Json& heartbeat) {
    return text_in(heartbeat, "status") == "completed" ||
           text_in(heartbeat, "status") == "withdrawn";
  }
  /// A new keeper has put its name into the heartbeat.
  bool await_keeper_other_than(const Path& folder, long keeper) {
    return await(folder, [&](const Json& heartbeat) {
      const long now = number_in(heartbeat, "keeper_pid");
      return now != 0 && now != keeper && is_running(static_cast<pid_t>(now));
    });
  }
};

// Killed keepers.

TEST_F(SuccessorsTest, attach_puts_a_keeper_on_when_viewer_and_keeper_were_killed) {
  Background viewer =
      start_tend(Arguments{"run", "--name", "a", "--"} + worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  viewer.signal(SIGKILL);
  viewer.wait();
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));

  Background second = start_tend({"run", "--attach", "a"});
  EXPECT_TRUE(await_keeper_other_than(folder, keeper));
  EXPECT_TRUE(eventually([&] { return lines_of(second.out()).size() > 5; })) << second.err();
  EXPECT_FALSE(second.out().contains("line 1\n")) << "it shows from now on";
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), agent);
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  second.signal(SIGINT);
  const auto ran = second.wait();
  EXPECT_EQ(ran.exit, 128 + SIGINT) << ran.err;
  EXPECT_FALSE(is_running(agent));
}

TEST_F(SuccessorsTest, attach_detached_puts_a_keeper_on_and_returns) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const auto nothing_to_do = tend({"run", "-d", "--attach", "a"});
  EXPECT_EQ(nothing_to_do.out, "a " + folder.string() + "\n");
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  const auto ran = tend({"run", "-d", "--attach", "a"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "a " + folder.string() + "\n");
  EXPECT_TRUE(await_keeper_other_than(folder, keeper));
  EXPECT_TRUE(is_running(agent));
  EXPECT_TRUE(has_event("a new keeper goes on in the place of process " + std::to_string(keeper)));
}

TEST_F(SuccessorsTest, an_order_finds_a_keeper_for_a_program_that_has_none) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  const auto stopped = tend({"stop", "a"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
}

TEST_F(SuccessorsTest, of_many_keepers_that_come_at_once_one_stays) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  std::vector<Background> candidates;
  for (int i = 0; i < 8; ++i) candidates.push_back(start_tend({"keep", folder.string()}));
  ASSERT_TRUE(await_keeper_other_than(folder, keeper));
  const auto left = [&] {
    return std::ranges::count_if(candidates, [](Background& one) { return !one.is_over(); });
  };
  EXPECT_TRUE(eventually([&] { return left() == 1; })) << left();
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(starts(), 1U);
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

TEST_F(SuccessorsTest, a_viewer_gives_up_after_five_keepers_and_leaves_the_program_alone) {
  Background viewer =
      start_tend(Arguments{"run", "--name", "a", "--"} + worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  long last = 0;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(await_keeper_other_than(folder, last)) << viewer.err();
    last = number_in(heartbeat_of(folder), "keeper_pid");
    ASSERT_TRUE(kill(static_cast<pid_t>(last)));
  }
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 70) << ran.err;
  EXPECT_TRUE(ran.err.contains("tend run -d --attach")) << ran.err;
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(SuccessorsTest, a_kill_that_its_keeper_did_not_live_to_finish_is_finished_by_the_next) {
  const Path folder = keep(
      {"--name", "a", "--policy", "agent", "--limit", "model=1s", "--limit", "confirm=1s"},
      Arguments{"sh", "-c",
                R"(if [ "$TEND_LIFE" = 1 ]; then exec "$@" --hang-after 3; fi; exec "$@")", "sh"} +
          worker({"--ignore-term", "--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "verdict") == "stalled"; }));
  std::this_thread::sleep_for(seconds{1});  // in the middle of asking it to end
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  EXPECT_TRUE(is_running(agent));
  Background successor = start_tend({"keep", folder.string()});
  ASSERT_TRUE(await_keeper_other_than(folder, keeper));
  EXPECT_TRUE(await(
      folder,
      [](const Json& h) { return number_in(h, "life") == 2 && text_in(h, "verdict") == "working"; },
      3 * kPatience));
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(starts(), 2U);
}

// Ends that the keeper's successor sees, or does not.

TEST_F(SuccessorsTest, a_successor_knows_the_exit_code_of_a_program_it_did_not_start) {
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  int major = 0;
  int minor = 0;
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  if (major * 1000 + minor < 6015) GTEST_SKIP() << "this kernel does not tell it of a reaped one";

  const Path folder = keep({"--name", "a"}, ends_when_told(7));
  const pid_t agent = pid_of(pids(), "main");
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  Background viewer = start_tend({"run", "--attach", "a"});
  ASSERT_TRUE(await_keeper_other_than(folder, keeper));
  std::thread reaper([&] { waitpid(agent, nullptr, 0); });
  let_go();
  const auto ran = viewer.wait();
  reaper.join();
  EXPECT_EQ(ran.exit, 7) << ran.err;
  EXPECT_EQ(text_in(heartbeat_of(folder), "ended_by"), "exit 7");
}

TEST_F(SuccessorsTest, a_successor_knows_the_exit_code_of_one_that_ended_and_was_not_reaped) {
  const Path folder = keep({"--name", "a"}, ends_when_told(7));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  let_go();
  ASSERT_TRUE(eventually([&] { return state_letter(agent) == 'Z'; }));
  EXPECT_EQ(tend({"run", "--attach", "a"}).exit, 7);
  EXPECT_EQ(text_in(heartbeat_of(folder), "ended_by"), "exit 7");
}

TEST_F(SuccessorsTest, an_end_that_nobody_saw_is_no_good_end) {
  const Path folder = keep({"--name", "a"}, ends_when_told(0));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  let_go();
  ASSERT_NO_FATAL_FAILURE(reap(agent));
  EXPECT_EQ(tend({"run", "--attach", "a"}).exit, 1);
  const Json heartbeat = heartbeat_of(folder);
  EXPECT_EQ(text_in(heartbeat, "outcome"), "failed") << heartbeat;
  EXPECT_EQ(text_in(heartbeat, "ended_by"), "an end that nobody saw") << heartbeat;
  EXPECT_EQ(starts(), 1U);
}

TEST_F(SuccessorsTest, after_an_end_that_nobody_saw_the_program_is_resumed_if_it_should_be) {
  const Path folder =
      keep({"--name", "a", "--policy", "agent", "--restart", "on-failure"}, ends_when_told(0));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  let_go();
  ASSERT_NO_FATAL_FAILURE(reap(agent));
  EXPECT_EQ(tend({"run", "--attach", "a"}).exit, 0);
  const Json heartbeat = heartbeat_of(folder);
  EXPECT_EQ(text_in(heartbeat, "outcome"), "done") << heartbeat;
  EXPECT_EQ(number_in(heartbeat, "life"), 2) << heartbeat;
  EXPECT_EQ(starts(), 2U);
}

TEST_F(SuccessorsTest, a_program_that_said_it_was_leaving_ended_well_though_nobody_saw_it) {
  const Path folder = keep(
      {"--name", "a", "--policy", "agent"},
      Arguments{"sh", "-c",
                R"(echo "main $$" >>"$2"; echo on; "$3" state exiting; while [ ! -e "$1" ]; do )"
                R"(sleep 0.1; done)",
                "sh", go().string(), pids().string(), TEND_BINARY});
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(eventually(
      [&] { return read_file(folder / "journal.jsonl").contains("\"state\":\"exiting\""); }));
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  let_go();
  ASSERT_NO_FATAL_FAILURE(reap(agent));
  EXPECT_EQ(tend({"run", "--attach", "a"}).exit, 0);
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "done") << heartbeat_of(folder);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(SuccessorsTest, who_attaches_to_what_is_over_is_told_how_it_ended) {
  const Path folder = keep({"--name", "a"}, ends_when_told(5));
  let_go();
  ASSERT_TRUE(await(folder, is_over));
  const auto ran = tend({"run", "--attach", "a"});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_TRUE(ran.err.contains("exit 5")) << ran.err;
}

// A keeper replaced by its newer self.

TEST_F(SuccessorsTest, reload_puts_a_new_program_into_the_keepers_place) {
  const Path program = scratch() / "tend";
  fs::copy_file(TEND_BINARY, program);
  Background viewer = start(
      {.arguments = Arguments{program.string(), "run", "--name", "a", "--"} + ends_when_told(7)});
  const pid_t agent = pid_of(pids(), "main");
  const Path folder = only_agent();
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  const Json before = heartbeat_of(folder);
  const long keeper = number_in(before, "keeper_pid");

  fs::copy_file(TEND_BINARY, scratch() / "newer");
  fs::rename(scratch() / "newer", program);
  const Path exe = Path("/proc") / std::to_string(keeper) / "exe";
  ASSERT_TRUE(fs::read_symlink(exe).string().ends_with(" (deleted)"));
  const auto reloaded = tend({"reload", "a"});
  EXPECT_EQ(reloaded.exit, 0) << reloaded.err;
  EXPECT_TRUE(eventually([&] {
    std::error_code error;
    return fs::read_symlink(exe, error) == program;
  }));

  EXPECT_TRUE(is_running(agent));
  const std::size_t shown = viewer.out().size();
  EXPECT_TRUE(eventually([&] { return viewer.out().size() > shown + 20; })) << viewer.err();
  const Json after = heartbeat_of(folder);
  EXPECT_EQ(number_in(after, "keeper_pid"), keeper) << after;
  EXPECT_EQ(number_in(after, "pid"), agent) << after;
  EXPECT_EQ(number_in(after, "life"), 1) << after;
  let_go();
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 7) << ran.err;
  EXPECT_EQ(starts(), 1U);
}

TEST_F(SuccessorsTest, reload_of_one_without_a_keeper_says_so) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", pids().string()}));
  ASSERT_NE(pid_of(pids(), "main"), 0);
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  const auto ran = tend({"reload", "a"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(ran.err.contains("tend run -d --attach a")) << ran.err;
}

// What a program says of itself reaches the journal, in its own life only.

TEST_F(SuccessorsTest, what_a_program_says_is_written_down) {
  const auto ran =
      run({.arguments = {TEND_BINARY, "run", "--name", "a", "--policy", "agent", "--", "sh", "-c",
                         R"("$1" beat && "$1" state idle --until 5m && "$1" ack q1; )"
                         R"(echo "said $?"; sleep 1)",
                         "sh", TEND_BINARY}});
  EXPECT_TRUE(ran.out.contains("said 0\n")) << ran.out << ran.err;
  const std::string journal = read_file(only_agent() / "journal.jsonl");
  EXPECT_TRUE(journal.contains(R"("is":"beat","by":"agent")")) << journal;
  EXPECT_TRUE(journal.contains(R"("state":"idle")")) << journal;
  EXPECT_TRUE(journal.contains(R"("is":"ack")")) << journal;
}

TEST_F(SuccessorsTest, what_is_left_of_an_old_life_is_not_listened_to) {
  const auto ran =
      tend({"run", "--name", "a", "--policy", "agent", "--restart", "on-failure", "--", "sh", "-c",
            R"(if [ "$TEND_LIFE" = 1 ]; then exit 3; fi; for word in beat "state idle" ack; do )"
            R"(TEND_LIFE=1 "$1" $word; echo "old $?"; "$1" $word >/dev/null; echo "new $?"; done)",
            "sh", TEND_BINARY});
  EXPECT_EQ(ran.out, "old 1\nnew 0\nold 1\nnew 0\nold 1\nnew 0\n") << ran.err;
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

}  // namespace
}  // namespace tend::e2e
