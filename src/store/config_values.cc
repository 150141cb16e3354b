// The words for what is wrong are made here, so that they are the same everywhere.
#include "store/config_values.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "base/suggest.h"

namespace tend {
namespace {

constexpr std::size_t kMostArguments = 64;

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a decimal number";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time of day";
    case toml::node_type::date_time:
      return "a date and time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

}  // namespace

std::size_t line_of(const toml::source_region& region) { return region.begin.line; }

bool is_bare(std::string_view key) {
  return !key.empty() && key.size() <= kLongestConfigName && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

ConfigPlace inside(const ConfigPlace& table, const toml::key& key) {
  const std::string name = is_bare(key.str()) ? std::string(key.str()) : in_quotes(key.str());
  return {line_of(key.source()), table.key.empty() ? name : table.key + "." + name};
}

std::optional<std::string> ConfigValues::text(const toml::node& value, std::string_view wanted,
                                              const ConfigPlace& place) {
  if (const auto* const text = value.as_string()) return text->get();
  wrong_type(place, wanted, value);
  return std::nullopt;
}

std::optional<std::string> ConfigValues::line(const toml::node& value, std::string_view wanted,
                                              std::size_t most, const ConfigPlace& place) {
  auto written = text(value, wanted, place);
  if (!written) return std::nullopt;
  if (!written->empty() && written->size() <= most && on_one_line(*written) == *written) {
    return written;
  }
  problem(place, fmt::format("must be {}: one line of at most {} bytes, not empty", wanted, most));
  return std::nullopt;
}

std::optional<std::string> ConfigValues::path(const toml::node& value, const ConfigPlace& place) {
  auto written = line(value, "a path", kLongestPath, place);
  if (!written || written->starts_with('/') || written->starts_with("~/") || *written == "~") {
    return written;
  }
  problem(place, "must be an absolute path, or one that begins with ~/");
  return std::nullopt;
}

std::optional<bool> ConfigValues::flag(const toml::node& value, const ConfigPlace& place) {
  if (const auto* const flag = value.as_boolean()) return flag->get();
  wrong_type(place, "true or false", value);
  return std::nullopt;
}

std::optional<Duration> ConfigValues::duration(const toml::node& value, const ConfigPlace& place) {
  std::string text;
  if (const auto* const word = value.as_string()) {
    text = word->get();
  } else if (const auto* const whole = value.as_integer()) {
    text = fmt::to_string(whole->get());
  } else if (const auto* const decimal = value.as_floating_point()) {
    text = fmt::to_string(decimal->get());
  } else {
    wrong_type(place, "a duration, like \"15m\" or a number of seconds", value);
    return std::nullopt;
  }
  const auto time = parse_duration(text);
  if (time) return *time;
  problem(place, time.error().text);
  return std::nullopt;
}

std::optional<Duration> ConfigValues::duration_above_zero(const toml::node& value,
                                                          const ConfigPlace& place) {
  const auto time = duration(value, place);
  if (!time || *time > Duration::zero()) return time;
  problem(place, "must be above 0");
  return std::nullopt;
}

std::optional<Duration> ConfigValues::duration_or_none(const toml::node& value,
                                                       const ConfigPlace& place) {
  const auto* const word = value.as_string();
  if (word != nullptr && word->get() == "none") return kNoLimit;
  return duration(value, place);
}

std::optional<std::uint32_t> ConfigValues::count(const toml::node& value, std::uint32_t least,
                                                 std::uint32_t most, const ConfigPlace& place) {
  const auto* const number = value.as_integer();
  if (number == nullptr) {
    wrong_type(place, "a whole number", value);
  } else if (number->get() < least || number->get() > most) {
    problem(place, fmt::format("must be from {} to {}", least, most));
  } else {
    return static_cast<std::uint32_t>(number->get());
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigValues::command(const toml::node& value,
                                                              std::string_view example,
                                                              const ConfigPlace& place) {
  const toml::array* const list = value.as_array();
  const std::string wanted =
      fmt::format("a program and its arguments, like {} (no shell reads it)", example);
  if (list == nullptr) {
    wrong_type(place, wanted, value);
    return std::nullopt;
  }
  std::vector<std::string> arguments;
  for (const toml::node& each : *list) {
    const auto* const word = each.as_string();
    if (word == nullptr || word->get().find('\0') != std::string::npos) {
      problem(place, "must be " + wanted);
      return std::nullopt;
    }
    arguments.push_back(word->get());
  }
  if (arguments.empty() || arguments.front().empty()) {
    problem(place, "names no program; write " + std::string(example));
    return std::nullopt;
  }
  if (arguments.size() > kMostArguments) {
    problem(place, fmt::format("{} arguments; at most {}", arguments.size(), kMostArguments));
    return std::nullopt;
  }
  return arguments;
}

void ConfigValues::problem(const ConfigPlace& place, std::string text) {
  problems_.push_back({std::string(file_), place.line, 0, place.key, std::move(text)});
}

void ConfigValues::unknown(const ConfigPlace& place, std::string_view what, std::string_view word,
                           std::span<const std::string_view> allowed) {
  problem(place, fmt::format("no such {}; allowed: {}{}", what, fmt::join(allowed, ", "),
                             did_you_mean(word, allowed)));
}

void ConfigValues::wrong_type(const ConfigPlace& place, std::string_view wanted,
                              const toml::node& value) {
  problem(place, fmt::format("must be {}, not {}", wanted, type_name(value)));
}

}  // namespace tend
