// Errors as values. A failure of the world is a Result; a planned outcome is an enumerator; a bug
// is a CHECK (base/check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace tend {

/// One line a person can act on. It never ends in a full stop or a newline.
struct Error {
  std::string text;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string text) {
  return std::unexpected<Error>(Error{std::move(text)});
}

}  // namespace tend
