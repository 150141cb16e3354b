// Everything that can be seen of an agent in its own folder: its stream, what was said of it in
// signals.jsonl, its own beats. Reading moves no clock and decides nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "os/folder.h"
#include "sense/adapter.h"
#include "sense/signals_file.h"
#include "sense/tail.h"
#include "store/agent_file.h"
#include "store/journal.h"

namespace tend {

/// A turn of the agent is over, and where that was told.
struct TurnEnd {
  enum class In : std::uint8_t { stream, signals };
  In in = In::stream;
  std::uint64_t at = 0;  // bytes of it, up to the end of that line
  std::string error;     // in which it ended; "" if it ended well
};
struct Turns {
  std::vector<TurnEnd> ended;
  bool cut = false;  // the stream was, and its bytes are counted anew
};

class Senses {
 public:
  /// `offset` of the stream: what stands before it has been judged already. Signals that were said
  /// before this life began are not taken.
  Senses(Folder& folder, AdapterKind adapter, const Offsets& offsets);

  /// A new life is about to begin: what the old one printed and said is behind it, read or not.
  Result<void> begin_life();
  /// Somebody else had begun the life that is being kept, and saw all beats until then, if it is
  /// not written which one it saw last.
  void go_on(WallTime seen_until);

  /// Reads everything to its end; of what was said as much as one look may take. `shift` moves the
  /// machine's clock to the journal's.
  void look(SignalBatch& batch, Instant now, WallTime wall, std::uint32_t life, Duration shift);
  /// The life that is being kept began at `from` in the stream: what was judged of it already is
  /// read again, for what the language itself has to remember. Where that fails, it is tried with
  /// every look, and until then the agent cannot be heard.
  void remember(std::uint64_t from);
  /// The process is over: a last line without a newline is a line.
  void flush(SignalBatch& batch, Instant now, bool ended_well);

  /// It printed, said or beat something since the last look.
  [[nodiscard]] bool has_news() const;
  /// There was more to read than one look may take.
  [[nodiscard]] bool has_more() const { return has_more_; }
  /// Why the agent cannot be heard; empty if all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// nullptr for a language that has no conversations.
  [[nodiscard]] const Conversation* conversation() const {
    return adapter_ ? adapter_->conversation() : nullptr;
  }
  /// The language that is heard.
  [[nodiscard]] AdapterKind language() const {
    return adapter_ ? adapter_->kind() : AdapterKind::none;
  }
  /// What the looks since the last call saw of turns.
  Turns take_turns() { return std::exchange(turns_, {}); }
  /// How long its files are now, read or not.
  [[nodiscard]] Offsets lengths() const;
  /// Behind the last whole lines that were read.
  [[nodiscard]] Offsets offsets() const;
  /// The same of the stream alone.
  [[nodiscard]] std::uint64_t stream_offset() const { return stream_.offset() - lines_.kept(); }
  /// What a person should know, said once: a stream that was cut, a line that was too long.
  std::vector<std::string> take_remarks();

  /// Gives disk space back: what was read long ago. With `life_over` nothing writes any more.
  void bound(bool life_over);

 private:
  Result<void> read_again();
  void look_at_stream();
  void look_at_errors();
  void look_at_signals();
  void look_at_beats();
  void remark(std::string text);
  void note_turns(std::size_t from, TurnEnd::In in);
  void say_refused(std::uint64_t count);
  void give_back(const char* name, std::uint64_t read, std::uint64_t kept, std::uint64_t& punched,
                 bool life_over);

  Folder& folder_;
  std::unique_ptr<Adapter> adapter_;
  std::optional<std::uint64_t> to_remember_;  // from there
  Tail stream_;
  LineFeed lines_;
  Tail signals_;
  LineFeed signal_lines_;
  SignalsFile parser_;
  std::unique_ptr<File> beat_;
  WallTime last_beat_{};
  std::uint64_t
      beaten_;  // the beat that was seen last, by whoever was here before us; 0: not known
  std::uint64_t errors_size_ = 0;
  std::uint64_t stream_punched_ = 0;
  std::uint64_t errors_punched_ = 0;
  std::uint64_t signals_punched_ = 0;
  std::uint64_t refused_ = 0;  // lines, in all
  std::uint64_t refused_said_ = 0;
  std::uint64_t old_answers_ = 0;
  bool has_more_ = false;
  std::string problem_;
  Turns turns_;

  // Where a look at hand puts what it finds.
  SignalBatch* batch_ = nullptr;
  Instant now_{};
  WallTime wall_{};
  std::uint32_t life_ = 0;
  Duration shift_{};
  std::vector<std::string> remarks_;
};

}  // namespace tend
