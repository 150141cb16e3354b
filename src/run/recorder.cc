// One step: choose its time, write the signals, judge, write the decisions. The times are chosen so
// that a replay of the file, which judges at signals and deadlines only, takes the same steps.
#include "run/recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

double seconds_of(WallTime wall) {
  return std::chrono::duration<double>(wall.time_since_epoch()).count();
}

}  // namespace

std::vector<Ruling> Recorder::judge(SignalBatch& batch, Instant now, bool late,
                                    const Offsets& offsets) {
  std::vector<Ruling> rulings;
  const Instant last = std::max(journal_time(now), last_ + Duration{1});
  Instant at = last;
  if (next_ && *next_ <= last && !late) at = *next_;
  offsets_ = offsets;
  if (!batch.signals.empty() || (next_ && *next_ <= at)) step(batch.signals, at, rulings);
  batch.clear();
  while (next_ && *next_ <= last) step({}, *next_, rulings);
  write();
  owed_ += rulings.size();
  return rulings;
}

void Recorder::step(std::span<const Signal> signals, Instant at, std::vector<Ruling>& rulings) {
  CHECK(at > last_);
  last_ = at;
  for (const Signal& signal : signals) {
    if (signal.is == Kind::spawn) ++life_;
    if (journal_) journal_->signal(at, signal, offsets_);
  }
  const Outcome outcome = judge_.step(signals, at);
  next_ = outcome.next;
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
  if (owed_ > 0) --owed_;
  if (journal_)
    journal_->did(journal_time(machine_.clock.now()), ruling.action, ruling.number, result);
  write();
}

void Recorder::remark(std::string_view what) {
  if (journal_) journal_->remark(journal_time(machine_.clock.now()), what);
  write();
}

std::optional<Instant> Recorder::next() const {
  if (!next_) return std::nullopt;
  return *next_ - shift_;
}

Result<void> Recorder::begin_journal() {
  JournalHeader header;
  header.agent = name_;
  header.policy = judge_.policy();
  header.boot_id = machine_.processes.self().boot_id;
  header.shift = shift_;
  header.wall = seconds_of(machine_.clock.wall());
  header.at = last_;
  header.offsets = offsets_;
  header.actions = actions_;
  header.life = life_;
  if (last_ > Instant{}) header.judge = judge_.snapshot();
  auto journal = Journal::begin(folder_, header);
  if (!journal) return std::unexpected(journal.error());
  journal_ = *std::move(journal);
  return {};
}

/// A full journal is replaced when nothing is owed, so that what is owed stands in the file.
void Recorder::write() {
  Result<void> written = journal_ ? journal_->write() : begin_journal();
  if (written && journal_->full() && owed_ == 0) written = begin_journal();
  problem_ = written ? "" : written.error().text;
}

}  // namespace tend
