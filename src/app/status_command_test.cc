// `tend status` as people and programs see it.
#include <gtest/gtest.h>

#include "app/look.h"
#include "app/reading_test.h"
#include "judge/stores.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(StatusCommand, has_a_friendly_line_where_there_are_no_agents) {
  Reading reading;
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "no agents in /home/user/tend; start one: tend run -- CMD\n");
}

TEST(StatusCommand, counts_and_shows_those_that_work) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  reading.start_worker();
  reading.universe.run_for(70s);
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out,
            "1 agent: 0 need you, 1 working, 0 waiting, 0 done\n"
            "\n"
            "    NAME       STATE           SINCE  BEAT  RESTARTS  LIFE  WHY\n"
            "working\n"
            "  * worker-s1  working, model     1m   10s       0/3     1  "
            "last real sign 0 s ago (limit 720 s)\n");
}

TEST(StatusCommand, says_who_needs_you_and_what_to_type) {
  Reading reading;
  reading.variables["LANG"] = "C.UTF-8";
  reading.start_worker();
  reading.universe.run_for(5s);
  reading.universe.kill(reading.keeper);
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitNeedsYou);
  EXPECT_TRUE(answer.has("1 agent: 1 needs you, 0 working")) << answer.out;
  EXPECT_TRUE(answer.has("needs you\n  ✕ worker-s1  no keeper")) << answer.out;
  EXPECT_TRUE(answer.has("\n    → tend run -d --attach worker-s1\n")) << answer.out;
  EXPECT_EQ(reading.tend({"status", "--exit-zero"}).exit, kExitYes);
}

TEST(StatusCommand, counts_one_that_says_it_is_stuck_as_needing_you) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  reading.universe.disk.write(Kept::path("signals.jsonl"),
                              "{\"is\":\"state\",\"state\":\"stuck\",\"life\":1}\n");
  reading.universe.run_for(500ms);
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitNeedsYou);
  EXPECT_TRUE(answer.has("1 agent: 1 needs you, 0 working")) << answer.out;
  EXPECT_TRUE(answer.has("says it is stuck\n    -> tend logs worker-s1\n")) << answer.out;
  EXPECT_EQ(reading.tend({"explain", "--json", "worker-s1"}).json()["turn"],
            "yours: it says that it is stuck");
}

TEST(StatusCommand, shows_what_the_stores_of_an_agent_disagree_about) {
  Reading reading;
  reading.agent.command.clear();
  reading.agent.store = "crawler";
  reading.agent.adapter = AdapterKind::none;
  reading.policy = policy_of_stores({5min, 20min}, std::nullopt, false);
  for (const std::string name : {"file", "session"}) {
    AgentStore store;
    store.name = name;
    store.agent = "crawler";
    store.store.kind = StoreKind::mtime;
    store.store.path = "/" + name;
    reading.config.sources.push_back(store);
    reading.universe.disk.write(store.store.path, "");
  }
  reading.start_keeper();
  for (int i = 0; i < 12; ++i) {
    reading.universe.disk.set_modified("/session", reading.universe.wall());
    reading.universe.run_for(30s);
  }
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitYes) << "it works";
  EXPECT_TRUE(answer.has("its stores disagree: session fresh, file stale")) << answer.out;
  EXPECT_EQ(reading.tend({"status", "--json"}).json()["agents"][0]["why"],
            "its stores disagree: session fresh, file stale");
}

TEST(StatusCommand, lists_every_name_once) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const std::string other = std::string(Kept::kHome) + "/sessions/s2";
  reading.universe.disk.make_folder(other);
  reading.universe.disk.write(other + "/.heartbeat",
                              *reading.universe.disk.read(Kept::path(".heartbeat")));
  EXPECT_EQ(reading.tend({"status", "--names"}).out, "worker-s1\n");
}

TEST(StatusCommand, never_goes_past_the_edge_of_a_terminal) {
  Reading reading;
  reading.terminal = true;
  reading.variables["NO_COLOR"] = "1";
  reading.variables["LANG"] = "C.UTF-8";
  reading.width = 90;
  reading.be_patient_as_with_an_agent();
  reading.start_worker();
  reading.universe.run_for(70s);
  const Answer answer = reading.tend({"status"});
  EXPECT_TRUE(answer.has("last real sign 0 s ago (limit…\n")) << answer.out;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 90U) << line;
}

TEST(StatusCommand, uses_colour_on_a_terminal_and_never_alone) {
  Reading reading;
  reading.terminal = true;
  reading.start_worker();
  reading.universe.run_for(70s);
  const Answer answer = reading.tend({"status"});
  EXPECT_TRUE(answer.has("\x1b[32m*\x1b[0m")) << answer.out;
  EXPECT_TRUE(answer.has("\x1b[32mworking")) << answer.out;
}

TEST(StatusCommand, shows_what_is_over_for_a_day) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 0); };
  reading.start_keeper();
  reading.universe.run_for(1min);
  EXPECT_TRUE(reading.tend({"status"}).has("done\n  o worker-s1  done"));
  reading.universe.run_for(25h);
  const Answer later = reading.tend({"status"});
  EXPECT_EQ(later.out,
            "0 agents: 0 need you, 0 working, 0 waiting, 0 done "
            "(1 over for more than a day: --all shows it)\n");
  EXPECT_TRUE(reading.tend({"status", "--all"}).has("o worker-s1"));
  EXPECT_TRUE(reading.tend({"status", "worker"}).has("o worker-s1"));
}

TEST(StatusCommand, indents_children_below_their_parents) {
  Reading reading;
  for (const auto& [folder, name, parent] :
       {std::tuple{"s1", "lead", ""}, std::tuple{"s1/coding/c1", "lint", "s1"}}) {
    const std::string path = std::string(Kept::kHome) + "/sessions/" + folder;
    reading.universe.disk.make_folder(Kept::path("coding"));
    reading.universe.disk.make_folder(path);
    Heartbeat says;
    says.agent = name;
    says.session = "s1";
    says.status = Status::completed;
    says.outcome = WorkOutcome::done;
    if (*parent != 0) says.parent_heartbeat = Kept::path(".heartbeat");
    reading.universe.disk.write(path + "/.heartbeat", format_heartbeat(says));
  }
  const Answer answer = reading.tend({"status", "--all"});
  EXPECT_TRUE(answer.has("  o lead    done")) << answer.out;
  EXPECT_TRUE(answer.has("  o   lint  done")) << answer.out;
  const auto agents = reading.tend({"status", "--all", "--json"}).json()["agents"];
  EXPECT_EQ(agents[1]["parent"], Kept::kFolder);
}

TEST(StatusCommand, says_it_all_in_one_json_object) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  reading.start_worker();
  reading.universe.run_for(70s);
  const Answer answer = reading.tend({"status", "--json"});
  const auto json = answer.json();
  ASSERT_TRUE(json.is_object()) << answer.out;
  ASSERT_EQ(json["agents"].size(), 1U);
  const auto& agent = json["agents"][0];
  EXPECT_EQ(agent["agent"], "worker-s1");
  EXPECT_EQ(agent["session"], "s1");
  EXPECT_EQ(agent["role"], "worker");
  EXPECT_EQ(agent["verdict"], "working");
  EXPECT_EQ(agent["phase"], "model");
  EXPECT_TRUE(agent["since"].is_number());
  EXPECT_TRUE(agent["because"].is_array());
  EXPECT_EQ(agent["pid"], reading.workers().front());
  EXPECT_EQ(agent["keeper_pid"], reading.keeper);
  EXPECT_EQ(agent["life"], 1);
  EXPECT_TRUE(agent["parent"].is_null());
  EXPECT_EQ(agent["folder"], Kept::kFolder);
  EXPECT_EQ(agent["budget"], (nlohmann::json{{"spent", 0}, {"allowed", 3}}));
  EXPECT_EQ(agent["next"]["what"], "suspect: a warning is written, it is asked for a sign");
  EXPECT_EQ(agent["keeper"], "alive");
  EXPECT_EQ(agent["group"], "working");
  const auto& counts = json["counts"];
  EXPECT_EQ(counts["agents"], 1);
  EXPECT_EQ(counts["working"], 1);
  EXPECT_EQ(counts["needs_you"], 0);
}

TEST(StatusCommand, gives_lists_for_lists_also_when_there_is_nothing) {
  Reading reading;
  const auto json = reading.tend({"status", "--json"}).json();
  EXPECT_EQ(json["agents"], nlohmann::json::array());
  EXPECT_EQ(json["counts"]["agents"], 0);
}

TEST(StatusCommand, says_in_one_line_that_there_is_no_such_agent) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const Answer answer = reading.tend({"status", "nobody"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1);
  EXPECT_NE(answer.err.find("tend status: no agent 'nobody'"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace tend
