// Where the command can add and remove, only the label itself is changed. The original of Gas Town
// writes the whole set that it read a moment before, and so takes back what another process set in
// between.
#include "app/label_beat.h"

#include <chrono>
#include <string>
#include <utility>

#include "app/await.h"
#include "base/check.h"
#include "store/foreign/foreign_command.h"

namespace tend {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

Result<Ran> ran(Machine& machine, const Run& run) {
  return await<Ran>(machine,
                    [&](auto answer) { return machine.processes.run(run, std::move(answer)); });
}

Result<Labels> ask(Machine& machine, const ForeignStore& store) {
  return labels_of(store, ran(machine, command_of(store)),
                   TimeContext{.now = machine.clock.wall()});
}

std::int64_t seconds_of(WallTime time) { return floor<seconds>(time.time_since_epoch()).count(); }

}  // namespace

Result<LabelBeat> beat_label(Machine& machine, const ForeignStore& store, Duration refresh_after) {
  CHECK(store.kind == StoreKind::label && !store.set.empty());
  const auto there = ask(machine, store);
  if (!there) return std::unexpected(there.error());
  const WallTime now = machine.clock.wall();
  // One that is far ahead is of a clock that was wrong, and would never grow old.
  if (const auto beat = there->beat;
      beat && *beat > now - refresh_after && *beat < now + refresh_after) {
    return LabelBeat{.epoch = seconds_of(*beat),
                     .fresh = floor<Duration>(*beat - (now - refresh_after))};
  }
  const std::int64_t epoch = seconds_of(now);
  const std::string label = beat_label_name(store) + std::to_string(epoch);
  if (const std::string why = trouble_with(store, ran(machine, set_command(store, *there, label)));
      !why.empty()) {
    return fail(why);
  }
  const auto after = ask(machine, store);
  if (!after) return std::unexpected(after.error());
  if (!after->beat || seconds_of(*after->beat) < epoch) {
    return fail(label + " is not there, although " + store.set.front() + " took it");
  }
  return LabelBeat{.epoch = seconds_of(*after->beat)};
}

}  // namespace tend
