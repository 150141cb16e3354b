// Makes a scenario that shows a fault of ours smaller, as long as it still shows it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "scenario.h"

namespace tend::sim {

/// Whether a scenario still shows what is looked for.
using StillFails = std::function<bool(const Scenario&)>;

struct ShrinkSettings {
  std::size_t most_plays = 400;
  /// Hears of every step on the way: what is smaller now; and in the end why it is the last one.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// The smallest scenario that was found. Requires that `scenario` fails; it is not played again.
Scenario shrink(const Scenario& scenario, const StillFails& still_fails,
                const ShrinkSettings& settings = {});

}  // namespace tend::sim
