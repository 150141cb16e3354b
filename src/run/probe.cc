// The judge hears of a question before the agent does: an answer can never come first.
#include "run/probe.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/agent_file.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstWait = 10s;  // after a question that could not be asked; then it doubles
constexpr std::uint32_t kMostDoublings = 5;
constexpr std::size_t kLongestShownId = 80;

std::string shown(std::string_view id) { return in_quotes(id.substr(0, kLongestShownId)); }

}  // namespace

Probe::Probe(Machine& machine, Folder& folder, Address address, const AskingPace& pace, Owner owner)
    : machine_(machine),
      folder_(folder),
      pace_(pace),
      owner_(std::move(owner)),
      speaker_(machine, owner_.agent, std::move(address)) {}

void Probe::begin_life(std::uint32_t life) {
  forget();
  life_ = life;
  asked_.reset();
  not_before_.reset();
  failures_ = 0;
}

void Probe::go_on(std::uint32_t life, const Asking& asking) {
  begin_life(life);
  if (asking.open) owner_.note(Kind::ping_failed, asking.open->shown());
}

/// Without the file every answer counts, so one that cannot be removed costs a refusal at most.
void Probe::forget() {
  open_.clear();
  judged_ = false;
  std::ignore = folder_.remove(kQuestionFile);
}

void Probe::hear(SignalBatch& batch) {
  judged_ = !open_.empty();  // what was asked before this look is judged in it
  std::erase_if(batch.signals, [this](const Signal& signal) {
    const bool is_answer = signal.is == Kind::ack && !signal.id.empty();
    if (!is_answer || signal.id == open_) return false;
    owner_.say(fmt::format("an answer to question {} was refused: {}", shown(signal.id),
                           open_.empty() ? "none is open" : "question " + open_ + " is"),
               false);
    return true;
  });
}

void Probe::look(const Asking& asking, bool degraded, Instant now) {
  note_answers(asking);
  say_unanswered(asking, degraded);
  next_.reset();
  if (speaker_.busy() || (!open_.empty() && !judged_)) return;
  const auto asked_ago = asked_ ? std::optional(now - *asked_) : std::nullopt;
  const auto wait = next_question(asking, asked_ago, degraded, pace_);
  if (!wait) return;
  const Instant when = std::max(now + *wait, not_before_.value_or(now));
  if (when > now) {
    next_ = when;
    return;
  }
  ask();
}

bool Probe::awaits_answer(const Asking& asking) const {
  return !open_.empty() && !(judged_ && asking.overtaken);
}

std::string Probe::ask_now(const Asking& asking) {
  if (awaits_answer(asking) || speaker_.busy()) return "it was asked already";
  if (!asking.possible) return "it could not answer now";
  ask();
  return "asked: " + open_;
}

void Probe::ask() {
  forget();
  const std::string id = fmt::format("{}-{:08x}", life_, machine_.entropy.number() & 0xffffffffU);
  open_ = id;
  asked_ = machine_.clock.now();
  if (auto written = folder_.replace(kQuestionFile, id + "\n", Folder::Sync::no); !written) {
    return not_said(id, written.error().text);
  }
  owner_.note(Kind::ping, id);
  const std::string line = "tend ack " + id;
  speaker_.say({.id = id,
                .line = line,
                .text = fmt::format(
                    "Heartbeat check: run `{}` now and go on. Nothing else is needed.", line)},
               [this, id](const Result<void>& said) {
                 if (!said) return not_said(id, said.error().text);
                 failures_ = 0;
                 problem_.clear();
               });
}

/// That it was not asked says nothing about the agent.
void Probe::not_said(const std::string& id, const std::string& why) {
  owner_.note(Kind::ping_failed, id);
  if (open_ == id) forget();
  const Duration wait = kFirstWait * (1U << std::min(failures_++, kMostDoublings));
  not_before_ = machine_.clock.now() + wait;
  if (std::exchange(problem_, why) != why) {
    owner_.say("it cannot be asked whether it answers: " + why, true);
  }
  owner_.changed();
}

/// What the judge no longer holds open was answered.
void Probe::note_answers(const Asking& asking) {
  if (open_.empty()) return;
  const bool is_open = asking.open && asking.open->shown() == open_;
  if (judged_ && !is_open) forget();
}

/// One that works and never answers may not be allowed to: a person can change that. It matters to
/// whoever waits for it to take messages again.
void Probe::say_unanswered(const Asking& asking, bool degraded) {
  const bool is_late = asking.open && asking.overtaken && asking.open_for >= pace_.answer;
  if (!is_late || ignored_ == open_) return;
  ignored_ = open_;
  owner_.say(fmt::format("it works and does not answer questions: may it run `tend ack`?{}",
                         degraded ? " It takes no messages before it did." : ""),
             degraded);
}

}  // namespace tend
