// The words and exit codes of start, stop and status are those that scripts know: "Heartbeat
// service: RUNNING (PID: N)" and 0, "NOT RUNNING" and 1. Whether it runs is asked of its lock, and
// whom to end of its record; the number in the pid file proves nothing.
#include "app/service_commands.h"

#include <algorithm>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/agent_options.h"
#include "app/service_call.h"
#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/child_look.h"
#include "run/moment.h"
#include "run/service.h"
#include "store/lease_files.h"
#include "store/service_file.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr Duration kMayTake = 10s;      // to come
constexpr Duration kMayTakeToEnd = 5s;  // before it is killed
constexpr Duration kMayTakeToSay = 2s;  // who it is
constexpr Duration kLookAgain = 20ms;
constexpr std::string_view kErrors = "service.err";
constexpr std::size_t kMostOfErrors = std::size_t{64} * 1024;

// --- Saying -------------------------------------------------------------------------------------

int refuse(const Arguments& arguments, World& world, std::string_view command,
           std::string_view code, const std::string& text, int exit) {
  if (!arguments.has("json")) return complain(world, command, text, exit);
  world.out.write(json_line({{"ok", false}, {"error", {{"code", code}, {"message", text}}}}));
  return exit;
}

int say_done(const Arguments& arguments, World& world, std::string_view action,
             const std::string& pidfile, std::int64_t pid) {
  if (arguments.has("quiet")) return kExitYes;
  if (arguments.has("json")) {
    world.out.write(
        json_line({{"ok", true}, {"action", action}, {"pid", pid}, {"pidfile", pidfile}}));
  } else {
    std::string word(action);
    std::ranges::transform(word, word.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    world.out.write(fmt::format("Heartbeat service: {} (PID: {})\n", word, pid));
  }
  return kExitYes;
}

// --- The one that is there ----------------------------------------------------------------------

/// A service of this home, as the commands find it.
struct Found {
  std::string pidfile;
  std::unique_ptr<Folder> folder;  // nullptr: there never was one
  ServiceLockState state;
  ServiceStatus status;
  std::string problem;  // why there is no status; "" if there is one, or never was
};
/// Why it cannot be found, and which kind of a no that is.
struct NotFound {
  std::string_view code;
  std::string why;
  int exit;
};
NotFound bad_input(const Error& error) { return {"bad-input", error.text, kExitUsage}; }
NotFound trouble(const Error& error) { return {"trouble", error.text, kExitNo}; }

Result<ServiceLockState> state_in(Folder& folder) {
  auto state = look_at_service(folder);
  if (!state) return std::unexpected(state.error());
  return state->value_or(ServiceLockState{});
}

/// Between taking the lock and saying who it is, the record is that of the one before.
bool is_known(Machine& machine, const ServiceLockState& state) {
  return !state.held || process_state(machine, state.record.process) == ProcessIs::alive;
}
Result<ServiceLockState> settled_state_in(Machine& machine, Folder& folder) {
  const Instant until = machine.clock.now() + kMayTakeToSay;
  while (true) {
    auto state = state_in(folder);
    if (!state || is_known(machine, *state) || machine.clock.now() >= until) return state;
    let_pass(machine, kLookAgain);
  }
}

/// Makes nothing: who only asks leaves no trace, also where nothing can be written.
Result<std::unique_ptr<Folder>> folder_of_service(Folder& home, const std::string& pidfile) {
  auto services = home.folder(std::string(kServicesFolder));
  if (!services || *services == nullptr) return services;
  return (*services)->folder(service_folder_name(pidfile));
}

std::expected<Found, NotFound> find_service(const Arguments& arguments, Home& home) {
  auto pidfile = pidfile_of(arguments, home);
  if (!pidfile) return std::unexpected(bad_input(pidfile.error()));
  Found found{
      .pidfile = *std::move(pidfile), .folder = nullptr, .state = {}, .status = {}, .problem = {}};
  auto folder = folder_of_service(*home.folder, found.pidfile);
  if (!folder) return std::unexpected(trouble(folder.error()));
  if (*folder == nullptr) return found;
  found.folder = *std::move(folder);
  auto state = settled_state_in(home.machine, *found.folder);
  if (!state) return std::unexpected(trouble(state.error()));
  found.state = *std::move(state);
  // Whether it runs is known without.
  auto status = read_service_status(*found.folder);
  if (!status) {
    found.problem = status.error().text;
  } else if (*status) {
    found.status = **std::move(status);
  }
  return found;
}

/// Takes away a pid file whose service is not there any more. Under the lock: one that begins
/// meanwhile writes its own.
void sweep_pidfile(Home& home, const Found& found) {
  const auto folder = service_folder(*home.folder, found.pidfile);
  if (!folder) return;
  const auto lock = ServiceLock::take(**folder);
  if (lock && *lock != nullptr) std::ignore = home.machine.files.remove(found.pidfile);
}

/// Why it is not there, in the words that scripts know.
std::string not_running(std::optional<std::int64_t> stale) {
  return fmt::format("Heartbeat service: NOT RUNNING ({})",
                     stale ? fmt::format("stale PID: {}", *stale) : "no PID file");
}

std::string already_running(const Found& found) {
  const std::string whom =
      found.status.subject.empty() ? "" : ", for " + on_one_line(found.status.subject);
  return fmt::format("it is already running (PID: {}){}; stop it, or choose another --pidfile",
                     found.state.record.process.pid, whom);
}

// --- Starting -----------------------------------------------------------------------------------

Launch launch_of(const KeeperProgram& program, const ServiceCall& call, const Folder& folder,
                 const std::string& start) {
  Launch launch;
  launch.command = {program.program, "service", "run"};
  launch.command.insert(launch.command.end(), call.words.begin(), call.words.end());
  launch.environment = program.environment;
  std::erase_if(launch.environment, [](const std::string& one) {
    return one.starts_with("TEND_HOME=") || one.starts_with("TEND_SERVICE") ||
           one.starts_with("TEND_LEASE") || one.starts_with("TEND_FENCE=");
  });
  launch.environment.push_back("TEND_HOME=" + program.home);
  launch.environment.push_back(fmt::format("{}={}", kServiceMark, call.settings.pidfile));
  launch.environment.push_back("TEND_SERVICE_START=" + start);
  launch.working_folder = "/";
  launch.error = folder.path() + "/" + std::string(kErrors);
  return launch;
}

/// The last line that was written there behind that many bytes; "" if there is none.
std::string last_line_of(Folder& folder, std::uint64_t behind) {
  const auto text = folder.read(std::string(kErrors), kMostOfErrors);
  if (!text || !*text || (*text)->size() <= behind) return "";
  std::string_view lines = **text;
  lines.remove_prefix(static_cast<std::size_t>(behind));
  if (!lines.ends_with('\n')) return "";
  lines.remove_suffix(1);
  lines.remove_prefix(lines.rfind('\n') + 1);
  constexpr std::string_view kBefore = "tend service run: ";
  if (lines.starts_with(kBefore)) lines.remove_prefix(kBefore.size());
  return on_one_line(lines);
}

std::uint64_t size_of_errors(Folder& folder) {
  const auto facts = folder.facts(std::string(kErrors));
  return facts && *facts ? (*facts)->size : 0;
}

/// Its number, once it is at work.
Result<std::int64_t> start_service(World& world, Home& home, const ServiceCall& call) {
  Machine& machine = home.machine;
  const auto made = service_folder(*home.folder, call.settings.pidfile);
  if (!made) return std::unexpected(made.error());
  Folder& folder = **made;
  if (size_of_errors(folder) > kMostOfErrors / 2) std::ignore = folder.remove(std::string(kErrors));
  const std::uint64_t before = size_of_errors(folder);
  const auto program = keeper_program(world, machine, *home.folder);
  if (!program) return std::unexpected(program.error());
  const std::string start = fmt::format("{:016x}", machine.entropy.number());
  if (auto done = machine.processes.detach(launch_of(*program, call, folder, start)); !done) {
    return std::unexpected(done.error());
  }
  const Instant until = machine.clock.now() + kMayTake;
  while (machine.clock.now() < until) {
    const auto state = state_in(folder);
    if (state && state->held && state->record.ready && is_known(machine, *state)) {
      if (state->record.start == start) return state->record.process.pid;
      return fail(fmt::format("another start was faster: it is already running (PID: {})",
                              state->record.process.pid));
    }
    // It says something there only if it cannot begin.
    const std::string said = last_line_of(folder, before);
    if (state && !state->held && !said.empty()) return fail("it did not begin: " + said);
    let_pass(machine, kLookAgain);
  }
  return fail(fmt::format("it did not begin, and did not say why; is there room in {}?",
                          on_one_line(folder.path())));
}

// --- Stopping -----------------------------------------------------------------------------------

/// Until the lock is free.
bool wait_for_end(Machine& machine, Folder& folder, Duration time) {
  const Instant until = machine.clock.now() + time;
  while (true) {
    const auto state = state_in(folder);
    if (state && !state->held) return true;
    if (machine.clock.now() >= until) return false;
    let_pass(machine, kLookAgain);
  }
}

/// Asked first, then killed.
Result<ProcessId> end_service(Machine& machine, const Found& found) {
  const ProcessId& process = found.state.record.process;
  if (!is_known(machine, found.state)) {
    return fail(
        fmt::format("another process than the recorded one holds {}/.lock; look who has it "
                    "open",
                    found.folder->path()));
  }
  std::ignore = machine.processes.open(process)->signal(Kill::terminate);
  if (wait_for_end(machine, *found.folder, kMayTakeToEnd)) return process;
  std::ignore = machine.processes.open(process)->signal(Kill::kill);
  if (wait_for_end(machine, *found.folder, kMayTakeToEnd)) return process;
  return fail(fmt::format("process {} does not end; try again", process.pid));
}

// --- Showing ------------------------------------------------------------------------------------

Json process_json(const ProcessId& process) {
  return process.pid == 0 ? Json(nullptr) : Json(process.pid);
}

Json status_json(const Found& found, const ServiceStatus& status,
                 std::optional<std::int64_t> stale) {
  const bool running = found.state.held;
  Json parts = Json::array();
  for (const ServicePart& part : status.parts) {
    parts.push_back({{"name", part.name},
                     {"success", part.success},
                     {"failure", part.failure},
                     {"last_error", part.last_error}});
  }
  const auto state = running ? status.state : ServiceState::ended;
  return {{"running", running},
          {"pid", running ? process_json(found.state.record.process) : Json(nullptr)},
          {"pidfile", found.pidfile},
          {"stale_pid", stale ? Json(*stale) : Json(nullptr)},
          {"state", kServiceStateWords.at(static_cast<std::size_t>(state))},
          {"began_at", calendar_json(status.began)},
          {"interval_s", seconds_json(status.interval)},
          {"subject",
           {{"asked", status.subject},
            {"pid", process_json(status.subject_process)},
            {"id", status.subject_id},
            {"is", status.words}}},
          {"success", status.success},
          {"failure", status.failure},
          {"skipped", status.skipped},
          {"failed_in_row", status.failed_in_row},
          {"last_success_at", calendar_json(status.last_success)},
          {"last_failure_at", calendar_json(status.last_failure)},
          {"last_error", status.last_error},
          {"parts", std::move(parts)},
          {"log", status.log},
          {"log_problem", status.log_problem},
          {"skipped_because", status.skipped_because},
          {"ended_because", status.ended_because},
          {"problem", found.problem}};
}

void show_details(World& world, const Found& found, WallTime now) {
  const ServiceStatus& status = found.status;
  const auto line = [&](std::string_view what, const std::string& text) {
    world.out.write(fmt::format("  {:<9} {}\n", what, on_one_line(text)));
  };
  if (!found.problem.empty()) {
    return line("status", found.problem + "; it is written anew with the next beat");
  }
  std::string subject = status.subject;
  if (!status.words.empty()) subject += ": " + status.words;
  line("subject", subject);
  line("beats",
       fmt::format("{} written, {} failed, {} skipped; every {}; last {}", status.success,
                   status.failure, status.skipped, format_duration(status.interval),
                   status.success == 0 ? "never" : age_label(status.last_success, now) + " ago"));
  if (status.failed_in_row > 0) line("failing", status.last_error);
  if (status.state == ServiceState::waiting && status.skipped_because != status.words &&
      !status.skipped_because.empty()) {
    line("skipped", status.skipped_because);
  }
  if (!status.log_problem.empty()) line("log", status.log_problem);
}

// --- Being it -----------------------------------------------------------------------------------

/// A command that only looks may hold the lock for a moment.
Result<Service::Began> begin(Machine& machine, Service& service, Folder& folder) {
  const Instant until = machine.clock.now() + kMayTakeToEnd;
  while (true) {
    auto began = service.begin();
    if (!began || *began == Service::Began::at_work) return began;
    const auto state = state_in(folder);
    const bool is_there =
        state && process_state(machine, state->record.process) == ProcessIs::alive;
    if (is_there || machine.clock.now() >= until) return began;
    let_pass(machine, kLookAgain);
  }
}

}  // namespace

int service_start_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "service start";
  const auto no = [&](std::string_view code, const std::string& text, int exit) {
    return refuse(arguments, world, kName, code, text, exit);
  };
  auto home = home_of_service(arguments, world);
  if (!home) return no("trouble", home.error().text, kExitUsage);
  auto found = find_service(arguments, *home);
  if (!found) return no(found.error().code, found.error().why, found.error().exit);
  if (found->state.held) {
    if (arguments.has("quiet")) return kExitYes;
    return no("running", already_running(*found), kExitNo);
  }
  const auto call = service_call(arguments, world, *home, found->pidfile);
  if (!call) return no("bad-input", call.error().text, kExitUsage);
  const auto pid = start_service(world, *home, *call);
  if (!pid) return no("not-started", pid.error().text, kExitNo);
  for (const std::string& warning : call->warnings) complain(world, kName, warning, kExitYes);
  found = find_service(arguments, *home);
  if (!found) return no(found.error().code, found.error().why, found.error().exit);
  if (!found->status.log_problem.empty()) {
    complain(world, kName, "its log: " + found->status.log_problem, kExitYes);
  }
  return say_done(arguments, world, "started", found->pidfile, *pid);
}

int service_stop_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "service stop";
  auto home = home_of_service(arguments, world);
  if (!home) return refuse(arguments, world, kName, "trouble", home.error().text, kExitUsage);
  const auto found = find_service(arguments, *home);
  if (!found) {
    return refuse(arguments, world, kName, found.error().code, found.error().why,
                  found.error().exit);
  }
  Machine& machine = home->machine;
  if (arguments.has("caller") && found->state.held) {
    const auto caller = calling_process(world, machine);
    if (!caller) {
      return refuse(arguments, world, kName, "bad-input", caller.error().text, kExitUsage);
    }
    if (found->status.subject_process != *caller) {
      if (arguments.has("quiet")) return kExitYes;
      return refuse(arguments, world, kName, "of-another", "it beats for another program", kExitNo);
    }
  }
  if (!found->state.held) {
    if (arguments.has("quiet")) return kExitYes;
    const auto stale = pid_in(machine.files, found->pidfile);
    if (stale) sweep_pidfile(*home, *found);
    if (arguments.has("json")) {
      return refuse(arguments, world, kName, "not-running", not_running(stale), kExitNo);
    }
    world.out.write(not_running(stale) + "\n");
    return kExitNo;
  }
  const auto ended = end_service(machine, *found);
  if (!ended) return refuse(arguments, world, kName, "not-ended", ended.error().text, kExitNo);
  sweep_pidfile(*home, *found);
  return say_done(arguments, world, "stopped", found->pidfile, ended->pid);
}

int service_status_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "service status";
  auto home = home_of_service(arguments, world);
  if (!home) return refuse(arguments, world, kName, "trouble", home.error().text, kExitUsage);
  const auto found = find_service(arguments, *home);
  if (!found) {
    return refuse(arguments, world, kName, found.error().code, found.error().why,
                  found.error().exit);
  }
  Machine& machine = home->machine;
  const bool running = found->state.held;
  const auto stale = running ? std::nullopt : pid_in(machine.files, found->pidfile);
  if (stale) sweep_pidfile(*home, *found);
  const ServiceStatus& status = found->status;
  if (arguments.has("json")) {
    world.out.write(json_line(status_json(*found, status, stale)));
  } else if (running) {
    world.out.write(
        fmt::format("Heartbeat service: RUNNING (PID: {})\n", found->state.record.process.pid));
    if (!arguments.has("quiet")) show_details(world, *found, machine.clock.wall());
  } else {
    world.out.write(not_running(stale) + "\n");
    if (!arguments.has("quiet") && !status.ended_because.empty()) {
      world.out.write(fmt::format("  ended: {}\n", on_one_line(status.ended_because)));
    }
  }
  return running ? kExitYes : kExitNo;
}

int service_run_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "service run";
  auto home = open_home(world);
  if (!home) return complain(world, kName, home.error().text, kExitUsage);
  const auto pidfile = pidfile_of(arguments, *home);
  if (!pidfile) return complain(world, kName, pidfile.error().text, kExitUsage);
  auto call = service_call(arguments, world, *home, *pidfile);
  if (!call) return complain(world, kName, call.error().text, kExitUsage);
  auto folder = service_folder(*home->folder, *pidfile);
  if (!folder) return complain(world, kName, folder.error().text, kExitNo);
  const auto looked_at = service_folder(*home->folder, *pidfile);
  if (!looked_at) return complain(world, kName, looked_at.error().text, kExitNo);
  LeaseFiles leases(*home->folder);
  LeaseDesk desk(home->machine, *home->folder, leases);
  Service service(desk, *std::move(folder), std::move(call->settings));
  const auto began = begin(home->machine, service, **looked_at);
  if (!began) return complain(world, kName, began.error().text, kExitNo);
  if (*began == Service::Began::held_by_another) {
    return complain(world, kName, "another service of this pid file is at work", kExitNo);
  }
  home->machine.loop.run();
  return kExitYes;
}

Result<std::int64_t> start_service_of(World& world, Home& home, const std::string& agent_folder) {
  Arguments arguments;
  arguments.options["agent"] = {agent_folder};
  const auto pidfile = pidfile_of(arguments, home);
  if (!pidfile) return std::unexpected(pidfile.error());
  const auto call = service_call(arguments, world, home, *pidfile);
  if (!call) return std::unexpected(call.error());
  return start_service(world, home, *call);
}

}  // namespace tend
