// One open file at a time. What the name means now is followed only when the open file has nothing
// more to say, so that a file which was moved away is read to its end first.
#include "sense/tail.h"

#include <algorithm>
#include <utility>

namespace tend {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{256} * 1024;
constexpr std::size_t kPadding = 64;                            // readable bytes behind every line
constexpr std::size_t kKeptWhenEmpty = std::size_t{64} * 1024;  // capacity that is not given back

/// Searching for one character is many times faster than for one of several.
std::size_t find_line_end(std::string_view bytes, LineFeed::Ends ends) {
  return ends == LineFeed::Ends::newline ? bytes.find('\n') : bytes.find_first_of("\n\r");
}

}  // namespace

// ---- Tail

Tail::Tail(Folder& folder, std::string name, std::uint64_t offset)
    : folder_(folder), name_(std::move(name)), offset_(offset) {}

Result<Tail::Got> Tail::read() {
  Got got;
  if (!file_) {
    const auto opened = open_named(got);
    if (!opened) return std::unexpected(opened.error());
    if (!*opened) return got;
  }
  // Where the name still stands for the open file, one question is answered for both.
  const auto named = folder_.facts(name_);
  const bool is_same = named && *named && (*named)->file == identity_;
  const auto done = is_same ? read_piece(got, (*named)->size) : read_open(got);
  if (!done) return std::unexpected(done.error());
  if (!got.bytes.empty() || is_same) return got;

  if (!named) return std::unexpected(named.error());
  // A name that stands for nothing replaces nothing: the open file is all there is.
  if (!*named) return got;
  file_.reset();
  const auto opened = open_named(got);
  if (!opened) return std::unexpected(opened.error());
  if (!*opened) return got;
  if (const auto first = read_open(got); !first) return std::unexpected(first.error());
  return got;
}

/// False if there is no such file. One that is not the file read before is read from its start.
Result<bool> Tail::open_named(Got& got) {
  const auto there = folder_.facts(name_);
  if (!there) return std::unexpected(there.error());
  if (!*there) return false;
  auto file = folder_.open(name_, Folder::Open::read);
  if (!file) {
    // It may have gone away between the two looks.
    const auto still = folder_.facts(name_);
    if (still && !*still) return false;
    return std::unexpected(file.error());
  }
  const auto facts = (*file)->facts();
  if (!facts) return std::unexpected(facts.error());
  file_ = *std::move(file);
  if (identity_ && *identity_ != facts->file) {
    got.cut = got.cut || offset_ > 0;
    offset_ = 0;
  }
  identity_ = facts->file;
  return true;
}

Result<void> Tail::read_open(Got& got) {
  const auto facts = file_->facts();
  if (!facts) return std::unexpected(facts.error());
  return read_piece(got, facts->size);
}

/// `size` is that of the open file.
Result<void> Tail::read_piece(Got& got, std::uint64_t size) {
  if (size < offset_) {
    got.cut = true;
    offset_ = 0;
  }
  if (size == offset_) {
    if (buffer_.capacity() > kKeptWhenEmpty) buffer_ = {};
    return {};
  }
  const bool at_start = offset_ == 0;
  auto bytes = read_at_offset(size);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->starts_with('\0')) {
    // Only what reads as zeros can be a hole, so nobody else pays for the question.
    const auto data = file_->data_from(offset_);
    if (!data) return std::unexpected(data.error());
    if (*data > offset_) {
      got.skipped = true;
      offset_ = *data;
      bytes = read_at_offset(size);
      if (!bytes) return std::unexpected(bytes.error());
    }
    // The last block of a hole has zeros that are on the disk.
    const std::size_t first = bytes->find_first_not_of('\0');
    if ((got.skipped || at_start) && first != bytes->npos) {
      got.skipped = true;
      offset_ += first;
      bytes->remove_prefix(first);
    }
  }
  offset_ += bytes->size();
  got.bytes = *bytes;
  return {};
}

/// What stands at the offset, a piece at most. Does not move on.
Result<std::string_view> Tail::read_at_offset(std::uint64_t size) {
  if (offset_ >= size) return std::string_view{};
  buffer_.resize(static_cast<std::size_t>(std::min(size - offset_, kPiece)));
  const auto count = file_->read_at(offset_, buffer_);
  if (!count) return std::unexpected(count.error());
  return std::string_view(buffer_).substr(0, *count);
}

// ---- LineFeed

LineFeed::LineFeed(Take take, std::function<void(std::uint64_t)> too_long, Ends ends)
    : take_(std::move(take)), too_long_(std::move(too_long)), ends_(ends) {}

void LineFeed::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = find_line_end(bytes, ends_);
    if (end == bytes.npos) return keep(bytes);
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    behind_ = bytes.size();
    const bool is_whole = kept() == 0 && line.size() <= kLongestLine;
    if (is_whole && bytes.size() >= kPadding) {
      take_(line);
    } else {
      keep(line);
      finish();
    }
  }
}

void LineFeed::flush() {
  if (kept() > 0) finish();
}

void LineFeed::reset() {
  skipped_ = 0;
  kept_.clear();
  if (kept_.capacity() > kKeptWhenEmpty) kept_ = {};
}

void LineFeed::keep(std::string_view bytes) {
  if (skipped_ == 0 && kept_.size() + bytes.size() <= kLongestLine) {
    kept_ += bytes;
    return;
  }
  skipped_ += kept_.size() + bytes.size();
  kept_ = {};
}

/// Gives out what was kept back, now that its line is whole.
void LineFeed::finish() {
  if (skipped_ > 0) {
    too_long_(skipped_);
  } else {
    const std::size_t size = kept_.size();
    kept_ += '\n';
    kept_.append(kPadding, '\0');
    take_(std::string_view(kept_).substr(0, size));
  }
  reset();
}

}  // namespace tend
