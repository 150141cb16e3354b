// The loop of one process: things happen, callbacks hear of them, one at a time. Every subscription
// is an object; destroying it ends the subscription, also from inside its own callback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"

namespace tend {

using Callback = std::function<void()>;

/// Something that was asked for and may still come. Destroy it to take it back.
class Subscription {
 public:
  virtual ~Subscription() = default;
  /// What is there already is handed over before this returns: where it matters that it came before
  /// something else.
  virtual void hand_over() {}
};
using Subscribed = std::unique_ptr<Subscription>;

/// Orders that reach a process from outside.
enum class Order : std::uint8_t {
  interrupt,  // Ctrl-C
  terminate,  // SIGTERM
  hang_up,    // the terminal went away
  look,       // "something changed in your folder": sent by our own commands
  resized,    // the terminal has another size
};

class Loop {
 public:
  virtual ~Loop() = default;
  /// Once, at `when` or as soon after it as can be, also when that time passes in a sleep.
  [[nodiscard]] virtual Subscribed at(Instant when, Callback callback) = 0;
  /// At every such order from now on. An order nobody subscribed to does what the system says, and
  /// Ctrl-C and hang-up stay ignored where whoever started us ignored them.
  [[nodiscard]] virtual Subscribed on(Order order, Callback callback) = 0;
  /// When a folder's entries or the contents of its files change. A hint, never the truth: events
  /// may be lost, doubled or late. nullptr if there can be no such hint (limits of the system);
  /// then look for yourself from time to time.
  [[nodiscard]] virtual Subscribed on_change(const std::string& folder, Callback callback) = 0;
  /// Handles what happens until stop() is called from a callback.
  virtual void run() = 0;
  virtual void stop() = 0;
};

}  // namespace tend
