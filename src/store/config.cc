// Inheritance: each draft is laid over the one it extends, down to a built-in policy. Chains are
// walked, not recursed into, so a cycle is just a chain that comes back.
#include "store/config.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "store/config_reader.h"
#include "store/policy_draft.h"

namespace tend {
namespace {

using Drafts = std::vector<PolicyDraft>;

const PolicyDraft* draft_named(const Drafts& drafts, std::string_view name) {
  const auto found = std::ranges::find(drafts, name, &PolicyDraft::name);
  return found == drafts.end() ? nullptr : &*found;
}

std::vector<std::string_view> names_with_built_ins(std::vector<std::string_view> names) {
  names.insert(names.begin(), kBuiltInPolicies.begin(), kBuiltInPolicies.end());
  return names;
}

/// A draft and all it rests on, itself first.
struct Chain {
  enum class End { built_in, unknown, circle, too_deep, trouble_further_down };

  std::vector<const PolicyDraft*> drafts;
  End end = End::too_deep;
  std::optional<Policy> root;  // End::built_in only
};

Chain chain_of(const PolicyDraft& draft, const Drafts& drafts) {
  Chain chain{{&draft}, Chain::End::too_deep, std::nullopt};
  while (chain.drafts.size() <= kDeepestExtends) {
    const std::string& base = chain.drafts.back()->extends;
    chain.root = built_in_policy(base);
    const PolicyDraft* const next = draft_named(drafts, base);
    const bool seen = std::ranges::find(chain.drafts, next) != chain.drafts.end();
    if (chain.root) {
      chain.end = Chain::End::built_in;
    } else if (next == &draft) {
      chain.end = Chain::End::circle;
    } else if (next == nullptr && chain.drafts.size() == 1) {
      chain.end = Chain::End::unknown;
    } else if (next == nullptr || seen) {
      chain.end = Chain::End::trouble_further_down;
    } else {
      chain.drafts.push_back(next);
      continue;
    }
    return chain;
  }
  return chain;
}

std::string circle_in_words(const Chain& chain) {
  std::string text;
  for (const PolicyDraft* const draft : chain.drafts) text += draft->name + " -> ";
  return on_one_line(text + chain.drafts.front()->name);
}

std::string unknown_base(const PolicyDraft& draft, const Drafts& drafts) {
  std::vector<std::string_view> names;
  for (const PolicyDraft& each : drafts) {
    if (&each != &draft) names.push_back(each.name);
  }
  names = names_with_built_ins(std::move(names));
  return on_one_line(fmt::format("no policy {}; there are: {}{}", in_quotes(draft.extends),
                                 fmt::join(names, ", "), did_you_mean(draft.extends, names)));
}

/// What is wrong with the draft's own `extends`, or "". A circle is told once, by its first member.
std::string trouble_with(const Chain& chain, const Drafts& drafts) {
  const PolicyDraft& draft = *chain.drafts.front();
  switch (chain.end) {
    case Chain::End::unknown:
      return unknown_base(draft, drafts);
    case Chain::End::too_deep:
      return fmt::format("more than {} policies deep", kDeepestExtends);
    case Chain::End::circle:
      if (*std::ranges::min_element(chain.drafts, {}, &PolicyDraft::name) != &draft) return "";
      return "goes round in a circle: " + circle_in_words(chain);
    case Chain::End::trouble_further_down:
    case Chain::End::built_in:
      break;
  }
  return "";
}

template <class Value>
void take_over(Value& into, const std::optional<Value>& from) {
  if (from) into = *from;
}

/// Lays one draft over the policy it extends. `start_is_set` remembers, along the chain, that a
/// start limit was written and so does not follow the beats.
void apply(const PolicyDraft& draft, ConfiguredPolicy& made, bool& start_is_set) {
  Policy& policy = made.policy;
  policy.name = draft.name;
  if (draft.beats) {
    const Duration start = policy.limits.start;
    CHECK(set_beats(policy, *draft.beats));
    if (start_is_set) policy.limits.start = start;
  }
  for (const auto& [name, value] : draft.limits) {
    CHECK(set_limit(policy, name, value));
    start_is_set = start_is_set || name == "start";
  }
  take_over(policy.beat, draft.beat);
  take_over(policy.budget.between_refills, draft.between_refills);
  take_over(policy.budget.per_agent, draft.per_agent);
  take_over(policy.budget.refill_after, draft.refill_after);
  take_over(policy.direct, draft.direct);
  take_over(made.ladder, draft.ladder);
}

/// Beats become time only now: a policy that inherits the ladder may have a beat of its own.
void settle_ladder(ConfiguredPolicy& made) {
  Policy& policy = made.policy;
  policy.ladder.clear();
  for (auto& [rung, line] : made.ladder) {
    if (rung.missed > 0) rung.after = std::min(rung.missed * policy.beat, kLongestTime);
    const auto later = std::ranges::upper_bound(policy.ladder, rung.after, {}, &Rung::after);
    policy.ladder.insert(later, rung);
  }
}

ConfiguredPolicy made_from(const Chain& chain) {
  const PolicyDraft& draft = *chain.drafts.front();
  ConfiguredPolicy made{*chain.root, draft.extends, draft.line, draft.lines, {}};
  bool start_is_set = false;
  for (auto each = chain.drafts.rbegin(); each != chain.drafts.rend(); ++each) {
    apply(**each, made, start_is_set);
  }
  settle_ladder(made);
  return made;
}

void sort_and_bound(ConfigProblems& problems) {
  std::ranges::sort(problems, before_in_file);
  if (problems.size() <= kMostProblems) return;
  const auto left = problems.size() - kMostProblems;
  ConfigProblem last{problems.front().file, 0, 0, "", fmt::format("and {} more problems", left)};
  problems.resize(kMostProblems);
  problems.push_back(std::move(last));
}

}  // namespace

std::string describe(const ConfigProblem& problem) {
  if (problem.file.empty()) return problem.text;
  std::string text = on_one_line(problem.file);
  if (problem.line > 0) text += fmt::format(":{}", problem.line);
  if (problem.column > 0) text += fmt::format(":{}", problem.column);
  if (!problem.key.empty()) text += ": " + problem.key;
  return text + ": " + problem.text;
}

bool before_in_file(const ConfigProblem& a, const ConfigProblem& b) {
  return std::tie(a.line, a.column, a.key, a.text) < std::tie(b.line, b.column, b.key, b.text);
}

std::vector<std::string_view> Config::names() const {
  const auto keys = policies | std::views::keys;
  return {keys.begin(), keys.end()};
}

Result<Policy> Config::find(std::string_view name) const {
  if (const auto found = policies.find(name); found != policies.end()) return found->second.policy;
  if (auto built_in = built_in_policy(name)) return *std::move(built_in);
  const std::vector<std::string_view> known = names_with_built_ins(names());
  return fail(fmt::format("{}: no policy {}; there are: {}{}", on_one_line(file), in_quotes(name),
                          fmt::join(known, ", "), did_you_mean(name, known)));
}

std::expected<Config, ConfigProblems> parse_config(std::string_view text, std::string_view file) {
  ConfigProblems problems;
  Config config;
  config.file = file;
  const Drafts drafts = read_config(text, config, problems);
  for (const PolicyDraft& draft : drafts) {
    const Chain chain = chain_of(draft, drafts);
    if (chain.root) {
      config.policies.emplace(draft.name, made_from(chain));
    } else if (auto trouble = trouble_with(chain, drafts); !trouble.empty()) {
      const std::size_t line = draft.lines.find("extends")->second;  // the default is no trouble
      problems.push_back({config.file, line, 0, draft.key + ".extends", std::move(trouble)});
    }
  }
  if (problems.empty()) return config;
  sort_and_bound(problems);
  return std::unexpected(std::move(problems));
}

}  // namespace tend
