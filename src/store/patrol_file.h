// What the patrol of a home keeps there. `.patrol` is the lock of the one patrol, and in the same
// file a record of who it is, written in place at a fixed size; the time of its last change is the
// patrol's beat. `patrol.json` is what it remembers from one sweep to the next.
//
//   .patrol      {"boot_id":B,"pid_ns":N,"pid":P,"start_ticks":T,"interval_ms":0,"wanted":true,
//                 "next_boot":false}
//   patrol.json  {"version":1,"boot_id":B,"wall_ns":W,"awake_ms":A,"swept_ms":S,"asked_ms":D,
//                 "unfit":"fit","unfit_since_ms":S,"sweeps_since":3,"incident":false,
//                 "tasks":[{"id":I,"status":"in_progress","fence":2,"last_sign_ns":W,
//                           "excused_ms":0,"answered":false,"taken":["warn"],"pinged_ms":D,
//                           "decided":{"at_ns":W,"rungs":["warn"],"because":[..]}}],
//                 "told":[{"key":K,"text":T}]}
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/patrol.h"
#include "os/folder.h"
#include "os/process.h"
#include "store/life_record.h"
#include "store/locked_record.h"

namespace tend {

inline constexpr std::string_view kPatrolFile = ".patrol";
inline constexpr std::string_view kPatrolMemoryFile = "patrol.json";

/// How often a patrol touches its file, and how long it may not before it hangs.
inline constexpr Duration kPatrolBeat = std::chrono::seconds{30};
inline constexpr Duration kPatrolHangs = std::chrono::seconds{120};  // awake

inline constexpr std::size_t kMostEpisodes = 20'000;  // tasks in an episode
inline constexpr std::size_t kMostTold = 1'000;       // things that people were told of
inline constexpr std::size_t kMostPulses = 20'000;    // keepers that were looked at

struct PatrolRecord {
  ProcessId process;    // who took the lock last; pid 0: nobody, as far as can be understood
  Duration interval{};  // that it was started with; 0: what the configuration says
  /// It is to be there: whoever finds its lock free starts another one.
  bool wanted = false;
  /// It was ended as everybody is when the machine goes down: with the next boot it is wanted.
  bool next_boot = false;

  [[nodiscard]] bool is_wanted_in(const std::string& boot_id) const {
    return wanted || (next_boot && process.boot_id != boot_id);
  }
};

/// The lock, held as long as this object lives.
class PatrolLock {
 public:
  /// nullptr if another patrol holds it.
  static Result<std::unique_ptr<PatrolLock>> take(Folder& home);
  /// What the file says, whoever wrote it.
  [[nodiscard]] const PatrolRecord& record() const { return record_; }
  /// There was something in the file, and no record: it says nothing until it is written anew.
  [[nodiscard]] bool was_damaged() const { return damaged_; }
  Result<void> write(const PatrolRecord& record);
  /// Whether the name still stands for the file that is locked.
  Result<bool> is_in_place(Folder& home) { return file_->is_in_place(home); }
  Result<void> beat() { return file_->touch(); }

 private:
  explicit PatrolLock(std::unique_ptr<LockedRecord> file) : file_(std::move(file)) {}

  std::unique_ptr<LockedRecord> file_;
  PatrolRecord record_;
  bool damaged_ = false;
};

struct PatrolLockState {
  bool held = false;
  PatrolRecord record;
  FileFacts file;
};
/// Looks without taking. nullopt if there never was a patrol.
Result<std::optional<PatrolLockState>> look_at_patrol(Folder& home);

/// What was done about a task last.
struct PatrolDecided {
  WallTime at{};
  std::vector<PatrolRung> rungs;
  std::vector<std::string> because;
};

using SeenPulses = std::map<std::string, SeenPulse, std::less<>>;  // by the agent's folder

struct PatrolPast {
  PatrolState state;
  // The clocks of the last sweep, beside state.last_sweep.
  std::string boot_id;
  WallTime wall{};
  Duration awake{};
  std::map<std::string, PatrolDecided, std::less<>>
      decided;                                           // by task, as long as it is in `state`
  std::map<std::string, std::string, std::less<>> told;  // by key: what, and it is not over
  SeenPulses pulses;                                     // of this boot
};

/// What a new sweep would find out by itself is left out, and of the rest what is beyond the
/// bounds: those of which least was done.
std::string format_patrol_past(const PatrolPast& past);
Result<PatrolPast> parse_patrol_past(std::string_view text);

/// nullopt if there is none. Fails on a file that is not ours or not whole.
Result<std::optional<PatrolPast>> read_patrol_past(Folder& home);
Result<void> write_patrol_past(Folder& home, const PatrolPast& past);

}  // namespace tend
