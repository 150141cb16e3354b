// How text for people looks: colours where they are wanted, columns, times as people say them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/words.h"
#include "os/world.h"

namespace tend {

enum class Ink { plain, bold, faint, green, yellow, red, magenta, blue, cyan };

/// The colour that a verdict is known by.
Ink ink_of(Verdict verdict);

class Look {
 public:
  /// Colours only on a terminal that takes them, or with CLICOLOR_FORCE, and never with NO_COLOR;
  /// signs beyond ASCII only where the locale has them.
  Look(const Output& out, const Environment& environment);

  [[nodiscard]] std::string in(Ink ink, std::string_view text) const;
  [[nodiscard]] std::string_view arrow() const { return unicode_ ? "→" : "->"; }
  [[nodiscard]] std::string_view tick() const { return unicode_ ? "✓" : "ok:"; }
  [[nodiscard]] std::string_view cross() const { return unicode_ ? "✗" : "failed:"; }

  [[nodiscard]] bool unicode() const { return unicode_; }

  /// The text in at most `width` columns, with a sign at its end if something is missing.
  [[nodiscard]] std::string cut(std::string_view text, std::size_t width) const;

  /// Appends words to `text`, whose last line is `column` wide, and breaks lines at the edge of the
  /// screen; further lines are indented.
  void flow(std::string& text, std::size_t column, std::size_t indent,
            std::string_view words) const;

 private:
  bool colours_;
  bool unicode_;
  std::size_t columns_;
};

/// "12 s", "12.5 s", "12m 05s", "1h 02m", "3d 04h".
std::string time_label(Duration since_start);

/// Columns that a text takes, one for each character.
std::size_t width_of(std::string_view text);

/// The text with blanks before or after it, at least `width` wide.
std::string right_aligned(std::string_view text, std::size_t width);
std::string left_aligned(std::string_view text, std::size_t width);

}  // namespace tend
