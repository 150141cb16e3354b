// The vocabulary of judging. Each enumerator has exactly one spelling, the contract's, and the
// tables below are the only place that knows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tend {

// clang-format off: the tables are read side by side with the enums above them

enum class Verdict : std::uint8_t {
  starting, working, waiting, idle, suspect, stalled, dead, orphaned, finished, looping, unknown,
};
inline constexpr std::array<std::string_view, 11> kVerdictWords{
    "starting", "working",  "waiting",  "idle",    "suspect", "stalled",
    "dead",     "orphaned", "finished", "looping", "unknown",
};

enum class Phase : std::uint8_t {
  start, model, tool, compact, retry, person, children, background, idle, exiting, beats,
};
inline constexpr std::array<std::string_view, 11> kPhaseWords{
    "start",    "model",      "tool", "compact", "retry", "person",
    "children", "background", "idle", "exiting", "beats",
};

enum class Action : std::uint8_t {
  warn, ping, notify, escalate, hold, preserve, kill, resume, restart, adopt, reassign, degrade,
  undegrade,
};
inline constexpr std::array<std::string_view, 13> kActionWords{
    "warn",   "ping",    "notify", "escalate", "hold",    "preserve", "kill",
    "resume", "restart", "adopt",  "reassign", "degrade", "undegrade",
};

/// What a signal is (`is` on its line). `other` is any kind that this version does not know.
enum class Kind : std::uint8_t {
  spawn, process, beat, beat_failed, status, progress, noise, tool_open, tool_beat, tool_close,
  compact_start, compact_end, retry, ask, answer, turn_start, turn_end, error, state, ping, ack,
  ping_failed, activity, child, task, inbox, parent, intent, suspend, lag, clock_step, fault,
  fleet, acted, other,
};
inline constexpr std::array<std::string_view, 35> kKindWords{
    "spawn",      "process",    "beat",          "beat-failed", "status",  "progress", "noise",
    "tool-open",  "tool-beat",  "tool-close",    "compact-start", "compact-end", "retry", "ask",
    "answer",     "turn-start", "turn-end",      "error",       "state",   "ping",     "ack",
    "ping-failed", "activity",  "child",         "task",        "inbox",   "parent",   "intent",
    "suspend",    "lag",        "clock-step",    "fault",       "fleet",   "acted",    "other",
};

// clang-format on

enum class ProcessState : std::uint8_t { running, stopped, zombie, gone, reused, unknown };
inline constexpr std::array<std::string_view, 6> kProcessStateWords{
    "running", "stopped", "zombie", "gone", "reused", "unknown"};

enum class BeatBy : std::uint8_t { agent, keeper, other };
inline constexpr std::array<std::string_view, 3> kBeatByWords{"agent", "keeper", "other"};

enum class Status : std::uint8_t { starting, running, paused, completed, withdrawn };
inline constexpr std::array<std::string_view, 5> kStatusWords{"starting", "running", "paused",
                                                              "completed", "withdrawn"};

enum class SelfState : std::uint8_t { working, idle, exiting, stuck };
inline constexpr std::array<std::string_view, 4> kSelfStateWords{"working", "idle", "exiting",
                                                                 "stuck"};

enum class ActivityFrom : std::uint8_t { log, terminal, cpu, socket, files, tokens };
inline constexpr std::array<std::string_view, 6> kActivityFromWords{"log",    "terminal", "cpu",
                                                                    "socket", "files",    "tokens"};

enum class TaskEvent : std::uint8_t { claim, beat, advance, close, release };
inline constexpr std::array<std::string_view, 5> kTaskEventWords{"claim", "beat", "advance",
                                                                 "close", "release"};

enum class ParentState : std::uint8_t { alive, dead, replaced };
inline constexpr std::array<std::string_view, 3> kParentStateWords{"alive", "dead", "replaced"};

enum class Want : std::uint8_t { run, stop, drain, pause };
inline constexpr std::array<std::string_view, 4> kWantWords{"run", "stop", "drain", "pause"};

/// Why an agent is held up or failed. Everything that is not a provider's cause is `another`; the
/// word itself stays in the signal.
enum class Cause : std::uint8_t { none, overload, rate, quota, auth, network, another };
inline constexpr std::array<std::string_view, 7> kCauseWords{"none", "overload", "rate",   "quota",
                                                             "auth", "network",  "another"};

template <class Enum, std::size_t N>
constexpr std::optional<Enum> from_word(const std::array<std::string_view, N>& words,
                                        std::string_view word) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

constexpr std::string_view word(Verdict v) { return kVerdictWords[static_cast<std::size_t>(v)]; }
constexpr std::string_view word(Phase p) { return kPhaseWords[static_cast<std::size_t>(p)]; }
constexpr std::string_view word(Action a) { return kActionWords[static_cast<std::size_t>(a)]; }
constexpr std::string_view word(Kind k) { return kKindWords[static_cast<std::size_t>(k)]; }
constexpr std::string_view word(Cause c) { return kCauseWords[static_cast<std::size_t>(c)]; }
constexpr std::string_view word(ProcessState s) {
  return kProcessStateWords[static_cast<std::size_t>(s)];
}

/// Destructive actions end or replace a process, or take its work away. They need the kernel's
/// word or two agreeing planes, and `preserve` before them.
constexpr bool is_destructive(Action a) {
  return a == Action::kill || a == Action::resume || a == Action::restart || a == Action::reassign;
}

/// The tools that one is in who waits for another with `tend wait`.
inline constexpr std::string_view kWaitForChild = "tend wait";
inline constexpr std::string_view kWaitForParent = "tend wait parent";

}  // namespace tend
