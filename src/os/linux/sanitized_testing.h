// Whether this build is watched by sanitizers. Some of what they check they check through a pipe,
// so a test that leaves no descriptor free would hear of errors that are none.
#pragma once

namespace tend {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tend
