// Signals to facts, one function per group of the contract's section 2. Nothing here compares with
// a limit; the few constants are part of what a signal means.
#include "judge/evidence.h"

#include <algorithm>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLastWords = 5s;        // progress this soon after a turn's end belongs to it
constexpr Duration kToolBeatHolds = 100s;  // a tool-beat holds its tool's deadline off this far
constexpr Duration kFurthestUntil = 24h;   // a provider's hold that claims more is cut
constexpr std::uint32_t kCircle = 3;       // identical calls in a row from which on nothing renews

template <class T>
void push_bounded(std::vector<T>& items, std::size_t most, T item) {
  if (items.size() >= most) items.erase(items.begin());
  items.push_back(std::move(item));
}

template <class T, class Matches>
bool erase_first(std::vector<T>& items, Matches matches) {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  if (found == items.end()) return false;
  items.erase(found);
  return true;
}

bool is_provider_cause(Cause cause) { return cause != Cause::none && cause != Cause::another; }

bool is_terminal(std::optional<Status> record) {
  return record == Status::completed || record == Status::withdrawn;
}

}  // namespace

bool Life::foreground_tool_open() const {
  return std::any_of(tools.begin(), tools.end(),
                     [](const Tool& t) { return t.foreground_of_lead() && !t.circling; });
}

bool Life::child_tool_open() const {
  return std::any_of(tools.begin(), tools.end(), [](const Tool& t) {
    return t.foreground_of_lead() && t.child && !t.circling;
  });
}

std::size_t Life::background_tools_open() const {
  return static_cast<std::size_t>(
      std::count_if(tools.begin(), tools.end(), [](const Tool& t) { return t.background; }));
}

ChildIs what_is(const Child& child, AwakeTime now) {
  switch (child.verdict) {
    case Verdict::finished:
    case Verdict::dead:
    case Verdict::idle:
    case Verdict::orphaned:
      return ChildIs::ended;
    case Verdict::starting:
    case Verdict::working:
    case Verdict::waiting:
      if (now >= child.told + kChildWordHolds) return ChildIs::in_doubt;
      return child.for_parent ? ChildIs::waiting_for_parent : ChildIs::at_work;
    case Verdict::suspect:
    case Verdict::stalled:
    case Verdict::looping:
    case Verdict::unknown:
      return ChildIs::in_doubt;
  }
  return ChildIs::in_doubt;
}

AwakeTime doubted_since(const Child& child) {
  switch (child.verdict) {
    case Verdict::starting:
    case Verdict::working:
    case Verdict::waiting:
      return child.told + kChildWordHolds;
    default:
      return child.doubted;
  }
}

bool Evidence::paused() const {
  if (want == Want::pause) return true;
  // The record speaks of a pause that somebody else made. What the agent does after it counts more.
  return life.record == Status::paused && !life.sign_after_record && !life.gone();
}

bool Evidence::known_by_beats_alone() const {
  return !life.stream_seen && life.stage == Stage::none && !life.exiting && want != Want::stop;
}

bool Evidence::absorb(const Signal& signal, const Clocks& clocks, bool in_silence) {
  if (signal.life != 0 && signal.life < life_number) return false;
  switch (signal.is) {
    case Kind::spawn:
      begin_life(signal, clocks);
      break;
    case Kind::process:
      absorb_process(signal, clocks);
      break;
    case Kind::beat:
    case Kind::beat_failed:
      absorb_beat(signal, clocks);
      break;
    case Kind::progress:
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::retry:
    case Kind::ask:
    case Kind::answer:
    case Kind::turn_start:
    case Kind::turn_end:
      absorb_stream(signal, clocks, in_silence);
      break;
    case Kind::error:
      weak_sign(clocks);
      if (!signal.task.empty()) break;
      life.last_error = Name(signal.cause_word);
      life.error_stands = true;
      if (signal.final) life.final_error = clocks.silence();
      break;
    case Kind::state:
      absorb_state(signal, clocks);
      break;
    case Kind::ping:
    case Kind::ack:
    case Kind::ping_failed:
      absorb_probe(signal, clocks);
      break;
    case Kind::activity:
      signal.from == ActivityFrom::files ? real_sign(clocks) : weak_sign(clocks);
      break;
    case Kind::child:
      absorb_child(signal, clocks);
      break;
    case Kind::task:
      absorb_task(signal, clocks);
      break;
    case Kind::status:
    case Kind::inbox:
    case Kind::parent:
    case Kind::intent:
      absorb_others(signal, clocks);
      break;
    case Kind::other:
      weak_sign(clocks);
      break;
    case Kind::noise:
    case Kind::suspend:
    case Kind::lag:
    case Kind::clock_step:
    case Kind::fault:
    case Kind::fleet:
    case Kind::acted:
      break;
  }
  return true;
}

void Evidence::real_sign(const Clocks& clocks) {
  seen = true;
  life.real_seen = true;
  life.last_real = clocks.silence();
  life.last_sign = clocks.silence();
  life.ack_spent = false;
  life.sign_after_record = true;
  life.final_error.reset();
  if (life.killed) life.worked_since_kill = true;
  for (Ping& ping : life.pings) ping.overtaken = true;
  std::erase_if(life.tools, [](const Tool& t) { return t.over; });
}

void Evidence::weak_sign(const Clocks& clocks) {
  life.last_weak = clocks.silence();
  life.last_sign = clocks.silence();
}

// ---- The process and its beats

void Evidence::begin_life(const Signal& signal, const Clocks& clocks) {
  const bool told_again = spawned && signal.life != 0 && signal.life == life_number;
  if (told_again) return;
  life_number = signal.life != 0 ? signal.life : life_number + 1;
  spawned = true;
  seen = true;
  for (const Ping& ping : life.pings) push_bounded(void_pings_, kMostVoidPings, ping.id);

  Life fresh;
  fresh.tools = std::move(life.tools);  // their memory is kept, what they said is not
  fresh.tools.clear();
  fresh.children = std::move(life.children);
  fresh.children.clear();
  life = std::move(fresh);
  life.spawned = clocks.silence();
  life.last_sign = clocks.silence();
  life.by_resume = next_life_by_resume;
  next_life_by_resume = false;
  if (want == Want::stop || want == Want::drain) want = Want::run;
}

void Evidence::absorb_process(const Signal& signal, const Clocks& clocks) {
  if (signal.process == ProcessState::unknown && life.gone()) return;
  if (signal.process == ProcessState::stopped) life.was_stopped = true;
  if (signal.process == ProcessState::running && life.was_stopped) {
    life.was_stopped = false;
    life.clock_restarted = clocks.silence();
  }
  const bool was_gone = life.gone();
  life.probe = signal.process;
  if (life.gone() && !was_gone) {
    life.went = clocks.active();
    life.went_in_hold = life.hold && !life.hold->over;
  }
  if (!life.gone()) {
    life.exit = Exit{};
  } else if (signal.exit.how != Exit::How::unknown) {
    life.exit = signal.exit;
  }
}

void Evidence::absorb_beat(const Signal& signal, const Clocks& clocks) {
  if (signal.is == Kind::beat_failed) {
    life.beat_failed = true;
    return;
  }
  if (signal.by != BeatBy::agent) return;
  life.beat_failed = false;
  life.beat_seen = true;
  life.last_beat = clocks.silence();
  known_by_beats_alone() ? real_sign(clocks) : weak_sign(clocks);
}

// ---- The stream

void Evidence::absorb_stream(const Signal& signal, const Clocks& clocks, bool in_silence) {
  life.stream_seen = true;
  stream_ever = true;
  life.last_stream = clocks.silence();
  const bool lead = signal.task.empty();
  switch (signal.is) {
    case Kind::progress:
      absorb_progress(signal, clocks);
      break;
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
      absorb_tool(signal, clocks, in_silence);
      break;
    case Kind::compact_start:
    case Kind::compact_end:
      real_sign(clocks);
      if (!lead) break;
      life.stuck = false;
      life.compacting = signal.is == Kind::compact_start;
      if (life.stage == Stage::rest) break;  // it returns to what the turn's end had opened
      leave_open_hold(clocks);
      life.stage = Stage::model;
      break;
    case Kind::retry:
      absorb_retry(signal.cause, signal, clocks);
      break;
    case Kind::ask:
      real_sign(clocks);
      erase_first(life.questions, [&](const Name& n) { return n == Name(signal.id); });
      push_bounded(life.questions, kMostQuestions, Name(signal.id));
      note_person(clocks);
      break;
    case Kind::answer:
      real_sign(clocks);
      erase_first(life.questions, [&](const Name& n) { return n == Name(signal.id); });
      note_person(clocks);
      break;
    case Kind::turn_start:
      real_sign(clocks);
      if (!lead) break;
      life.turn_after_record = is_terminal(life.record);
      close_foreground_tools();
      life.questions.clear();
      enter_turn(clocks);
      note_person(clocks);
      break;
    case Kind::turn_end:
      real_sign(clocks);
      if (lead) absorb_turn_end(signal, clocks);
      break;
    default:
      break;
  }
}

void Evidence::absorb_progress(const Signal& signal, const Clocks& clocks) {
  const bool last_words = life.stage == Stage::rest && life.turn_ended &&
                          clocks.awake() - *life.turn_ended <= kLastWords;
  real_sign(clocks);
  if (!signal.task.empty()) {
    if (life.hold && life.hold->task == Name(signal.task)) life.hold.reset();
    note_person(clocks);
    return;
  }
  if (last_words) return;
  life.hold.reset();
  life.retries_since.reset();
  life.questions.clear();
  life.exiting.reset();
  life.error_stands = false;
  enter_turn(clocks);
  note_person(clocks);
}

void Evidence::absorb_tool(const Signal& signal, const Clocks& clocks, bool in_silence) {
  const Name id(signal.id);
  const auto same_id = [&](const Tool& t) { return t.id == id; };
  const auto found = std::find_if(life.tools.begin(), life.tools.end(), same_id);

  if (signal.is == Kind::tool_beat) {
    weak_sign(clocks);
    if (found == life.tools.end() || in_silence) return;
    found->beaten_to = std::max(found->beaten_to, clocks.silence() + kToolBeatHolds);
    return;
  }

  if (signal.is == Kind::tool_open) {
    Tool tool;
    tool.id = id;
    tool.tool = Name(signal.tool);
    tool.task = Name(signal.task);
    tool.declared = signal.limit.has_value();
    tool.limit = signal.limit.value_or(Duration{});
    tool.background = signal.background;
    tool.child = signal.child_tool;
    tool.opened = clocks.silence();
    tool.beaten_to = clocks.silence();
    const bool circles = !life.circling_tool.empty() && tool.tool == life.circling_tool &&
                         tool.task == life.circling_task;
    tool.circling = circles && in_silence;
    circles ? weak_sign(clocks) : real_sign(clocks);
    erase_first(life.tools, same_id);  // a sign may have moved `found`
    if (tool.foreground_of_lead() && !tool.circling) {
      if (!circles) life.retries_since.reset();
      enter_turn(clocks);
    }
    push_bounded(life.tools, kMostTools, tool);
    return;
  }

  close_tool(signal, clocks, in_silence);
}

void Evidence::close_tool(const Signal& signal, const Clocks& clocks, bool in_silence) {
  const Name id(signal.id);
  const auto found = std::find_if(life.tools.begin(), life.tools.end(),
                                  [&](const Tool& t) { return t.id == id && !t.over; });
  const bool known = found != life.tools.end();
  Tool closed;
  if (known) {
    closed = *found;
  } else {
    closed.task = Name(signal.task);
  }
  if (signal.same >= kCircle) {
    life.circling_tool = closed.tool;
    life.circling_task = closed.task;
    if (known && in_silence && !closed.background) {
      found->over = true;
      return;
    }
    if (known) life.tools.erase(found);
  } else {
    if (known) life.tools.erase(found);
    real_sign(clocks);
    if (closed.task.empty()) life.stuck = false;
    if (closed.tool == life.circling_tool && closed.task == life.circling_task) {
      life.circling_tool = Name();
    }
  }
  if (closed.background) {
    life.background_changed = clocks.silence();
    if (life.stage == Stage::rest && life.background_left > 0) --life.background_left;
  } else if (closed.foreground_of_lead() && !closed.circling && !life.foreground_tool_open()) {
    // A close that comes after the turn's end is late, and no new turn.
    if (life.stage != Stage::rest) enter_turn(clocks);
  }
}

void Evidence::absorb_retry(Cause cause, const Signal& signal, const Clocks& clocks) {
  real_sign(clocks);
  const ActiveTime now = clocks.active();
  std::optional<Instant> until;
  if (signal.until) until = std::clamp(*signal.until, clocks.now(), clocks.now() + kFurthestUntil);
  if (!life.retries_since) life.retries_since = now;

  const bool time_came = life.hold && life.hold->until && clocks.now() >= *life.hold->until;
  if (!life.hold || time_came) {
    life.hold = Hold{};
    life.hold->opened = now;
    life.hold->began = clocks.silence();
    life.hold->task = Name(signal.task);
  }
  Hold& hold = *life.hold;
  hold.cause = cause;
  if (signal.task.empty()) hold.task = Name();  // once it is the lead's, only the lead ends it
  hold.first = *life.retries_since;
  hold.last = now;
  hold.over.reset();
  if (until) hold.until = hold.until ? std::max(*hold.until, *until) : *until;
  note_person(clocks);
}

void Evidence::absorb_turn_end(const Signal& signal, const Clocks& clocks) {
  close_foreground_tools();
  life.compacting = false;
  life.stuck = false;
  life.idle_in_tool = false;
  life.stage = Stage::rest;
  life.rest_by_word = false;
  life.rested = clocks.silence();
  life.turn_ended = clocks.awake();
  life.turn_failed = signal.cause != Cause::none;
  life.turn_error = Name(signal.cause_word);
  life.background_left = signal.count;
  life.background_awaited = life.background_running();
  life.background_changed = clocks.silence();
  life.children_awaited = false;
  if (life.turn_failed) {
    life.last_error = life.turn_error;
    life.error_stands = true;
  }
  if (is_provider_cause(signal.cause)) {
    Signal told = signal;
    told.until.reset();
    absorb_retry(signal.cause, told, clocks);
  } else {
    leave_open_hold(clocks);
  }
}

void Evidence::enter_turn(const Clocks& clocks) {
  leave_open_hold(clocks);
  life.stage = Stage::model;
  life.compacting = false;
  life.rest_by_word = false;
  life.turn_failed = false;
  life.background_left = 0;
  life.background_awaited = false;
  life.children_awaited = false;
  life.stuck = false;
  life.idle_in_tool = false;
  life.state.reset();
}

void Evidence::leave_open_hold(const Clocks& clocks) {
  if (!life.hold) return;
  const bool lasts = life.hold->until && clocks.now() < *life.hold->until;
  if (lasts) return;
  life.hold.reset();
  note_person(clocks);
}

void Evidence::close_foreground_tools() {
  std::erase_if(life.tools, [](const Tool& t) { return !t.background; });
}

void Evidence::note_person(const Clocks& clocks) {
  if (!life.awaits_person()) {
    life.person_since.reset();
  } else if (!life.person_since) {
    life.person_since = clocks.active();
  }
}

// ---- Self-report and probes

void Evidence::absorb_state(const Signal& signal, const Clocks& clocks) {
  const bool changed = life.state != signal.state;
  if (changed) real_sign(clocks);
  if (changed || signal.until) life.quiet_until = signal.until;
  life.stuck = signal.state == SelfState::stuck;
  if (changed) life.stated = clocks.silence();

  switch (signal.state) {
    case SelfState::working:
      life.idle_in_tool = false;
      if (life.stage == Stage::rest && life.rest_by_word) {
        life.stage = life.stream_seen ? Stage::model : Stage::none;
      }
      break;
    case SelfState::idle:
      life.idle_in_tool = life.foreground_tool_open();
      if (life.idle_in_tool || life.stage == Stage::rest) break;
      leave_open_hold(clocks);
      life.compacting = false;
      life.stage = Stage::rest;
      life.rest_by_word = true;
      life.rested = clocks.silence();
      life.turn_failed = false;
      break;
    case SelfState::exiting:
      if (!life.exiting) life.exiting = clocks.silence();
      break;
    case SelfState::stuck:
      break;
  }
  life.state = signal.state;
}

void Evidence::absorb_probe(const Signal& signal, const Clocks& clocks) {
  const Name id(signal.id);
  const auto same_id = [&](const Ping& p) { return p.id == id; };
  if (signal.is == Kind::ping) {
    std::erase(void_pings_, id);  // asked again, of this life
    push_bounded(life.pings, kMostPings, Ping{.id = id, .sent = clocks.active()});
    return;
  }
  if (signal.is == Kind::ping_failed) {
    erase_first(life.pings, same_id);
    return;
  }
  if (std::find(void_pings_.begin(), void_pings_.end(), id) != void_pings_.end()) return;
  // Whoever answers a later ping has heard the earlier ones; an ack of a ping that was never seen
  // answers them all.
  const auto found = std::find_if(life.pings.begin(), life.pings.end(), same_id);
  life.pings.erase(life.pings.begin(), found == life.pings.end() ? found : found + 1);
  if (life.ack_spent) {
    weak_sign(clocks);
  } else {
    real_sign(clocks);
    life.ack_spent = true;
  }
}

// ---- Others

void Evidence::absorb_child(const Signal& signal, const Clocks& clocks) {
  const Name name(signal.child);
  auto found = std::find_if(life.children.begin(), life.children.end(),
                            [&](const Child& c) { return c.name == name; });
  const bool known = found != life.children.end();
  if (!known) {
    push_bounded(life.children, kMostChildren, Child{});
    found = life.children.end() - 1;
    found->name = name;
  }
  Child& child = *found;
  const AwakeTime now = clocks.awake();
  std::optional<ChildIs> was;
  AwakeTime in_doubt_from = now;
  if (known) {
    was = what_is(child, now);
    if (was == ChildIs::in_doubt) in_doubt_from = doubted_since(child);
  }
  child.verdict = signal.verdict;
  child.for_parent = signal.for_parent;
  child.told = now;
  child.doubted = in_doubt_from;
  const ChildIs is = what_is(child, now);

  if (is == ChildIs::waiting_for_parent && was != is) child.asked = clocks.silence();
  if (is == ChildIs::ended && was != is) {
    child.ended = clocks.silence();
    const bool was_awaited = was.has_value() && life.stage == Stage::rest;
    if (was_awaited && life.background_left > 0) --life.background_left;
  }
}

void Evidence::absorb_task(const Signal& signal, const Clocks& clocks) {
  const Name name(signal.task);
  const auto same_name = [&](const Task& t) { return t.name == name; };
  switch (signal.event) {
    case TaskEvent::claim:
      if (std::none_of(tasks.begin(), tasks.end(), same_name)) {
        push_bounded(tasks, kMostTasks, Task{name, clocks.silence()});
      }
      break;
    case TaskEvent::beat:
      real_sign(clocks);
      break;
    case TaskEvent::advance:
      ++refills;
      break;
    case TaskEvent::close:
      ++refills;
      erase_first(tasks, same_name);
      break;
    case TaskEvent::release:
      erase_first(tasks, same_name);
      break;
  }
}

void Evidence::absorb_others(const Signal& signal, const Clocks& clocks) {
  switch (signal.is) {
    case Kind::status:
      life.record = signal.status;
      life.turn_after_record = false;
      life.sign_after_record = false;
      break;
    case Kind::inbox:
      // Messages that were taken are work that moves; more of them are the same wait.
      if (inbox == 0 || signal.count < inbox) inbox_since = clocks.silence();
      inbox = signal.count;
      break;
    case Kind::parent:
      if (signal.parent == ParentState::dead && life.parent != ParentState::dead) {
        life.parent_died = clocks.active();
      }
      if (signal.parent == ParentState::replaced && life.parent != ParentState::replaced) {
        ++parents_replaced;
      }
      life.parent = signal.parent;
      break;
    case Kind::intent:
      if (want == signal.want) break;
      wanted = clocks.silence();
      want = signal.want;
      break;
    default:
      break;
  }
}

}  // namespace tend
