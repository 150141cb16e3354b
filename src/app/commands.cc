// The table itself. A new command is one row here and its body.
#include "app/command.h"
#include "app/completion.h"
#include "app/config_command.h"
#include "app/events_command.h"
#include "app/explain_command.h"
#include "app/help.h"
#include "app/hook_command.h"
#include "app/hook_signals.h"
#include "app/hooks_command.h"
#include "app/logs_command.h"
#include "app/order_commands.h"
#include "app/replay_command.h"
#include "app/run_command.h"
#include "app/signals_command.h"
#include "app/speak_commands.h"
#include "app/status_command.h"
#include "app/wait_command.h"
#include "app/watch_command.h"
#include "judge/words.h"
#include "store/agent_file.h"

namespace tend {
namespace {

constexpr OptionRow kJson{.name = "json", .help = "print one JSON object a line"};

constexpr PositionalRow kRunPositionals[] = {
    {.name = "CMD", .help = "the program and its arguments, after --", .repeats = true},
};
constexpr OptionRow kRunOptions[] = {
    {.name = "detach", .letter = 'd', .help = "print name and folder, and return when it runs"},
    {.name = "attach",
     .kind = ValueKind::agent,
     .value = "AGENT|FOLDER",
     .help = "show a running agent again, and put a keeper on if none is there: with -d only "
             "that; Ctrl-C stops the agent, closing the terminal does not"},
    {.name = "name",
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "what to call it, free again once it is over; none: made from the program"},
    {.name = "role",
     .kind = ValueKind::text,
     .value = "ROLE",
     .help = "what it is there for; none: worker"},
    {.name = "policy",
     .kind = ValueKind::policy,
     .value = "NAME|FILE",
     .help = "how patiently to judge it; none: agent for an agent that is known, else plain, which "
             "never kills for silence"},
    {.name = "limit",
     .kind = ValueKind::limit,
     .value = "NAME=DUR",
     .help = "set a limit, as in tool=15m, idle=none or beats=2m,5m",
     .repeats = true},
    {.name = "restart",
     .kind = ValueKind::choice,
     .value = "WHEN",
     .help = "after it ended: never, on-failure or always; none: on-failure, under plain never",
     .choices = kRestartWords},
    {.name = "on-stall",
     .kind = ValueKind::choice,
     .value = "CURE",
     .help = "when it hangs: resume, kill or report; none: resume",
     .choices = kOnStallWords},
    {.name = "max-life",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "stop it after this time"},
    {.name = "beat",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "how often its heartbeat is renewed while its process lives; none: 30s"},
    {.name = "worktree",
     .kind = ValueKind::file,
     .value = "DIR",
     .help = "where its work is, saved before anything is done to it; none: this repository"},
    {.name = "adapter",
     .kind = ValueKind::choice,
     .value = "WORD",
     .help = "the language of its output; none: found out from the command and the first lines",
     .choices = kAdapterWords},
    {.name = "as-is", .help = "add nothing to the command of an agent that is known"},
    {.name = "stdin",
     .kind = ValueKind::choice,
     .value = "WHAT",
     .help = "its standard input: null, or inherit; none: null",
     .choices = kInputs},
    {.name = "ready-fd",
     .kind = ValueKind::text,
     .value = "N",
     .help = "it writes a newline to this descriptor when it is ready"},
    {.name = "notify",
     .kind = ValueKind::text,
     .value = "CMD",
     .help = "run this in a shell when a person is needed, the incident as JSON on its input"},
};
constexpr std::string_view kRunExamples[] = {
    "tend run -- ./train.sh",
    "tend run --detach --restart on-failure --name api -- ./server --port 8080",
    "tend run --policy worker --limit beats=2m,5m -- python worker.py",
    "tend run --attach api",
    "tend run -d --attach api",
};

constexpr PositionalRow kOrderPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "its name, a unique beginning of it, or its folder",
     .required = true,
     .repeats = true},
};
constexpr OptionRow kStopOptions[] = {
    {.name = "now", .help = "kill at once, without asking first; work is saved all the same"},
    kJson,
};
constexpr OptionRow kPauseOptions[] = {
    {.name = "keep-running", .help = "judge nothing, but let its processes go on"},
    kJson,
};
constexpr OptionRow kUnpauseOptions[] = {kJson};
constexpr std::string_view kStopExamples[] = {"tend stop api", "tend stop --now api"};
constexpr std::string_view kPauseExamples[] = {"tend pause api"};
constexpr std::string_view kUnpauseExamples[] = {"tend unpause api"};
constexpr std::string_view kReloadExamples[] = {"tend reload api"};

constexpr PositionalRow kStatusPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "only these and those below them; none: all",
     .repeats = true},
};
constexpr OptionRow kStatusOptions[] = {
    kJson,
    {.name = "all", .letter = 'a', .help = "also those that were over more than a day ago"},
    {.name = "exit-zero", .help = "exit with 0 also when something needs you"},
    {.name = "names", .help = "print the names only, for completions and scripts"},
};
constexpr std::string_view kStatusExamples[] = {"tend status", "tend status --json api"};

constexpr PositionalRow kReaderPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "its name, a unique beginning of it, or its folder",
     .required = true},
};
constexpr OptionRow kExplainOptions[] = {kJson};
constexpr std::string_view kExplainExamples[] = {"tend explain api"};

constexpr OptionRow kEventsOptions[] = {
    kJson,
    {.name = "follow", .letter = 'f', .help = "go on with what happens from now on, until Ctrl-C"},
    {.name = "agent", .kind = ValueKind::agent, .value = "AGENT", .help = "of this one only"},
    {.name = "since",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "all of so long ago until now, as in 1h30m"},
    {.name = "lines",
     .letter = 'n',
     .kind = ValueKind::text,
     .value = "N",
     .help = "at most the last N; none: 50, with --since all"},
};
constexpr std::string_view kEventsExamples[] = {"tend events --since 1h",
                                                "tend events -f --agent api --json"};

constexpr OptionRow kLogsOptions[] = {
    {.name = "follow", .letter = 'f', .help = "go on with what it prints, until it is over"},
    {.name = "lines",
     .letter = 'n',
     .kind = ValueKind::text,
     .value = "N",
     .help = "begin with the last N lines; none: 100"},
    {.name = "stderr", .help = "its standard error instead of its standard output"},
};
constexpr std::string_view kLogsExamples[] = {"tend logs api", "tend logs -f -n 10 --stderr api"};

constexpr OptionRow kWaitOptions[] = {
    kJson,
    {.name = "for",
     .kind = ValueKind::choice,
     .value = "STATE",
     .help = "what to wait for; none: finished",
     .choices = kWaitWords},
    {.name = "timeout",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "how long to wait, as in 5m; none: for ever"},
};
constexpr std::string_view kWaitExamples[] = {"tend wait api",
                                              "tend wait api --for idle --timeout 5m"};

constexpr PositionalRow kWatchPositionals[] = {
    {.name = "WHAT", .help = "the number of a process, or tmux:SESSION", .required = true},
};
constexpr OptionRow kWatchOptions[] = {
    {.name = "name", .kind = ValueKind::text, .value = "NAME", .help = "what to call it"},
    {.name = "role", .kind = ValueKind::text, .value = "ROLE", .help = "what it is there for"},
    {.name = "policy",
     .kind = ValueKind::policy,
     .value = "NAME|FILE",
     .help = "how patiently to judge it; none: plain"},
    {.name = "limit",
     .kind = ValueKind::limit,
     .value = "NAME=DUR",
     .help = "set a limit, as in beats=2m,5m",
     .repeats = true},
    {.name = "beat",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "how often its heartbeat is renewed; none: 30s"},
    {.name = "worktree",
     .kind = ValueKind::file,
     .value = "DIR",
     .help = "where its work is: changed files are signs of life"},
    {.name = "notify",
     .kind = ValueKind::text,
     .value = "CMD",
     .help = "run this in a shell when a person is needed, the incident as JSON on its input"},
};
constexpr std::string_view kWatchExamples[] = {"tend watch 4711", "tend watch tmux:claude"};

constexpr PositionalRow kKeepPositionals[] = {
    {.name = "FOLDER", .kind = ValueKind::file, .help = "the agent's folder", .required = true},
};
constexpr std::string_view kKeepExamples[] = {"tend keep ~/.local/state/tend/x/sessions/y"};

constexpr PositionalRow kReplayPositionals[] = {
    {.name = "TRACE",
     .kind = ValueKind::file,
     .help = "a file, or - for standard input",
     .required = true,
     .repeats = true},
};
constexpr OptionRow kReplayOptions[] = {
    kJson,
    {.name = "policy",
     .kind = ValueKind::policy,
     .value = "NAME|FILE",
     .help = "judge by this policy instead of the trace's own"},
    {.name = "limit",
     .kind = ValueKind::limit,
     .value = "NAME=DUR",
     .help = "set a limit, as in tool=15m, idle=none or beats=2m,5m",
     .repeats = true},
    {.name = "diff",
     .kind = ValueKind::policy,
     .value = "POLICY",
     .help = "show where this other policy would have judged otherwise"},
};
constexpr std::string_view kReplayExamples[] = {
    "tend replay trace.jsonl",
    "tend replay --json --limit tool=15m trace.jsonl",
    "tend replay --policy worker --diff overnight *.jsonl",
    "zcat trace.jsonl.gz | tend replay -",
};

constexpr PositionalRow kSignalsPositionals[] = {
    {.name = "STREAM",
     .kind = ValueKind::file,
     .help = "what an agent printed, or - for standard input",
     .required = true},
};
constexpr OptionRow kSignalsOptions[] = {
    {.name = "adapter",
     .kind = ValueKind::choice,
     .value = "LANGUAGE",
     .help = "the language of the stream; none: found out from its first lines",
     .choices = kAdapterWords},
    {.name = "times",
     .kind = ValueKind::file,
     .value = "FILE",
     .help = "when each line came, in seconds, one a line; none: the number of the line"},
};
constexpr std::string_view kSignalsExamples[] = {
    "tend signals --adapter claude stream.jsonl",
    "tend signals --adapter codex --times times.txt stream.jsonl | tend replay -",
};

constexpr PositionalRow kConfigCheckPositionals[] = {
    {.name = "FILE", .kind = ValueKind::file, .help = "a TOML file; none: your own configuration"},
};
constexpr OptionRow kConfigCheckOptions[] = {kJson};
constexpr std::string_view kConfigCheckExamples[] = {"tend config check config.toml"};

constexpr OptionRow kQuiet{
    .name = "quiet", .letter = 'q', .help = "print nothing if all went well"};
constexpr OptionRow kBeatOptions[] = {kJson, kQuiet};
constexpr std::string_view kBeatExamples[] = {"tend beat"};

constexpr PositionalRow kStatePositionals[] = {
    {.name = "STATE",
     .kind = ValueKind::choice,
     .help = "working, idle, exiting or stuck",
     .required = true,
     .choices = kSelfStateWords},
};
constexpr OptionRow kStateOptions[] = {
    kJson,
    kQuiet,
    {.name = "until",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "how long it is expected to last, from now"},
};
constexpr std::string_view kStateExamples[] = {"tend state idle --until 15m", "tend state working"};

constexpr PositionalRow kAckPositionals[] = {
    {.name = "ID", .help = "the question to answer; none: all that are open"},
};
constexpr OptionRow kAckOptions[] = {kJson, kQuiet};
constexpr std::string_view kAckExamples[] = {"tend ack", "tend ack p17"};

constexpr PositionalRow kHookPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::choice,
     .help = "whose hook it is: claude, codex or gemini",
     .required = true,
     .choices = kHookAgents},
};
constexpr OptionRow kHookOptions[] = {
    {.name = "verbose", .help = "say on standard error what went wrong"},
};
constexpr std::string_view kHookExamples[] = {"tend hook claude"};

constexpr OptionRow kHooksOptions[] = {
    {.name = "project", .help = "in the settings of the working folder, not in your own"},
    {.name = "dry-run", .help = "show what would change, and change nothing"},
};
constexpr OptionRow kHooksStatusOptions[] = {kJson};
constexpr std::string_view kHooksInstallExamples[] = {"tend hooks install claude",
                                                      "tend hooks install --dry-run codex"};
constexpr std::string_view kHooksUninstallExamples[] = {"tend hooks uninstall --project gemini"};
constexpr std::string_view kHooksStatusExamples[] = {"tend hooks status"};

constexpr PositionalRow kHelpPositionals[] = {
    {.name = "COMMAND",
     .kind = ValueKind::command,
     .help = "the command to explain; none: an overview",
     .repeats = true},
};
constexpr OptionRow kHelpOptions[] = {
    {.name = "man", .help = "print the man page of all commands, as roff"},
};
constexpr std::string_view kHelpExamples[] = {"tend help config check",
                                              "tend help --man | man -l -"};

constexpr PositionalRow kCompletionPositionals[] = {
    {.name = "SHELL",
     .kind = ValueKind::choice,
     .help = "bash, zsh or fish",
     .required = true,
     .choices = kShells},
};
constexpr std::string_view kCompletionExamples[] = {
    "source <(tend completion bash)",
    "tend completion zsh > ~/.zfunc/_tend",
    "tend completion fish > ~/.config/fish/completions/tend.fish",
};

constexpr CommandRow kCommands[] = {
    {
        .name = "run",
        .summary = "Start a program and keep it alive",
        .text =
            "Starts the program with a keeper of its own, which outlives this command, and shows "
            "its output. The exit status is the program's own: its code, 128 and the number of a "
            "signal, or 75 when it is held because it ended the same way too often. Ctrl-C and "
            "SIGTERM stop it, a second time at once; a closed terminal only detaches.\n\n"
            "Work is saved before a program is ended: as a commit under refs/tend where its work "
            "tree is under git (index and branch are not touched), else as a copy in its folder. "
            "It is refs/tend/NAME/LIFE; a ref that exists is never moved: NAME/LIFE-2 is next. "
            "Nothing is ever judged by one sign alone, and under the policy plain nothing is ended "
            "for its silence.\n\n"
            "The program finds TEND_INFRA, TEND_LIFE and TEND_AGENT in its environment, and "
            "NOTIFY_SOCKET, so that one that speaks sd_notify beats without a change. A life after "
            "the first one also finds TEND_RESUME=1 and TEND_ATTEMPT.",
        .positionals = kRunPositionals,
        .options = kRunOptions,
        .examples = kRunExamples,
        .body = run_command,
    },
    {
        .name = "watch",
        .summary = "Keep an eye on a process that something else started",
        .text =
            "Puts a keeper on a running process, which it does not start, resume or end: it beats "
            "as long as the process lives, judges it by what can be seen from outside, and tells "
            "a person. Of a tmux session the process that it shows is meant, and that its window "
            "was painted is a weak sign of life. Hooks inside it are heard after tend hooks "
            "install; other programs may speak with tend beat and tend state if TEND_INFRA and "
            "TEND_LIFE=1 are set. Prints name and folder.",
        .positionals = kWatchPositionals,
        .options = kWatchOptions,
        .examples = kWatchExamples,
        .body = watch_command,
    },
    {
        .name = "status",
        .summary = "Show all agents: who needs you, works, waits, is done",
        .text =
            "One row for each agent, grouped by what it wants of you, children below their "
            "parents. BEAT is the age of its last beat, RESTARTS how many were used of how many "
            "are allowed until the next refill. What is over is shown for a day.\n\n"
            "Needs you: stalled, looping or orphaned; dead for two minutes and not back; waiting "
            "for a person; stuck by its own word; without a keeper, or with one that hangs; "
            "unreadable. One that did not "
            "end well needs you for a day, or until another of its name is started.\n\n"
            "Exit status is 0 if all is well, 3 if something needs you, 1 if there is no such "
            "agent, 2 if the home cannot be read.",
        .positionals = kStatusPositionals,
        .options = kStatusOptions,
        .examples = kStatusExamples,
        .body = status_command,
    },
    {
        .name = "explain",
        .summary = "Show why an agent is judged as it is, and what follows",
        .text =
            "Whose turn it is, every sign with its age and its limit, which of them agree that the "
            "agent is stalled, the restarts that are left, what happens if nothing new is seen and "
            "when, and what was decided and done lately. Of one that is over: how it ended.\n\n"
            "Nothing is asked of the agent or its keeper: the account is made from its journal.",
        .positionals = kReaderPositionals,
        .options = kExplainOptions,
        .examples = kExplainExamples,
        .body = explain_command,
    },
    {
        .name = "events",
        .summary = "Show what happened to the agents, and what happens",
        .text =
            "Every change of a verdict, every action with what came of it, and notes, in the order "
            "they happened. Times are in UTC. Two files of 8 MB are kept; what is older is gone.",
        .options = kEventsOptions,
        .examples = kEventsExamples,
        .body = events_command,
    },
    {
        .name = "logs",
        .summary = "Show what an agent printed",
        .text =
            "The agent's own output, byte for byte. With --follow it ends when the agent is over, "
            "or at Ctrl-C, which leaves the agent alone.",
        .positionals = kReaderPositionals,
        .options = kLogsOptions,
        .examples = kLogsExamples,
        .body = logs_command,
    },
    {
        .name = "wait",
        .summary = "Wait until an agent has come to a state",
        .text =
            "Finished is the agent's end, whatever it was; done is a good end. All others are "
            "verdicts, as tend status shows them.\n\n"
            "Exit status is 0 when the state has come, 1 if the time is over or the state cannot "
            "come any more: the agent ended otherwise, or has had no keeper for ten seconds.",
        .positionals = kReaderPositionals,
        .options = kWaitOptions,
        .examples = kWaitExamples,
        .body = wait_command,
    },
    {
        .name = "stop",
        .summary = "Save the work of agents and end them",
        .text =
            "Saves the work, then ends every process of the agent: SIGINT to the first and its "
            "process group, as Ctrl-C would, after 5 s SIGTERM to all, after 10 s more SIGKILL. "
            "Returns when nothing of it is left. A process that is only watched is not ended, but "
            "no longer watched. Exit status is 0 if all are stopped, 1 if not.",
        .positionals = kOrderPositionals,
        .options = kStopOptions,
        .examples = kStopExamples,
        .body = stop_command,
    },
    {
        .name = "pause",
        .summary = "Stop agents where they stand, and judge them for nothing",
        .text =
            "All processes of the agent are stopped with SIGSTOP; no age grows and nothing is done "
            "until `tend unpause`. One that dies meanwhile is not brought back before that. A "
            "process that is only watched goes on, and is no longer judged.",
        .positionals = kOrderPositionals,
        .options = kPauseOptions,
        .examples = kPauseExamples,
        .body = pause_command,
    },
    {
        .name = "unpause",
        .summary = "Let agents go on that are paused or held",
        .text =
            "The processes of a paused one are continued, and it is judged again from then on. Of "
            "one that is held (looping) the next life begins at once; it spends no restart, and if "
            "it ends the same way once more it is held again.",
        .positionals = kOrderPositionals,
        .options = kUnpauseOptions,
        .examples = kUnpauseExamples,
        .body = unpause_command,
    },
    {
        .name = "reload",
        .summary = "Have keepers read their configuration and program anew",
        .text =
            "The keeper begins again in its place, with the program that is installed now and the "
            "policy as it is configured now. Its agent is not touched.",
        .positionals = kOrderPositionals,
        .examples = kReloadExamples,
        .body = reload_command,
    },
    {
        .name = "beat",
        .summary = "Say from inside an agent that it lives",
        .text =
            "For programs and hooks that run inside an agent; they find its keeper by TEND_INFRA "
            "and TEND_LIFE. A beat proves that its author runs, not that the work goes on. "
            "A program that beats often links the C library instead (tend.h).\n\n"
            "Exit status is 0 if the keeper will see the beat, 1 if this life of the agent is "
            "over, 2 outside an agent or if the beat could not be written.",
        .options = kBeatOptions,
        .examples = kBeatExamples,
        .body = beat_command,
    },
    {
        .name = "state",
        .summary = "Say from inside an agent what it does",
        .text =
            "An agent that says it is idle, and until when, is not taken for one that hangs. "
            "Stuck asks for help; exiting announces the end. A duration is 30s, 15m or 1h30m; a "
            "bare number is seconds.\n\n"
            "Exit status as for tend beat.",
        .positionals = kStatePositionals,
        .options = kStateOptions,
        .examples = kStateExamples,
        .body = state_command,
    },
    {
        .name = "ack",
        .summary = "Answer a question of the keeper from inside an agent",
        .text =
            "When the silence of an agent grows long its keeper asks it to run this command. The "
            "answer proves that the agent still reads and acts.\n\n"
            "Exit status as for tend beat.",
        .positionals = kAckPositionals,
        .options = kAckOptions,
        .examples = kAckExamples,
        .body = ack_command,
    },
    {
        .name = "hook",
        .summary = "Hear a hook of a coding agent (its settings run this)",
        .text =
            "Reads one event of the agent's hooks as JSON from standard input and tells the "
            "keeper: a turn began or ended, a tool runs, a question waits for a person. It finds "
            "the keeper by TEND_INFRA and TEND_LIFE, else by tend watch on a process above it; "
            "without one it does nothing.\n\n"
            "It prints nothing, and its exit status is always 0: a hook must not stop its agent.",
        .positionals = kHookPositionals,
        .options = kHookOptions,
        .examples = kHookExamples,
        .body = hook_command,
    },
    {
        .name = "hooks install",
        .summary = "Put tend hook into the settings of a coding agent",
        .text =
            "Adds one hook for each event that tells about liveness and keeps everything else in "
            "the file as it is; a second time it changes nothing. What the file was before is kept "
            "beside it once, as FILE.tend-backup. Sessions that run already read their settings "
            "when they are started again.",
        .positionals = kHookPositionals,
        .options = kHooksOptions,
        .examples = kHooksInstallExamples,
        .body = hooks_install_command,
    },
    {
        .name = "hooks uninstall",
        .summary = "Take tend hook out of the settings of a coding agent",
        .text =
            "Removes the hooks that run tend hook and nothing else. A file that was not changed "
            "since it was made for them is as it was before, byte for byte.",
        .positionals = kHookPositionals,
        .options = kHooksOptions,
        .examples = kHooksUninstallExamples,
        .body = hooks_uninstall_command,
    },
    {
        .name = "hooks status",
        .summary = "Show which coding agents have tend hook in their settings",
        .text =
            "One row for each settings file, yours and the working folder's. Exit status is 0 if "
            "all could be read, 1 if not.",
        .options = kHooksStatusOptions,
        .examples = kHooksStatusExamples,
        .body = hooks_status_command,
    },
    {
        .name = "replay",
        .summary = "Judge recorded traces and show every verdict and action",
        .text =
            "A trace holds one signal a line, as JSON, with the time it was seen. Replay puts each "
            "before the judge at that time and prints every change of verdict, with its phase and "
            "its reasons, and every action that would be taken. Nothing is acted on.\n\n"
            "A policy is a built-in one, one of your configuration, FILE if that holds a single "
            "policy, or FILE:NAME. A duration is 500ms, 30s, 15m or 1h30m; a bare number is "
            "seconds.\n\n"
            "A trace may say in its header what it expects of the judge. Exit status is 0 if all "
            "expectations held (with --diff: if both policies judge alike), 1 if not, 2 if a trace "
            "cannot be read. A line that is no JSON is reported with its number and skipped. After "
            "several traces a closing line sums up.",
        .positionals = kReplayPositionals,
        .options = kReplayOptions,
        .examples = kReplayExamples,
        .body = replay_command,
    },
    {
        .name = "signals",
        .summary = "show what an agent's stream says, as signals",
        .text = "Reads what an agent printed and prints the signals that it proves, one JSON line "
                "each, as tend replay reads them. So any recorded stream can be judged.",
        .positionals = kSignalsPositionals,
        .options = kSignalsOptions,
        .examples = kSignalsExamples,
        .body = signals_command,
    },
    {
        .name = "config check",
        .summary = "Check a configuration and warn where its numbers do not fit",
        .text =
            "An error names the file, the line, the key and what is allowed. A warning is given "
            "where numbers do not fit one another: a stale limit under three beats, a ceiling "
            "below its limit, a ladder out of order. Exit status is 0 if the configuration can be "
            "used, 2 if it cannot.",
        .positionals = kConfigCheckPositionals,
        .options = kConfigCheckOptions,
        .examples = kConfigCheckExamples,
        .body = config_check_command,
    },
    {
        .name = "keep",
        .summary = "Be the keeper of an agent (tend run starts it by itself)",
        .text =
            "Keeps the agent of a folder until it is over, from wherever the keeper before left "
            "off. One that finds another at work leaves at once.",
        .positionals = kKeepPositionals,
        .examples = kKeepExamples,
        .body = keep_command,
    },
    {
        .name = "help",
        .summary = "Explain tend or one of its commands",
        .text = "The same as --help, which may stand anywhere on a command line.",
        .positionals = kHelpPositionals,
        .options = kHelpOptions,
        .examples = kHelpExamples,
        .body = help_command,
    },
    {
        .name = "completion",
        .summary = "Print the completion script for a shell",
        .text =
            "The script knows all commands, options, policies and limits. Make it again after an "
            "update of tend.",
        .positionals = kCompletionPositionals,
        .examples = kCompletionExamples,
        .body = completion_command,
    },
};

}  // namespace

std::span<const CommandRow> commands() { return kCommands; }

}  // namespace tend
