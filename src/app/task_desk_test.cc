// `tend` where the configuration names a `bd`: who is asked, and what is said of what it cannot do.
#include "app/task_desk.h"

#include <gtest/gtest.h>

#include "app/bd_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class WithBeads : public testing::Test, protected BdHome {
 protected:
  WithBeads() {
    files[std::string(kHome) + "/config.toml"] = "[tasks]\nbeads = [\"bd\"]\n";
    variables["TEND_ACTOR"] = "PinkHill";
    universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      return answers[run.command.at(1)];
    };
  }
  void says(const std::string& verb, std::string output) {
    answers[verb] = {.output = std::move(output)};
  }

  std::map<std::string, SimAnswer> answers;
};

TEST_F(WithBeads, lists_and_shows_its_tasks) {
  says("list", R"([{"id":"bd-1","title":"theirs","status":"open"}])");
  says("show", R"([{"id":"bd-1","title":"theirs","status":"open"}])");
  EXPECT_EQ(tend({"list", "--json"}).ids(), std::vector<std::string>{"bd-1"});
  EXPECT_EQ(tend({"task", "show", "bd-1", "--json"}).json()["title"], "theirs");
}

TEST_F(WithBeads, claims_beats_and_closes_by_it) {
  const std::string held = R"([{"id":"bd-1","status":"in_progress","assignee":"PinkHill"}])";
  says("update", held);
  says("show", held);
  says("heartbeat", R"({"id":"bd-1","status":"heartbeat","owner":"PinkHill"})");
  says("close", R"([{"id":"bd-1","status":"closed"}])");
  EXPECT_EQ(tend({"task", "claim", "bd-1"}).exit, kExitYes);
  const BdAnswer beat = tend({"heartbeat", "bd-1", "--message", "half"});
  EXPECT_EQ(beat.exit, kExitYes);
  EXPECT_EQ(beat.out, "bd-1: yours\n");
  EXPECT_EQ(beat.err, "tend heartbeat: the beat counts, but bd keeps no messages\n");
  EXPECT_EQ(tend({"task", "close", "bd-1"}).out, "bd-1: closed\n");
}

TEST_F(WithBeads, says_who_has_what_was_lost) {
  answers["heartbeat"] = {.exit = {ExitStatus::How::code, 1},
                          .error = "Error: issue already claimed by BlueLake\n"};
  const BdAnswer beat = tend({"heartbeat", "bd-1"});
  EXPECT_EQ(beat.exit, kExitNo);
  EXPECT_TRUE(beat.err.contains("held by BlueLake")) << beat.err;
}

TEST_F(WithBeads, leaves_to_it_what_only_it_can) {
  EXPECT_EQ(tend({"task", "add", "x"}).err,
            "tend task add: the tasks of this home are with bd: `bd create` does that\n");
  EXPECT_EQ(tend({"task", "reopen", "x"}).exit, kExitNo);
  EXPECT_EQ(tend({"task", "update", "x", "--title", "y"}).exit, kExitNo);
  EXPECT_EQ(tend({"task", "close", "x", "--force"}).exit, kExitNo);
}

TEST_F(WithBeads, says_that_it_does_not_answer) {
  answers["list"] = {.takes = 1h};
  const BdAnswer answer = tend({"list"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend list: bd list did not answer within 20 s\n");
}

TEST_F(WithBeads, has_its_own_tasks_under_the_name_of_bd) {
  EXPECT_EQ(bd({"create", "x", "--id", "mine"}).exit, kExitYes);
  EXPECT_EQ(bd({"list", "--json"}).ids(), std::vector<std::string>{"mine"});
  EXPECT_TRUE(universe.ran().empty()) << "or it would ask itself for ever";
}

TEST_F(WithBeads, fails_if_nobody_can_tell_who_has_the_tasks) {
  files[std::string(kHome) + "/config.toml"] = "[tasks\n";
  const BdAnswer answer = tend({"list"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.contains("config.toml:1")) << answer.err;
}

}  // namespace
}  // namespace tend
