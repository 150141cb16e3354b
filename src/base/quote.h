// Text from outside, made fit for one line of output: an error must not move the cursor, forge a
// second line or run off the screen because of what it quotes.
#pragma once

#include <string>
#include <string_view>

namespace tend {

/// The text in single quotes, control characters as \xNN, cut after 60 bytes or so with "...".
std::string in_quotes(std::string_view text);

/// The same text on one line: control characters as \xNN, nothing cut, no quotes.
std::string on_one_line(std::string_view text);

}  // namespace tend
