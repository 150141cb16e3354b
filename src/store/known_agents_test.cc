// Which agents a home holds, and which one a person means.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "os/sim/sim_universe.h"
#include "store/agent_file.h"
#include "store/home.h"

namespace tend {
namespace {

const std::string kSessions = "/home/user/tend/sessions/";

class KnownAgents : public testing::Test {
 protected:
  KnownAgents() : home(universe.machine().folders.make("/home/user/tend").value()) {}

  void add(const std::string& way, const std::string& name, Status status = Status::running) {
    Heartbeat heartbeat;
    heartbeat.agent = name;
    heartbeat.session = way.substr(0, way.find('/'));
    heartbeat.status = status;
    if (way.find('/') != std::string::npos) heartbeat.parent_heartbeat = "/parent/.heartbeat";
    universe.disk.write(kSessions + way + "/.heartbeat", format_heartbeat(heartbeat));
  }

  /// Names, or problems.
  std::vector<std::string> all() {
    std::vector<std::string> names;
    const auto agents = agents_of(*home);
    EXPECT_TRUE(agents.has_value());
    for (const KnownAgent& each : *agents) {
      names.push_back(each.problem.empty() ? each.heartbeat.agent : each.problem);
    }
    return names;
  }

  /// The folder of the one that is meant, without what all have in common.
  std::string meant(const std::string& text) {
    const auto found = find_agent(universe.machine().folders, *home, text);
    if (!found) return "error: " + found.error().text;
    EXPECT_TRUE((*found).folder->facts(".heartbeat").value().has_value());
    return found->folder->path().substr(kSessions.size());
  }

  SimUniverse universe;
  std::unique_ptr<Folder> home;
};

using Names = std::vector<std::string>;

TEST_F(KnownAgents, are_none_in_a_new_home) { EXPECT_EQ(all(), Names{}); }

TEST_F(KnownAgents, are_known_also_below_one_whose_heartbeat_cannot_be_read) {
  add("20260308-100000-aaaa", "lead");
  add("20260308-100000-aaaa/coding/20260308-110000-bbbb", "child");
  const std::string lead = kSessions + "20260308-100000-aaaa";
  universe.disk.write(lead + "/agent.json", "{}");
  universe.disk.make_unreadable(lead + "/.heartbeat");
  const Names names = all();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names.front().contains("Permission denied")) << names.front();
  EXPECT_EQ(names.back(), "child");
}

TEST_F(KnownAgents, come_parents_first_and_older_before_newer) {
  add("20260309-100000-aaaa", "newer");
  add("20260308-100000-bbbb", "older");
  add("20260308-100000-bbbb/testing/20260308-110000-cccc", "first child");
  add("20260308-100000-bbbb/coding/20260308-120000-dddd", "second child");
  add("20260308-100000-bbbb/testing/20260308-110000-cccc/deep/20260308-110001-eeee", "grandchild");
  EXPECT_EQ(all(), (Names{"older", "first child", "grandchild", "second child", "newer"}));
}

TEST_F(KnownAgents, have_the_time_of_their_last_beat_and_a_folder_that_can_be_used) {
  add("s", "a");
  const WallTime beat{std::chrono::hours{24}};
  universe.disk.set_modified(kSessions + "s/.heartbeat", beat);
  const auto agents = agents_of(*home).value();
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_EQ(agents[0].last_beat, beat);
  Folder& folder = *agents[0].folder;
  EXPECT_EQ(folder.path(), kSessions + "s");
  ASSERT_TRUE(folder.replace("x", "1", Folder::Sync::no).has_value());
  ASSERT_TRUE(folder.rename("x", "y").has_value());
  EXPECT_EQ(folder.read("y", 9).value(), "1");
  ASSERT_TRUE(folder.open("y", Folder::Open::append).value()->append("2").has_value());
  EXPECT_EQ(universe.disk.read(kSessions + "s/y"), "12");
  ASSERT_TRUE(folder.remove("y").has_value());
  EXPECT_FALSE(folder.facts("y").value().has_value());
  EXPECT_NE(folder.make_folder("z").value(), nullptr);
  EXPECT_EQ(folder.make_new_folder("z").value(), nullptr);
  EXPECT_NE(folder.folder("z").value(), nullptr);
  EXPECT_EQ(folder.folders(9).value(), Names{"z"});

  universe.disk.remove(kSessions + "s");
  EXPECT_EQ(folder.read("y", 9).error().text, kSessions + "s: is gone");
}

TEST_F(KnownAgents, are_known_before_they_start) {
  AgentFile file;
  file.agent = "asked for";
  file.role = "coding";
  file.command = {"true"};
  universe.disk.write(kSessions + "s/agent.json", format_agent_file(file));
  const auto agents = agents_of(*home).value();
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_EQ(agents[0].heartbeat.agent, "asked for");
  EXPECT_EQ(agents[0].heartbeat.role, "coding");
  EXPECT_EQ(agents[0].heartbeat.session, "s");
  EXPECT_EQ(agents[0].heartbeat.status, Status::starting);
  EXPECT_EQ(agents[0].last_beat, WallTime{});
}

TEST_F(KnownAgents, of_other_systems_are_called_by_their_folder) {
  universe.disk.write(kSessions + "theirs/.heartbeat", "{\"pid\":1}");
  EXPECT_EQ(all(), Names{"theirs"});
}

TEST_F(KnownAgents, that_cannot_be_read_are_in_the_list_with_their_problem) {
  universe.disk.write(kSessions + "a/.heartbeat", "what");
  universe.disk.write(kSessions + "b/agent.json", "what");
  add("c", "fine");
  add("d", "not ours");
  universe.disk.make_foreign(kSessions + "d");
  const Names names = all();
  ASSERT_EQ(names.size(), 4U);
  EXPECT_NE(std::ranges::find(names, kSessions + "a/.heartbeat: the heartbeat is no JSON object"),
            names.end());
  EXPECT_NE(std::ranges::find(names, kSessions + "b/agent.json: is no JSON object"), names.end());
  EXPECT_NE(std::ranges::find(names, "fine"), names.end());
}

TEST_F(KnownAgents, whose_heartbeats_are_damaged_are_meant_by_their_names_and_nobody_else_is) {
  AgentFile agent;
  agent.agent = "lead";
  agent.session = "s1";
  agent.command = {"claude"};
  agent.working_folder = "/home/user";
  add("s1", "lead");
  add("s2", "lead-2");
  universe.disk.write(kSessions + "s1/agent.json", format_agent_file(agent));
  universe.disk.write(kSessions + "s1/.heartbeat", R"({"pid":10)");
  EXPECT_EQ(meant("lead"), "s1");
}

TEST_F(KnownAgents, are_not_looked_for_in_saved_work) {
  add("s", "a");
  universe.disk.write(kSessions + "s/salvage/copy/.heartbeat", "{}");
  universe.disk.write(kSessions + "s/.hidden/copy/.heartbeat", "{}");
  EXPECT_EQ(all(), Names{"a"});
}

TEST_F(KnownAgents, are_looked_for_only_so_deep) {
  std::string way = "s";
  for (int i = 0; i < 100; ++i) way += "/x";
  add("s", "a");
  universe.disk.write(kSessions + way + "/.heartbeat", "{}");
  const Names names = all();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0], "a");
  EXPECT_TRUE(names[1].ends_with("is too deep to be looked into"));
}

TEST_F(KnownAgents, are_meant_by_name_session_folder_path_or_a_beginning) {
  add("20260308-100000-aaaa", "lead");
  add("20260308-100000-aaaa/coding/20260308-110000-cccc", "coder");
  add("20260309-100000-bbbb", "other");
  const std::string coder = "20260308-100000-aaaa/coding/20260308-110000-cccc";
  EXPECT_EQ(meant("coder"), coder);
  EXPECT_EQ(meant("co"), coder);
  EXPECT_EQ(meant("20260308-110000-cccc"), coder);
  EXPECT_EQ(meant(kSessions + coder), coder);
  EXPECT_EQ(meant(kSessions + coder + "/"), coder);
  EXPECT_EQ(meant(kSessions + coder + "/.heartbeat"), coder);
  EXPECT_EQ(meant("20260308"), "20260308-100000-aaaa") << "the root of the session";
  EXPECT_EQ(meant("20260309-100000-bbbb"), "20260309-100000-bbbb");
}

TEST_F(KnownAgents, of_one_name_are_told_apart_by_who_is_not_over) {
  add("s1", "coder", Status::completed);
  add("s2", "coder", Status::running);
  add("s3", "coder", Status::withdrawn);
  EXPECT_EQ(meant("coder"), "s2");
  EXPECT_EQ(meant("cod"), "s2");
  add("s4", "coder", Status::starting);
  EXPECT_EQ(meant("coder"),
            "error: 'coder' could mean 2 agents: s2 (running), s4 (starting); name one of them");
  EXPECT_EQ(meant("s4"), "s4");
}

TEST_F(KnownAgents, of_one_name_that_are_all_over_are_meant_by_the_newest) {
  add("s1", "coder", Status::completed);
  add("s2", "coder", Status::withdrawn);
  EXPECT_EQ(meant("coder"), "s2");
  EXPECT_EQ(meant("c"), "s2");
  add("s3", "cleaner", Status::running);
  EXPECT_EQ(meant("coder"), "s2");
  EXPECT_EQ(meant("c"),
            "error: 'c' could mean 2 agents: coder (withdrawn), cleaner (running); name one of "
            "them");
}

TEST_F(KnownAgents, that_all_could_be_meant_are_listed_up_to_five) {
  for (int i = 0; i < 8; ++i) add("s" + std::to_string(i), "coder" + std::to_string(i));
  const std::string error = meant("cod");
  EXPECT_TRUE(error.starts_with("error: 'cod' could mean 8 agents: coder0 (")) << error;
  EXPECT_NE(error.find("coder4 ("), std::string::npos);
  EXPECT_EQ(error.find("coder5 ("), std::string::npos);
  EXPECT_NE(error.find(" and 3 more; "), std::string::npos);
}

TEST_F(KnownAgents, that_nobody_knows_are_answered_with_what_there_is) {
  EXPECT_EQ(meant("coder"), "error: no agent 'coder': there are none in /home/user/tend");
  add("s1", "coder");
  add("s2", "tester");
  EXPECT_EQ(meant("codr"), "error: no agent 'codr' in /home/user/tend; did you mean 'coder'?");
  EXPECT_EQ(meant("zzz"),
            "error: no agent 'zzz' in /home/user/tend; there are for example: coder, tester");
  EXPECT_TRUE(meant("").starts_with("error: no agent ''"));
  EXPECT_EQ(meant("/home/user/tend/sessions"),
            "error: /home/user/tend/sessions: is no folder of an agent");
}

}  // namespace
}  // namespace tend
