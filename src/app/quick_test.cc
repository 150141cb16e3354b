// The three commands against a folder as a keeper makes it: the short way and the table must say
// the same, and only a plain call may go the short way.
#include "app/quick.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/dispatch.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

namespace fs = std::filesystem;

class Speaking : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tend_quick_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    write(".beat", "");
    write(".lock", R"({"life":2})" + std::string(1000, ' ') + "\n");
    write(".heartbeat", R"({"status":"running","life":2})");
    ::setenv("TEND_INFRA", folder.c_str(), 1);
    ::setenv("TEND_LIFE", "2", 1);
    ::setenv("TEND_AGENT", "coder-x7", 1);
  }
  void TearDown() override {
    for (const char* name : {"TEND_INFRA", "TEND_LIFE", "TEND_AGENT"}) ::unsetenv(name);
    fs::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    fs::permissions(folder / name, fs::perms::owner_read | fs::perms::owner_write);
  }
  std::string signals() const {
    std::ifstream in(folder / "signals.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void forget_signals() const { fs::remove(folder / "signals.jsonl"); }

  using Words = std::vector<std::string_view>;
  int by_the_table(const Words& words) {
    sim.out.text.clear();
    sim.err.text.clear();
    World world = sim.world();
    return dispatch(commands(), words, world);
  }
  /// Both ways, which must agree; what was said is in `line`.
  int say(const Words& words) {
    const auto spoken = speak_quickly(words);
    EXPECT_TRUE(spoken.has_value());
    if (!spoken) return -1;
    line = spoken->line;
    EXPECT_EQ(by_the_table(words), spoken->exit_code);
    EXPECT_EQ(sim.out.text, spoken->exit_code == kExitYes ? line : "");
    EXPECT_EQ(sim.err.text, spoken->exit_code == kExitYes ? "" : line);
    return spoken->exit_code;
  }

  fs::path folder;
  SimWorld sim;
  std::string line;
};

TEST_F(Speaking, beats_and_says_for_whom) {
  fs::last_write_time(folder / ".beat", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto before = fs::last_write_time(folder / ".beat");
  EXPECT_EQ(say({"beat"}), kExitYes);
  EXPECT_EQ(line, "tend: beat for coder-x7, life 2\n");
  EXPECT_GT(fs::last_write_time(folder / ".beat"), before);
}

TEST_F(Speaking, takes_the_long_way_where_other_systems_want_to_hear_it_too) {
  write("sinks", "registry\n");
  EXPECT_FALSE(speak_quickly(Words{"beat"}).has_value());
  EXPECT_FALSE(speak_quickly(Words{"state", "idle"}).has_value());
  EXPECT_TRUE(speak_quickly(Words{"ack"}).has_value());
  EXPECT_TRUE(speak({.kind = Speech::Kind::beat}).has_sinks);
  fs::remove(folder / "sinks");
  EXPECT_FALSE(speak({.kind = Speech::Kind::beat}).has_sinks);
}

TEST_F(Speaking, says_a_state) {
  EXPECT_EQ(say({"state", "stuck"}), kExitYes);
  EXPECT_EQ(line, "tend: state stuck for coder-x7, life 2\n");
  const std::string one = "{\"is\":\"state\",\"state\":\"stuck\",\"life\":2}\n";
  EXPECT_EQ(signals(), one + one) << "one line each way";
}

TEST_F(Speaking, says_how_long_a_state_lasts) {
  EXPECT_EQ(say({"state", "idle", "--until", "1h30m"}), kExitYes);
  EXPECT_EQ(line, "tend: state idle (1h30m) for coder-x7, life 2\n");
  EXPECT_NE(signals().find(R"("state":"idle","until":)"), std::string::npos) << signals();
}

TEST_F(Speaking, knows_every_state_by_its_word) {
  for (const std::string_view word : kSelfStateWords) {
    forget_signals();
    EXPECT_EQ(say({"state", word}), kExitYes);
    EXPECT_NE(signals().find("\"state\":\"" + std::string(word) + "\""), std::string::npos) << word;
  }
}

TEST_F(Speaking, answers_one_question_or_all) {
  EXPECT_EQ(say({"ack"}), kExitYes);
  EXPECT_EQ(line, "tend: ack for coder-x7, life 2\n");
  forget_signals();
  EXPECT_EQ(say({"ack", "p17"}), kExitYes);
  EXPECT_EQ(line, "tend: ack p17 for coder-x7, life 2\n");
  const std::string one = "{\"is\":\"ack\",\"id\":\"p17\",\"life\":2}\n";
  EXPECT_EQ(signals(), one + one);
}

TEST_F(Speaking, is_quiet_when_asked) {
  for (const Words& words :
       {Words{"beat", "-q"}, Words{"state", "idle", "--quiet"},
        Words{"state", "-q", "idle", "--until", "5m"}, Words{"ack", "-q", "p1"}}) {
    EXPECT_EQ(say(words), kExitYes);
    EXPECT_EQ(line, "");
  }
  ::setenv("TEND_LIFE", "1", 1);
  EXPECT_EQ(say({"beat", "-q"}), kExitNo);
  EXPECT_NE(line, "") << "a mistake is said";
}

TEST_F(Speaking, prints_json_by_the_table) {
  EXPECT_EQ(by_the_table({"beat", "--json"}), kExitYes);
  EXPECT_EQ(sim.out.text, R"({"said":"beat","agent":"coder-x7","life":2})"
                          "\n");
  EXPECT_EQ(by_the_table({"state", "idle", "--until=15m", "--json"}), kExitYes);
  EXPECT_EQ(sim.out.text,
            R"({"said":"state","state":"idle","lasts_ms":900000,"agent":"coder-x7","life":2})"
            "\n");
  EXPECT_EQ(by_the_table({"ack", "p17", "--json"}), kExitYes);
  EXPECT_EQ(sim.out.text, R"({"said":"ack","id":"p17","agent":"coder-x7","life":2})"
                          "\n");
}

TEST_F(Speaking, exits_2_outside_an_agent) {
  ::unsetenv("TEND_INFRA");
  EXPECT_EQ(say({"beat"}), kExitUsage);
  EXPECT_EQ(line,
            "tend beat: not inside a kept agent: TEND_INFRA is not set (start the program with "
            "`tend run -- CMD`)\n");
  EXPECT_EQ(by_the_table({"ack"}), kExitUsage);
  EXPECT_TRUE(sim.err.text.starts_with("tend ack: not inside a kept agent")) << sim.err.text;
}

TEST_F(Speaking, leaves_an_answer_from_outside_to_the_table_which_knows_what_is_watched) {
  ::unsetenv("TEND_INFRA");
  EXPECT_FALSE(speak_quickly(std::vector<std::string_view>{"ack", "p1"}).has_value());
}

TEST_F(Speaking, exits_1_when_its_life_is_over) {
  ::setenv("TEND_LIFE", "1", 1);
  EXPECT_EQ(say({"beat"}), kExitNo);
  EXPECT_EQ(line, "tend beat: life 1 of coder-x7 is over; life 2 runs now\n");
  EXPECT_EQ(say({"state", "idle"}), kExitNo);
  EXPECT_EQ(say({"ack"}), kExitNo);
  EXPECT_EQ(signals(), "");
}

TEST_F(Speaking, exits_1_when_the_agent_has_ended) {
  write(".heartbeat", R"({"status":"completed","life":2})");
  EXPECT_EQ(say({"beat"}), kExitNo);
  EXPECT_EQ(line, "tend beat: coder-x7 has ended: its status is completed\n");
}

TEST_F(Speaking, exits_2_in_a_folder_that_is_not_a_keepers) {
  fs::remove(folder / ".lock");
  EXPECT_EQ(say({"beat"}), kExitUsage);
  EXPECT_EQ(line, "tend beat: cannot open .lock: No such file or directory\n");
  fs::permissions(folder, fs::perms::all);
  EXPECT_EQ(say({"ack"}), kExitUsage);
  EXPECT_NE(line.find("may be written by others"), std::string::npos) << line;
}

TEST_F(Speaking, leaves_everything_unusual_to_the_table) {
  const std::vector<Words> unusual{{},
                                   {"replay"},
                                   {"--help"},
                                   {"beat", "--help"},
                                   {"beat", "--json"},
                                   {"beat", "now"},
                                   {"state"},
                                   {"state", "bored"},
                                   {"state", "idle", "--until"},
                                   {"state", "idle", "--until", "soon"},
                                   {"state", "idle", "--until", "0s"},
                                   {"state", "idle", "--until=15m"},
                                   {"state", "idle", "working"},
                                   {"ack", "--help"},
                                   {"ack", "--", "p1"},
                                   {"ack", "-x"},
                                   {"ack", "a", "b"}};
  for (const Words& words : unusual) {
    EXPECT_FALSE(speak_quickly(words).has_value()) << (words.empty() ? "" : words.back());
  }
  EXPECT_EQ(signals(), "");
}

TEST_F(Speaking, explains_mistakes_in_one_line) {
  EXPECT_EQ(by_the_table({"state", "bored"}), kExitUsage);
  EXPECT_EQ(sim.err.text, "tend state: STATE is working, idle, exiting or stuck, not 'bored'\n");
  EXPECT_EQ(by_the_table({"state", "idle", "--until", "0s"}), kExitUsage);
  EXPECT_EQ(sim.err.text, "tend state: --until must be above 0\n");
  EXPECT_EQ(by_the_table({"state", "idle", "--until", "soon"}), kExitUsage);
  EXPECT_EQ(sim.err.text,
            "tend state: --until 'soon' is no duration: write 500ms, 30s, 15m, 1h30m or 2d; a bare "
            "number is seconds\n");
  EXPECT_EQ(by_the_table({"ack", "a\nb"}), kExitUsage);
  EXPECT_EQ(sim.err.text, "tend ack: an id is printable ASCII\n");
  EXPECT_EQ(signals(), "");
}

}  // namespace
}  // namespace tend
