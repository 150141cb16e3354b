// A client is read, answered and written to in turn, never two at once: what it sends ahead waits
// with it.
#include "app/gate_door.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/gate_json.h"
#include "app/gate_request.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr const char* kDoorFile = ".gate-door";
constexpr std::size_t kRecordSize = 512;
constexpr std::size_t kMostInOneGo = 16;          // requests of one client before others are heard
constexpr std::size_t kMostOutbound = 1'000'000;  // bytes of answers before they are sent
constexpr std::size_t kMostTurnedAway = 64;       // clients that are told why
constexpr Duration kMayTakeToLeave = 2s;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

GateDoor::GateDoor(Machine& machine, Folder& home, GateDesk& desk, Settings settings)
    : machine_(machine),
      home_(home),
      desk_(desk),
      settings_(std::move(settings)),
      replies_(
          machine, home,
          {.delivered = [this](const Postman::Delivery& delivery) { say_if_not_heard(delivery); },
           .tried =
               [this](const std::string& problem) {
                 if (!problem.empty()) settings_.say("replies cannot be sent: " + problem);
               }}) {}

void GateDoor::say_if_not_heard(const Postman::Delivery& delivery) {
  if (delivery.told.heard) return;
  settings_.say(fmt::format("a reply was not heard{}: {}: {}",
                            delivery.given_up ? ", and is given up" : "",
                            on_one_line(delivery.notice.channel), delivery.told.words));
}

Result<void> GateDoor::take_lock() {
  auto lock = LockedRecord::take(home_, kDoorFile, kRecordSize);
  if (!lock) return std::unexpected(lock.error());
  if (*lock == nullptr) {
    const auto seen = look_at_record(home_, kDoorFile, kRecordSize);
    std::string_view who = seen && *seen ? std::string_view((*seen)->text) : "";
    who = who.substr(0, who.find_last_not_of(" \n") + 1);  // a record is filled up
    return tend::fail("another process is the door of this home: " + on_one_line(who));
  }
  lock_ = *std::move(lock);
  std::string text =
      fmt::format("process {} at {}", machine_.processes.self().pid, on_one_line(settings_.socket));
  text.resize(std::min(text.size(), kRecordSize - 2));
  return lock_->write(std::move(text));
}

Result<void> GateDoor::open() {
  if (auto locked = take_lock(); !locked) return locked;
  auto listening = machine_.sockets.listen(
      settings_.socket,
      [this](std::unique_ptr<Connection> connection) { welcome(std::move(connection)); });
  if (!listening) return std::unexpected(listening.error());
  listening_ = *std::move(listening);
  for (const Order order : {Order::interrupt, Order::terminate}) {
    orders_.push_back(machine_.loop.on(order, [this] { leave(); }));
  }
  return {};
}

// --- Clients ------------------------------------------------------------------------------------

void GateDoor::welcome(std::unique_ptr<Connection> connection) {
  if (!connection->same_user() || clients_.size() >= kMostClients + kMostTurnedAway) return;
  const bool has_room = clients_.size() < kMostClients;
  const std::uint64_t id = ++last_client_;
  Client& client = clients_[id];
  client.connection = std::move(connection);
  wait_a_while(id);
  if (has_room) return read(id);
  client.outbound = line_of(refused_json(
      {.code = "busy", .text = fmt::format("{} clients are here; come back later", kMostClients)}));
  client.leaves = true;
  write(id);
}

void GateDoor::read(std::uint64_t id) {
  Client& client = clients_.at(id);
  client.reading = client.connection->read([this, id](std::string_view piece) { hear(id, piece); });
}

void GateDoor::hear(std::uint64_t id, std::string_view piece) {
  Client& client = clients_.at(id);
  client.reading.reset();
  client.heard_all = piece.empty();
  client.inbound += piece;
  const bool is_cut = client.heard_all && !client.inbound.empty();
  if (is_cut && !client.inbound.ends_with('\n')) client.inbound += '\n';
  go_on(id);
}

/// Answers what is there, sends that, and only then reads on.
void GateDoor::go_on(std::uint64_t id) {
  Client& client = clients_.at(id);
  wait_a_while(id);
  if (!client.leaves) answer_lines(client);
  if (!client.outbound.empty()) return write(id);
  if (client.leaves || client.heard_all || leaving_) return drop(id);
  read(id);
}

void GateDoor::answer_lines(Client& client) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < kMostInOneGo && client.outbound.size() < kMostOutbound; ++i) {
    const std::size_t end = client.inbound.find('\n', begin);
    if (end == std::string::npos) break;
    client.outbound += answer_to(std::string_view(client.inbound).substr(begin, end - begin));
    begin = end + 1;
  }
  client.inbound.erase(0, begin);
  if (begin > 0 || client.inbound.size() <= kLongestLine) return;
  client.outbound += line_of(
      refused_json({.code = "too-large",
                    .text = fmt::format("a line has more than {} bytes; the connection is closed",
                                        kLongestLine)}));
  client.inbound.clear();
  client.leaves = true;
}

void GateDoor::write(std::uint64_t id) {
  Client& client = clients_.at(id);
  client.writing =
      client.connection->write(std::exchange(client.outbound, {}), [this, id](bool all) {
        clients_.at(id).writing.reset();
        all ? go_on(id) : drop(id);
      });
}

void GateDoor::wait_a_while(std::uint64_t id) {
  clients_.at(id).idle =
      machine_.loop.at(machine_.clock.now() + kLongestIdle, [this, id] { drop(id); });
}

void GateDoor::drop(std::uint64_t id) {
  clients_.erase(id);
  if (leaving_ && clients_.empty()) machine_.loop.stop();
}

/// Whoever was promised an answer gets it; nobody else is heard any more.
void GateDoor::leave() {
  if (leaving_) return machine_.loop.stop();
  leaving_ = true;
  listening_.reset();
  std::erase_if(clients_, [](const auto& each) { return each.second.writing == nullptr; });
  for (auto& [id, client] : clients_) client.leaves = true;
  if (clients_.empty()) return machine_.loop.stop();
  deadline_ =
      machine_.loop.at(machine_.clock.now() + kMayTakeToLeave, [this] { machine_.loop.stop(); });
}

// --- Requests -----------------------------------------------------------------------------------

std::string GateDoor::answer_to(std::string_view line) {
  const auto request = gate_request(line);
  if (!request) return line_of(refused_json(request.error()));
  auto answer = do_verb(*request);
  Json json = answer ? *std::move(answer) : refused_json(answer.error());
  if (const auto ref = request->find("ref"); ref != request->end()) {
    Json with_ref{{"ref", *ref}};
    with_ref.update(json);
    json = std::move(with_ref);
  }
  return line_of(json);
}

GateResult<Json> GateDoor::do_verb(const nlohmann::json& request) {
  struct Verb {
    std::string_view name;
    GateResult<Json> (GateDoor::*body)(const nlohmann::json& request);
    std::vector<std::string_view> fields;  // beside verb and ref
  };
  static const Verb kVerbs[] = {
      {"receive",
       &GateDoor::receive,
       {"agent", "channel", "endpoint", "content", "priority", "key", "reply_with", "no_reply",
        "language"}},
      {"next", &GateDoor::next, {"agent", "holder"}},
      {"done", &GateDoor::done, {"id"}},
      {"fail", &GateDoor::fail, {"id", "tries", "error"}},
      {"retry", &GateDoor::retry, {"id"}},
      {"status", &GateDoor::status, {"agent"}},
      {"resume", &GateDoor::resume, {"agent"}},
  };
  const auto name = text_of(request, "verb");
  if (!name) return std::unexpected(name.error());
  for (const Verb& verb : kVerbs) {
    if (*name != verb.name) continue;
    if (const auto fault = unknown_field(request, verb.fields)) return std::unexpected(*fault);
    return (this->*verb.body)(request);
  }
  return std::unexpected(
      bad_request("verb is receive, next, done, fail, retry, status or resume" +
                  (*name ? ", not " + in_quotes(**name) : std::string(", and is missing"))));
}

/// Its sender is told in the background, so that no reply command holds up the bridge.
GateResult<Json> GateDoor::receive(const nlohmann::json& request) {
  const auto order = receive_order(request);
  if (!order) return std::unexpected(order.error());
  const auto answer = desk_.receive(*order);
  if (!answer) return std::unexpected(answer.error());
  if (answer->notice) replies_.send(answer->outage);
  return receive_json(
      *answer, {.is = answer->notice ? "waiting" : "none", .error = answer->no_reply_because});
}

GateResult<Json> GateDoor::next(const nlohmann::json& request) {
  const auto agent = text_of(request, "agent");
  const auto holder = text_of(request, "holder");
  if (!agent || !holder) return std::unexpected(agent ? holder.error() : agent.error());
  const auto taken = desk_.next(*agent, holder->value_or("door"));
  if (!taken) return std::unexpected(taken.error());
  return next_json(*taken);
}

GateResult<Json> GateDoor::done(const nlohmann::json& request) {
  const auto id = id_of(request);
  if (!id) return std::unexpected(id.error());
  const auto answer = desk_.done(*id);
  if (!answer) return std::unexpected(answer.error());
  return changed_json(action_of_done(*answer), answer->message);
}

GateResult<Json> GateDoor::fail(const nlohmann::json& request) {
  const auto id = id_of(request);
  if (!id) return std::unexpected(id.error());
  const auto tries = number_of(request, "tries");
  if (!tries) return std::unexpected(tries.error());
  const auto error = text_of(request, "error");
  if (!error) return std::unexpected(error.error());
  const auto answer = desk_.fail(*id, *tries, error->value_or(""));
  if (!answer) return std::unexpected(answer.error());
  return changed_json(action_of_fail(*answer), answer->message);
}

GateResult<Json> GateDoor::retry(const nlohmann::json& request) {
  const auto id = id_of(request);
  if (!id) return std::unexpected(id.error());
  const auto answer = desk_.retry(*id);
  if (!answer) return std::unexpected(answer.error());
  return changed_json(action_of_retry(*answer), answer->message);
}

GateResult<Json> GateDoor::status(const nlohmann::json& request) {
  const auto agent = text_of(request, "agent");
  if (!agent) return std::unexpected(agent.error());
  const auto all = desk_.status(*agent);
  if (!all) return std::unexpected(all.error());
  return status_json(*all);
}

/// It is ordered; who wants to see the effect asks for the status.
GateResult<Json> GateDoor::resume(const nlohmann::json& request) {
  const auto agent = text_of(request, "agent");
  if (!agent) return std::unexpected(agent.error());
  const auto name = desk_.resume(*agent, settings_.program);
  if (!name) return std::unexpected(name.error());
  return Json{{"ok", true}, {"action", "ordered"}, {"agent", *name}};
}

}  // namespace tend
