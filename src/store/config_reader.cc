// The text as a whole, and the tables of policies.
#include "store/config_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/config_gate.h"
#include "store/config_lease.h"
#include "store/config_sections.h"
#include "store/config_stores.h"
#include "store/config_values.h"

namespace tend {
namespace {

// Dotted keys nest tables, and toml++ takes nested tables down by recursion.
constexpr std::size_t kMostDotsInALine = 128;
constexpr std::uint32_t kMostMissed = 10'000;
constexpr std::uint32_t kMostResumes = 1'000'000;

constexpr std::array<std::string_view, 10> kTables{"policy", "notify", "patrol", "tasks", "store",
                                                   "source", "sink",   "gate",   "probe", "lease"};

constexpr std::array<std::string_view, 8> kRungActions{"warn",     "ping", "notify", "escalate",
                                                       "preserve", "kill", "resume", "restart"};

class Reader {
 public:
  Reader(Config& config, ConfigProblems& problems)
      : config_(config), values_(config.file, problems) {}

  std::vector<PolicyDraft> read(const toml::table& root);

 private:
  template <class Target>
  using Row = ConfigRow<Reader, Target>;
  struct RungDraft {
    std::optional<std::uint32_t> missed;
    std::optional<Duration> after;
    std::optional<Action> action;
  };

  void read_policies(const toml::node& value, const ConfigPlace& place);
  void read_policy(std::string_view name, const toml::node& value, const ConfigPlace& place);

  void read_extends(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_limits(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_beat(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_budget(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_direct(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_ladder(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);

  void read_limit(PolicyDraft& draft, const LimitKey& limit, const toml::node& value,
                  const ConfigPlace& place);
  void read_beats(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);

  void read_between_refills(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_per_agent(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);
  void read_refill_after(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place);

  std::optional<WrittenRung> read_rung(const toml::node& value, const ConfigPlace& ladder);
  void read_missed(RungDraft& rung, const toml::node& value, const ConfigPlace& place);
  void read_after(RungDraft& rung, const toml::node& value, const ConfigPlace& place);
  void read_do(RungDraft& rung, const toml::node& value, const ConfigPlace& place);

  Config& config_;
  ConfigValues values_;
  std::vector<PolicyDraft> drafts_;
};

// ---- tables ----

std::vector<PolicyDraft> Reader::read(const toml::table& root) {
  for (const auto& [key, value] : root) {
    const ConfigPlace place = inside({}, key);
    if (key.str() == "policy") {
      read_policies(value, place);
    } else if (key.str() == "notify") {
      read_notify(values_, value, place, config_);
    } else if (key.str() == "patrol") {
      read_patrol(values_, value, place, config_);
    } else if (key.str() == "tasks") {
      read_tasks(values_, value, place, config_);
    } else if (key.str() == "store") {
      read_foreign_agents(values_, value, place, config_);
    } else if (key.str() == "source") {
      read_sources(values_, value, place, config_);
    } else if (key.str() == "sink") {
      read_sinks(values_, value, place, config_);
    } else if (key.str() == "gate") {
      read_gate(values_, value, place, config_);
    } else if (key.str() == "probe") {
      read_probes(values_, value, place, config_);
    } else if (key.str() == "lease") {
      read_leases(values_, value, place, config_);
    } else {
      values_.unknown(place, "table", key.str(), kTables);
    }
  }
  return std::move(drafts_);
}

void Reader::read_policies(const toml::node& value, const ConfigPlace& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr)
    return values_.wrong_type(place, "a table of policies: [policy.NAME]", value);
  if (table->size() > kMostPolicies) {
    values_.problem(place, fmt::format("{} policies; at most {}", table->size(), kMostPolicies));
    return;
  }
  for (const auto& [key, policy] : *table) read_policy(key.str(), policy, inside(place, key));
}

void Reader::read_policy(std::string_view name, const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row<PolicyDraft>, 6> kKeys{{
      {"extends", &Reader::read_extends},
      {"limits", &Reader::read_limits},
      {"beat", &Reader::read_beat},
      {"budget", &Reader::read_budget},
      {"direct", &Reader::read_direct},
      {"ladder", &Reader::read_ladder},
  }};
  if (!is_bare(name)) {
    values_.problem(place, fmt::format("a policy's name is 1 to {} letters, digits, - and _",
                                       kLongestConfigName));
  }
  if (built_in_policy(name)) {
    values_.problem(place,
                    fmt::format("is built in; choose another name and extends = \"{}\"", name));
  }
  PolicyDraft& draft = drafts_.emplace_back();
  draft.name = name;
  draft.key = place.key;
  draft.line = place.line;
  read_keys(*this, values_, kKeys, draft, value, place);
}

// ---- keys of a policy ----

void Reader::read_extends(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto* const name = value.as_string();
  if (name == nullptr) return values_.wrong_type(place, "the name of a policy", value);
  draft.extends = name->get();
  draft.lines["extends"] = place.line;
}

void Reader::read_limits(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr)
    return values_.wrong_type(place, "a table, like limits.model = \"12m\"", value);
  for (const auto& [key, child] : *table) {
    const ConfigPlace at = inside(place, key);
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
    values_.unknown(at, "limit", key.str(), allowed);
  }
}

void Reader::read_limit(PolicyDraft& draft, const LimitKey& limit, const toml::node& value,
                        const ConfigPlace& place) {
  const auto time = values_.duration_or_none(value, place);
  if (!time) return;
  Policy scratch;  // the rules of a limit are judge/policy.cc's
  if (const auto set = set_limit(scratch, limit.name, *time); !set) {
    values_.problem(place, set.error().text);
    return;
  }
  draft.limits.emplace_back(limit.name, *time);
  draft.lines[fmt::format("limits.{}", limit.name)] = place.line;
}

void Reader::read_beats(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  Patience beats;
  if (const toml::array* const pair = value.as_array(); pair != nullptr && pair->size() == 2) {
    const auto suspect = values_.duration_or_none(*pair->get(0), place);
    const auto stalled = values_.duration_or_none(*pair->get(1), place);
    if (!suspect || !stalled) return;
    beats = {*suspect, *stalled};
  } else if (const auto* const word = value.as_string(); word != nullptr && word->get() == "none") {
    beats = {kNoLimit, kNoLimit};
  } else {
    values_.problem(place, "must be a pair [suspect, stalled], like [\"2m\", \"5m\"], or \"none\"");
    return;
  }
  Policy scratch;
  if (const auto set = set_beats(scratch, beats); !set) {
    values_.problem(place, set.error().text);
    return;
  }
  draft.beats = beats;
  draft.lines["limits.beats"] = place.line;
}

void Reader::read_beat(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.beat = values_.duration_above_zero(value, place);
  draft.lines["beat"] = place.line;
}

void Reader::read_direct(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto* const flag = value.as_boolean();
  if (flag == nullptr) return values_.wrong_type(place, "true or false", value);
  draft.direct = flag->get();
  draft.lines["direct"] = place.line;
}

// ---- budget ----

void Reader::read_budget(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row<PolicyDraft>, 3> kKeys{{
      {"between_refills", &Reader::read_between_refills},
      {"per_agent", &Reader::read_per_agent},
      {"refill_after", &Reader::read_refill_after},
  }};
  read_keys(*this, values_, kKeys, draft, value, place);
}

void Reader::read_between_refills(PolicyDraft& draft, const toml::node& value,
                                  const ConfigPlace& place) {
  draft.between_refills = values_.count(value, 0, kMostResumes, place);
  draft.lines["budget.between_refills"] = place.line;
}

void Reader::read_per_agent(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.per_agent = values_.count(value, 0, kMostResumes, place);
  draft.lines["budget.per_agent"] = place.line;
}

void Reader::read_refill_after(PolicyDraft& draft, const toml::node& value,
                               const ConfigPlace& place) {
  draft.refill_after = values_.duration_above_zero(value, place);
  draft.lines["budget.refill_after"] = place.line;
}

// ---- ladder ----

void Reader::read_ladder(PolicyDraft& draft, const toml::node& value, const ConfigPlace& place) {
  const toml::array* const rungs = value.as_array();
  if (rungs == nullptr)
    return values_.wrong_type(place, "a list of rungs: [[policy.NAME.ladder]]", value);
  if (rungs->size() > kMostRungs) {
    values_.problem(place, fmt::format("{} rungs; at most {}", rungs->size(), kMostRungs));
    return;
  }
  draft.lines["ladder"] = place.line;
  draft.ladder.emplace();
  for (const toml::node& each : *rungs) {
    if (const auto rung = read_rung(each, place)) draft.ladder->push_back(*rung);
  }
}

std::optional<WrittenRung> Reader::read_rung(const toml::node& value, const ConfigPlace& ladder) {
  static constexpr std::array<Row<RungDraft>, 3> kKeys{{
      {"missed", &Reader::read_missed},
      {"after", &Reader::read_after},
      {"do", &Reader::read_do},
  }};
  const ConfigPlace place{line_of(value.source()), ladder.key};
  const std::size_t told = values_.told();
  RungDraft rung;
  read_keys(*this, values_, kKeys, rung, value, place);
  if (values_.told() > told) return std::nullopt;

  if (rung.missed.has_value() == rung.after.has_value()) {
    values_.problem(place, rung.missed
                               ? "has both missed and after; keep one"
                               : "lacks its time: missed = 2 (in beats) or after = \"15m\"");
  }
  if (!rung.action) {
    values_.problem(place, fmt::format("lacks do; allowed: {}", fmt::join(kRungActions, ", ")));
  }
  if (values_.told() > told) return std::nullopt;
  const Rung made{rung.after.value_or(Duration::zero()), rung.missed.value_or(0), *rung.action};
  return WrittenRung{made, place.line};
}

void Reader::read_missed(RungDraft& rung, const toml::node& value, const ConfigPlace& place) {
  rung.missed = values_.count(value, 1, kMostMissed, place);
}

void Reader::read_after(RungDraft& rung, const toml::node& value, const ConfigPlace& place) {
  rung.after = values_.duration_above_zero(value, place);
}

void Reader::read_do(RungDraft& rung, const toml::node& value, const ConfigPlace& place) {
  const auto* const word = value.as_string();
  if (word == nullptr) return values_.wrong_type(place, "the name of an action", value);
  if (std::ranges::find(kRungActions, word->get()) != kRungActions.end()) {
    rung.action = from_word<Action>(kActionWords, word->get());
  } else if (from_word<Action>(kActionWords, word->get())) {
    values_.problem(place, fmt::format("{} cannot be a rung: only the judge knows when it applies; "
                                       "allowed: {}",
                                       word->get(), fmt::join(kRungActions, ", ")));
  } else {
    values_.unknown(place, "action " + in_quotes(word->get()), word->get(), kRungActions);
  }
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

std::vector<PolicyDraft> read_config(std::string_view text, Config& config,
                                     ConfigProblems& problems) {
  const std::string& name = config.file;
  if (text.size() > kLargestConfig) {
    problems.push_back({name, 0, 0, "", "larger than 1 MB; a configuration is a few kilobytes"});
    return {};
  }
  if (const std::size_t line = overly_dotted_line(text)) {
    const auto excuse = fmt::format("more than {} dots in one line", kMostDotsInALine);
    problems.push_back({name, line, 0, "", excuse});
    return {};
  }
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    problems.push_back(syntax_problem(parsed.error(), name));
    return {};
  }
  return Reader(config, problems).read(parsed.table());
}

}  // namespace tend
