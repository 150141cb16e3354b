// One step: choose its time, write the signals, judge, write the decisions. The times are chosen so
// that a replay of the file, which judges at signals and deadlines only, takes the same steps.
#include "run/recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sense/trace_reader.h"

namespace tend {
namespace {

constexpr std::size_t kPart = TraceReader::kMostSignals;

bool tells_of_absence(const Signal& signal) {
  return signal.is == Kind::suspend || signal.is == Kind::lag;
}

}  // namespace

std::vector<Ruling> Recorder::judge(SignalBatch& batch, Instant now, const Offsets& offsets) {
  std::vector<Ruling> rulings;
  offsets_before_ = std::exchange(offsets_, offsets);
  unrecorded_ = batch.signals.size();
  // Of a judge that was told to look again: at the time where it stands.
  run_to(last_, {}, rulings);
  const Instant last = std::max(journal_time(now), last_ + Duration{1});
  const std::span<const Signal> seen = batch.signals;
  Instant at = last;
  if (std::ranges::any_of(seen, tells_of_absence)) {
    // The line says how far back from its own time it reaches, so that time must be the true one.
    run_to(last - Duration{1}, seen, rulings);
  } else if (next_) {
    at = std::min(*next_, last);
  }
  if (!seen.empty() || (next_ && *next_ <= at)) {
    // In parts, as a reader of traces gives out a moment.
    std::size_t done = 0;
    do {
      const auto part = seen.subspan(done, std::min(seen.size() - done, kPart));
      step(part, at, rulings);
      done += part.size();
    } while (done < seen.size());
  }
  batch.clear();
  run_to(last, {}, rulings);
  owed_.insert(owed_.end(), rulings.begin(), rulings.end());
  write();
  return rulings;
}

/// Judges at every deadline up to `last`, itself included, as long as we were there to do it.
void Recorder::run_to(Instant last, std::span<const Signal> unless, std::vector<Ruling>& rulings) {
  const auto were_away = [&](const Signal& signal) {
    return tells_of_absence(signal) && *next_ > last + Duration{1} - signal.seconds;
  };
  while (next_ && *next_ <= last && std::ranges::none_of(unless, were_away)) {
    step({}, *next_, rulings);
  }
}

void Recorder::step(std::span<const Signal> signals, Instant at, std::vector<Ruling>& rulings) {
  last_ = std::max(last_, at);
  for (const Signal& signal : signals) {
    if (signal.is == Kind::spawn) life_ = signal.life != 0 ? signal.life : life_ + 1;
    // What was read counts as read with the last of it: a full disk may take only the first lines.
    const bool is_last = --unrecorded_ == 0;
    if (journal_) journal_->signal(at, signal, is_last ? offsets_ : offsets_before_);
  }
  const Outcome outcome = judge_.step(signals, at);
  next_ = outcome.next;
  CHECK(!next_ || *next_ > at);
  for (const Decision& decision : outcome.decisions) {
    const bool is_action = decision.kind == Decision::Kind::action;
    const std::uint64_t number = is_action ? actions_++ : 0;
    if (journal_) journal_->decision(at, decision, number, life_);
    if (!is_action) {
      if (on_verdict_) on_verdict_(decision);
      continue;
    }
    rulings.push_back({.number = number,
                       .action = decision.action,
                       .verdict = decision.verdict,
                       .life = life_,
                       .why = decision.because().empty() ? "" : describe(decision.because()[0])});
  }
}

void Recorder::did(const Ruling& ruling, std::string_view result) {
  std::erase_if(owed_, [&](const Ruling& one) { return one.number == ruling.number; });
  if (journal_)
    journal_->did(journal_time(machine_.clock.now()), ruling.action, ruling.number, result);
}

void Recorder::remark(std::string_view what) {
  if (journal_) journal_->remark(journal_time(machine_.clock.now()), what);
}

std::optional<Instant> Recorder::next() const {
  if (!next_) return std::nullopt;
  return *next_ - shift_;
}

Result<void> Recorder::begin_journal() {
  const Instant now = journal_time(machine_.clock.now());
  const bool has_judged = last_ > Instant{};
  JournalHeader header;
  header.agent = name_;
  header.policy = judge_.policy();
  header.boot_id = machine_.processes.self().boot_id;
  header.shift = shift_;
  // No line behind it may be older, and the next one may be of a deadline that has just passed.
  header.at = has_judged ? last_ : now;
  header.wall = calendar_seconds(machine_.clock.wall() - (now - header.at));
  header.offsets = offsets_;
  header.actions = actions_;
  header.life = life_;
  if (has_judged) header.judge = judge_.snapshot();
  std::vector<CarriedOver> owed;
  owed.reserve(owed_.size());
  for (const Ruling& one : owed_)
    owed.push_back({one.action, one.verdict, one.number, one.life, one.why});
  auto journal = Journal::begin(folder_, header, owed);
  if (!journal) return std::unexpected(journal.error());
  journal_ = *std::move(journal);
  return {};
}

/// A full journal is replaced; what is owed stands in the new one too.
void Recorder::write() {
  if (journal_ && journal_->has_all() && problem_.empty()) return;
  Result<void> written = journal_ ? journal_->write() : begin_journal();
  if (written && journal_->full()) written = begin_journal();
  if (written) {
    problem_.clear();
  } else {
    problem_ = written.error().text;
  }
}

}  // namespace tend
