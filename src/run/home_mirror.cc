// See home_mirror.h.
#include "run/home_mirror.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "run/gate_mode.h"
#include "run/postman.h"
#include "run/root_agents.h"
#include "store/gate_mirror.h"
#include "store/home_database.h"

namespace tend {
namespace {

Result<std::vector<Outage>> others_that_are_down(Machine& machine, Folder& home,
                                                 const std::string& agent) {
  const auto roots = root_agents(home);
  if (!roots) return std::unexpected(roots.error());
  std::vector<Outage> down;
  for (const RootAgent& root : *roots) {
    if (root.name == agent) continue;
    const GateMode mode = gate_mode_of(machine, *root.folder);
    if (!mode.down) continue;
    down.push_back(
        {.agent = root.name, .why = mode.why.substr(0, mode.why.find(':')), .since = mode.since});
  }
  return down;
}

/// What is known only from who wrote to it began with the first of them.
void fill_in_since(std::vector<Outage>& down, const std::vector<Outage>& outages) {
  for (Outage& each : down) {
    if (each.since != WallTime{}) continue;
    const auto found = std::ranges::find(outages, each.agent, &Outage::agent);
    if (found != outages.end()) each.since = found->since;
  }
}

/// By time, then by name. Who is down since nobody knows when comes last.
std::pair<WallTime, std::string> place_of(const Outage& outage) {
  return {outage.since == WallTime{} ? WallTime::max() : outage.since, outage.agent};
}

}  // namespace

Result<void> mirror_home(Machine& machine, Folder& home, const std::string& path,
                         const std::string& agent, const std::optional<Outage>& own) {
  auto down = others_that_are_down(machine, home, agent);
  if (!down) return std::unexpected(down.error());
  if (own) down->push_back(*own);
  std::vector<PendingChannel> pending;
  const auto there = home.facts(kDatabaseFile);
  if (!there || *there) {
    auto database = open_home_database(machine.databases, home, {.may_wait = Postman::kMayWait});
    if (!database) return std::unexpected(database.error());
    Gate gate(**database);
    auto all = gate.pending(std::nullopt);
    if (!all) return std::unexpected(all.error());
    pending = *std::move(all);
    const auto outages = gate.open_outages();
    if (!outages) return std::unexpected(outages.error());
    fill_in_since(*down, *outages);
  }
  std::ranges::sort(*down, {}, place_of);
  const auto folder = machine.folders.make(path);
  return folder ? mirror_gate(**folder, *down, pending)
                : Result<void>(std::unexpected(folder.error()));
}

}  // namespace tend
