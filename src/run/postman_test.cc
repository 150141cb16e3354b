// Notices from the outbox to people, on a simulated machine: in order, again after a failure, and
// at least once whoever is killed.
#include "run/postman.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "os/sim/sim_universe.h"
#include "store/agent_file.h"
#include "store/gate.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHome = "/home/user/tend";

class PostmanTest : public testing::Test {
 protected:
  PostmanTest() {
    universe.disk.make_folder(kHome);
    universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      at_once = std::max(at_once, ++running[run.command.front()]);
      universe.after(answer.takes, [this, who = run.command.front()] { --running[who]; });
      heard.push_back(run.command.front() + " " + run.input.substr(0, run.input.find('\n')));
      return answer;
    };
    channels = {{.name = "mail", .command = {"mail-me"}}, {.name = "pager", .command = {"page"}}};
  }

  /// The outbox, for what a test itself does with it.
  template <class Use>
  auto with_outbox(const Use& use) {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(kHome);
    auto database = open_home_database(machine.databases, **home);
    EXPECT_TRUE(database) << database.error().text;
    Outbox outbox(**database);
    return use(outbox, machine.clock.wall());
  }
  void put(const std::string& payload, const std::string& channel = "mail",
           const std::string& key = "k") {
    with_outbox([&](Outbox& outbox, WallTime now) {
      EXPECT_TRUE(outbox.put(channel, key, payload, now));
      return 0;
    });
  }
  void close(const std::string& key = "k") {
    with_outbox([&](Outbox& outbox, WallTime now) {
      EXPECT_TRUE(outbox.close(key, std::nullopt, now));
      return 0;
    });
  }
  /// "mail open sent; mail close waiting (refused)"
  std::string all() {
    return with_outbox([&](Outbox& outbox, WallTime) {
      std::string text;
      const std::vector<Notice> notices = outbox.list({}).value();
      for (const Notice& each : notices) {
        text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", each.channel,
                            kNoticeKindWords.at(static_cast<std::size_t>(each.kind)),
                            kNoticeStateWords.at(static_cast<std::size_t>(each.state)));
        if (each.last_error) text += " (" + *each.last_error + ")";
      }
      return text;
    });
  }

  /// A process that sends what is due, and stops when its round is over.
  std::int64_t start(std::optional<std::string> key = std::nullopt) {
    struct Sender {
      std::unique_ptr<Folder> home;
      std::unique_ptr<Postman> postman;
    };
    return universe.start_program("sender", [this, key](Machine& machine) -> std::shared_ptr<void> {
      auto sender = std::make_shared<Sender>();
      sender->home = std::move(*machine.folders.open(kHome));
      sender->postman = std::make_unique<Postman>(
          machine, *sender->home, channels, key,
          [this](const Postman::Delivery& delivery) {
            words.push_back(delivery.told.words + (delivery.given_up ? " (given up)" : ""));
          },
          [this, &machine](const Postman::Round& round) {
            rounds.push_back(round);
            machine.loop.stop();
          });
      only ? sender->postman->send_only(*only) : sender->postman->send();
      return sender;
    });
  }
  void send(std::optional<std::string> key = std::nullopt) {
    const std::int64_t pid = start(std::move(key));
    universe.run_for(10min);
    EXPECT_FALSE(universe.runs(pid));
  }

  SimUniverse universe{1};
  std::vector<NotifyChannel> channels;
  std::optional<std::int64_t> only;
  SimAnswer answer{.takes = 1s};
  std::vector<std::string> heard;
  std::vector<std::string> words;
  std::vector<Postman::Round> rounds;
  std::map<std::string, int> running;
  int at_once = 0;
};

TEST_F(PostmanTest, says_which_incident_it_is_and_what_becomes_of_it) {
  put(R"({"why":"a"})");
  send();
  put(R"({"why":"b"})");
  send();
  close();
  send();
  EXPECT_EQ(heard, (std::vector<std::string>{
                       R"(mail-me {"why":"a","incident":1,"kind":"open"})",
                       R"(mail-me {"why":"b","incident":1,"kind":"update"})",
                       R"(mail-me {"why":"b","incident":1,"kind":"close"})",
                   }));
  EXPECT_EQ(all(), "mail open sent; mail update sent; mail close sent");
  EXPECT_EQ(words, (std::vector<std::string>(3, "told by 'mail-me'")));
  EXPECT_FALSE(rounds.back().next);
}

// --- Answers to who wrote to the gate -----------------------------------------------------------

class PostmanRepliesTest : public PostmanTest {
 protected:
  PostmanRepliesTest() {
    universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      heard.push_back(fmt::format("{}", fmt::join(run.command, " ")));
      environments.push_back(run.environment);
      return answer;
    };
  }
  /// A message for an agent that is down, from this sender.
  Received receive(const std::string& endpoint) {
    Machine& machine = universe.machine();
    const auto home = machine.folders.open(kHome);
    const auto database = open_home_database(machine.databases, **home);
    Arrival arrival;
    arrival.draft.agent = "claude";
    arrival.draft.channel = "telegram";
    arrival.draft.endpoint = endpoint;
    arrival.draft.content = "hello";
    arrival.reply = ReplyWay{.command = {"c4-send", "{endpoint}", "{text}"}, .language = "zh"};
    arrival.down = true;
    arrival.notice = R"({"gate":"auto-reply","language":"en","texts":{"en":"down","zh":"ZH"}})";
    const auto received = Gate(**database).receive(arrival, machine.clock.wall());
    EXPECT_TRUE(received) << received.error().text;
    return received.value_or(Received{});
  }

  std::vector<std::vector<std::string>> environments;
};

TEST_F(PostmanRepliesTest, answers_whoever_wrote_in_his_language) {
  const Received received = receive("42");
  ASSERT_TRUE(received.notice);
  send(outage_key(received.message.outage));
  EXPECT_EQ(heard, std::vector<std::string>{"c4-send 42 ZH"});
  EXPECT_EQ(all(), "reply:1 open sent");
}

TEST_F(PostmanRepliesTest, passes_the_same_key_however_often_it_tries) {
  const Received received = receive("42");
  answer = {.exit = {ExitStatus::How::code, 1}, .takes = 1s};
  send();
  universe.run_for(1h);
  answer = {.takes = 31s};  // it hangs
  send();
  universe.run_for(1h);
  answer = {.takes = 1s};
  send();
  ASSERT_EQ(environments.size(), 3U);
  EXPECT_EQ(environments[0], environments[1]);
  EXPECT_EQ(environments[0], environments[2]);
  EXPECT_TRUE(environments[0].back().starts_with("TEND_IDEMPOTENCY_KEY=tend-1-open-1-"));
  const Received other = receive("43");
  send();
  EXPECT_NE(environments.back().back(), environments[0].back());
  EXPECT_EQ(received.message.outage, other.message.outage);
}

TEST_F(PostmanRepliesTest, sends_one_of_many_if_it_is_told_so) {
  receive("41");
  only = receive("42").notice;
  receive("43");
  send();
  EXPECT_EQ(heard, std::vector<std::string>{"c4-send 42 ZH"});
}

TEST_F(PostmanRepliesTest, gives_up_on_one_whose_command_never_works) {
  receive("42");
  answer = {.exit = {ExitStatus::How::code, 127}, .takes = 1s};
  for (int i = 0; i < 12; ++i) {
    send();
    universe.run_for(2h);
  }
  EXPECT_EQ(all(), "reply:1 open dead ('c4-send' exited with 127)");
}

TEST_F(PostmanRepliesTest, says_that_nobody_knows_the_way_any_more) {
  put("{}", "reply:77");
  send();
  EXPECT_EQ(words, std::vector<std::string>{"no way back to its sender is known any more: '77'"});
}

// --- Channels -----------------------------------------------------------------------------------

TEST_F(PostmanTest, sends_one_at_a_time_on_each_channel) {
  for (int i = 0; i < 5; ++i) {
    put("{}", "mail", fmt::format("k{}", i));
    put("{}", "pager", fmt::format("k{}", i));
  }
  send();
  EXPECT_EQ(heard.size(), 10U);
  EXPECT_EQ(at_once, 1);
  EXPECT_EQ(rounds.size(), 1U);
}

TEST_F(PostmanTest, tries_what_failed_once_in_a_round_and_says_when_again) {
  answer = {.exit = {ExitStatus::How::code, 3}, .error = "refused\n", .takes = 20s};
  put("{}");
  put("{}", "pager");
  const WallTime before = universe.machine().clock.wall();
  send();
  EXPECT_EQ(all(),
            "mail open waiting ('mail-me' exited with 3: refused); pager open waiting ('page' "
            "exited with 3: refused)");
  EXPECT_EQ(heard.size(), 2U);
  ASSERT_EQ(rounds.size(), 1U);
  ASSERT_TRUE(rounds[0].next);
  EXPECT_GT(*rounds[0].next, before + 20s);
  EXPECT_LE(*rounds[0].next, before + 40s);
  answer = {.takes = 1s};
  send();
  EXPECT_EQ(all(), "mail open sent; pager open sent");
}

TEST_F(PostmanTest, gives_up_after_so_many_tries_until_somebody_wants_them_again) {
  answer = {.exit = {ExitStatus::How::code, 1}, .takes = 1s};
  put("{}");
  for (int i = 0; i < 12; ++i) {
    send();
    universe.run_for(1h);
  }
  EXPECT_EQ(all(), "mail open dead ('mail-me' exited with 1)");
  EXPECT_EQ(words.back(), "'mail-me' exited with 1 (given up)");
  EXPECT_FALSE(rounds.back().next);
  send();
  EXPECT_EQ(heard.size(), 12U);
  answer = {.takes = 1s};
  with_outbox([](Outbox& outbox, WallTime now) { return outbox.retry(1, now)->did; });
  send();
  EXPECT_EQ(all(), "mail open sent");
}

TEST_F(PostmanTest, says_that_a_channel_is_not_there_any_more) {
  put("{}", "fax");
  send();
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(words, std::vector<std::string>{"no channel 'fax' is configured any more: give a "
                                            "[[notify]] of config.toml that name"});
  EXPECT_TRUE(all().starts_with("fax open waiting (no channel 'fax'")) << all();
}

TEST_F(PostmanTest, finds_the_command_of_an_agent_by_its_folder_or_name) {
  AgentFile agent;
  agent.agent = "coder";
  agent.command = {"worker"};
  agent.notify = {"tell-me"};
  const std::string folder = std::string(kHome) + "/sessions/s1";
  universe.disk.make_folder(folder);
  universe.disk.write(folder + "/agent.json", format_agent_file(agent));
  universe.disk.write(std::string(kHome) + "/names/coder", folder + "\n");
  const auto home = universe.machine().folders.open(kHome);
  EXPECT_EQ(agent_channel(**home, folder, "coder"), "agent:sessions/s1");
  EXPECT_EQ(agent_channel(**home, folder + std::string(300, 'x'), "coder"), "agent:coder");
  put("{}", "agent:sessions/s1");
  put("{}", "agent:coder", "k2");
  put("{}", "agent:sessions/s2", "k3");
  send();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_TRUE(heard[0].starts_with("tell-me {")) << heard[0];
  EXPECT_TRUE(all().contains("agent:sessions/s2 open waiting (")) << all();
}

TEST_F(PostmanTest, leaves_the_notices_of_others_alone_where_it_is_told_to) {
  put("{}", "mail", "mine");
  put("{}", "mail", "theirs");
  send("mine");
  EXPECT_EQ(all(), "mail open sent; mail open waiting");
  EXPECT_FALSE(rounds.back().next);
}

TEST_F(PostmanTest, says_what_is_wrong_with_the_outbox_and_loses_nothing) {
  put("{}");
  universe.disk.room = 0;
  send();
  EXPECT_TRUE(rounds.back().problem.contains("no space left on device"));
  EXPECT_TRUE(heard.empty());
  universe.disk.room.reset();
  send();
  EXPECT_EQ(all(), "mail open sent");
}

TEST_F(PostmanTest, sends_again_what_arrived_while_nothing_could_be_noted) {
  answer.takes = 10s;
  put("{}");
  universe.after(5s, [this] { universe.disk.room = 0; });
  send();
  EXPECT_TRUE(
      words.back().starts_with("told by 'mail-me'; that could not be noted, so it is sent "
                               "again: "))
      << words.back();
  universe.disk.room.reset();
  send();
  EXPECT_EQ(heard.size(), 2U);
  EXPECT_EQ(all(), "mail open sent");
}

/// Killed at each of its calls in turn; then another sends what is left.
TEST_F(PostmanTest, sends_everything_at_least_once_and_in_order_whoever_is_killed) {
  for (std::uint64_t at = 1;; ++at) {
    universe.databases.clear();
    heard.clear();
    put(R"({"n":1})");
    send();  // the first is told, so that its end is worth telling
    heard.clear();
    put(R"({"n":2})");
    close();
    put(R"({"n":3})");
    const std::int64_t pid = start();
    universe.kill_at_call(pid, at);
    universe.run_for(10s);
    const bool survived = universe.calls(pid) < at;
    universe.run_for(Postman::kLease);
    send();
    std::string told;
    for (const std::string& one : heard) {
      const auto json = nlohmann::json::parse(one.substr(one.find('{')));
      told +=
          json["kind"].get<std::string>().substr(0, 1) + std::to_string(json["n"].get<int>()) + " ";
    }
    // Of what is over only the end is told, then the new one begins; each perhaps twice.
    EXPECT_TRUE(told == "c2 o3 " || told == "c2 c2 o3 " || told == "c2 o3 o3 ") << told << at;
    if (survived) {
      EXPECT_GT(at, 5U);
      return;
    }
  }
}

}  // namespace
}  // namespace tend
