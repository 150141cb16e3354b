// `tend outbox`: what is on its way, what is stuck, and what can be done about it.
#include "app/outbox_commands.h"

#include <gtest/gtest.h>

#include "app/typing_test.h"
#include "store/home_database.h"
#include "store/outbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<int>;

class OutboxCommands : public Typing {
 protected:
  OutboxCommands() {
    Machine& machine = reading.universe.machine();
    const auto home = machine.folders.open(Kept::kHome);
    EXPECT_TRUE(home) << home.error().text;
    auto opened = open_home_database(machine.databases, **home);
    EXPECT_TRUE(opened) << opened.error().text;
    database = *std::move(opened);
  }

  WallTime now() const { return reading.universe.wall(); }
  Outbox outbox(std::int64_t most_tries = 1) {
    return Outbox(*database, OutboxLimits{.most_tries = most_tries});
  }
  std::int64_t put(const std::string& key, const std::string& channel = "slack",
                   const std::string& payload = R"({"text":"worker-s1 is stuck"})") {
    const auto answer = outbox().put(channel, key, payload, now());
    EXPECT_TRUE(answer) << answer.error().text;
    return answer ? answer->id : 0;
  }
  Notice taken(std::int64_t id) {
    const auto answer = outbox().take(id, now(), 1min);
    EXPECT_TRUE(answer && answer->did == NoticeAnswer::Did::done);
    return answer ? answer->notice : Notice{};
  }
  void have_sent(std::int64_t id) { EXPECT_TRUE(outbox().sent(taken(id), now())); }
  void have_failed(std::int64_t id, std::int64_t most_tries = 1) {
    EXPECT_TRUE(outbox(most_tries).failed(taken(id), "HTTP 500", now(), 0));
  }
  void close(const std::string& key) {
    EXPECT_TRUE(outbox().close(key, R"({"text":"it is over"})", now()));
  }
  NoticeState state(std::int64_t id) { return outbox().find(id).value().value().state; }

  Ids listed(Words options) {
    options.insert(options.begin(), "outbox");
    options.emplace_back("--json");
    Ids ids;
    std::istringstream text(tend(options).out);
    for (std::string line; std::getline(text, line);) ids.push_back(Json::parse(line)["id"]);
    return ids;
  }

  std::unique_ptr<Database> database;
};

TEST_F(OutboxCommands, show_what_is_not_sent_and_what_is_open) {
  EXPECT_EQ(did({"outbox"}), "no notices\n");
  put("agent:a");
  const auto failing = put("agent:b", "hook");
  have_failed(failing, 5);
  const auto open = put("agent:c");
  have_sent(open);
  const auto over = put("agent:d");
  have_sent(over);
  close("agent:d");
  have_sent(over + 1);
  EXPECT_EQ(
      did({"outbox"}),
      "NOTICE  STATE    CHANNEL  INCIDENT  KIND  TRIES  NEXT  WHAT\n"
      "     1  waiting  slack    agent:a   open      0   now  worker-s1 is stuck\n"
      "     2  waiting  hook     agent:b   open      1   10s  HTTP 500 -- worker-s1 is stuck\n"
      "     3  sent     slack    agent:c   open      1     -  worker-s1 is stuck\n");
  EXPECT_EQ(listed({}), (Ids{1, 2, 3}));
  EXPECT_EQ(listed({"--all"}), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(listed({"--channel", "hook"}), Ids{2});
  EXPECT_EQ(listed({"--state", "sent"}), (Ids{3, 4, 5}));
  EXPECT_EQ(listed({"--state", "dead"}), Ids{});
}

TEST_F(OutboxCommands, show_of_an_open_incident_the_last_word) {
  have_sent(put("agent:a"));
  const auto update = put("agent:a", "slack", R"({"text":"still stuck"})");
  have_sent(update);
  EXPECT_EQ(listed({}), Ids{static_cast<int>(update)});
}

TEST_F(OutboxCommands, need_you_if_a_notice_is_dead) {
  have_failed(put("agent:a"));
  put("agent:b");
  const std::string words = did({"outbox"}, kExitNeedsYou);
  EXPECT_TRUE(words.contains("     1  dead ")) << words;
  EXPECT_TRUE(
      words.ends_with("1 notice could not be sent: `tend outbox retry --all` tries again, "
                      "`tend outbox prune` drops what is over\n"))
      << words;
  EXPECT_EQ(tend({"outbox", "--json"}).exit, kExitNeedsYou);
  EXPECT_EQ(tend({"outbox", "--state", "dead"}).exit, kExitNeedsYou);
  EXPECT_EQ(tend({"outbox", "--state", "waiting"}).exit, kExitYes);
}

TEST_F(OutboxCommands, refuse_a_filter_that_says_nothing) {
  EXPECT_EQ(refused({"outbox", "--state", "lost"}, kExitUsage),
            "tend outbox: --state is waiting, sending, sent or dead, not 'lost'\n");
  EXPECT_EQ(refused({"outbox", "--channel", ""}, kExitUsage),
            "tend outbox: --channel needs a value NAME\n");
  EXPECT_EQ(refused({"outbox", "shwo", "1"}, kExitUsage),
            "tend outbox: no command 'shwo'; did you mean 'show'? (see 'tend outbox --help')\n");
}

TEST_F(OutboxCommands, show_one_notice_and_all_it_says) {
  have_failed(put("agent:a", "slack", R"({"text":"stuck","blocks":[1]})"));
  reading.universe.run_for(2min);
  EXPECT_EQ(did({"outbox", "show", "1"}),
            "notice 1, dead\n"
            "  channel   slack\n"
            "  incident  agent:a (1, open)\n"
            "  kind      open\n"
            "  tries     1\n"
            "  error     HTTP 500\n"
            "  made      2m ago\n"
            "  changed   2m ago\n"
            "\n"
            "{\"text\":\"stuck\",\"blocks\":[1]}\n");
  const Json notice = tend({"outbox", "show", "1", "--json"}).json();
  const Json expected = {{"id", 1},
                         {"incident", 1},
                         {"incident_open", true},
                         {"channel", "slack"},
                         {"key", "agent:a"},
                         {"kind", "open"},
                         {"state", "dead"},
                         {"tries", 1},
                         {"next_at", nullptr},
                         {"last_error", "HTTP 500"},
                         {"in_doubt", false},
                         {"created_at", notice["created_at"]},
                         {"updated_at", notice["updated_at"]},
                         {"payload", Json::parse(R"({"text":"stuck","blocks":[1]})")}};
  EXPECT_EQ(notice, expected);
  EXPECT_TRUE(notice["created_at"].is_number());
}

TEST_F(OutboxCommands, want_the_number_of_a_notice) {
  for (const std::string_view command : {"show", "retry"}) {
    const std::string start = "tend outbox " + std::string(command) + ": ";
    EXPECT_EQ(refused({"outbox", command, "0"}, kExitUsage),
              start + "wants the number of a notice (`tend outbox` shows them), not '0'\n");
    EXPECT_EQ(refused({"outbox", command, "7"}),
              start + "there is no notice 7; `tend outbox --all` shows them\n");
  }
}

TEST_F(OutboxCommands, have_a_dead_notice_wait_again) {
  const auto id = put("agent:a");
  have_failed(id);
  EXPECT_EQ(did({"outbox", "retry", "1"}), "1: waits again\n");
  EXPECT_EQ(state(id), NoticeState::waiting);
  EXPECT_EQ(did({"outbox", "retry", "1"}), "1: is waiting, not dead\n");
  EXPECT_EQ(tend({"outbox", "retry", "1", "--json"}).json()["state"], "waiting");
}

TEST_F(OutboxCommands, have_all_dead_notices_wait_again) {
  have_failed(put("agent:a"));
  have_failed(put("agent:b"));
  EXPECT_EQ(did({"outbox", "retry", "--all"}), "2 notices wait again\n");
  EXPECT_EQ(tend({"outbox", "retry", "--all", "--json"}).json(), Json::parse(R"({"retried":0})"));
  EXPECT_EQ(tend({"outbox"}).exit, kExitYes);
}

TEST_F(OutboxCommands, retry_one_or_all) {
  const std::string expected = "tend outbox retry: wants the number of one dead notice, or --all\n";
  EXPECT_EQ(refused({"outbox", "retry"}, kExitUsage), expected);
  EXPECT_EQ(refused({"outbox", "retry", "1", "--all"}, kExitUsage), expected);
}

TEST_F(OutboxCommands, leave_dead_what_is_over) {
  have_failed(put("agent:a"));
  close("agent:a");
  EXPECT_EQ(refused({"outbox", "retry", "1"}),
            "tend outbox retry: notice 1 is over: its incident has ended, or a later one tells of "
            "it; `tend outbox prune` drops it\n");
  EXPECT_EQ(did({"outbox", "prune", "--older-than", "1h"}), "0 notices dropped\n");
  reading.universe.run_for(1h + 1s);
  EXPECT_EQ(did({"outbox", "prune", "--older-than", "1h"}), "1 notice dropped\n");
  EXPECT_EQ(did({"outbox"}), "no notices\n");
}

TEST_F(OutboxCommands, prune_after_a_week_and_never_what_is_needed) {
  have_sent(put("agent:a"));
  close("agent:a");
  have_sent(2);
  have_failed(put("agent:b"));
  put("agent:c");
  reading.universe.run_for(6 * 24h);
  EXPECT_EQ(tend({"outbox", "prune", "--json"}).json(), Json::parse(R"({"pruned":0})"));
  reading.universe.run_for(24h + 1s);
  EXPECT_EQ(tend({"outbox", "prune", "--json"}).json(), Json::parse(R"({"pruned":2})"));
  EXPECT_EQ(listed({"--all"}), (Ids{3, 4}));
  EXPECT_EQ(refused({"outbox", "prune", "--older-than", "soon"}, kExitUsage)
                .find("tend outbox prune: --older-than"),
            0U);
}

}  // namespace
}  // namespace tend
