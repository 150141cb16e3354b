// From an absolute path to an open folder, one part at a time, each proven: nobody but root and
// this user may be able to put something else in its place.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "os/linux/fd.h"

namespace tend {

enum class Missing : std::uint8_t { fail, make };

struct Walked {
  Fd descriptor;     // open for reading; of whom the folder is, is for the caller to see
  std::string path;  // without links
};

Result<Walked> walk_to_folder(const std::string& path, Missing missing);

/// Makes a folder for this user alone, whatever the umask. False if it could not, as errno says:
/// EEXIST if the name is taken.
bool make_private_folder(int parent, const std::string& name);

}  // namespace tend
