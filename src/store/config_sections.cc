// One small reader a section. A webhook's address may hold a secret, so no problem quotes it.
#include "store/config_sections.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestUrl = 2000;
constexpr std::uint32_t kMostMissed = 10'000;
constexpr std::uint32_t kMostAtOnce = 10'000;
constexpr Duration kShortestStale = 10ms;  // its tenth is still a time

// ---- [[notify]] ----

bool is_address(std::string_view url) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!url.starts_with(scheme)) continue;
    const std::string_view rest = url.substr(scheme.size());
    return !rest.empty() && rest.front() != '/' && url.size() <= kLongestUrl &&
           std::ranges::all_of(rest, [](char c) {
             return c > ' ' && c < '\x7f' &&
                    std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
           });
  }
  return false;
}

class NotifyReader {
 public:
  explicit NotifyReader(ConfigValues& values) : values_(values) {}

  void read(const toml::node& value, const ConfigPlace& place, std::vector<NotifyChannel>& into);

 private:
  struct Draft {
    std::optional<std::string> name;
    std::optional<std::vector<std::string>> command;
    std::optional<std::string> url;
    bool desktop = false;
    bool slack = false;
  };
  using Row = ConfigRow<NotifyReader, Draft>;

  void read_name(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_command(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_webhook(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_slack(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_desktop(Draft& draft, const toml::node& value, const ConfigPlace& place);
  std::optional<NotifyChannel> made_from(const Draft& draft, const ConfigPlace& place);

  ConfigValues& values_;
};

void NotifyReader::read(const toml::node& value, const ConfigPlace& place,
                        std::vector<NotifyChannel>& into) {
  static constexpr std::array<Row, 5> kKeys{{
      {"name", &NotifyReader::read_name},
      {"command", &NotifyReader::read_command},
      {"webhook", &NotifyReader::read_webhook},
      {"slack", &NotifyReader::read_slack},
      {"desktop", &NotifyReader::read_desktop},
  }};
  const std::size_t told = values_.told();
  Draft draft;
  read_keys(*this, values_, kKeys, draft, value, place);
  if (values_.told() > told) return;
  const auto channel = made_from(draft, place);
  if (!channel) return;
  if (std::ranges::find(into, channel->name, &NotifyChannel::name) != into.end()) {
    return values_.problem(place, fmt::format("there is another channel {}; each has a name of its "
                                              "own",
                                              in_quotes(channel->name)));
  }
  into.push_back(*channel);
}

std::optional<NotifyChannel> NotifyReader::made_from(const Draft& draft, const ConfigPlace& place) {
  const int ways = int{draft.command.has_value()} + int{draft.url.has_value()} + int{draft.desktop};
  std::string trouble;
  if (!draft.name) {
    trouble = "lacks its name, like name = \"team\"";
  } else if (ways == 0) {
    trouble =
        "lacks its way: command = [\"PROGRAM\", ...], webhook = \"https://...\" or "
        "desktop = true";
  } else if (ways > 1) {
    trouble =
        "has more than one of command, webhook and desktop; keep one, and write a [[notify]] "
        "for each other";
  } else if (draft.slack && !draft.url) {
    trouble = "has slack = true, which is for a webhook";
  }
  if (!trouble.empty()) {
    values_.problem(place, trouble);
    return std::nullopt;
  }
  NotifyChannel channel;
  channel.name = *draft.name;
  channel.line = place.line;
  if (draft.command) channel.command = *draft.command;
  if (draft.url) channel.url = *draft.url;
  channel.kind = draft.command ? NotifyChannel::Kind::command
                 : draft.url   ? NotifyChannel::Kind::webhook
                               : NotifyChannel::Kind::desktop;
  channel.slack = draft.slack;
  return channel;
}

void NotifyReader::read_name(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.name = values_.text(value, "a name", place);
  if (!draft.name || is_bare(*draft.name)) return;
  values_.problem(place, fmt::format("a channel's name is 1 to {} letters, digits, - and _",
                                     kLongestConfigName));
}

void NotifyReader::read_command(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.command = values_.command(value, "[\"mail\", \"-s\", \"tend\", \"me\"]", place);
}

void NotifyReader::read_webhook(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.url = values_.text(value, "an address, like \"https://example.org/hook\"", place);
  if (!draft.url || is_address(*draft.url)) return;
  values_.problem(place, fmt::format("must begin with https:// or http://, have no spaces, quotes "
                                     "or other letters than a URL has, and at most {} of them",
                                     kLongestUrl));
}

void NotifyReader::read_slack(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.slack = values_.flag(value, place).value_or(false);
}

void NotifyReader::read_desktop(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.desktop = values_.flag(value, place).value_or(false);
}

// ---- [patrol] ----

class PatrolReader {
 public:
  PatrolReader(ConfigValues& values, Config& config) : values_(values), config_(config) {}

  void read(const toml::node& value, const ConfigPlace& place);

 private:
  struct Sweeps {
    std::optional<Duration> interval;
    std::optional<Duration> shortest;
    std::optional<Duration> longest;
  };
  using Row = ConfigRow<PatrolReader, Sweeps>;
  using PaceRow = ConfigRow<PatrolReader, PatrolPace>;

  void read_interval(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_shortest(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_longest(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_untaken_after(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_incident_size(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_incident_within(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_active(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_overnight(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);
  void read_critical(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place);

  void read_pace(PatrolContext context, const toml::node& value, const ConfigPlace& place);
  void read_stale(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_warn(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_ping(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_escalate(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_reassign(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_escalate_working(PatrolPace& pace, const toml::node& value, const ConfigPlace& place);
  void read_rung(std::uint32_t& missed, const toml::node& value, const ConfigPlace& place);

  void settle_sweeps(const Sweeps& sweeps, const ConfigPlace& place);
  std::optional<Duration> time(const toml::node& value, const ConfigPlace& place);
  void note_line(const ConfigPlace& place) { config_.lines[place.key] = place.line; }

  ConfigValues& values_;
  Config& config_;
};

void PatrolReader::read(const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row, 9> kKeys{{
      {"interval", &PatrolReader::read_interval},
      {"shortest", &PatrolReader::read_shortest},
      {"longest", &PatrolReader::read_longest},
      {"untaken_after", &PatrolReader::read_untaken_after},
      {"incident_size", &PatrolReader::read_incident_size},
      {"incident_within", &PatrolReader::read_incident_within},
      {"active", &PatrolReader::read_active},
      {"overnight", &PatrolReader::read_overnight},
      {"critical", &PatrolReader::read_critical},
  }};
  const std::size_t told = values_.told();
  Sweeps sweeps;
  read_keys(*this, values_, kKeys, sweeps, value, place);
  if (values_.told() == told) settle_sweeps(sweeps, place);
}

/// A bound that is not written makes room for what is.
void PatrolReader::settle_sweeps(const Sweeps& written, const ConfigPlace& place) {
  PatrolBounds sweeps;
  sweeps.usual =
      written.interval.value_or(std::clamp(sweeps.usual, written.shortest.value_or(Duration::min()),
                                           std::max(written.longest.value_or(Duration::max()),
                                                    written.shortest.value_or(Duration::min()))));
  sweeps.shortest = written.shortest.value_or(std::min(sweeps.shortest, sweeps.usual));
  sweeps.longest = written.longest.value_or(std::max(sweeps.longest, sweeps.usual));
  if (sweeps.shortest <= sweeps.usual && sweeps.usual <= sweeps.longest) {
    config_.patrol.sweeps = sweeps;
    return;
  }
  std::size_t line = place.line;
  for (const std::string_view key : {"patrol.longest", "patrol.shortest", "patrol.interval"}) {
    if (const auto at = config_.lines.find(key); at != config_.lines.end()) line = at->second;
  }
  values_.problem({line, place.key},
                  fmt::format("shortest ({}), interval ({}) and longest ({}) must not fall",
                              format_duration(sweeps.shortest), format_duration(sweeps.usual),
                              format_duration(sweeps.longest)));
}

std::optional<Duration> PatrolReader::time(const toml::node& value, const ConfigPlace& place) {
  note_line(place);
  return values_.duration_above_zero(value, place);
}

void PatrolReader::read_interval(Sweeps& sweeps, const toml::node& value,
                                 const ConfigPlace& place) {
  sweeps.interval = time(value, place);
}

void PatrolReader::read_shortest(Sweeps& sweeps, const toml::node& value,
                                 const ConfigPlace& place) {
  sweeps.shortest = time(value, place);
}

void PatrolReader::read_longest(Sweeps& sweeps, const toml::node& value, const ConfigPlace& place) {
  sweeps.longest = time(value, place);
}

void PatrolReader::read_untaken_after(Sweeps& /*sweeps*/, const toml::node& value,
                                      const ConfigPlace& place) {
  if (const auto after = time(value, place)) config_.patrol.untaken_after = *after;
}

void PatrolReader::read_incident_size(Sweeps& /*sweeps*/, const toml::node& value,
                                      const ConfigPlace& place) {
  note_line(place);
  if (const auto size = values_.count(value, 2, kMostAtOnce, place)) {
    config_.patrol.incident_size = *size;
  }
}

void PatrolReader::read_incident_within(Sweeps& /*sweeps*/, const toml::node& value,
                                        const ConfigPlace& place) {
  if (const auto within = time(value, place)) config_.patrol.incident_within = *within;
}

void PatrolReader::read_active(Sweeps& /*sweeps*/, const toml::node& value,
                               const ConfigPlace& place) {
  read_pace(PatrolContext::active, value, place);
}

void PatrolReader::read_overnight(Sweeps& /*sweeps*/, const toml::node& value,
                                  const ConfigPlace& place) {
  read_pace(PatrolContext::overnight, value, place);
}

void PatrolReader::read_critical(Sweeps& /*sweeps*/, const toml::node& value,
                                 const ConfigPlace& place) {
  read_pace(PatrolContext::critical, value, place);
}

void PatrolReader::read_pace(PatrolContext context, const toml::node& value,
                             const ConfigPlace& place) {
  static constexpr std::array<PaceRow, 6> kKeys{{
      {"stale", &PatrolReader::read_stale},
      {"warn", &PatrolReader::read_warn},
      {"ping", &PatrolReader::read_ping},
      {"escalate", &PatrolReader::read_escalate},
      {"reassign", &PatrolReader::read_reassign},
      {"escalate_working", &PatrolReader::read_escalate_working},
  }};
  PatrolPace& pace = config_.patrol.paces.at(static_cast<std::size_t>(context));
  read_keys(*this, values_, kKeys, pace, value, place);
}

void PatrolReader::read_stale(PatrolPace& pace, const toml::node& value, const ConfigPlace& place) {
  const auto stale = time(value, place);
  if (!stale) return;
  if (*stale < kShortestStale) {
    return values_.problem(place,
                           fmt::format("must be {} or more", format_duration(kShortestStale)));
  }
  const PatrolPace made = patrol_pace(*stale);
  pace.interval = made.interval;
  pace.tolerance = made.tolerance;
}

void PatrolReader::read_rung(std::uint32_t& missed, const toml::node& value,
                             const ConfigPlace& place) {
  note_line(place);
  const auto* const word = value.as_string();
  const auto* const number = value.as_integer();
  const bool is_count =
      number != nullptr && number->get() >= 0 && number->get() <= std::int64_t{kMostMissed};
  if (is_count) {
    missed = static_cast<std::uint32_t>(number->get());
  } else if (word != nullptr && word->get() == "off") {
    missed = PatrolLadder::kOff;
  } else {
    values_.problem(place, fmt::format("must be a number of missed beats from 1 to {}, or \"off\"",
                                       kMostMissed));
  }
}

void PatrolReader::read_warn(PatrolPace& pace, const toml::node& value, const ConfigPlace& place) {
  read_rung(pace.ladder.missed[static_cast<std::size_t>(PatrolRung::warn)], value, place);
}

void PatrolReader::read_ping(PatrolPace& pace, const toml::node& value, const ConfigPlace& place) {
  read_rung(pace.ladder.missed[static_cast<std::size_t>(PatrolRung::ping)], value, place);
}

void PatrolReader::read_escalate(PatrolPace& pace, const toml::node& value,
                                 const ConfigPlace& place) {
  read_rung(pace.ladder.missed[static_cast<std::size_t>(PatrolRung::escalate)], value, place);
}

void PatrolReader::read_reassign(PatrolPace& pace, const toml::node& value,
                                 const ConfigPlace& place) {
  read_rung(pace.ladder.missed[static_cast<std::size_t>(PatrolRung::reassign)], value, place);
}

void PatrolReader::read_escalate_working(PatrolPace& pace, const toml::node& value,
                                         const ConfigPlace& place) {
  read_rung(pace.ladder.escalate_working, value, place);
}

// ---- [tasks] ----

class TasksReader {
 public:
  using Row = ConfigRow<TasksReader, Config>;
  explicit TasksReader(ConfigValues& values) : values_(values) {}

  void read_beads(Config& config, const toml::node& value, const ConfigPlace& place) {
    if (const auto program = values_.command(value, "[\"bd\"]", place)) config.beads = *program;
  }

 private:
  ConfigValues& values_;
};

}  // namespace

void read_notify(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config) {
  const toml::array* const list = value.as_array();
  if (list == nullptr) return values.wrong_type(place, "a list of channels: [[notify]]", value);
  if (list->size() > kMostChannels) {
    return values.problem(place,
                          fmt::format("{} channels; at most {}", list->size(), kMostChannels));
  }
  NotifyReader reader(values);
  for (const toml::node& each : *list) {
    reader.read(each, {line_of(each.source()), place.key}, config.channels);
  }
}

void read_patrol(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config) {
  PatrolReader(values, config).read(value, place);
}

void read_tasks(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                Config& config) {
  static constexpr std::array<TasksReader::Row, 1> kKeys{{{"beads", &TasksReader::read_beads}}};
  TasksReader reader(values);
  read_keys(reader, values, kKeys, config, value, place);
}

}  // namespace tend
