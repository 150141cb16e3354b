// What an agent prints, put into signals. One small file an agent's language; none of them keeps a
// clock or reads a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/adapter_kind.h"
#include "base/time.h"
#include "judge/signal.h"
#include "sense/text_arena.h"

namespace tend {

/// Signals of one moment and the texts they point into.
struct SignalBatch {
  std::vector<Signal> signals;
  TextArena texts;

  void clear() {
    signals.clear();
    texts.clear();
  }
};

/// When a line was seen.
struct LineTime {
  Instant now{};
  std::optional<WallTime> wall = std::nullopt;  // none: nobody knows the time of day
};

/// What an agent's language tells beyond signals, about the life at hand.
struct Conversation {
  std::string session;           // by which the agent can go on with it; "" if it named none
  bool session_unknown = false;  // the agent was to go on, and knows no such session
  std::uint32_t tools = 0;       // calls that were made
  std::uint32_t denied = 0;      // of them, those that nobody was there to allow
  bool said_something = false;   // text of the lead
  bool failed = false;           // the last turn ended in an error
};

class Adapter {
 public:
  virtual ~Adapter() = default;
  /// One line of the stream, without its newline. 64 readable bytes follow it.
  virtual void take(std::string_view line, const LineTime& seen, SignalBatch& batch) = 0;
  /// A new life begins: what the old one left open is void.
  virtual void begin_life() = 0;
  /// The program ended by itself and with success. A language that says when a turn is over says
  /// nothing here; for one that does not, this is how it says so.
  virtual void end_well(SignalBatch& batch) = 0;
  /// nullptr for a language that has no conversations.
  [[nodiscard]] virtual const Conversation* conversation() const { return nullptr; }
  /// What a person should know, each once: a call that was denied, a question that is open.
  [[nodiscard]] virtual std::vector<std::string> take_remarks() { return {}; }
  /// The language it hears.
  [[nodiscard]] virtual AdapterKind kind() const = 0;
};

/// Any program: a line that was not there lately is progress, one that repeats is noise, and so is
/// a blank one. Carriage returns end lines too, so that a spinner is seen as what it is.
std::unique_ptr<Adapter> make_line_adapter();

/// The real agents, each by the documents of its own stream: docs/adapters.md says what each line
/// becomes.
std::unique_ptr<Adapter> make_claude_adapter();
std::unique_ptr<Adapter> make_codex_adapter();
std::unique_ptr<Adapter> make_opencode_adapter();
std::unique_ptr<Adapter> make_gemini_adapter();

/// Whatever the first lines turn out to be; lines of text until then.
std::unique_ptr<Adapter> make_guessing_adapter();

/// nullptr for AdapterKind::none.
std::unique_ptr<Adapter> make_adapter(AdapterKind kind);

}  // namespace tend
