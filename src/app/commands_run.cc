// Starting agents, and giving them orders.
#include "app/command_rows.h"
#include "app/keeping_options.h"
#include "app/order_commands.h"
#include "app/run_command.h"
#include "app/watch_command.h"
#include "base/adapter_kind.h"
#include "store/agent_file.h"

namespace tend {
namespace {

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
    kNameOption,
    kRoleOption,
    kPolicyOption,
    kLimitOption,
    kRestartOption,
    kOnStallOption,
    kMaxLifeOption,
    kBeatOption,
    kWorktreeOption,
    kAdapterOption,
    kAsIsOption,
    {.name = "stdin",
     .kind = ValueKind::choice,
     .value = "WHAT",
     .help = "its standard input: null, inherit, or stream (Tend speaks to it); none: null",
     .choices = kInputs},
    kReadyFdOption,
    kNotifyOption,
    kTaskOption,
    {.name = "service",
     .help = "start a beater with it, which writes its sinks and renews its leases (tend service)"},
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
    {.name = "tree", .help = "everything below it too, the last of the tree first"},
    {.name = "drain", .help = "let it finish its turn first, and begin nothing new"},
    {.name = "now", .help = "kill at once, without asking first; work is saved all the same"},
    kJson,
};
constexpr OptionRow kPauseOptions[] = {
    {.name = "keep-running", .help = "judge nothing, but let its processes go on"},
    kJson,
};
constexpr OptionRow kUnpauseOptions[] = {kJson};
constexpr std::string_view kStopExamples[] = {"tend stop api", "tend stop --tree lead",
                                              "tend stop --tree --drain lead"};
constexpr std::string_view kPauseExamples[] = {"tend pause api"};
constexpr std::string_view kUnpauseExamples[] = {"tend unpause api"};
constexpr std::string_view kReloadExamples[] = {"tend reload api"};

constexpr PositionalRow kWatchPositionals[] = {
    {.name = "WHAT",
     .help = "the number of a process, tmux:SESSION, or store:NAME",
     .required = true},
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
constexpr std::string_view kWatchExamples[] = {"tend watch 4711", "tend watch tmux:claude",
                                               "tend watch store:deacon"};

constexpr CommandRow kStarting[] = {
    {
        .name = "run",
        .summary = "Start a program and keep it alive",
        .text =
            "Starts the program with a keeper of its own, which outlives this command, and shows "
            "its output. The exit status is the program's own: its code, 128 and the number of a "
            "signal, or 75 when it is held because it ended the same way too often. Ctrl-C and "
            "SIGTERM stop it, a second time at once; a closed terminal only detaches.\n\n"
            "Work is saved before a program is ended: as a commit under refs/tend where its work "
            "tree is under git (index and branch are not touched), with --worktree DIR outside of "
            "git as a copy in its folder. It is refs/tend/NAME/LIFE; a ref that exists is never "
            "moved: NAME/LIFE-2 is next. "
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
            "TEND_LIFE=1 are set. Prints name and folder.\n\n"
            "store:NAME is an agent of another system, known by the heartbeat stores that the "
            "configuration names. Its limits are those of [store.NAME]. It is poked when it has "
            "been silent for long, followed from process to process, and ended only if the "
            "configuration says so and its process is proven.",
        .positionals = kWatchPositionals,
        .options = kWatchOptions,
        .examples = kWatchExamples,
        .body = watch_command,
    },
};

constexpr CommandRow kOrdering[] = {
    {
        .name = "stop",
        .summary = "Save the work of agents and end them",
        .text =
            "Saves the work, then ends every process of the agent: SIGINT to the first and its "
            "process group, as Ctrl-C would, after 5 s SIGTERM to all, after 10 s more SIGKILL. "
            "Returns when nothing of it is left. A process that is only watched is not ended, but "
            "no longer watched. Exit status is 0 if all are stopped, 1 if not.\n\n"
            "Without --tree the agents that it dispatched go on, and its keeper stays for them. "
            "With it the order is written from the top down, so that nothing new is dispatched and "
            "nothing resumed, and then the tree is ended from its leaves up.",
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
            "policy as it is configured now. Its agent is not touched. If the configuration cannot "
            "be used, the keeper goes on as it was, and says so.",
        .positionals = kOrderPositionals,
        .examples = kReloadExamples,
        .body = reload_command,
    },
};

}  // namespace

std::span<const CommandRow> starting_commands() { return kStarting; }
std::span<const CommandRow> ordering_commands() { return kOrdering; }

}  // namespace tend
