// Messages of the gate and the keeper of their agent, on a simulated machine: what is handed over,
// what is held, what comes back, and who hears that an outage is over.
#include <chrono>
#include <string>
#include <vector>

#include "run/chat_test.h"
#include "run/gate_desk.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class KeeperGate : public ChatTest {
 protected:
  KeeperGate() {
    kept.config.probes["worker-s1"].deliver = true;
    universe.answers["reply"] = {};
    // Simulated databases are no files; whoever looks whether there is one looks for a file.
    universe.disk.write(std::string(Kept::kHome) + "/" + kDatabaseFile, "");
  }

  /// As `tend gate receive` does; the word for what became of it.
  std::string receive(const std::string& content, const std::string& endpoint = "ann",
                      const std::optional<std::string>& agent = "worker-s1") {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    GateDesk desk(machine, **home, kept.config.gate);
    ReceiveOrder order;
    order.agent = agent;
    order.draft.channel = "chat";
    order.draft.endpoint = endpoint;
    order.draft.content = content;
    order.reply_with = {"reply", "{endpoint}", "{text}"};
    const auto received = desk.receive(order);
    if (!received) return received.error().text;
    if (received->notice && is_told_at_once_) be_told(*received->notice);
    return std::string(kReceiveActionWords.at(static_cast<std::size_t>(received->action)));
  }
  /// The sender has heard the answer.
  void be_told(std::int64_t notice) {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    auto database = open_home_database(machine.databases, **home);
    ASSERT_TRUE(database.has_value());
    Outbox outbox(**database);
    const auto held = outbox.take(notice, universe.wall(), 1min);
    ASSERT_TRUE(held.has_value());
    ASSERT_TRUE(outbox.sent(held->notice, universe.wall()));
  }
  /// Somebody wrote to an agent that is down, and was told so.
  void write_to_one_that_is_down(const std::string& endpoint, const std::string& agent, bool keep) {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    auto database = open_home_database(machine.databases, **home);
    ASSERT_TRUE(database.has_value());
    Gate gate(**database);
    Arrival arrival;
    arrival.draft.agent = agent;
    arrival.draft.channel = "chat";
    arrival.draft.endpoint = endpoint;
    arrival.draft.content = "hello";
    arrival.reply = ReplyWay{.command = {"reply", "{endpoint}"}};
    arrival.down = true;
    arrival.keep = keep;
    arrival.notice = auto_reply_payload(news_of(agent));
    const auto received = gate.receive(arrival, universe.wall());
    ASSERT_TRUE(received.has_value() && received->notice);
    be_told(*received->notice);
  }
  static GateNews news_of(const std::string& agent) {
    return {.agent = agent, .language = "en", .texts = {{"en", "text"}}};
  }
  /// It is over, and its end is still to be told.
  void be_told_of_an_outage(const std::string& endpoint, const std::string& agent = "worker-s1") {
    write_to_one_that_is_down(endpoint, agent, false);
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    auto database = open_home_database(machine.databases, **home);
    ASSERT_TRUE(database.has_value());
    const auto ended =
        Gate(**database).end_outage(agent, all_clear_payload(news_of(agent)), universe.wall());
    ASSERT_TRUE(ended.has_value());
  }
  /// What waits to be told was tried for the last time.
  void give_up_replies() {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    auto database = open_home_database(machine.databases, **home);
    ASSERT_TRUE(database.has_value());
    Outbox outbox(**database, {.most_tries = 1});
    const auto due = outbox.due(universe.wall(), 10);
    ASSERT_TRUE(due.has_value());
    for (const Notice& notice : *due) {
      const auto taken = outbox.take(notice.id, universe.wall(), 1min);
      ASSERT_TRUE(taken.has_value());
      ASSERT_TRUE(outbox.failed(taken->notice, "no such chat", universe.wall(), 0));
    }
  }
  [[nodiscard]] std::vector<Message> in_state(MessageState state,
                                              const std::string& agent = "worker-s1") {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(Kept::kHome);
    auto database = open_home_database(machine.databases, **home);
    if (!database) return {};
    return Gate(**database).list(agent, state, 1'000).value_or(std::vector<Message>{});
  }
  /// What the agent was told that is no question, by its last line.
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> found;
    for (const std::string& line : heard_) {
      const auto json = nlohmann::json::parse(line);
      const std::string text = json["message"]["content"][0]["text"];
      if (text.starts_with("[message ")) found.push_back(text.substr(text.find('\n') + 1));
    }
    return found;
  }
  /// Who was told something by the reply command, in order: "auto-reply ann".
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> found;
    for (const tend::Run& run : universe.ran()) {
      if (run.command.front() != "reply") continue;
      for (const std::string& variable : run.environment) {
        if (variable.starts_with("TEND_GATE=")) {
          found.push_back(variable.substr(10) + " " + run.command.at(1));
        }
      }
    }
    return found;
  }
  bool await_up() {
    return universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 40min);
  }
  bool await_down() {
    return universe.run_until([&] { return kept.heartbeat().degraded_since > 0; }, 40min);
  }

  bool is_told_at_once_ = true;
};

TEST_F(KeeperGate, hands_messages_over_one_by_one_and_they_are_done_with_their_turns) {
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(receive("one"), "queued");
  EXPECT_EQ(receive("two"), "queued");
  universe.run_for(30s);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(in_state(MessageState::done).size(), 2U);
  kept.check_replay();
}

TEST_F(KeeperGate, one_that_works_and_never_answers_gets_its_messages) {
  answers_ = false;
  kept.start_keeper();
  universe.run_for(10s);
  receive("one");
  universe.run_for(2min);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"});
  EXPECT_EQ(in_state(MessageState::done).size(), 1U);
}

TEST_F(KeeperGate, leaves_messages_to_an_agent_that_comes_for_them) {
  kept.config.probes["worker-s1"].deliver = false;
  kept.start_keeper();
  universe.run_for(10s);
  receive("one");
  universe.run_for(60s);
  EXPECT_TRUE(messages().empty());
  EXPECT_EQ(kept.past()->judge.verdict(), Verdict::idle);
  EXPECT_EQ(kept.count("is", "inbox"), 1) << "that it waits is evidence";
}

TEST_F(KeeperGate, a_message_that_a_life_had_comes_back_to_the_next) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  receive("one");
  universe.run_for(10s);
  ASSERT_EQ(in_state(MessageState::taken).size(), 1U);
  kill_worker();
  deaf_ = false;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  ASSERT_TRUE(await_up());
  universe.run_for(60s);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"});
  EXPECT_EQ(in_state(MessageState::done).size(), 1U);
}

TEST_F(KeeperGate, I162_a_message_to_one_whose_start_fails_is_the_next_lifes_once) {
  behave([this](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? self.exit_after(5s, 1) : chat(self);
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 1; }, 1min));
  EXPECT_EQ(receive("one"), "queued");
  universe.run_for(4s);
  EXPECT_EQ(in_state(MessageState::queued).size(), 1U) << "it has not begun";
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 5min));
  universe.run_for(3min);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"});
  const auto done = in_state(MessageState::done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done.front().tries, 1) << "the start that failed was no try of it";
}

TEST_F(KeeperGate, I158_a_message_costs_no_try_while_its_agent_is_down) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  EXPECT_EQ(receive("one"), "auto-replied");
  for (int i = 0; i < 8; ++i) {
    universe.run_for(30s);
    const auto held = in_state(MessageState::held);
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held.front().tries, 0);
  }
  deaf_ = false;
  ASSERT_TRUE(await_up());
  universe.run_for(60s);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"});
  const auto done = in_state(MessageState::done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done.front().tries, 1);
}

TEST_F(KeeperGate,
       I158_a_message_that_its_agent_fails_at_three_times_is_given_up_and_a_person_hears) {
  kept.config.gate.most_tries = 3;
  turn_of_ = [](const std::string& line) -> std::string {
    if (!line.contains("[message ")) return turn(1);
    return R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
           R"("session_id":"s-1"})"
           "\n";
  };
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(receive("one"), "queued");
  universe.run_for(10min);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "one", "one"}));
  EXPECT_EQ(in_state(MessageState::dead).size(), 1U);
  const std::string events =
      universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  const auto at = events.find("message 1 is given up");
  ASSERT_NE(at, std::string::npos) << events;
  EXPECT_TRUE(events.substr(0, events.find('\n', at)).ends_with("}"));
}

/// As the one that it is resumed as says it: nothing until then, and when it may be asked again.
std::string limited_until(WallTime wall) {
  const auto resets = std::chrono::duration_cast<std::chrono::seconds>(wall.time_since_epoch());
  return R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":)" +
         std::to_string(resets.count()) + "}}\n";
}

TEST_F(KeeperGate, I060_ten_that_wait_for_the_end_of_a_limit_are_done_once_each_in_order) {
  kept.start_keeper();
  universe.run_for(10s);
  const WallTime ends = universe.wall() + 3min;
  std::vector<std::string> worked_on;
  turn_of_ = [&](const std::string& line) -> std::string {
    if (universe.wall() < ends) {
      return limited_until(ends) +
             R"({"type":"result","subtype":"success","is_error":true,"api_error_status":429,)"
             R"("session_id":"s-1"})"
             "\n";
    }
    if (line.contains("[message ")) worked_on.push_back(line);
    return turn(++turns_);
  };
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(receive("batch " + std::to_string(i)), "queued");
  universe.run_for(2min);
  EXPECT_TRUE(in_state(MessageState::dead).empty());
  EXPECT_TRUE(in_state(MessageState::done).empty());
  universe.run_for(20min);
  ASSERT_EQ(worked_on.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(worked_on[i].contains("batch " + std::to_string(i + 1))) << worked_on[i];
  }
  for (const Message& message : in_state(MessageState::done)) {
    EXPECT_LE(message.tries, 2) << message.id << ": the limit is no fault of it";
  }
  EXPECT_EQ(in_state(MessageState::done).size(), 10U);
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U) << kept.text_of("journal.jsonl");
}

TEST_F(KeeperGate, I112_one_that_is_back_gets_what_waited_within_a_minute) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  EXPECT_EQ(receive("one"), "auto-replied");
  deaf_ = false;
  const auto is_well = [&] {
    return kept.heartbeat().life == 2 && (verdict() == "working" || verdict() == "idle");
  };
  ASSERT_TRUE(universe.run_until(is_well, 40min));
  EXPECT_TRUE(universe.run_until([&] { return kept.heartbeat().degraded_since == 0; }, 60s));
  EXPECT_EQ(receive("two"), "queued");
  universe.run_for(60s);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "two"}));
}

TEST_F(KeeperGate, I112_one_that_is_limited_waits_although_it_answers) {
  const WallTime ends = universe.wall() + 1h;
  turn_of_ = [&](const std::string&) { return limited_until(ends); };
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return !asked_.empty(); }, 10min));
  universe.run_for(10min);
  EXPECT_EQ(verdict(), "waiting");
  EXPECT_GE(kept.count("is", "ack"), 1);
  EXPECT_EQ(kept.heartbeat().life, 1U);
}

TEST_F(KeeperGate, a_keeper_that_died_leaves_a_message_that_is_done_in_its_time) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  receive("one");
  universe.run_for(10s);
  ASSERT_EQ(in_state(MessageState::taken).size(), 1U);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5s);
  deaf_ = false;
  universe.run_for(30s);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"}) << "handed over once";
  EXPECT_EQ(in_state(MessageState::done).size(), 1U);
}

TEST_F(KeeperGate, turns_that_are_read_again_are_not_those_of_a_message_that_came_later) {
  kept.start_keeper();
  universe.run_for(10s);
  const std::string journal = kept.text_of("journal.jsonl");
  receive("one");
  universe.run_for(30s);
  deaf_ = true;
  receive("two");
  universe.run_for(10s);
  ASSERT_EQ(in_state(MessageState::taken).size(), 1U);
  universe.kill(kept.keeper);
  universe.disk.write(kept.path("journal.jsonl"), journal);  // its end was lost
  kept.start_keeper();
  universe.run_for(60s);
  EXPECT_EQ(in_state(MessageState::taken).size(), 1U);
  deaf_ = false;
  universe.run_for(60s);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "two"})) << "each once";
  EXPECT_EQ(in_state(MessageState::done).size(), 2U);
}

TEST_F(KeeperGate, a_turn_that_ended_while_nobody_looked_is_that_of_its_message) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  receive("one");
  universe.run_for(10s);
  universe.kill(kept.keeper);
  deaf_ = false;
  universe.run_for(10s);
  kept.start_keeper();
  universe.run_for(30s);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"});
  EXPECT_EQ(in_state(MessageState::done).size(), 1U);
}

TEST_F(KeeperGate, a_message_for_nobody_in_particular_goes_to_the_one_agent_that_there_is) {
  EXPECT_EQ(receive("one", "ann", std::nullopt), "queued");
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(receive("two"), "queued");
  universe.run_for(2min);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(in_state(MessageState::done, "").size(), 1U);
}

TEST_F(KeeperGate, what_a_dead_keeper_handed_over_for_nobody_in_particular_is_done_in_its_time) {
  receive("one", "ann", std::nullopt);
  kept.start_keeper();
  deaf_ = true;
  ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 1; }, 1min));
  deaf_ = false;
  ASSERT_TRUE(universe.run_until([&] { return !asked_.empty(); }, 5min));
  ASSERT_TRUE(universe.run_until(
      [&] {
        deaf_ = !in_state(MessageState::taken, "").empty();
        return deaf_;
      },
      5min));
  universe.run_for(5s);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5s);
  deaf_ = false;
  universe.run_for(30s);
  EXPECT_EQ(messages(), std::vector<std::string>{"one"}) << "handed over once";
  EXPECT_EQ(in_state(MessageState::done, "").size(), 1U);
}

TEST_F(KeeperGate, a_message_for_nobody_in_particular_waits_where_there_are_two_agents) {
  receive("one", "ann", std::nullopt);
  kept.start_keeper();
  Heartbeat other;
  ASSERT_TRUE(universe.run_until(
      [&] {
        other = kept.heartbeat();
        return !other.agent.empty();
      },
      1min));
  other.agent = "worker-s2";
  const std::string second = std::string(Kept::kHome) + "/sessions/s2";
  universe.disk.make_folder(second);
  universe.disk.write(second + "/" + std::string(kHeartbeatFile), format_heartbeat(other));
  universe.run_for(10s);
  receive("two");
  universe.run_for(5min);
  EXPECT_EQ(messages(), std::vector<std::string>{"two"});
  EXPECT_EQ(in_state(MessageState::queued, "").size(), 1U);
}

TEST_F(KeeperGate, holds_what_comes_while_it_is_down_and_tells_everybody_once) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  EXPECT_EQ(receive("one", "ann"), "auto-replied");
  EXPECT_EQ(receive("two", "ann"), "held") << "ann was told a moment ago";
  EXPECT_EQ(receive("three", "bob"), "auto-replied");
  EXPECT_TRUE(kept.text_of(".pending-channels.json").contains("\"bob\""));
  EXPECT_TRUE(kept.text_of(".degraded").contains("worker-s1"));
  deaf_ = false;
  ASSERT_TRUE(await_up());
  universe.run_for(60s);
  EXPECT_EQ(messages(), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_TRUE(kept.text_of(".pending-channels.json").empty());
  EXPECT_TRUE(kept.text_of(".degraded").empty());
  auto all = told();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::count(all, "all-clear ann"), 1);
  EXPECT_EQ(std::ranges::count(all, "all-clear bob"), 1);
  kept.check_replay();
}

TEST_F(KeeperGate, one_that_is_stopped_while_it_is_down_is_not_said_to_be_down) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  ASSERT_FALSE(kept.text_of(".degraded").empty());
  kept.say({.want = Want::stop, .now = false, .by = "tend stop", .at = 1});
  ASSERT_TRUE(universe.run_until([&] { return is_terminal(kept.heartbeat().status); }, 5min));
  EXPECT_EQ(kept.text_of(".degraded"), "");
}

TEST_F(KeeperGate, who_is_up_again_leaves_word_of_who_is_still_down_in_the_mirror) {
  kept.config.gate.mirror = "/home/user/mirror";
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  Heartbeat other = kept.heartbeat();
  other.agent = "other";
  other.process.pid = 999'999;
  const std::string second = std::string(Kept::kHome) + "/sessions/s2";
  universe.disk.make_folder(second);
  universe.disk.write(second + "/" + std::string(kHeartbeatFile), format_heartbeat(other));
  be_told_of_an_outage("bob", "other");
  EXPECT_EQ(receive("one", "ann"), "auto-replied");
  const auto mirror = [&](const std::string& name) {
    return universe.disk.read("/home/user/mirror/" + name).value_or("");
  };
  EXPECT_TRUE(mirror(".degraded").contains("worker-s1")) << "who is down for longest";
  EXPECT_TRUE(mirror(".pending-channels.json").contains("\"ann\""));
  EXPECT_TRUE(mirror(".pending-channels.json").contains("\"bob\""));
  deaf_ = false;
  ASSERT_TRUE(await_up());
  universe.run_for(60s);
  EXPECT_TRUE(mirror(".degraded").contains("other"));
  EXPECT_FALSE(mirror(".pending-channels.json").contains("\"ann\""));
  EXPECT_TRUE(mirror(".pending-channels.json").contains("\"bob\""));
}

TEST_F(KeeperGate, whoever_could_not_be_told_that_it_is_down_is_told_while_it_is) {
  kept.start_keeper();
  universe.run_for(10s);
  deaf_ = true;
  ASSERT_TRUE(await_down());
  is_told_at_once_ = false;
  EXPECT_EQ(receive("one", "ann"), "auto-replied");
  universe.run_for(2min);
  EXPECT_EQ(told(), std::vector<std::string>{"auto-reply ann"});
  EXPECT_GT(kept.heartbeat().degraded_since, 0);
}

TEST_F(KeeperGate, everybody_hears_of_an_end_even_if_one_could_never_be_told_of_an_earlier) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  be_told_of_an_outage("ann");
  give_up_replies();
  be_told_of_an_outage("bob");
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_EQ(told(), std::vector<std::string>{"all-clear bob"});
}

TEST_F(KeeperGate,
       who_begins_under_the_name_of_one_that_was_down_takes_messages_once_it_has_answered) {
  write_to_one_that_is_down("ann", "worker-s1", true);
  deaf_ = true;
  kept.start_keeper();
  universe.run_for(30s);
  EXPECT_EQ(in_state(MessageState::held).size(), 1U);
  EXPECT_EQ(told(), std::vector<std::string>{}) << "it has not answered";
  deaf_ = false;
  ASSERT_TRUE(await_down());
  ASSERT_TRUE(await_up());
  universe.run_for(2min);
  EXPECT_EQ(in_state(MessageState::done).size(), 1U);
  EXPECT_EQ(told(), std::vector<std::string>{"all-clear ann"});
  kept.check_replay();
}

TEST_F(KeeperGate, one_that_cannot_be_seen_is_not_said_to_be_well) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  kill_worker();
  EXPECT_EQ(receive("one"), "auto-replied");
  universe.looking_fails = "Permission denied";
  kept.start_keeper();
  universe.run_for(3min);
  EXPECT_EQ(told(), std::vector<std::string>{}) << "it answered once, and may be gone";
  universe.looking_fails.clear();
  universe.run_for(10min);
  EXPECT_EQ(told(), std::vector<std::string>{"all-clear ann"});
  EXPECT_EQ(kept.heartbeat().life, 2U);
}

/// An outage of its own, in which the keeper is killed at one call.
class KilledInRecovery final : public KeeperGate {
 public:
  void play(std::uint64_t call) {
    kept.start_keeper();
    universe.run_for(10s);
    deaf_ = true;
    ASSERT_TRUE(await_down());
    ASSERT_EQ(receive("one"), "auto-replied");
    deaf_ = false;
    ASSERT_TRUE(universe.run_until([&] { return kept.heartbeat().life == 2; }, 10min));
    universe.kill_at_call(kept.keeper, call);
    universe.run_for(60s);
    if (!universe.runs(kept.keeper)) kept.start_keeper();
    ASSERT_TRUE(await_up());
    universe.run_for(15min);
    EXPECT_GE(std::ranges::count(messages(), "one"), 1);
    EXPECT_EQ(in_state(MessageState::done).size(), 1U);
    EXPECT_GE(std::ranges::count(told(), "all-clear ann"), 1);
    kept.check_replay();
  }

 private:
  void TestBody() override {}
};

TEST(KeeperGateCrash, at_any_call_of_a_recovery_loses_nothing_and_forgets_nobody) {
  for (std::uint64_t call = 1; call < 160; call += 13) {
    SCOPED_TRACE(call);
    KilledInRecovery().play(call);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// A message, in whose handing over the keeper is killed at one call.
class KilledInHandingOver final : public KeeperGate {
 public:
  /// How often the agent heard the message.
  std::ptrdiff_t play(std::uint64_t call) {
    kept.start_keeper();
    universe.run_for(10s);
    receive("one");
    universe.kill_at_call(kept.keeper, call);
    universe.run_for(20s);
    if (!universe.runs(kept.keeper)) kept.start_keeper();
    universe.run_for(3min);
    EXPECT_EQ(in_state(MessageState::done).size(), 1U);
    const auto said = messages();
    const auto often = std::ranges::count(said, "one");
    EXPECT_GE(often, 1);
    // What was taken and never arrived is said to be handed over again, too: nobody can know.
    EXPECT_LE(often - std::ranges::count_if(heard_, is_said_again), 1);
    kept.check_replay();
    return often;
  }

 private:
  static bool is_said_again(const std::string& line) {
    return line.contains("[message ") && line.contains("handed over before");
  }
  void TestBody() override {}
};

TEST(KeeperGateCrash, at_any_call_of_a_handing_over_loses_nothing_and_says_what_comes_twice) {
  std::ptrdiff_t twice = 0;
  for (std::uint64_t call = 1; call < 70; ++call) {
    SCOPED_TRACE(call);
    const std::ptrdiff_t often = KilledInHandingOver().play(call);
    EXPECT_LE(often, 2);
    twice += often > 1 ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(twice, 10) << "only what arrived and could not be marked";
}

}  // namespace
}  // namespace tend
