// What a service counts as a success was written: it never says more of a part than arrived there,
// and no beat is a success of which a part is none.
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "store/service_file.h"

#include "checks/check.h"

namespace tend::sim {
namespace {

class ServiceCounts final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "counts are true"; }

  void on_tick() override {
    for (std::size_t i = 0; i < world.scenario.services.size(); ++i) look_at(i);
  }

 private:
  void look_at(std::size_t i) {
    const ServicePlan& plan = world.scenario.services[i];
    const ServiceTruth& service = world.truth().services[i];
    const std::string path =
        fmt::format("{}/{}/{}/{}", SeededWorld::kHome, kServicesFolder,
                    service_folder_name(SeededWorld::pidfile_of(plan)), kServiceStatusFile);
    const auto status = parse_service_status(world.universe.disk.read(path).value_or(""));
    if (!status || service.at_work.size() != 1) return;
    if (status->process != service.at_work.front()) return;
    for (const ServicePart& part : status->parts) {
      const auto found = service.written.find(part.name);
      const std::uint64_t written = found == service.written.end() ? 0 : found->second;
      if (part.success > written) {
        violated(fmt::format("{} counts {} beats ({}), and {} were written", plan.name,
                             part.success, part.name, written));
      }
      const bool is_in_all = !part.name.starts_with("lease ");
      if (is_in_all && status->success > part.success) {
        violated(fmt::format("{} counts {} beats, and only {} of them have all ({})", plan.name,
                             status->success, part.success, part.name));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_service_counts_check(SeededWorld& world) {
  return std::make_unique<ServiceCounts>(world);
}

}  // namespace tend::sim
