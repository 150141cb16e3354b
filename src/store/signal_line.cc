// A signal as the line of a trace that means it. Each kind has a writer, in a table; what a writer
// leaves out is what a reader takes for granted (docs/evidence.md, section 2).
#include <fmt/format.h>

#include <array>

#include "store/journal.h"
#include "store/line_writer.h"

namespace tend {
namespace {

template <class Enum, std::size_t N>
std::string_view spell(const std::array<std::string_view, N>& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

/// A provider's cause by its one word, whatever the provider called it: the judge must read it as
/// the same cause again. Any other by the words it came with.
void write_cause(LineWriter& line, std::string_view key, const Signal& signal) {
  if (signal.cause == Cause::none) return;
  line.text(key, signal.cause == Cause::another ? signal.cause_word : word(signal.cause));
}

void write_until(LineWriter& line, const Signal& signal) {
  if (signal.until) line.seconds("until", signal.until->time_since_epoch());
}

void write_id(LineWriter& line, const Signal& signal) {
  if (!signal.id.empty()) line.text("id", signal.id);
}

void write_flag(LineWriter& line, std::string_view key, bool value) {
  if (value) line.flag(key, true);
}

// One writer a kind.

void write_nothing(LineWriter& /*line*/, const Signal& /*signal*/) {}

void write_spawn(LineWriter& line, const Signal& signal) {
  if (signal.pid != 0) line.number("pid", signal.pid);
}

void write_process(LineWriter& line, const Signal& signal) {
  line.text("state", word(signal.process));
  if (signal.exit.how == Exit::How::unknown) return;
  line.raw("exit",
           fmt::format(R"({{"{}":{}}})", signal.exit.how == Exit::How::code ? "code" : "signal",
                       signal.exit.value));
}

void write_beat(LineWriter& line, const Signal& signal) {
  line.text("by", spell(kBeatByWords, signal.by));
}

void write_status(LineWriter& line, const Signal& signal) {
  line.text("status", spell(kStatusWords, signal.status));
}

void write_tool_open(LineWriter& line, const Signal& signal) {
  write_id(line, signal);
  if (!signal.tool.empty()) line.text("tool", signal.tool);
  if (signal.limit) line.seconds("limit", *signal.limit);
  write_flag(line, "background", signal.background);
  // Read back it must be the same, whatever the tool's name.
  if (signal.child_tool != is_named_like_child_tool(signal.tool)) {
    line.flag("child", signal.child_tool);
  }
}

void write_tool_close(LineWriter& line, const Signal& signal) {
  write_id(line, signal);
  if (signal.same != 0) line.number("same", signal.same);
}

void write_retry(LineWriter& line, const Signal& signal) {
  write_until(line, signal);
  write_cause(line, "cause", signal);
}

void write_turn_end(LineWriter& line, const Signal& signal) {
  if (signal.count != 0) line.number("background", signal.count);
  write_cause(line, "error", signal);
}

void write_error(LineWriter& line, const Signal& signal) {
  write_cause(line, "cause", signal);
  write_flag(line, "final", signal.final);
}

void write_state(LineWriter& line, const Signal& signal) {
  line.text("state", spell(kSelfStateWords, signal.state));
  write_until(line, signal);
}

void write_activity(LineWriter& line, const Signal& signal) {
  line.text("from", spell(kActivityFromWords, signal.from));
}

void write_child(LineWriter& line, const Signal& signal) {
  line.text("child", signal.child);
  line.text("verdict", word(signal.verdict));
  if (signal.for_parent) line.text("for", "parent");
}

void write_task(LineWriter& line, const Signal& signal) {
  line.text("event", spell(kTaskEventWords, signal.event));
}

void write_inbox(LineWriter& line, const Signal& signal) { line.number("waiting", signal.count); }

void write_parent(LineWriter& line, const Signal& signal) {
  line.text("state", spell(kParentStateWords, signal.parent));
}

void write_intent(LineWriter& line, const Signal& signal) {
  line.text("want", spell(kWantWords, signal.want));
}

void write_seconds(LineWriter& line, const Signal& signal) {
  line.seconds("seconds", signal.seconds);
}

void write_fleet(LineWriter& line, const Signal& signal) {
  line.number("silent", signal.count);
  line.number("of", signal.of);
}

using Writer = void (*)(LineWriter& line, const Signal& signal);

struct Row {
  Kind kind;
  Writer writer;
};
constexpr Row kRows[] = {
    {Kind::spawn, write_spawn},
    {Kind::process, write_process},
    {Kind::beat, write_beat},
    {Kind::status, write_status},
    {Kind::tool_open, write_tool_open},
    {Kind::tool_beat, write_id},
    {Kind::tool_close, write_tool_close},
    {Kind::retry, write_retry},
    {Kind::ask, write_id},
    {Kind::answer, write_id},
    {Kind::turn_end, write_turn_end},
    {Kind::error, write_error},
    {Kind::state, write_state},
    {Kind::ping, write_id},
    {Kind::ack, write_id},
    {Kind::ping_failed, write_id},
    {Kind::activity, write_activity},
    {Kind::child, write_child},
    {Kind::task, write_task},
    {Kind::inbox, write_inbox},
    {Kind::parent, write_parent},
    {Kind::intent, write_intent},
    {Kind::suspend, write_seconds},
    {Kind::lag, write_seconds},
    {Kind::clock_step, write_seconds},
    {Kind::fleet, write_fleet},
};

/// A writer for every kind; those without a row have nothing of their own to say.
constexpr auto kWriters = [] {
  std::array<Writer, kKindWords.size()> writers{};
  writers.fill(write_nothing);
  for (const Row& row : kRows) writers[static_cast<std::size_t>(row.kind)] = row.writer;
  return writers;
}();

}  // namespace

void append_signal_line(std::string& to, Instant at, const Signal& signal, const Offsets& offsets) {
  LineWriter line(to, at);
  line.text("is", word(signal.is));
  if (signal.life != 0) line.number("life", signal.life);
  kWriters[static_cast<std::size_t>(signal.is)](line, signal);
  if (!signal.task.empty()) line.text("task", signal.task);
  if (offsets.stream != 0) line.number("offset", offsets.stream);
  if (offsets.said != 0) line.number("said", offsets.said);
  const bool may_be_news = signal.is == Kind::beat || signal.is == Kind::spawn;
  if (may_be_news && offsets.beaten != 0) line.number("beaten", offsets.beaten);
  line.end();
}

}  // namespace tend
