// One object for each answer; every one says whether it is a yes.
#include "app/gate_json.h"

#include <algorithm>

#include "app/agent_json.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json pending_json(const PendingChannel& channel) {
  return {{"channel", channel.channel},
          {"endpoint", channel.endpoint},
          {"outage", channel.outage},
          {"since", calendar_json(channel.since)},
          {"state", kNoticeStateWords.at(static_cast<std::size_t>(channel.state))},
          {"last_error", or_null(channel.last_error)}};
}

Json one_status_json(const GateStatus& status) {
  const bool is_down = status.mode.down;
  const WallTime since = status.mode.since != WallTime{} ? status.mode.since
                         : status.outage                 ? status.outage->since
                                                         : WallTime{};
  Json pending = Json::array();
  std::ranges::transform(status.pending, std::back_inserter(pending), pending_json);
  return {{"agent", status.agent},
          {"known", status.known},
          {"mode", is_down ? "degraded" : "normal"},
          {"since", is_down ? calendar_json(since) : Json()},
          {"why", is_down ? Json(status.mode.why) : Json()},
          {"kept", status.mode.kept},
          {"over", status.mode.over},
          {"looping", status.mode.looping},
          {"outage", status.outage ? Json(status.outage->id) : Json()},
          {"queued", status.count.queued},
          {"held", status.count.held},
          {"taken", status.count.taken},
          {"dead", status.count.dead},
          {"done", status.count.done},
          {"oldest", status.count.oldest ? calendar_json(*status.count.oldest) : Json()},
          {"pending_channels", std::move(pending)},
          {"needs_you", status.needs_person()}};
}

}  // namespace

Json message_json(const Message& message) {
  const bool is_taken = message.state == MessageState::taken;
  return {{"id", message.id},
          {"agent", message.agent},
          {"channel", message.channel},
          {"endpoint", message.endpoint},
          {"priority", message.priority},
          {"content", message.content},
          {"state", kMessageStateWords.at(static_cast<std::size_t>(message.state))},
          {"key", or_null(message.key)},
          {"holder", or_null(message.holder)},
          {"tries", message.tries},
          {"lease_until", is_taken ? calendar_json(message.lease_until) : Json()},
          {"last_error", or_null(message.last_error)},
          {"outage", message.outage != 0 ? Json(message.outage) : Json()},
          {"received_at", calendar_json(message.received_at)},
          {"updated_at", calendar_json(message.updated_at)}};
}

Json receive_json(const ReceiveAnswer& answer, const ReplyDone& reply) {
  const bool is_kept = answer.message.id != 0;
  Json json{{"ok", true},
            {"action", kReceiveActionWords.at(static_cast<std::size_t>(answer.action))},
            {"id", is_kept ? Json(answer.message.id) : Json()},
            {"agent", answer.message.agent},
            {"state",
             is_kept ? Json(kMessageStateWords.at(static_cast<std::size_t>(answer.message.state)))
                     : Json()},
            {"mode", answer.mode.down ? "degraded" : "normal"}};
  if (answer.mode.down) json["why"] = answer.mode.why;
  if (answer.outage != 0) json["outage"] = answer.outage;
  json["reply"] = reply.is;
  if (!reply.error.empty()) json["reply_error"] = reply.error;
  if (!answer.warning.empty()) json["warning"] = answer.warning;
  return json;
}

Json next_json(const std::optional<Message>& message) {
  return {{"ok", true},
          {"action", message ? "taken" : "none"},
          {"message", message ? message_json(*message) : Json()}};
}

Json changed_json(std::string_view action, const Message& message) {
  return {{"ok", true},
          {"action", action},
          {"id", message.id},
          {"state", kMessageStateWords.at(static_cast<std::size_t>(message.state))},
          {"tries", message.tries}};
}

Json status_json(const std::vector<GateStatus>& all) {
  Json agents = Json::array();
  std::ranges::transform(all, std::back_inserter(agents), one_status_json);
  return {{"ok", true}, {"agents", std::move(agents)}};
}

Json release_json(const ReleaseAnswer& answer) {
  return {{"ok", true},
          {"action", "released"},
          {"agent", answer.agent},
          {"outage", answer.outage != 0 ? Json(answer.outage) : Json()},
          {"released", answer.released},
          {"told", answer.told}};
}

Json refused_json(const GateNo& no) {
  return {{"ok", false}, {"error", {{"code", no.code}, {"message", no.text}}}};
}

std::string_view action_of_done(const MessageAnswer& answer) {
  return answer.did == MessageAnswer::Did::as_before ? "done-before" : "done";
}

std::string_view action_of_fail(const MessageAnswer& answer) {
  return answer.did == MessageAnswer::Did::given_up ? "given-up" : "queued";
}

std::string_view action_of_retry(const MessageAnswer& answer) {
  return answer.did == MessageAnswer::Did::as_before ? "as-before" : "queued";
}

}  // namespace tend
