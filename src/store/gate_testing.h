// What tests of the gate share: arrivals, and messages as a line of text.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "store/gate.h"

namespace tend {

inline Arrival arrival_of(std::string content) {
  Arrival arrival;
  arrival.draft.agent = "boss";
  arrival.draft.channel = "telegram";
  arrival.draft.endpoint = "chat-1";
  arrival.draft.content = std::move(content);
  return arrival;
}

inline Arrival arrival_while_down(std::string content) {
  Arrival arrival = arrival_of(std::move(content));
  arrival.reply = ReplyWay{.command = {"send", "{text}"}, .language = "zh"};
  arrival.down = true;
  arrival.why = "no answer";
  arrival.notice = R"("down")";
  return arrival;
}

/// "1 queued; 2 done".
inline std::string shown(const std::vector<Message>& messages) {
  std::string all;
  for (const Message& each : messages) {
    all += fmt::format("{}{} {}", all.empty() ? "" : "; ", each.id,
                       kMessageStateWords.at(static_cast<std::size_t>(each.state)));
  }
  return all;
}

}  // namespace tend
