// `.lock`: the one keeper's lock, and in the same file its record of the life it keeps, written in
// place at a fixed size so that it also fits on a full disk. The record is written while the child
// still waits at its gate: what is not recorded here has never run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/folder.h"
#include "os/process.h"
#include "store/locked_record.h"

namespace tend {

inline constexpr std::string_view kLockFile = ".lock";
/// The place in it where the child itself signs that it was let through its gate.
inline constexpr std::uint64_t kReleasedAt = 1022;

struct LifeRecord {
  ProcessId keeper;        // boot id and pid namespace hold for `process` too
  std::uint32_t life = 0;  // 0: no life was begun yet
  ProcessId process;       // pid 0: the life is over and nothing of it is left
  std::string group;       // of the operating system, or ""
  /// The child was let through its gate. While this is false it may never have run anything.
  bool released = false;
  /// It is being ended, or was, because it hung: an end that is ours and not its own.
  bool hung = false;
  /// How long the machine had slept since its boot when the judge was told of a sleep last. What it
  /// slept after that while no keeper was there is known by it. None: written by an older version.
  std::optional<Duration> slept;
  /// When the machine would have been started, had it never slept, by the earliest calendar that
  /// this life has seen: what it printed may name times of that one, however far the calendar has
  /// run ahead since of the clock by which it waits for them. None: written by an older version.
  std::optional<WallTime> awake_since;
  /// The journal could not be written: it ends before the last look of its keeper. Or that was so a
  /// short while ago, and what the agent did meanwhile may be lost.
  bool unwritten = false;
};

/// The lock, held as long as this object lives.
class KeeperLock {
 public:
  /// nullptr if another keeper holds it.
  static Result<std::unique_ptr<KeeperLock>> take(Folder& folder);
  /// What the file says, whoever wrote it; empty if it says nothing that can be understood.
  [[nodiscard]] const LifeRecord& record() const { return record_; }
  Result<void> write(const LifeRecord& record);
  /// Whether the name still stands for the file that is locked. If not, somebody removed it, and
  /// another keeper may hold the lock of another file.
  Result<bool> is_in_place(Folder& folder) { return file_->is_in_place(folder); }
  /// The keeper is at work: the time of the file is its own pulse.
  Result<void> touch() { return file_->touch(); }

 private:
  explicit KeeperLock(std::unique_ptr<LockedRecord> file) : file_(std::move(file)) {}

  std::unique_ptr<LockedRecord> file_;
  LifeRecord record_;
};

/// A pulse of a keeper, and since when no other one was seen.
struct SeenPulse {
  WallTime pulse{};  // the time of its lock
  Duration seen{};   // awake

  bool operator==(const SeenPulse&) const = default;
};

struct LockState {
  bool held = false;
  LifeRecord record;
};
/// Looks without taking. nullopt if there is no lock file.
Result<std::optional<LockState>> look_at_lock(Folder& folder);

}  // namespace tend
