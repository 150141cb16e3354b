// Names are made here: from the program and a little chance, so that people can tell agents apart.
#include "run/hire.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "store/home.h"

namespace tend {
namespace {

constexpr const char* kKeeperLog = "keeper.log";
constexpr const char* kNamesFile = ".names";
constexpr std::size_t kLongestName = 40;
constexpr Duration kNamesMayTake = std::chrono::seconds{10};
constexpr Duration kLookAgain = std::chrono::milliseconds{10};

/// The last part of the program's path, letters that need no quotes only.
std::string name_from(const std::string& program) {
  std::string name = program.substr(program.rfind('/') + 1);
  if (name.size() > kLongestName) name.resize(kLongestName);
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        return !plain;
      },
      '-');
  return name.empty() || name.front() == '-' || name.front() == '.' ? "agent" + name : name;
}

/// Held from the look at the names to the moment a new one is there. Whoever holds it is soon done.
Result<std::unique_ptr<File>> lock_names(Machine& machine, Folder& home) {
  const Instant until = machine.clock.now() + kNamesMayTake;
  while (true) {
    auto file = home.open(kNamesFile, Folder::Open::update);
    if (!file) return file;
    const auto locked = (*file)->lock();
    if (!locked) return std::unexpected(locked.error());
    if (*locked) return file;
    if (machine.clock.now() >= until) {
      return fail(home.path() + " is busy: others start agents there; try again");
    }
    const auto timer =
        machine.loop.at(machine.clock.now() + kLookAgain, [&] { machine.loop.stop(); });
    machine.loop.run();
  }
}

Result<void> refuse_second(Machine& machine, Folder& home, const AgentFile& agent) {
  const auto agents = agents_of(home);
  if (!agents) return std::unexpected(agents.error());
  for (const KnownAgent& known : *agents) {
    const Heartbeat& says = known.heartbeat;
    if (!known.folder || is_terminal(says.status)) continue;
    const bool is_same_process = agent.watched && says.process == *agent.watched;
    if (says.agent != agent.agent && !is_same_process) continue;
    const bool is_kept = has_keeper(machine, *known.folder);
    if (is_same_process && is_kept) {
      return fail(fmt::format("process {0} has a keeper already, as {1}; see `tend explain {1}`",
                              says.process.pid, says.agent));
    }
    if (says.agent != agent.agent) continue;  // a process that nobody looks after any more
    return fail(
        fmt::format("{0} is not over; `tend stop {0}` ends it, `tend run {1}--attach {0}` "
                    "{2}; or choose another --name",
                    says.agent, is_kept ? "" : "-d ", is_kept ? "shows it" : "puts a keeper on"));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Folder>> make_agent(Machine& machine, Folder& home, AgentFile& agent) {
  std::unique_ptr<File> names;
  if (!agent.agent.empty()) {
    auto locked = lock_names(machine, home);
    if (!locked) return std::unexpected(locked.error());
    names = *std::move(locked);
    if (auto ok = refuse_second(machine, home, agent); !ok) return std::unexpected(ok.error());
  }
  auto folder = make_session(home, machine.clock.wall(), machine.entropy);
  if (!folder) return folder;
  const std::string& path = (*folder)->path();
  agent.session = path.substr(path.rfind('/') + 1);
  if (agent.agent.empty()) {
    const std::string base = agent.command.empty() ? "watched" : name_from(agent.command.front());
    agent.agent = base + agent.session.substr(agent.session.rfind('-'));
  }
  const auto written =
      (*folder)->replace(std::string(kAgentFile), format_agent_file(agent), Folder::Sync::no);
  if (!written) return std::unexpected(written.error());
  return folder;
}

Result<void> start_keeper(Machine& machine, const KeeperProgram& keeper, const std::string& folder,
                          bool inherit_input) {
  Launch launch;
  launch.command = {keeper.program, "keep", folder};
  launch.environment = keeper.environment;
  std::erase_if(launch.environment,
                [](const std::string& one) { return one.starts_with("TEND_HOME="); });
  launch.environment.push_back("TEND_HOME=" + keeper.home);
  launch.working_folder = "/";
  launch.error = folder + "/" + kKeeperLog;
  launch.inherit_input = inherit_input;
  return machine.processes.detach(launch);
}

void poke_keeper(Machine& machine, Folder& folder) {
  const auto lock = look_at_lock(folder);
  if (!lock || !*lock || !(*lock)->held || (*lock)->record.keeper.pid == 0) return;
  std::ignore = machine.processes.open((*lock)->record.keeper)->signal(Kill::look);
}

bool has_keeper(Machine& machine, Folder& folder) {
  const auto lock = look_at_lock(folder);
  if (!lock || !*lock || !(*lock)->held) return false;
  const RunState keeper = machine.processes.open((*lock)->record.keeper)->look().state;
  return keeper != RunState::gone && keeper != RunState::zombie && keeper != RunState::reused;
}

}  // namespace tend
