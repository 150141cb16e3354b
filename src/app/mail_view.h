// A letter in JSON and for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/look.h"
#include "base/time.h"
#include "store/mail.h"

namespace tend {

nlohmann::ordered_json letter_json(const Letter& letter);

/// All lines of a text, whatever ends them, without anything that a terminal would obey.
std::string text_for_people(std::string_view body);
/// The whole of it: a head, and the body below.
std::string letter_in_words(const Letter& letter);

/// A line for each, those that were not read stand out. `width` is that of the screen, or 0.
std::string letters_for_people(std::span<const Letter> letters, const Look& look, std::size_t width,
                               WallTime now);

}  // namespace tend
