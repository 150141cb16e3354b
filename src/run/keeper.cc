// Looking: gather, judge, act, and set the clock for the next time.
#include "run/keeper.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "store/events.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenLooks = 50ms;  // hints come in showers
constexpr Duration kLookAtSuspect = 5s;
constexpr Duration kFaultAgain = 20s;  // a fault that lasts is said again before it is forgotten
constexpr Duration kLongestUnlooked = 60s;  // hints may be lost
constexpr Duration kShortestPoll = 100ms;
constexpr Duration kLongestPoll = 5s;
constexpr Duration kShortLife = 60s;  // one after the other: each has to wait longer for the next

ProcessState state_of(RunState state) {
  switch (state) {
    case RunState::running:
      return ProcessState::running;
    case RunState::stopped:
      return ProcessState::stopped;
    case RunState::zombie:
      return ProcessState::zombie;
    case RunState::gone:
      return ProcessState::gone;
    case RunState::reused:
      return ProcessState::reused;
    case RunState::unknown:
      return ProcessState::unknown;
  }
  return ProcessState::unknown;
}

Exit exit_of(const ExitStatus& status) {
  switch (status.how) {
    case ExitStatus::How::code:
      return {Exit::How::code, status.value};
    case ExitStatus::How::signal:
      return {Exit::How::signal, status.value};
    case ExitStatus::How::unknown:
      break;
  }
  return {};
}

constexpr std::size_t kMostEventsKept = 200;
constexpr Duration kMayHaveSpoken = 15min;  // after output was lost

}  // namespace

Keeper::Keeper(Machine& machine, std::unique_ptr<Folder> folder, std::unique_ptr<Folder> home,
               KeeperSettings settings)
    : machine_(machine),
      folder_(std::move(folder)),
      home_(std::move(home)),
      settings_(std::move(settings)),
      pauses_(machine.clock),
      verdict_since_(machine.clock.now()) {}

Keeper::~Keeper() = default;

std::string Keeper::exit_words() const {
  switch (exit_.how) {
    case Exit::How::code:
      return fmt::format("exit {}", exit_.value);
    case Exit::How::signal:
      return fmt::format("signal {}", exit_.value);
    case Exit::How::unknown:
      break;
  }
  return "an end that nobody saw";
}

// --- Looking ------------------------------------------------------------------------------------

/// Something happened that cannot wait: an end, an act that is done.
void Keeper::look_now() {
  if (looking_) {
    look_is_due_ = true;
  } else {
    look();
  }
}

/// A change was hinted at. Looks come one at a time, with a pause between them.
void Keeper::look_soon() {
  if (looking_ || machine_.clock.now() - last_look_ < kBetweenLooks) {
    look_is_due_ = true;
    if (!looking_) schedule();
    return;
  }
  look();
}

void Keeper::look() {
  if (stage_ < Stage::over) look_at_all(pauses_.look(batch_));
}

/// Woken for a beat and nothing else: without a hint what is in the files is known.
void Keeper::only_beat() {
  if (stage_ >= Stage::over) return;
  const Instant now = pauses_.look(batch_);
  const bool is_news = !batch_.signals.empty() || look_at_process().state != last_state_;
  if (is_news) return look_at_all(now);
  last_look_ = now;
  remember_own_looks();
  beat_if_due(now);
  if (stage_ == Stage::replaced) return;
  if (!batch_.signals.empty()) look_is_due_ = true;
  schedule();
}

/// Every other beat may do without a look, of one of whom nobody is in doubt. What no hint tells
/// of, its tree above all, is looked at every minute.
bool Keeper::may_only_beat() const {
  if (stage_ != Stage::living || !change_ || stores_ || !settings_.agent.tmux.empty()) return false;
  if (acting_ || stopping_ || stop_below_ || wants_pause() || fault_said_) return false;
  if (parent_ && parent_->is_gone()) return false;
  const Verdict verdict = recorder_->judge().verdict();
  const Duration beat = settings_.agent.beat;
  return (verdict == Verdict::working || verdict == Verdict::waiting || verdict == Verdict::idle) &&
         beat_due_ - (tree_due_ - beat) < std::min(kLongestUnlooked, 2 * beat);
}

void Keeper::look_at_all(Instant now) {
  CHECK(!looking_);
  looking_ = true;
  look_is_due_ = false;
  last_look_ = now;
  look_at_intent();
  // The process first, then its stream: what it printed before it ended is read before its end is
  // judged.
  const Condition condition = look_at_process();
  const std::uint64_t read_before = senses_->stream_offset();
  const WallTime calendar = calendar_of_unread();
  senses_->look(batch_, now, calendar, recorder_->life(), recorder_->shift());
  if (is_over(condition.state)) {
    while (senses_->has_more()) {
      judge_now(now);
      senses_->look(batch_, now, calendar, recorder_->life(), recorder_->shift());
    }
    senses_->flush(batch_, now, condition.exit == ExitStatus{ExitStatus::How::code, 0});
  }
  if (senses_->problem().empty() && !senses_->has_more()) read_by_ = awake_since();
  if (probe_) probe_->hear(batch_);
  const Turns turns = senses_->take_turns();
  if (courier_) courier_->hear(batch_, turns);
  hear_conversation();
  poll_every_ = senses_->stream_offset() != read_before ? kShortestPoll
                                                        : std::min(poll_every_ * 2, kLongestPoll);
  note_process(condition);
  look_at_tree(now);
  look_at_stores(now);
  look_around(now);
  note_faults(now);
  judge_now(now);
  look_at_words(now);
  break_off_if_void();
  if (stage_ < Stage::over) remember_own_looks();
  beat_if_due(now);
  if (stage_ == Stage::replaced) return;
  if (stage_ < Stage::over) look_at_transcripts(now);
  if (task_ && stage_ < Stage::leaving) task_->judged(gets_on(), now);
  senses_->bound(stage_ != Stage::living);
  say_remarks();
  settle();
  write_events();
  looking_ = false;
  if (!batch_.signals.empty() || senses_->has_more()) look_is_due_ = true;
  if (stage_ < Stage::over) schedule();
}

/// What is read now may name a time, and have been printed before the calendar was put forward, or
/// before the machine slept: its agent waits for that time by a clock that was not put forward, and
/// stood still meanwhile.
WallTime Keeper::calendar_of_unread() {
  constexpr Duration kAheadCounts = 1s;  // what only drifts is put right all the time
  const WallTime wall = machine_.clock.wall();
  const auto ahead = read_by_ ? awake_since() - *read_by_ : WallTime::duration{};
  if (ahead < kAheadCounts) return wall;
  const auto stream = folder_->facts(std::string(kStreamFile));
  if (!stream || !*stream) return wall;
  // How much of that came after it was printed nobody knows; by then it was printed.
  return std::clamp((*stream)->modified, wall - ahead, wall);
}

bool Keeper::is_over(RunState state) {
  return state == RunState::zombie || state == RunState::gone || state == RunState::reused;
}

Condition Keeper::look_at_process() {
  Condition condition = process_ ? process_->look() : Condition{};
  if (is_over(condition.state) && notify_socket_) {
    notify_socket_->hand_over();  // what it said before it ended; it may have named a successor
    condition = process_->look();
  }
  return condition;
}

void Keeper::note_process(const Condition& condition) {
  if (!process_) return;
  const bool over = is_over(condition.state);
  if (condition.state == last_state_ && !over) return;
  last_state_ = condition.state;
  batch_.signals.push_back(
      {.is = Kind::process, .process = state_of(condition.state), .exit = exit_of(condition.exit)});
  if (!over) return;
  if (condition.exit.how != ExitStatus::How::unknown) exit_ = exit_of(condition.exit);
  exit_watch_.reset();
  process_.reset();
  life_ends_at_.reset();
  if (stage_ == Stage::living) stage_ = Stage::between;
  pulse_->change().exit = exit_;
  if (ended_by_.empty()) ended_by_ = exit_words();
  bring_children_home();
}

/// Our own trouble to read and to write is no fault of the agent, and nothing destructive is done
/// meanwhile.
void Keeper::note_faults(Instant now) {
  struct Trouble {
    std::string_view what;
    const std::string& why;
  };
  const std::string& unwritten = recorder_->problem();
  const std::array<Trouble, 4> troubles{{{"agent cannot be heard", senses_->problem()},
                                         {"journal cannot be written", unwritten},
                                         {"children cannot be known", children_->problem()},
                                         {"heartbeat cannot be written", heartbeat_problem_}}};
  const auto* const trouble =
      std::ranges::find_if(troubles, [](const Trouble& one) { return !one.why.empty(); });
  if (trouble == troubles.end()) {
    if (fault_said_) event("note", "the agent's files can be read and written again", "", false);
    // What it printed where nothing could be written is lost: its silence may be none.
    if (std::exchange(was_mute_, false)) not_ended_before_ = now + kMayHaveSpoken;
    fault_said_.reset();
    return;
  }
  was_mute_ = was_mute_ || !unwritten.empty() || !heartbeat_problem_.empty();
  if (fault_said_ && now - *fault_said_ < kFaultAgain) return;
  if (!fault_said_) {
    event("note", fmt::format("the {}: {}", trouble->what, trouble->why), "", true);
  }
  fault_said_ = now;
  batch_.signals.push_back({.is = Kind::fault});
}

// --- Judging ------------------------------------------------------------------------------------

void Keeper::judge_now(Instant now) {
  do {
    for (const Ruling& ruling : recorder_->judge(batch_, now, senses_->offsets())) take(ruling);
    now = machine_.clock.now();
  } while (advance_chain());
  if (tell_at_ && now >= *tell_at_) tell_what_waits();
  close_incident_if_well();
}

bool Keeper::is_calm(Verdict verdict) {
  return verdict == Verdict::starting || verdict == Verdict::working ||
         verdict == Verdict::waiting || verdict == Verdict::idle || verdict == Verdict::finished;
}

void Keeper::on_verdict(const Decision& decision) {
  Heartbeat& says = pulse_->change();
  says.verdict = decision.verdict;
  says.phase = decision.phase;
  says.since = calendar_seconds(machine_.clock.wall());
  verdict_since_ = machine_.clock.now();
  says.silent_since = silent_since(decision.verdict);
  if (is_calm(decision.verdict)) says.person_told = false;
  says.because.clear();
  for (const Reason& reason : decision.because()) says.because.push_back(describe(reason));
  if (decision.verdict == Verdict::orphaned) says.leaving = true;
  parent_waits_ = true;
  event("verdict", word(decision.verdict), "", false);
  const bool silent_in_tool = decision.verdict == Verdict::suspect && decision.phase == Phase::tool;
  if (silent_in_tool && is_agent(settings_.agent.adapter)) note_tool_processes();
}

void Keeper::settle() {
  // A resume that was judged right and left undone is none.
  const std::uint32_t spent =
      std::min(recorder_->judge().resumes(), std::max(record_.life, 1U) - 1);
  const std::uint32_t allowed = recorder_->judge().policy().budget.between_refills;
  if (pulse_->says().resumes_spent != spent || pulse_->says().resumes_allowed != allowed) {
    pulse_->change().resumes_spent = spent;
    pulse_->change().resumes_allowed = allowed;
  }
  note_degraded();
  if (begins_by_order_) begin_by_order();
  if (stage_ == Stage::between && !acting_) settle_end();
  if (stage_ == Stage::replaced) return;
  say_when_it_begins();
  const auto written = pulse_->write();
  if (written) {
    heartbeat_problem_.clear();
  } else {
    heartbeat_problem_ = written.error().text;
  }
  if (written && parent_ && std::exchange(parent_waits_, false)) parent_->poke();
}

void Keeper::say_when_it_begins() {
  if (begin_at_.has_value() == !pulse_->says().next.empty()) return;
  Heartbeat& says = pulse_->change();
  says.next = begin_at_ ? fmt::format("life {} begins", record_.life + 1) : "";
  says.next_at = 0;
  if (begin_at_) {
    says.next_at = calendar_seconds(machine_.clock.wall() + (*begin_at_ - machine_.clock.now()));
  }
}

/// Its work is, and it is not begun again for that.
bool Keeper::is_done() const {
  const bool drains = intent_ && intent_->want == Want::drain;
  const bool is_last = settings_.agent.restart != RestartPolicy::always || only_watches() || drains;
  return recorder_->judge().verdict() == Verdict::finished && is_last;
}

/// A life is over. Is there anything left to keep?
void Keeper::settle_end() {
  const Verdict verdict = recorder_->judge().verdict();
  const RestartPolicy restart = settings_.agent.restart;
  if (stop_below_) return;
  if (staying_) {
    const Staying staying = *staying_;  // no order changes how its own work ended
    return leave(staying.outcome, staying.ended_by);
  }
  if (stopping_) return leave(WorkOutcome::stopped, ended_by_);
  if (begins_by_order_) return;
  // Once it is ended for that, it is dead to the judge; or still held up, if it was.
  const bool is_ended = verdict == Verdict::dead || verdict == Verdict::waiting;
  const bool was_orphan = is_ended && recorder_->judge().died_an_orphan();
  if ((verdict == Verdict::orphaned || was_orphan) && chain_.empty()) {
    return leave(WorkOutcome::orphaned, "its parent was gone");
  }
  if (verdict == Verdict::finished && own_word_ != WorkOutcome::none) {
    return leave(own_word_, "its own word");
  }
  // That it was to end is in the journal; by whose order, a disk may have lost.
  if (verdict == Verdict::finished && recorder_->judge().want() == Want::stop) {
    return leave(WorkOutcome::stopped, ended_by_);
  }
  if (watches_stores() && !stores_->says_ended()) return;  // its own system may bring it back
  if (is_done()) return leave(WorkOutcome::done, ended_by_);
  if (verdict == Verdict::finished) {
    if (wants_pause()) return;
    const Instant now = machine_.clock.now();
    if (!begin_at_) {
      short_lives_ = now - life_began_at_ < kShortLife ? short_lives_ + 1 : 0;
      pause_before_begin(std::max(short_lives_, 1U) - 1);
    }
    if (now >= *begin_at_) begin_life();
    return;
  }
  // One that hung comes back, unless told otherwise, whatever is to become of one that fails.
  const bool comes_back = restart != RestartPolicy::never ||
                          (record_.hung && settings_.agent.on_stall == OnStall::resume);
  if (verdict == Verdict::dead && chain_.empty() && (!comes_back || only_watches())) {
    leave(WorkOutcome::failed, ended_by_);
  }
}

// --- Beating and waking -------------------------------------------------------------------------

void Keeper::beat_if_due(Instant now) {
  if (stage_ >= Stage::over || now < beat_due_) return;
  beat_due_ = now + settings_.agent.beat;
  if (!holds_lock()) return;
  std::ignore = lock_->touch();
  if (!settings_.agent.tmux.empty()) look_at_terminal();
  const bool is_seen = process_ ? !is_over(last_state_.value_or(RunState::unknown))
                                : watches_stores() && stores_->is_fresh();
  if (is_seen) beat();
}

/// A second opinion for a stream that is silent: its session grows on disk.
void Keeper::look_at_transcripts(Instant now) {
  if (!process_ || now < transcripts_due_) return;
  transcripts_due_ = now + settings_.agent.beat;
  if (dialogue_->transcripts_grew()) {
    batch_.signals.push_back({.is = Kind::activity, .from = ActivityFrom::log});
  }
}

void Keeper::beat() {
  const auto beat = pulse_->beat();
  if (beat) {
    beat_problem_.clear();
    return;
  }
  if (beat_problem_ != beat.error().text) {
    beat_problem_ = beat.error().text;
    event("note", "a beat could not be written: " + beat_problem_, "", true);
  }
  batch_.signals.push_back({.is = Kind::beat_failed, .by = BeatBy::keeper});
}

void Keeper::schedule() {
  const Instant now = machine_.clock.now();
  Instant when = Instant::max();
  const auto earlier = [&when](const std::optional<Instant>& at) {
    if (at && *at < when) when = *at;
  };
  plan_sample();
  earlier(recorder_->next());
  earlier(sample_at_);
  earlier(sample_again_at_);
  earlier(life_ends_at_);
  earlier(poll_at_);
  earlier(children_->next());
  if (task_) earlier(task_->next());
  if (probe_ && stage_ == Stage::living) earlier(probe_->next());
  if (courier_ && stage_ == Stage::living) earlier(courier_->next());
  // Whoever leaves looks at them no more.
  if (stores_ && stage_ < Stage::leaving && record_.life > 0) earlier(stores_->next());
  if (stop_below_) earlier(stop_below_->until);
  // What waits for something else is not waited for by looking at the clock.
  if (begin_at_ > now) earlier(begin_at_);
  if (kill_after_ > now) earlier(kill_after_);
  if (tell_at_ > now) earlier(tell_at_);
  if (not_ended_before_ > now) earlier(not_ended_before_);
  if (!change_) earlier(last_look_ + poll_every_);
  // Who looks often knows soon that it did not run, and that a lead is back if only for a moment:
  // before somebody may be ended.
  const Verdict verdict = recorder_->judge().verdict();
  const bool may_be_ended = verdict == Verdict::suspect || verdict == Verdict::orphaned ||
                            (parent_ && parent_->is_gone()) || acting_;
  if (may_be_ended && stage_ == Stage::living) earlier(last_look_ + kLookAtSuspect);
  const bool is_for_beat = beat_due_ < when && !look_is_due_ && may_only_beat();
  earlier(beat_due_);
  // What the last look was late for lies behind it. What came due while it lasted does not: we may
  // have been stopped in the middle of it.
  pauses_.expect(std::max(when, last_look_ + 1ms));
  when = std::max(when, now + 1ms);
  if (look_is_due_) earlier(last_look_ + kBetweenLooks);
  const Waking waking{.at = when, .only_beats = is_for_beat};
  if (std::exchange(waking_, waking) == waking) return;
  wake_ = machine_.loop.at(when, [this] {
    const Waking woken = std::exchange(waking_, Waking{});
    woken.only_beats ? only_beat() : look();
  });
}

void Keeper::hear_conversation() {
  if (const Conversation* const told = senses_->conversation()) dialogue_->hear(*told);
  const bool guessed = settings_.agent.adapter == AdapterKind::by_itself;
  if (!guessed || language_said_ || senses_->language() == AdapterKind::lines) return;
  language_said_ = true;
  const std::string said =
      fmt::format("it speaks like {}, and is heard that way",
                  kAdapterWords[static_cast<std::size_t>(senses_->language())]);
  recorder_->remark(said);
  event("note", said, "", false);
}

void Keeper::say_remarks() {
  for (const std::string& remark : senses_->take_remarks()) {
    recorder_->remark(remark);
    event("note", remark, "", false);
  }
}

void Keeper::event(std::string_view kind, std::string_view what, std::string_view result,
                   bool needs_person) {
  const Heartbeat& says = pulse_->says();
  Event event;
  event.at = calendar_seconds(machine_.clock.wall());
  event.agent = settings_.agent.agent;
  event.session = settings_.agent.session;
  event.life = recorder_->life();
  event.needs_person = needs_person;
  event.result = result;
  if (kind == "verdict") {
    event.kind = Event::Kind::verdict;
    event.verdict = what;
    event.phase = word(says.phase);
    event.because = says.because;
  } else {
    event.kind = Event::Kind::note;
    event.text = what;
  }
  events_.push_back(std::move(event));
}

/// Events are for people who follow: they are written when what cannot wait is done. What cannot be
/// written is tried again with the next, up to a bound.
void Keeper::write_events() {
  while (!events_.empty()) {
    const auto done = append_event(*home_, events_.front());
    if (done) events_problem_.clear();
    if (!done && std::exchange(events_problem_, done.error().text) != done.error().text) {
      recorder_->remark(done.error().text);
    }
    if (!done && events_.size() <= kMostEventsKept) break;
    events_.pop_front();
  }
  if (stage_ != Stage::replaced) recorder_->write();
}

}  // namespace tend
