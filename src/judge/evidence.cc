// Signals to facts: the process, beats, self-reports, probes and what others say. The stream is in
// evidence_stream.cc. Nothing here compares with a limit.
#include "judge/evidence.h"

#include <algorithm>

#include "judge/bounded.h"

namespace tend {

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
  const bool was_unseen = life.probe == ProcessState::unknown;
  life.probe = signal.process;
  if (life.gone() && !was_gone) {
    life.went = clocks.active();
    // Where nobody could see it since, and nothing followed the hold, it may have gone in it.
    life.went_in_hold = life.hold && (!life.hold->over || was_unseen);
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
    push_bounded(life.pings, kMostPings,
                 Ping{.id = id, .sent = clocks.active(), .asked = clocks.silence()});
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
  life.answered = true;
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
  const auto same_name = [&](const ClaimedTask& t) { return t.name == name; };
  switch (signal.event) {
    case TaskEvent::claim:
      if (std::none_of(tasks.begin(), tasks.end(), same_name)) {
        push_bounded(tasks, kMostTasks, ClaimedTask{name, clocks.silence()});
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
