// What a command says in its agent's signals.jsonl while it waits for another one: in a real
// folder, because the client library writes there.
#include "app/awaiting.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "judge/words.h"
#include "os/sim/sim_world.h"
#include "sense/signals_file.h"
#include "sense/testing.h"

namespace tend {
namespace {

namespace fs = std::filesystem;

class AwaitingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tend_awaiting_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    own = pattern;
    write(".beat", "");
    write(".lock", R"({"life":2})" + std::string(1000, ' ') + "\n");
    write(".heartbeat", R"({"status":"running","life":2})");
    ::setenv("TEND_INFRA", own.c_str(), 1);
    ::setenv("TEND_LIFE", "2", 1);
    variables["TEND_INFRA"] = own;
    variables["TEND_PARENT_HEARTBEAT"] = kAbove + std::string("/.heartbeat");
    id = "wait-" + std::to_string(sim.machines.pid());
  }
  void TearDown() override {
    for (const char* name : {"TEND_INFRA", "TEND_LIFE"}) ::unsetenv(name);
    fs::remove_all(own);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(own / name) << text;
    fs::permissions(own / name, fs::perms::owner_read | fs::perms::owner_write);
  }
  [[nodiscard]] std::string signals() const {
    std::ifstream in(own / "signals.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// What was said until it came, and then.
  struct Said {
    std::string meanwhile, afterwards;
  };
  Said wait_for(const std::string& folder, const std::string& parent_heartbeat) {
    World world = sim.world();
    Said said;
    {
      const Awaiting awaiting(world, folder, parent_heartbeat);
      said.meanwhile = signals();
    }
    said.afterwards = signals();
    return said;
  }
  Said wait_for_child() { return wait_for(own / "coding" / "x", own / ".heartbeat"); }
  Said wait_for_parent() { return wait_for(kAbove, "/elsewhere/sessions/s0/.heartbeat"); }
  [[nodiscard]] std::string closed() const {
    return R"({"is":"tool-close","id":")" + id + "\",\"life\":2}\n";
  }

  static constexpr const char* kAbove = "/elsewhere/sessions/s1";
  fs::path own;
  SimWorld sim;
  std::map<std::string, std::string>& variables = sim.environment.variables;
  std::string id;
};

TEST_F(AwaitingTest, says_for_as_long_as_it_lasts_that_a_child_is_waited_for) {
  const Said said = wait_for_child();
  const std::string open =
      R"({"is":"tool-open","id":")" + id + R"(","tool":"tend wait","child":true,"life":2})" + "\n";
  EXPECT_EQ(said.meanwhile, open);
  EXPECT_EQ(said.afterwards, open + closed());
}

TEST_F(AwaitingTest, says_nothing_of_a_child_where_the_stream_is_heard) {
  variables["TEND_ADAPTER"] = "claude";
  EXPECT_EQ(wait_for_child().afterwards, "");
  for (const char* const unheard : {"lines", "none", ""}) {
    fs::remove(own / "signals.jsonl");
    variables["TEND_ADAPTER"] = unheard;
    EXPECT_NE(wait_for_child().meanwhile, "") << unheard;
  }
}

TEST_F(AwaitingTest, says_of_its_own_parent_that_it_is_waited_for_also_where_the_stream_is_heard) {
  const std::string open =
      R"({"is":"tool-open","id":")" + id + R"(","tool":"tend wait parent","life":2})" + "\n";
  for (const char* const adapter : {"claude", "lines", ""}) {
    fs::remove(own / "signals.jsonl");
    variables["TEND_ADAPTER"] = adapter;
    const Said said = wait_for_parent();
    EXPECT_EQ(said.meanwhile, open) << adapter;
    EXPECT_EQ(said.afterwards, open + closed()) << adapter;
  }
}

TEST_F(AwaitingTest, says_nothing_of_others) {
  EXPECT_EQ(wait_for("/elsewhere/sessions/s1/coding/sister", kAbove + std::string("/.heartbeat"))
                .afterwards,
            "");
  EXPECT_EQ(wait_for("/elsewhere/sessions/s9", "").afterwards, "");
  EXPECT_EQ(wait_for(own / "coding" / "x" / "tests" / "y", own / "coding" / "x" / ".heartbeat")
                .afterwards,
            "")
      << "of a grandchild";
}

TEST_F(AwaitingTest, says_nothing_outside_of_an_agent) {
  variables.clear();
  EXPECT_EQ(wait_for_child().afterwards, "");
  EXPECT_EQ(wait_for("", "").afterwards, "");
}

TEST_F(AwaitingTest, says_nothing_for_a_life_that_is_over) {
  write(".lock", R"({"life":3})" + std::string(1000, ' ') + "\n");
  EXPECT_EQ(wait_for_child().afterwards, "");
}

TEST_F(AwaitingTest, is_understood_by_the_keeper) {
  wait_for_child();
  wait_for_parent();
  std::istringstream lines(signals());
  SignalsFile file;
  SignalBatch batch;
  std::vector<std::string> heard;
  for (std::string line; std::getline(lines, line);) {
    const PaddedLine padded(line);
    ASSERT_EQ(file.take(padded.view(), 2, {}, batch), SignalsFile::Took::taken) << line;
    const Signal& signal = batch.signals.back();
    EXPECT_EQ(signal.id, id);
    heard.push_back(std::string(word(signal.is)) + " " + std::string(signal.tool) +
                    (signal.child_tool ? " (child)" : ""));
  }
  EXPECT_EQ(heard, (std::vector<std::string>{"tool-open tend wait (child)", "tool-close ",
                                             "tool-open tend wait parent", "tool-close "}));
}

}  // namespace
}  // namespace tend
