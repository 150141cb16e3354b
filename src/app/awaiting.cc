// In the words of docs/evidence.md: a tool that waits for a child, open and closed.
#include "app/awaiting.h"

#include <fmt/format.h>

#include "app/inside.h"
#include "client/tend.h"
#include "judge/words.h"
#include "store/children.h"

namespace tend {

void Awaiting::Closer::operator()(tend_client* client) const { tend_close(client); }

Awaiting::Awaiting(World& world, const std::string& folder, const std::string& parent_heartbeat) {
  const std::string own = world.environment.variable("TEND_INFRA").value_or("");
  if (own.empty()) return;
  const std::string above =
      folder_of_heartbeat(world.environment.variable("TEND_PARENT_HEARTBEAT").value_or(""));
  const bool is_parent = !above.empty() && above == folder;
  const bool is_child = folder_of_heartbeat(parent_heartbeat) == own;
  if (!is_parent && (!is_child || stream_is_heard(world.environment))) return;
  client_.reset(tend_open());
  if (!client_) return;
  id_ = fmt::format("wait-{}", world.machines.machine().processes.self().pid);
  const std::string open =
      fmt::format(R"({{"is":"tool-open","id":"{}","tool":"{}"{}}})", id_,
                  is_parent ? kWaitForParent : kWaitForChild, is_child ? R"(,"child":true)" : "");
  if (tend_signal(client_.get(), open.c_str()) != 0) client_.reset();
}

Awaiting::~Awaiting() {
  if (!client_) return;
  const std::string close = fmt::format(R"({{"is":"tool-close","id":"{}"}})", id_);
  std::ignore = tend_signal(client_.get(), close.c_str());
}

}  // namespace tend
