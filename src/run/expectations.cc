// A verdict holds from its moment to the next; a clause breaks when it is first not met.
#include "run/expectations.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/duration.h"

namespace tend {
namespace {

using Form = Clause::Form;

std::string seconds(Instant at) { return format_seconds(at.time_since_epoch()); }

std::string span(const Clause& clause) {
  return "between " + seconds(clause.begin) + " and " + seconds(clause.end);
}

/// The members of a set in the order of the vocabulary: "kill or restart".
template <class Enum, std::size_t N>
std::string listed(const WordSet<Enum>& set, const std::array<std::string_view, N>& words,
                   std::string_view conjunction) {
  std::vector<std::string_view> members;
  for (std::size_t i = 0; i < N; ++i) {
    if (set.contains(static_cast<Enum>(i))) members.push_back(words[i]);
  }
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) text += i + 1 == members.size() ? " " + std::string(conjunction) + " " : ", ";
    text += members[i];
  }
  return text;
}

}  // namespace

Expectations::Expectations(std::vector<Clause> clauses, Verdict before) : verdict_(before) {
  checks_.reserve(clauses.size());
  for (Clause& clause : clauses) {
    last_ = std::max(last_, clause.end);
    checks_.emplace_back().clause = std::move(clause);
  }
}

void Expectations::take(Instant at, const Decision& decision) {
  if (decision.kind == Decision::Kind::action) {
    for (Check& check : checks_) see_action(check, at, decision.action);
    return;
  }
  in_force(since_, at);
  verdict_ = decision.verdict;
  since_ = at;
}

/// The verdict held from `begin` up to, but not including, `end`.
void Expectations::in_force(Instant begin, Instant end) {
  if (begin == end) return;
  for (Check& check : checks_) {
    const Instant first = std::max(begin, check.clause.begin);
    if (first <= check.clause.end && first < end) see_verdict(check, first, verdict_);
  }
}

void Expectations::see_verdict(Check& check, Instant at, Verdict verdict) {
  const bool matches = check.clause.verdicts.contains(verdict);
  check.seen.insert(verdict);
  if (matches) ++check.count;
  if (check.clause.form != Form::always || matches || check.broken) return;
  check.broken = at;
  check.verdict = verdict;
}

void Expectations::see_action(Check& check, Instant at, Action action) {
  const Clause& clause = check.clause;
  if (at < clause.begin || at > clause.end || !clause.actions.contains(action)) return;
  ++check.count;
  const bool breaks =
      clause.form == Form::never || (clause.form == Form::at_most && check.count > clause.most);
  if (!breaks || check.broken) return;
  check.broken = at;
  check.action = action;
}

std::vector<FailedClause> Expectations::finish() {
  in_force(since_, Instant::max());
  std::vector<FailedClause> failed;
  for (const Check& check : checks_) {
    if (!holds(check)) failed.push_back({check.clause.text, saw(check)});
  }
  return failed;
}

bool Expectations::holds(const Check& check) {
  switch (check.clause.form) {
    case Form::always:
    case Form::never:
    case Form::at_most:
      return !check.broken;
    case Form::sometime:
    case Form::taken:
      return check.count > 0;
    case Form::not_understood:
      break;
  }
  return false;
}

/// Requires a clause that does not hold.
std::string Expectations::saw(const Check& check) {
  const Clause& clause = check.clause;
  switch (clause.form) {
    case Form::always:
      return std::string(word(check.verdict)) + " at " + seconds(*check.broken);
    case Form::never:
      return std::string(word(check.action)) + " at " + seconds(*check.broken);
    case Form::at_most:
      return std::to_string(check.count) + " of them " + span(clause) + ", one too many (" +
             std::string(word(check.action)) + ") at " + seconds(*check.broken);
    case Form::sometime:
      return "only " + listed(check.seen, kVerdictWords, "and") + " " + span(clause);
    case Form::taken:
      return "no " + listed(clause.actions, kActionWords, "or") + " " + span(clause);
    case Form::not_understood:
      break;
  }
  return "clause not understood";
}

}  // namespace tend
