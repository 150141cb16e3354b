// What agents.cc asks of each agent: one row of functions and facts, in a file of its own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/agents.h"

namespace tend {

/// What is to be done to the agent's own arguments, and what it will be then.
struct Outfit {
  Manner manner = Manner::aside;
  AdapterKind as_it_is = AdapterKind::none;  // what can be made of the output without additions
  AdapterKind dressed = AdapterKind::none;   // and with them
  std::size_t where = 0;                     // in the arguments, the additions go
  std::vector<std::string> options;
  std::vector<std::string> environment;
  bool prompt_on_input = false;
  bool input_is_stream = false;
  std::vector<std::string> remarks;
};

/// What is taken up, and with what words.
struct Again {
  std::string_view session;
  std::string_view prompt;
};

struct AgentRow {
  std::string_view name;     // of the program
  std::string_view package;  // of npm
  std::string_view folder_variable;
  Obedience obedience;
  Outfit (*outfit)(std::span<const std::string> arguments);
  Result<std::vector<std::string>> (*resumed)(std::span<const std::string> arguments, Again again);
  Transcripts (*transcripts)(std::string_view session, std::string_view working_folder,
                             std::string_view home, std::string_view moved_to);
};

extern const AgentRow kClaude;
extern const AgentRow kCodex;
extern const AgentRow kOpencode;
extern const AgentRow kGemini;

/// Null for what is no agent.
const AgentRow* row_of(AdapterKind agent);

}  // namespace tend
