// The options that say how an agent is kept, for all commands that start one.
#pragma once

#include "app/command.h"
#include "base/adapter_kind.h"
#include "store/agent_file.h"

namespace tend {

inline constexpr OptionRow kNameOption{
    .name = "name",
    .kind = ValueKind::text,
    .value = "NAME",
    .help = "what to call it, free again once it is over; none: made from the program"};
inline constexpr OptionRow kRoleOption{.name = "role",
                                       .kind = ValueKind::text,
                                       .value = "ROLE",
                                       .help = "what it is there for; none: worker"};
inline constexpr OptionRow kPolicyOption{
    .name = "policy",
    .kind = ValueKind::policy,
    .value = "NAME|FILE",
    .help =
        "how patiently to judge it; none: agent for an agent that is known, else plain, which "
        "never kills for silence"};
inline constexpr OptionRow kLimitOption{
    .name = "limit",
    .kind = ValueKind::limit,
    .value = "NAME=DUR",
    .help = "set a limit, as in tool=15m, idle=none or beats=2m,5m",
    .repeats = true};
inline constexpr OptionRow kRestartOption{
    .name = "restart",
    .kind = ValueKind::choice,
    .value = "WHEN",
    .help = "after it ended: never, on-failure or always; none: on-failure, under plain never",
    .choices = kRestartWords};
inline constexpr OptionRow kOnStallOption{
    .name = "on-stall",
    .kind = ValueKind::choice,
    .value = "CURE",
    .help = "when it hangs: resume, kill or report; none: resume",
    .choices = kOnStallWords};
inline constexpr OptionRow kMaxLifeOption{
    .name = "max-life", .kind = ValueKind::text, .value = "DUR", .help = "stop it after this time"};
inline constexpr OptionRow kBeatOption{
    .name = "beat",
    .kind = ValueKind::text,
    .value = "DUR",
    .help = "how often its heartbeat is renewed while its process lives; none: 30s"};
inline constexpr OptionRow kWorktreeOption{
    .name = "worktree",
    .kind = ValueKind::file,
    .value = "DIR|new[:BRANCH]",
    .help =
        "where its work is, saved before anything is done to it; new: a work tree of its own, on a "
        "branch of its own; none: this repository"};
inline constexpr OptionRow kAdapterOption{
    .name = "adapter",
    .kind = ValueKind::choice,
    .value = "WORD",
    .help = "the language of its output; none: found out from the command and the first lines",
    .choices = kAdapterWords};
inline constexpr OptionRow kAsIsOption{
    .name = "as-is", .help = "add nothing to the command of an agent that is known"};
inline constexpr OptionRow kReadyFdOption{
    .name = "ready-fd",
    .kind = ValueKind::text,
    .value = "N",
    .help = "it writes a newline to this descriptor when it is ready"};
inline constexpr OptionRow kNotifyOption{
    .name = "notify",
    .kind = ValueKind::text,
    .value = "CMD",
    .help = "run this in a shell when a person is needed, the incident as JSON on its input"};
inline constexpr OptionRow kTaskOption{
    .name = "task",
    .kind = ValueKind::text,
    .value = "ID",
    .help =
        "the task it works on: claimed when it starts, beaten while it gets on, closed when it is "
        "done, else given back"};

}  // namespace tend
