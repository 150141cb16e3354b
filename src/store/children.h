// `.children` in an agent's folder: whom it dispatched. JSON lines, append only; the last line for
// a heartbeat wins, and a torn one is skipped.
//
//   {"heartbeat":"/…/coding/20260308-211516-k2/.heartbeat","team":"coding","task_id":"t1",
//    "status":"active","agent":"coder","at":1773002269.25,"note":""}
//
// `"untold":true` is there as long as its parent has not heard how it ended: `tend merge` was
// first. Other systems write the first four fields only. A line is written before the child starts:
// what is `requested` and never started is started by the next scan.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kChildrenFile = ".children";
/// Held by whoever registers, merges or compacts.
inline constexpr std::string_view kRegistryLockFile = ".dispatch";

enum class ChildStatus : std::uint8_t {
  requested,  // asked for; whether it started is not known
  active,     // it was started
  done,       // ended well, and its work is where it belongs
  unmerged,   // ended well, its work is on its branch; its parent was told why
  gone,       // ended otherwise, or never was; its parent was told
};
inline constexpr std::array<std::string_view, 5> kChildStatusWords{"requested", "active", "done",
                                                                   "unmerged", "gone"};

/// Nothing more is to be done about it by itself.
constexpr bool is_settled(ChildStatus status) {
  return status != ChildStatus::requested && status != ChildStatus::active;
}

struct ChildLine {
  std::string heartbeat;  // absolute path of its `.heartbeat`
  std::string team;       // its role
  std::string task_id;    // of the lead's tool call that asked for it; "" if none
  ChildStatus status = ChildStatus::requested;
  std::string agent;    // its name; "" in a file of another system
  double at = 0;        // by the calendar
  std::string note;     // why, for people
  bool untold = false;  // settled, and its parent was not told

  bool operator==(const ChildLine&) const = default;
};

/// Its parent's keeper has nothing more to do about it, not even to tell of its end.
inline bool is_closed(const ChildLine& line) { return is_settled(line.status) && !line.untold; }

/// The folder of the agent whose heartbeat this is; "" if it is no absolute path of one.
std::string folder_of_heartbeat(std::string_view heartbeat);

std::string format_child_line(const ChildLine& line);
/// Wrong types and hostile values count as missing; a line without a usable heartbeat path fails.
/// An unknown word for a status is `active`: it is looked at, not forgotten.
Result<ChildLine> parse_child_line(std::string_view line);

struct ChildrenRead {
  std::vector<ChildLine> children;  // one for each heartbeat, in the order of their first lines
  std::size_t lines = 0;            // in the file
  std::size_t refused = 0;          // lines that could not be understood
};
/// Empty if there is no file. At most 16 MB are read; more fails with words.
Result<ChildrenRead> read_children(Folder& folder);

/// One write under 4 KB; long notes are cut. Survives a power cut. A last line that was torn is
/// closed first, so that this one is not lost with it.
Result<void> append_child(Folder& folder, const ChildLine& line);

/// Puts these lines in the place of all others. Requires the lock of the registry.
Result<void> compact_children(Folder& folder, std::span<const ChildLine> children);

/// The lock of the registry, held as long as the file is open; nullptr if somebody else holds it.
Result<std::unique_ptr<File>> lock_registry(Folder& folder);

}  // namespace tend
