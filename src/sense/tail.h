// Reads a growing file piece by piece, and notices what a careful reader must: that somebody cut
// it, or put another file in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

class Tail {
 public:
  /// The file need not exist yet. Reading begins at `offset`.
  Tail(Folder& folder, std::string name, std::uint64_t offset);

  struct Got {
    std::string_view bytes;  // valid until the next call; empty: nothing new
    bool cut = false;        // the file became shorter than what was read: it is read anew from 0
    bool skipped = false;    // a hole was passed over
  };
  /// The next piece, at most 256 KB. Call it until it gives nothing.
  Result<Got> read();
  /// The offset behind the last piece.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  Folder& folder_;
  std::string name_;
  std::uint64_t offset_;
  std::unique_ptr<File> file_;
  std::uint64_t identity_ = 0;
  std::string buffer_;
};

/// Pieces to lines. A line over the bound is passed over and counted; the last line, while it has
/// no newline, is kept back.
class LineFeed {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{16} * 1024 * 1024;
  using Take = std::function<void(std::string_view line)>;

  /// `take` hears each whole line, without its newline, while feed() runs. 64 readable bytes follow
  /// each line. `too_long` hears the size of a line that was passed over.
  LineFeed(Take take, std::function<void(std::uint64_t)> too_long);
  void feed(std::string_view bytes);
  /// Gives out a last line without a newline: nothing will come behind it any more.
  void flush();
  /// Forgets what was kept back.
  void reset();
  /// Bytes kept back, those of a line being passed over included.
  [[nodiscard]] std::uint64_t kept() const;

 private:
  Take take_;
  std::function<void(std::uint64_t)> too_long_;
  std::string kept_;
  std::uint64_t skipped_ = 0;
};

}  // namespace tend
