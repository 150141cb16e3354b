// What cannot be looked at is not vouched for, and is not over either.
#include "run/service_subject.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "judge/lease.h"
#include "store/heartbeat.h"
#include "store/home.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Is = ServiceSubject::Is;
using Look = ServiceSubject::Look;

constexpr Duration kSameStart = 2s;  // clocks of others are that coarse

/// Then the calendar was put back since, and does not tell which of two processes is older.
bool is_of_the_future(const StoreReading& entry, WallTime now) {
  return std::max(entry.started.value_or(now), entry.last_sign.value_or(now)) > now + kSameStart;
}

bool is_gone(RunState state) {
  return state == RunState::gone || state == RunState::zombie || state == RunState::reused;
}

}  // namespace

WallTime process_began(Machine& machine, const ProcessId& process) {
  const std::chrono::duration<double> seconds(machine.processes.started(process));
  return WallTime{std::chrono::duration_cast<std::chrono::nanoseconds>(seconds)};
}

bool is_entry_of(const StoreReading& entry, const ProcessId& process, WallTime process_began) {
  return entry.pid == process.pid && entry.started && process_began <= *entry.started + kSameStart;
}

ServiceSubject::ServiceSubject(LeaseDesk& desk, SubjectSettings settings)
    : desk_(desk), machine_(desk.machine()), settings_(std::move(settings)) {}

std::string ServiceSubject::asked() const {
  if (!settings_.agent.empty()) return "agent " + settings_.agent;
  if (settings_.process.pid != 0) return fmt::format("process {}", settings_.process.pid);
  return "the entry of " + settings_.registry->path;
}

Look ServiceSubject::look() {
  if (!settings_.agent.empty()) return look_at_agent();
  if (settings_.process.pid != 0) return look_at(settings_.process, "");
  return look_in_registry();
}

Look ServiceSubject::look_at_agent() {
  const auto folder = machine_.folders.open(settings_.agent);
  if (!folder) return {.is = Is::unfit, .words = folder.error().text, .process = {}, .id = {}};
  const auto says = read_heartbeat(**folder);
  if (!says) return {.is = Is::unfit, .words = says.error().text, .process = {}, .id = {}};
  if (!*says || (*says)->life == 0) {
    if (*says && is_terminal((*says)->status)) {
      return {.is = Is::over, .words = "the agent is over", .process = {}, .id = {}};
    }
    return {.is = Is::none, .words = "the agent has not begun yet", .process = {}, .id = {}};
  }
  const Heartbeat& heartbeat = **says;
  const std::string name = on_one_line(heartbeat.agent);
  Look look{.is = Is::over, .words = {}, .process = heartbeat.process, .id = {}};
  if (is_terminal(heartbeat.status)) {
    look.words = fmt::format("{} is over: {}", name, on_one_line(heartbeat.ended_by));
    return look;
  }
  look = look_at(heartbeat.process, "");
  // One that is gone may come back: that it is over only its heartbeat says.
  if (look.is != Is::over) return look;
  return {.is = Is::none, .words = name + " is between two lives", .process = {}, .id = {}};
}

/// The first entry may be of a process that is long gone, and of two that live the last to beat is
/// meant. Once one was found it stays the subject, whatever else the registry says.
Look ServiceSubject::look_in_registry() {
  if (bound_) return look_at(*bound_, bound_id_);
  const TimeContext context{.now = machine_.clock.wall()};
  const auto entries = read_entries(machine_.files, *settings_.registry, context);
  if (!entries) return {.is = Is::unfit, .words = entries.error().text, .process = {}, .id = {}};
  const StoreReading* newest = nullptr;
  for (const StoreReading& entry : *entries) {
    const auto id = entry.pid == 0 ? Result<std::optional<ProcessId>>{std::nullopt}
                                   : machine_.processes.identify(entry.pid);
    if (!id || !*id || is_of_the_future(entry, context.now)) continue;
    if (!is_entry_of(entry, **id, process_began(machine_, **id))) continue;
    if (is_gone(machine_.processes.open(**id)->look().state)) continue;
    if (newest != nullptr && bound_ != **id && newest->last_sign > entry.last_sign) continue;
    newest = &entry;
    bound_ = **id;
    bound_id_ = entry.id;
  }
  if (bound_) return look_at(*bound_, bound_id_);
  return {
      .is = Is::none,
      .words = entries->empty()
                   ? "the registry has no such entry"
                   : fmt::format("none of its {} in the registry has a living process that is "
                                 "as old as it says",
                                 entries->size() == 1 ? "one entry"
                                                      : fmt::format("{} entries", entries->size())),
      .process = {},
      .id = {}};
}

Look ServiceSubject::look_at(const ProcessId& process, const std::string& id) {
  Look look{.is = Is::unfit, .words = {}, .process = process, .id = id};
  const std::string name = fmt::format("process {}", process.pid);
  const HolderIs is = ended_ == process ? HolderIs::dead : desk_.holder_is(process);
  if (is == HolderIs::dead) {
    look.is = Is::over;
    look.words = name + " is gone";
    return look;
  }
  const auto agent = settings_.agent.empty() ? agent_of(process) : settings_.agent;
  if (!agent) {
    look.words = "the agents of this home cannot be looked at: " + agent.error().text;
    return look;
  }
  const LeaseRenewing may = may_vouch(is, desk_.agent_is(*agent));
  look.is = may.may ? Is::at_work : Is::unfit;
  look.words = may.may                   ? name + " runs"
               : is == HolderIs::stopped ? name + " is stopped"
                                         : fmt::format("{}: {}", name, may.why);
  return look;
}

Result<std::string> ServiceSubject::agent_of(const ProcessId& process) {
  std::string folder;
  const auto seen = for_each_agent(desk_.home(), [&](const KnownAgent& known, const Folder* open) {
    const bool is_it = open != nullptr && known.heartbeat.process == process &&
                       !is_terminal(known.heartbeat.status);
    if (is_it) folder = open->path();
  });
  if (!seen) return std::unexpected(seen.error());
  return folder;
}

}  // namespace tend
