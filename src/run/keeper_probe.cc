// Whether the agent still answers: how it is reached, what is said to it, and what its keeper says
// of it to those who write to it.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/quote.h"
#include "run/home_mirror.h"
#include "run/keeper.h"
#include "run/probe_of.h"
#include "store/gate_mirror.h"
#include "store/home_database.h"

namespace tend {

std::string Keeper::input_path() const { return folder_->path() + "/" + kInputFile; }

/// Before anything is judged: who is asked has to answer.
void Keeper::take_on_probe() {
  auto asks = probe_of(settings_.config, settings_.agent, settings_.environment, machine_.files);
  if (!asks) {
    settings_.config_problem = asks.error().text;
    return;
  }
  asks_ = *std::move(asks);
  if (!asks_) return;
  settings_.policy.answer = asks_->deadline;
  settings_.policy.direct = settings_.policy.direct || asks_->direct;
}

void Keeper::say_note(const std::string& text, bool needs_person) {
  recorder_->remark(text);
  event("note", text, "", needs_person);
}

void Keeper::note_inbox(std::int64_t waiting) {
  batch_.signals.push_back(
      {.is = Kind::inbox,
       .count = static_cast<std::uint32_t>(std::min<std::int64_t>(waiting, kMostMessages))});
}

/// Of what is known from before us, the end may have been lost with the power.
void Keeper::recount_inbox() {
  const std::int64_t known = recorder_->judge().inbox();
  const auto waiting = known > 0 ? all_clear_->waiting() : 0;
  if (!waiting) return;  // the next look tries again
  has_counted_inbox_ = true;
  if (*waiting != known) note_inbox(*waiting);
}

void Keeper::begin_probe() {
  begin_all_clear();
  if (!asks_) return;
  auto address = address_of(*asks_);
  if (!address) return say_note(address.error().text, true);
  const AskingPace pace{.interval = asks_->interval,
                        .answer = asks_->deadline,
                        .waits_for_us = asks_->channel == ProbeChannel::stdin_stream};
  Probe::Owner owner;
  owner.agent = settings_.agent.agent;
  owner.note = [this](Kind kind, std::string_view id) {
    batch_.signals.push_back({.is = kind, .id = batch_.texts.copy(id)});
  };
  owner.say = [this](const std::string& text, bool needs_person) { say_note(text, needs_person); };
  owner.changed = [this] { look_soon(); };
  probe_ = std::make_unique<Probe>(machine_, *folder_, *std::move(address), pace, std::move(owner));
  if (record_.life > 0) probe_->go_on(record_.life, asking());
  if (asks_->deliver) begin_courier();
}

void Keeper::begin_courier() {
  const GateSettings& gate = settings_.config.gate;
  Courier::Owner owner;
  owner.agent = settings_.agent.agent;
  owner.limits = {.most_tries = gate.most_tries, .lease = gate.lease};
  owner.say = [this](const std::string& text, bool needs_person) { say_note(text, needs_person); };
  owner.waiting = [this](std::int64_t waiting) { note_inbox(waiting); };
  owner.changed = [this] { look_soon(); };
  owner.lengths = [this] {
    const Offsets lengths = senses_->lengths();
    return HandedAt{.stream = lengths.stream, .said = lengths.said};
  };
  courier_ = std::make_unique<Courier>(machine_, *home_, probe_->speaker(), std::move(owner));
  if (record_.life > 0) courier_->go_on(record_.life);
}

void Keeper::begin_all_clear() {
  AllClear::Owner owner;
  owner.agent = settings_.agent.agent;
  owner.gate = settings_.config.gate;
  owner.say = [this](const std::string& text, bool needs_person) { say_note(text, needs_person); };
  owner.released = [this](std::int64_t waiting) {
    note_inbox(waiting);
    look_soon();
  };
  owner.changed = [this] { mirror_outage(); };
  all_clear_ = std::make_unique<AllClear>(machine_, *home_, std::move(owner));
}

Asking Keeper::asking() const {
  return recorder_->judge().asking(machine_.clock.now() + recorder_->shift());
}

bool Keeper::is_down() const { return recorder_->judge().degraded() || is_in_outage_; }

/// Whoever wrote to it while nobody kept it may have found it gone, and of one that has not
/// answered since it was down a lost journal says nothing, but its heartbeat: that lasts until it
/// is seen to be well. If it is down by its verdict, that verdict ends it.
void Keeper::take_on_outage() {
  owes_all_clear_ = !recorder_->judge().degraded();
  const bool was_down = pulse_->says().degraded_since > 0;
  is_in_outage_ = owes_all_clear_ && (was_down || all_clear_->is_due());
  if (is_down()) all_clear_->go_down();
  note_degraded();
}

/// It was gone, however well its end looked: its next life takes messages once it has answered.
void Keeper::begin_outage() {
  owes_all_clear_ = !recorder_->judge().degraded();
  is_in_outage_ = owes_all_clear_;
  all_clear_->go_down();
  note_degraded();
}

void Keeper::end_old_outage() {
  if (!owes_all_clear_) return;
  const Verdict verdict = recorder_->judge().verdict();
  const Asking now_asked = asking();
  const bool at_work =
      verdict == Verdict::working || verdict == Verdict::waiting || verdict == Verdict::idle;
  const bool is_there = !process_ || last_state_ == RunState::running;
  const bool is_well = at_work && is_there && now_asked.seen && (now_asked.answered || !asks_);
  if (recorder_->judge().degraded() || (is_in_outage_ && !is_well)) return;
  owes_all_clear_ = false;
  is_in_outage_ = false;
  note_degraded();
  std::ignore = pulse_->write();  // tried again at every look
  all_clear_->begin({});
}

/// What is said to it: questions first, messages while it is well and no answer is awaited.
void Keeper::look_at_words(Instant now) {
  if (stage_ != Stage::living) return;
  if (!has_counted_inbox_) recount_inbox();
  end_old_outage();
  const bool degraded = is_down();
  if (probe_) probe_->look(asking(), degraded, now);
  if (!courier_) return;
  const Asking now_asked = asking();
  courier_->look(now_asked, !degraded && !probe_->awaits_answer(now_asked), now);
}

Result<Address> Keeper::address_of(const ProbeSettings& settings) const {
  const AgentFile& agent = settings_.agent;
  switch (settings.channel) {
    case ProbeChannel::stdin_stream:
      if (agent.listens) return ToInput{input_path()};
      return fail("it cannot be asked by stdin-stream: start it with --stdin stream");
    case ProbeChannel::tmux_keys: {
      const std::string& pane = settings.target.empty() ? agent.tmux : settings.target;
      if (!pane.empty()) return ToTerminal{pane};
      return fail("it cannot be asked by tmux-keys: name its pane as target in [probe]");
    }
    case ProbeChannel::command:
      return ToCommand{settings.command};
    case ProbeChannel::file:
      break;
  }
  const bool is_absolute = settings.file.starts_with('/');
  return ToFile{is_absolute ? settings.file : agent.working_folder + "/" + settings.file};
}

/// What one that goes on in its session is told, where that is not said by its command.
void Keeper::speak_first(const std::string& words) {
  const auto said = machine_.sockets.write_fifo(input_path(), input_line(words));
  if (said) return;
  recorder_->remark("it was not told to go on: " + said.error().text);
  event("note", "it was not told to go on: " + said.error().text, "", true);
}

/// For whoever has a message for it: they follow what is judged, and no flag of their own.
void Keeper::note_degraded() {
  const bool is_said = pulse_->says().degraded_since > 0;
  if (is_down() == is_said) return;
  pulse_->change().degraded_since = is_said ? 0 : calendar_seconds(machine_.clock.wall());
}

void Keeper::go_down(const Ruling& ruling) {
  if (!recorder_->judge().degraded()) return finish_act(ruling, "not done: it is well again");
  owes_all_clear_ = false;
  is_in_outage_ = false;
  all_clear_->go_down();
  note_degraded();
  mirror_outage();
  finish_act(ruling, "its messages are held");
}

/// The heartbeat says it first: whoever receives a message from then on holds nothing back.
void Keeper::go_up(const Ruling& ruling) {
  if (recorder_->judge().degraded()) return finish_act(ruling, "not done: it is down again");
  owes_all_clear_ = false;
  is_in_outage_ = false;
  note_degraded();
  std::ignore = pulse_->write();  // tried again at every look
  all_clear_->begin([this, ruling](const std::string& result) { finish_act(ruling, result); });
}

/// For other tools, which read no heartbeat of ours.
void Keeper::mirror_outage() {
  std::vector<Outage> open;
  const double degraded_since = pulse_->says().degraded_since;
  if (degraded_since > 0 && !is_terminal(pulse_->says().status)) {
    open.push_back({.agent = settings_.agent.agent,
                    .why = std::string(word(recorder_->judge().verdict())),
                    .since = from_database_time(std::llround(degraded_since * 1000))});
  }
  std::vector<PendingChannel> pending = all_clear_->pending();
  if (auto written = mirror_gate(*folder_, open, pending); !written) {
    recorder_->remark(written.error().text);
  }
  const std::string mirror = path_of_user(settings_.config.gate.mirror, settings_.environment);
  if (mirror.empty() || !settings_.agent.parent_heartbeat.empty()) return;
  const auto own = open.empty() ? std::nullopt : std::optional(open.front());
  const auto written = mirror_home(machine_, *home_, mirror, settings_.agent.agent, own);
  if (!written) say_note("the mirror of its gate cannot be written: " + written.error().text, true);
}

}  // namespace tend
