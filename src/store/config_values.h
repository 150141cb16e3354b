// What all readers of the configuration share: where a value stands, tables with a list of their
// keys, durations and counts, and the words for what is wrong. The list of keys drives both the
// reading and the error for a key that is not in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/config.h"
#include "store/toml.h"

namespace tend {

inline constexpr std::size_t kLongestConfigName = 64;
inline constexpr std::size_t kLongestPath = 4096;
inline constexpr std::size_t kLongestAgent = 128;

/// Where a value stands.
struct ConfigPlace {
  std::size_t line = 0;
  std::string key;  // "policy.night.limits.model"
};

std::size_t line_of(const toml::source_region& region);
/// 1 to kLongestConfigName letters, digits, - and _: a name, and a key that needs no quotes.
bool is_bare(std::string_view key);
ConfigPlace inside(const ConfigPlace& table, const toml::key& key);

/// Reads values, and adds what is wrong with them to the problems of one file.
class ConfigValues {
 public:
  ConfigValues(std::string_view file, ConfigProblems& problems)
      : file_(file), problems_(problems) {}

  std::optional<std::string> text(const toml::node& value, std::string_view wanted,
                                  const ConfigPlace& place);
  /// One line of 1 to `most` bytes.
  std::optional<std::string> line(const toml::node& value, std::string_view wanted,
                                  std::size_t most, const ConfigPlace& place);
  /// Absolute, or below the home of the user.
  std::optional<std::string> path(const toml::node& value, const ConfigPlace& place);
  std::optional<bool> flag(const toml::node& value, const ConfigPlace& place);
  std::optional<Duration> duration(const toml::node& value, const ConfigPlace& place);
  std::optional<Duration> duration_above_zero(const toml::node& value, const ConfigPlace& place);
  std::optional<Duration> duration_or_none(const toml::node& value, const ConfigPlace& place);
  std::optional<std::uint32_t> count(const toml::node& value, std::uint32_t least,
                                     std::uint32_t most, const ConfigPlace& place);

  /// A program and its arguments.
  std::optional<std::vector<std::string>> command(const toml::node& value, std::string_view example,
                                                  const ConfigPlace& place);

  void problem(const ConfigPlace& place, std::string text);
  void unknown(const ConfigPlace& place, std::string_view what, std::string_view word,
               std::span<const std::string_view> allowed);
  void wrong_type(const ConfigPlace& place, std::string_view wanted, const toml::node& value);
  /// How many problems there are by now.
  [[nodiscard]] std::size_t told() const { return problems_.size(); }

 private:
  std::string_view file_;
  ConfigProblems& problems_;
};

/// A key of a table, and the member function of a reader that reads its value.
template <class Reader, class Target>
struct ConfigRow {
  std::string_view key;
  void (Reader::*read)(Target& target, const toml::node& value, const ConfigPlace& place);
};

template <class Reader, class Target, std::size_t N>
void read_keys(Reader& reader, ConfigValues& values,
               const std::array<ConfigRow<Reader, Target>, N>& rows, Target& target,
               const toml::node& value, const ConfigPlace& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) return values.wrong_type(place, "a table", value);
  for (const auto& [key, child] : *table) {
    const auto* const row = std::ranges::find(rows, key.str(), &ConfigRow<Reader, Target>::key);
    if (row != rows.end()) {
      (reader.*row->read)(target, child, inside(place, key));
      continue;
    }
    std::array<std::string_view, N> allowed{};
    std::ranges::transform(rows, allowed.begin(), &ConfigRow<Reader, Target>::key);
    values.unknown(inside(place, key), "key", key.str(), allowed);
  }
}

}  // namespace tend
