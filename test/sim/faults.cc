// What goes wrong, and what a person does meanwhile; see FaultKind. Every fault is an event of the
// simulated machine, so that it strikes in the middle of whatever runs.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "seeded_world.h"
#include "store/children.h"
#include "store/journal.h"
#include "store/life_record.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSeen = 40s;  // a keeper looks every 30 s, whatever it was told
constexpr Duration kWriteBack = 30s;

bool cuts_power(FaultKind kind) {
  return kind == FaultKind::power_cut || kind == FaultKind::torn_power_cut ||
         kind == FaultKind::lying_disk;
}

/// Looked at every few seconds.
void once(SimUniverse& universe, const std::function<bool()>& holds,
          const std::function<void()>& then) {
  constexpr Duration kLooksEvery = 2s;
  if (holds()) return then();
  universe.after(kLooksEvery, [&universe, holds, then] { once(universe, holds, then); });
}

std::string random_file(std::uint64_t number) {
  constexpr std::array<std::string_view, 6> kFiles{"journal.jsonl", ".heartbeat",   "agent.json",
                                                   ".children",     "stream.jsonl", "intent.json"};
  return std::string(kFiles[number % kFiles.size()]);
}

}  // namespace

void SeededWorld::post_faults() {
  std::erase_if(faults_left_, [this](std::size_t i) { return scenario.faults[i].at < elapsed(); });
  for (const std::size_t i : faults_left_) {
    const Fault& fault = scenario.faults[i];
    const Instant when = universe.now() + (fault.at - elapsed());
    universe.at(when, [this, i] {
      std::erase(faults_left_, i);
      strike(scenario.faults[i]);
    });
    if (cuts_power(fault.kind)) {
      universe.at(when - kWriteBack, [this] { write_back(); });
    }
  }
}

/// A kernel leaves nothing unwritten for longer than that, synced or not.
void SeededWorld::write_back() {
  for (const std::string& path : universe.disk.files("/")) {
    universe.disk.sync(*universe.disk.find(path));
  }
  for (const auto& [path, file] : universe.databases) {
    if (!universe.disk.syncs_lie) file->sync();
  }
}

void SeededWorld::strike(const Fault& fault) {
  if (trace) {
    say(fmt::format("FAULT {} {} {}", kFaultWords[static_cast<std::size_t>(fault.kind)], fault.whom,
                    fault.number));
  }
  ++outcome_.faults[fault.kind];
  const bool is_a_moment = fault.kind == FaultKind::clock_step;  // by so much, at once
  last_fault_ = std::max(last_fault_, elapsed() + (is_a_moment ? Duration{} : fault.lasts));
  if (is_of_patrol(fault.kind)) return strike_patrol(fault);
  if (is_of_gate(fault.kind)) return strike_gate(fault);
  if (is_of_lease(fault.kind)) return strike_lease(fault);
  if (is_of_service(fault.kind)) return strike_service(fault);
  if (is_of_database(fault.kind)) return strike_database(fault);
  if (is_of_a_moment(fault.kind)) return await_moment(fault);
  if (fault.kind <= FaultKind::pause_agent || fault.kind == FaultKind::two_keepers ||
      fault.kind == FaultKind::reload || fault.kind == FaultKind::reuse_pid ||
      fault.kind == FaultKind::restart_keepers || fault.kind == FaultKind::keeper_in_act) {
    return strike_processes(fault);
  }
  if (fault.kind >= FaultKind::stop_order && fault.kind <= FaultKind::pause_order) {
    return give_order(fault);
  }
  if (fault.kind == FaultKind::unreadable || fault.kind == FaultKind::newer_version ||
      fault.kind == FaultKind::full_disk) {
    return strike_files(fault);
  }
  strike_machine(fault);
}

// --- Processes -----------------------------------------------------------------------------------

void SeededWorld::kill_keepers(const std::string& agent) {
  for (const std::int64_t pid : processes_of(agent, Owner::Is::keeper)) universe.kill(pid);
}

void SeededWorld::kill_agents(const std::string& agent) {
  for (const std::int64_t pid : processes_of(agent, Owner::Is::agent)) universe.kill(pid);
}

/// The agent itself, where that is not what was started.
void SeededWorld::kill_inside(const std::string& agent) {
  const auto inner = inner_of(agent);
  inner ? universe.kill(*inner) : kill_agents(agent);
}

std::optional<std::int64_t> SeededWorld::inner_of(const std::string& agent) const {
  const LifeTruth* const life = truth_.agents.at(agent).life();
  if (life == nullptr || life->inner.pid == 0) return std::nullopt;
  const auto facts = universe.facts(life->inner.pid);
  const bool is_it = facts && facts->id == life->inner && universe.runs(life->inner.pid);
  return is_it ? std::optional(life->inner.pid) : std::nullopt;
}

void SeededWorld::strike_processes(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kill_keeper:
      return kill_keepers(fault.whom);
    case FaultKind::kill_agent:
      return fault.number % 2 == 0 ? kill_agents(fault.whom) : kill_inside(fault.whom);
    case FaultKind::kill_both:
      kill_keepers(fault.whom);
      return kill_agents(fault.whom);
    case FaultKind::kill_all:
    case FaultKind::restart_keepers:
      for (const auto& [name, agent] : truth_.agents) {
        kill_keepers(name);
        if (fault.kind == FaultKind::kill_all) kill_agents(name);
      }
      return;
    case FaultKind::keeper_at_call:
    case FaultKind::torn_at_call:
      for (const std::int64_t pid : processes_of(fault.whom, Owner::Is::keeper)) {
        universe.kill_at_call(pid, fault.number, fault.kind == FaultKind::torn_at_call);
      }
      return;
    case FaultKind::keeper_in_act:
      dies_in_act_.insert_or_assign(fault.whom, fault.number);
      return;
    case FaultKind::command_at_call:
      command_dies_at_ = fault.number;
      return;
    case FaultKind::pause_keeper:
      return pause(processes_of(fault.whom, Owner::Is::keeper), fault.lasts, fault.whom);
    case FaultKind::pause_agent:
      return pause_agent(fault);
    case FaultKind::two_keepers:
      if (is_registered(fault.whom)) {
        put_keeper_on(folder_of(fault.whom));
        put_keeper_on(folder_of(fault.whom));
      }
      return;
    case FaultKind::reload:
      for (const std::int64_t pid : processes_of(fault.whom, Owner::Is::keeper)) {
        universe.order(pid, Order::hang_up);
      }
      return;
    case FaultKind::reuse_pid:
      return reuse_pid(fault.whom);
    default:
      return;
  }
}

/// Who is stopped again before anybody can have seen it run did not go on.
void SeededWorld::forget_going_on(const ProcessId& id) {
  const auto gone_on = went_on_.extract(id.pid);
  if (!gone_on || universe.awake() - gone_on.mapped().at >= kSeen) return;
  for (auto& [name, truth] : truth_.agents) {
    LifeTruth* const life = truth.life();
    if (life == nullptr || life->process != id || life->progressed != gone_on.mapped().at) continue;
    life->progressed = gone_on.mapped().progressed;
    life->patience = gone_on.mapped().patience;
  }
}

void SeededWorld::pause(const std::vector<std::int64_t>& pids, Duration lasts,
                        const std::string& agent) {
  for (const std::int64_t pid : pids) {
    universe.pause(pid);
    const ProcessId id = universe.facts(pid)->id;
    forget_going_on(id);
    if (!agent.empty()) paused_[pid] = agent;
    const bool could_be_seen = universe.looking_fails.empty() && lasts >= kUnfitAfter;
    // With every beat a keeper looks whether it runs: one that gave none saw nothing of this.
    const std::string lock = fmt::format("{}/{}", folder_of(owner_of(pid).agent), kLockFile);
    const auto pulse = universe.disk.modified(lock);
    universe.after(lasts, [this, pid, id, agent, lasts, could_be_seen, lock, pulse] {
      const auto facts = universe.facts(pid);
      if (!facts || facts->id != id || !universe.runs(pid)) return;
      const bool is_news =
          could_be_seen && universe.looking_fails.empty() && facts->state == RunState::stopped;
      paused_.erase(pid);
      // The end of another pause may have let it go on before.
      if (!agent.empty() && lasts > kLagCounts && facts->state == RunState::stopped) {
        unfit_.push_back({agent, elapsed(), elapsed() + kUnfitAfter});
      }
      for (auto& [name, truth] : truth_.agents) {
        LifeTruth* const life = truth.life();
        if (life != nullptr && life->process == id) truth.well.reset();
        if (life == nullptr || life->process != id || !is_news) continue;
        if (processes_of(name, Owner::Is::keeper).empty()) continue;  // nobody saw it
        if (universe.disk.modified(lock) == pulse) continue;
        // What a provider's hold may last, it may still: that is no time since the last sign.
        went_on_[pid] = {life->progressed, life->patience, universe.awake()};
        const Duration passed =
            universe.awake() - std::exchange(life->progressed, universe.awake());
        if (life->doing == StepKind::rate_limit && life->patience != kNoLimit) {
          life->patience = std::max(life->patience - passed, Duration::zero());
        }
      }
      universe.go_on(pid);
    });
  }
}

void SeededWorld::pause_agent(const Fault& fault) {
  std::vector<std::int64_t> pids = processes_of(fault.whom, Owner::Is::agent);
  if (const auto inner = inner_of(fault.whom)) pids.push_back(*inner);
  pause(pids, fault.lasts, "");
}

/// Its number is given to a process that has nothing to do with anything.
void SeededWorld::reuse_pid(const std::string& agent) {
  const auto pids = processes_of(agent, Owner::Is::agent);
  if (pids.empty()) return;
  const std::int64_t pid = pids.front();
  kill_keepers(agent);
  universe.kill(pid);
  universe.after(50ms, [this, pid] {
    const auto facts = universe.facts(pid);
    if (facts && facts->state != RunState::gone) return;
    universe.next_pid = pid;
    Launch launch;
    launch.command = {"stranger", "0"};
    universe.start_command(launch);
  });
}

// --- The machine ---------------------------------------------------------------------------------

void SeededWorld::set_calendar(Duration by) {
  universe.step_wall(by);
  calendar_set_.push_back({.at = elapsed(), .by = by});
}

bool SeededWorld::was_calendar_set(Duration from, Duration to) const {
  return std::ranges::any_of(
      calendar_set_, [&](const CalendarStep& step) { return from <= step.at && step.at <= to; });
}

bool SeededWorld::was_a_time_again(Duration from, Duration to) const {
  return std::ranges::any_of(calendar_set_, [&](const CalendarStep& step) {
    return step.by < Duration::zero() && step.at <= to && from < step.at - step.by;
  });
}

void SeededWorld::lasting(Duration lasts, std::function<void()> over) {
  universe.after(lasts, std::move(over));
}

void SeededWorld::strike_machine(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::sleep:
      return sleep(fault.lasts);
    case FaultKind::clock_step:
      return set_calendar(fault.number % 2 == 0 ? fault.lasts : -fault.lasts);
    case FaultKind::slow_disk:
      universe.call_takes = std::chrono::milliseconds{1 + fault.number % 20};
      universe.sync_takes = std::chrono::milliseconds{20 + fault.number % 1000};
      return goes_wrong(Wrong::slow, fault.lasts);
    case FaultKind::blind:
      universe.looking_fails = "Permission denied";
      return goes_wrong(Wrong::blind, fault.lasts);
    case FaultKind::no_forks:
      universe.spawning_fails = "Resource temporarily unavailable";
      return goes_wrong(Wrong::no_forks, fault.lasts);
    case FaultKind::lost_hints:
      universe.hints = SimHints::lossy;
      return goes_wrong(Wrong::lost_hints, fault.lasts);
    case FaultKind::shutdown:
      return shut_down({});
    case FaultKind::power_cut:
      return restart_machine({.lost = SimReboot::Lost::unsynced});
    case FaultKind::torn_power_cut:
      return restart_machine({.lost = SimReboot::Lost::torn});
    case FaultKind::lying_disk:
      universe.disk.syncs_lie = true;
      if (fault.number % 8 >= 2) {
        return lasting(std::min(fault.lasts, kWriteBack / 2),
                       [this] { restart_machine({.lost = SimReboot::Lost::torn}); });
      }
      // Its cache is written once in a while all the same, until a commit is among it.
      return once(
          universe,
          [this, until = elapsed() + fault.lasts] {
            const SimDatabaseFile* const file = database_file();
            if (elapsed() >= until || (file != nullptr && file->has_unsynced())) return true;
            universe.disk.syncs_lie = false;
            write_back();
            universe.disk.syncs_lie = true;
            last_fault_ = std::max(last_fault_, elapsed());
            return false;
          },
          [this] { restart_machine({.lost = SimReboot::Lost::torn}); });
    default:
      return;
  }
}

/// Everybody is asked to end; a while later the machine is off. When it is back, the patrol is
/// `alone` for that long.
void SeededWorld::shut_down(Duration alone) {
  shutting_down_ = true;
  for (const std::int64_t pid : patrols()) universe.order(pid, Order::terminate);
  for (const auto& [name, agent] : truth_.agents) {
    for (const std::int64_t pid : processes_of(name, Owner::Is::keeper)) {
      universe.order(pid, Order::terminate);
    }
  }
  lasting(90s, [this, alone] {
    patrol_is_alone_ = alone;
    restart_machine({});
  });
}

void SeededWorld::restart_machine(const SimReboot& how) {
  for (auto& [name, agent] : truth_.agents) {
    if (LifeTruth* const life = agent.life()) end_life(*life);
  }
  base_ += universe.now() - origin_;
  origin_ = universe.now();
  owners_.clear();
  paused_.clear();
  patrols_.clear();
  senders_.clear();
  takers_.clear();
  const KeptFiles before = files_of_agents();
  const WholeFiles whole = whole_files();
  const SimDatabaseFile* const file = database_file();
  const bool may_lose = how.lost != SimReboot::Lost::nothing && file && file->has_unsynced();
  const auto rows = may_lose ? rows_of_database() : RowsOfDatabase{};
  const bool disk_lied = universe.disk.syncs_lie;
  universe.reboot(how);
  if (may_lose) note_taken_back(rows, disk_lied);
  endings_.clear();  // files are not what they were
  base_ += how.takes;
  origin_ = universe.now();
  note_lost_since(before);
  forget_lost(whole);
  heal();  // also what came back from before
  last_fault_ = std::max(last_fault_, elapsed());
  break_off_sending();
  break_off_contending();
  break_off_services();
  for (const auto& [name, agent] : truth_.agents) {
    if (agent.asked_for) abandoned_.emplace(name, elapsed());
  }
  // Whoever had paused something comes back to it.
  for (const std::string& name : to_unpause_) orders_.push_back({"unpause", name});
  to_unpause_.clear();
  rebooted_ = true;
  shutting_down_ = false;
}

// --- What does not work for a while --------------------------------------------------------------

void SeededWorld::goes_wrong(Wrong what, Duration lasts) {
  Duration& until = wrong_until_[what];
  until = std::max(until, elapsed() + lasts);
  lasting(lasts, [this] { heal_what_is_due(); });
}

void SeededWorld::make_unreadable(const std::string& path, Duration lasts) {
  universe.disk.make_unreadable(path);
  Duration& until = unreadable_until_[path];
  until = std::max(until, elapsed() + lasts);
  lasting(lasts, [this] { heal_what_is_due(); });
}

bool SeededWorld::is_unreadable(const std::string& agent, std::string_view file) const {
  return unreadable_until_.contains(fmt::format("{}/{}", folder_of(agent), file));
}

void SeededWorld::put_right(Wrong what) {
  if (wrong_until_.erase(what) > 0) was_wrong_[what] = elapsed();
  switch (what) {
    case Wrong::slow:
      universe.call_takes = {};
      universe.sync_takes = {};
      return;
    case Wrong::blind:
      return universe.looking_fails.clear();
    case Wrong::no_forks:
      return universe.spawning_fails.clear();
    case Wrong::lost_hints:
      universe.hints = scenario.lossy_hints ? SimHints::lossy : SimHints::all;
      return;
    case Wrong::full:
      return universe.disk.room.reset();
    case Wrong::busy_database:
      if (SimDatabaseFile* const file = database_file()) file->busy = false;
      return;
    case Wrong::unreadable_database:
      if (SimDatabaseFile* const file = database_file()) file->unreadable = false;
      return;
  }
}

void SeededWorld::heal_what_is_due() {
  for (const Wrong what : kAllWrong) {
    const auto until = wrong_until_.find(what);
    if (until != wrong_until_.end() && until->second <= elapsed()) put_right(what);
  }
  std::erase_if(unreadable_until_, [this](const auto& one) {
    const auto& [path, until] = one;
    if (until > elapsed()) return false;
    if (universe.disk.exists(path)) universe.disk.make_readable(path);
    return true;
  });
}

/// Everything works again as it should.
void SeededWorld::heal() {
  for (const Wrong what : kAllWrong) put_right(what);
  for (const auto& [path, until] : unreadable_until_) {
    if (universe.disk.exists(path)) universe.disk.make_readable(path);
  }
  unreadable_until_.clear();
  universe.unseen.clear();
  universe.disk.syncs_lie = false;
}

Duration SeededWorld::since_wrong(Wrong what) const {
  if (wrong_until_.contains(what)) return {};
  const auto was = was_wrong_.find(what);
  return was == was_wrong_.end() ? kNoLimit : elapsed() - was->second;
}

SeededWorld::KeptFiles SeededWorld::files_of_agents() const {
  KeptFiles kept;
  for (const auto& [name, agent] : truth_.agents) {
    const std::string folder = folder_of(name);
    if (folder.empty()) continue;
    for (const std::string& path : universe.disk.files(folder)) {
      const std::string file = path.substr(folder.size() + 1);
      if (!file.contains('/')) kept[name][file] = universe.disk.read(path).value_or("");
    }
  }
  return kept;
}

/// What is other than it was, or gone. What came back from before counts, too.
void SeededWorld::note_lost_since(const KeptFiles& before) {
  const KeptFiles now = files_of_agents();
  for (const auto& [name, files] : before) {
    const auto left = now.find(name);
    for (const auto& [file, bytes] : files) {
      const bool is_whole =
          left != now.end() && left->second.contains(file) && left->second.at(file) == bytes;
      if (!is_whole) lost_[name][file] = elapsed();
    }
  }
}

/// Files of work trees in which stands what was written there.
SeededWorld::WholeFiles SeededWorld::whole_files() const {
  WholeFiles whole;
  for (const auto& [name, agent] : truth_.agents) {
    for (const auto& [file, written] : agent.wrote) {
      const bool is_whole = universe.disk.read(agent.worktree + "/" + file) == written.text;
      if (is_whole) whole.emplace(name, file);
    }
  }
  return whole;
}

/// What the power took nobody can save; what was not there before was lost by somebody else.
void SeededWorld::forget_lost(const WholeFiles& whole) {
  const WholeFiles left = whole_files();
  for (const auto& [name, file] : whole) {
    if (!left.contains({name, file})) truth_.agents.at(name).wrote.erase(file);
  }
}

bool SeededWorld::has_lost(const std::string& agent, std::string_view file, Duration since) const {
  const auto files = lost_.find(agent);
  if (files == lost_.end()) return false;
  const auto when = files->second.find(file);
  return when != files->second.end() && when->second >= since;
}

// --- Files ---------------------------------------------------------------------------------------

void SeededWorld::strike_files(const Fault& fault) {
  const std::string folder = folder_of(fault.whom);
  if (fault.kind == FaultKind::full_disk) {
    universe.disk.room = fault.number % 2000;
    return goes_wrong(Wrong::full, fault.lasts);
  }
  if (folder.empty()) return;
  if (fault.kind == FaultKind::unreadable) {
    const std::string path = folder + "/" + random_file(fault.number);
    if (universe.disk.exists(path)) make_unreadable(path, fault.lasts);
    return;
  }
  leave_other_version(fault, folder);
}

/// As another version of ours would have left the files, and whoever keeps the agent comes anew.
void SeededWorld::leave_other_version(const Fault& fault, const std::string& folder) {
  const bool is_older = fault.number % 3 == 0;
  for (const std::string_view name : {kHeartbeatFile, kLockFile}) {
    const std::string path = folder + "/" + std::string(name);
    auto text = universe.disk.read(path).value_or("");
    const auto modified = universe.disk.modified(path);
    if (!text.starts_with('{') || !modified) continue;
    const std::size_t size = text.size();
    if (is_older) {
      const auto before = nlohmann::ordered_json::parse(text, nullptr, false);
      if (!before.is_object()) continue;
      auto known = before;
      for (const char* later :
           {"slept_ms", "awake_since_ms", "unwritten", "stays", "silent_since"}) {
        known.erase(later);
      }
      text = known.dump();
    } else {
      text = R"({"schema":99,"mood":{"of":"the day"},)" + text.substr(1);
    }
    if (name == kLockFile) {  // it has one size in every version
      text.resize(size, ' ');
      text.back() = '\n';
    }
    universe.disk.write(path, text);
    universe.disk.set_modified(path, *modified);  // its time is when its keeper looked last
  }
  if (!is_older) {
    append_line(folder + "/signals.jsonl", R"({"is":"omen","of":"a later version"})");
    const std::string children = folder + "/" + std::string(kChildrenFile);
    if (universe.disk.exists(children)) append_line(children, R"({"omen":"of a later version"})");
  }
  if (fault.number % 2 == 0) return;
  kill_keepers(fault.whom);
  if (is_registered(fault.whom)) put_keeper_on(folder);
}

/// As everybody does who knows that the last one may have been torn.
void SeededWorld::append_line(const std::string& path, std::string_view line) {
  const auto before = universe.disk.read(path).value_or("");
  const bool is_torn = !before.empty() && !before.ends_with('\n');
  universe.disk.append(path, fmt::format("{}{}\n", is_torn ? "\n" : "", line));
}

// --- People --------------------------------------------------------------------------------------

void SeededWorld::unpause(const std::string& agent) {
  if (to_unpause_.erase(agent) == 0) return;
  orders_.push_back({"unpause", agent});
  // Commands are played one after the other: one of its own that was stopped with it is in the way.
  for (const std::int64_t above : processes_of(agent, Owner::Is::agent)) {
    for (const auto& [pid, owner] : owners_) {
      const auto facts = universe.facts(pid);
      const bool is_its_own = owner.is == Owner::Is::command && facts && facts->parent == above;
      if (is_its_own && facts->state == RunState::stopped) universe.kill(pid);
    }
  }
}

void SeededWorld::give_order(const Fault& fault) {
  if (folder_of(fault.whom).empty()) return;
  if (fault.kind == FaultKind::pause_order) {
    orders_.push_back({"pause", fault.whom});
    to_unpause_.insert(fault.whom);
    universe.after(fault.lasts, [this, whom = fault.whom] { unpause(whom); });
    return;
  }
  std::vector<std::string> words{"stop", fault.whom};
  if (fault.kind == FaultKind::stop_tree_order) words.insert(words.begin() + 1, "--tree");
  orders_.push_back(std::move(words));
}

}  // namespace tend::sim
