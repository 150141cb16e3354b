// The work that Tend saved before it ended something: commits below refs/tend of a repository, and
// copies in the folders of agents where there was no version control.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"

namespace tend {

/// One piece of saved work.
struct SavedItem {
  std::string what;    // the ref, or the folder of the copy
  std::string commit;  // "" of a copy
  std::string agent;
  std::string life;  // "3", and "3-2" where the life was saved more than once
  WallTime at{};
  std::optional<std::uint64_t> files;  // none: not known
  std::string why;                     // "": its commit says it
  std::string from;                    // of a copy: the work tree

  [[nodiscard]] bool is_copy() const { return commit.empty(); }
};

/// That of the repository that holds `path`, and that of the home's agents; oldest first.
Result<std::vector<SavedItem>> saved_work(Machine& machine, Folder& home, const std::string& path);

/// Those that a person means: by the ref, with or without "refs/tend/", the folder of a copy, or
/// the name of an agent. Fails with words if there are none.
Result<std::vector<SavedItem>> meant_by(const std::vector<SavedItem>& all, std::string_view text);

/// Relative paths of the files in a copy, sorted, on one line each.
struct CopiedPaths {
  std::vector<std::string> paths;
  bool complete = true;  // false: some could not be looked at, or there are too many
};
CopiedPaths paths_in(Folders& folders, const SavedItem& copy);

/// Makes `into`, an absolute path, with the content of the item. Nothing that exists is touched.
/// Returns what was left out, in words; "" if nothing was.
Result<std::string> restore(Machine& machine, const SavedItem& item, const std::string& repository,
                            const std::string& into, const std::string& branch);

/// As a word of a command line: in quotes where a shell would see more in it.
std::string in_shell(std::string_view text);

}  // namespace tend
