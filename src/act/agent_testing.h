// Command lines for the tests of the agents.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace tend {

/// "claude -p hi" as the shell would hand it on.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream in{line};
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

}  // namespace tend
