// The machine is set up, people type commands, keepers and agents run, and everything that happens
// is held against the truth.
#include "seeded_world.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "act/launch.h"
#include "app/command.h"
#include "app/dispatch.h"
#include "base/check.h"
#include "behind.h"
#include "checks/check.h"
#include "os/sim/sim_world.h"
#include "run/keeper.h"
#include "store/agent_file.h"
#include "store/events.h"
#include "store/intent.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWorkFolder = "/home/user/work/";
constexpr const char* kNotify = "tell-a-person";
constexpr int kKilled = 137;
constexpr Duration kTriesAgain = 1min;
constexpr Duration kTriesFor = 1h;
const Owner kNobody;

/// A command that stands below a process of the universe, and dies where it is told to.
class CommandMachines final : public Machines {
 public:
  CommandMachines(SimUniverse& universe, SimStart start, std::uint64_t dies_at)
      : universe_(universe), start_(std::move(start)), dies_at_(dies_at) {}
  Machine& machine() override {
    if (pid_ == 0) {
      pid_ = universe_.start_process("tend", start_);
      if (dies_at_ > 0) universe_.kill_at_call(pid_, dies_at_);
    }
    return universe_.machine_of(pid_);
  }
  /// What every command does in the end.
  void exit() {
    if (pid_ != 0 && universe_.runs(pid_)) universe_.kill(pid_);
  }

 private:
  SimUniverse& universe_;
  SimStart start_;
  std::uint64_t dies_at_;
  std::int64_t pid_ = 0;
};

/// A keeper and what it is to become when its loop ends.
struct KeeperProcess {
  std::unique_ptr<Keeper> keeper;
  std::function<void()> reload;

  KeeperProcess() = default;
  KeeperProcess(const KeeperProcess&) = delete;
  KeeperProcess& operator=(const KeeperProcess&) = delete;
  ~KeeperProcess() {
    const bool again = keeper != nullptr && keeper->wants_reload();
    keeper.reset();
    if (again) reload();
  }
};

std::string variable_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

bool is_voice(const std::string& command) {
  return std::ranges::find(kVoiceWords, command) != kVoiceWords.end();
}

}  // namespace

SeededWorld::SeededWorld(const Scenario& its_scenario)
    : scenario(its_scenario), universe(its_scenario.seed) {
  universe.observer = this;
  universe.keeps_log = false;
  origin_ = universe.now();
  checks_ = make_checks(*this);
  set_up();
}

SeededWorld::~SeededWorld() { universe.observer = nullptr; }

void SeededWorld::set_up() {
  if (scenario.lossy_hints) universe.hints = SimHints::lossy;
  if (scenario.most_pid > 0) universe.most_pid = scenario.most_pid;
  universe.groups = scenario.groups;
  universe.version_control_takes = scenario.saving_takes;
  universe.disk.make_folder(std::string(kHome) + "/sessions");
  universe.programs[kTend] = [this](Machine& machine, const Launch& launch) {
    return launch.command.at(1) == "patrol" ? be_patrol(machine, launch) : keep(machine, launch);
  };
  for (const std::string_view voice : kVoiceWords) {
    universe.behaviours[std::string(voice)] = [this](SimSelf& self) { live(self, *this); };
  }
  universe.behaviours[kInner] = [this](SimSelf& self) { live_inside(self, *this); };
  universe.behaviours["helper"] = live_as_helper;
  universe.behaviours["stranger"] = live_as_helper;
  universe.on_run = [this](const Run& run) -> std::optional<SimAnswer> {
    if (!run.command.empty() && run.command.front() == kReplyCommand) return reply(run);
    if (run.command.empty() || !run.command.back().contains(kNotify)) return std::nullopt;
    notices_.push_back(run.input);
    for (const auto& check : checks_) check->on_told(run);
    return SimAnswer{.output = "", .error = "", .takes = 1s};
  };
  for (const AgentPlan& plan : scenario.agents) {
    AgentTruth& agent = truth_.agents[plan.name];
    agent.plan = &plan;
    agent.policy = built_in_policy(plan.policy).value_or(*built_in_policy("agent"));
    if (!plan.parent.empty()) truth_.agents[plan.parent].children.push_back(plan.name);
  }
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) faults_left_.push_back(i);
  outsiders_.resize(scenario.outsiders.size());
  set_up_gate();
  set_up_lease();
  set_up_services();
  outcome_.agents = scenario.agents.size();
}

// --- Time ----------------------------------------------------------------------------------------

Duration SeededWorld::elapsed() const { return base_ + (universe.now() - origin_); }

/// A sleep puts off what was to happen, and with it the quiet time after it.
Duration SeededWorld::ends_at() const {
  return std::max(scenario.lasts, last_fault_) + scenario.settles;
}

Outcome SeededWorld::play() {
  add_tasks();
  for (const auto& check : checks_) check->on_begin();
  start_roots();
  start_patrol();
  post_faults();
  const Duration recover_every =
      scenario.patrol > Duration::zero() ? kRecoverBesidePatrol : kRecoverEvery;
  next_recover_ = elapsed() + recover_every;
  const bool quiet = scenario.faults.empty();
  // Nobody has trouble either, and nobody beats by the tick.
  const bool plain =
      quiet && scenario.settles == Duration::zero() && scenario.patrol == Duration::zero();
  for (Duration next = elapsed() + kTick; elapsed() < ends_at();
       next = elapsed() + (plain ? kTick * 15 : kTick)) {
    run_to(std::min(next, ends_at()));
    settling_ = elapsed() >= scenario.lasts;
    if (!quiet && elapsed() >= next_recover_) {
      next_recover_ = elapsed() + recover_every;
      tend({"recover"});
    }
    play_outsiders();
    play_gate();
    play_lease();
    play_services();
    strike_telling();
    tick();
  }
  finish();
  return std::move(outcome_);
}

void SeededWorld::run_to(Duration when) {
  while (elapsed() < when) {
    const auto waits = [this] {
      return rebooted_ || !requests_.empty() || !orders_.empty() || !reloads_.empty();
    };
    universe.run_until(waits, when - elapsed());
    if (std::exchange(rebooted_, false)) {
      post_faults();
      next_recover_ = elapsed() + 30s + patrol_is_alone_;
      if (std::exchange(patrol_is_alone_, {}) > Duration::zero()) launch_patrol();
    }
    serve_requests();
  }
}

void SeededWorld::serve_requests() {
  while (!reloads_.empty()) {
    put_keeper_on(reloads_.front());
    reloads_.pop_front();
  }
  while (!orders_.empty()) {
    const auto words = std::move(orders_.front());
    orders_.pop_front();
    if (words.front() == "stop") expect_stop(words);
    const bool done = tend(words) == 0;
    // A pause that is taken back counts as that however long it takes.
    if (done || words.front() == "unpause") note_order(words);
    if (!done && words.front() == "stop") forget_stop(words);
    if (!done && words.front() == "unpause") unpause_again(words.back());
  }
  while (!requests_.empty()) {
    Request request = std::move(requests_.front());
    requests_.pop_front();
    const auto facts = universe.facts(request.process.pid);
    if (!facts || facts->id != request.process || facts->state != RunState::running) continue;
    const std::map<std::string, std::string> variables{
        {"TEND_INFRA", variable_in(facts->environment, "TEND_INFRA")},
        {"TEND_LIFE", variable_in(facts->environment, "TEND_LIFE")},
        {"TEND_AGENT", variable_in(facts->environment, "TEND_AGENT")}};
    const bool dispatches = request.words.front() == "dispatch";
    const bool is_cut = dispatches && awaits(FaultKind::cut_after_dispatch);
    if (is_cut) write_back();
    const int exit =
        tend_below(request.process.pid, facts->working_folder, request.words, variables);
    if (dispatches && exit == 0) {
      truth_.agents.at(request.words.at(2)).promised = true;
      // One that began before the fault has nothing behind it that was written back.
      if (is_cut) strike_dispatch();
    }
    const auto now = universe.facts(request.process.pid);
    if (!now || now->id != request.process || !universe.runs(request.process.pid)) continue;
    request.self->after(0s,
                        [done = std::move(request.done), exit](SimSelf& me) { done(me, exit); });
  }
}

void SeededWorld::expect_stop(const std::vector<std::string>& words) {
  const auto expect = [&](const auto& self, const std::string& name) -> void {
    AgentTruth& agent = truth_.agents.at(name);
    agent.stop_ordered = true;
    if (words.size() < 3) return;  // not the whole tree
    for (const std::string& child : agent.children) self(self, child);
  };
  expect(expect, words.back());
}

/// A command that failed or died before it wrote anything down has ordered nothing.
void SeededWorld::forget_stop(const std::vector<std::string>& words) {
  const auto forget = [&](const auto& self, const std::string& name, bool above) -> void {
    AgentTruth& agent = truth_.agents.at(name);
    const StopOrder order = order_to(*this, agent);
    if (!order.stop && !above) agent.stop_ordered = false;
    if (words.size() < 3) return;  // not the whole tree
    for (const std::string& child : agent.children) self(self, child, above || order.tree);
  };
  forget(forget, words.back(), false);
}

/// Who is told why it could not be done tries again for as long as things may go wrong.
void SeededWorld::unpause_again(const std::string& agent) {
  if (!is_to_pause(agent) || elapsed() > scenario.lasts + kTriesFor) return;
  to_unpause_.insert(agent);
  universe.after(kTriesAgain, [this, agent] { unpause(agent); });
}

void SeededWorld::note_order(const std::vector<std::string>& words) {
  const auto note = [&](const auto& self, const std::string& name) -> void {
    AgentTruth& agent = truth_.agents.at(name);
    if (words.front() == "stop" && !folder_of(name).empty()) agent.was_stopped = true;
    if (words.front() != "stop") agent.is_paused = words.front() == "pause";
    if (words.size() < 3) return;  // not the whole tree
    for (const std::string& child : agent.children) self(self, child);
  };
  note(note, words.back());
}

void SeededWorld::tick() {
  read_events();
  strike_holds();
  for (const auto& check : checks_) check->on_tick();
}

void SeededWorld::finish() {
  read_events();
  for (const auto& check : checks_) check->on_settled();
  for (auto& [name, agent] : truth_.agents) {
    if (LifeTruth* const life = agent.life()) outcome_.agent_time += universe.awake() - life->began;
    if (agent.done) ++outcome_.finished;
    outcome_.lives += agent.lives.size();
  }
  outcome_.hangs = truth_.hangs;
  outcome_.digest = universe.digest();
}

// --- Commands ------------------------------------------------------------------------------------

void SeededWorld::add_tasks() {
  const auto add = [this](const std::string& name, TaskContext of) {
    const std::string_view context = kTaskContextWords.at(static_cast<std::size_t>(of));
    tend({"task", "add", "--id", name, "--context", std::string(context), "the work of " + name});
  };
  for (const AgentPlan& plan : scenario.agents) {
    if (plan.task) add(plan.name, plan.context);
    if (plan.claims) tend({"task", "add", "--id", own_task(plan.name), "what nobody asked for"});
  }
  for (const OutsiderPlan& plan : scenario.outsiders) add(plan.name, plan.context);
  if (!scenario.messages.empty()) tend({"gate", "list"});
}

void SeededWorld::start_roots() {
  for (const AgentPlan& plan : scenario.agents) {
    if (!plan.parent.empty()) continue;
    const std::string folder = kWorkFolder + plan.name;
    universe.disk.write(folder + "/README", "of " + plan.name + "\n");
    universe.repositories[folder].head = {{"README", "of " + plan.name + "\n"}};
    truth_.agents[plan.name].worktree = folder;
    truth_.agents[plan.name].asked_for = true;
    std::vector<std::string> words{"run",       "-d",        "--name",     plan.name,  "--policy",
                                   plan.policy, "--restart", "on-failure", "--notify", kNotify};
    if (plan.task) words.insert(words.end(), {"--task", plan.name});
    if (plan.is_asked()) words.insert(words.end(), {"--stdin", "stream"});
    words.emplace_back("--");
    std::ranges::copy(plan.is_asked() ? chat_command() : command_of(plan.voice),
                      std::back_inserter(words));
    if (const int exit = tend_below(1, folder, std::move(words), {}); exit != 0) {
      report("starts", fmt::format("{} was not started: exit {}", plan.name, exit));
    }
  }
}

int SeededWorld::tend(std::vector<std::string> words) {
  return tend_below(1, "/home/user", std::move(words), {});
}

int SeededWorld::tend_below(std::int64_t parent, const std::string& folder,
                            std::vector<std::string> words,
                            std::map<std::string, std::string> variables) {
  SimWorld sim(universe);
  variables.insert({{"TEND_HOME", kHome}, {"PATH", "/bin"}, {"HOME", "/home/user"}});
  sim.environment.variables = std::move(variables);
  const std::uint64_t dies_at = std::exchange(command_dies_at_, 0);
  CommandMachines machines(
      universe, {.environment = sim.environment.all(), .working_folder = folder, .parent = parent},
      dies_at);
  tend::World world{sim.files, sim.out, sim.err, sim.environment, machines, sim.caller};
  std::vector<std::string_view> views(words.begin(), words.end());
  int exit = kKilled;
  try {
    exit = tend::dispatch(commands(), views, world);
    machines.exit();
  } catch (const SimKilled&) {
    exit = kKilled;
    last_fault_ = std::max(last_fault_, elapsed());
  }
  if (words.front() == "recover" && exit != kKilled) recovery_said_ = sim.out.text;
  if (trace) {
    say(fmt::format("tend {} -> {} {}{}", fmt::join(words, " "), exit, sim.out.text, sim.err.text));
  }
  return exit;
}

void SeededWorld::run_tend(SimSelf& self, std::vector<std::string> words,
                           std::function<void(SimSelf&, int)> done) {
  requests_.push_back({&self, self.id(), std::move(words), std::move(done)});
}

// --- Keepers -------------------------------------------------------------------------------------

std::shared_ptr<void> SeededWorld::keep(Machine& machine, const Launch& launch) {
  const std::string path = launch.command.at(2);
  auto folder = machine.folders.open(path);
  auto home = machine.folders.open(kHome);
  const auto agent = folder ? read_agent_file(**folder) : std::unexpected(folder.error());
  if (!home || !agent) {
    say(fmt::format("a keeper cannot begin in {}", path));
    machine.loop.stop();
    return nullptr;
  }
  const auto policy = built_in_policy(agent->policy);
  CHECK(policy.has_value());
  KeeperSettings settings{.agent = *agent,
                          .policy = *policy,
                          .environment = launch.environment,
                          .runtime_folder = "/run",
                          .program = {.program = kTend,
                                      .home = kHome,
                                      .environment = keeper_environment(launch.environment)},
                          .again = launch.command.back() == "--again"};
  configure_probe(agent->agent, settings.config);
  auto process = std::make_shared<KeeperProcess>();
  process->reload = [this, path] { reloads_.push_back(path); };
  process->keeper =
      std::make_unique<Keeper>(machine, *std::move(folder), *std::move(home), std::move(settings));
  const auto began = process->keeper->begin();
  if (!began) say(fmt::format("a keeper in {}: {}", path, began.error().text));
  if (!began || *began != Keeper::Began::keeping) machine.loop.stop();
  // One that could not begin is seen by nobody.
  if (began && *began == Keeper::Began::keeping) note_kept(agent->agent);
  return process;
}

void SeededWorld::put_keeper_on(const std::string& folder) {
  Launch launch;
  launch.command = {kTend, "keep", folder};
  launch.environment = {"PATH=/bin", "HOME=/home/user", std::string("TEND_HOME=") + kHome};
  universe.start_command(launch);
}

bool SeededWorld::is_registered(const std::string& agent) const {
  const AgentTruth& truth = truth_.agents.at(agent);
  const std::string folder = folder_of(agent);
  if (folder.empty() || !truth.asked_for) return false;
  const std::string& lead = truth.plan->parent;
  if (lead.empty()) return true;
  const auto registry = universe.disk.read(folder_of(lead) + "/" + std::string(kChildrenFile));
  return registry && registry->contains(folder + "/" + std::string(kHeartbeatFile));
}

// --- What happens --------------------------------------------------------------------------------

AgentTruth* SeededWorld::begin_life(SimSelf& self) {
  const auto found = truth_.agents.find(self.variable("TEND_AGENT").value_or(""));
  if (found == truth_.agents.end()) return nullptr;
  AgentTruth& agent = found->second;
  const std::string life = self.variable("TEND_LIFE").value_or("0");
  LifeTruth fresh;
  fresh.number = static_cast<std::uint32_t>(std::stoul(life));
  fresh.process = self.id();
  fresh.progressed = universe.awake();
  fresh.began = universe.awake();
  fresh.since = elapsed();
  agent.lives.push_back(std::move(fresh));
  agent.did_nothing = false;
  if (agent.worktree.empty() && agent.plan->own_worktree) agent.worktree = self.working_folder();
  note_kept(found->first);
  if (agent.plan->claims) {
    run_tend(self, {"task", "claim", own_task(found->first)}, [](SimSelf&, int) {});
  }
  for (const auto& check : checks_) check->on_life(agent);
  return &agent;
}

void SeededWorld::end_life(LifeTruth& life) {
  life.over = true;
  outcome_.agent_time += universe.awake() - life.began;
  if (life.hang) truth_.hangs[*life.hang].over = elapsed();
}

void SeededWorld::commit(const AgentTruth& agent) {
  const auto repository = universe.repositories.find(agent.worktree);
  if (repository == universe.repositories.end() || !repository->second.merging.empty()) return;
  for (const auto& [file, written] : agent.wrote) {
    const auto text = universe.disk.read(agent.worktree + "/" + file);
    if (text) repository->second.head[file] = *text;
  }
}

void SeededWorld::on_exec(const SimFacts& process) {
  Owner owner;
  const std::string& command = process.command.front();
  if (command == kTend && process.command.size() > 1 && process.command[1] == "patrol") {
    owner.is = Owner::Is::patrol;
  } else if (command == kTend && process.command.size() > 2) {
    owner.is = Owner::Is::keeper;
    const auto at = agent_at_.find(process.command[2]);
    if (at != agent_at_.end()) owner.agent = at->second;
    if (owner.agent.empty()) {
      for (const auto& [name, agent] : truth_.agents) {
        if (folder_of(name) == process.command[2]) owner.agent = name;
      }
      if (!owner.agent.empty()) agent_at_[process.command[2]] = owner.agent;
    }
  } else if (is_voice(command)) {
    owner = {Owner::Is::agent, variable_in(process.environment, "TEND_AGENT")};
    AgentTruth& agent = truth_.agents.at(owner.agent);
    agent.folder = variable_in(process.environment, "TEND_INFRA");
    agent_at_[agent.folder] = owner.agent;
  } else if (command == "helper" || command == kInner) {
    owner = {Owner::Is::helper, variable_in(process.environment, "TEND_AGENT")};
  } else if (command == "stranger") {
    owner.is = Owner::Is::stranger;
  } else {
    owner.is = Owner::Is::command;
  }
  if (trace && owner.is != Owner::Is::command) {
    say(fmt::format("exec {} {}", process.id.pid, fmt::join(process.command, " ")));
  }
  for (const auto& check : checks_) check->on_exec(process, owner);
  owners_[process.id.pid] = std::move(owner);
  if (command == kLeader) note_program(process);
}

void SeededWorld::note_kept(const std::string& agent) {
  const auto since = abandoned_since(agent);
  if (!since) return;
  for (const auto& check : checks_) check->on_kept_again(agent, elapsed() - *since);
  returned_[agent] = {*since, elapsed()};
  abandoned_.erase(agent);
}

void SeededWorld::note_abandoned(const std::string& agent) {
  const auto back = returned_.find(agent);
  const bool was_seen = back == returned_.end() || elapsed() - back->second.at >= kSeenWithin;
  abandoned_.emplace(agent, was_seen ? elapsed() : back->second.since);
}

void SeededWorld::on_end(const SimFacts& process) {
  const Owner owner = owner_of(process.id.pid);
  if (owner.is == Owner::Is::agent) {
    for (LifeTruth& life : truth_.agents.at(owner.agent).lives) {
      if (!life.over && life.process == process.id) end_life(life);
    }
    note_down(owner.agent);
  }
  if (owner.is == Owner::Is::keeper) note_keeper_end(owner.agent);
  note_sender_end(process.id.pid);
  note_lead_end(process);
  note_service_end(process);
  if (trace && owner.is != Owner::Is::command) {
    say(fmt::format("end {} {} {}", process.id.pid, owner.agent,
                    process.exit.how == ExitStatus::How::signal ? "signal" : "code"));
  }
  for (const auto& check : checks_) check->on_end(process, owner);
  paused_.erase(process.id.pid);
  patrols_.erase(process.id.pid);
  owners_.erase(process.id.pid);
  const bool of_one = owner.is == Owner::Is::agent || owner.is == Owner::Is::keeper;
  if (of_one && processes_of(owner.agent, Owner::Is::agent).empty() && !has_keeper(owner.agent)) {
    note_abandoned(owner.agent);
  }
}

/// One that was stopped before it could take the lock keeps nobody.
bool SeededWorld::has_keeper(const std::string& agent) const {
  const SimNode* const lock = file_of(agent, kLockFile);
  return std::ranges::any_of(processes_of(agent, Owner::Is::keeper), [&](std::int64_t pid) {
    const bool has_lock = lock != nullptr && lock->lock != 0 && lock->lock_owner == pid;
    return has_lock || !keeper_is_paused(pid);
  });
}

void SeededWorld::on_signal(const SimSent& sent, const SimFacts& to) {
  const Owner sender = owner_of(sent.from);
  const Owner receiver = owner_of(to.id.pid);
  if (trace && sent.kill != Kill::look && sent.from != 0) {
    say(fmt::format("signal {} from {} ({}) to {} ({})", static_cast<int>(sent.kill), sent.from,
                    sender.agent, to.id.pid, receiver.agent));
  }
  for (const auto& check : checks_) check->on_signal(sent, sender, receiver);
  if (!is_decided_end(sent, sender, receiver) || sender.agent != receiver.agent) return;
  strike_in_act(sender, sent.from);
}

void SeededWorld::on_snapshot(const std::string& worktree, const SimRepository::Commit& commit) {
  for (const auto& check : checks_) check->on_snapshot(worktree, commit);
  strike_saved(worktree);
}

void SeededWorld::on_merge(const std::string& into, const SimRepository::Commit& merge) {
  ++outcome_.merges;
  for (const auto& check : checks_) check->on_merge(into, merge);
}

/// What everybody can read of what keepers thought and did.
void SeededWorld::read_events() {
  const std::string path = std::string(kHome) + "/" + std::string(kEventsFile);
  const SimNodePtr node = universe.disk.find(path);
  if (node == nullptr) return;
  if (node->number != events_file_) {
    // It became full: the rest of it has another name now.
    const SimNodePtr old =
        universe.disk.find(std::string(kHome) + "/" + std::string(kOldEventsFile));
    if (old != nullptr && old->number == events_file_ && old->bytes.size() > events_read_) {
      const std::string rest = old->bytes.substr(events_read_);
      hear_event(rest);
    }
    events_file_ = node->number;
    events_read_ = 0;
  }
  events_read_ = std::min(events_read_, node->bytes.size());
  const std::size_t end = node->bytes.rfind('\n') + 1;
  if (end <= events_read_ || node->bytes.empty()) return;
  const std::string fresh = node->bytes.substr(events_read_, end - events_read_);
  events_read_ = end;
  hear_event(fresh);
}

void SeededWorld::hear_event(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const auto event = parse_event(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!event) continue;
    note_hangs(*event);
    if (trace) {
      say(fmt::format("event {} life {}: {}{}{} {}", event->agent, event->life, event->verdict,
                      event->action, event->text, event->result));
    }
    for (const auto& check : checks_) check->on_event(*event);
    strike_suspect(*event);
    if (event->action == "degrade") send_when(SendsWhen::down, event->agent);
  }
}

void SeededWorld::note_hangs(const Event& event) {
  const bool knows = event.verdict == "stalled" || event.verdict == "looping" ||
                     event.action == "kill" || event.action == "escalate";
  if (!knows) return;
  for (HangTruth& hang : truth_.hangs) {
    const bool is_about_it = hang.agent == event.agent && hang.life == event.life;
    if (is_about_it && hang.known == Duration::zero()) hang.known = elapsed();
  }
}

// --- Looking -------------------------------------------------------------------------------------

const Owner& SeededWorld::owner_of(std::int64_t pid) const {
  const auto found = owners_.find(pid);
  return found == owners_.end() ? kNobody : found->second;
}

std::vector<std::int64_t> SeededWorld::processes_of(const std::string& agent,
                                                    Owner::Is what) const {
  std::vector<std::int64_t> found;
  for (const auto& [pid, owner] : owners_) {
    if (owner.is == what && owner.agent == agent) found.push_back(pid);
  }
  return found;
}

std::string SeededWorld::folder_of(const std::string& agent) const {
  const auto found = truth_.agents.find(agent);
  if (found != truth_.agents.end() && !found->second.folder.empty()) return found->second.folder;
  std::string path = universe.disk.read(std::string(kHome) + "/names/" + agent).value_or("");
  if (path.ends_with('\n')) path.pop_back();
  return path;
}

/// nullptr if there is none.
const SimNode* SeededWorld::file_of(const std::string& agent, std::string_view name) const {
  const auto found = truth_.agents.find(agent);
  const bool is_known = found != truth_.agents.end() && !found->second.folder.empty();
  const SimNodePtr& folder =
      is_known ? universe.disk.find(found->second.folder) : universe.disk.find(folder_of(agent));
  return folder == nullptr ? nullptr : folder->entries.find(name).get();
}

std::optional<Heartbeat> SeededWorld::heartbeat_of(const std::string& agent) const {
  return heartbeat_in(folder_of(agent));
}

std::optional<Heartbeat> SeededWorld::heartbeat_in(const std::string& folder) const {
  if (folder.empty()) return std::nullopt;
  const SimNodePtr& file = universe.disk.find(folder + "/" + std::string(kHeartbeatFile));
  if (file == nullptr) return std::nullopt;
  auto& [text, says] = heartbeats_[folder];  // asked for by many, and seldom new
  if (text != file->bytes) {
    text = file->bytes;
    auto read = parse_heartbeat(text);
    says = read ? std::optional(*std::move(read)) : std::nullopt;
  }
  return says;
}

bool SeededWorld::is_over(const std::string& agent) const {
  // Asked for every half minute by whoever waits: not worth a parser, nor a copy.
  Ending& seen = endings_[agent];
  const std::uint64_t as_of = universe.disk.names_changed();
  if (std::exchange(seen.as_of, as_of) == as_of) return seen.is_over;
  const SimNode* const file = file_of(agent, kHeartbeatFile);
  if (file == nullptr) return seen.is_over = false;
  const std::string_view status = behind(file->bytes, R"("status":")");
  return seen.is_over = status.starts_with("completed\"") || status.starts_with("withdrawn\"");
}

bool SeededWorld::is_to_pause(const std::string& agent) const {
  const SimNode* const file = file_of(agent, kIntentFile);
  return file != nullptr && file->bytes.contains(R"("pause")");
}

std::optional<Duration> SeededWorld::abandoned_since(const std::string& agent) const {
  const auto found = abandoned_.find(agent);
  if (found == abandoned_.end()) return std::nullopt;
  return found->second;
}

void SeededWorld::report(std::string_view check, const std::string& what) {
  say(fmt::format("VIOLATION {}: {}", check, what));
  constexpr std::size_t kMostReported = 20;
  if (outcome_.violations.size() >= kMostReported) return;
  outcome_.violations.push_back({std::string(check), what, elapsed()});
}

void SeededWorld::say(const std::string& what) {
  if (!trace) return;
  trace(fmt::format("{:>10.3f} {}", std::chrono::duration<double>(elapsed()).count(), what));
}

}  // namespace tend::sim
