// One option after the other; the first that is wrong is the error.
#include "app/agent_options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "act/agents.h"
#include "act/launch.h"
#include "app/replay_settings.h"
#include "base/duration.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "judge/stores.h"
#include "run/probe_of.h"
#include "store/config_file.h"
#include "store/tasks.h"

namespace tend {
namespace {

constexpr Duration kStartMayTake = std::chrono::seconds{30};
constexpr std::string_view kAgentPolicy = "agent";
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

/// Whether Tend speaks to it on its standard input: by its option, or because it is asked there. A
/// configuration that cannot be read is no reason not to begin; its keeper says so.
Result<bool> listens_option(const Arguments& arguments, World& world, const AgentFile& agent) {
  const auto config = user_config(world);
  const auto asks =
      probe_of(config ? *config : Config{}, agent, world.environment.all(), world.files);
  if (!asks) return fail(fmt::format("the probe of {}: {}", agent.agent, asks.error().text));
  if (const auto input = arguments.value("stdin")) return *input == "stream";
  return *asks && (*asks)->channel == ProbeChannel::stdin_stream;
}

/// What the command says about the language of its output. One that would wait for a person or for
/// its input, where neither is, is not begun.
Result<void> know_agent(const Arguments& arguments, World& world, AgentFile& agent) {
  agent.adapter = choice_option(arguments, "adapter", kAdapterWords, AdapterKind::by_itself);
  agent.as_is = arguments.has("as-is");
  const auto start = agent_of(agent.command);
  if (!start) return {};
  const Dressing dressing = agent.as_is ? Dressing::as_is : Dressing::added;
  const Dressed dressed = dress(*start, agent.command, world.environment.all(), dressing);
  if (dressed.manner == Manner::aside) return {};
  const std::string_view name = kAdapterWords[static_cast<std::size_t>(start->kind)];
  if (!agent.as_is && dressed.manner == Manner::interactive) {
    return fail(
        fmt::format("{} would open its interactive screen, which needs a terminal: give it "
                    "a prompt ({}), or keep a session in a terminal with tend watch",
                    name, headless_form_of(start->kind)));
  }
  const bool is_spoken_to = agent.inherit_input || (agent.listens && dressed.input_is_stream);
  if (!agent.as_is && dressed.prompt_on_input && !is_spoken_to) {
    return fail(
        fmt::format("{} would read its prompt from standard input, which is empty here: "
                    "give it as an argument, or pass --stdin inherit",
                    name));
  }
  if (agent.adapter == AdapterKind::by_itself) agent.adapter = dressed.adapter;
  for (const std::string& remark : dressed.remarks) {
    world.err.write(fmt::format("tend run: {}\n", remark));
  }
  return {};
}

/// A file of policies is named by its absolute path: the keeper works elsewhere.
Result<std::string> policy_option(const Arguments& arguments, World& world, Machine& machine,
                                  AdapterKind adapter) {
  const std::string_view usual = is_agent(adapter) ? kAgentPolicy : "plain";
  std::string argument = arguments.value("policy").value_or(std::string(usual));
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
  const bool is_new = typed && (*typed == "new" || typed->starts_with("new:"));
  if (typed && !is_new) {
    auto path = machine.folders.real_path(*typed);
    if (!path) return fail("--worktree: " + path.error().text);
    return path;
  }
  // Saving is harmless where there is version control; without it nobody wants a copy of wherever
  // they happen to stand.
  return machine.version_control.repository(working_folder);
}

Result<void> check_name(const std::string& name) {
  if (is_agent_name(name)) return {};
  return fail("--name wants letters, digits, '.', '_' and '-', at most 64, not " + in_quotes(name));
}

/// Of an agent of another system: the limits of its stores.
Result<Policy> policy_by_stores(const AgentFile& agent, World& world) {
  const auto stores = stores_of(agent.store, agent.role, world);
  if (!stores) return std::unexpected(stores.error());
  const auto poke_after = stores->poke.empty() ? std::nullopt : std::optional(stores->poke_after);
  return policy_of_stores({stores->stale, stores->very_stale}, poke_after, stores->kill);
}

/// Looks at the folder again and again until it is `done`; false if that does not come in time.
bool wait_in(Machine& machine, Folder& folder, const std::function<bool()>& done) {
  const Instant until = machine.clock.now() + kStartMayTake;
  bool is_done = false;
  Subscribed timer;
  const std::function<void()> look = [&] {
    is_done = done();
    if (is_done || machine.clock.now() >= until) return machine.loop.stop();
    timer = machine.loop.at(machine.clock.now() + kLookAgain, look);
  };
  const Subscribed change = machine.loop.on_change(folder.path(), look);
  timer = machine.loop.at(machine.clock.now(), look);
  machine.loop.run();
  return is_done;
}

}  // namespace

bool is_agent_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '-' && name.front() != '.' &&
         std::ranges::all_of(name, plain);
}

Result<ForeignAgent> stores_of(const std::string& name, const std::string& role, World& world) {
  const auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  ForeignAgent agent =
      foreign_agent(*config, name, role, world.environment.variable("HOME").value_or(""));
  if (!agent.sources.empty()) return agent;
  const std::vector<std::string> names = foreign_names(*config);
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fail(fmt::format("the configuration has no stores of {}{}", in_quotes(name),
                          did_you_mean(name, known)));
}

Result<Policy> policy_of(const AgentFile& agent, World& world) {
  auto policy = agent.store.empty() ? policy_from_argument(agent.policy, world)
                                    : policy_by_stores(agent, world);
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
                                     const std::string& working_folder,
                                     std::vector<std::string> command) {
  AgentFile agent;
  agent.command = std::move(command);
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
  agent.inherit_input = arguments.value("stdin") == "inherit";
  auto listens = listens_option(arguments, world, agent);
  if (!listens) return std::unexpected(listens.error());
  agent.listens = *listens;
  if (auto known = know_agent(arguments, world, agent); !known) {
    return std::unexpected(known.error());
  }
  auto policy = policy_option(arguments, world, machine, agent.adapter);
  if (!policy) return std::unexpected(policy.error());
  agent.policy = *policy;
  if (agent.policy == kAgentPolicy) agent.limits = usual_limits(agent.adapter);
  for (std::string& limit : arguments.values("limit")) agent.limits.push_back(std::move(limit));
  const auto judged_by = policy_of(agent, world);
  if (!judged_by) return std::unexpected(judged_by.error());

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
  if (const auto task = arguments.value("task")) {
    if (auto ok = check_task_id(*task); !ok) return fail("--task: " + ok.error().text);
    agent.task = *task;
  }
  if (const auto told = arguments.value("notify")) agent.notify = {"/bin/sh", "-c", *told};
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

Result<Heartbeat> wait_for_start(Machine& machine, Folder& folder) {
  Heartbeat heartbeat;
  const bool began = wait_in(machine, folder, [&] {
    const auto read = read_heartbeat(folder);
    if (read && *read) heartbeat = **read;
    return heartbeat.status != Status::starting;
  });
  if (began) return heartbeat;
  return fail(fmt::format("its keeper did not start it within {}; see {}/keeper.log",
                          format_duration(kStartMayTake), folder.path()));
}

Result<void> wait_for_keeper(Machine& machine, Folder& folder) {
  const bool came = wait_in(machine, folder, [&] {
    if (has_keeper(machine, folder)) return true;
    const auto read = read_heartbeat(folder);
    return read && *read && is_terminal((*read)->status);
  });
  if (came) return {};
  return fail(fmt::format("its keeper did not come within {}; see {}/keeper.log",
                          format_duration(kStartMayTake), folder.path()));
}

}  // namespace tend
