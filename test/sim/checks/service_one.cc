// Of a pid file one service is at work, however many were started.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class ServiceOne final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "one service"; }

  void on_service(std::size_t service) override {
    const std::size_t many = world.truth().services[service].at_work.size();
    if (many <= 1) return;
    violated(fmt::format("{} of {} are at work", many, world.scenario.services[service].name));
  }
};

}  // namespace

std::unique_ptr<Check> make_service_one_check(SeededWorld& world) {
  return std::make_unique<ServiceOne>(world);
}

}  // namespace tend::sim
