// From the words on the command line to an agent's file; then a keeper is started and watched.
#include "app/run_command.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "app/home_option.h"
#include "app/replay_settings.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/hire.h"
#include "run/keeper.h"
#include "run/viewer.h"
#include "store/config_file.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr int kExitStartFailed = 1;
constexpr Duration kStartMayTake = std::chrono::seconds{30};
constexpr Duration kLookAgain = std::chrono::milliseconds{5};

Result<Duration> duration_option(const Arguments& arguments, std::string_view name,
                                 Duration otherwise) {
  const auto text = arguments.value(name);
  if (!text) return otherwise;
  auto duration = parse_duration(*text);
  if (!duration) return fail(fmt::format("--{}: {}", name, duration.error().text));
  if (*duration <= Duration::zero()) return fail(fmt::format("--{} must be longer than 0", name));
  return duration;
}

template <class Enum, std::size_t N>
Enum choice_option(const Arguments& arguments, std::string_view name,
                   const std::array<std::string_view, N>& words, Enum otherwise) {
  const auto text = arguments.value(name);
  return text ? from_word<Enum>(words, *text).value_or(otherwise) : otherwise;
}

/// A file of policies is named by its absolute path: the keeper works elsewhere.
Result<std::string> policy_option(const Arguments& arguments, World& world, Machine& machine) {
  std::string argument = arguments.value("policy").value_or("plain");
  auto policy = policy_from_argument(argument, world);
  if (!policy) return fail("--policy: " + policy.error().text);
  if (built_in_policy(argument)) return argument;
  const std::size_t colon = argument.rfind(':');
  const std::string file = argument.substr(0, colon);
  for (const std::string& candidate : {argument, file}) {
    if (auto path = machine.folders.real_path(candidate)) {
      return candidate == argument ? *path : *path + argument.substr(colon);
    }
  }
  return argument;  // a name of the user's own configuration
}

Result<Policy> policy_of(const AgentFile& agent, World& world) {
  auto policy = policy_from_argument(agent.policy, world);
  if (!policy) return policy;
  for (const std::string& text : agent.limits) {
    auto limit = parse_limit(text);
    if (!limit) return std::unexpected(limit.error());
    if (auto applied = apply_limit(*limit, *policy); !applied) {
      return std::unexpected(applied.error());
    }
  }
  return policy;
}

Result<std::string> worktree_option(const Arguments& arguments, Machine& machine,
                                    const std::string& working_folder) {
  const auto typed = arguments.value("worktree");
  if (typed == "none") return "";
  if (typed) {
    auto path = machine.folders.real_path(*typed);
    if (!path) return fail("--worktree: " + path.error().text);
    return path;
  }
  // Saving is harmless where there is version control; without it nobody wants a copy of wherever
  // they happen to stand.
  return machine.version_control.repository(working_folder);
}

Result<void> check_name(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= 64 && name.front() != '-' && name.front() != '.' &&
      std::ranges::all_of(name, plain)) {
    return {};
  }
  return fail("--name wants letters, digits, '.', '_' and '-', at most 64, not " + in_quotes(name));
}

Result<AgentFile> agent_from(const Arguments& arguments, World& world, Machine& machine) {
  AgentFile agent;
  agent.command = arguments.positionals;
  agent.agent = arguments.value("name").value_or("");
  if (arguments.has("name")) {
    if (auto ok = check_name(agent.agent); !ok) return std::unexpected(ok.error());
  }
  agent.role = arguments.value("role").value_or("worker");
  if (auto ok = check_name(agent.role); !ok) {
    return fail("--role" + ok.error().text.substr(std::string_view("--name").size()));
  }
  auto here = machine.folders.working_folder();
  if (!here) return std::unexpected(here.error());
  agent.working_folder = *here;
  auto worktree = worktree_option(arguments, machine, *here);
  if (!worktree) return std::unexpected(worktree.error());
  agent.worktree = *worktree;
  auto policy = policy_option(arguments, world, machine);
  if (!policy) return std::unexpected(policy.error());
  agent.policy = *policy;
  agent.limits = arguments.values("limit");
  const auto judged_by = policy_of(agent, world);
  if (!judged_by) return std::unexpected(judged_by.error());

  agent.inherit_input = arguments.value("stdin") == "inherit";
  agent.adapter = choice_option(arguments, "adapter", kAdapterWords, AdapterKind::lines);
  agent.on_stall = choice_option(arguments, "on-stall", kOnStallWords, OnStall::resume);
  agent.restart = choice_option(
      arguments, "restart", kRestartWords,
      judged_by->promise == Promise::nothing ? RestartPolicy::never : RestartPolicy::on_failure);
  auto beat = duration_option(arguments, "beat", agent.beat);
  if (!beat) return std::unexpected(beat.error());
  agent.beat = *beat;
  if (arguments.has("max-life")) {
    auto most = duration_option(arguments, "max-life", {});
    if (!most) return std::unexpected(most.error());
    agent.max_life = *most;
  }
  if (const auto text = arguments.value("ready-fd")) {
    int number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc{} || end != text->data() + text->size() || number < 3 || number > 255) {
      return fail("--ready-fd wants a number from 3 to 255, not " + in_quotes(*text));
    }
    agent.ready_fd = number;
  }
  if (const auto command = arguments.value("notify")) agent.notify = {"/bin/sh", "-c", *command};
  for (const std::string& one : world.environment.all()) {
    agent.environment_names.push_back(one.substr(0, one.find('=')));
  }
  return agent;
}

Result<KeeperProgram> keeper_program(World& world, Machine& machine, const Folder& home) {
  auto program = machine.processes.own_program();
  if (!program) return std::unexpected(program.error());
  return KeeperProgram{.program = *program,
                       .home = home.path(),
                       .environment = keeper_environment(world.environment.all())};
}

/// Waits until the agent runs or is known not to.
Result<Heartbeat> wait_for_start(Machine& machine, Folder& folder) {
  Heartbeat heartbeat;
  const Instant until = machine.clock.now() + kStartMayTake;
  Subscribed timer;
  Subscribed change;
  std::function<void()> look = [&] {
    const auto read = read_heartbeat(folder);
    if (read && *read) heartbeat = **read;
    if (heartbeat.status != Status::starting || machine.clock.now() >= until) {
      machine.loop.stop();
      return;
    }
    timer = machine.loop.at(machine.clock.now() + kLookAgain, look);
  };
  look();
  if (heartbeat.status == Status::starting) machine.loop.run();
  if (heartbeat.status == Status::starting) {
    return fail(fmt::format("its keeper did not start it within {}; see {}/keeper.log",
                            format_duration(kStartMayTake), folder.path()));
  }
  return heartbeat;
}

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
  if (!has_keeper(*known->folder)) {
    auto started =
        start_keeper(home.machine, *program, known->folder->path(), agent->inherit_input);
    if (!started) return complain(world, "run", started.error().text, kExitNo);
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
  auto agent = agent_from(arguments, world, machine);
  if (!agent) return complain(world, "run", agent.error().text, kExitUsage);
  auto program = keeper_program(world, machine, *home->folder);
  if (!program) return complain(world, "run", program.error().text, kExitNo);
  auto folder = make_agent(machine, *home->folder, *agent);
  if (!folder) return complain(world, "run", folder.error().text, kExitNo);
  auto started = start_keeper(machine, *program, (*folder)->path(), agent->inherit_input);
  if (!started) return complain(world, "run", started.error().text, kExitNo);
  if (arguments.has("detach")) return detached(world, machine, **folder, *agent);
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

  const std::string path = (*folder)->path();
  KeeperSettings settings{.agent = *std::move(agent),
                          .policy = *std::move(policy),
                          .environment = world.environment.all(),
                          .runtime_folder = runtime_folder(world, machine, home->folder->path())};
  bool reload = false;
  {
    Keeper keeper(machine, *std::move(folder), std::move(home->folder), std::move(settings));
    const auto began = keeper.begin();
    if (!began) return complain(world, "keep", began.error().text, kExitNo);
    if (*began != Keeper::Began::keeping) return kExitYes;
    machine.loop.run();
    reload = keeper.wants_reload();
  }
  if (!reload) return kExitYes;
  auto program = machine.processes.own_program();
  if (!program) return complain(world, "keep", program.error().text, kExitNo);
  Launch again;
  again.command = {*program, "keep", path};
  again.environment = world.environment.all();
  const auto became = machine.processes.become(again);
  return complain(world, "keep", became.error().text, kExitNo);
}

}  // namespace tend
