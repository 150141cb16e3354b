// The keeper of one agent: starts it, beats its heartbeat, looks, has it judged, and does what was
// decided. It owns the order of these things and nothing else: the senses read, the judge decides,
// act/ acts, the stores remember. Killed at any moment it leaves an agent that works on and files
// from which the next keeper goes on.
//
//   beginning -> living -> between -> living ...     a life ends, another begins
//        '----------'---------'-----> leaving -> over
//
// `between`: no process; the judge has not said what next, or a backoff runs, or a hold lasts.
// `leaving`: nothing begins any more; what is left of the last life is ended.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/ending.h"
#include "act/launch.h"
#include "act/preserve.h"
#include "act/tell.h"
#include "base/result.h"
#include "judge/policy.h"
#include "judge/stores.h"
#include "os/machine.h"
#include "run/all_clear.h"
#include "run/children.h"
#include "run/courier.h"
#include "run/dialogue.h"
#include "run/herald.h"
#include "run/hire.h"
#include "run/own_pauses.h"
#include "run/parent_watch.h"
#include "run/patrol_lookout.h"
#include "run/probe.h"
#include "run/pulse.h"
#include "run/recorder.h"
#include "run/senses.h"
#include "run/store_watch.h"
#include "run/task_work.h"
#include "store/agent_file.h"
#include "store/config.h"
#include "store/events.h"
#include "store/intent.h"
#include "store/life_record.h"
#include "store/outcome.h"

namespace tend {

struct KeeperSettings {
  AgentFile agent;
  Policy policy;
  std::vector<std::string> environment;  // NAME=VALUE: what the agent's own is made from
  std::string runtime_folder;            // absolute and short, for sockets; "" if there is none
  KeeperProgram program = {};            // for the keepers of others in its tree
  bool again = false;                    // take back an end that was no end of its own
  Config config = {};                    // the channels on which people are told, who has the tasks
  std::string config_problem = {};       // why nobody knows it; "" if all is well
  /// Whether one that begins anew could begin; empty: it could. Fails with the reason.
  std::function<Result<void>()> may_reload = {};
};

class Keeper {
 public:
  enum class Began : std::uint8_t { keeping, kept_by_another, over_already };

  Keeper(Machine& machine, std::unique_ptr<Folder> folder, std::unique_ptr<Folder> home,
         KeeperSettings settings);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Takes the lock, goes on from what is there or starts the first life. From then on everything
  /// happens in the machine's loop, which the keeper stops when there is nothing left to keep.
  Result<Began> begin();

  /// The loop was stopped because this program is to be replaced by its newer self, in place.
  [[nodiscard]] bool wants_reload() const { return wants_reload_; }

 private:
  enum class Stage : std::uint8_t {
    beginning,
    living,
    between,
    leaving,
    over,
    replaced,  // another keeper holds the lock: nothing is written any more
  };

  // keeper.cc: looking and judging.
  void look();
  void look_at_all(Instant now);
  void only_beat();
  [[nodiscard]] bool may_only_beat() const;
  void look_now();
  void look_soon();
  [[nodiscard]] static bool is_over(RunState state);
  Condition look_at_process();
  [[nodiscard]] WallTime calendar_of_unread();
  void note_process(const Condition& condition);
  void judge_now(Instant now);
  [[nodiscard]] static bool is_calm(Verdict verdict);
  void on_verdict(const Decision& decision);
  void settle();
  [[nodiscard]] bool is_done() const;
  void settle_end();
  void schedule();
  void beat_if_due(Instant now);
  void look_at_transcripts(Instant now);
  void beat();
  void say_remarks();
  void hear_conversation();
  void write_events();
  void note_faults(Instant now);
  [[nodiscard]] std::string exit_words() const;

  // keeper_recovery.cc: going on where a keeper before us stopped.
  Result<void> recover();
  void subscribe();
  void reload();
  void take_over(const Recorder::Found& found);
  [[nodiscard]] WallTime seen_until(const Recorder::Found& found);
  void remember_life(const Recorder::Found& found);
  [[nodiscard]] bool was_at_work_before_boot(const Recorder::Found& found) const;
  void note_absence(const Recorder::Found& found);
  [[nodiscard]] Duration slept_so_far();
  [[nodiscard]] WallTime awake_since();
  void remember_own_looks();
  std::unique_ptr<Process> find_process(const Recorder::Found& found);
  void note_begin();
  void take_owed(const std::vector<Ruling>& owed);
  [[nodiscard]] bool is_at_gate();
  [[nodiscard]] bool has_run();
  [[nodiscard]] bool is_of_original();

  // keeper_life.cc: lives begin and end.
  void begin_life();
  void start_process();
  void start_watching();
  LaunchOrder launch_order();
  void start_failed(const NotStarted& why);
  void lose_name();
  void hold_process(std::unique_ptr<Process> process);
  void leave(WorkOutcome outcome, std::string ended_by);
  void end_rest(bool at_once);
  void write_end();
  [[nodiscard]] std::optional<std::unique_ptr<File>> close_registry();
  [[nodiscard]] bool tell_end();
  [[nodiscard]] bool ends_with_machine() const;
  [[nodiscard]] std::string end_words() const;
  void say_doubt();
  void begin_dialogue(LaunchOrder& order);
  void stop_loop();
  [[nodiscard]] bool holds_lock();
  [[nodiscard]] Belonging belonging() const;
  [[nodiscard]] bool is_one_of_ours(std::int64_t pid);
  /// Of ours, inside its work tree.
  [[nodiscard]] std::vector<std::string> excluded() const;
  [[nodiscard]] bool only_watches() const { return settings_.agent.command.empty(); }
  [[nodiscard]] bool watches_stores() const { return !settings_.agent.store.empty(); }

  // keeper_orders.cc: what the agent says by itself, and what people want.
  void listen();
  void hear(const Datagram& datagram);
  void become_main(std::int64_t pid);
  void look_at_intent();
  void hear_intent(const Intent& intent);
  void order_own_stop(const std::string& by);
  void stop_now(const Intent& intent);
  void order_stop(bool at_once, const std::string& by);
  void stop_again_later(const std::string& why);
  void save_and_end(bool at_once, bool again);
  void begin_by_order();
  void keep_paused();
  bool freeze(bool stop);
  [[nodiscard]] bool wants_pause() const;

  // keeper_tree.cc: its place in a tree, and what the agent says of its own work.
  void begin_tree();
  void look_at_tree(Instant now);
  void look_at_parent();
  void stop_staying();
  bool stays_when_it_is_back();
  void go_on_later(const std::string& why);
  bool reopen(Heartbeat& says);
  void forget_shutdown();
  bool write_run_intent();
  [[nodiscard]] bool stops_below_first(const Intent& intent);
  void pass_on_order();
  void go_on_stopping(Instant now);
  bool stays_for_children(WorkOutcome outcome, const std::string& ended_by);
  void bring_children_home();
  void settle_work();
  void keep_uncommitted(const std::string& why);
  void settle_children_work();
  void look_at_outcome(bool is_due);
  void note_asking();
  [[nodiscard]] std::string news();

  // keeper_task.cc: the task that its agent works on.
  void begin_task();
  void claim_task();
  [[nodiscard]] bool gets_on() const;
  /// False if the end has to wait for that.
  bool settle_task();

  // keeper_acts.cc: doing what was decided.
  void take(const Ruling& ruling);
  void tell_person(const Ruling& ruling);
  void tell_what_waits();
  void leave_untold();
  void close_incident(const std::string& why);
  [[nodiscard]] bool is_told_of_another_life(const Ruling& ruling) const;
  [[nodiscard]] bool is_well_again() const;
  void close_incident_if_well();
  [[nodiscard]] Incident incident_of(Action action, const std::string& why) const;
  /// Begins the next act of the chain; true if there is something new to judge.
  bool advance_chain();
  /// Each of these begins or finishes the first of the chain.
  void do_preserve();
  bool saves_again(const std::string& why);
  void do_kill();
  void do_begin_again();
  [[nodiscard]] bool must_wait(const Ruling& ruling);
  [[nodiscard]] std::string why_not_kill(const Ruling& ruling);
  [[nodiscard]] std::string why_not_begin(const Ruling& ruling);
  void say_when_it_begins();
  void pause_before_begin(std::uint32_t attempts_before);
  void preserve(const std::string& why, std::function<void(const Result<Preserved>&)> done);
  /// What is being done or comes next rests on a verdict: on the first of the chain, or on that
  /// of one that is held.
  [[nodiscard]] bool rests_on_verdict() const {
    return process_ && (!chain_.empty() || begins_by_order_);
  }
  [[nodiscard]] bool is_ending_by_verdict() const { return ending_ && rests_on_verdict(); }
  void break_off_if_void();
  bool may_send_signal();
  void end_processes(bool at_once, std::function<void(const Ended&)> done);
  void finish_first(std::string_view result);
  void forget_chain(std::string_view result);
  void finish_act(const Ruling& ruling, std::string_view result);
  void action_event(const Ruling& ruling, std::string_view result);
  void event(std::string_view kind, std::string_view what, std::string_view result,
             bool needs_person);

  // keeper_stores.cc: what other systems say of it.
  void begin_stores();
  void note_sinks(const std::vector<AgentStore>& sinks);
  void look_at_stores(Instant now);
  void follow_subject();
  void let_go_of_process();
  void tell_divergence();
  void note_divergence();
  void poke(const Ruling& ruling);
  [[nodiscard]] Duration silent_for() const;
  [[nodiscard]] std::string why_not_end_watched() const;

  // keeper_probe.cc: whether it still answers, and what is said to it.
  void take_on_probe();
  void begin_probe();
  [[nodiscard]] Result<Address> address_of(const ProbeSettings& settings) const;
  [[nodiscard]] std::string input_path() const;
  void begin_courier();
  void begin_all_clear();
  void say_note(const std::string& text, bool needs_person);
  void note_inbox(std::int64_t waiting);
  void recount_inbox();
  void speak_first(const std::string& words);
  [[nodiscard]] Asking asking() const;
  [[nodiscard]] bool is_down() const;
  void take_on_outage();
  void begin_outage();
  void end_old_outage();
  void look_at_words(Instant now);
  void note_degraded();
  void mirror_outage();
  void go_down(const Ruling& ruling);
  void go_up(const Ruling& ruling);

  // keeper_looks.cc: evidence that is only looked for when it matters.
  void look_around(Instant now);
  void plan_sample();
  void compare_samples(Instant now);
  void sample();
  [[nodiscard]] bool shares_worktree();
  void look_at_fleet(Instant now);
  [[nodiscard]] double silent_since(Verdict verdict) const;
  /// What all processes of the agent have used so far.
  struct Used {
    Instant at{};
    Duration cpu{};
    std::uint64_t disk_bytes = 0;
    std::optional<std::uint64_t> received;  // over its connections
  };
  std::optional<Used> used_so_far();
  void look_at_terminal();
  void note_tool_processes();

  Machine& machine_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Folder> home_;
  KeeperSettings settings_;

  std::unique_ptr<KeeperLock> lock_;
  LifeRecord record_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Senses> senses_;
  std::unique_ptr<Dialogue> dialogue_;
  std::unique_ptr<Pulse> pulse_;
  OwnPauses pauses_;
  SignalBatch batch_;

  Stage stage_ = Stage::beginning;
  std::unique_ptr<Process> process_;
  std::optional<RunState> last_state_;  // of the process; none: nobody has looked yet
  Exit exit_;                           // of this life, if it is over and that was seen
  WallTime life_began_{};
  Instant life_began_at_{};
  std::optional<Instant> life_ends_at_;  // --max-life
  std::optional<Intent> intent_;
  bool knows_intent_ = false;     // what is read from now on is news
  bool begins_by_order_ = false;  // a person let one that is held go on
  bool stopping_ = false;
  bool wants_reload_ = false;
  bool loop_stopped_ = false;
  bool language_said_ = false;
  std::string ended_by_;
  WorkOutcome outcome_ = WorkOutcome::none;

  std::unique_ptr<Children> children_;
  std::unique_ptr<ParentWatch> parent_;    // nullptr: it has none
  bool parent_waits_ = false;              // for a word that is about to be written
  std::unique_ptr<PatrolLookout> patrol_;  // nullptr: it cannot start one
  Instant tree_due_{};
  struct StopBelow {
    Intent intent;
    Instant until{};
  };
  std::optional<StopBelow> stop_below_;  // its own end waits for that
  struct Staying {
    WorkOutcome outcome = WorkOutcome::none;
    std::string ended_by;
  };
  std::optional<Staying> staying_;  // its own work is over
  bool shutting_down_ = false;      // it ends with its machine, and goes on with it
  bool stayed_ = false;             // under the keeper before us
  bool reopened_ = false;
  bool goes_on_ = false;  // the next life goes on in the same session, however the last one ended
  std::uint64_t outcome_file_ = 0;
  std::vector<std::string> asking_;           // calls that wait for its parent
  WorkOutcome own_word_ = WorkOutcome::none;  // what it said of its work in this life
  Subscribed commit_;
  std::unique_ptr<TaskWork> task_;  // nullptr: it works on none
  bool task_claimed_ = false;       // or it may begin without
  bool was_denied_ = false;         // it ended well, and nothing that it wanted was allowed

  std::unique_ptr<StoreWatch> stores_;  // nullptr: no other system knows it
  DivergenceWatch divergence_;
  bool divergence_untold_ = false;
  bool divergence_told_ = false;
  Subscribed poking_;

  std::optional<ProbeSettings> asks_;  // nothing: it is not asked
  std::unique_ptr<Probe> probe_;       // nullptr: it is not, or cannot be
  std::unique_ptr<Courier> courier_;   // nullptr: it comes for its messages itself
  std::unique_ptr<AllClear> all_clear_;
  bool owes_all_clear_ = false;     // of what began or ended while nobody kept it
  bool has_counted_inbox_ = false;  // since we keep it
  bool is_in_outage_ = false;       // of that kind: whoever writes to it was told so
  std::string first_words_;         // for the life that is being begun

  std::deque<Event> events_;  // to be written at the end of a look
  std::string events_problem_;
  std::deque<Ruling> chain_;  // what is to be done, in this order
  bool acting_ = false;       // something is under way that ends processes or saves work
  std::unique_ptr<Ending> ending_;
  std::unique_ptr<Preserve> preserve_;
  std::unique_ptr<Herald> herald_;  // nullptr: there is nobody to tell
  struct Telling {
    Ruling ruling;
    Incident incident;
  };
  std::deque<Telling> telling_;  // what could not be put into the outbox yet
  std::optional<Instant> tell_at_;
  std::string tell_problem_;
  bool incident_open_ = false;         // it may be
  std::optional<Verdict> told_under_;  // nothing: by a keeper before us, nobody knows
  std::string told_why_;
  std::uint32_t told_life_ = 0;
  std::optional<Instant> well_since_;
  bool end_told_ = false;
  std::uint32_t end_tries_ = 0;
  Instant verdict_since_{};                  // as this keeper saw it
  std::optional<Instant> not_ended_before_;  // some of what it printed may be lost
  bool was_mute_ = false;                    // a fault of writing lasts
  std::optional<WallTime> read_by_;          // awake_since(), when the stream was read
  /// At what could not be looked at, or did not end.
  static constexpr Duration kLookAgain = std::chrono::seconds{10};
  std::optional<Instant> kill_after_;  // others may be silent too, or nothing could be looked at
  std::optional<Instant> saved_at_;    // by the chain
  bool has_signalled_ = false;         // in the end that is at hand
  Instant hear_until_{};               // before it is begun
  std::string not_stopped_;            // why a stop was not carried out; "" if it was
  std::optional<Instant> begin_at_;    // the next life, after a pause
  std::uint32_t attempts_ = 0;
  std::uint32_t short_lives_ = 0;     // in a row, of those that ended well
  std::uint32_t failed_starts_ = 0;   // in a row
  Subscribed end_again_;              // until the end could be written
  std::uint32_t registry_waits_ = 0;  // of the end for somebody who registers a child

  Instant beat_due_{};
  Instant last_look_{};
  Instant transcripts_due_{};
  bool look_is_due_ = false;
  bool looking_ = false;
  Duration poll_every_{};
  std::optional<Instant> poll_at_;
  std::optional<Instant> fault_said_;
  std::string beat_problem_;
  std::string heartbeat_problem_;  // why it could not be written anew
  std::string freeze_problem_;
  std::uint32_t refused_ = 0;  // messages that were none of this agent's

  std::optional<Instant> sample_for_;  // the deadline that a sample was planned for
  std::optional<Instant> sample_at_;
  std::optional<Instant> sample_again_at_;
  std::optional<Used> used_before_;
  bool files_changed_ = false;
  Instant files_since_{};  // the calendar may be set back
  std::optional<Instant> fleet_looked_;
  bool fleet_silent_ = false;  // when it was looked at last

  /// What the clock wakes us for. At no time: it does not.
  struct Waking {
    Instant at{};
    bool only_beats = false;
    bool operator==(const Waking&) const = default;
  };
  Subscribed wake_;
  Waking waking_;
  Subscribed change_;
  Subscribed exit_watch_;
  Subscribed notify_socket_;
  Subscribed ready_fifo_;
  Subscribed files_look_;
  Subscribed tmux_look_;
  std::string tmux_activity_;
  std::vector<Subscribed> orders_;
};

}  // namespace tend
