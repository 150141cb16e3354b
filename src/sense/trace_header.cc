// Headers are read once a trace, so simdjson's DOM does: it checks the whole line by itself.
#include "sense/trace_header.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/quote.h"

namespace tend {
namespace {

namespace dom = simdjson::dom;

using Looked = simdjson::simdjson_result<dom::element>;

std::optional<Duration> duration_of(const Looked& seconds) {
  double value = 0;
  if (seconds.get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value < 0 || value * 1000 > static_cast<double>(kLongestTime.count())) return std::nullopt;
  return Duration{std::llround(value * 1000)};
}

template <class Enum, std::size_t N>
bool read_words(const Looked& list, const std::array<std::string_view, N>& words,
                WordSet<Enum>& into) {
  dom::array array;
  if (list.get(array) != simdjson::SUCCESS) return false;
  for (const dom::element element : array) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return false;
    const auto known = from_word<Enum>(words, text);
    if (!known) return false;
    into.insert(*known);
  }
  return !into.empty();
}

bool read_span(const dom::object& object, const char* begin, const char* end, Clause& clause) {
  const auto first = duration_of(object[begin]);
  const auto last = duration_of(object[end]);
  if (!first || !last || *last < *first) return false;
  clause.begin = Instant{*first};
  clause.end = Instant{*last};
  return true;
}

bool has(const dom::object& object, const char* key) {
  return object[key].error() == simdjson::SUCCESS;
}

Clause::Form read_until_then(const dom::object& object, Clause& clause) {
  using Form = Clause::Form;
  if (!read_span(object, "after", "by", clause)) return Form::not_understood;
  if (has(object, "verdict") == has(object, "action")) return Form::not_understood;
  if (read_words(object["verdict"], kVerdictWords, clause.verdicts)) return Form::sometime;
  if (read_words(object["action"], kActionWords, clause.actions)) return Form::taken;
  return Form::not_understood;
}

Clause::Form read_throughout(const dom::object& object, Clause& clause) {
  using Form = Clause::Form;
  if (!read_span(object, "from", "to", clause)) return Form::not_understood;
  const int forms = has(object, "verdict") + has(object, "never") + has(object, "action");
  if (forms != 1) return Form::not_understood;
  if (read_words(object["verdict"], kVerdictWords, clause.verdicts)) return Form::always;
  if (read_words(object["never"], kActionWords, clause.actions)) return Form::never;
  const bool counted = object["at-most"].get(clause.most) == simdjson::SUCCESS &&
                       read_words(object["action"], kActionWords, clause.actions);
  return counted ? Form::at_most : Form::not_understood;
}

Clause clause_of(const dom::element& element) {
  Clause clause;
  clause.text = simdjson::minify(element);
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return clause;
  const bool is_span = has(object, "from") || has(object, "to");
  const bool is_deadline = has(object, "after") || has(object, "by");
  if (is_span == is_deadline) return clause;
  clause.form = is_span ? read_throughout(object, clause) : read_until_then(object, clause);
  return clause;
}

class HeaderReader {
 public:
  explicit HeaderReader(const dom::object& object) : object_(object) {}

  TraceHeader read() {
    read_text("id", header_.id);
    read_text("about", header_.about);
    read_text("policy", header_.policy);
    read_limits();
    read_expect();
    read_journal();
    return std::move(header_);
  }

 private:
  void note(std::string text) { header_.oddities.push_back(std::move(text)); }

  void read_text(const char* key, std::string& into) {
    std::string_view text;
    const auto error = object_[key].get(text);
    if (error == simdjson::SUCCESS) {
      into = text;
    } else if (error != simdjson::NO_SUCH_FIELD) {
      note("the header's `" + std::string(key) + "` is no text; ignored");
    }
  }

  void read_limits() {
    dom::element element;
    if (object_["limits"].get(element) != simdjson::SUCCESS) return;
    dom::object limits;
    if (element.get(limits) != simdjson::SUCCESS) {
      return note("the header's `limits` is no object; ignored");
    }
    for (const auto [key, value] : limits) read_limit(key, value);
  }

  void read_limit(std::string_view key, const dom::element& value) {
    if (key == "beats") return read_beats(value);
    const bool known = std::ranges::find(kLimitKeys, key, &LimitKey::name) != kLimitKeys.end();
    if (!known) return note("there is no limit " + in_quotes(key) + "; ignored");
    if (const auto duration = duration_of(Looked(dom::element(value)))) {
      header_.limits.emplace_back(key, *duration);
    } else {
      note("the limit " + in_quotes(key) + " is no number of seconds; ignored");
    }
  }

  void read_beats(const dom::element& value) {
    dom::array pair;
    if (value.get(pair) == simdjson::SUCCESS && pair.size() == 2) {
      const auto suspect = duration_of(pair.at(0));
      const auto stalled = duration_of(pair.at(1));
      if (suspect && stalled) {
        header_.beats = Patience{*suspect, *stalled};
        return;
      }
    }
    note("the limit 'beats' is no pair [suspect, stalled] of seconds; ignored");
  }

  void read_expect() {
    dom::element element;
    if (object_["expect"].get(element) != simdjson::SUCCESS) return;
    dom::array clauses;
    if (element.get(clauses) != simdjson::SUCCESS) {
      header_.expect.push_back(clause_of(element));
      return;
    }
    for (const dom::element clause : clauses) header_.expect.push_back(clause_of(clause));
  }

  void read_journal() {
    read_raw("policy_full", header_.policy_full);
    read_raw("judge", header_.judge);
    read_text("boot", header_.boot);
    if (const auto at = read_milliseconds("at_ms", 0)) header_.at = Instant{*at};
    header_.shift = read_milliseconds("shift_ms", -kLongestTime.count()).value_or(Duration{});
    read_number("wall", header_.wall);
    read_number("offset", header_.offset);
    read_number("said", header_.said);
    read_number("beaten", header_.beaten);
    std::uint64_t life = 0;
    if (read_number("life", life)) {
      constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
      header_.life = static_cast<std::uint32_t>(std::min(life, kMost));
    }
    read_number("actions", header_.actions);
  }

  /// Any JSON but null, as it stands.
  void read_raw(const char* key, std::string& into) {
    dom::element element;
    if (object_[key].get(element) != simdjson::SUCCESS || element.is_null()) return;
    into = simdjson::minify(element);
  }

  template <class Number>
  bool read_number(const char* key, Number& into) {
    const auto error = object_[key].get(into);
    if (error == simdjson::SUCCESS) return true;
    if (error != simdjson::NO_SUCH_FIELD) {
      note("the header's `" + std::string(key) + "` is not a number that fits; ignored");
    }
    return false;
  }

  std::optional<Duration> read_milliseconds(const char* key, std::int64_t least) {
    std::int64_t count = 0;
    if (!read_number(key, count)) return std::nullopt;
    if (count >= least && count <= kLongestTime.count()) return Duration{count};
    note("the header's `" + std::string(key) + "` is out of range; ignored");
    return std::nullopt;
  }

  const dom::object& object_;
  TraceHeader header_;
};

}  // namespace

Result<TraceHeader> parse_trace_header(std::string_view line) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) {
    return fail("the header is no JSON object");
  }
  std::int64_t version = 0;
  if (object["trace"].get(version) != simdjson::SUCCESS || version != 1) {
    return fail("the header is of trace version " + in_quotes(simdjson::minify(object["trace"])) +
                ", this tend reads version 1");
  }
  return HeaderReader(object).read();
}

}  // namespace tend
