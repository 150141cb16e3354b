// The leases of Tend that a subject holds, renewed for it with its beats. One that it had and has
// no more is a failure, until it gave it back itself.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "os/process.h"
#include "run/lease_desk.h"
#include "run/service_beat.h"

namespace tend {

class ServiceLeases {
 public:
  explicit ServiceLeases(LeaseDesk& desk) : desk_(desk) {}

  /// REQUIRES that the holder was just proven to be alive and at work.
  std::vector<PartDone> renew(const ProcessId& holder);

 private:
  PartDone renew_one(const std::string& name, const ProcessId& holder);

  LeaseDesk& desk_;
  std::set<std::string> renewed_;  // that it held at its last beat
};

}  // namespace tend
