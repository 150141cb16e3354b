// The rules. The first three are what one writes in an afternoon; the others are designs for fleets
// of agents, each with its own numbers. Where a design leaves something open, the choice is the one
// that makes it better.
#include "rival.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

RivalWord output_120s(const RivalSight& sees) {
  return !sees.alive || sees.output >= 120s ? RivalWord::restart : RivalWord::fine;
}

RivalWord pid_alive(const RivalSight& sees) {
  return sees.alive ? RivalWord::fine : RivalWord::restart;
}

/// A dead agent is one whose wrapper has stopped to beat.
RivalWord heartbeat_file(const RivalSight& sees) {
  return sees.beat >= 120s ? RivalWord::restart : RivalWord::fine;
}

/// An open call counts for its first 120 s. So does the event that opened it: calls need no look.
RivalWord heartbeat_tree(const RivalSight& sees) {
  constexpr Duration kStale = 120s;
  constexpr Duration kChildStale = 300s;
  constexpr Duration kGrace = 60s;
  if (sees.parent_beat && *sees.parent_beat >= kStale + kGrace) return RivalWord::leave;
  if (!sees.alive) return RivalWord::restart;
  if (sees.output < kStale) return RivalWord::fine;
  const bool waits_on_child = sees.child_beat && *sees.child_beat < kChildStale;
  return waits_on_child ? RivalWord::fine : RivalWord::restart;
}

/// The ping at 10 min goes to the agent itself: nobody else hears of it.
RivalWord task_heartbeat(const RivalSight& sees) {
  if (sees.beat <= 10min) return RivalWord::fine;
  if (!sees.alive) return RivalWord::restart;
  return sees.beat > 15min ? RivalWord::report : RivalWord::fine;
}

RivalWord question(const RivalSight& sees) {
  return !sees.alive || sees.beat > 15min ? RivalWord::restart : RivalWord::fine;
}

/// One stale store beside a live one is a broken writer, not a stuck agent.
RivalWord two_stores(const RivalSight& sees) {
  if (!sees.alive) return RivalWord::restart;
  const bool both_stale = sees.beat > 5min && sees.output > 5min;
  return both_stale && !sees.idle ? RivalWord::report : RivalWord::fine;
}

/// The design names no length of the lease; it is three beats here.
RivalWord lease_loop(const RivalSight& sees) {
  return !sees.alive || sees.beat > 180s ? RivalWord::restart : RivalWord::fine;
}

constexpr std::array<Rival, kRivalCount> kRivals{{
    {.name = "output-120s",
     .title = "no output for 120 s",
     .rule = "no output for 120 s: kill, start again",
     .judge = output_120s,
     .looks_every = 5s},
    {.name = "pid-alive",
     .title = "the process is there",
     .rule = "a process that is there is fine, one that is gone is started again",
     .judge = pid_alive,
     .looks_every = 5s},
    {.name = "heartbeat-file",
     .title = "heartbeat file (30 s beat, 120 s stale)",
     .rule = "a wrapper touches a file every 30 s while the process lives; older than 120 s: kill, "
             "start again",
     .judge = heartbeat_file,
     .looks_every = 30s,
     .beater = Beater::wrapper,
     .beats_every = 30s},
    {.name = "heartbeat-tree",
     .title = "heartbeat tree (30 s beat, 120 s stale)",
     .rule = "the runner of each agent touches a file every 30 s while the process lives. Every "
             "30 s: a call that was opened, an event of the agent or one of a sub-agent in its "
             "stream within 120 s, or a child that has beaten, is work; else children that have "
             "not beaten for 300 s are killed, and if no child is left the agent is stalled and "
             "started again: 3 times without an advance, 9 times in all. A child whose parent is "
             "gone and has not beaten for 120 s has 60 s to end",
     .left_out = "what the provider refuses with 529 is tried again with a back-off that grows; "
                 "here every attempt is made at once",
     .judge = heartbeat_tree,
     .looks_every = 30s,
     .beater = Beater::wrapper,
     .beats_every = 30s,
     .ends_children_after = 300s,
     .attempts = {.in_all = 9, .without_advance = 3}},
    {.name = "task-heartbeat",
     .title = "task heartbeat (5 min beat, escalated at 15 min)",
     .rule = "a timer in the worker beats for its task every 5 min, give or take one. A patrol "
             "every 5 min: no beat for 10 min: the task of a worker that is gone is given to a new "
             "one, a worker that is there is pinged; for 15 min: escalated to a person. Nobody is "
             "killed",
     .left_out = "its contexts with other limits, 30 min overnight and 5 min for critical tasks. "
                 "Its code escalates after 30 min and its table after 15: here the table counts",
     .judge = task_heartbeat,
     .looks_every = 5min,
     .beater = Beater::timer,
     .beats_every = 5min},
    {.name = "question",
     .title = "a question every 5 min, 15 min for an answer",
     .rule = "the agent is asked every 5 min and answers at its next turn; no answer for 15 min, "
             "or no process: kill, start again, and after 3 times within 30 min a person",
     .judge = question,
     .looks_every = 30s,
     .beater = Beater::answer,
     .beats_every = 5min,
     .attempts = {.at_a_time = 3, .time = 30min}},
    {.name = "two-stores",
     .title = "two stores (both 5 min stale), reports only",
     .rule = "the agent beats at each of its turns and says when it is idle; no beat and no "
             "activity of its terminal for 5 min: escalated to a person. Nobody is killed; one "
             "that is gone is started again",
     .left_out = "a poke after 20 min without a beat",
     .judge = two_stores,
     .looks_every = 60s,
     .beater = Beater::hook,
     .output_by_calendar = true},
    {.name = "lease-loop",
     .title = "a lease that a loop renews every 60 s",
     .rule = "a loop of its own renews the agent's lease every 60 s, whatever the agent does; a "
             "lease that has run out, or no process: kill, start again",
     .judge = lease_loop,
     .looks_every = 60s,
     .beater = Beater::loop,
     .beats_every = 60s},
}};

}  // namespace

std::span<const Rival, kRivalCount> rivals() { return kRivals; }

const Rival& rival_named(std::string_view name) {
  const auto* const found = std::ranges::find(kRivals, name, &Rival::name);
  CHECK(found != kRivals.end());
  return *found;
}

}  // namespace tend::sim
