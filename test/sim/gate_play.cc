// Who writes to the agents of a world, who comes for what was written, how senders are told of an
// outage, and what goes wrong with all of that. Everything is done by processes of their own, with
// what the commands of the gate are made of.
#include <algorithm>
#include <charconv>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "checks/check.h"
#include "run/gate_desk.h"
#include "run/postman.h"
#include "seeded_world.h"
#include "store/agent_file.h"
#include "store/home_database.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kChannel = "chat";
constexpr Duration kTriesAgain = 1min;  // a sender that got no answer
constexpr std::uint64_t kMostTries = 60;
constexpr Duration kCutWithin = 20s;
constexpr Duration kClearTakes = 5s;
constexpr Duration kTurnTakes = 20s;

/// As `tend gate` puts it together.
struct AtGate {
  std::unique_ptr<Folder> home;
  std::unique_ptr<GateDesk> desk;
  std::unique_ptr<Postman> postman;
  Subscribed works;
};

/// nullptr if there is no home.
std::shared_ptr<AtGate> open_gate(Machine& machine, const std::string& path) {
  auto home = machine.folders.open(path);
  if (!home) return nullptr;
  auto gate = std::make_shared<AtGate>();
  gate->home = *std::move(home);
  gate->desk = std::make_unique<GateDesk>(machine, *gate->home, GateSettings{});
  return gate;
}

std::string variable_in(const Run& run, std::string_view name) {
  for (const std::string& entry : run.environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

/// "tend-INCIDENT-KIND-NOTICE-TIME".
std::int64_t incident_in(std::string_view key) {
  std::int64_t incident = 0;
  const std::size_t from = key.find('-') + 1;
  std::from_chars(key.data() + from, key.data() + key.size(), incident);
  return incident;
}

}  // namespace

void SeededWorld::set_up_gate() {
  truth_.messages.resize(scenario.messages.size());
  for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
    const MessagePlan& plan = scenario.messages[i];
    if (plan.when == SendsWhen::at_once) truth_.messages[i].due = plan.at + plan.later;
  }
  const bool has_gate =
      !scenario.messages.empty() || std::ranges::any_of(scenario.agents, &AgentPlan::is_asked);
  if (!has_gate) return;
  // The simulated databases are no files, and who has no messages looks for one.
  const std::string path = fmt::format("{}/{}", kHome, kDatabaseFile);
  universe.disk.write(path, "");
  universe.disk.sync(*universe.disk.find(path));
}

void SeededWorld::configure_probe(const std::string& agent, Config& config) const {
  const auto truth = truth_.agents.find(agent);
  if (truth == truth_.agents.end() || !truth->second.plan->is_asked()) return;
  const ProbePlan& plan = truth->second.plan->probe;
  CHECK(plan.interval <= plan.deadline);  // or it is refused, and nobody asks
  ProbeSettings& probe = config.probes[agent];
  probe.channel = ProbeChannel::stdin_stream;
  probe.interval = plan.interval;
  probe.deadline = plan.deadline;
  probe.deliver = plan.deliver;
}

// --- What is true of those that are asked --------------------------------------------------------

void SeededWorld::on_words(std::int64_t from, const std::string& fifo, std::string_view text) {
  const std::string question = question_in(text);
  const std::size_t name = fifo.rfind('/');
  const auto at = agent_at_.find(fifo.substr(0, name));
  if (at == agent_at_.end() || fifo.substr(name + 1) != kInputFile) return;
  if (trace) say(fmt::format("words to {}: {}", at->second, text.substr(0, text.size() - 1)));
  LifeTruth* const life = truth_.agents.at(at->second).life();
  if (life == nullptr) return;
  if (const std::int64_t id = message_in(text); id > 0) {
    for (const auto& check : checks_) {
      check->on_message(truth_.agents.at(at->second), id, from, text);
    }
    if (const auto fault = next_awaited(FaultKind::kill_in_hand)) {
      universe.after(Duration{fault->number % kTurnTakes.count()},
                     [this, agent = at->second] { kill_agents(agent); });
    }
  }
  if (question.empty()) return;
  const QuestionTruth put{.id = question, .by = from, .asked = awake()};
  for (const auto& check : checks_) check->on_question(truth_.agents.at(at->second), put);
  life->questions.push_back(put);
  life->asked_by = from;
}

void SeededWorld::note_down(const std::string& agent) {
  truth_.agents.at(agent).well.reset();
  send_when(SendsWhen::down, agent);
}

/// A keeper that still holds its agent for down has not heard its answer, and takes that along.
void SeededWorld::note_keeper_end(const std::string& agent) {
  const auto says = heartbeat_of(agent);
  if (says && says->degraded_since > 0) truth_.agents.at(agent).well.reset();
}

/// An answer to what an earlier keeper asked is refused. Only one that was down is of interest.
void SeededWorld::on_answer(const std::string& agent) {
  AgentTruth& truth = truth_.agents.at(agent);
  const auto keepers = processes_of(agent, Owner::Is::keeper);
  const bool is_heard = std::ranges::find(keepers, truth.life()->asked_by) != keepers.end();
  truth.answered = unslept();
  if (!truth.well && is_heard) truth.well = elapsed();
  const auto says = heartbeat_of(agent);
  if (!says || says->degraded_since <= 0) return;
  send_when(SendsWhen::answer, agent);
  if (!keepers.empty()) {
    if (const auto fault = next_awaited(FaultKind::keeper_at_clear)) {
      universe.kill_at_call(keepers.front(), fault->number, fault->number % 2 == 0);
    }
  }
  if (const auto fault = next_awaited(FaultKind::cut_at_clear)) {
    write_back();
    const bool torn = fault->number % 2 == 0;
    universe.after(Duration{fault->number / 2 % kClearTakes.count()}, [this, torn] {
      restart_machine({.lost = torn ? SimReboot::Lost::torn : SimReboot::Lost::unsynced});
    });
  }
}

// --- Senders -------------------------------------------------------------------------------------

void SeededWorld::send_when(SendsWhen when, const std::string& agent) {
  for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
    const MessagePlan& plan = scenario.messages[i];
    MessageTruth& message = truth_.messages[i];
    if (plan.when != when || message.is_moment || elapsed() < plan.at) continue;
    if (elapsed() > scenario.lasts) continue;
    const auto sender = std::ranges::find(scenario.senders, plan.from, &SenderPlan::name);
    if (sender->agent != agent) continue;
    message.is_moment = true;
    message.due = elapsed() + plan.later;
    universe.after(plan.later, [this, i] {
      if (truth_.messages[i].due && truth_.messages[i].pid == 0) start_sender(i);
    });
  }
}

void SeededWorld::play_gate() {
  for (std::size_t i = 0; i < truth_.messages.size(); ++i) {
    const MessageTruth& message = truth_.messages[i];
    if (message.pid == 0 && message.due && elapsed() >= *message.due) start_sender(i);
  }
  for (const AgentPlan& plan : scenario.agents) {
    if (!plan.is_asked() || plan.probe.deliver || is_shutting_down()) continue;
    Taker& taker = takers_[plan.name];
    if (taker.pid != 0 && universe.runs(taker.pid)) continue;
    if (elapsed() < taker.next) continue;
    taker.next = elapsed() + plan.probe.takes;
    start_taker(plan.name);
  }
}

std::int64_t SeededWorld::start_at_gate(const std::string& name, SimFactory factory) {
  const std::int64_t pid = universe.start_program(
      name, std::move(factory),
      {.environment = {"PATH=/bin", "HOME=/home/user", std::string("TEND_HOME=") + kHome}});
  if (const std::uint64_t dies_at = std::exchange(sender_dies_at_, 0); dies_at > 0) {
    universe.kill_at_call(pid, dies_at, dies_at % 2 == 0);
    last_fault_ = std::max(last_fault_, elapsed());
  }
  return pid;
}

void SeededWorld::start_sender(std::size_t i) {
  if (awaits(FaultKind::cut_after_receive)) write_back();
  MessageTruth& message = truth_.messages[i];
  ++message.tries;
  message.due.reset();
  message.pid =
      start_at_gate("sender", [this, i](Machine& machine) { return be_sender(machine, i); });
  senders_[message.pid] = i;
}

std::shared_ptr<void> SeededWorld::be_sender(Machine& machine, std::size_t i) {
  const MessagePlan& plan = scenario.messages[i];
  const auto sender = std::ranges::find(scenario.senders, plan.from, &SenderPlan::name);
  const auto gate = open_gate(machine, kHome);
  if (!gate) {
    machine.loop.stop();
    return nullptr;
  }
  ReceiveOrder order;
  order.agent = sender->agent;
  order.draft.channel = kChannel;
  order.draft.endpoint = sender->name;
  order.draft.priority = static_cast<std::int64_t>(plan.priority);
  order.draft.content = fmt::format("this is {} of {}", i, sender->name);
  order.draft.key = fmt::format("key-{}", i);
  if (sender->reply != ReplyManner::none) order.reply_with = {kReplyCommand, "{endpoint}", "{key}"};
  const auto answer = gate->desk->receive(order);
  if (trace) {
    say(fmt::format(
        "message {} of {} to {}: {}", i, sender->name, sender->agent,
        answer ? fmt::format("{} as {}",
                             kReceiveActionWords.at(static_cast<std::size_t>(answer->action)),
                             answer->message.id)
               : answer.error().text));
  }
  if (answer) note_received(i, *answer);
  if (!answer && !is_disturbed()) {
    report("messages kept", fmt::format("message {} was refused: {}", i, answer.error().text));
  }
  if (!answer || !answer->notice) {
    machine.loop.stop();
    return gate;
  }
  gate->postman = std::make_unique<Postman>(
      machine, *gate->home, std::vector<NotifyChannel>{}, outage_key(answer->outage),
      [](const Postman::Delivery&) {}, [&machine](const Postman::Round&) { machine.loop.stop(); });
  gate->postman->send_only(*answer->notice);
  return gate;
}

void SeededWorld::note_received(std::size_t i, const ReceiveAnswer& answer) {
  MessageTruth& message = truth_.messages[i];
  message.ids.insert(answer.message.id);
  for (const auto& check : checks_) check->on_received(i, answer);
  const auto keepers = processes_of(answer.message.agent, Owner::Is::keeper);
  if (!keepers.empty()) {
    if (const auto fault = next_awaited(FaultKind::keeper_at_message)) {
      universe.kill_at_call(keepers.front(), fault->number, fault->number % 2 == 0);
    }
  }
  if (const auto fault = next_awaited(FaultKind::cut_after_receive)) {
    const bool torn = fault->number % 2 == 0;
    universe.after(Duration{fault->number / 2 % kCutWithin.count()}, [this, torn] {
      restart_machine({.lost = torn ? SimReboot::Lost::torn : SimReboot::Lost::unsynced});
    });
  }
}

/// Who heard that it was received need not try again.
void SeededWorld::note_sender_end(std::int64_t pid) {
  const auto sender = senders_.extract(pid);
  if (!sender) return;
  MessageTruth& message = truth_.messages[sender.mapped()];
  message.pid = 0;
  const bool again = scenario.messages[sender.mapped()].twice && !message.is_again;
  if (message.ids.empty() ? message.tries < kMostTries : again) {
    message.is_again = !message.ids.empty();
    message.due = elapsed() + kTriesAgain;
  }
}

/// The machine is gone with all that were at it.
void SeededWorld::break_off_sending() {
  for (std::size_t i = 0; i < truth_.messages.size(); ++i) {
    MessageTruth& message = truth_.messages[i];
    if (message.pid != 0 && message.ids.empty()) message.due = elapsed() + kTriesAgain;
    message.pid = 0;
  }
  for (const AgentPlan& plan : scenario.agents) {
    if (plan.is_asked() && is_known(plan.name)) note_down(plan.name);
  }
}

/// How a sender is told.
SimAnswer SeededWorld::reply(const Run& run) {
  const auto sender = std::ranges::find(scenario.senders, run.command.at(1), &SenderPlan::name);
  const bool works = sender->reply == ReplyManner::works ||
                     (sender->reply != ReplyManner::never && elapsed() >= sender->works_from);
  truth_.replies.push_back({.sender = sender->name,
                            .key = run.command.at(2),
                            .gate = variable_in(run, "TEND_GATE"),
                            .incident = incident_in(run.command.at(2)),
                            .at = elapsed(),
                            .heard = works});
  if (trace) {
    say(fmt::format("reply to {}: {} {} {}", sender->name, truth_.replies.back().gate,
                    run.command.at(2), works ? "heard" : "in vain"));
  }
  for (const auto& check : checks_) check->on_reply(truth_.replies.back(), sender->agent);
  SimAnswer answer;
  answer.takes = !works && sender->reply == ReplyManner::hangs ? run.deadline : Duration{1s};
  if (!works) answer.exit.value = 1;
  return answer;
}

// --- Takers --------------------------------------------------------------------------------------

void SeededWorld::start_taker(const std::string& agent) {
  takers_[agent].pid =
      start_at_gate("taker", [this, agent](Machine& machine) { return be_taker(machine, agent); });
}

/// Some forget what they took, some give it back.
std::shared_ptr<void> SeededWorld::be_taker(Machine& machine, const std::string& agent) {
  const auto gate = open_gate(machine, kHome);
  const auto taken = gate ? gate->desk->next(agent, "taker") : std::nullopt;
  if (!taken || !*taken) {
    machine.loop.stop();
    return gate;
  }
  const std::int64_t id = (*taken)->id;
  const std::int64_t tries = (*taken)->tries;
  const std::uint64_t chance =
      (scenario.seed + static_cast<std::uint64_t>(id * 31 + tries)) * 0x9e3779b97f4a7c15U >> 32U;
  const Duration takes{1000 + chance % 30'000};
  gate->works =
      machine.loop.at(machine.clock.now() + takes, [=, this, &machine, desk = gate->desk.get()] {
        const std::uint64_t fate = chance % 10;
        if (fate == 1) {
          std::ignore = desk->fail(id, tries, "not today");
        } else if (fate != 0) {
          truth_.got.try_emplace(id, wall());
          std::ignore = desk->done(id);
        }
        machine.loop.stop();
      });
  return gate;
}

// --- What goes wrong -----------------------------------------------------------------------------

void SeededWorld::strike_gate(const Fault& fault) {
  if (fault.kind == FaultKind::sender_at_call) {
    sender_dies_at_ = fault.number;
    return;
  }
  awaited_[fault.kind].push_back(fault);
  // A sender may be under way already: what was written long ago is on the disk all the same.
  if (fault.kind == FaultKind::cut_after_receive) write_back();
}

}  // namespace tend::sim
