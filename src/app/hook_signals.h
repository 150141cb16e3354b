// What an agent's hook tells, put into signals. Each event of a session runs a command of ours with
// one JSON object on its input; docs/hooks.md says what each becomes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

enum class HookAgent : std::uint8_t { claude, codex, gemini };
inline constexpr std::array<std::string_view, 3> kHookAgents{"claude", "codex", "gemini"};

/// How much of it is news.
enum class Hearing : std::uint8_t {
  all,            // nobody else tells it
  beside_stream,  // the agent's own stream tells of turns and calls, and tells it better
  nested,         // of a session inside the agent's: what it does is a call of the agent's
};

/// The signals, each one JSON object, in their order; at least one. `input` may be anything: what
/// cannot be understood is a weak sign, because somebody ran the hook.
std::vector<std::string> hook_signals(HookAgent agent, std::string input, Hearing hearing);

}  // namespace tend
