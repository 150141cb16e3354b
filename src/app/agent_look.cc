// See agent_look.h.
#include "app/agent_look.h"

#include <fmt/format.h>

namespace tend {

std::string_view sign_of(const Entry& entry, const Look& look) {
  const bool nice = look.unicode();
  if (entry.group == Group::needs_you) return nice ? "✕" : "x";
  if (entry.group == Group::done) return nice ? "○" : "o";
  if (entry.group == Group::waiting || entry.verdict == Verdict::suspect ||
      entry.verdict == Verdict::unknown || entry.verdict == Verdict::dead) {
    return nice ? "◐" : "-";
  }
  return nice ? "●" : "*";
}

Ink ink_of_entry(const Entry& entry) {
  if (entry.group == Group::done) return Ink::faint;
  if (entry.group != Group::needs_you) return ink_of(entry.verdict);
  return entry.phase == Phase::person && !entry.over() ? Ink::yellow : Ink::red;
}

std::string state_words(const Entry& entry) {
  const bool says_phase = !entry.over() && entry.keeper == KeeperIs::alive &&
                          entry.known.problem.empty() && entry.known.heartbeat.life > 0 &&
                          entry.verdict != Verdict::unknown && entry.verdict != Verdict::finished &&
                          entry.verdict != Verdict::dead && entry.verdict != Verdict::looping &&
                          entry.state != word(entry.phase) && entry.state != "paused";
  return says_phase ? fmt::format("{}, {}", entry.state, word(entry.phase)) : entry.state;
}

std::string_view shown_name(const Entry& entry) {
  const std::string& name = entry.known.heartbeat.agent;
  return name.empty() ? entry.handle : name;
}

std::string budget_label(const Entry& entry) {
  const Heartbeat& says = entry.known.heartbeat;
  if (says.resumes_allowed == 0) return "-";
  return fmt::format("{}/{}", says.resumes_spent, says.resumes_allowed);
}

}  // namespace tend
