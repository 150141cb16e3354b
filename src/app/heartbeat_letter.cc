// Subject and first line are those of the protocol; whoever filters by them finds them.
#include "app/heartbeat_letter.h"

#include <fmt/format.h>

#include "app/actor.h"
#include "app/home_records.h"
#include "app/task_commands.h"
#include "base/quote.h"
#include "store/mail.h"

namespace tend {
namespace {

/// The one that a beat is for.
std::string task_named(const Arguments& arguments, const World& world) {
  if (!arguments.positionals.empty()) return arguments.positionals.front();
  return world.environment.variable("TEND_TASK").value_or("");
}

}  // namespace

std::string orchestrator_of(const Environment& environment) {
  const auto named = environment.variable("TEND_ORCHESTRATOR");
  return named && !named->empty() ? *named : "Orchestrator";
}

Result<std::int64_t> tell_orchestrator(Database& database, const std::string& orchestrator,
                                       const HeartbeatNews& news, WallTime now) {
  Letter letter;
  letter.from = news.worker;
  letter.to = orchestrator;
  letter.subject = "[HEARTBEAT] Worker alive";
  letter.body = fmt::format("Worker {} heartbeat for {}", news.worker, news.task);
  if (news.message) letter.body += "\n" + *news.message;
  letter.key = "heartbeat:" + news.task;
  return Mailbox(database).send(letter, now);
}

int heartbeat_and_letter_command(const Arguments& arguments, World& world) {
  const int beaten = heartbeat_command(arguments, world);
  if (beaten != kExitYes || !arguments.has("notify")) return beaten;
  const std::string orchestrator = orchestrator_of(world.environment);
  const auto told = [&]() -> Result<std::int64_t> {
    const auto actor = actor_asked_for(arguments, world);
    if (!actor) return std::unexpected(actor.error());
    auto records = open_home_records(world);
    if (!records) return std::unexpected(records.error());
    return tell_orchestrator(
        *records->database, orchestrator,
        {task_named(arguments, world), actor->name, arguments.value("message")}, records->now());
  }();
  if (told) return kExitYes;
  return complain(world, "heartbeat",
                  fmt::format("the beat counts, but no letter was sent to {}: {}",
                              on_one_line(orchestrator), told.error().text),
                  kExitNo);
}

}  // namespace tend
