// Leases in the configuration: `[lease.NAME]`.
#pragma once

#include "store/config.h"
#include "store/config_values.h"

namespace tend {

/// Reads the value of its key in the file into `config`; what is wrong goes to `values`.
void read_leases(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config);

}  // namespace tend
