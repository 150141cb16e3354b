// The gate on a real SQLite file.
#include "store/gate.h"

#include <gtest/gtest.h>

#include <map>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "store/gate_testing.h"
#include "store/home_database.h"
#include "store/outbox_testing.h"
#include "store/tasks.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = MessageAnswer::Did;
using Ids = std::vector<std::int64_t>;
using Way = Received::Did;

class GateTest : public testing::Test {
 protected:
  GateTest() { open(); }

  void open() {
    database.reset();
    auto opened = open_home_database(databases, *home, {.durable = false});
    EXPECT_TRUE(opened) << opened.error().text;
    database = *std::move(opened);
  }
  Gate gate() { return Gate(*database, limits); }
  Outbox outbox() { return Outbox(*database); }

  Received receive(const Arrival& arrival) {
    const auto received = gate().receive(arrival, now);
    EXPECT_TRUE(received) << received.error().text;
    return received.value_or(Received{});
  }
  /// The code and the words of what is wrong with it.
  std::string refused(const Arrival& arrival) {
    Gate one = gate();
    const auto received = one.receive(arrival, now);
    if (received || !one.refusal()) return "";
    return std::string(kGateRefusalWords.at(static_cast<std::size_t>(*one.refusal()))) + ": " +
           received.error().text;
  }
  std::int64_t queue(std::int64_t priority = 3) {
    Arrival arrival = arrival_of("hello");
    arrival.draft.priority = priority;
    return receive(arrival).message.id;
  }
  std::int64_t next() {
    const auto message = gate().next("boss", "me", now).value();
    return message ? message->id : 0;
  }
  Ids all_next() {
    Ids ids;
    for (std::int64_t id = next(); id != 0; id = next()) ids.push_back(id);
    return ids;
  }
  Did done(std::int64_t id) { return gate().done(id, now).value().did; }
  Did failed(std::int64_t id, std::optional<std::int64_t> tries = std::nullopt) {
    return gate().fail(id, tries, "no\nway", now).value().did;
  }
  Message message(std::int64_t id) { return gate().find(id).value().value(); }
  std::string all() { return shown(gate().list(std::nullopt, std::nullopt, 100).value()); }
  std::string notices() { return shown(outbox().list({}).value()); }
  Gate::Ended end() { return gate().end_outage("boss", R"("well")", now).value(); }
  /// Sends all that is due.
  void send() {
    for (auto due = outbox().due(now, 100).value(); !due.empty();
         due = outbox().due(now, 100).value()) {
      const Notice held = outbox().take(due.front().id, now, kLease).value().notice;
      EXPECT_EQ(outbox().sent(held, now).value().did, NoticeAnswer::Did::done);
    }
  }

  TemporaryFolder scratch;
  LinuxFolders folders;
  std::unique_ptr<Folder> home = folders.open(scratch.path()).value();
  LinuxDatabases databases;
  std::unique_ptr<Database> database;
  GateLimits limits;
  WallTime now{std::chrono::hours{24 * 20'000}};
};

// --- Receiving -----------------------------------------------------------------------------------

TEST_F(GateTest, keeps_a_message_until_its_agent_comes_for_it) {
  Arrival arrival = arrival_of("Grüße\n系统");
  arrival.draft.priority = 2;
  arrival.draft.key = "update-7";
  const Received received = receive(arrival);
  EXPECT_EQ(received.did, Way::queued);
  EXPECT_EQ(received.notice, std::nullopt);
  open();
  const Message found = message(1);
  EXPECT_EQ(found.agent, "boss");
  EXPECT_EQ(found.channel, "telegram");
  EXPECT_EQ(found.endpoint, "chat-1");
  EXPECT_EQ(found.priority, 2);
  EXPECT_EQ(found.content, "Grüße\n系统");
  EXPECT_EQ(found.state, MessageState::queued);
  EXPECT_EQ(found.key, "update-7");
  EXPECT_EQ(found.holder, std::nullopt);
  EXPECT_EQ(found.tries, 0);
  EXPECT_EQ(found.outage, 0);
  EXPECT_EQ(found.received_at, now);
  EXPECT_EQ(found.updated_at, now);
  EXPECT_EQ(notices(), "");
}

TEST_F(GateTest, receives_a_key_of_a_channel_once_whatever_became_of_the_message) {
  Arrival arrival = arrival_of("first");
  arrival.draft.key = "k";
  EXPECT_EQ(receive(arrival).did, Way::queued);
  arrival.draft.content = "second";
  const Received again = receive(arrival);
  EXPECT_EQ(again.did, Way::duplicate);
  EXPECT_EQ(again.message.id, 1);
  EXPECT_EQ(again.message.content, "first");
  next();
  done(1);
  EXPECT_EQ(receive(arrival).message.state, MessageState::done);
  arrival.draft.channel = "mail";
  EXPECT_EQ(receive(arrival).did, Way::queued);
  arrival.draft.agent = "other";
  EXPECT_EQ(receive(arrival).did, Way::queued);
}

TEST_F(GateTest, changes_nothing_for_a_duplicate_while_the_agent_is_down) {
  Arrival arrival = arrival_while_down("a");
  arrival.draft.key = "k";
  receive(arrival);
  const std::string before = notices();
  arrival.notice = R"("later")";
  EXPECT_EQ(receive(arrival).did, Way::duplicate);
  EXPECT_EQ(notices(), before);
}

TEST_F(GateTest, says_in_a_word_and_in_words_what_it_does_not_take) {
  const auto with = [&](auto&& change) {
    Arrival arrival = arrival_while_down("hello");
    change(arrival);
    return refused(arrival);
  };
  EXPECT_EQ(with([](Arrival& a) { a.draft.content = ""; }), "empty: the message is empty");
  EXPECT_EQ(with([](Arrival& a) { a.draft.content.assign(kLongestContent + 1, 'a'); }),
            "too-large: the message has 1000001 bytes; at most 1000000 are allowed");
  EXPECT_EQ(with([](Arrival& a) { a.draft.content = "a\xff"; }),
            "not-utf8: the message is not valid UTF-8");
  EXPECT_EQ(with([](Arrival& a) { a.draft.content = std::string("a\0b", 3); }),
            "has-nul: the message has a NUL byte");
  EXPECT_EQ(with([](Arrival& a) { a.draft.priority = 0; }),
            "bad-priority: the priority 0 is none; allowed: 1 (first) to 3");
  EXPECT_EQ(with([](Arrival& a) { a.draft.priority = 4; }),
            "bad-priority: the priority 4 is none; allowed: 1 (first) to 3");
  EXPECT_EQ(with([](Arrival& a) { a.draft.channel = ""; }), "bad-name: the channel is empty");
  EXPECT_EQ(with([](Arrival& a) { a.draft.endpoint.assign(kLongestEndpoint + 1, 'a'); }),
            "bad-name: the endpoint is longer than 1000 bytes");
  EXPECT_EQ(with([](Arrival& a) { a.draft.agent = "a\nb"; }),
            "bad-name: the agent 'a\\x0ab' is not one printable line");
  EXPECT_EQ(with([](Arrival& a) { a.draft.key = ""; }), "bad-name: the key is empty");
  EXPECT_EQ(with([](Arrival& a) { a.draft.key.emplace(kLongestKey + 1, 'a'); }),
            "bad-name: the key is longer than 512 bytes");
  EXPECT_EQ(with([](Arrival& a) { a.reply->command = {}; }),
            "bad-reply: the command for replies names no program");
  EXPECT_EQ(with([](Arrival& a) { a.reply->command.resize(kMostReplyWords + 1, "a"); }),
            "bad-reply: the command for replies has 65 words; at most 64 are allowed");
  EXPECT_EQ(with([](Arrival& a) { a.reply->command.emplace_back(kLongestReply, 'a'); }),
            "bad-reply: the command for replies has 16010 bytes; at most 16000 are allowed");
  EXPECT_EQ(with([](Arrival& a) { a.reply->command.emplace_back("\xff"); }),
            "bad-reply: the command for replies is not valid UTF-8 without NUL");
  EXPECT_EQ(with([](Arrival& a) { a.reply->language = "e\x1b"; }),
            "bad-reply: the language 'e\\x1b' is not one printable line");
  EXPECT_EQ(all() + notices(), "") << "nothing of it was taken";
  EXPECT_TRUE(gate().open_outages()->empty());
}

TEST_F(GateTest, takes_the_longest_of_all_and_what_is_for_nobody_known) {
  Arrival arrival = arrival_of(std::string(kLongestContent, 'x'));
  arrival.draft.agent = "";
  arrival.draft.channel.assign(kLongestEndpoint, 'c');
  arrival.draft.key.emplace(kLongestKey, 'k');
  EXPECT_EQ(receive(arrival).did, Way::queued);
  EXPECT_EQ(message(1).content.size(), kLongestContent);
  EXPECT_EQ(gate().agents().value(), std::vector<std::string>{""});
}

TEST_F(GateTest, is_full_for_one_agent_when_too_many_of_its_messages_are_not_done) {
  ASSERT_TRUE(database->run_script(R"(
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO messages SELECT i, 'boss', 'c', 'e', 3, CASE i % 3 WHEN 0 THEN 'queued' WHEN 1 THEN
  'held' ELSE 'dead' END, NULL, NULL, 1, 0, 0, NULL, 0, 0, 0, NULL, NULL, 'x' FROM n;)"));
  EXPECT_EQ(refused(arrival_of("one more")),
            "full: 100000 messages for boss are not done: there is no room for more until some "
            "are");
  Arrival for_other = arrival_of("hello");
  for_other.draft.agent = "other";
  EXPECT_EQ(receive(for_other).did, Way::queued);
  EXPECT_EQ(done(3), Did::done);
  EXPECT_EQ(receive(arrival_of("one more")).did, Way::queued);
}

TEST_F(GateTest, takes_no_part_of_what_it_has_no_room_for) {
  ASSERT_TRUE(database->run_script(R"(
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO messages SELECT i, 'boss', 'c', 'e', 3, 'queued', NULL, NULL, 1, 0, 0, NULL, 0, 0, 0,
  NULL, NULL, 'x'
FROM n;)"));
  EXPECT_EQ(refused(arrival_while_down("one more")).substr(0, 5), "full:");
  EXPECT_EQ(notices(), "");
  EXPECT_TRUE(gate().open_outages()->empty());
}

// --- The order -----------------------------------------------------------------------------------

TEST_F(GateTest, hands_out_by_priority_then_by_age) {
  queue(3);
  queue(1);
  queue(2);
  queue(1);
  EXPECT_EQ(all_next(), (Ids{2, 4, 3, 1}));
}

TEST_F(GateTest, hands_out_to_each_agent_its_own) {
  queue();
  EXPECT_EQ(gate().next("other", "me", now).value(), std::nullopt);
  EXPECT_EQ(next(), 1);
}

TEST_F(GateTest, gives_what_is_for_nobody_in_particular_its_place_among_the_others) {
  for (const auto& [agent, priority] :
       {std::pair{"", 3}, {"boss", 3}, {"", 2}, {"boss", 1}, {"ann", 1}}) {
    Arrival arrival = arrival_of("x");
    arrival.draft.agent = agent;
    arrival.draft.priority = priority;
    ASSERT_TRUE(gate().receive(arrival, now));
  }
  for (const std::int64_t id : {4, 3, 1, 2}) {
    EXPECT_EQ(gate().next("boss", "me", now, true).value().value().id, id);
  }
  EXPECT_FALSE(gate().next("boss", "me", now, true).value());
}

TEST_F(GateTest, hands_a_message_to_one_holder_until_its_lease_runs_out) {
  queue();
  queue();
  const Message first = gate().next("boss", "me", now).value().value();
  EXPECT_EQ(first.state, MessageState::taken);
  EXPECT_EQ(first.holder, "me");
  EXPECT_EQ(first.tries, 1);
  EXPECT_EQ(first.lease_until, now + limits.lease);
  EXPECT_EQ(message(1).holder, "me");
  now += limits.lease - 1ms;
  EXPECT_EQ(gate().waiting("boss", now).value(), 1);
  now += 1ms;
  EXPECT_EQ(gate().waiting("boss", now).value(), 2);
  EXPECT_EQ(next(), 1) << "it is back at its place";
  EXPECT_EQ(message(1).tries, 2);
}

TEST_F(GateTest, goes_on_with_a_lease_as_long_as_nobody_else_took_the_message) {
  queue();
  next();
  now += 2 * limits.lease;
  EXPECT_EQ(gate().extend(1, 1, now).value().did, Did::done);
  EXPECT_EQ(next(), 0);
  EXPECT_EQ(message(1).lease_until, now + limits.lease);
  now += limits.lease;
  next();
  EXPECT_EQ(gate().extend(1, 1, now).value().did, Did::lost);
  EXPECT_EQ(failed(1, 1), Did::lost);
  EXPECT_EQ(failed(1, 2), Did::done);
  EXPECT_EQ(gate().extend(1, 2, now).value().did, Did::not_taken);
  EXPECT_EQ(gate().extend(9, 2, now).value().did, Did::no_such_message);
}

TEST_F(GateTest, frees_what_was_taken_before_the_calendar_was_set_back) {
  queue();
  next();
  now -= 24h;
  EXPECT_EQ(gate().waiting("boss", now).value(), 1);
  EXPECT_EQ(next(), 1);
  now -= kCalendarStep;
  EXPECT_EQ(next(), 0) << "somebody else was a little faster";
}

TEST_F(GateTest, puts_a_failed_message_back_at_its_place) {
  queue();
  queue();
  next();
  EXPECT_EQ(failed(1), Did::done);
  EXPECT_EQ(message(1).last_error, "no\\x0away");
  EXPECT_EQ(message(1).holder, std::nullopt);
  EXPECT_EQ(failed(1), Did::not_taken);
  EXPECT_EQ(all_next(), (Ids{1, 2}));
}

TEST_F(GateTest, gives_a_message_up_after_its_last_try_and_has_it_again_by_hand) {
  limits.most_tries = 2;
  queue();
  next();
  EXPECT_EQ(failed(1), Did::done);
  next();
  EXPECT_EQ(failed(1), Did::given_up);
  EXPECT_EQ(failed(1), Did::given_up);
  EXPECT_EQ(next(), 0);
  EXPECT_EQ(gate().retry(1, now).value().did, Did::done);
  EXPECT_EQ(gate().retry(1, now).value().did, Did::as_before);
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(message(1).tries, 3) << "who took it before does not hold it now";
  EXPECT_EQ(failed(1), Did::done) << "it has all its tries";
  next();
  EXPECT_EQ(failed(1), Did::given_up);
  EXPECT_EQ(gate().retry(9, now).value().did, Did::no_such_message);
}

TEST_F(GateTest, gives_up_what_its_last_holder_vanished_with) {
  limits.most_tries = 1;
  queue();
  queue();
  next();
  now += limits.lease;
  EXPECT_EQ(gate().waiting("boss", now).value(), 1);
  EXPECT_EQ(gate().count("boss", now)->dead, 1);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(message(1).state, MessageState::dead);
  EXPECT_EQ(message(1).last_error, "who took it vanished before it was done");
  EXPECT_EQ(gate().extend(1, 1, now).value().did, Did::given_up);
  now += limits.lease;
  EXPECT_EQ(gate().retry(2, now).value().did, Did::done) << "nobody asked for the next";
  EXPECT_EQ(done(1), Did::done) << "it was done after all";
}

TEST_F(GateTest, believes_who_is_done_whoever_holds_the_message_now) {
  queue();
  EXPECT_EQ(done(1), Did::not_taken);
  EXPECT_EQ(done(9), Did::no_such_message);
  next();
  now += limits.lease;
  next();
  failed(1);
  EXPECT_EQ(done(1), Did::done);
  EXPECT_EQ(done(1), Did::as_before);
  EXPECT_EQ(message(1).last_error, std::nullopt);
  EXPECT_EQ(failed(1), Did::not_taken);
  EXPECT_EQ(next(), 0);
}

TEST_F(GateTest, wants_to_know_who_takes_a_message) {
  queue();
  EXPECT_EQ(gate().next("boss", "", now).error().text, "the holder is empty");
  EXPECT_EQ(message(1).state, MessageState::queued);
}

// --- Counting ------------------------------------------------------------------------------------

TEST_F(GateTest, counts_what_there_is) {
  for (int i = 0; i < 6; ++i) {
    queue();
    now += 1s;
  }
  limits.most_tries = 1;
  next();
  done(1);
  next();
  failed(2);
  next();
  receive(arrival_while_down("held"));
  const GateCount count = gate().count("boss", now).value();
  EXPECT_EQ(count.queued, 3);
  EXPECT_EQ(count.held, 1);
  EXPECT_EQ(count.taken, 1);
  EXPECT_EQ(count.dead, 1);
  EXPECT_EQ(count.done, 1);
  EXPECT_EQ(count.oldest, now - 3s);
  limits.most_tries = 2;
  const GateCount later = gate().count("boss", now + limits.lease).value();
  EXPECT_EQ(later.queued, 4);
  EXPECT_EQ(later.taken, 0);
  EXPECT_EQ(later.oldest, now - 4s);
  EXPECT_EQ(gate().count("other", now)->oldest, std::nullopt);
}

TEST_F(GateTest, lists_by_agent_and_state_oldest_first) {
  queue(3);
  queue(1);
  Arrival for_other = arrival_of("x");
  for_other.draft.agent = "other";
  receive(for_other);
  next();
  done(2);
  EXPECT_EQ(all(), "1 queued; 2 done; 3 queued");
  EXPECT_EQ(shown(gate().list("boss", std::nullopt, 9).value()), "1 queued; 2 done");
  EXPECT_EQ(shown(gate().list("boss", MessageState::done, 9).value()), "2 done");
  EXPECT_EQ(shown(gate().list(std::nullopt, MessageState::queued, 1).value()), "1 queued");
  EXPECT_EQ(gate().agents().value(), (std::vector<std::string>{"boss", "other"}));
}

TEST_F(GateTest, finds_what_is_next_without_going_over_all_messages) {
  std::map<std::string, std::string> plans;
  const auto plan = [&](const std::string& sql) {
    std::string found;
    EXPECT_TRUE(database->each("EXPLAIN QUERY PLAN " + sql, {}, [&](const DatabaseRow& row) {
      found += std::string(row.text(3)) + ";";
    }));
    return found;
  };
  EXPECT_EQ(plan("SELECT content FROM messages WHERE agent = 'a' AND state <> 'done' AND "
                 "state = 'queued' ORDER BY priority, id LIMIT 1"),
            "SEARCH messages USING INDEX messages_unfinished (agent=? AND state=?);");
  EXPECT_EQ(plan("SELECT count(*) FROM messages WHERE agent = 'a' AND state <> 'done' AND "
                 "state IN ('queued', 'taken')"),
            "SEARCH messages USING COVERING INDEX messages_unfinished (agent=? AND state=?);");
  EXPECT_EQ(plan("SELECT 1 FROM messages WHERE agent = 'a' AND channel = 'c' AND key = 'k'"),
            "SEARCH messages USING COVERING INDEX messages_by_key (agent=? AND channel=? AND "
            "key=?);");
}

// --- Outages -------------------------------------------------------------------------------------

TEST_F(GateTest, holds_what_comes_while_the_agent_is_down_and_tells_who_sent_it) {
  const Received received = receive(arrival_while_down("help"));
  EXPECT_EQ(received.did, Way::held);
  EXPECT_EQ(received.notice, 1);
  EXPECT_FALSE(received.answered_before);
  EXPECT_EQ(message(1).state, MessageState::held);
  EXPECT_EQ(message(1).outage, 1);
  EXPECT_EQ(next(), 0);
  const Outage outage = gate().open_outage("boss").value().value();
  EXPECT_EQ(outage.why, "no answer");
  EXPECT_EQ(outage.since, now);
  EXPECT_EQ(notices(), R"(1 open waiting "down")");
  const Notice notice = outbox().find(1).value().value();
  EXPECT_EQ(notice.channel, "reply:1");
  EXPECT_EQ(notice.key, outage_key(1));
  const ReplyWay way = gate().find_way(1).value().value();
  EXPECT_EQ(way.channel, "telegram");
  EXPECT_EQ(way.endpoint, "chat-1");
  EXPECT_EQ(way.command, (std::vector<std::string>{"send", "{text}"}));
  EXPECT_EQ(way.language, "zh");
}

TEST_F(GateTest, answers_and_forgets_what_is_not_to_be_kept) {
  Arrival arrival = arrival_while_down("help");
  arrival.keep = false;
  const Received received = receive(arrival);
  EXPECT_EQ(received.did, Way::not_kept);
  EXPECT_EQ(received.message.id, 0);
  EXPECT_EQ(received.notice, 1);
  EXPECT_EQ(all(), "");
}

TEST_F(GateTest, holds_a_message_without_a_way_back_in_silence) {
  Arrival arrival = arrival_while_down("help");
  arrival.reply.reset();
  EXPECT_EQ(receive(arrival).notice, std::nullopt);
  arrival = arrival_while_down("help");
  arrival.notice = "";
  EXPECT_EQ(receive(arrival).notice, std::nullopt);
  EXPECT_EQ(all(), "1 held; 2 held");
  EXPECT_EQ(notices(), "");
}

TEST_F(GateTest, answers_the_same_sender_no_more_often_than_it_may) {
  Arrival arrival = arrival_while_down("a");
  arrival.answer_every = 1min;
  receive(arrival);
  send();
  now += 1min - 1ms;
  arrival.notice = R"("still")";
  const Received soon = receive(arrival);
  EXPECT_TRUE(soon.answered_before);
  EXPECT_EQ(soon.notice, std::nullopt);
  EXPECT_EQ(soon.message.id, 2) << "it is kept all the same";
  now += 1ms;
  const Received later = receive(arrival);
  EXPECT_FALSE(later.answered_before);
  EXPECT_EQ(later.notice, 2);
  EXPECT_EQ(notices(), R"(1 open sent "down"; 2 update waiting "still")");
}

TEST_F(GateTest, counts_from_when_the_sender_was_really_told) {
  Arrival arrival = arrival_while_down("a");
  arrival.answer_every = 1min;
  receive(arrival);
  now += 1h;
  send();
  now += 1s;
  EXPECT_TRUE(receive(arrival).answered_before);
}

TEST_F(GateTest, answers_again_when_the_calendar_was_set_back) {
  Arrival arrival = arrival_while_down("a");
  arrival.answer_every = 1min;
  receive(arrival);
  send();
  now -= 24h;
  arrival.notice = R"("still")";
  EXPECT_EQ(receive(arrival).notice, 2);
}

TEST_F(GateTest, answers_another_endpoint_and_another_agent_on_ways_of_their_own) {
  Arrival arrival = arrival_while_down("a");
  arrival.answer_every = 1h;
  EXPECT_EQ(receive(arrival).notice, 1);
  arrival.draft.endpoint = "chat-2";
  EXPECT_EQ(receive(arrival).notice, 2);
  arrival.draft.agent = "other";
  EXPECT_EQ(receive(arrival).notice, 3);
  EXPECT_EQ(outbox().find(3).value()->key, outage_key(2));
  EXPECT_EQ(gate().open_outages()->size(), 2U);
}

TEST_F(GateTest, answers_where_the_sender_wants_to_be_answered_and_as_it_said_last) {
  Arrival arrival = arrival_while_down("a");
  arrival.reply->channel = "mail";
  arrival.reply->endpoint = "me@example.org";
  receive(arrival);
  arrival.reply->command = {"mail"};
  arrival.reply->language = "en";
  receive(arrival);
  const ReplyWay way = gate().find_way(1).value().value();
  EXPECT_EQ(way.channel, "mail");
  EXPECT_EQ(way.endpoint, "me@example.org");
  EXPECT_EQ(way.command, std::vector<std::string>{"mail"});
  EXPECT_EQ(way.language, "en");
  EXPECT_EQ(gate().find_way(2).value(), std::nullopt);
}

TEST_F(GateTest, leaves_half_of_the_outbox_to_what_is_no_answer) {
  ASSERT_TRUE(database->run_script(R"(
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO notices SELECT i, i, 'hook', i, 'open', 'dead', '1', 0, 0, NULL, 0, 0, 0, 0 FROM n;)"));
  const Received received = receive(arrival_while_down("a"));
  EXPECT_EQ(received.did, Way::held);
  EXPECT_TRUE(received.no_room_to_answer);
  EXPECT_EQ(received.notice, std::nullopt);
}

TEST_F(GateTest, begins_an_outage_once_and_ends_it_once) {
  const Outage first = gate().begin_outage("boss", "no\nanswer", now).value();
  EXPECT_EQ(first.why, "no\\x0aanswer");
  now += 1s;
  const Outage same = gate().begin_outage("boss", "another reason", now).value();
  EXPECT_EQ(same.id, first.id);
  EXPECT_EQ(same.since, first.since);
  EXPECT_EQ(receive(arrival_while_down("a")).message.outage, first.id);
  const Gate::Ended ended = end();
  EXPECT_EQ(ended.outage->id, first.id);
  EXPECT_EQ(ended.outage->ended_at, now);
  EXPECT_EQ(end().outage, std::nullopt);
  EXPECT_EQ(gate().begin_outage("boss", "again", now)->id, 2);
}

TEST_F(GateTest, releases_what_was_held_where_its_age_puts_it) {
  queue();
  receive(arrival_while_down("a"));
  receive(arrival_while_down("b"));
  end();
  queue();
  EXPECT_EQ(all_next(), (Ids{1, 2, 3, 4}));
}

TEST_F(GateTest, tells_the_end_to_whom_it_told_the_begin) {
  Arrival arrival = arrival_while_down("a");
  receive(arrival);
  send();
  arrival.draft.endpoint = "chat-2";
  receive(arrival);
  const Gate::Ended ended = end();
  EXPECT_EQ(ended.released, 2);
  EXPECT_EQ(ended.told, 1) << "the other was not told yet, and has nothing to worry about";
  EXPECT_EQ(notices(), R"((1 open sent "down"); (3 close waiting "well"))");
  end();
  send();
  EXPECT_EQ(notices(), R"((1 open sent "down"); (3 close sent "well"))") << "once";
}

TEST_F(GateTest, knows_who_is_still_to_hear_of_the_end) {
  Arrival arrival = arrival_while_down("a");
  receive(arrival);
  now += 1s;
  arrival.draft.endpoint = "chat-2";
  receive(arrival);
  arrival.draft.agent = "other";
  receive(arrival);
  EXPECT_EQ(gate().pending("boss")->size(), 2U);
  EXPECT_EQ(gate().pending(std::nullopt)->size(), 3U);
  const PendingChannel first = gate().pending("boss")->front();
  EXPECT_EQ(first.agent, "boss");
  EXPECT_EQ(first.channel, "telegram");
  EXPECT_EQ(first.endpoint, "chat-1");
  EXPECT_EQ(first.outage, 1);
  EXPECT_EQ(first.since, now - 1s);
  EXPECT_EQ(first.state, NoticeState::waiting);
  send();
  EXPECT_EQ(gate().pending("boss")->front().state, NoticeState::sent);
  now += 1s;
  end();
  EXPECT_EQ(gate().pending("boss")->front().state, NoticeState::waiting);
  EXPECT_EQ(gate().pending("boss")->front().since, now - 2s);
  send();
  EXPECT_TRUE(gate().pending("boss")->empty());
  EXPECT_EQ(gate().pending(std::nullopt)->size(), 1U);
}

TEST_F(GateTest, waits_for_nobody_who_never_heard_of_the_outage) {
  receive(arrival_while_down("a"));
  Outbox hasty(*database, {.most_tries = 1});
  const Notice held = hasty.take(1, now, kLease).value().notice;
  ASSERT_EQ(hasty.failed(held, "no such chat", now, 0)->did, NoticeAnswer::Did::given_up);
  EXPECT_EQ(gate().pending("boss")->front().state, NoticeState::dead);
  EXPECT_EQ(gate().pending("boss")->front().last_error, "no such chat");
  EXPECT_EQ(end().told, 0);
  EXPECT_TRUE(gate().pending("boss")->empty());
}

TEST_F(GateTest, releases_nothing_if_the_all_clear_cannot_be_put) {
  receive(arrival_while_down("a"));
  EXPECT_FALSE(gate().end_outage("boss", "no JSON", now));
  EXPECT_EQ(all(), "1 held");
  EXPECT_TRUE(gate().open_outage("boss").value());
}

TEST_F(GateTest, says_so_when_a_way_back_cannot_be_read) {
  receive(arrival_while_down("a"));
  for (const char* const text : {"", "[]", "[1]", "{", "\"send\""}) {
    ASSERT_TRUE(database->run("UPDATE reply_ways SET command = ?", {std::string_view(text)}));
    EXPECT_EQ(gate().find_way(1).error().text,
              scratch / "tend.db: what stands for reply way 1 is no command")
        << text;
  }
}

TEST_F(GateTest, forgets_what_was_done_long_ago_and_what_nobody_needs) {
  queue();
  queue();
  next();
  next();
  done(1);
  receive(arrival_while_down("a"));
  send();
  now += 1h;
  done(2);
  end();
  now += 1h;
  EXPECT_EQ(gate().prune(now - 90min).value(), 1);
  EXPECT_EQ(all(), "2 done; 3 queued");
  EXPECT_EQ(gate().prune(now).value(), 1);
  EXPECT_EQ(gate().pending("boss")->size(), 1U) << "its end is still to be told";
  send();
  ASSERT_EQ(outbox().prune(now + 1s).value(), 2);
  EXPECT_EQ(gate().prune(now + 1s).value(), 0);
  EXPECT_EQ(gate().find_way(1).value(), std::nullopt);
  EXPECT_EQ(gate().begin_outage("boss", "", now)->id, 2) << "no number is given again";
  EXPECT_EQ(all(), "3 queued");
}

// --- Handed over by a keeper ---------------------------------------------------------------------

TEST_F(GateTest, a_message_that_was_taken_is_on_its_way_until_it_arrived) {
  queue();
  ASSERT_EQ(next(), 1);
  EXPECT_EQ(message(1).handed, std::nullopt);
  now += 5min;
  EXPECT_EQ(gate().arrived(1, 1, {.stream = 700, .said = 30}, now).value().did, Did::done);
  open();
  EXPECT_EQ(message(1).handed, (HandedAt{.stream = 700, .said = 30}));
  EXPECT_EQ(message(1).lease_until, now + limits.lease);
}

TEST_F(GateTest, a_message_that_came_back_has_not_arrived) {
  queue();
  next();
  ASSERT_EQ(gate().arrived(1, 1, {.stream = 7, .said = 3}, now).value().did, Did::done);
  failed(1);
  EXPECT_EQ(message(1).handed, std::nullopt);
  ASSERT_EQ(next(), 1);
  ASSERT_EQ(gate().arrived(1, 2, {.stream = 9, .said = 3}, now).value().did, Did::done);
  now += limits.lease;
  ASSERT_EQ(next(), 1) << "its lease ran out";
  EXPECT_EQ(message(1).handed, std::nullopt);
}

TEST_F(GateTest, only_who_has_a_message_says_that_it_arrived) {
  queue();
  EXPECT_EQ(gate().arrived(1, 0, {}, now).value().did, Did::not_taken);
  next();
  EXPECT_EQ(gate().arrived(1, 7, {}, now).value().did, Did::lost);
  EXPECT_EQ(gate().arrived(2, 1, {}, now).value().did, Did::no_such_message);
  EXPECT_EQ(message(1).handed, std::nullopt);
}

}  // namespace
}  // namespace tend
