// One buffer: lines are given out where they stand, and the rest moves to its front.
#include "sense/line_splitter.h"

#include <cstring>
#include <utility>

namespace tend {
namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024;

}  // namespace

LineSplitter::LineSplitter(ByteSource& bytes) : bytes_(bytes), buffer_(kBlock + kPadding) {}

LineSplitter::Got LineSplitter::next() {
  while (true) {
    const char* const from = buffer_.data() + scanned_;
    if (const void* found = std::memchr(from, '\n', end_ - scanned_); found != nullptr) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      return take(at - begin_, 1);
    }
    scanned_ = end_;
    if (end_ - begin_ > kLongestLine) {
      skipping_ = true;
      begin_ = end_;
    }
    if (!read_more()) {
      if (failed_) return Got::failed;
      if (begin_ == end_ && !skipping_) return Got::end;
      return take(end_ - begin_, 0);
    }
  }
}

LineSplitter::Got LineSplitter::take(std::size_t size, std::size_t newline) {
  text_ = {buffer_.data() + begin_, size};
  begin_ += size + newline;
  scanned_ = begin_;
  ++number_;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (number_ == 1 && text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  if (std::exchange(skipping_, false) || size > kLongestLine) {
    text_ = {};
    return Got::too_long;
  }
  return Got::line;
}

bool LineSplitter::read_more() {
  if (at_end_) return false;
  make_room();
  const auto got = bytes_.read({buffer_.data() + end_, buffer_.size() - kPadding - end_});
  if (!got) {
    error_ = got.error();
    failed_ = at_end_ = true;
    return false;
  }
  end_ += *got;
  std::memset(buffer_.data() + end_, 0, kPadding);
  at_end_ = *got == 0;
  return !at_end_;
}

void LineSplitter::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kPadding == buffer_.size()) buffer_.resize(2 * (buffer_.size() - kPadding) + kPadding);
}

}  // namespace tend
