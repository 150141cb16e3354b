// What each plane has to say; see planes.h.
#include "judge/planes.h"

#include <algorithm>

namespace tend {

Planes look_at_planes(const Evidence& evidence, const Policy& policy, const Silence& silence,
                      const Exiting& exiting, Horizon& horizon) {
  const Life& life = evidence.life;
  Planes planes;
  planes.process = life.probe == ProcessState::running || life.probe == ProcessState::stopped;

  if (!life.stream_seen) {
    planes.stream = silence.phase == Phase::start;
  } else if (silence.phase == Phase::exiting) {
    // Nothing renews this phase, so the stream may still be lively in it.
    planes.stream = horizon.due(life.last_stream + silence.limit);
  } else {
    planes.stream = true;
  }

  planes.beats = life.beat_seen && !life.beat_failed &&
                 horizon.due(life.last_beat + policy.limits.beats.suspect);

  const bool ping_unanswered =
      std::any_of(life.pings.begin(), life.pings.end(), [&](const Ping& ping) {
        return !ping.overtaken && horizon.due(ping.sent + policy.limits.confirm);
      });
  planes.self = life.stuck || ping_unanswered || exiting.by == ExitBy::stop;

  planes.children = silence.all_ended && silence.because == Because::children_ended;
  return planes;
}

}  // namespace tend
