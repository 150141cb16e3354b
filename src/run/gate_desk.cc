// The order of things: the message is safe first, then its agent is told, then its sender.
#include "run/gate_desk.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/time.h"
#include "run/home_mirror.h"
#include "run/root_agents.h"
#include "store/agent_file.h"
#include "store/gate_arrival.h"
#include "store/gate_left.h"
#include "store/gate_mirror.h"
#include "store/heartbeat.h"
#include "store/home.h"
#include "store/home_database.h"
#include "store/intent.h"
#include "store/names.h"

namespace tend {
namespace {

using No = GateNo::Kind;

constexpr std::uint64_t kLargestSignals = std::uint64_t{64} * 1024 * 1024;

std::unexpected<GateNo> no(No kind, std::string code, std::string text) {
  return std::unexpected(GateNo{kind, std::move(code), std::move(text)});
}

std::unexpected<GateNo> trouble(const Error& error) {
  return no(No::trouble, "trouble", error.text);
}

std::unexpected<GateNo> no_such_message(std::int64_t id) {
  return no(No::refused, "no-such-message",
            fmt::format("there is no message {}; `tend gate list` shows them", id));
}

std::unexpected<GateNo> not_received(std::optional<GateRefusal> why, const Error& error) {
  if (!why) return trouble(error);
  return no(*why == GateRefusal::full ? No::refused : No::bad_input,
            std::string(kGateRefusalWords.at(static_cast<std::size_t>(*why))), error.text);
}

std::string called(const GateAgent& agent) {
  return agent.name.empty() ? "nobody in particular" : on_one_line(agent.name);
}

/// Behind a line that was torn by a full disk ours would be lost with it: a newline goes first.
Result<void> append_line(Folder& folder, const char* name, std::string line) {
  auto file = folder.open(name, Folder::Open::append);
  if (!file) return std::unexpected(file.error());
  const auto facts = (*file)->facts();
  if (!facts) return std::unexpected(facts.error());
  if (facts->size > kLargestSignals) return fail(fmt::format("{} is full (64 MB)", name));
  char last = '\n';
  if (facts->size > 0) std::ignore = (*file)->read_at(facts->size - 1, {&last, 1});
  if (last != '\n') line.insert(0, "\n");
  return (*file)->append(line);
}

ReceiveAnswer::Action action_of(const Received& received) {
  using enum ReceiveAnswer::Action;
  switch (received.did) {
    case Received::Did::queued:
      return queued;
    case Received::Did::not_kept:
      return rejected;
    case Received::Did::duplicate:
      return duplicate;
    case Received::Did::held:
      break;
  }
  return received.notice ? auto_replied : held;
}

}  // namespace

bool GateStatus::needs_person() const {
  return count.dead > 0 || mode.looping ||
         std::ranges::any_of(pending, [](const PendingChannel& channel) {
           return channel.state == NoticeState::dead;
         });
}

// --- Who is meant -------------------------------------------------------------------------------

GateResult<Gate*> GateDesk::gate() {
  if (gate_) return &*gate_;
  auto database = open_home_database(machine_.databases, home_);
  if (!database) return trouble(database.error());
  database_ = *std::move(database);
  return &gate_.emplace(*database_,
                        GateLimits{.most_tries = settings_.most_tries, .lease = settings_.lease});
}

GateAgent GateDesk::agent_in(std::string name, std::unique_ptr<Folder> folder) {
  GateAgent agent{.name = std::move(name), .folder = std::move(folder), .mode = {}};
  if (agent.folder) agent.mode = gate_mode_of(machine_, *agent.folder);
  return agent;
}

/// By its whole name, for a part of one may come to mean somebody else. Nobody has to be known to
/// get messages.
GateResult<GateAgent> GateDesk::named(const std::string& typed) {
  if (typed.contains('/')) {
    auto known = find_agent(machine_.folders, home_, typed);
    if (!known) return no(No::bad_input, "no-such-agent", known.error().text);
    return agent_in(known->heartbeat.agent, std::move(known->folder));
  }
  if (auto ok = check_gate_name("the agent", typed, kLongestEndpoint); !ok) {
    return no(No::bad_input, "bad-name", ok.error().text);
  }
  const auto path = named_folder(home_, typed);
  auto folder = path && *path ? machine_.folders.open(**path) : tend::fail("");
  return agent_in(typed, folder ? *std::move(folder) : nullptr);
}

GateResult<std::vector<GateAgent>> GateDesk::roots() {
  auto found = root_agents(home_);
  if (!found) return trouble(found.error());
  std::vector<GateAgent> all;
  for (RootAgent& root : *found) {
    all.push_back(agent_in(std::move(root.name), std::move(root.folder)));
  }
  return all;
}

GateResult<GateAgent> GateDesk::who(const std::optional<std::string>& typed) {
  if (typed) return named(*typed);
  auto all = roots();
  if (!all) return std::unexpected(all.error());
  if (all->empty()) return GateAgent{};
  if (all->size() == 1) return std::move(all->front());
  std::vector<std::string> names;
  for (const GateAgent& each : *all) names.push_back(on_one_line(each.name));
  std::ranges::sort(names);
  return no(No::bad_input, "several-agents",
            fmt::format("this home has several agents: {}; say which with --agent",
                        fmt::join(names, ", ")));
}

GateResult<bool> GateDesk::is_for_nobody_else(Gate& gate, const GateAgent& agent) {
  if (agent.name.empty() || agent.folder == nullptr) return false;
  const auto waiting = gate.waiting("", machine_.clock.wall());
  if (!waiting) return trouble(waiting.error());
  if (*waiting == 0) return false;
  const auto is_alone = is_only_root_agent(home_, agent.name);
  if (!is_alone) return trouble(is_alone.error());
  return *is_alone;
}

// --- Receiving ----------------------------------------------------------------------------------

GateNews GateDesk::news(const GateAgent& agent, std::optional<std::int64_t> outage) {
  return {.agent = agent.name,
          .outage = outage,
          .why = agent.mode.why,
          .at = calendar_seconds(machine_.clock.wall()),
          .language = settings_.language,
          .texts = {}};
}

GateResult<ReceiveAnswer> GateDesk::receive(const ReceiveOrder& order) {
  auto agent = who(order.agent);
  if (!agent) return std::unexpected(agent.error());
  Arrival arrival;
  arrival.draft = order.draft;
  arrival.draft.agent = agent->name;
  if (!order.reply_with.empty()) {
    arrival.reply = ReplyWay{
        .channel = {}, .endpoint = {}, .command = order.reply_with, .language = order.language};
  }
  if (const auto fault = check_arrival(arrival)) {
    return not_received(fault->why, Error{fault->text});
  }
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  if (auto ok = end_what_is_over(**gate, *agent); !ok) return std::unexpected(ok.error());
  arrival.down = agent->mode.down;
  if (arrival.down) {
    const auto outage = (*gate)->open_outage(agent->name);
    if (!outage) return trouble(outage.error());
    GateNews news = this->news(*agent, *outage ? std::optional((*outage)->id) : std::nullopt);
    for (const auto& [language, texts] : settings_.texts) news.texts[language] = texts.degraded;
    arrival.why = agent->mode.why;
    arrival.keep = settings_.while_down == WhileDown::hold;
    arrival.notice = auto_reply_payload(news);
    arrival.answer_every = settings_.reply_every;
  }
  const auto received = (*gate)->receive(arrival, machine_.clock.wall());
  if (!received) return not_received((*gate)->refusal(), received.error());
  ReceiveAnswer answer{.action = action_of(*received),
                       .message = received->message,
                       .mode = agent->mode,
                       .notice = received->notice,
                       .outage = received->message.outage,
                       .no_reply_because = {},
                       .warning = {}};
  if (received->answered_before) answer.no_reply_because = "its sender was told a moment ago";
  if (received->no_room_to_answer) answer.no_reply_because = "too much waits in the outbox";
  if (answer.action == ReceiveAnswer::Action::queued) {
    answer.warning = tell_inbox(**gate, *agent);
  } else if (arrival.down && agent->folder) {
    // It may have become well, and its keeper may have released all that was held, meanwhile.
    agent->mode = gate_mode_of(machine_, *agent->folder);
    if (auto ok = end_what_is_over(**gate, *agent); !ok) answer.warning = ok.error().text;
    if (answer.warning.empty()) answer.warning = mirror(**gate, *agent);
  }
  return answer;
}

GateResult<void> GateDesk::end_what_is_over(Gate& gate, const GateAgent& agent) {
  if (!agent.mode.kept || agent.mode.down) return {};
  const auto open = gate.open_outage(agent.name);
  if (!open) return trouble(open.error());
  if (!*open) return {};
  if (auto ended = end_outage(gate, agent); !ended) return std::unexpected(ended.error());
  return {};
}

GateResult<ReleaseAnswer> GateDesk::end_outage(Gate& gate, const GateAgent& agent) {
  const auto open = gate.open_outage(agent.name);
  if (!open) return trouble(open.error());
  GateNews news = this->news(agent, *open ? std::optional((*open)->id) : std::nullopt);
  news.why.clear();
  for (const auto& [language, texts] : settings_.texts) news.texts[language] = texts.recovered;
  const auto ended = gate.end_outage(agent.name, all_clear_payload(news), machine_.clock.wall());
  if (!ended) return trouble(ended.error());
  std::ignore = tell_inbox(gate, agent);
  std::ignore = mirror(gate, agent);
  return ReleaseAnswer{.agent = agent.name,
                       .outage = ended->outage ? ended->outage->id : 0,
                       .released = ended->released,
                       .told = ended->told};
}

/// A keeper writes the same whenever its own view changes.
std::string GateDesk::mirror(Gate& gate, const GateAgent& agent) {
  if (agent.name.empty()) return "";
  const auto pending = gate.pending(agent.name);
  if (!pending) return pending.error().text;
  std::vector<Outage> open;
  if (agent.mode.down) {
    const auto outage = gate.open_outage(agent.name);
    const bool knows_since = agent.mode.since != WallTime{} || !outage || !*outage;
    open.push_back({.agent = agent.name,
                    .why = agent.mode.why.substr(0, agent.mode.why.find(':')),
                    .since = knows_since ? agent.mode.since : (*outage)->since});
  }
  auto written = agent.folder ? mirror_gate(*agent.folder, open, *pending) : Result<void>{};
  if (!settings_.mirror.empty()) {
    const auto own = open.empty() ? std::nullopt : std::optional(open.front());
    auto there = mirror_home(machine_, home_, settings_.mirror, agent.name, own);
    if (!there) written = std::move(there);
  }
  return written ? "" : "the mirror of the gate cannot be written: " + written.error().text;
}

std::string GateDesk::mirror(const std::string& agent) {
  auto gate = this->gate();
  if (!gate) return gate.error().text;
  const auto found = named(agent);
  return found ? mirror(**gate, *found) : "";
}

/// A line in its signals: what waits is known to its judge, and wakes its keeper.
std::string GateDesk::tell_inbox(Gate& gate, const GateAgent& agent) {
  if (agent.folder == nullptr || agent.mode.over) return "";
  const auto waiting = gate.waiting(agent.name, machine_.clock.wall());
  const auto told =
      waiting ? append_line(*agent.folder, kSignalsFile,
                            fmt::format("{{\"is\":\"inbox\",\"waiting\":{}}}\n", *waiting))
              : std::unexpected(waiting.error());
  if (told) return "";
  return fmt::format("the keeper of {} is not told of it: {}", called(agent), told.error().text);
}

// --- Handing them out ---------------------------------------------------------------------------

GateResult<std::optional<Message>> GateDesk::next(const std::optional<std::string>& typed,
                                                  const std::string& holder) {
  if (auto ok = check_gate_name("the holder", holder, kLongestEndpoint); !ok) {
    return no(No::bad_input, "bad-name", ok.error().text);
  }
  const auto agent = who(typed);
  if (!agent) return std::unexpected(agent.error());
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  if (auto ok = end_what_is_over(**gate, *agent); !ok) return std::unexpected(ok.error());
  const auto for_nobody = is_for_nobody_else(**gate, *agent);
  if (!for_nobody) return std::unexpected(for_nobody.error());
  auto taken = (*gate)->next(agent->name, holder, machine_.clock.wall(), *for_nobody);
  if (!taken) return trouble(taken.error());
  if (*taken) std::ignore = tell_inbox(**gate, *agent);
  return *std::move(taken);
}

GateResult<MessageAnswer> GateDesk::answered(Gate& gate, std::int64_t id,
                                             const Result<MessageAnswer>& answer) {
  if (!answer) return trouble(answer.error());
  const MessageState state = answer->message.state;
  switch (answer->did) {
    case MessageAnswer::Did::no_such_message:
      return no_such_message(id);
    case MessageAnswer::Did::not_taken:
      return no(No::refused, "not-taken",
                fmt::format("nobody works on message {}: it is {}", id,
                            kMessageStateWords.at(static_cast<std::size_t>(state))));
    case MessageAnswer::Did::lost:
      return no(No::refused, "lost",
                fmt::format("somebody else took message {} since: {}", id,
                            on_one_line(answer->message.holder.value_or("nobody any more"))));
    case MessageAnswer::Did::done:
    case MessageAnswer::Did::as_before:
    case MessageAnswer::Did::given_up:
      break;
  }
  if (!answer->message.agent.empty()) {
    if (const auto agent = named(answer->message.agent)) std::ignore = tell_inbox(gate, *agent);
  }
  return *answer;
}

GateResult<MessageAnswer> GateDesk::done(std::int64_t id) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  return answered(**gate, id, (*gate)->done(id, machine_.clock.wall()));
}

GateResult<MessageAnswer> GateDesk::fail(std::int64_t id, std::optional<std::int64_t> tries,
                                         const std::string& error) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  return answered(**gate, id, (*gate)->fail(id, tries, error, machine_.clock.wall()));
}

GateResult<MessageAnswer> GateDesk::retry(std::int64_t id) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  return answered(**gate, id, (*gate)->retry(id, machine_.clock.wall()));
}

// --- Looking ------------------------------------------------------------------------------------

GateResult<Message> GateDesk::show(std::int64_t id) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  auto found = (*gate)->find(id);
  if (!found) return trouble(found.error());
  if (!*found) return no_such_message(id);
  return **std::move(found);
}

GateResult<std::vector<Message>> GateDesk::list(const std::optional<std::string>& agent,
                                                std::optional<MessageState> state,
                                                std::int64_t most) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  auto found = (*gate)->list(agent, state, most);
  if (!found) return trouble(found.error());
  return *std::move(found);
}

GateResult<GateStatus> GateDesk::status_of(Gate& gate, const GateAgent& agent) {
  auto outage = gate.open_outage(agent.name);
  if (!outage) return trouble(outage.error());
  auto count = gate.count(agent.name, machine_.clock.wall());
  if (!count) return trouble(count.error());
  auto pending = gate.pending(agent.name);
  if (!pending) return trouble(pending.error());
  return GateStatus{.agent = agent.name,
                    .known = agent.folder != nullptr,
                    .mode = agent.mode,
                    .outage = *std::move(outage),
                    .count = *count,
                    .pending = *std::move(pending)};
}

GateResult<std::vector<GateStatus>> GateDesk::status(const std::optional<std::string>& typed) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  std::vector<GateAgent> agents;
  if (typed) {
    auto agent = named(*typed);
    if (!agent) return std::unexpected(agent.error());
    agents.push_back(*std::move(agent));
  } else {
    auto all = roots();
    if (!all) return std::unexpected(all.error());
    agents = *std::move(all);
    const auto names = (*gate)->agents();
    if (!names) return trouble(names.error());
    for (const std::string& name : *names) {
      if (std::ranges::find(agents, name, &GateAgent::name) != agents.end()) continue;
      auto agent = name.empty() ? GateResult<GateAgent>(GateAgent{}) : named(name);
      if (agent) agents.push_back(*std::move(agent));
    }
  }
  std::vector<GateStatus> all;
  for (const GateAgent& agent : agents) {
    auto status = status_of(**gate, agent);
    if (!status) return std::unexpected(status.error());
    all.push_back(*std::move(status));
  }
  return all;
}

// --- Setting right ------------------------------------------------------------------------------

GateResult<ReleaseAnswer> GateDesk::release(const std::optional<std::string>& typed,
                                            bool by_force) {
  const auto agent = who(typed);
  if (!agent) return std::unexpected(agent.error());
  if (agent->mode.down && !by_force) {
    return no(No::refused, "down",
              fmt::format("{} is down ({}); --force releases its messages all the same",
                          called(*agent), agent->mode.why));
  }
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  return end_outage(**gate, *agent);
}

GateResult<std::int64_t> GateDesk::end_forgotten() {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  const auto open = (*gate)->open_outages();
  if (!open) return trouble(open.error());
  std::int64_t ended = 0;
  for (const Outage& outage : *open) {
    const auto agent =
        outage.agent.empty() ? GateResult<GateAgent>(GateAgent{}) : named(outage.agent);
    if (!agent || !agent->mode.kept || agent->mode.down) continue;
    if (auto done = end_outage(**gate, *agent); !done) return std::unexpected(done.error());
    ++ended;
  }
  return ended;
}

GateResult<std::int64_t> GateDesk::tell_left(WallTime before) {
  auto gate = this->gate();
  if (!gate) return std::unexpected(gate.error());
  const auto agents = (*gate)->agents();
  if (!agents) return trouble(agents.error());
  std::int64_t told = 0;
  for (const std::string& name : *agents) {
    if (name.empty()) continue;
    const auto agent = named(name);
    if (!agent || !agent->mode.over) continue;
    GateNews news = this->news(*agent, std::nullopt);
    news.why = "it has ended";
    const auto left = tend::tell_left(
        *database_,
        {.agent = name,
         .why = news.why,
         .before = before,
         .undelivered = [&](const auto& these) { return undelivered_payload(news, these); }},
        machine_.clock.wall());
    if (!left) return trouble(left.error());
    if (*left > 0) std::ignore = mirror(**gate, *agent);
    told += *left;
  }
  return told;
}

GateResult<std::string> GateDesk::resume(const std::optional<std::string>& typed,
                                         const KeeperProgram& program) {
  const auto agent = who(typed);
  if (!agent) return std::unexpected(agent.error());
  if (agent->folder == nullptr || agent->mode.over) {
    return no(No::refused, agent->mode.over ? "over" : "no-such-agent",
              fmt::format("{}: there is nobody to go on", called(*agent)));
  }
  const Intent intent{
      .want = Want::run, .by = "tend gate resume", .at = calendar_seconds(machine_.clock.wall())};
  if (auto written = write_intent(*agent->folder, intent); !written) {
    return trouble(written.error());
  }
  if (!has_keeper(machine_, *agent->folder)) {
    if (auto kept = start_keeper(machine_, program, agent->folder->path(), {}); !kept) {
      return trouble(kept.error());
    }
  }
  poke_keeper(machine_, *agent->folder);
  return agent->name;
}

}  // namespace tend
