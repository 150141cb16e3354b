// A watchdog process looks at all agents again and again; what it sees is gathered from the same
// simulated machine that ours run on, and what it does is held against the truth.
#include "rival_world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAfterFault = 20min;  // as long as ours have to come back
constexpr Duration kShutdownTakes = 90s;

std::string environment_of(std::string_view name, std::string_view value) {
  return fmt::format("{}={}", name, value);
}

StepKind step_of(const AgentTruth& agent) {
  const LifeTruth* const life = agent.life();
  return life == nullptr ? StepKind::talk : life->doing.value_or(StepKind::talk);
}

/// In these the agent shows something and cannot act: somebody holds it, or another one speaks.
bool takes_turns_in(StepKind kind) {
  return kind != StepKind::rate_limit && kind != StepKind::overload &&
         kind != StepKind::retry_ladder && kind != StepKind::subagent;
}

/// A timer in the agent's own process: it never began, or gets no time.
bool starves_its_timer(StepKind kind) {
  return kind == StepKind::hang_start || kind == StepKind::spin;
}

}  // namespace

RivalWorld::RivalWorld(const Scenario& scenario, const Rival& rival)
    : scenario_(scenario),
      rival_(rival),
      universe_(scenario.seed),
      chance_(static_cast<std::minstd_rand::result_type>(scenario.seed)) {
  universe_.observer = this;
  universe_.keeps_log = false;
  if (scenario_.most_pid > 0) universe_.most_pid = scenario_.most_pid;
  origin_ = universe_.now();
  set_up();
}

RivalWorld::~RivalWorld() { universe_.observer = nullptr; }

void RivalWorld::set_up() {
  for (const std::string_view voice : kVoiceWords) {
    universe_.behaviours[std::string(voice)] = [this](SimSelf& self) {
      live(self, *this);
      if (rival_.beater == Beater::timer) beat_within(self);
    };
  }
  universe_.behaviours["helper"] = live_as_helper;
  universe_.behaviours["beater"] = [this](SimSelf& self) { beat_beside(self); };
  universe_.behaviours["watchdog"] = [this](SimSelf& self) {
    self.every(rival_.looks_every, [this](SimSelf&) { look(); });
  };
  for (const AgentPlan& plan : scenario_.agents) {
    AgentTruth& agent = truth_.agents[plan.name];
    agent.plan = &plan;
    agent.policy = built_in_policy(plan.policy).value_or(*built_in_policy("agent"));
    if (!plan.parent.empty()) truth_.agents[plan.parent].children.push_back(plan.name);
    wards_[plan.name].truth = &agent;
  }
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) faults_left_.push_back(i);
  outcome_.agents = scenario_.agents.size();
}

// --- Time ----------------------------------------------------------------------------------------

Duration RivalWorld::elapsed() const { return base_ + (universe_.now() - origin_); }

Outcome RivalWorld::play() {
  begin_watch();
  for (const AgentPlan& plan : scenario_.agents) {
    if (!plan.parent.empty()) continue;
    truth_.agents.at(plan.name).asked_for = true;
    start(plan.name);
  }
  post_faults();
  const Duration end = scenario_.lasts + scenario_.settles;
  while (elapsed() < end) {
    rebooted_ = false;
    universe_.run_until([this] { return rebooted_; }, end - elapsed());
    if (!rebooted_) continue;
    post_faults();
    begin_watch();
  }
  finish();
  return std::move(outcome_);
}

void RivalWorld::finish() {
  note_overdue();
  for (std::size_t i = 0; i < truth_.hangs.size(); ++i) {
    HangTruth& hang = truth_.hangs[i];
    hang.missed = overdue_[i] && hang.known == Duration::zero();
  }
  for (const auto& [name, ward] : wards_) {
    if (lives(ward)) outcome_.agent_time += awake() - ward.began;
    if (ward.truth->done) ++outcome_.finished;
    outcome_.lives += ward.truth->lives.size();
  }
  outcome_.hangs = truth_.hangs;
  outcome_.digest = universe_.digest();
}

// --- Starting ------------------------------------------------------------------------------------

void RivalWorld::begin_watch() {
  Launch launch;
  launch.command = {"watchdog"};
  watchdog_ = universe_.start_command(launch);
}

void RivalWorld::start(const std::string& name) {
  Ward& ward = wards_.at(name);
  ++ward.life;
  ward.truth->folder = "/home/user/kept/" + name;
  ward.stream = fmt::format("{}/stream-{}", ward.truth->folder, ward.life);
  Launch launch;
  launch.command = command_of(ward.truth->plan->voice);
  launch.environment = {environment_of("TEND_AGENT", name)};
  launch.output = ward.stream;
  const SimFacts* const facts = universe_.find(universe_.start_command(launch));
  ward.process = facts->id;
  ward.began = awake();
  ward.asked = awake();
  ward.answered = false;
  ward.reported = false;
  ward.beat = wall();
  ward.printed = now();
  ward.turn = now();
  start_beater(name, ward);
}

void RivalWorld::start_beater(const std::string& name, const Ward& ward) {
  if (rival_.beater != Beater::wrapper && rival_.beater != Beater::loop) return;
  Launch launch;
  launch.command = {"beater", std::to_string(ward.life)};
  launch.environment = {environment_of("TEND_AGENT", name)};
  universe_.start_command(launch);
}

/// A wrapper ends with its agent, a loop when somebody has ended it.
void RivalWorld::beat_beside(SimSelf& self) {
  Ward& ward = wards_.at(self.variable("TEND_AGENT").value_or(""));
  self.every(rival_.beats_every, [this, &ward, life = ward.life](SimSelf& me) {
    const bool is_needed = ward.life == life && !ward.over;
    if (!is_needed || (rival_.beater == Beater::wrapper && !lives(ward))) return me.exit(0);
    ward.beat = wall();
  });
}

void RivalWorld::beat_within(SimSelf& self) {
  constexpr std::uint32_t kGiveOrTake = 60;  // seconds
  const auto off = static_cast<int>(chance_() % (2 * kGiveOrTake + 1)) - int{kGiveOrTake};
  self.after(rival_.beats_every + std::chrono::seconds{off}, [this](SimSelf& me) {
    Ward& ward = wards_.at(me.variable("TEND_AGENT").value_or(""));
    const LifeTruth* const life = ward.truth->life();
    const bool starves =
        life != nullptr && life->hang && starves_its_timer(truth_.hangs.at(*life->hang).kind);
    if (!starves) ward.beat = wall();
    beat_within(me);
  });
}

AgentTruth* RivalWorld::begin_life(SimSelf& self) {
  Ward& ward = wards_.at(self.variable("TEND_AGENT").value_or(""));
  LifeTruth fresh;
  fresh.number = ward.life;
  fresh.process = self.id();
  fresh.progressed = awake();
  ward.truth->lives.push_back(std::move(fresh));
  return ward.truth;
}

void RivalWorld::run_tend(SimSelf& self, std::vector<std::string> words,
                          std::function<void(SimSelf&, int)> done) {
  const auto name = std::ranges::find(words, "--name");
  if (words.front() == "dispatch" && name != words.end()) {
    const Ward& child = wards_.at(*std::next(name));
    if (child.life == 0 && !child.over) start(*std::next(name));
  }
  self.after(0s, [done = std::move(done)](SimSelf& me) { done(me, 0); });
}

bool RivalWorld::is_known(const std::string& agent) const { return wards_.at(agent).life > 0; }
bool RivalWorld::is_over(const std::string& agent) const { return wards_.at(agent).over; }

void RivalWorld::on_end(const SimFacts& process) {
  for (auto& [name, ward] : wards_) {
    if (ward.process != process.id) continue;
    outcome_.agent_time += awake() - ward.began;
    ward.over = ward.over || process.exit == ExitStatus{ExitStatus::How::code, 0};
    for (LifeTruth& life : ward.truth->lives) {
      if (life.over || life.process != process.id) continue;
      life.over = true;
      if (life.hang) truth_.hangs[*life.hang].over = elapsed();
    }
  }
}

// --- Looking -------------------------------------------------------------------------------------

bool RivalWorld::lives(const Ward& ward) const {
  const SimFacts* const facts = ward.life == 0 ? nullptr : universe_.find(ward.process.pid);
  return facts != nullptr && facts->id == ward.process && universe_.runs(ward.process.pid);
}

/// Its turn is over, and it said so.
bool RivalWorld::is_idle(const Ward& ward) const {
  return lives(ward) && ward.truth->plan->voice == Voice::claude &&
         step_of(*ward.truth) == StepKind::background;
}

Duration RivalWorld::age(WallTime of) const {
  return std::chrono::duration_cast<Duration>(wall() - of);
}

/// Before a clock jumps as well, so that every stamp is right by both.
void RivalWorld::note_signs() {
  for (auto& [name, ward] : wards_) {
    if (!lives(ward)) continue;
    note_output(ward);
    note_turn(ward);
    if (rival_.beater == Beater::hook) ward.beat = ward.turn.wall;
    if (rival_.beater == Beater::answer) ask(ward);
  }
}

void RivalWorld::note_output(Ward& ward) const {
  const SimNodePtr& file = universe_.disk.find(ward.stream);
  if (file == nullptr || file->modified == ward.printed.wall) return;
  ward.printed = {awake() - age(file->modified), file->modified};
}

void RivalWorld::note_turn(Ward& ward) const {
  const LifeTruth* const life = ward.truth->life();
  if (life == nullptr || life->progressed <= ward.turn.awake) return;
  if (!takes_turns_in(step_of(*ward.truth))) return;
  ward.turn = {life->progressed, wall() - (awake() - life->progressed)};
}

/// The answer comes with the first turn after the question; who is idle has its turn at once.
void RivalWorld::ask(Ward& ward) const {
  if (awake() - ward.asked >= rival_.beats_every) {
    ward.asked = awake();
    ward.answered = false;
  }
  if (ward.answered) return;
  if (ward.turn.awake > ward.asked) {
    ward.beat = ward.turn.wall;
    ward.answered = true;
  } else if (is_idle(ward)) {
    ward.beat = wall();
    ward.answered = true;
  }
}

RivalSight RivalWorld::sight_of(const Ward& ward) const {
  RivalSight sight;
  sight.alive = lives(ward);
  sight.idle = is_idle(ward);
  sight.output = rival_.output_by_calendar ? age(ward.printed.wall) : awake() - ward.printed.awake;
  sight.beat = age(ward.beat);
  for (const std::string& name : ward.truth->children) {
    const Ward& child = wards_.at(name);
    if (!lives(child)) continue;
    sight.child_beat = std::min(sight.child_beat.value_or(kNoLimit), age(child.beat));
  }
  const std::string& parent = ward.truth->plan->parent;
  if (!parent.empty() && !lives(wards_.at(parent))) {
    sight.parent_beat = age(wards_.at(parent).beat);
  }
  return sight;
}

// --- Acting --------------------------------------------------------------------------------------

void RivalWorld::look() {
  note_signs();
  for (auto& [name, ward] : wards_) {
    if (ward.life == 0 || ward.over) continue;
    carry_out(rival_.judge(sight_of(ward)), name, ward);
  }
  note_overdue();
}

void RivalWorld::carry_out(RivalWord word, const std::string& name, Ward& ward) {
  switch (word) {
    case RivalWord::fine:
      ward.reported = false;
      return;
    case RivalWord::report:
      if (!std::exchange(ward.reported, true)) report(ward);
      return;
    case RivalWord::restart:
      return restart(name, ward);
    case RivalWord::leave:
      ward.over = true;
      return kill(name);
  }
}

void RivalWorld::report(Ward& ward) {
  const LifeTruth* const life = ward.truth->life();
  if (life != nullptr && life->hang) return find_hang(*life);
  outcome_.violations.push_back({kFalseAlarm, ward.truth->plan->name, elapsed()});
}

void RivalWorld::restart(const std::string& name, Ward& ward) {
  if (lives(ward)) {
    end_stale_children(ward);
    end(ward);
  }
  if (may_try_again(ward)) return start(name);
  ward.over = true;
  outcome_.violations.push_back({kGaveUp, name, elapsed()});
}

/// They are dead when they are looked at next, and are started again.
void RivalWorld::end_stale_children(const Ward& ward) {
  for (const std::string& name : ward.truth->children) {
    Ward& child = wards_.at(name);
    if (lives(child) && age(child.beat) >= rival_.ends_children_after) end(child);
  }
}

/// By the rival's own decision: it is found, or it is a false kill. One that leaves is neither.
void RivalWorld::end(Ward& ward) {
  if (const LifeTruth* const life = ward.truth->life()) {
    ++outcome_.kills;
    if (life->hang) {
      find_hang(*life);
    } else if (!life->leaving) {
      ++outcome_.false_kills;
      if (life->doing) ++outcome_.false_kills_in[*life->doing];
    }
  }
  universe_.kill(ward.process.pid);
}

bool RivalWorld::may_try_again(Ward& ward) const {
  const RivalAttempts& most = rival_.attempts;
  if (ward.truth->next_step > ward.step) ward.attempts_here = 0;
  ward.step = ward.truth->next_step;
  ++ward.attempts;
  ++ward.attempts_here;
  ward.attempted.push_back(elapsed());
  std::erase_if(ward.attempted, [&](Duration at) { return elapsed() - at > most.time; });
  const auto within = [](std::size_t count, std::uint32_t bound) {
    return bound == 0 || count <= bound;
  };
  return within(ward.attempts, most.in_all) && within(ward.attempts_here, most.without_advance) &&
         within(ward.attempted.size(), most.at_a_time);
}

void RivalWorld::find_hang(const LifeTruth& life) {
  HangTruth& hang = truth_.hangs.at(*life.hang);
  if (hang.known == Duration::zero()) hang.known = elapsed();
}

/// The bound is the one that ours have, and as for ours a fault gives that time again.
void RivalWorld::note_overdue() {
  overdue_.resize(truth_.hangs.size());
  for (std::size_t i = 0; i < overdue_.size(); ++i) {
    const HangTruth& hang = truth_.hangs[i];
    const bool is_there = hang.known == Duration::zero() && hang.over == Duration::zero();
    if (!is_there || hang.bound == kNoLimit) continue;
    const bool had_fault = last_fault_ > hang.since;
    const Duration due = had_fault ? last_fault_ + kAfterFault : hang.since;
    if (elapsed() >= due + hang.bound + SeededWorld::kTick) overdue_[i] = true;
  }
}

// --- Faults --------------------------------------------------------------------------------------

void RivalWorld::post_faults() {
  std::erase_if(faults_left_, [this](std::size_t i) { return scenario_.faults[i].at < elapsed(); });
  for (const std::size_t i : faults_left_) {
    universe_.at(universe_.now() + (scenario_.faults[i].at - elapsed()), [this, i] {
      std::erase(faults_left_, i);
      strike(scenario_.faults[i]);
    });
  }
}

/// Those that are left out strike our keepers, our files and our commands.
void RivalWorld::strike(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kill_agent:
    case FaultKind::kill_both:
    case FaultKind::reuse_pid:
      kill(fault.whom);
      break;
    case FaultKind::kill_all:
      for (const auto& [name, ward] : wards_) kill(name);
      break;
    case FaultKind::pause_agent:
      pause(fault.whom, fault.lasts);
      break;
    case FaultKind::sleep:
    case FaultKind::sleep_unwatched:
      note_signs();
      universe_.sleep_machine(fault.lasts);
      break;
    case FaultKind::clock_step:
      note_signs();
      universe_.step_wall(fault.number % 2 == 0 ? fault.lasts : -fault.lasts);
      break;
    case FaultKind::shutdown:
      universe_.kill(watchdog_);
      universe_.after(kShutdownTakes, [this] { restart_machine(); });
      break;
    case FaultKind::power_cut:
    case FaultKind::torn_power_cut:
    case FaultKind::lying_disk:
      restart_machine();
      break;
    case FaultKind::stop_order:
    case FaultKind::stop_tree_order:
      stop(fault.whom, fault.kind == FaultKind::stop_tree_order);
      break;
    default:
      return;
  }
  ++outcome_.faults[fault.kind];
  last_fault_ = std::max(last_fault_, elapsed() + fault.lasts);
}

void RivalWorld::kill(const std::string& name) {
  const Ward& ward = wards_.at(name);
  if (lives(ward)) universe_.kill(ward.process.pid);
}

void RivalWorld::pause(const std::string& name, Duration lasts) {
  const Ward& ward = wards_.at(name);
  if (!lives(ward)) return;
  universe_.pause(ward.process.pid);
  universe_.after(lasts, [this, &ward, id = ward.process] {
    if (ward.process == id && lives(ward)) universe_.go_on(id.pid);
  });
}

void RivalWorld::stop(const std::string& name, bool tree) {
  Ward& ward = wards_.at(name);
  if (ward.life == 0) return;
  ward.truth->stop_ordered = true;
  ward.over = true;
  kill(name);
  if (!tree) return;
  for (const std::string& child : ward.truth->children) stop(child, true);
}

void RivalWorld::restart_machine() {
  note_signs();
  const SimReboot how;
  const Duration at = elapsed();
  universe_.reboot(how);
  base_ = at + how.takes;
  origin_ = universe_.now();
  rebooted_ = true;
}

}  // namespace tend::sim
