// Files of our own. A Folder is an open directory that was proven to belong to this user and to
// nobody else; names in it have no slash, links are never followed, and what is not a plain file
// of this user is refused. All paths below TEND_HOME are reached this way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tend {

struct FileFacts {
  std::uint64_t size = 0;
  std::uint64_t file = 0;  // tells two files of the same name apart
  WallTime modified{};
};

/// An open file. Failed writes leave what was there before them, or a torn last line.
class File {
 public:
  virtual ~File() = default;
  /// Reads at an offset; 0 at the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  /// At the end of the file, in one write.
  virtual Result<void> append(std::string_view bytes) = 0;
  /// In place, from the first byte; the size stays what it is if it is larger. For records of a
  /// fixed size that must fit even on a full disk.
  virtual Result<void> overwrite(std::string_view bytes) = 0;
  virtual Result<FileFacts> facts() = 0;
  /// Sets the time of the last change to the wall clock's now. Loop::on_change does not tell of it.
  virtual Result<void> touch() = 0;
  virtual Result<void> touch(WallTime modified) = 0;
  /// Gives the blocks of [0, end) back; the size and all other bytes stay. Fails where the file
  /// system cannot.
  virtual Result<void> punch(std::uint64_t end) = 0;
  /// The first offset at or after `offset` that holds data; the size if there is none.
  virtual Result<std::uint64_t> data_from(std::uint64_t offset) = 0;
  virtual Result<void> cut(std::uint64_t size) = 0;
  virtual Result<void> sync() = 0;
  /// Takes the lock of this file for as long as it is open; false if somebody else holds it.
  virtual Result<bool> lock() = 0;
  /// Whether somebody else holds the lock. Changes nothing.
  virtual Result<bool> is_locked() = 0;
};

class Folder {
 public:
  enum class Open : std::uint8_t {
    read,       // must exist
    append,     // made if missing; reads too
    update,     // made if missing; read, overwrite, lock
    exclusive,  // must not exist; read, overwrite, append
  };
  enum class Sync : std::uint8_t { no, yes };

  virtual ~Folder() = default;
  /// The absolute path, for people, the environment of children and the heartbeat.
  [[nodiscard]] virtual const std::string& path() const = 0;

  virtual Result<std::unique_ptr<File>> open(const std::string& name, Open how) = 0;
  /// nullopt if there is no such file. Fails if it is not a plain file of ours or larger than
  /// `most`.
  virtual Result<std::optional<std::string>> read(const std::string& name, std::size_t most) = 0;
  /// Puts a whole new file in the place of the old one, or leaves the old one. The time of the last
  /// change becomes `modified` if given. With Sync::yes it also survives a power cut.
  virtual Result<void> replace(const std::string& name, std::string_view bytes, Sync sync,
                               std::optional<WallTime> modified = std::nullopt) = 0;
  /// The same where there was no file: one that is there, whoever was faster, stays, and the answer
  /// is false. Of several who try at once one succeeds, and nobody waits.
  virtual Result<bool> make_file(const std::string& name, std::string_view bytes, Sync sync) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  /// nullopt if there is nothing of that name.
  virtual Result<std::optional<FileFacts>> facts(const std::string& name) = 0;
  virtual Result<void> remove(const std::string& name) = 0;

  /// A folder in this one; nullptr if there is none.
  virtual Result<std::unique_ptr<Folder>> folder(const std::string& name) = 0;
  /// Made if missing.
  virtual Result<std::unique_ptr<Folder>> make_folder(const std::string& name) = 0;
  /// nullptr if the name is taken.
  virtual Result<std::unique_ptr<Folder>> make_new_folder(const std::string& name) = 0;
  /// Names of the folders in this one, sorted; at most `most` of them.
  virtual Result<std::vector<std::string>> folders(std::size_t most) = 0;
  /// The same for the plain files in it.
  virtual Result<std::vector<std::string>> file_names(std::size_t most) = 0;
  /// Removes what a replace() left that was killed in its middle, at least that long ago.
  virtual void sweep(Duration ago) = 0;
};

/// The door to folders by path.
class Folders {
 public:
  virtual ~Folders() = default;
  /// Opens an absolute path, every part of it looked at: nobody but this user and root may be able
  /// to replace one. The last part belongs to this user alone.
  virtual Result<std::unique_ptr<Folder>> open(const std::string& path) = 0;
  /// The same, and makes the missing parts, for this user alone.
  virtual Result<std::unique_ptr<Folder>> make(const std::string& path) = 0;
  [[nodiscard]] virtual Result<std::string> working_folder() = 0;
  /// The absolute path without links; fails if there is nothing.
  [[nodiscard]] virtual Result<std::string> real_path(const std::string& path) = 0;
  /// When the newest plain file below a folder was changed whose name contains `part`, at most
  /// `depth` folders down; of a file itself, if `path` is one. No link is followed, whoever owns
  /// it. nullopt if there is none, or too much to look through.
  [[nodiscard]] virtual std::optional<WallTime> newest_below(const std::string& path,
                                                             std::string_view part,
                                                             std::size_t depth) = 0;
};

}  // namespace tend
