// What a change to a file would be, as people read it: lines taken out and put in, with a little of
// what stands around them.
#pragma once

#include <string>
#include <string_view>

namespace tend {

/// "" if the texts are equal.
std::string show_difference(std::string_view name, std::string_view before, std::string_view after);

}  // namespace tend
