// What must hold in every world: one property a file. A check hears what really happens, compares
// it with what is true, and says what it saw when they do not fit.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/database.h"
#include "os/sim/sim_universe.h"
#include "seeded_world.h"
#include "store/events.h"
#include "store/leases.h"
#include "store/tasks.h"

namespace tend::sim {

class Check {
 public:
  explicit Check(SeededWorld& its_world) : world(its_world) {}
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Tasks are there, agents are not.
  virtual void on_begin() {}
  /// Before the signal has any effect. `sender` is nobody's when the world itself sent it.
  virtual void on_signal(const SimSent& /*sent*/, const Owner& /*sender*/, const Owner& /*to*/) {}
  /// A life of an agent began; it is the last of its lives.
  virtual void on_life(const AgentTruth& /*agent*/) {}
  /// It is let run its program.
  virtual void on_exec(const SimFacts& /*process*/, const Owner& /*owner*/) {}
  virtual void on_end(const SimFacts& /*process*/, const Owner& /*owner*/) {}
  /// The agent was without process and keeper for that long, and has one again.
  virtual void on_kept_again(const std::string& /*agent*/, Duration /*without*/) {}
  virtual void on_snapshot(const std::string& /*worktree*/,
                           const SimRepository::Commit& /*commit*/) {}
  virtual void on_merge(const std::string& /*into*/, const SimRepository::Commit& /*merge*/) {}
  virtual void on_event(const Event& /*event*/) {}
  /// A notice reaches a person.
  virtual void on_told(const Run& /*notice*/) {}
  /// A keeper puts a question to its agent; it is not yet among those of its life.
  virtual void on_question(const AgentTruth& /*agent*/, const QuestionTruth& /*question*/) {}
  /// A keeper, by its pid, hands a message to its agent.
  virtual void on_message(const AgentTruth& /*agent*/, std::int64_t /*id*/, std::int64_t /*by*/,
                          std::string_view /*words*/) {}
  /// A sender was told that its message was received.
  virtual void on_received(std::size_t /*message*/, const ReceiveAnswer& /*answer*/) {}
  /// Somebody who wrote to this agent is being told.
  virtual void on_reply(const ReplyTruth& /*reply*/, const std::string& /*agent*/) {}
  /// A program begins to lead; it is the last of all that did.
  virtual void on_lead(const LeadTruth& /*lead*/) {}
  /// It does what only one may do.
  virtual void on_act(const LeadTruth& /*lead*/) {}
  /// A service, by its place among the plans, took up its work.
  virtual void on_service(std::size_t /*service*/) {}
  /// It ended by itself; it is not among those at work any more.
  virtual void on_service_left(std::size_t /*service*/) {}
  virtual void on_beat(const BeatTruth& /*beat*/) {}
  /// A power cut took a row of the home's database back, which was this before, as JSON; see
  /// SeededWorld::was_taken_back().
  virtual void on_taken_back(const std::string& /*table*/, const std::string& /*id*/,
                             const std::string& /*was*/) {}
  /// A patrol took up its work; so many are at it now.
  virtual void on_patrol(std::size_t /*at_work*/) {}
  /// It is shown the tasks that somebody holds: what its sweep goes by.
  virtual void on_listed(const std::vector<Task>& /*held*/) {}
  /// Every 20 seconds.
  virtual void on_tick() {}
  /// The last moment of the world: nothing has gone wrong for long.
  virtual void on_settled() {}

 protected:
  void violated(const std::string& what) { world.report(name(), what); }

  SeededWorld& world;
};

std::vector<std::unique_ptr<Check>> make_checks(SeededWorld& world);

// One file each.
std::unique_ptr<Check> make_false_kill_check(SeededWorld& world);
std::unique_ptr<Check> make_identity_check(SeededWorld& world);
std::unique_ptr<Check> make_one_life_check(SeededWorld& world);
std::unique_ptr<Check> make_budget_check(SeededWorld& world);
std::unique_ptr<Check> make_fitness_check(SeededWorld& world);
std::unique_ptr<Check> make_written_first_check(SeededWorld& world);
std::unique_ptr<Check> make_journal_first_check(SeededWorld& world);
std::unique_ptr<Check> make_preserved_check(SeededWorld& world);
std::unique_ptr<Check> make_merged_once_check(SeededWorld& world);
std::unique_ptr<Check> make_messages_check(SeededWorld& world);
std::unique_ptr<Check> make_notices_check(SeededWorld& world);
std::unique_ptr<Check> make_replay_check(SeededWorld& world);
std::unique_ptr<Check> make_stall_found_check(SeededWorld& world);
std::unique_ptr<Check> make_nobody_left_check(SeededWorld& world);
std::unique_ptr<Check> make_nothing_owed_check(SeededWorld& world);
std::unique_ptr<Check> make_orders_check(SeededWorld& world);
std::unique_ptr<Check> make_session_check(SeededWorld& world);
std::unique_ptr<Check> make_carried_out_check(SeededWorld& world);
std::unique_ptr<Check> make_tasks_check(SeededWorld& world);
std::unique_ptr<Check> make_whole_lines_check(SeededWorld& world);
std::unique_ptr<Check> make_children_kept_check(SeededWorld& world);
std::unique_ptr<Check> make_given_up_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_robs_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_once_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_early_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_ladder_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_watched_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_keepers_check(SeededWorld& world);
std::unique_ptr<Check> make_patrol_closes_check(SeededWorld& world);
std::unique_ptr<Check> make_asked_check(SeededWorld& world);
std::unique_ptr<Check> make_answered_check(SeededWorld& world);
std::unique_ptr<Check> make_gate_kept_check(SeededWorld& world);
std::unique_ptr<Check> make_gate_order_check(SeededWorld& world);
std::unique_ptr<Check> make_gate_told_check(SeededWorld& world);
std::unique_ptr<Check> make_gate_held_check(SeededWorld& world);
std::unique_ptr<Check> make_gate_twice_check(SeededWorld& world);
std::unique_ptr<Check> make_lease_one_check(SeededWorld& world);
std::unique_ptr<Check> make_lease_turn_check(SeededWorld& world);
std::unique_ptr<Check> make_lease_robbed_check(SeededWorld& world);
std::unique_ptr<Check> make_service_living_check(SeededWorld& world);
std::unique_ptr<Check> make_service_ends_check(SeededWorld& world);
std::unique_ptr<Check> make_service_beats_check(SeededWorld& world);
std::unique_ptr<Check> make_service_counts_check(SeededWorld& world);
std::unique_ptr<Check> make_service_one_check(SeededWorld& world);

/// A signal that ends a process.
constexpr bool ends(Kill kill) {
  return kill == Kill::interrupt || kill == Kill::terminate || kill == Kill::kill ||
         kill == Kill::hang_up;
}
/// An agent that is being ended by its own keeper's decision: no person asked for it.
inline bool is_decided_end(const SimSent& sent, const Owner& sender, const Owner& to) {
  return ends(sent.kill) && sender.is == Owner::Is::keeper && to.is == Owner::Is::agent;
}
/// So many are silent at once that all of them wait for the channel to be looked at.
bool are_many_silent(const SeededWorld& world);
/// It is asked, has a keeper that runs, is not to pause or to end, and was well for that long,
/// while nothing went wrong.
bool is_well_for(const SeededWorld& world, const AgentTruth& agent, Duration time);
/// What all commands, keepers and the patrol of the home share; nullptr if nobody has a task.
std::unique_ptr<Database> home_database_of(SeededWorld& world);
/// The newest record of that lease; nothing if there is none to be read.
std::optional<LeaseRecord> lease_of(const SeededWorld& world, const char* name);
/// Whom a service beats for runs and, if it is an agent, its keeper lives and says that it works.
bool is_subject_at_work(SeededWorld& world, std::size_t service);
/// It is over for good.
bool is_subject_over(SeededWorld& world, std::size_t service);
/// What stands as an order to an agent; one that was torn is none.
struct StopOrder {
  bool stop = false;
  bool tree = false;  // all below it too
};
StopOrder order_to(const SeededWorld& world, const AgentTruth& agent);
bool has_fault(const Scenario& scenario, std::initializer_list<FaultKind> kinds);
/// What was not synced may be lost.
bool loses_power(const Scenario& scenario);
/// Times that stand in files may not be those of now.
bool sets_calendar(const Scenario& scenario);

}  // namespace tend::sim
