// From the words on the command line to a request, by the command table. What cannot be understood
// is an error of one line that starts with the command and says what to do instead.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "app/command.h"
#include "base/result.h"

namespace tend {

/// What help is about: a command, a group of commands, or the whole program (neither is set).
struct Topic {
  const CommandRow* command = nullptr;
  std::string_view group{};
  std::size_t words = 0;  // how many words named it
};

struct RunRequest {
  const CommandRow* command = nullptr;
  Arguments arguments;
};
struct HelpRequest {
  Topic topic;
  bool asked = true;  // false: the words ended before they named a command
};
struct VersionRequest {};

using Request = std::variant<RunRequest, HelpRequest, VersionRequest>;

/// `words` is everything after the program's name. --help wins over every other word before a "--",
/// except over a command that does not exist. The views and the row in the answer point into the
/// arguments.
Result<Request> parse(std::span<const CommandRow> table, std::span<const std::string_view> words);

/// Reads leading words as the name of a command or group and stops before the first option.
Result<Topic> find_topic(std::span<const CommandRow> table,
                         std::span<const std::string_view> words);

}  // namespace tend
