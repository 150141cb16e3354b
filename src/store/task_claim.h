// `task.json` in an agent's folder: what its keeper knows of the claim on the agent's task. The
// fence is granted once and asked for by nobody again, so a keeper that comes later beats with this
// one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kTaskClaimFile = "task.json";

struct TaskClaim {
  enum class State : std::uint8_t {
    held,
    given_back,
    lost,    // to somebody else, and that was told
    closed,  // whoever closed it
  };
  std::string task;
  std::int64_t fence = 0;
  State state = State::held;

  bool operator==(const TaskClaim&) const = default;
};
inline constexpr std::array<std::string_view, 4> kTaskClaimWords{"held", "given-back", "lost",
                                                                 "closed"};

/// Survives a power cut.
Result<void> write_task_claim(Folder& folder, const TaskClaim& claim);
/// nullopt if there is none, or what stands there cannot be understood.
Result<std::optional<TaskClaim>> read_task_claim(Folder& folder);

}  // namespace tend
