// Tries the short way first and the thorough one where it must.
#include "sense/trace_line.h"

#include "sense/flat_line.h"
#include "sense/trace_signal.h"

namespace tend {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

bool in_range(const FieldValue& t) {
  const double seconds = t.type == FieldValue::Type::whole ? static_cast<double>(t.whole) : t.real;
  return seconds >= 0 && seconds * 1000 <= static_cast<double>(kLongestTime.count());
}

void keep_texts(Signal& signal, TextArena& texts) {
  for (std::string_view* text :
       {&signal.id, &signal.tool, &signal.task, &signal.child, &signal.cause_word}) {
    if (!text->empty()) *text = texts.copy(*text);
  }
}

}  // namespace

TraceLineParser::Found TraceLineParser::parse(std::string_view line, TextArena& texts,
                                              Signal& signal, Instant& at) {
  if (!read_flat_line(line, fields_)) {
    if (is_blank(line)) return Found::nothing;
    const std::string_view problem = json_.read(line, fields_);
    if (!problem.empty()) return bad(problem);
  }
  if (fields_.text(Field::is).empty()) return parse_other(at);
  if (!read_time(at)) return Found::bad;
  make_signal(fields_, signal);
  keep_texts(signal, texts);
  return Found::signal;
}

/// A line that is no signal.
TraceLineParser::Found TraceLineParser::parse_other(Instant& at) {
  if (fields_.has(Field::trace)) return Found::header;
  if (!read_time(at)) return Found::bad;
  if (!fields_.has(Field::is)) {
    for (const Field field : {Field::verdict, Field::action, Field::did, Field::note}) {
      if (fields_.has(field)) return Found::record;
    }
  }
  return bad("it does not say what it `is`");
}

bool TraceLineParser::read_time(Instant& at) {
  const FieldValue* const t = fields_.number(Field::t);
  if (t != nullptr && in_range(*t)) {
    at = Instant{duration_of(*t, Duration::zero())};
    return true;
  }
  if (time_ == Time::optional) {
    at = Instant{};
    return true;
  }
  bad(t == nullptr ? "it has no time `t` in seconds" : "its time `t` is out of range");
  return false;
}

TraceLineParser::Found TraceLineParser::bad(std::string_view problem) {
  problem_ = problem;
  return Found::bad;
}

}  // namespace tend
