// Saves an agent's work before anything happens to it: a commit beside its branch where there is
// version control, a copy of what changed where there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"

namespace tend {

struct PreserveOrder {
  std::string agent;
  std::uint32_t life = 0;
  std::string worktree;  // "": nothing to save
  std::string why;       // for the commit's message and the notes
  WallTime since{};      // the life's begin: without version control, older files are not copied
  std::vector<std::string> exclude;  // absolute paths: our own home
};

struct Preserved {
  bool saved = false;     // false: there was nothing to save
  std::string what;       // "12 files in refs/tend/coder/3 (a1b2c3d)", and what was left out
  std::string trouble{};  // why it is not in version control though it could be
};

/// How the title begins that saved work of this agent has, in whichever life.
std::string saved_title(std::string_view agent);

class Preserve {
 public:
  /// Begins at once; `done` is called once, never from the constructor. Saves into `salvage/` of
  /// `folder` if it must, with notes how to restore.
  Preserve(Machine& machine, Folder& folder, PreserveOrder order,
           std::function<void(const Result<Preserved>&)> done);
  ~Preserve();
  Preserve(const Preserve&) = delete;
  Preserve& operator=(const Preserve&) = delete;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tend
