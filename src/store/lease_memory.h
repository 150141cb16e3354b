// Leases in the memory of one process, shared by all who hold a reference: what a distributed
// engine would do, without one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "store/leases.h"

namespace tend {

class LeaseMemory final : public Leases {
 public:
  Result<std::optional<LeaseRecord>> read(const std::string& name) override {
    if (auto fits = check_lease_name(name); !fits) return std::unexpected(fits.error());
    const auto found = records_.find(name);
    if (found == records_.end()) return std::nullopt;
    return found->second;
  }
  Result<std::vector<std::string>> list() override {
    std::vector<std::string> names;
    for (const auto& [name, record] : records_) {
      if (names.size() < kMostLeases) names.push_back(name);
    }
    return names;
  }
  Result<bool> write(const LeaseRecord& next) override {
    if (auto fits = check_lease_name(next.name); !fits) return std::unexpected(fits.error());
    CHECK(next.version > 0);
    const auto found = records_.find(next.name);
    const auto there = found == records_.end() ? 0 : found->second.version;
    if (there + 1 != next.version) return false;
    records_[next.name] = next;
    return true;
  }

 private:
  std::map<std::string, LeaseRecord> records_;
};

}  // namespace tend
