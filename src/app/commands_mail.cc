// Letters between agents and people, and notices that leave the machine.
#include "app/command_rows.h"
#include "app/mail_commands.h"
#include "app/outbox_commands.h"
#include "app/outbox_send_command.h"
#include "store/outbox.h"

namespace tend {
namespace {

constexpr PositionalRow kTo[] = {
    {.name = "TO", .kind = ValueKind::agent, .help = "an agent or a person", .required = true},
};
constexpr PositionalRow kLetter[] = {
    {.name = "ID", .help = "the number of a letter", .required = true},
};
constexpr PositionalRow kLetters[] = {
    {.name = "ID", .help = "the number of a letter", .required = true, .repeats = true},
};
constexpr PositionalRow kNotice[] = {
    {.name = "ID", .help = "the number of a notice", .required = true},
};
constexpr PositionalRow kNoticeIfAny[] = {
    {.name = "ID", .help = "the number of a notice"},
};

constexpr OptionRow kReaderOption{
    .name = "actor",
    .kind = ValueKind::agent,
    .value = "NAME",
    .help = "whose mail it is; none: TEND_ACTOR, the kept agent, or the user"};

constexpr OptionRow kSendOptions[] = {
    {.name = "subject",
     .letter = 's',
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "what it is about, in a line; needed"},
    {.name = "body",
     .letter = 'b',
     .kind = ValueKind::text,
     .value = "TEXT",
     .help = "what it says; - takes it from standard input"},
    {.name = "from",
     .kind = ValueKind::agent,
     .value = "NAME",
     .help = "who sends it; none: TEND_ACTOR, the kept agent, or the user"},
    {.name = "actor", .kind = ValueKind::agent, .value = "NAME", .help = "the same as --from"},
    {.name = "reply-to",
     .kind = ValueKind::text,
     .value = "ID",
     .help = "the letter that it answers, whose thread it joins"},
    kJson,
};
constexpr OptionRow kMailInboxOptions[] = {
    kReaderOption,
    {.name = "unread", .letter = 'u', .help = "only what was not read"},
    {.name = "all", .letter = 'a', .help = "also what was acknowledged"},
    kJson,
};
constexpr OptionRow kReadOptions[] = {kReaderOption, kJson};
constexpr OptionRow kAckLetterOptions[] = {kReaderOption, kJson, kQuiet};
constexpr OptionRow kJsonOnly[] = {kJson};

constexpr OptionRow kOutboxOptions[] = {
    {.name = "state",
     .kind = ValueKind::choice,
     .value = "STATE",
     .help = "all in this state",
     .choices = kNoticeStateWords},
    {.name = "channel",
     .letter = 'c',
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "only those of this channel"},
    {.name = "all", .letter = 'a', .help = "also what was sent and is over"},
    kJson,
};
constexpr OptionRow kRetryOptions[] = {
    {.name = "all", .letter = 'a', .help = "every dead notice that still means something"},
    kJson,
};
constexpr OptionRow kPruneOptions[] = {
    {.name = "older-than",
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "that did not change for so long; none: 7d"},
    kJson,
};

constexpr std::string_view kSendExamples[] = {
    "tend mail send Orchestrator --subject blocked --body \"need the key of the API\"",
    "tend mail send PinkHill --subject plan --reply-to 7 --body - < plan.md"};
constexpr std::string_view kMailInboxExamples[] = {"tend mail inbox",
                                                   "tend mail inbox --actor PinkHill --unread"};
constexpr std::string_view kReadExamples[] = {"tend mail read 7"};
constexpr std::string_view kAckExamples[] = {"tend mail ack 7", "tend mail ack 7 8 9"};
constexpr std::string_view kThreadExamples[] = {"tend mail thread 7"};
constexpr std::string_view kOutboxExamples[] = {"tend outbox",
                                                "tend outbox --state dead --channel slack --json"};
constexpr std::string_view kShowExamples[] = {"tend outbox show 4"};
constexpr std::string_view kSendNoticesExamples[] = {"tend outbox send"};
constexpr std::string_view kRetryExamples[] = {"tend outbox retry 4", "tend outbox retry --all"};
constexpr std::string_view kPruneExamples[] = {"tend outbox prune --older-than 30d"};

constexpr CommandRow kRows[] = {
    {.name = "mail send",
     .summary = "Send a letter to an agent or a person",
     .text = "Prints the number of the letter. It lies in tend.db in the home until its recipient "
             "has acknowledged it. Nobody has to run, or to be known, to get one.\n\n"
             "Exit status: 0 sent, 1 not, 2 if it cannot be sent as it is.",
     .positionals = kTo,
     .options = kSendOptions,
     .examples = kSendExamples,
     .body = mail_send_command},
    {.name = "mail inbox",
     .summary = "List the letters that wait for you",
     .text = "What was not acknowledged, oldest first, and whether it was read. Looking marks "
             "nothing. `tend inbox` is something else: what a keeper tells its agent, above all "
             "about its children.",
     .options = kMailInboxOptions,
     .examples = kMailInboxExamples,
     .body = mail_inbox_command},
    {.name = "mail read",
     .summary = "Show a letter, and mark it as read",
     .text = "What is for somebody else is shown, too, and stays unread. A letter that was read "
             "still waits to be acknowledged.",
     .positionals = kLetter,
     .options = kReadOptions,
     .examples = kReadExamples,
     .body = mail_read_command},
    {.name = "mail ack",
     .summary = "Acknowledge letters: seen, and done with",
     .text = "The answer to a ping, too. Only who a letter is for can do it; acknowledged letters "
             "are shown by `tend mail inbox --all`. `tend ack` is something else: it answers "
             "the keeper.\n\n"
             "Exit status: 0 if all are acknowledged, 1 if not.",
     .positionals = kLetters,
     .options = kAckLetterOptions,
     .examples = kAckExamples,
     .body = mail_ack_command},
    {.name = "mail thread",
     .summary = "Show a letter with all that belong to it",
     .text = "Oldest first, whoever they are from and for. Marks nothing.",
     .positionals = kLetter,
     .options = kJsonOnly,
     .examples = kThreadExamples,
     .body = mail_thread_command},
    {.name = "outbox",
     .summary = "Show the notices that leave this machine",
     .text = "What is not sent yet, and the last word on every incident that is open. A notice "
             "whose sending failed is tried again, after longer and longer pauses; one that "
             "failed for the last time is dead.\n\n"
             "Exit status: 0, or 3 if a dead one is among what is shown.",
     .options = kOutboxOptions,
     .examples = kOutboxExamples,
     .body = outbox_command},
    {.name = "outbox show",
     .summary = "Show one notice, and what it says",
     .text = "With its incident, its tries and what went wrong last.",
     .positionals = kNotice,
     .options = kJsonOnly,
     .examples = kShowExamples,
     .body = outbox_show_command},
    {.name = "outbox send",
     .summary = "Send the notices that are due, now",
     .text = "Keepers and the patrol send by themselves. This sends what they left: every notice "
             "of the home that is due goes out once on its channel, in order, with a line for what "
             "became of it. What is not heard is tried again later, up to 12 times.\n\n"
             "Exit status: 0 if all that was due was heard, 1 if not.",
     .options = kJsonOnly,
     .examples = kSendNoticesExamples,
     .body = outbox_send_command},
    {.name = "outbox retry",
     .summary = "Have dead notices tried again",
     .text = "A dead notice waits again, with all its tries. One whose incident is over is left "
             "dead, with exit 1: there is nothing more to tell.",
     .positionals = kNoticeIfAny,
     .options = kRetryOptions,
     .examples = kRetryExamples,
     .body = outbox_retry_command},
    {.name = "outbox prune",
     .summary = "Drop notices that nobody needs any more",
     .text = "Those of incidents that are over, and what a later word has outdated. What waits to "
             "be sent stays, and so does a dead notice of an open incident.",
     .options = kPruneOptions,
     .examples = kPruneExamples,
     .body = outbox_prune_command},
};

}  // namespace

std::span<const CommandRow> mail_commands() { return kRows; }

}  // namespace tend
