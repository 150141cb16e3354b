// What walks over a tree of files share: reading a folder, and knowing files that must be left
// alone by what they are, since a name can lead to them in many ways.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/linux/fd.h"

namespace tend {

class Excluded {
 public:
  explicit Excluded(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      struct stat facts{};
      if (::stat(path.c_str(), &facts) == 0) files_.emplace_back(facts.st_dev, facts.st_ino);
    }
  }
  [[nodiscard]] bool has(const struct stat& facts) const {
    return std::ranges::find(files_, std::pair(facts.st_dev, facts.st_ino)) != files_.end();
  }

 private:
  std::vector<std::pair<dev_t, ino_t>> files_;
};

/// The names in an open folder but "." and "..", sorted; at most `most` of them. `complete` becomes
/// false if there were more or they could not all be read.
inline std::vector<std::string> names_in(const Fd& folder, std::size_t most, bool& complete) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(::fdopendir(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0)));
  if (!open) {
    complete = false;
    return names;
  }
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());  // NOLINT(concurrency-mt-unsafe): our own DIR
    if (entry == nullptr) {
      complete = complete && errno == 0;
      break;
    }
    const std::string_view name(entry->d_name);
    if (name == "." || name == "..") continue;
    if (names.size() == most) {
      complete = false;
      break;
    }
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace tend
