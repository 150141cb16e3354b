// The bounds of a lease's time are those of its rules.
#include "store/config_lease.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "judge/lease.h"
#include "store/leases.h"

namespace tend {
namespace {

class LeaseReader {
 public:
  LeaseReader(ConfigValues& values, Config& config) : values_(values), config_(config) {}

  void read(std::string_view name, const toml::node& value, const ConfigPlace& place);

 private:
  using Row = ConfigRow<LeaseReader, LeaseSettings>;

  void read_ttl(LeaseSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_mirror(LeaseSettings& made, const toml::node& value, const ConfigPlace& place) {
    if (auto path = values_.path(value, place)) made.mirror = *std::move(path);
  }
  void read_agent(LeaseSettings& made, const toml::node& value, const ConfigPlace& place) {
    made.agent = values_.line(value, "the name of an agent", kLongestAgent, place).value_or("");
  }

  ConfigValues& values_;
  Config& config_;
};

void LeaseReader::read(std::string_view name, const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row, 3> kKeys{{
      {"ttl", &LeaseReader::read_ttl},
      {"mirror", &LeaseReader::read_mirror},
      {"agent", &LeaseReader::read_agent},
  }};
  const std::size_t told = values_.told();
  if (const auto fits = check_lease_name(name); !fits) values_.problem(place, fits.error().text);
  LeaseSettings made;
  read_keys(*this, values_, kKeys, made, value, place);
  if (values_.told() == told) config_.leases.emplace(name, std::move(made));
}

void LeaseReader::read_ttl(LeaseSettings& made, const toml::node& value, const ConfigPlace& place) {
  const auto ttl = values_.duration_above_zero(value, place);
  if (!ttl) return;
  if (*ttl >= kShortestLease && *ttl <= kLongestLease) {
    made.ttl = *ttl;
    return;
  }
  values_.problem(place,
                  fmt::format("{} is not between {} and {}", format_duration(*ttl),
                              format_duration(kShortestLease), format_duration(kLongestLease)));
}

}  // namespace

void read_leases(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) {
    return values.wrong_type(place, "a table of leases: [lease.NAME]", value);
  }
  if (table->size() > kMostStores) {
    return values.problem(place, fmt::format("{} leases; at most {}", table->size(), kMostStores));
  }
  LeaseReader reader(values, config);
  for (const auto& [key, each] : *table) reader.read(key.str(), each, inside(place, key));
}

}  // namespace tend
