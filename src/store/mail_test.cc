// Mail on a real SQLite file, and on a simulated machine that kills its senders.
#include "store/mail.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_universe.h"
#include "store/home_database.h"
#include "store/tasks.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::int64_t>;

Letter draft(const std::string& to, const std::string& subject = "hello") {
  Letter letter;
  letter.from = "patrol";
  letter.to = to;
  letter.subject = subject;
  letter.body = "the body of " + subject;
  return letter;
}

Letter keyed(const std::string& to, const std::string& key, const std::string& subject = "hello") {
  Letter letter = draft(to, subject);
  letter.key = key;
  return letter;
}

Letter reply(std::int64_t id, const std::string& to = "PinkHill") {
  Letter letter = draft(to, "re");
  letter.reply_to = id;
  return letter;
}

Ids ids(const Result<std::vector<Letter>>& letters) {
  Ids found;
  for (const Letter& letter : letters.value()) found.push_back(letter.id);
  return found;
}

class MailTest : public testing::Test {
 protected:
  MailTest() { open(); }

  void open() {
    database.reset();
    auto opened = open_home_database(databases, *home, {.durable = false});
    EXPECT_TRUE(opened) << opened.error().text;
    database = *std::move(opened);
  }
  Mailbox mail() { return Mailbox(*database); }
  std::int64_t send(const Letter& letter) {
    const auto sent = mail().send(letter, now);
    EXPECT_TRUE(sent) << sent.error().text;
    return sent.value_or(0);
  }
  std::string refused(const Letter& letter) {
    const auto sent = mail().send(letter, now);
    return sent ? "" : sent.error().text;
  }
  LetterDid read(std::int64_t id, const std::string& reader) {
    return mail().read(id, reader, now).value();
  }
  LetterDid ack(std::int64_t id, const std::string& reader) {
    return mail().ack(id, reader, now).value();
  }
  Letter letter(std::int64_t id) { return mail().find(id).value().value(); }
  Ids inbox(const std::string& to, LetterView view) { return ids(mail().inbox(to, view)); }

  TemporaryFolder scratch;
  LinuxFolders folders;
  std::unique_ptr<Folder> home = folders.open(scratch.path()).value();
  LinuxDatabases databases;
  std::unique_ptr<Database> database;
  WallTime now{std::chrono::hours{24 * 20'000}};
};

TEST_F(MailTest, arrives_as_it_was_sent_and_outlives_its_sender) {
  const std::int64_t id = send(keyed("PinkHill", "ping:t1", "still there? äöü"));
  open();
  const Letter found = letter(id);
  EXPECT_EQ(found.thread, id);
  EXPECT_EQ(found.from, "patrol");
  EXPECT_EQ(found.to, "PinkHill");
  EXPECT_EQ(found.subject, "still there? äöü");
  EXPECT_EQ(found.body, "the body of still there? äöü");
  EXPECT_EQ(found.at, now);
  EXPECT_EQ(found.read_at, std::nullopt);
  EXPECT_EQ(found.acked_at, std::nullopt);
  EXPECT_EQ(found.reply_to, std::nullopt);
  EXPECT_EQ(found.key, "ping:t1");
  EXPECT_EQ(mail().find(id + 1).value(), std::nullopt);
}

TEST_F(MailTest, is_unread_until_it_was_read_and_unacked_until_it_was_acknowledged) {
  const std::int64_t first = send(draft("PinkHill"));
  const std::int64_t second = send(draft("PinkHill"));
  const std::int64_t third = send(draft("PinkHill"));
  send(draft("BlueLake"));
  now += 1min;
  EXPECT_EQ(read(first, "PinkHill"), LetterDid::done);
  now += 1min;
  EXPECT_EQ(ack(second, "PinkHill"), LetterDid::done);
  EXPECT_EQ(inbox("PinkHill", LetterView::unread), Ids{third});
  EXPECT_EQ(inbox("PinkHill", LetterView::unacked), (Ids{first, third}));
  EXPECT_EQ(inbox("PinkHill", LetterView::all), (Ids{first, second, third}));
  EXPECT_EQ(letter(first).read_at, now - 1min);
  EXPECT_EQ(letter(second).read_at, now) << "who acknowledges it has read it";
  EXPECT_EQ(letter(second).acked_at, now);
}

TEST_F(MailTest, is_listed_oldest_first_in_portions) {
  Ids sent;
  for (int i = 0; i < 5; ++i) sent.push_back(send(draft("PinkHill")));
  EXPECT_EQ(ids(mail().inbox("PinkHill", LetterView::unread, 2)), (Ids{sent[0], sent[1]}));
  EXPECT_EQ(ids(mail().inbox("PinkHill", LetterView::unacked, 2)), (Ids{sent[0], sent[1]}));
  EXPECT_EQ(ids(mail().inbox("PinkHill", LetterView::all, 2)), (Ids{sent[3], sent[4]}))
      << "of all of them the newest matter";
}

TEST_F(MailTest, is_read_and_acknowledged_by_its_recipient_only_and_once) {
  const std::int64_t id = send(draft("PinkHill"));
  EXPECT_EQ(read(id, "BlueLake"), LetterDid::not_yours);
  EXPECT_EQ(ack(id, "patrol"), LetterDid::not_yours) << "nor by its sender";
  EXPECT_EQ(letter(id).read_at, std::nullopt);
  EXPECT_EQ(read(id + 1, "PinkHill"), LetterDid::no_such_letter);
  EXPECT_EQ(ack(id + 1, "PinkHill"), LetterDid::no_such_letter);
  const WallTime first = now;
  EXPECT_EQ(read(id, "PinkHill"), LetterDid::done);
  EXPECT_EQ(ack(id, "PinkHill"), LetterDid::done);
  now += 1min;
  EXPECT_EQ(read(id, "PinkHill"), LetterDid::as_before);
  EXPECT_EQ(ack(id, "PinkHill"), LetterDid::as_before);
  EXPECT_EQ(letter(id).read_at, first);
  EXPECT_EQ(letter(id).acked_at, first);
}

TEST_F(MailTest, with_a_key_is_sent_once_until_it_was_acknowledged) {
  const std::int64_t first = send(keyed("PinkHill", "ping:t1", "first"));
  now += 5min;
  EXPECT_EQ(send(keyed("PinkHill", "ping:t1", "second")), first);
  EXPECT_EQ(letter(first).subject, "first");
  EXPECT_EQ(letter(first).at, now - 5min);
  read(first, "PinkHill");
  EXPECT_EQ(send(keyed("PinkHill", "ping:t1")), first) << "it was read, and that is no answer";
  EXPECT_NE(send(keyed("BlueLake", "ping:t1")), first) << "keys are the recipient's";
  EXPECT_NE(send(keyed("PinkHill", "ping:t2")), first);
  ack(first, "PinkHill");
  const std::int64_t next = send(keyed("PinkHill", "ping:t1"));
  EXPECT_GT(next, first);
  EXPECT_EQ(send(keyed("PinkHill", "ping:t1")), next);
}

TEST_F(MailTest, without_a_key_is_sent_as_often_as_it_is_written) {
  const std::int64_t first = send(draft("PinkHill"));
  EXPECT_GT(send(draft("PinkHill")), first);
}

TEST_F(MailTest, is_a_thread_with_all_replies_in_order) {
  const std::int64_t first = send(draft("PinkHill"));
  const std::int64_t other = send(draft("PinkHill"));
  const std::int64_t second = send(reply(first, "patrol"));
  const std::int64_t third = send(reply(second));
  EXPECT_EQ(letter(third).thread, first);
  EXPECT_EQ(letter(third).reply_to, second);
  for (const std::int64_t id : {first, second, third}) {
    EXPECT_EQ(ids(mail().thread(id)), (Ids{first, second, third}));
  }
  EXPECT_EQ(ids(mail().thread(first, 2)), (Ids{second, third}));
  EXPECT_EQ(ids(mail().thread(other)), Ids{other});
  EXPECT_EQ(ids(mail().thread(99)), Ids{});
  EXPECT_EQ(refused(reply(99)), "there is no letter 99 to reply to");
}

TEST_F(MailTest, keeps_its_thread_when_the_first_letter_is_pruned) {
  const std::int64_t first = send(draft("PinkHill"));
  const std::int64_t second = send(reply(first, "patrol"));
  ack(first, "PinkHill");
  ASSERT_EQ(mail().prune(now + 1ms).value(), 1);
  const std::int64_t third = send(reply(second));
  EXPECT_EQ(ids(mail().thread(first)), (Ids{second, third}));
  EXPECT_EQ(ids(mail().thread(third)), (Ids{second, third}));
  EXPECT_EQ(refused(reply(first)), "there is no letter 1 to reply to");
}

TEST_F(MailTest, never_gives_the_number_of_a_pruned_letter_again) {
  const std::int64_t first = send(draft("PinkHill"));
  ack(first, "PinkHill");
  ASSERT_EQ(mail().prune(now + 1ms).value(), 1);
  open();
  EXPECT_GT(send(draft("PinkHill")), first);
}

TEST_F(MailTest, left_unacknowledged_is_found_by_its_age) {
  const std::int64_t first = send(draft("PinkHill"));
  now += 10min;
  const std::int64_t acked = send(draft("PinkHill"));
  const std::int64_t read_only = send(draft("BlueLake"));
  ack(acked, "PinkHill");
  read(read_only, "BlueLake");
  EXPECT_EQ(ids(mail().unacked_before(now)), Ids{first});
  EXPECT_EQ(ids(mail().unacked_before(now + 1ms)), (Ids{first, read_only}));
  EXPECT_EQ(ids(mail().unacked_before(now + 1ms, 1)), Ids{first});
}

TEST_F(MailTest, is_pruned_by_when_it_was_acknowledged_and_never_before_that) {
  const std::int64_t kept = send(draft("PinkHill"));
  const std::int64_t early = send(draft("PinkHill"));
  const std::int64_t late = send(draft("PinkHill"));
  ack(early, "PinkHill");
  now += 1h;
  ack(late, "PinkHill");
  EXPECT_EQ(mail().prune(now).value(), 1);
  EXPECT_EQ(inbox("PinkHill", LetterView::all), (Ids{kept, late}));
  EXPECT_EQ(mail().prune(now + 24h * 365).value(), 1);
  EXPECT_EQ(inbox("PinkHill", LetterView::all), Ids{kept});
}

TEST_F(MailTest, has_a_subject_of_one_plain_line) {
  EXPECT_EQ(refused(draft("PinkHill", std::string(998, 'x'))), "");
  EXPECT_EQ(refused(draft("PinkHill", "")), "");
  EXPECT_EQ(refused(draft("PinkHill", std::string(999, 'x'))),
            "the subject has 999 bytes; at most 998 are allowed");
  for (const char* const bad : {"a\nb", "a\tb", "\x1b[2J", "\x7f",
                                "\xc2\x9b"
                                "2J"}) {
    EXPECT_EQ(refused(draft("PinkHill", bad)),
              "the subject has control characters; it has to be one plain line");
  }
  EXPECT_EQ(refused(draft("PinkHill", "\xc2\xa0\xc3\x84")), "") << "a hard space, and an umlaut";
  EXPECT_EQ(refused(draft("PinkHill", "torn \xc2")), "the subject is not valid UTF-8");
}

TEST_F(MailTest, has_a_body_of_up_to_a_megabyte_of_text) {
  Letter letter = draft("PinkHill");
  letter.body = std::string(kLongestBody, 'x');
  const std::int64_t id = send(letter);
  EXPECT_EQ(mail().find(id).value()->body.size(), kLongestBody);
  letter.body += 'x';
  EXPECT_EQ(refused(letter), "the body has 1000001 bytes; at most 1000000 are allowed");
  letter.body = "\xff";
  EXPECT_EQ(refused(letter), "the body is not valid UTF-8");
  letter.body = "";
  EXPECT_EQ(refused(letter), "");
  EXPECT_EQ(inbox("PinkHill", LetterView::all).size(), 2U);
}

TEST_F(MailTest, needs_a_sender_a_recipient_and_a_key_that_can_be_shown) {
  EXPECT_EQ(refused(draft("")), "the recipient is empty");
  EXPECT_EQ(refused(keyed("PinkHill", "")), "the key is empty");
  EXPECT_EQ(refused(keyed("PinkHill", "heartbeat:" + std::string(kLongestTaskWord, 'x'))), "");
  EXPECT_EQ(refused(keyed("PinkHill", std::string(513, 'x'))), "the key is longer than 512 bytes");
  Letter letter = draft("PinkHill");
  letter.from = "a\nb";
  EXPECT_EQ(refused(letter), "the sender 'a\\x0ab' is not printable");
}

TEST_F(MailTest, has_room_for_so_many_unacknowledged_letters_of_one_recipient) {
  ASSERT_TRUE(
      database->run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                    "WHERE i < ?) INSERT INTO letters(thread, sender, recipient, subject, "
                    "body, at, key) SELECT i, 'a', 'PinkHill', '', '', 0, i FROM n",
                    {kMostUnacked}));
  EXPECT_EQ(refused(draft("PinkHill")),
            "PinkHill has 10000 letters that were never acknowledged; that has to be done before "
            "there can be more");
  EXPECT_EQ(send(keyed("PinkHill", "7")), 7) << "what is there already needs no room";
  EXPECT_EQ(refused(draft("BlueLake")), "");
  ack(7, "PinkHill");
  EXPECT_EQ(refused(draft("PinkHill")), "");
}

TEST_F(MailTest, of_two_senders_with_one_key_is_one_letter) {
  const auto second = open_home_database(databases, *home);
  ASSERT_TRUE(second);
  const std::int64_t first = send(keyed("PinkHill", "mass-silence"));
  EXPECT_EQ(Mailbox(**second).send(keyed("PinkHill", "mass-silence"), now).value(), first);
}

TEST_F(MailTest, finds_its_letters_by_an_index) {
  for (const char* const sql :
       {"SELECT id FROM letters WHERE recipient = ? AND read_at IS NULL ORDER BY id",
        "SELECT id FROM letters WHERE recipient = ? AND acked_at IS NULL ORDER BY id",
        "SELECT id FROM letters WHERE recipient = ? ORDER BY id DESC",
        "SELECT id FROM letters WHERE thread = ? ORDER BY id DESC",
        "SELECT id FROM letters WHERE acked_at IS NULL AND at < ? ORDER BY at, id",
        "DELETE FROM letters WHERE acked_at < ?"}) {
    std::string plan;
    ASSERT_TRUE(database->each(std::string("EXPLAIN QUERY PLAN ") + sql, {std::int64_t{1}},
                               [&](const DatabaseRow& row) { plan += row.text(3); }));
    EXPECT_TRUE(plan.starts_with("SEARCH letters USING")) << sql << ": " << plan;
    EXPECT_FALSE(plan.contains("TEMP B-TREE")) << sql << ": " << plan;
  }
}

// --- Killed within
// --------------------------------------------------------------------------------

TEST_F(MailTest, is_not_there_when_its_sender_goes_away_before_the_end) {
  struct Gone {};
  EXPECT_THROW(std::ignore = database->change([&]() -> Result<void> {
    EXPECT_TRUE(
        database->run("INSERT INTO letters(thread, sender, recipient, subject, body, at) "
                      "VALUES(1, 'a', 'PinkHill', '', '', 0)"));
    throw Gone{};
  }),
               Gone);
  open();
  EXPECT_EQ(inbox("PinkHill", LetterView::all), Ids{});
  EXPECT_EQ(send(draft("PinkHill")), 1);
}

/// Letter 1 is unread, letter 2 acknowledged.
class KilledReader {
 public:
  using Act = std::function<void(Mailbox&, WallTime)>;

  explicit KilledReader(std::uint64_t call) : call_(call) {
    std::ignore = mail_.send(draft("PinkHill"), now_).value();
    std::ignore = mail_.send(keyed("PinkHill", "k"), now_).value();
    std::ignore = mail_.ack(2, "PinkHill", now_).value();
  }

  /// Whether the act was cut short.
  bool kills(const Act& act) {
    const auto pid = universe_.start_process("using");
    try {
      const auto its = open(universe_.machine_of(pid));
      Mailbox mail(*its);
      universe_.kill_at_call(pid, call_);
      act(mail, now_);
    } catch (const SimKilled&) {
      return true;
    }
    return false;
  }
  std::string all() {
    std::string shown;
    const std::vector<Letter> letters = mail_.inbox("PinkHill", LetterView::all).value();
    for (const Letter& each : letters) {
      shown += fmt::format("{} of {}{}{};", each.id, each.thread, each.read_at ? ", read" : "",
                           each.acked_at ? ", acked" : "");
    }
    return shown;
  }

 private:
  static std::unique_ptr<Database> open(Machine& machine) {
    const auto home = machine.folders.make("/home/user/tend").value();
    return open_home_database(machine.databases, *home).value();
  }

  SimUniverse universe_;
  std::unique_ptr<Database> database_ = open(universe_.machine());
  Mailbox mail_{*database_};
  WallTime now_{std::chrono::hours{24 * 20'000}};
  std::uint64_t call_;
};

TEST(MailOnASimulatedMachine, is_changed_or_as_before_wherever_its_user_is_killed) {
  const std::vector<std::pair<KilledReader::Act, std::string>> acts{
      {[](Mailbox& mail, WallTime now) { std::ignore = mail.send(keyed("PinkHill", "k"), now); },
       "1 of 1;2 of 2, read, acked;3 of 3;"},
      {[](Mailbox& mail, WallTime now) { std::ignore = mail.send(reply(1), now); },
       "1 of 1;2 of 2, read, acked;3 of 1;"},
      {[](Mailbox& mail, WallTime now) { std::ignore = mail.read(1, "PinkHill", now); },
       "1 of 1, read;2 of 2, read, acked;"},
      {[](Mailbox& mail, WallTime now) { std::ignore = mail.ack(1, "PinkHill", now); },
       "1 of 1, read, acked;2 of 2, read, acked;"},
      {[](Mailbox& mail, WallTime now) { std::ignore = mail.prune(now + 1h); }, "1 of 1;"},
  };
  for (const auto& [act, after] : acts) {
    std::uint64_t call = 1;
    for (bool killed = true; killed; ++call) {
      KilledReader user(call);
      killed = user.kills(act);
      EXPECT_EQ(user.all(), killed ? "1 of 1;2 of 2, read, acked;" : after) << "at " << call;
    }
    EXPECT_GE(call, 3U) << "never killed on the way to " << after;
  }
}

}  // namespace
}  // namespace tend
