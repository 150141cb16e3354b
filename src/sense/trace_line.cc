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
  const std::string_view is = fields_.text(Field::is);
  if (is.empty() && fields_.has(Field::trace)) return Found::header;
  const FieldValue* const t = fields_.number(Field::t);
  if (t == nullptr) return bad("it has no time `t` in seconds");
  if (!in_range(*t)) return bad("its time `t` is out of range");
  if (is.empty()) return bad("it does not say what it `is`");
  at = Instant{duration_of(*t, Duration::zero())};
  make_signal(fields_, signal);
  keep_texts(signal, texts);
  return Found::signal;
}

TraceLineParser::Found TraceLineParser::bad(std::string_view problem) {
  problem_ = problem;
  return Found::bad;
}

}  // namespace tend
