// How lives begin, are taken over from a keeper that died, and end. The order of every write here
// is chosen so that a kill -9 between any two of them leaves something the next keeper understands:
//
//   spawn (the child waits) -> record in .lock -> let it run -> record that it runs -> journal
//
// What is not in the record never ran. What is recorded but was not let through its gate exits by
// itself; the successor sees that nothing of it is there and begins that life again.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "base/check.h"
#include "run/keeper.h"
#include "sense/notify_message.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kReadyFifo = ".ready";
constexpr Duration kUsualWatchdog = 60s;
constexpr std::size_t kLongestSocketPath = 100;

double calendar_seconds(WallTime wall) {
  return std::chrono::duration<double>(wall.time_since_epoch()).count();
}

/// Short, and the same for every keeper of this agent.
std::string socket_path(const std::string& runtime_folder, const std::string& folder) {
  if (runtime_folder.empty()) return "";
  std::string path = fmt::format("{}/{:016x}", runtime_folder, Name(folder).hash());
  return path.size() <= kLongestSocketPath ? path : "";
}

}  // namespace

Result<Keeper::Began> Keeper::begin() {
  auto lock = KeeperLock::take(*folder_);
  if (!lock) return std::unexpected(lock.error());
  if (*lock == nullptr) return Began::kept_by_another;
  lock_ = *std::move(lock);
  record_ = lock_->record();

  auto heartbeat = read_heartbeat(*folder_);
  const auto facts = folder_->facts(std::string(kHeartbeatFile));
  // One that cannot be read is written anew: it is a mirror, the record and the journal are truth.
  Heartbeat says = heartbeat && *heartbeat ? **heartbeat : Heartbeat{};
  if (is_terminal(says.status)) return Began::over_already;
  const bool beaten = facts && *facts && heartbeat && *heartbeat;
  pulse_ = std::make_unique<Pulse>(*folder_, machine_.clock, std::move(says),
                                   beaten ? (*facts)->modified : WallTime{});
  if (auto recovered = recover(); !recovered) return std::unexpected(recovered.error());
  // A start that failed is over before the loop runs, which then has nothing to stop it.
  return stage_ == Stage::over ? Began::over_already : Began::keeping;
}

Result<void> Keeper::recover() {
  Recorder::Found found;
  auto recorder =
      Recorder::open(machine_, *folder_, settings_.agent.agent, settings_.policy, found);
  if (!recorder) return std::unexpected(recorder.error());
  recorder_ = *std::move(recorder);
  recorder_->on_verdict([this](const Decision& decision) { on_verdict(decision); });
  senses_ = std::make_unique<Senses>(machine_, *folder_, settings_.agent.adapter, found.offsets);

  const ProcessId self = machine_.processes.self();
  record_.keeper = self;
  Heartbeat& says = pulse_->change();
  says.agent = settings_.agent.agent;
  says.session = settings_.agent.session;
  says.role = settings_.agent.role;
  says.parent_heartbeat = settings_.agent.parent_heartbeat;
  says.keeper = self;
  if (record_.life == 0) {
    says.status = Status::starting;
    says.process = self;
    says.started = machine_.processes.started(self);
  }
  if (auto written = pulse_->write(); !written) return written;

  if (!settings_.agent.notify.empty()) {
    tell_ = std::make_unique<Tell>(machine_, settings_.agent.notify, [this](const Told& told) {
      if (!told.heard) event("note", "a notice was not heard: " + told.words, "", true);
    });
  }
  orders_.push_back(machine_.loop.on(Order::look, [this] { look_soon(); }));
  orders_.push_back(machine_.loop.on(Order::interrupt, [] {}));  // the viewer's business
  orders_.push_back(machine_.loop.on(Order::terminate, [this] {
    if (stopping_) return;
    batch_.signals.push_back({.is = Kind::intent, .want = Want::stop});
    order_stop(false, "SIGTERM to its keeper");
    look_now();
  }));
  orders_.push_back(machine_.loop.on(Order::hang_up, [this] {
    wants_reload_ = true;
    machine_.loop.stop();
  }));
  change_ = machine_.loop.on_change(folder_->path(), [this] { look_soon(); });
  listen();
  poll_every_ = 100ms;
  beat_due_ = machine_.clock.now() + settings_.agent.beat;

  if (record_.life == 0) {
    if (auto locked = lock_->write(record_); !locked) return locked;
    begin_life();
    wake_ = machine_.loop.at(machine_.clock.now(), [this] { look(); });
    return {};
  }
  take_over(found);
  if (auto locked = lock_->write(record_); !locked) return locked;
  wake_ = machine_.loop.at(machine_.clock.now(), [this] { look(); });
  return {};
}

/// Goes on where the keeper before us stopped.
void Keeper::take_over(const Recorder::Found& found) {
  if (!found.problem.empty()) event("note", found.problem, "", false);
  life_began_ = machine_.clock.wall();
  senses_->go_on();
  attempts_ = record_.life - 1;

  const ProcessId self = machine_.processes.self();
  const bool rebooted = found.rebooted || record_.process.boot_id != self.boot_id;
  // The journal is the truth and the heartbeat its mirror, which may have missed the last word.
  Heartbeat& says = pulse_->change();
  const Judge& judge = recorder_->judge();
  if (found.life > 0 && says.verdict != judge.verdict()) {
    says.verdict = judge.verdict();
    says.phase = judge.phase();
    says.since = calendar_seconds(machine_.clock.wall());
    says.because.clear();
  }
  if (found.life > 0) {
    Duration away = std::max(0ms, machine_.clock.now() - found.last);
    if (!rebooted && pulse_->last_beat() != WallTime{}) {
      const auto unbeaten =
          std::chrono::duration_cast<Duration>(machine_.clock.wall() - pulse_->last_beat());
      away = std::clamp(unbeaten, 0ms, away);
    }
    if (away > 0ms) batch_.signals.push_back({.is = Kind::lag, .seconds = away});
    // Whoever died with the machine did nothing wrong, and spends nothing.
    if (rebooted) batch_.signals.push_back({.is = Kind::fault});
  }

  std::unique_ptr<Process> process;
  bool ran = record_.released || only_watches();
  if (record_.process.pid != 0 && rebooted) {
    // No process outlives its boot; how it ended nobody saw.
    if (record_.life > found.life) {
      batch_.signals.push_back({.is = Kind::spawn, .pid = record_.process.pid});
    }
    batch_.signals.push_back({.is = Kind::process, .process = ProcessState::gone});
    ended_by_ = "a restart of the machine";
    record_.process = {};
    record_.group.clear();
  }
  if (record_.process.pid != 0) {
    process = machine_.processes.open(record_.process);
    const RunState state = process->look().state;
    const bool there = state == RunState::running || state == RunState::stopped;
    // Between the gate and the word about it: whoever carries our mark has run.
    if (!ran && there) ran = is_one_of_ours(record_.process.pid);
  }
  if (record_.process.pid != 0 && !ran) {
    recorder_->remark(
        fmt::format("life {} never ran: its keeper died before it could", record_.life));
    record_.process = {};
    --record_.life;
    process.reset();
  }
  if (record_.life > found.life && process) {
    batch_.signals.push_back({.is = Kind::spawn, .pid = record_.process.pid});
  }
  if (process) {
    hold_process(std::move(process));
    record_.released = true;
  } else {
    stage_ = Stage::between;
    if (record_.life == 0) begin_life();
  }
  for (const Ruling& ruling : found.owed) {
    const bool begins = ruling.action == Action::resume || ruling.action == Action::restart;
    if (begins && record_.life > ruling.life) {
      recorder_->did(ruling, "done before its keeper died");
    } else {
      take(ruling);
    }
  }
}

// --- The begin of a life ------------------------------------------------------------------------

/// Whatever is left of the life before is ended first: or the same command would run twice.
void Keeper::begin_life() {
  backoff_.reset();
  if (stopping_ || stage_ == Stage::leaving || stage_ == Stage::over) return;
  if (only_watches()) {
    start_process();
    return;
  }
  if (record_.life == 0 || machine_.processes.childless(record_.group)) {
    start_process();
    return;
  }
  acting_ = true;
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    if (ended.all_gone) {
      start_process();
    } else {
      event("note",
            "not started again, because something of the old life cannot be ended: " + ended.how,
            "", true);
      leave(WorkOutcome::failed, ended.how);
    }
    look_now();
  });
}

void Keeper::start_process() {
  const AgentFile& agent = settings_.agent;
  ended_by_.clear();
  exit_ = {};
  if (only_watches()) {
    CHECK(agent.watched.has_value());
    (void)senses_->begin_life();
    record_.life = 1;
    record_.process = *agent.watched;
    record_.released = true;
    if (auto written = lock_->write(record_); !written) {
      return start_failed({.exit_code = 1, .text = written.error().text});
    }
    batch_.signals.push_back({.is = Kind::spawn, .pid = record_.process.pid});
    hold_process(machine_.processes.open(record_.process));
    return;
  }
  if (auto begun = senses_->begin_life(); !begun) {
    return start_failed({.exit_code = 1, .text = begun.error().text});
  }
  LaunchOrder order;
  order.folder = folder_->path();
  order.home = home_->path();
  order.agent = agent.agent;
  order.life = record_.life + 1;
  order.resume = order.life > 1;
  order.attempt = attempts_;
  order.parent_heartbeat = agent.parent_heartbeat;
  order.command = agent.command;
  order.environment = settings_.environment;
  order.working_folder = agent.working_folder;
  order.output = folder_->path() + "/" + kStreamFile;
  order.error = folder_->path() + "/" + kErrorFile;
  order.inherit_input = agent.inherit_input;
  if (agent.ready_fd) order.ready = {*agent.ready_fd, folder_->path() + "/" + kReadyFifo};
  if (notify_socket_) {
    order.notify_socket = socket_path(settings_.runtime_folder, folder_->path());
    const Duration limit = settings_.policy.limits.beats.suspect;
    order.watchdog = limit >= kNoLimit ? kUsualWatchdog : limit;
  }
  if (!record_.group.empty()) machine_.processes.remove_group(record_.group);
  // A new one for every life: what was killed by its group must not take the next one along.
  order.group = machine_.processes.make_group(
      fmt::format("{:016x}-{}", Name(folder_->path()).hash(), order.life));

  auto child = machine_.processes.spawn(make_launch(order));
  if (!child) return start_failed(child.error());
  record_.life = order.life;
  record_.process = (*child)->id();
  record_.group = order.group;
  record_.released = false;
  if (auto written = lock_->write(record_); !written) {
    return start_failed(
        {.exit_code = 126, .text = "it could not be recorded: " + written.error().text});
  }
  auto process = (*child)->release();
  if (!process) return start_failed(process.error());
  record_.released = true;
  (void)lock_->write(record_);  // if this one is lost, the mark in its environment says the same
  batch_.signals.push_back({.is = Kind::spawn, .pid = record_.process.pid});
  life_began_ = machine_.clock.wall();
  files_since_ = life_began_;
  if (agent.max_life) life_ends_at_ = machine_.clock.now() + *agent.max_life;
  hold_process(*std::move(process));
}

/// A start that fails is the end: it would fail again.
void Keeper::start_failed(const NotStarted& why) {
  record_.process = {};
  Heartbeat& says = pulse_->change();
  says.note = why.text;
  says.exit = {Exit::How::code, why.exit_code};
  recorder_->remark(why.text);
  event("note", why.text, "", true);
  stage_ = Stage::between;
  leave(WorkOutcome::failed, "could not be started");
}

void Keeper::hold_process(std::unique_ptr<Process> process) {
  process_ = std::move(process);
  stage_ = Stage::living;
  last_state_ = RunState::unknown;
  exit_watch_ = process_->on_exit([this] { look_now(); });
  Heartbeat& says = pulse_->change();
  says.status = intent_ && intent_->want == Want::pause ? Status::paused : Status::running;
  says.process = record_.process;
  says.started = machine_.processes.started(record_.process);
  says.life = record_.life;
  says.exit = {};
  poll_at_ = machine_.clock.now() + 1s;
  if (auto beat = pulse_->write(); beat) (void)pulse_->beat();
}

// --- What the agent says by itself --------------------------------------------------------------

void Keeper::listen() {
  if (only_watches()) return;
  const std::string path = socket_path(settings_.runtime_folder, folder_->path());
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
        folder_->path() + "/" + kReadyFifo, [this](std::string_view bytes) {
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
    recorder_->remark(fmt::format("a message of process {} was refused: it is none of this agent's",
                                  datagram.pid));
    return;
  }
  const NotifyMessage message = parse_notify_message(datagram.text);
  if (message.main_pid && *message.main_pid != record_.process.pid) become_main(*message.main_pid);
  if (message.status) pulse_->change().note = *message.status;
  append_signals(message, machine_.clock.now() + recorder_->shift(), batch_);
  look_now();
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

Belonging Keeper::belonging() const {
  Belonging who;
  who.mark = folder_->path();
  who.root = record_.process;
  who.group = record_.group;
  return who;
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
  if (stage_ == Stage::leaving || stage_ == Stage::over) return;
  stage_ = Stage::leaving;
  outcome_ = outcome;
  ended_by_ = std::move(ended_by);
  backoff_.reset();
  if (only_watches() || record_.life == 0 || machine_.processes.childless(record_.group)) {
    write_end();
    return;
  }
  acting_ = true;
  end_processes(false, [this](const Ended& ended) {
    ending_.reset();
    acting_ = false;
    if (!ended.all_gone || ended.how != "nothing was left") {
      event("note", "what the agent left behind: " + ended.how, "", !ended.all_gone);
    }
    write_end();
  });
}

void Keeper::write_end() {
  Heartbeat& says = pulse_->change();
  says.status = outcome_ == WorkOutcome::done ? Status::completed : Status::withdrawn;
  says.outcome = outcome_;
  says.ended_by = ended_by_;
  says.next.clear();
  says.next_at = 0;
  record_.process = {};
  (void)lock_->write(record_);
  if (!record_.group.empty()) machine_.processes.remove_group(record_.group);
  auto written = pulse_->write();
  if (!written) {
    // The end is a promise: it is tried again until there is room for it.
    stage_ = Stage::leaving;
    backoff_ = machine_.loop.at(machine_.clock.now() + 1s, [this] { write_end(); });
    return;
  }
  event(
      "note",
      fmt::format("over: {}, {}", kWorkOutcomeWords[static_cast<std::size_t>(outcome_)], ended_by_),
      "", false);
  stage_ = Stage::over;
  wake_.reset();
  backoff_.reset();
  machine_.loop.stop();
}

}  // namespace tend
