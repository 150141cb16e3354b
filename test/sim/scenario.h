// What is to happen in one simulated world, as plain data: the agents and what each of them does,
// the faults and when. It is drawn from a seed, can be written and read as JSON, and is made
// smaller when it shows a fault of ours.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/tasks.h"

namespace tend::sim {

/// What an agent does next. The first are work, those from `hang_start` on are trouble: it happens
/// `times` times, each time in another life, and is then passed over.
enum class StepKind : std::uint8_t {
  think,       // silent, then words
  talk,        // words all the while
  tool,        // a call that is silent until its result
  subagent,    // a call in which a sub-agent speaks
  background,  // the turn ends, a background task wakes it
  compact,     // a compaction
  rate_limit,  // the provider holds it until a time that it names
  overload,    // the provider holds it and names no time
  ask,         // a question to a person, who answers
  write,       // a new file in its work tree
  dispatch,    // starts the agent `child`
  await,       // a call that waits until its children are over
  merge,       // brings the work of `child` home
  helper,      // leaves a process behind that lives on for a while
  rest,        // its turn is over: it waits to be spoken to
  hang_start,  // nothing at all after the start
  hang_stream,
  hang_tool,
  hang_input,  // waits for input that never comes, after words
  hang_child,  // a call whose process waits for something that never comes
  spin,        // silent, and burns CPU
  chatter,     // prints all the while, and nothing of it is new
  hang_idle,   // its turn is over, and it hears nothing that is said to it
  crash,       // exit 1
  fault,       // ended by a signal of its own
  early_exit,  // exit 0 in the middle of a turn
  // From here on for other reasons than its own. Refused it is for as long as the step takes, from
  // the first time on, and in each life that comes to it before that is over.
  limit_exit,    // the provider refuses it, with a time or without one: exit 1 at once
  retry_ladder,  // the provider is overloaded: it tries again and again, longer each time: exit 1
  timeout_exit,  // it waits ten minutes for words of the model: exit 1
  denied,        // it may not do what it wants, and nobody is asked
};
inline constexpr std::array<std::string_view, 30> kStepWords{
    "think",      "talk",       "tool",       "subagent",     "background",   "compact",
    "rate-limit", "overload",   "ask",        "write",        "dispatch",     "await",
    "merge",      "helper",     "rest",       "hang-start",   "hang-stream",  "hang-tool",
    "hang-input", "hang-child", "spin",       "chatter",      "hang-idle",    "crash",
    "fault",      "early-exit", "limit-exit", "retry-ladder", "timeout-exit", "denied"};
constexpr bool is_trouble(StepKind kind) { return kind >= StepKind::hang_start; }
/// It comes from somebody else.
constexpr bool is_refusal(StepKind kind) { return kind >= StepKind::limit_exit; }
constexpr bool is_hang(StepKind kind) {
  return kind >= StepKind::hang_start && kind <= StepKind::hang_idle;
}

struct Step {
  StepKind kind = StepKind::talk;
  Duration takes{};         // of a hang: from when it may be ended until it goes on; 0: for ever
  std::uint32_t times = 1;  // of trouble
  std::string child;        // dispatch and merge

  bool operator==(const Step&) const = default;
};

/// How an agent shows what it does.
enum class Voice : std::uint8_t { claude, codex, beats, lines, gemini, opencode };
inline constexpr std::array<std::string_view, 6> kVoiceWords{"claude", "codex",  "beats",
                                                             "lines",  "gemini", "opencode"};
/// Of its turns: it is one of the agents that are known, and not any worker or program.
constexpr bool speaks(Voice voice) { return voice != Voice::beats && voice != Voice::lines; }

/// How an agent is asked whether it still answers. It is spoken to on its input, and never done.
struct ProbePlan {
  Duration interval{};   // 0: it is not asked
  Duration deadline{};   // for an answer
  bool deliver = false;  // messages are handed to it
  Duration takes{};      // else somebody comes for them this often
  bool mute = false;     // it does what it is told, but does not answer questions

  bool operator==(const ProbePlan&) const = default;
};

/// Agents in one world: 8 hours of so many take half a minute.
inline constexpr std::size_t kMostPlayed = 1'000;

struct AgentPlan {
  std::string name;
  std::string parent;  // "": the first of a tree
  Voice voice = Voice::claude;
  std::string policy = "agent";
  bool own_worktree = false;
  bool wrapped = false;  // what is started is not the agent itself: that stands behind it
  bool task = false;     // it works on one, which has its name
  TaskContext context = TaskContext::active;  // of that task
  bool claims = false;  // and takes one itself (own_task()), for which it never beats
  ProbePlan probe{};
  std::vector<Step> steps;

  [[nodiscard]] bool is_asked() const { return probe.interval > Duration::zero(); }
  bool operator==(const AgentPlan&) const = default;
};

/// The task that an agent takes by itself, if its plan says so.
inline std::string own_task(const std::string& agent) { return agent + ".own"; }

/// A worker that is no agent of ours, somewhere else: it holds the task that has its name, beats
/// for it, falls silent and comes back.
struct OutsiderPlan {
  std::string name;
  TaskContext context = TaskContext::active;  // of its task
  Duration begins{};                          // this and the next since the world began
  Duration silent_at{};
  Duration silent_for{};
  bool answers = false;  // letters, while it is silent

  bool operator==(const OutsiderPlan&) const = default;
};

/// What becomes of a command that tells a sender something.
enum class ReplyManner : std::uint8_t {
  none,  // there is no such command
  works,
  fails,  // until it works
  hangs,  // the same
  never,  // it fails always
};
inline constexpr std::array<std::string_view, 5> kReplyWords{"none", "works", "fails", "hangs",
                                                             "never"};

/// Somebody who writes to an agent.
struct SenderPlan {
  std::string name;
  std::string agent;  // to whom
  ReplyManner reply = ReplyManner::works;
  Duration works_from{};  // since the world began: what fails or hangs does not any more

  bool operator==(const SenderPlan&) const = default;
};

/// What a sender waits for before it writes, from its time on.
enum class SendsWhen : std::uint8_t {
  at_once,
  down,    // its agent's process ends, or is seen to be stuck
  answer,  // its agent answers a question: an outage may end in this moment
};
inline constexpr std::array<std::string_view, 3> kSendsWhenWords{"at-once", "down", "answer"};

struct MessagePlan {
  std::string from;  // a sender
  Duration at{};     // since the world began
  SendsWhen when = SendsWhen::at_once;
  Duration later{};  // than that
  std::uint64_t priority = 3;
  bool twice = false;  // it is sent again, though it was received

  bool operator==(const MessagePlan&) const = default;
};

/// Somebody who wants to lead: it waits its turn, lets its program work while it leads, and comes
/// again after a while.
struct ContenderPlan {
  std::string name;
  Duration begins{};  // this and the next since the world began
  Duration ends{};    // then it does not come again
  Duration ttl{};     // of the lease, where it holds it
  Duration works{};   // its program, each time
  Duration rests{};   // until it comes again
  bool deaf = false;  // its program does not hear that it is asked to end
  /// It has no program: it asks for the lease itself, and before each thing that it does.
  bool alone = false;

  bool operator==(const ContenderPlan&) const = default;
};

/// A service that beats for an agent, or for guests: processes that come one after the other, each
/// with an entry in a registry of another system and a lease of ours.
struct ServicePlan {
  std::string name;
  std::string agent;    // for whom it beats; "": for guests
  Duration begins{};    // this and the next since the world began
  Duration ends{};      // then neither it nor a guest comes again
  Duration interval{};  // of its beats
  Duration lives{};     // each guest
  Duration rests{};     // until the next guest comes, and until it is started again
  bool by_pid = false;  // it is told which process; else the registry says that

  bool operator==(const ServicePlan&) const = default;
};

enum class FaultKind : std::uint8_t {
  kill_keeper,
  kill_agent,
  kill_both,
  kill_all,         // keepers and agents, all at once
  keeper_at_call,   // kill -9 of a keeper in place of its `number`-th call from then
  torn_at_call,     // the same, in the middle of what that call writes
  command_at_call,  // the same for the next command that somebody runs
  pause_keeper,
  pause_agent,
  sleep,       // of the machine
  clock_step,  // of the calendar, forward if `number` is even
  slow_disk,
  full_disk,
  unreadable,  // a file of an agent's folder
  blind,       // no process can be looked at
  no_forks,
  lost_hints,
  two_keepers,  // two are started at once, beside the one that is there
  reload,
  shutdown,        // of the machine, and its start
  power_cut,       // what was not synced is lost
  torn_power_cut,  // some of it
  lying_disk,      // syncs that do nothing, then a power cut
  reuse_pid,       // an agent dies, and a stranger gets its number
  newer_version,   // files as another version of ours would have left them
  stop_order,
  stop_tree_order,
  pause_order,      // and the order to go on
  restart_keepers,  // all keepers die at once, their agents live
  keeper_in_act,    // a keeper dies `number` calls after it next tells its agent to end
  kill_patrol,
  patrol_at_call,  // kill -9 of it in place of its `number`-th call, torn if that is even
  pause_patrol,
  two_patrols,         // two are started at once, beside the one that is there
  sleep_in_act,        // the machine sleeps soon after a keeper next tells its agent to end
  sleep_unwatched,     // all keepers die, and the machine sleeps before there are others
  half_a_merge,        // whoever merges next dies in the middle of it
  cut_after_dispatch,  // the power is cut soon after the next child was dispatched
  hurried_lead,        // it, or whoever leads it, waits for its children no longer
  deaf_keeper,         // what an agent prints cannot be read, and its keeper is another one
  unwritten_sleep,  // the machine sleeps on a full disk, and the keeper of a suspect is another one
  wake_in_act,      // the next that hangs goes on while its end is written down, with no hint
  blind_in_act,     // its lead is gone; an orphan whose work was saved cannot be looked at
  pause_suspect,    // a keeper does not run just before its second look at a suspect
  set_in_hold,      // while one is held, its journal is lost and the calendar is put forward
  patrol_first,     // the machine restarts, and its patrol is there an hour before all others
  slow_saving,      // from then on, to ask for saved work takes longer than the patrol rests
  cut_after_telling,  // the power is cut when people were just told of a silence, and it ends
  sender_at_call,     // the next sender dies in place of its `number`-th call, torn if that is even
  cut_after_receive,  // the power is cut soon after the next message was received
  cut_at_clear,       // the power is cut soon after the next answer of one that was down
  keeper_at_clear,    // the keeper dies `number` calls after the next answer of one that was down
  kill_in_hand,       // an agent dies soon after the next message was handed to it
  keeper_at_message,  // the keeper dies `number` calls after the next message for its agent came
  kill_contender,     // who wants to lead, its program, or both, by `number`
  contender_at_call,  // it dies in place of its `number`-th call, torn if that is even
  pause_contender,    // it, its program, or both, by `number`
  cut_after_grant,    // the power is cut soon after the next program began to lead
  stop_in_write,      // who next writes that it leads is stopped in the middle, if others wait
  unseen_leader,      // who leads next cannot be looked at for a while
  sleep_in_lead,      // the machine sleeps soon after the next began to lead, who is last to go on
  kill_service,       // it, its guest, or both, by `number`
  service_at_call,    // the next dies in place of its `number`-th call, torn if that is even
  pause_service,      // it, its guest, or both, by `number`
  two_services,       // two are started at once, beside the one that is there
  busy_database,      // somebody writes to the home's and does not come to an end
  unreadable_database,  // nobody can open it
};
/// It strikes those who want to lead.
constexpr bool is_of_lease(FaultKind kind) {
  return kind >= FaultKind::kill_contender && kind < FaultKind::kill_service;
}
/// Of those, the ones that are drawn apart.
constexpr bool is_of_a_rare_lease(FaultKind kind) {
  return kind >= FaultKind::stop_in_write && is_of_lease(kind);
}
/// It strikes services, or whom they beat for.
constexpr bool is_of_service(FaultKind kind) {
  return kind >= FaultKind::kill_service && kind < FaultKind::busy_database;
}
/// It strikes what all of the home share.
constexpr bool is_of_database(FaultKind kind) { return kind >= FaultKind::busy_database; }
/// It strikes messages, or who they are for.
constexpr bool is_of_gate(FaultKind kind) {
  return kind >= FaultKind::sender_at_call && kind < FaultKind::kill_contender;
}
/// It strikes the patrol and nobody else.
constexpr bool is_of_patrol(FaultKind kind) {
  return kind >= FaultKind::kill_patrol && kind <= FaultKind::two_patrols;
}
/// Without a patrol it is nothing.
constexpr bool wants_patrol(FaultKind kind) {
  return is_of_patrol(kind) ||
         (kind >= FaultKind::patrol_first && kind < FaultKind::sender_at_call);
}
/// It strikes at a moment that chance would hardly hit.
constexpr bool is_of_a_moment(FaultKind kind) {
  return kind > FaultKind::two_patrols && kind < FaultKind::sender_at_call;
}
/// Of those, the ones that are drawn apart.
constexpr bool is_of_a_rare_moment(FaultKind kind) {
  return kind > FaultKind::half_a_merge && kind < FaultKind::sender_at_call;
}
inline constexpr std::array<std::string_view, 67> kFaultWords{"kill-keeper",
                                                              "kill-agent",
                                                              "kill-both",
                                                              "kill-all",
                                                              "keeper-at-call",
                                                              "torn-at-call",
                                                              "command-at-call",
                                                              "pause-keeper",
                                                              "pause-agent",
                                                              "sleep",
                                                              "clock-step",
                                                              "slow-disk",
                                                              "full-disk",
                                                              "unreadable",
                                                              "blind",
                                                              "no-forks",
                                                              "lost-hints",
                                                              "two-keepers",
                                                              "reload",
                                                              "shutdown",
                                                              "power-cut",
                                                              "torn-power-cut",
                                                              "lying-disk",
                                                              "reuse-pid",
                                                              "newer-version",
                                                              "stop-order",
                                                              "stop-tree-order",
                                                              "pause-order",
                                                              "restart-keepers",
                                                              "keeper-in-act",
                                                              "kill-patrol",
                                                              "patrol-at-call",
                                                              "pause-patrol",
                                                              "two-patrols",
                                                              "sleep-in-act",
                                                              "sleep-unwatched",
                                                              "half-a-merge",
                                                              "cut-after-dispatch",
                                                              "hurried-lead",
                                                              "deaf-keeper",
                                                              "unwritten-sleep",
                                                              "wake-in-act",
                                                              "blind-in-act",
                                                              "pause-suspect",
                                                              "set-in-hold",
                                                              "patrol-first",
                                                              "slow-saving",
                                                              "cut-after-telling",
                                                              "sender-at-call",
                                                              "cut-after-receive",
                                                              "cut-at-clear",
                                                              "keeper-at-clear",
                                                              "kill-in-hand",
                                                              "keeper-at-message",
                                                              "kill-contender",
                                                              "contender-at-call",
                                                              "pause-contender",
                                                              "cut-after-grant",
                                                              "stop-in-write",
                                                              "unseen-leader",
                                                              "sleep-in-lead",
                                                              "kill-service",
                                                              "service-at-call",
                                                              "pause-service",
                                                              "two-services",
                                                              "busy-database",
                                                              "unreadable-database"};

struct Fault {
  FaultKind kind = FaultKind::kill_keeper;
  Duration at{};             // since the world began
  Duration lasts{};          // of what lasts
  std::string whom;          // an agent; "": nobody in particular
  std::uint64_t number = 0;  // of a call, or chance

  bool operator==(const Fault&) const = default;
};

struct Scenario {
  std::uint64_t seed = 1;
  Duration lasts{};    // faults happen and work begins within this time
  Duration settles{};  // then nothing goes wrong any more: what is owed has to come
  std::vector<AgentPlan> agents;
  std::vector<Fault> faults;
  bool lossy_hints = false;   // all the time
  bool groups = false;        // the system has groups that processes cannot leave
  Duration saving_takes{};    // a snapshot, a merge
  std::int64_t most_pid = 0;  // 0: as usual; a small one, fewest_pids() or more, makes them wrap
  Duration patrol{};          // how often the patrol of the home sweeps; 0: there is none
  std::vector<OutsiderPlan> outsiders;
  std::vector<SenderPlan> senders;
  std::vector<MessagePlan> messages;
  std::vector<ContenderPlan> contenders;  // for one lease
  std::vector<ServicePlan> services;

  bool operator==(const Scenario&) const = default;
};

/// What a world of so many agents needs to give every process a number. The lowest 300 are not
/// given again, and an agent, its keeper and its helpers have one each.
constexpr std::int64_t fewest_pids(std::size_t agents) {
  return 1000 + 5 * static_cast<std::int64_t>(agents);
}

/// What a scenario is drawn from, beside the seed.
struct Wishes {
  Duration hours = std::chrono::hours{8};
  std::uint32_t agents = 0;       // 0: drawn
  std::string policy;             // "": agent, and now and then another
  std::vector<FaultKind> faults;  // only these
  bool all_faults = true;         // a random subset of all of them
  bool plain = false;             // nothing goes wrong, and every agent is like every other
};

/// It strikes one agent, which it names: `whom`.
bool strikes_an_agent(FaultKind kind);

Scenario draw_scenario(std::uint64_t seed, const Wishes& wishes);
std::string format_scenario(const Scenario& scenario);
Result<Scenario> parse_scenario(std::string_view text);
/// The scenario in a file. The error is one line that names the file.
Result<Scenario> load_scenario(const std::string& path);

}  // namespace tend::sim
