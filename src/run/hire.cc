// Names are made here: from the program and a little chance, so that people can tell agents apart.
#include "run/hire.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "store/home.h"

namespace tend {
namespace {

constexpr const char* kKeeperLog = "keeper.log";
constexpr std::size_t kLongestName = 40;

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

}  // namespace

Result<std::unique_ptr<Folder>> make_agent(Machine& machine, Folder& home, AgentFile& agent) {
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
