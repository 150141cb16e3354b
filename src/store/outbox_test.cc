// The outbox on a real SQLite file.
#include "store/outbox.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "store/home_database.h"
#include "store/outbox_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = NoticeAnswer::Did;
using Ids = std::vector<std::int64_t>;
using Put = PutAnswer::Did;

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() { open(); }

  void open() {
    database.reset();
    auto opened = open_home_database(databases, *home, {.durable = false});
    EXPECT_TRUE(opened) << opened.error().text;
    database = *std::move(opened);
  }
  Outbox outbox() { return Outbox(*database, limits); }

  Put put(const std::string& payload, const std::string& key = "k",
          const std::string& channel = "hook") {
    const auto answer = outbox().put(channel, key, payload, now);
    EXPECT_TRUE(answer) << answer.error().text;
    return answer.value_or(PutAnswer{}).did;
  }
  std::string refused(const std::string& channel, const std::string& key,
                      const std::string& payload) {
    const auto answer = outbox().put(channel, key, payload, now);
    return answer ? "" : answer.error().text;
  }
  std::int64_t close(const std::optional<std::string>& payload = {}, const std::string& key = "k") {
    return outbox().close(key, payload, now).value();
  }
  Ids due() {
    Ids found;
    const std::vector<Notice> notices = outbox().due(now, 100).value();
    for (const Notice& each : notices) found.push_back(each.id);
    return found;
  }
  Notice take(std::int64_t id) {
    const NoticeAnswer answer = outbox().take(id, now, kLease).value();
    EXPECT_EQ(answer.did, Did::done) << id;
    return answer.notice;
  }
  Did try_to_take(std::int64_t id) { return outbox().take(id, now, kLease).value().did; }
  Did sent(const Notice& held) { return outbox().sent(held, now).value().did; }
  Did failed(const Notice& held) { return outbox().failed(held, "refused", now, 0).value().did; }
  void send(std::int64_t id) { EXPECT_EQ(sent(take(id)), Did::done) << id; }
  /// Takes it and fails until it is dead.
  void exhaust(std::int64_t id) {
    for (std::int64_t i = 1; i < limits.most_tries; ++i) {
      EXPECT_EQ(failed(take(id)), Did::done);
      now += 1h;
    }
    EXPECT_EQ(failed(take(id)), Did::given_up);
  }
  Notice notice(std::int64_t id) { return outbox().find(id).value().value(); }
  std::string all() { return shown(outbox().list({}).value()); }

  TemporaryFolder scratch;
  LinuxFolders folders;
  std::unique_ptr<Folder> home = folders.open(scratch.path()).value();
  LinuxDatabases databases;
  std::unique_ptr<Database> database;
  OutboxLimits limits;
  WallTime now{std::chrono::hours{24 * 20'000}};
};

// --- Incidents -----------------------------------------------------------------------------------

TEST_F(OutboxTest, holds_what_was_put_until_somebody_sends_it) {
  EXPECT_EQ(put(R"({"text":"ä"})"), Put::opened);
  open();
  const Notice found = notice(1);
  EXPECT_EQ(found.incident, 1);
  EXPECT_EQ(found.channel, "hook");
  EXPECT_EQ(found.key, "k");
  EXPECT_EQ(found.kind, NoticeKind::open);
  EXPECT_EQ(found.state, NoticeState::waiting);
  EXPECT_EQ(found.payload, R"({"text":"ä"})");
  EXPECT_EQ(found.tries, 0);
  EXPECT_EQ(found.next_at, now);
  EXPECT_EQ(found.last_error, std::nullopt);
  EXPECT_EQ(found.created_at, now);
  EXPECT_EQ(found.updated_at, now);
  EXPECT_FALSE(found.closed);
  EXPECT_EQ(due(), Ids{1});
}

TEST_F(OutboxTest, replaces_what_was_not_sent_yet) {
  put("1");
  now += 1min;
  EXPECT_EQ(put("1"), Put::as_before);
  EXPECT_EQ(notice(1).updated_at, now - 1min);
  EXPECT_EQ(put("2"), Put::replaced);
  EXPECT_EQ(notice(1).created_at, now - 1min);
  EXPECT_EQ(notice(1).updated_at, now);
  EXPECT_EQ(all(), "1 open waiting 2");
}

TEST_F(OutboxTest, updates_what_was_sent_if_there_is_something_new) {
  put("1");
  send(1);
  EXPECT_EQ(put("1"), Put::as_before);
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(put("2"), Put::updated);
  EXPECT_EQ(put("3"), Put::replaced);
  EXPECT_EQ(all(), "1 open sent 1; 2 update waiting 3");
  EXPECT_EQ(notice(2).incident, 1);
  send(2);
  EXPECT_EQ(put("3"), Put::as_before);
  EXPECT_EQ(all(), "1 open sent 1; 2 update sent 3");
}

TEST_F(OutboxTest, tells_the_end_of_what_was_told) {
  put("1");
  send(1);
  EXPECT_EQ(close("9"), 1);
  EXPECT_EQ(all(), "(1 open sent 1); (2 close waiting 9)");
  EXPECT_EQ(close("9"), 0) << "it is over already";
  send(2);
  EXPECT_EQ(due(), Ids{});
}

TEST_F(OutboxTest, tells_the_end_with_the_last_payload_if_there_is_no_other) {
  put("1");
  send(1);
  put("2");
  close();
  EXPECT_EQ(all(), "(1 open sent 1); (3 close waiting 2)") << "what waited is outdated";
}

TEST_F(OutboxTest, drops_what_was_over_before_it_was_sent) {
  put("1");
  EXPECT_EQ(close(), 1);
  EXPECT_EQ(all(), "");
  put("1");
  failed(take(3));
  EXPECT_EQ(close(), 1);
  EXPECT_EQ(all(), "") << "a try that failed has told nobody";
  EXPECT_EQ(close(), 0);
}

TEST_F(OutboxTest, keeps_channels_and_keys_apart_and_closes_a_key_on_every_channel) {
  EXPECT_EQ(put("1", "k", "hook"), Put::opened);
  EXPECT_EQ(put("1", "k", "mail"), Put::opened);
  EXPECT_EQ(put("1", "other", "hook"), Put::opened);
  EXPECT_EQ(due(), (Ids{1, 2, 3}));
  send(1);
  EXPECT_EQ(close(), 2);
  EXPECT_EQ(all(), "(1 open sent 1); 3 open waiting 1; (4 close waiting 1)");
}

TEST_F(OutboxTest, opens_a_new_incident_after_the_end_of_one) {
  put("1");
  send(1);
  close();
  EXPECT_EQ(put("1"), Put::opened);
  EXPECT_EQ(all(), "(1 open sent 1); (2 close waiting 1); 3 open waiting 1");
  EXPECT_EQ(notice(3).incident, 3);
  EXPECT_EQ(due(), Ids{2}) << "its begin is not told before the end of the other";
  send(2);
  EXPECT_EQ(due(), Ids{3});
}

TEST_F(OutboxTest, leaves_what_is_being_sent_as_it_is) {
  put("1");
  const Notice held = take(1);
  EXPECT_EQ(put("1"), Put::as_before);
  EXPECT_EQ(put("2"), Put::updated);
  EXPECT_EQ(put("3"), Put::replaced);
  EXPECT_EQ(all(), "1 open sending 1; 2 update waiting 3");
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(try_to_take(2), Did::not_due) << "an update is never sent before its open";
  EXPECT_EQ(sent(held), Did::done);
  EXPECT_EQ(due(), Ids{2});
}

TEST_F(OutboxTest, says_what_came_meanwhile_once_the_sending_has_failed) {
  put("1");
  const Notice held = take(1);
  put("2");
  EXPECT_EQ(failed(held), Did::done);
  EXPECT_EQ(all(), "1 open waiting 2");
}

TEST_F(OutboxTest, tells_the_end_of_what_is_being_sent_only_if_it_is_sent) {
  put("1");
  const Notice held = take(1);
  close("9");
  EXPECT_EQ(all(), "(1 open sending 1); (2 close waiting 9)");
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(sent(held), Did::done);
  EXPECT_EQ(due(), Ids{2});

  put("1", "other");
  const Notice other = take(3);
  close("9", "other");
  EXPECT_EQ(failed(other), Did::done);
  EXPECT_EQ(all(), "(1 open sent 1); (2 close waiting 9)");
}

TEST_F(OutboxTest, drops_an_update_that_failed_when_the_end_waits_behind_it) {
  put("1");
  send(1);
  put("2");
  const Notice held = take(2);
  close("9");
  EXPECT_EQ(failed(held), Did::done);
  EXPECT_EQ(all(), "(1 open sent 1); (3 close waiting 9)");
  EXPECT_EQ(due(), Ids{3});
}

// --- Leases --------------------------------------------------------------------------------------

TEST_F(OutboxTest, leases_a_notice_to_one_sender) {
  put("1");
  const Notice held = take(1);
  EXPECT_EQ(held.state, NoticeState::sending);
  EXPECT_EQ(held.tries, 1);
  EXPECT_EQ(held.next_at, now + kLease);
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(try_to_take(1), Did::not_due);
  EXPECT_EQ(sent(held), Did::done);
  EXPECT_EQ(sent(held), Did::as_before);
  EXPECT_EQ(try_to_take(1), Did::not_due);
  EXPECT_EQ(try_to_take(99), Did::no_such_notice);
}

TEST_F(OutboxTest, gets_back_what_a_killed_sender_held) {
  put("1");
  take(1);
  open();
  now += kLease - 1ms;
  EXPECT_EQ(due(), Ids{});
  now += 1ms;
  EXPECT_EQ(due(), Ids{1});
  const Notice again = take(1);
  EXPECT_EQ(again.tries, 2);
  EXPECT_TRUE(again.in_doubt);
  EXPECT_EQ(sent(again), Did::done);
}

TEST_F(OutboxTest, tells_the_end_of_what_may_have_arrived_from_a_killed_sender) {
  put("1");
  take(1);
  now += kLease;
  EXPECT_EQ(failed(take(1)), Did::done);
  close("9");
  EXPECT_EQ(all(), "(1 open waiting 1); (2 close waiting 9)");
  now += 1h;
  EXPECT_EQ(due(), Ids{1}) << "and its begin, for that may have been lost";
  send(1);
  EXPECT_EQ(due(), Ids{2});
}

TEST_F(OutboxTest, believes_a_slow_sender_that_it_sent_and_not_that_it_failed) {
  put("1");
  const Notice slow = take(1);
  now += kLease;
  const Notice second = take(1);
  EXPECT_EQ(failed(slow), Did::lost) << "another one is at it";
  EXPECT_EQ(notice(1).state, NoticeState::sending);
  EXPECT_EQ(sent(slow), Did::done);
  EXPECT_EQ(failed(second), Did::lost);
  EXPECT_EQ(notice(1).state, NoticeState::sent);
}

TEST_F(OutboxTest, does_not_take_an_old_payload_for_the_new_one) {
  put("1");
  const Notice slow = take(1);
  now += kLease;
  failed(take(1));
  EXPECT_EQ(put("2"), Put::replaced);
  EXPECT_EQ(sent(slow), Did::lost);
  EXPECT_EQ(all(), "1 open waiting 2");
}

TEST_F(OutboxTest, knows_nothing_of_notices_that_are_gone) {
  EXPECT_EQ(sent(Notice{.id = 7}), Did::no_such_notice);
  EXPECT_EQ(failed(Notice{.id = 7}), Did::no_such_notice);
  EXPECT_EQ(outbox().retry(7, now).value().did, Did::no_such_notice);
  EXPECT_EQ(outbox().find(7).value(), std::nullopt);
}

TEST_F(OutboxTest, does_not_wait_for_a_calendar_that_was_set_back) {
  put("1");
  failed(take(1));
  now -= 24h;
  EXPECT_EQ(due(), Ids{1});
  const Notice held = take(1);
  EXPECT_EQ(held.next_at, now + kLease);
  EXPECT_EQ(try_to_take(1), Did::not_due);
  now -= 1s;
  EXPECT_EQ(try_to_take(1), Did::not_due) << "somebody else was only faster";
}

// --- Failures ------------------------------------------------------------------------------------

TEST_F(OutboxTest, waits_twice_as_long_after_every_failure_up_to_an_hour) {
  put("1");
  for (const Duration wait : {10s, 20s, 40s, 80s, 160s, 320s, 640s, 1280s, 2560s, 3600s, 3600s}) {
    EXPECT_EQ(failed(take(1)), Did::done);
    EXPECT_EQ(notice(1).state, NoticeState::waiting);
    EXPECT_EQ(notice(1).last_error, "refused");
    EXPECT_EQ(notice(1).next_at, now + wait);
    now += wait - 1ms;
    EXPECT_EQ(try_to_take(1), Did::not_due);
    now += 1ms;
    EXPECT_EQ(due(), Ids{1});
  }
  EXPECT_EQ(failed(take(1)), Did::given_up) << "for the twelfth time";
  EXPECT_EQ(notice(1).state, NoticeState::dead);
  EXPECT_EQ(notice(1).tries, 12);
}

TEST(OutboxWait, is_shortened_by_chance_by_up_to_a_half) {
  const OutboxLimits limits;
  EXPECT_EQ(wait_after(1, 0, limits), 10s);
  EXPECT_EQ(wait_after(1, 0.5, limits), 7500ms);
  EXPECT_EQ(wait_after(3, 0.5, limits), 30s);
  EXPECT_GT(wait_after(1, 0.999999, limits), 5s - 1ms);
  EXPECT_EQ(wait_after(1'000'000, 0, limits), 1h);
}

TEST_F(OutboxTest, keeps_an_error_on_one_line_of_some_length) {
  put("1");
  const Notice held = take(1);
  ASSERT_TRUE(outbox().failed(held, "bad\ngateway " + std::string(5'000, 'x'), now, 0));
  const std::string error = notice(1).last_error.value_or("");
  EXPECT_TRUE(error.starts_with("bad")) << error;
  EXPECT_FALSE(error.contains('\n'));
  EXPECT_LT(error.size(), 1'100U);
  now += 10s;
  send(1);
  EXPECT_EQ(notice(1).last_error, std::nullopt);
}

TEST_F(OutboxTest, gives_up_what_kills_every_sender) {
  limits.most_tries = 2;
  put("1");
  for (int i = 0; i < 2; ++i) {
    take(1);
    now += kLease;
  }
  EXPECT_EQ(try_to_take(1), Did::given_up);
  EXPECT_EQ(notice(1).state, NoticeState::dead);
  EXPECT_EQ(notice(1).last_error, "who sent it vanished before it was done");
  EXPECT_EQ(due(), Ids{});
}

TEST_F(OutboxTest, sends_a_dead_notice_only_when_it_is_told_to) {
  put("1");
  exhaust(1);
  now += 24h;
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(put("2"), Put::replaced);
  EXPECT_EQ(all(), "1 open dead 2");
  EXPECT_EQ(outbox().retry(1, now).value().did, Did::done);
  EXPECT_EQ(outbox().retry(1, now).value().did, Did::as_before);
  EXPECT_EQ(notice(1).tries, 0);
  EXPECT_EQ(due(), Ids{1});
  send(1);
  EXPECT_EQ(all(), "1 open sent 2");
}

TEST_F(OutboxTest, says_the_newest_when_a_notice_dies_before_an_update) {
  limits.most_tries = 1;
  put("1");
  const Notice held = take(1);
  put("2");
  EXPECT_EQ(failed(held), Did::given_up);
  EXPECT_EQ(all(), "1 open dead 2");
}

TEST_F(OutboxTest, sends_no_dead_notice_of_what_is_over) {
  limits.most_tries = 1;
  put("1");
  exhaust(1);
  EXPECT_EQ(outbox().prune(now + 1ms).value(), 0) << "somebody may retry it";
  close();
  EXPECT_EQ(all(), "(1 open dead 1)") << "it is still known that nobody was told";
  EXPECT_EQ(outbox().retry(1, now).value().did, Did::over);
  EXPECT_EQ(outbox().retry_all(now).value(), 0);
  EXPECT_EQ(outbox().prune(now + 1ms).value(), 1);
}

TEST_F(OutboxTest, sends_a_dead_end_again_unless_it_has_begun_anew) {
  limits.most_tries = 1;
  put("1");
  send(1);
  close();
  exhaust(2);
  EXPECT_EQ(outbox().retry(2, now).value().did, Did::done);
  exhaust(2);
  put("1");
  EXPECT_EQ(due(), Ids{3}) << "what is dead holds nothing up";
  EXPECT_EQ(outbox().retry(2, now).value().did, Did::over);
}

TEST_F(OutboxTest, retries_all_that_are_dead) {
  limits.most_tries = 1;
  put("1", "a");
  put("1", "b");
  put("1", "c");
  exhaust(1);
  exhaust(2);
  EXPECT_EQ(outbox().retry_all(now).value(), 2);
  EXPECT_EQ(due(), (Ids{1, 2, 3}));
}

// --- Looking and tidying up ----------------------------------------------------------------------

TEST_F(OutboxTest, lists_what_is_asked_for) {
  put("1", "a", "hook");
  put("1", "b", "hook");
  put("1", "a", "mail");
  send(1);
  close({}, "a");
  const auto listed = [&](const NoticeFilter& filter) {
    return shown(outbox().list(filter).value());
  };
  EXPECT_EQ(listed({.state = NoticeState::sent}), "(1 open sent 1)");
  EXPECT_EQ(listed({.state = NoticeState::dead}), "");
  EXPECT_EQ(listed({.channel = "hook"}), "(1 open sent 1); 2 open waiting 1; (4 close waiting 1)");
  EXPECT_EQ(listed({.key = "b"}), "2 open waiting 1");
  EXPECT_EQ(listed({.open_only = true}), "2 open waiting 1");
  EXPECT_EQ(listed({.most = 1}), "(1 open sent 1)");
}

TEST_F(OutboxTest, hands_out_the_longest_due_first_and_no_more_than_asked) {
  put("1", "a");
  put("1", "b");
  failed(take(1));
  now += 1min;
  put("1", "c");
  EXPECT_EQ(due(), (Ids{2, 1, 3}));
  EXPECT_EQ(outbox().due(now, 2).value().size(), 2U);
}

TEST_F(OutboxTest, hands_out_one_key_alone_and_says_when_the_next_is_due) {
  put("1", "a");
  now += 1s;
  put("2", "b");
  EXPECT_EQ(outbox().due(now, 10, "b").value().front().id, 2);
  EXPECT_TRUE(outbox().due(now, 10, "c").value().empty());
  const WallTime first = outbox().next_due().value().value();
  EXPECT_EQ(first, now - 1s);
  EXPECT_EQ(outbox().next_due("b").value(), now);
  const Notice held = take(2);
  EXPECT_EQ(outbox().next_due("b").value(), now + kLease);
  EXPECT_EQ(sent(held), Did::done);
  EXPECT_FALSE(outbox().next_due("b").value());
  exhaust(1);
  EXPECT_FALSE(outbox().next_due().value()) << "the dead are not waited for";
}

TEST_F(OutboxTest, prunes_what_is_over_and_keeps_the_rest) {
  put("1", "over");
  send(1);
  close({}, "over");
  send(2);
  put("1", "ending");
  send(3);
  close({}, "ending");
  put("1", "open");
  send(5);
  put("2", "open");
  send(6);
  put("3", "open");
  const std::string before = all();
  EXPECT_EQ(outbox().prune(now).value(), 0);
  EXPECT_EQ(all(), before);
  EXPECT_EQ(outbox().prune(now + 1ms).value(), 3);
  EXPECT_EQ(all(), "(3 open sent 1); (4 close waiting 1); 6 update sent 2; 7 update waiting 3");
  EXPECT_EQ(close({}, "open"), 1);
  EXPECT_EQ(notice(8).kind, NoticeKind::close) << "that it was told is not forgotten";
}

TEST_F(OutboxTest, takes_json_and_words_only) {
  EXPECT_EQ(refused("", "k", "1"), "the channel is empty");
  EXPECT_EQ(refused("hook", "a\nb", "1"), "the key 'a\\x0ab' is not printable");
  EXPECT_EQ(refused("hook", std::string(513, 'x'), "1"), "the key is longer than 512 bytes");
  EXPECT_EQ(refused("hook", "k", "{\"a\""), "the payload '{\"a\"' is not JSON");
  EXPECT_EQ(refused("hook", "k", ""), "the payload '' is not JSON");
  EXPECT_EQ(refused("hook", "k", "\"\xff\"").substr(0, 11), "the payload");
  const std::string longest = '"' + std::string(kLongestPayload - 2, 'x') + '"';
  EXPECT_EQ(refused("hook", "k", longest), "");
  EXPECT_EQ(refused("hook", "k", longest + " "),
            "the payload has 256001 bytes; at most 256000 are allowed");
  EXPECT_FALSE(outbox().close("k", "{", now));
  EXPECT_EQ(outbox().list({.open_only = true}).value().size(), 1U);
}

TEST_F(OutboxTest, has_room_for_so_many_notices_that_were_not_sent) {
  ASSERT_TRUE(database->run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
      "INSERT INTO notices SELECT i, i, 'hook', 'key ' || i, 'open', 'waiting', '1', 0, 0, NULL, "
      "0, 0, 0, 0 FROM n",
      {kMostUnsent}));
  EXPECT_EQ(refused("hook", "k", "1"),
            "the outbox holds 10000 notices that were not sent: retry or prune them");
  EXPECT_EQ(put("2", "key 7"), Put::replaced);
  send(7);
  EXPECT_EQ(refused("hook", "k", "1"), "");
}

// --- What arrives --------------------------------------------------------------------------------

/// Who is told, with a memory of what it was told.
struct Receiver {
  std::set<std::int64_t> opened;   // incidents
  std::int64_t last = 0;           // notice
  std::optional<std::string> now;  // none: nothing is open

  void receive(const Notice& notice) {
    EXPECT_GE(notice.id, last) << "out of order";
    last = notice.id;
    if (notice.kind == NoticeKind::open) opened.insert(notice.incident);
    EXPECT_TRUE(opened.contains(notice.incident)) << "more of what was never told";
    now = notice.kind == NoticeKind::close ? std::nullopt : std::optional(notice.payload);
  }
};

/// Senders that fail, vanish and answer late, while incidents come and go.
class OutboxChaos : public OutboxTest {
 protected:
  std::uint64_t chance(std::uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33U) % below;
  }
  void change_something() {
    const std::string key = keys.at(chance(keys.size()));
    if (chance(4) == 0) {
      close({}, key);
      truth.erase(key);
    } else {
      truth[key] = std::to_string(chance(3));
      put(truth[key], key);
    }
  }
  void begin_to_send() {
    const std::vector<Notice> notices = outbox().due(now, 100).value();
    if (notices.empty()) return;
    const Notice held = take(notices[chance(notices.size())].id);
    const bool arrives = chance(2) == 0;
    if (arrives) receivers[held.key].receive(held);
    if (chance(3) != 0) senders.emplace_back(held, arrives);
  }
  void answer() {
    if (senders.empty()) return;
    const auto sender = senders.begin() + static_cast<std::ptrdiff_t>(chance(senders.size()));
    std::ignore = sender->second ? sent(sender->first) : failed(sender->first);
    senders.erase(sender);
  }
  void send_all_that_is_left() {
    senders.clear();
    now += 2h;
    for (Ids left = due(); !left.empty(); left = due()) {
      for (const std::int64_t id : left) {
        const Notice held = take(id);
        receivers[held.key].receive(held);
        sent(held);
      }
    }
  }

  std::array<std::string, 2> keys{"a", "b"};
  std::map<std::string, std::string> truth;
  std::map<std::string, Receiver> receivers;
  std::vector<std::pair<Notice, bool>> senders;  // and whether it arrived
  std::uint64_t seed = 0;
};

TEST_F(OutboxChaos, tells_everybody_the_truth_in_the_end_and_in_order) {
  limits = {.most_tries = 1'000'000, .longest_wait = kLease};
  for (std::uint64_t round = 0; round < 200 && !HasFailure(); ++round) {
    seed = round;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t what = chance(8);
      if (what < 3) change_something();
      if (what >= 3 && what < 5) begin_to_send();
      if (what >= 5 && what < 7) answer();
      if (what == 7) now += kLease;
    }
    send_all_that_is_left();
    for (const std::string& key : keys) {
      const auto is = truth.find(key);
      EXPECT_EQ(receivers[key].now.value_or("over"), is == truth.end() ? "over" : is->second)
          << "round " << round << ", key " << key << ": " << all();
    }
    EXPECT_EQ(outbox().list({.state = NoticeState::waiting}).value().size(), 0U);
    EXPECT_EQ(outbox().list({.state = NoticeState::sending}).value().size(), 0U);
    ASSERT_TRUE(outbox().prune(now));
  }
}

}  // namespace
}  // namespace tend
