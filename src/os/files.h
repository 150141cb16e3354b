// Files of people and of other programs: wherever they are, whoever may write them. What is our own
// is os/folder.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tend {

/// Bytes that come in pieces. Reads until the end without ever holding the whole.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the front of `into`; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  /// Opens a file to be read from its start; "-" is standard input. The error names the path and
  /// what the system said.
  virtual Result<std::unique_ptr<ByteSource>> open(const std::string& path) = 0;

  // Files of people: wherever they are, whoever may write them, links followed.

  /// nullopt if there is no such file. Fails if it is larger than `most`.
  virtual Result<std::optional<std::string>> read(const std::string& path, std::size_t most) = 0;
  /// Puts a whole new file in the place of the old one, or leaves the old one. A link stays and
  /// what it leads to is replaced; permissions and owner stay. A new file is for this user alone;
  /// missing folders are made.
  Result<void> replace(const std::string& path, std::string_view bytes) {
    const auto done = replace_if(path, bytes, [] { return true; });
    return done ? Result<void>{} : std::unexpected(done.error());
  }
  /// The same, but asks at the last moment, when the new bytes are on the disk already and only the
  /// name is still the old one's. False if the answer was no: then the old file stays.
  virtual Result<bool> replace_if(const std::string& path, std::string_view bytes,
                                  const std::function<bool()>& still) = 0;
  /// Makes a file that was not there, whole; false if something of that name is.
  virtual Result<bool> make_new(const std::string& path, std::string_view bytes) = 0;
  /// Puts a line and its newline at the end, in one write. A new file is for this user alone;
  /// missing folders are made. One that would grow beyond `most` bytes becomes `<path>.1` first, in
  /// whose place it goes. REQUIRES that the line has no newline.
  virtual Result<void> append_line(const std::string& path, std::string_view line,
                                   std::uint64_t most) = 0;
  /// When a plain file was last changed; nullopt if there is none.
  virtual Result<std::optional<WallTime>> modified(const std::string& path) = 0;
  /// Makes now the time of its last change; what is in it stays. False if there is no such file.
  virtual Result<bool> touch(const std::string& path) = 0;
  /// That there is none is no failure.
  virtual Result<void> remove(const std::string& path) = 0;
};

}  // namespace tend
