// One leads. Whenever somebody begins to, nothing is left of any program that did before, not even
// stopped; its fence is higher than all before it, whatever became of the power; no fence is
// given twice; and nobody acts under one once another was granted.
#include <algorithm>
#include <cstdint>
#include <set>

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
      // It is left to its fence, and so is who was stopped before it knew that it leads.
      if (is_alone(other) || (is_alone(lead) && lead.fence < other.fence)) continue;
      violated(fmt::format("{} leads under fence {}, and {} still does under {}", name_of(lead),
                           lead.fence, name_of(other), other.fence));
    }
    // Who leads alone may have been stopped before it knew, and sees to that before it acts.
    const bool is_late = lead.fence <= highest_ && !is_alone(lead);
    if ((is_late || !given_.insert(lead.fence).second) && !forgets_) {
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
  [[nodiscard]] bool is_alone(const LeadTruth& lead) const {
    return world.scenario.contenders[lead.contender].alone;
  }
  [[nodiscard]] const std::string& name_of(const LeadTruth& lead) const {
    return world.scenario.contenders[lead.contender].name;
  }

  std::uint64_t highest_ = 0;
  std::set<std::uint64_t> given_;
  // A disk that says it has written what it has not can lose any fence.
  const bool forgets_ = has_fault(world.scenario, {FaultKind::lying_disk});
};

}  // namespace

std::unique_ptr<Check> make_lease_one_check(SeededWorld& world) {
  return std::make_unique<LeaseOne>(world);
}

}  // namespace tend::sim
