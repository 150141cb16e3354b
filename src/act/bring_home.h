// Brings the work of a child home: its branch is merged into its parent's work tree. That it was is
// proven by version control, never by a note of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "os/machine.h"

namespace tend {

struct BringHomeOrder {
  std::string child;      // its name
  std::string from;       // its work tree
  std::string into;       // its parent's
  std::string announced;  // the commit that one before us announced and may have left in its middle
};

struct BroughtHome {
  bool home = false;  // its work is there, or there was none
  std::string how;    // one line: "merged as a1b2c3d", "there was nothing to merge", why not
};

class BringHome {
 public:
  /// Writes down that this commit is about to be merged: if we die in the middle, the half-done
  /// merge is ours to take back.
  using Announce = std::function<Result<void>(const std::string& commit)>;

  /// Begins at once; `done` is called once, never from the constructor.
  BringHome(Machine& machine, BringHomeOrder order, Announce announce,
            std::function<void(const Result<BroughtHome>&)> done);
  ~BringHome();
  BringHome(const BringHome&) = delete;
  BringHome& operator=(const BringHome&) = delete;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tend
