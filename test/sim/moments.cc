// Faults that wait for a moment that chance would hardly hit, and what comes of them then.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "seeded_world.h"
#include "store/journal.h"
#include "store/life_record.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

/// As long as a whole end takes: it is asked, told, and killed.
constexpr Duration kEndTakes = 40s;
constexpr Duration kCutWithin = 20s;   // less than kWriteBack: what it takes is what was not synced
constexpr Duration kWakesWithin = 3s;  // of slow writes
constexpr Duration kAloneFor = 70min;
constexpr Duration kOrphansKnow = 6min;  // their limit, their grace, and a look
constexpr Duration kSavingTakes = 100s;
constexpr Duration kLooksAgain = 15s;       // a keeper whose agent is suspect
constexpr Duration kMayHaveSpoken = 14min;  // after output was lost nobody is ended for longer

}  // namespace

void SeededWorld::await_moment(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::sleep_in_act:
      sleeps_in_act_.insert_or_assign(fault.whom, fault);
      return;
    case FaultKind::sleep_unwatched:
      for (const auto& [name, agent] : truth_.agents) kill_keepers(name);
      return sleep(fault.lasts);
    case FaultKind::half_a_merge:
      ++merges_break_;
      return;
    case FaultKind::blind_in_act:
      abandon(fault.whom);
      [[fallthrough]];
    case FaultKind::cut_after_dispatch:
    case FaultKind::wake_in_act:
    case FaultKind::pause_suspect:
    case FaultKind::set_in_hold:
    case FaultKind::unwritten_sleep:
    case FaultKind::cut_after_telling:
      awaited_[fault.kind].push_back(fault);
      return;
    case FaultKind::hurried_lead: {
      AgentTruth& agent = truth_.agents.at(fault.whom);
      const bool leads = !agent.children.empty() || agent.plan->parent.empty();
      (leads ? agent : truth_.agents.at(agent.plan->parent)).hurries = true;
      return;
    }
    case FaultKind::deaf_keeper:
      return strike_deaf(fault);
    case FaultKind::patrol_first:
      if (scenario.patrol > Duration::zero()) shut_down(kAloneFor);
      return;
    case FaultKind::slow_saving:
      if (scenario.patrol > Duration::zero()) universe.version_control_takes = kSavingTakes;
      return;
    default:
      return;
  }
}

bool SeededWorld::awaits(FaultKind kind) const {
  const auto waiting = awaited_.find(kind);
  return waiting != awaited_.end() && !waiting->second.empty() && !settling_;
}

/// The next of those that wait for this moment; nothing once the world settles.
std::optional<Fault> SeededWorld::next_awaited(FaultKind kind) {
  if (!awaits(kind)) return std::nullopt;
  std::deque<Fault>& waiting = awaited_[kind];
  Fault fault = waiting.front();
  waiting.pop_front();
  if (trace) say(fmt::format("MOMENT {}", kFaultWords[static_cast<std::size_t>(kind)]));
  last_fault_ = std::max(last_fault_, elapsed() + fault.lasts);
  return fault;
}

/// Whoever is first above it dies with its keeper, and nobody comes by before its children know.
void SeededWorld::abandon(const std::string& agent) {
  const std::string& parent = truth_.agents.at(agent).plan->parent;
  if (!parent.empty()) return abandon(parent);
  kill_keepers(agent);
  kill_agents(agent);
  next_recover_ = std::max(next_recover_, elapsed() + kOrphansKnow);
}

/// What was not synced goes, and nothing that is older.
void SeededWorld::strike_dispatch() {
  const auto fault = next_awaited(FaultKind::cut_after_dispatch);
  if (!fault) return;
  const bool torn = fault->number % 2 == 0;
  universe.after(Duration{fault->number / 2 % kCutWithin.count()}, [this, torn] {
    restart_machine({.lost = torn ? SimReboot::Lost::torn : SimReboot::Lost::unsynced});
  });
}

void SeededWorld::strike_saved(const std::string& worktree) {
  if (!awaits(FaultKind::blind_in_act)) return;
  for (const auto& [name, agent] : truth_.agents) {
    if (agent.worktree != worktree || agent.life() == nullptr) continue;
    const auto alone = abandoned_since(agent.plan->parent);
    if (alone && elapsed() - *alone >= agent.policy.limits.orphan) strike_saved_orphan();
  }
}

/// It works on, for nobody can be ended who cannot be seen.
void SeededWorld::strike_saved_orphan() {
  const auto fault = next_awaited(FaultKind::blind_in_act);
  if (!fault) return;
  universe.looking_fails = "Permission denied";
  goes_wrong(Wrong::blind, fault->lasts);
}

/// A second look is due soon.
void SeededWorld::strike_suspect(const Event& event) {
  const auto agent = truth_.agents.find(event.agent);
  if (event.verdict != word(Verdict::suspect) || agent == truth_.agents.end()) return;
  const Duration ago{std::llround((calendar_seconds(wall()) - event.at) * 1000)};
  if (agent->second.plan->parent.empty()) strike_unwritten(event.agent);
  const Duration due = agent->second.policy.limits.confirm - ago;
  strike_second_look(event.agent, due);
  const LifeTruth* const life = agent->second.life();
  if (life != nullptr && life->hang && life->wake) strike_hang(event.agent, due);
}

/// Its keeper does not run: not long enough for one that looks seldom to notice, and until then.
void SeededWorld::strike_second_look(const std::string& agent, Duration due) {
  const auto fault = next_awaited(FaultKind::pause_suspect);
  if (!fault) return;
  const Duration lasts = kLagCounts + 1s + Duration{fault->number % 8000};
  const Duration begins = due - lasts + Duration{fault->number / 8000 % 3000};
  if (begins < Duration::zero()) return;
  last_fault_ = std::max(last_fault_, elapsed() + begins + lasts);
  universe.after(begins, [this, lasts, agent] {
    pause(processes_of(agent, Owner::Is::keeper), lasts, agent);
  });
}

/// It goes on while its end is being written down, and no hint says so.
void SeededWorld::strike_hang(const std::string& agent, Duration due) {
  const auto fault = next_awaited(FaultKind::wake_in_act);
  if (!fault) return;
  const bool is_saved = !truth_.agents.at(agent).worktree.empty();
  const Duration told = due + (is_saved ? universe.version_control_takes : Duration{});
  last_fault_ = std::max(last_fault_, elapsed() + told + kEndTakes);
  universe.after(due - 1s, [this, number = fault->number, told, due] {
    universe.call_takes = Duration{1 + number % 20};
    universe.sync_takes = Duration{20 + number % 1000};
    universe.hints = SimHints::lossy;
    goes_wrong(Wrong::slow, told - due + kEndTakes);
    goes_wrong(Wrong::lost_hints, told - due + kEndTakes);
  });
  const bool at_the_record = fault->number / 5'000'000 % 2 == 0;
  if (at_the_record) {
    universe.after(due, [this, agent, told, due] {
      wake_at_record(agent, elapsed() + told - due + kWakesWithin);
    });
    return;
  }
  universe.after(told + Duration{fault->number / 1000 % kWakesWithin.count()},
                 [this, agent] { wake(agent); });
}

/// In the moment in which its keeper has written down that it ends it, and has not told it yet.
void SeededWorld::wake_at_record(const std::string& agent, Duration until) {
  constexpr Duration kAgain = 5ms;  // shorter than that takes
  const SimNodePtr& record = universe.disk.find(folder_of(agent) + "/" + std::string(kLockFile));
  if (record != nullptr && record->bytes.contains(R"("hung":true)")) return wake(agent);
  if (elapsed() >= until) return;
  universe.after(kAgain, [this, agent, until] { wake_at_record(agent, until); });
}

/// One that hangs goes on, if it can.
void SeededWorld::wake(const std::string& agent) {
  const LifeTruth* const life = truth_.agents.at(agent).life();
  if (life == nullptr || !life->hang || !life->wake) return;
  const SimFacts* const process = universe.find(life->process.pid);
  if (process != nullptr && process->state == RunState::running) life->wake();
}

/// A keeper sees a sleep and cannot write it down, nor what its agent printed; the next one finds a
/// disk that has room again.
void SeededWorld::strike_unwritten(const std::string& agent) {
  const auto fault = next_awaited(FaultKind::unwritten_sleep);
  if (!fault) return;
  const Duration lasts = std::min(fault->lasts, scenario.lasts - elapsed());
  if (lasts <= Duration::zero()) return;
  universe.disk.room = 0;
  goes_wrong(Wrong::full, lasts + 2 * kLooksAgain);
  sleep(lasts);
  universe.after(kLooksAgain, [this, agent] {
    // Room that came back meanwhile is seen by the keeper that dies, and what it knew dies with it.
    const auto keepers = processes_of(agent, Owner::Is::keeper);
    const bool saw_it =
        keepers.size() == 1 && !keeper_is_paused(keepers.front()) && universe.disk.room.has_value();
    kill_keepers(agent);
    put_right(Wrong::full);
    put_keeper_on(folder_of(agent));
    last_fault_ = std::max(last_fault_, elapsed());
    if (saw_it) unfit_.push_back({agent, elapsed(), elapsed() + kMayHaveSpoken, true});
  });
}

/// When it may go on its stream says by a calendar that is put forward, and its next keeper has
/// nothing else to go by.
void SeededWorld::strike_holds() {
  if (!awaits(FaultKind::set_in_hold)) return;
  for (const auto& [name, agent] : truth_.agents) {
    const LifeTruth* const life = agent.life();
    const std::string journal = folder_of(name) + "/" + std::string(kJournalFile);
    if (life == nullptr || life->doing != StepKind::rate_limit) continue;
    if (!universe.disk.exists(journal)) continue;
    const auto fault = next_awaited(FaultKind::set_in_hold);
    if (!fault) return;
    make_unreadable(journal, kSeenWithin);
    kill_keepers(name);
    set_calendar(fault->lasts);
    put_keeper_on(folder_of(name));
  }
}

void SeededWorld::strike_deaf(const Fault& fault) {
  const std::string folder = folder_of(fault.whom);
  const std::string stream = folder + "/stream.jsonl";
  if (folder.empty() || !universe.disk.exists(stream)) return;
  make_unreadable(stream, fault.lasts);
  kill_keepers(fault.whom);
  put_keeper_on(folder);
}

/// What was awaited for too long does not come any more: the world settles.
void SeededWorld::strike_in_act(const Owner& keeper, std::int64_t pid) {
  if (const auto dies = dies_in_act_.extract(keeper.agent)) {
    universe.kill_at_call(pid, dies.mapped());
    last_fault_ = std::max(last_fault_, elapsed());
  }
  if (const auto sleeps = sleeps_in_act_.extract(keeper.agent)) {
    const Fault& fault = sleeps.mapped();
    const Duration after = Duration{fault.number % static_cast<std::uint64_t>(kEndTakes.count())};
    const Duration lasts = std::min(fault.lasts, scenario.lasts - elapsed() - after);
    if (lasts > Duration::zero()) universe.after(after, [this, lasts] { sleep(lasts); });
  }
}

void SeededWorld::on_half_a_merge(const std::string& /*into*/, std::int64_t by) {
  if (merges_break_ == 0 || settling_) return;
  --merges_break_;
  universe.kill_at_call(by, 1);
  last_fault_ = std::max(last_fault_, elapsed());
}

void SeededWorld::sleep(Duration lasts) {
  universe.sleep_machine(lasts);
  slept_ += lasts;
  unfit_.push_back({"", elapsed(), elapsed() + kUnfitAfter});
  last_fault_ = std::max(last_fault_, elapsed());
}

}  // namespace tend::sim
