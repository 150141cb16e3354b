// The built program under the name `bd`: the heartbeat protocol as workers and a patrol speak it,
// and `tend` over a `bd` that is another process.
#include <filesystem>
#include <fstream>

#include "e2e.h"

namespace tend::e2e {
namespace {

constexpr const char* kId = "my-workflow:3-zyci.2.1";

class BdTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    std::filesystem::create_directories(scratch() / "compat");
    std::filesystem::create_symlink(TEND_BINARY, link());
  }

  [[nodiscard]] Path link() const { return scratch() / "compat" / "bd"; }

  Finished bd_as(const std::string& actor, const Arguments& arguments) {
    return run({.arguments = Arguments{link()} + arguments,
                .environment = {{"BD_ACTOR", actor}},
                .input = {}});
  }
  Finished bd(const Arguments& arguments) { return bd_as("PinkHill", arguments); }
  static Json json(const Finished& finished) { return Json::parse(finished.out, nullptr, false); }
  /// The issue of an array of one.
  Json issue(const std::string& id) {
    const Json all = json(bd({"show", id, "--json"}));
    return all.is_array() && all.size() == 1 ? all[0] : Json::object();
  }
  static std::vector<std::string> ids(const Finished& finished) {
    std::vector<std::string> all;
    for (const Json& one : json(finished)) all.push_back(text_in(one, "id"));
    return all;
  }
  /// A program in the place of a real `bd`.
  Path script(const std::string& text) {
    const Path path = scratch() / "scripted-bd";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void configure(const Path& program) {
    std::filesystem::create_directories(home());
    std::ofstream(home() / "config.toml") << "[tasks]\nbeads = [\"" << program.string() << "\"]\n";
  }
};

TEST_F(BdTest, speaks_the_protocol_of_a_worker) {
  ASSERT_EQ(bd({"create", "Implement login endpoint", "--id", kId}).exit, 0);
  EXPECT_EQ(bd({"heartbeat", kId}).exit, 1) << "a beat before the claim";
  const auto claimed = bd({"update", kId, "--claim", "--json"});
  ASSERT_EQ(claimed.exit, 0) << claimed.out << claimed.err;
  EXPECT_EQ(json(claimed)[0]["status"], "in_progress");
  EXPECT_EQ(json(claimed)[0]["assignee"], "PinkHill");

  const auto beat = bd({"heartbeat", kId});
  EXPECT_EQ(beat.exit, 0);
  EXPECT_EQ(beat.out, "✓ Heartbeat my-workflow:3-zyci.2.1 (lease refreshed)\n");
  EXPECT_EQ(bd({"heartbeat", kId, "--message", "Tests passing, refactoring"}).exit, 0);
  const Json beaten = issue(kId);
  EXPECT_EQ(beaten["heartbeat_message"], "Tests passing, refactoring");
  EXPECT_TRUE(beaten["last_heartbeat"].is_string()) << beaten;
  EXPECT_EQ(beaten["last_heartbeat"], beaten["heartbeat_at"]);
  EXPECT_EQ(beaten["updated_at"], json(claimed)[0]["updated_at"]);
  EXPECT_TRUE(tend({"list"}).out.contains("Tests passing, refactoring"));

  EXPECT_EQ(bd({"close", kId, "--reason", "shipped"}).exit, 0);
  EXPECT_EQ(issue(kId)["status"], "closed");
  EXPECT_EQ(bd({"heartbeat", kId, "--json"}).exit, 1) << "nobody beats for what is closed";
}

TEST_F(BdTest, answers_the_questions_of_a_patrol) {
  for (const char* id : {kId, "other"}) {
    ASSERT_EQ(bd({"create", "work", "--id", id}).exit, 0);
    ASSERT_EQ(bd({"update", id, "--claim"}).exit, 0);
  }
  ASSERT_EQ(bd({"create", "open", "--id", "open"}).exit, 0);
  EXPECT_EQ(bd({"list", "--heartbeat-stale", "--status", "in_progress", "--json"}).out, "[]\n");
  EXPECT_EQ(bd({"list", "--heartbeat-stale=30m", "--json"}).out, "[]\n");
  // Everything is older than nothing as soon as the clock has moved.
  ASSERT_TRUE(eventually([&] {
    return ids(bd({"list", "--heartbeat-stale=0s", "--status", "in_progress", "--json"})) ==
           std::vector<std::string>{kId, "other"};
  }));
  ASSERT_EQ(bd({"heartbeat", kId}).exit, 0);
  const auto stale = bd({"list", "--heartbeat-stale=0s", "--status", "in_progress", "--json"});
  ASSERT_FALSE(ids(stale).empty());
  EXPECT_EQ(ids(stale).front(), "other") << "the longest silence first";
  EXPECT_TRUE(json(stale)[0]["stale_seconds"].is_number());
  EXPECT_TRUE(json(stale)[0]["stale_duration"].is_number());
}

TEST_F(BdTest, gives_an_issue_to_one_of_two_workers) {
  ASSERT_EQ(bd({"create", "work", "--id", kId}).exit, 0);
  constexpr int kWorkers = 8;
  std::vector<Background> racing;
  for (int i = 0; i < kWorkers; ++i) {
    racing.push_back(start({.arguments = {link(), "update", kId, "--claim", "--json"},
                            .environment = {{"BD_ACTOR", "worker-" + std::to_string(i)}},
                            .input = {}}));
  }
  int claimed = 0;
  for (Background& one : racing) {
    const Finished finished = one.wait();
    const Json said = json(finished);
    if (finished.exit == 0) {
      ++claimed;
      EXPECT_EQ(said[0]["claim_fence"], 1);
    } else {
      EXPECT_EQ(finished.exit, 1);
      EXPECT_TRUE(text_in(said, "error").starts_with("issue already claimed by worker-")) << said;
    }
  }
  EXPECT_EQ(claimed, 1);
  const std::string holder = text_in(issue(kId), "assignee");
  EXPECT_EQ(bd_as(holder, {"heartbeat", kId}).exit, 0);
  EXPECT_EQ(bd_as("somebody", {"heartbeat", kId}).err,
            "Error: issue already claimed by " + holder + "\n");
}

TEST_F(BdTest, frees_what_was_left_and_refuses_an_empty_scope) {
  ASSERT_EQ(bd({"create", "work", "--id", kId, "--labels", "web"}).exit, 0);
  ASSERT_EQ(bd({"update", kId, "--claim"}).exit, 0);
  EXPECT_EQ(bd({"reclaim"}).out, "✓ No stale leases to reclaim\n");
  const auto refused = bd({"reclaim", "--older-than", "0s", "--label", "", "--json"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(text_in(json(refused), "error"), "--label is empty");
  EXPECT_EQ(refused.err, "");
  ASSERT_TRUE(eventually([&] {
    return number_in(json(bd({"reclaim", "--older-than", "0s", "--label", "web", "--json"})),
                     "count") == 1;
  }));
  EXPECT_EQ(issue(kId)["status"], "open");
  const auto lost = bd({"heartbeat", kId});
  EXPECT_EQ(lost.exit, 1);
  EXPECT_EQ(lost.err, "Error: issue not claimable: my-workflow:3-zyci.2.1 status open\n");
  EXPECT_EQ(bd_as("BlueLake", {"update", kId, "--claim"}).exit, 0);
  EXPECT_EQ(bd({"close", kId}).err, "Error: issue already claimed by BlueLake\n");
}

TEST_F(BdTest, helps_under_its_own_name) {
  const auto help = bd({"--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_TRUE(help.out.starts_with("Usage: bd COMMAND")) << help.out;
  EXPECT_TRUE(bd({"--version"}).out.starts_with("bd ")) << "it says its name";
  const auto wrong = bd({"list", "--stale"});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_TRUE(wrong.err.starts_with("bd list: unknown option '--stale'")) << wrong.err;
}

TEST_F(BdTest, is_asked_by_tend_where_it_is_configured) {
  configure(link());
  ASSERT_EQ(bd({"create", "work", "--id", kId}).exit, 0);
  EXPECT_EQ(json(tend({"list", "--json"}))[0]["id"], kId);
  const auto claimed = tend({"task", "claim", kId, "--actor", "PinkHill", "--json"});
  ASSERT_EQ(claimed.exit, 0) << claimed.err;
  EXPECT_EQ(json(claimed)["fence"], 1);
  EXPECT_EQ(issue(kId)["assignee"], "PinkHill");
  const auto beat = tend({"heartbeat", kId, "--actor", "PinkHill", "--message", "half", "--json"});
  ASSERT_EQ(beat.exit, 0) << beat.err;
  EXPECT_EQ(beat.err, "");
  EXPECT_EQ(json(beat)["heartbeat_message"], "half");
  const auto other = tend({"heartbeat", kId, "--actor", "BlueLake"});
  EXPECT_EQ(other.exit, 1);
  EXPECT_TRUE(other.err.contains("held by PinkHill")) << other.err;
  EXPECT_EQ(tend({"task", "release", kId, "--actor", "PinkHill"}).exit, 0);
  EXPECT_EQ(issue(kId)["status"], "open");
  ASSERT_EQ(bd({"update", kId, "--claim"}).exit, 0);
  EXPECT_EQ(tend({"task", "close", kId, "--actor", "PinkHill", "--reason=--done"}).exit, 0);
  EXPECT_EQ(issue(kId)["close_reason"], "--done");
  EXPECT_EQ(tend({"task", "show", "nowhere"}).exit, 1);
}

TEST_F(BdTest, may_answer_nonsense_or_not_at_all) {
  configure(script("echo oops\n"));
  auto answer = tend({"list"});
  EXPECT_EQ(answer.exit, 1);
  EXPECT_TRUE(answer.err.contains("did not answer in JSON, but with 'oops'")) << answer.err;

  configure(script("echo '{\"error\":\"no active beads workspace found\"}'; exit 1\n"));
  answer = tend({"heartbeat", kId, "--actor", "PinkHill"});
  EXPECT_EQ(answer.exit, 1);
  EXPECT_TRUE(answer.err.contains("heartbeat: no active beads workspace found")) << answer.err;

  configure(scratch() / "nowhere");
  answer = tend({"list"});
  EXPECT_EQ(answer.exit, 1);
  EXPECT_TRUE(answer.err.contains("could not be run")) << answer.err;
  EXPECT_TRUE(answer.err.contains("[tasks] beads")) << answer.err;
}

TEST_F(BdTest, that_hangs_is_given_up_on_and_ended) {
  configure(script("echo $$ > " + (scratch() / "pid").string() + "\nexec sleep 600\n"));
  const auto answer = tend({"list"});
  EXPECT_EQ(answer.exit, 1);
  EXPECT_FALSE(answer.timed_out);
  EXPECT_TRUE(answer.err.contains("did not answer within 20 s")) << answer.err;
  const pid_t pid = std::stoi("0" + read_file(scratch() / "pid"));
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

}  // namespace
}  // namespace tend::e2e
