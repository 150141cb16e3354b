// The tables of what went wrong elsewhere, docs/incidents.md and docs/store-scenarios.md: that the
// tests and traces which they name exist, and that no test which was written for them is missing.
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

/// What a table of the documents says is covered by tests and traces, and that they exist.
struct CoverageTable {
  std::set<std::string> ids;
  std::set<std::string> tests;
};

CoverageTable covered_in(const std::string& document, const std::regex& row) {
  const std::regex named("`([^`]+)`");
  const std::regex later("later: (tasks|patrol|mail|stores|probe|gate|service|lease|hosts)\\b");
  CoverageTable table;
  std::istringstream lines(text_of(document));
  for (std::string line; std::getline(lines, line);) {
    std::smatch id;
    if (!std::regex_search(line, id, row)) continue;
    EXPECT_TRUE(table.ids.insert(id[1]).second) << line;
    std::string file;
    int covering = 0;
    for (std::sregex_iterator found(line.begin(), line.end(), named), end; found != end; ++found) {
      const std::string name = (*found)[1];
      if (name.ends_with(".cc")) {
        file = name;
        continue;
      }
      ++covering;
      if (name.ends_with(".jsonl")) {
        EXPECT_FALSE(text_of(name).empty()) << "there is no " << name;
        continue;
      }
      EXPECT_TRUE(tests_in(file).contains(name)) << file << " has no " << name;
      table.tests.insert(name);
    }
    EXPECT_TRUE(covering > 0 || std::regex_search(line, later)) << line;
  }
  return table;
}

TEST(Incidents, are_covered_by_tests_that_exist_or_wait_for_a_part_that_is_named) {
  const CoverageTable table = covered_in("docs/incidents.md", std::regex(R"(^\| (I\d{3}) )"));
  EXPECT_EQ(table.ids.size(), 41U);
  for (const char* const file : {"test/sim/scenarios_test.cc", "test/e2e/scenarios_test.cc"}) {
    for (const std::string& test : tests_in(file)) {
      EXPECT_TRUE(table.tests.contains(test)) << test;
    }
  }
}

TEST(StoreScenarios, are_covered_by_tests_that_exist_and_each_such_test_is_named) {
  const CoverageTable table = covered_in("docs/store-scenarios.md", std::regex(R"(^\| (S\d{2}) )"));
  std::set<std::string> expected;
  for (int number = 1; number <= 43; ++number) expected.insert(fmt::format("S{:02}", number));
  EXPECT_EQ(table.ids, expected);
  // Who writes such a test puts it into the table.
  const std::regex numbered(R"(^\w+\.(DISABLED_)?S\d{2}_)");
  for (const auto& entry : all_files_below({"src", "test"})) {
    if (!entry.ends_with("_test.cc")) continue;
    for (const std::string& test : tests_in(entry)) {
      if (!std::regex_search(test, numbered)) continue;
      EXPECT_TRUE(table.tests.contains(test)) << entry << " has " << test;
    }
  }
}

}  // namespace
}  // namespace tend
