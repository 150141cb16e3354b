// A scenario as JSON: one object, an agent or a fault a line, times in seconds. What is read back
// can be played: words are known, names are of somebody, and parents stand before their children.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/agent_options.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "judge/lease.h"
#include "judge/policy.h"
#include "os/linux/fd.h"
#include "scenario.h"
#include "store/json.h"

namespace tend::sim {
namespace {

constexpr std::size_t kLargestScenario = std::size_t{16} * 1024 * 1024;
constexpr std::int64_t kMostPids = 4'194'303;  // of Linux

template <class Enum, std::size_t N>
std::string_view word_of(const std::array<std::string_view, N>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

bool needs_child(StepKind kind) { return kind == StepKind::dispatch || kind == StepKind::merge; }

// --- Writing -------------------------------------------------------------------------------------

WriteJson seconds_json(Duration duration) {
  const auto whole = duration.count();
  if (whole % 1000 == 0) return whole / 1000;
  return static_cast<double>(whole) / 1000;
}

WriteJson step_json(const Step& step) {
  WriteJson json{{"kind", word_of(kStepWords, step.kind)}, {"takes", seconds_json(step.takes)}};
  if (is_trouble(step.kind) || step.times != 1) json["times"] = step.times;
  if (needs_child(step.kind) || !step.child.empty()) json["child"] = step.child;
  return json;
}

WriteJson probe_json(const ProbePlan& probe) {
  return {{"interval", seconds_json(probe.interval)},
          {"deadline", seconds_json(probe.deadline)},
          {"deliver", probe.deliver},
          {"takes", seconds_json(probe.takes)},
          {"mute", probe.mute}};
}

WriteJson agent_json(const AgentPlan& agent) {
  WriteJson steps = WriteJson::array();
  for (const Step& step : agent.steps) steps.push_back(step_json(step));
  WriteJson json{{"name", agent.name},
                 {"parent", agent.parent},
                 {"voice", word_of(kVoiceWords, agent.voice)},
                 {"policy", agent.policy},
                 {"own_worktree", agent.own_worktree}};
  if (agent.wrapped) json["wrapped"] = true;
  if (agent.task) json["task"] = true;
  if (agent.context != TaskContext::active) {
    json["context"] = word_of(kTaskContextWords, agent.context);
  }
  if (agent.claims) json["claims"] = true;
  if (agent.is_asked()) json["probe"] = probe_json(agent.probe);
  json["steps"] = std::move(steps);
  return json;
}

WriteJson outsider_json(const OutsiderPlan& outsider) {
  return {{"name", outsider.name},
          {"context", word_of(kTaskContextWords, outsider.context)},
          {"begins", seconds_json(outsider.begins)},
          {"silent_at", seconds_json(outsider.silent_at)},
          {"silent_for", seconds_json(outsider.silent_for)},
          {"answers", outsider.answers}};
}

WriteJson sender_json(const SenderPlan& sender) {
  return {{"name", sender.name},
          {"agent", sender.agent},
          {"reply", word_of(kReplyWords, sender.reply)},
          {"works_from", seconds_json(sender.works_from)}};
}

WriteJson message_json(const MessagePlan& message) {
  return {{"from", message.from},
          {"at", seconds_json(message.at)},
          {"when", word_of(kSendsWhenWords, message.when)},
          {"later", seconds_json(message.later)},
          {"priority", message.priority},
          {"twice", message.twice}};
}

WriteJson contender_json(const ContenderPlan& contender) {
  WriteJson json{{"name", contender.name},
                 {"begins", seconds_json(contender.begins)},
                 {"ends", seconds_json(contender.ends)},
                 {"ttl", seconds_json(contender.ttl)},
                 {"works", seconds_json(contender.works)},
                 {"rests", seconds_json(contender.rests)},
                 {"deaf", contender.deaf}};
  if (contender.alone) json["alone"] = true;
  return json;
}

WriteJson service_json(const ServicePlan& service) {
  return {{"name", service.name},
          {"agent", service.agent},
          {"begins", seconds_json(service.begins)},
          {"ends", seconds_json(service.ends)},
          {"interval", seconds_json(service.interval)},
          {"lives", seconds_json(service.lives)},
          {"rests", seconds_json(service.rests)},
          {"by_pid", service.by_pid}};
}

WriteJson fault_json(const Fault& fault) {
  return {{"kind", word_of(kFaultWords, fault.kind)},
          {"at", seconds_json(fault.at)},
          {"lasts", seconds_json(fault.lasts)},
          {"whom", fault.whom},
          {"number", fault.number}};
}

template <class T>
std::string list_text(const std::vector<T>& all, WriteJson (*to_json)(const T&)) {
  std::string text = "[";
  for (const T& each : all) {
    text += text.size() > 1 ? ",\n  " : "\n  ";
    text += to_line(to_json(each));
  }
  return text + "]";
}

// --- Reading -------------------------------------------------------------------------------------

/// Reads the fields of one object and keeps the first thing that was wrong, and where.
class Fields {
 public:
  Fields(const ReadJson& object, std::string where, std::optional<Error>& wrong)
      : object_(object), where_(std::move(where)), wrong_(wrong) {
    if (!object.is_object()) complain("is no object");
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  /// What nobody asked for is a word mistyped, or of another version: it would be ignored.
  ~Fields() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(asked_, key) != asked_.end()) continue;
      complain(fmt::format("has {}, which is no word that is known{}", in_quotes(key),
                           did_you_mean(key, asked_)));
    }
  }

  const ReadJson* field(const char* key) {
    asked_.emplace_back(key);
    const ReadJson* const found = object_.is_object() ? find_field(object_, key) : nullptr;
    if (found == nullptr) complain(fmt::format("has no \"{}\"", key));
    return found;
  }
  [[nodiscard]] bool has(const char* key) {
    asked_.emplace_back(key);
    return object_.is_object() && find_field(object_, key) != nullptr;
  }
  Duration seconds(const char* key) {
    const ReadJson* const found = field(key);
    if (found == nullptr) return {};
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= 0) || value > std::chrono::duration<double>(kLongestTime).count()) {
      complain(fmt::format("\"{}\" is no time in seconds", key));
      return {};
    }
    return Duration{std::llround(value * 1000)};
  }
  std::string text(const char* key) {
    const ReadJson* const found = field(key);
    if (found == nullptr) return "";
    if (found->is_string()) return found->get<std::string>();
    complain(fmt::format("\"{}\" is no text", key));
    return "";
  }
  bool flag(const char* key) {
    const ReadJson* const found = field(key);
    if (found != nullptr && !found->is_boolean()) {
      complain(fmt::format("\"{}\" is neither true nor false", key));
    }
    return found != nullptr && found->is_boolean() && found->get<bool>();
  }
  std::uint64_t number(const char* key, std::uint64_t most) {
    const ReadJson* const found = field(key);
    if (found == nullptr) return 0;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() <= most) {
      return found->get<std::uint64_t>();
    }
    complain(fmt::format("\"{}\" is no whole number of at most {}", key, most));
    return 0;
  }
  template <class Enum, std::size_t N>
  Enum word(const char* key, const std::array<std::string_view, N>& words) {
    const std::string given = text(key);
    const auto* const found = std::ranges::find(words, given);
    if (found != words.end()) return static_cast<Enum>(found - words.begin());
    complain(fmt::format("\"{}\" is no word that is known: {}{}", key, in_quotes(given),
                         did_you_mean(given, words)));
    return Enum{};
  }
  /// Calls `read` for everything in the list, as "WHERE KEY[N]".
  template <class Read>
  void list(const char* key, const Read& read) {
    const ReadJson* const found = field(key);
    if (found == nullptr) return;
    if (!found->is_array()) return complain(fmt::format("\"{}\" is no list", key));
    for (std::size_t i = 0; i < found->size() && !wrong_; ++i) {
      Fields fields((*found)[i],
                    fmt::format("{}{}{}[{}]", where_, where_.empty() ? "" : " ", key, i), wrong_);
      read(fields);
    }
  }
  /// Calls `read` for the object that stands there.
  template <class Read>
  void object(const char* key, const Read& read) {
    const ReadJson* const found = field(key);
    if (found == nullptr) return;
    Fields fields(*found, fmt::format("{}{}{}", where_, where_.empty() ? "" : " ", key), wrong_);
    read(fields);
  }
  void complain(const std::string& what) {
    if (wrong_) return;
    wrong_ = Error{fmt::format("scenario: {}{}{}", where_, where_.empty() ? "" : " ", what)};
  }

 private:
  const ReadJson& object_;
  std::vector<std::string_view> asked_;
  std::string where_;
  std::optional<Error>& wrong_;
};

Step read_step(Fields& fields) {
  constexpr std::uint64_t kMostTimes = 1000;
  Step step;
  step.kind = fields.word<StepKind>("kind", kStepWords);
  step.takes = fields.seconds("takes");
  if (is_trouble(step.kind) || fields.has("times")) {
    step.times = static_cast<std::uint32_t>(fields.number("times", kMostTimes));
  }
  if (needs_child(step.kind) || fields.has("child")) step.child = fields.text("child");
  return step;
}

ProbePlan read_probe(Fields& fields) {
  ProbePlan probe;
  probe.interval = fields.seconds("interval");
  probe.deadline = fields.seconds("deadline");
  probe.deliver = fields.flag("deliver");
  probe.takes = fields.seconds("takes");
  probe.mute = fields.flag("mute");
  if (probe.deadline < probe.interval) {
    fields.complain("\"deadline\" is shorter than \"interval\"");
  }
  return probe;
}

AgentPlan read_agent(Fields& fields) {
  AgentPlan agent;
  agent.name = fields.text("name");
  agent.parent = fields.text("parent");
  agent.voice = fields.word<Voice>("voice", kVoiceWords);
  agent.policy = fields.text("policy");
  agent.own_worktree = fields.flag("own_worktree");
  if (fields.has("wrapped")) agent.wrapped = fields.flag("wrapped");
  if (fields.has("task")) agent.task = fields.flag("task");
  if (fields.has("context")) agent.context = fields.word<TaskContext>("context", kTaskContextWords);
  if (fields.has("claims")) agent.claims = fields.flag("claims");
  if (fields.has("probe")) {
    fields.object("probe", [&](Fields& probe) { agent.probe = read_probe(probe); });
  }
  fields.list("steps", [&](Fields& each) { agent.steps.push_back(read_step(each)); });
  return agent;
}

OutsiderPlan read_outsider(Fields& fields) {
  OutsiderPlan outsider;
  outsider.name = fields.text("name");
  outsider.context = fields.word<TaskContext>("context", kTaskContextWords);
  outsider.begins = fields.seconds("begins");
  outsider.silent_at = fields.seconds("silent_at");
  outsider.silent_for = fields.seconds("silent_for");
  outsider.answers = fields.flag("answers");
  return outsider;
}

SenderPlan read_sender(Fields& fields) {
  SenderPlan sender;
  sender.name = fields.text("name");
  sender.agent = fields.text("agent");
  sender.reply = fields.word<ReplyManner>("reply", kReplyWords);
  sender.works_from = fields.seconds("works_from");
  return sender;
}

MessagePlan read_message(Fields& fields) {
  constexpr std::uint64_t kLastPriority = 3;
  MessagePlan message;
  message.from = fields.text("from");
  message.at = fields.seconds("at");
  message.when = fields.word<SendsWhen>("when", kSendsWhenWords);
  message.later = fields.seconds("later");
  message.priority = fields.number("priority", kLastPriority);
  message.twice = fields.flag("twice");
  return message;
}

ContenderPlan read_contender(Fields& fields) {
  ContenderPlan contender;
  contender.name = fields.text("name");
  contender.begins = fields.seconds("begins");
  contender.ends = fields.seconds("ends");
  contender.ttl = fields.seconds("ttl");
  contender.works = fields.seconds("works");
  contender.rests = fields.seconds("rests");
  contender.deaf = fields.flag("deaf");
  if (fields.has("alone")) contender.alone = fields.flag("alone");
  return contender;
}

ServicePlan read_service(Fields& fields) {
  ServicePlan service;
  service.name = fields.text("name");
  service.agent = fields.text("agent");
  service.begins = fields.seconds("begins");
  service.ends = fields.seconds("ends");
  service.interval = fields.seconds("interval");
  service.lives = fields.seconds("lives");
  service.rests = fields.seconds("rests");
  service.by_pid = fields.flag("by_pid");
  return service;
}

Fault read_fault(Fields& fields) {
  Fault fault;
  fault.kind = fields.word<FaultKind>("kind", kFaultWords);
  fault.at = fields.seconds("at");
  fault.lasts = fields.seconds("lasts");
  fault.whom = fields.text("whom");
  fault.number = fields.number("number", std::numeric_limits<std::uint64_t>::max());
  return fault;
}

Scenario read_scenario(Fields& fields) {
  Scenario scenario;
  scenario.seed = fields.number("seed", std::numeric_limits<std::uint64_t>::max());
  scenario.lasts = fields.seconds("lasts");
  scenario.settles = fields.seconds("settles");
  scenario.lossy_hints = fields.flag("lossy_hints");
  scenario.groups = fields.flag("groups");
  scenario.saving_takes = fields.seconds("saving_takes");
  scenario.most_pid =
      static_cast<std::int64_t>(fields.number("most_pid", static_cast<std::uint64_t>(kMostPids)));
  fields.list("agents", [&](Fields& each) { scenario.agents.push_back(read_agent(each)); });
  if (scenario.agents.empty() || scenario.agents.size() > kMostPlayed) {
    fields.complain(
        fmt::format("\"agents\" are 1 to {}, not {}", kMostPlayed, scenario.agents.size()));
  }
  fields.list("faults", [&](Fields& each) { scenario.faults.push_back(read_fault(each)); });
  if (fields.has("patrol")) scenario.patrol = fields.seconds("patrol");
  if (fields.has("outsiders")) {
    fields.list("outsiders",
                [&](Fields& each) { scenario.outsiders.push_back(read_outsider(each)); });
  }
  if (fields.has("senders")) {
    fields.list("senders", [&](Fields& each) { scenario.senders.push_back(read_sender(each)); });
  }
  if (fields.has("messages")) {
    fields.list("messages", [&](Fields& each) { scenario.messages.push_back(read_message(each)); });
  }
  if (fields.has("contenders")) {
    fields.list("contenders",
                [&](Fields& each) { scenario.contenders.push_back(read_contender(each)); });
  }
  if (fields.has("services")) {
    fields.list("services", [&](Fields& each) { scenario.services.push_back(read_service(each)); });
  }
  return scenario;
}

// --- What fits together --------------------------------------------------------------------------

/// Of whoever it is: names become those of folders, tasks and leases.
Result<void> check_name(const std::string& name) {
  if (is_agent_name(name)) return {};
  return fail(
      fmt::format("scenario: a name wants letters, digits, '.', '_' and '-', at most 64, "
                  "not {}",
                  in_quotes(name)));
}

Result<void> check_agent(const AgentPlan& agent, const std::set<std::string>& before) {
  const auto wrong = [&](const std::string& what) {
    return fail(fmt::format("scenario: agent {} {}", in_quotes(agent.name), what));
  };
  if (agent.name.empty()) return fail("scenario: an agent has no name");
  if (auto fits = check_name(agent.name); !fits) return fits;
  if (before.contains(agent.name)) return wrong("is there twice");
  if (!built_in_policy(agent.policy))
    return wrong("has no known policy: " + in_quotes(agent.policy));
  if (!agent.parent.empty() && !before.contains(agent.parent)) {
    return wrong(
        fmt::format("has a parent {} that does not stand before it", in_quotes(agent.parent)));
  }
  return {};
}

Result<void> check_messages(const Scenario& scenario, const std::set<std::string>& agents) {
  std::set<std::string> names;
  for (const SenderPlan& sender : scenario.senders) {
    if (!agents.contains(sender.agent)) {
      return fail(fmt::format("scenario: sender {} writes to {}, who is not there",
                              in_quotes(sender.name), in_quotes(sender.agent)));
    }
    if (sender.name.empty() || !names.insert(sender.name).second) {
      return fail(
          fmt::format("scenario: a sender has no name of its own: {}", in_quotes(sender.name)));
    }
    if (auto fits = check_name(sender.name); !fits) return fits;
  }
  for (const MessagePlan& message : scenario.messages) {
    if (message.priority < 1) return fail("scenario: a message has no priority");
    if (names.contains(message.from)) continue;
    return fail(
        fmt::format("scenario: a message is from {}, who is not there", in_quotes(message.from)));
  }
  return {};
}

Result<void> check_services(const Scenario& scenario, std::set<std::string> names) {
  const std::set<std::string> agents = names;
  for (const ServicePlan& service : scenario.services) {
    if (!service.agent.empty() && !agents.contains(service.agent)) {
      return fail(fmt::format("scenario: service {} beats for {}, who is not there",
                              in_quotes(service.name), in_quotes(service.agent)));
    }
    if (service.name.empty() || !names.insert(service.name).second) {
      return fail(
          fmt::format("scenario: a service has no name of its own: {}", in_quotes(service.name)));
    }
    if (auto fits = check_name(service.name); !fits) return fits;
    if (service.interval > Duration::zero()) continue;
    return fail(fmt::format("scenario: service {} has no interval", in_quotes(service.name)));
  }
  return {};
}

Result<void> check_steps(const Scenario& scenario) {
  std::set<std::pair<std::string, std::string>> below;
  for (const AgentPlan& agent : scenario.agents) below.emplace(agent.parent, agent.name);
  for (const AgentPlan& agent : scenario.agents) {
    for (const Step& step : agent.steps) {
      if (!needs_child(step.kind) || below.contains({agent.name, step.child})) continue;
      return fail(fmt::format("scenario: agent {} has a step {} for {}, which is no child of it",
                              in_quotes(agent.name), word_of(kStepWords, step.kind),
                              in_quotes(step.child)));
    }
  }
  return {};
}

Result<void> check_contenders(const Scenario& scenario, std::set<std::string>& names) {
  for (const ContenderPlan& contender : scenario.contenders) {
    if (contender.name.empty() || !names.insert(contender.name).second) {
      return fail(fmt::format("scenario: a contender has no name of its own: {}",
                              in_quotes(contender.name)));
    }
    if (auto fits = check_name(contender.name); !fits) return fits;
    if (contender.ttl >= kShortestLease && contender.ttl <= kLongestLease) continue;
    return fail(
        fmt::format("scenario: contender {} has no time for its lease", in_quotes(contender.name)));
  }
  return {};
}

/// Who comes at the last moment may have to wait for all others. Whoever leads when the world ends
/// would look like one that owes something.
Result<void> check_leads(const Scenario& scenario) {
  Duration latest = scenario.lasts + scenario.settles;
  const auto comes = [](const ContenderPlan& contender) {
    return contender.begins < contender.ends;
  };
  for (const ContenderPlan& contender : scenario.contenders) {
    if (comes(contender)) latest -= std::min(latest, contender.works);
  }
  for (const ContenderPlan& contender : scenario.contenders) {
    if (!comes(contender) || contender.ends <= latest) continue;
    return fail(
        fmt::format("scenario: contender {} may lead when the world ends: its \"ends\" and the "
                    "\"works\" of all contenders are together at most \"lasts\" and \"settles\"",
                    in_quotes(contender.name)));
  }
  return {};
}

Result<void> check_faults(const Scenario& scenario, const std::set<std::string>& agents,
                          const std::set<std::string>& names) {
  for (const Fault& fault : scenario.faults) {
    const std::string_view kind = word_of(kFaultWords, fault.kind);
    if (strikes_an_agent(fault.kind) && fault.whom.empty()) {
      return fail(
          fmt::format("scenario: a fault {} strikes nobody: \"whom\" wants the name of an "
                      "agent",
                      kind));
    }
    const bool is_there =
        fault.whom.empty() || (strikes_an_agent(fault.kind) ? agents : names).contains(fault.whom);
    if (is_there) continue;
    return fail(fmt::format("scenario: a fault {} strikes {}, who is not there", kind,
                            in_quotes(fault.whom)));
  }
  return {};
}

Result<void> check_pids(const Scenario& scenario) {
  const std::int64_t fewest = fewest_pids(scenario.agents.size());
  if (scenario.most_pid == 0 || scenario.most_pid >= fewest) return {};
  return fail(fmt::format("scenario: \"most_pid\" is too small for so many agents: 0, or {} to {}",
                          fewest, kMostPids));
}

Result<void> check_names(const Scenario& scenario) {
  std::set<std::string> names;
  for (const AgentPlan& agent : scenario.agents) {
    if (auto fits = check_agent(agent, names); !fits) return fits;
    names.insert(agent.name);
  }
  const std::set<std::string> agents = names;
  if (auto fits = check_steps(scenario); !fits) return fits;
  if (auto fits = check_messages(scenario, agents); !fits) return fits;
  if (auto fits = check_services(scenario, agents); !fits) return fits;
  for (const OutsiderPlan& outsider : scenario.outsiders) {
    if (outsider.name.empty() || !names.insert(outsider.name).second) {
      return fail(fmt::format("scenario: an outsider has no name of its own: {}",
                              in_quotes(outsider.name)));
    }
    if (auto fits = check_name(outsider.name); !fits) return fits;
  }
  if (auto fits = check_contenders(scenario, names); !fits) return fits;
  if (auto fits = check_leads(scenario); !fits) return fits;
  return check_faults(scenario, agents, names);
}

// --- Files ---------------------------------------------------------------------------------------

/// One byte more than a scenario may have at most: the rest of an endless one is not waited for.
Result<std::string> read_file(const std::string& path) {
  const Fd file(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.get() < 0) return fail(system_says(errno));
  std::string text;
  std::array<char, 65536> buffer{};
  while (text.size() <= kLargestScenario) {
    const auto got = retried([&] { return ::read(file.get(), buffer.data(), buffer.size()); });
    if (got < 0) return fail(system_says(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return fail("it is larger than 16 MB");
}

/// The last bytes of the line, in quotes.
std::string end_of(std::string_view line) {
  constexpr std::size_t kShown = 40;
  return in_quotes(one_line(line.substr(line.size() - std::min(kShown, line.size())), kShown));
}

constexpr std::size_t kLongestReason = 200;

/// Where a text is no JSON, or no object.
Error no_object(std::string_view text) {
  try {
    std::ignore = ReadJson::parse(text);
  } catch (const ReadJson::parse_error& error) {
    const std::string_view read = text.substr(0, error.byte);
    const std::string_view line = read.substr(read.rfind('\n') + 1);
    return Error{fmt::format(
        "scenario: no JSON at line {}: {}", std::ranges::count(read, '\n') + 1,
        error.byte > text.size() ? "it ends there" : "wrong at the end of " + end_of(line))};
  } catch (const ReadJson::exception& error) {  // a number that is none
    return Error{fmt::format("scenario: no JSON: {}", one_line(error.what(), kLongestReason))};
  }
  return Error{"scenario: the text is no JSON object"};
}

}  // namespace

std::string format_scenario(const Scenario& scenario) {
  WriteJson world{{"seed", scenario.seed},
                  {"lasts", seconds_json(scenario.lasts)},
                  {"settles", seconds_json(scenario.settles)},
                  {"lossy_hints", scenario.lossy_hints},
                  {"groups", scenario.groups},
                  {"saving_takes", seconds_json(scenario.saving_takes)},
                  {"most_pid", scenario.most_pid}};
  if (scenario.patrol > Duration::zero()) world["patrol"] = seconds_json(scenario.patrol);
  std::string text = to_line(world);
  text.pop_back();
  text += ",\n\"agents\":" + list_text(scenario.agents, agent_json);
  text += ",\n\"faults\":" + list_text(scenario.faults, fault_json);
  if (!scenario.outsiders.empty()) {
    text += ",\n\"outsiders\":" + list_text(scenario.outsiders, outsider_json);
  }
  if (!scenario.senders.empty()) {
    text += ",\n\"senders\":" + list_text(scenario.senders, sender_json);
  }
  if (!scenario.messages.empty()) {
    text += ",\n\"messages\":" + list_text(scenario.messages, message_json);
  }
  if (!scenario.contenders.empty()) {
    text += ",\n\"contenders\":" + list_text(scenario.contenders, contender_json);
  }
  if (!scenario.services.empty()) {
    text += ",\n\"services\":" + list_text(scenario.services, service_json);
  }
  return text + "}\n";
}

Result<Scenario> parse_scenario(std::string_view text) {
  const auto object = parse_object(text, kLargestScenario);
  if (!object) return std::unexpected(no_object(text));
  std::optional<Error> wrong;
  Scenario scenario;
  {
    Fields fields(*object, "", wrong);  // in its end it finds the words that nobody asked for
    scenario = read_scenario(fields);
  }
  if (wrong) return std::unexpected(*wrong);
  if (auto fits = check_names(scenario); !fits) return std::unexpected(fits.error());
  if (auto fits = check_pids(scenario); !fits) return std::unexpected(fits.error());
  return scenario;
}

Result<Scenario> load_scenario(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail(fmt::format("cannot read {}: {}", in_quotes(path), text.error().text));
  auto scenario = parse_scenario(*text);
  if (!scenario) return fail(fmt::format("{}: {}", in_quotes(path), scenario.error().text));
  return scenario;
}

}  // namespace tend::sim
