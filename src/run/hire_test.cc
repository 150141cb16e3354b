// Taking agents on, on a simulated machine: which names are free.
#include "run/hire.h"

#include <string>

#include "run/kept_test.h"
#include "store/names.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Hire : public KeptTest {
 protected:
  /// The problem; "" if it was taken on.
  std::string take_on(AgentFile agent) {
    Machine& machine = universe.machine("tend");
    const auto home = machine.folders.open(Kept::kHome);
    const auto made = make_agent(machine, **home, agent);
    if (!made) return made.error().text;
    EXPECT_TRUE((*made)->read("agent.json", 100'000)->has_value());
    return "";
  }
  std::string take_on(const std::string& name) {
    AgentFile agent = kept.agent;
    agent.agent = name;
    return take_on(agent);
  }
  /// The folder that the name leads to.
  std::string folder_of(const std::string& name) {
    const auto home = universe.machine("tend").folders.open(Kept::kHome);
    return named_folder(**home, name).value().value_or("");
  }
  std::uint64_t calls() { return universe.calls(universe.pids("tend").front()); }
};

TEST_F(Hire, refuses_the_name_of_one_that_is_not_over) {
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(take_on("worker-s1"),
            "worker-s1 is not over; `tend stop worker-s1` ends it, `tend run --attach worker-s1` "
            "shows it; or choose another --name");
  EXPECT_EQ(take_on("worker-s2"), "");
  universe.kill(kept.keeper);
  EXPECT_EQ(take_on("worker-s1"),
            "worker-s1 is not over; `tend stop worker-s1` ends it, `tend run -d --attach "
            "worker-s1` puts a keeper on; or choose another --name");
}

TEST_F(Hire, gives_the_name_of_one_that_is_over_again) {
  behave([](SimSelf& self) { self.exit_after(2s, 0); });
  kept.start_keeper();
  universe.run_for(10s);
  ASSERT_TRUE(kept.over());
  EXPECT_EQ(take_on("worker-s1"), "");
  EXPECT_NE(take_on("worker-s1"), "") << "the second one is not over";
}

TEST_F(Hire, refuses_the_name_of_one_that_was_taken_on_and_has_not_begun) {
  EXPECT_EQ(take_on("later"), "");
  EXPECT_EQ(take_on("later"),
            "later is not over; `tend stop later` ends it, `tend run -d --attach later` puts a "
            "keeper on; or choose another --name");
}

TEST_F(Hire, gives_the_name_again_of_one_whose_folder_is_gone_or_no_agents_any_more) {
  EXPECT_EQ(take_on("later"), "");
  universe.disk.remove(folder_of("later"));
  EXPECT_EQ(take_on("later"), "");
  universe.disk.remove(folder_of("later") + "/agent.json");
  EXPECT_EQ(take_on("later"), "");
}

TEST_F(Hire, holds_the_name_of_one_whose_word_that_it_was_over_is_lost) {
  EXPECT_EQ(take_on("later"), "");
  const std::string first = folder_of("later");
  universe.disk.remove(first + "/agent.json");
  EXPECT_EQ(take_on("later"), "");
  const std::string second = folder_of("later");
  Machine& machine = universe.machine("tend");
  const auto home = machine.folders.open(Kept::kHome);
  EXPECT_EQ(hold_name(machine, **home, "later", second), true);
  EXPECT_EQ(hold_name(machine, **home, "later", first), false) << "another one has it";
  universe.disk.remove(second + "/agent.json");
  EXPECT_EQ(hold_name(machine, **home, "later", first), true) << "that one is no agent any more";
  EXPECT_EQ(folder_of("later"), first);
}

TEST_F(Hire, does_not_begin_one_whose_name_was_given_away) {
  kept.start_keeper();
  universe.run_for(10s);
  const std::string before = kept.text_of(".heartbeat");
  stop();
  universe.run_for(1min);
  ASSERT_TRUE(kept.over());
  EXPECT_EQ(take_on("worker-s1"), "");
  const std::string second = folder_of("worker-s1");
  universe.disk.write(Kept::path(".heartbeat"), before);  // a power cut took its last word
  universe.disk.remove(Kept::path("intent.json"));
  universe.disk.remove(Kept::path(".lock"));
  universe.disk.remove(Kept::path("journal.jsonl"));
  universe.reboot();
  kept.start_keeper();
  universe.disk.write(Kept::kHome + std::string("/names/worker-s1"), second + "\n");
  universe.run_for(5min);
  EXPECT_TRUE(kept.workers().empty());
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  EXPECT_EQ(kept.heartbeat().ended_by,
            "its name was given to another agent while it counted as over");
}

TEST_F(Hire, looks_at_no_agent_but_the_one_of_that_name) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(take_on("agent-" + std::to_string(i)), "");
  const std::uint64_t before = calls();
  EXPECT_EQ(take_on("agent-50"), "");
  EXPECT_LT(calls() - before, 30U);
}

TEST_F(Hire, knows_names_of_its_own_making_too) {
  AgentFile agent = kept.agent;
  agent.agent = "";
  EXPECT_EQ(take_on(agent), "");
  const auto names = universe.disk.files(std::string(Kept::kHome) + "/names");
  ASSERT_EQ(names.size(), 1U);
  EXPECT_NE(take_on(names.front().substr(names.front().rfind('/') + 1)), "");
}

TEST_F(Hire, leaves_no_agent_behind_that_has_no_name) {
  universe.disk.write(std::string(Kept::kHome) + "/names", "in the way");
  EXPECT_NE(take_on(""), "");
  for (const std::string& file : universe.disk.files(Kept::kHome)) {
    EXPECT_FALSE(file.ends_with("/agent.json")) << file;
  }
}

TEST_F(Hire, refuses_a_process_that_has_a_keeper) {
  kept.start_keeper();
  universe.run_for(10s);
  AgentFile watched = kept.agent;
  watched.agent = "other";
  watched.command.clear();
  watched.watched = kept.heartbeat().process;
  EXPECT_EQ(take_on(watched),
            "process " + std::to_string(watched.watched->pid) +
                " has a keeper already, as worker-s1; see `tend explain worker-s1`");
  universe.kill(kept.keeper);
  EXPECT_EQ(take_on(watched), "");
}

TEST_F(Hire, makes_names_of_its_own_where_none_is_given) {
  EXPECT_EQ(take_on(""), "");
  EXPECT_EQ(take_on(""), "");
}

TEST_F(Hire, waits_for_others_who_look_at_the_names) {
  Machine& other = universe.machine("other");
  const auto home = other.folders.open(Kept::kHome);
  auto names = (*home)->open(".names", Folder::Open::update);
  ASSERT_TRUE((*names)->lock().value());
  universe.after(1s, [&] { names->reset(); });
  EXPECT_EQ(take_on("a"), "");
}

TEST_F(Hire, S15_refuses_a_second_watch_of_the_same_stores) {
  AgentFile watched = kept.agent;
  watched.command.clear();
  watched.store = "deacon";
  kept.agent = watched;
  kept.config.stores["deacon"].preset = Preset::teaparty;
  kept.config.stores["deacon"].root = "/job";
  kept.start_keeper();
  universe.run_for(10s);
  watched.agent = "other";
  EXPECT_EQ(take_on(watched),
            "store:deacon has a keeper already, as worker-s1; see `tend explain worker-s1`");
  watched.store = "witness";
  EXPECT_EQ(take_on(watched), "");
  watched.agent = "third";
  watched.store = "deacon";
  universe.kill(kept.keeper);
  EXPECT_EQ(take_on(watched), "");
}

}  // namespace
}  // namespace tend
