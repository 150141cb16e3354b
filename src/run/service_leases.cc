// Whether it may be renewed is asked again of the rules; here is only whose it is.
#include "run/service_leases.h"

#include <utility>

namespace tend {

std::vector<PartDone> ServiceLeases::renew(const ProcessId& holder) {
  const auto held = desk_.held_by(holder);
  if (!held) {
    return {{.name = "leases", .problem = held.error().text, .busy = false, .again_in = {}}};
  }
  std::set<std::string> names = std::exchange(renewed_, {});
  for (const LeaseRecord& record : *held) names.insert(record.name);
  std::vector<PartDone> all;
  for (const std::string& name : names) {
    PartDone done = renew_one(name, holder);
    if (!done.name.empty()) all.push_back(std::move(done));
  }
  return all;
}

PartDone ServiceLeases::renew_one(const std::string& name, const ProcessId& holder) {
  PartDone done{.name = "lease " + name, .problem = {}, .busy = false, .again_in = {}};
  const LeaseAnswer answer = desk_.renew(name, holder);
  if (answer) {
    renewed_.insert(name);
    done.problem = answer->problem;
    done.again_in = lease_renews_after(answer->record.ttl);
    return done;
  }
  // It gave it back.
  if (answer.error().refusal == LeaseRefusal::free) return {};
  renewed_.insert(name);  // it stays a failure for as long as it is not led again, or given back
  done.problem = answer.error().why;
  return done;
}

}  // namespace tend
