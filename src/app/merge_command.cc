// What the parent's keeper does while its lead is not running, done by the lead itself.
#include "app/merge_command.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "act/bring_home.h"
#include "app/home_option.h"
#include "run/hire.h"
#include "run/moment.h"
#include "store/agent_file.h"
#include "store/children.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr Duration kKeeperMayTake = std::chrono::milliseconds{500};
constexpr Duration kLookAgain = std::chrono::milliseconds{20};
constexpr std::string_view kMerging = "merging ";  // as its parent's keeper notes it

/// A child, its parent, and where its work goes.
struct MergeCase {
  KnownAgent child;
  AgentFile agent;
  std::unique_ptr<Folder> parent;  // nullptr: it has none, or its work goes elsewhere
  std::string into;
  std::string announced = "";  // the commit of a merge that another one may have left in its middle
  bool untold = true;          // who settles it now comes before its parent's keeper
};

Result<MergeCase> case_of(const Arguments& arguments, Home& home) {
  auto known = find_agent(home.machine.folders, *home.folder, arguments.positionals.front());
  if (!known) return std::unexpected(known.error());
  auto agent = read_agent_file(*known->folder);
  if (!agent) return std::unexpected(agent.error());
  MergeCase found{.child = *std::move(known), .agent = *std::move(agent), .parent = {}, .into = {}};
  const std::string& name = found.agent.agent;
  if (!found.agent.own_worktree) {
    return fail(fmt::format("{} has no work tree of its own: there is nothing to merge", name));
  }
  const Heartbeat& says = found.child.heartbeat;
  if (!is_terminal(says.status)) {
    return fail(fmt::format("{0} is not over; `tend wait {0}` waits for it", name));
  }
  if (says.outcome != WorkOutcome::done) {
    return fail(fmt::format("{} did not end well ({}): its work stays in {}", name,
                            kWorkOutcomeWords[static_cast<std::size_t>(says.outcome)],
                            found.agent.worktree));
  }
  if (const std::string above = folder_of_heartbeat(found.agent.parent_heartbeat); !above.empty()) {
    auto parent = home.machine.folders.open(above);
    if (!parent && !arguments.has("into")) return std::unexpected(parent.error());
    if (parent) found.parent = *std::move(parent);
    const auto file = found.parent ? read_agent_file(*found.parent) : fail("it has none");
    if (file) found.into = file->worktree;
  }
  if (const auto into = arguments.value("into")) {
    auto path = home.machine.folders.real_path(*into);
    if (!path) return fail("--into: " + path.error().text);
    const std::string elsewhere = home.machine.version_control.top(*path);
    // Only a merge into its parent's own work tree settles a child.
    if (std::exchange(found.into, elsewhere) != elsewhere) found.parent.reset();
  }
  if (found.into.empty()) {
    return fail(fmt::format("the parent of {} has no work tree; say where with --into DIR", name));
  }
  return found;
}

std::string heartbeat_of(const MergeCase& merge) {
  return merge.child.folder->path() + "/" + std::string(kHeartbeatFile);
}

ChildLine line_of(const MergeCase& merge, Machine& machine, ChildStatus status,
                  const std::string& note) {
  ChildLine line;
  line.heartbeat = heartbeat_of(merge);
  line.team = merge.agent.role;
  line.task_id = merge.agent.task_id;
  line.agent = merge.agent.agent;
  line.status = status;
  line.at = calendar_seconds(machine.clock.wall());
  line.note = note;
  line.untold = merge.untold;
  return line;
}

Result<void> write_line(const MergeCase& merge, Machine& machine, ChildStatus status,
                        const std::string& note) {
  if (!merge.parent) return {};
  return append_child(*merge.parent, line_of(merge, machine, status, note));
}

/// The keeper holds it for a moment, to tell of the merge before this one.
Result<std::unique_ptr<File>> wait_for_registry(Machine& machine, Folder& parent) {
  const Instant until = machine.clock.now() + kKeeperMayTake;
  while (true) {
    auto lock = lock_registry(parent);
    if (!lock || *lock != nullptr || machine.clock.now() >= until) return lock;
    let_pass(machine, kLookAgain);
  }
}

/// Requires the lock of the registry.
void look_at_line(MergeCase& merge) {
  const auto read = read_children(*merge.parent);
  if (!read) return;
  const auto line = std::ranges::find(read->children, heartbeat_of(merge), &ChildLine::heartbeat);
  if (line == read->children.end()) return;
  merge.untold = !is_closed(*line);
  if (line->note.starts_with(kMerging)) merge.announced = line->note.substr(kMerging.size());
}

Result<BroughtHome> bring(Home& home, const MergeCase& merge) {
  std::optional<Result<BroughtHome>> brought;
  BringHomeOrder order;
  order.child = merge.agent.agent;
  order.from = merge.agent.worktree;
  order.into = merge.into;
  order.announced = merge.announced;
  const BringHome work(
      home.machine, std::move(order),
      [&](const std::string& commit) {
        return write_line(merge, home.machine, ChildStatus::unmerged,
                          std::string(kMerging) + commit);
      },
      [&](const Result<BroughtHome>& result) {
        brought = result;
        home.machine.loop.stop();
      });
  if (!brought) home.machine.loop.run();
  return *brought;
}

}  // namespace

int merge_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "merge", home.error().text, kExitUsage);
  auto merge = case_of(arguments, *home);
  if (!merge) return complain(world, "merge", merge.error().text, kExitNo);
  std::unique_ptr<File> registry;
  if (merge->parent) {
    auto lock = wait_for_registry(home->machine, *merge->parent);
    if (!lock) return complain(world, "merge", lock.error().text, kExitNo);
    if (*lock == nullptr) {
      return complain(world, "merge", "its parent is dispatching or merging just now; try again",
                      kExitNo);
    }
    registry = *std::move(lock);
    look_at_line(*merge);
  }
  const auto brought = bring(*home, *merge);
  const bool is_home = brought && brought->home;
  const std::string how = brought ? brought->how : brought.error().text;
  const ChildStatus status = is_home ? ChildStatus::done : ChildStatus::unmerged;
  // How far it went that failed is not known: what was announced stays so.
  auto written = brought ? write_line(*merge, home->machine, status, how) : Result<void>{};
  if (merge->parent) poke_keeper(home->machine, *merge->parent);
  if (!written) return complain(world, "merge", written.error().text, kExitNo);
  if (arguments.has("json")) {
    const nlohmann::ordered_json line{
        {"agent", merge->agent.agent}, {"merged", is_home}, {"into", merge->into}, {"how", how}};
    world.out.write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return is_home ? kExitYes : kExitNo;
  }
  if (!is_home) {
    return complain(world, "merge", fmt::format("{} is not merged: {}", merge->agent.agent, how),
                    kExitNo);
  }
  world.out.write(fmt::format("{}: {}\n", merge->agent.agent, how));
  return kExitYes;
}

}  // namespace tend
