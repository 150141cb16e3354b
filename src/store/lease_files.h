// Leases as files of a home: `leases/NAME/record.VERSION.json`, of which the highest version is the
// record. Who makes the next version where there is none has changed it, and nobody holds a lock
// while doing so: a writer that is stopped in its middle, for however long, stops nobody else, and
// has lost when it goes on.
//
//   {"name":"orchestrator","version":7,"fence":3,"held":true,"id":"boss","agent":"",
//    "process":{"boot_id":B,"pid_ns":N,"pid":P,"start_ticks":T},
//    "run":{"mark":M,"first":{...},"group":G},"ttl_ms":180000,"renewed_awake_ms":512345,
//    "clock":{...},"granted_at_ns":...,"renewed_at_ns":...,"mirror":"","why_free":"",
//    "takeovers_ms":[],"lag_ms":0}
//
// A record without "lag_ms" is of a version that did not measure it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/folder.h"
#include "store/leases.h"

namespace tend {

inline constexpr const char* kLeasesFolder = "leases";

class LeaseFiles final : public Leases {
 public:
  explicit LeaseFiles(Folder& home) : home_(home) {}
  Result<std::optional<LeaseRecord>> read(const std::string& name) override;
  Result<std::vector<std::string>> list() override;
  Result<bool> write(const LeaseRecord& next) override;

 private:
  Folder& home_;
};

std::string format_lease(const LeaseRecord& record);
/// Of a record either all of it is understood or nothing.
Result<LeaseRecord> parse_lease(std::string_view text);

}  // namespace tend
