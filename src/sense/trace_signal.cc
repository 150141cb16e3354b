#include "sense/trace_signal.h"

#include "judge/words.h"
#include "sense/word_index.h"

namespace tend {
namespace {

constexpr auto kKinds = index_of<Kind>(kKindWords);
constexpr auto kProcessStates = index_of<ProcessState>(kProcessStateWords);
constexpr auto kBeatBys = index_of<BeatBy>(kBeatByWords);
constexpr auto kStatuses = index_of<Status>(kStatusWords);
constexpr auto kSelfStates = index_of<SelfState>(kSelfStateWords);
constexpr auto kActivities = index_of<ActivityFrom>(kActivityFromWords);
constexpr auto kVerdicts = index_of<Verdict>(kVerdictWords);
constexpr auto kTaskEvents = index_of<TaskEvent>(kTaskEventWords);
constexpr auto kParentStates = index_of<ParentState>(kParentStateWords);
constexpr auto kWants = index_of<Want>(kWantWords);

Cause cause_of(std::string_view written) {
  for (const Cause cause :
       {Cause::overload, Cause::rate, Cause::quota, Cause::auth, Cause::network}) {
    if (word(cause) == written) return cause;
  }
  return Cause::another;
}

void read_cause(const TraceFields& fields, Field field, Signal& signal) {
  if (!fields.has(field)) return;
  signal.cause_word = fields.text(field);
  signal.cause = cause_of(signal.cause_word);
}

void read_until(const TraceFields& fields, Signal& signal) {
  if (const auto until = fields.duration(Field::until)) signal.until = Instant{*until};
}

void read_tool_open(const TraceFields& fields, Signal& signal) {
  signal.id = fields.text(Field::id);
  signal.tool = fields.text(Field::tool);
  signal.limit = fields.duration(Field::limit);
  signal.background = fields.flag(Field::background);
  signal.child_tool = fields.flag(Field::child) || signal.tool == "Task" || signal.tool == "Agent";
}

void read_spawn(const TraceFields& fields, Signal& signal) {
  const FieldValue* const pid = fields.number(Field::pid);
  if (pid != nullptr && pid->type == FieldValue::Type::whole) signal.pid = pid->whole;
}

void read_child(const TraceFields& fields, Signal& signal) {
  signal.child = fields.text(Field::child);
  signal.for_parent = fields.text(Field::for_whom) == "parent";
  kVerdicts.find(fields.text(Field::verdict), signal.verdict);
}

void read_clock_step(const TraceFields& fields, Signal& signal) {
  const FieldValue* const step = fields.number(Field::seconds);
  if (step != nullptr) signal.seconds = duration_of(*step, -kLongestTime);
}

/// Reads what is particular to the kind. False when the line says nothing that its kind could mean.
bool read_kind(const TraceFields& fields, Signal& signal) {
  switch (signal.is) {
    case Kind::spawn: read_spawn(fields, signal); return true;
    case Kind::process:
      kProcessStates.find(fields.text(Field::state), signal.process);
      signal.exit = fields.exit;
      return true;
    case Kind::beat: kBeatBys.find(fields.text(Field::by), signal.by); return true;
    case Kind::status: return kStatuses.find(fields.text(Field::status), signal.status);
    case Kind::tool_open: read_tool_open(fields, signal); return true;
    case Kind::tool_close:
      signal.id = fields.text(Field::id);
      signal.same = fields.count(Field::same);
      return true;
    case Kind::tool_beat:
    case Kind::ask:
    case Kind::answer:
    case Kind::ping:
    case Kind::ack:
    case Kind::ping_failed: signal.id = fields.text(Field::id); return true;
    case Kind::retry:
      read_until(fields, signal);
      read_cause(fields, Field::cause, signal);
      return true;
    case Kind::turn_end:
      signal.count = fields.count(Field::background);
      read_cause(fields, Field::error, signal);
      return true;
    case Kind::error:
      signal.final = fields.flag(Field::final);
      read_cause(fields, Field::cause, signal);
      return true;
    case Kind::state:
      read_until(fields, signal);
      return kSelfStates.find(fields.text(Field::state), signal.state);
    case Kind::activity: kActivities.find(fields.text(Field::from), signal.from); return true;
    case Kind::child: read_child(fields, signal); return !signal.child.empty();
    case Kind::task: return kTaskEvents.find(fields.text(Field::event), signal.event);
    case Kind::inbox:
      signal.count = fields.count(Field::waiting);
      return fields.number(Field::waiting) != nullptr;
    case Kind::parent: return kParentStates.find(fields.text(Field::state), signal.parent);
    case Kind::intent: return kWants.find(fields.text(Field::want), signal.want);
    case Kind::suspend:
    case Kind::lag:
      signal.seconds = fields.duration(Field::seconds).value_or(Duration{});
      return true;
    case Kind::clock_step: read_clock_step(fields, signal); return true;
    case Kind::fleet:
      signal.count = fields.count(Field::silent);
      signal.of = fields.count(Field::of);
      return true;
    case Kind::beat_failed:
    case Kind::progress:
    case Kind::noise:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::turn_start:
    case Kind::fault:
    case Kind::acted:
    case Kind::other: return true;
  }
  return true;
}

}  // namespace

void make_signal(const TraceFields& fields, Signal& signal) {
  signal = Signal{};
  kKinds.find(fields.text(Field::is), signal.is);
  if (fields.has(Field::life)) signal.life = fields.count(Field::life);
  if (fields.has(Field::task)) signal.task = fields.text(Field::task);
  if (read_kind(fields, signal)) return;
  Signal weak;
  weak.life = signal.life;
  weak.task = signal.task;
  signal = weak;
}

}  // namespace tend
