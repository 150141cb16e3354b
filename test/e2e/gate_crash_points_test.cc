// Whoever uses the gate is killed at every call that changes a file, once each. Afterwards what was
// asked for happened or did not, nothing of it is half done, and the same command does it.
#include "crash_points_testing.h"
#include "database_testing.h"
#include "gate_testing.h"

namespace tend::e2e {
namespace {

/// Something to do to a message of its own, and how to see that it was done. KEY stands for what
/// tells this message from others, ID for its number.
struct Deed {
  std::vector<Arguments> before;
  Arguments command;
  std::string state;  // a query
  std::string untouched;
  std::string done;
  int again = 0;  // the exit code of doing it once more
};

const Arguments kReceive{"gate",  "receive",           "-c", "c", "-e", "KEY", "--content",
                         "hello", "--idempotency-key", "KEY"};
const Arguments kNext{"gate", "next"};
const std::string kMessageState =
    "SELECT group_concat(state || ' ' || tries) FROM messages WHERE key = 'KEY'";

class GateCrashPointsTest : public GateE2e {
 protected:
  // A lock that is taken is no change: it is gone with its holder.
  static inline const std::string kCalls =
      "write,pwrite64,?rename,renameat,?renameat2,?mkdir,mkdirat,?unlink,unlinkat,ftruncate,"
      "fallocate,fchmod,fsync,fdatasync,clone3,?vfork,?clone,exit_group";

  void SetUp() override {
    GateE2e::SetUp();
    const auto tried = run({.arguments = {"strace", "-o", log().string(), "-e",
                                          "inject=exit_group:signal=KILL", "true"}});
    if (tried.exit != -SIGKILL) GTEST_SKIP() << "strace cannot kill a program here: " << tried.err;
  }
  [[nodiscard]] Path log() const { return scratch() / "strace.log"; }
  std::string asked(const std::string& sql) const { return asked_of(home() / "tend.db", sql); }
  [[nodiscard]] std::string filled_in(std::string text, const std::string& key) const {
    for (auto at = text.find("KEY"); at != std::string::npos; at = text.find("KEY")) {
      text.replace(at, 3, key);
    }
    if (text == "ID") text = asked("SELECT id FROM messages WHERE key = '" + key + "'");
    return text;
  }
  [[nodiscard]] Arguments filled_in(Arguments words, const std::string& key) const {
    for (std::string& word : words) word = filled_in(word, key);
    return Arguments{TEND_BINARY} + words;
  }

  void kill_everywhere(const Deed& deed) {
    int made = 0;
    const auto prepare = [&] {
      std::string key = "k" + std::to_string(++made);
      for (const Arguments& words : deed.before) {
        const auto ran = run({.arguments = filled_in(words, key)});
        EXPECT_EQ(ran.exit, 0) << ran.err;
      }
      return key;
    };
    // Nobody else's message may be the next one.
    const auto tidy = [&] { asked("UPDATE messages SET state = 'done' WHERE state <> 'done'"); };
    tend({"gate", "list"});  // makes the database
    const std::string first = prepare();
    ASSERT_EQ(asked(filled_in(deed.state, first)), deed.untouched);
    const Arguments watched{"strace", "-o", log().string(), "-e", "trace=" + kCalls};
    const auto ran = run({.arguments = watched + filled_in(deed.command, first)});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const auto points = points_between({}, count_calls(log()));
    ASSERT_EQ(asked(filled_in(deed.state, first)), deed.done);
    int happened = 0;
    CrashPointsOf::at_each(points, [&](const Point& point) {
      tidy();
      const std::string key = prepare();
      const Arguments command = filled_in(deed.command, key);
      const auto killed = run({.arguments = killed_by_strace(log(), point) + command});
      EXPECT_EQ(asked("PRAGMA integrity_check"), "ok");
      const std::string found = asked(filled_in(deed.state, key));
      EXPECT_TRUE(found == deed.untouched || found == deed.done) << found;
      happened += found == deed.done ? 1 : 0;
      const auto again = run({.arguments = command});
      EXPECT_EQ(again.exit, found == deed.done ? deed.again : 0) << again.out << again.err;
      EXPECT_EQ(asked(filled_in(deed.state, key)), deed.done);
      return killed.exit == -SIGKILL;
    });
    std::cout << "it had happened " << happened << " times\n";
  }

  struct CrashPointsOf : CrashPoints {
    using CrashPoints::at_each;
  };
};

TEST_F(GateCrashPointsTest, a_message_is_received_whole_or_not_at_all) {
  kill_everywhere({.before = {},
                   .command = kReceive,
                   .state = kMessageState,
                   .untouched = "NULL",
                   .done = "queued 0"});
}

TEST_F(GateCrashPointsTest, a_message_is_taken_whole_or_not_at_all) {
  kill_everywhere({.before = {kReceive},
                   .command = kNext,
                   .state = kMessageState,
                   .untouched = "queued 0",
                   .done = "taken 1",
                   .again = 1});
}

TEST_F(GateCrashPointsTest, a_message_is_done_whole_or_not_at_all) {
  kill_everywhere({.before = {kReceive, kNext},
                   .command = {"gate", "done", "ID"},
                   .state = kMessageState,
                   .untouched = "taken 1",
                   .done = "done 1"});
}

TEST_F(GateCrashPointsTest, a_message_is_given_back_whole_or_not_at_all) {
  kill_everywhere({.before = {kReceive, kNext},
                   .command = {"gate", "fail", "ID"},
                   .state = kMessageState,
                   .untouched = "taken 1",
                   .done = "queued 1",
                   .again = 1});
}

/// The outage, the message, the way back and the answer are all there, or none is; and whoever is
/// killed while he tells a sender leaves it to the next.
TEST_F(GateCrashPointsTest, a_sender_is_told_of_whatever_was_held) {
  have_a_dead_agent();
  kill_everywhere(
      {.before = {},
       .command = kReceive + noting(),
       .state =
           "SELECT (SELECT count(*) FROM messages WHERE key = 'KEY' AND state = 'held' AND "
           "outage > 0), (SELECT count(*) FROM reply_ways WHERE endpoint = 'KEY'), (SELECT "
           "count(*) FROM notices JOIN reply_ways ON notices.channel = 'reply:' || reply_ways.id "
           "WHERE endpoint = 'KEY' AND notices.kind = 'open')",
       .untouched = "0 0 0",
       .done = "1 1 1"});
  // What was on its way when its sender died comes back when its lease runs out.
  asked("UPDATE notices SET next_at = 0 WHERE state <> 'sent'");
  EXPECT_EQ(tend({"outbox", "send"}).exit, 0);
  const std::string told_of = read_file(told());
  for (const std::string& endpoint :
       lines_of(asked("SELECT group_concat(endpoint, char(10)) FROM reply_ways"))) {
    EXPECT_TRUE(told_of.contains("auto-reply " + endpoint + " ")) << endpoint;
  }
}

TEST_F(GateCrashPointsTest, an_outage_ends_whole_or_not_at_all_and_whoever_heard_of_it_hears_that) {
  have_a_dead_agent();
  kill_everywhere(
      {.before = {kReceive + noting()},
       .command = {"gate", "release", "--force"},
       .state =
           "SELECT (SELECT state FROM messages WHERE key = 'KEY'), (SELECT count(*) FROM "
           "outages WHERE ended_at IS NULL), (SELECT count(*) FROM notices JOIN reply_ways ON "
           "notices.channel = 'reply:' || reply_ways.id WHERE endpoint = 'KEY' AND notices.kind = "
           "'close')",
       .untouched = "held 1 0",
       .done = "queued 0 1"});
  asked("UPDATE notices SET next_at = 0 WHERE state <> 'sent'");
  EXPECT_EQ(tend({"outbox", "send"}).exit, 0);
  const std::string told_of = read_file(told());
  for (const std::string& endpoint :
       lines_of(asked("SELECT group_concat(endpoint, char(10)) FROM reply_ways"))) {
    EXPECT_TRUE(told_of.contains("all-clear " + endpoint + " ")) << endpoint;
  }
  EXPECT_EQ(asked("SELECT count(*) FROM notices WHERE state <> 'sent'"), "0");
}

}  // namespace
}  // namespace tend::e2e
