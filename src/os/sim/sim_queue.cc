// A map is the queue; see sim_queue.h.
#include "os/sim/sim_queue.h"

#include <algorithm>
#include <vector>

namespace tend {
namespace {

constexpr std::chrono::seconds kBegin{1'773'002'269};  // 2026-03-08 20:37:49 UTC
constexpr Duration kAfterBoot = std::chrono::seconds{20};

}  // namespace

WallTime SimQueue::wall() const {
  return WallTime{kBegin + now_.time_since_epoch() + wall_offset_};
}

SimQueue::Key SimQueue::post(Instant when, SimEvent event) {
  const Key key{std::max(when, now_), ++sequence_};
  events_.emplace(key, std::move(event));
  return key;
}

std::optional<SimEvent> SimQueue::next(Instant until) {
  const auto first = events_.begin();
  if (first == events_.end() || first->first.first > until) {
    now_ = std::max(now_, until);
    return std::nullopt;
  }
  now_ = std::max(now_, first->first.first);
  SimEvent event = std::move(first->second);
  events_.erase(first);
  return event;
}

void SimQueue::sleep(Duration time) {
  now_ += time;
  slept_ += time;
  std::vector<std::pair<Key, SimEvent>> later;
  for (auto it = events_.begin(); it != events_.end();) {
    if (!it->second.awake) {
      ++it;
      continue;
    }
    later.emplace_back(Key{it->first.first + time, it->first.second}, std::move(it->second));
    it = events_.erase(it);
  }
  for (auto& [key, event] : later) events_.emplace(key, std::move(event));
}

void SimQueue::restart(Duration down) {
  clear();
  wall_offset_ += now_.time_since_epoch() + down - kAfterBoot;
  now_ = Instant{kAfterBoot};
  slept_ = {};
}

void SimQueue::clear() {
  // What an event holds may, when it goes, take another one back.
  while (!events_.empty()) events_.extract(events_.begin());
}

}  // namespace tend
