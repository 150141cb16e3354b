// How a recorder is opened: from what the journal says, or with a new one. A journal that cannot be
// used is put aside; a clock or a policy that is not the file's own begins a new file.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "run/past.h"
#include "run/recorder.h"

namespace tend {
namespace {

constexpr Duration kCalendarMayDrift = std::chrono::seconds{2};

double calendar(Machine& machine) {
  return std::chrono::duration<double>(machine.clock.wall().time_since_epoch()).count();
}

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

bool Recorder::Found::calendar_held() const {
  return calendar_set && std::chrono::abs(*calendar_set) < kCalendarMayDrift;
}

Result<std::unique_ptr<Recorder>> Recorder::open(Machine& machine, Folder& folder,
                                                 const std::string& name, const Policy& policy,
                                                 Found& found) {
  auto read = read_past(folder);
  if (!read || !*read) {
    if (!read) {
      found.problem = "the journal could not be used, judging begins anew: " + read.error().text;
      std::ignore =
          folder.rename(std::string(kJournalFile), std::string(kJournalFile) + ".unusable");
    }
    auto recorder = std::unique_ptr<Recorder>(new Recorder(machine, folder, name, Judge(policy)));
    if (auto begun = recorder->begin_journal(); !begun) return std::unexpected(begun.error());
    return recorder;
  }

  std::optional<Past>& past = *read;
  const std::string boot = machine.processes.self().boot_id;
  const Instant now = machine.clock.now();
  auto recorder =
      std::unique_ptr<Recorder>(new Recorder(machine, folder, name, std::move(past->judge)));
  Recorder& r = *recorder;
  r.last_ = past->last;
  r.next_ = r.judge_.next();
  r.offsets_ = past->offsets;
  r.actions_ = past->next_action;
  r.life_ = past->lives;
  r.owed_ = past->owed;
  found.rebooted = past->header.boot != boot;
  r.shift_ = past->header.shift;
  if (found.rebooted) {
    // The journal's clock goes on by what the calendar says has passed, and never falls.
    const double set = seconds(past->clock_steps);
    const double passed = std::max(0.0, calendar(machine) - past->header.wall - set);
    const Instant guess = past->header.at.value_or(Instant{}) +
                          Duration{static_cast<std::int64_t>(std::min(passed, 1e9) * 1000)};
    r.shift_ = std::max(guess, past->last + Duration{1}) - now;
  } else if (now + r.shift_ < past->last) {
    r.shift_ = past->last + Duration{1} - now;  // a journal that was copied from another machine
  }
  if (!found.rebooted && past->header.at) {
    const double wall = calendar(machine);
    const double ran = seconds(now + r.shift_ - *past->header.at + past->clock_steps);
    const double set = std::clamp(wall - past->header.wall - ran, -1e9, 1e9);
    found.calendar_set = Duration{static_cast<Duration::rep>(set * 1000)};
  }
  found.exit = past->exit;
  found.offsets = past->offsets;
  found.life = past->lives;
  found.last = past->last - r.shift_;
  found.owed = r.owed_;

  const bool other_policy = !(r.judge_.policy() == policy);
  if (other_policy) {
    auto judge = Judge::restore(policy, r.judge_.snapshot());
    if (!judge) return std::unexpected(judge.error());
    r.judge_ = *std::move(judge);
    r.judge_.take_on_policy();
    r.next_ = r.judge_.next();
  }
  // A clock or a policy holds for a whole file.
  if (other_policy || r.shift_ != past->header.shift) {
    if (auto begun = r.begin_journal(); !begun) return std::unexpected(begun.error());
  } else {
    auto journal = Journal::go_on(folder);
    if (!journal) return std::unexpected(journal.error());
    r.journal_ = *std::move(journal);
    // Written down first, done then: also what the keeper before us could not write any more.
    for (const Unwritten& one : past->unwritten) {
      r.journal_->decision(past->last, one.decision, one.number, one.life);
    }
    r.write();
  }
  return recorder;
}

}  // namespace tend
