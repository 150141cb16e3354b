// Takes away our children that are over, also the orphans that came to us, and keeps how they ended
// for whoever holds them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/result.h"
#include "os/linux/linux_loop.h"
#include "os/process.h"

namespace tend {

/// Reaps every child of this process once started: no other code here may wait for its own. It
/// outlives the processes that are held.
class Reaper {
 public:
  /// A process somebody holds; how it ended is kept here if it was reaped as a child of ours.
  class Held {
   public:
    Held(Reaper& reaper, ProcessId id);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    [[nodiscard]] const ProcessId& id() const { return id_; }
    [[nodiscard]] const std::optional<ExitStatus>& exit() const { return exit_; }

   private:
    friend class Reaper;
    Reaper& reaper_;
    ProcessId id_;
    std::optional<ExitStatus> exit_;
  };

  /// Starts at once if this process adopts orphans already, from before it became this program.
  explicit Reaper(LinuxLoop& loop);

  /// From now on, with the loop. Calling it again does nothing.
  void start();
  /// Starts, and from now on orphans below us come to us.
  void adopt_orphans();
  /// Whether nothing is left below us of all that was forked since the first adopt_orphans(). False
  /// if one may have passed us by.
  [[nodiscard]] bool is_childless();

 private:
  friend class NoAdoption;
  void reap_all();
  void reap_one(std::int64_t pid);

  LinuxLoop& loop_;
  std::multimap<std::int64_t, Held*> held_;
  Subscribed ended_;
  Subscribed first_;
  bool adopts_ = false;
  bool missed_some_;  // orphans may be about that did not come to us
};

/// While it lives orphans pass us by, to the next one up.
class NoAdoption {
 public:
  explicit NoAdoption(Reaper& reaper);
  ~NoAdoption();
  NoAdoption(const NoAdoption&) = delete;
  NoAdoption& operator=(const NoAdoption&) = delete;

 private:
  bool adopted_;
};

}  // namespace tend
