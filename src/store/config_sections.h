// The sections beside the policies: `[[notify]]`, `[patrol]` and `[tasks]`.
#pragma once

#include "store/config.h"
#include "store/config_values.h"

namespace tend {

/// Each reads the value of its key in the file into `config`; what is wrong goes to `values`.
void read_notify(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config);
void read_patrol(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config);
void read_tasks(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                Config& config);

}  // namespace tend
