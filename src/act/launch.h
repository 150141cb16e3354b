// What an agent is started with: its command, its files, and an environment that says whose it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "os/process.h"

namespace tend {

struct LaunchOrder {
  std::string folder;            // the agent's own, absolute
  std::string home;              // TEND_HOME, absolute
  std::string agent;             // its name
  std::uint32_t life = 1;        // the first is 1
  bool resume = false;           // it is to go on where the life before ended
  std::uint32_t attempt = 0;     // how often it was brought back; told from the second life on
  std::string parent_heartbeat;  // "" if it has no parent
  std::string task;              // the work item that it is for; "" if none
  std::string adapter;           // the language its stream is heard in; "" if it is no agent's

  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=VALUE, before ours is put in
  std::string working_folder;
  std::string output;  // files
  std::string error;
  bool inherit_input = false;
  std::string input;                                 // else: a fifo; "" for none
  std::optional<std::pair<int, std::string>> ready;  // a descriptor, and the fifo that it is
  std::string notify_socket;                         // "" if there is none
  std::optional<Duration> watchdog;                  // how often it has to be heard there
  std::string group;                                 // of Processes::make_group(), or ""
};

/// The environment tells the agent (and whoever looks at it) TEND_INFRA, its folder, by which all
/// its processes are known; TEND_LIFE, TEND_AGENT, TEND_HOME; TEND_PARENT_HEARTBEAT if it has a
/// parent; TEND_TASK if it works on one, and then it acts in no other name than its own: TEND_ACTOR
/// is left out; TEND_RESUME=1 if it resumes and TEND_ATTEMPT from its second life on; TEND_ADAPTER,
/// so that its hooks do not say again what its stream says; NOTIFY_SOCKET and WATCHDOG_USEC if
/// given. What was said with these names to another process is left out, and so is what a service
/// manager said to us alone.
Launch make_launch(const LaunchOrder& order);

/// The environment for a keeper: it belongs to no agent, so it carries the marks of none and
/// nothing that was meant for the one process which starts it. TEND_HOME stays.
std::vector<std::string> keeper_environment(std::span<const std::string> base);

}  // namespace tend
