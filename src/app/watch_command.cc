// Who is meant is found out once, by number or through tmux, and from then on known by its start
// time. A watched process is judged and reported like any other, but never ended and never started.
#include "app/watch_command.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/agent_options.h"
#include "app/home_option.h"
#include "app/hook_watched.h"
#include "base/quote.h"
#include "run/hire.h"
#include "run/viewer.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr std::string_view kTmux = "tmux:";
constexpr std::string_view kStore = "store:";
constexpr Duration kTmuxDeadline = std::chrono::seconds{5};

std::optional<std::int64_t> pid_in(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

/// The process that a tmux session shows.
Result<std::int64_t> pid_of_session(Machine& machine, const std::string& session) {
  Run run;
  run.command = {"tmux", "display-message", "-p", "-t", session, "#{pane_pid}"};
  run.deadline = kTmuxDeadline;
  run.most_output = 4096;
  Result<Ran> ran = fail("");
  const Subscribed running = machine.processes.run(run, [&](Result<Ran> answer) {
    ran = std::move(answer);
    machine.loop.stop();
  });
  machine.loop.run();
  if (!ran) return fail("tmux could not be asked: " + ran.error().text);
  if (ran->timed_out) return fail("tmux did not answer");
  const auto pid = pid_in(ran->output);
  if (!pid) {
    const std::string said = on_one_line(ran->error.substr(0, ran->error.find('\n')));
    return fail(fmt::format("tmux knows no session {}: {}", in_quotes(session),
                            said.empty() ? "`tmux ls` lists those there are" : said));
  }
  return *pid;
}

/// What an agent of another system is called here: its name there may have any letters.
std::string name_from(std::string_view foreign) {
  constexpr std::size_t kMost = 64;
  std::string name(foreign.substr(0, kMost));
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_' && c != '.') c = '-';
  }
  if (name.front() == '.' || name.front() == '-') name.front() = '_';
  return name;
}

Result<void> find_stores(const std::string& name, World& world, AgentFile& agent) {
  const auto stores = stores_of(name, agent.role, world);
  if (!stores) return std::unexpected(stores.error());
  agent.store = name;
  if (stores->kill) agent.on_stall = OnStall::kill;
  if (agent.agent.empty()) agent.agent = name_from(name);
  return {};
}

/// Requires a number or a session of tmux.
Result<void> find_subject(Machine& machine, const std::string& subject, AgentFile& agent) {
  std::optional<std::int64_t> pid = pid_in(subject);
  if (subject.starts_with(kTmux)) {
    agent.tmux = subject.substr(kTmux.size());
    auto shown = pid_of_session(machine, agent.tmux);
    if (!shown) return std::unexpected(shown.error());
    pid = *shown;
    if (agent.agent.empty()) agent.agent = "tmux-" + agent.tmux;
  }
  const auto id = machine.processes.identify(*pid);
  if (!id) return std::unexpected(id.error());
  if (!*id) return fail(fmt::format("there is no process {}", *pid));
  agent.watched = **id;
  if (agent.agent.empty()) agent.agent = fmt::format("pid-{}", *pid);
  return {};
}

}  // namespace

int watch_command(const Arguments& arguments, World& world) {
  const std::string& subject = arguments.positionals.front();
  const bool by_stores = subject.starts_with(kStore) && subject.size() > kStore.size();
  if (!pid_in(subject) && !subject.starts_with(kTmux) && !by_stores) {
    return complain(
        world, "watch",
        "wants the number of a process, tmux:SESSION or store:NAME, not " + in_quotes(subject),
        kExitUsage);
  }
  if (by_stores && arguments.has("policy")) {
    return complain(world, "watch",
                    "--policy is not for stores: their limits are in [store.NAME] of the "
                    "configuration; --limit changes one",
                    kExitUsage);
  }
  auto home = open_home(world);
  if (!home) return complain(world, "watch", home.error().text, kExitUsage);
  Machine& machine = home->machine;
  const auto here = machine.folders.working_folder();
  if (!here) return complain(world, "watch", here.error().text, kExitNo);
  auto agent = agent_from_options(arguments, world, machine, *here, {});
  if (!agent) return complain(world, "watch", agent.error().text, kExitUsage);
  if (!arguments.has("worktree")) agent->worktree.clear();
  agent->restart = RestartPolicy::never;
  agent->on_stall = OnStall::report;
  agent->adapter = AdapterKind::none;
  const auto found = by_stores ? find_stores(subject.substr(kStore.size()), world, *agent)
                               : find_subject(machine, subject, *agent);
  if (!found) {
    return complain(world, "watch", found.error().text, kExitNo);
  }
  auto program = keeper_program(world, machine, *home->folder);
  if (!program) return complain(world, "watch", program.error().text, kExitNo);
  auto folder = make_agent(machine, *home->folder, *agent);
  if (!folder) return complain(world, "watch", folder.error().text, kExitNo);
  auto started = start_keeper(machine, *program, (*folder)->path(), {});
  if (!started) return complain(world, "watch", started.error().text, kExitNo);
  const auto heartbeat = wait_for_start(machine, **folder);
  if (!heartbeat) return complain(world, "watch", heartbeat.error().text, kExitNo);
  // Without it the process is watched all the same, but hooks inside it are not heard.
  const auto noted =
      by_stores ? Result<void>{}
                : note_watched(machine, world.environment, *agent->watched, (*folder)->path());
  if (!noted) {
    world.err.write(fmt::format("tend watch: hooks will not be heard: {}\n", noted.error().text));
  }
  world.out.write(fmt::format("{} {}\n", agent->agent, (*folder)->path()));
  return kExitYes;
}

}  // namespace tend
