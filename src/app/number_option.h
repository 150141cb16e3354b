// Values that are a number or a duration.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/command.h"
#include "base/duration.h"
#include "base/quote.h"
#include "base/result.h"

namespace tend {

inline Result<std::size_t> count_option(const Arguments& arguments, std::string_view name,
                                        std::size_t otherwise) {
  constexpr std::size_t kMost = 10'000'000;
  const auto text = arguments.value(name);
  if (!text) return otherwise;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number > kMost) {
    return fail(
        fmt::format("--{} wants a whole number up to {}, not {}", name, kMost, in_quotes(*text)));
  }
  return number;
}

/// A number that counts from 1. The error is `wants`, and what stands there instead.
inline Result<std::int64_t> number_from_1(std::string_view text, std::string_view wants) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) {
    return fail(fmt::format("{}, not {}", wants, in_quotes(text)));
  }
  return number;
}

/// nullopt if it was not given.
inline Result<std::optional<Duration>> time_option(const Arguments& arguments,
                                                   std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::nullopt;
  const auto duration = parse_duration(*text);
  if (!duration) return fail(fmt::format("--{}: {}", name, duration.error().text));
  return *duration;
}

}  // namespace tend
