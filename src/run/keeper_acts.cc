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

bool belongs_to_chain(Action action) {
  return action == Action::preserve || action == Action::kill || action == Action::resume ||
         action == Action::restart;
}

bool is_for_person(Action action) { return action == Action::notify || action == Action::escalate; }

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
  finish_act(ruling, "noted");
}

/// It is told when the command that tells it has ended well; if we die before, it is told again.
void Keeper::tell_person(const Ruling& ruling) {
  pulse_->change().note = ruling.why;
  if (!tell_) return finish_act(ruling, "there is no --notify");
  Incident incident = incident_of(ruling.action, ruling.why);
  incident.verdict = word(ruling.verdict);
  incident.what_to_do = what_to_do(ruling, settings_.agent.agent);
  if (auto told = tell_->tell(incident); !told) return finish_act(ruling, told.error().text);
  telling_.push_back(ruling);
  action_event(ruling, "");
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
  // A round in which we were not fit to judge, or the second look after it.
  const Verdict verdict = recorder_->judge().verdict();
  if (verdict == Verdict::unknown) return true;
  if (verdict == Verdict::suspect && ruling.verdict == Verdict::stalled) return true;
  if (verdict != Verdict::stalled || ruling.verdict != Verdict::stalled) return false;
  const Instant now = machine_.clock.now();
  if (kill_after_ && now < *kill_after_) return true;
  kill_after_.reset();
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
    finish_first(saved ? saved->what : "not saved: " + saved.error().text);
    if (!saved) event("note", "work could not be saved: " + saved.error().text, "", true);
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

std::string Keeper::why_not_kill(const Ruling& ruling) {
  const Verdict verdict = recorder_->judge().verdict();
  if (!process_) return "its process is gone already";
  if (ruling.life != recorder_->life()) return "a new life has begun already";
  if (verdict != ruling.verdict) return fmt::format("it is {} now", word(verdict));
  if (only_watches()) return "it is only watched";
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
  if (!holds_lock()) return;
  acting_ = true;
  ended_by_ = "killed by tend: " + ruling.why;
  record_.hung = true;
  std::ignore = lock_->write(record_);
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    finish_first(ended.how);
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
  if (const std::string why = why_not_begin(ruling); !why.empty()) {
    finish_first("not done: " + why);
    if (!process_ && ruling.life == recorder_->life()) leave(WorkOutcome::failed, ended_by_);
    return;
  }
  if (process_) {
    // The cure of one that waits for what has ended: it is resumed without having been killed.
    if (!holds_lock()) return;
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

void Keeper::end_processes(bool at_once, std::function<void(const Ended&)> done) {
  EndOrder order;
  order.who = belonging();
  order.now = at_once;
  ending_ = std::make_unique<Ending>(machine_, std::move(order), std::move(done));
}

}  // namespace tend
