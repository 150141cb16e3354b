// A registry may have an entry of an earlier process with the same number; what tells them apart is
// who was there first.
#include "run/service_beat.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "judge/lease.h"
#include "run/service_subject.h"
#include "run/store_watch.h"
#include "store/foreign/foreign_command.h"
#include "store/foreign/foreign_write.h"

namespace tend {
namespace {

/// How the newest entry of the process is called: the last one, for a calendar that was put back
/// makes that of an earlier process with its number look newer.
Result<std::string> id_in_registry(Machine& machine, const ForeignStore& store,
                                   const ProcessId& process, const TimeContext& context) {
  const auto entries = read_entries(machine.files, store, context);
  if (!entries) return std::unexpected(entries.error());
  const WallTime since = process_began(machine, process);
  const StoreReading* own = nullptr;
  for (const StoreReading& entry : *entries) {
    if (is_entry_of(entry, process, since)) own = &entry;
  }
  if (own != nullptr) return own->id;
  return fail(fmt::format("{} has no entry of process {}", on_one_line(store.path), process.pid));
}

/// Younger than it has to be.
bool is_fresh(const AgentStore& store, const StoreReading& there, const TimeContext& context) {
  return there.last_sign && *there.last_sign <= context.now &&
         context.now - *there.last_sign < store.refresh_after;
}

}  // namespace

PartDone beat_store(Machine& machine, const AgentStore& store, BeatFor& whom) {
  PartDone done{.name = store.name, .problem = {}, .busy = false, .again_in = {}};
  if (asks_command(store.store.kind)) {
    done.problem = "a service writes files and asks no commands: leave this sink to `tend beat`";
    return done;
  }
  const TimeContext context{.now = machine.clock.wall()};
  const bool is_registry = store.store.kind == StoreKind::registry;
  if (is_registry) {
    auto id = id_in_registry(machine, store.store, whom.process, context);
    if (!id) {
      done.problem = id.error().text;
      return done;
    }
    whom.id = *std::move(id);
  }
  const ProcessLives lives = [&](std::int64_t pid, const std::optional<WallTime>& started) {
    if (pid != whom.process.pid) return process_lives(machine, pid, started);
    return machine.processes.open(whom.process)->look().state == RunState::running;
  };
  const StoreReading there = read_store(machine.files, store.store, context, lives);
  if (there.ttl) done.again_in = lease_renews_after(*there.ttl);
  if (is_fresh(store, there, context)) return done;
  const std::string& id = !store.id.empty() ? store.id : whom.id;
  if (store.store.kind == StoreKind::lease_file && !there.id.empty() && there.id != id) {
    done.problem = "not the leader: the lease is held by " + on_one_line(there.id);
    return done;
  }
  StoreBeat beat;
  beat.pid = whom.process.pid;
  // The entry of a registry is younger than its process, and was held against it already.
  if (!is_registry) beat.started = process_began(machine, whom.process);
  beat.id = id;
  beat.counter = store.counter;
  beat.writer = {.id = "tend-service", .pid = machine.processes.self().pid, .patience = {}};
  const auto written = write_store(machine.files, store.store, beat, context, lives);
  if (written) return done;
  done.problem = written.error().text;
  const auto lock = machine.files.modified(store.store.path + ".lock");
  done.busy = store.store.locked && lock && *lock;
  return done;
}

}  // namespace tend
