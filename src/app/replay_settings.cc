// What `--policy`, `--limit` and `--diff` mean, and what a trace's own header may set.
#include "app/replay_settings.h"

#include "base/duration.h"
#include "base/quote.h"
#include "store/config_file.h"
#include "store/policy_json.h"

namespace tend {
namespace {

Result<Duration> parse_limit_value(std::string_view text) {
  if (text == "none") return kNoLimit;
  return parse_duration(text);
}

Result<Patience> parse_patience(std::string_view text) {
  const std::size_t comma = text.find_first_of(",/");
  if (comma == text.npos) return fail("beats wants two durations, as in beats=2m,5m");
  const auto suspect = parse_limit_value(text.substr(0, comma));
  if (!suspect) return std::unexpected(suspect.error());
  const auto stalled = parse_limit_value(text.substr(comma + 1));
  if (!stalled) return std::unexpected(stalled.error());
  return Patience{*suspect, *stalled};
}

/// A trace may name a policy; it may not make us read a file.
Result<Policy> policy_named(const std::string& name, World& world) {
  if (const auto built_in = built_in_policy(name)) return *built_in;
  const std::string trouble = "the trace wants the policy " + in_quotes(name);
  const auto path = default_config_path(world.environment);
  if (!path) return fail(trouble + ", which is not built in: " + path.error().text);
  const auto config = load_config(*path, world.files);
  if (!config) {
    return fail(trouble + ", which is not built in: " + describe(config.error().front()) +
                "; --policy judges by another");
  }
  auto found = config->find(name);
  if (!found) return fail(trouble + ": " + found.error().text + "; --policy judges by another");
  return found;
}

Result<Policy> whole_policy(const TraceHeader& header) {
  auto policy = parse_policy_json(header.policy_full);
  if (!policy) return fail("the policy in its header: " + policy.error().text);
  return policy;
}

}  // namespace

Result<void> apply_limit(const LimitSetting& limit, Policy& policy) {
  if (const auto* patience = std::get_if<Patience>(&limit.value))
    return set_beats(policy, *patience);
  return set_limit(policy, limit.name, std::get<Duration>(limit.value));
}

Result<LimitSetting> parse_limit(std::string_view text) {
  const auto failed = [&](const Error& error) {
    return fail("--limit " + on_one_line(text) + ": " + error.text);
  };
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return failed({"write NAME=DURATION, as in tool=15m"});
  LimitSetting limit{std::string(text.substr(0, equals)), Duration{}};
  const std::string_view value = text.substr(equals + 1);
  if (limit.name == "beats") {
    const auto patience = parse_patience(value);
    if (!patience) return failed(patience.error());
    limit.value = *patience;
  } else {
    const auto duration = parse_limit_value(value);
    if (!duration) return failed(duration.error());
    limit.value = *duration;
  }
  Policy probe = built_in_policy("agent").value();
  if (const auto applied = apply_limit(limit, probe); !applied) return failed(applied.error());
  return limit;
}

Result<ReplaySettings> replay_settings(const Arguments& arguments, World& world) {
  ReplaySettings settings;
  settings.json = arguments.has("json");
  for (const std::string& text : arguments.values("limit")) {
    auto limit = parse_limit(text);
    if (!limit) return std::unexpected(limit.error());
    settings.limits.push_back(*std::move(limit));
  }
  const auto read_policy = [&](std::string_view option,
                               std::optional<Policy>& into) -> Result<void> {
    const auto argument = arguments.value(option);
    if (!argument) return {};
    auto policy = policy_from_argument(*argument, world);
    if (!policy) return fail("--" + std::string(option) + ": " + policy.error().text);
    into = *std::move(policy);
    return {};
  };
  if (auto read = read_policy("policy", settings.policy); !read)
    return std::unexpected(read.error());
  if (auto read = read_policy("diff", settings.diff); !read) return std::unexpected(read.error());
  return settings;
}

void apply_header_limits(const TraceHeader& header, Policy& policy,
                         const std::function<void(std::string_view)>& complain) {
  const auto check = [&](std::string_view name, const Result<void>& applied) {
    if (applied) return;
    complain("the limit " + in_quotes(name) + ": " + applied.error().text + "; ignored");
  };
  if (header.beats) check("beats", set_beats(policy, *header.beats));
  for (const auto& [name, value] : header.limits) check(name, set_limit(policy, name, value));
}

Result<Policy> policy_for(const TraceHeader& header, const ReplaySettings& settings, World& world,
                          const std::function<void(std::string_view)>& complain) {
  const bool is_whole = !settings.policy && !header.policy_full.empty();
  Result<Policy> policy =
      settings.policy ? Result<Policy>(*settings.policy)
      : is_whole      ? whole_policy(header)
                      : policy_named(header.policy.empty() ? "agent" : header.policy, world);
  if (!policy) return policy;
  if (!is_whole) apply_header_limits(header, *policy, complain);
  for (const LimitSetting& limit : settings.limits) {
    if (const auto applied = apply_limit(limit, *policy); !applied)
      return std::unexpected(applied.error());
  }
  return policy;
}

}  // namespace tend
