// `agent.json`: what an agent is and how it is to be kept, written once before its keeper starts.
// Names of environment variables are kept, their values never.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/adapter_kind.h"
#include "base/result.h"
#include "base/time.h"
#include "os/folder.h"
#include "os/process.h"

namespace tend {

inline constexpr std::string_view kAgentFile = "agent.json";

/// What the agent itself writes.
inline constexpr const char* kStreamFile = "stream.jsonl";    // its standard output
inline constexpr const char* kErrorFile = "stderr.log";       // its standard error
inline constexpr const char* kSignalsFile = "signals.jsonl";  // what it says of itself
inline constexpr const char* kBeatFile = ".beat";             // its time is the last beat

inline constexpr const char* kInputFile = "input";         // a fifo: its standard input
inline constexpr const char* kQuestionFile = ".question";  // the id of the question that is open

/// The names of the stores of other systems that its beats go into; not there if there are none.
/// The C library looks for it.
inline constexpr const char* kSinksFile = "sinks";

enum class OnStall : std::uint8_t { resume, kill, report };
enum class RestartPolicy : std::uint8_t { never, on_failure, always };
inline constexpr std::array<std::string_view, 3> kOnStallWords{"resume", "kill", "report"};
inline constexpr std::array<std::string_view, 3> kRestartWords{"never", "on-failure", "always"};

struct AgentFile {
  std::string agent;    // its name
  std::string session;  // the name of its tree
  std::string role;
  std::string parent_heartbeat;
  std::string task;                        // the work item that it is for; "" if none
  std::string task_id;                     // of the parent's tool call that asked for it; ""
  std::optional<ProcessId> dispatched_by;  // who asked: its environment becomes the agent's

  std::vector<std::string> command;  // empty: only watched
  std::optional<ProcessId> watched;  // `tend watch PID`
  std::string tmux;                  // `tend watch tmux:SESSION`
  std::string store;                 // `tend watch store:NAME`
  std::vector<std::string> environment_names;
  std::string working_folder;
  std::string worktree;       // "" if none
  bool own_worktree = false;  // nobody else works there: its branch is its work
  bool inherit_input = false;
  bool listens = false;  // its standard input is a fifo, on which it is spoken to
  std::optional<int> ready_fd;

  std::string policy = "plain";     // as typed: a name, FILE or FILE:NAME
  std::vector<std::string> limits;  // NAME=DUR, as typed
  AdapterKind adapter = AdapterKind::lines;
  bool as_is = false;  // nothing is added to the command of an agent that we know
  OnStall on_stall = OnStall::resume;
  RestartPolicy restart = RestartPolicy::never;
  Duration beat = std::chrono::seconds{30};
  std::optional<Duration> max_life;
  std::vector<std::string> notify;  // a command; the incident is its input, as JSON
};

std::string format_agent_file(const AgentFile& file);
Result<AgentFile> parse_agent_file(std::string_view text);

/// Fails if it is missing, not ours, or cannot be understood.
Result<AgentFile> read_agent_file(Folder& folder);

}  // namespace tend
