// Reading what agents do and did, and having back what was saved of them: nothing is asked of them.
#include "app/command_rows.h"
#include "app/events_command.h"
#include "app/explain_command.h"
#include "app/logs_command.h"
#include "app/salvage_command.h"
#include "app/status_command.h"
#include "app/stores_command.h"
#include "app/tree_command.h"
#include "app/wait_command.h"

namespace tend {
namespace {

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

constexpr PositionalRow kTreePositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "only this one and those below it; none: all trees"},
};
constexpr OptionRow kTreeOptions[] = {
    kJson,
    {.name = "all", .letter = 'a', .help = "also those that were over more than a day ago"},
};
constexpr std::string_view kTreeExamples[] = {"tend tree", "tend tree lead --json"};

constexpr PositionalRow kReaderPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "its name, a unique beginning of it, or its folder",
     .required = true},
};
constexpr PositionalRow kExplainPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "its name, a unique beginning of it, or its folder; or task:ID",
     .required = true},
};
constexpr OptionRow kExplainOptions[] = {kJson};
constexpr std::string_view kExplainExamples[] = {"tend explain api", "tend explain task:web:3"};

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

constexpr PositionalRow kWaitPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "its name, a unique beginning of it, or its folder",
     .required = true,
     .repeats = true},
};
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

constexpr PositionalRow kStoresPositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "only this one, by its name in the configuration; none: all"},
};
constexpr OptionRow kStoresOptions[] = {kJson};
constexpr std::string_view kStoresExamples[] = {"tend stores", "tend stores deacon --json"};

constexpr OptionRow kSalvageReadOptions[] = {kJson};
constexpr PositionalRow kSalvagePositionals[] = {
    {.name = "REF|AGENT",
     .kind = ValueKind::agent,
     .help = "a ref, the folder of a copy, or whose work it is",
     .required = true},
};
constexpr OptionRow kSalvageRestoreOptions[] = {
    {.name = "into",
     .kind = ValueKind::file,
     .value = "DIR",
     .help = "a folder that is not there yet; none: one beside the work tree"},
    {.name = "branch",
     .kind = ValueKind::text,
     .value = "BRANCH",
     .help = "begin this new branch there; none: it is on no branch"},
};
constexpr std::string_view kSalvageListExamples[] = {"tend salvage list"};
constexpr std::string_view kSalvageShowExamples[] = {"tend salvage show refs/tend/coder/3"};
constexpr std::string_view kSalvageRestoreExamples[] = {
    "tend salvage restore coder", "tend salvage restore coder/3 --into ../saved --branch saved"};

constexpr CommandRow kReading[] = {
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
            "The last line is about the patrol of the home, if there is one or was one.\n\n"
            "Exit status is 0 if all is well, 3 if something needs you, 1 if there is no such "
            "agent, 2 if the home cannot be read.",
        .positionals = kStatusPositionals,
        .options = kStatusOptions,
        .examples = kStatusExamples,
        .body = status_command,
    },
    {
        .name = "tree",
        .summary = "Show who stands below whom, and who waits for whom",
        .text =
            "One row for each agent, below its parent: what it is there for, its state, how long "
            "ago its work went on (PROGRESS), how many restarts were used, how far its work is in "
            "its own words (tend done --phase), and whom it waits for. A circle is shown as one: "
            "nobody in it moves until somebody else does. What is over is shown for a day.\n\n"
            "Exit status is 0 if all is well, 3 if something needs you, 1 if there is no such "
            "agent, 2 if the home cannot be read.",
        .positionals = kTreePositionals,
        .options = kTreeOptions,
        .examples = kTreeExamples,
        .body = tree_command,
    },
    {
        .name = "explain",
        .summary = "Show why an agent or a task is judged so, and what follows",
        .text =
            "Whose turn it is, every sign with its age and its limit, which of them agree that the "
            "agent is stalled, the restarts that are left, what happens if nothing new is seen and "
            "when, and what was decided and done lately. Of one that is over: how it ended.\n\n"
            "Nothing is asked of the agent or its keeper: the account is made from its journal.\n\n"
            "Of a task: who holds it and what it said, how many beats were missed, what the patrol "
            "has done about it and why, and what it does next and when.",
        .positionals = kExplainPositionals,
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
        .summary = "Wait until agents have come to a state",
        .text =
            "Finished is the agent's end, whatever it was; done is a good end. All others are "
            "verdicts, as tend status shows them.\n\n"
            "Of several all are waited for. Exit status is 0 when the state has come, 1 if the "
            "time "
            "is over or the state cannot come any more: the agent ended otherwise, or has had no "
            "keeper for ten seconds.",
        .positionals = kWaitPositionals,
        .options = kWaitOptions,
        .examples = kWaitExamples,
        .body = wait_command,
    },
    {
        .name = "stores",
        .summary = "Show the heartbeat stores of agents of other systems",
        .text =
            "All stores that the configuration names ([[source]], [store.NAME]), side by side: how "
            "old the last sign in each is, what it says, and what is wrong with it. Fresh and "
            "stale are by the limit of the store; idle, exiting and stuck are the agent's own "
            "word; void is of an earlier life or somebody else's; none has no sign.\n\n"
            "Stores that disagree are a writer that is broken, not an agent that is stuck.\n\n"
            "Exit status is 0 if all is well, 3 if something needs you, 1 if there is no such "
            "agent, 2 if the configuration cannot be used.",
        .positionals = kStoresPositionals,
        .options = kStoresOptions,
        .examples = kStoresExamples,
        .body = stores_command,
    },
    {
        .name = "salvage list",
        .summary = "List the work that was saved before agents were ended",
        .text =
            "The commits below refs/tend of this repository, and the copies in the folders of "
            "agents that work where there is no version control; oldest first. Why a commit was "
            "made stands in it.",
        .options = kSalvageReadOptions,
        .examples = kSalvageListExamples,
        .body = salvage_list_command,
    },
    {
        .name = "salvage show",
        .summary = "Show saved work, and how to see all of it",
        .text =
            "Of a copy its files, too; of a commit the git commands that show them. With the name "
            "of an agent all that was saved of it.\n\n"
            "Exit status is 0, 1 if there is no such work.",
        .positionals = kSalvagePositionals,
        .options = kSalvageReadOptions,
        .examples = kSalvageShowExamples,
        .body = salvage_show_command,
    },
    {
        .name = "salvage restore",
        .summary = "Make a new folder of saved work",
        .text =
            "Of a commit a new work tree of this repository, of a copy a new folder; it is printed "
            "where. With the name of an agent the newest of its work. Nothing that exists is "
            "touched, and what was saved stays.\n\n"
            "Exit status is 0 if all of it is there, 1 if not.",
        .positionals = kSalvagePositionals,
        .options = kSalvageRestoreOptions,
        .examples = kSalvageRestoreExamples,
        .body = salvage_restore_command,
    },
};

}  // namespace

std::span<const CommandRow> reading_commands() { return kReading; }

}  // namespace tend
