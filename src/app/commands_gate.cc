// Messages for agents from the channels that people write on.
#include "app/command_rows.h"
#include "app/gate_commands.h"
#include "store/gate.h"

namespace tend {
namespace {

constexpr OptionRow kAgentOption{
    .name = "agent",
    .kind = ValueKind::agent,
    .value = "NAME",
    .help = "whom it is for, by its whole name; none: the one root agent of the home"};
constexpr OptionRow kOwnOption{
    .name = "agent",
    .kind = ValueKind::agent,
    .value = "NAME",
    .help = "whose; none: the agent around this command, else the one root agent of the home"};
constexpr OptionRow kWhoseOption{
    .name = "agent", .kind = ValueKind::agent, .value = "NAME", .help = "only those of this one"};

constexpr PositionalRow kContent[] = {
    {.name = "-", .help = "the message comes from standard input"},
    {.name = "CMD", .kind = ValueKind::command, .help = "after --, how to reply", .repeats = true},
};
constexpr PositionalRow kMessage[] = {
    {.name = "ID", .help = "the number of a message", .required = true},
};

constexpr OptionRow kReceiveOptions[] = {
    kAgentOption,
    {.name = "channel",
     .letter = 'c',
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "what it came on, as in telegram; needed"},
    {.name = "endpoint",
     .letter = 'e',
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "who wrote there, as in the number of a chat; needed"},
    {.name = "content",
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "what it says",
     .value_may_be_empty = true},
    {.name = "reply-with",
     .kind = ValueKind::text,
     .value = "CMD",
     .help = "how its sender is told that the agent is down, and that it is up again"},
    {.name = "no-reply", .help = "its sender is told nothing"},
    {.name = "language",
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "of the sender, as in zh; none: what the configuration says"},
    {.name = "priority",
     .kind = ValueKind::text,
     .value = "N",
     .help = "1 comes before 2 before 3; none: 3"},
    {.name = "idempotency-key",
     .kind = ValueKind::text,
     .value = "KEY",
     .help = "the same message, sent again, is recognised by it"},
    kJson,
};
constexpr OptionRow kNextOptions[] = {
    kOwnOption,
    {.name = "wait",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "wait for one if there is none, for that long or until it comes",
     .value_is_optional = true},
    kJson,
};
constexpr OptionRow kFailOptions[] = {
    {.name = "error", .kind = ValueKind::text, .value = "TEXT", .help = "why, in a line"},
    {.name = "tries",
     .kind = ValueKind::text,
     .value = "N",
     .help = "only if nobody took it since: its tries as `next` gave them"},
    kJson,
};
constexpr OptionRow kListOptions[] = {
    kWhoseOption,
    {.name = "state",
     .kind = ValueKind::choice,
     .value = "STATE",
     .help = "only those in this state",
     .choices = kMessageStateWords},
    kJson,
};
constexpr OptionRow kStatusOptions[] = {kWhoseOption, kJson};
constexpr OptionRow kResumeOptions[] = {kAgentOption, kJson};
constexpr OptionRow kReleaseOptions[] = {
    kAgentOption, {.name = "force", .help = "also of one that is down"}, kJson};
constexpr OptionRow kServeOptions[] = {
    {.name = "socket",
     .kind = ValueKind::file,
     .value = "PATH",
     .help = "of up to 100 bytes; none: gate.sock in the home"},
};
constexpr OptionRow kJsonOnly[] = {kJson};

constexpr std::string_view kReceiveExamples[] = {
    "tend gate receive -c sms -e 42 --content hi --reply-with \"sms-to {endpoint}\"",
    "tend gate receive -c mail -e ann --json - -- mail-to {endpoint} < letter.txt"};
constexpr std::string_view kNextExamples[] = {"tend gate next --json",
                                              "tend gate next --agent claude --wait=10m"};
constexpr std::string_view kDoneExamples[] = {"tend gate done 7"};
constexpr std::string_view kFailExamples[] = {"tend gate fail 7 --error \"the API is down\""};
constexpr std::string_view kRetryExamples[] = {"tend gate retry 7"};
constexpr std::string_view kListExamples[] = {"tend gate list", "tend gate list --state dead"};
constexpr std::string_view kShowExamples[] = {"tend gate show 7"};
constexpr std::string_view kStatusExamples[] = {"tend gate status",
                                                "tend gate status --agent claude --json"};
constexpr std::string_view kResumeExamples[] = {"tend gate resume --agent claude"};
constexpr std::string_view kReleaseExamples[] = {"tend gate release --agent claude"};
constexpr std::string_view kServeExamples[] = {"tend gate serve"};

constexpr CommandRow kRows[] = {
    {.name = "gate receive",
     .summary = "Take a message for an agent, whether it is up or down",
     .text =
         "The message is safe in tend.db when this returns. While its agent is well it is queued, "
         "and `tend gate next` hands it out. While the agent is down it is held apart from the "
         "conversation, or not kept at all, as [gate] of the configuration says; its sender is "
         "told so at once, and told again when the agent is well.\n\n"
         "The command for replies is one text that is split as a shell would, or the words behind "
         "--. No shell is run. In each word {channel}, {endpoint}, {text} and {key} are replaced; "
         "where none has {text}, the text is its input. It finds TEND_CHANNEL, TEND_ENDPOINT, "
         "TEND_GATE (auto-reply, undelivered or all-clear) and TEND_IDEMPOTENCY_KEY, which is the "
         "same when it is tried again. It has 30 s; what fails is tried again, up to 12 times.\n\n"
         "Exit status: 0 received, 1 not, 2 if it cannot be received as it is.",
     .positionals = kContent,
     .options = kReceiveOptions,
     .examples = kReceiveExamples,
     .body = gate_receive_command},
    {.name = "gate next",
     .summary = "Take the next message of an agent",
     .text = "By priority, then by age. It is yours for ten minutes (`lease` of [gate]): say `tend "
             "gate done` or `tend gate fail` within that time, or it is handed out again. One that "
             "was handed out five times in vain is dead.\n\n"
             "Exit status: 0 taken, 1 nothing waits.",
     .options = kNextOptions,
     .examples = kNextExamples,
     .body = gate_next_command},
    {.name = "gate done",
     .summary = "Say that a message is done",
     .text = "Counts also where the lease ran out, for it is true.",
     .positionals = kMessage,
     .options = kJsonOnly,
     .examples = kDoneExamples,
     .body = gate_done_command},
    {.name = "gate fail",
     .summary = "Give a message back",
     .text = "It is queued again, at its place; given up if that was its last try.",
     .positionals = kMessage,
     .options = kFailOptions,
     .examples = kFailExamples,
     .body = gate_fail_command},
    {.name = "gate retry",
     .summary = "Have a dead message handed out again",
     .text = "It is queued again, with all its tries.",
     .positionals = kMessage,
     .options = kJsonOnly,
     .examples = kRetryExamples,
     .body = gate_retry_command},
    {.name = "gate list",
     .summary = "List the messages of the gate",
     .text = "Oldest first, at most 1,000; what was done is there for 30 days.",
     .options = kListOptions,
     .examples = kListExamples,
     .body = gate_list_command},
    {.name = "gate show",
     .summary = "Show one message of the gate",
     .text = "The whole of it. Taking nothing, changing nothing.",
     .positionals = kMessage,
     .options = kJsonOnly,
     .examples = kShowExamples,
     .body = gate_show_command},
    {.name = "gate status",
     .summary = "Show whether messages get through",
     .text = "For each agent: normal or degraded, since when and why, how many messages wait, and "
             "who was told of an outage and not yet of its end.\n\n"
             "Exit status: 0, or 3 if something needs you: messages or replies that were given up, "
             "or an agent that is not started any more.",
     .options = kStatusOptions,
     .examples = kStatusExamples,
     .body = gate_status_command},
    {.name = "gate resume",
     .summary = "Let an agent go on that was started too often",
     .text = "The same as `tend unpause`: ends the hold of one that ended the same way again and "
             "again. It decays by itself, too.",
     .options = kResumeOptions,
     .examples = kResumeExamples,
     .body = gate_resume_command},
    {.name = "gate release",
     .summary = "End an outage by hand, and release what was held",
     .text =
         "For an agent that nobody keeps; a keeper does it by itself. Held messages are queued, "
         "and whoever was told of the outage is told that it is over. Refused while the agent "
         "is down, unless forced.\n\n"
         "Exit status: 0 released, 1 refused.",
     .options = kReleaseOptions,
     .examples = kReleaseExamples,
     .body = gate_release_command},
    {.name = "gate serve",
     .summary = "Be the door of the gate: a socket for bridges",
     .text = "Listens on a Unix socket for this user alone, until Ctrl-C or SIGTERM. A line is a "
             "JSON object with a verb (receive, next, done, fail, retry, status or resume) and the "
             "fields of that command; the answer is what it prints with --json. A \"ref\" is given "
             "back. See docs/gate.md.\n\n"
             "Exit status: 0 ended, 1 if another one is there or it cannot listen.",
     .options = kServeOptions,
     .examples = kServeExamples,
     .body = gate_serve_command},
};

}  // namespace

std::span<const CommandRow> gate_commands() { return kRows; }

}  // namespace tend
