// The only code that knows toml++. Each kind of table has a list of its keys; the list drives both
// the reading and the words of the error for a key that is not in it.
#include "store/config_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "store/toml.h"

namespace tend {
namespace {

// Dotted keys nest tables, and toml++ takes nested tables down by recursion.
constexpr std::size_t kMostDotsInALine = 128;
constexpr std::size_t kLongestPolicyName = 64;
constexpr std::uint32_t kMostMissed = 10'000;
constexpr std::uint32_t kMostResumes = 1'000'000;

// The tables that other parts of Tend read from the same file.
constexpr std::array<std::string_view, 3> kOtherTables{"channels", "sources", "sinks"};

constexpr std::array<std::string_view, 8> kRungActions{"warn",     "ping", "notify", "escalate",
                                                       "preserve", "kill", "resume", "restart"};

/// Where a value stands.
struct Place {
  std::size_t line = 0;
  std::string key;  // "policy.night.limits.model"
};

std::size_t line_of(const toml::source_region& region) { return region.begin.line; }

bool is_bare(std::string_view key) {
  return !key.empty() && key.size() <= kLongestPolicyName && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

Place inside(const Place& table, const toml::key& key) {
  const std::string name = is_bare(key.str()) ? std::string(key.str()) : in_quotes(key.str());
  return {line_of(key.source()), table.key.empty() ? name : table.key + "." + name};
}

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a decimal number";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time of day";
    case toml::node_type::date_time:
      return "a date and time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

class Reader {
 public:
  Reader(std::string_view file, ConfigProblems& problems) : file_(file), problems_(problems) {}

  std::vector<PolicyDraft> read(const toml::table& root);

 private:
  template <class Target>
  struct Row {
    std::string_view key;
    void (Reader::*read)(Target& target, const toml::node& value, const Place& place);
  };
  struct RungDraft {
    std::optional<std::uint32_t> missed;
    std::optional<Duration> after;
    std::optional<Action> action;
  };

  void read_policies(const toml::node& value, const Place& place);
  void read_policy(std::string_view name, const toml::node& value, const Place& place);

  void read_extends(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_limits(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_beat(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_budget(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_direct(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_ladder(PolicyDraft& draft, const toml::node& value, const Place& place);

  void read_limit(PolicyDraft& draft, const LimitKey& limit, const toml::node& value,
                  const Place& place);
  void read_beats(PolicyDraft& draft, const toml::node& value, const Place& place);

  void read_between_refills(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_per_agent(PolicyDraft& draft, const toml::node& value, const Place& place);
  void read_refill_after(PolicyDraft& draft, const toml::node& value, const Place& place);

  std::optional<WrittenRung> read_rung(const toml::node& value, const Place& ladder);
  void read_missed(RungDraft& rung, const toml::node& value, const Place& place);
  void read_after(RungDraft& rung, const toml::node& value, const Place& place);
  void read_do(RungDraft& rung, const toml::node& value, const Place& place);

  template <class Target, std::size_t N>
  void read_keys(const std::array<Row<Target>, N>& rows, Target& target, const toml::node& value,
                 const Place& place);

  std::optional<Duration> duration(const toml::node& value, const Place& place);
  std::optional<Duration> duration_above_zero(const toml::node& value, const Place& place);
  std::optional<Duration> duration_or_none(const toml::node& value, const Place& place);
  std::optional<std::uint32_t> count(const toml::node& value, std::uint32_t least,
                                     std::uint32_t most, const Place& place);

  void problem(const Place& place, std::string text) {
    problems_.push_back({std::string(file_), place.line, 0, place.key, std::move(text)});
  }
  void unknown(const Place& place, std::string_view what, std::string_view word,
               std::span<const std::string_view> allowed) {
    problem(place, fmt::format("no such {}; allowed: {}{}", what, fmt::join(allowed, ", "),
                               did_you_mean(word, allowed)));
  }
  void wrong_type(const Place& place, std::string_view wanted, const toml::node& value) {
    problem(place, fmt::format("must be {}, not {}", wanted, type_name(value)));
  }

  std::string_view file_;
  ConfigProblems& problems_;
  std::vector<PolicyDraft> drafts_;
};

// ---- tables ----

std::vector<PolicyDraft> Reader::read(const toml::table& root) {
  for (const auto& [key, value] : root) {
    const Place place = inside({}, key);
    if (key.str() == "policy") {
      read_policies(value, place);
    } else if (std::ranges::find(kOtherTables, key.str()) == kOtherTables.end()) {
      std::array<std::string_view, kOtherTables.size() + 1> allowed{"policy"};
      std::ranges::copy(kOtherTables, allowed.begin() + 1);
      unknown(place, "table", key.str(), allowed);
    }
  }
  return std::move(drafts_);
}

void Reader::read_policies(const toml::node& value, const Place& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) return wrong_type(place, "a table of policies: [policy.NAME]", value);
  if (table->size() > kMostPolicies) {
    problem(place, fmt::format("{} policies; at most {}", table->size(), kMostPolicies));
    return;
  }
  for (const auto& [key, policy] : *table) read_policy(key.str(), policy, inside(place, key));
}

void Reader::read_policy(std::string_view name, const toml::node& value, const Place& place) {
  static constexpr std::array<Row<PolicyDraft>, 6> kKeys{{
      {"extends", &Reader::read_extends},
      {"limits", &Reader::read_limits},
      {"beat", &Reader::read_beat},
      {"budget", &Reader::read_budget},
      {"direct", &Reader::read_direct},
      {"ladder", &Reader::read_ladder},
  }};
  if (!is_bare(name)) {
    problem(place,
            fmt::format("a policy's name is 1 to {} letters, digits, - and _", kLongestPolicyName));
  }
  if (built_in_policy(name)) {
    problem(place, fmt::format("is built in; choose another name and extends = \"{}\"", name));
  }
  PolicyDraft& draft = drafts_.emplace_back();
  draft.name = name;
  draft.key = place.key;
  draft.line = place.line;
  read_keys(kKeys, draft, value, place);
}

template <class Target, std::size_t N>
void Reader::read_keys(const std::array<Row<Target>, N>& rows, Target& target,
                       const toml::node& value, const Place& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) return wrong_type(place, "a table", value);
  for (const auto& [key, child] : *table) {
    const auto* const row = std::ranges::find(rows, key.str(), &Row<Target>::key);
    if (row != rows.end()) {
      (this->*row->read)(target, child, inside(place, key));
      continue;
    }
    std::array<std::string_view, N> allowed{};
    std::ranges::transform(rows, allowed.begin(), &Row<Target>::key);
    unknown(inside(place, key), "key", key.str(), allowed);
  }
}

// ---- keys of a policy ----

void Reader::read_extends(PolicyDraft& draft, const toml::node& value, const Place& place) {
  const auto* const name = value.as_string();
  if (name == nullptr) return wrong_type(place, "the name of a policy", value);
  draft.extends = name->get();
  draft.lines["extends"] = place.line;
}

void Reader::read_limits(PolicyDraft& draft, const toml::node& value, const Place& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) return wrong_type(place, "a table, like limits.model = \"12m\"", value);
  for (const auto& [key, child] : *table) {
    const Place at = inside(place, key);
    if (key.str() == "beats") {
      read_beats(draft, child, at);
      continue;
    }
    const auto* const limit = std::ranges::find(kLimitKeys, key.str(), &LimitKey::name);
    if (limit != kLimitKeys.end()) {
      read_limit(draft, *limit, child, at);
      continue;
    }
    std::array<std::string_view, kLimitKeys.size() + 1> allowed{};
    std::ranges::transform(kLimitKeys, allowed.begin(), &LimitKey::name);
    allowed.back() = "beats";
    unknown(at, "limit", key.str(), allowed);
  }
}

void Reader::read_limit(PolicyDraft& draft, const LimitKey& limit, const toml::node& value,
                        const Place& place) {
  const auto time = duration_or_none(value, place);
  if (!time) return;
  Policy scratch;  // the rules of a limit are judge/policy.cc's
  if (const auto set = set_limit(scratch, limit.name, *time); !set) {
    problem(place, set.error().text);
    return;
  }
  draft.limits.emplace_back(limit.name, *time);
  draft.lines[fmt::format("limits.{}", limit.name)] = place.line;
}

void Reader::read_beats(PolicyDraft& draft, const toml::node& value, const Place& place) {
  Patience beats;
  if (const toml::array* const pair = value.as_array(); pair != nullptr && pair->size() == 2) {
    const auto suspect = duration_or_none(*pair->get(0), place);
    const auto stalled = duration_or_none(*pair->get(1), place);
    if (!suspect || !stalled) return;
    beats = {*suspect, *stalled};
  } else if (const auto* const word = value.as_string(); word != nullptr && word->get() == "none") {
    beats = {kNoLimit, kNoLimit};
  } else {
    problem(place, "must be a pair [suspect, stalled], like [\"2m\", \"5m\"], or \"none\"");
    return;
  }
  Policy scratch;
  if (const auto set = set_beats(scratch, beats); !set) {
    problem(place, set.error().text);
    return;
  }
  draft.beats = beats;
  draft.lines["limits.beats"] = place.line;
}

void Reader::read_beat(PolicyDraft& draft, const toml::node& value, const Place& place) {
  draft.beat = duration_above_zero(value, place);
  draft.lines["beat"] = place.line;
}

void Reader::read_direct(PolicyDraft& draft, const toml::node& value, const Place& place) {
  const auto* const flag = value.as_boolean();
  if (flag == nullptr) return wrong_type(place, "true or false", value);
  draft.direct = flag->get();
  draft.lines["direct"] = place.line;
}

// ---- budget ----

void Reader::read_budget(PolicyDraft& draft, const toml::node& value, const Place& place) {
  static constexpr std::array<Row<PolicyDraft>, 3> kKeys{{
      {"between_refills", &Reader::read_between_refills},
      {"per_agent", &Reader::read_per_agent},
      {"refill_after", &Reader::read_refill_after},
  }};
  read_keys(kKeys, draft, value, place);
}

void Reader::read_between_refills(PolicyDraft& draft, const toml::node& value, const Place& place) {
  draft.between_refills = count(value, 0, kMostResumes, place);
  draft.lines["budget.between_refills"] = place.line;
}

void Reader::read_per_agent(PolicyDraft& draft, const toml::node& value, const Place& place) {
  draft.per_agent = count(value, 0, kMostResumes, place);
  draft.lines["budget.per_agent"] = place.line;
}

void Reader::read_refill_after(PolicyDraft& draft, const toml::node& value, const Place& place) {
  draft.refill_after = duration_above_zero(value, place);
  draft.lines["budget.refill_after"] = place.line;
}

// ---- ladder ----

void Reader::read_ladder(PolicyDraft& draft, const toml::node& value, const Place& place) {
  const toml::array* const rungs = value.as_array();
  if (rungs == nullptr) return wrong_type(place, "a list of rungs: [[policy.NAME.ladder]]", value);
  if (rungs->size() > kMostRungs) {
    problem(place, fmt::format("{} rungs; at most {}", rungs->size(), kMostRungs));
    return;
  }
  draft.lines["ladder"] = place.line;
  draft.ladder.emplace();
  for (const toml::node& each : *rungs) {
    if (const auto rung = read_rung(each, place)) draft.ladder->push_back(*rung);
  }
}

std::optional<WrittenRung> Reader::read_rung(const toml::node& value, const Place& ladder) {
  static constexpr std::array<Row<RungDraft>, 3> kKeys{{
      {"missed", &Reader::read_missed},
      {"after", &Reader::read_after},
      {"do", &Reader::read_do},
  }};
  const Place place{line_of(value.source()), ladder.key};
  const std::size_t told = problems_.size();
  RungDraft rung;
  read_keys(kKeys, rung, value, place);
  if (problems_.size() > told) return std::nullopt;

  if (rung.missed.has_value() == rung.after.has_value()) {
    problem(place, rung.missed ? "has both missed and after; keep one"
                               : "lacks its time: missed = 2 (in beats) or after = \"15m\"");
  }
  if (!rung.action) {
    problem(place, fmt::format("lacks do; allowed: {}", fmt::join(kRungActions, ", ")));
  }
  if (problems_.size() > told) return std::nullopt;
  const Rung made{rung.after.value_or(Duration::zero()), rung.missed.value_or(0), *rung.action};
  return WrittenRung{made, place.line};
}

void Reader::read_missed(RungDraft& rung, const toml::node& value, const Place& place) {
  rung.missed = count(value, 1, kMostMissed, place);
}

void Reader::read_after(RungDraft& rung, const toml::node& value, const Place& place) {
  rung.after = duration_above_zero(value, place);
}

void Reader::read_do(RungDraft& rung, const toml::node& value, const Place& place) {
  const auto* const word = value.as_string();
  if (word == nullptr) return wrong_type(place, "the name of an action", value);
  if (std::ranges::find(kRungActions, word->get()) != kRungActions.end()) {
    rung.action = from_word<Action>(kActionWords, word->get());
  } else if (from_word<Action>(kActionWords, word->get())) {
    problem(place, fmt::format("{} cannot be a rung: only the judge knows when it applies; "
                               "allowed: {}",
                               word->get(), fmt::join(kRungActions, ", ")));
  } else {
    unknown(place, "action " + in_quotes(word->get()), word->get(), kRungActions);
  }
}

// ---- values ----

std::optional<Duration> Reader::duration(const toml::node& value, const Place& place) {
  std::string text;
  if (const auto* const word = value.as_string()) {
    text = word->get();
  } else if (const auto* const whole = value.as_integer()) {
    text = fmt::to_string(whole->get());
  } else if (const auto* const decimal = value.as_floating_point()) {
    text = fmt::to_string(decimal->get());
  } else {
    wrong_type(place, "a duration, like \"15m\" or a number of seconds", value);
    return std::nullopt;
  }
  const auto time = parse_duration(text);
  if (time) return *time;
  problem(place, time.error().text);
  return std::nullopt;
}

std::optional<Duration> Reader::duration_above_zero(const toml::node& value, const Place& place) {
  const auto time = duration(value, place);
  if (!time || *time > Duration::zero()) return time;
  problem(place, "must be above 0");
  return std::nullopt;
}

std::optional<Duration> Reader::duration_or_none(const toml::node& value, const Place& place) {
  const auto* const word = value.as_string();
  if (word != nullptr && word->get() == "none") return kNoLimit;
  return duration(value, place);
}

std::optional<std::uint32_t> Reader::count(const toml::node& value, std::uint32_t least,
                                           std::uint32_t most, const Place& place) {
  const auto* const number = value.as_integer();
  if (number == nullptr) {
    wrong_type(place, "a whole number", value);
  } else if (number->get() < least || number->get() > most) {
    problem(place, fmt::format("must be from {} to {}", least, most));
  } else {
    return static_cast<std::uint32_t>(number->get());
  }
  return std::nullopt;
}

// ---- the text as a whole ----

/// The first line with more dots than any key can need, or 0.
std::size_t overly_dotted_line(std::string_view text) {
  std::size_t line = 1;
  std::size_t dots = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDotsInALine) {
      return line;
    }
  }
  return 0;
}

ConfigProblem syntax_problem(const toml::parse_error& error, std::string_view file) {
  const toml::source_position at = error.source().begin;
  return {std::string(file), at.line, at.column, "", on_one_line(error.description())};
}

}  // namespace

std::vector<PolicyDraft> read_config(std::string_view text, std::string_view file,
                                     ConfigProblems& problems) {
  const std::string name(file);
  if (text.size() > kLargestConfig) {
    problems.push_back({name, 0, 0, "", "larger than 1 MB; a configuration is a few kilobytes"});
    return {};
  }
  if (const std::size_t line = overly_dotted_line(text)) {
    const auto excuse = fmt::format("more than {} dots in one line", kMostDotsInALine);
    problems.push_back({name, line, 0, "", excuse});
    return {};
  }
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    problems.push_back(syntax_problem(parsed.error(), file));
    return {};
  }
  return Reader(file, problems).read(parsed.table());
}

}  // namespace tend
