// What can be found out before it begins is found out here: a service that nobody watches start has
// nobody to complain to.
#include "app/service_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "app/number_option.h"
#include "base/duration.h"
#include "base/quote.h"
#include "judge/words.h"
#include "store/config_file.h"
#include "store/home.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestInterval = 1s;
constexpr Duration kLongestInterval = 24h;
constexpr std::size_t kMostOfPidfile = 64;
constexpr std::size_t kMostAncestors = 16;
constexpr std::string_view kOrchestrator = "orchestrator";
constexpr std::string_view kAgentsPidfile = "/service.pid";
constexpr std::string_view kUsualRoot = "/app/workspace";  // of the preset hyrm

// --- Paths --------------------------------------------------------------------------------------

/// Without "." and "..", as it is written.
std::string plain_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string plain;
  for (const std::string_view part : parts) plain.append("/").append(part);
  return plain.empty() ? "/" : plain;
}

/// As far as it is there, its links are followed: one file has one name, by whatever way.
Result<std::string> absolute_path(Machine& machine, const std::string& typed) {
  std::string path = typed;
  if (!path.starts_with('/')) {
    const auto here = machine.folders.working_folder();
    if (!here) return here;
    path = *here + "/" + path;
  }
  path = plain_path(path);
  for (std::size_t end = path.size(); end > 0 && end != std::string::npos;
       end = path.rfind('/', end - 1)) {
    const auto real = machine.folders.real_path(path.substr(0, end));
    if (real) return plain_path(*real + path.substr(end));
  }
  return path;
}

// --- The subject --------------------------------------------------------------------------------

/// "N", or "N@START" as a start hands it on.
Result<ProcessId> process_typed(Machine& machine, const std::string& typed) {
  constexpr std::string_view kWants = "--pid wants the number of a process";
  const auto at = typed.find('@');
  const auto pid = number_from_1(std::string_view(typed).substr(0, at), kWants);
  if (!pid) return std::unexpected(pid.error());
  const auto id = machine.processes.identify(*pid);
  if (!id) return std::unexpected(id.error());
  const bool is_another =
      at != std::string::npos && *id && std::to_string((*id)->start_ticks) != typed.substr(at + 1);
  if (!*id || is_another) return fail(fmt::format("--pid: there is no process {}", *pid));
  return **id;
}

Result<KnownAgent> agent_typed(const Arguments& arguments, Home& home) {
  auto known = find_agent(home.machine.folders, *home.folder, *arguments.value("agent"));
  if (!known) return std::unexpected(known.error());
  if (known->folder == nullptr) return fail("--agent: " + known->problem);
  return known;
}

/// The stores of a system that is known, and of an agent that the configuration describes.
Result<ForeignAgent> stores_asked_for(const Arguments& arguments, World& world,
                                      const std::string& root, const Heartbeat& agent) {
  auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  std::string name = agent.agent;
  if (const auto preset = arguments.value("preset")) {
    ForeignSetting setting;
    setting.preset = from_word<Preset>(kPresetWords, *preset);
    setting.root = root;
    name = kOrchestrator;
    config->stores.insert_or_assign(name, setting);
  }
  const std::string user_home = world.environment.variable("HOME").value_or("");
  ForeignAgent stores = foreign_agent(*config, name, agent.role, user_home);
  if (name == agent.agent || agent.agent.empty()) return stores;
  for (AgentStore& sink : foreign_agent(*config, agent.agent, agent.role, user_home).sinks) {
    const auto same = std::ranges::find(stores.sinks, sink.name, &AgentStore::name);
    if (same == stores.sinks.end()) stores.sinks.push_back(std::move(sink));
  }
  return stores;
}

Result<void> choose_subject(const ForeignAgent& stores, SubjectSettings& subject) {
  if (!subject.agent.empty() || subject.process.pid != 0) return {};
  for (const AgentStore& sink : stores.sinks) {
    if (sink.store.kind == StoreKind::registry) subject.registry = sink.store;
  }
  if (subject.registry) return {};
  return fail("needs a subject: --agent A, --pid N, or --preset hyrm with --root DIR");
}

/// What the manager that started this process wants of it.
ServiceManager manager_of(const Environment& environment, std::int64_t self) {
  ServiceManager manager{.socket = environment.variable("NOTIFY_SOCKET").value_or(""),
                         .watchdog = {}};
  const std::string usec = environment.variable("WATCHDOG_USEC").value_or("");
  const std::string meant = environment.variable("WATCHDOG_PID").value_or("");
  std::int64_t number = 0;
  const auto read = std::from_chars(usec.data(), usec.data() + usec.size(), number);
  const bool is_ours = meant.empty() || meant == std::to_string(self);
  if (read.ec == std::errc{} && number > 0 && is_ours) {
    manager.watchdog = std::chrono::floor<Duration>(std::chrono::microseconds{number});
  }
  return manager;
}

Result<Duration> interval_typed(const Arguments& arguments) {
  const auto interval = time_option(arguments, "interval");
  if (!interval) return std::unexpected(interval.error());
  const Duration is = interval->value_or(ServiceSettings{}.interval);
  if (is >= kShortestInterval && is <= kLongestInterval) return is;
  return fail("--interval is from 1s to 24h");
}

/// What it needs and can live without for a while is a warning.
Result<void> check_needs(Machine& machine, const std::string& root, ServiceCall& call) {
  if (!root.empty() && !machine.folders.real_path(root + "/memory")) {
    return fail(fmt::format("{}/memory is not there: pass the folder of the other system as --root",
                            on_one_line(root)));
  }
  const TimeContext context{.now = machine.clock.wall()};
  for (const AgentStore& sink : call.settings.sinks) {
    if (sink.store.kind != StoreKind::registry) continue;
    const auto entries = read_entries(machine.files, sink.store, context);
    if (!entries) call.warnings.push_back(entries.error().text);
  }
  return {};
}

}  // namespace

Result<ProcessId> calling_process(World& world, Machine& machine) {
  constexpr auto kShells =
      std::to_array<std::string_view>({"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox"});
  for (const Ancestor& above : world.caller.ancestors(kMostAncestors)) {
    if (std::ranges::find(kShells, above.name) != kShells.end()) continue;
    const auto id = machine.processes.identify(above.pid);
    if (!id) return std::unexpected(id.error());
    if (!*id || (*id)->start_ticks != above.start_ticks) break;
    return **id;
  }
  return fail("--caller: no program can be seen that runs this command");
}

std::optional<std::int64_t> pid_in(Files& files, const std::string& pidfile) {
  const auto text = files.read(pidfile, kMostOfPidfile);
  if (!text || !*text) return std::nullopt;
  std::int64_t pid = 0;
  const auto read = std::from_chars((*text)->data(), (*text)->data() + (*text)->size(), pid);
  if (read.ec != std::errc{} || pid <= 0) return std::nullopt;
  return pid;
}

Result<std::string> pidfile_of(const Arguments& arguments, Home& home) {
  if (const auto typed = arguments.value("pidfile")) return absolute_path(home.machine, *typed);
  if (!arguments.has("agent")) return fail("needs --pidfile FILE, or --agent A");
  const auto agent = agent_typed(arguments, home);
  if (!agent) return std::unexpected(agent.error());
  return agent->folder->path() + std::string(kAgentsPidfile);
}

Result<Home> home_of_service(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home || !arguments.has("pidfile")) return home;
  Machine& machine = home->machine;
  const auto pidfile = pidfile_of(arguments, *home);
  const auto pid = pidfile ? pid_in(machine.files, *pidfile) : std::nullopt;
  const auto id = pid ? machine.processes.identify(*pid) : Result<std::optional<ProcessId>>{};
  if (!id || !*id) return home;
  const auto variables = machine.processes.environment_of(**id);
  const std::string mark = fmt::format("{}={}", kServiceMark, *pidfile);
  if (!variables || std::ranges::find(*variables, mark) == variables->end()) return home;
  constexpr std::string_view kHome = "TEND_HOME=";
  for (const std::string& variable : *variables) {
    if (!variable.starts_with(kHome)) continue;
    auto folder = machine.folders.open(variable.substr(kHome.size()));
    if (folder) home->folder = *std::move(folder);
  }
  return home;
}

Result<ServiceCall> service_call(const Arguments& arguments, World& world, Home& home,
                                 const std::string& pidfile) {
  Machine& machine = home.machine;
  ServiceCall call;
  ServiceSettings& settings = call.settings;
  settings.pidfile = pidfile;
  const auto interval = interval_typed(arguments);
  if (!interval) return std::unexpected(interval.error());
  settings.interval = *interval;
  call.words = {"--pidfile", pidfile, "--interval", std::to_string(interval->count()) + "ms"};
  const auto also = [&](const char* option, std::string value) {
    call.words.emplace_back(option);
    call.words.push_back(std::move(value));
  };
  const auto given = std::ranges::count_if(std::array{"agent", "pid", "caller"},
                                           [&](const char* one) { return arguments.has(one); });
  if (given > 1) return fail("--agent, --pid and --caller: choose one");
  Heartbeat heartbeat;
  if (arguments.has("agent")) {
    const auto agent = agent_typed(arguments, home);
    if (!agent) return std::unexpected(agent.error());
    heartbeat = agent->heartbeat;
    if (is_terminal(heartbeat.status)) {
      return fail(on_one_line(heartbeat.agent) + " is over: there is nothing to beat for");
    }
    settings.subject.agent = agent->folder->path();
    also("--agent", settings.subject.agent);
  }
  if (arguments.has("pid") || arguments.has("caller")) {
    const auto process = arguments.has("caller") ? calling_process(world, machine)
                                                 : process_typed(machine, *arguments.value("pid"));
    if (!process) return std::unexpected(process.error());
    settings.subject.process = *process;
    also("--pid", fmt::format("{}@{}", process->pid, process->start_ticks));
  }
  std::string root;
  if (const auto preset = arguments.value("preset")) {
    auto path = absolute_path(machine, arguments.value("root").value_or(std::string(kUsualRoot)));
    if (!path) return std::unexpected(path.error());
    root = *std::move(path);
    settings.log = root + "/logs/heartbeat-service.log";
    settings.shared_log = root + "/memory/realtime.log";
    also("--preset", *preset);
    also("--root", root);
  } else if (arguments.has("root")) {
    return fail("--root is of a --preset: add --preset hyrm");
  }
  auto stores = stores_asked_for(arguments, world, root, heartbeat);
  if (!stores) return std::unexpected(stores.error());
  settings.sinks = stores->sinks;
  if (auto chosen = choose_subject(*stores, settings.subject); !chosen) {
    return std::unexpected(chosen.error());
  }
  settings.start = world.environment.variable("TEND_SERVICE_START").value_or("");
  settings.manager = manager_of(world.environment, machine.processes.self().pid);
  if (auto there = check_needs(machine, root, call); !there) return std::unexpected(there.error());
  return call;
}

}  // namespace tend
