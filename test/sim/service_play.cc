// Services that beat for an agent of the world, or for guests: processes that come one after the
// other, each with an entry in a registry of another system and a lease of ours. And what goes
// wrong with services and guests.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "run/lease_desk.h"
#include "run/service.h"
#include "seeded_world.h"
#include "store/config.h"
#include "store/foreign/foreign_time.h"
#include "store/lease_files.h"
#include "watched.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr const char* kBeats = "/home/user/beats/";
constexpr Duration kGuestLease = 1min;
constexpr std::int64_t kForeignLease = 180'000;  // ms
constexpr std::uint64_t kSorts = 3;              // of whom a fault strikes

std::string root_of(const ServicePlan& plan) { return kBeats + plan.name; }
std::string registry_of(const ServicePlan& plan) {
  return root_of(plan) + "/memory/agent-registry.json";
}
std::string foreign_lease_of(const ServicePlan& plan) {
  return root_of(plan) + "/memory/orchestrator-state.json";
}
std::string id_of(const ServicePlan& plan, std::uint64_t guest) {
  return fmt::format("{}-{}", plan.name, guest);
}

/// As `tend service` puts it together.
struct Serving {
  Serving(Machine& its_machine, std::unique_ptr<Folder> its_home,
          const std::function<void(const std::string& part)>& wrote)
      : files(its_machine.files, wrote),
        machine{its_machine.clock,     its_machine.loop,
                its_machine.folders,   its_machine.processes,
                its_machine.sockets,   its_machine.version_control,
                its_machine.salvager,  its_machine.entropy,
                its_machine.databases, files},
        home(std::move(its_home)),
        leases(*home, {.before = [](const std::string&) {},
                       .after =
                           [wrote](const std::string& lease, bool written) {
                             if (written) wrote("lease " + lease);
                           }}),
        desk(machine, *home, leases) {}
  WatchedFiles files;
  Machine machine;
  std::unique_ptr<Folder> home;
  WatchedLeases leases;
  LeaseDesk desk;
  std::unique_ptr<Service> service;
};

/// It takes a lease, which others renew for it, and is there for a while.
struct Guest {
  Guest(Machine& machine, std::unique_ptr<Folder> its_home, const ServicePlan& plan)
      : home(std::move(its_home)), leases(*home), desk(machine, *home, leases) {
    const LeaseRequest request{.name = plan.name,
                               .holder = LeaseDesk::holder_of(machine.processes.self()),
                               .ttl = kGuestLease,
                               .mirror = {}};
    asking = desk.acquire(request, [](const LeaseAnswer&) {});
    end = machine.loop.at(machine.clock.now() + plan.lives, [&machine] { machine.loop.stop(); });
  }
  std::unique_ptr<Folder> home;
  LeaseFiles leases;
  LeaseDesk desk;
  Subscribed asking;
  Subscribed end;
};

ServiceSettings settings_of(const ServicePlan& plan, const ServiceTruth& truth,
                            const std::string& agent_folder) {
  ServiceSettings settings;
  settings.pidfile = SeededWorld::pidfile_of(plan);
  settings.interval = plan.interval;
  if (!plan.agent.empty()) {
    settings.subject.agent = agent_folder;
    AgentStore& sink = settings.sinks.emplace_back();
    sink.name = SeededWorld::kStatePart;
    sink.store.kind = StoreKind::session_state;
    sink.store.path = root_of(plan) + "/state.json";
    return settings;
  }
  Config config;
  config.stores["orchestrator"].preset = Preset::hyrm;
  config.stores["orchestrator"].root = root_of(plan);
  settings.sinks = foreign_agent(config, "orchestrator", "", "/home/user").sinks;
  // Locks of others are given back by destructors, in which nobody can be killed here.
  for (AgentStore& sink : settings.sinks) sink.store.locked = false;
  if (plan.by_pid) {
    settings.subject.process = truth.guest;
  } else {
    settings.subject.registry = settings.sinks.front().store;
  }
  return settings;
}

/// What a whole file is as a part of a beat; "": it is none.
std::string part_of(const ServicePlan& plan, const std::string& path) {
  if (path == registry_of(plan)) return SeededWorld::kRegistryPart;
  if (path == foreign_lease_of(plan)) return SeededWorld::kForeignLeasePart;
  if (path == root_of(plan) + "/state.json") return SeededWorld::kStatePart;
  return path.starts_with("lease ") ? path : "";
}

}  // namespace

std::string SeededWorld::pidfile_of(const ServicePlan& plan) {
  return root_of(plan) + "/service.pid";
}

std::string SeededWorld::registry_text(std::size_t service) const {
  return universe.disk.read(registry_of(scenario.services[service])).value_or("");
}

std::string SeededWorld::foreign_lease_text(std::size_t service) const {
  return universe.disk.read(foreign_lease_of(scenario.services[service])).value_or("");
}

void SeededWorld::set_up_services() {
  for (const ServicePlan& plan : scenario.services) {
    truth_.services.push_back({.next = plan.begins, .guest_next = plan.begins});
    universe.disk.make_folder(root_of(plan) + "/memory");
  }
}

void SeededWorld::play_services() {
  for (std::size_t i = 0; i < truth_.services.size(); ++i) {
    const ServicePlan& plan = scenario.services[i];
    const ServiceTruth& service = truth_.services[i];
    if (elapsed() >= plan.ends || is_shutting_down()) continue;
    const bool has_guest = universe.runs(service.guest.pid) && !service.guest_is_over;
    if (plan.agent.empty() && !has_guest && elapsed() >= service.guest_next) start_guest(i);
    const bool has_subject = plan.agent.empty() ? !service.guest_is_over && service.guest.pid != 0
                                                : is_known(plan.agent) && !is_over(plan.agent);
    if (has_subject && service.pids.empty() && elapsed() >= service.next) start_service(i);
  }
}

// --- Guests --------------------------------------------------------------------------------------

void SeededWorld::start_guest(std::size_t i) {
  const ServicePlan& plan = scenario.services[i];
  ServiceTruth& service = truth_.services[i];
  const std::int64_t pid = universe.start_program("guest", [plan](Machine& machine) {
    auto home = machine.folders.open(kHome);
    return home ? std::make_shared<Guest>(machine, *std::move(home), plan) : nullptr;
  });
  service.guest = universe.facts(pid)->id;
  service.guest_is_over = false;
  service.guest_since = elapsed();
  service.guest_id = id_of(plan, ++service.guests);
  if (trace) say(fmt::format("guest {} comes as process {}", service.guest_id, pid));
  register_guest(i);
}

/// As that other system would do it. In every third life somebody else leads there.
void SeededWorld::register_guest(std::size_t i) {
  const ServicePlan& plan = scenario.services[i];
  const ServiceTruth& service = truth_.services[i];
  const std::string now = format_foreign_time(universe.wall(), TimeStyle{.decimals = 3});
  Json all = Json::parse(registry_text(i), nullptr, false);
  if (!all.is_object()) all = {{"version", "1.0.0"}, {"agents", Json::array()}};
  all["agents"].push_back({{"agent_id", service.guest_id},
                           {"assigned_role", "orchestrator"},
                           {"pid", service.guest.pid},
                           {"started_at", now},
                           {"last_heartbeat", now},
                           {"status", "working"}});
  const bool leads = service.guests % 3 != 0;
  const Json lease{{"leader_id", leads ? service.guest_id : "somebody else"},
                   {"leader_epoch", service.guests},
                   {"last_heartbeat", now},
                   {"ttl_ms", kForeignLease}};
  universe.disk.write(registry_of(plan), all.dump(2));
  universe.disk.write(foreign_lease_of(plan), lease.dump(2));
  for (const std::string& path : {registry_of(plan), foreign_lease_of(plan)}) {
    universe.disk.sync(*universe.disk.find(path));
  }
}

// --- Services ------------------------------------------------------------------------------------

void SeededWorld::start_service(std::size_t i) {
  const std::int64_t pid = universe.start_program(
      "service", [this, i](Machine& machine) { return be_service(machine, i); },
      {.environment = {"PATH=/bin", std::string("TEND_HOME=") + kHome}});
  truth_.services[i].pids.push_back(pid);
  if (const std::uint64_t dies_at = std::exchange(service_dies_at_, 0); dies_at > 0) {
    universe.kill_at_call(pid, dies_at, dies_at % 2 == 0);
    last_fault_ = std::max(last_fault_, elapsed());
  }
}

std::shared_ptr<void> SeededWorld::be_service(Machine& machine, std::size_t i) {
  const ServicePlan& plan = scenario.services[i];
  const ProcessId self = machine.processes.self();
  auto home = machine.folders.open(kHome);
  auto folder = home ? service_folder(**home, pidfile_of(plan)) : std::unexpected(home.error());
  if (!folder) {
    machine.loop.stop();
    return nullptr;
  }
  const std::string agent = folder_of(plan.agent);
  const auto wrote = [this, i, self](const std::string& path) {
    const std::string part = part_of(scenario.services[i], path);
    if (!part.empty()) note_beat(i, self, part);
  };
  auto serving = std::make_shared<Serving>(machine, *std::move(home), wrote);
  serving->service = std::make_unique<Service>(serving->desk, *std::move(folder),
                                               settings_of(plan, truth_.services[i], agent));
  const auto began = serving->service->begin();
  if (!began && trace) say(fmt::format("{} cannot begin: {}", plan.name, began.error().text));
  if (!began || *began != Service::Began::at_work) {
    machine.loop.stop();
    return serving;
  }
  truth_.services[i].agent = agent;
  note_service(i, self);
  return serving;
}

void SeededWorld::note_service(std::size_t i, const ProcessId& process) {
  ServiceTruth& service = truth_.services[i];
  if (trace)
    say(fmt::format("{} is at work as process {}", scenario.services[i].name, process.pid));
  service.at_work.push_back(process);
  service.since = elapsed();
  service.written.clear();
  const bool by_pid = scenario.services[i].by_pid;
  service.subject = by_pid ? service.guest : ProcessId{};
  service.subject_id = service.guest_id;
  // By an entry of another calendar it may find nobody.
  const bool can_find = !was_calendar_set(service.guest_since, service.since);
  if (!by_pid && can_find) bind_to_guest(service);
  for (const auto& check : checks_) check->on_service(i);
}

/// Whoever is there when it looks first. One that finds nobody then is bound by its first beat.
void SeededWorld::bind_to_guest(ServiceTruth& service) {
  if (service.guest_is_over || !universe.looking_fails.empty()) return;
  service.subject = service.guest;
  service.subject_id = service.guest_id;
}

void SeededWorld::note_beat(std::size_t i, const ProcessId& by, const std::string& part) {
  ServiceTruth& service = truth_.services[i];
  if (!scenario.services[i].by_pid && service.written.empty()) bind_to_guest(service);
  ++service.written[part];
  for (const auto& check : checks_) check->on_beat({.service = i, .by = by, .part = part});
}

void SeededWorld::note_service_end(const SimFacts& process) {
  for (std::size_t i = 0; i < truth_.services.size(); ++i) {
    ServiceTruth& service = truth_.services[i];
    if (service.guest == process.id) {
      service.guest_is_over = true;
      service.guest_next = elapsed() + scenario.services[i].rests;
    }
    if (std::erase(service.pids, process.id.pid) == 0) continue;
    if (trace) say(fmt::format("{} is over: {}", scenario.services[i].name, process.id.pid));
    const bool left =
        std::erase(service.at_work, process.id) > 0 && process.exit.how == ExitStatus::How::code;
    service.next = elapsed() + scenario.services[i].rests;
    if (!left) continue;
    for (const auto& check : checks_) check->on_service_left(i);
  }
}

/// The machine is gone with all of them.
void SeededWorld::break_off_services() {
  for (std::size_t i = 0; i < truth_.services.size(); ++i) {
    ServiceTruth& service = truth_.services[i];
    service.pids.clear();
    service.at_work.clear();
    service.guest_is_over = true;
    service.next = elapsed() + scenario.services[i].rests;
    service.guest_next = elapsed() + scenario.services[i].rests;
  }
}

// --- What goes wrong -----------------------------------------------------------------------------

void SeededWorld::strike_service(const Fault& fault) {
  if (truth_.services.empty()) return;
  const std::size_t i = fault.number / kSorts % truth_.services.size();
  ServiceTruth& service = truth_.services[i];
  const std::uint64_t sort = fault.number % kSorts;
  std::vector<std::int64_t> chosen;
  if (sort != 1) chosen = service.pids;
  if (sort != 0 && !service.guest_is_over) chosen.push_back(service.guest.pid);
  switch (fault.kind) {
    case FaultKind::kill_service:
      for (const std::int64_t pid : chosen) universe.kill(pid);
      return;
    case FaultKind::pause_service:
      if (sort != 1)
        service.stopped_until = std::max(service.stopped_until, elapsed() + fault.lasts);
      return pause(chosen, fault.lasts, "");
    case FaultKind::service_at_call:
      service_dies_at_ = fault.number;
      return;
    case FaultKind::two_services:
      if (service.pids.empty()) return;
      start_service(i);
      return start_service(i);
    default:
      return;
  }
}

}  // namespace tend::sim
