// What the gate answers, as `--json` prints it and its door says it; docs/json.md is its contract.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "run/gate_desk.h"

namespace tend {

nlohmann::ordered_json message_json(const Message& message);

/// What became of the answer to a sender.
struct ReplyDone {
  std::string_view is = "none";  // sent, waiting, none
  std::string error;             // why it waits, or why there is none
};
nlohmann::ordered_json receive_json(const ReceiveAnswer& answer, const ReplyDone& reply);
nlohmann::ordered_json next_json(const std::optional<Message>& message);
/// "done", "failed", "given-up", "queued", with the message as it is now.
nlohmann::ordered_json changed_json(std::string_view action, const Message& message);
nlohmann::ordered_json status_json(const std::vector<GateStatus>& all);
nlohmann::ordered_json release_json(const ReleaseAnswer& answer);
nlohmann::ordered_json refused_json(const GateNo& no);

/// "done", or "given-up" for one that failed for the last time.
std::string_view action_of_done(const MessageAnswer& answer);
std::string_view action_of_fail(const MessageAnswer& answer);
std::string_view action_of_retry(const MessageAnswer& answer);

}  // namespace tend
