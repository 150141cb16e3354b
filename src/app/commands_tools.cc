// Judging recorded streams, checking a configuration, and tend itself.
#include "app/command_rows.h"
#include "app/completion.h"
#include "app/config_command.h"
#include "app/help.h"
#include "app/replay_command.h"
#include "app/run_command.h"
#include "app/signals_command.h"
#include "base/adapter_kind.h"

namespace tend {
namespace {

constexpr PositionalRow kKeepPositionals[] = {
    {.name = "FOLDER", .kind = ValueKind::file, .help = "the agent's folder", .required = true},
};
constexpr OptionRow kKeepOptions[] = {
    {.name = "again", .help = "also one that ended with its machine or for want of its parent"},
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

constexpr CommandRow kTools[] = {
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
            "off. One that finds another at work says which process that is, touches nothing and "
            "leaves at once: exit status 1.",
        .positionals = kKeepPositionals,
        .options = kKeepOptions,
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

std::span<const CommandRow> tool_commands() { return kTools; }

}  // namespace tend
