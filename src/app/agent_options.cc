// One option after the other; the first that is wrong is the error.
#include "app/agent_options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "app/replay_settings.h"
#include "base/duration.h"
#include "base/quote.h"
#include "store/config_file.h"

namespace tend {
namespace {

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

}  // namespace

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

Result<AgentFile> agent_from_options(const Arguments& arguments, World& world, Machine& machine,
                                     const std::string& working_folder) {
  AgentFile agent;
  agent.agent = arguments.value("name").value_or("");
  if (arguments.has("name")) {
    if (auto ok = check_name(agent.agent); !ok) return std::unexpected(ok.error());
  }
  agent.role = arguments.value("role").value_or("worker");
  if (auto ok = check_name(agent.role); !ok) {
    return fail("--role" + ok.error().text.substr(std::string_view("--name").size()));
  }
  agent.working_folder = working_folder;
  auto worktree = worktree_option(arguments, machine, working_folder);
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
  change = machine.loop.on_change(folder.path(), look);
  look();
  if (heartbeat.status == Status::starting) machine.loop.run();
  if (heartbeat.status == Status::starting) {
    return fail(fmt::format("its keeper did not start it within {}; see {}/keeper.log",
                            format_duration(kStartMayTake), folder.path()));
  }
  return heartbeat;
}

}  // namespace tend
