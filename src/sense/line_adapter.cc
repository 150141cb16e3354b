// Any program's output as signals. What a line says is not understood, only whether it was there
// lately: novelty is progress, repetition is noise.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sense/adapter.h"

namespace tend {
namespace {

bool is_within(char c, char least, char most) { return c >= least && c <= most; }

/// Where the string sequence (a title, a link) that opens at `at` ends: behind a BEL or ESC \, or
/// before another escape. One without an end hides nothing: text is rather seen than lost.
std::size_t behind_string(std::string_view line, std::size_t at) {
  const std::size_t end = line.find_first_of("\a\x1b", at);
  if (end == line.npos) return at;
  if (line[end] == '\a') return end + 1;
  return line.substr(end + 1).starts_with('\\') ? end + 2 : end;
}

/// The first byte behind the terminal sequence whose ESC stands at `at`.
std::size_t behind_escape(std::string_view line, std::size_t at) {
  if (++at == line.size()) return at;
  const char kind = line[at];
  if (kind == '[') {
    ++at;
    while (at < line.size() && is_within(line[at], ' ', '?')) ++at;
    return at < line.size() && is_within(line[at], '@', '~') ? at + 1 : at;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    return behind_string(line, at + 1);
  }
  while (at < line.size() && is_within(line[at], ' ', '/')) ++at;
  return at < line.size() && is_within(line[at], '0', '~') ? at + 1 : at;
}

/// FNV-1a over what a terminal would show: colours and control characters aside.
class ShownHash {
 public:
  void add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) return;
    hash_ = (hash_ ^ byte) * 0x100000001b3U;
    blank_ = blank_ && byte == ' ';
  }
  [[nodiscard]] bool blank() const { return blank_; }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  bool blank_ = true;
};

/// The last distinct lines, the one seen last at the end.
class Lately {
 public:
  /// False for one that is not among them. It is from now on.
  bool saw(std::uint64_t hash) {
    const auto end = hashes_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto from_newest = std::make_reverse_iterator(end);
    const auto found = std::find(from_newest, hashes_.rend(), hash);
    if (found != hashes_.rend()) {
      std::rotate(found.base() - 1, found.base(), end);
      return true;
    }
    if (count_ < hashes_.size()) {
      ++count_;
    } else {
      std::shift_left(hashes_.begin(), end, 1);
    }
    hashes_[count_ - 1] = hash;
    return false;
  }
  void forget() { count_ = 0; }

 private:
  std::array<std::uint64_t, 256> hashes_{};
  std::size_t count_ = 0;
};

class LineAdapter final : public Adapter {
 public:
  void take(std::string_view line, const LineTime& /*seen*/, SignalBatch& batch) override {
    put(has_news(line) ? Kind::progress : Kind::noise, batch);
  }

  void begin_life() override { lately_.forget(); }

  void end_well(SignalBatch& batch) override { batch.signals.emplace_back().is = Kind::turn_end; }

  [[nodiscard]] AdapterKind kind() const override { return AdapterKind::lines; }

 private:
  /// Goes through all parts between carriage returns, so that each counts as seen.
  bool has_news(std::string_view line) {
    bool news = false;
    ShownHash part;
    const auto finish_part = [&] {
      news = (!part.blank() && !lately_.saw(part.value())) || news;
      part = {};
    };
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] == '\x1b') {
        at = behind_escape(line, at);
      } else if (line[at] == '\r') {
        finish_part();
        ++at;
      } else {
        part.add(line[at++]);
      }
    }
    finish_part();
    return news;
  }

  /// Lines of one moment say no more than one line, so that a flood of them is one signal.
  static void put(Kind kind, SignalBatch& batch) {
    const bool follows_own = !batch.signals.empty() && is_plain(batch.signals.back());
    if (!follows_own) batch.signals.emplace_back().is = kind;
    if (kind == Kind::progress) batch.signals.back().is = kind;
  }
  static bool is_plain(const Signal& signal) {
    return (signal.is == Kind::progress || signal.is == Kind::noise) && signal.life == 0 &&
           signal.task.empty();
  }

  Lately lately_;
};

}  // namespace

std::unique_ptr<Adapter> make_line_adapter() { return std::make_unique<LineAdapter>(); }

}  // namespace tend
