// `[probe.NAME]`: how an agent is asked whether it still answers, and how often.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace tend {

/// How a question reaches an agent.
enum class ProbeChannel : std::uint8_t {
  stdin_stream,  // a line of its stream-json input
  tmux_keys,     // typed into its terminal
  command,       // a program that passes it on
  file,          // a line in a file that it reads
};
inline constexpr std::array<std::string_view, 4> kProbeChannelWords{"stdin-stream", "tmux-keys",
                                                                    "command", "file"};

struct ProbeSettings {
  ProbeChannel channel = ProbeChannel::stdin_stream;
  Duration interval = std::chrono::minutes{5};
  Duration deadline = std::chrono::minutes{15};  // for an answer
  std::string target;                // tmux-keys: the pane; "": that of the watched session
  std::vector<std::string> command;  // {agent}, {id}, {line} and {text} are replaced in each word
  std::string file;  // absolute, below the user's home (~/), or below the agent's working folder
  std::string env_file;  // where HEARTBEAT_INTERVAL and HEARTBEAT_TIMEOUT may stand
  bool direct = false;   // no second look: two planes that agree are enough, and it is begun anew
  bool deliver = false;  // messages of the gate are handed over on the same channel
  std::size_t line = 0;  // of its table

  bool operator==(const ProbeSettings&) const = default;
};

}  // namespace tend
