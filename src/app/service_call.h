// From what was typed to what a service is: its pid file, its subject, what its beats write, and
// where it logs. The command that starts one and the process that is one read it alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/home_option.h"
#include "base/result.h"
#include "run/service.h"
#include "store/foreign/foreign_agent.h"

namespace tend {

/// `--pidfile`, or that of the agent of `--agent`: absolute, without links in its folder.
Result<std::string> pidfile_of(const Arguments& arguments, Home& home);

/// The home that the service of a pid file is in: that of the process which the file names, if it
/// is this very service, else ours.
Result<Home> home_of_service(const Arguments& arguments, World& world);

/// The program that runs this command, shells not counted: whose hook it is.
Result<ProcessId> calling_process(World& world, Machine& machine);

/// The number in a pid file; nullopt if there is none.
std::optional<std::int64_t> pid_in(Files& files, const std::string& pidfile);

struct ServiceCall {
  ServiceSettings settings;
  std::vector<std::string> words;     // the arguments that say the same, absolute
  std::vector<std::string> warnings;  // what it needs and is not there yet
};
/// Fails if it could never work.
Result<ServiceCall> service_call(const Arguments& arguments, World& world, Home& home,
                                 const std::string& pidfile);

}  // namespace tend
