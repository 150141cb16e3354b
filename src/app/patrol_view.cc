// Only a keeper that watched it for a while ends a patrol; a reader says what one look shows.
#include "app/patrol_view.h"

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/when.h"
#include "store/patrol_file.h"

namespace tend {
namespace {

PatrolIs what_it_is(const PatrolLockState& lock, WallTime now) {
  if (lock.held) {
    return now - lock.file.modified < kPatrolHangs ? PatrolIs::at_work : PatrolIs::hung;
  }
  return lock.record.wanted ? PatrolIs::gone : PatrolIs::ended;
}

std::string is_words(const SeenPatrol& patrol, WallTime now) {
  switch (patrol.is) {
    case PatrolIs::at_work:
      return fmt::format("process {}", patrol.pid);
    case PatrolIs::hung:
      return fmt::format("process {} hangs, its last beat was {} ago: a keeper replaces it",
                         patrol.pid, age_label(patrol.beat, now));
    case PatrolIs::gone:
      return fmt::format("process {} is gone: a keeper or `tend patrol -d` starts another one",
                         patrol.pid);
    case PatrolIs::ended:
    case PatrolIs::none:
      break;
  }
  return "none is at work: `tend patrol -d` starts one";
}

}  // namespace

Result<SeenPatrol> see_patrol(Home& home) {
  const auto lock = look_at_patrol(*home.folder);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) return SeenPatrol{};
  const PatrolRecord& record = (*lock)->record;
  SeenPatrol patrol{.is = what_it_is(**lock, home.machine.clock.wall()),
                    .pid = record.process.pid,
                    .interval = record.interval,
                    .beat = (*lock)->file.modified};
  // What it remembers may be damaged; that it is there is still true.
  if (const auto past = read_patrol_past(*home.folder); past && *past) {
    patrol.swept = (*past)->wall;
    const Duration asked = (*past)->state.asked;
    if (patrol.is == PatrolIs::at_work && asked > Duration::zero()) {
      patrol.next_sweep = patrol.swept + asked;
    }
  }
  return patrol;
}

std::string patrol_words(const SeenPatrol& patrol, WallTime now) {
  std::string words = is_words(patrol, now);
  if (patrol.swept == WallTime{}) return words;
  words += fmt::format("; last sweep {} ago", age_label(patrol.swept, now));
  if (patrol.next_sweep == WallTime{}) return words;
  if (patrol.next_sweep <= now) return words + ", the next is due";
  return words + fmt::format(", next in {}", age_label(now, patrol.next_sweep));
}

nlohmann::ordered_json patrol_json(const SeenPatrol& patrol) {
  const bool is_there = patrol.is == PatrolIs::at_work || patrol.is == PatrolIs::hung;
  return {{"state", kPatrolIsWords.at(static_cast<std::size_t>(patrol.is))},
          {"at_work", is_there},
          {"pid", is_there && patrol.pid != 0 ? nlohmann::ordered_json(patrol.pid)
                                              : nlohmann::ordered_json(nullptr)},
          {"last_beat", calendar_json(patrol.beat)},
          {"last_sweep", calendar_json(patrol.swept)},
          {"next_sweep", calendar_json(patrol.next_sweep)}};
}

}  // namespace tend
