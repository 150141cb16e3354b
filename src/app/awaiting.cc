// In the words of docs/evidence.md: a tool that waits for a child, open and closed.
#include "app/awaiting.h"

#include <fmt/format.h>

#include "app/inside.h"
#include "client/tend.h"
#include "store/children.h"

namespace tend {

void Awaiting::Closer::operator()(tend_client* client) const { tend_close(client); }

Awaiting::Awaiting(World& world, const std::string& child, const std::string& parent_heartbeat) {
  const auto own = world.environment.variable("TEND_INFRA");
  if (!own || own->empty() || folder_of_heartbeat(parent_heartbeat) != *own) return;
  if (stream_is_heard(world.environment)) return;
  client_.reset(tend_open());
  if (!client_) return;
  id_ = fmt::format("wait-{}-{}", world.machines.machine().processes.self().pid, child);
  const std::string open =
      fmt::format(R"({{"is":"tool-open","id":"{}","tool":"tend wait","child":true}})", id_);
  if (tend_signal(client_.get(), open.c_str()) != 0) client_.reset();
}

Awaiting::~Awaiting() {
  if (!client_) return;
  const std::string close = fmt::format(R"({{"is":"tool-close","id":"{}"}})", id_);
  std::ignore = tend_signal(client_.get(), close.c_str());
}

}  // namespace tend
