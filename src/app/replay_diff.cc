// Holds the decisions of two policies against each other, one time after the other.
#include "app/replay_diff.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/timeline.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kTimeWidth = 9;
constexpr std::size_t kWhatWidth = 12;
constexpr std::string_view kBoth = "both";

bool is_verdict(const Decision& decision) { return decision.kind == Decision::Kind::verdict; }

bool same_action(const Decision& a, const Decision& b) {
  return !is_verdict(a) && !is_verdict(b) && a.action == b.action && a.task == b.task;
}

}  // namespace

ReplayDiff::ReplayDiff(Form form, Output& out, const Environment& environment)
    : form_(form), out_(out), look_(out, environment) {}

void ReplayDiff::begin(const TraceTitle& title, const std::string& second) {
  sides_ = {Side{title.policy, {}, {}}, Side{second, {}, {}}};
  if (title.policy == second) sides_[1].policy += " (other)";
  if (const auto& from = title.first) {
    for (Side& side : sides_) {
      side.verdict.verdict = from->verdict;
      side.verdict.phase = from->phase;
      side.since = from->at;
    }
  }
  counts_ = {.id = title.id, .first = sides_[0].policy, .second = sides_[1].policy};
  apart_ = false;
  printed_ = Instant::min();
  name_width_ = std::max({width_of(sides_[0].policy), width_of(sides_[1].policy), kBoth.size()});
  if (form_ == Form::json) return;
  const TraceTitle both{title.id, title.about, sides_[0].policy + " against " + sides_[1].policy};
  out_.write((first_trace_ ? "" : "\n") + title_lines(look_, both));
  first_trace_ = false;
}

void ReplayDiff::decided(Instant at, std::span<const Decision> first,
                         std::span<const Decision> second) {
  bool changed = false;
  const auto take = [&](Side& side, std::span<const Decision> decisions) {
    for (const Decision& decision : decisions) {
      if (!is_verdict(decision)) continue;
      side.verdict = decision;
      side.since = at;
      changed = true;
    }
  };
  take(sides_[0], first);
  take(sides_[1], second);
  compare_verdicts(at, changed);
  compare_actions(at, first, second, sides_[0]);
  compare_actions(at, second, first, sides_[1]);
}

void ReplayDiff::compare_verdicts(Instant at, bool changed) {
  if (!changed || (!apart_ && !differ())) return;
  if (apart_) counts_.apart += at - apart_since_;
  if (!apart_) ++counts_.spans;
  apart_ = differ();
  apart_since_ = at;
  if (form_ == Form::text && !apart_) {
    const Side& newer = sides_[0].since == at ? sides_[0] : sides_[1];
    const Verdict verdict = newer.verdict.verdict;
    put_line(at, kBoth, word(verdict), ink_of(verdict), reasons_of(newer.verdict));
  } else {
    for (const Side& side : sides_) put_verdict(at, side);
  }
}

/// Shows each action of mine that the others do not take at the same time.
void ReplayDiff::compare_actions(Instant at, std::span<const Decision> mine,
                                 std::span<const Decision> others, const Side& side) {
  for (const Decision& action : mine) {
    if (is_verdict(action)) continue;
    const auto is_same = [&](const Decision& other) { return same_action(action, other); };
    if (std::ranges::none_of(others, is_same)) put_action(at, side, action);
  }
}

void ReplayDiff::put_verdict(Instant at, const Side& side) {
  const Verdict verdict = side.verdict.verdict;
  const bool is_new = side.since == at;
  if (form_ == Form::json) {
    out_.write(is_new ? decision_as_json(at, side.verdict, side.policy)
                      : standing_as_json(at, side.verdict, side.policy, side.since));
  } else {
    const std::string since = "since " + time_label(side.since.time_since_epoch());
    put_line(at, side.policy, word(verdict), ink_of(verdict),
             is_new ? reasons_of(side.verdict) : since);
  }
}

void ReplayDiff::put_action(Instant at, const Side& side, const Decision& action) {
  ++counts_.actions;
  if (form_ == Form::json) {
    out_.write(decision_as_json(at, action, side.policy));
  } else {
    put_line(at, side.policy, fmt::format("{} {}", look_.arrow(), action_words(action)), Ink::bold,
             reasons_of(action));
  }
}

void ReplayDiff::put_line(Instant at, std::string_view who, std::string_view what, Ink ink,
                          std::string_view why) {
  const std::string time = at == printed_ ? "" : time_label(at.time_since_epoch());
  std::string line = look_.in(Ink::faint, right_aligned(time, kTimeWidth)) + "  ";
  line += left_aligned(on_one_line(who), name_width_) + "  " + look_.in(ink, what);
  const std::size_t width = width_of(what);
  line.append(width < kWhatWidth ? kWhatWidth - width : 1, ' ');
  const std::size_t column = kTimeWidth + 2 + name_width_ + 2 + kWhatWidth;
  look_.flow(line, std::max(column, column - kWhatWidth + width + 1), column, why);
  out_.write(line);
  printed_ = at;
}

bool ReplayDiff::end(Instant last) {
  if (apart_) counts_.apart += last - apart_since_;
  const bool differed = counts_.spans > 0 || counts_.actions > 0;
  if (form_ == Form::json) {
    out_.write(counts_as_json(counts_));
  } else if (!differed) {
    out_.write("  both judge it alike\n");
  } else {
    out_.write(fmt::format("  verdicts differ for {} in {} {}; {} {} taken by one alone\n",
                           time_label(counts_.apart), counts_.spans,
                           counts_.spans == 1 ? "span" : "spans", counts_.actions,
                           counts_.actions == 1 ? "action" : "actions"));
  }
  return differed;
}

void ReplayDiff::sum(std::size_t traces, const std::vector<std::string>& differ) {
  if (form_ == Form::json) {
    out_.write(diff_sum_as_json(traces, differ));
    return;
  }
  std::string line = "\n";
  look_.flow(line, 0, 2,
             differ.empty()
                 ? fmt::format("{} traces: both policies judge all alike", traces)
                 : fmt::format("{} traces: {} judged otherwise: {}", traces, differ.size(),
                               on_one_line(fmt::format("{}", fmt::join(differ, ", ")))));
  out_.write(line);
}

}  // namespace tend
