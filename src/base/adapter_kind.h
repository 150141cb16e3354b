// The languages an agent's stream can be in.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tend {

enum class AdapterKind : std::uint8_t {
  lines,      // any program's text
  none,       // its output says nothing
  by_itself,  // found out from the command and the first lines
  claude,
  codex,
  opencode,
  gemini,
};
/// One of the agents that have a language of their own.
constexpr bool is_agent(AdapterKind kind) { return kind >= AdapterKind::claude; }

inline constexpr std::array<std::string_view, 7> kAdapterWords{
    "lines", "none", "auto", "claude", "codex", "opencode", "gemini"};

}  // namespace tend
