// The built-in policies, and the rules that every limit keeps no matter where it was written: in a
// trace, in TOML or on the command line.
#include "judge/policy.h"

#include <algorithm>

#include "base/quote.h"
#include "base/suggest.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kBeats = "beats";

// Silence that may go on for ever. The others are excuses and last looks: each needs an end.
constexpr std::array<std::string_view, 8> kMayBeNone{"start", "model",      "tool", "compact",
                                                     "retry", "background", "idle", kBeats};
// At 0 these skip a wait. Any other limit of 0 would be over before it began.
constexpr std::array<std::string_view, 3> kMayBeZero{"confirm", "orphan", "grace"};

Policy agent_policy() {
  return Policy{
      .name = "agent",
      .promise = Promise::stream,
      .limits = {.start = 90s,
                 .model = 720s,
                 .tool = 900s,
                 .compact = 600s,
                 .retry = 600s,
                 .person = 3600s,
                 .children = 600s,
                 .background = 600s,
                 .idle = 300s,
                 .exiting = 60s,
                 .beats = {.suspect = 120s, .stalled = 300s},
                 .confirm = 120s,
                 .orphan = 120s,
                 .grace = 60s},
      .budget = {.between_refills = 3, .per_agent = 9, .refill_after = 1800s},
      .beat = 30s,
      .ladder = {},
      .direct = false,
  };
}

Policy beating_policy(std::string_view name, Patience beats) {
  Policy policy = agent_policy();
  policy.name = name;
  policy.promise = Promise::beats;
  policy.limits.beats = beats;
  policy.limits.start = beats.suspect;
  return policy;
}

Policy plain_policy() {
  Policy policy = agent_policy();
  policy.name = "plain";
  policy.promise = Promise::nothing;
  policy.limits.beats = {.suspect = kNoLimit, .stalled = kNoLimit};
  policy.limits.start = kNoLimit;
  return policy;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Result<void> check_limit(std::string_view name, Duration value) {
  if (value == kNoLimit) {
    if (contains(kMayBeNone, name)) return {};
    return fail(
        "must have an end; only start, model, tool, compact, retry, background, idle and "
        "beats may be none");
  }
  if (value < Duration::zero()) return fail("must not be negative");
  if (value > kLongestTime) return fail("is longer than 3000 years");
  if (value > Duration::zero() || contains(kMayBeZero, name)) return {};
  return fail(contains(kMayBeNone, name) ? "must be above 0; \"none\" means no limit"
                                         : "must be above 0");
}

Error no_such_limit(std::string_view name) {
  std::array<std::string_view, kLimitKeys.size() + 1> names{};
  std::ranges::transform(kLimitKeys, names.begin(), &LimitKey::name);
  names.back() = kBeats;

  std::string text = "no such limit " + in_quotes(name) + "; allowed: ";
  for (const std::string_view each : names) {
    text += each;
    if (each != kBeats) text += ", ";
  }
  return Error{text + did_you_mean(name, names)};
}

}  // namespace

std::optional<Policy> built_in_policy(std::string_view name) {
  if (name == "agent") return agent_policy();
  if (name == "worker") return beating_policy(name, {.suspect = 600s, .stalled = 900s});
  if (name == "critical") return beating_policy(name, {.suspect = 300s, .stalled = 450s});
  if (name == "overnight") return beating_policy(name, {.suspect = 1800s, .stalled = 2700s});
  if (name == "plain") return plain_policy();
  return std::nullopt;
}

Result<void> set_limit(Policy& policy, std::string_view name, Duration value) {
  if (name == kBeats) return fail("beats wants a pair: [suspect, stalled]");
  const auto* const key = std::ranges::find(kLimitKeys, name, &LimitKey::name);
  if (key == kLimitKeys.end()) return std::unexpected(no_such_limit(name));
  if (auto checked = check_limit(name, value); !checked) return checked;
  policy.limits.*key->member = value;
  return {};
}

Result<void> set_beats(Policy& policy, Patience patience) {
  for (const Duration value : {patience.suspect, patience.stalled}) {
    if (auto checked = check_limit(kBeats, value); !checked) return checked;
  }
  policy.limits.beats = patience;
  const bool beats = policy.promise == Promise::beats || policy.promise == Promise::watched;
  if (beats) policy.limits.start = patience.suspect;
  return {};
}

}  // namespace tend
