// The patrol and who watches it, with real processes: every watcher is stopped in turn, and another
// one sees to it. Workers that are there are asked and never robbed.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// What hangs is known by 120 s without a pulse.
constexpr Patience kHangPatience = seconds{240};

class PatrolE2e : public E2e {
 protected:
  /// Beats are missed after seconds.
  void be_impatient() const {
    fs::create_directories(home());
    ASSERT_EQ(::chmod(home().c_str(), 0700), 0);
    std::ofstream(home() / "config.toml") << "[patrol]\n"
                                             "interval = \"2s\"\n"
                                             "shortest = \"200ms\"\n"
                                             "longest = \"2s\"\n"
                                             "[patrol.active]\n"
                                             "stale = \"4s\"\n";
    ASSERT_EQ(::chmod((home() / "config.toml").c_str(), 0600), 0);
  }
  void have_task(const std::string& id, const std::string& holder) {
    const auto added = tend({"task", "add", "the work of " + holder, "--id", id});
    ASSERT_EQ(added.exit, 0) << added.err;
    const auto claimed = tend({"task", "claim", id, "--actor", holder});
    ASSERT_EQ(claimed.exit, 0) << claimed.err;
  }
  Json task(const std::string& id) {
    return Json::parse(tend({"task", "show", id, "--json"}).out, nullptr, false);
  }
  [[nodiscard]] Json record() const {
    return Json::parse(read_file(home() / ".patrol"), nullptr, false);
  }
  [[nodiscard]] pid_t patrol_pid() const { return static_cast<pid_t>(number_in(record(), "pid")); }
  bool await_patrol_other_than(pid_t before, Patience patience = 2 * kPatience) {
    return eventually(
        [&] {
          const pid_t now = patrol_pid();
          return now != 0 && now != before && is_running(now);
        },
        patience);
  }
  static pid_t keeper_of(const Path& folder) {
    return static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  }
  static bool await_keeper_other_than(const Path& folder, pid_t before, Patience patience) {
    return eventually(
        [&] {
          const pid_t now = keeper_of(folder);
          return now != 0 && now != before && is_running(now);
        },
        patience);
  }
  pid_t start_patrol() {
    const auto started = tend({"patrol", "-d"});
    EXPECT_EQ(started.exit, 0) << started.err;
    return patrol_pid();
  }
};

// Tasks.

TEST_F(PatrolE2e, a_worker_that_is_alive_is_pinged_and_never_robbed) {
  be_impatient();
  const Path folder = keep({"--name", "coder"}, worker({}));
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  have_task("web:3", "coder");
  Background patrol = start_tend({"patrol"});
  ASSERT_TRUE(eventually([&] { return has_event("\"ping\""); })) << patrol.out() << patrol.err();
  std::this_thread::sleep_for(seconds{10});  // more than the ladder takes to its end
  EXPECT_EQ(text_in(task("web:3"), "assignee"), "coder");
  EXPECT_EQ(text_in(task("web:3"), "status"), "in_progress");
  EXPECT_TRUE(done("reassign").empty());
  EXPECT_TRUE(patrol.out().contains("ping task web:3 of coder: ")) << patrol.out();
  const auto explained = tend({"explain", "task:web:3"});
  EXPECT_EQ(explained.exit, 0) << explained.err;
  EXPECT_TRUE(explained.out.contains("its worker coder is kept")) << explained.out;
}

TEST_F(PatrolE2e, the_claim_of_a_worker_that_failed_is_taken) {
  be_impatient();
  const Path go = scratch() / "go";
  const Path folder =
      keep({"--name", "coder"},
           {"sh", "-c", R"(while [ ! -e "$1" ]; do sleep 0.1; done; exit 3)", "sh", go.string()});
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  have_task("t", "coder");
  const pid_t patrol = start_patrol();
  std::ofstream(go) << "go";
  ASSERT_TRUE(eventually([&] { return text_in(task("t"), "status") == "open"; }))
      << read_file(home() / "events.jsonl");
  EXPECT_EQ(done("reassign"), std::vector<std::string>{"it is open again"});
  EXPECT_EQ(tend({"heartbeat", "t", "--actor", "coder"}).exit, 1);
  EXPECT_EQ(tend({"task", "claim", "t", "--actor", "other"}).exit, 0);
  EXPECT_TRUE(is_running(patrol));
}

TEST_F(PatrolE2e, a_worker_that_beats_again_is_left_alone) {
  be_impatient();
  have_task("t", "alice");
  start_patrol();
  ASSERT_TRUE(eventually([&] { return has_event("\"ping\""); }));
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(tend({"heartbeat", "t", "--actor", "alice", "--message", "on it"}).exit, 0);
    std::this_thread::sleep_for(milliseconds{500});
  }
  const auto explained = Json::parse(tend({"explain", "task:t", "--json"}).out, nullptr, false);
  EXPECT_EQ(explained["done"], Json::array()) << explained;
  EXPECT_EQ(explained["missed"], 0) << explained;
  EXPECT_EQ(explained["task"]["heartbeat_message"], "on it");
  EXPECT_EQ(explained["patrol"]["at_work"], true);
  EXPECT_EQ(text_in(task("t"), "assignee"), "alice");
}

TEST_F(PatrolE2e, nobody_is_robbed_who_is_only_a_name) {
  be_impatient();
  have_task("t", "alice");
  start_patrol();
  ASSERT_TRUE(eventually([&] { return has_event("\"escalate\""); }));
  std::this_thread::sleep_for(seconds{4});
  EXPECT_EQ(text_in(task("t"), "assignee"), "alice");
  EXPECT_TRUE(done("reassign").empty());
}

TEST_F(PatrolE2e, what_is_escalated_goes_out_and_is_closed_when_it_is_over) {
  be_impatient();
  const Path heard = scratch() / "heard";
  std::ofstream(home() / "config.toml", std::ios::app)
      << "[[notify]]\nname = \"file\"\ncommand = [\"tee\", \"-a\", \"" << heard.string() << "\"]\n";
  have_task("t", "alice");
  start_patrol();
  ASSERT_TRUE(eventually([&] { return read_file(heard).contains("escalate"); }))
      << read_file(home() / "events.jsonl");
  EXPECT_TRUE(read_file(heard).contains("task t of alice")) << read_file(heard);
  ASSERT_EQ(tend({"task", "close", "t", "--actor", "alice"}).exit, 0);
  EXPECT_TRUE(eventually([&] { return read_file(heard).contains("over: "); }, 2 * kPatience))
      << read_file(heard);
}

// The command.

TEST_F(PatrolE2e, there_is_one_of_a_home_and_stop_ends_it_for_good) {
  be_impatient();
  const Path folder = keep({"--name", "a", "--beat", "1s"}, worker({}));
  const pid_t patrol = start_patrol();
  const auto second = tend({"patrol"});
  EXPECT_EQ(second.exit, 1);
  EXPECT_TRUE(second.err.contains("process " + std::to_string(patrol))) << second.err;
  EXPECT_EQ(tend({"patrol", "-d"}).exit, 1);
  EXPECT_EQ(tend({"patrol", "--once"}).exit, 1);
  EXPECT_EQ(tend({"patrol", "--dry-run"}).exit, 0);
  const auto stopped = tend({"patrol", "--stop"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_FALSE(is_running(patrol));
  EXPECT_EQ(record()["wanted"], false);
  std::this_thread::sleep_for(seconds{6});  // the keeper has looked
  EXPECT_EQ(patrol_pid(), patrol) << "nobody started another one";
  EXPECT_EQ(tend({"patrol", "--stop"}).exit, 1);
}

TEST_F(PatrolE2e, sigterm_ends_it_and_it_is_not_wanted) {
  Background patrol = start_tend({"patrol", "--interval", "1s"});
  ASSERT_TRUE(eventually([&] { return patrol.out().contains("sweep: "); })) << patrol.err();
  EXPECT_EQ(record()["wanted"], true);
  patrol.signal(SIGTERM);
  EXPECT_EQ(patrol.wait().exit, 0);
  EXPECT_EQ(record()["wanted"], false);
}

TEST_F(PatrolE2e, one_sweep_says_by_its_exit_status_whether_somebody_is_needed) {
  be_impatient();
  const auto well = tend({"patrol", "--once", "--json"});
  EXPECT_EQ(well.exit, 0) << well.out << well.err;
  EXPECT_EQ(Json::parse(lines_of(well.out).back())["needs_you"], 0) << well.out;
  have_task("t", "alice");
  EXPECT_TRUE(eventually([&] { return tend({"patrol", "--once"}).exit == 3; }));
  const auto dry = tend({"patrol", "--dry-run"});
  EXPECT_EQ(dry.exit, 3) << dry.out;
}

TEST_F(PatrolE2e, what_was_forged_is_said_and_replaced) {
  be_impatient();
  std::ofstream(home() / ".patrol") << "{\"pid\":\"x\"";
  std::ofstream(home() / "patrol.json") << "[]";
  for (const char* name : {".patrol", "patrol.json"}) {
    ASSERT_EQ(::chmod((home() / name).c_str(), 0600), 0);
  }
  const auto first = tend({"patrol", "--once"});
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_TRUE(first.out.contains(".patrol was damaged")) << first.out;
  EXPECT_TRUE(first.out.contains("patrol.json: ")) << first.out;
  const auto second = tend({"patrol", "--once"});
  EXPECT_EQ(lines_of(second.out).size(), 1U) << second.out;
}

TEST_F(PatrolE2e, one_sweep_ends_a_keeper_that_is_stopped_for_long_and_puts_another_on) {
  be_impatient();
  const Path folder = keep({"--name", "a"}, worker({}));
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  const auto agent = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  const pid_t keeper = keeper_of(folder);
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGSTOP));
  ASSERT_TRUE(eventually([&] { return state_letter(keeper) == 'T'; }));
  EXPECT_FALSE(tend({"patrol", "--once"}).out.contains("keeper")) << "stopped for a moment";
  EXPECT_TRUE(is_running(keeper));
  // Its last pulse was long ago.
  const Path lock = folder / ".lock";
  fs::last_write_time(lock, fs::last_write_time(lock) - std::chrono::minutes{11});
  const auto once = tend({"patrol", "--once"});
  EXPECT_TRUE(once.out.contains("its keeper hung and was ended")) << once.out << once.err;
  EXPECT_TRUE(once.out.contains("a new one was put on")) << once.out;
  EXPECT_FALSE(is_running(keeper));
  ASSERT_TRUE(await_keeper_other_than(folder, keeper, kPatience));
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

// Each watcher is stopped in turn.

TEST_F(PatrolE2e, a_patrol_that_was_killed_is_started_again_by_a_keeper) {
  be_impatient();
  keep({"--name", "a", "--beat", "1s"}, worker({}));
  const pid_t first = start_patrol();
  ASSERT_TRUE(kill(first));
  ASSERT_TRUE(await_patrol_other_than(first)) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(has_event("was gone: a new one was started"));
  EXPECT_EQ(record()["wanted"], true);
}

TEST_F(PatrolE2e, a_keeper_that_was_killed_is_replaced_by_the_patrol) {
  be_impatient();
  const Path folder = keep({"--name", "a"}, worker({}));
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  start_patrol();
  const auto agent = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  const pid_t keeper = keeper_of(folder);
  ASSERT_TRUE(kill(keeper));
  ASSERT_TRUE(await_keeper_other_than(folder, keeper, 2 * kPatience));
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

TEST_F(PatrolE2e, a_patrol_that_hangs_is_ended_by_a_keeper_and_started_again) {
  be_impatient();
  keep({"--name", "a", "--beat", "1s"}, worker({}));
  const pid_t first = start_patrol();
  std::this_thread::sleep_for(seconds{3});
  ASSERT_TRUE(signal_process_of(home(), first, SIGSTOP));
  ASSERT_TRUE(await_patrol_other_than(first, kHangPatience)) << read_file(home() / "events.jsonl");
  EXPECT_FALSE(is_running(first));
  EXPECT_TRUE(has_event("hung and was ended"));
}

TEST_F(PatrolE2e, a_keeper_that_hangs_is_ended_by_the_patrol_and_replaced) {
  be_impatient();
  const Path folder = keep({"--name", "a"}, worker({}));
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "running"; }));
  start_patrol();
  const auto agent = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  const pid_t keeper = keeper_of(folder);
  std::this_thread::sleep_for(seconds{3});  // the patrol has seen it
  ASSERT_TRUE(signal_process_of(home(), keeper, SIGSTOP));
  ASSERT_TRUE(await_keeper_other_than(folder, keeper, kHangPatience))
      << read_file(home() / "events.jsonl");
  EXPECT_FALSE(is_running(keeper));
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

}  // namespace
}  // namespace tend::e2e
