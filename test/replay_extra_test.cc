// Runs the built program on the traces of incidents-extra/: missing headers, broken lines, other
// exit statuses. Its own words on standard output and standard error are checked against
// cases.json.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

const std::string kFolder = std::string(TEND_SOURCE_DIR) + "/test/incidents-extra/";

struct Said {
  int exit = -1;
  std::string err;
  std::vector<Json> lines;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Said run_replay(const std::string& file) {
  const std::string mine = testing::TempDir() + "replay_extra." + std::to_string(::getpid());
  const std::string out = mine + ".out";
  const std::string err = mine + ".err";
  const std::string command = std::string("'") + TEND_BINARY + "' replay --json '" + kFolder +
                              file + "' >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  Said said;
  if (WIFEXITED(status)) said.exit = WEXITSTATUS(status);
  said.err = contents(err);
  std::istringstream lines(contents(out));
  for (std::string line; std::getline(lines, line);) said.lines.push_back(Json::parse(line));
  std::remove(out.c_str());
  std::remove(err.c_str());
  return said;
}

bool contains(const Json& list, const Json& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string verdict_at(const std::vector<Json>& lines, double time) {
  std::string verdict = "unknown";
  for (const Json& line : lines) {
    if (line.contains("verdict") && line["t"] <= time) verdict = line["verdict"];
  }
  return verdict;
}

bool always(const Json& clause, const std::vector<Json>& lines) {
  if (!contains(clause["verdict"], verdict_at(lines, clause["from"]))) return false;
  for (const Json& line : lines) {
    if (!line.contains("verdict") || line["t"] <= clause["from"] || line["t"] > clause["to"])
      continue;
    if (!contains(clause["verdict"], verdict_at(lines, line["t"]))) return false;
  }
  return true;
}

bool taken(const Json& clause, const std::vector<Json>& lines) {
  for (const Json& line : lines) {
    if (line.contains("action") && contains(clause["action"], line["action"]) &&
        line["t"] >= clause["after"] && line["t"] <= clause["by"]) {
      return true;
    }
  }
  return false;
}

bool names_line(const std::string& err, int number) {
  return std::regex_search(err, std::regex(":" + std::to_string(number) + ":"));
}

class ReplayExtra : public testing::TestWithParam<Json> {};

TEST_P(ReplayExtra, says_what_the_case_wants) {
  const Json& wanted = GetParam();
  const Said said = run_replay(wanted["file"]);
  EXPECT_EQ(said.exit, wanted["exit"]) << said.err;
  for (const int number : wanted["broken"]) EXPECT_TRUE(names_line(said.err, number)) << number;
  if (wanted["exit"] == 2) {
    EXPECT_TRUE(said.lines.empty());
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    return;
  }
  ASSERT_FALSE(said.lines.empty());
  EXPECT_EQ(said.lines.back()["held"], wanted["held"]);
  for (const Json& clause : wanted["expect"]) {
    EXPECT_TRUE(clause.contains("from") ? always(clause, said.lines) : taken(clause, said.lines))
        << clause;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ReplayExtra,
                         testing::ValuesIn(Json::parse(contents(kFolder + "cases.json"))),
                         [](const auto& tested) {
                           return std::regex_replace(
                               tested.param["file"].template get<std::string>(),
                               std::regex("[^a-z]"), "_");
                         });

}  // namespace
