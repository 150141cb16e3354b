// A lease as other tools know it: a file, usually `orchestrator-state.json`, that says who leads.
//
//   {"leader_id":"boss","leader_epoch":7,"last_heartbeat":"2026-01-04T20:19:13.000Z",
//    "ttl_ms":180000}
//
// It is written for them at every change, all other keys kept, and believed only where it knows of
// a later epoch than we do: then one of them leads, or did. Given back is a time of 1970.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/files.h"
#include "store/foreign/foreign_lock.h"
#include "store/leases.h"

namespace tend {

struct LeaseMirror {
  std::string leader;
  std::uint64_t epoch = 0;
  /// By the calendar, how long it still counts if it is not renewed; 0: it was given back, ran out,
  /// or its time says nothing.
  Duration valid_for{};

  bool operator==(const LeaseMirror&) const = default;
};

/// nullopt if there is no such file. Fails if it cannot be read, or is no lease.
Result<std::optional<LeaseMirror>> read_lease_mirror(Files& files, const std::string& path,
                                                     WallTime now);

/// Puts the record into its mirror. A mirror with a later epoch is left alone: a failure. REQUIRES
/// that the record has one.
Result<void> write_lease_mirror(Files& files, const LeaseRecord& record, WallTime now,
                                const LockHolder& writer, const ProcessLives& lives);

}  // namespace tend
