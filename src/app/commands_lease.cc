// Leases: one leader at a time.
#include "app/command_rows.h"
#include "app/lease_commands.h"

namespace tend {
namespace {

constexpr OptionRow kName{.name = "name",
                          .kind = ValueKind::text,
                          .value = "NAME",
                          .help = "which lease; none: that of TEND_LEASE"};
constexpr OptionRow kTtl{.name = "ttl",
                         .kind = ValueKind::text,
                         .value = "DUR",
                         .help =
                             "how long it counts without being renewed, 3s to 24h; none: what "
                             "[lease.NAME] says, or 3m"};
constexpr OptionRow kMirror{.name = "mirror",
                            .kind = ValueKind::file,
                            .value = "FILE",
                            .help =
                                "an orchestrator-state.json that other tools read, kept up to "
                                "date; its epoch is where the fence goes on"};
constexpr OptionRow kPid{.name = "pid",
                         .kind = ValueKind::text,
                         .value = "N",
                         .help = "the process that holds it; none: the one that called us"};
constexpr OptionRow kAgent{.name = "agent",
                           .kind = ValueKind::agent,
                           .value = "NAME",
                           .help = "the agent that holds it; none: the one around this command"};
constexpr OptionRow kFor{.name = "agent",
                         .kind = ValueKind::agent,
                         .value = "NAME",
                         .help =
                             "an agent that has to be at work for it to be renewed; none: the "
                             "one around this command"};

constexpr OptionRow kAcquireOptions[] = {kName, kTtl, kPid, kAgent, kMirror, kJson};
constexpr OptionRow kOwnOptions[] = {kName, kPid, kAgent, kJson};
constexpr OptionRow kCheckOptions[] = {
    kName,
    {.name = "fence",
     .kind = ValueKind::text,
     .value = "F",
     .help = "the fence that came with the grant; none: that of TEND_FENCE"},
    kJson,
};
constexpr OptionRow kStatusOptions[] = {{.name = "name",
                                         .kind = ValueKind::text,
                                         .value = "NAME",
                                         .help = "only this one; none: all of the home"},
                                        kJson};
constexpr OptionRow kWatchOptions[] = {kName, kJson};
constexpr OptionRow kRunOptions[] = {
    kName,
    kTtl,
    {.name = "wait", .help = "wait until it is our turn; this is usual"},
    {.name = "no-wait", .help = "if somebody has it, say so and return"},
    kMirror,
    kFor,
    kJson,
};
constexpr PositionalRow kProgram[] = {
    {.name = "CMD",
     .kind = ValueKind::command,
     .help = "the program that runs while it leads, and its arguments",
     .required = true,
     .repeats = true},
};

constexpr std::string_view kAcquireExamples[] = {
    "tend lease acquire --name orchestrator --ttl 3m",
    "tend lease acquire --name orchestrator --pid $$ --json"};
constexpr std::string_view kRenewExamples[] = {"tend lease renew --name orchestrator"};
constexpr std::string_view kReleaseExamples[] = {"tend lease release --name orchestrator"};
constexpr std::string_view kCheckExamples[] = {"tend lease check",
                                               "tend lease check --name orchestrator --fence 7"};
constexpr std::string_view kStatusExamples[] = {"tend lease status",
                                                "tend lease status --name orchestrator --json"};
constexpr std::string_view kWatchExamples[] = {"tend lease watch --name orchestrator"};
constexpr std::string_view kRunExamples[] = {
    "tend lease run --name orchestrator -- ./orchestrate",
    "tend lease run --name nightly --no-wait --ttl 30s -- ./report"};

constexpr CommandRow kRows[] = {
    {.name = "lease acquire",
     .summary = "Become the leader, if nobody is",
     .text =
         "The holder is the process that called this, an agent if this runs inside of one, or "
         "whoever is named. Who has it already gets it again. It has to be renewed before its time "
         "is over; a holder that dies loses it at once, one that lives and does not work (its "
         "keeper says stalled, looping or dead) too. What still acts under an older grant of `tend "
         "lease run` is ended first.\n\n"
         "Every grant raises the fence. It never falls; what is written under a lower one comes "
         "too late, and `tend lease check` says so.\n\n"
         "Exit status: 0 held, 1 not, 2 if it cannot be asked for so.",
     .options = kAcquireOptions,
     .examples = kAcquireExamples,
     .body = lease_acquire_command},
    {.name = "lease renew",
     .summary = "Go on leading for another while",
     .text =
         "Only for its holder, and only if that is proven to be running and, if it is an agent, "
         "to be at work. Anything else is a failure that says why: not-the-holder, lost, "
         "not-alive, demoted.\n\n"
         "Exit status: 0 renewed, 1 not.",
     .options = kOwnOptions,
     .examples = kRenewExamples,
     .body = lease_renew_command},
    {.name = "lease release",
     .summary = "Give a lease back",
     .text = "The next one may take it at once. The fence stays.\n\n"
             "Exit status: 0 given back, 1 if it was not held by who asked.",
     .options = kOwnOptions,
     .examples = kReleaseExamples,
     .body = lease_release_command},
    {.name = "lease check",
     .summary = "Ask whether a fence is in force, before writing under it",
     .text = "Inside of `tend lease run` it needs no options. It says no if another grant was made "
             "since, if the time is over, and if the holder is dead or demoted.\n\n"
             "Exit status: 0 in force, 1 not.",
     .options = kCheckOptions,
     .examples = kCheckExamples,
     .body = lease_check_command},
    {.name = "lease status",
     .summary = "Show who leads, under which fence, and for how long",
     .text =
         "A lease that went from hand to hand is held back, and how late its renewals come is "
         "shown.\n\n"
         "Exit status: with --name 0 if somebody leads and 1 if nobody does; else 0. 3 if a lease "
         "cannot be read: who leads is not known then.",
     .options = kStatusOptions,
     .examples = kStatusExamples,
     .body = lease_status_command},
    {.name = "lease watch",
     .summary = "Follow a lease from hand to hand",
     .text = "A line now and whenever it is granted, given back, or free for another reason, until "
             "Ctrl-C.",
     .options = kWatchOptions,
     .examples = kWatchExamples,
     .body = lease_watch_command},
    {.name = "lease run",
     .summary = "Run a program only while it leads",
     .text =
         "Waits its turn, runs CMD, renews every third of the time, and gives the lease back when "
         "nothing of CMD is left. If it cannot renew, all of CMD gets SIGTERM after two thirds of "
         "the time and SIGKILL after five sixths: before anybody else can lead. If this program is "
         "killed or stopped itself, its successor ends CMD before it takes over.\n\n"
         "CMD finds TEND_LEASE, TEND_FENCE and TEND_HOME, so that `tend lease check` needs no "
         "options. With --agent, or inside of an agent, it is renewed only while that agent is at "
         "work.\n\n"
         "Exit status: that of CMD; 75 if the lease was lost and CMD was ended for it; 1 if it was "
         "not granted; 126 and 127 if CMD cannot be run.",
     .positionals = kProgram,
     .options = kRunOptions,
     .examples = kRunExamples,
     .body = lease_run_command},
};

}  // namespace

std::span<const CommandRow> lease_commands() { return kRows; }

}  // namespace tend
