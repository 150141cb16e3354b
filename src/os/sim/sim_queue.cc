// A heap of times over a table of events, so that taking one back is as cheap as asking for it; see
// sim_queue.h.
#include "os/sim/sim_queue.h"

#include <algorithm>
#include <utility>

namespace tend {
namespace {

constexpr std::chrono::seconds kBegin{1'773'002'269};  // 2026-03-08 20:37:49 UTC
constexpr Duration kAfterBoot = std::chrono::seconds{20};

constexpr std::size_t above(std::size_t place) { return (place - 1) / 2; }

}  // namespace

WallTime SimQueue::wall() const {
  return WallTime{kBegin + now_.time_since_epoch() + wall_offset_};
}

void SimQueue::put(std::size_t place, const Entry& entry) {
  heap_[place] = entry;
  slots_[entry.slot].place = place;
}

void SimQueue::rise(std::size_t place) {
  const Entry entry = heap_[place];
  for (; place > 0 && entry < heap_[above(place)]; place = above(place)) {
    put(place, heap_[above(place)]);
  }
  put(place, entry);
}

void SimQueue::sink(std::size_t place) {
  const Entry entry = heap_[place];
  while (true) {
    std::size_t below = 2 * place + 1;
    if (below >= heap_.size()) break;
    if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
    if (entry < heap_[below]) break;
    put(place, heap_[below]);
    place = below;
  }
  put(place, entry);
}

SimEvent& SimQueue::post(Instant when, SimTicket* ticket) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::size_t slot = free_.back();
  free_.pop_back();
  const Entry entry{std::max(when, now_), ++sequence_, slot};
  if (ticket != nullptr) *ticket = {slot, entry.sequence};
  slots_[slot].event.ticket = ticket;
  slots_[slot].event.awake = false;
  slots_[slot].sequence = entry.sequence;
  heap_.push_back(entry);
  rise(heap_.size() - 1);
  return slots_[slot].event;
}

// REQUIRES an empty event, and leaves one behind: to swap is cheaper than to move.
void SimQueue::take(std::size_t place, SimEvent& event) {
  const std::size_t slot = heap_[place].slot;
  SimEvent& taken = slots_[slot].event;
  event.owner.swap(taken.owner);
  event.run.swap(taken.run);
  event.program.swap(taken.program);
  event.ticket = taken.ticket;
  event.awake = taken.awake;
  slots_[slot].sequence = 0;
  free_.push_back(slot);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (place < heap_.size()) {
    put(place, last);
    if (place > 0 && last < heap_[above(place)]) {
      rise(place);
    } else {
      sink(place);
    }
  }
}

bool SimQueue::take_back(const SimTicket& ticket) {
  if (ticket.slot >= slots_.size() || ticket.sequence == 0) return false;
  if (slots_[ticket.slot].sequence != ticket.sequence) return false;
  // What it holds goes when the queue is whole again: it may take back others.
  SimEvent event;
  take(slots_[ticket.slot].place, event);
  return true;
}

bool SimQueue::next(Instant until, SimEvent& event) {
  if (heap_.empty() || heap_.front().when > until) {
    now_ = std::max(now_, until);
    return false;
  }
  now_ = std::max(now_, heap_.front().when);
  take(0, event);
  return true;
}

void SimQueue::sleep(Duration time) {
  now_ += time;
  slept_ += time;
  for (Entry& entry : heap_) {
    if (slots_[entry.slot].event.awake) entry.when += time;
  }
  std::ranges::sort(heap_, std::less<>{});  // sorted is a heap
  for (std::size_t place = 0; place < heap_.size(); ++place)
    slots_[heap_[place].slot].place = place;
}

void SimQueue::restart(Duration down) {
  clear();
  wall_offset_ += now_.time_since_epoch() + down - kAfterBoot;
  now_ = Instant{kAfterBoot};
  slept_ = {};
}

void SimQueue::clear() {
  // What an event holds may, when it goes, take another one back.
  while (!heap_.empty()) {
    SimEvent event;
    take(heap_.size() - 1, event);
  }
}

}  // namespace tend
