// The agents that we know by name: how each is started so that its output can be understood, how
// its session is taken up again, which signals it obeys, and which files grow while it works. All
// of it is a table and pure; nothing here starts or reads anything.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/adapter_kind.h"
#include "base/result.h"

namespace tend {

/// What an agent is told when its session is taken up again.
inline constexpr std::string_view kResumePrompt =
    "You were interrupted. Go on where you stopped; check what is already done before you do it "
    "again.";

/// An agent in a command line.
struct AgentStart {
  AdapterKind kind = AdapterKind::lines;  // one of the agents, never lines, none or by_itself
  std::size_t arguments = 0;              // where in the command its own arguments begin

  bool operator==(const AgentStart&) const = default;
};

/// Which agent a command starts, by the name of the program: also behind env, nice, nohup, timeout
/// and stdbuf, and through npx, bun x and node. What a shell would make of a text is not guessed.
std::optional<AgentStart> agent_of(std::span<const std::string> command);

enum class Manner {
  headless,     // it works on a prompt and ends
  interactive,  // it needs a terminal
  aside,        // it does no work of an agent: --version, a subcommand that manages something
};

enum class Dressing { added, as_is };

struct Dressed {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=VALUE, to be added
  Manner manner = Manner::aside;
  AdapterKind adapter = AdapterKind::none;  // what can be made of its output: its own, lines, none
  bool prompt_on_input = false;             // it will read what to do from its standard input
  bool input_is_stream = false;             // line by line, and goes on for as long as that comes
  std::vector<std::string> remarks;         // for the person, a line each
};

/// The command with what makes a headless agent print a stream that we understand, if it was not
/// asked to print something else. Options are put right behind the program or its subcommand;
/// nothing that was given is changed or moved. Dressing::as_is adds nothing and only says what will
/// be understood. `environment` is what it will be started with, NAME=VALUE.
/// Requires `start` to be agent_of(command).
Dressed dress(AgentStart start, std::span<const std::string> command,
              std::span<const std::string> environment, Dressing dressing = Dressing::added);

/// The command that takes up `session` again and tells it `prompt`; all other options stay. Give
/// it the command of the first life, dressed. It fails where that cannot be done for sure, and
/// says why: the agent is then started again as it was started. An empty prompt is for one that
/// takes its prompts from its input alone, line by line. Requires `start` to be agent_of(command).
Result<std::vector<std::string>> resume_command(AgentStart start,
                                                std::span<const std::string> command,
                                                std::string_view session,
                                                std::string_view prompt = kResumePrompt);

/// The command for a life that is begun anew after another: a name that the first one gave its
/// session is taken, and left out.
std::vector<std::string> anew_command(AgentStart start, std::span<const std::string> command);

/// How it is started to work without a terminal, for people: "claude -p PROMPT".
std::string_view headless_form_of(AdapterKind agent);

/// How patient to be with it beyond the policy `agent`, as NAME=DUR: those that tell less of what
/// they do are silent for longer.
std::vector<std::string> usual_limits(AdapterKind agent);

/// What the process that was started does about a signal to it alone, while a tool runs. SIGTERM to
/// all of its processes ends each of the agents.
struct Obedience {
  bool to_interrupt = false;  // if not, do not wait for it
  bool to_terminate = false;
  bool has_inner = false;  // the agent itself is a child of it, and survives its SIGKILL
};

Obedience obedience_of(AdapterKind agent);

/// Where the session grows on disk. A second opinion when its output is silent.
struct Transcripts {
  std::vector<std::string> files;
  std::vector<std::string> folders;  // new files may come here
  std::string containing;            // only files below them with this in their name count
  std::size_t depth = 0;             // how many folders deep such a file may be below them
};

/// The variable by which a person moves the agent's files elsewhere.
std::string_view folder_variable_of(AdapterKind agent);

/// `working_folder` is the agent's own word for it, else where it was started, links resolved;
/// `moved_to` is the value of folder_variable_of(), or "". Nothing, if `session` cannot be one.
Transcripts transcripts_of(AdapterKind agent, std::string_view session,
                           std::string_view working_folder, std::string_view home,
                           std::string_view moved_to = {});

}  // namespace tend
