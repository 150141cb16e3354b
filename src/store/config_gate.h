// Messages and questions to agents in the configuration: `[gate]` and `[probe.NAME]`.
#pragma once

#include "store/config.h"
#include "store/config_values.h"

namespace tend {

/// Each reads the value of its key in the file into `config`; what is wrong goes to `values`.
void read_gate(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
               Config& config);
void read_probes(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config);

}  // namespace tend
