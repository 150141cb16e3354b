// Reads a trace (JSON lines: a header, then signals in the order of their times) moment by moment,
// in memory that does not grow with it. Bad lines are reported with their number and passed over.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/signal.h"
#include "os/world.h"
#include "sense/attendance.h"
#include "sense/line_splitter.h"
#include "sense/text_arena.h"
#include "sense/trace_header.h"
#include "sense/trace_line.h"

namespace tend {

/// Everything that was seen at one time, in the order it was written.
struct Moment {
  Instant at{};
  std::span<const Signal> signals;
};

class TraceReader final : public Attendance {
 public:
  /// A moment with more signals, or more text in them, is given out in parts.
  static constexpr std::size_t kMostSignals = 4096;
  static constexpr std::size_t kMostText = std::size_t{16} * 1024 * 1024;
  /// A lag is written after it was over, behind what the agent did meanwhile. So many signals ahead
  /// it is looked for; one further away is found too late to matter.
  static constexpr std::size_t kMostAhead = 512;

  /// Told of every line that is not taken as it stands.
  using Report = std::function<void(std::uint64_t line, std::string_view what)>;
  /// Told of every line in which a keeper wrote down what it decided, did or noted, and its time.
  using Record = std::function<void(std::string_view line, Instant at)>;

  /// `name` is what errors call the trace.
  TraceReader(ByteSource& bytes, std::string name, Report report);

  /// From here on `hear` is told of a keeper's records, in their order, which without it are passed
  /// over. They are read ahead of the moments, like everything else.
  void on_record(Record hear) { record_ = std::move(hear); }

  /// Reads as far as the first line that says something. The header, if that is one; an empty one
  /// if it is a signal. Fails if there is no such line at all. Call it once, before next().
  Result<TraceHeader> open();

  /// The next moment, valid until the next call; false at the end.
  Result<bool> next(Moment& moment);

  /// Whether the observer ran at a time before the moment that was given out last. Looks ahead for
  /// a `suspend` or a `lag` that says otherwise.
  bool was_there(Instant at) override;

  /// The latest time at which something was judged, as far as was read: that of a signal or of a
  /// decision that was written down. What a keeper did or noted says nothing about it.
  [[nodiscard]] Instant last() const { return std::max(now_, last_decision_); }
  /// The last `offset` and the last `said` that any line so far names, the header included. Once
  /// all is read: what stands before them in an agent's stream and in its signals.jsonl was judged;
  /// and so was the beat that was written at `beaten`.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t said() const { return said_; }
  [[nodiscard]] std::uint64_t beaten() const { return beaten_; }

 private:
  enum class Step : std::uint8_t { signal, header, end, failed };
  struct Away {
    Instant since;
    Instant until;
    std::uint64_t signal = 0;  // the number of the one that says so
  };

  Result<TraceHeader> read_header();
  bool read_signal();
  Step read_line(Signal& into);
  void keep_time(Instant seen);
  void note_away(const Signal& signal);
  void drop_given();
  [[nodiscard]] bool was_away(Instant at) const;
  [[nodiscard]] bool has_room() const { return texts_[0].size() + texts_[1].size() < kMostText; }

  LineSplitter lines_;
  TraceLineParser parser_;
  std::string name_;
  Report report_;
  Record record_;
  bool may_be_header_ = true;
  Step last_step_ = Step::signal;
  Instant now_{};
  Instant last_decision_{};
  std::uint64_t offset_ = 0;
  std::uint64_t said_ = 0;
  std::uint64_t beaten_ = 0;

  // The moment at hand is [begin_, next_) of these, what was read ahead is [next_, end_). They are
  // reserved once, so that reading ahead moves none of them.
  std::vector<Signal> signals_;
  std::vector<Instant> times_;
  std::size_t begin_ = 0;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::uint64_t dropped_ = 0;  // signals that stood before signals_[0]
  std::vector<Away> aways_;    // what the signals from begin_ on say

  // Texts are kept in one arena; the other has those of signals before `turned_`. Once these are
  // all given out and judged, the two change places.
  std::array<TextArena, 2> texts_;
  std::size_t turn_ = 0;
  std::uint64_t turned_ = 0;
};

}  // namespace tend
