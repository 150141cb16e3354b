// One thing that was seen of an agent: a line of a trace, the unit of evidence. A signal carries no
// time of its own; Judge::step() is told when it was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/words.h"

namespace tend {

/// How a process ended, as far as it is known.
struct Exit {
  enum class How : std::uint8_t { unknown, code, signal };
  How how = How::unknown;
  int value = 0;

  bool operator==(const Exit&) const = default;
};

/// A tool-open that does not say whether it waits for a child says so by these names.
constexpr bool is_named_like_child_tool(std::string_view tool) {
  return tool == "Task" || tool == "Agent";
}

/// Only the fields that its kind uses are set. Texts are views into the caller's buffer and are
/// copied by the judge where it keeps them.
struct Signal {
  Kind is = Kind::other;

  // The discriminators of the kinds that have one.
  ProcessState process = ProcessState::unknown;
  BeatBy by = BeatBy::other;
  Status status = Status::running;
  SelfState state = SelfState::working;
  ActivityFrom from = ActivityFrom::log;
  Verdict verdict = Verdict::unknown;  // of a child
  TaskEvent event = TaskEvent::beat;
  ParentState parent = ParentState::alive;
  Want want = Want::run;
  Cause cause = Cause::none;  // of retry, error and turn-end

  bool background = false;  // tool-open: runs beside the turn
  bool child_tool = false;  // tool-open: waits for a child
  bool final = false;       // error: the agent will not go on by itself
  bool for_parent = false;  // child: it waits for this very agent

  std::uint32_t life = 0;   // 0: not said, the current one
  std::uint32_t same = 0;   // tool-close: the n-th identical call with the identical result
  std::uint32_t count = 0;  // inbox: waiting; turn-end: background; fleet: silent
  std::uint32_t of = 0;     // fleet: of how many
  std::int64_t pid = 0;     // spawn

  Duration seconds{};             // suspend, lag, clock-step
  std::optional<Duration> limit;  // tool-open: the limit the call itself declared
  std::optional<Instant> until;   // retry, state
  Exit exit;                      // process

  std::string_view id;          // tool call, question, ping
  std::string_view tool;        // tool-open: the tool's name
  std::string_view task;        // the sub-agent that did it; for kind task: the work item
  std::string_view child;       // child agent
  std::string_view cause_word;  // retry, error, turn-end: the cause as it was written
};

}  // namespace tend
