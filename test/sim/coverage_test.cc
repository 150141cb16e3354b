// The tables of what went wrong elsewhere, docs/incidents.md and docs/store-scenarios.md: that
// every scenario has its row, that the tests and traces which a row names exist, that what it names
// none for is said to be not built, and that no test which was written for them is missing.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tend {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(TEND_SOURCE_DIR "/") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The paths of all files below these folders of the source.
std::vector<std::string> all_files_below(std::initializer_list<const char*> folders) {
  const std::filesystem::path source(TEND_SOURCE_DIR);
  std::vector<std::string> paths;
  for (const char* const folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / folder)) {
      paths.push_back(entry.path().lexically_relative(source).string());
    }
  }
  return paths;
}

/// "Suite.name" of every test in a source file.
std::set<std::string> tests_in(const std::string& path) {
  const std::string text = text_of(path);
  const std::regex test(R"(\nTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), test), end; found != end; ++found) {
    names.insert((*found)[1].str() + "." + (*found)[2].str());
  }
  return names;
}

/// What a table of the documents says of each scenario.
struct CoverageTable {
  std::set<std::string> ids;
  std::set<std::string> tests;
  std::set<std::string> waiting;  // ids with a `later: hosts`
};

/// What follows the tests that cover a scenario: a piece of work that is left, or a part of it that
/// there is not. Anything else would be a promise that nobody keeps.
bool is_known_remark(const std::string& remark) {
  return remark == "later: hosts" || remark.starts_with("later: hosts (") ||
         (remark.starts_with("not built: ") && remark.size() > 20);
}

/// The last cell of a row: files and their tests, then remarks, with "; " in between.
void read_cell(const std::string& id, const std::string& cell, CoverageTable& table) {
  const std::regex named("`([^`]+)`");
  std::string file;
  bool says_something = false;
  for (std::size_t at = 0; at < cell.size();) {
    const std::size_t end = std::min(cell.find("; ", at), cell.size());
    const std::string piece = cell.substr(at, end - at);
    at = end + 2;
    if (!piece.starts_with('`')) {
      EXPECT_TRUE(is_known_remark(piece)) << id << ": " << piece;
      if (piece.starts_with("later: hosts")) table.waiting.insert(id);
      says_something = true;
      continue;
    }
    for (std::sregex_iterator found(piece.begin(), piece.end(), named), none; found != none;
         ++found) {
      const std::string name = (*found)[1];
      if (name.ends_with(".cc")) {
        file = name;
      } else if (name.ends_with(".jsonl")) {
        EXPECT_FALSE(text_of(name).empty()) << id << ": there is no " << name;
        says_something = true;
      } else {
        EXPECT_TRUE(tests_in(file).contains(name)) << id << ": " << file << " has no " << name;
        EXPECT_FALSE(name.contains(".DISABLED_")) << id << ": nobody runs " << name;
        table.tests.insert(name);
        says_something = true;
      }
    }
  }
  EXPECT_TRUE(says_something) << id << " is neither covered nor said to be left out";
}

CoverageTable covered_in(const std::string& document, const std::regex& row) {
  CoverageTable table;
  std::istringstream lines(text_of(document));
  for (std::string line; std::getline(lines, line);) {
    std::smatch id;
    if (!std::regex_search(line, id, row)) continue;
    EXPECT_TRUE(table.ids.insert(id[1]).second) << line;
    const std::string rest = line.substr(0, line.rfind(" |"));
    read_cell(id[1], rest.substr(rest.rfind("| ") + 2), table);
  }
  return table;
}

/// The incidents that are scenarios: what one agent's signals cannot tell.
const std::set<std::string> kIncidents{
    "I020", "I028", "I042", "I060", "I075", "I077", "I079", "I080", "I081", "I082", "I083",
    "I084", "I085", "I086", "I087", "I090", "I094", "I112", "I115", "I116", "I117", "I124",
    "I126", "I127", "I130", "I131", "I134", "I141", "I155", "I158", "I159", "I160", "I161",
    "I162", "I165", "I178", "I195", "I200", "I204", "I214", "I223"};

/// Every test whose name begins with a number of that kind stands in the table.
void expect_all_named(const CoverageTable& table, const std::regex& numbered) {
  for (const auto& entry : all_files_below({"src", "test"})) {
    if (!entry.ends_with("_test.cc")) continue;
    for (const std::string& test : tests_in(entry)) {
      if (!std::regex_search(test, numbered)) continue;
      EXPECT_TRUE(table.tests.contains(test)) << entry << " has " << test;
    }
  }
}

TEST(Incidents, are_each_covered_by_tests_that_exist_or_said_not_to_be) {
  const CoverageTable table = covered_in("docs/incidents.md", std::regex(R"(^\| (I\d{3}) )"));
  EXPECT_EQ(kIncidents.size(), 41U);
  EXPECT_EQ(table.ids, kIncidents);
  EXPECT_EQ(table.waiting, (std::set<std::string>{"I126", "I165"}));
  for (const char* const file : {"test/sim/scenarios_test.cc", "test/sim/scenarios_of_work_test.cc",
                                 "test/e2e/scenarios_test.cc"}) {
    for (const std::string& test : tests_in(file)) {
      EXPECT_TRUE(table.tests.contains(test)) << test;
    }
  }
  expect_all_named(table, std::regex(R"(^\w+\.(DISABLED_)?I\d{3}_)"));
}

TEST(StoreScenarios, are_covered_by_tests_that_exist_and_each_such_test_is_named) {
  const CoverageTable table = covered_in("docs/store-scenarios.md", std::regex(R"(^\| (S\d{2}) )"));
  std::set<std::string> expected;
  for (int number = 1; number <= 43; ++number) expected.insert(fmt::format("S{:02}", number));
  EXPECT_EQ(table.ids, expected);
  EXPECT_TRUE(table.waiting.empty());
  expect_all_named(table, std::regex(R"(^\w+\.(DISABLED_)?S\d{2}_)"));
}

}  // namespace
}  // namespace tend
