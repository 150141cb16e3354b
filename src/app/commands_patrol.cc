// The patrol of a home.
#include "app/command_rows.h"
#include "app/patrol_command.h"

namespace tend {
namespace {

constexpr OptionRow kPatrolOptions[] = {
    {.name = "interval",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "how long from sweep to sweep, as in 5m: shorter when something is silent, up to "
             "twice that when all is well"},
    {.name = "once", .help = "one sweep, and return"},
    {.name = "dry-run", .help = "one sweep that changes nothing: say what would be done"},
    {.name = "detach", .letter = 'd', .help = "start one in the background, and return"},
    {.name = "stop", .help = "end the one that is at work; no other one is started"},
    kJson,
};
constexpr std::string_view kPatrolExamples[] = {
    "tend patrol -d", "tend patrol --once", "tend patrol --dry-run --json", "tend patrol --stop"};

constexpr CommandRow kPatrol[] = {
    {
        .name = "patrol",
        .summary = "Sweep for tasks, keepers and notices that nobody looks after",
        .text =
            "Of every task in progress whose holder went silent: one missed beat warns, two ping "
            "the holder by mail, three escalate on all channels. A claim is taken only from a "
            "holder that is proven gone; who is there is asked and never robbed. Many that fall "
            "silent at once are one incident, told once, and everybody is held back. Open work "
            "that nobody takes is warned of.\n\n"
            "Keepers that died or hang get a successor. Mail, inboxes and saved work that nobody "
            "reads and notices that do not get out are told once, and again when they are over. "
            "`tend explain task:ID` shows what was done about a task, why, and what comes next.\n\n"
            "There is one patrol of a home. It beats, and every keeper of the home starts another "
            "one when it was killed or hangs. Ctrl-C and --stop end it for good, SIGTERM until the "
            "machine is started anew.\n\n"
            "Exit status is 0, 1 if another one is at work; with --once and --dry-run 3 if "
            "something needs you.",
        .options = kPatrolOptions,
        .examples = kPatrolExamples,
        .body = patrol_command,
    },
};

}  // namespace

std::span<const CommandRow> patrol_commands() { return kPatrol; }

}  // namespace tend
