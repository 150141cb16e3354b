// The part of the ladder that only tells people: questions, holds, an unfit observer, oddities,
// and the rungs that a person configured. See ladder.h.
#include "judge/ladder.h"

#include <algorithm>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongHold = 600s;  // a provider's hold worth a notice
constexpr Duration kLongUnfit = 300s;
constexpr Duration kMayLinger = 600s;     // a finished agent's process
constexpr Duration kNoSignAtAll = 3600s;  // policy plain
constexpr std::int64_t kMostReminders = 1'000'000;

Reason aged(Because what, Duration age, Duration limit = {}) {
  Reason reason;
  reason.because = what;
  reason.age = age;
  reason.limit = limit;
  return reason;
}

}  // namespace

void Ladder::notices(const Scene& scene, Verdict verdict, std::vector<Decision>& out) {
  if (scene.evidence.parents_replaced != adoptions_seen_) {
    adoptions_seen_ = scene.evidence.parents_replaced;
    act(scene, verdict, Action::adopt, aged(Because::parent_replaced, {}), out);
  }
  if (!scene.watch.unfit_since) {
    unfit_told_ = false;
  } else if (!unfit_told_ && scene.horizon.due(*scene.watch.unfit_since + kLongUnfit)) {
    unfit_told_ = true;
    act(scene, verdict, Action::notify,
        aged(Because::observer_unfit, scene.clocks.awake() - *scene.watch.unfit_since), out);
    out.back().reasons[0].name = Name(word(scene.finding.unfit));
  }
  notice_person(scene, out);
  notice_provider(scene, out);
  notice_oddities(scene, verdict, out);
}

void Ladder::notice_person(const Scene& scene, std::vector<Decision>& out) {
  const Life& life = scene.evidence.life;
  if (!life.person_since) {
    person_told_.reset();
    return;
  }
  if (life.gone() && !life.questions.empty()) return;
  const Because what =
      life.questions.empty() ? Because::credentials_refused : Because::question_open;
  const Duration age = scene.clocks.active() - *life.person_since;
  Reason why = aged(what, age);
  why.count = static_cast<std::uint32_t>(life.questions.size());
  if (person_told_ != life.person_since) {
    person_told_ = life.person_since;
    person_reminders_ = 0;
    act(scene, Verdict::waiting, Action::notify, why, out);
  }
  const Duration every = scene.policy.limits.person;
  if (every >= kNoLimit || every <= Duration{}) return;
  const auto reminders =
      static_cast<std::uint32_t>(std::min<std::int64_t>(age / every, kMostReminders));
  if (reminders > person_reminders_) {
    person_reminders_ = reminders;
    act(scene, Verdict::waiting, Action::warn, why, out);
  }
  (void)scene.horizon.due(*life.person_since + every * (reminders + 1));
}

void Ladder::notice_provider(const Scene& scene, std::vector<Decision>& out) {
  Life& life = scene.evidence.life;
  if (!life.hold || life.hold->cause == Cause::auth) return;
  Hold& hold = *life.hold;
  const bool limited = hold.cause == Cause::rate || hold.cause == Cause::quota;
  Reason why = aged(Because::provider_holds, scene.clocks.active() - hold.opened);
  why.name = Name(word(hold.cause));
  if (hold.until) why.limit = std::max(Duration{}, *hold.until - scene.clocks.now());
  if (!hold.announced && (limited || hold.until)) {
    hold.announced = true;
    act(scene, Verdict::waiting, Action::hold, why, out);
  }
  if (hold.notified) return;
  const bool known_long = hold.until && !hold.over && why.age + why.limit > kLongHold;
  const bool grown_long = !hold.until && !hold.over && scene.horizon.due(hold.opened + kLongHold);
  if (known_long || grown_long) {
    hold.notified = true;
    act(scene, Verdict::waiting, Action::notify, why, out);
  }
}

void Ladder::notice_oddities(const Scene& scene, Verdict verdict, std::vector<Decision>& out) {
  const Life& life = scene.evidence.life;
  const SilenceTime now = scene.clocks.silence();
  const bool in_doubt = verdict == Verdict::suspect || verdict == Verdict::stalled;

  const bool stopped = life.probe == ProcessState::stopped;
  if (!stopped) stopped_told_ = false;
  if (stopped && in_doubt && !stopped_told_) {
    stopped_told_ = true;
    act(scene, verdict, Action::notify, aged(Because::stopped_without_pause, {}), out);
  }
  if (!life.stuck) stuck_told_ = false;
  if (life.stuck && in_doubt && !stuck_told_) {
    stuck_told_ = true;
    const bool is_watched = scene.policy.promise == Promise::watched;
    act(scene, verdict, is_watched ? Action::escalate : Action::notify,
        aged(Because::stuck_by_own_word, now - life.stated.value_or(now)), out);
  }

  const bool there = life.probe == ProcessState::running || stopped;
  if (verdict != Verdict::finished) {
    lingers_since_.reset();
    lingers_told_ = false;
  } else if (!lingers_since_) {
    lingers_since_ = now;
  }
  if (lingers_since_ && there && !lingers_told_ &&
      scene.horizon.due(*lingers_since_ + kMayLinger)) {
    lingers_told_ = true;
    act(scene, verdict, Action::notify, aged(Because::lingers, now - *lingers_since_), out);
  }

  const bool watched = verdict == Verdict::starting || verdict == Verdict::working;
  if (scene.policy.promise == Promise::nothing && watched && silence_told_ != life.last_sign &&
      scene.horizon.due(life.last_sign + kNoSignAtAll)) {
    silence_told_ = life.last_sign;
    act(scene, verdict, Action::notify, aged(Because::no_sign_at_all, now - life.last_sign), out);
  }
}

void Ladder::configured_rungs(const Scene& scene, Verdict verdict, std::vector<Decision>& out) {
  const Silence& silence = scene.finding.silence;
  const bool counts = verdict == Verdict::starting || verdict == Verdict::working ||
                      verdict == Verdict::suspect || verdict == Verdict::stalled;
  if (scene.policy.ladder.empty() || !counts || silence.excused) return;
  if (rungs_base_ != silence.base) {
    rungs_base_ = silence.base;
    rungs_taken_ = 0;
  }
  for (std::size_t i = 0; i < scene.policy.ladder.size() && i < kMostRungs; ++i) {
    const Rung& rung = scene.policy.ladder[i];
    const std::uint32_t bit = 1U << i;
    if ((rungs_taken_ & bit) != 0 || !scene.horizon.due(silence.base + rung.after)) continue;
    const Reason why =
        aged(Because::ladder_rung, scene.clocks.silence() - silence.base, rung.after);
    if (!is_destructive(rung.action)) {
      rungs_taken_ |= bit;
      act(scene, verdict, rung.action, why, out);
      continue;
    }
    if (verdict != Verdict::stalled || episode_.killed || silence.all_ended) continue;
    const Planes planes =
        look_at_planes(scene.evidence, scene.policy, silence, scene.exiting, scene.horizon);
    if (planes.agreeing() < kPlanesNeeded || scene.fitness.fleet_is_silent(scene.horizon)) continue;
    rungs_taken_ |= bit;
    kill(scene, verdict, why, out);  // resume and restart follow when it is proven gone
  }
}

}  // namespace tend
