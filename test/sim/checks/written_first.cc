// Who an agent is stands in its keeper's record before it runs: a keeper that dies right then
// leaves nobody whom the next one does not know.
#include <string>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/life_record.h"

namespace tend::sim {
namespace {

class WrittenFirst final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "written first"; }

  void on_exec(const SimFacts& process, const Owner& owner) override {
    if (owner.is != Owner::Is::agent) return;
    const std::string& folder = world.truth().agents.at(owner.agent).folder;
    const auto record = world.universe.disk.read(folder + "/" + std::string(kLockFile));
    const std::string its_name =
        fmt::format(R"("pid":{},"start_ticks":{},)", process.id.pid, process.id.start_ticks);
    if (record && record->contains(its_name)) return;
    violated(fmt::format("{} is let run as process {}, which is not written down", owner.agent,
                         process.id.pid));
  }
};

}  // namespace

std::unique_ptr<Check> make_written_first_check(SeededWorld& world) {
  return std::make_unique<WrittenFirst>(world);
}

}  // namespace tend::sim
