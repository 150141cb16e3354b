// The real loop, on Asio, which stays behind this header: descriptors, timers that a sleep of the
// machine does not hold up, signals, inotify. It wakes only for what was asked for.
#pragma once

#include <memory>
#include <string>

#include "os/loop.h"

namespace tend {

/// Outlives every subscription it gives out. A signal that somebody subscribed to is blocked in
/// this thread and read from a descriptor, so that a fork never steals it: a child has to clear its
/// signal mask before it runs a program.
class LinuxLoop final : public Loop {
 public:
  /// Ends the process if the system has no descriptors for it: then there is nothing to go on with.
  LinuxLoop() noexcept;
  ~LinuxLoop() override;
  LinuxLoop(const LinuxLoop&) = delete;
  LinuxLoop& operator=(const LinuxLoop&) = delete;

  [[nodiscard]] Subscribed at(Instant when, Callback callback) override;
  [[nodiscard]] Subscribed on(Order order, Callback callback) override;
  [[nodiscard]] Subscribed on_change(const std::string& folder, Callback callback) override;
  void run() override;
  void stop() override;

  /// Again and again for as long as the descriptor is readable, hung up or broken. It becomes
  /// non-blocking, can be watched once at a time, and must stay open until the subscription ended:
  /// then it is out of the kernel's list too, whoever else holds a copy of it. nullptr if the
  /// system cannot watch it (limits, a regular file).
  [[nodiscard]] Subscribed when_readable(int descriptor, Callback callback);
  /// The same for as long as it can be written to, or is broken. One that is watched for being
  /// readable, too, is watched by a copy of it.
  [[nodiscard]] Subscribed when_writable(int descriptor, Callback callback);
  /// Once, soon, from run().
  [[nodiscard]] Subscribed post(Callback callback);
  /// When children ended, stopped or went on, from now on; several may be one call. Nobody is
  /// reaped here. Children are never reaped by the system itself from then on.
  [[nodiscard]] Subscribed on_child(Callback callback);

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace tend
