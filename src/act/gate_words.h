// What the senders of messages are told about an agent that is down or has ended, as payloads of
// notices: made here, and read again here when a reply command is run.
//
//   {"gate":"auto-reply","agent":"claude","outage":3,"why":"stalled","at":1773002269.25,
//    "language":"en","texts":{"en":"...","zh":"..."}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

inline constexpr std::string_view kAutoReply = "auto-reply";
inline constexpr std::string_view kAllClear = "all-clear";
inline constexpr std::string_view kUndelivered = "undelivered";

struct GateNews {
  std::string agent;  // "": nobody in particular
  std::optional<std::int64_t> outage;
  std::string why;                                        // it is down; "" where that is over
  double at = 0;                                          // by the calendar
  std::string language;                                   // where a sender's is not known
  std::map<std::string, std::string, std::less<>> texts;  // by language
};
std::string auto_reply_payload(const GateNews& news);
std::string all_clear_payload(const GateNews& news);
/// These messages were not delivered, for their agent has ended. In English and Chinese, whatever
/// texts the news have.
std::string undelivered_payload(GateNews news, const std::vector<std::int64_t>& messages);

/// What a payload of those says to one person.
struct GateWords {
  std::string gate;  // kAutoReply, kAllClear or kUndelivered
  std::string text;
};
/// In this language if it has it, else in the one that it is a kind of (zh for zh-CN), else in its
/// own, else in any. nullopt if it is none of those.
std::optional<GateWords> gate_words(std::string_view payload, std::string_view language);

}  // namespace tend
