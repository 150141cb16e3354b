// The options of `tend replay`, and the policy that a trace is judged by: its own, or the one asked
// for, with the trace's limits and then those asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/command.h"
#include "base/result.h"
#include "judge/policy.h"
#include "sense/trace_header.h"

namespace tend {

/// One `--limit NAME=DUR`, checked.
struct LimitSetting {
  std::string name;
  std::variant<Duration, Patience> value;
};

struct ReplaySettings {
  bool json = false;
  std::optional<Policy> policy;  // instead of the trace's own
  std::optional<Policy> diff;    // the other one
  std::vector<LimitSetting> limits;

  /// True if a trace is judged by something else than its own header says.
  [[nodiscard]] bool changes_policy() const { return policy || !limits.empty(); }
};

Result<ReplaySettings> replay_settings(const Arguments& arguments, World& world);

/// Reads "tool=15m" and "beats=2m,5m".
Result<LimitSetting> parse_limit(std::string_view text);
Result<void> apply_limit(const LimitSetting& limit, Policy& policy);

/// Puts the limits of a trace's header on a policy; `complain` is told of those that do not fit.
void apply_header_limits(const TraceHeader& header, Policy& policy,
                         const std::function<void(std::string_view)>& complain);

/// The policy to judge a trace by, limits of the header and of the settings included. Where the
/// header holds a whole policy, as a journal's does, that one counts as it stands. It fails if the
/// header names a policy that neither is built in nor stands in the user's configuration.
Result<Policy> policy_for(const TraceHeader& header, const ReplaySettings& settings, World& world,
                          const std::function<void(std::string_view)>& complain);

}  // namespace tend
