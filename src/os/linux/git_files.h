// The few things done to a git folder without git.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tend {

/// The path of an index of our own in a git folder. Gone, with its lock, when this is.
class PrivateIndex {
 public:
  /// Chooses a name; makes nothing. Removes what a snapshot that was killed left in the folder.
  explicit PrivateIndex(std::string git_folder);
  ~PrivateIndex();
  PrivateIndex(const PrivateIndex&) = delete;
  PrivateIndex& operator=(const PrivateIndex&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Copies the real index, so that what it knows of files need not be found out again. false if
  /// there is none.
  Result<bool> copy_real_one() const;
  /// Removes the file.
  void clear() const;

 private:
  std::string git_folder_;
  std::string path_;
};

/// Why the index of a git folder cannot be written now; "" if it can.
std::string index_trouble(const std::string& git_folder);
/// The same, said by a command that tried.
std::string index_trouble(const std::string& git_folder, std::string_view complaint);

/// The first line of a file in a git folder; "" if there is none.
std::string line_in(const std::string& git_folder, const std::string& name);

/// The git folder that all work trees of a repository share.
std::string common_git_folder(const std::string& git_folder);

}  // namespace tend
