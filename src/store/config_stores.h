// The stores of other systems in the configuration: `[store.NAME]`, `[[source]]` and `[[sink]]`.
#pragma once

#include "store/config.h"
#include "store/config_values.h"

namespace tend {

/// Each reads the value of its key in the file into `config`; what is wrong goes to `values`.
void read_foreign_agents(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                         Config& config);
void read_sources(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                  Config& config);
void read_sinks(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                Config& config);

}  // namespace tend
