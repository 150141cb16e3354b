// Those who want to lead: each is a process of its own that does what `tend lease run` does, with a
// program that acts while it leads, or asks for the lease itself; and what goes wrong with them.
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "checks/check.h"
#include "run/lease_desk.h"
#include "run/lease_runner.h"
#include "seeded_world.h"
#include "watched.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kActsEvery = 2s;
constexpr Duration kAsksEvery = 1s;
constexpr Duration kCutWithin = 20s;
constexpr Duration kSleepsWithin = 20s;
constexpr std::uint64_t kCallsOfWrite = 10;  // up to where the new version has its name

/// Leads by itself: asks, renews, and makes sure of its fence before each thing that it does.
class Alone {
 public:
  struct Hears {
    std::function<std::size_t(std::uint64_t fence)> granted;  // which lead it is
    std::function<void(std::size_t lead)> act;
  };
  Alone(LeaseDesk& desk, LeaseRequest request, Duration works, Hears hears)
      : desk_(desk), request_(std::move(request)), works_(works), hears_(std::move(hears)) {
    ask();
  }

 private:
  using Step = void (Alone::*)();
  [[nodiscard]] Subscribed in(Duration wait, Step step) {
    Machine& machine = desk_.machine();
    return machine.loop.at(machine.clock.now() + wait, [this, step] { (this->*step)(); });
  }
  void ask() {
    asking_ = desk_.acquire(request_, [this](const LeaseAnswer& answer) { answered(answer); });
  }
  void answered(const LeaseAnswer& answer) {
    if (!answer && answer.error().refusal == LeaseRefusal::failed) return leave();
    if (!answer) {
      next_ = in(kAsksEvery, &Alone::ask);
      return;
    }
    fence_ = answer->record.fence;
    lead_ = hears_.granted(fence_);
    next_ = in(0s, &Alone::act);
    renewal_ = in(request_.ttl / 3, &Alone::renew);
    end_ = in(works_, &Alone::give_back);
  }
  void act() {
    const Duration before = desk_.machine().clock.awake();
    if (!desk_.check(request_.name, fence_)) return leave();
    // An answer that took its time may be of the past.
    const bool is_fresh = desk_.machine().clock.awake() == before;
    if (is_fresh) hears_.act(lead_);
    next_ = in(is_fresh ? kActsEvery : 0s, &Alone::act);
  }
  void renew() {
    std::ignore = desk_.renew(request_.name, request_.holder.process, fence_);
    renewal_ = in(request_.ttl / 3, &Alone::renew);
  }
  void give_back() {
    std::ignore = desk_.release(request_.name, request_.holder.process, fence_);
    leave();
  }
  void leave() { desk_.machine().loop.stop(); }

  LeaseDesk& desk_;
  LeaseRequest request_;
  Duration works_;
  Hears hears_;
  std::uint64_t fence_ = 0;
  std::size_t lead_ = 0;
  Subscribed asking_;
  Subscribed next_;
  Subscribed renewal_;
  Subscribed end_;
};

/// As `tend lease run` and `tend lease acquire` put it together.
struct Contending {
  std::unique_ptr<Folder> home;
  std::unique_ptr<Leases> leases;
  std::unique_ptr<LeaseDesk> desk;
  std::unique_ptr<LeaseRunner> runner;
  std::unique_ptr<Alone> alone;
};

LeaseRequest request_of(const ContenderPlan& plan, const ProcessId& process) {
  return {.name = SeededWorld::kLease,
          .holder = LeaseDesk::holder_of(process, plan.name),
          .ttl = plan.ttl,
          .mirror = {}};
}

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
  const std::int64_t pid = machine.processes.self().pid;
  contending->leases = std::make_unique<WatchedLeases>(
      *contending->home,
      WatchedLeases::Hears{
          .before = [this, i](const std::string&) { strike_write(i); },
          .after = [this, pid](const std::string&, bool) { universe.pause_at_call(pid, 0, {}); }});
  contending->desk = std::make_unique<LeaseDesk>(machine, *contending->home, *contending->leases);
  if (!plan.alone) {
    contending->runner = be_runner(machine, *contending->desk, i);
    return contending;
  }
  const ProcessId self = machine.processes.self();
  contending->alone = std::make_unique<Alone>(
      *contending->desk, request_of(plan, self), plan.works,
      Alone::Hears{.granted =
                       [this, i, self](std::uint64_t fence) {
                         return note_lead({.contender = i, .process = self, .fence = fence});
                       },
                   .act = [this](std::size_t lead) { act(lead); }});
  return contending;
}

std::unique_ptr<LeaseRunner> SeededWorld::be_runner(Machine& machine, LeaseDesk& desk,
                                                    std::size_t i) {
  LeaseRunner::Settings settings;
  settings.request = request_of(scenario.contenders[i], machine.processes.self());
  settings.command = {kLeader, std::to_string(i)};
  settings.environment = {"PATH=/bin"};
  settings.working_folder = "/home/user";
  settings.say = [this, i](const std::string& text) {
    if (trace) say(fmt::format("{}: {}", scenario.contenders[i].name, text));
  };
  return std::make_unique<LeaseRunner>(
      desk, std::move(settings), [this, i, &machine](const LeaseRunner::End& end) {
        if (trace) {
          say(fmt::format("{} is through, fence {}: {}", scenario.contenders[i].name, end.fence,
                          end.why));
        }
        machine.loop.stop();
      });
}

// --- Who leads -----------------------------------------------------------------------------------

void SeededWorld::lead(SimSelf& self) {
  const auto found = std::ranges::find(truth_.leads, self.id(), &LeadTruth::process);
  const ContenderPlan& plan = scenario.contenders[found->contender];
  if (plan.deaf) self.ignore(Kill::terminate);
  const auto which = static_cast<std::size_t>(found - truth_.leads.begin());
  act(which);
  self.every(kActsEvery, [this, which](SimSelf&) { act(which); });
  self.exit_after(plan.works, 0);
}

void SeededWorld::act(std::size_t lead) {
  for (const auto& check : checks_) check->on_act(truth_.leads[lead]);
}

void SeededWorld::note_program(const SimFacts& process) {
  const auto i = static_cast<std::size_t>(std::stoul(process.command.at(1)));
  note_lead({.contender = i, .process = process.id, .fence = fence_in(process)});
}

std::size_t SeededWorld::note_lead(LeadTruth lead) {
  const std::string& name = scenario.contenders[lead.contender].name;
  if (trace) say(fmt::format("{} leads under fence {}", name, lead.fence));
  truth_.contenders[lead.contender].leads = true;
  truth_.leads.push_back(std::move(lead));
  for (const auto& check : checks_) check->on_lead(truth_.leads.back());
  strike_lead(truth_.leads.size() - 1);
  return truth_.leads.size() - 1;
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
      return stop_contenders(contending(fault.number), fault.lasts);
    case FaultKind::contender_at_call:
      contender_dies_at_ = fault.number;
      return;
    default:
      return awaited_[fault.kind].push_back(fault);
  }
}

/// Some of them may be programs.
void SeededWorld::stop_contenders(const std::vector<std::int64_t>& pids, Duration lasts) {
  for (ContenderTruth& contender : truth_.contenders) {
    if (std::ranges::find(pids, contender.pid) == pids.end()) continue;
    contender.stopped_until = std::max(contender.stopped_until, elapsed() + lasts);
  }
  pause(pids, lasts, "");
}

void SeededWorld::strike_lead(std::size_t lead) {
  const std::int64_t holder = truth_.contenders[truth_.leads[lead].contender].pid;
  if (const auto fault = next_awaited(FaultKind::cut_after_grant)) {
    write_back();
    const bool torn = fault->number % 2 == 0;
    universe.after(Duration{fault->number / 2 % kCutWithin.count()}, [this, torn] {
      restart_machine({.lost = torn ? SimReboot::Lost::torn : SimReboot::Lost::unsynced});
    });
  }
  if (const auto fault = next_awaited(FaultKind::unseen_leader)) {
    universe.unseen.insert(holder);
    lasting(fault->lasts, [this, holder] { universe.unseen.erase(holder); });
  }
  if (const auto fault = next_awaited(FaultKind::sleep_in_lead)) {
    const Duration after{fault->number % kSleepsWithin.count()};
    universe.after(after, [this, lead, holder, lasts = fault->lasts, number = fault->number] {
      if (truth_.leads[lead].over || !universe.runs(holder)) return;
      sleep(std::min(lasts, std::max(scenario.lasts - elapsed(), Duration{})));
      stop_contenders({holder}, 500ms + Duration{number / 20000 % 1500});
    });
  }
}

/// While others wait for it; every second one only where it was not granted yet.
void SeededWorld::strike_write(std::size_t i) {
  if (!awaits(FaultKind::stop_in_write)) return;
  ContenderTruth& writer = truth_.contenders[i];
  if (awaited_[FaultKind::stop_in_write].front().number % 2 == 0 && writer.leads) return;
  const auto waits = [this, &writer](const ContenderTruth& other) {
    return &other != &writer && other.pid != 0 && !other.leads && universe.runs(other.pid);
  };
  if (std::ranges::none_of(truth_.contenders, waits)) return;
  const auto fault = next_awaited(FaultKind::stop_in_write);
  writer.stopped_until = std::max(writer.stopped_until, elapsed() + fault->lasts);
  universe.pause_at_call(writer.pid, 1 + fault->number / 2 % kCallsOfWrite, fault->lasts);
}

}  // namespace tend::sim
