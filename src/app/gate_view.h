// Messages of the gate and how it stands, for people.
#pragma once

#include <span>
#include <string>

#include "app/gate_json.h"
#include "app/look.h"
#include "run/gate_desk.h"

namespace tend {

/// One line on what became of it.
std::string received_in_words(const ReceiveAnswer& answer, const ReplyDone& reply);
std::string message_in_words(const Message& message, WallTime now);
std::string messages_for_people(std::span<const Message> messages, const Look& look,
                                std::size_t width, WallTime now);
std::string status_in_words(const GateStatus& status, WallTime now);

}  // namespace tend
