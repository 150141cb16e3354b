// `outcome.json`: what an agent itself says of its work (`tend done`), and the same from a file
// that another system keeps, `.cfa-state.json`.
//
//   {"outcome":"done","phase":"tests","note":"all green","at":1773002269.25,"life":2}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"
#include "store/heartbeat.h"

namespace tend {

inline constexpr std::string_view kOutcomeFile = "outcome.json";
inline constexpr std::string_view kForeignStateFile = ".cfa-state.json";

struct OutcomeFile {
  WorkOutcome outcome = WorkOutcome::none;  // none, done, withdrawn or escalated
  std::string phase;                        // of the work, in its own words; "" if never said
  std::string note;                         // one line
  double at = 0;                            // by the calendar
  std::uint32_t life = 0;                   // that said it; 0: not known

  bool operator==(const OutcomeFile&) const = default;
};

/// With its newline; long texts are cut.
std::string format_outcome(const OutcomeFile& outcome);
/// nullopt unless it is one of the four; wrong types and hostile values count as missing.
std::optional<OutcomeFile> parse_outcome(std::string_view text);

Result<void> write_outcome(Folder& folder, const OutcomeFile& outcome);
/// nullopt if there is none, or what stands there cannot be understood.
Result<std::optional<OutcomeFile>> read_outcome(Folder& folder);

/// {"state":"EXECUTE",...}: the state is the phase; DONE and COMPLETED_WORK mean done, WITHDRAWN
/// withdrawn, FAILURE and ESCALATED escalated. nullopt if it cannot be understood.
std::optional<OutcomeFile> parse_foreign_state(std::string_view text);
Result<std::optional<OutcomeFile>> read_foreign_state(Folder& folder);
/// Of the agent's folder: our own file, else the other system's.
Result<std::optional<OutcomeFile>> read_any_outcome(Folder& folder);

}  // namespace tend
