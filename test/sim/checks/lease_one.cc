// One leads. Whenever a program begins to, nothing is left of any that did before, not even
// stopped; its fence is higher than all before it, whatever became of the power; and nobody acts
// under a fence once another was granted.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class LeaseOne final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "one leader"; }

  void on_lead(const LeadTruth& lead) override {
    for (const LeadTruth& other : world.truth().leads) {
      if (other.over || other.process == lead.process) continue;
      violated(fmt::format("{} leads under fence {}, and {} still does under {}", name_of(lead),
                           lead.fence, name_of(other), other.fence));
    }
    if (lead.fence <= highest_ && !forgets_) {
      violated(fmt::format("{} leads under fence {}, and there was {}", name_of(lead), lead.fence,
                           highest_));
    }
    highest_ = std::max(highest_, lead.fence);
  }
  void on_act(const LeadTruth& lead) override {
    if (lead.fence >= highest_ || forgets_) return;
    violated(fmt::format("{} acts under fence {}, and {} was granted since", name_of(lead),
                         lead.fence, highest_));
  }

 private:
  [[nodiscard]] const std::string& name_of(const LeadTruth& lead) const {
    return world.scenario.contenders[lead.contender].name;
  }

  std::uint64_t highest_ = 0;
  // A disk that says it has written what it has not can lose any fence.
  const bool forgets_ = has_fault(world.scenario, {FaultKind::lying_disk});
};

}  // namespace

std::unique_ptr<Check> make_lease_one_check(SeededWorld& world) {
  return std::make_unique<LeaseOne>(world);
}

}  // namespace tend::sim
