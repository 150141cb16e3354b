// `tend replay --diff`: where two policies judge the same trace otherwise. Only the spans in which
// their verdicts differ are shown, and the actions that only one of them takes.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/look.h"
#include "app/replay_json.h"
#include "app/replay_view.h"
#include "os/world.h"
#include "run/twin_replay.h"

namespace tend {

class ReplayDiff final : public TwinSink {
 public:
  enum class Form { text, json };

  ReplayDiff(Form form, Output& out, const Environment& environment);

  /// `second` is the name of the other policy.
  void begin(const TraceTitle& title, const std::string& second);
  void decided(Instant at, std::span<const Decision> first,
               std::span<const Decision> second) override;
  /// Ends the trace at this time; says whether the two differed in it.
  bool end(Instant last);
  void sum(std::size_t traces, const std::vector<std::string>& differ);

 private:
  struct Side {
    std::string policy;
    Decision verdict;  // the one in force
    Instant since{};
  };

  [[nodiscard]] bool differ() const {
    return sides_[0].verdict.verdict != sides_[1].verdict.verdict;
  }
  void compare_verdicts(Instant at, bool changed);
  void compare_actions(Instant at, std::span<const Decision> mine, std::span<const Decision> others,
                       const Side& side);
  void put_verdict(Instant at, const Side& side);
  void put_action(Instant at, const Side& side, const Decision& action);
  void put_line(Instant at, std::string_view who, std::string_view what, Ink ink,
                std::string_view why);

  Form form_;
  Output& out_;
  Look look_;
  bool first_trace_ = true;
  std::array<Side, 2> sides_;
  DiffCounts counts_;
  bool apart_ = false;
  Instant apart_since_{};
  Instant printed_{};
  std::size_t name_width_ = 0;
};

}  // namespace tend
