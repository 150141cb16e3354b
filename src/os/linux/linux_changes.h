// Changes in folders as callbacks, through one inotify instance that is made when it is first
// needed: users have few of them.
#pragma once

#include <map>
#include <string>

#include "os/linux/fd.h"
#include "os/linux/subscription.h"
#include "os/loop.h"

namespace tend {

class LinuxLoop;

class LinuxChanges {
 public:
  explicit LinuxChanges(LinuxLoop& loop) : loop_(loop) {}

  /// See Loop::on_change(). The times of files are no content: setting them is no change. A folder
  /// that is deleted is heard of once more and never again, even if there is a new one.
  [[nodiscard]] Subscribed on_change(const std::string& folder, Callback callback);

 private:
  bool ready();
  void hear();

  LinuxLoop& loop_;
  std::map<int, Listeners> listeners_;  // by watch
  Fd descriptor_;
  Subscribed readable_;
};

}  // namespace tend
