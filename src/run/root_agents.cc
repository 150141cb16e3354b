// Whoever cannot be read is passed over: it will be somebody's to mend, and nobody waits for that.
#include "run/root_agents.h"

#include <utility>

#include "store/heartbeat.h"
#include "store/home.h"

namespace tend {

Result<std::vector<RootAgent>> root_agents(Folder& home) {
  std::vector<RootAgent> all;
  const auto sessions = home.folder(std::string(kSessionsFolder));
  if (!sessions) return std::unexpected(sessions.error());
  if (*sessions == nullptr) return all;
  const auto names = (*sessions)->folders(kMostAgents);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    auto folder = (*sessions)->folder(name);
    if (!folder || *folder == nullptr) continue;
    const auto says = read_heartbeat(**folder);
    if (!says || !*says || (*says)->agent.empty() || is_terminal((*says)->status)) continue;
    all.push_back({(*says)->agent, *std::move(folder)});
  }
  return all;
}

Result<bool> is_only_root_agent(Folder& home, std::string_view name) {
  const auto all = root_agents(home);
  if (!all) return std::unexpected(all.error());
  return all->size() == 1 && all->front().name == name;
}

}  // namespace tend
