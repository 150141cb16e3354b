// For tests only: tells a judge a story, second by second, and remembers what it decided. Deadlines
// between two moments are run as they would be in production.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/judge.h"

namespace tend::testing {

using namespace std::chrono_literals;

inline Signal signal(Kind kind) {
  Signal s;
  s.is = kind;
  return s;
}
inline Signal spawn() { return signal(Kind::spawn); }
inline Signal progress() { return signal(Kind::progress); }
inline Signal turn_start() { return signal(Kind::turn_start); }
inline Signal process(ProcessState state) {
  Signal s = signal(Kind::process);
  s.process = state;
  return s;
}
inline Signal running() { return process(ProcessState::running); }
inline Signal gone(std::optional<int> code = std::nullopt) {
  Signal s = process(ProcessState::gone);
  if (code) s.exit = {Exit::How::code, *code};
  return s;
}
inline Signal beat(BeatBy by) {
  Signal s = signal(Kind::beat);
  s.by = by;
  return s;
}
inline Signal tool_open(std::string_view id, std::string_view tool,
                        std::optional<Duration> limit = std::nullopt) {
  Signal s = signal(Kind::tool_open);
  s.id = id;
  s.tool = tool;
  s.limit = limit;
  s.child_tool = is_named_like_child_tool(tool);
  return s;
}
inline Signal tool_close(std::string_view id, std::uint32_t same = 0) {
  Signal s = signal(Kind::tool_close);
  s.id = id;
  s.same = same;
  return s;
}
inline Signal turn_end(std::uint32_t background = 0) {
  Signal s = signal(Kind::turn_end);
  s.count = background;
  return s;
}
inline Signal retry(Cause cause, std::optional<Duration> until = std::nullopt) {
  Signal s = signal(Kind::retry);
  s.cause = cause;
  s.cause_word = word(cause);
  if (until) s.until = Instant{*until};
  return s;
}
inline Signal ask(std::string_view id) {
  Signal s = signal(Kind::ask);
  s.id = id;
  return s;
}
inline Signal child(std::string_view name, Verdict verdict) {
  Signal s = signal(Kind::child);
  s.child = name;
  s.verdict = verdict;
  return s;
}
inline Signal claim(std::string_view task) {
  Signal s = signal(Kind::task);
  s.task = task;
  s.event = TaskEvent::claim;
  return s;
}
inline Signal want(Want what) {
  Signal s = signal(Kind::intent);
  s.want = what;
  return s;
}
inline Signal lasting(Kind kind, Duration seconds) {
  Signal s = signal(kind);
  s.seconds = seconds;
  return s;
}

class Story {
 public:
  explicit Story(std::string_view policy = "agent") : judge_(*built_in_policy(policy)) {}
  explicit Story(Policy policy) : judge_(std::move(policy)) {}

  /// These signals are seen at `time`; everything due before happens first, but nothing inside the
  /// observer's own sleep or lag.
  Story& at(Duration time, const std::vector<Signal>& signals) {
    Duration away = 1ms;
    for (const Signal& s : signals) {
      if (s.is == Kind::suspend || s.is == Kind::lag) away = std::max(away, s.seconds);
    }
    until(time - away);
    step(signals, Instant{time});
    return *this;
  }

  /// Time passes up to and including `time`.
  Story& until(Duration time) {
    while (next_ && *next_ <= Instant{time}) step({}, *next_);
    return *this;
  }

  [[nodiscard]] Verdict verdict() const { return judge_.verdict(); }
  [[nodiscard]] Phase phase() const { return judge_.phase(); }
  Judge& judge() { return judge_; }

  /// The verdict once `time` has come, with nothing more seen.
  Verdict verdict_at(Duration time) {
    until(time);
    return verdict();
  }

  /// When this action was taken, in the order it happened.
  [[nodiscard]] std::vector<Duration> times_of(Action action) const {
    std::vector<Duration> times;
    for (const auto& [time, taken] : actions_) {
      if (taken == action) times.push_back(time);
    }
    return times;
  }
  [[nodiscard]] bool took(Action action) const { return !times_of(action).empty(); }
  [[nodiscard]] const std::vector<std::pair<Duration, Action>>& actions() const { return actions_; }
  /// The reasons of the last change of verdict, in words.
  [[nodiscard]] const std::vector<std::string>& because() const { return because_; }

 private:
  void step(const std::vector<Signal>& signals, Instant now) {
    const Outcome outcome = judge_.step(signals, now);
    next_ = outcome.next;
    for (const Decision& decision : outcome.decisions) {
      if (decision.kind == Decision::Kind::action) {
        actions_.emplace_back(now.time_since_epoch(), decision.action);
        continue;
      }
      because_.clear();
      for (const Reason& reason : decision.because()) because_.push_back(describe(reason));
    }
  }

  Judge judge_;
  std::optional<Instant> next_;
  std::vector<std::pair<Duration, Action>> actions_;
  std::vector<std::string> because_;
};

}  // namespace tend::testing
