// First everybody is looked at, and only then is somebody ended: whether it is one or all makes the
// difference.
#include "run/keeper_rounds.h"

#include <iterator>
#include <set>

#include "run/child_look.h"
#include "store/heartbeat.h"
#include "store/life_record.h"

namespace tend {

bool KeeperRounds::needs_keeper(const Entry& agent) {
  const Heartbeat& says = agent.known.heartbeat;
  if (agent.over() || !agent.known.problem.empty() || !agent.known.folder) return false;
  return says.life > 0 || (says.keeper.pid != 0 && says.parent_heartbeat.empty());
}

void KeeperRounds::know(std::span<const Entry> agents, const SeenPulses& before) {
  std::set<std::string> there;
  for (const Entry& entry : agents) {
    if (!needs_keeper(entry)) continue;
    const std::string& path = entry.known.folder->path();
    there.insert(path);
    const auto [ward, is_new] =
        wards_.try_emplace(path, Ward{.agent = entry.known.heartbeat.agent,
                                      .session = entry.known.heartbeat.session,
                                      .watch = KeeperWatch(machine_, KeeperWatch::Before::counts),
                                      .trouble = {}});
    const auto seen = before.find(path);
    if (is_new && seen != before.end()) ward->second.watch.remember(seen->second);
  }
  std::erase_if(wards_, [&](const auto& ward) { return !there.contains(ward.first); });
}

SeenPulses KeeperRounds::pulses() const {
  SeenPulses pulses;
  for (const auto& [path, ward] : wards_) {
    const SeenPulse pulse = ward.watch.pulse();
    if (pulse.pulse != WallTime{}) pulses[path] = pulse;
  }
  return pulses;
}

KeeperRounds::Found KeeperRounds::look() {
  Found found;
  silent_.clear();
  for (auto ward = wards_.begin(); ward != wards_.end();) {
    ward = look_at(ward->first, ward->second, found) ? std::next(ward) : wards_.erase(ward);
  }
  found.of = wards_.size();
  end_silent(found);
  for (const auto& [path, ward] : wards_) {
    if (ward.trouble.empty()) continue;
    found.troubled.push_back({ward.agent, ward.session, path, ward.trouble});
  }
  return found;
}

bool KeeperRounds::look_at(const std::string& path, Ward& ward, Found& found) {
  const auto folder = machine_.folders.open(path);
  if (!folder) return true;
  using enum KeeperWatch::Found;
  switch (ward.watch.look(**folder, nullptr, false)) {
    case kept:
      found.again_soon = found.again_soon || ward.watch.is_in_doubt();
      ward.trouble.clear();
      break;
    case hangs:
      silent_.push_back(path);
      break;
    case starting:
      found.again_soon = true;
      break;
    case dead:
      return put_keeper_on(**folder, ward, found);
    case not_known:
      break;
  }
  return true;
}

bool KeeperRounds::put_keeper_on(Folder& folder, Ward& ward, Found& found) {
  const auto says = read_heartbeat(folder);
  if (says && *says && is_terminal((*says)->status)) return false;
  const auto lock = look_at_lock(folder);
  if (!lock) return true;
  const ProcessId before = *lock ? (*lock)->record.keeper : ProcessId{};
  if (before.pid != 0 && before.boot_id != machine_.processes.self().boot_id) {
    found.of_earlier_boot.push_back(ward.agent);
    return true;
  }
  // One that is replaced by its newer self, in place, lets go for a moment.
  if (process_state(machine_, before) == ProcessIs::alive) return true;
  if (found.done.size() >= kMostAtOnce) {
    found.again_soon = true;
    return true;
  }
  const auto replaced = ward.watch.replace(program_, folder.path());
  if (!replaced) {
    ward.trouble = "no keeper can be put on: " + replaced.error().text;
  } else if (!*replaced) {
    ward.trouble = "its keepers die again and again: five were put on in ten minutes";
  } else {
    found.again_soon = true;
    found.done.push_back(
        {ward.agent, ward.session, folder.path(), "its keeper was gone: a new one was put on"});
  }
  return true;
}

void KeeperRounds::end_silent(Found& found) {
  found.silent = silent_.size();
  found.held_back = silent_.size() >= kManySilent && 2 * silent_.size() >= found.of;
  if (found.held_back) return;
  for (const std::string& path : silent_) {
    Ward& ward = wards_.at(path);
    const auto folder = machine_.folders.open(path);
    if (!folder || ward.watch.look(**folder, nullptr) != KeeperWatch::Found::hangs) continue;
    found.again_soon = true;
    found.done.push_back({ward.agent, ward.session, path, "its keeper hung and was ended"});
  }
}

}  // namespace tend
