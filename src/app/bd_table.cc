// The command table of `bd`.
#include "app/bd_commands.h"
#include "app/bd_program.h"
#include "app/command_rows.h"

namespace tend {
namespace {

constexpr PositionalRow kIssue[] = {
    {.name = "ID", .help = "of the issue", .required = true},
};
constexpr PositionalRow kIssues[] = {
    {.name = "ID", .help = "of the issue", .required = true, .repeats = true},
};
constexpr PositionalRow kTitle[] = {
    {.name = "TITLE", .help = "what is to be done, in a line", .required = true},
};

constexpr OptionRow kActor{
    .name = "actor",
    .kind = ValueKind::text,
    .value = "NAME",
    .help = "who you are; none: BEADS_ACTOR, BD_ACTOR, TEND_ACTOR, the kept agent, or the user"};
/// An option with a text; an empty one is refused in the words of the command.
constexpr OptionRow text_option(std::string_view name, char letter, std::string_view value,
                                std::string_view help) {
  return {.name = name,
          .letter = letter,
          .kind = ValueKind::text,
          .value = value,
          .help = help,
          .value_may_be_empty = true};
}
/// The same, as often as one likes; commas part several.
constexpr OptionRow list_option(std::string_view name, char letter, std::string_view value,
                                std::string_view help) {
  OptionRow row = text_option(name, letter, value, help);
  row.repeats = true;
  return row;
}

constexpr OptionRow kIfFence =
    text_option("if-fence", 0, "N", "only if this is the claim_fence of the issue");
constexpr OptionRow kJsonArray{.name = "json", .help = "print one JSON array"};
constexpr OptionRow kAssignee = text_option("assignee", 'a', "NAME", "that this one holds");
constexpr OptionRow kLabel = list_option("label", 'l', "LABELS", "that have all of these");
constexpr OptionRow kLabelAny = list_option("label-any", 0, "LABELS", "that have one of these");
constexpr OptionRow kWithoutLabel =
    list_option("exclude-label", 0, "LABELS", "that have none of these");
constexpr OptionRow kLimit{.name = "limit",
                           .letter = 'n',
                           .kind = ValueKind::text,
                           .value = "N",
                           .help = "at most so many; 0: all"};

constexpr OptionRow kHeartbeatOptions[] = {
    text_option("message", 'm', "TEXT", "how it goes, in a line; kept with the issue"),
    {.name = "notify", .help = "tell the orchestrator by mail, too"},
    kActor,
    kJson,
    kQuiet,
};
constexpr OptionRow kListOptions[] = {
    text_option("status", 's', "STATUS", "open, in_progress, ...; commas part several"),
    kAssignee,
    {.name = "no-assignee", .help = "that nobody holds"},
    kLabel,
    kLabelAny,
    kWithoutLabel,
    list_option("id", 0, "IDS", "these only"),
    {.name = "heartbeat-stale",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "without a sign for so long; alone: 10m, or what the context of the issue says",
     .value_is_optional = true},
    text_option("updated-before", 0, "TIME", "that were last changed before; a date or RFC 3339"),
    text_option("updated-after", 0, "TIME", "that were last changed after; a date or RFC 3339"),
    {.name = "all", .help = "the closed ones as well"},
    kLimit,
    kActor,
    kJsonArray,
    kQuiet,
};
constexpr OptionRow kShowOptions[] = {kActor, kJsonArray, kQuiet};
constexpr OptionRow kCreateOptions[] = {
    text_option("id", 0, "ID", "any printable text; none: one is made"),
    text_option("assignee", 'a', "NAME", "who is to do it"),
    list_option("labels", 'l', "LABELS", "words to find it by; commas part several"),
    list_option("label", 0, "LABELS", "the same as --labels"),
    {.name = "silent", .help = "print the id alone"},
    kActor,
    kJson,
    kQuiet,
};
constexpr OptionRow kUpdateOptions[] = {
    {.name = "claim", .help = "take it: one holder at a time; yours already: renew it"},
    text_option("status", 's', "STATUS", "another status; who held it loses it"),
    text_option("assignee", 'a', "NAME", "who is to do it; \"\": nobody"),
    text_option("title", 0, "TITLE", "another title"),
    list_option("set-labels", 0, "LABELS", "these labels and no others"),
    list_option("add-label", 0, "LABELS", "these labels more"),
    list_option("remove-label", 0, "LABELS", "these labels less"),
    kIfFence,
    kActor,
    kJsonArray,
    kQuiet,
};
constexpr OptionRow kCloseOptions[] = {
    text_option("reason", 'r', "TEXT", "why, in a line; none: Closed"),
    {.name = "force", .letter = 'f', .help = "even if somebody else holds it"},
    kIfFence,
    kActor,
    kJsonArray,
    kQuiet,
};
constexpr OptionRow kReopenOptions[] = {
    text_option("reason", 'r', "TEXT", "why, in a line; said, not kept"),
    kActor,
    kJsonArray,
    kQuiet,
};
constexpr OptionRow kReclaimOptions[] = {
    text_option("older-than", 0, "DUR", "without a sign for so long; none: 10m"),
    text_option("id", 0, "ID", "this one only"),
    kAssignee,
    kLabel,
    kLabelAny,
    kWithoutLabel,
    {.name = "any-replica", .help = "says nothing here: there is one replica"},
    {.name = "force", .help = "also of kept agents that are at work"},
    {.name = "dry-run", .help = "say what would be done, and do nothing"},
    kActor,
    kJson,
    kQuiet,
};
constexpr OptionRow kStaleOptions[] = {
    text_option("days", 'd', "N", "not changed for so many days, 1 or more; none: 30"),
    text_option("status", 's', "STATUS", "in this status"),
    kLabel,
    kLabelAny,
    kWithoutLabel,
    kLimit,
    kActor,
    kJsonArray,
    kQuiet,
};

constexpr std::string_view kHeartbeatExamples[] = {
    "bd heartbeat my-workflow:3-zyci.2.1",
    "bd heartbeat my-workflow:3-zyci.2.1 --message \"Tests passing, refactoring\""};
constexpr std::string_view kListExamples[] = {
    "bd list --heartbeat-stale --status in_progress "
    "--json",
    "bd list --heartbeat-stale=30m --json"};
constexpr std::string_view kUpdateExamples[] = {"bd update web:3 --claim --json",
                                                "bd update web:3 --status open --assignee \"\""};
constexpr std::string_view kCloseExamples[] = {"bd close web:3 --reason shipped"};
constexpr std::string_view kReclaimExamples[] = {"bd reclaim --older-than 10m --label web"};

constexpr std::string_view kHeartbeatText =
    "Only who claimed it may. Changes when the issue was last heard of, and the message; nothing "
    "else of it. Exit 1 if the claim is lost: 'issue already claimed by NAME'.";
constexpr std::string_view kCreateText = "Prints the id. `tend list` shows it as well.";

constexpr CommandRow kRows[] = {
    {.name = "heartbeat",
     .summary = "say that you still work on an issue",
     .text = kHeartbeatText,
     .positionals = kIssue,
     .options = kHeartbeatOptions,
     .examples = kHeartbeatExamples,
     .body = bd_heartbeat_command,
     .program = kBd},
    {.name = "hb",
     .summary = "the same as heartbeat",
     .text = kHeartbeatText,
     .positionals = kIssue,
     .options = kHeartbeatOptions,
     .body = bd_heartbeat_command,
     .program = kBd},
    {.name = "list",
     .summary = "list issues, or those whose holder went silent",
     .text = "Without the closed ones, unless it is asked for them. An issue that never beat "
             "counts from its last change. With --json: an array, in which stale issues have "
             "stale_seconds and stale_duration, which is in minutes.",
     .options = kListOptions,
     .examples = kListExamples,
     .body = bd_list_command,
     .program = kBd},
    {.name = "show",
     .summary = "show issues",
     .text = "With --json: an array.",
     .positionals = kIssues,
     .options = kShowOptions,
     .body = bd_show_command,
     .program = kBd},
    {.name = "create",
     .summary = "write down work that must not be forgotten",
     .text = kCreateText,
     .positionals = kTitle,
     .options = kCreateOptions,
     .body = bd_create_command,
     .program = kBd},
    {.name = "add",
     .summary = "the same as create",
     .text = kCreateText,
     .positionals = kTitle,
     .options = kCreateOptions,
     .body = bd_create_command,
     .program = kBd},
    {.name = "update",
     .summary = "change issues, or claim one",
     .text = "A claim is a lease with a number, its claim_fence, that rises with every new holder. "
             "Exit 1 if one of them could not be changed.",
     .positionals = kIssues,
     .options = kUpdateOptions,
     .examples = kUpdateExamples,
     .body = bd_update_command,
     .program = kBd},
    {.name = "close",
     .summary = "say that issues are done with",
     .text = "Its holder may, or anybody if nobody holds it. Exit 1 if one of them could not be "
             "closed.",
     .positionals = kIssues,
     .options = kCloseOptions,
     .examples = kCloseExamples,
     .body = bd_close_command,
     .program = kBd},
    {.name = "reopen",
     .summary = "open closed issues again",
     .text = "They are held by nobody then.",
     .positionals = kIssues,
     .options = kReopenOptions,
     .body = bd_reopen_command,
     .program = kBd},
    {.name = "reclaim",
     .summary = "free issues whose holder went silent",
     .text = "Passes over those whose holder is a kept agent that is at work, and says so on "
             "standard error. A scope that is given and empty is an error.",
     .options = kReclaimOptions,
     .examples = kReclaimExamples,
     .body = bd_reclaim_command,
     .program = kBd},
    {.name = "stale",
     .summary = "list issues that were not changed for days",
     .text = "Without the closed ones, the oldest first. With --json: an array.",
     .options = kStaleOptions,
     .body = bd_stale_command,
     .program = kBd},
};

}  // namespace

std::span<const CommandRow> bd_commands() { return kRows; }

}  // namespace tend
