// Names are made here: from the program and a little chance, so that people can tell agents apart.
#include "run/hire.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "run/moment.h"
#include "store/home.h"
#include "store/names.h"

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
    let_pass(machine, kLookAgain);
  }
}

bool is_same_subject(const AgentFile& agent, const KnownAgent& known) {
  if (agent.watched) return known.heartbeat.process == *agent.watched;
  const auto other = read_agent_file(*known.folder);
  return other && other->store == agent.store;
}

/// Two that watch the same would alarm and poke twice. REQUIRES a process or stores to watch.
Result<void> refuse_second_keeper(Machine& machine, Folder& home, const AgentFile& agent) {
  const auto agents = agents_of(home);
  if (!agents) return std::unexpected(agents.error());
  for (const KnownAgent& known : *agents) {
    const Heartbeat& says = known.heartbeat;
    if (!known.folder || is_terminal(says.status) || !is_same_subject(agent, known)) continue;
    if (!has_keeper(machine, *known.folder)) continue;  // nobody looks after it any more
    const std::string subject =
        agent.watched ? fmt::format("process {}", says.process.pid) : "store:" + agent.store;
    return fail(fmt::format("{0} has a keeper already, as {1}; see `tend explain {1}`", subject,
                            says.agent));
  }
  return {};
}

/// Who has the name and is not over. A folder that is gone or no agent's any more leaves it free.
Result<std::optional<KnownAgent>> bearer_of(Machine& machine, Folder& home,
                                            const std::string& name) {
  const auto path = named_folder(home, name);
  if (!path) return std::unexpected(path.error());
  if (!*path) return std::nullopt;
  auto known = find_agent(machine.folders, home, **path);
  if (!known || known->heartbeat.agent != name || is_terminal(known->heartbeat.status)) {
    return std::nullopt;
  }
  return *std::move(known);
}

Result<void> refuse_second_of_name(Machine& machine, Folder& home, const std::string& name) {
  const auto known = bearer_of(machine, home, name);
  if (!known) return std::unexpected(known.error());
  if (!*known) return {};
  const bool is_kept = has_keeper(machine, *(*known)->folder);
  return fail(
      fmt::format("{0} is not over; `tend stop {0}` ends it, `tend run {1}--attach {0}` "
                  "{2}; or choose another --name",
                  name, is_kept ? "" : "-d ", is_kept ? "shows it" : "puts a keeper on"));
}

Result<void> refuse_second(Machine& machine, Folder& home, const AgentFile& agent) {
  if (agent.watched || !agent.store.empty()) {
    if (auto ok = refuse_second_keeper(machine, home, agent); !ok) return ok;
  }
  return refuse_second_of_name(machine, home, agent.agent);
}

}  // namespace

/// One that has no name to be called by is no agent either.
Result<void> write_agent(Folder& home, Folder& folder, const AgentFile& agent) {
  const std::string file(kAgentFile);
  if (auto put = folder.replace(file, format_agent_file(agent), Folder::Sync::yes); !put) {
    return put;
  }
  auto named = name_folder(home, agent.agent, folder.path());
  if (!named) std::ignore = folder.remove(file);
  return named;
}

Result<std::unique_ptr<Folder>> make_agent_in(
    Machine& machine, Folder& home, AgentFile& agent,
    const std::function<Result<std::unique_ptr<Folder>>()>& make) {
  std::unique_ptr<File> names;
  if (!agent.agent.empty()) {
    auto locked = lock_names(machine, home);
    if (!locked) return std::unexpected(locked.error());
    names = *std::move(locked);
    if (auto ok = refuse_second(machine, home, agent); !ok) return std::unexpected(ok.error());
  }
  auto folder = make();
  if (!folder) return folder;
  const std::string& path = (*folder)->path();
  if (agent.session.empty()) agent.session = path.substr(path.rfind('/') + 1);
  if (agent.agent.empty()) {
    const std::string base = agent.command.empty() ? "watched" : name_from(agent.command.front());
    agent.agent = base + path.substr(path.rfind('-'));
  }
  const auto written = write_agent(home, **folder, agent);
  if (!written) return std::unexpected(written.error());
  return folder;
}

Result<bool> hold_name(Machine& machine, Folder& home, const std::string& name,
                       const std::string& folder) {
  const auto path = named_folder(home, name);
  if (!path) return std::unexpected(path.error());
  if (*path == folder) return true;
  const auto names = lock_names(machine, home);
  if (!names) return std::unexpected(names.error());
  const auto bearer = bearer_of(machine, home, name);
  if (!bearer) return std::unexpected(bearer.error());
  if (*bearer) return (*bearer)->folder->path() == folder;
  if (auto named = name_folder(home, name, folder); !named) return std::unexpected(named.error());
  return true;
}

Result<std::unique_ptr<Folder>> make_agent(Machine& machine, Folder& home, AgentFile& agent) {
  agent.session.clear();
  return make_agent_in(machine, home, agent,
                       [&] { return make_session(home, machine.clock.wall(), machine.entropy); });
}

Result<void> start_keeper(Machine& machine, const KeeperProgram& keeper, const std::string& folder,
                          KeeperStart how) {
  Launch launch;
  launch.command = {keeper.program, "keep", folder};
  if (how.again) launch.command.emplace_back("--again");
  launch.environment = keeper.environment;
  std::erase_if(launch.environment,
                [](const std::string& one) { return one.starts_with("TEND_HOME="); });
  launch.environment.push_back("TEND_HOME=" + keeper.home);
  launch.working_folder = "/";
  launch.error = folder + "/" + kKeeperLog;
  launch.inherit_input = how.inherit_input;
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
