// Trees as people and programs see them, made of entries by hand.
#include "app/tree_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::hours{500'000}};

Entry agent(const std::string& name, std::optional<std::size_t> parent, Verdict verdict,
            Phase phase) {
  Entry entry;
  entry.known.heartbeat.agent = name;
  entry.known.heartbeat.role = "coder";
  entry.known.heartbeat.life = 1;
  entry.known.heartbeat.resumes_spent = 1;
  entry.known.heartbeat.resumes_allowed = 3;
  entry.keeper = KeeperIs::alive;
  entry.group = Group::working;
  entry.verdict = verdict;
  entry.phase = phase;
  entry.state = word(verdict);
  entry.parent = parent;
  entry.progressed = kNow - 90s;
  return entry;
}

class Trees : public testing::Test {
 protected:
  void add(Entry entry) {
    if (entry.parent) entry.depth = entries[*entry.parent].depth + 1;
    entries.push_back(std::move(entry));
    shown.push_back(true);
  }
  void add_lead() { add(agent("lead", std::nullopt, Verdict::waiting, Phase::children)); }
  std::string text() {
    const Look look(sim.out, sim.environment);
    return tree_text(Forest(entries), shown, look, 0, kNow);
  }
  /// The row of that agent.
  std::string row(const std::string& name) {
    std::istringstream lines(text());
    for (std::string line; std::getline(lines, line);) {
      if (line.contains("* " + name + " ") || line.contains("x " + name + " ")) return line;
    }
    return "";
  }
  nlohmann::json json(std::size_t i) {
    std::istringstream lines(tree_json(Forest(entries), shown, kNow));
    std::string line;
    for (std::size_t n = 0; n <= i; ++n) std::getline(lines, line);
    return nlohmann::json::parse(line);
  }

  SimWorld sim;
  std::vector<Entry> entries;
  std::vector<bool> shown;
};

TEST_F(Trees, are_drawn_with_lines_where_the_locale_has_them) {
  sim.environment.variables["LANG"] = "C.UTF-8";
  add_lead();
  add(agent("coder", 0, Verdict::working, Phase::model));
  add(agent("lint", 1, Verdict::working, Phase::tool));
  add(agent("tester", 0, Verdict::waiting, Phase::person));
  entries[1].known.heartbeat.work_phase = "tests";
  entries[3].progressed.reset();
  EXPECT_EQ(text(),
            "NAME          ROLE   STATE              PROGRESS  RESTARTS  WORK   WHY\n"
            "● lead        coder  waiting, children        1m       1/3  -      "
            "waits on coder, which works, and tester, which waits for a person\n"
            "├─ ● coder    coder  working, model           1m       1/3  tests\n"
            "│  └─ ● lint  coder  working, tool            1m       1/3  -\n"
            "└─ ● tester   coder  waiting, person           -       1/3  -\n");
}

TEST_F(Trees, are_drawn_in_ascii_where_it_has_none) {
  add_lead();
  add(agent("coder", 0, Verdict::working, Phase::model));
  add(agent("lint", 1, Verdict::working, Phase::tool));
  add(agent("tester", 0, Verdict::working, Phase::tool));
  const std::string drawn = text();
  EXPECT_NE(drawn.find("\n|- * coder "), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("\n|  `- * lint "), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("\n`- * tester "), std::string::npos) << drawn;
}

TEST_F(Trees, say_whom_one_waits_for) {
  add_lead();
  add(agent("coder", 0, Verdict::working, Phase::model));
  EXPECT_TRUE(row("lead").ends_with("  waits on coder, which works")) << text();
  for (const char* more : {"b", "c", "d"}) add(agent(more, 0, Verdict::suspect, Phase::tool));
  EXPECT_TRUE(
      row("lead").ends_with("  waits on coder, which works, and b, which is suspect, and 2 more"))
      << text();
}

TEST_F(Trees, say_that_a_child_that_is_waited_for_has_no_keeper) {
  add_lead();
  Entry child = agent("coder", 0, Verdict::unknown, Phase::start);
  child.keeper = KeeperIs::gone;
  child.state = "no keeper";
  add(std::move(child));
  EXPECT_TRUE(row("lead").ends_with("  waits on coder, which has no keeper")) << text();
}

TEST_F(Trees, show_a_circle_as_one) {
  add_lead();
  entries[0].asked_by = {Name("coder")};
  add(agent("coder", 0, Verdict::waiting, Phase::children));
  EXPECT_TRUE(row("lead").ends_with("  waits on coder, which waits on it: a circle")) << text();
  EXPECT_TRUE(row("coder").ends_with("  waits on lead, which waits on it: a circle")) << text();
  EXPECT_EQ(json(0)["cycle"], true);
  EXPECT_EQ(json(1)["cycle"], true);
  EXPECT_EQ(json(1)["waits_for"], nlohmann::json::array({"lead"}));
}

TEST_F(Trees, say_that_only_ended_children_are_waited_for) {
  add_lead();
  Entry child = agent("coder", 0, Verdict::working, Phase::model);
  child.known.heartbeat.status = Status::completed;  // its verdict is the last before the end
  child.group = Group::done;
  child.state = "done";
  add(std::move(child));
  EXPECT_TRUE(row("lead").ends_with("  waits on children that have all ended")) << text();
  EXPECT_EQ(json(0)["waits_for"], nlohmann::json::array());
  EXPECT_EQ(json(0)["waits_only_for_ended"], true);
}

TEST_F(Trees, say_why_one_needs_you) {
  Entry entry = agent("lead", std::nullopt, Verdict::stalled, Phase::model);
  entry.group = Group::needs_you;
  entry.why = "silent\x1b[2J for 800 s";
  add(std::move(entry));
  EXPECT_TRUE(row("lead").ends_with("  silent\\x1b[2J for 800 s")) << text();
}

TEST_F(Trees, make_a_root_of_one_whose_parent_is_not_shown) {
  add_lead();
  add(agent("coder", 0, Verdict::working, Phase::model));
  shown[0] = false;
  EXPECT_NE(text().find("\n* coder "), std::string::npos) << text();
  EXPECT_EQ(text().find("lead"), std::string::npos) << text();
}

TEST_F(Trees, of_any_depth_are_drawn) {
  add_lead();
  for (std::size_t i = 0; i < 2000; ++i) {
    add(agent("deep" + std::to_string(i), i, Verdict::working, Phase::model));
  }
  const std::string drawn = text();
  EXPECT_NE(drawn.find("deep1999"), std::string::npos);
  EXPECT_LT(drawn.size(), 1'000'000U) << "lines do not grow without end";
}

TEST_F(Trees, give_an_object_for_each_agent) {
  add_lead();
  add(agent("coder", 0, Verdict::working, Phase::model));
  entries[0].known.heartbeat.children = 1;
  entries[1].known.heartbeat.work_phase = "tests";
  entries[1].progressed = kNow - 1500ms;
  const auto lead = json(0);
  EXPECT_EQ(lead["name"], "lead");
  EXPECT_EQ(lead["parent"], nullptr);
  EXPECT_EQ(lead["depth"], 0);
  EXPECT_EQ(lead["waits_for"], nlohmann::json::array({"coder"}));
  EXPECT_EQ(lead["children"], nlohmann::json::array({"coder"}));
  EXPECT_EQ(lead["children_unsettled"], 1);
  EXPECT_EQ(lead["cycle"], false);
  const auto coder = json(1);
  EXPECT_EQ(coder["parent"], "lead");
  EXPECT_EQ(coder["depth"], 1);
  EXPECT_EQ(coder["verdict"], "working");
  EXPECT_EQ(coder["phase"], "model");
  EXPECT_EQ(coder["progressed_seconds_ago"], 1.5);
  EXPECT_EQ(coder["budget"], (nlohmann::json{{"spent", 1}, {"allowed", 3}}));
  EXPECT_EQ(coder["work_phase"], "tests");
  EXPECT_EQ(coder["waits_for"], nlohmann::json::array());
}

}  // namespace
}  // namespace tend
