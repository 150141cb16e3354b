// A round of looking, and what follows from it; see store_watch.h.
#include "run/store_watch.h"

#include <algorithm>
#include <utility>

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
  every_ = std::clamp(shortest / 10, kShortestRound, kLongestRound);
}

// --- A round
// --------------------------------------------------------------------------------------

bool StoreWatch::look() {
  if (waiting_ > 0) return false;
  next_ = machine_.clock.now() + every_;
  in_look_ = true;
  waiting_ = rows_.size();
  for (Row& row : rows_) {
    const ProcessLives asks = [this](std::int64_t pid, const std::optional<WallTime>& started) {
      return process_lives(machine_, pid, started);
    };
    if (!asks_command(row.store.store.kind)) {
      answered(row, read_store(machine_.files, row.store.store, context(), asks));
      continue;
    }
    row.running = machine_.processes.run(
        command_of(row.store.store), [this, &row, asks](const Result<Ran>& ran) {
          const Subscribed done = std::move(row.running);
          answered(row, reading_of(row.store.store, ran, context(), asks));
        });
  }
  in_look_ = false;
  if (waiting_ > 0) return false;
  end_round();
  return true;
}

void StoreWatch::answered(Row& row, StoreReading reading) {
  row.reading = std::move(reading);
  --waiting_;
  if (waiting_ > 0 || in_look_) return;
  end_round();
  seen_();
}

bool StoreWatch::take_round() { return std::exchange(round_over_, false); }

void StoreWatch::end_round() {
  const Duration awake = machine_.clock.awake();
  const WallTime wall = machine_.clock.wall();
  find_subject();
  for (Row& row : rows_) {
    if (const auto ttl = row.reading.ttl; row.store.store.kind == StoreKind::lease_file && ttl) {
      row.limit = *ttl;
    }
    row.of_another = is_of_another(row, wall);
    take_sign(row, awake, wall);
    take_state(row, wall);
    row.looked = row.looked || !row.reading.unread;
    const bool is_terminal = row.store.store.kind == StoreKind::tmux;
    if (std::exchange(row.news, false)) (is_terminal ? painted_ : beat_) = true;
  }
  const auto all = sights();
  blind_ = is_blind(all);
  last_round_ = awake;
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
  if (is_fresh && row.looked) row.sign_at = std::max(row.sign_at, last_round_);
  // What a terminal painted before anybody looked is no news.
  const bool counts = row.looked || row.store.store.kind != StoreKind::tmux;
  row.news = is_fresh && counts && !row.of_another;
}

/// A word is believed if it is fresh, or if the process that said it is still there; and for as
/// long as nothing else is said.
void StoreWatch::take_state(Row& row, WallTime wall) {
  if (row.reading.unread) return;
  const auto said =
      row.store.believed && !row.of_another ? state_named(row.reading.state) : std::nullopt;
  if (!said || said == row.state) {
    if (!said) row.state.reset();
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

/// A number alone proves nothing: what began after it was written down is somebody else.
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
  return {.process = *id};
}

void StoreWatch::find_subject() {
  subject_.reset();
  subject_began_.reset();
  subject_gone_ = false;
  for (const Row& row : rows_) {
    const Vouched vouched = vouched_by(row);
    const bool is_terminal = row.store.store.kind == StoreKind::tmux;
    subject_gone_ = subject_gone_ || (vouched.gone && !is_terminal);
    if (!vouched.process || subject_) continue;
    // The shell of a terminal outlives what ran in it.
    if (is_terminal && subject_gone_) continue;
    subject_ = vouched.process;
    subject_began_ = calendar_time(machine_.processes.started(*subject_));
  }
}

/// Older than the process that it is to vouch for, or than the machine; or a lease that another
/// holds.
bool StoreWatch::is_of_another(const Row& row, WallTime wall) const {
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
  if (!said.last_sign) return false;
  const WallTime booted = wall - machine_.clock.now().time_since_epoch();
  const WallTime since = subject_began_ ? std::max(*subject_began_, booted) : booted;
  return *said.last_sign < since - kSameStart;
}

// --- What follows
// ---------------------------------------------------------------------------------

StoreSight StoreWatch::sight_of(const Row& row, Duration awake) const {
  StoreSight sight;
  sight.name = row.store.name;
  if (row.last_sign) sight.age = std::max(Duration{}, awake - row.sign_at);
  sight.limit = row.limit;
  sight.state = row.state;
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
  const auto is = state();
  const bool is_quiet_news = quiet && quiet != told_quiet_;
  if ((!is || is == told_state_) && !is_quiet_news) return;
  told_quiet_ = quiet;
  if (is) told_state_ = is;
  Signal signal{.is = Kind::state, .state = told_state_.value_or(SelfState::working)};
  if (quiet) signal.until = now + std::chrono::duration_cast<Duration>(*quiet - wall);
  batch.signals.push_back(signal);
}

}  // namespace tend
