// One step of judging, as a table of contents: take the signals, let time pass, find what the
// evidence says, settle the verdict, climb the ladder.
#include "judge/judge.h"

#include <algorithm>
#include <utility>

#include "judge/explain.h"
#include "judge/horizon.h"
#include "judge/state.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kRetriesInARow = 6h;  // retries without a named end, from the first on

bool in_silence(Verdict verdict) {
  return verdict == Verdict::suspect || verdict == Verdict::stalled || verdict == Verdict::looping;
}

/// Suspect or worse, also under a round of unfitness, and no real sign in this very moment.
bool weak_signs_open_nothing(const JudgeState& state) {
  const Life& life = state.evidence.life;
  const bool just_seen = life.real_seen && life.last_real == state.clocks.silence();
  const bool hidden = state.watch.unfit_since && state.watch.trouble_before;
  return !just_seen && (in_silence(state.verdict) || hidden);
}

void absorb(JudgeState& state, std::span<const Signal> signals) {
  // Sleep comes first: every other signal of this moment was seen after it.
  for (const Signal& signal : signals) {
    const bool of_old_life = signal.life != 0 && signal.life < state.evidence.life_number;
    if (signal.is == Kind::suspend && !of_old_life) state.clocks.slept(signal.seconds);
  }
  for (const Signal& signal : signals) {
    const std::uint32_t life = state.evidence.life_number;
    if (!state.evidence.absorb(signal, state.clocks, weak_signs_open_nothing(state))) continue;
    state.fitness.absorb(signal, state.clocks);
    if (state.evidence.life_number != life) {
      state.ladder.life_began();
      state.watch.trouble_before = false;
    }
  }
}

/// True for a signal that changes no fact: it proves nothing, or says again what is known.
bool says_nothing_new(const Signal& signal, const Evidence& evidence) {
  if (signal.life != 0 && signal.life < evidence.life_number) return true;
  switch (signal.is) {
    case Kind::noise:
    case Kind::clock_step:
    case Kind::acted:
      return true;
    case Kind::beat:
      return signal.by != BeatBy::agent;
    case Kind::process:
      return evidence.life.probe == signal.process && signal.exit.how == Exit::How::unknown;
    default:
      return false;
  }
}

/// Nothing new and nothing due: every comparison of the last step would come out the same.
bool may_skip(const JudgeState& state, std::span<const Signal> signals, Instant now) {
  if (!state.stepped || (state.next && now >= *state.next)) return false;
  if (state.watch.new_policy) return false;
  return std::all_of(signals.begin(), signals.end(), [&](const Signal& signal) {
    return says_nothing_new(signal, state.evidence);
  });
}

/// A provider's hold ends by itself, at its time.
void end_hold(Evidence& evidence, const Policy& policy, const Clocks& clocks, Horizon& horizon) {
  Life& life = evidence.life;
  if (!life.hold || life.hold->over) return;
  Hold& hold = *life.hold;
  if (hold.cause == Cause::auth && !life.gone()) return;
  const ActiveTime gives_up = std::min(hold.last + std::min(policy.limits.retry, kRetriesInARow),
                                       hold.first + kRetriesInARow);
  const bool over = hold.until ? horizon.due(*hold.until) : horizon.due(gives_up);
  if (!over) return;
  hold.over = clocks.silence();
  // Its own timer stood still with the machine, or with itself when it was paused.
  if (hold.until) hold.to_wait = std::max(Duration{}, hold.waited - clocks.active());
}

/// When the agent has to be gone, and by whose word.
Exiting exiting_now(const Evidence& evidence, const Exiting& before, const Clocks& clocks) {
  const Life& life = evidence.life;
  if (evidence.want == Want::stop) return {ExitBy::stop, evidence.wanted};
  if (evidence.want == Want::drain) {
    const bool turn_over = life.stage == Stage::rest && !life.background_running();
    const bool work_over = !life.stream_seen && !evidence.holds_task() && evidence.seen;
    if (turn_over || work_over) {
      return before.by == ExitBy::drain ? before : Exiting{ExitBy::drain, clocks.silence()};
    }
  }
  const bool held_up = life.awaits_person() || (life.hold && !life.hold->over);
  if (life.exiting && !held_up) return {ExitBy::own_word, *life.exiting};
  return {};
}

/// Silence stands still while a person or the provider is waited for.
bool silence_stands_still(const Evidence& evidence, const Exiting& exiting) {
  if (exiting.by != ExitBy::nothing) return false;
  const Life& life = evidence.life;
  return life.awaits_person() || (life.hold && !life.hold->over);
}

/// What was at work while the agent waited is awaited from then on, also when it has ended.
void note_awaited(Life& life, AwakeTime now) {
  const bool waits = life.stage == Stage::rest || life.foreground_tool_open();
  if (waits && child_at_work(life, now)) life.children_awaited = true;
  if (life.stage == Stage::rest && life.background_running()) life.background_awaited = true;
}

}  // namespace

Judge::Judge(Policy policy) : state_(std::make_unique<JudgeState>()) {
  state_->policy = std::move(policy);
}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

Outcome Judge::step(std::span<const Signal> signals, Instant now) {
  JudgeState& state = *state_;
  state.decisions.clear();
  state.clocks.move_to(state.stepped ? std::max(now, state.clocks.now()) : now);
  if (may_skip(state, signals, now)) return {{}, state.next};
  state.clocks.begin();
  if (state.watch.new_policy < state.clocks.now()) state.watch.new_policy.reset();
  absorb(state, signals);

  // The clocks are set before anybody asks the horizon: one that stands still names no deadline.
  state.clocks.set_paused(state.evidence.paused());
  Horizon horizon(state.clocks);
  end_hold(state.evidence, state.policy, state.clocks, horizon);
  state.exiting = exiting_now(state.evidence, state.exiting, state.clocks);
  note_awaited(state.evidence.life, state.clocks.awake());
  state.clocks.set_held(silence_stands_still(state.evidence, state.exiting));

  const Finding finding = find(state.evidence, state.policy, state.exiting, state.fitness,
                               state.verdict, state.watch, state.clocks, horizon);
  const Scene scene{state.evidence, state.policy, state.exiting, state.fitness,
                    state.watch,    finding,      state.clocks,  horizon};
  const Verdict verdict = state.ladder.settle(scene);
  state.phase = finding.silence.phase;
  if (verdict != state.verdict || !state.stepped) {
    Decision& change = state.decisions.emplace_back();
    change.kind = Decision::Kind::verdict;
    change.verdict = verdict;
    change.phase = finding.silence.phase;
    explain(scene, state.ladder, verdict, change);
  }
  state.verdict = verdict;
  state.stepped = true;
  state.ladder.climb(scene, verdict, state.decisions);
  state.next = horizon.next();
  return {state.decisions, state.next};
}

Verdict Judge::verdict() const { return state_->verdict; }
Phase Judge::phase() const { return state_->phase; }
std::optional<ParentState> Judge::parent() const { return state_->evidence.life.parent; }
Want Judge::want() const { return state_->evidence.want; }

std::uint32_t Judge::inbox() const { return state_->evidence.inbox; }
const Policy& Judge::policy() const { return state_->policy; }
bool Judge::degraded() const { return state_->ladder.degraded(); }
bool Judge::died_an_orphan() const {
  return tend::died_an_orphan(state_->evidence.life, state_->policy);
}
bool Judge::holds_loop() const { return state_->ladder.holds_loop(); }

Asking Judge::asking(Instant at) const {
  const Evidence& evidence = state_->evidence;
  const Life& life = evidence.life;
  const bool is_there = evidence.spawned && !life.gone() && !life.was_stopped;
  const bool is_wanted = evidence.want == Want::run && !evidence.paused();
  const bool rests = life.stage == Stage::rest;
  // Whose turn ended in a limit has nothing of its own to go on with once that is over.
  const bool is_held_up = life.hold && !(life.hold->over && rests);
  const bool is_free = !life.awaits_person() && !is_held_up && !life.compacting &&
                       !life.foreground_tool_open() && state_->exiting.by == ExitBy::nothing;
  Asking asking{.possible = is_there && is_wanted && is_free,
                .seen = life.real_seen,
                .stirs = life.real_seen || life.last_weak.has_value(),
                .answered = life.answered,
                .has_turns = life.stream_seen,
                .rests = rests};
  Clocks clocks = state_->clocks;
  clocks.move_to(std::max(at, clocks.now()));
  const SilenceTime now = clocks.silence();
  asking.silent = now - (life.real_seen ? life.last_real : life.spawned);
  if (life.pings.empty()) return asking;
  const Ping& last = life.pings.back();
  asking.open = last.id;
  asking.overtaken = last.overtaken;
  asking.open_for = now - last.asked;
  return asking;
}

std::uint32_t Judge::resumes() const { return state_->ladder.spending().used(); }
std::uint32_t Judge::all_resumes() const { return state_->ladder.spending().total(); }
std::optional<Instant> Judge::next() const { return state_->next; }

void Judge::look_again() {
  if (state_->stepped) state_->next = state_->clocks.now();
}

void Judge::take_on_policy() {
  look_again();
  const bool in_doubt = state_->verdict == Verdict::suspect || state_->verdict == Verdict::stalled;
  if (state_->stepped && !in_doubt) state_->watch.new_policy = state_->clocks.now();
}

std::size_t Judge::bytes() const {
  const JudgeState& s = *state_;
  return sizeof(Judge) + sizeof(JudgeState) + s.decisions.capacity() * sizeof(Decision) +
         s.evidence.life.tools.capacity() * sizeof(Tool) +
         s.evidence.life.children.capacity() * sizeof(Child) +
         s.evidence.life.questions.capacity() * sizeof(Name) +
         s.evidence.life.pings.capacity() * sizeof(Ping) +
         s.evidence.tasks.capacity() * sizeof(ClaimedTask);
}

}  // namespace tend
