// The phases of the contract, each in a function of its own; see silence.h.
#include "judge/silence.h"

#include <algorithm>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kToolSlack = 60s;   // beyond the limit that a call itself declared
constexpr Duration kAllEnded = 60s;    // everything awaited is over, and nothing followed
constexpr Duration kAfterHold = 120s;  // a hold's time came: so long for the first word
constexpr Duration kStartCeiling = 600s;
constexpr Duration kFinalError = 120s;

/// What the children are up to, all together.
struct Children {
  const Child* at_work = nullptr;
  const Child* in_doubt = nullptr;  // the one that excuses longest
  AwakeTime doubt_ends{};
  bool any_ended = false;
  SilenceTime last_ended{};
  std::uint32_t waiting_for_parent = 0;
  SilenceTime first_asked{};

  [[nodiscard]] bool all_ended() const {
    return any_ended && at_work == nullptr && in_doubt == nullptr && waiting_for_parent == 0;
  }
};

Children survey(const Life& life, const Policy& policy, const Clocks& clocks, Horizon& horizon) {
  Children children;
  for (const Child& child : life.children) {
    switch (what_is(child, clocks.awake())) {
      case ChildIs::at_work:
        (void)horizon.due(child.told + kChildWordHolds);
        children.at_work = &child;
        break;
      case ChildIs::waiting_for_parent:
        (void)horizon.due(child.told + kChildWordHolds);
        children.first_asked = children.waiting_for_parent == 0
                                   ? child.asked
                                   : std::min(children.first_asked, child.asked);
        ++children.waiting_for_parent;
        break;
      case ChildIs::in_doubt: {
        const AwakeTime ends = doubted_since(child) + policy.limits.children;
        if (children.in_doubt == nullptr || ends > children.doubt_ends) {
          children.in_doubt = &child;
          children.doubt_ends = ends;
        }
        break;
      }
      case ChildIs::ended:
        children.last_ended =
            children.any_ended ? std::max(children.last_ended, child.ended) : child.ended;
        children.any_ended = true;
        break;
    }
  }
  return children;
}

/// Measures one moment. A class only because every phase needs the same five things.
class Measure {
 public:
  Measure(const Evidence& evidence, const Policy& policy, const Exiting& exiting,
          const Clocks& clocks, Horizon& horizon)
      : evidence_(evidence),
        life_(evidence.life),
        limits_(policy.limits),
        unseen_rest_(policy.unseen_rest),
        answer_(policy.answer),
        exiting_(exiting),
        clocks_(clocks),
        children_(survey(evidence.life, policy, clocks, horizon)) {}

  Silence silence() {
    choose_phase();
    question();
    return now_;
  }

 private:
  void choose_phase() {
    if (exiting_.by != ExitBy::nothing) return exiting();
    if (life_.awaits_person()) return person();
    if (life_.hold && !tool_since_hold()) return retry();
    if (life_.compacting) return plain_phase(Phase::compact, limits_.compact, Because::compacting);
    if (life_.foreground_tool_open()) return tool();
    if (life_.stage == Stage::rest) return rest();
    if (life_.stage == Stage::model || life_.stream_seen) {
      if (life_.real_seen) return plain_phase(Phase::model, limits_.model, Because::silent_within);
    }
    return life_.real_seen ? beats() : start();
  }

  /// A call that was opened after the hold is work in progress, once the hold's time came.
  [[nodiscard]] bool tool_since_hold() const {
    return life_.hold->over &&
           std::any_of(life_.tools.begin(), life_.tools.end(), [&](const Tool& t) {
             return t.foreground_of_lead() && t.opened >= life_.hold->began;
           });
  }

  [[nodiscard]] SilenceTime last_sign() const {
    return std::max(life_.real_seen ? life_.last_real : life_.spawned, life_.clock_restarted);
  }

  void plain_phase(Phase phase, Duration limit, Because because) {
    now_.phase = phase;
    now_.calm = Verdict::working;
    now_.base = last_sign();
    now_.since = now_.base;
    now_.limit = limit;
    now_.because = because;
    now_.limited = limit < kNoLimit;
    now_.deadline = now_.base + limit;
    now_.ceiling = now_.base + 2 * std::min(limit, kNoLimit / 4);
    declared_silence();
    final_error();
  }

  void start() {
    plain_phase(Phase::start, limits_.start, Because::no_sign_yet);
    now_.calm = Verdict::starting;
    now_.ceiling = now_.base + kStartCeiling;
  }

  void beats() {
    plain_phase(Phase::beats, limits_.beats.suspect,
                life_.beat_seen ? Because::beats_within : Because::silent_within);
    if (life_.beat_seen) now_.since = life_.last_beat;
    const Duration stalled = std::min(limits_.beats.stalled, kNoLimit / 4);
    now_.stalled_from = now_.base + stalled;
    now_.ceiling = now_.base + 2 * stalled;
  }

  /// Nothing renews it: what counts is the exit.
  void exiting() {
    now_.phase = Phase::exiting;
    now_.calm = Verdict::working;
    now_.base = exiting_.from;
    now_.since = exiting_.from;
    now_.limit = limits_.exiting;
    now_.deadline = now_.base + now_.limit;
    now_.ceiling = now_.base + 2 * now_.limit;
    now_.because = Because::stop_ordered;
    if (exiting_.by == ExitBy::own_word) {
      now_.because = Because::exiting_announced;
      declared_silence();
    }
  }

  void person() {
    unlimited(Phase::person, Verdict::waiting,
              life_.questions.empty() ? Because::credentials_refused : Because::question_open);
    now_.count = static_cast<std::uint32_t>(life_.questions.size());
    now_.excused = true;
  }

  void retry() {
    const Hold& hold = *life_.hold;
    unlimited(Phase::retry, Verdict::waiting, Because::provider_holds);
    now_.name = Name(word(hold.cause));
    if (!hold.over) {
      now_.excused = true;
      return;
    }
    now_.because = Because::hold_over;
    now_.limited = true;
    now_.base = hold.until ? std::max(*hold.over, last_sign()) : *hold.over;
    now_.since = now_.base;
    now_.limit = hold.until ? kAfterHold : Duration{};
    now_.deadline = now_.base + now_.limit;
    if (!hold.until && last_sign() > *hold.over) {
      now_.base = last_sign();
      now_.deadline = now_.base + limits_.retry;
    }
    now_.ceiling = now_.base + 2 * now_.limit;
    // Its own timer may still run: that is no reason to end it.
    if (hold.to_wait > Duration{}) {
      now_.stalled_from = *hold.over + kAfterHold + hold.to_wait + limits_.confirm;
      now_.ceiling += hold.to_wait;
    }
  }

  void tool() {
    now_.phase = Phase::tool;
    now_.calm = Verdict::working;
    now_.base = last_sign();
    now_.because = Because::tool_open;
    const bool waits_for_child = life_.child_tool_open();
    if (waits_for_child && (children_.at_work != nullptr || life_.children_awaited)) {
      now_.phase = Phase::children;
    }
    if (children_.at_work != nullptr) {
      unlimited(now_.phase, Verdict::working, Because::child_at_work);
      now_.name = children_.at_work->name;
      now_.since = now_.base;
      now_.excused = true;
      return;
    }

    bool only_child_tools = true;
    bool first = true;
    for (const Tool& t : life_.tools) {
      const bool of_sub_agent = !t.task.empty() && !t.background;
      const bool counts =
          (t.foreground_of_lead() && !t.circling) || (of_sub_agent && waits_for_child);
      if (!counts) continue;
      if (!t.child || of_sub_agent) only_child_tools = false;
      const Duration limit = limit_of(t, limits_);
      const SilenceTime deadline = std::max(now_.base + limit, t.beaten_to);
      if (!first && deadline <= now_.deadline) continue;
      first = false;
      now_.deadline = deadline;
      now_.limit = limit;
      now_.name = t.tool;
      now_.since = t.opened;
    }
    now_.limited = now_.limit < kNoLimit;
    now_.ceiling = now_.base + 2 * std::min(now_.limit, kNoLimit / 4);
    if (only_child_tools && life_.children_awaited && children_.all_ended()) {
      return all_ended(Because::children_ended, children_.last_ended);
    }
    if (waits_for_child || life_.children_awaited) child_in_doubt();
    declared_silence();
    final_error();
  }

  void rest() {
    if (children_.at_work != nullptr) {
      unlimited(Phase::children, Verdict::waiting, Because::child_at_work);
      now_.name = children_.at_work->name;
      now_.since = last_sign();
      now_.excused = true;
      return;
    }
    if (life_.background_running()) {
      background();
      if (life_.children_awaited) child_in_doubt();
      return;
    }
    if (life_.children_awaited && children_.in_doubt != nullptr) {
      now_.phase = Phase::children;
      now_.calm = Verdict::waiting;
      now_.base = last_sign();
      now_.since = now_.base;
      now_.deadline = now_.base + limits_.children;
      now_.ceiling = now_.base + 2 * limits_.children;
      return child_in_doubt();
    }
    if (life_.children_awaited && children_.all_ended()) {
      now_.phase = Phase::children;
      now_.calm = Verdict::waiting;
      return all_ended(Because::children_ended,
                       std::max(children_.last_ended, life_.background_changed));
    }
    if (life_.background_awaited && children_.waiting_for_parent == 0) {
      now_.phase = Phase::background;
      now_.calm = Verdict::waiting;
      return all_ended(Because::background_ended, life_.background_changed);
    }
    idle();
  }

  void background() {
    plain_phase(Phase::background, limits_.background, Because::background_at_work);
    now_.calm = Verdict::waiting;
    const std::size_t tools = life_.background_tools_open();
    now_.count = std::max(life_.background_left, static_cast<std::uint32_t>(tools));
    for (const Tool& t : life_.tools) {
      if (t.background) now_.deadline = std::max(now_.deadline, t.beaten_to);
    }
  }

  void idle() {
    now_.phase = Phase::idle;
    now_.calm = Verdict::idle;
    now_.limit = limits_.idle;
    const SilenceTime rested = std::max(life_.rested, last_sign());
    now_.since = rested;
    now_.because = Because::turn_over;
    std::optional<SilenceTime> arrived;
    const auto work = [&](SilenceTime at, std::uint32_t n) {
      arrived = arrived ? std::min(*arrived, at) : at;
      now_.count += n;
    };
    if (evidence_.inbox > 0) work(evidence_.inbox_since, evidence_.inbox);
    for (const ClaimedTask& task : evidence_.tasks) work(task.claimed, 1);
    if (children_.waiting_for_parent > 0) {
      work(children_.first_asked, children_.waiting_for_parent);
    }
    now_.limited = (arrived.has_value() || life_.turn_failed) && now_.limit < kNoLimit;
    if (arrived) now_.because = Because::work_waiting;
    if (life_.turn_failed) {
      now_.because = Because::turn_failed;
      now_.name = life_.turn_error;
    }
    now_.base = life_.turn_failed ? rested : std::max(rested, arrived.value_or(rested));
    now_.since = now_.base;
    now_.deadline = now_.base + now_.limit;
    now_.ceiling = now_.base + 2 * std::min(now_.limit, kNoLimit / 4);
    declared_silence();
    unseen_rest();
  }

  /// One that may be silent for as long as it likes has to answer when it is asked; so does one
  /// that rests, whatever waits for it. What came after the question proves as much as an answer
  /// would.
  void question() {
    const bool rests = now_.phase == Phase::idle;
    const bool is_unlimited =
        !now_.limited && (now_.phase == Phase::start || now_.phase == Phase::beats);
    if (answer_ >= kNoLimit || !(rests || is_unlimited)) return;
    const auto open = std::find_if(life_.pings.begin(), life_.pings.end(),
                                   [](const Ping& ping) { return !ping.overtaken; });
    if (open == life_.pings.end()) return;
    const SilenceTime base = std::max(open->asked, last_sign());
    if (now_.limited && now_.deadline <= base + answer_) return;
    now_.limited = true;
    now_.base = base;
    now_.since = base;
    now_.limit = answer_;
    now_.deadline = base + answer_;
    now_.ceiling = base + 2 * answer_;
    now_.stalled_from = now_.deadline;
    now_.because = Because::not_answered_yet;
    declared_silence();
  }

  /// Where there is a process, its end is seen. A word alone is all that is known of one without:
  /// it may have been its last.
  void unseen_rest() {
    const bool has_process = life_.probe && *life_.probe != ProcessState::unknown;
    if (has_process || !life_.rest_by_word || unseen_rest_ == kNoLimit) return;
    const SilenceTime base = life_.beat_seen ? std::max(life_.last_beat, now_.base) : now_.base;
    if (now_.limited && now_.deadline <= base + unseen_rest_) return;
    now_.limited = true;
    now_.base = base;
    now_.since = base;
    now_.limit = unseen_rest_;
    now_.deadline = base + unseen_rest_;
    now_.ceiling = now_.deadline + limits_.confirm;
    now_.because = Because::idle_by_word;
  }

  void all_ended(Because because, SilenceTime at) {
    now_.because = because;
    now_.all_ended = true;
    now_.limited = true;
    now_.limit = kAllEnded;
    now_.base = std::max(last_sign(), at);
    now_.since = at;
    now_.deadline = now_.base + kAllEnded;
    now_.ceiling = now_.base + 2 * kAllEnded;
  }

  /// A child that is unknown, suspect or stalled excuses its parent for a while.
  void child_in_doubt() {
    if (children_.in_doubt == nullptr) return;
    const SilenceTime excuse_ends = clocks_.silence() + (children_.doubt_ends - clocks_.awake());
    if (excuse_ends <= now_.deadline) return;
    now_.deadline = excuse_ends;
    now_.because = Because::child_in_doubt;
    now_.name = children_.in_doubt->name;
    now_.limit = limits_.children;
    now_.since = excuse_ends - limits_.children;
  }

  void unlimited(Phase phase, Verdict calm, Because because) {
    now_.phase = phase;
    now_.calm = calm;
    now_.because = because;
    now_.limited = false;
    now_.base = last_sign();
    now_.since = now_.base;
  }

  /// `until` of a self-report counts as the limit, at most twice the phase's own; it never
  /// shortens one.
  void declared_silence() {
    if (!life_.quiet_until || !now_.limited) return;
    const SilenceTime until = clocks_.silence() + (*life_.quiet_until - clocks_.now());
    now_.deadline = std::max(now_.deadline, std::min(until, now_.base + 2 * now_.limit));
    now_.limit = std::max(now_.limit, now_.deadline - now_.base);
    now_.ceiling = std::max(now_.ceiling, now_.base + 2 * now_.limit);
  }

  void final_error() {
    if (!life_.final_error) return;
    const SilenceTime cut = *life_.final_error + kFinalError;
    if (now_.limited && now_.deadline <= cut) return;
    now_.limited = true;
    now_.deadline = cut;
    now_.limit = cut - now_.base;
    now_.ceiling = std::min(now_.ceiling, cut + kFinalError);
  }

  const Evidence& evidence_;
  const Life& life_;
  const Limits& limits_;
  const Duration unseen_rest_;
  const Duration answer_;
  const Exiting& exiting_;
  const Clocks& clocks_;
  const Children children_;
  Silence now_;
};

}  // namespace

Silence measure_silence(const Evidence& evidence, const Policy& policy, const Exiting& exiting,
                        const Clocks& clocks, Horizon& horizon) {
  return Measure(evidence, policy, exiting, clocks, horizon).silence();
}

Duration limit_of(const Tool& tool, const Limits& limits) {
  return tool.declared ? tool.limit + kToolSlack : limits.tool;
}

bool child_at_work(const Life& life, AwakeTime now) {
  return std::any_of(life.children.begin(), life.children.end(),
                     [&](const Child& c) { return what_is(c, now) == ChildIs::at_work; });
}

}  // namespace tend
