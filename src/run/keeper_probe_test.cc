// An agent that is asked whether it still answers, on a simulated machine.
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "run/chat_test.h"
#include "store/gate.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class KeeperProbe : public ChatTest {};

TEST_F(KeeperProbe, asks_at_once_and_then_after_every_interval_of_silence) {
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(asked_.size(), 1U) << "it shows nothing before it was spoken to";
  EXPECT_EQ(verdict(), "idle");
  universe.run_for(280s);
  EXPECT_EQ(asked_.size(), 1U);
  universe.run_for(30s);
  EXPECT_EQ(asked_.size(), 2U);
  universe.run_for(3h);
  EXPECT_NEAR(static_cast<double>(asked_.size()), 38, 3);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.check_replay();
}

TEST_F(KeeperProbe, hears_an_answer_that_comes_in_the_moment_of_its_question) {
  kept.config.probes["worker-s1"].interval = 2s;
  universe.hints = SimHints::none;
  behave([this](SimSelf& self) {
    self.every(10ms, [this](SimSelf& me) {
      std::istringstream lines(me.read_fifo(kept.path("input")));
      for (std::string line; std::getline(lines, line);) hear(me, line);
    });
  });
  kept.start_keeper();
  universe.run_for(2min);
  EXPECT_GT(asked_.size(), 10U);
}

TEST_F(KeeperProbe, ends_and_resumes_one_that_does_not_answer) {
  kept.start_keeper();
  universe.run_for(100s);
  deaf_ = true;
  universe.run_for(5min + 15min);
  EXPECT_EQ(kept.heartbeat().life, 1U) << "15 min after the question, and the second look";
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since > 0; }, 5min));
  EXPECT_EQ(kept.count("action", "degrade"), 1);
  deaf_ = false;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 5min));
  EXPECT_EQ(kept.count("action", "undegrade"), 1);
  EXPECT_TRUE(asked_.back().starts_with("2-")) << asked_.back();
  kept.check_replay();
}

TEST_F(KeeperProbe, a_new_life_takes_no_messages_before_it_has_answered) {
  kept.start_keeper();
  universe.run_for(100s);
  answers_ = false;
  kill_worker();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  universe.run_for(60s);
  EXPECT_EQ(verdict(), "idle");
  EXPECT_GT(kept.heartbeat().degraded_since, 0) << "it works, and has not answered";
  answers_ = true;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 30min));
}

TEST_F(KeeperProbe,
       a_new_life_takes_no_messages_before_it_has_answered_though_the_journal_is_lost) {
  kept.start_keeper();
  universe.run_for(100s);
  answers_ = false;
  kill_worker();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  universe.run_for(60s);
  universe.kill(kept.keeper);
  universe.disk.make_unreadable(kept.path("journal.jsonl"));
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_GT(kept.heartbeat().degraded_since, 0) << "it has still not answered";
  answers_ = true;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 30min));
}

TEST_F(KeeperProbe,
       a_new_life_takes_no_messages_before_it_has_answered_however_well_the_last_ended) {
  behave([this](SimSelf& self) {
    self.on(Kill::interrupt, [](SimSelf& me) { me.exit(0); });
    chat(self);
  });
  kept.start_keeper();
  universe.run_for(100s);
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::finished) << "it left with 0";
  universe.reboot();
  answers_ = false;
  kept.again = true;
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  universe.run_for(5min);
  EXPECT_GT(kept.heartbeat().degraded_since, 0) << "it has not answered";
  answers_ = true;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 30min));
}

TEST_F(KeeperProbe, refuses_a_late_answer_and_says_so) {
  kept.start_keeper();
  universe.run_for(100s);
  answer("1-00000000", "1");
  universe.run_for(10s);
  const auto notes = kept.journal("note");
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note == "an answer to question '1-00000000' was refused: none is open";
  }));
  EXPECT_EQ(kept.count("is", "ack"), 1) << "only the one that was asked for";
  kill_worker();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  answer(asked_.front(), "1");
  universe.run_for(10s);
  const auto later = kept.journal("note");
  EXPECT_EQ(std::ranges::count(later, "an answer of an older life was refused"), 1);
  kept.check_replay();
}

TEST_F(KeeperProbe, never_has_two_questions_open) {
  answers_ = false;
  deaf_ = true;
  kept.policy.limits.start = kNoLimit;
  kept.start_keeper();
  universe.run_for(14min);
  deaf_ = false;
  universe.run_for(2s);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(KeeperProbe, one_that_works_and_never_answers_is_not_ended) {
  answers_ = false;
  kept.start_keeper();
  universe.run_for(5h);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  EXPECT_GT(asked_.size(), 10U);
  const auto notes = kept.journal("note");
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.starts_with("it works and does not answer questions");
  }));
}

TEST_F(KeeperProbe, one_that_works_and_never_answers_is_asked_again_before_it_is_ended) {
  answers_ = false;
  kept.start_keeper();
  universe.run_for(10s);
  universe.disk.append(kept.path("signals.jsonl"), "{\"is\":\"inbox\",\"waiting\":1}\n");
  universe.run_for(1h);
  EXPECT_EQ(kept.heartbeat().life, 1U) << "a message waits, and it does what it is told";
  EXPECT_GT(asked_.size(), 8U);
}

TEST_F(KeeperProbe, a_question_of_a_keeper_that_died_counts_for_nothing) {
  kept.start_keeper();
  universe.run_for(100s);
  deaf_ = true;
  universe.run_for(250s);
  ASSERT_FALSE(kept.text_of(".question").empty()) << "a question is open";
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(14min);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  universe.run_for(10min);
  EXPECT_GE(kept.heartbeat().life, 2U) << "its own question was not answered either";
  kept.check_replay();
}

TEST_F(KeeperProbe, an_outage_that_began_while_nobody_kept_it_ends_with_an_answer) {
  kept.start_keeper();
  universe.run_for(100s);
  universe.disk.write(std::string(Kept::kHome) + "/" + kDatabaseFile, "");
  universe.reboot();
  Machine& sender = universe.machine("sender");
  const auto home = sender.folders.open(Kept::kHome);
  ASSERT_TRUE(home.has_value());
  const auto database = open_home_database(sender.databases, **home);
  ASSERT_TRUE(database.has_value());
  Gate gate(**database);
  ASSERT_TRUE(gate.begin_outage("worker-s1", "its process is gone", universe.wall()).has_value());
  answers_ = false;
  kept.start_keeper();
  universe.run_for(60s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_GT(kept.heartbeat().degraded_since, 0) << "it is back, and has not answered";
  EXPECT_TRUE(gate.open_outage("worker-s1").value().has_value());
  answers_ = true;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 30min));
  universe.run_for(1s);
  EXPECT_FALSE(gate.open_outage("worker-s1").value().has_value());
}

TEST_F(KeeperProbe, the_next_life_goes_on_in_its_session_and_is_told_so_on_its_input) {
  kept.agent.command = {"claude", "-p", "--input-format", "stream-json"};
  universe.behaviours["claude"] = [this](SimSelf& self) { chat(self); };
  kept.start_keeper();
  universe.run_for(100s);
  universe.signal(universe.pids("claude").front(), Kill::kill);
  heard_.clear();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  universe.run_for(5s);
  const auto command = universe.facts(universe.pids("claude").front())->command;
  EXPECT_EQ(std::ranges::count(command, "--resume"), 1);
  ASSERT_EQ(heard_.size(), 2U);
  EXPECT_TRUE(heard_[0].contains("You were interrupted")) << heard_[0];
  EXPECT_FALSE(question_in(heard_[1]).empty()) << "then it is asked";
}

TEST_F(KeeperProbe, old_words_do_not_reach_the_next_life) {
  kept.start_keeper();
  universe.run_for(100s);
  deaf_ = true;
  universe.run_for(6min);
  const std::string open = kept.text_of(".question");
  kill_worker();
  deaf_ = false;
  asked_.clear();
  universe.run_for(60s);
  ASSERT_FALSE(asked_.empty());
  for (const std::string& id : asked_) EXPECT_NE(id + "\n", open);
}

}  // namespace
}  // namespace tend
