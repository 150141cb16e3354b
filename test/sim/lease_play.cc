// Those who want to lead: each is a process of its own that does what `tend lease run` does, with a
// program that acts while it leads; and what goes wrong with both.
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "checks/check.h"
#include "run/lease_desk.h"
#include "run/lease_runner.h"
#include "seeded_world.h"
#include "store/lease_files.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kLease = "orchestrator";
constexpr Duration kActsEvery = 2s;
constexpr Duration kCutWithin = 20s;

/// As `tend lease run` puts it together.
struct Contending {
  std::unique_ptr<Folder> home;
  std::unique_ptr<LeaseFiles> leases;
  std::unique_ptr<LeaseDesk> desk;
  std::unique_ptr<LeaseRunner> runner;
};

std::uint64_t fence_in(const SimFacts& process) {
  constexpr std::string_view kName = "TEND_FENCE=";
  std::uint64_t fence = 0;
  for (const std::string& entry : process.environment) {
    if (!entry.starts_with(kName)) continue;
    std::from_chars(entry.data() + kName.size(), entry.data() + entry.size(), fence);
  }
  return fence;
}

}  // namespace

void SeededWorld::set_up_lease() {
  if (scenario.contenders.empty()) return;
  for (const ContenderPlan& plan : scenario.contenders) {
    truth_.contenders.push_back({.next = plan.begins});
  }
  universe.behaviours[kLeader] = [this](SimSelf& self) { lead(self); };
}

void SeededWorld::play_lease() {
  for (std::size_t i = 0; i < truth_.contenders.size(); ++i) {
    const ContenderTruth& contender = truth_.contenders[i];
    const bool comes = elapsed() >= contender.next && elapsed() < scenario.contenders[i].ends;
    if (contender.pid == 0 && comes && !is_shutting_down()) start_contender(i);
  }
}

// --- Who wants to lead ---------------------------------------------------------------------------

void SeededWorld::start_contender(std::size_t i) {
  ContenderTruth& contender = truth_.contenders[i];
  contender.since = elapsed();
  contender.leads = false;
  contender.pid = universe.start_program(
      "contender", [this, i](Machine& machine) { return be_contender(machine, i); },
      {.environment = {"PATH=/bin", std::string("TEND_HOME=") + kHome}});
  if (const std::uint64_t dies_at = std::exchange(contender_dies_at_, 0); dies_at > 0) {
    universe.kill_at_call(contender.pid, dies_at, dies_at % 2 == 0);
    last_fault_ = std::max(last_fault_, elapsed());
  }
}

std::shared_ptr<void> SeededWorld::be_contender(Machine& machine, std::size_t i) {
  const ContenderPlan& plan = scenario.contenders[i];
  auto contending = std::make_shared<Contending>();
  auto home = machine.folders.open(kHome);
  if (!home) {
    machine.loop.stop();
    return nullptr;
  }
  contending->home = *std::move(home);
  contending->leases = std::make_unique<LeaseFiles>(*contending->home);
  contending->desk = std::make_unique<LeaseDesk>(machine, *contending->home, *contending->leases);
  LeaseRunner::Settings settings;
  settings.request = {.name = kLease,
                      .holder = LeaseDesk::holder_of(machine.processes.self(), plan.name),
                      .ttl = plan.ttl,
                      .mirror = {}};
  settings.command = {kLeader, std::to_string(i)};
  settings.environment = {"PATH=/bin"};
  settings.working_folder = "/home/user";
  settings.say = [this, i](const std::string& text) {
    if (trace) say(fmt::format("{}: {}", scenario.contenders[i].name, text));
  };
  contending->runner = std::make_unique<LeaseRunner>(
      *contending->desk, std::move(settings), [this, i, &machine](const LeaseRunner::End& end) {
        if (trace) {
          say(fmt::format("{} is through, fence {}: {}", scenario.contenders[i].name, end.fence,
                          end.why));
        }
        machine.loop.stop();
      });
  return contending;
}

// --- Who leads -----------------------------------------------------------------------------------

void SeededWorld::lead(SimSelf& self) {
  const ContenderPlan& plan = scenario.contenders[truth_.leads.back().contender];
  if (plan.deaf) self.ignore(Kill::terminate);
  const std::size_t which = truth_.leads.size() - 1;
  const auto act = [this, which] {
    for (const auto& check : checks_) check->on_act(truth_.leads[which]);
  };
  act();
  self.every(kActsEvery, [act](SimSelf&) { act(); });
  self.exit_after(plan.works, 0);
}

void SeededWorld::note_lead(const SimFacts& process) {
  const auto i = static_cast<std::size_t>(std::stoul(process.command.at(1)));
  truth_.leads.push_back({.contender = i, .process = process.id, .fence = fence_in(process)});
  truth_.contenders[i].leads = true;
  if (trace)
    say(fmt::format("{} leads under fence {}", scenario.contenders[i].name, fence_in(process)));
  for (const auto& check : checks_) check->on_lead(truth_.leads.back());
  if (const auto fault = next_awaited(FaultKind::cut_after_grant)) {
    write_back();
    const bool torn = fault->number % 2 == 0;
    universe.after(Duration{fault->number / 2 % kCutWithin.count()}, [this, torn] {
      restart_machine({.lost = torn ? SimReboot::Lost::torn : SimReboot::Lost::unsynced});
    });
  }
}

void SeededWorld::note_lead_end(const SimFacts& process) {
  for (LeadTruth& lead : truth_.leads) {
    if (lead.process == process.id) lead.over = true;
  }
  for (std::size_t i = 0; i < truth_.contenders.size(); ++i) {
    ContenderTruth& contender = truth_.contenders[i];
    if (contender.pid != process.id.pid) continue;
    contender.pid = 0;
    contender.next = elapsed() + scenario.contenders[i].rests;
  }
}

/// The machine is gone with all of them.
void SeededWorld::break_off_contending() {
  for (LeadTruth& lead : truth_.leads) lead.over = true;
  for (std::size_t i = 0; i < truth_.contenders.size(); ++i) {
    truth_.contenders[i].pid = 0;
    truth_.contenders[i].next = elapsed() + scenario.contenders[i].rests;
  }
}

// --- What goes wrong -----------------------------------------------------------------------------

/// One who wants to lead or leads, its program, or both.
std::vector<std::int64_t> SeededWorld::contending(std::uint64_t number) const {
  std::vector<std::int64_t> wanting;
  for (const ContenderTruth& contender : truth_.contenders) {
    if (contender.pid != 0 && universe.runs(contender.pid)) wanting.push_back(contender.pid);
  }
  std::vector<std::int64_t> leading;
  for (const LeadTruth& lead : truth_.leads) {
    if (!lead.over) leading.push_back(lead.process.pid);
  }
  constexpr std::uint64_t kSorts = 4;
  const std::uint64_t sort = number % kSorts;
  std::vector<std::int64_t> chosen;
  if (sort == 0 && !wanting.empty()) chosen.push_back(wanting[number / kSorts % wanting.size()]);
  if (sort == 1 || sort == 2) chosen = leading;
  if (sort >= 2) {
    for (const ContenderTruth& contender : truth_.contenders) {
      const bool leads = contender.leads && contender.pid != 0 && universe.runs(contender.pid);
      if (leads) chosen.push_back(contender.pid);
    }
  }
  return chosen;
}

void SeededWorld::strike_lease(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kill_contender:
      for (const std::int64_t pid : contending(fault.number)) universe.kill(pid);
      return;
    case FaultKind::pause_contender:
      return pause(contending(fault.number), fault.lasts, "");
    case FaultKind::contender_at_call:
      contender_dies_at_ = fault.number;
      return;
    default:
      return awaited_[fault.kind].push_back(fault);
  }
}

}  // namespace tend::sim
