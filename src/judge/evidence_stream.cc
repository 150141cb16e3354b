// Signals to facts: the agent's own stream, which says where the lead stands in its turn. Nothing
// here compares with a limit; the few constants are part of what a signal means.
#include <algorithm>

#include "judge/bounded.h"
#include "judge/evidence.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLastWords = 5s;        // progress this soon after a turn's end belongs to it
constexpr Duration kToolBeatHolds = 100s;  // a tool-beat holds its tool's deadline off this far
constexpr Duration kFurthestUntil = 24h;   // a provider's hold that claims more is cut
constexpr Duration kOwnTry = 60s;          // what ends sooner is waited for within the turn
constexpr std::uint32_t kCircle = 3;       // identical calls in a row from which on nothing renews

/// The end of that hold is the time of the agent's own next try. Of a limit the provider says when
/// it ends, and that stays true when the agent gives up.
bool names_own_try(const Hold& hold, Instant now) {
  const bool is_its_own = hold.cause == Cause::overload || hold.cause == Cause::network;
  return is_its_own && hold.until && now < *hold.until && *hold.until - now < kOwnTry;
}

bool is_provider_cause(Cause cause) { return cause != Cause::none && cause != Cause::another; }

bool is_terminal(std::optional<Status> record) {
  return record == Status::completed || record == Status::withdrawn;
}

}  // namespace

void Evidence::absorb_stream(const Signal& signal, const Clocks& clocks, bool in_silence) {
  life.stream_seen = true;
  stream_ever = true;
  life.last_stream = clocks.silence();
  const bool lead = signal.task.empty();
  switch (signal.is) {
    case Kind::progress:
      absorb_progress(signal, clocks);
      break;
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
      absorb_tool(signal, clocks, in_silence);
      break;
    case Kind::compact_start:
    case Kind::compact_end:
      real_sign(clocks);
      if (!lead) break;
      life.stuck = false;
      life.compacting = signal.is == Kind::compact_start;
      if (life.stage == Stage::rest) break;  // it returns to what the turn's end had opened
      leave_open_hold(clocks);
      life.stage = Stage::model;
      break;
    case Kind::retry:
      absorb_retry(signal.cause, signal, clocks);
      break;
    case Kind::ask:
      real_sign(clocks);
      erase_first(life.questions, [&](const Name& n) { return n == Name(signal.id); });
      push_bounded(life.questions, kMostQuestions, Name(signal.id));
      note_person(clocks);
      break;
    case Kind::answer:
      real_sign(clocks);
      erase_first(life.questions, [&](const Name& n) { return n == Name(signal.id); });
      note_person(clocks);
      break;
    case Kind::turn_start:
      real_sign(clocks);
      if (!lead) break;
      life.turn_after_record = is_terminal(life.record);
      close_foreground_tools();
      life.questions.clear();
      enter_turn(clocks);
      note_person(clocks);
      break;
    case Kind::turn_end:
      real_sign(clocks);
      if (lead) absorb_turn_end(signal, clocks);
      break;
    default:
      break;
  }
}

void Evidence::absorb_progress(const Signal& signal, const Clocks& clocks) {
  const bool last_words = life.stage == Stage::rest && life.turn_ended &&
                          clocks.awake() - *life.turn_ended <= kLastWords;
  real_sign(clocks);
  if (!signal.task.empty()) {
    if (life.hold && life.hold->task == Name(signal.task)) life.hold.reset();
    note_person(clocks);
    return;
  }
  if (last_words) return;
  life.hold.reset();
  life.retries_since.reset();
  life.questions.clear();
  life.exiting.reset();
  life.error_stands = false;
  enter_turn(clocks);
  note_person(clocks);
}

void Evidence::absorb_tool(const Signal& signal, const Clocks& clocks, bool in_silence) {
  const Name id(signal.id);
  const auto same_id = [&](const Tool& t) { return t.id == id; };
  const auto found = std::find_if(life.tools.begin(), life.tools.end(), same_id);

  if (signal.is == Kind::tool_beat) {
    weak_sign(clocks);
    if (found == life.tools.end() || in_silence) return;
    found->beaten_to = std::max(found->beaten_to, clocks.silence() + kToolBeatHolds);
    return;
  }

  if (signal.is == Kind::tool_open) {
    Tool tool;
    tool.id = id;
    tool.tool = Name(signal.tool);
    tool.task = Name(signal.task);
    tool.declared = signal.limit.has_value();
    tool.limit = signal.limit.value_or(Duration{});
    tool.background = signal.background;
    tool.child = signal.child_tool;
    tool.opened = clocks.silence();
    tool.beaten_to = clocks.silence();
    const bool circles = !life.circling_tool.empty() && tool.tool == life.circling_tool &&
                         tool.task == life.circling_task;
    tool.circling = circles && in_silence;
    circles ? weak_sign(clocks) : real_sign(clocks);
    erase_first(life.tools, same_id);  // a sign may have moved `found`
    if (tool.foreground_of_lead() && !tool.circling) {
      if (!circles) life.retries_since.reset();
      enter_turn(clocks);
    }
    push_bounded(life.tools, kMostTools, tool);
    return;
  }

  close_tool(signal, clocks, in_silence);
}

void Evidence::close_tool(const Signal& signal, const Clocks& clocks, bool in_silence) {
  const Name id(signal.id);
  const auto found = std::find_if(life.tools.begin(), life.tools.end(),
                                  [&](const Tool& t) { return t.id == id && !t.over; });
  const bool known = found != life.tools.end();
  Tool closed;
  if (known) {
    closed = *found;
  } else {
    closed.task = Name(signal.task);
  }
  if (signal.same >= kCircle) {
    life.circling_tool = closed.tool;
    life.circling_task = closed.task;
    if (known && in_silence && !closed.background) {
      found->over = true;
      return;
    }
    if (known) life.tools.erase(found);
  } else {
    if (known) life.tools.erase(found);
    real_sign(clocks);
    if (closed.task.empty()) life.stuck = false;
    if (closed.tool == life.circling_tool && closed.task == life.circling_task) {
      life.circling_tool = Name();
    }
  }
  if (closed.background) {
    life.background_changed = clocks.silence();
    if (life.stage == Stage::rest && life.background_left > 0) --life.background_left;
  } else if (closed.foreground_of_lead() && !closed.circling && !life.foreground_tool_open()) {
    // A close that comes after the turn's end is late, and no new turn.
    if (life.stage != Stage::rest) enter_turn(clocks);
  }
}

void Evidence::absorb_retry(Cause cause, const Signal& signal, const Clocks& clocks) {
  real_sign(clocks);
  const ActiveTime now = clocks.active();
  std::optional<Instant> until;
  if (signal.until) until = std::clamp(*signal.until, clocks.now(), clocks.now() + kFurthestUntil);
  if (!life.retries_since) life.retries_since = now;

  const bool time_came = life.hold && life.hold->until && clocks.now() >= *life.hold->until;
  if (!life.hold || time_came) {
    life.hold = Hold{};
    life.hold->opened = now;
    life.hold->began = clocks.silence();
    life.hold->task = Name(signal.task);
  }
  Hold& hold = *life.hold;
  hold.cause = cause;
  if (signal.task.empty()) hold.task = Name();  // once it is the lead's, only the lead ends it
  hold.first = *life.retries_since;
  hold.last = now;
  hold.over.reset();
  if (until) {
    hold.until = hold.until ? std::max(*hold.until, *until) : *until;
    hold.waited = now + (*hold.until - clocks.now());
  }
  note_person(clocks);
}

void Evidence::absorb_turn_end(const Signal& signal, const Clocks& clocks) {
  close_foreground_tools();
  life.compacting = false;
  life.stuck = false;
  life.idle_in_tool = false;
  life.stage = Stage::rest;
  life.rest_by_word = false;
  life.rested = clocks.silence();
  life.turn_ended = clocks.awake();
  life.turn_failed = signal.cause != Cause::none;
  life.turn_error = Name(signal.cause_word);
  life.background_left = signal.count;
  life.background_awaited = life.background_running();
  life.background_changed = clocks.silence();
  life.children_awaited = false;
  if (life.turn_failed) {
    life.last_error = life.turn_error;
    life.error_stands = true;
  }
  if (is_provider_cause(signal.cause)) {
    Signal told = signal;
    told.until.reset();
    if (life.hold && names_own_try(*life.hold, clocks.now())) life.hold->until.reset();
    absorb_retry(signal.cause, told, clocks);
  } else {
    leave_open_hold(clocks);
  }
}

void Evidence::enter_turn(const Clocks& clocks) {
  leave_open_hold(clocks);
  life.stage = Stage::model;
  life.compacting = false;
  life.rest_by_word = false;
  life.turn_failed = false;
  life.background_left = 0;
  life.background_awaited = false;
  life.children_awaited = false;
  life.stuck = false;
  life.idle_in_tool = false;
  life.state.reset();
}

void Evidence::leave_open_hold(const Clocks& clocks) {
  if (!life.hold) return;
  const bool lasts = life.hold->until && clocks.now() < *life.hold->until;
  if (lasts) return;
  life.hold.reset();
  note_person(clocks);
}

void Evidence::close_foreground_tools() {
  std::erase_if(life.tools, [](const Tool& t) { return !t.background; });
}

void Evidence::note_person(const Clocks& clocks) {
  if (!life.awaits_person()) {
    life.person_since.reset();
  } else if (!life.person_since) {
    life.person_since = clocks.active();
  }
}

}  // namespace tend
