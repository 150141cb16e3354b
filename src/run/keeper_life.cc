// How lives begin and end. The order of every write here is chosen so that a kill -9 between any
// two of them leaves something the next keeper understands:
//
//   spawn (the child waits) -> record in .lock -> let it run -> record that it runs -> journal
//
// What is not in the record never ran. What is recorded but was not let through its gate exits by
// itself; the successor sees that it did not sign in the record and begins that life again.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/backoff.h"
#include "act/launch.h"
#include "base/check.h"
#include "run/keeper.h"
#include "run/keeper_paths.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kUsualWatchdog = 60s;
constexpr Duration kTryAgain = 60s;  // to end what would not be ended

bool begins(Action action) { return action == Action::resume || action == Action::restart; }

}  // namespace

// --- The begin of a life ------------------------------------------------------------------------

/// Whatever is left of the life before is ended first: or the same command would run twice.
void Keeper::begin_life() {
  if (stopping_ || stop_below_ || stage_ >= Stage::leaving) return;
  if (record_.life == 0 && task_ && !task_claimed_) return claim_task();
  if (only_watches() || record_.life == 0 || machine_.processes.childless(record_.group)) {
    start_process();
    return;
  }
  acting_ = true;
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    if (ended.all_gone) {
      if (!stopping_) start_process();
    } else {
      event(
          "note",
          "not started again yet, because something of the old life cannot be ended: " + ended.how,
          "", true);
      begin_at_ = machine_.clock.now() + kTryAgain;
    }
    look_now();
  });
}

void Keeper::start_process() {
  if (only_watches()) return start_watching();
  if (!holds_lock()) return;
  const std::string& name = settings_.agent.agent;
  if (const auto named = hold_name(machine_, *home_, name, folder_->path()); named && !*named) {
    return lose_name();
  }
  if (record_.life > 0) children_->end_unregistered();
  const AgentFile& agent = settings_.agent;
  if (auto begun = senses_->begin_life(); !begun) {
    return start_failed({.exit_code = 1, .text = begun.error().text});
  }
  const LaunchOrder order = launch_order();
  if (!order.input.empty()) {
    if (auto made = machine_.sockets.make_fifo(order.input); !made) {
      return start_failed({.exit_code = 1, .text = made.error().text});
    }
  }
  Launch launch = make_launch(order);
  launch.sign = {fmt::format("{}/{}", order.folder, kLockFile), kReleasedAt};
  // From before it could do anything: what it writes at once is its work, too.
  const WallTime began = machine_.clock.wall();
  const Instant began_at = machine_.clock.now();
  auto child = machine_.processes.spawn(launch);
  if (!child) return start_failed(child.error());
  const LifeRecord before = std::exchange(record_, {.keeper = record_.keeper,
                                                    .life = order.life,
                                                    .process = (*child)->id(),
                                                    .group = order.group,
                                                    .slept = record_.slept,
                                                    .awake_since = awake_since(),
                                                    .unwritten = record_.unwritten});
  if (auto written = lock_->write(record_); !written) {
    record_ = before;
    return start_failed(
        {.exit_code = 126, .text = "it could not be recorded: " + written.error().text});
  }
  auto process = (*child)->release();
  if (!process) {
    record_ = before;
    std::ignore = lock_->write(record_);
    return start_failed(process.error());
  }
  record_.released = true;
  std::ignore = lock_->write(record_);  // if this one is lost, the child has signed for it
  batch_.signals.push_back({.is = Kind::spawn, .life = record_.life, .pid = record_.process.pid});
  ended_by_.clear();
  exit_ = {};
  life_began_ = began;
  life_began_at_ = began_at;
  files_since_ = began_at;
  if (agent.max_life) life_ends_at_ = life_began_at_ + *agent.max_life;
  begin_at_.reset();
  begins_by_order_ = false;
  saved_at_.reset();
  goes_on_ = false;
  stop_staying();
  own_word_ = WorkOutcome::none;
  children_->retell();
  failed_starts_ = 0;
  pulse_->change().status = Status::running;
  pulse_->change().exit = {};
  pulse_->change().outcome = WorkOutcome::none;
  pulse_->change().ended_by.clear();
  pulse_->change().leaving = false;
  hold_process(*std::move(process));
  beat();
  dialogue_->begin_life(record_.life, senses_->offsets().stream);
  if (!before.group.empty()) machine_.processes.remove_group(before.group);  // empty by now
  const bool was_ruled = !chain_.empty() && begins(chain_.front().action);
  if (was_ruled) finish_first(fmt::format("life {} begun", record_.life));
  if (task_) task_->goes_on();
  if (!first_words_.empty()) speak_first(std::exchange(first_words_, ""));
  if (probe_) probe_->begin_life(record_.life);
  if (courier_) courier_->begin_life(record_.life);
}

LaunchOrder Keeper::launch_order() {
  const AgentFile& agent = settings_.agent;
  LaunchOrder order;
  order.folder = folder_->path();
  order.home = home_->path();
  order.agent = agent.agent;
  order.life = record_.life + 1;
  order.resume = order.life > 1;
  order.attempt = attempts_;
  order.parent_heartbeat = agent.parent_heartbeat;
  order.task = agent.task;
  order.environment = settings_.environment;
  if (is_agent(agent.adapter)) {
    order.adapter = kAdapterWords[static_cast<std::size_t>(agent.adapter)];
  }
  begin_dialogue(order);
  order.working_folder = agent.working_folder;
  order.output = folder_->path() + "/" + kStreamFile;
  order.error = folder_->path() + "/" + kErrorFile;
  order.inherit_input = agent.inherit_input;
  if (agent.listens) order.input = input_path();
  if (agent.ready_fd) order.ready = {*agent.ready_fd, ready_fifo_path(folder_->path())};
  if (notify_socket_) {
    order.notify_socket = notify_socket_path(settings_.runtime_folder, folder_->path());
    const Duration limit = settings_.policy.limits.beats.suspect;
    order.watchdog = limit >= kNoLimit ? kUsualWatchdog : limit;
  }
  // A new one for every life: what was killed by its group must not take the next one along.
  order.group = machine_.processes.make_group(
      fmt::format("{:016x}-{}", Name(folder_->path()).hash(), order.life));
  return order;
}

/// An agent that we know is started so that it is understood, and goes on in its own session. What
/// a dead wrapper left behind may have named that while its work was being saved.
void Keeper::begin_dialogue(LaunchOrder& order) {
  const bool is_restart = !chain_.empty() && chain_.front().action == Action::restart;
  const bool anew = is_restart && (settings_.policy.direct || !dialogue_->was_named());
  const bool was_done = recorder_->judge().verdict() == Verdict::finished && !goes_on_;
  Dialogue::Start start = dialogue_->next_life(order.life > 1 && !anew && !was_done, news());
  order.command = std::move(start.command);
  first_words_ = std::move(start.first_words);
  order.environment.insert(order.environment.end(), start.environment.begin(),
                           start.environment.end());
  if (start.remark.empty()) return;
  recorder_->remark(start.remark);
  event("note", start.remark, "", false);
}

/// Of what somebody else started: it has one life, and that is under way.
void Keeper::start_watching() {
  CHECK(settings_.agent.watched.has_value() || watches_stores());
  std::ignore = senses_->begin_life();
  record_.life = 1;
  record_.process = settings_.agent.watched.value_or(ProcessId{});
  record_.released = true;
  if (auto written = lock_->write(record_); !written) {
    record_.life = 0;
    return start_failed({.exit_code = 1, .text = written.error().text});
  }
  batch_.signals.push_back({.is = Kind::spawn, .life = record_.life, .pid = record_.process.pid});
  note_begin();
  files_since_ = machine_.clock.now();  // what it did before anybody looked is no news
  pulse_->change().status = Status::running;
  pulse_->change().life = record_.life;
  if (record_.process.pid == 0) {
    stage_ = Stage::living;  // its stores may name its process yet
  } else {
    hold_process(machine_.processes.open(record_.process));
  }
}

/// What never ran at all would fail again, and somebody waits for the answer. What has lived is
/// tried again: a full table of processes or a program that is being replaced does not last.
void Keeper::lose_name() {
  const std::string why = "its name was given to another agent while it counted as over";
  event("note", why, "", true);
  pulse_->change().note = why;
  stage_ = Stage::between;
  leave(WorkOutcome::failed, why);
}

void Keeper::start_failed(const NotStarted& why) {
  if (pulse_->says().note != why.text || failed_starts_ == 0) {
    recorder_->remark(why.text);
    event("note", why.text, "", record_.life > 0);  // else its end is what a person is told of
  }
  Heartbeat& says = pulse_->change();
  says.note = why.text;
  stage_ = Stage::between;
  if (record_.life > 0) {
    pause_before_begin(++failed_starts_);
    return;
  }
  says.exit = {Exit::How::code, why.exit_code};
  leave(WorkOutcome::failed, "could not be started");
}

void Keeper::hold_process(std::unique_ptr<Process> process) {
  process_ = std::move(process);
  stage_ = Stage::living;
  last_state_.reset();
  exit_watch_ = process_->on_exit([this] { look_now(); });
  Heartbeat& says = pulse_->change();
  if (says.status != Status::paused) says.status = Status::running;
  says.process = record_.process;
  says.started = machine_.processes.started(record_.process);
  says.life = record_.life;
  poll_at_ = machine_.clock.now() + 1s;
  std::ignore = pulse_->write();  // tried again at every look
}

// --- Who belongs to it --------------------------------------------------------------------------

Belonging Keeper::belonging() const {
  Belonging who;
  who.mark = folder_->path();
  who.root = record_.process;
  who.group = record_.group;
  return who;
}

/// The home may lie in the work tree. A work tree may also lie in the home: then nothing of ours is
/// in it.
std::vector<std::string> Keeper::excluded() const {
  if (settings_.agent.worktree.starts_with(home_->path() + "/")) return {};
  return {home_->path()};
}

bool Keeper::is_one_of_ours(std::int64_t pid) {
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) return false;
  const auto grouped = machine_.processes.members(record_.group);
  const auto ours = members(*all, belonging(), grouped, machine_.processes.self());
  return std::ranges::any_of(ours, [&](const ProcessId& id) { return id.pid == pid; });
}

// --- The end ------------------------------------------------------------------------------------

/// Nothing begins any more. What is left of the last life is ended, then the end is written down.
void Keeper::leave(WorkOutcome outcome, std::string ended_by) {
  if (stage_ >= Stage::leaving || stays_for_children(outcome, ended_by)) return;
  stage_ = Stage::leaving;
  outcome_ = outcome;
  ended_by_ = std::move(ended_by);
  begin_at_.reset();
  if (!stays_when_it_is_back() && outcome == WorkOutcome::done && own_word_ == WorkOutcome::none) {
    say_doubt();
  }
  forget_chain("not done: it is over");
  if (only_watches() || record_.life == 0 || machine_.processes.childless(record_.group)) {
    settle_work();
    return;
  }
  end_rest(false);
}

void Keeper::end_rest(bool at_once) {
  acting_ = true;
  end_processes(at_once, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    if (!ended.all_gone || ended.how != "nothing was left") {
      event("note", "what the agent left behind: " + ended.how, "", !ended.all_gone);
    }
    settle_work();
  });
}

void Keeper::write_end() {
  if (!settle_task()) return;
  if (courier_) courier_->give_back("its agent ended before it was done");
  const auto registry = close_registry();
  if (!registry) return;
  if (herald_ && !end_told_ && !tell_end()) {
    end_again_ = machine_.loop.at(machine_.clock.now() + 1s, [this] { write_end(); });
    return;
  }
  Heartbeat& says = pulse_->change();
  says.status = outcome_ == WorkOutcome::done ? Status::completed : Status::withdrawn;
  says.outcome = outcome_;
  says.ended_by = ended_by_;
  says.next.clear();
  says.next_at = 0;
  record_.process = {};
  std::ignore = lock_->write(record_);
  if (!record_.group.empty()) machine_.processes.remove_group(record_.group);
  recorder_->write();  // nobody reads on behind an end
  if (auto written = pulse_->write(); !written) {
    // The end is a promise: it is tried again until there is room for it.
    if (task_) task_->try_again();
    end_again_ = machine_.loop.at(machine_.clock.now() + 1s, [this] { write_end(); });
    return;
  }
  if (pulse_->says().degraded_since > 0) mirror_outage();  // who is over is not down
  event("note", end_words(), "", outcome_ == WorkOutcome::failed);
  if (parent_) parent_->poke();
  stage_ = Stage::over;
  wake_.reset();
  end_again_.reset();
  if (!herald_ || !herald_->busy()) stop_loop();  // else once the last notice is out
}

/// And goes on with it: nothing is over by that.
bool Keeper::ends_with_machine() const {
  return outcome_ == WorkOutcome::stopped && ended_by_ == kShutdownWords;
}

std::string Keeper::end_words() const {
  return fmt::format("over: {}, {}", kWorkOutcomeWords[static_cast<std::size_t>(outcome_)],
                     ended_by_);
}

/// An end that looks good and did nothing is not silently taken for success.
void Keeper::say_doubt() {
  const Conversation* const told = senses_->conversation();
  if (told == nullptr) return;
  const std::string doubt = Dialogue::doubt(*told, record_.life);
  if (doubt.empty()) return;
  was_denied_ = Dialogue::was_denied(*told);
  pulse_->change().note = "in doubt: " + doubt;
  recorder_->remark(pulse_->says().note);
  event("note", pulse_->says().note, "", false);
}

/// Nothing comes after a bad end that nobody ordered, so a person hears of it. It is told before it
/// is written down, or a crash in between would leave nobody to tell it. An outbox that cannot be
/// written holds up no end for long.
bool Keeper::tell_end() {
  constexpr std::uint32_t kMostTries = 5;
  tell_what_waits();
  std::string problem = telling_.empty() ? "" : tell_problem_;
  if (problem.empty() && outcome_ == WorkOutcome::failed) {
    const Heartbeat& says = pulse_->says();
    Incident incident = incident_of(Action::escalate, end_words());
    if (!says.note.empty() && says.life == 0) incident.why += ": " + says.note;
    incident.what_to_do = fmt::format("see `tend logs {0}` and `tend explain {0}`", says.agent);
    if (const auto told = herald_->tell(incident); !told) problem = told.error().text;
  } else if (problem.empty() && !ends_with_machine() &&
             (incident_open_ || !herald_->owed_because().empty())) {
    close_incident(end_words());
    problem = herald_->owed_because();
  }
  end_told_ = problem.empty() || ++end_tries_ >= kMostTries;
  if (!end_told_) return false;
  leave_untold();
  if (!problem.empty()) event("note", "no person was told of this end: " + problem, "", true);
  return true;
}

void Keeper::stop_loop() {
  write_events();
  loop_stopped_ = true;
  machine_.loop.stop();
}

/// Somebody may have removed the lock's file. If another keeper came that way, the agent is its.
bool Keeper::holds_lock() {
  const auto in_place = lock_->is_in_place(*folder_);
  if (!in_place || *in_place) return true;  // not to know is not to leave
  auto lock = KeeperLock::take(*folder_);
  if (!lock) return true;
  if (*lock == nullptr) {
    // Nobody does that but by force, and two were there for a moment.
    event("note", "another keeper has come: its lock file had been removed", "", true);
    stage_ = Stage::replaced;
    wake_.reset();
    stop_loop();
    return false;
  }
  lock_ = *std::move(lock);
  std::ignore = lock_->write(record_);
  recorder_->remark("its lock file had been removed, and was made anew");
  return true;
}

}  // namespace tend
