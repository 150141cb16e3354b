// See replies.h.
#include "run/replies.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "store/gate.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAfterTrouble = 10s;  // of the outbox
constexpr Duration kSoonest = 1s;
constexpr Duration kLatest = 1h;

}  // namespace

Replies::Replies(Machine& machine, Folder& home, Owner owner)
    : machine_(machine), home_(home), owner_(std::move(owner)) {}

void Replies::send(std::int64_t outage) {
  const std::string key = outage_key(outage);
  One& one = all_[key];
  if (!one.postman) {
    one.postman = std::make_unique<Postman>(
        machine_, home_, std::vector<NotifyChannel>{}, key, owner_.delivered,
        [this, key](const Postman::Round& round) { plan(key, round); });
  }
  one.again.reset();
  one.postman->send();
}

/// What failed is tried again by whoever is there then: a keeper, the patrol, the door.
void Replies::plan(const std::string& key, const Postman::Round& round) {
  if (!round.next && round.problem.empty()) {
    all_.erase(key);
  } else {
    Duration wait = kAfterTrouble;
    if (round.next) {
      wait = std::clamp(std::chrono::duration_cast<Duration>(*round.next - machine_.clock.wall()),
                        kSoonest, kLatest);
    }
    One& one = all_.at(key);
    one.again = machine_.loop.at(machine_.clock.now() + wait,
                                 [postman = one.postman.get()] { postman->send(); });
  }
  owner_.tried(round.problem);
}

}  // namespace tend
