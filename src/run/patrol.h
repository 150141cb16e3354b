// One sweep over a home: gather, plan, act, remember. What is done about a task is decided in
// judge/patrol.h; here it is done: warned, pinged by mail, escalated on the channels, reassigned.
// Beside tasks a sweep sees what no keeper does: keepers that died or hang, what nobody has read,
// notices that do not get out. Each of these is a concern, told once and closed when it is over.
// Killed at any moment a patrol leaves a home in which the next one goes on; what it did and could
// not write down any more is said again and harms nobody.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/patrol.h"
#include "os/machine.h"
#include "run/hire.h"
#include "run/keeper_rounds.h"
#include "run/patrol_facts.h"
#include "run/patrol_voice.h"
#include "run/roster.h"
#include "run/work_items.h"
#include "store/gate_settings.h"
#include "store/patrol_file.h"

namespace tend {

struct PatrolSettings {
  PatrolPolicy policy;
  std::vector<std::string> channels;  // that notices go out on, by name
  KeeperProgram program = {};         // for keepers that are missing
  GateSettings gate = {};
  /// Nothing is changed and nobody is told; what would be done is said.
  bool dry = false;
};

/// What one sweep did about something.
struct SweepLine {
  std::string about;   // "task web:3", "agent api", "outbox"
  std::string what;    // a rung, "keeper", "tell", "over", "note"
  std::string why;     // on one line
  std::string result;  // "" if there is nothing more to say
  bool needs_person = false;
};

struct Sweep {
  std::vector<SweepLine> lines;
  std::size_t tasks = 0;   // that are open or in progress
  std::size_t silent = 0;  // of them: in an episode
  std::size_t agents = 0;  // that are not over
  std::size_t open = 0;    // concerns that need a person, those told before included
  std::string unfit_because;
  bool keepers_again = false;  // some are to be looked at again in a moment
  Duration next{};             // until the next one
};

class Patrol {
 public:
  using Done = std::function<void(const Sweep&)>;

  Patrol(Machine& machine, Folder& home, WorkItems& items, PatrolSettings settings);

  /// What an earlier patrol remembered. A line if it could not be read; it is then forgotten.
  std::optional<SweepLine> remember();

  /// `done` is called once, through the loop. Requires that no other sweep is under way.
  void sweep(Done done);
  [[nodiscard]] bool is_sweeping() const { return static_cast<bool>(done_); }

  /// Between sweeps: only the keepers. True if they are to be looked at again in a moment.
  bool look_at_keepers(std::vector<SweepLine>& lines);

  /// Writes down what is known so far.
  Result<void> write_past() { return write_patrol_past(home_, past_); }

  // What the last sweep found, for who explains it.
  [[nodiscard]] const PatrolPlan& plan() const { return plan_; }
  [[nodiscard]] const PatrolPast& past() const { return past_; }
  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }

 private:
  // Gathering.
  void list_all();
  void list_next();
  [[nodiscard]] Duration asleep_so_far();
  void take_list(const Result<std::vector<Task>>& listed);
  void look_around();
  std::vector<TaskFacts> gather_facts(const WorkersOfHome& workers);
  std::optional<WallTime> answer_of(const Task& task, const WorkersOfHome& workers);
  PatrolWatch look_at_oneself();

  // Acting.
  void plan_tasks(const WorkersOfHome& workers);
  void act_on(const Task& task, const PatrolDecision& decision);
  void warn(const Task& task, const PatrolDecision& decision);
  void ping(const Task& task, const PatrolDecision& decision);
  void escalate(const Task& task, const PatrolDecision& decision);
  void reassign_next();
  void reassigned(const Task& task, const std::string& why, const Result<TaskAnswer>& answer);
  void finish();

  // patrol_concerns.cc: what nobody else sees, and what is told of it.
  void round_of_keepers(const std::vector<Entry>& agents);
  void take_round(const KeeperRounds::Found& found);
  void say_keepers(const KeeperRounds::Found& found, std::vector<SweepLine>& lines);
  void take_up_what_was_told();
  void note_incident();
  void close_for_keepers(const std::vector<Entry>& agents);
  void look_for_unread(const std::vector<Entry>& agents);
  void ask_for_saved_work();
  void take_saved_work(const std::string& repository, const std::vector<SavedWork>& saved);
  void note_unread();
  void note_outbox();
  void note_mail();
  void note_gate();
  void note_leases();
  void keep_what_was_told_of_leases(const std::string& problem);
  void take_up_of_leases(const std::map<std::string, PatrolVoice::Told, std::less<>>& open);
  void note_idle(const std::vector<Entry>& agents, const WorkersOfHome& workers);
  void note_standstill(const std::vector<Entry>& agents, const WorkersOfHome& workers);
  void note_undone();
  void tell(const Concern& concern);
  void close_others();
  void concern(Concern concern);
  void blind(const std::string& key, const std::string& text);
  [[nodiscard]] std::string once(const std::string& key, const std::string& text) const;

  void say(SweepLine line);
  void not_done(const std::string& task, PatrolRung rung, const std::string& why);

  Machine& machine_;
  Folder& home_;
  WorkItems& items_;
  PatrolSettings settings_;
  PatrolVoice voice_;
  KeeperRounds rounds_;
  PatrolPast past_;
  bool has_taken_up_ = false;
  std::set<std::string, std::less<>> taken_up_;  // keys of what a patrol told that has forgotten it
  std::set<std::string> unsent_;  // keys of concerns whose notice could not be put yet

  // Of the sweep that is under way, and of the last one.
  Done done_;
  Sweep sweep_;
  Subscribed asked_;
  std::deque<std::string> statuses_;  // to be listed
  std::string tasks_problem_;
  Duration busy_{};     // the last one, after its plan
  Duration asleep_{};   // the machine, when the tasks were listed
  bool blind_ = false;  // something could not be looked at: nothing is over for that
  std::vector<Task> tasks_;
  PatrolPlan plan_;
  std::vector<Concern> concerns_;
  struct Reassign {
    Task task;
    std::string why;
  };
  std::deque<Reassign> reassigns_;
  struct MayHaveSaved {  // an agent that is over
    std::string agent;
    WallTime from{};  // what is older is not its own
  };
  std::map<std::string, std::vector<MayHaveSaved>> repositories_;  // to be asked
  std::vector<std::string> unread_;
  std::vector<std::string> undone_;
};

}  // namespace tend
