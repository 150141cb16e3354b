// What an agent, or a hook in it, says from inside.
#include "app/command_rows.h"
#include "app/done_command.h"
#include "app/hook_command.h"
#include "app/hook_signals.h"
#include "app/hooks_command.h"
#include "app/inbox_command.h"
#include "app/speak_commands.h"
#include "judge/words.h"

namespace tend {
namespace {

constexpr OptionRow kStore{.name = "store",
                           .kind = ValueKind::text,
                           .value = "NAME",
                           .help = "for an agent of the configuration that Tend does not keep"};
constexpr OptionRow kBeatOptions[] = {kJson, kQuiet, kStore};
constexpr std::string_view kBeatExamples[] = {"tend beat", "tend beat --store deacon"};

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
    kStore,
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

constexpr OptionRow kDoneOptions[] = {
    kJson,
    kQuiet,
    {.name = "outcome",
     .kind = ValueKind::choice,
     .value = "WORD",
     .help = "what became of it: done, withdrawn or escalated",
     .choices = kSaidOutcomes},
    {.name = "phase",
     .kind = ValueKind::text,
     .value = "PHASE",
     .help = "how far it is, in a word of your own"},
    {.name = "note",
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "a line for people and for the parent"},
};
constexpr std::string_view kDoneExamples[] = {"tend done --outcome done",
                                              "tend done --outcome escalated --note unclear",
                                              "tend done --phase tests"};

constexpr PositionalRow kInboxPositionals[] = {
    {.name = "AGENT", .kind = ValueKind::agent, .help = "whose; none: that of this agent"},
};
constexpr OptionRow kInboxOptions[] = {
    kJson,
    {.name = "all", .letter = 'a', .help = "also what was read before"},
    {.name = "peek", .help = "do not count it as read"},
};
constexpr std::string_view kInboxExamples[] = {"tend inbox", "tend inbox lead --all --json"};

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
constexpr OptionRow kHooksInstallOptions[] = {
    kHooksOptions[0],
    kHooksOptions[1],
    {.name = "service",
     .kind = ValueKind::file,
     .value = "FILE",
     .help = "every session also starts a beater for itself, with this pid file, and ends it"},
    {.name = "service-root",
     .kind = ValueKind::file,
     .value = "DIR",
     .help = "where that beater finds registry and lease (tend service start --preset hyrm)"},
};
constexpr OptionRow kHooksStatusOptions[] = {kJson};
constexpr std::string_view kHooksInstallExamples[] = {
    "tend hooks install claude", "tend hooks install --dry-run codex",
    "tend hooks install claude --project --service .beat.pid"};
constexpr std::string_view kHooksUninstallExamples[] = {"tend hooks uninstall --project gemini"};
constexpr std::string_view kHooksStatusExamples[] = {"tend hooks status"};

constexpr CommandRow kSpeaking[] = {
    {
        .name = "beat",
        .summary = "Say from inside an agent that it lives",
        .text =
            "For programs and hooks that run inside an agent; they find its keeper by TEND_INFRA "
            "and TEND_LIFE. A beat proves that its author runs, not that the work goes on. "
            "A program that beats often links the C library instead (tend.h).\n\n"
            "Where the configuration has sinks for the agent, the beat goes into each of these "
            "stores of other systems, too, and each is told of by its name.\n\n"
            "Exit status is 0 if the keeper will see the beat, 1 if this life of the agent is "
            "over or a sink was not written, 2 outside an agent or if the beat could not be "
            "written.",
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
        .name = "done",
        .summary = "Say from inside an agent what became of its work",
        .text =
            "An outcome is the agent's own word on its work: done, withdrawn because it is not "
            "wanted any more, or escalated because somebody else must decide. Its parent is told "
            "once the agent has ended. A phase says how far the work is, and takes back an outcome "
            "that was said before.\n\n"
            "Exit status as for tend beat.",
        .options = kDoneOptions,
        .examples = kDoneExamples,
        .body = done_command,
    },
    {
        .name = "inbox",
        .summary = "Show what an agent should know and has not read yet",
        .text =
            "Above all what became of its children, oldest first. What the agent itself was shown "
            "counts as read; what a person or another agent looks at does not. Letters are "
            "something else: see `tend mail inbox`.\n\n"
            "Exit status is 0 also if nothing is new, 1 if there is no such agent or this life of "
            "it is over, 2 outside an agent if none is named.",
        .positionals = kInboxPositionals,
        .options = kInboxOptions,
        .examples = kInboxExamples,
        .body = inbox_command,
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
        .options = kHooksInstallOptions,
        .examples = kHooksInstallExamples,
        .body = hooks_install_command,
    },
    {
        .name = "hooks uninstall",
        .summary = "Take tend hook out of the settings of a coding agent",
        .text = "Removes the hooks that run tend hook or a beater, and nothing else. A file that "
                "was not changed "
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
};

}  // namespace

std::span<const CommandRow> speaking_commands() { return kSpeaking; }

}  // namespace tend
