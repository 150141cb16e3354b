// Why a provider did not answer, from what an agent says about it.
#pragma once

#include <string_view>

#include "judge/words.h"

namespace tend {

/// HTTP's word for it; none if it says nothing about the provider.
Cause cause_of_status(int status);

/// What a message means: a status in it, or words like "overloaded" and "quota". None if nothing in
/// it is known.
Cause cause_of_message(std::string_view message);

}  // namespace tend
