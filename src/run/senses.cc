// Each source in turn, each to its end.
#include "run/senses.h"

#include <utility>

#include <fmt/format.h>

namespace tend {
namespace {

constexpr std::uint64_t kStreamKept = std::uint64_t{64} * 1024 * 1024;
constexpr std::uint64_t kErrorsKept = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t kPunchStep = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t kSignalsKept = std::uint64_t{1024} * 1024;
constexpr std::size_t kMostRemarks = 100;

std::unique_ptr<Adapter> make_adapter(AdapterKind kind) {
  return kind == AdapterKind::none ? nullptr : make_line_adapter();
}

}  // namespace

Senses::Senses(Machine& machine, Folder& folder, AdapterKind adapter, const Offsets& offsets)
    : machine_(machine),
      folder_(folder),
      adapter_(make_adapter(adapter)),
      stream_(folder, kStreamFile, offsets.stream),
      lines_(
          [this](std::string_view line) {
            if (adapter_ == nullptr) return;
            adapter_->take(line, now_, *batch_);
          },
          [this](std::uint64_t size) {
            remarks_.push_back(
                fmt::format("a line of {} bytes in the stream was passed over", size));
            batch_->signals.push_back({.is = Kind::noise});
          }),
      signals_(folder, kSignalsFile, offsets.said),
      signal_lines_(
          [this](std::string_view line) {
            const auto took = parser_.take(line, life_, shift_, *batch_);
            if (took == SignalsFile::Took::refused || took == SignalsFile::Took::bad) ++refused_;
          },
          [this](std::uint64_t) { ++refused_; }),
      stream_punched_(offsets.stream) {}

Result<void> Senses::begin_life() {
  auto beat = folder_.open(kBeatFile, Folder::Open::append);
  if (!beat) return std::unexpected(beat.error());
  beat_ = *std::move(beat);
  go_on();
  if (adapter_) adapter_->begin_life();
  lines_.reset();
  return {};
}

void Senses::go_on() {
  if (!beat_) {
    if (auto beat = folder_.open(kBeatFile, Folder::Open::append)) beat_ = *std::move(beat);
  }
  if (beat_) {
    if (const auto facts = beat_->facts()) last_beat_ = facts->modified;
  }
  if (const auto facts = folder_.facts(kErrorFile); facts && *facts) errors_size_ = (*facts)->size;
}

void Senses::look(SignalBatch& batch, Instant now, std::uint32_t life, Duration shift) {
  batch_ = &batch;
  now_ = now;
  life_ = life;
  shift_ = shift;
  look_at_stream(now, batch);
  look_at_errors(batch);
  look_at_signals(batch, life, shift);
  look_at_beats(batch);
}

void Senses::look_at_stream(Instant /*now*/, SignalBatch& /*batch*/) {
  while (true) {
    const auto got = stream_.read();
    if (!got) {
      if (remarks_.size() < kMostRemarks) remarks_.push_back(got.error().text);
      return;
    }
    if (got->cut) {
      remarks_.emplace_back(
          "the stream was cut by a program that opened it anew (> /dev/stdout); what it held is "
          "lost, reading goes on");
      lines_.reset();
      stream_punched_ = 0;
    }
    if (got->bytes.empty()) return;
    lines_.feed(got->bytes);
  }
}

void Senses::look_at_errors(SignalBatch& batch) {
  const auto facts = folder_.facts(kErrorFile);
  if (!facts || !*facts || (*facts)->size == errors_size_) return;
  errors_size_ = (*facts)->size;
  batch.signals.push_back({.is = Kind::activity, .from = ActivityFrom::log});
}

void Senses::look_at_signals(SignalBatch& /*batch*/, std::uint32_t /*life*/, Duration /*shift*/) {
  refused_ = 0;
  while (true) {
    const auto got = signals_.read();
    if (!got || got->bytes.empty()) break;
    if (got->cut) signal_lines_.reset();
    signal_lines_.feed(got->bytes);
  }
  if (refused_ > 0 && remarks_.size() < kMostRemarks) {
    remarks_.push_back(fmt::format("{} lines of {} were refused", refused_, kSignalsFile));
  }
}

void Senses::look_at_beats(SignalBatch& batch) {
  if (!beat_) return;
  const auto facts = beat_->facts();
  if (!facts || facts->modified == last_beat_) return;
  last_beat_ = facts->modified;
  batch.signals.push_back({.is = Kind::beat, .by = BeatBy::agent});
}

void Senses::flush(SignalBatch& batch, Instant now, bool ended_well) {
  batch_ = &batch;
  now_ = now;
  lines_.flush();
  if (ended_well && adapter_) adapter_->end_well(batch);
}

Offsets Senses::offsets() const {
  return {.stream = stream_.offset() - lines_.kept(),
          .said = signals_.offset() - signal_lines_.kept()};
}

std::vector<std::string> Senses::take_remarks() { return std::exchange(remarks_, {}); }

void Senses::bound(bool life_over) {
  bound_file(kStreamFile, offsets().stream, kStreamKept, stream_punched_, life_over);
  bound_file(kErrorFile, errors_size_, kErrorsKept, errors_punched_, life_over);
  if (!life_over || signals_.offset() < kSignalsKept) return;
  if (auto file = folder_.open(kSignalsFile, Folder::Open::append)) (void)(*file)->cut(0);
}

void Senses::bound_file(const char* name, std::uint64_t read, std::uint64_t kept,
                        std::uint64_t& punched, bool life_over) {
  if (read < kept || read - kept < punched + kPunchStep) return;
  auto file = folder_.open(name, Folder::Open::append);
  if (!file) return;
  if ((*file)->punch(read - kept)) {
    punched = read - kept;
  } else if (life_over) {
    // A file system without holes: with nobody left to write, the whole file is given back.
    if ((*file)->cut(0)) {
      punched = 0;
      remarks_.push_back(fmt::format("{} was emptied at {} bytes", name, read));
    }
  } else {
    punched = read;  // asked again at the end of the life
  }
}

}  // namespace tend
