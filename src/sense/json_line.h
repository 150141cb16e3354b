// The thorough way through a trace line: any JSON, read with simdjson. It decides what is a broken
// line and what only has fields that nobody knows.
#pragma once

#include <memory>
#include <string_view>

#include "sense/trace_fields.h"

namespace tend {

class JsonLine {
 public:
  JsonLine();
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  /// Fills `fields`, whose texts stay valid until the next call, and says what is wrong with the
  /// line: nothing if it is well. Requires LineSplitter::kPadding readable bytes behind the line.
  std::string_view read(std::string_view line, TraceFields& fields);

 private:
  class Reader;  // keeps simdjson out of everybody's sight

  std::unique_ptr<Reader> reader_;
};

}  // namespace tend
