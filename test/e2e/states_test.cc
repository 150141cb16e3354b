// A kept program in every state that the system has for a process: stopped, continued, frozen
// together with its keeper, zombie, gone; and what it does to its own stream.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

using std::chrono::seconds;

class StatesTest : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  Arguments tireless(const Arguments& more = {}) {
    return worker(Arguments{"--pids", pids().string()} + more);
  }
  /// More than what was printed until now comes to the stream.
  static bool goes_on(const Path& folder) {
    const auto size = [&] { return read_file(folder / "stream.jsonl").size(); };
    const std::size_t before = size();
    return eventually([&] { return size() > before + 50; });
  }
  static bool is_working(const Json& heartbeat) {
    return text_in(heartbeat, "verdict") == "working";
  }
  /// Nobody ended it or began it again.
  void expect_untouched(const Path& folder, pid_t agent) {
    const Json heartbeat = heartbeat_of(folder);
    EXPECT_EQ(number_in(heartbeat, "pid"), agent) << heartbeat;
    EXPECT_EQ(number_in(heartbeat, "life"), 1) << heartbeat;
    EXPECT_TRUE(is_running(agent));
    EXPECT_TRUE(done("kill").empty()) << testing::PrintToString(done("kill"));
    EXPECT_TRUE(done("resume").empty());
  }
};

// Stopped and continued from outside.

TEST_F(StatesTest, a_stopped_program_is_suspect_and_goes_on_when_it_is_continued) {
  const Path folder =
      keep({"--policy", "agent", "--limit", "model=2s", "--limit", "confirm=5m"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  ASSERT_TRUE(signal_process_of(home(), agent, SIGSTOP));
  ASSERT_TRUE(await(folder, [](const Json& heartbeat) {
    return text_in(heartbeat, "verdict") == "suspect" &&
           heartbeat.dump().contains("process stopped, and nobody paused it");
  }));
  std::this_thread::sleep_for(seconds{3});  // past the limit of its phase
  EXPECT_EQ(state_letter(agent), 'T');
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "suspect");
  EXPECT_EQ(done("notify").size(), 1U);

  ASSERT_TRUE(signal_process_of(home(), agent, SIGCONT));
  EXPECT_TRUE(await(folder, is_working));
  EXPECT_TRUE(goes_on(folder));
  expect_untouched(folder, agent);
}

TEST_F(StatesTest, a_program_that_stops_itself_is_seen) {
  const Path folder = keep({"--policy", "agent"}, tireless({"--stop-self", "5"}));
  const pid_t agent = pid_of(pids(), "main");
  EXPECT_TRUE(await(folder, [](const Json& heartbeat) {
    return heartbeat.dump().contains("process stopped, and nobody paused it");
  }));
  ASSERT_TRUE(signal_process_of(home(), agent, SIGCONT));
  EXPECT_TRUE(await(folder, is_working));
  expect_untouched(folder, agent);
}

TEST_F(StatesTest, a_stopped_program_is_ended_for_its_silence_past_limit_and_confirmation) {
  const Path folder =
      keep({"--policy", "agent", "--limit", "model=1s", "--limit", "confirm=1s"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  ASSERT_TRUE(signal_process_of(home(), agent, SIGSTOP));
  EXPECT_TRUE(await(folder, [&](const Json& heartbeat) {
    return number_in(heartbeat, "life") == 2 && number_in(heartbeat, "pid") != agent &&
           is_working(heartbeat);
  }));
  EXPECT_FALSE(is_running(agent));
}

// A keeper that could not look.

TEST_F(StatesTest, nobody_is_ended_for_the_time_that_the_keeper_was_stopped) {
  const Path folder =
      keep({"--policy", "agent", "--limit", "model=2s", "--limit", "confirm=2s"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGSTOP));
  std::this_thread::sleep_for(seconds{7});  // longer than both limits together
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGCONT));
  EXPECT_TRUE(goes_on(folder));
  std::this_thread::sleep_for(seconds{5});
  EXPECT_TRUE(await(folder, is_working));
  expect_untouched(folder, agent);
  EXPECT_EQ(number_in(heartbeat_of(folder), "keeper_pid"), keeper);
}

TEST_F(StatesTest, nobody_is_ended_when_program_and_keeper_were_frozen_together) {
  const Path folder =
      keep({"--policy", "agent", "--limit", "model=2s", "--limit", "confirm=2s"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGSTOP));
  ASSERT_TRUE(signal_process_of(home(), agent, SIGSTOP));
  std::this_thread::sleep_for(seconds{35});  // a lag that the judge takes for its own unfitness
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGCONT));
  std::this_thread::sleep_for(seconds{6});  // the keeper looks, and sees nothing but silence
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "unknown") << heartbeat_of(folder);
  ASSERT_TRUE(signal_process_of(home(), agent, SIGCONT));
  EXPECT_TRUE(goes_on(folder));
  expect_untouched(folder, agent);
}

// A look asks for the time first and opens files then: there it is held up.
TEST_F(StatesTest, nobody_is_ended_when_the_keeper_was_stopped_in_the_middle_of_a_look) {
  const Path folder =
      keep({"--policy", "agent", "--limit", "model=2s", "--limit", "confirm=2s"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  const long keeper = number_in(heartbeat_of(folder), "keeper_pid");
  Background delay =
      start({.arguments = {"strace", "-p", std::to_string(keeper), "-e", "trace=openat", "-e",
                           "inject=openat:delay_enter=36000000:when=1"}});
  std::this_thread::sleep_for(seconds{2});
  if (delay.is_over()) GTEST_SKIP() << "strace cannot hold up a program here: " << delay.err();
  ASSERT_TRUE(signal_process_of(home(), agent, SIGSTOP));
  ASSERT_TRUE(eventually([&] { return delay.err().contains("DELAYED"); }, 2 * kPatience));
  std::this_thread::sleep_for(seconds{6});
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "unknown") << heartbeat_of(folder);
  ASSERT_TRUE(signal_process_of(home(), agent, SIGCONT));
  EXPECT_TRUE(goes_on(folder));
  expect_untouched(folder, agent);
  delay.signal(SIGINT);
  delay.wait();
}

// Processes that are over, seen by one that is not their parent.

TEST_F(StatesTest, a_zombie_is_not_taken_for_alive) {
  Background child = start({.arguments = {"sleep", "600"}});
  const auto watched = tend({"watch", "--name", "child", std::to_string(child.pid())});
  ASSERT_EQ(watched.exit, 0) << watched.err;
  const Path folder = only_agent();
  child.signal(SIGKILL);  // and it is not reaped yet
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "withdrawn"; }));
  EXPECT_EQ(state_letter(child.pid()), 'Z');
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "failed") << heartbeat_of(folder);
  EXPECT_EQ(text_in(heartbeat_of(folder), "ended_by"), "signal 9") << heartbeat_of(folder);
}

TEST_F(StatesTest, the_good_end_of_a_watched_process_is_seen) {
  const Path go = scratch() / "go";
  Background child = start(
      {.arguments = {"sh", "-c", "while [ ! -e \"$1\" ]; do sleep 0.1; done", "sh", go.string()}});
  const auto watched = tend({"watch", "--name", "child", std::to_string(child.pid())});
  ASSERT_EQ(watched.exit, 0) << watched.err;
  ::close(::creat(go.c_str(), 0600));
  EXPECT_EQ(child.wait().exit, 0);
  const Path folder = only_agent();
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "completed"; }));
}

TEST_F(StatesTest, a_process_that_is_gone_cannot_be_watched) {
  const pid_t pid = start({.arguments = {"true"}}).pid();  // destroyed here: killed and reaped
  const auto watched = tend({"watch", std::to_string(pid)});
  EXPECT_EQ(watched.exit, 1);
  EXPECT_EQ(lines_of(watched.err).size(), 1U) << watched.err;
}

TEST_F(StatesTest, a_watched_process_is_never_ended) {
  Background child = start({.arguments = {"sleep", "600"}});
  ASSERT_EQ(tend({"watch", "--name", "child", std::to_string(child.pid())}).exit, 0);
  const Path folder = only_agent();
  const auto stopped = tend({"stop", "child"});
  EXPECT_EQ(stopped.exit, 0);
  EXPECT_EQ(stopped.out, "child: no longer watched\n");
  EXPECT_EQ(text_in(heartbeat_of(folder), "status"), "withdrawn") << heartbeat_of(folder);
  EXPECT_FALSE(child.is_over());
}

// Paused by order.

TEST_F(StatesTest, pause_stops_every_process_of_the_program_and_unpause_lets_them_go_on) {
  const Path folder =
      keep({"--name", "a", "--policy", "agent", "--limit", "model=2s", "--limit", "confirm=2s"},
           tireless({"--escape"}));
  const pid_t agent = pid_of(pids(), "main");
  const pid_t escaped = pid_of(pids(), "escaped");
  ASSERT_TRUE(await(folder, is_working));
  const auto paused = tend({"pause", "a"});
  EXPECT_EQ(paused.exit, 0) << paused.err;
  EXPECT_TRUE(eventually([&] { return state_letter(agent) == 'T'; }));
  EXPECT_TRUE(eventually([&] { return state_letter(escaped) == 'T'; }));
  EXPECT_TRUE(await(folder, [](const Json& heartbeat) {
    return text_in(heartbeat, "status") == "paused" && text_in(heartbeat, "verdict") == "waiting";
  }));
  std::this_thread::sleep_for(seconds{6});  // past all limits
  EXPECT_EQ(state_letter(agent), 'T');
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "waiting");

  const auto unpaused = tend({"unpause", "a"});
  EXPECT_EQ(unpaused.exit, 0) << unpaused.err;
  EXPECT_TRUE(eventually([&] { return state_letter(agent) != 'T'; }));
  EXPECT_TRUE(eventually([&] { return state_letter(escaped) != 'T'; }));
  EXPECT_TRUE(await(folder, is_working));
  EXPECT_TRUE(goes_on(folder));
  expect_untouched(folder, agent);
}

TEST_F(StatesTest, a_paused_program_can_be_stopped) {
  const Path folder = keep({"--name", "a"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_EQ(tend({"pause", "a"}).exit, 0);
  ASSERT_TRUE(eventually([&] { return state_letter(agent) == 'T'; }));
  const auto stopped = tend({"stop", "a"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_FALSE(is_running(agent));
  EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
}

TEST_F(StatesTest, one_that_is_judged_for_nothing_may_also_keep_running) {
  const Path folder = keep({"--name", "a"}, tireless());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_EQ(tend({"pause", "--keep-running", "a"}).exit, 0);
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "paused"; }));
  EXPECT_TRUE(goes_on(folder));
  EXPECT_NE(state_letter(agent), 'T');
}

// Its stream.

TEST_F(StatesTest, a_program_that_empties_its_stream_is_noticed_and_read_on) {
  const Path folder = keep({"--policy", "agent"},
                           {"sh", "-c",
                            "i=0; while [ $i -lt 200 ]; do echo before $i; i=$((i+1)); done; "
                            "sleep 2; echo cut >/dev/stdout; sleep 2; "
                            "while :; do echo after; sleep 0.2; done"});
  EXPECT_TRUE(eventually([&] { return has_event("the stream was cut by a program"); }));
  EXPECT_TRUE(eventually([&] { return read_file(folder / "stream.jsonl").contains("after"); }));
  // What comes after the cut is still read: the offset in the journal moves with the file.
  const auto offset = [&] {
    long last = 0;
    for (const Json& line : json_lines(folder / "journal.jsonl")) {
      if (line.contains("offset")) last = number_in(line, "offset");
    }
    return last;
  };
  EXPECT_TRUE(eventually([&] { return offset() > 20 && offset() < 1000; })) << offset();
  EXPECT_TRUE(await(folder, is_working));
}

TEST_F(StatesTest, nul_bytes_and_lines_without_an_end_do_no_harm) {
  const auto ran = tend({"run", "--policy", "agent", "--restart", "never", "--", "sh", "-c",
                         "head -c 3000000 /dev/zero; echo; printf '\\377\\376{\"a\":'; exit 4"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_EQ(ran.out.size(), 3'000'000U + 1 + 2 + 5);
}

}  // namespace
}  // namespace tend::e2e
