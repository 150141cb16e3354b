// `tend explain` for people and as JSON: what is thought of an agent, every sign with its age and
// limit, what is spent, what follows and when, what was done lately, and where the files are.
#pragma once

#include <optional>
#include <string>

#include "app/look.h"
#include "base/time.h"
#include "run/account_of.h"
#include "run/roster.h"
#include "store/agent_file.h"

namespace tend {

struct Explained {
  Entry entry;
  std::optional<AgentFile> agent;
  std::optional<Standing> standing;  // none: no journal, or it cannot be read
  std::string problem;               // why it cannot
  WallTime now{};
};

std::string explain_text(const Explained& explained, const Look& look);
std::string explain_json(const Explained& explained);

/// Whose turn it is: "the model's: an answer is awaited"; "" if nobody can tell.
std::string_view turn_words(const Entry& entry);

}  // namespace tend
