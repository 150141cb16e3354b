// `[gate]`: what becomes of messages while their agent is down, and what their senders are told.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace tend {

/// What becomes of a message that arrives while its agent is down.
enum class WhileDown : std::uint8_t {
  hold,    // kept apart, and offered again when the agent is well
  reject,  // answered and forgotten
};
inline constexpr std::array<std::string_view, 2> kWhileDownWords{"hold", "reject"};

/// What senders are told, in one language.
struct GateTexts {
  std::string degraded;   // while the agent is down
  std::string recovered;  // when it is well again

  bool operator==(const GateTexts&) const = default;
};

using GateLanguages = std::map<std::string, GateTexts, std::less<>>;

/// English and Chinese.
GateLanguages shipped_gate_texts();

struct GateSettings {
  WhileDown while_down = WhileDown::hold;          // `degraded`
  std::string language = "en";                     // where a sender's is not known
  GateLanguages texts = shipped_gate_texts();      // and those of the file
  Duration lease = std::chrono::minutes{10};       // of a message that was taken
  std::uint32_t most_tries = 5;                    // then it is dead
  Duration reply_every = std::chrono::minutes{1};  // no sender is answered more often
  std::string mirror{};  // a folder for `.degraded` and `.pending-channels.json`; "": none

  bool operator==(const GateSettings&) const = default;
};

/// In that language, else in the one it is a kind of (`zh` for `zh-CN`), else in the settings' own,
/// else in English.
GateTexts gate_texts(const GateSettings& settings, std::string_view language);

}  // namespace tend
