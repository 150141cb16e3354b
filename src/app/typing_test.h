// For tests of commands that are typed one after the other in one home: each does what it should,
// or is refused with one line.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "app/reading_test.h"

namespace tend {

class Typing : public testing::Test {
 protected:
  using Json = nlohmann::json;
  using Words = std::vector<std::string_view>;

  void be(const std::string& user) { reading.variables = {{"USER", user}}; }
  Answer tend(const Words& words) { return reading.tend(words); }

  /// What it prints if all goes well.
  std::string did(const Words& words, int exit = kExitYes) {
    const Answer answer = tend(words);
    EXPECT_EQ(answer.exit, exit) << answer.err;
    EXPECT_EQ(answer.err, "");
    return answer.out;
  }
  /// The objects that it prints, a line each.
  std::vector<Json> lines(const Words& words, int exit = kExitYes) {
    std::vector<Json> all;
    std::istringstream text(did(words, exit));
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
  /// Its one line of an error, if it is refused with this exit code.
  std::string refused(const Words& words, int exit = kExitNo) {
    const Answer answer = tend(words);
    EXPECT_EQ(answer.exit, exit) << answer.out;
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1) << answer.err;
    return answer.err;
  }

  Reading reading;
};

}  // namespace tend
