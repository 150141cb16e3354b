// The words for every reason; see reason.h.
#include "judge/reason.h"

#include <string>

#include "base/duration.h"

namespace tend {

namespace {

std::string text(const Name& name) { return std::string(name.shown()); }

/// "10 s of 660 s", or only "10 s" where there is no limit.
std::string age_of_limit(const Reason& r) {
  if (r.limit >= kNoLimit) return format_seconds(r.age);
  return format_seconds(r.age) + " of " + format_seconds(r.limit);
}

/// "10 s ago (limit 660 s)".
std::string ago(const Reason& r) {
  const std::string words = format_seconds(r.age) + " ago";
  return r.limit >= kNoLimit ? words : words + " (limit " + format_seconds(r.limit) + ")";
}

std::string counted(std::uint32_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string exit_words(const Exit& exit) {
  switch (exit.how) {
    case Exit::How::code:
      return "exit code " + std::to_string(exit.value);
    case Exit::How::signal:
      return "signal " + std::to_string(exit.value);
    case Exit::How::unknown:
      break;
  }
  return "exit not known";
}

std::string provider(const Reason& r) {
  std::string words =
      "the provider holds it up (" + text(r.name) + ") for " + format_seconds(r.age);
  if (r.limit > Duration{} && r.limit < kNoLimit) {
    words += ", " + format_seconds(r.limit) + " to go";
  }
  return words;
}

std::string process_words(const Reason& r) {
  switch (r.process) {
    case ProcessState::gone:
      return "process gone, " + exit_words(r.exit);
    case ProcessState::zombie:
      return "process is a zombie, " + exit_words(r.exit);
    case ProcessState::reused:
      return "pid belongs to another process now";
    case ProcessState::unknown:
      return "process unknown, the probe failed";
    case ProcessState::running:
    case ProcessState::stopped:
      break;
  }
  return "process " + std::string(word(r.process));
}

}  // namespace

// A table of words: one row for each reason, however many there are.
// NOLINTNEXTLINE(readability-function-size)
std::string describe(const Reason& r) {
  const std::string phase(word(r.phase));
  switch (r.because) {
    case Because::nothing_seen:
      return "nothing was ever seen of it";
    case Because::no_sign_yet:
      return "no sign of this life yet, " + age_of_limit(r);
    case Because::silent_within:
      return "last real sign " + ago(r);
    case Because::silent_past:
      return "silent " + format_seconds(r.age) + " in phase " + phase + " (limit " +
             format_seconds(r.limit) + ")";
    case Because::tool_open:
      return "tool " + text(r.name) + " open " + age_of_limit(r);
    case Because::compacting:
      return "compacting " + age_of_limit(r);
    case Because::question_open:
      return counted(r.count, "question", "questions") + " open for " + format_seconds(r.age);
    case Because::credentials_refused:
      return "credentials refused, a person is needed, for " + format_seconds(r.age);
    case Because::provider_holds:
      return provider(r);
    case Because::child_at_work:
      return "child " + text(r.name) + " is at work";
    case Because::child_in_doubt:
      return "child " + text(r.name) + " is in doubt " + age_of_limit(r);
    case Because::children_ended:
      return "nothing followed since all children ended " + ago(r);
    case Because::background_at_work:
      return counted(r.count, "background task", "background tasks") + " at work, last real sign " +
             ago(r);
    case Because::background_ended:
      return "nothing followed since the last background task ended " + ago(r);
    case Because::turn_over:
      return "turn over, nothing to do";
    case Because::idle_by_word:
      return "says it is idle, shows no process, last sign " + ago(r);
    case Because::work_waiting:
      return counted(r.count, "piece of work waits", "pieces of work wait") + ", " +
             age_of_limit(r);
    case Because::not_answered_yet:
      return "asked whether it answers, " + age_of_limit(r);
    case Because::turn_failed:
      return "turn ended in an error (" + text(r.name) + "), " + age_of_limit(r);
    case Because::exiting_announced:
      return "said it exits " + ago(r);
    case Because::stop_ordered:
      return r.limit > Duration{} ? "told to stop " + ago(r) : "told to stop";
    case Because::beats_within:
      return "last beat " + ago(r);
    case Because::paused:
      return "paused";
    case Because::process_is:
    case Because::process_exited:
      return process_words(r);
    case Because::killed_by_us:
      return "ended by our own kill";
    case Because::clean_end:
      return "a clean end, " + exit_words(r.exit);
    case Because::record_says:
      return "its record says " + text(r.name);
    case Because::record_and_turn:
      return "its record says it is over, yet a turn began";
    case Because::idle_in_tool:
      return r.name.empty() ? "says it is idle with a tool open"
                            : "says it is idle with tool " + text(r.name) + " open for " +
                                  format_seconds(r.age);
    case Because::stuck_by_own_word:
      return "says it is stuck";
    case Because::stopped_without_pause:
      return "process stopped, and nobody paused it";
    case Because::parent_dead:
      return "parent dead for " + age_of_limit(r);
    case Because::parent_replaced:
      return "a new parent took over";
    case Because::observer_unfit:
      return "the observer is not fit to judge (" + text(r.name) + "), for " +
             format_seconds(r.age);
    case Because::same_end_again:
      return "the same end (" + text(r.name) + " in phase " + phase + ") for the " +
             std::to_string(r.count) + (r.count == 3 ? "rd" : "th") + " time";
    case Because::budget_spent:
      return "budget spent after " + counted(r.count, "attempt", "attempts") + " in all";
    case Because::weak_sign:
      return "weak sign " + format_seconds(r.age) + " ago";
    case Because::planes_missing:
      return "only " + counted(r.count, "plane agrees", "planes agree") +
             " that it is stalled, two are needed";
    case Because::fleet_silent:
      return std::to_string(r.count) + " of " + std::to_string(r.limit.count()) +
             " agents are silent together: the channel is in doubt, not this agent";
    case Because::not_promised:
      return "silent past its limit, but nothing promised a sign: check the wiring";
    case Because::still_there:
      return "still there " + format_seconds(r.age) + " after the kill";
    case Because::not_started:
      return "no new life " + format_seconds(r.age) + " after the attempt";
    case Because::hold_over:
      return "the provider's hold (" + text(r.name) + ") is over and nothing followed";
    case Because::works_again:
      return "works again";
    case Because::no_sign_at_all:
      return "no sign of any kind for " + format_seconds(r.age);
    case Because::lingers:
      return "finished, but its process is still there after " + format_seconds(r.age);
    case Because::orphan_died:
      return "an orphan died: its work goes to others";
    case Because::ladder_rung:
      return "silent " + format_seconds(r.age) + ", a configured rung at " +
             format_seconds(r.limit);
  }
  return "no reason given";
}

}  // namespace tend
