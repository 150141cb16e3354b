// Incidents of other supervisors on real processes and real git: each test is named after the row
// of docs/incidents.md that it covers. Those that need neither are in test/sim/scenarios*_test.cc.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

class Scenario : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  /// A program that works on, and is started once.
  Path keep_worker() {
    const Path folder = keep({"--name", "a", "--policy", "agent", "--restart", "on-failure"},
                             worker({"--pids", pids().string()}));
    agent_ = pid_of(pids(), "main");
    return folder;
  }
  static pid_t keeper_of(const Path& folder) {
    return static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  }
  void kill_keeper(const Path& folder) {
    const pid_t keeper = keeper_of(folder);
    ASSERT_TRUE(kill(keeper));
    ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  }
  /// Nobody has touched it: the same process, in its first life, and nothing was spent on it.
  void expect_untouched(const Path& folder) {
    EXPECT_TRUE(is_running(agent_));
    EXPECT_EQ(lines_of(read_file(pids())).size(), 1U) << "it was started again";
    const Json heartbeat = heartbeat_of(folder);
    EXPECT_EQ(number_in(heartbeat, "pid"), agent_) << heartbeat;
    EXPECT_EQ(number_in(heartbeat, "life"), 1) << heartbeat;
    EXPECT_EQ(number_in(heartbeat["budget"], "spent"), 0) << heartbeat;
  }
  /// All that stood under this name in the file.
  [[nodiscard]] std::vector<pid_t> all_pids(const std::string& name) const {
    std::vector<pid_t> found;
    for (const std::string& line : lines_of(read_file(pids()))) {
      if (line.starts_with(name + " ")) found.push_back(std::stoi(line.substr(name.size() + 1)));
    }
    return found;
  }
  /// Works on this task until the file `go-NAME` is there.
  Path keep_at_task(const std::string& name, const std::string& task) {
    const std::string go = (scratch() / ("go-" + name)).string();
    return keep({"--name", name, "--policy", "agent", "--restart", "on-failure", "--task", task},
                {"sh", "-c", R"(while [ ! -e "$0" ]; do date; sleep 0.1; done)", go});
  }
  Json task(const std::string& id) {
    return Json::parse(tend({"task", "show", id, "--json"}).out, nullptr, false);
  }
  /// It did nothing and says who is there.
  static void expect_deferred(const Finished& ran, pid_t winner) {
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(ran.err.contains("process " + std::to_string(winner) + " keeps ")) << ran.err;
  }
  /// Of two that come together the winner may not have written down yet who it is.
  static void expect_deferred_to_either(const Finished& ran, pid_t winner) {
    if (!ran.err.contains("another one keeps ")) return expect_deferred(ran, winner);
    EXPECT_EQ(ran.exit, 1);
  }
  /// Where the program says that it is well; "" if it was told of no such place.
  [[nodiscard]] Path notify_socket() const {
    const std::string environment = read_file("/proc/" + std::to_string(agent_) + "/environ");
    const std::string name("\0NOTIFY_SOCKET=", 15);
    const auto at = environment.find(name);
    return at == std::string::npos ? "" : Path(environment.c_str() + at + name.size());
  }
  static ino_t inode(const Path& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
  }
  std::string git(const Path& where, const Arguments& arguments) {
    const auto ran =
        run({.arguments = Arguments{"git", "-C", where.string(), "-c", "user.name=Tester", "-c",
                                    "user.email=tester@localhost"} +
                          arguments});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out;
  }

  pid_t agent_ = 0;
};

// Two supervisors.

TEST_F(Scenario, I080_a_second_supervisor_defers_to_a_living_one_and_takes_over_from_a_dead_one) {
  const Path folder = keep_worker();
  const pid_t first = keeper_of(folder);  // whoever started it is gone long ago
  expect_deferred(tend({"keep", folder.string()}), first);
  EXPECT_EQ(tend({"recover"}).out, "nothing to recover\n");
  EXPECT_EQ(keeper_of(folder), first);
  expect_untouched(folder);

  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  const auto recovered = tend({"recover"});
  EXPECT_TRUE(recovered.out.starts_with("attach    a: it lives, and its keeper is gone\n"))
      << recovered.out;
  EXPECT_TRUE(await(folder, [&](const Json& h) { return number_in(h, "keeper_pid") != first; }));
  EXPECT_TRUE(has_event("goes on in the place of process " + std::to_string(first)));
  expect_untouched(folder);
}

TEST_F(Scenario, I081_of_two_that_start_together_one_stays_wherever_the_first_is_stopped) {
  const Path folder = keep_worker();
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  const auto recorded = [&] {
    return number_in(Json::parse(read_file(folder / ".lock")), "keeper_pid");
  };
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    Background first = start_tend({"keep", folder.string()});
    std::this_thread::sleep_for(std::chrono::microseconds{800 * round});
    first.signal(SIGSTOP);
    Background second = start_tend({"keep", folder.string()});
    ASSERT_TRUE(eventually([&] { return second.is_over() || keeper_of(folder) == second.pid(); }));
    first.signal(SIGCONT);
    ASSERT_TRUE(eventually([&] { return first.is_over() != second.is_over(); }));
    Background& loser = first.is_over() ? first : second;
    const pid_t winner = first.is_over() ? second.pid() : first.pid();
    expect_deferred_to_either(loser.wait(), winner);
    EXPECT_TRUE(eventually([&] { return recorded() == winner && keeper_of(folder) == winner; }));
    expect_untouched(folder);
  }
}

TEST_F(Scenario, I081_a_loser_leaves_the_socket_of_the_winner_alone) {
  const Path folder = keep_worker();
  const Path socket = notify_socket();
  const ino_t before = inode(socket);
  ASSERT_NE(before, 0U) << socket;
  for (int i = 0; i < 20; ++i) {
    expect_deferred(tend({"keep", folder.string()}), keeper_of(folder));
  }
  EXPECT_EQ(inode(socket), before);
  expect_untouched(folder);
}

TEST_F(Scenario, I082_a_second_supervisor_of_another_name_refuses_too) {
  const Path folder = keep_worker();
  const pid_t first = keeper_of(folder);
  fs::copy_file(TEND_BINARY, scratch() / "shim");
  const auto by_shim = run({.arguments = {(scratch() / "shim").string(), "keep", folder.string()}});
  EXPECT_FALSE(by_shim.timed_out);
  const auto by_shell =
      run({.arguments = {"sh", "-c", R"("$0" keep "$1" & wait)", TEND_BINARY, folder.string()}});
  EXPECT_FALSE(by_shell.timed_out);
  EXPECT_EQ(keeper_of(folder), first);
  EXPECT_FALSE(has_event("a new keeper"));
  expect_untouched(folder);
}

TEST_F(Scenario, I083_twenty_losers_from_elsewhere_count_against_nobody) {
  const Path folder = keep_worker();
  const pid_t first = keeper_of(folder);
  for (int i = 0; i < 20; ++i) {
    const auto ran = run({.arguments = {"env", "-C", "/", TEND_BINARY, "keep", folder.string()},
                          .environment = {{"HOME", "/nonexistent"}}});
    EXPECT_FALSE(ran.timed_out);
    expect_deferred(ran, first);
  }
  const auto status = run({.arguments = {"env", "-C", "/", TEND_BINARY, "status"},
                           .environment = {{"HOME", "/nonexistent"}}});
  EXPECT_EQ(status.exit, 0) << status.out;
  EXPECT_EQ(keeper_of(folder), first);
  EXPECT_TRUE(is_running(first));
  expect_untouched(folder);
}

// Daemons that start themselves.

TEST_F(Scenario, I200_a_second_start_from_anywhere_finds_the_daemon_and_adds_none) {
  const Path folder = keep_worker();
  const pid_t first = keeper_of(folder);
  std::vector<Background> starts;
  for (const char* name : {"one", "two", "three", "a", "daemon", "start"}) {
    const Path from = scratch() / name;
    fs::create_directory(from);
    starts.push_back(start({.arguments = Arguments{"env", "-C", from.string(), TEND_BINARY, "run",
                                                   "-d", "--name", "a", "--"} +
                                         worker({"--pids", pids().string()}),
                            .environment = {},
                            .input = ""}));
  }
  for (Background& each : starts) {
    const Finished ran = each.wait();
    EXPECT_EQ(ran.exit, 1) << ran.out;
    EXPECT_TRUE(ran.err.contains("a is not over; ")) << ran.err;
  }
  EXPECT_EQ(agent_folders(), std::vector<Path>{folder});
  EXPECT_EQ(keeper_of(folder), first);
  expect_untouched(folder);
}

TEST_F(Scenario, I200_daemons_that_detached_themselves_end_with_their_owner_and_no_other_does) {
  const Path tracked = keep_worker();
  const std::string detaches =
      R"(for i in 1 2 3; do
           setsid sh -c 'echo "daemon $$" >>"$0"; exec sleep 600' "$0" >/dev/null 2>&1 &
         done
         until [ $(grep -c daemon "$0") -eq $((3 * TEND_LIFE)) ]; do sleep 0.02; done
         echo "owner $$" >>"$0"; exec sleep 600)";
  const Path folder = keep({"--name", "b", "--policy", "agent", "--restart", "on-failure"},
                           {"sh", "-c", detaches, pids().string()});
  const pid_t owner = pid_of(pids(), "owner");
  const auto detached = all_pids("daemon");
  ASSERT_EQ(detached.size(), 3U);
  ASSERT_NO_FATAL_FAILURE(kill_keeper(folder));
  ASSERT_TRUE(kill(owner));
  ASSERT_TRUE(eventually([&] { return !is_running(owner); }));
  for (const pid_t each : detached) EXPECT_TRUE(is_running(each)) << "orphaned";

  EXPECT_EQ(tend({"recover"}).exit, 0);
  ASSERT_TRUE(eventually([&] { return all_pids("owner").size() == 2; }));
  for (const pid_t each : detached) EXPECT_FALSE(is_running(each)) << "beside its next life";
  ASSERT_EQ(all_pids("daemon").size(), 6U);
  ASSERT_EQ(tend({"stop", "b"}).exit, 0);
  for (const pid_t each : all_pids("daemon")) EXPECT_FALSE(is_running(each));
  EXPECT_TRUE(is_running(keeper_of(tracked)));
  EXPECT_TRUE(is_running(agent_));
  EXPECT_EQ(number_in(heartbeat_of(tracked), "life"), 1);
}

// A job that goes to another.

TEST_F(Scenario, I223_of_two_that_hold_a_job_only_the_current_token_completes_it) {
  ASSERT_EQ(tend({"task", "add", "--id", "job", "what is to be done"}).exit, 0);
  const Path slow = keep_at_task("slow", "job");
  ASSERT_EQ(number_in(task("job"), "fence"), 1);
  const Finished passed_over = tend({"reclaim", "--id", "job", "--older-than", "1ms"});
  EXPECT_TRUE(passed_over.err.contains("left to slow, which is kept and at work"));
  ASSERT_EQ(tend({"reclaim", "--id", "job", "--older-than", "1ms", "--force"}).exit, 0);
  const Path quick = keep_at_task("quick", "job");
  ASSERT_EQ(number_in(task("job"), "fence"), 3) << "taken back, and claimed";

  for (const char* const late : {"heartbeat", "close"}) {
    Arguments words{late, "job", "--actor", "slow", "--fence", "1"};
    if (words.front() == "close") words.insert(words.begin(), "task");
    const Finished refused = tend(words);
    EXPECT_EQ(refused.exit, 1);
    EXPECT_TRUE(refused.err.contains("held by quick")) << refused.err;
  }
  std::ofstream(scratch() / "go-slow") << "go";
  ASSERT_TRUE(await(slow, [](const Json& h) { return text_in(h, "outcome") == "done"; }));
  EXPECT_EQ(number_in(heartbeat_of(slow), "life"), 1);
  EXPECT_EQ(number_in(heartbeat_of(slow)["budget"], "spent"), 0);
  EXPECT_TRUE(done("kill").empty()) << "nobody is ended for being slow";
  EXPECT_EQ(text_in(task("job"), "status"), "in_progress");
  EXPECT_EQ(text_in(task("job"), "assignee"), "quick");

  std::ofstream(scratch() / "go-quick") << "go";
  EXPECT_TRUE(eventually([&] { return text_in(task("job"), "status") == "closed"; }));
  EXPECT_EQ(text_in(task("job"), "close_reason"), "quick: done, exit 0");
  EXPECT_EQ(number_in(task("job"), "fence"), 3);
}

// A work tree that is believed to be damaged.

TEST_F(Scenario, I115_work_in_a_damaged_work_tree_is_saved_before_anything_else) {
  const Path repository = scratch() / "repository";
  const Path tree = scratch() / "tree";
  fs::create_directory(repository);
  git(repository, {"init", "-q", "-b", "main"});
  git(repository, {"commit", "-q", "--allow-empty", "-m", "first"});
  git(repository, {"worktree", "add", "-q", tree.string()});
  const Path folder = keep({"--name", "a", "--policy", "agent", "--limit", "model=3s", "--limit",
                            "confirm=1s", "--worktree", tree.string()},
                           {"sh", "-c",
                            R"(if [ "$TEND_LIFE" = 1 ]; then
                 seq 200 >"$0/work"
                 until rm -rf "$1"; do :; done  # git may be at work in it
               fi
               echo begun; exec sleep 600)",
                            tree.string(), (repository / ".git" / "worktrees").string()});
  ASSERT_TRUE(await(folder, [](const Json& h) { return number_in(h, "life") == 2; }));

  const Path copy = folder / "salvage" / "1-1" / "files" / "work";
  EXPECT_EQ(lines_of(read_file(copy)).size(), 200U);
  EXPECT_EQ(lines_of(read_file(tree / "work")).size(), 200U) << "nothing is cleaned";
  std::vector<std::string> order;
  for (const Json& event : events()) {
    const std::string action = text_in(event, "action");
    if (action == "preserve" || action == "kill") order.push_back(action);
  }
  ASSERT_GE(order.size(), 2U);
  EXPECT_EQ(order[0], "preserve");
  EXPECT_EQ(order[1], "kill");
  EXPECT_TRUE(done("preserve").front().contains("1 file in ")) << done("preserve").front();
  EXPECT_TRUE(done("preserve").front().contains("git")) << done("preserve").front();
  EXPECT_TRUE(std::ranges::any_of(events(), [](const Json& event) {
    return event.value("needs_person", false) &&
           event.value("text", "").contains("could only be saved as a copy");
  })) << "a person is called";
}

}  // namespace
}  // namespace tend::e2e
