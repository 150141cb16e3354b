// Limits go through set_limit(), so a policy from JSON keeps the rules that every policy keeps.
#include "store/policy_json.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestPolicy = std::size_t{64} * 1024;
constexpr std::size_t kLongestName = 4096;
constexpr std::array<std::string_view, 4> kPromiseWords{"stream", "beats", "nothing", "watched"};

// ---- Writing

WriteJson duration_json(Duration duration) {
  if (duration == kNoLimit) return nullptr;
  return duration.count();
}

WriteJson limits_json(const Limits& limits) {
  WriteJson json = WriteJson::object();
  for (const LimitKey& key : kLimitKeys) {
    json[std::string(key.name)] = duration_json(limits.*key.member);
  }
  json["beats"] =
      WriteJson::array({duration_json(limits.beats.suspect), duration_json(limits.beats.stalled)});
  return json;
}

WriteJson ladder_json(const std::vector<Rung>& ladder) {
  WriteJson list = WriteJson::array();
  for (const Rung& rung : ladder) {
    list.push_back({{"after_ms", duration_json(rung.after)},
                    {"missed", rung.missed},
                    {"action", word(rung.action)}});
  }
  return list;
}

// ---- Reading

Error bad(std::string_view key) { return Error{fmt::format("the policy's {} does not fit", key)}; }

/// nullopt unless there is a duration, null being none.
std::optional<Duration> duration_in(const ReadJson* json) {
  if (json == nullptr) return std::nullopt;
  if (json->is_null()) return kNoLimit;
  if (!json->is_number_unsigned()) return std::nullopt;
  const auto count = json->get<std::uint64_t>();
  if (count > static_cast<std::uint64_t>(kLongestTime.count())) return std::nullopt;
  return Duration{static_cast<std::int64_t>(count)};
}

const ReadJson* look(const ReadJson& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

bool read(const ReadJson* json, Duration& into) {
  const auto duration = duration_in(json);
  if (duration) into = *duration;
  return duration.has_value();
}

bool read(const ReadJson* json, std::uint32_t& into) {
  if (json == nullptr || !json->is_number_unsigned()) return false;
  const auto number = json->get<std::uint64_t>();
  into = static_cast<std::uint32_t>(number);
  return number <= std::numeric_limits<std::uint32_t>::max();
}

bool read(const ReadJson* json, bool& into) {
  if (json == nullptr || !json->is_boolean()) return false;
  into = json->get<bool>();
  return true;
}

Result<void> read_limits(const ReadJson* json, Policy& policy) {
  if (json == nullptr || !json->is_object()) return std::unexpected(bad("limits_ms"));
  const ReadJson* const beats = look(*json, "beats");
  if (beats == nullptr || !beats->is_array() || beats->size() != 2) {
    return std::unexpected(bad("beats"));
  }
  const auto suspect = duration_in(&(*beats)[0]);
  const auto stalled = duration_in(&(*beats)[1]);
  if (!suspect || !stalled || !set_beats(policy, {*suspect, *stalled})) {
    return std::unexpected(bad("beats"));
  }
  for (const LimitKey& key : kLimitKeys) {  // after the beats, which set a start limit too
    const auto limit = duration_in(look(*json, key.name));
    if (!limit || !set_limit(policy, key.name, *limit)) return std::unexpected(bad(key.name));
  }
  return {};
}

bool read_budget(const ReadJson* json, Budget& budget) {
  return json != nullptr && read(look(*json, "between_refills"), budget.between_refills) &&
         read(look(*json, "per_agent"), budget.per_agent) &&
         read(look(*json, "refill_after_ms"), budget.refill_after);
}

bool read_ladder(const ReadJson* json, std::vector<Rung>& ladder) {
  if (json == nullptr || !json->is_array() || json->size() > kMostRungs) return false;
  for (const ReadJson& each : *json) {
    if (!each.is_object()) return false;
    Rung rung;
    const auto action = word_field<Action>(each, "action", kActionWords);
    const bool whole = action && read(look(each, "after_ms"), rung.after) &&
                       read(look(each, "missed"), rung.missed);
    if (!whole || (!ladder.empty() && rung.after < ladder.back().after)) return false;
    rung.action = *action;
    ladder.push_back(rung);
  }
  return true;
}

}  // namespace

std::string format_policy_json(const Policy& policy) {
  WriteJson json{
      {"name", policy.name},
      {"promise", kPromiseWords[static_cast<std::size_t>(policy.promise)]},
      {"limits_ms", limits_json(policy.limits)},
      {"budget",
       {{"between_refills", policy.budget.between_refills},
        {"per_agent", policy.budget.per_agent},
        {"refill_after_ms", duration_json(policy.budget.refill_after)}}},
      {"beat_ms", duration_json(policy.beat)},
      {"ladder", ladder_json(policy.ladder)},
      {"direct", policy.direct},
  };
  if (policy.unseen_rest != kNoLimit) json["unseen_rest_ms"] = duration_json(policy.unseen_rest);
  if (policy.asks()) json["answer_ms"] = duration_json(policy.answer);
  return to_line(json);
}

Result<Policy> parse_policy_json(std::string_view text) {
  const auto object = parse_object(text, kLargestPolicy);
  if (!object) return fail("the policy is no JSON object");
  Policy policy;
  policy.name = exact_text(*object, "name", kLongestName);
  if (policy.name.empty()) return std::unexpected(bad("name"));
  const auto promise = word_field<Promise>(*object, "promise", kPromiseWords);
  if (!promise) return std::unexpected(bad("promise"));
  policy.promise = *promise;
  if (auto limits = read_limits(look(*object, "limits_ms"), policy); !limits) {
    return std::unexpected(limits.error());
  }
  if (!read_budget(look(*object, "budget"), policy.budget)) return std::unexpected(bad("budget"));
  if (!read(look(*object, "beat_ms"), policy.beat)) return std::unexpected(bad("beat_ms"));
  if (!read_ladder(look(*object, "ladder"), policy.ladder)) return std::unexpected(bad("ladder"));
  if (!read(look(*object, "direct"), policy.direct)) return std::unexpected(bad("direct"));
  const ReadJson* const unseen_rest = look(*object, "unseen_rest_ms");
  if (unseen_rest != nullptr && !read(unseen_rest, policy.unseen_rest)) {
    return std::unexpected(bad("unseen_rest_ms"));
  }
  const ReadJson* const answer = look(*object, "answer_ms");
  if (answer != nullptr && !read(answer, policy.answer)) return std::unexpected(bad("answer_ms"));
  return policy;
}

}  // namespace tend
