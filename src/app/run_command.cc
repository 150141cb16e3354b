// From the words on the command line to an agent's file; then a keeper is started and watched.
#include "app/run_command.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/agent_options.h"
#include "app/awaiting.h"
#include "app/dispatch_command.h"
#include "app/home_option.h"
#include "app/service_commands.h"
#include "app/task_option.h"
#include "base/name.h"
#include "run/child_look.h"
#include "run/family.h"
#include "run/hire.h"
#include "run/keeper.h"
#include "run/moment.h"
#include "run/viewer.h"
#include "store/config_file.h"
#include "store/home.h"
#include "store/life_record.h"

namespace tend {
namespace {

constexpr int kExitStartFailed = 1;
constexpr Duration kLockMayLinger = std::chrono::seconds{2};
constexpr Duration kLookAgain = std::chrono::milliseconds{20};

int detached(World& world, Machine& machine, Folder& folder, const AgentFile& agent) {
  const auto heartbeat = wait_for_start(machine, folder);
  if (!heartbeat) return complain(world, "run", heartbeat.error().text, kExitStartFailed);
  if (heartbeat->outcome == WorkOutcome::failed && heartbeat->life == 0) {
    return complain(world, "run", heartbeat->note, exit_code_of(*heartbeat));
  }
  world.out.write(fmt::format("{} {}\n", agent.agent, folder.path()));
  return kExitYes;
}

int attach(const Arguments& arguments, World& world, Home& home) {
  auto known = find_agent(home.machine.folders, *home.folder, *arguments.value("attach"));
  if (!known) return complain(world, "run", known.error().text, kExitNo);
  auto agent = read_agent_file(*known->folder);
  if (!agent) return complain(world, "run", agent.error().text, kExitNo);
  if (is_terminal(known->heartbeat.status)) {
    world.err.write(fmt::format("tend: {} is over: {}\n", agent->agent, known->heartbeat.ended_by));
    return exit_code_of(known->heartbeat);
  }
  auto program = keeper_program(world, home.machine, *home.folder);
  if (!program) return complain(world, "run", program.error().text, kExitNo);
  if (!has_keeper(home.machine, *known->folder)) {
    auto started = start_keeper(home.machine, *program, known->folder->path(),
                                {.inherit_input = agent->inherit_input});
    if (!started) return complain(world, "run", started.error().text, kExitNo);
  }
  if (arguments.has("detach")) {
    if (auto kept = wait_for_keeper(home.machine, *known->folder); !kept) {
      return complain(world, "run", kept.error().text, kExitStartFailed);
    }
    return detached(world, home.machine, *known->folder, *agent);
  }
  Viewer viewer(home.machine, *known->folder, *program, agent->inherit_input, Viewer::From::now,
                world.out, world.err);
  return viewer.run();
}

/// Short, ours alone, and the same for every keeper of a home.
std::string runtime_folder(World& world, Machine& machine, const std::string& home) {
  const auto runtime = world.environment.variable("XDG_RUNTIME_DIR");
  std::vector<std::string> candidates;
  if (runtime && runtime->starts_with('/')) candidates.push_back(*runtime + "/tend");
  candidates.push_back(fmt::format("/tmp/tend-{:016x}", Name(home).hash()));
  for (const std::string& path : candidates) {
    if (machine.folders.make(path)) return path;
  }
  return "";
}

/// The first of a tree of its own.
Result<std::unique_ptr<Folder>> make_root(const Arguments& arguments, Home& home,
                                          AgentFile& agent) {
  auto folder = make_agent(home.machine, *home.folder, agent);
  if (!folder) return folder;
  auto made = make_worktree_asked_for(arguments, home, agent, (*folder)->path());
  if (made && agent.own_worktree) made = write_agent(*home.folder, **folder, agent);
  if (made) return folder;
  std::ignore = (*folder)->remove(std::string(kAgentFile));
  return std::unexpected(made.error());
}

/// A child of a keeper that was killed is in the way for as long as it does not know that.
Result<Keeper::Began> begin_keeping(Machine& machine, Keeper& keeper, Folder& folder) {
  const Instant until = machine.clock.now() + kLockMayLinger;
  while (true) {
    auto began = keeper.begin();
    if (!began || *began != Keeper::Began::kept_by_another) return began;
    if (has_keeper(machine, folder) || machine.clock.now() >= until) return began;
    let_pass(machine, kLookAgain);
  }
}

/// To the keeper that is there: nothing was touched, and nobody counts that as a failure of it.
int defer(World& world, Folder& folder) {
  const auto lock = look_at_lock(folder);
  // One that has just taken the lock has not written down who it is.
  const bool is_known =
      lock && *lock && (*lock)->record.keeper.pid != 0 &&
      process_state(world.machines.machine(), (*lock)->record.keeper) != ProcessIs::gone;
  return complain(
      world, "keep",
      fmt::format("{} keeps {} already: nothing was done",
                  is_known ? fmt::format("process {}", (*lock)->record.keeper.pid) : "another one",
                  folder.path()),
      kExitNo);
}

/// Beside an agent that is there already: it goes on without one.
void begin_service(World& world, Home& home, const std::string& folder) {
  const auto begun = start_service_of(world, home, folder);
  if (!begun) complain(world, "run", "it has no service: " + begun.error().text, kExitNo);
}

/// Whether keep_command() could begin with what there is now.
Result<void> check_reload(World& world, const std::string& path) {
  const auto folder = world.machines.machine().folders.open(path);
  if (!folder) return std::unexpected(folder.error());
  const auto agent = read_agent_file(**folder);
  if (!agent) return std::unexpected(agent.error());
  if (const auto config = user_config(world); !config) return std::unexpected(config.error());
  const auto policy = policy_of(*agent, world);
  return policy ? Result<void>{} : std::unexpected(policy.error());
}

}  // namespace

int run_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "run", home.error().text, kExitUsage);
  if (arguments.has("attach")) {
    if (!arguments.positionals.empty()) {
      return complain(world, "run", "--attach takes no command: it watches a running agent",
                      kExitUsage);
    }
    return attach(arguments, world, *home);
  }
  if (arguments.positionals.empty()) {
    return complain(world, "run", "needs a command, as in: tend run -- sleep 60", kExitUsage);
  }
  Machine& machine = home->machine;
  const auto here = machine.folders.working_folder();
  if (!here) return complain(world, "run", here.error().text, kExitNo);
  auto agent = agent_from_options(arguments, world, machine, *here, arguments.positionals);
  if (!agent) return complain(world, "run", agent.error().text, kExitUsage);
  if (auto free = check_task_is_free(world, *home, *agent); !free) {
    return complain(world, "run", free.error().text, kExitNo);
  }
  auto program = keeper_program(world, machine, *home->folder);
  if (!program) return complain(world, "run", program.error().text, kExitNo);
  auto parent = find_parent(machine, *home->folder, world.environment);
  if (!parent) {
    world.err.write(
        fmt::format("tend run: {}: it becomes a tree of its own\n", parent.error().text));
  }
  const bool is_child = parent && *parent;
  auto folder = is_child ? make_child(arguments, world, *home, **parent, *agent)
                         : make_root(arguments, *home, *agent);
  if (!folder) return complain(world, "run", folder.error().text, kExitNo);
  auto started = is_child ? Result<void>{}
                          : start_keeper(machine, *program, (*folder)->path(),
                                         {.inherit_input = agent->inherit_input});
  if (!started) return complain(world, "run", started.error().text, kExitNo);
  if (arguments.has("service")) begin_service(world, *home, (*folder)->path());
  if (arguments.has("detach")) return detached(world, machine, **folder, *agent);
  const Awaiting awaiting(world, (*folder)->path(), agent->parent_heartbeat);
  Viewer viewer(machine, **folder, *program, agent->inherit_input, Viewer::From::start, world.out,
                world.err);
  return viewer.run();
}

int keep_command(const Arguments& arguments, World& world) {
  Machine& machine = world.machines.machine();
  auto folder = machine.folders.open(arguments.positionals.front());
  if (!folder) return complain(world, "keep", folder.error().text, kExitUsage);
  auto home = open_home(world);
  if (!home) return complain(world, "keep", home.error().text, kExitUsage);
  auto agent = read_agent_file(**folder);
  if (!agent) return complain(world, "keep", agent.error().text, kExitUsage);
  auto policy = policy_of(*agent, world);
  if (!policy) return complain(world, "keep", policy.error().text, kExitUsage);
  const auto may_reload = [&world, path = arguments.positionals.front()] {
    return check_reload(world, path);
  };

  auto program = keeper_program(world, machine, *home->folder);
  if (!program) return complain(world, "keep", program.error().text, kExitNo);
  auto config = user_config(world);
  // Without it nobody knows who has the tasks, or where stores are; everything else can be kept
  // without it.
  if (!config && (!agent->task.empty() || !agent->store.empty())) {
    return complain(world, "keep", config.error().text, kExitUsage);
  }

  const std::string path = (*folder)->path();
  auto looked_at = machine.folders.open(path);
  if (!looked_at) return complain(world, "keep", looked_at.error().text, kExitNo);
  KeeperSettings settings{.agent = *std::move(agent),
                          .policy = *std::move(policy),
                          .environment = world.environment.all(),
                          .runtime_folder = runtime_folder(world, machine, home->folder->path()),
                          .program = *std::move(program),
                          .again = arguments.has("again"),
                          .may_reload = may_reload};
  if (config) {
    settings.config = *std::move(config);
  } else {
    settings.config_problem = config.error().text;
  }
  bool reload = false;
  {
    Keeper keeper(machine, *std::move(folder), std::move(home->folder), std::move(settings));
    const auto began = begin_keeping(machine, keeper, **looked_at);
    if (!began) return complain(world, "keep", began.error().text, kExitNo);
    if (*began == Keeper::Began::kept_by_another) return defer(world, **looked_at);
    if (*began != Keeper::Began::keeping) return kExitYes;
    machine.loop.run();
    reload = keeper.wants_reload();
  }
  if (!reload) return kExitYes;
  const auto own = machine.processes.own_program();
  if (!own) return complain(world, "keep", own.error().text, kExitNo);
  Launch again;
  again.command = {*own, "keep", path};
  again.environment = world.environment.all();
  const auto became = machine.processes.become(again);
  return complain(world, "keep", became.error().text, kExitNo);
}

}  // namespace tend
