// Leases by name: who leads, and until when. What stands behind it can be files, a database or a
// distributed engine: it has to read a record, and to replace it if nobody else has meanwhile. All
// rules are above it (judge/lease.h); what any backend must do is leases_contract_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/process.h"

namespace tend {

inline constexpr std::size_t kMostLeases = 10'000;
inline constexpr std::size_t kMostTakeovers = 16;

struct LeaseHolder {
  ProcessId process;
  std::string id;     // what people and mirrors see
  std::string agent;  // the folder of an agent of this home that it is, or acts for; "": none

  bool operator==(const LeaseHolder&) const = default;
};

/// The processes that act under a grant; nothing of them may be left when another is made.
struct LeaseRun {
  std::string mark;   // of the environment, see run/lease_desk.h; "": none
  ProcessId first;    // of the program, known before it is let through its gate
  std::string group;  // of Processes::make_group(), or ""

  bool operator==(const LeaseRun&) const = default;
};

struct LeaseRecord {
  std::string name;
  std::uint64_t version = 0;  // rises with every write
  std::uint64_t fence = 0;    // rises with every grant, and never falls
  bool held = false;
  LeaseHolder holder;  // the last one, if it is free
  LeaseRun run;
  Duration ttl{};
  /// When the last renewal began to be written, awake, on the clock of `clock`.
  Duration renewed{};
  ProcessId clock;        // who wrote it: its boot and its pid namespace say whose clock that is
  WallTime granted_at{};  // for people
  WallTime renewed_at{};
  std::string mirror;    // a file that other tools read; "": none
  std::string why_free;  // for people
  /// When it was taken from holders that had not given it back, on the same clock; the last ones.
  std::vector<Duration> takeovers;
  Duration lag{};  // how late its renewals come, see judge/lease.h

  bool operator==(const LeaseRecord&) const = default;
};

class Leases {
 public:
  virtual ~Leases() = default;
  /// nullopt if there never was one of that name. Fails if it cannot be known: a record that cannot
  /// be read is no lease that is free.
  virtual Result<std::optional<LeaseRecord>> read(const std::string& name) = 0;
  /// All names, sorted; at most kMostLeases.
  virtual Result<std::vector<std::string>> list() = 0;
  /// Puts `next` in the place of the record of the version before its own (version 1: there was
  /// none), and survives a power cut from then on. False if the record was not that one any more,
  /// or others have long gone on from there. An error says nothing of what was written. After both:
  /// read it.
  virtual Result<bool> write(const LeaseRecord& next) = 0;
};

/// 1 to 100 letters, digits, '-', '_' and '.', the first no '.'. The error says so.
Result<void> check_lease_name(std::string_view name);

}  // namespace tend
