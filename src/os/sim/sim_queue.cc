// A sorted list of times over a table of events. There are seldom more than a few dozen of them: to
// move their times is cheaper than to keep a heap. See sim_queue.h.
#include "os/sim/sim_queue.h"

#include <algorithm>
#include <utility>

namespace tend {
namespace {

constexpr std::chrono::seconds kBegin{1'773'002'269};  // 2026-03-08 20:37:49 UTC
constexpr Duration kAfterBoot = std::chrono::seconds{20};

}  // namespace

WallTime SimQueue::wall() const {
  return WallTime{kBegin + now_.time_since_epoch() + wall_offset_};
}

/// What is asked for comes last of all, or next: that is found sooner step by step than by halves.
std::vector<SimQueue::Entry>::iterator SimQueue::place_of(const Entry& entry) {
  const auto half = agenda_.begin() + static_cast<std::ptrdiff_t>(agenda_.size() / 2);
  if (half == agenda_.end() || !half->is_after(entry)) {
    auto place = agenda_.begin();
    while (place != half && place->is_after(entry)) ++place;
    return place;
  }
  auto place = agenda_.end();
  while (!(place - 1)->is_after(entry)) --place;
  return place;
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
  slots_[slot].when = entry.when;
  slots_[slot].sequence = entry.sequence;
  agenda_.insert(place_of(entry), entry);
  return slots_[slot].event;
}

// REQUIRES an empty event, and leaves one behind: to swap is cheaper than to move.
void SimQueue::take(std::size_t slot, SimEvent& event) {
  SimEvent& taken = slots_[slot].event;
  event.owner.swap(taken.owner);
  event.run.swap(taken.run);
  event.program.swap(taken.program);
  event.ticket = taken.ticket;
  event.awake = taken.awake;
  slots_[slot].sequence = 0;
  free_.push_back(slot);
}

bool SimQueue::take_back(const SimTicket& ticket) {
  if (ticket.slot >= slots_.size() || ticket.sequence == 0) return false;
  if (slots_[ticket.slot].sequence != ticket.sequence) return false;
  agenda_.erase(place_of({slots_[ticket.slot].when, ticket.sequence, ticket.slot}));
  // What it holds goes when the queue is whole again: it may take back others.
  SimEvent event;
  take(ticket.slot, event);
  return true;
}

bool SimQueue::next(Instant until, SimEvent& event) {
  if (agenda_.empty() || agenda_.back().when > until) {
    now_ = std::max(now_, until);
    return false;
  }
  const Entry next = agenda_.back();
  agenda_.pop_back();
  now_ = std::max(now_, next.when);
  take(next.slot, event);
  return true;
}

void SimQueue::sleep(Duration time) {
  now_ += time;
  slept_ += time;
  for (Entry& entry : agenda_) {
    Slot& slot = slots_[entry.slot];
    if (slot.event.awake) entry.when += time;
    slot.when = entry.when;
  }
  std::ranges::sort(agenda_, &Entry::is_after);
}

void SimQueue::restart(Duration down) {
  clear();
  wall_offset_ += now_.time_since_epoch() + down - kAfterBoot;
  now_ = Instant{kAfterBoot};
  slept_ = {};
}

void SimQueue::clear() {
  // What an event holds may, when it goes, take another one back.
  while (!agenda_.empty()) {
    const std::size_t slot = agenda_.back().slot;
    agenda_.pop_back();
    SimEvent event;
    take(slot, event);
  }
}

}  // namespace tend
