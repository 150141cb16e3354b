// A keeper is killed at every call that changes something, once each: while it starts its program,
// while it takes one over, and while one life ends and the next begins. A second keeper must go on
// as if nothing had happened: nothing runs twice, nothing is lost.
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "crash_points_testing.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

constexpr Patience kComesSoon = std::chrono::seconds{8};

class CrashPointsTest : public CrashPoints {
 protected:
  /// The folder of an agent that nobody keeps yet.
  Path hire(const Arguments& options, const Arguments& command) {
    if (template_.is_null()) {
      const Path first = keep(options + Arguments{"--worktree", "none"}, {"true"});
      EXPECT_TRUE(eventually([&] { return text_in(heartbeat_of(first), "outcome") == "done"; }));
      template_ = Json::parse(read_file(first / "agent.json"), nullptr, false);
    }
    const std::string name = "point-" + std::to_string(++hired_);
    const Path folder = home() / "sessions" / name;
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    Json agent = template_;
    agent["agent"] = name;
    agent["session"] = name;
    agent["command"] = command;
    std::ofstream(folder / "agent.json") << agent.dump() << "\n";
    fs::permissions(folder / "agent.json", fs::perms::owner_read | fs::perms::owner_write);
    return folder;
  }

  Background start_traced_keeper(const Path& folder, const Arguments& strace) {
    return start({.arguments = strace + Arguments{TEND_BINARY, "keep", folder.string()}});
  }
  [[nodiscard]] Path starts() const { return scratch() / ("starts-" + std::to_string(hired_ + 1)); }

  /// All calls that a keeper of this folder makes until `done`; then both are ended.
  std::vector<Point> points_of(const Path& folder, const std::function<bool()>& done) {
    Background keeper = start_traced_keeper(folder, watched_by_strace(log()));
    EXPECT_TRUE(eventually(done)) << heartbeat_of(folder);
    std::vector<Point> points = points_between({}, count_calls(log()));
    const auto stopped = tend({"stop", "--now", folder.string()});
    EXPECT_EQ(stopped.exit, 0) << stopped.err;
    return points;
  }

  Background start_keeper_to_die_at(const Path& folder, const Point& point) {
    return start_traced_keeper(folder, killed_by_strace(log(), point));
  }
  /// True if the keeper was killed by this very call. One that did not come to it is killed too.
  bool was_killed(Background& strace, const Path& folder) {
    const auto ran = strace.wait(kComesSoon);
    if (!ran.timed_out) {
      return ran.exit == -SIGKILL && read_file(log()).contains("+++ killed by SIGKILL +++");
    }
    const Json record = Json::parse(read_file(folder / ".lock"), nullptr, false);
    const auto keeper =
        record.is_object() ? static_cast<pid_t>(number_in(record, "keeper_pid")) : 0;
    EXPECT_TRUE(kill(keeper));
    EXPECT_TRUE(eventually([&] { return !is_running(keeper); }));
    return false;
  }
  bool kill_keeper_at(const Path& folder, const Point& point) {
    Background strace = start_keeper_to_die_at(folder, point);
    return was_killed(strace, folder);
  }

  /// Another keeper takes over, the program runs in the end, and it was started once a life.
  void expect_recovered(const Path& folder, const Path& started, long lives) {
    Background successor = start_tend({"keep", folder.string()});
    const auto begun = [&] { return lines_of(read_file(started)); };
    EXPECT_TRUE(eventually([&] {
      const Json heartbeat = heartbeat_of(folder);
      return text_in(heartbeat, "status") == "running" && number_in(heartbeat, "life") == lives &&
             number_in(heartbeat, "keeper_pid") == successor.pid() &&
             is_running(static_cast<pid_t>(number_in(heartbeat, "pid"))) &&
             begun().size() >= static_cast<std::size_t>(lives);
    })) << heartbeat_of(folder)
        << read_file(started) << successor.err();
    const auto of_this = processes_with("TEND_INFRA=" + folder.string());
    EXPECT_EQ(of_this, std::vector{static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"))});
    const auto all = begun();
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size())
        << "a life began twice: " << read_file(started);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(lives)) << read_file(started);

    const auto stopped = tend({"stop", "--now", folder.string()});
    EXPECT_EQ(stopped.exit, 0) << stopped.err;
    EXPECT_TRUE(processes_with("TEND_INFRA=" + folder.string()).empty());
    EXPECT_FALSE(successor.wait().timed_out);
    EXPECT_EQ(lines_of(read_file(started)).size(), static_cast<std::size_t>(lives));
    while (waitpid(-1, nullptr, WNOHANG) > 0) {  // what a killed keeper left came to us
    }
  }

 private:
  Json template_;
  int hired_ = 0;
};

/// Writes its life into the file, and stays.
Arguments stays(const Path& started) {
  return {"sh", "-c", R"(echo "$TEND_LIFE" >>"$1"; exec sleep 600)", "sh", started.string()};
}

bool runs(const Path& folder, long life) {
  const Json heartbeat = heartbeat_of(folder);
  return text_in(heartbeat, "status") == "running" && number_in(heartbeat, "life") == life;
}

TEST_F(CrashPointsTest, a_start_survives_the_death_of_its_keeper_at_every_point) {
  const Path counting = starts();
  const Path first = hire({"--beat", "1s"}, stays(counting));
  const auto points = points_of(first, [&] {
    return runs(first, 1) && read_file(first / "journal.jsonl").contains("\"verdict\"");
  });
  at_each(points, [&](const Point& point) {
    const Path started = starts();
    const Path folder = hire({"--beat", "1s"}, stays(started));
    const bool reached = kill_keeper_at(folder, point);
    expect_recovered(folder, started, 1);
    return reached;
  });
}

TEST_F(CrashPointsTest, a_takeover_survives_the_death_of_its_keeper_at_every_point) {
  // Begun by a keeper that is killed as soon as the program runs.
  const auto kept_and_abandoned = [&](const Path& started) {
    const Path folder = hire({"--beat", "1s"}, stays(started));
    Background keeper = start_tend({"keep", folder.string()});
    EXPECT_TRUE(eventually([&] { return runs(folder, 1) && fs::exists(started); }));
    keeper.signal(SIGKILL);
    keeper.wait();
    return folder;
  };
  const Path counting = kept_and_abandoned(starts());
  const auto size = fs::file_size(counting / "journal.jsonl");
  const auto points =
      points_of(counting, [&] { return fs::file_size(counting / "journal.jsonl") > size; });
  at_each(points, [&](const Point& point) {
    const Path started = starts();
    const Path folder = kept_and_abandoned(started);
    const bool reached = kill_keeper_at(folder, point);
    expect_recovered(folder, started, 1);
    return reached;
  });
}

TEST_F(CrashPointsTest, a_new_life_survives_the_death_of_its_keeper_at_every_point) {
  const auto fails_once = [](const Path& started) {
    return Arguments{"sh", "-c",
                     R"(echo "$TEND_LIFE" >>"$1"; [ "$TEND_LIFE" = 1 ] && exit 3; exec sleep 600)",
                     "sh", started.string()};
  };
  const Arguments options{"--beat", "1s", "--policy", "agent", "--restart", "on-failure"};
  const Path counting = starts();
  const Path first = hire(options, fails_once(counting));
  const auto points = points_of(first, [&] { return runs(first, 2) && has_event("life 2 begun"); });
  at_each(points, [&](const Point& point) {
    const Path started = starts();
    const Path folder = hire(options, fails_once(started));
    const bool reached = kill_keeper_at(folder, point);
    expect_recovered(folder, started, 2);
    return reached;
  });
}

TEST_F(CrashPointsTest, a_stop_survives_the_death_of_its_keeper_at_every_point) {
  const auto is_over = [](const Path& folder) {
    return text_in(heartbeat_of(folder), "status") == "withdrawn";
  };
  const Path first = hire({}, stays(starts()));
  std::vector<Point> points;
  {
    Background keeper = start_traced_keeper(first, watched_by_strace(log()));
    ASSERT_TRUE(eventually([&] {
      return runs(first, 1) && read_file(first / "journal.jsonl").contains("\"verdict\"");
    }));
    const auto before = count_calls(log());
    ASSERT_EQ(tend({"stop", first.string()}).exit, 0);
    keeper.wait();
    points = points_between(before, count_calls(log()));
  }
  at_each(points, [&](const Point& point) {
    const Path started = starts();
    const Path folder = hire({}, stays(started));
    Background keeper = start_keeper_to_die_at(folder, point);
    EXPECT_TRUE(eventually([&] {
      return keeper.is_over() ||
             (runs(folder, 1) && read_file(folder / "journal.jsonl").contains("\"verdict\""));
    }));
    Background stop = start_tend({"stop", folder.string()});
    const bool reached = was_killed(keeper, folder);
    Background successor = start_tend({"keep", folder.string()});
    const auto ran = stop.wait();
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(is_over(folder)) << heartbeat_of(folder);
    EXPECT_EQ(text_in(heartbeat_of(folder), "outcome"), "stopped");
    EXPECT_TRUE(processes_with("TEND_INFRA=" + folder.string()).empty());
    EXPECT_EQ(lines_of(read_file(started)).size(), 1U);
    EXPECT_FALSE(successor.wait().timed_out);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return reached;
  });
}

}  // namespace
}  // namespace tend::e2e
