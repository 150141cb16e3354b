// The judge of one agent and its flight recorder. What was seen is written down, judged, and what
// was decided is written down too, before anybody acts on it; so whoever comes after can go on
// from the file alone, and `tend replay` on it says the same again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/judge.h"
#include "os/machine.h"
#include "run/past.h"
#include "sense/adapter.h"
#include "store/journal.h"

namespace tend {

/// Hears of a change of verdict.
using OnVerdict = std::function<void(const Decision&)>;

class Recorder {
 public:
  struct Found {
    Offsets offsets;           // what stands before them has been judged
    std::uint32_t life = 0;    // the number of the last life that was written down
    Instant last{};            // on the machine's clock, if it was of this boot
    bool rebooted = false;     // the journal was written before the machine was started anew
    std::vector<Ruling> owed;  // decided, and not known to be done
    Exit exit;                 // how the last life ended, if it did and that was seen
    /// By how much the calendar was put forward since that was noted last. None: not known.
    std::optional<Duration> calendar_set;
    [[nodiscard]] bool calendar_held() const;
    std::string problem;  // why what was there could not be used
  };

  /// Goes on with the journal in `folder`, or begins one. `found` says what was there.
  static Result<std::unique_ptr<Recorder>> open(Machine& machine, Folder& folder,
                                                const std::string& name, const Policy& policy,
                                                Found& found);

  /// Writes down and judges what was seen, at the machine's time `now`. Deadlines inside a sleep or
  /// a lag that the batch tells of are not judged at their own times. Empties the batch. Gives what
  /// is to be done.
  std::vector<Ruling> judge(SignalBatch& batch, Instant now, const Offsets& offsets);
  void on_verdict(OnVerdict callback) { on_verdict_ = std::move(callback); }

  /// Both are written with the next write().
  void did(const Ruling& ruling, std::string_view result);
  void remark(std::string_view what);
  void write();

  /// The next deadline, on the machine's clock.
  [[nodiscard]] std::optional<Instant> next() const;
  [[nodiscard]] const Judge& judge() const { return judge_; }
  [[nodiscard]] std::uint32_t life() const { return life_; }
  /// What the machine's clock must be moved by to be the journal's.
  [[nodiscard]] Duration shift() const { return shift_; }
  /// Why nothing could be written since; empty if all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Recorder(Machine& machine, Folder& folder, std::string name, Judge judge)
      : machine_(machine), folder_(folder), name_(std::move(name)), judge_(std::move(judge)) {}

  Result<void> begin_journal();
  void step(std::span<const Signal> signals, Instant at, std::vector<Ruling>& rulings);
  void run_to(Instant last, std::span<const Signal> unless, std::vector<Ruling>& rulings);
  [[nodiscard]] Instant journal_time(Instant machine_time) const { return machine_time + shift_; }

  Machine& machine_;
  Folder& folder_;
  std::string name_;
  Judge judge_;
  std::unique_ptr<Journal> journal_;
  OnVerdict on_verdict_;
  Duration shift_{};
  Instant last_{};               // of the last step, on the journal's clock
  std::optional<Instant> next_;  // on the journal's clock
  Offsets offsets_;
  Offsets offsets_before_;      // the signals that are being recorded
  std::size_t unrecorded_ = 0;  // of those, how many are left
  std::uint64_t actions_ = 1;   // the number that the next one gets
  std::uint32_t life_ = 0;
  std::vector<Ruling> owed_;
  std::string problem_;
};

}  // namespace tend
