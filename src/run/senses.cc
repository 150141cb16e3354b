// Each source in turn, each to its end.
#include "run/senses.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tend {
namespace {

constexpr std::uint64_t kMostOldAnswers = 10;  // that are said: a loop must not fill the journal
constexpr std::uint64_t kStreamKept = std::uint64_t{64} * 1024 * 1024;
constexpr std::uint64_t kErrorsKept = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t kPunchStep = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t kSignalsKept = std::uint64_t{1024} * 1024;
constexpr std::size_t kMostRemarks = 100;
constexpr std::size_t kManySignals = 2000;  // for one look
constexpr std::size_t kLongestSignal = std::size_t{32} * 1024;

std::uint64_t in_milliseconds(WallTime time) {
  const auto since_1970 =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(since_1970.count(), 0));
}

}  // namespace

Senses::Senses(Folder& folder, AdapterKind adapter, const Offsets& offsets)
    : folder_(folder),
      adapter_(make_adapter(adapter)),
      stream_(folder, kStreamFile, offsets.stream),
      lines_(
          [this](std::string_view line) {
            if (adapter_ == nullptr) return;
            const std::size_t before = batch_->signals.size();
            adapter_->take(line, {.now = now_ + shift_, .wall = wall_}, *batch_);
            note_turns(before, TurnEnd::In::stream);
          },
          [this](std::uint64_t size) {
            remark(fmt::format("a line of {} bytes in the stream was passed over", size));
            batch_->signals.push_back({.is = Kind::noise});
          }),
      signals_(folder, kSignalsFile, offsets.said),
      signal_lines_(
          [this](std::string_view line) {
            using Took = SignalsFile::Took;
            const std::size_t before = batch_->signals.size();
            const Took took = line.size() > kLongestSignal
                                  ? Took::bad
                                  : parser_.take(line, life_, shift_, *batch_);
            note_turns(before, TurnEnd::In::signals);
            if (took == Took::refused || took == Took::bad) ++refused_;
            if (took == Took::old_answer && ++old_answers_ <= kMostOldAnswers) {
              remark("an answer of an older life was refused");
            }
          },
          [this](std::uint64_t) { ++refused_; }),
      beaten_(offsets.beaten),
      stream_punched_(offsets.stream),
      signals_punched_(offsets.said) {}

Result<void> Senses::begin_life() {
  auto beat = folder_.open(kBeatFile, Folder::Open::append);
  if (!beat) return std::unexpected(beat.error());
  beat_ = *std::move(beat);
  beaten_ = 0;
  go_on(WallTime::max());
  for (Tail* const tail : {&stream_, &signals_}) {
    while (true) {
      const auto got = tail->read();
      if (!got || got->bytes.empty()) break;
    }
  }
  if (adapter_) adapter_->begin_life();
  to_remember_.reset();
  lines_.reset();
  signal_lines_.reset();
  return {};
}

void Senses::go_on(WallTime seen_until) {
  if (!beat_) {
    if (auto beat = folder_.open(kBeatFile, Folder::Open::append)) beat_ = *std::move(beat);
  }
  if (const auto facts = beat_ ? beat_->facts() : fail("not open")) {
    const bool is_news =
        beaten_ == 0 ? facts->modified > seen_until : in_milliseconds(facts->modified) != beaten_;
    last_beat_ = is_news ? WallTime{} : facts->modified;
  }
  if (const auto facts = folder_.facts(kErrorFile); facts && *facts) errors_size_ = (*facts)->size;
}

void Senses::look(SignalBatch& batch, Instant now, WallTime wall, std::uint32_t life,
                  Duration shift) {
  batch_ = &batch;
  now_ = now;
  wall_ = wall;
  life_ = life;
  shift_ = shift;
  has_more_ = false;
  problem_.clear();
  look_at_stream();
  look_at_errors();
  look_at_signals();
  look_at_beats();
}

void Senses::look_at_stream() {
  if (const auto remembered = read_again(); !remembered) {
    problem_ = remembered.error().text;
    return;
  }
  while (true) {
    const auto got = stream_.read();
    if (!got) {
      problem_ = got.error().text;
      return;
    }
    if (got->cut) {
      remark(
          "the stream was cut by a program that opened it anew (> /dev/stdout); what it held is "
          "lost, reading goes on");
      stream_punched_ = 0;
      turns_.cut = true;
    }
    if (got->cut || got->skipped) lines_.reset();
    if (got->bytes.empty()) return;
    lines_.feed(got->bytes);
  }
}

void Senses::look_at_errors() {
  const auto facts = folder_.facts(kErrorFile);
  if (!facts || !*facts || (*facts)->size == errors_size_) return;
  errors_size_ = (*facts)->size;
  batch_->signals.push_back({.is = Kind::activity, .from = ActivityFrom::log});
}

void Senses::look_at_signals() {
  const std::uint64_t refused_before = refused_;
  while (true) {
    if (batch_->signals.size() >= kManySignals) {
      has_more_ = true;
      break;
    }
    const auto got = signals_.read();
    if (!got) {
      problem_ = got.error().text;
      break;
    }
    if (got->bytes.empty()) break;
    if (got->cut || got->skipped) signal_lines_.reset();
    signal_lines_.feed(got->bytes);
  }
  if (refused_ != refused_before) say_refused(refused_);
}

/// At 1, 10, 100 and so on: junk must not fill the journal with words about it.
void Senses::say_refused(std::uint64_t count) {
  if (refused_said_ > 0 && count < 10 * refused_said_) return;
  refused_said_ = count;
  remark(fmt::format("{} line{} of {} {} refused so far", count, count == 1 ? "" : "s",
                     kSignalsFile, count == 1 ? "was" : "were"));
}

void Senses::look_at_beats() {
  if (!beat_) return;
  const auto facts = beat_->facts();
  if (!facts || facts->modified == last_beat_) return;
  last_beat_ = facts->modified;
  batch_->signals.push_back({.is = Kind::beat, .by = BeatBy::agent});
}

/// The stream last: nothing shows more often that somebody works.
bool Senses::has_news() const {
  const auto has_grown = [this](const char* name, const Tail& tail) {
    const auto facts = folder_.facts(name);
    return facts && *facts && (*facts)->size > tail.offset();
  };
  if (has_grown(kSignalsFile, signals_)) return true;
  const auto beat = beat_ ? beat_->facts() : fail("not open");
  if (beat && beat->modified != last_beat_) return true;
  return has_grown(kStreamFile, stream_);
}

void Senses::remark(std::string text) {
  if (remarks_.size() < kMostRemarks) remarks_.push_back(std::move(text));
}

void Senses::flush(SignalBatch& batch, Instant now, bool ended_well) {
  batch_ = &batch;
  now_ = now;
  lines_.flush();
  const std::size_t before = batch.signals.size();
  if (ended_well && adapter_) adapter_->end_well(batch);
  note_turns(before, TurnEnd::In::stream);
}

/// Among the signals of the line that is being read, those from `from` on.
void Senses::note_turns(std::size_t from, TurnEnd::In in) {
  const bool in_stream = in == TurnEnd::In::stream;
  const std::uint64_t at =
      in_stream ? stream_.offset() - lines_.behind() : signals_.offset() - signal_lines_.behind();
  for (std::size_t i = from; i < batch_->signals.size(); ++i) {
    const Signal& signal = batch_->signals[i];
    if (signal.is != Kind::turn_end || !signal.task.empty()) continue;
    const bool is_well = signal.cause == Cause::none;
    turns_.ended.push_back(
        {.in = in,
         .at = at,
         .error = is_well ? "" : fmt::format("an error: {}", signal.cause_word)});
  }
}

Offsets Senses::lengths() const {
  Offsets lengths = offsets();
  const auto note = [this](const char* name, std::uint64_t& length) {
    if (const auto facts = folder_.facts(name); facts && *facts) length = (*facts)->size;
  };
  note(kStreamFile, lengths.stream);
  note(kSignalsFile, lengths.said);
  return lengths;
}

Offsets Senses::offsets() const {
  return {.stream = stream_offset(),
          .said = signals_.offset() - signal_lines_.kept(),
          .beaten = in_milliseconds(last_beat_)};
}

std::vector<std::string> Senses::take_remarks() {
  if (adapter_) {
    for (std::string& text : adapter_->take_remarks()) remark(std::move(text));
  }
  return std::exchange(remarks_, {});
}

void Senses::remember(std::uint64_t from) {
  if (conversation() == nullptr || from >= offsets().stream) return;
  to_remember_ = from;
  std::ignore = read_again();
}

/// Nothing new is understood before: the result of a call that nobody remembers closes none.
Result<void> Senses::read_again() {
  if (!to_remember_) return {};
  const std::uint64_t until = offsets().stream;
  SignalBatch judged;
  Tail before(folder_, kStreamFile, *to_remember_);
  std::uint64_t left = until - *to_remember_;
  LineFeed lines([&](std::string_view line) { adapter_->take(line, {}, judged); },
                 [](std::uint64_t) {});
  while (left > 0) {
    const auto got = before.read();
    if (!got) {
      adapter_->begin_life();
      return std::unexpected(got.error());
    }
    if (got->bytes.empty() || got->cut) break;
    if (got->skipped) {
      lines.reset();
      if (before.offset() - got->bytes.size() >= until) break;
      left = until - (before.offset() - got->bytes.size());
    }
    const std::string_view piece = got->bytes.substr(0, left);
    lines.feed(piece);
    left -= piece.size();
    judged.clear();
  }
  std::ignore = adapter_->take_remarks();  // they were told
  to_remember_.reset();
  return {};
}

void Senses::bound(bool life_over) {
  const auto bound_one = [&](const char* name, std::uint64_t read, std::uint64_t kept,
                             std::uint64_t& punched) {
    if (read < kept || read - kept < punched + kPunchStep) return;
    give_back(name, read, kept, punched, life_over);
  };
  bound_one(kStreamFile, stream_offset(), kStreamKept, stream_punched_);
  bound_one(kErrorFile, errors_size_, kErrorsKept, errors_punched_);
  bound_one(kSignalsFile, signals_.offset() - signal_lines_.kept(), kSignalsKept, signals_punched_);
}

void Senses::give_back(const char* name, std::uint64_t read, std::uint64_t kept,
                       std::uint64_t& punched, bool life_over) {
  auto file = folder_.open(name, Folder::Open::append);
  if (!file) return;
  if ((*file)->punch(read - kept)) {
    punched = read - kept;
  } else if (life_over) {
    // A file system without holes: with nobody left to write, the whole file is given back.
    if ((*file)->cut(0)) {
      punched = 0;
      remark(fmt::format("{} was emptied at {} bytes", name, read));
    }
  } else {
    punched = read;  // asked again at the end of the life
  }
}

}  // namespace tend
