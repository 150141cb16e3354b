// The languages in which the models speak: lines as the real programs print them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "scenario.h"

namespace tend::sim {

/// What of its work one that speaks so shows as it begins; all else is silence of its model.
struct Shown {
  bool calls = false;
  bool declared = false;  // how long a call may take
  bool background = false;
  bool compaction = false;
  bool holds = false;    // until when the provider does not serve it
  bool retries = false;  // that it tries again by itself
};
constexpr Shown shown_by(Voice voice) {
  switch (voice) {
    case Voice::claude:
      return {.calls = true,
              .declared = true,
              .background = true,
              .compaction = true,
              .holds = true,
              .retries = true};
    case Voice::codex:
      return {.calls = true, .retries = true};
    case Voice::gemini:
      return {.calls = true};
    default:
      return {};
  }
}

/// What is printed when something happens; "" where a language has no word for it.
class Speech {
 public:
  virtual ~Speech() = default;
  virtual std::string begin(std::string_view session) = 0;
  virtual std::string say(std::uint64_t n) = 0;
  virtual std::string open(const std::string& call, Duration declared) = 0;  // zero: none declared
  virtual std::string close(const std::string& call) = 0;
  virtual std::string open_subagent(const std::string& call) = 0;
  virtual std::string close_subagent(const std::string& call) { return close(call); }
  virtual std::string say_as_subagent(const std::string& call, std::uint64_t n) = 0;
  virtual std::string open_background(const std::string& call) = 0;
  virtual std::string wake_from_background(const std::string& call) = 0;
  virtual std::string begin_compaction() { return ""; }
  virtual std::string end_compaction() { return ""; }
  virtual std::string hold_until(WallTime /*until*/) { return ""; }
  virtual std::string hold(Duration /*retry*/) { return ""; }
  /// The `n`-th time that it tries again by itself, from 1 on; of an answer with that status.
  virtual std::string retry(int /*n*/, Duration /*wait*/, int /*status*/) { return ""; }
  /// The turn is over: it tries no more. Without a status no answer came at all.
  virtual std::string give_up(std::optional<int> /*status*/) { return ""; }
  /// Its turn is broken off by a signal.
  virtual std::string break_off() { return ""; }
  virtual std::string ask(const std::string& /*call*/) { return ""; }
  /// Opens a call, which is refused.
  virtual std::string deny(const std::string& call) = 0;
  virtual std::string chatter(std::uint64_t n) = 0;  // nothing new
  virtual std::string end_turn() = 0;
};

std::unique_ptr<Speech> make_speech(Voice voice);

}  // namespace tend::sim
