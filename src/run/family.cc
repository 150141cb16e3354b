// Everything that could refuse a child is asked while the registry of its parent is locked.
#include "run/family.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "act/ending.h"
#include "base/quote.h"
#include "os/process_tree.h"
#include "run/hire.h"
#include "run/moment.h"
#include "store/children.h"
#include "store/heartbeat.h"
#include "store/home.h"
#include "store/intent.h"
#include "store/life_record.h"

namespace tend {
namespace {

constexpr Duration kRegistryMayTake = std::chrono::seconds{60};
constexpr Duration kLookAgain = std::chrono::milliseconds{10};
constexpr std::string_view kNotForRoles[] = {"salvage"};
constexpr std::size_t kMostTeams = 1000;
constexpr std::size_t kMostInTeam = 20'000;

std::uint32_t number_in(const std::string& text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Whether we are part of what this lock's keeper keeps.
Result<bool> are_part_of(Machine& machine, const std::string& folder, const LifeRecord& record) {
  const auto all = machine.processes.all(kMarkVariable);
  if (!all) return std::unexpected(all.error());
  const auto grouped = machine.processes.members(record.group);
  return stands_below(*all, machine.processes.self().pid, record.process, record.keeper, folder,
                      grouped);
}

Result<void> check_parent(Machine& machine, Folder& folder, const std::string& name,
                          const std::string& life) {
  const auto says = read_heartbeat(folder);
  if (!says) return std::unexpected(says.error());
  if (*says && is_terminal((*says)->status)) return fail(name + " is over");
  const auto lock = look_at_lock(folder);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) return fail(name + " was never started");
  const LifeRecord& record = (*lock)->record;
  if (number_in(life) != record.life) {
    return fail(fmt::format("{} is in its life {} by now, and this is of life {}", name,
                            record.life, life.empty() ? "?" : life));
  }
  const auto ours = are_part_of(machine, folder.path(), record);
  if (!ours) return std::unexpected(ours.error());
  if (!*ours) return fail(fmt::format("this is no process of {}", name));
  return {};
}

/// Waits its turn: whoever holds it is soon done.
Result<std::unique_ptr<File>> wait_for_registry(Machine& machine, Folder& folder) {
  const Instant until = machine.clock.now() + kRegistryMayTake;
  while (true) {
    auto lock = lock_registry(folder);
    if (!lock || *lock != nullptr) return lock;
    if (machine.clock.now() >= until) {
      return fail("others are being dispatched by the same agent; try again");
    }
    let_pass(machine, kLookAgain);
  }
}

Result<void> check_order(Folder& folder, const std::string& name) {
  const auto says = read_heartbeat(folder);
  if (!says) return std::unexpected(says.error());
  if (*says && is_terminal((*says)->status)) {
    return fail(fmt::format("{} is over: it takes no new children", name));
  }
  const auto intent = read_intent(folder);
  if (!intent) return std::unexpected(intent.error());
  if (!*intent) return {};
  if ((*intent)->want == Want::stop || (*intent)->want == Want::drain) {
    return fail(
        fmt::format("{} is being stopped ({}): it takes no new children", name, (*intent)->by));
  }
  return {};
}

/// How many agents stand above and including this folder.
std::uint32_t generation_of(const std::string& home, const std::string& folder) {
  const std::string sessions = home + "/" + std::string(kSessionsFolder) + "/";
  if (!folder.starts_with(sessions)) return 0;
  const auto parts = std::ranges::count(std::string_view(folder).substr(sessions.size()), '/') + 1;
  return (static_cast<std::uint32_t>(parts) + 1) / 2;
}

Result<void> check_bounds(const std::string& home, Folder& folder, const std::string& name) {
  if (generation_of(home, folder.path()) >= kMostGenerations) {
    return fail(
        fmt::format("the tree is {} agents deep already, and no deeper one is started: "
                    "let {} do the work itself",
                    kMostGenerations, name));
  }
  const auto children = read_children(folder);
  if (!children) return std::unexpected(children.error());
  const auto open = std::ranges::count_if(
      children->children, [](const ChildLine& line) { return !is_settled(line.status); });
  if (open >= kMostChildrenAtOnce) {
    return fail(
        fmt::format("{} has {} children that are not settled: wait for some of them "
                    "(`tend tree {}`)",
                    name, open, name));
  }
  return {};
}

void end_unstarted(Folder& folder) {
  const auto there = folder.facts(std::string(kHeartbeatFile));
  const auto agent = read_agent_file(folder);
  if (!there || *there || !agent) return;
  Heartbeat says;
  says.agent = agent->agent;
  says.session = agent->session;
  says.role = agent->role;
  says.parent_heartbeat = agent->parent_heartbeat;
  says.status = Status::withdrawn;
  says.outcome = WorkOutcome::stopped;
  says.ended_by = "its dispatch was cut off";
  // Its name is given to another one: a power cut must not bring it back beside that.
  std::ignore =
      folder.replace(std::string(kHeartbeatFile), format_heartbeat(says), Folder::Sync::yes);
}

}  // namespace

void end_unregistered(Folder& parent) {
  const auto teams = parent.folders(kMostTeams);
  if (!teams || teams->empty()) return;
  const auto registered = read_children(parent);
  if (!registered) return;
  std::set<std::string_view> known;
  for (const ChildLine& line : registered->children) known.insert(line.heartbeat);
  for (const std::string& name : *teams) {
    const auto team = parent.folder(name);
    if (!team || !*team) continue;
    const auto names = (*team)->folders(kMostInTeam);
    if (!names) continue;
    for (const std::string& child : *names) {
      if (known.contains(fmt::format("{}/{}/{}", (*team)->path(), child, kHeartbeatFile))) continue;
      if (const auto folder = (*team)->folder(child); folder && *folder) end_unstarted(**folder);
    }
  }
}

Result<std::optional<ParentAgent>> find_parent(Machine& machine, Folder& home,
                                               const Environment& environment) {
  const auto path = environment.variable(std::string(kMarkVariable));
  if (!path || path->empty()) return std::nullopt;
  const std::string sessions = home.path() + "/" + std::string(kSessionsFolder) + "/";
  if (!path->starts_with(sessions)) {
    return fail(
        fmt::format("{} is an agent of another home than {}", in_quotes(*path), home.path()));
  }
  auto folder = machine.folders.open(*path);
  if (!folder) return std::unexpected(folder.error());
  auto agent = read_agent_file(**folder);
  if (!agent) return std::unexpected(agent.error());
  const std::string life = environment.variable("TEND_LIFE").value_or("");
  if (auto ok = check_parent(machine, **folder, agent->agent, life); !ok) {
    return std::unexpected(ok.error());
  }
  return ParentAgent{*std::move(folder), *std::move(agent)};
}

Result<ChildPlace> reserve_child(Machine& machine, Folder& home, ParentAgent& parent,
                                 AgentFile& child) {
  if (std::ranges::find(kNotForRoles, child.role) != std::end(kNotForRoles)) {
    return fail(fmt::format("--role: {} is a name of ours, choose another", child.role));
  }
  auto registry = wait_for_registry(machine, *parent.folder);
  if (!registry) return std::unexpected(registry.error());
  end_unregistered(*parent.folder);
  if (auto ok = check_order(*parent.folder, parent.agent.agent); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = check_bounds(home.path(), *parent.folder, parent.agent.agent); !ok) {
    return std::unexpected(ok.error());
  }
  auto team = parent.folder->make_folder(child.role);
  if (!team) return std::unexpected(team.error());
  child.session = parent.agent.session;
  child.parent_heartbeat = parent.folder->path() + "/" + std::string(kHeartbeatFile);
  child.dispatched_by = machine.processes.self();
  auto folder = make_agent_in(machine, home, child, [&] {
    return make_dated_folder(**team, machine.clock.wall(), machine.entropy);
  });
  if (!folder) return std::unexpected(folder.error());
  return ChildPlace{*std::move(folder), *std::move(registry)};
}

void give_up(ChildPlace& place) { std::ignore = place.folder->remove(std::string(kAgentFile)); }

Result<void> register_child(Machine& machine, Folder& home, ParentAgent& parent, ChildPlace place,
                            const AgentFile& child) {
  if (auto written = write_agent(home, *place.folder, child); !written) {
    give_up(place);
    return written;
  }
  ChildLine line;
  line.heartbeat = place.folder->path() + "/" + std::string(kHeartbeatFile);
  line.team = child.role;
  line.task_id = child.task_id;
  line.agent = child.agent;
  line.at = calendar_seconds(machine.clock.wall());
  if (auto written = append_child(*parent.folder, line); !written) {
    give_up(place);
    return written;
  }
  place.registry.reset();
  poke_keeper(machine, *parent.folder);
  return {};
}

}  // namespace tend
