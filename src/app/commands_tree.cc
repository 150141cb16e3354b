// Growing trees of agents, and bringing them back.
#include "app/command_rows.h"
#include "app/dispatch_command.h"
#include "app/keeping_options.h"
#include "app/merge_command.h"
#include "app/recover_command.h"

namespace tend {
namespace {

constexpr PositionalRow kDispatchPositionals[] = {
    {.name = "CMD", .help = "the program and its arguments, after --", .repeats = true},
};
constexpr OptionRow kDispatchOptions[] = {
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
    kReadyFdOption,
    kNotifyOption,
    kTaskOption,
    {.name = "task-id",
     .kind = ValueKind::text,
     .value = "ID",
     .help = "the tool call of the lead's stream that this is done for"},
    {.name = "parent",
     .kind = ValueKind::agent,
     .value = "AGENT",
     .help = "put it below this agent; none: the one that this command runs in"},
    kJson,
};
constexpr std::string_view kDispatchExamples[] = {
    "tend dispatch --role coding --worktree new -- claude -p \"write the parser\"",
    "tend dispatch --role tests --limit tool=30m -- codex exec \"make it green\"",
};

constexpr OptionRow kRecoverOptions[] = {
    {.name = "dry-run", .letter = 'n', .help = "say what would be done, and do nothing"},
    kJson,
};
constexpr std::string_view kRecoverExamples[] = {"tend recover --dry-run", "tend recover"};

constexpr PositionalRow kMergePositionals[] = {
    {.name = "AGENT",
     .kind = ValueKind::agent,
     .help = "a child that ended well, in a work tree of its own",
     .required = true},
};
constexpr OptionRow kMergeOptions[] = {
    {.name = "into",
     .kind = ValueKind::file,
     .value = "DIR",
     .help = "the work tree to merge into; none: its parent's"},
    kJson,
};
constexpr std::string_view kMergeExamples[] = {"tend merge coder"};

constexpr CommandRow kTree[] = {
    {
        .name = "dispatch",
        .summary = "Start an agent below the one that asks",
        .text =
            "For agents: registers a child and has the keeper of the agent that this runs in start "
            "it, so that it lives on when this command, or the tool that called it, is gone. Waits "
            "until it runs, and prints name and folder. What becomes of it is told by `tend "
            "inbox`, `tend tree` and `tend wait`; its work is brought home by `tend merge`, or by "
            "itself when the lead is over.\n\n"
            "The child's environment is that of this command. With --worktree new it works in a "
            "git work tree of its own, on a branch of its own. A tree is at most 16 agents deep. "
            "`tend run` inside an agent registers in the same way.\n\n"
            "Exit status: 0 when it runs, 1 when it could not be started, 2 when this is not "
            "inside an agent; or that of a program which failed to start.",
        .positionals = kDispatchPositionals,
        .options = kDispatchOptions,
        .examples = kDispatchExamples,
        .body = dispatch_command,
    },
    {
        .name = "merge",
        .summary = "Bring the work of a child home",
        .text =
            "Merges the branch of a child that ended well into the work tree of its parent, always "
            "with a merge commit. A conflict is taken back: everything is as it was, and the work "
            "stays on its branch. Nothing is begun in a work tree that has changes which are not "
            "committed, or in which a merge or rebase is in progress. A lead calls this while it "
            "runs; once it is over its keeper does it.\n\n"
            "Exit status: 0 if the work is there, 1 if not.",
        .positionals = kMergePositionals,
        .options = kMergeOptions,
        .examples = kMergeExamples,
        .body = merge_command,
    },
    {
        .name = "recover",
        .summary = "Bring back what died with its keeper or with the machine",
        .text =
            "Looks at every agent of this home and says, in one line each, what has to be done and "
            "why: attach a keeper, resume, start, merge, tell, drop. Then it puts keepers on the "
            "roots, a moment apart, which do the same for their children. A second run finds "
            "nothing to do; two at once do not both act. What died with the machine spends no "
            "budget. Work trees that belong to no agent are listed, and left alone.\n\n"
            "Exit status: 0 if all is recovered, 1 if not within 2 minutes.",
        .options = kRecoverOptions,
        .examples = kRecoverExamples,
        .body = recover_command,
    },
};

}  // namespace

std::span<const CommandRow> tree_commands() { return kTree; }

}  // namespace tend
