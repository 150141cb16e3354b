// The place is reserved, the work tree made, the line written; from then on the parent's keeper
// starts the child, whatever becomes of this command.
#include "app/dispatch_command.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_options.h"
#include "app/task_option.h"
#include "base/quote.h"
#include "run/hire.h"
#include "run/moment.h"
#include "run/viewer.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr std::string_view kNewWorktree = "new";
constexpr const char* kWorktreesFolder = "worktrees";
constexpr const char* kTurnFile = ".turn";
constexpr Duration kTurnMayTake = std::chrono::minutes{2};
constexpr Duration kLookAgain = std::chrono::milliseconds{10};
constexpr int kExitStartFailed = 1;

/// "-k2x9" of ".../20260308-211516-k2x9", unless the name has it already.
std::string with_suffix(const std::string& name, const std::string& folder) {
  const std::string suffix = folder.substr(folder.rfind('-'));
  return name.ends_with(suffix) ? name : name + suffix;
}

Result<ParentAgent> parent_asked_for(const Arguments& arguments, World& world, Home& home) {
  if (const auto name = arguments.value("parent")) {
    auto known = find_agent(home.machine.folders, *home.folder, *name);
    if (!known) return fail("--parent: " + known.error().text);
    auto agent = read_agent_file(*known->folder);
    if (!agent) return fail("--parent: " + agent.error().text);
    if (is_terminal(known->heartbeat.status)) return fail("--parent: " + agent->agent + " is over");
    return ParentAgent{std::move(known->folder), *std::move(agent)};
  }
  auto parent = find_parent(home.machine, *home.folder, world.environment);
  constexpr std::string_view kInstead =
      "`tend run -- CMD` starts a tree of its own, `--parent AGENT` puts it below an agent";
  if (!parent) return fail(fmt::format("{}; {}", parent.error().text, kInstead));
  if (!*parent)
    return fail(fmt::format("this is not inside an agent that Tend keeps; {}", kInstead));
  return **std::move(parent);
}

Result<void> see_to_keeper(World& world, Home& home, Folder& folder) {
  if (has_keeper(home.machine, folder)) return {};
  auto program = keeper_program(world, home.machine, *home.folder);
  if (!program) return std::unexpected(program.error());
  return start_keeper(home.machine, *program, folder.path(), {});
}

/// One after the other: git stumbles over a work tree of the same repository that is half made.
Result<std::unique_ptr<File>> wait_for_turn(Machine& machine, Folder& trees) {
  auto turn = trees.open(kTurnFile, Folder::Open::update);
  const Instant until = machine.clock.now() + kTurnMayTake;
  while (turn) {
    const auto locked = (*turn)->lock();
    if (!locked) return std::unexpected(locked.error());
    if (*locked) break;
    if (machine.clock.now() >= until) {
      return fail("--worktree new: others are making work trees in this home; try again");
    }
    let_pass(machine, kLookAgain);
  }
  return turn;
}

}  // namespace

Result<void> make_worktree_asked_for(const Arguments& arguments, Home& home, AgentFile& agent,
                                     const std::string& folder) {
  const std::string typed = arguments.value("worktree").value_or("");
  const bool is_new = typed == kNewWorktree || typed.starts_with("new:");
  if (!is_new) return {};
  Machine& machine = home.machine;
  if (machine.version_control.repository(agent.working_folder).empty()) {
    return fail(
        fmt::format("--worktree new: {} is not under version control", agent.working_folder));
  }
  auto trees = home.folder->make_folder(kWorktreesFolder);
  if (!trees) return std::unexpected(trees.error());
  const std::string name = with_suffix(agent.agent, folder);
  WorktreeOrder order;
  order.repository = agent.working_folder;
  order.path = (*trees)->path() + "/" + name;
  order.branch = typed == kNewWorktree ? "tend/" + name : typed.substr(typed.find(':') + 1);
  if (order.branch.empty()) return fail("--worktree new: wants a branch after the colon");
  const auto turn = wait_for_turn(machine, **trees);
  if (!turn) return std::unexpected(turn.error());
  std::optional<Result<WorktreeState>> made;
  const Subscribed making = machine.version_control.make_worktree(order, [&](auto state) {
    made = std::move(state);
    machine.loop.stop();
  });
  if (!made) machine.loop.run();
  if (!*made) return fail("--worktree new: " + made->error().text);
  agent.worktree = order.path;
  agent.working_folder = order.path;
  agent.own_worktree = true;
  return {};
}

Result<std::unique_ptr<Folder>> make_child(const Arguments& arguments, World& world, Home& home,
                                           ParentAgent& parent, AgentFile& child) {
  if (child.inherit_input) {
    return fail("--stdin inherit cannot be had below another agent, whose keeper starts it");
  }
  child.task_id = arguments.value("task-id").value_or("");
  auto place = reserve_child(home.machine, *home.folder, parent, child);
  if (!place) return std::unexpected(place.error());
  const std::string path = place->folder->path();
  if (auto made = make_worktree_asked_for(arguments, home, child, path); !made) {
    give_up(*place);
    return std::unexpected(made.error());
  }
  if (!child.own_worktree && arguments.has("worktree") && !child.worktree.empty()) {
    child.own_worktree = child.worktree != parent.agent.worktree;
    child.working_folder = child.worktree;
  }
  auto registered = register_child(home.machine, *home.folder, parent, *std::move(place), child);
  if (!registered) return std::unexpected(registered.error());
  if (auto kept = see_to_keeper(world, home, *parent.folder); !kept) {
    return std::unexpected(kept.error());
  }
  return home.machine.folders.open(path);
}

int dispatch_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "dispatch", home.error().text, kExitUsage);
  if (arguments.positionals.empty()) {
    return complain(world, "dispatch",
                    "needs a command, as in: tend dispatch --role coding -- claude -p \"...\"",
                    kExitUsage);
  }
  auto parent = parent_asked_for(arguments, world, *home);
  if (!parent) return complain(world, "dispatch", parent.error().text, kExitUsage);
  const auto here = home->machine.folders.working_folder();
  if (!here) return complain(world, "dispatch", here.error().text, kExitNo);
  auto child = agent_from_options(arguments, world, home->machine, *here, arguments.positionals);
  if (!child) return complain(world, "dispatch", child.error().text, kExitUsage);
  if (auto free = check_task_is_free(world, *home, *child); !free) {
    return complain(world, "dispatch", free.error().text, kExitNo);
  }
  auto folder = make_child(arguments, world, *home, *parent, *child);
  if (!folder) return complain(world, "dispatch", folder.error().text, kExitNo);
  const auto heartbeat = wait_for_start(home->machine, **folder);
  if (!heartbeat) return complain(world, "dispatch", heartbeat.error().text, kExitStartFailed);
  if (heartbeat->outcome == WorkOutcome::failed && heartbeat->life == 0) {
    return complain(world, "dispatch", heartbeat->note, exit_code_of(*heartbeat));
  }
  if (!arguments.has("json")) {
    world.out.write(fmt::format("{} {}\n", child->agent, (*folder)->path()));
    return kExitYes;
  }
  const nlohmann::ordered_json line{{"agent", child->agent},
                                    {"folder", (*folder)->path()},
                                    {"role", child->role},
                                    {"parent", parent->agent.agent},
                                    {"worktree", child->worktree}};
  world.out.write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return kExitYes;
}

}  // namespace tend
