// `journal.jsonl`: the flight recorder of one agent. A trace (docs/evidence.md) that opens with a
// snapshot of the judge, and between its signals the decisions they led to, written before anything
// is done about them. Bounded: a full one is replaced by a new one that opens with a new snapshot.
//
//   {"trace":1,"id":AGENT,"policy":P,"limits":{...},"boot":ID,"shift_ms":N,"wall":W,"at_ms":T,
//    "offset":O,"said":S,"beaten":B,"life":L,"judge":{...}}
//   {"t":12.5,"is":"progress","offset":4096,"said":120}
//   {"t":12.5,"verdict":"working","phase":"model","because":[...]}
//   {"t":732.5,"action":"kill","why":"...","under":"stalled","life":1,"n":7}
//   {"t":732.6,"did":"kill","n":7,"result":"..."}
//
// The clock of the journal is the machine's time since boot plus `shift_ms`, so that it never falls
// across a reboot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/decision.h"
#include "judge/policy.h"
#include "judge/signal.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kJournalFile = "journal.jsonl";

/// How far an agent's files have been read and judged.
struct Offsets {
  std::uint64_t stream = 0;  // "offset": of stream.jsonl
  std::uint64_t said = 0;    // "said": of signals.jsonl
  /// "beaten": the time of the file of beats, in milliseconds as it says itself. One that has
  /// another time was written since, whatever the calendar did.
  std::uint64_t beaten = 0;
};

struct JournalHeader {
  std::string agent;
  Policy policy;  // written as name and all limits that differ from the built-in one of that name
  std::string boot_id;
  Duration shift{};           // journal time = time since boot + shift
  double wall = 0;            // by the calendar, when the header was written
  Instant at{};               // the same moment on the journal's clock
  Offsets offsets;            // everything before them has been judged
  std::uint64_t actions = 0;  // the number that the next action gets
  std::uint32_t life = 0;     // of the agent, when the header was written
  std::string judge;          // Judge::snapshot(); empty: a new judge
};

/// An action of the file before this one that is still to be done.
struct CarriedOver {
  Action action = Action::warn;
  Verdict under = Verdict::unknown;
  std::uint64_t number = 0;
  std::uint32_t life = 0;
  std::string_view why;
};

class Journal {
 public:
  /// A journal larger than this wants to be replaced.
  static constexpr std::uint64_t kFull = std::uint64_t{4} * 1024 * 1024;

  /// Puts a new journal in the place of whatever is there. Behind its header stand the actions that
  /// are still owed, marked as carried over, so that nobody takes them for second decisions.
  static Result<std::unique_ptr<Journal>> begin(Folder& folder, const JournalHeader& header,
                                                std::span<const CarriedOver> owed = {});
  /// Goes on writing the one that is there, after a torn last line if there is one.
  static Result<std::unique_ptr<Journal>> go_on(Folder& folder);

  /// Lines are kept back until write(), which appends them all in one write. What could not be
  /// written is kept for the next time, up to 1 MB; then the oldest lines give way to a remark.
  void signal(Instant at, const Signal& signal, const Offsets& offsets);
  /// `number` and `life` go with an action.
  void decision(Instant at, const Decision& decision, std::uint64_t number, std::uint32_t life);
  void did(Instant at, Action action, std::uint64_t number, std::string_view result);
  /// A line that no judge reads: what the keeper wants remembered, for people.
  void remark(Instant at, std::string_view what);
  Result<void> write();
  /// Nothing is kept back, and it need not be replaced.
  [[nodiscard]] bool has_all() const { return pending_.empty() && !full(); }
  [[nodiscard]] bool full() const { return size_ > kFull; }

 private:
  explicit Journal(std::unique_ptr<File> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}

  void end_line(Instant at);
  void take_off_written();
  void drop_oldest();

  std::unique_ptr<File> file_;
  std::uint64_t size_ = 0;
  std::string pending_;
  Instant last_{};        // of the newest line
  bool in_line_ = false;  // the file ends in the first part of a line, `pending_` has the rest
};

/// One signal as a line of a trace, without its newline.
void append_signal_line(std::string& to, Instant at, const Signal& signal, const Offsets& offsets);

}  // namespace tend
