// A round of looking, and what follows from it; see store_watch.h.
#include "run/store_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "store/foreign/foreign_command.h"
#include "store/heartbeat.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestRound = 1s;
constexpr Duration kLongestRound = 30s;
constexpr auto kSameStart = 2s;  // clocks of starts are read in different ways

WallTime calendar_time(double seconds) {
  return WallTime{std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}};
}

std::optional<SelfState> state_named(std::string_view word) {
  if (word == "busy" || word == "active") return SelfState::working;
  return from_word<SelfState>(kSelfStateWords, word);
}

Duration age_of(WallTime sign, WallTime wall) {
  return std::max(Duration{}, std::chrono::duration_cast<Duration>(wall - sign));
}

bool is_over(RunState state) {
  return state == RunState::zombie || state == RunState::gone || state == RunState::reused;
}

}  // namespace

bool process_lives(Machine& machine, std::int64_t pid, const std::optional<WallTime>& started) {
  const auto id = machine.processes.identify(pid);
  if (!id || !*id) return false;
  if (is_over(machine.processes.open(**id)->look().state)) return false;
  const WallTime began = calendar_time(machine.processes.started(**id));
  return !started || began <= *started + kSameStart;
}

StoreWatch::StoreWatch(Machine& machine, ForeignAgent agent, Callback seen)
    : machine_(machine),
      agent_(std::move(agent)),
      seen_(std::move(seen)),
      began_(machine.clock.now()),
      next_(began_) {
  Duration shortest = agent_.stale;
  for (const AgentStore& store : agent_.sources) {
    Row& row = rows_.emplace_back();
    row.store = store;
    row.limit = store.stale.value_or(agent_.stale);
    shortest = std::min(shortest, row.limit);
  }
  for (Row& row : rows_) {
    if (!asks_command(row.store.store.kind)) continue;
    row.reading.unread = true;
    row.reading.problem = "it has not answered yet";
  }
  every_ = std::clamp(shortest / 10, kShortestRound, kLongestRound);
}

// --- A round
// --------------------------------------------------------------------------------------

bool StoreWatch::look() {
  const Instant now = machine_.clock.now();
  const bool is_due = now >= next_;
  next_ = now + every_;
  in_look_ = true;
  ++round_;
  waiting_ = 0;
  for (Row& row : rows_) {
    const bool is_file = !asks_command(row.store.store.kind);
    if (is_file || row.asked_in == 0) {
      row.read_before = std::exchange(row.read_at, machine_.clock.awake());
    }
    if (is_file) {
      row.reading = read_store(machine_.files, row.store.store, context(), lives());
    } else if (row.asked_in == 0) {
      ask(row);
    } else if (is_due) {
      note_slow(row);
    }
  }
  in_look_ = false;
  if (waiting_ > 0) return false;
  end_round();
  return true;
}

/// One at a time: what did not answer yet is not asked again.
void StoreWatch::ask(Row& row) {
  row.asked_in = round_;
  ++waiting_;
  row.running =
      machine_.processes.run(command_of(row.store.store), [this, &row](const Result<Ran>& ran) {
        const Subscribed done = std::move(row.running);
        answered(row, reading_of(row.store.store, ran, context(), lives()));
      });
}

void StoreWatch::answered(Row& row, StoreReading reading) {
  row.reading = std::move(reading);
  const bool is_of_this_round = std::exchange(row.asked_in, 0) == round_;
  if (is_of_this_round) {
    --waiting_;
    row.is_slow = false;
  }
  if (waiting_ > 0 || in_look_) return;
  end_round();
  seen_();
}

/// Said once, until it answers within a round again.
void StoreWatch::note_slow(Row& row) {
  if (std::exchange(row.is_slow, true)) return;
  slow_.push_back(fmt::format(
      "the store {} is slow: {} takes longer than {}", on_one_line(row.store.name),
      on_one_line(command_of(row.store.store).command.front()), format_duration(every_)));
}

ProcessLives StoreWatch::lives() {
  return [this](std::int64_t pid, const std::optional<WallTime>& started) {
    return process_lives(machine_, pid, started);
  };
}

bool StoreWatch::take_round() { return std::exchange(round_over_, false); }

void StoreWatch::end_round() {
  const Duration awake = machine_.clock.awake();
  const WallTime wall = machine_.clock.wall();
  for (Row& row : rows_) {
    if (const auto ttl = row.reading.ttl; row.store.store.kind == StoreKind::lease_file && ttl) {
      row.limit = *ttl;
    }
    row.of_another = is_of_another(row, booted(wall));
    take_sign(row, awake, wall);
  }
  find_subject();
  for (Row& row : rows_) {
    // What is older than the process is of the life before.
    if (subject_began_) {
      row.of_another = is_of_another(row, std::max(*subject_began_, booted(wall)));
    }
    row.news = row.news && !row.of_another;
    take_state(row, wall);
    row.looked = row.looked || !row.reading.unread;
    const bool is_terminal = row.store.store.kind == StoreKind::tmux;
    if (std::exchange(row.news, false)) (is_terminal ? painted_ : beat_) = true;
  }
  const auto all = sights();
  blind_ = is_blind(all);
  round_over_ = true;
}

/// Its time is compared with the calendar once, when it is new; from then on our own clock counts.
/// A time that is new to us was written since we looked last, whatever the calendar did meanwhile.
void StoreWatch::take_sign(Row& row, Duration awake, WallTime wall) {
  const auto& sign = row.reading.last_sign;
  if (!sign || sign == row.last_sign) return;
  row.last_sign = sign;
  const Duration age = age_of(*sign, wall);
  const bool is_fresh = age < row.limit;
  row.sign_at = awake - age;
  if (is_fresh && row.looked) row.sign_at = std::max(row.sign_at, row.read_before);
  // What a terminal painted before anybody looked is no news.
  const bool counts = row.looked || row.store.store.kind != StoreKind::tmux;
  row.news = is_fresh && counts;
}

/// A word is believed if it is fresh, or if the process that said it is still there; and for as
/// long as nothing else is said.
void StoreWatch::take_state(Row& row, WallTime wall) {
  if (row.reading.unread) return;
  const auto said =
      row.store.believed && !row.of_another ? state_named(row.reading.state) : std::nullopt;
  if (!said || said == row.state) {
    // A torn text takes nothing back.
    if (!said && !row.reading.from_mtime) row.state.reset();
    return;
  }
  const auto& sign = row.reading.last_sign;
  const auto& written = row.reading.written;
  const bool fresh =
      (sign && age_of(*sign, wall) < row.limit) || (written && age_of(*written, wall) < row.limit);
  const bool of_this_life = sign && subject_began_ && *sign >= *subject_began_ - kSameStart;
  if (fresh || of_this_life) {
    row.state = said;
  } else {
    row.state.reset();
  }
}

TimeContext StoreWatch::context() {
  return {.now = machine_.clock.wall(), .local_east = {}, .plain_is_local = false};
}

// --- Whose stores these are
// -----------------------------------------------------------------------

/// What began after it was written down is somebody else. What began before may be: only a start
/// that is as it was said makes a number one process.
StoreWatch::Vouched StoreWatch::vouched_by(const Row& row) {
  const StoreReading& said = row.reading;
  if (said.pid == 0 || said.unread || row.store.store.ignores_pid) return {};
  const auto id = machine_.processes.identify(said.pid);
  if (!id) return {};
  if (!*id || is_over(machine_.processes.open(**id)->look().state)) return {.gone = true};
  const WallTime began = calendar_time(machine_.processes.started(**id));
  const bool is_exact = row.store.store.kind == StoreKind::heartbeat_dir;
  bool same = true;
  if (said.started) {
    same =
        began <= *said.started + kSameStart && (!is_exact || began >= *said.started - kSameStart);
  } else if (said.last_sign && row.store.store.kind != StoreKind::tmux) {
    same = began <= *said.last_sign + kSameStart;
  }
  if (!same) return {.gone = true};
  const bool proven = said.started && row.store.store.kind != StoreKind::tmux &&
                      std::chrono::abs(began - *said.started) <= kSameStart;
  return {.process = *id, .proven = proven};
}

/// Those that could know better. Who has the same id speaks of the same life, and knows no other.
std::vector<StoreSight> StoreWatch::others_of(std::size_t row,
                                              const std::vector<StoreSight>& all) const {
  std::vector<StoreSight> others;
  const std::string& id = rows_[row].reading.id;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool is_same = i == row || (!id.empty() && rows_[i].reading.id == id);
    if (!is_same) others.push_back(all[i]);
  }
  return others;
}

bool StoreWatch::has_left(std::int64_t pid) const {
  if (subject_ || subject_gone_) return false;
  return pid == 0 ? !left_.empty() : std::ranges::find(left_, pid) != left_.end();
}

void StoreWatch::find_subject() {
  subject_.reset();
  proven_ = false;
  subject_began_.reset();
  subject_gone_ = false;
  left_.clear();
  const auto all = sights();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool is_terminal = rows_[i].store.store.kind == StoreKind::tmux;
    const auto others = others_of(i, all);
    // Others went on for as long as it takes to be stale.
    if (!is_terminal && is_outrun(all[i], others, rows_[i].limit)) {
      if (rows_[i].reading.pid != 0) left_.push_back(rows_[i].reading.pid);
      continue;
    }
    const Vouched vouched = vouched_by(rows_[i]);
    // Where others were written since, its system may have started another.
    const bool gone = vouched.gone && !is_terminal && !is_outrun(all[i], others, 2 * every_);
    subject_gone_ = subject_gone_ || gone;
    if (!vouched.process || (subject_ && (proven_ || !vouched.proven))) continue;
    // The shell of a terminal outlives what ran in it.
    if (is_terminal && subject_gone_) continue;
    subject_ = vouched.process;
    proven_ = vouched.proven;
  }
  if (subject_) subject_began_ = calendar_time(machine_.processes.started(*subject_));
}

WallTime StoreWatch::booted(WallTime wall) const {
  return wall - machine_.clock.now().time_since_epoch();
}

/// Older than the process that it is to vouch for, or than the machine; or a lease that another
/// holds.
bool StoreWatch::is_of_another(const Row& row, WallTime since) const {
  const StoreReading& said = row.reading;
  if (row.store.store.kind == StoreKind::tmux) return false;
  if (said.released) return true;
  if (row.store.store.kind == StoreKind::lease_file && !said.id.empty()) {
    const bool differs = std::ranges::any_of(rows_, [&](const Row& other) {
      return other.store.store.kind == StoreKind::registry && !other.reading.id.empty() &&
             other.reading.id != said.id;
    });
    if (differs) return true;
  }
  return said.last_sign && *said.last_sign < since - kSameStart;
}

// --- What follows
// ---------------------------------------------------------------------------------

StoreSight StoreWatch::sight_of(const Row& row, Duration awake) const {
  StoreSight sight;
  sight.name = row.store.name;
  if (row.last_sign) sight.age = std::max(Duration{}, awake - row.sign_at);
  sight.limit = row.limit;
  sight.state = row.state;
  if (!subject_) sight.rests_for = rest_unseen({agent_.stale, agent_.very_stale});
  sight.is_beat = row.store.store.kind != StoreKind::tmux;
  sight.may_lag = row.store.may_lag;
  sight.unread = row.reading.unread;
  sight.of_another = row.of_another;
  return sight;
}

std::vector<StoreSight> StoreWatch::sights() const {
  const Duration awake = machine_.clock.awake();
  std::vector<StoreSight> all;
  all.reserve(rows_.size());
  for (const Row& row : rows_) all.push_back(sight_of(row, awake));
  return all;
}

bool StoreWatch::is_fresh() const {
  const auto all = sights();
  return std::ranges::any_of(all, [](const StoreSight& sight) {
    return sight.is_beat && verdict_of(sight) == StoreVerdict::fresh;
  });
}

bool StoreWatch::says_ended() const {
  const auto status = from_word<Status>(kStatusWords, told_status_);
  return status && is_terminal(*status);
}

/// Of several the newest.
std::optional<SelfState> StoreWatch::state() const {
  const Row* newest = nullptr;
  for (const Row& row : rows_) {
    if (row.state && (newest == nullptr || row.sign_at > newest->sign_at)) newest = &row;
  }
  return newest == nullptr ? std::nullopt : newest->state;
}

/// Whether all that may have a word of the agent could be read.
bool StoreWatch::knows_words() const {
  return std::ranges::all_of(rows_, [](const Row& row) {
    return !row.store.believed || (row.looked && !row.reading.unread);
  });
}

void StoreWatch::begin_life() {
  told_state_.reset();
  told_quiet_.reset();
  told_status_.clear();
  for (const StoreSight& sight : sights()) {
    beat_ = beat_ || (sight.is_beat && verdict_of(sight) == StoreVerdict::fresh);
  }
}

void StoreWatch::tell(SignalBatch& batch, Instant now) {
  if (std::exchange(beat_, false)) {
    batch.signals.push_back({.is = Kind::beat, .by = BeatBy::agent});
  }
  if (std::exchange(painted_, false)) {
    batch.signals.push_back({.is = Kind::activity, .from = ActivityFrom::terminal});
  }
  tell_state(batch, now);
}

void StoreWatch::tell_state(SignalBatch& batch, Instant now) {
  const WallTime wall = machine_.clock.wall();
  std::optional<WallTime> quiet;
  for (const Row& row : rows_) {
    if (row.reading.quiet_until > wall) quiet = row.reading.quiet_until;
    const bool is_record = row.store.store.kind == StoreKind::heartbeat_dir;
    if (!is_record || !row.store.believed || row.of_another || row.reading.unread) continue;
    const auto status = from_word<Status>(kStatusWords, row.reading.state);
    if (!status || std::exchange(told_status_, row.reading.state) == row.reading.state) continue;
    batch.signals.push_back({.is = Kind::status, .status = *status});
  }
  // A rest that no store speaks of any more is over, and its silence counts again.
  const bool was_resting = told_state_ == SelfState::idle;
  auto is = state();
  if (!is && was_resting && knows_words()) is = SelfState::working;
  const bool is_quiet_news = quiet && quiet != told_quiet_;
  if ((!is || is == told_state_) && !is_quiet_news) return;
  told_quiet_ = quiet;
  if (is) told_state_ = is;
  Signal signal{.is = Kind::state, .state = told_state_.value_or(SelfState::working)};
  if (quiet) signal.until = now + std::chrono::duration_cast<Duration>(*quiet - wall);
  batch.signals.push_back(signal);
}

}  // namespace tend
