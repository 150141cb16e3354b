// Doing what was decided. Words to people go out at once; preserve, kill and a new life stand in
// one chain, each begun when the one before is over, each looked at again before it is begun: an
// agent that woke up while its work was being saved is not killed.
#include <algorithm>
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

bool belongs_to_chain(Action action) {
  return action == Action::preserve || action == Action::kill || action == Action::resume ||
         action == Action::restart;
}

bool is_for_person(Action action) { return action == Action::notify || action == Action::escalate; }

double calendar_seconds(WallTime wall) {
  return std::chrono::duration<double>(wall.time_since_epoch()).count();
}

/// What a person can do about it, in one line.
std::string what_to_do(const Ruling& ruling, const std::string& agent) {
  if (ruling.verdict == Verdict::looping) {
    return fmt::format("see `tend explain {0}` and `tend logs {0}`; `tend stop {0}` ends it",
                       agent);
  }
  return fmt::format("see `tend explain {}`", agent);
}

}  // namespace

void Keeper::take(const Ruling& ruling) {
  if (belongs_to_chain(ruling.action)) {
    if (stopping_ || stage_ == Stage::leaving) {
      recorder_->did(ruling, "not done: the agent is being stopped");
    } else {
      chain_.push_back(ruling);
    }
    return;
  }
  if (is_for_person(ruling.action)) tell_person(ruling);
  finish_act(ruling, is_for_person(ruling.action) ? "told" : "noted");
}

void Keeper::tell_person(const Ruling& ruling) {
  pulse_->change().note = ruling.why;
  if (!tell_) return;
  Incident incident;
  incident.agent = settings_.agent.agent;
  incident.session = settings_.agent.session;
  incident.life = recorder_->life();
  incident.verdict = word(ruling.verdict);
  incident.phase = word(recorder_->judge().phase());
  incident.because = pulse_->says().because;
  incident.action = word(ruling.action);
  incident.why = ruling.why;
  incident.folder = folder_->path();
  incident.at = calendar_seconds(machine_.clock.wall());
  incident.what_to_do = what_to_do(ruling, settings_.agent.agent);
  if (auto told = tell_->tell(incident); !told) event("note", told.error().text, "", true);
}

void Keeper::finish_act(const Ruling& ruling, std::string_view result) {
  recorder_->did(ruling, result);
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
  if (auto done = append_event(*home_, event); !done) recorder_->remark(done.error().text);
}

// --- The chain ----------------------------------------------------------------------------------

bool Keeper::advance_chain() {
  while (!acting_ && !backoff_ && !chain_.empty()) {
    const Ruling ruling = chain_.front();
    chain_.pop_front();
    bool new_to_judge = false;
    switch (ruling.action) {
      case Action::preserve:
        new_to_judge = do_preserve(ruling);
        break;
      case Action::kill:
        new_to_judge = do_kill(ruling);
        break;
      default:
        new_to_judge = do_begin_again(ruling);
        break;
    }
    if (new_to_judge) return true;
  }
  return false;
}

bool Keeper::do_preserve(const Ruling& ruling) {
  if (settings_.agent.worktree.empty()) {
    finish_act(ruling, "no work tree to save");
    return false;
  }
  acting_ = true;
  PreserveOrder order;
  order.agent = settings_.agent.agent;
  order.life = std::max<std::uint32_t>(record_.life, 1);
  order.worktree = settings_.agent.worktree;
  order.why = ruling.why;
  order.since = life_began_;
  order.exclude = {home_->path()};
  preserve_ = std::make_unique<Preserve>(
      machine_, *folder_, std::move(order), [this, ruling](const Result<Preserved>& saved) {
        acting_ = false;
        finish_act(ruling, saved ? saved->what : "not saved: " + saved.error().text);
        if (!saved) event("note", "work could not be saved: " + saved.error().text, "", true);
        look_now();
      });
  return false;
}

bool Keeper::do_kill(const Ruling& ruling) {
  const Verdict verdict = recorder_->judge().verdict();
  std::string not_done;
  if (!process_) {
    not_done = "its process is gone already";
  } else if (ruling.life != recorder_->life() || verdict != ruling.verdict) {
    not_done = fmt::format("it is {} now", word(verdict));
  } else if (only_watches()) {
    not_done = "it is only watched";
  } else if (settings_.agent.on_stall == OnStall::report && verdict == Verdict::stalled) {
    not_done = "--on-stall report";
  }
  if (!not_done.empty()) {
    finish_act(ruling, "not done: " + not_done);
    return false;
  }
  acting_ = true;
  ended_by_ = "killed by tend: " + ruling.why;
  end_processes(false, [this, ruling](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    finish_act(ruling, ended.how);
    look_now();
  });
  return false;
}

/// A new life, after a pause that grows with every attempt.
bool Keeper::do_begin_again(const Ruling& ruling) {
  const bool was_stall = ended_by_.starts_with("killed by tend");
  std::string not_done;
  if (ruling.life != recorder_->life()) {
    not_done = "a new life has begun already";
  } else if (only_watches()) {
    not_done = "it is only watched";
  } else if (was_stall && settings_.agent.on_stall == OnStall::kill) {
    not_done = "--on-stall kill";
  } else if (!was_stall && settings_.agent.restart == RestartPolicy::never) {
    not_done = "--restart never";
  }
  if (!not_done.empty()) {
    finish_act(ruling, "not done: " + not_done);
    if (!process_ && ruling.life == recorder_->life()) leave(WorkOutcome::failed, ended_by_);
    return false;
  }
  if (process_) {
    // The cure of one that waits for what has ended: it is resumed without having been killed.
    acting_ = true;
    end_processes(false, [this, ruling](const Ended&) {
      ending_.reset();
      acting_ = false;
      chain_.push_front(ruling);
      look_now();
    });
    return false;
  }
  ++attempts_;
  (void)folder_->replace(kRetryFile, fmt::format("{}\n", attempts_), Folder::Sync::no);
  const std::uint32_t spent = recorder_->judge().resumes();
  const Duration wait = backoff(spent > 0 ? spent - 1 : 0, machine_.entropy.number());
  const auto go = [this, ruling] {
    begin_life();
    finish_act(ruling, process_ ? fmt::format("life {} begun", record_.life) : "under way");
  };
  if (wait == 0ms) {
    go();
    return !batch_.signals.empty();
  }
  backoff_ = machine_.loop.at(machine_.clock.now() + wait, [this, go] {
    const Subscribed fired = std::move(backoff_);
    go();
    look_now();
  });
  return false;
}

// --- Ending -------------------------------------------------------------------------------------

void Keeper::end_processes(bool at_once, std::function<void(const Ended&)> done) {
  EndOrder order;
  order.who = belonging();
  order.now = at_once;
  ending_ = std::make_unique<Ending>(machine_, std::move(order), std::move(done));
}

/// Saves the work, then ends everything. A second order that is in a hurry overtakes the first.
void Keeper::order_stop(bool at_once, const std::string& by) {
  if (stage_ == Stage::leaving || stage_ == Stage::over) return;
  const bool again = std::exchange(stopping_, true);
  backoff_.reset();
  for (const Ruling& ruling : chain_)
    recorder_->did(ruling, "not done: the agent is being stopped");
  chain_.clear();
  ended_by_ = by;
  outcome_ = WorkOutcome::stopped;
  if (!process_ || only_watches()) {
    process_.reset();
    exit_watch_.reset();
    stage_ = Stage::between;
    if (!acting_) leave(WorkOutcome::stopped, by);
    return;
  }
  freeze(false);
  const auto end_all = [this, at_once] {
    acting_ = true;
    end_processes(at_once, [this](const Ended& ended) {
      ending_.reset();
      acting_ = false;
      recorder_->remark("stopped: " + ended.how);
      if (!ended.all_gone) event("note", "not all could be stopped: " + ended.how, "", true);
      look_now();
    });
  };
  if (again || settings_.agent.worktree.empty()) {
    preserve_.reset();
    end_all();
    return;
  }
  acting_ = true;
  PreserveOrder order;
  order.agent = settings_.agent.agent;
  order.life = record_.life;
  order.worktree = settings_.agent.worktree;
  order.why = "stopped by " + by;
  order.since = life_began_;
  order.exclude = {home_->path()};
  ending_.reset();
  preserve_ = std::make_unique<Preserve>(
      machine_, *folder_, std::move(order), [this, end_all](const Result<Preserved>& saved) {
        recorder_->remark(saved ? "saved: " + saved->what : "not saved: " + saved.error().text);
        end_all();
      });
}

/// `tend pause` stops all processes of the agent where they stand; `tend unpause` lets them go on.
void Keeper::freeze(bool stop) {
  Heartbeat& says = pulse_->change();
  const bool frozen = says.status == Status::paused;
  if (!process_ || frozen == stop) return;
  says.status = stop ? Status::paused : Status::running;
  if (only_watches() || (stop && intent_ && intent_->keep_running)) return;
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) {
    event("note", "its processes could not be listed: " + all.error().text, "", true);
    return;
  }
  const auto grouped = machine_.processes.members(record_.group);
  for (const ProcessId& id : members(*all, belonging(), grouped, machine_.processes.self())) {
    (void)machine_.processes.open(id)->signal(stop ? Kill::stop : Kill::cont);
  }
}

}  // namespace tend
