// The words are those that the agents' own messages use.
#include "sense/causes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tend {
namespace {

constexpr std::size_t kLongestMessage = 2000;  // of which anything is understood

// The first that is found counts: "429 quota exceeded" is a quota.
constexpr std::array<std::pair<std::string_view, Cause>, 31> kWords{{
    {"credit balance", Cause::quota},
    {"insufficient_quota", Cause::quota},
    {"quota", Cause::quota},
    {"usage limit", Cause::quota},
    {"session limit", Cause::quota},
    {"billing", Cause::quota},
    {"rate limit", Cause::rate},
    {"rate_limit", Cause::rate},
    {"too many requests", Cause::rate},
    {"resource_exhausted", Cause::rate},
    {"resource has been exhausted", Cause::rate},
    {"overloaded", Cause::overload},
    {"high demand", Cause::overload},
    {"at capacity", Cause::overload},
    {"service unavailable", Cause::overload},
    {"internal server error", Cause::overload},
    {"server_error", Cause::overload},
    {"unauthorized", Cause::auth},
    {"authentication", Cause::auth},
    {"autherror", Cause::auth},
    {"invalid api key", Cause::auth},
    {"oauth", Cause::auth},
    {"permission_denied", Cause::auth},
    {"timed out", Cause::network},
    {"timeout", Cause::network},
    {"connection", Cause::network},
    {"disconnected", Cause::network},
    {"stream closed", Cause::network},
    {"terminated", Cause::network},
    {"fetch failed", Cause::network},
    {"network", Cause::network},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number of three digits that stands alone.
Cause cause_of_number_in(std::string_view text) {
  for (std::size_t at = 0; at + 3 <= text.size(); ++at) {
    if (!is_digit(text[at]) || (at > 0 && is_digit(text[at - 1]))) continue;
    std::size_t end = at;
    int number = 0;
    while (end < text.size() && is_digit(text[end]) && end - at < 4) {
      number = number * 10 + (text[end++] - '0');
    }
    if (end - at != 3) continue;
    if (const Cause cause = cause_of_status(number); cause != Cause::none) return cause;
  }
  return Cause::none;
}

}  // namespace

Cause cause_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return Cause::auth;
    case 402:
      return Cause::quota;
    case 408:
      return Cause::network;
    case 429:
      return Cause::rate;
    default:
      return status >= 500 && status < 600 ? Cause::overload : Cause::none;
  }
}

Cause cause_of_message(std::string_view message) {
  std::string text(message.substr(0, kLongestMessage));
  std::ranges::transform(text, text.begin(), lower);
  for (const auto& [word, cause] : kWords) {
    if (text.contains(word)) return cause;
  }
  return cause_of_number_in(text);
}

}  // namespace tend
