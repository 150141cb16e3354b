// The settings files of coding agents, as far as `tend hook` stands in them: text in, text out. All
// that others wrote there is kept, in its order.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/hook_signals.h"
#include "base/result.h"

namespace tend {

/// An event that is worth a hook.
struct HookedEvent {
  std::string_view event;
  bool async = false;       // the order of what it says does not matter, so nobody waits for it
  int longest_seconds = 5;  // then the agent ends it
};
std::span<const HookedEvent> hooked_events(HookAgent agent);

/// The file with a hook for each event that runs `program`. The very same text if they are all
/// there already. Blank text counts as an empty object; errors name line and column.
Result<std::string> with_hooks(std::string_view text, HookAgent agent, const std::string& program);

/// The file with hooks that start a beater with a session and end it with that. `start` and `stop`
/// are the options of `tend service start --caller` and `tend service stop --caller`.
struct ServiceWords {
  std::vector<std::string> start;
  std::vector<std::string> stop;
};
Result<std::string> with_service(std::string_view text, HookAgent agent, const std::string& program,
                                 const ServiceWords& words);

/// The file without any hook of both kinds, whatever `tend` they run. The very same text if there
/// is none.
Result<std::string> without_hooks(std::string_view text, HookAgent agent);

/// What stands in a file.
struct HooksFound {
  std::size_t events = 0;            // of hooked_events(), those with a hook of ours
  std::set<std::string> programs{};  // that they run
  bool service = false;              // a session starts and ends a beater
};
Result<HooksFound> find_hooks(std::string_view text, HookAgent agent);

}  // namespace tend
