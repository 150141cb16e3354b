// Reads a growing file piece by piece, and notices what a careful reader must: that somebody cut
// it, or put another file in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
    bool cut = false;        // the file became shorter than what was read, or is another one: it
                             // is read anew from 0, and `bytes` are the first of it
    bool skipped = false;    // a hole was passed over; `bytes` stand behind it
  };
  /// The next piece, at most 256 KB. Call it until it gives nothing. What a line feed kept back is
  /// void after a cut and after a hole. A file that was replaced is read to its end first.
  Result<Got> read();
  /// The offset behind the last piece.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  Result<bool> open_named(Got& got);
  Result<void> read_open(Got& got);
  Result<void> read_piece(Got& got, std::uint64_t size);
  Result<std::string_view> read_at_offset(std::uint64_t size);

  Folder& folder_;
  std::string name_;
  std::uint64_t offset_;
  std::unique_ptr<File> file_;
  std::optional<std::uint64_t> identity_;  // of the file that was read last
  std::string buffer_;
};

/// Pieces to lines. A line over the bound is passed over and counted; the last line, while it has
/// no newline, is kept back.
class LineFeed {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{16} * 1024 * 1024;
  using Take = std::function<void(std::string_view line)>;
  /// What ends a line. With returns a progress bar is seen while it moves, not only once it is
  /// done.
  enum class Ends : std::uint8_t { newline, newline_or_return };

  /// `take` hears each whole line, without its newline, while feed() runs. 64 readable bytes follow
  /// each line. `too_long` hears the size of a line that was passed over.
  LineFeed(Take take, std::function<void(std::uint64_t)> too_long, Ends ends = Ends::newline);
  void feed(std::string_view bytes);
  /// Gives out a last line without a newline: nothing will come behind it any more.
  void flush();
  /// Forgets what was kept back.
  void reset();
  /// Bytes kept back, those of a line being passed over included.
  [[nodiscard]] std::uint64_t kept() const { return kept_.size() + skipped_; }
  /// While a line is given out: bytes of the piece that stand behind it.
  [[nodiscard]] std::uint64_t behind() const { return behind_; }

 private:
  void keep(std::string_view bytes);
  void finish();

  Take take_;
  std::function<void(std::uint64_t)> too_long_;
  Ends ends_;
  std::string kept_;
  std::uint64_t skipped_ = 0;
  std::uint64_t behind_ = 0;
};

}  // namespace tend
