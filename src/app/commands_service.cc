// The beater of a pid file.
#include "app/command_rows.h"
#include "app/service_commands.h"

namespace tend {
namespace {

constexpr std::string_view kPresets[] = {"hyrm"};
constexpr OptionRow kPidfile{.name = "pidfile",
                             .kind = ValueKind::file,
                             .value = "FILE",
                             .help =
                                 "which service: its number stands there for other tools; with "
                                 "--agent it may be left out"};
constexpr OptionRow kAgent{.name = "agent",
                           .kind = ValueKind::agent,
                           .value = "A",
                           .help = "beat for this agent, across its lives"};
constexpr OptionRow kPid{.name = "pid",
                         .kind = ValueKind::text,
                         .value = "N",
                         .help = "beat for this process, and no other that gets its number"};
constexpr OptionRow kCaller{.name = "caller",
                            .help =
                                "beat for the program that runs this command, shells not "
                                "counted: for hooks"};
constexpr OptionRow kInterval{.name = "interval",
                              .kind = ValueKind::text,
                              .value = "DUR",
                              .help = "from beat to beat, 60s if it is not given"};
constexpr OptionRow kPreset{.name = "preset",
                            .kind = ValueKind::choice,
                            .value = "NAME",
                            .help = "beat into the stores of this system, and log where it does",
                            .choices = kPresets};
constexpr OptionRow kRoot{.name = "root",
                          .kind = ValueKind::file,
                          .value = "DIR",
                          .help = "the folder of that system, /app/workspace if it is not given"};

constexpr OptionRow kStartOptions[] = {kPidfile, kAgent, kPid,   kCaller, kInterval,
                                       kPreset,  kRoot,  kQuiet, kJson};
constexpr OptionRow kRunOptions[] = {kPidfile, kAgent, kPid, kInterval, kPreset, kRoot};
constexpr OptionRow kStopOptions[] = {
    kPidfile,
    kAgent,
    {.name = "caller", .help = "only if it beats for the program that runs this command"},
    kQuiet,
    kJson};
constexpr OptionRow kStatusOptions[] = {
    kPidfile, kAgent, {.name = "quiet", .letter = 'q', .help = "print the first line only"}, kJson};

constexpr std::string_view kStartExamples[] = {
    "tend service start --pidfile memory/beat.pid --preset hyrm --root .",
    "tend service start --agent lead --interval 30s"};
constexpr std::string_view kStopExamples[] = {"tend service stop --pidfile memory/beat.pid"};
constexpr std::string_view kStatusExamples[] = {"tend service status --agent lead --json"};
constexpr std::string_view kRunExamples[] = {"tend service run --pidfile run/beat.pid --pid 4711"};

constexpr OptionRow kInstallOptions[] = {
    kPidfile,
    kAgent,
    kInterval,
    kPreset,
    kRoot,
    {.name = "name",
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "the unit is tend-service-NAME.service; \"heartbeat\" if it is not given"},
    {.name = "dry-run", .help = "print the unit, and write nothing"}};
constexpr std::string_view kInstallExamples[] = {
    "tend service install --pidfile memory/beat.pid --preset hyrm --root ."};

constexpr CommandRow kService[] = {
    {
        .name = "service start",
        .summary = "Start a beater that stays with its subject",
        .text =
            "A process of its own that outlives this session, and not its subject: it ends the "
            "moment that is gone. Before every beat it proves that its subject lives and works, "
            "and writes then the entry and the lease of that very subject, and of no other. The "
            "subject is an agent (--agent), a process (--pid), or with --preset the orchestrator "
            "of its registry: the entry whose process lives and is as old as it says. Where there "
            "is none yet, nothing is beaten, and it looks again.\n\n"
            "A beat that could not be written is a failure, and is counted as one; not to be the "
            "leader is a failure, too. It is shown once and then more and more rarely.\n\n"
            "Exit status: 0 started, 1 it runs already or cannot begin; with --quiet 0 if it runs "
            "already.",
        .options = kStartOptions,
        .examples = kStartExamples,
        .body = service_start_command,
    },
    {
        .name = "service stop",
        .summary = "End a beater",
        .text = "Asks it to end, and kills it after 5 seconds. Who is ended is known by its record "
                "and not by the number in the pid file.\n\n"
                "Exit status: 0 ended, 1 it was not running.",
        .options = kStopOptions,
        .examples = kStopExamples,
        .body = service_stop_command,
    },
    {
        .name = "service status",
        .summary = "Show whether a beater runs, and what became of its beats",
        .text = "A pid file that was left behind is taken away.\n\n"
                "Exit status: 0 it runs, 1 it does not.",
        .options = kStatusOptions,
        .examples = kStatusExamples,
        .body = service_status_command,
    },
    {
        .name = "service run",
        .summary = "Be a beater (tend service start does it by itself)",
        .text =
            "Beats until it is told to end or its subject is gone. Tells a manager that started "
            "it how it is (sd_notify: READY, STATUS, WATCHDOG, STOPPING).",
        .options = kRunOptions,
        .examples = kRunExamples,
        .body = service_run_command,
    },
    {
        .name = "service install",
        .summary = "Write a unit for your systemd that is a beater",
        .text = "Writes ~/.config/systemd/user/tend-service-NAME.service, and starts nothing: the "
                "lines that do it are shown, and what to do so that it stays after you logged out. "
                "The unit is started again when the beater was killed or does not answer its "
                "watchdog, and, where its subject comes from a registry, when that subject is "
                "gone.\n\n"
                "Exit status: 0 written, 1 it could not be.",
        .options = kInstallOptions,
        .examples = kInstallExamples,
        .body = service_install_command,
    },
};

}  // namespace

std::span<const CommandRow> service_commands() { return kService; }

}  // namespace tend
