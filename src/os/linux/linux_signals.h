// Signals of the system as callbacks, through a signalfd. What nobody listens to keeps the
// disposition the process started with.
#pragma once

#include <map>

#include "os/linux/fd.h"
#include "os/linux/subscription.h"
#include "os/loop.h"

namespace tend {

class LinuxLoop;

class LinuxSignals {
 public:
  explicit LinuxSignals(LinuxLoop& loop);

  /// At every such signal; those that come while one is waiting to be heard are one.
  [[nodiscard]] Subscribed on(int signal, Callback callback);

 private:
  void listen(int signal, bool wanted);
  void hear();

  std::map<int, Listeners> listeners_;
  Fd descriptor_;
  Subscribed readable_;
};

}  // namespace tend
