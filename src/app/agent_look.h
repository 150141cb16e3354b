// How one agent looks wherever it is shown: its sign, its colour, its state in words.
#pragma once

#include <string>
#include <string_view>

#include "app/look.h"
#include "run/roster.h"

namespace tend {

/// Shape says it as well as colour: round is fine, half is not at work, a cross is trouble.
std::string_view sign_of(const Entry& entry, const Look& look);
Ink ink_of_entry(const Entry& entry);
/// "working, model".
std::string state_words(const Entry& entry);
/// Its name, or what it can be called by.
std::string_view shown_name(const Entry& entry);
/// "1/3"; "-" where nothing is allowed.
std::string budget_label(const Entry& entry);

}  // namespace tend
