// Draws who is there beside the agents: the patrol and workers that are not ours, those who write
// to agents, those who want to lead, and services. With each come the faults that strike it.
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "drawing.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostTrees = 3;
constexpr std::uint64_t kPatrolled = 45;  // of a hundred worlds with tasks
constexpr std::uint64_t kGated = 12;      // of a hundred worlds, unless it is wished for
constexpr std::uint64_t kContended = 8;   // the same
constexpr std::uint64_t kServed = 8;      // the same
constexpr Duration kNoEnd = 7 * 24h;      // of silence: longer than any world

}  // namespace

// --- The patrol ----------------------------------------------------------------------------------

/// From chance of its own, too: a world without a patrol is the same as ever.
void Drawing::draw_patrol() {
  Chance chance(~scenario_.seed ^ 0x70617472'6f6cULL);
  const bool wished = std::ranges::any_of(wishes_.faults, wants_patrol);
  const bool has_tasks = std::ranges::any_of(scenario_.agents, &AgentPlan::task);
  if (!wished && !(has_tasks && chance.percent(kPatrolled))) return;
  scenario_.patrol = std::chrono::floor<std::chrono::seconds>(chance.between(1min, 10min));
  const std::uint64_t claiming = chance.percent(25) ? 0 : chance.within(20, 90);
  for (AgentPlan& agent : scenario_.agents) {
    agent.claims = speaks(agent.voice) && chance.percent(claiming);
  }
  draw_outsiders(chance);
  if (!wished && scenario_.faults.empty()) return;  // nothing goes wrong in this world
  draw_stops(chance);
  draw_kinds(is_of_patrol, wished ? 100 : 40, chance);
}

void Drawing::draw_outsiders(Chance& chance) {
  using enum TaskContext;
  constexpr TaskContext kContexts[] = {active, active, overnight, critical};
  const std::uint64_t many = chance.percent(25) ? 0 : chance.mostly_small(1, 6);
  const bool together = chance.percent(40);  // they fall silent, as they would for one reason
  const Duration latest = scenario_.lasts - scenario_.lasts / 10;
  const Duration at = chance.between(1min, latest);
  for (std::uint64_t n = 0; n < many; ++n) {
    OutsiderPlan& outsider = scenario_.outsiders.emplace_back();
    outsider.name = fmt::format("guest{}", n + 1);
    outsider.context = chance.one_of<TaskContext>(kContexts);
    outsider.begins = together ? Duration::zero() : chance.mostly_short(0s, latest);
    outsider.silent_at =
        together ? at + chance.between(0s, 5min) : chance.between(outsider.begins, latest);
    const bool for_good = chance.percent(40);
    outsider.silent_for = for_good ? kNoEnd : chance.mostly_short(1min, 3h);
    outsider.answers = chance.percent(25);
  }
}

// --- The probe and the gate ----------------------------------------------------------------------

/// From chance of its own, too. Who is compared with others is not asked: they cannot ask.
void Drawing::draw_gate() {
  Chance chance(~scenario_.seed ^ 0x6761'7465ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_gate);
  if (!wished && (!wishes_.policy.empty() || !chance.percent(kGated))) return;
  for (AgentPlan& agent : scenario_.agents) {
    const bool is_fit =
        agent.parent.empty() && agent.voice == Voice::claude && !has_children(agent);
    if (is_fit && chance.percent(75)) draw_probe(agent, chance);
  }
  if (asked_agents().empty()) draw_chat(chance);
  if (asked_agents().empty()) return;
  draw_senders(chance);
  draw_messages(chance);
  if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
  draw_kinds(is_of_gate, wished ? 100 : 30, chance);
}

/// Somebody who is there for it, if there is room.
void Drawing::draw_chat(Chance& chance) {
  if (scenario_.agents.size() >= kMostAgents || roots_ >= kMostTrees) return;
  add_root({Voice::claude, std::string("agent")});
  AgentPlan& chat = scenario_.agents.back();
  const Duration talks = chance.between(1min, 30min);
  chat.steps.push_back({.kind = StepKind::talk, .takes = talks, .child = {}});
  draw_probe(chat, chance);
}

std::vector<std::string> Drawing::asked_agents() const {
  std::vector<std::string> names;
  for (const AgentPlan& agent : scenario_.agents) {
    if (agent.is_asked()) names.push_back(agent.name);
  }
  return names;
}

void Drawing::draw_probe(AgentPlan& agent, Chance& chance) {
  using std::chrono::seconds;
  agent.task = false;
  agent.context = TaskContext::active;
  agent.claims = false;
  agent.probe.interval = std::chrono::floor<seconds>(chance.between(1min, 10min));
  const Duration deadline = std::chrono::floor<seconds>(chance.between(2min, 20min));
  agent.probe.deadline = std::max(deadline, agent.probe.interval);  // less is refused
  agent.probe.deliver = chance.percent(65);
  agent.probe.mute = chance.percent(8);
  const Duration takes = chance.between(1min, 8min);
  if (!agent.probe.deliver) agent.probe.takes = std::chrono::floor<seconds>(takes);
  const std::uint64_t rests = chance.within(1, 6);
  for (std::uint64_t n = 0; n < rests; ++n) {
    const Duration rest = chance.mostly_short(1min, 90min);
    insert_anywhere(agent, {.kind = StepKind::rest, .takes = rest, .child = {}}, chance);
  }
  const std::uint64_t hangs = chance.percent(50) ? chance.within(1, 3) : 0;
  for (std::uint64_t n = 0; n < hangs; ++n) {
    const std::uint32_t times = chance.percent(85) ? 1 : 2;
    insert_anywhere(agent, {.kind = StepKind::hang_idle, .takes = {}, .times = times, .child = {}},
                    chance);
  }
}

void Drawing::draw_senders(Chance& chance) {
  using enum ReplyManner;
  constexpr ReplyManner kManners[] = {works, works, works, works, fails,
                                      fails, hangs, hangs, never, none};
  const std::vector<std::string> asked = asked_agents();
  const std::uint64_t many = chance.within(1, 4);
  for (std::uint64_t n = 0; n < many; ++n) {
    SenderPlan& sender = scenario_.senders.emplace_back();
    sender.name = fmt::format("sender{}", n + 1);
    sender.agent = chance.one_of<std::string>(asked);
    sender.reply = chance.one_of<ReplyManner>(kManners);
    const Duration works_from = chance.between(0s, scenario_.lasts);
    if (sender.reply == fails || sender.reply == hangs) sender.works_from = works_from;
  }
}

void Drawing::draw_messages(Chance& chance) {
  using enum SendsWhen;
  constexpr SendsWhen kWhen[] = {at_once, at_once, down, down, answer};
  const std::uint64_t many = chance.mostly_small(2, 30);
  for (std::uint64_t n = 0; n < many; ++n) {
    MessagePlan& message = scenario_.messages.emplace_back();
    message.from = chance.one_of<SenderPlan>(scenario_.senders).name;
    message.at = chance.between(1min, scenario_.lasts - scenario_.lasts / 20);
    message.when = chance.one_of<SendsWhen>(kWhen);
    message.later =
        message.when == answer ? chance.mostly_short(0s, 5s) : chance.mostly_short(0s, 3min);
    message.priority = chance.percent(70) ? 3 : chance.within(1, 2);
    message.twice = chance.percent(25);
  }
  std::ranges::sort(scenario_.messages, {}, &MessagePlan::at);
}

// --- The lease -----------------------------------------------------------------------------------

/// From chance of its own, too. All want to lead in the same hour or two, and what strikes them
/// does so then.
void Drawing::draw_lease() {
  Chance chance(~scenario_.seed ^ 0x6c65'6173'65ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_lease);
  if (!wished && (!wishes_.policy.empty() || !chance.percent(kContended))) return;
  const Duration stays = std::min(chance.between(10min, 2h), scenario_.lasts / 2);
  const Duration begins = chance.between(1min, scenario_.lasts - stays);
  const std::uint64_t many = chance.within(2, 5);
  for (std::uint64_t n = 0; n < many; ++n) draw_contender(begins, begins + stays, chance);
  if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
  const auto is_usual = [](FaultKind kind) {
    return is_of_lease(kind) && !is_of_a_rare_lease(kind);
  };
  draw_kinds(is_usual, wished ? 100 : 50, chance);
  strike_within(is_usual, begins, stays, chance);
}

/// From chance of its own once more, so that a world without these is the same as ever, too.
void Drawing::draw_rare_lease() {
  Chance chance(~scenario_.seed ^ 0x7261'7265'6c65ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_a_rare_lease);
  if (scenario_.contenders.empty()) return;
  if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
  if (!wished && chance.percent(50)) return;
  const std::uint64_t alone = chance.within(0, 60);
  for (ContenderPlan& contender : scenario_.contenders) contender.alone = chance.percent(alone);
  draw_kinds(is_of_a_rare_lease, wished ? 100 : 50, chance);
  const Duration begins = std::ranges::min(scenario_.contenders, {}, &ContenderPlan::begins).begins;
  strike_within(is_of_a_rare_lease, begins, scenario_.contenders.front().ends - begins, chance);
}

/// Those of these kinds, while there is somebody to be struck.
void Drawing::strike_within(bool (*is_one)(FaultKind), Duration begins, Duration stays,
                            Chance& chance) {
  for (Fault& fault : scenario_.faults) {
    if (!is_one(fault.kind)) continue;
    fault.at = begins + chance.between(1s, stays);
    fault.lasts = std::min(fault.lasts, scenario_.lasts - fault.at);
  }
  sort_faults();
}

void Drawing::draw_contender(Duration begins, Duration ends, Chance& chance) {
  using std::chrono::seconds;
  ContenderPlan& contender = scenario_.contenders.emplace_back();
  contender.name = fmt::format("contender{}", scenario_.contenders.size());
  contender.begins = begins + chance.between(0s, 1min);
  contender.ends = ends;
  contender.ttl = std::chrono::floor<seconds>(chance.mostly_short(5s, 5min));
  contender.works = chance.mostly_short(1s, 20min);
  contender.rests = chance.mostly_short(1s, 5min);
  contender.deaf = chance.percent(25);
}

// --- The service ---------------------------------------------------------------------------------

/// From chance of its own, too.
void Drawing::draw_services() {
  Chance chance(~scenario_.seed ^ 0x7365'7276'6963'65ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_service);
  if (!wished && (!wishes_.policy.empty() || !chance.percent(kServed))) return;
  const std::uint64_t many = chance.within(1, 2);
  for (std::uint64_t n = 0; n < many; ++n) draw_service(chance);
  if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
  draw_kinds(is_of_service, wished ? 100 : 50, chance);
}

void Drawing::draw_service(Chance& chance) {
  using std::chrono::seconds;
  ServicePlan& service = scenario_.services.emplace_back();
  service.name = fmt::format("service{}", scenario_.services.size());
  if (chance.percent(40)) service.agent = chance.one_of<AgentPlan>(scenario_.agents).name;
  service.begins = chance.between(0s, scenario_.lasts / 4);
  service.ends = scenario_.lasts;
  service.interval = std::chrono::floor<seconds>(chance.between(20s, 2min));
  service.lives = chance.mostly_short(20s, 2h);
  service.rests = chance.mostly_short(1s, 10min);
  service.by_pid = chance.percent(50);
}

}  // namespace tend::sim
