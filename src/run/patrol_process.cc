// The beat is a timer of its own: a patrol that waits for an answer beats, one that hangs does not.
#include "run/patrol_process.h"

#include <algorithm>
#include <utility>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPatrolLog = "patrol.log";
constexpr Duration kLookAgainSoon = 2s;  // at keepers that were just put on or ended
constexpr int kLooksOfOne = 4;           // of one that makes one sweep, behind it
// How the built-in bounds of a sweep stand to one another.
constexpr int kShortestPart = 5;
constexpr int kLongestTimes = 2;

}  // namespace

PatrolPolicy with_interval(PatrolPolicy policy, Duration interval) {
  if (interval <= Duration::zero()) return policy;
  policy.sweeps.usual = interval;
  policy.sweeps.shortest = std::max(interval / kShortestPart, Duration{1});
  policy.sweeps.longest = interval * kLongestTimes;
  return policy;
}

Result<void> start_patrol(Machine& machine, const KeeperProgram& program, Duration interval) {
  Launch launch;
  launch.command = {program.program, "patrol"};
  if (interval > Duration::zero()) {
    launch.command.emplace_back("--interval");
    launch.command.push_back(std::to_string(interval.count()) + "ms");
  }
  launch.environment = program.environment;
  // It outlives any lease under which it happens to be started.
  std::erase_if(launch.environment, [](const std::string& one) {
    return one.starts_with("TEND_HOME=") || one.starts_with("TEND_LEASE") ||
           one.starts_with("TEND_FENCE=");
  });
  launch.environment.push_back("TEND_HOME=" + program.home);
  launch.working_folder = "/";
  launch.error = program.home + "/" + kPatrolLog;
  return machine.processes.detach(launch);
}

PatrolProcess::PatrolProcess(Machine& machine, Folder& home, WorkItems& items, Settings settings)
    : machine_(machine),
      home_(home),
      settings_(std::move(settings)),
      patrol_(std::make_unique<Patrol>(machine, home, items, settings_.patrol)) {}

Result<PatrolProcess::Began> PatrolProcess::begin() {
  auto lock = PatrolLock::take(home_);
  if (!lock) return std::unexpected(lock.error());
  if (*lock == nullptr) return Began::held_by_another;
  lock_ = *std::move(lock);
  if (lock_->was_damaged()) say("its file .patrol was damaged and is written anew");
  PatrolRecord record = lock_->record();
  const ProcessId self = machine_.processes.self();
  record.wanted = !settings_.once || record.is_wanted_in(self.boot_id);
  record.next_boot = record.next_boot && !record.wanted;
  record.process = self;
  if (!settings_.once) record.interval = settings_.interval;
  if (auto written = lock_->write(record); !written) return std::unexpected(written.error());
  if (const auto forgotten = patrol_->remember()) settings_.found({*forgotten});
  for (const Order order : {Order::interrupt, Order::terminate}) {
    orders_.push_back(machine_.loop.on(order, [this, order] { leave(order); }));
  }
  beat();
  sweep();
  return Began::at_work;
}

void PatrolProcess::say(const std::string& text) {
  settings_.found({{.about = "patrol", .what = "note", .why = text, .result = {}}});
}

void PatrolProcess::beat() {
  beat_timer_ = machine_.loop.at(machine_.clock.now() + kPatrolBeat, [this] {
    beat();
    look_at_keepers();
    if (settings_.deliver) settings_.deliver({});
  });
  const auto in_place = lock_->is_in_place(home_);
  if (in_place && !*in_place) {
    ended_because_ = "its file .patrol was taken away: another patrol may be at work";
    machine_.loop.stop();
    return;
  }
  const auto beaten = lock_->beat();
  const std::string problem = beaten ? "" : beaten.error().text;
  if (std::exchange(beat_problem_, problem) != problem && !problem.empty()) {
    say("its beat could not be written: " + problem);
  }
}

void PatrolProcess::sweep() {
  sweep_timer_.reset();
  patrol_->sweep([this](const Sweep& sweep) { after_sweep(sweep); });
}

void PatrolProcess::after_sweep(const Sweep& sweep) {
  settings_.swept(sweep);
  if (settings_.once) {
    looks_left_ = kLooksOfOne;
    return sweep.keepers_again ? look_at_keepers_soon() : end_once();
  }
  if (settings_.deliver) settings_.deliver({});
  sweep_timer_ = machine_.loop.at(machine_.clock.now() + sweep.next, [this] { this->sweep(); });
  look_at_keepers_soon();
}

/// Once its notices are out.
void PatrolProcess::end_once() {
  const Callback stop = [this] { machine_.loop.stop(); };
  settings_.deliver ? settings_.deliver(stop) : stop();
}

void PatrolProcess::look_at_keepers_soon() {
  keepers_timer_ =
      machine_.loop.at(machine_.clock.now() + kLookAgainSoon, [this] { look_at_keepers(); });
}

void PatrolProcess::look_at_keepers() {
  keepers_timer_.reset();
  if (patrol_->is_sweeping()) return;
  std::vector<SweepLine> lines;
  const bool again = patrol_->look_at_keepers(lines);
  if (!lines.empty()) settings_.found(lines);
  // Whoever was ended has a successor then; one sweep leaves nobody without.
  if (settings_.once && (!again || --looks_left_ == 0)) return end_once();
  if (again) look_at_keepers_soon();
}

/// Who ends the machine ends everybody by SIGTERM, and asks for nobody again after it.
void PatrolProcess::leave(Order order) {
  if (patrol_->is_sweeping()) std::ignore = patrol_->write_past();
  if (!settings_.once) {
    PatrolRecord record = lock_->record();
    record.wanted = false;
    record.next_boot = order == Order::terminate;
    if (auto written = lock_->write(record); !written) {
      say("it is not known to be unwanted: " + written.error().text);
    }
  }
  machine_.loop.stop();
}

}  // namespace tend
