// `tend replay --json`: one object a line for every change of verdict and every action, one for the
// end of each trace, and one that sums up several.
#pragma once

#include <string>
#include <string_view>

#include "app/replay_view.h"
#include "os/world.h"

namespace tend {

class ReplayJson final : public ReplayView {
 public:
  explicit ReplayJson(Output& out) : out_(out) {}

  void begin(const TraceTitle& /*title*/) override {}
  void decided(Instant at, const Decision& decision) override;
  void end(const TraceResult& result) override;
  void sum(const ReplaySum& sum) override;

 private:
  Output& out_;
};

/// The object for one decision, on one line. With a policy's name it says whose decision it is.
std::string decision_as_json(Instant at, const Decision& decision, std::string_view policy = {});

/// The object for a verdict of `policy` that has been in force since an earlier time.
std::string standing_as_json(Instant at, const Decision& verdict, std::string_view policy,
                             Instant since);

/// How far two policies differ over one trace.
struct DiffCounts {
  std::string id;
  std::string first;
  std::string second;
  std::size_t spans = 0;    // in which their verdicts differ
  std::size_t actions = 0;  // that only one takes
  Duration apart{};         // how long their verdicts differ
};
std::string counts_as_json(const DiffCounts& counts);
std::string diff_sum_as_json(std::size_t traces, const std::vector<std::string>& differ);

}  // namespace tend
