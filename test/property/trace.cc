// See trace.h.
#include "trace.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tend {

namespace {

using namespace std::chrono_literals;

std::string seconds(Duration duration) {
  const std::string sign = duration < 0ms ? "-" : "";
  const auto ms = std::chrono::abs(duration).count();
  std::string text = sign + std::to_string(ms / 1000);
  if (ms % 1000 == 0) return text;
  const std::string part = std::to_string(ms % 1000);
  return text + "." + std::string(3 - part.size(), '0') + part;
}

/// The fields of one line, as they are written.
class Fields {
 public:
  void text(std::string_view key, std::string_view value) {
    raw(key, "\"" + std::string(value) + "\"");
  }
  void time(std::string_view key, Duration value) { raw(key, seconds(value)); }
  void number(std::string_view key, std::int64_t value) { raw(key, std::to_string(value)); }
  void flag(std::string_view key, bool value) {
    if (value) raw(key, "true");
  }
  void raw(std::string_view key, std::string_view value) {
    out_ += out_.empty() ? "{\"" : ",\"";
    out_.append(key).append("\":").append(value);
  }
  std::string line() && { return std::move(out_) + "}\n"; }

 private:
  std::string out_;
};

template <class Enum, std::size_t N>
std::string_view in(const std::array<std::string_view, N>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

void write_process(Fields& out, const Signal& s) {
  out.text("state", word(s.process));
  if (s.exit.how == Exit::How::code) {
    out.raw("exit", "{\"code\":" + std::to_string(s.exit.value) + "}");
  } else if (s.exit.how == Exit::How::signal) {
    out.raw("exit", "{\"signal\":" + std::to_string(s.exit.value) + "}");
  }
}

void write_tool(Fields& out, const Signal& s) {
  out.text("id", s.id);
  if (s.is == Kind::tool_close && s.same > 0) out.number("same", s.same);
  if (s.is != Kind::tool_open) return;
  out.text("tool", s.tool);
  if (s.limit) out.time("limit", *s.limit);
  out.flag("background", s.background);
  out.flag("child", s.child_tool);
}

void write_until(Fields& out, const Signal& s) {
  if (s.until) out.time("until", s.until->time_since_epoch());
}

/// What is particular to the kind.
void write_kind(Fields& out, const Signal& s) {
  switch (s.is) {
    case Kind::spawn:
      return out.number("pid", s.pid);
    case Kind::process:
      return write_process(out, s);
    case Kind::beat:
      return out.text("by", in(kBeatByWords, s.by));
    case Kind::status:
      return out.text("status", in(kStatusWords, s.status));
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
      return write_tool(out, s);
    case Kind::retry:
      write_until(out, s);
      return out.text("cause", s.cause_word);
    case Kind::ask:
    case Kind::answer:
    case Kind::ping:
    case Kind::ack:
    case Kind::ping_failed:
      return out.text("id", s.id);
    case Kind::turn_end:
      if (s.count > 0) out.number("background", s.count);
      if (s.cause != Cause::none) out.text("error", s.cause_word);
      return;
    case Kind::error:
      out.text("cause", s.cause_word);
      return out.flag("final", s.final);
    case Kind::state:
      write_until(out, s);
      return out.text("state", in(kSelfStateWords, s.state));
    case Kind::activity:
      return out.text("from", in(kActivityFromWords, s.from));
    case Kind::child:
      out.text("child", s.child);
      out.text("verdict", word(s.verdict));
      if (s.for_parent) out.text("for", "parent");
      return;
    case Kind::task:
      return out.text("event", in(kTaskEventWords, s.event));
    case Kind::inbox:
      return out.number("waiting", s.count);
    case Kind::parent:
      return out.text("state", in(kParentStateWords, s.parent));
    case Kind::intent:
      return out.text("want", in(kWantWords, s.want));
    case Kind::suspend:
    case Kind::lag:
    case Kind::clock_step:
      return out.time("seconds", s.seconds);
    case Kind::fleet:
      out.number("silent", s.count);
      return out.number("of", s.of);
    case Kind::fault:
      return out.text("of", "store");
    case Kind::acted:
      return out.text("action", "kill");
    case Kind::beat_failed:
    case Kind::progress:
    case Kind::noise:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::turn_start:
    case Kind::other:
      return;
  }
}

std::string to_json(const Line& line) {
  Fields out;
  out.time("t", line.at.time_since_epoch());
  out.text("is", word(line.signal.is));
  if (line.signal.life != 0) out.number("life", line.signal.life);
  if (!line.signal.task.empty()) out.text("task", line.signal.task);
  write_kind(out, line.signal);
  return std::move(out).line();
}

/// Counts lives as the contract does, and says which number a line carries.
class Lives {
 public:
  std::uint32_t number(const Event& event) {
    if (event.signal.is != Kind::spawn) {
      if (event.life == Of::older) return current_ < 2 ? 0 : current_ - 1;
      return event.life == Of::unsaid ? 0 : current_;
    }
    if (event.life == Of::current && current_ > 0) return current_;
    if (event.life == Of::older && current_ > 1) return current_ - 1;
    ++current_;
    return event.life == Of::next ? current_ : 0;
  }

 private:
  std::uint32_t current_ = 0;
};

/// The time before the event at `index` in which the observer ran; the tail for the last one.
Duration free_time_before(const Trace& trace, std::size_t index) {
  if (index == trace.events.size()) return trace.tail;
  const Event& event = trace.events[index];
  return event.gap - away(event.signal);
}

}  // namespace

Duration away(const Signal& signal) {
  return signal.is == Kind::suspend || signal.is == Kind::lag ? signal.seconds : 0ms;
}

std::vector<Line> lines(const Trace& trace) {
  std::vector<Line> result;
  result.reserve(trace.events.size());
  Instant at{trace.start};
  Lives lives;
  for (const Event& event : trace.events) {
    at += event.gap;
    Line& line = result.emplace_back(at, event.signal);
    line.signal.life = lives.number(event);
    if (event.until) line.signal.until = at + *event.until;
  }
  return result;
}

Instant end_of(const Trace& trace) {
  Instant at{trace.start + trace.tail};
  for (const Event& event : trace.events) at += event.gap;
  return at;
}

std::size_t index_of(const Trace& trace, Place place) { return place.after % trace.events.size(); }

void insert(Trace& trace, Place place, Event event) {
  const std::size_t next = index_of(trace, place) + 1;
  const Duration free = free_time_before(trace, next);
  const Duration into = free * std::min(place.permille, 1000U) / 1000;
  event.gap = into < 1s ? into : std::chrono::floor<std::chrono::seconds>(into);
  (next == trace.events.size() ? trace.tail : trace.events[next].gap) -= event.gap;
  trace.events.insert(trace.events.begin() + static_cast<std::ptrdiff_t>(next), event);
}

void erase(Trace& trace, std::size_t index) {
  const Duration gap = trace.events[index].gap;
  trace.events.erase(trace.events.begin() + static_cast<std::ptrdiff_t>(index));
  (index == trace.events.size() ? trace.tail : trace.events[index].gap) += gap;
}

std::string to_json(const Trace& trace) {
  Fields header;
  header.number("trace", 1);
  header.text("policy", trace.policy);
  const std::string end = seconds(end_of(trace).time_since_epoch());
  header.raw("expect", R"([{"from":)" + end + R"(,"to":)" + end + R"(,"never":[]}])");
  std::string text = std::move(header).line();
  for (const Line& line : lines(trace)) text += to_json(line);
  return text;
}

}  // namespace tend
