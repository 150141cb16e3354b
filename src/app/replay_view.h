// What the views of `tend replay` have in common: they are told of each trace, of what is decided
// in it, and how it ended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/words.h"
#include "run/expectations.h"
#include "run/replay.h"

namespace tend {

/// The verdict that a judge had when its journal was begun.
struct FirstVerdict {
  Instant at{};
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
};

struct TraceTitle {
  std::string id;
  std::string about;   // may be empty
  std::string policy;  // the one it is judged by
  std::optional<FirstVerdict> first = std::nullopt;
};

struct TraceResult {
  std::string id;
  std::size_t expected = 0;
  std::vector<FailedClause> failed;
};

struct ReplaySum {
  std::size_t traces = 0;
  std::vector<std::string> failed;  // ids, those that could not be read among them
};

class ReplayView : public DecisionSink {
 public:
  virtual void begin(const TraceTitle& title) = 0;
  virtual void end(const TraceResult& result) = 0;
  /// After several traces.
  virtual void sum(const ReplaySum& sum) = 0;
};

}  // namespace tend
