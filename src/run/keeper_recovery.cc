// Going on where the keeper before us stopped, at whatever moment that was. The journal says what
// was judged and decided, the record in the lock which process is the agent's; the heartbeat
// mirrors both.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "run/keeper.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSurelyAbandoned = 1h;  // a file that is being written

WallTime calendar_time(double seconds) {
  return WallTime{std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}};
}

std::string keeper_words(const ProcessId& keeper) {
  return keeper.pid == 0 ? "one that is gone"
                         : fmt::format("process {}, which is gone", keeper.pid);
}

}  // namespace

Result<Keeper::Began> Keeper::begin() {
  auto lock = KeeperLock::take(*folder_);
  if (!lock) return std::unexpected(lock.error());
  if (*lock == nullptr) return Began::kept_by_another;
  lock_ = *std::move(lock);
  record_ = lock_->record();
  was_mute_ = record_.unwritten;
  if (is_at_gate()) {
    lock_.reset();
    record_ = {};
    return Began::kept_by_another;
  }
  folder_->sweep(kSurelyAbandoned);

  auto heartbeat = read_heartbeat(*folder_);
  const auto facts = folder_->facts(std::string(kHeartbeatFile));
  // One that cannot be read is written anew: it is a mirror, the record and the journal are truth.
  Heartbeat says = heartbeat && *heartbeat ? **heartbeat : Heartbeat{};
  stayed_ = says.stays;
  if (is_terminal(says.status) && !reopen(says)) return Began::over_already;
  if (!reopened_) forget_shutdown();
  const bool beaten = facts && *facts && heartbeat && *heartbeat;
  pulse_ = std::make_unique<Pulse>(*folder_, machine_.clock, std::move(says),
                                   beaten ? (*facts)->modified : WallTime{});
  take_on_probe();
  if (auto recovered = recover(); !recovered) return std::unexpected(recovered.error());
  // A start that failed is over before the loop runs, which then has nothing to stop it.
  return loop_stopped_ ? Began::over_already : Began::keeping;
}

Result<void> Keeper::recover() {
  Recorder::Found found;
  auto recorder =
      Recorder::open(machine_, *folder_, settings_.agent.agent, settings_.policy, found);
  if (!recorder) return std::unexpected(recorder.error());
  recorder_ = *std::move(recorder);
  recorder_->on_verdict([this](const Decision& decision) { on_verdict(decision); });
  senses_ = std::make_unique<Senses>(*folder_, settings_.agent.adapter, found.offsets);
  dialogue_ =
      std::make_unique<Dialogue>(machine_, *folder_, settings_.agent, settings_.environment);
  if (const auto from = dialogue_->stream_from(record_.life)) senses_->remember(*from);
  remember_life(found);

  const ProcessId self = machine_.processes.self();
  const ProcessId before = std::exchange(record_.keeper, self);
  Heartbeat& says = pulse_->change();
  says.agent = settings_.agent.agent;
  says.session = settings_.agent.session;
  says.role = settings_.agent.role;
  says.task = settings_.agent.task;
  says.parent_heartbeat = settings_.agent.parent_heartbeat;
  says.keeper = self;
  if (record_.life == 0) {
    says.status = Status::starting;
    says.process = self;
    says.started = machine_.processes.started(self);
  }
  if (auto written = pulse_->write(); !written) return written;
  subscribe();
  begin_tree();
  begin_task();
  begin_stores();
  begin_probe();
  if (watches_stores() && !stores_) {
    return fail(fmt::format("the configuration has no stores of {}", settings_.agent.store));
  }

  if (record_.life == 0) {
    record_.slept = slept_so_far();
    if (auto locked = lock_->write(record_); !locked) return locked;
    look_at_intent();  // an order that came before its first life
    take_on_outage();  // of one that had its name
    begin_life();
    waking_ = {};
    if (stage_ < Stage::over) wake_ = machine_.loop.at(machine_.clock.now(), [this] { look(); });
    return {};
  }
  if (before != self) {  // else it is we, with a newer program
    event("note", fmt::format("a new keeper goes on in the place of {}", keeper_words(before)), "",
          false);
  }
  take_on_outage();
  const bool died_with_machine = was_at_work_before_boot(found);
  take_over(found);
  if (stayed_ && task_) task_->goes_on();
  const bool is_held = recorder_->judge().holds_loop();
  if (reopened_ && !stayed_ && !is_held) go_on_later("its last end was not its own");
  if (died_with_machine) go_on_later("it died with the machine");
  // Our absence is written down before our own pulse shows: whoever comes after us, if we die here,
  // has to know of both.
  look();
  if (stage_ >= Stage::over) return {};
  return lock_->write(record_);
}

void Keeper::subscribe() {
  if (!settings_.config_problem.empty()) {
    event("note", "the configuration cannot be used: " + settings_.config_problem, "", true);
  }
  const bool has_own = !settings_.agent.notify.empty();
  if (has_own || !settings_.config.channels.empty()) {
    const Herald::About about{.agent = settings_.agent.agent,
                              .folder = folder_->path(),
                              .channels = settings_.config.channels,
                              .own = has_own};
    herald_ = std::make_unique<Herald>(
        machine_, *home_, about, [this](const std::string& what) { event("note", what, "", true); },
        [this] {
          if (stage_ == Stage::over && !herald_->busy()) return stop_loop();
          write_events();
        });
  }
  orders_.push_back(machine_.loop.on(Order::look, [this] { look_soon(); }));
  orders_.push_back(machine_.loop.on(Order::interrupt, [] {}));  // the viewer's business
  orders_.push_back(machine_.loop.on(Order::terminate, [this] {
    if (stage_ >= Stage::over) return stop_loop();
    order_own_stop(std::string(kShutdownWords));
    look_now();
  }));
  orders_.push_back(machine_.loop.on(Order::hang_up, [this] { reload(); }));
  change_ = machine_.loop.on_change(folder_->path(), [this] { look_soon(); });
  listen();
  poll_every_ = 100ms;
  beat_due_ = machine_.clock.now() + settings_.agent.beat;
}

/// Whoever could not begin again does not stop: with the configuration that it has, it can go on.
void Keeper::reload() {
  const bool is_leaving = stage_ >= Stage::over;
  const auto may = is_leaving || !settings_.may_reload ? Result<void>{} : settings_.may_reload();
  if (!may) {
    const std::string said = "not reloaded, it goes on as it was: " + may.error().text;
    recorder_->remark(said);
    event("note", said, "", true);
    return look_soon();
  }
  wants_reload_ = !is_leaving;
  stop_loop();
}

/// The lock's record may be lost, with the file or with the power. That an agent has lived is known
/// all the same: it must not be started beside itself, and no number of a life is given twice.
void Keeper::remember_life(const Recorder::Found& found) {
  const Heartbeat& says = pulse_->says();
  const std::uint32_t known = std::max(found.life, says.life);
  if (record_.life >= known) return;
  record_.life = known;
  if (says.life != known) return;
  record_.process = says.process;
  record_.released = true;
}

/// Goes on where the keeper before us stopped.
void Keeper::take_over(const Recorder::Found& found) {
  if (!found.problem.empty()) {
    event("note", found.problem, "", false);
    was_mute_ = true;  // how patient to be with it stood there
  }
  senses_->go_on(seen_until(found));
  attempts_ = record_.life - 1;
  // The journal is the truth and the heartbeat its mirror, which may have missed the last word.
  Heartbeat& says = pulse_->change();
  const Judge& judge = recorder_->judge();
  if (found.life > 0 && says.verdict != judge.verdict()) {
    says.verdict = judge.verdict();
    says.phase = judge.phase();
    says.since = calendar_seconds(machine_.clock.wall());
    says.because.clear();
  }
  const bool is_orphan = judge.verdict() == Verdict::orphaned || judge.died_an_orphan();
  says.leaving = record_.life <= found.life && (says.leaving || is_orphan);
  exit_ = found.exit;
  note_begin();
  note_absence(found);
  if (watches_stores() && record_.process.pid == 0) {
    if (record_.life > found.life) {
      batch_.signals.push_back({.is = Kind::spawn, .life = record_.life});
    }
    stage_ = Stage::living;
    beat_due_ = machine_.clock.now();
  } else if (auto process = find_process(found)) {
    hold_process(std::move(process));
    if (settings_.agent.max_life) life_ends_at_ = life_began_at_ + *settings_.agent.max_life;
    beat_due_ = machine_.clock.now();
  } else {
    stage_ = Stage::between;
    if (ended_by_.empty()) ended_by_ = exit_words();
    if (says.exit == Exit{}) says.exit = exit_;
    if (record_.life == 0) begin_life();
  }
  take_owed(found.owed);
  if (herald_) {
    incident_open_ = true;  // perhaps: it was not we who told
    herald_->go_on();
  }
}

/// By the calendar: what an agent did after that, nobody has seen.
WallTime Keeper::seen_until(const Recorder::Found& found) {
  if (found.rebooted || !found.calendar_held()) return WallTime::max();
  return machine_.clock.wall() -
         std::chrono::duration_cast<WallTime::duration>(machine_.clock.now() - found.last);
}

/// When the life that we found began.
void Keeper::note_begin() {
  const WallTime wall = machine_.clock.wall();
  double started = record_.process.pid != 0 ? machine_.processes.started(record_.process) : 0;
  if (started <= 0) started = pulse_->says().started;
  life_began_ = started > 0 ? std::min(calendar_time(started), wall) : wall;
  life_began_at_ = machine_.clock.now() - std::chrono::duration_cast<Duration>(wall - life_began_);
  files_since_ = life_began_at_;
}

/// Whoever died with the machine while nothing was wrong goes on at once: after a restart the judge
/// does not trust itself for a while, and has nothing to decide here.
bool Keeper::was_at_work_before_boot(const Recorder::Found& found) const {
  if (only_watches()) return false;
  const ProcessId& process = record_.process;
  const bool of_this_boot = process.pid != 0  // else the power took what is known of it
                                ? process.boot_id == machine_.processes.self().boot_id
                                : !found.rebooted;
  if (of_this_boot) return false;
  if (settings_.agent.restart == RestartPolicy::never) return false;
  switch (recorder_->judge().verdict()) {
    case Verdict::starting:
    case Verdict::working:
    case Verdict::waiting:
    case Verdict::idle:
    case Verdict::suspect:
    case Verdict::unknown:
      return true;
    case Verdict::dead:
      // It was brought back already, and all that is known of that life went with the power.
      return found.owed.empty();
    case Verdict::stalled:
    case Verdict::orphaned:
    case Verdict::finished:
    case Verdict::looping:
      break;
  }
  return false;
}

/// Nobody looked since the last pulse of the keeper before us, and nobody is judged for that.
void Keeper::note_absence(const Recorder::Found& found) {
  // Whoever died with the machine did nothing wrong, and spends nothing.
  const std::string boot = machine_.processes.self().boot_id;
  const bool died_with_it = record_.process.pid != 0 && record_.process.boot_id != boot;
  if (found.rebooted || died_with_it) batch_.signals.push_back({.is = Kind::fault});
  const bool same_boot = record_.process.boot_id == boot;
  const Duration since_last = std::max(0ms, machine_.clock.now() - found.last);
  Duration away = since_last;
  const auto pulse = folder_->facts(std::string(kLockFile));
  if (found.calendar_held() && pulse && *pulse && !record_.unwritten) {
    const auto unseen =
        std::chrono::duration_cast<Duration>(machine_.clock.wall() - (*pulse)->modified);
    if (unseen >= 0ms) away = std::min(unseen, away);
  }
  const Duration all_sleep = slept_so_far();
  if (!same_boot) {  // what was before it was started is no more
    record_.slept = all_sleep;
    record_.awake_since = awake_since();
  }
  // Where nobody wrote down how much of a time the machine slept, it may have been all of it: since
  // the journal ends, for a pulse may be that of one who could not write.
  if (!record_.slept) record_.slept = all_sleep - std::min(all_sleep, since_last);
  if (!record_.awake_since) {
    const Duration lived = std::max(0ms, machine_.clock.now() - life_began_at_);
    record_.awake_since = awake_since() - std::min(all_sleep, lived);
  }
  const Duration slept = std::max(0ms, all_sleep - *record_.slept);
  read_by_ = found.calendar_set ? awake_since() - *found.calendar_set - slept : record_.awake_since;
  if (found.life == 0) return;
  if (away > 0ms) batch_.signals.push_back({.is = Kind::lag, .seconds = away});
  // What the machine slept meanwhile was nobody's silence.
  if (slept > 0ms) batch_.signals.push_back({.is = Kind::suspend, .seconds = slept});
}

Duration Keeper::slept_so_far() {
  return std::max(0ms, machine_.clock.now().time_since_epoch() - machine_.clock.awake());
}

/// By the calendar of now, when the machine would have been started, had it never slept.
WallTime Keeper::awake_since() {
  return std::max(WallTime{}, machine_.clock.wall() - machine_.clock.awake());
}

/// For the keeper after us, before our pulse shows. Once a sleep is in the journal, it is not to be
/// told again; and while nothing can be written there, what it lacks is as good as not looked at.
void Keeper::remember_own_looks() {
  constexpr Duration kSleepCounts = 1s;
  constexpr Duration kCalendarCounts = 1s;
  const bool unwritten = !recorder_->problem().empty();
  const Duration slept = slept_so_far();
  const bool is_news = !record_.slept || slept - *record_.slept >= kSleepCounts;
  // Until a look has found that all is well, and that may be long after the journal could be
  // written again.
  was_mute_ = was_mute_ || unwritten;
  // What was lost may have been a sign of work: whoever comes after us has to be as patient.
  const bool lacks = was_mute_ || (not_ended_before_ && machine_.clock.now() < *not_ended_before_);
  const WallTime awake_since = this->awake_since();
  const bool was_put_back =
      !record_.awake_since || *record_.awake_since - awake_since >= kCalendarCounts;
  if (record_.unwritten == lacks && (unwritten || !is_news) && !was_put_back) return;
  record_.unwritten = lacks;
  if (was_put_back) record_.awake_since = awake_since;
  if (!unwritten) record_.slept = slept;
  std::ignore = lock_->write(record_);
}

/// The process of the life that we found, or nullptr. What the judge does not know of it yet is put
/// into the batch.
std::unique_ptr<Process> Keeper::find_process(const Recorder::Found& found) {
  const bool is_news = record_.life > found.life;
  const bool of_this_boot = record_.process.boot_id == machine_.processes.self().boot_id;
  std::unique_ptr<Process> process;
  if (record_.process.pid != 0 && !of_this_boot) {
    // No process outlives its boot; how it ended nobody saw.
    ended_by_ = "a restart of the machine";
  } else if (record_.process.pid != 0 && is_news && !has_run()) {
    recorder_->remark(
        fmt::format("life {} never ran: its keeper died before it could", record_.life));
    --record_.life;
  } else if (record_.process.pid != 0 && is_of_original()) {
    recorder_->remark(fmt::format("process {} is of the agent that this folder is a copy of",
                                  record_.process.pid));
    record_.group.clear();
  } else if (record_.process.pid != 0) {
    record_.released = true;
    process = machine_.processes.open(record_.process);
  }
  if (record_.life > found.life) {
    batch_.signals.push_back({.is = Kind::spawn, .life = record_.life, .pid = record_.process.pid});
  }
  if (process) return process;
  record_.process = {};
  if (!of_this_boot) record_.group.clear();
  if (record_.hung) ended_by_ = "killed by tend: it hung";
  if (record_.life > 0) {
    batch_.signals.push_back({.is = Kind::process, .process = ProcessState::gone});
  }
  return nullptr;
}

/// A child whose keeper died while it waited is about to run or to leave. Until it did, nobody can
/// tell which, and another one must not be started beside it.
bool Keeper::is_at_gate() {
  if (record_.process.pid == 0 || record_.released || only_watches()) return false;
  const RunState state = machine_.processes.open(record_.process)->look().state;
  return (state == RunState::running || state == RunState::stopped) && !has_run();
}

/// Whether the recorded process was ever let through its gate: it signs for that itself, and then
/// its environment is no longer its keeper's.
bool Keeper::has_run() {
  if (record_.released || only_watches()) return true;
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) return true;  // not to know: rather a life too many in the books than one in the air
  const auto seen = std::ranges::find(*all, record_.process, &Seen::id);
  return seen != all->end() && seen->mark == folder_->path();
}

/// A folder that was copied names the process of another agent, whose own folder says the same. One
/// that was only moved does not: where it was, nothing is left.
bool Keeper::is_of_original() {
  if (only_watches()) return false;
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) return false;
  const auto seen = std::ranges::find(*all, record_.process, &Seen::id);
  if (seen == all->end() || !seen->mark || *seen->mark == folder_->path()) return false;
  const auto original = machine_.folders.open(*seen->mark);
  if (!original) return false;
  const auto lock = look_at_lock(**original);
  return lock && *lock && (*lock)->record.process == record_.process;
}

void Keeper::take_owed(const std::vector<Ruling>& owed) {
  for (const Ruling& ruling : owed) {
    const bool begins = ruling.action == Action::resume || ruling.action == Action::restart;
    if (begins && record_.life > ruling.life) {
      recorder_->did(ruling, "done before its keeper died");
    } else {
      take(ruling);
    }
  }
}

}  // namespace tend
