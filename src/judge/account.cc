// The facts are measured on a copy of the judge's state whose clocks were moved on. What follows is
// not computed but tried: a copy of the judge is stepped through the deadlines that it names.
#include "judge/account.h"

#include <algorithm>

#include "judge/explain.h"
#include "judge/state.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kKillTakes = 1s;  // in the look ahead; in truth it depends on the agent

template <class Time>
SignAge age_of(bool seen, Time last, Time now, Duration limit) {
  if (!seen) return {.limit = limit};
  return {.seen = true, .age = std::max(Duration{}, now - last), .limit = limit};
}

SilenceTime last_sign(const Life& life) {
  return std::max(life.real_seen ? life.last_real : life.spawned, life.clock_restarted);
}

void tell_silence(const JudgeState& state, const Silence& silence, Account& account) {
  const Life& life = state.evidence.life;
  const SilenceTime now = state.clocks.silence();
  const Duration limit = silence.limited ? silence.deadline - silence.base : kNoLimit;
  account.real = age_of(life.real_seen, last_sign(life), now, limit);
  account.excused = silence.excused;
  if (silence.limited && limit < kNoLimit / 2 && !state.clocks.paused() && !state.clocks.held()) {
    account.suspect_in = silence.deadline - now;
  }
  if (life.last_weak) account.weak = now - *life.last_weak;
}

void tell_planes(const JudgeState& state, const Finding& finding, Account& account) {
  const Life& life = state.evidence.life;
  const Clocks& clocks = state.clocks;
  const Silence& silence = finding.silence;
  account.stream = age_of(life.stream_seen, life.last_stream, clocks.silence(),
                          silence.limited ? silence.limit : kNoLimit);
  account.beats =
      age_of(life.beat_seen, life.last_beat, clocks.silence(), state.policy.limits.beats.suspect);
  account.beats_fail = life.beat_failed;
  account.process = life.probe;
  account.exit = life.exit;
  account.self = life.state;
  account.self_age = clocks.silence() - life.stated.value_or(clocks.silence());
  if (life.quiet_until && *life.quiet_until > clocks.now()) {
    account.quiet_for = *life.quiet_until - clocks.now();
  }
  account.stuck = life.stuck;
  for (const Ping& ping : life.pings) {
    if (ping.overtaken) continue;
    ++account.pings_open;
    account.ping_age = std::max(account.ping_age, clocks.active() - ping.sent);
  }
  const bool in_doubt = state.verdict == Verdict::suspect || state.verdict == Verdict::stalled;
  if (!in_doubt || !silence.limited || clocks.silence() < silence.deadline) return;
  Horizon unused(clocks);
  account.planes = look_at_planes(state.evidence, state.policy, silence, state.exiting, unused);
}

void tell_waiting(const JudgeState& state, Account& account) {
  const Life& life = state.evidence.life;
  const Clocks& clocks = state.clocks;
  for (const Tool& tool : life.tools) {
    if (tool.over) continue;
    const Duration limit = limit_of(tool, state.policy.limits);
    const SilenceTime until = std::max(last_sign(life) + limit, tool.beaten_to);
    account.tools.push_back({.tool = tool.tool,
                             .task = tool.task,
                             .age = clocks.silence() - tool.opened,
                             .limit = limit < kNoLimit ? until - tool.opened : kNoLimit,
                             .background = tool.background});
  }
  account.questions = life.questions;
  account.credentials_refused = life.hold && life.hold->cause == Cause::auth;
  if (life.person_since) account.person_age = clocks.active() - *life.person_since;
  if (life.hold) {
    HeldUp& hold = account.hold.emplace();
    hold.cause = life.hold->cause;
    hold.age = clocks.active() - life.hold->opened;
    hold.over = life.hold->over.has_value();
    if (life.hold->until) hold.to_go = std::max(Duration{}, *life.hold->until - clocks.now());
  }
  for (const Child& child : life.children) {
    account.children.push_back({.name = child.name,
                                .verdict = child.verdict,
                                .told = clocks.awake() - child.told,
                                .for_parent = child.for_parent});
  }
  account.background =
      std::max(life.background_left, static_cast<std::uint32_t>(life.background_tools_open()));
  account.inbox = state.evidence.inbox;
  account.tasks = static_cast<std::uint32_t>(state.evidence.tasks.size());
  account.parent = life.parent;
  account.want = state.evidence.want;
}

void tell_budget(const JudgeState& state, Account& account) {
  account.spent = state.ladder.spending().used();
  account.spent_ever = state.ladder.spending().total();
  account.allowed = state.policy.budget.between_refills;
  account.allowed_ever = state.policy.budget.per_agent;
}

bool begins_a_life(const Decision& decision) {
  return decision.kind == Decision::Kind::action &&
         (decision.action == Action::resume || decision.action == Action::restart);
}

bool kills(const Decision& decision) {
  return decision.kind == Decision::Kind::action && decision.action == Action::kill;
}

std::string_view words_for(Action action) {
  switch (action) {
    case Action::warn:
      return "a warning is written";
    case Action::ping:
      return "it is asked for a sign";
    case Action::notify:
      return "a person is told";
    case Action::escalate:
      return "a person is called";
    case Action::hold:
      return "it is held";
    case Action::preserve:
      return "work is saved";
    case Action::kill:
      return "it is ended";
    case Action::resume:
      return "it is resumed";
    case Action::restart:
      return "it is started anew";
    case Action::reassign:
      return "its work goes to others";
    case Action::adopt:
    case Action::degrade:
    case Action::undegrade:
      break;
  }
  return "";
}

/// Steps a judge through what it expects, and takes down what it would decide.
class Oracle {
 public:
  Oracle(Judge judge, Instant now, Account& account)
      : judge_(std::move(judge)), now_(now), account_(account) {}

  void look_ahead() {
    for (int steps = 0; steps < kMostStepsAhead; ++steps) {
      const auto next = judge_.next();
      if (!next) return;
      const bool killed = take({}, *next, false);
      if (over_) return;
      if (!killed) continue;
      // What comes after a kill depends on whether it works; as a rule it does.
      Signal gone;
      gone.is = Kind::process;
      gone.process = ProcessState::gone;
      (void)take({&gone, 1}, *next + kKillTakes, true);
      return;
    }
    account_.more = true;
  }

 private:
  /// True if it would kill.
  bool take(std::span<const Signal> signals, Instant at, bool follows_kill) {
    const Outcome outcome = judge_.step(signals, at);
    bool killed = false;
    for (const Decision& decision : outcome.decisions) {
      if (account_.next.size() == kMostForeseen) {
        account_.more = true;
        over_ = true;
        return false;
      }
      account_.next.push_back({at - now_, decision, follows_kill});
      killed = killed || kills(decision);
      over_ = over_ || begins_a_life(decision);
    }
    return killed;
  }

  Judge judge_;
  Instant now_;
  Account& account_;
  bool over_ = false;
};

}  // namespace

std::span<const Foreseen> first_moment(std::span<const Foreseen> next) {
  const auto end = std::ranges::find_if(next, [&](const Foreseen& one) {
    return one.in != next.front().in || one.follows_kill != next.front().follows_kill;
  });
  return next.first(static_cast<std::size_t>(end - next.begin()));
}

std::string describe(std::span<const Foreseen> together) {
  std::string verdict;
  std::string actions;
  for (const Foreseen& one : together) {
    if (one.decision.kind == Decision::Kind::verdict) {
      verdict = word(one.decision.verdict);
      continue;
    }
    const std::string_view words = words_for(one.decision.action);
    const bool nothing_to_save = one.decision.action == Action::preserve && !one.but.empty();
    if (words.empty() || nothing_to_save) continue;
    actions += (actions.empty() ? "" : ", ") + std::string(words);
    if (!one.but.empty()) actions += " (not done: " + std::string(one.but) + ")";
  }
  return verdict + (verdict.empty() || actions.empty() ? "" : ": ") + actions;
}

Account account(const Judge& judge, Instant now) {
  JudgeState state = *judge.state_;
  Account account;
  account.verdict = state.verdict;
  account.phase = state.phase;
  if (!state.stepped) return account;
  now = std::max(now, state.clocks.now());
  state.clocks.move_to(now);

  Horizon horizon(state.clocks);
  const Finding finding = find(state.evidence, state.policy, state.exiting, state.fitness,
                               state.verdict, state.watch, state.clocks, horizon);
  const Scene scene{state.evidence, state.policy, state.exiting, state.fitness,
                    state.watch,    finding,      state.clocks,  horizon};
  Decision words;
  explain(scene, state.ladder, state.verdict, words);
  for (Reason reason : words.because()) {
    // An age that grows while it is read need not be exact.
    reason.age = std::chrono::floor<std::chrono::seconds>(reason.age);
    account.because.push_back(reason);
  }
  if (finding.unfit != Unfit::fit) account.unfit = word(finding.unfit);
  tell_silence(state, finding.silence, account);
  tell_planes(state, finding, account);
  tell_waiting(state, account);
  tell_budget(state, account);

  Judge copy{Policy{}};
  *copy.state_ = *judge.state_;
  Oracle(std::move(copy), now, account).look_ahead();
  return account;
}

}  // namespace tend
