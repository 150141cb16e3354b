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
#include "act/preserve.h"
#include "act/tell.h"
#include "base/result.h"
#include "judge/policy.h"
#include "os/machine.h"
#include "run/own_pauses.h"
#include "run/pulse.h"
#include "run/recorder.h"
#include "run/senses.h"
#include "store/agent_file.h"
#include "store/intent.h"
#include "store/life_record.h"

namespace tend {

struct KeeperSettings {
  AgentFile agent;
  Policy policy;
  std::vector<std::string> environment;  // NAME=VALUE: what the agent's own is made from
  std::string runtime_folder;            // absolute and short, for sockets; "" if there is none
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
  enum class Stage : std::uint8_t { beginning, living, between, leaving, over };

  // keeper.cc: looking and judging.
  void look();
  void look_now();
  void look_soon();
  void look_at_intent();
  Condition look_at_process();
  void note_process(const Condition& condition);
  void judge_now(Instant now, bool late);
  void on_verdict(const Decision& decision);
  void settle();
  void schedule();
  void beat_if_due(Instant now);
  void say_remarks();
  void note_faults(Instant now);

  // keeper_life.cc: lives begin, are taken over, end.
  Result<void> recover();
  void take_over(const Recorder::Found& found);
  void begin_life();
  void start_process();
  void start_failed(const NotStarted& why);
  void hold_process(std::unique_ptr<Process> process);
  void listen();
  void hear(const Datagram& datagram);
  void become_main(std::int64_t pid);
  void leave(WorkOutcome outcome, std::string ended_by);
  void write_end();
  [[nodiscard]] Belonging belonging() const;
  [[nodiscard]] bool is_one_of_ours(std::int64_t pid);
  [[nodiscard]] bool only_watches() const { return settings_.agent.command.empty(); }

  // keeper_acts.cc: doing what was decided.
  void take(const Ruling& ruling);
  void tell_person(const Ruling& ruling);
  /// Begins the next act of the chain; true if there is something new to judge.
  bool advance_chain();
  bool do_preserve(const Ruling& ruling);
  bool do_kill(const Ruling& ruling);
  bool do_begin_again(const Ruling& ruling);
  void order_stop(bool at_once, const std::string& by);
  void end_processes(bool at_once, std::function<void(const Ended&)> done);
  void finish_act(const Ruling& ruling, std::string_view result);
  void freeze(bool stop);
  void event(std::string_view kind, std::string_view what, std::string_view result,
             bool needs_person);

  // keeper_looks.cc: evidence that is only looked for when it matters.
  void look_around(Instant now);
  void plan_sample();
  void sample();
  void note_fleet(Instant now);
  /// What all processes of the agent have used so far.
  struct Used {
    Instant at{};
    Duration cpu{};
    std::uint64_t disk_bytes = 0;
  };
  Used used_so_far();
  void look_at_terminal();

  Machine& machine_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Folder> home_;
  KeeperSettings settings_;

  std::unique_ptr<KeeperLock> lock_;
  LifeRecord record_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Senses> senses_;
  std::unique_ptr<Pulse> pulse_;
  OwnPauses pauses_;
  SignalBatch batch_;

  Stage stage_ = Stage::beginning;
  std::unique_ptr<Process> process_;
  RunState last_state_ = RunState::unknown;
  ExitStatus exit_;
  WallTime life_began_{};
  std::optional<Instant> life_ends_at_;  // --max-life
  std::optional<Intent> intent_;
  bool stopping_ = false;
  bool wants_reload_ = false;
  std::string ended_by_;
  WorkOutcome outcome_ = WorkOutcome::none;

  std::deque<Ruling> chain_;
  bool acting_ = false;  // the first of the chain is under way
  std::unique_ptr<Ending> ending_;
  std::unique_ptr<Preserve> preserve_;
  std::unique_ptr<Tell> tell_;
  Subscribed backoff_;
  std::uint32_t attempts_ = 0;

  Instant beat_due_{};
  Instant last_look_{};
  bool look_is_due_ = false;
  bool looking_ = false;
  bool looked_again_ = false;
  Duration poll_every_{};
  std::optional<Instant> poll_at_;
  std::optional<Instant> fault_said_;
  std::string beat_problem_;

  std::optional<Instant> sample_for_;  // the deadline that a sample was planned for
  std::optional<Instant> sample_at_;
  std::optional<Used> used_before_;
  bool files_changed_ = false;
  WallTime files_since_{};
  std::optional<Instant> fleet_looked_;

  Subscribed wake_;
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
