// Work items: what is to be done, who does it, and whether anybody still does.
#include "app/command_rows.h"
#include "app/heartbeat_letter.h"
#include "app/task_commands.h"
#include "store/tasks.h"

namespace tend {
namespace {

constexpr PositionalRow kTitle[] = {
    {.name = "TITLE", .help = "what is to be done, in a line", .required = true},
};
constexpr PositionalRow kTask[] = {
    {.name = "ID", .help = "of the task", .required = true},
};
constexpr PositionalRow kTaskOrOwn[] = {
    {.name = "ID", .help = "of the task; none: TEND_TASK, the one this agent works on"},
};
constexpr OptionRow kActorOption{
    .name = "actor",
    .kind = ValueKind::text,
    .value = "NAME",
    .help = "who comes for it; none: TEND_ACTOR, the kept agent, or the user"};
constexpr OptionRow kFenceOption{.name = "fence",
                                 .kind = ValueKind::text,
                                 .value = "N",
                                 .help =
                                     "the number of your claim: a later one of the same name "
                                     "is not yours"};
constexpr OptionRow kContextOption{.name = "context",
                                   .kind = ValueKind::choice,
                                   .value = "CONTEXT",
                                   .help =
                                       "how soon somebody is missed: active (10m), overnight "
                                       "(30m) or critical (5m)",
                                   .choices = kTaskContextWords};
constexpr OptionRow kStatusFilter{.name = "status",
                                  .letter = 's',
                                  .kind = ValueKind::text,
                                  .value = "STATUS",
                                  .help = "open, in_progress, blocked, closed, or one of your own"};
constexpr OptionRow kAssigneeFilter{.name = "assignee",
                                    .letter = 'a',
                                    .kind = ValueKind::text,
                                    .value = "NAME",
                                    .help = "who holds it, or is to do it"};
constexpr OptionRow kLabelFilter{.name = "label",
                                 .letter = 'l',
                                 .kind = ValueKind::text,
                                 .value = "LABEL",
                                 .help = "that has this label; again: and this one",
                                 .repeats = true};

constexpr OptionRow kAddOptions[] = {
    {.name = "id",
     .kind = ValueKind::text,
     .value = "ID",
     .help = "any printable text; none: one is made"},
    kAssigneeFilter,
    kContextOption,
    {.name = "label",
     .letter = 'l',
     .kind = ValueKind::text,
     .value = "LABEL",
     .help = "a word to find it by",
     .repeats = true},
    {.name = "status",
     .letter = 's',
     .kind = ValueKind::text,
     .value = "STATUS",
     .help = "open, blocked, or one of your own; none: open"},
    kJson,
};
constexpr OptionRow kHolderOptions[] = {kActorOption, kFenceOption, kJson};
constexpr OptionRow kCloseOptions[] = {
    {.name = "reason",
     .letter = 'r',
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "why, in a line"},
    {.name = "force", .help = "even if somebody else holds it"},
    kActorOption,
    kFenceOption,
    kJson,
};
constexpr OptionRow kUpdateOptions[] = {
    {.name = "title", .kind = ValueKind::text, .value = "TITLE", .help = "another title"},
    {.name = "status",
     .letter = 's',
     .kind = ValueKind::text,
     .value = "STATUS",
     .help = "another status; who held it loses it"},
    {.name = "assignee",
     .letter = 'a',
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "who is to do it; who held it loses it"},
    {.name = "no-assignee", .help = "for anybody; who held it loses it"},
    kContextOption,
    {.name = "add-label",
     .kind = ValueKind::text,
     .value = "LABEL",
     .help = "one label more",
     .repeats = true},
    {.name = "remove-label",
     .kind = ValueKind::text,
     .value = "LABEL",
     .help = "one label less",
     .repeats = true},
    {.name = "claim", .help = "take it, as `tend task claim` does"},
    kActorOption,
    kJson,
};
constexpr OptionRow kJsonOnly[] = {kJson};
constexpr OptionRow kHeartbeatOptions[] = {
    {.name = "message",
     .letter = 'm',
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "how it goes, in a line; shown wherever the task is"},
    {.name = "notify",
     .help = "tell the orchestrator by mail: TEND_ORCHESTRATOR, or the name Orchestrator"},
    kActorOption,
    kFenceOption,
    kJson,
    kQuiet,
};
constexpr OptionRow kListOptions[] = {
    kStatusFilter,
    kAssigneeFilter,
    kLabelFilter,
    {.name = "no-assignee", .help = "that nobody holds"},
    {.name = "heartbeat-stale",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "without a sign of its holder for that long; alone: for as long as its context says",
     .value_is_optional = true},
    {.name = "limit",
     .letter = 'n',
     .kind = ValueKind::text,
     .value = "N",
     .help = "at most so many; none: all"},
    {.name = "json", .help = "print one JSON array"},
};
constexpr OptionRow kReclaimOptions[] = {
    {.name = "older-than",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "without a sign for that long; none: 10m"},
    {.name = "id", .kind = ValueKind::text, .value = "ID", .help = "this one only"},
    kAssigneeFilter,
    kLabelFilter,
    {.name = "label-any",
     .kind = ValueKind::text,
     .value = "LABEL",
     .help = "that has one of these labels",
     .repeats = true},
    {.name = "exclude-label",
     .kind = ValueKind::text,
     .value = "LABEL",
     .help = "that does not have this label",
     .repeats = true},
    {.name = "force", .help = "also of kept agents that are at work"},
    {.name = "dry-run", .help = "say what would be done, and do nothing"},
    kJson,
};

constexpr std::string_view kAddExamples[] = {
    "tend task add \"Implement login\"",
    "tend task add --id web:3 --label web --context overnight \"Move the database\""};
constexpr std::string_view kClaimExamples[] = {"tend task claim web:3",
                                               "tend task claim web:3 --actor PinkHill --json"};
constexpr std::string_view kUpdateExamples[] = {"tend task update web:3 --status blocked",
                                                "tend task update web:3 --add-label urgent"};
constexpr std::string_view kCloseExamples[] = {"tend task close web:3 --reason shipped"};
constexpr std::string_view kHeartbeatExamples[] = {
    "tend heartbeat web:3", "tend heartbeat web:3 --message \"tests pass, cleaning up\"",
    "tend heartbeat web:3 --notify"};
constexpr std::string_view kHbExamples[] = {"tend hb web:3"};
constexpr std::string_view kShowExamples[] = {"tend task show web:3"};
constexpr std::string_view kReleaseExamples[] = {"tend task release web:3"};
constexpr std::string_view kReopenExamples[] = {"tend task reopen web:3"};
constexpr std::string_view kListExamples[] = {
    "tend list", "tend list --heartbeat-stale --status in_progress --json",
    "tend list --heartbeat-stale=15m --label web"};
constexpr std::string_view kReclaimExamples[] = {"tend reclaim",
                                                 "tend reclaim --older-than 1h "
                                                 "--label web --dry-run"};

constexpr CommandRow kRows[] = {
    {.name = "task add",
     .summary = "Write down work that must not be forgotten",
     .text = "Prints the id. Tasks live in tend.db in the home, for all agents and people there.",
     .positionals = kTitle,
     .options = kAddOptions,
     .examples = kAddExamples,
     .body = task_add_command},
    {.name = "task claim",
     .summary = "Take a task: one holder at a time",
     .text = "A claim is a lease with a number, its fence, that rises with every new holder. To "
             "claim again what you hold renews it. Exit 1 if somebody else holds it, with the "
             "name.",
     .positionals = kTask,
     .options = kHolderOptions,
     .examples = kClaimExamples,
     .body = task_claim_command},
    {.name = "task show",
     .summary = "Show one task",
     .text = "With its holder, when that was last heard of, and what it said then.",
     .positionals = kTask,
     .options = kJsonOnly,
     .examples = kShowExamples,
     .body = task_show_command},
    {.name = "task update",
     .summary = "Change a task",
     .text = "Whoever held it holds it no more once its status or assignee is another.",
     .positionals = kTask,
     .options = kUpdateOptions,
     .examples = kUpdateExamples,
     .body = task_update_command},
    {.name = "task release",
     .summary = "Give a task back: open, and held by nobody",
     .text = "Only its holder may.",
     .positionals = kTask,
     .options = kHolderOptions,
     .examples = kReleaseExamples,
     .body = task_release_command},
    {.name = "task close",
     .summary = "Say that a task is done with",
     .text = "Its holder may, or anybody if nobody holds it. Who has lost the claim gets exit 1 "
             "and the name of the new holder.",
     .positionals = kTask,
     .options = kCloseOptions,
     .examples = kCloseExamples,
     .body = task_close_command},
    {.name = "task reopen",
     .summary = "Open a closed task again",
     .text = "It is held by nobody then.",
     .positionals = kTask,
     .options = kJsonOnly,
     .examples = kReopenExamples,
     .body = task_reopen_command},
    {.name = "heartbeat",
     .summary = "Say that you still work on a task",
     .text = "Only its holder may. Changes when the task was last heard of, and the message; "
             "nothing else of it. With --notify the orchestrator gets a letter, one until it is "
             "acknowledged.\n\n"
             "Exit status: 0; 1 if the claim is lost, with the name of the new holder, or if the "
             "letter could not be sent; 2 usage.",
     .positionals = kTaskOrOwn,
     .options = kHeartbeatOptions,
     .examples = kHeartbeatExamples,
     .body = heartbeat_and_letter_command},
    {.name = "hb",
     .summary = "The same as heartbeat",
     .text = "See `tend heartbeat --help`.",
     .positionals = kTaskOrOwn,
     .options = kHeartbeatOptions,
     .examples = kHbExamples,
     .body = heartbeat_and_letter_command},
    {.name = "list",
     .summary = "List tasks, or those whose holder went silent",
     .text = "With --heartbeat-stale the longest silent comes first; a task that never beat counts "
             "from its last change. With --json: an array, in which stale tasks have "
             "stale_seconds.",
     .options = kListOptions,
     .examples = kListExamples,
     .body = list_command},
    {.name = "reclaim",
     .summary = "Free tasks whose holder went silent",
     .text = "Passes over those whose holder is a kept agent that is at work, and says so: its "
             "beats fail, and not its work.",
     .options = kReclaimOptions,
     .examples = kReclaimExamples,
     .body = reclaim_command},
};

}  // namespace

std::span<const CommandRow> task_commands() { return kRows; }

}  // namespace tend
