// Writes one line of a journal, field after field, straight into the text it belongs to: a keeper
// writes one for everything it sees.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "base/time.h"
#include "store/json.h"

namespace tend {

class LineWriter {
 public:
  /// A text beyond this is cut: whoever fills a line with that much wants to fill the disk.
  static constexpr std::size_t kLongestText = std::size_t{64} * 1024;

  /// Opens the object with its time. Call end() after the last field.
  LineWriter(std::string& to, Instant at) : to_(to) {
    to_ += '{';
    seconds("t", std::max(at, Instant{}).time_since_epoch());
  }

  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_text(to_, cut_text(value, kLongestText));
  }
  void number(std::string_view name, std::integral auto value) {
    key(name);
    append(value);
  }
  void flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  /// To the millisecond: 12, 12.5, -0.25.
  void seconds(std::string_view name, Duration value) {
    key(name);
    const auto ms = value.count() < 0 ? -value.count() : value.count();
    if (value.count() < 0) to_ += '-';
    append(ms / 1000);
    if (ms % 1000 == 0) return;
    to_ += '.';
    for (auto left = ms % 1000, place = decltype(left){100}; left > 0; left %= place, place /= 10) {
      to_ += static_cast<char>('0' + left / place);
    }
  }
  /// JSON as it stands.
  void raw(std::string_view name, std::string_view json) {
    key(name);
    to_ += json;
  }
  void end() { to_ += '}'; }

 private:
  void append(std::integral auto value) {
    const fmt::format_int digits(value);
    to_.append(digits.data(), digits.size());
  }
  void key(std::string_view name) {
    if (to_.back() != '{') to_ += ',';
    to_ += '"';
    to_ += name;
    to_ += "\":";
  }

  std::string& to_;
};

}  // namespace tend
