// The commands that change a tree are killed at every call that changes something, once each; then
// what a person would do next is done, and everything must be as if nothing had happened: what was
// asked for runs once, work is merged once, a second scan finds nothing.
#include <filesystem>
#include <fstream>

#include "crash_points_testing.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

class TreeCrashPointsTest : public CrashPoints {
 protected:
  void SetUp() override {
    CrashPoints::SetUp();
    if (IsSkipped()) return;
    fs::create_directories(work());
    git({"init", "-q"});
    git({"commit", "-q", "--allow-empty", "-m", "start"});
    lead_ = keep({"--name", "lead", "--worktree", work().string()}, {"sleep", "600"});
    ASSERT_FALSE(lead_.empty());
  }

  [[nodiscard]] Path work() const { return scratch() / "work"; }
  [[nodiscard]] Path starts() const { return scratch() / "starts"; }
  std::string git(const Arguments& arguments) {
    const auto ran = run({.arguments = Arguments{"git", "-C", work().string(), "-c", "user.name=t",
                                                 "-c", "user.email=t@localhost"} +
                                       arguments});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out;
  }

  Arguments dispatch_words(const std::string& name, const std::string& script) {
    return {"env",       "-C",        work().string(),
            TEND_BINARY, "dispatch",  "--parent",
            "lead",      "--role",    "r",
            "--name",    name,        "--worktree",
            "new",       "--restart", "never",
            "--",        "sh",        "-c",
            script};
  }
  /// Writes its name and life into the file of starts, and stays.
  std::string stays() {
    return "echo \"$TEND_AGENT $TEND_LIFE\" >>" + starts().string() + "; exec sleep 600";
  }
  Path dispatch(const std::string& name, const std::string& script) {
    const auto ran = run({.arguments = dispatch_words(name, script)});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const auto space = ran.out.find(' ');
    return space == std::string::npos ? Path{} : Path(lines_of(ran.out).front().substr(space + 1));
  }

  /// What is made but once (a folder for all, a lock) must be there before.
  std::vector<Point> points_of(const Arguments& command) {
    const auto ran = run({.arguments = watched_by_strace(log()) + command});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return points_between({}, count_calls(log()));
  }
  bool kill_at(const Point& point, const Arguments& command) {
    const auto ran = run({.arguments = killed_by_strace(log(), point) + command});
    return ran.exit == -SIGKILL;
  }

  [[nodiscard]] std::vector<std::string> starts_of(const std::string& name) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(read_file(starts()))) {
      if (line.starts_with(name + " ")) found.push_back(line);
    }
    return found;
  }
  [[nodiscard]] bool is_registered(const std::string& name) const {
    return read_file(lead_ / ".children").contains("\"agent\":\"" + name + "\"");
  }
  [[nodiscard]] std::string fresh_name() { return "c" + std::to_string(++named_); }
  void expect_nothing_to_recover() {
    // Keepers may still be at what was ordered last.
    std::string said;
    EXPECT_TRUE(eventually([&] {
      const auto ran = tend({"recover"});
      EXPECT_EQ(ran.exit, 0) << ran.err;
      said = ran.out;
      return said.ends_with("nothing to recover\n");
    })) << said;
  }

  Path lead_;
  int named_ = 0;
};

TEST_F(TreeCrashPointsTest, a_dispatch_is_made_or_not_made_and_can_be_made_again) {
  dispatch(fresh_name(), stays());
  const auto points = points_of(dispatch_words(fresh_name(), stays()));
  at_each(points, [&](const Point& point) {
    const std::string name = fresh_name();
    const bool reached = kill_at(point, dispatch_words(name, stays()));
    // Whether it was made is what the registry says, and nobody else.
    EXPECT_TRUE(is_registered(name) || !dispatch(name, stays()).empty()) << "made again";
    EXPECT_TRUE(eventually([&] { return !starts_of(name).empty(); })) << name << " was lost";
    const auto stopped = tend({"stop", "--now", name});
    EXPECT_EQ(stopped.exit, 0) << stopped.err;
    EXPECT_EQ(starts_of(name).size(), 1U) << name << " ran twice";
    return reached;
  });
  expect_nothing_to_recover();
}

TEST_F(TreeCrashPointsTest, work_is_merged_once) {
  const auto finished = [&](const std::string& name) {
    const Path folder = dispatch(name, "echo work >" + name);
    EXPECT_TRUE(eventually([&] {
      return read_file(lead_ / ".children").contains("\"status\":\"unmerged\",\"agent\":\"" + name);
    })) << read_file(lead_ / ".children");
    return Arguments{TEND_BINARY, "merge", name};
  };
  const auto points = points_of(finished(fresh_name()));
  at_each(points, [&](const Point& point) {
    const std::string name = fresh_name();
    const bool reached = kill_at(point, finished(name));
    // git is not killed with us: what it is doing ends by itself.
    EXPECT_TRUE(eventually([&] { return tend({"merge", name}).exit == 0; })) << name;
    EXPECT_EQ(
        lines_of(git({"log", "--merges", "--format=%s", "--grep", "of " + name + " "})).size(), 1U);
    EXPECT_EQ(git({"status", "--porcelain"}), "");
    EXPECT_EQ(read_file(work() / name), "work\n");
    return reached;
  });
  expect_nothing_to_recover();
}

TEST_F(TreeCrashPointsTest, an_outcome_is_said_or_not_said) {
  const auto words = [&](const Path& folder) {
    return Arguments{"env",           "TEND_INFRA=" + folder.string(),
                     "TEND_LIFE=1",   TEND_BINARY,
                     "done",          "--outcome",
                     "withdrawn",     "--note",
                     "cannot be done"};
  };
  const std::string counted = fresh_name();
  const auto points = points_of(words(dispatch(counted, "exec sleep 600")));
  at_each(points, [&](const Point& point) {
    const std::string name = fresh_name();
    const Path folder = dispatch(name, "exec sleep 600");
    const bool reached = kill_at(point, words(folder));
    EXPECT_EQ(run({.arguments = words(folder)}).exit, 0);
    EXPECT_TRUE(kill(static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"))));
    EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "outcome") == "withdrawn"; }));
    return reached;
  });
}

TEST_F(TreeCrashPointsTest, a_tree_that_is_being_stopped_stops) {
  const auto tree = [&](const std::string& name) {
    const Path root = keep({"--name", name, "--worktree", "none"}, {"sleep", "600"});
    const auto ran = tend({"dispatch", "--parent", name, "--role", "r", "--name", name + "-child",
                           "--worktree", "none", "--", "sleep", "600"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return root;
  };
  const std::string counted = fresh_name();
  tree(counted);
  const auto points = points_of({TEND_BINARY, "stop", "--tree", counted});
  at_each(points, [&](const Point& point) {
    const std::string name = fresh_name();
    const Path root = tree(name);
    const bool reached = kill_at(point, {TEND_BINARY, "stop", "--tree", name});
    const auto again = tend({"stop", "--tree", name});
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(text_in(heartbeat_of(root), "outcome"), "stopped");
    for (const pid_t pid : processes_with("TEND_HOME=" + home().string())) {
      const std::string command = read_file("/proc/" + std::to_string(pid) + "/environ");
      EXPECT_FALSE(command.contains("TEND_INFRA=" + root.string())) << pid << " was left";
    }
    return reached;
  });
}

TEST_F(TreeCrashPointsTest, a_recovery_that_was_cut_off_is_finished_by_the_next) {
  const auto lost = [&](const std::string& name) {
    const Path root =
        keep({"--name", name, "--worktree", "none", "--policy", "agent"}, {"sh", "-c", stays()});
    EXPECT_TRUE(await(root, [](const Json& h) { return text_in(h, "status") == "running"; }));
    EXPECT_TRUE(eventually([&] { return starts_of(name).size() == 1; }));
    const Json says = heartbeat_of(root);
    const auto keeper = static_cast<pid_t>(number_in(says, "keeper_pid"));
    EXPECT_TRUE(kill(keeper));
    EXPECT_TRUE(eventually([&] { return !is_running(keeper); }));
    EXPECT_TRUE(kill(static_cast<pid_t>(number_in(says, "pid"))));
    EXPECT_TRUE(eventually([&] { return processes_with("TEND_INFRA=" + root.string()).empty(); }));
    return root;
  };
  expect_nothing_to_recover();
  lost(fresh_name());
  const auto points = points_of({TEND_BINARY, "recover"});
  at_each(points, [&](const Point& point) {
    const std::string name = fresh_name();
    const Path root = lost(name);
    const bool reached = kill_at(point, {TEND_BINARY, "recover"});
    const auto again = tend({"recover"});
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_TRUE(eventually([&] { return starts_of(name).size() == 2; })) << read_file(starts());
    expect_nothing_to_recover();
    EXPECT_EQ(starts_of(name), (std::vector<std::string>{name + " 1", name + " 2"}));
    EXPECT_EQ(tend({"stop", "--now", name}).exit, 0);
    return reached;
  });
}

}  // namespace
}  // namespace tend::e2e
