// Whoever changes the database is killed at every call that changes a file, once each. Afterwards
// the database is whole, what was asked for happened or did not, and the same command does it.
#include <filesystem>

#include "crash_points_testing.h"
#include "database_testing.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

/// Something to do to a task of its own, and how to see that it was done.
struct Deed {
  std::vector<Arguments> before;  // what is needed first; TASK stands for the id
  Arguments command;              // beginning with the program
  std::string state;              // a query: TASK's state
  std::string untouched;          // what it says before
  std::string done;               // and after
  bool once = false;              // what was done is refused the second time
};

Arguments tend_with(const Arguments& words) { return Arguments{TEND_BINARY} + words; }

const Arguments kAdd = tend_with({"task", "add", "What TASK is", "--id", "TASK"});
const Arguments kClaim = tend_with({"task", "claim", "TASK", "--actor", "PinkHill"});

class DatabaseCrashPointsTest : public CrashPoints {
 protected:
  // A lock that is taken is no change: it is gone with its holder.
  static inline const std::string kCalls =
      "write,pwrite64,?rename,renameat,?renameat2,?mkdir,mkdirat,?unlink,unlinkat,ftruncate,"
      "fallocate,fchmod,fsync,fdatasync,exit_group";

  [[nodiscard]] Path database() const { return home() / "tend.db"; }
  static std::string named(std::string text, const std::string& task) {
    for (auto at = text.find("TASK"); at != std::string::npos; at = text.find("TASK")) {
      text.replace(at, 4, task);
    }
    return text;
  }
  Arguments named(Arguments words, const std::string& task) const {
    for (std::string& word : words) {
      word = named(word, task);
      if (word == "HOME") word = home().string();
    }
    return words;
  }
  std::string prepare(const Deed& deed) {
    std::string task = "task-" + std::to_string(++made_);
    for (const Arguments& words : deed.before) {
      const auto ran = run({.arguments = named(words, task)});
      EXPECT_EQ(ran.exit, 0) << ran.err;
    }
    return task;
  }
  std::string state(const Deed& deed, const std::string& task) {
    return asked_of(database(), named(deed.state, task));
  }

  std::vector<Point> points_of(const Arguments& command) {
    const Arguments watched{"strace", "-o", log().string(), "-e", "trace=" + kCalls};
    const auto ran = run({.arguments = watched + command});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return points_between({}, count_calls(log()));
  }

  void kill_everywhere(const Deed& deed) {
    const std::string first = prepare(deed);
    ASSERT_EQ(state(deed, first), deed.untouched);
    const auto points = points_of(named(deed.command, first));
    ASSERT_EQ(state(deed, first), deed.done);
    int happened = 0;
    at_each(points, [&](const Point& point) {
      const std::string task = prepare(deed);
      const Arguments command = named(deed.command, task);
      const auto killed = run({.arguments = killed_by_strace(log(), point) + command});
      EXPECT_EQ(asked_of(database(), "PRAGMA integrity_check"), "ok");
      const std::string found = state(deed, task);
      EXPECT_TRUE(found == deed.untouched || found == deed.done) << found;
      happened += found == deed.done ? 1 : 0;
      const auto again = run({.arguments = command});
      EXPECT_EQ(again.exit, deed.once && found == deed.done ? 1 : 0) << again.err;
      EXPECT_EQ(state(deed, task), deed.done);
      return killed.exit == -SIGKILL;
    });
    std::cout << "it had happened " << happened << " times\n";
  }

 private:
  int made_ = 0;
};

TEST_F(DatabaseCrashPointsTest, a_task_is_added_whole_or_not_at_all) {
  Arguments labelled = kAdd + Arguments{"--label", "red", "--label", "blue"};
  kill_everywhere({.before = {tend_with({"list"})},
                   .command = labelled,
                   .state =
                       "SELECT (SELECT group_concat(status || '/' || replace(labels, char(10), "
                       "'+')) FROM tasks WHERE id = 'TASK'), (SELECT count(*) FROM labels "
                       "WHERE task = 'TASK')",
                   .untouched = "NULL 0",
                   .done = "open/blue+red 2",
                   .once = true});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_claimed_whole_or_not_at_all) {
  kill_everywhere({.before = {kAdd},
                   .command = kClaim,
                   .state = "SELECT status, assignee, fence, lease_expires_at > 0 FROM tasks "
                            "WHERE id = 'TASK'",
                   .untouched = "open NULL 0 NULL",
                   .done = "in_progress PinkHill 1 1"});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_updated_whole_or_not_at_all) {
  kill_everywhere({.before = {kAdd},
                   .command = tend_with({"task", "update", "TASK", "--title", "Other", "--status",
                                         "blocked", "--add-label", "red", "--actor", "PinkHill"}),
                   .state = "SELECT title = 'Other', status, labels, (SELECT count(*) FROM labels "
                            "WHERE task = id) FROM tasks WHERE id = 'TASK'",
                   .untouched = "0 open  0",
                   .done = "1 blocked red 1"});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_closed_whole_or_not_at_all) {
  kill_everywhere({.before = {kAdd, kClaim},
                   .command = tend_with(
                       {"task", "close", "TASK", "--actor", "PinkHill", "--reason", "shipped"}),
                   .state = "SELECT status, close_reason, closed_at > 0, lease_expires_at > 0 "
                            "FROM tasks WHERE id = 'TASK'",
                   .untouched = "in_progress NULL NULL 1",
                   .done = "closed shipped 1 NULL"});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_released_whole_or_not_at_all) {
  kill_everywhere({.before = {kAdd, kClaim},
                   .command = tend_with({"task", "release", "TASK", "--actor", "PinkHill"}),
                   .state = "SELECT status, assignee, fence FROM tasks WHERE id = 'TASK'",
                   .untouched = "in_progress PinkHill 1",
                   .done = "open NULL 1",
                   .once = true});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_beaten_whole_or_not_at_all) {
  kill_everywhere(
      {.before = {kAdd, kClaim},
       .command = tend_with({"heartbeat", "TASK", "--actor", "PinkHill", "--message", "half way"}),
       .state = "SELECT last_heartbeat > 0, heartbeat_message FROM tasks WHERE id = 'TASK'",
       .untouched = "NULL NULL",
       .done = "1 half way"});
}

TEST_F(DatabaseCrashPointsTest, a_task_is_reclaimed_whole_or_not_at_all) {
  kill_everywhere({.before = {kAdd, kClaim},
                   .command = tend_with({"reclaim", "--id", "TASK", "--older-than", "1ms"}),
                   .state = "SELECT status, assignee, fence FROM tasks WHERE id = 'TASK'",
                   .untouched = "in_progress PinkHill 1",
                   .done = "open NULL 2"});
}

TEST_F(DatabaseCrashPointsTest, a_letter_is_sent_whole_or_not_at_all) {
  kill_everywhere({.before = {tend_with({"list"})},
                   .command = {STORE_DRIVER, "HOME", "send", "TASK", "key", "Are you there?"},
                   .state = "SELECT count(*), max(thread = id) FROM letters "
                            "WHERE recipient = 'TASK'",
                   .untouched = "0 NULL",
                   .done = "1 1"});
}

TEST_F(DatabaseCrashPointsTest, a_notice_is_put_into_the_outbox_whole_or_not_at_all) {
  kill_everywhere({.before = {tend_with({"list"})},
                   .command = {STORE_DRIVER, "HOME", "put", "TASK", R"({"text":"help"})"},
                   .state = "SELECT count(*), max(incident = id) FROM notices WHERE key = 'TASK'",
                   .untouched = "0 NULL",
                   .done = "1 1"});
}

TEST_F(DatabaseCrashPointsTest, a_new_database_is_made_by_whoever_comes_after_the_one_killed) {
  int made = 0;
  const auto home_of = [&](int i) { return scratch() / ("home-" + std::to_string(i)); };
  const auto adding = [&](int i) {
    return Arguments{"env", "TEND_HOME=" + home_of(i).string()} +
           tend_with({"task", "add", "First", "--id", "first"});
  };
  const auto points = points_of(adding(made));
  at_each(points, [&](const Point& point) {
    ++made;
    const auto killed = run({.arguments = killed_by_strace(log(), point) + adding(made)});
    const auto listed = run({.arguments = {"env", "TEND_HOME=" + home_of(made).string(),
                                           TEND_BINARY, "list", "--json"}});
    EXPECT_EQ(listed.exit, 0) << listed.err;
    const bool happened = listed.out.contains("\"first\"");
    const auto again = run({.arguments = adding(made)});
    EXPECT_EQ(again.exit, happened ? 1 : 0) << again.err;
    EXPECT_EQ(asked_of(home_of(made) / "tend.db", "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(asked_of(home_of(made) / "tend.db", "SELECT title FROM tasks"), "First");
    return killed.exit == -SIGKILL;
  });
}

}  // namespace
}  // namespace tend::e2e
