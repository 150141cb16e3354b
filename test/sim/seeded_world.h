// One world: a machine in memory, agents that do what a scenario says, the production keepers and
// commands that tend them, faults, and checks that know the truth.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model.h"
#include "os/sim/sim_universe.h"
#include "scenario.h"
#include "store/events.h"
#include "store/heartbeat.h"
#include "truth.h"

namespace tend {
struct Config;
struct ReceiveAnswer;
class LeaseDesk;
class LeaseRunner;
}  // namespace tend

namespace tend::sim {

class Check;

/// Whose a process is.
struct Owner {
  enum class Is : std::uint8_t { nobody, agent, helper, keeper, command, stranger, patrol };
  Is is = Is::nobody;
  std::string agent;  // whose process, keeper or helper it is
};

struct Violation {
  std::string check;
  std::string what;
  Duration at{};  // since the world began
};

/// When ours was not fit to end anybody: the whole machine, or the keeper of one agent.
struct Unfit {
  std::string agent;  // "": all of them
  Duration from{};
  Duration to{};
  bool unwritten = false;  // what the agent did before may be lost
};

/// What does not work as it should for a while.
enum class Wrong : std::uint8_t {
  slow,
  blind,
  no_forks,
  lost_hints,
  full,
  busy_database,
  unreadable_database
};
inline constexpr Wrong kAllWrong[] = {
    Wrong::slow, Wrong::blind,         Wrong::no_forks,           Wrong::lost_hints,
    Wrong::full, Wrong::busy_database, Wrong::unreadable_database};

/// What came of a world.
struct Outcome {
  std::vector<Violation> violations;
  std::uint64_t digest = 0;
  Duration agent_time{};  // in which an agent's process ran, summed over all agents
  std::map<FaultKind, std::uint64_t> faults;
  std::vector<HangTruth> hangs;
  std::uint64_t kills = 0;                           // of agents, by a keeper's own decision
  std::uint64_t false_kills = 0;                     // of those, of agents that were not stuck
  std::map<StepKind, std::uint64_t> false_kills_in;  // by what they were doing
  std::uint64_t lives = 0;
  std::uint64_t merges = 0;
  std::uint64_t agents = 0;
  std::uint64_t finished = 0;  // of the agents, with all their work done
};

class SeededWorld final : public Surroundings, SimObserver {
 public:
  static constexpr const char* kHome = "/home/user/tend";
  static constexpr const char* kTend = "/usr/bin/tend";
  static constexpr const char* kReplyCommand = "reply";  // how senders are told
  static constexpr const char* kLeader = "leader";       // the program of who leads
  static constexpr const char* kLease = "orchestrator";  // that contenders want
  // The parts of a beat.
  static constexpr const char* kStatePart = "state";
  static constexpr const char* kRegistryPart = "registry";
  static constexpr const char* kForeignLeasePart = "lease";
  static constexpr Duration kTick = std::chrono::seconds{20};
  static constexpr Duration kSeenWithin = std::chrono::seconds{10};  // who looks every five
  static constexpr Duration kRecoverEvery = std::chrono::minutes{10};
  /// Where a patrol sees to keepers, people come by less often.
  static constexpr Duration kRecoverBesidePatrol = std::chrono::hours{1};

  explicit SeededWorld(const Scenario& scenario);
  ~SeededWorld() override;
  SeededWorld(const SeededWorld&) = delete;
  SeededWorld& operator=(const SeededWorld&) = delete;

  /// Plays the scenario from its beginning to its end.
  Outcome play();

  // For checks and models.
  [[nodiscard]] Duration elapsed() const override;
  /// The same without what the machine slept, in this boot and before it.
  [[nodiscard]] Duration unslept() const { return elapsed() - slept_; }
  [[nodiscard]] Duration awake() const override { return universe.awake(); }
  [[nodiscard]] WallTime wall() const override { return universe.wall(); }
  [[nodiscard]] Truth& truth() override { return truth_; }
  [[nodiscard]] std::uint64_t seed() const override { return scenario.seed; }
  [[nodiscard]] bool is_over(const std::string& agent) const override;
  [[nodiscard]] bool can_be_shown() const override { return !universe.disk.room.has_value(); }
  [[nodiscard]] bool is_known(const std::string& agent) const override {
    return !folder_of(agent).empty();
  }
  [[nodiscard]] const Owner& owner_of(std::int64_t pid) const;
  /// Living processes.
  [[nodiscard]] std::vector<std::int64_t> processes_of(const std::string& agent,
                                                       Owner::Is what) const;
  [[nodiscard]] std::optional<Heartbeat> heartbeat_of(const std::string& agent) const;
  [[nodiscard]] std::optional<Heartbeat> heartbeat_in(const std::string& folder) const;
  [[nodiscard]] std::string folder_of(const std::string& agent) const;
  [[nodiscard]] const std::vector<Unfit>& unfit() const { return unfit_; }
  /// When the last fault was over, so far; zero if there was none.
  [[nodiscard]] Duration last_fault() const { return last_fault_; }
  /// When the agent was last without both, process and keeper; nothing if it never was.
  [[nodiscard]] std::optional<Duration> abandoned_since(const std::string& agent) const;
  [[nodiscard]] bool keeper_is_paused(std::int64_t pid) const { return paused_.contains(pid); }
  /// One that has its lock, or is about to take it.
  [[nodiscard]] bool has_keeper(const std::string& agent) const;
  [[nodiscard]] bool is_shutting_down() const { return shutting_down_; }
  /// Since when one patrol runs, all the time; nothing if none does, or it is stopped.
  [[nodiscard]] std::optional<Duration> patrolled_since() const;
  /// Something of the machine does not work as it should, right now.
  [[nodiscard]] bool is_disturbed() const;
  /// How long ago that was; zero: it is wrong now; kNoLimit: it never was.
  [[nodiscard]] Duration since_wrong(Wrong what) const;
  /// Whoever its lead has not registered is nobody's to begin: its dispatch is under way, or
  /// failed.
  [[nodiscard]] bool is_registered(const std::string& agent) const;
  /// A power cut took something of that file in its folder, then or later.
  [[nodiscard]] bool has_lost(const std::string& agent, std::string_view file,
                              Duration since = {}) const;
  /// A power cut took this row of the home's database back to what it was before, or all of it. Of
  /// a task that is its state and its holder: beats may be missing after every cut.
  [[nodiscard]] bool was_taken_back(std::string_view table, std::string_view id) const {
    return taken_back_.contains({std::string(table), std::string(id)});
  }
  /// What the last `tend recover` said.
  [[nodiscard]] const std::string& recovery_said() const { return recovery_said_; }
  [[nodiscard]] bool is_unreadable(const std::string& agent, std::string_view file) const;
  [[nodiscard]] bool was_calendar_set(Duration from, Duration to) const;
  /// The calendar was set back before, and not yet where it had been.
  [[nodiscard]] bool was_a_time_again(Duration from, Duration to) const;
  /// Its order says so; whoever was to take it back may have died, or a disk have lost that.
  [[nodiscard]] bool is_to_pause(const std::string& agent) const;
  [[nodiscard]] static std::string pidfile_of(const ServicePlan& plan);
  /// The registry in which the guests of a service stand, and who leads there.
  [[nodiscard]] std::string registry_text(std::size_t service) const;
  [[nodiscard]] std::string foreign_lease_text(std::size_t service) const;
  void report(std::string_view check, const std::string& what);
  /// A line of the trace, if there is one.
  void say(const std::string& what);
  /// The same as somebody's command, outside of all agents.
  int tend(std::vector<std::string> words);
  /// Notices that reached a person, as JSON.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }
  Outcome& outcome() { return outcome_; }

  // For models.
  void run_tend(SimSelf& self, std::vector<std::string> words,
                std::function<void(SimSelf&, int)> done) override;
  AgentTruth* begin_life(SimSelf& self) override;
  void commit(const AgentTruth& agent) override;
  void on_answer(const std::string& agent) override;

  const Scenario scenario;
  SimUniverse universe;
  std::function<void(const std::string&)> trace;  // a line for everything that happens

 private:
  static constexpr Duration kUnfitAfter = std::chrono::seconds{60};
  /// 30 s late for a look at a suspect, which is due every 5 s.
  static constexpr Duration kLagCounts = std::chrono::seconds{36};

  struct Request {
    SimSelf* self = nullptr;
    ProcessId process;
    std::vector<std::string> words;
    std::function<void(SimSelf&, int)> done;
  };

  // SimObserver.
  void on_exec(const SimFacts& process) override;
  void on_end(const SimFacts& process) override;
  void on_signal(const SimSent& sent, const SimFacts& to) override;
  void on_snapshot(const std::string& worktree, const SimRepository::Commit& commit) override;
  void on_half_a_merge(const std::string& into, std::int64_t by) override;
  void on_words(std::int64_t from, const std::string& fifo, std::string_view text) override;
  void on_merge(const std::string& into, const SimRepository::Commit& merge) override;

  // seeded_world.cc
  void set_up();
  void add_tasks();
  void start_roots();
  [[nodiscard]] Duration ends_at() const;
  void run_to(Duration when);
  void serve_requests();
  void note_order(const std::vector<std::string>& words);
  void expect_stop(const std::vector<std::string>& words);
  void forget_stop(const std::vector<std::string>& words);
  void unpause_again(const std::string& agent);
  void tick();
  void read_events();
  void hear_event(std::string_view line);
  void note_hangs(const Event& event);
  int tend_below(std::int64_t parent, const std::string& folder, std::vector<std::string> words,
                 std::map<std::string, std::string> variables);
  std::shared_ptr<void> keep(Machine& machine, const Launch& launch);
  void put_keeper_on(const std::string& folder);
  void end_life(LifeTruth& life);
  /// It has a process or a keeper.
  void note_kept(const std::string& agent);
  /// Who was back for less time than those below look again was not back.
  void note_abandoned(const std::string& agent);
  [[nodiscard]] const SimNode* file_of(const std::string& agent, std::string_view name) const;
  void finish();

  // patrol_play.cc
  std::shared_ptr<void> be_patrol(Machine& machine, const Launch& launch);
  void start_patrol();
  void launch_patrol();
  [[nodiscard]] std::vector<std::int64_t> patrols() const;
  void play_outsiders();
  void answer_letters(const std::string& name);
  void strike_telling();
  void strike_patrol(const Fault& fault);

  // gate_play.cc
  void set_up_gate();
  void configure_probe(const std::string& agent, Config& config) const;
  void play_gate();
  void note_down(const std::string& agent);
  void note_keeper_end(const std::string& agent);
  void send_when(SendsWhen when, const std::string& agent);
  void start_sender(std::size_t message);
  std::shared_ptr<void> be_sender(Machine& machine, std::size_t message);
  void note_received(std::size_t message, const ReceiveAnswer& answer);
  void note_sender_end(std::int64_t pid);
  void start_taker(const std::string& agent);
  std::shared_ptr<void> be_taker(Machine& machine, const std::string& agent);
  std::int64_t start_at_gate(const std::string& name, SimFactory factory);
  SimAnswer reply(const Run& run);
  void strike_gate(const Fault& fault);
  void break_off_sending();

  // lease_play.cc
  void set_up_lease();
  void play_lease();
  void start_contender(std::size_t contender);
  std::shared_ptr<void> be_contender(Machine& machine, std::size_t contender);
  std::unique_ptr<LeaseRunner> be_runner(Machine& machine, LeaseDesk& desk, std::size_t contender);
  void lead(SimSelf& self);
  void note_program(const SimFacts& process);
  std::size_t note_lead(LeadTruth lead);
  void act(std::size_t lead);
  void note_lead_end(const SimFacts& process);
  void break_off_contending();
  void strike_lease(const Fault& fault);
  void strike_lead(std::size_t lead);
  void strike_write(std::size_t contender);
  void stop_contenders(const std::vector<std::int64_t>& pids, Duration lasts);
  [[nodiscard]] std::vector<std::int64_t> contending(std::uint64_t number) const;

  // service_play.cc
  void set_up_services();
  void play_services();
  void start_guest(std::size_t service);
  void register_guest(std::size_t service);
  void start_service(std::size_t service);
  std::shared_ptr<void> be_service(Machine& machine, std::size_t service);
  void note_service(std::size_t service, const ProcessId& process);
  void bind_to_guest(ServiceTruth& service);
  void note_beat(std::size_t service, const ProcessId& by, const std::string& part);
  void note_service_end(const SimFacts& process);
  void break_off_services();
  void strike_service(const Fault& fault);

  // faults.cc
  void post_faults();
  void write_back();
  void strike(const Fault& fault);
  void shut_down(Duration alone);
  void strike_processes(const Fault& fault);
  void strike_machine(const Fault& fault);
  void strike_files(const Fault& fault);
  void strike_database(const Fault& fault);
  void append_line(const std::string& path, std::string_view line);
  void give_order(const Fault& fault);
  void unpause(const std::string& agent);
  void kill_keepers(const std::string& agent);
  void kill_agents(const std::string& agent);
  void kill_inside(const std::string& agent);
  /// Of an agent that stands behind the process that was started; nothing if it is gone.
  [[nodiscard]] std::optional<std::int64_t> inner_of(const std::string& agent) const;
  void forget_going_on(const ProcessId& id);
  void pause_agent(const Fault& fault);
  void pause(const std::vector<std::int64_t>& pids, Duration lasts, const std::string& agent);
  void restart_machine(const SimReboot& how);
  using RowsOfDatabase = std::map<std::pair<std::string, std::string>, std::string>;
  [[nodiscard]] RowsOfDatabase rows_of_database();
  void note_taken_back(const RowsOfDatabase& before, bool disk_lied);
  void forget_message(std::int64_t id);
  /// The home's; nullptr if nobody has opened it yet.
  [[nodiscard]] SimDatabaseFile* database_file();
  void goes_wrong(Wrong what, Duration lasts);
  void set_calendar(Duration by);
  void make_unreadable(const std::string& path, Duration lasts);
  void put_right(Wrong what);
  void heal_what_is_due();
  void heal();
  /// By agent and name.
  using KeptFiles = std::map<std::string, std::map<std::string, std::string>>;
  [[nodiscard]] KeptFiles files_of_agents() const;
  void note_lost_since(const KeptFiles& before);
  using WholeFiles = std::set<std::pair<std::string, std::string>>;  // agents, and their files
  [[nodiscard]] WholeFiles whole_files() const;
  void forget_lost(const WholeFiles& whole);
  void leave_other_version(const Fault& fault, const std::string& folder);
  void lasting(Duration lasts, std::function<void()> over);
  void reuse_pid(const std::string& agent);

  // moments.cc
  void await_moment(const Fault& fault);
  void strike_in_act(const Owner& keeper, std::int64_t pid);
  std::optional<Fault> next_awaited(FaultKind kind);
  [[nodiscard]] bool awaits(FaultKind kind) const;
  void strike_dispatch();
  void strike_saved(const std::string& worktree);
  void strike_saved_orphan();
  void abandon(const std::string& agent);
  void strike_suspect(const Event& event);
  void strike_deaf(const Fault& fault);
  void strike_holds();
  void strike_unwritten(const std::string& agent);
  void strike_second_look(const std::string& agent, Duration due);
  void strike_hang(const std::string& agent, Duration due);
  void wake_at_record(const std::string& agent, Duration until);
  void wake(const std::string& agent);
  void sleep(Duration lasts);

  /// A worker of a scenario's outsiders, as it goes.
  struct Outsider {
    bool holds = false;
    Duration next_beat{};
    bool is_told_of = true;  // people were told of its silence, or nobody looked whether
    bool is_back = false;    // that is over before its time
  };

  /// Who comes for the messages of an agent.
  struct Taker {
    std::int64_t pid = 0;
    Duration next{};
  };

  Truth truth_;
  Outcome outcome_;
  std::map<std::int64_t, std::size_t> senders_;  // by pid: which message
  std::map<std::string, Taker> takers_;          // by agent
  std::uint64_t sender_dies_at_ = 0;
  std::uint64_t contender_dies_at_ = 0;
  std::uint64_t service_dies_at_ = 0;
  std::vector<Outsider> outsiders_;           // beside the plans
  std::map<std::int64_t, Duration> patrols_;  // at work, and since when
  std::vector<std::unique_ptr<Check>> checks_;
  std::map<std::int64_t, Owner> owners_;         // of this boot
  std::map<std::string, std::string> agent_at_;  // by folder
  std::deque<Request> requests_;
  std::vector<std::size_t> faults_left_;
  std::map<std::string, Duration> abandoned_;
  struct Return {
    Duration since{};  // it had been abandoned
    Duration at{};
  };
  std::map<std::string, Return> returned_;
  std::map<std::int64_t, std::string> paused_;
  struct CalendarStep {
    Duration at{};
    Duration by{};
  };
  struct GoingOn {  // what was true before, and when it was, awake
    Duration progressed{};
    Duration patience{};
    Duration at{};
  };
  std::map<std::int64_t, GoingOn> went_on_;  // agents that were stopped, by pid
  std::set<std::string> to_unpause_;         // agents that a person paused
  std::vector<Unfit> unfit_;
  std::map<Wrong, Duration> wrong_until_;
  std::map<Wrong, Duration> was_wrong_;                                       // until then
  std::map<std::string, Duration> unreadable_until_;                          // by path
  std::map<std::string, std::map<std::string, Duration, std::less<>>> lost_;  // as has_lost() says
  std::set<std::pair<std::string, std::string>> taken_back_;  // rows: their tables and ids
  std::vector<CalendarStep> calendar_set_;
  std::string recovery_said_;
  std::vector<std::string> notices_;
  std::deque<std::vector<std::string>> orders_;  // commands that a person types
  std::deque<std::string> reloads_;              // folders
  mutable std::map<std::string, std::pair<std::string, std::optional<Heartbeat>>, std::less<>>
      heartbeats_;  // the last that was read, by folder
  /// Whether a heartbeat says that its agent is over. One that says something else is another file.
  struct Ending {
    std::uint64_t as_of = 0;  // of the names on the disk
    bool is_over = false;
  };
  mutable std::map<std::string, Ending, std::less<>> endings_;  // as of the last look, by agent
  std::uint64_t command_dies_at_ = 0;
  std::map<std::string, std::uint64_t> dies_in_act_;  // keepers, by agent: how many calls later
  std::map<std::string, Fault> sleeps_in_act_;        // the same, and then the machine sleeps
  std::uint64_t merges_break_ = 0;                    // that many more
  std::map<FaultKind, std::deque<Fault>> awaited_;    // faults that wait for their moment
  Duration base_{};
  Duration slept_{};
  Instant origin_{};
  Duration last_fault_{};
  Duration next_recover_{};
  Duration patrol_is_alone_{};  // after the next restart of the machine
  bool rebooted_ = false;
  bool settling_ = false;
  bool shutting_down_ = false;
  std::uint64_t events_file_ = 0;
  std::size_t events_read_ = 0;
  Duration ran_since_{};
};

}  // namespace tend::sim
