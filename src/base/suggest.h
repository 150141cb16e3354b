// "Did you mean ...?": the known word that a mistyped one most likely stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tend {

/// "; did you mean 'model'?" to end an error with, or "" if no known word is near. A wrong,
/// missing, extra or swapped letter is one step; a third of the word may be wrong. Of equals the
/// first wins.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace tend
