// A reader for each kind of signal, in a table.
#include "sense/trace_signal.h"

#include <array>
#include <cstddef>
#include <string_view>

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

void set_cause(const TraceFields& fields, Field field, Signal& signal) {
  if (!fields.has(field)) return;
  signal.cause_word = fields.text(field);
  signal.cause = cause_of(signal.cause_word);
}

void set_until(const TraceFields& fields, Signal& signal) {
  if (const auto until = fields.duration(Field::until)) signal.until = Instant{*until};
}

// One reader a kind. It says no when the line tells nothing that its kind could mean.

bool read_nothing(const TraceFields& /*fields*/, Signal& /*signal*/) { return true; }

bool read_spawn(const TraceFields& fields, Signal& signal) {
  const FieldValue* const pid = fields.number(Field::pid);
  if (pid != nullptr && pid->type == FieldValue::Type::whole) signal.pid = pid->whole;
  return true;
}

bool read_process(const TraceFields& fields, Signal& signal) {
  kProcessStates.find(fields.text(Field::state), signal.process);
  signal.exit = fields.exit;
  return true;
}

bool read_beat(const TraceFields& fields, Signal& signal) {
  kBeatBys.find(fields.text(Field::by), signal.by);
  return true;
}

bool read_status(const TraceFields& fields, Signal& signal) {
  return kStatuses.find(fields.text(Field::status), signal.status);
}

bool read_id(const TraceFields& fields, Signal& signal) {
  signal.id = fields.text(Field::id);
  return true;
}

bool read_tool_open(const TraceFields& fields, Signal& signal) {
  signal.tool = fields.text(Field::tool);
  signal.limit = fields.duration(Field::limit);
  signal.background = fields.flag(Field::background);
  signal.child_tool =
      fields.has(Field::child) ? fields.flag(Field::child) : is_named_like_child_tool(signal.tool);
  return read_id(fields, signal);
}

bool read_tool_close(const TraceFields& fields, Signal& signal) {
  signal.same = fields.count(Field::same);
  return read_id(fields, signal);
}

bool read_retry(const TraceFields& fields, Signal& signal) {
  set_until(fields, signal);
  set_cause(fields, Field::cause, signal);
  return true;
}

bool read_turn_end(const TraceFields& fields, Signal& signal) {
  signal.count = fields.count(Field::background);
  set_cause(fields, Field::error, signal);
  return true;
}

bool read_error(const TraceFields& fields, Signal& signal) {
  signal.final = fields.flag(Field::final);
  set_cause(fields, Field::cause, signal);
  return true;
}

bool read_state(const TraceFields& fields, Signal& signal) {
  set_until(fields, signal);
  return kSelfStates.find(fields.text(Field::state), signal.state);
}

bool read_activity(const TraceFields& fields, Signal& signal) {
  kActivities.find(fields.text(Field::from), signal.from);
  return true;
}

bool read_child(const TraceFields& fields, Signal& signal) {
  signal.child = fields.text(Field::child);
  signal.for_parent = fields.text(Field::for_whom) == "parent";
  kVerdicts.find(fields.text(Field::verdict), signal.verdict);
  return !signal.child.empty();
}

bool read_task(const TraceFields& fields, Signal& signal) {
  return kTaskEvents.find(fields.text(Field::event), signal.event);
}

bool read_inbox(const TraceFields& fields, Signal& signal) {
  signal.count = fields.count(Field::waiting);
  return fields.number(Field::waiting) != nullptr;
}

bool read_parent(const TraceFields& fields, Signal& signal) {
  return kParentStates.find(fields.text(Field::state), signal.parent);
}

bool read_intent(const TraceFields& fields, Signal& signal) {
  return kWants.find(fields.text(Field::want), signal.want);
}

bool read_seconds(const TraceFields& fields, Signal& signal) {
  signal.seconds = fields.duration(Field::seconds).value_or(Duration{});
  return true;
}

bool read_clock_step(const TraceFields& fields, Signal& signal) {
  const FieldValue* const step = fields.number(Field::seconds);
  if (step != nullptr) signal.seconds = duration_of(*step, -kLongestTime);
  return true;
}

bool read_fleet(const TraceFields& fields, Signal& signal) {
  signal.count = fields.count(Field::silent);
  signal.of = fields.count(Field::of);
  return true;
}

using Reader = bool (*)(const TraceFields& fields, Signal& signal);

struct Row {
  Kind kind;
  Reader reader;
};
constexpr Row kRows[] = {
    {Kind::spawn, read_spawn},
    {Kind::process, read_process},
    {Kind::beat, read_beat},
    {Kind::status, read_status},
    {Kind::tool_open, read_tool_open},
    {Kind::tool_beat, read_id},
    {Kind::tool_close, read_tool_close},
    {Kind::retry, read_retry},
    {Kind::ask, read_id},
    {Kind::answer, read_id},
    {Kind::turn_end, read_turn_end},
    {Kind::error, read_error},
    {Kind::state, read_state},
    {Kind::ping, read_id},
    {Kind::ack, read_id},
    {Kind::ping_failed, read_id},
    {Kind::activity, read_activity},
    {Kind::child, read_child},
    {Kind::task, read_task},
    {Kind::inbox, read_inbox},
    {Kind::parent, read_parent},
    {Kind::intent, read_intent},
    {Kind::suspend, read_seconds},
    {Kind::lag, read_seconds},
    {Kind::clock_step, read_clock_step},
    {Kind::fleet, read_fleet},
};

/// A reader for every kind; those without a row have nothing of their own to read.
constexpr auto kReaders = [] {
  std::array<Reader, kKindWords.size()> readers{};
  readers.fill(read_nothing);
  for (const Row& row : kRows) readers[static_cast<std::size_t>(row.kind)] = row.reader;
  return readers;
}();

}  // namespace

void make_signal(const TraceFields& fields, Signal& signal) {
  signal = Signal{};
  kKinds.find(fields.text(Field::is), signal.is);
  if (fields.has(Field::life)) signal.life = fields.count(Field::life);
  if (fields.has(Field::task)) signal.task = fields.text(Field::task);
  if (kReaders[static_cast<std::size_t>(signal.is)](fields, signal)) return;
  Signal weak;
  weak.life = signal.life;
  weak.task = signal.task;
  signal = weak;
}

}  // namespace tend
