// The short way through a trace line. Almost every line is one flat object of plain texts, numbers
// and flags without a blank between; that much is read here in one pass, in a third of the
// time. Whatever is not that plain is left to JsonLine, so the two can never give different
// answers: the fuzzer holds them to it.
#pragma once

#include <string_view>

#include "sense/trace_fields.h"

namespace tend {

/// Fills `fields` from a plain line. False, with `fields` in any state, if it is not that plain.
/// Requires LineSplitter::kPadding readable bytes behind the line.
bool read_flat_line(std::string_view line, TraceFields& fields);

}  // namespace tend
