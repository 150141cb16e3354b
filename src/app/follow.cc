// A timer that is set anew after every look.
#include "app/follow.h"

#include <algorithm>
#include <vector>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookEvery = 250ms;

class Follower {
 public:
  Follower(Machine& machine, std::optional<Instant> until, const std::function<bool()>& look)
      : machine_(machine), until_(until), look_(look) {}

  void run(const std::string& folder, OnInterrupt on_interrupt) {
    if (on_interrupt == OnInterrupt::end) {
      for (const Order order : {Order::interrupt, Order::terminate}) {
        orders_.push_back(machine_.loop.on(order, [this] { end(); }));
      }
    }
    change_ = machine_.loop.on_change(folder, [this] { tick(); });
    tick();
    if (!over_) machine_.loop.run();
  }

 private:
  void tick() {
    if (over_) return;
    const Instant now = machine_.clock.now();
    const bool last = until_ && now >= *until_;
    if (!look_() || last) return end();
    const Instant next = std::min(now + kLookEvery, until_.value_or(Instant::max()));
    timer_ = machine_.loop.at(next, [this] { tick(); });
  }

  void end() {
    over_ = true;
    machine_.loop.stop();
  }

  Machine& machine_;
  std::optional<Instant> until_;
  const std::function<bool()>& look_;
  bool over_ = false;
  Subscribed timer_;
  Subscribed change_;
  std::vector<Subscribed> orders_;
};

}  // namespace

void follow(Machine& machine, const std::string& folder, OnInterrupt on_interrupt,
            std::optional<Instant> until, const std::function<bool()>& look) {
  Follower(machine, until, look).run(folder, on_interrupt);
}

}  // namespace tend
