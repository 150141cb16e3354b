// Doing what was decided. Words to people go out at once; preserve, kill and a new life stand in
// one chain, each begun when the one before is over, each looked at again before it is begun: an
// agent that woke up while its work was being saved is not killed.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/backoff.h"
#include "act/launch.h"
#include "base/quote.h"
#include "run/keeper.h"
#include "store/events.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kRetryFile = ".retry-count";
constexpr Duration kSeeOthers = 2s;
constexpr Duration kSavedLongAgo = 60s;
constexpr Duration kHearsFirst = 10s;    // one that never ceases to print is ended all the same
constexpr Duration kTellAgain = 10s;     // after the outbox could not be written
constexpr Duration kProvesItself = 60s;  // a new life, before its trouble is told to be over
constexpr std::size_t kMostTelling = 32;

bool belongs_to_chain(Action action) {
  return action == Action::preserve || action == Action::kill || action == Action::resume ||
         action == Action::restart;
}

bool is_for_person(Action action) { return action == Action::notify || action == Action::escalate; }

/// The judge says only once in an episode that one is to be ended, whichever of both it was first.
bool calls_for_end(Verdict verdict) {
  return verdict == Verdict::stalled || verdict == Verdict::orphaned;
}

/// What a person can do about it, in one line.
std::string what_to_do(const Ruling& ruling, const std::string& agent) {
  if (ruling.verdict == Verdict::looping) {
    return fmt::format(
        "see `tend explain {0}` and `tend logs {0}`; `tend unpause {0}` begins its next life now, "
        "`tend stop {0}` ends it",
        agent);
  }
  return fmt::format("see `tend explain {}`", agent);
}

}  // namespace

void Keeper::take(const Ruling& ruling) {
  if (belongs_to_chain(ruling.action)) {
    if (stopping_ || stage_ >= Stage::leaving) {
      recorder_->did(ruling, "not done: the agent is being stopped");
      return;
    }
    chain_.push_back(ruling);
    const bool had_no_second_look =
        settings_.policy.direct || settings_.policy.limits.confirm < kSeeOthers;
    if (ruling.action == Action::kill && had_no_second_look) {
      kill_after_ = machine_.clock.now() + kSeeOthers;
    }
    return;
  }
  if (is_for_person(ruling.action)) return tell_person(ruling);
  if (ruling.action == Action::ping && watches_stores() && stores_) return poke(ruling);
  if (ruling.action == Action::degrade) return go_down(ruling);
  if (ruling.action == Action::undegrade) return go_up(ruling);
  if (ruling.action == Action::ping && probe_) {
    return finish_act(ruling, probe_->ask_now(asking()));
  }
  if (ruling.action == Action::reassign && task_ && ruling.life == recorder_->life()) {
    return task_->give_back(
        ruling.why, [this, ruling](const std::string& result) { finish_act(ruling, result); });
  }
  finish_act(ruling, "noted");
}

/// It is done when it is in the outbox; until then it is owed, and if we die before, told again.
void Keeper::tell_person(const Ruling& ruling) {
  pulse_->change().note = ruling.why;
  if (ruling.action == Action::escalate) pulse_->change().person_told = true;
  if (!herald_) return finish_act(ruling, "there is no --notify");
  if (telling_.size() >= kMostTelling) {
    return finish_act(ruling, fmt::format("{} notices wait for the outbox: this one is not told",
                                          telling_.size()));
  }
  if (is_told_of_another_life(ruling)) return finish_act(ruling, "a person knows that already");
  Incident incident = incident_of(ruling.action, ruling.why);
  incident.verdict = word(ruling.verdict);
  incident.what_to_do = what_to_do(ruling, settings_.agent.agent);
  telling_.push_back({ruling, std::move(incident)});
  tell_what_waits();
}

/// One that is tried again and again fails for the same reason each time.
bool Keeper::is_told_of_another_life(const Ruling& ruling) const {
  return incident_open_ && told_under_ == ruling.verdict && told_why_ == ruling.why &&
         told_life_ != recorder_->life();
}

void Keeper::tell_what_waits() {
  tell_at_.reset();
  for (; !telling_.empty(); telling_.pop_front()) {
    const Telling& first = telling_.front();
    const auto told = herald_->tell(first.incident);
    if (!told) {
      if (std::exchange(tell_problem_, told.error().text) != told.error().text) {
        event("note", "no person can be told yet: " + tell_problem_, "", true);
      }
      tell_at_ = machine_.clock.now() + kTellAgain;
      return;
    }
    tell_problem_.clear();
    incident_open_ = true;
    told_under_ = first.ruling.verdict;
    told_why_ = first.ruling.why;
    told_life_ = recorder_->life();
    finish_act(first.ruling, *told);
  }
}

void Keeper::leave_untold() {
  for (; !telling_.empty(); telling_.pop_front()) {
    finish_act(telling_.front().ruling, "not told: " + tell_problem_);
  }
}

/// Whoever was told of trouble hears when it is over. What was told while nothing was wrong (it
/// waits for an answer) is over when that changes.
bool Keeper::is_well_again() const {
  if (stopping_) return false;  // its end says more
  const Verdict verdict = recorder_->judge().verdict();
  const bool works = verdict == Verdict::working || verdict == Verdict::finished;
  const bool rests = verdict == Verdict::waiting || verdict == Verdict::idle;
  return (works || (rests && told_under_)) && told_under_ != verdict;
}

/// A life that has just begun counts as working until it shows what it is worth.
void Keeper::close_incident_if_well() {
  if (!herald_ || !incident_open_ || !telling_.empty()) return;
  if (!is_well_again()) {
    well_since_.reset();
    return;
  }
  const Verdict verdict = recorder_->judge().verdict();
  const Instant now = machine_.clock.now();
  if (!well_since_) well_since_ = now;
  if (told_life_ != recorder_->life() && verdict == Verdict::working &&
      now - *well_since_ < kProvesItself) {
    return;
  }
  close_incident(fmt::format("it is {} now", word(verdict)));
}

void Keeper::close_incident(const std::string& why) {
  Incident incident = incident_of(Action::notify, why);
  incident.what_to_do = "nothing: that is over";
  incident_open_ = false;
  told_under_.reset();
  well_since_.reset();
  herald_->close(incident);
}

Incident Keeper::incident_of(Action action, const std::string& why) const {
  return {.agent = settings_.agent.agent,
          .session = settings_.agent.session,
          .life = recorder_->life(),
          .verdict = std::string(word(recorder_->judge().verdict())),
          .phase = std::string(word(recorder_->judge().phase())),
          .because = pulse_->says().because,
          .action = std::string(word(action)),
          .why = why,
          .folder = folder_->path(),
          .at = calendar_seconds(machine_.clock.wall()),
          .what_to_do = {}};
}

void Keeper::finish_act(const Ruling& ruling, std::string_view result) {
  recorder_->did(ruling, result);
  action_event(ruling, result);
}

void Keeper::action_event(const Ruling& ruling, std::string_view result) {
  Event event;
  event.kind = Event::Kind::action;
  event.at = calendar_seconds(machine_.clock.wall());
  event.agent = settings_.agent.agent;
  event.session = settings_.agent.session;
  event.life = recorder_->life();
  event.action = word(ruling.action);
  event.text = ruling.why;
  event.result = result;
  event.needs_person = is_for_person(ruling.action);
  events_.push_back(std::move(event));
}

// --- The chain ----------------------------------------------------------------------------------

bool Keeper::advance_chain() {
  while (!acting_ && !chain_.empty() && stage_ < Stage::leaving && !must_wait(chain_.front())) {
    const std::size_t before = chain_.size();
    switch (chain_.front().action) {
      case Action::preserve:
        do_preserve();
        break;
      case Action::kill:
        do_kill();
        break;
      default:
        do_begin_again();
        break;
    }
    if (chain_.size() == before) break;  // it goes on later
  }
  return std::ranges::any_of(batch_.signals,
                             [](const Signal& signal) { return signal.is == Kind::spawn; });
}

/// Not now, and perhaps soon. The judge has said its word once, so it must not be lost.
bool Keeper::must_wait(const Ruling& ruling) {
  if (ruling.action == Action::preserve) return false;
  if (!recorder_->problem().empty()) return true;  // written down first, done then
  if (ruling.action != Action::kill && wants_pause()) return true;
  if (!process_ || ruling.life != recorder_->life()) return false;
  const Instant now = machine_.clock.now();
  if (kill_after_ && now < *kill_after_) return true;
  kill_after_.reset();
  // A round in which we were not fit to judge, or the second look after it.
  const Verdict verdict = recorder_->judge().verdict();
  if (verdict == Verdict::unknown) return true;
  if (verdict == Verdict::suspect && calls_for_end(ruling.verdict)) return true;
  if (verdict == Verdict::orphaned && ruling.verdict == Verdict::stalled) {
    return now - verdict_since_ < recorder_->judge().policy().limits.grace;
  }
  if (verdict != Verdict::stalled || ruling.verdict != Verdict::stalled) return false;
  if (not_ended_before_ && now < *not_ended_before_) return true;
  not_ended_before_.reset();
  look_at_fleet(now);
  return fleet_silent_;
}

void Keeper::finish_first(std::string_view result) {
  if (chain_.empty()) return;  // an order to stop overtook it
  const Ruling ruling = chain_.front();
  chain_.pop_front();
  finish_act(ruling, result);
}

void Keeper::forget_chain(std::string_view result) {
  for (const Ruling& ruling : std::exchange(chain_, {})) recorder_->did(ruling, result);
}

void Keeper::do_preserve() {
  if (settings_.agent.worktree.empty()) return finish_first("no work tree to save");
  acting_ = true;
  preserve(chain_.front().why, [this](const Result<Preserved>& saved) {
    acting_ = false;
    saved_at_ = machine_.clock.now();
    finish_first(saved ? saved->what : "not saved: " + saved.error().text);
    if (!saved) event("note", "work could not be saved: " + saved.error().text, "", true);
    // It is safe, and its work tree is not as it should be: the next life works in there.
    if (saved && !saved->trouble.empty()) {
      event("note", "work could only be saved as a copy: " + saved->what, "", true);
    }
    look_now();
  });
}

void Keeper::preserve(const std::string& why, std::function<void(const Result<Preserved>&)> done) {
  PreserveOrder order;
  order.agent = settings_.agent.agent;
  order.life = std::max<std::uint32_t>(record_.life, 1);
  order.worktree = settings_.agent.worktree;
  order.why = why;
  order.since = life_began_;
  order.exclude = excluded();
  preserve_ = std::make_unique<Preserve>(machine_, *folder_, std::move(order), std::move(done));
}

/// An end that had to wait saves once more: an orphan, for one, works on meanwhile.
bool Keeper::saves_again(const std::string& why) {
  if (settings_.agent.worktree.empty()) return false;
  if (saved_at_ && machine_.clock.now() - *saved_at_ < kSavedLongAgo) return false;
  acting_ = true;
  preserve(why, [this](const Result<Preserved>& saved) {
    acting_ = false;
    saved_at_ = machine_.clock.now();
    recorder_->remark(saved ? "saved again: " + saved->what
                            : "not saved again: " + saved.error().text);
    look_now();
  });
  return true;
}

std::string Keeper::why_not_kill(const Ruling& ruling) {
  const Verdict verdict = recorder_->judge().verdict();
  if (!process_) return "its process is gone already";
  if (ruling.life != recorder_->life()) return "a new life has begun already";
  const bool is_to_end = calls_for_end(verdict) && calls_for_end(ruling.verdict);
  if (verdict != ruling.verdict && !is_to_end) return fmt::format("it is {} now", word(verdict));
  if (std::string why = why_not_end_watched(); !why.empty()) return why;
  if (settings_.agent.on_stall == OnStall::report && verdict == Verdict::stalled) {
    return "--on-stall report";
  }
  return "";
}

void Keeper::do_kill() {
  const Ruling ruling = chain_.front();
  if (const std::string why = why_not_kill(ruling); !why.empty()) {
    if (process_ && std::exchange(record_.hung, false)) std::ignore = lock_->write(record_);
    return finish_first("not done: " + why);
  }
  if (saves_again(ruling.why) || !holds_lock()) return;
  acting_ = true;
  ended_by_ = "killed by tend: " + ruling.why;
  record_.hung = true;
  std::ignore = lock_->write(record_);
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    if (ended.unseen) {
      kill_after_ = machine_.clock.now() + kLookAgain;
    } else {
      finish_first(ended.how);
    }
    look_now();
  });
}

std::string Keeper::why_not_begin(const Ruling& ruling) {
  const Verdict verdict = recorder_->judge().verdict();
  const OnStall cure = settings_.agent.on_stall;
  if (ruling.life != recorder_->life()) return "a new life has begun already";
  if (only_watches()) return "it is only watched";
  if (process_ && verdict != ruling.verdict) return fmt::format("it is {} now", word(verdict));
  if (process_ && cure == OnStall::report) return "--on-stall report";
  if (process_) return "";
  if (record_.hung) return cure == OnStall::kill ? "--on-stall kill" : "";
  return settings_.agent.restart == RestartPolicy::never ? "--restart never" : "";
}

/// A new life, after a pause that grows with every attempt.
void Keeper::do_begin_again() {
  const Ruling ruling = chain_.front();
  // What a wrapper that died had started may end the work alone. If it was not all of it after all,
  // there is a next life.
  if (!process_ && ruling.life == recorder_->life() && is_done()) {
    begin_at_.reset();
    return;
  }
  if (const std::string why = why_not_begin(ruling); !why.empty()) {
    finish_first("not done: " + why);
    const bool ends_here = !process_ && ruling.life == recorder_->life() && !watches_stores();
    if (ends_here) leave(WorkOutcome::failed, ended_by_);
    return;
  }
  if (process_) {
    // The cure of one that waits for what has ended: it is resumed without having been killed.
    if (saves_again(ruling.why) || !holds_lock()) return;
    acting_ = true;
    ended_by_ = "killed by tend: " + ruling.why;
    record_.hung = true;
    std::ignore = lock_->write(record_);
    end_processes(false, [this](const Ended&) {
      ending_.reset();
      acting_ = false;
      look_now();
    });
    return;
  }
  if (!begin_at_) {
    ++attempts_;
    pause_before_begin(std::max(recorder_->judge().resumes(), 1U) - 1);
    // Whom the same provider held up come back one by one.
    const bool was_held_up = recorder_->judge().phase() == Phase::retry;
    if (was_held_up) *begin_at_ += spread(machine_.entropy.number());
  }
  if (machine_.clock.now() < *begin_at_) return;
  begin_life();
  // For others to read; the journal counts for us. Behind the start: a rename may wait for the
  // disk.
  std::ignore = folder_->replace(kRetryFile, fmt::format("{}\n", attempts_), Folder::Sync::no);
}

void Keeper::pause_before_begin(std::uint32_t attempts_before) {
  begin_at_ = machine_.clock.now() + backoff(attempts_before, machine_.entropy.number());
}

/// An act of the chain is broken off where we are not fit to judge any more, or where the one that
/// is to be ended woke up before it was told. It stays the first of the chain, and is begun anew
/// where the judge says its word again.
void Keeper::break_off_if_void() {
  if (!is_ending_by_verdict()) return;
  const Verdict verdict = recorder_->judge().verdict();
  const Verdict reason = chain_.empty() ? Verdict::looping : chain_.front().verdict;
  const bool woke_up = !has_signalled_ && verdict != reason && !calls_for_end(verdict);
  if (verdict != Verdict::unknown && !woke_up) return;
  ending_.reset();
  acting_ = false;
  ended_by_.clear();
  recorder_->remark("not ended yet: whether it is stuck has to be seen again first");
}

/// Before a look has told us of a sleep, nothing is done that rests on a verdict; nor is it begun
/// before a look has heard what the agent did last.
bool Keeper::may_send_signal() {
  if (pauses_.have_been()) return false;
  const bool hears_first = !has_signalled_ && machine_.clock.now() < hear_until_;
  if (hears_first && senses_->has_news()) {
    look_is_due_ = true;
    if (!looking_) schedule();
    return false;
  }
  has_signalled_ = true;
  return true;
}

void Keeper::end_processes(bool at_once, std::function<void(const Ended&)> done) {
  EndOrder order;
  order.who = belonging();
  order.now = at_once;
  has_signalled_ = false;
  hear_until_ = machine_.clock.now() + kHearsFirst;
  if (!chain_.empty() || rests_on_verdict()) order.may_act = [this] { return may_send_signal(); };
  ending_ = std::make_unique<Ending>(machine_, std::move(order), std::move(done));
}

}  // namespace tend
