// What the agent says by itself (sd_notify, a readiness descriptor), and what people want of it.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "run/keeper.h"
#include "run/keeper_paths.h"
#include "sense/notify_message.h"

namespace tend {
namespace {

constexpr std::uint32_t kMostRefusedSaid = 10;
constexpr std::size_t kManySignals = 1000;

}  // namespace

// --- What the agent says by itself --------------------------------------------------------------

void Keeper::listen() {
  if (only_watches()) return;
  const std::string path = notify_socket_path(settings_.runtime_folder, folder_->path());
  if (!path.empty()) {
    auto socket = machine_.sockets.receive(path, [this](const Datagram& d) { hear(d); });
    if (socket) {
      notify_socket_ = *std::move(socket);
    } else {
      event("note", "no sd_notify: " + socket.error().text, "", false);
    }
  }
  if (settings_.agent.ready_fd) {
    auto fifo = machine_.sockets.read_fifo(
        ready_fifo_path(folder_->path()), [this](std::string_view bytes) {
          if (bytes.find('\n') == std::string_view::npos || !process_) return;
          batch_.signals.push_back({.is = Kind::state, .state = SelfState::working});
          look_now();
        });
    if (fifo)
      ready_fifo_ = *std::move(fifo);
    else
      event("note", "no readiness descriptor: " + fifo.error().text, "", false);
  }
}

void Keeper::hear(const Datagram& datagram) {
  if (!process_ || !datagram.same_user) return;
  if (datagram.pid != record_.process.pid && !is_one_of_ours(datagram.pid)) {
    if (++refused_ <= kMostRefusedSaid) {
      recorder_->remark(fmt::format(
          "a message of process {} was refused: it is none of this agent's", datagram.pid));
    }
    return;
  }
  const NotifyMessage message = parse_notify_message(datagram.text);
  if (message.main_pid && *message.main_pid != record_.process.pid) become_main(*message.main_pid);
  if (message.status) pulse_->change().note = *message.status;
  append_signals(message, machine_.clock.now() + recorder_->shift(), batch_);
  batch_.signals.size() < kManySignals ? look_soon() : look_now();
}

/// MAINPID=: from now on another process of the same agent is the one that counts.
void Keeper::become_main(std::int64_t pid) {
  if (!is_one_of_ours(pid)) {
    recorder_->remark(fmt::format("MAINPID={} was refused: it is none of this agent's", pid));
    return;
  }
  const auto id = machine_.processes.identify(pid);
  if (!id || !*id) return;
  LifeRecord record = record_;
  record.process = **id;
  if (!lock_->write(record)) return;
  record_ = std::move(record);
  recorder_->remark(fmt::format("process {} is the main one from now on", pid));
  hold_process(machine_.processes.open(record_.process));
}

// --- What people want ---------------------------------------------------------------------------

void Keeper::look_at_intent() {
  if (stage_ >= Stage::over) return;
  const auto intent = read_intent(*folder_);
  if (intent && *intent && *intent != intent_) hear_intent(**intent);
  // An order to pause that a disk has lost holds for nobody: not for the judge alone, either.
  if (intent && !*intent && !intent_ && recorder_->judge().want() == Want::pause) {
    batch_.signals.push_back({.is = Kind::intent, .want = Want::run});
  }
  if (intent) knows_intent_ = true;
  keep_paused();
}

void Keeper::hear_intent(const Intent& intent) {
  // A person's word comes before the machine's: who was stopped does not go on with it.
  const bool by_person = intent.want == Want::stop && intent.by != kShutdownWords;
  if (stopping_ && shutting_down_ && by_person) {
    shutting_down_ = false;
    ended_by_ = intent.by;
  }
  const bool hurries = intent.want == Want::stop && intent.now;
  const bool widens = intent.want == Want::stop && intent.tree;  // also what is below it
  if (stopping_ && !hurries && !widens) return;  // nothing else is wanted of one that ends
  intent_ = intent;
  if (stopping_ && !hurries) return;
  if (intent.want == Want::stop) {
    shutting_down_ = intent.by == kShutdownWords;
    if (!stops_below_first(intent)) stop_now(intent);
    return;
  }
  batch_.signals.push_back({.is = Kind::intent, .want = intent.want});
  // A person's word comes before our own. What is left of a life that is over is ended all the
  // same.
  if (intent.want == Want::pause && is_ending_by_verdict()) {
    ending_.reset();
    acting_ = false;
    record_.hung = false;
    std::ignore = lock_->write(record_);
    forget_chain("not done: it was paused by a person");
  }
  // To go on, said to one that is held. A keeper after us finds the same words again: they are an
  // order only if they are younger than the hold.
  const Heartbeat& says = pulse_->says();
  const bool is_held =
      recorder_->judge().verdict() == Verdict::looping && says.status != Status::paused;
  const bool is_news = knows_intent_ || intent.at >= says.since;
  if (intent.want == Want::run && is_held && is_news && !only_watches()) begins_by_order_ = true;
}

void Keeper::stop_now(const Intent& intent) {
  batch_.signals.push_back({.is = Kind::intent, .want = Want::stop});
  order_stop(intent.now, intent.by);
}

/// A stop that nobody typed. It is written down like any other, so that it also holds for a keeper
/// after us.
void Keeper::order_own_stop(const std::string& by) {
  if (stopping_) return;
  // The order of a person that was just given holds.
  if (const auto given = read_intent(*folder_); given && *given && (*given)->want == Want::stop) {
    return hear_intent(**given);
  }
  const Intent intent{.want = Want::stop, .by = by, .at = calendar_seconds(machine_.clock.wall())};
  if (auto written = write_intent(*folder_, intent); !written) {
    recorder_->remark(written.error().text);
  }
  hear_intent(intent);
}

/// Saves the work, then ends everything. A second order that is in a hurry overtakes the first.
void Keeper::order_stop(bool at_once, const std::string& by) {
  if (stage_ == Stage::leaving && at_once && ending_) end_rest(true);
  if (stage_ >= Stage::leaving) return;
  const bool again = std::exchange(stopping_, true);
  forget_chain("not done: the agent is being stopped");
  begins_by_order_ = false;
  begin_at_.reset();
  kill_after_.reset();
  ended_by_ = by;
  outcome_ = WorkOutcome::stopped;
  if (process_ && !only_watches()) return save_and_end(at_once, again);
  process_.reset();
  exit_watch_.reset();
  stage_ = Stage::between;
  if (again && acting_ && preserve_) {
    preserve_.reset();
    acting_ = false;
  }
  // What is under way ends soon, and with it everything; see settle_end().
}

void Keeper::save_and_end(bool at_once, bool again) {
  ending_.reset();
  const auto end_all = [this, at_once] {
    end_processes(at_once, [this](const Ended& ended) {
      ending_.reset();
      acting_ = false;
      recorder_->remark("stopped: " + ended.how);
      if (!ended.all_gone) stop_again_later(ended.how);
      look_now();
    });
  };
  acting_ = true;
  if (again || settings_.agent.worktree.empty()) {
    preserve_.reset();
    end_all();
    return;
  }
  preserve("stopped by " + ended_by_, [this, end_all](const Result<Preserved>& saved) {
    recorder_->remark(saved ? "saved: " + saved->what : "not saved: " + saved.error().text);
    end_all();
  });
}

/// An order is an order: it is carried out as soon as it can be.
void Keeper::stop_again_later(const std::string& why) {
  if (std::exchange(not_stopped_, why) != why) {
    event("note", "not all could be stopped: " + why, "", true);
  }
  kill_after_ = machine_.clock.now() + kLookAgain;
}

/// A person lets one that is held go on: its next life begins now. What it asks of the judge is
/// nothing; that a life began is a fact like any other. One that woke up meanwhile does not need
/// it.
void Keeper::begin_by_order() {
  if (stopping_ || stage_ >= Stage::leaving) begins_by_order_ = false;
  if (!begins_by_order_ || acting_ || wants_pause()) return;
  if (!process_) {
    if (!begin_at_ || machine_.clock.now() >= *begin_at_) begin_life();
    return;
  }
  const Verdict verdict = recorder_->judge().verdict();
  if (is_calm(verdict)) {
    begins_by_order_ = false;
    recorder_->remark(fmt::format("not begun anew: it is {} now", word(verdict)));
    return;
  }
  if (verdict != Verdict::looping || !intent_) return;  // seen again first
  if (saves_again("begun anew by " + intent_->by) || !holds_lock()) return;
  acting_ = true;
  ended_by_ = intent_->by;
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    recorder_->remark("ended for its next life: " + ended.how);
    look_now();
  });
}

// --- Pausing ------------------------------------------------------------------------------------

bool Keeper::wants_pause() const { return intent_ && intent_->want == Want::pause && !stopping_; }

/// `tend pause` stops all processes of the agent where they stand; `tend unpause` lets them go on.
/// The heartbeat says what was done last, so a keeper after us knows what is left to do.
void Keeper::keep_paused() {
  const bool wanted = wants_pause();
  if ((pulse_->says().status == Status::paused) == wanted || stage_ >= Stage::leaving) return;
  if (freeze(wanted)) pulse_->change().status = wanted ? Status::paused : Status::running;
}

bool Keeper::freeze(bool stop) {
  if (!process_ || only_watches() || (stop && intent_->keep_running)) return true;
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) {
    if (std::exchange(freeze_problem_, all.error().text) != all.error().text) {
      event("note", "its processes could not be listed: " + all.error().text, "", true);
    }
    return false;
  }
  freeze_problem_.clear();
  const auto grouped = machine_.processes.members(record_.group);
  for (const ProcessId& id : members(*all, belonging(), grouped, machine_.processes.self())) {
    std::ignore = machine_.processes.open(id)->signal(stop ? Kill::stop : Kill::cont);
  }
  return true;
}

}  // namespace tend
