// What is in hand is settled before the next is taken: an agent never has two.
#include "run/courier.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "run/postman.h"
#include "run/root_agents.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTryAgain = 10s;
constexpr Duration kPoll = 60s;  // a hint may be lost
constexpr std::int64_t kMostTaken = 1'000;
constexpr std::string_view kNobody;  // in particular: the agent of what came before any was known

}  // namespace

std::string words_for(const Message& message, bool whole) {
  const std::string head =
      fmt::format("[message {} from {}, {}{}]", message.id, on_one_line(message.channel),
                  on_one_line(message.endpoint), message.tries > 1 ? ", handed over before" : "");
  if (whole) return head + "\n" + message.content;
  return fmt::format("{} It has {} bytes: read it with `tend gate show {}`.", head,
                     message.content.size(), message.id);
}

Courier::Courier(Machine& machine, Folder& home, Speaker& speaker, Owner owner)
    : machine_(machine), home_(home), speaker_(speaker), owner_(std::move(owner)) {}

std::string Courier::holder() const { return fmt::format("{}#{}", owner_.agent, life_); }

Result<std::unique_ptr<Courier::OpenGate>> Courier::open() {
  auto database = open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return std::unexpected(database.error());
  Database& opened = **database;
  return std::make_unique<OpenGate>(*std::move(database), Gate(opened, owner_.limits));
}

void Courier::begin_life(std::uint32_t life) {
  give_back("its life ended before it was done");
  life_ = life;
  knows_ = false;  // a life that a power cut took may have had the same number
  give_back("its life was lost before it was done");
  knows_ = true;  // what it did not find, its lease brings back
  look_is_due_ = true;
}

void Courier::go_on(std::uint32_t life) {
  life_ = life;
  knows_ = false;
  find_in_hand();
}

Result<std::optional<Message>> Courier::taken_for(Gate& gate) {
  for (const std::string_view agent : {std::string_view(owner_.agent), kNobody}) {
    const auto taken = gate.list(std::string(agent), MessageState::taken, kMostTaken);
    if (!taken) return std::unexpected(taken.error());
    const auto ours = std::ranges::find(*taken, holder(), &Message::holder);
    if (ours != taken->end()) return *ours;
  }
  return std::nullopt;
}

/// A stream that is shorter than it was lost its end with the power, or was begun anew: whether
/// the turn was over nobody knows then.
void Courier::find_in_hand() {
  const auto there = home_.facts(kDatabaseFile);
  knows_ = there && !*there;
  if (knows_) return;
  auto gate = open();
  if (!gate) return trouble(gate.error().text);
  auto ours = taken_for((*gate)->gate);
  if (!ours) return trouble(ours.error().text);
  knows_ = true;
  if (!*ours) return;
  handed_ = **std::move(ours);
  const HandedAt lengths = owner_.lengths();
  const std::optional<HandedAt>& handed = handed_->handed;
  if (!handed || lengths.stream < handed->stream || lengths.said < handed->said) {
    return give_back(handed ? "its agent's words were lost before it was done"
                            : "its keeper ended before it was handed over");
  }
  said_ = true;
  is_marked_ = true;
  has_turns_ = true;
  extend_at_ = machine_.clock.now();
  hear_turns();
}

void Courier::give_back(const std::string& why) {
  if (!knows_) find_in_hand();
  if (!handed_) return;
  if (!verdict_) verdict_ = why;
  settle(*verdict_);
}

void Courier::hear(const SignalBatch& batch, const Turns& turns) {
  for (const Signal& signal : batch.signals) {
    if (signal.is == Kind::inbox) look_is_due_ = true;
  }
  // What a keeper finds cut may have been cut before the message came.
  if (turns.cut && has_looked_ && handed_ && handed_->handed) {
    handed_->handed->stream = 0;
    is_marked_ = false;
  }
  has_looked_ = true;
  for (const TurnEnd& turn : turns.ended) {
    ended_.at(static_cast<std::size_t>(turn.in)) = turn;
    hear_turns();
  }
}

/// A turn that was over before the message came was not the message's.
void Courier::hear_turns() {
  for (const std::optional<TurnEnd>& turn : ended_) {
    if (!handed_ || !said_ || verdict_ || !turn) continue;
    const HandedAt handed = handed_->handed.value_or(HandedAt{});
    const bool in_stream = turn->in == TurnEnd::In::stream;
    if (turn->at <= (in_stream ? handed.stream : handed.said)) continue;
    verdict_ = turn->error.empty() ? "" : "its turn ended in " + turn->error;
  }
}

void Courier::look(const Asking& asking, bool may_hand, Instant now) {
  has_turns_ = asking.has_turns;
  next_.reset();
  if (not_before_ && now < *not_before_) {
    next_ = not_before_;
    return;
  }
  not_before_.reset();
  if (!knows_) find_in_hand();
  if (!knows_) {
    next_ = not_before_;
    return;
  }
  if (handed_ && said_ && !has_turns_ && !verdict_) verdict_ = "";
  if (handed_ && verdict_) settle(*verdict_);
  if (handed_ && said_ && !verdict_ && !is_marked_) mark_arrived();
  if (handed_) {
    if (extend_at_ && now >= *extend_at_) extend(now);
    next_ = not_before_ ? not_before_ : extend_at_;
    return;
  }
  if (poll_at_ && now >= *poll_at_) {
    look_is_due_ = true;
    poll_at_ = now + kPoll;  // what holds it up now ends with a look of its own
  }
  const bool rests = asking.has_turns ? asking.rests : asking.seen;
  if (look_is_due_ && may_hand && asking.possible && rests && !speaker_.busy()) hand_next();
  next_ = not_before_ ? not_before_ : poll_at_;
}

/// A home that nobody sent anything to has no database.
Result<std::optional<Message>> Courier::take_next() {
  const auto there = home_.facts(kDatabaseFile);
  if (there && !*there) return std::nullopt;
  auto opened = open();
  if (!opened) return std::unexpected(opened.error());
  Gate& gate = (*opened)->gate;
  const WallTime now = machine_.clock.wall();
  const auto for_nobody = gate.waiting(kNobody, now);
  if (!for_nobody) return std::unexpected(for_nobody.error());
  const auto is_alone =
      *for_nobody > 0 ? is_only_root_agent(home_, owner_.agent) : Result<bool>(false);
  if (!is_alone) return std::unexpected(is_alone.error());
  return gate.next(owner_.agent, holder(), now, *is_alone);
}

void Courier::hand_next() {
  poll_at_ = machine_.clock.now() + kPoll;
  auto message = take_next();
  if (!message) return trouble(message.error().text);
  look_is_due_ = message->has_value();
  if (!*message) return;
  handed_ = **std::move(message);
  said_ = false;
  is_marked_ = false;
  verdict_.reset();
  extend_at_ = machine_.clock.now() + owner_.limits.lease / 3;
  const std::string whole = words_for(*handed_, true);
  const auto is_still = [this, id = handed_->id] { return handed_ && handed_->id == id; };
  speaker_.say(
      {.id = fmt::format("m{}", handed_->id),
       .line = "",
       .text = speaker_.fits(whole) ? whole : words_for(*handed_, false)},
      [this, is_still](const Result<void>& said) {
        if (is_still()) arrived_there(said);
      },
      [this, is_still] {
        if (is_still()) handed_->handed = owner_.lengths();
      });
}

void Courier::arrived_there(const Result<void>& said) {
  said_ = said.has_value();
  if (said) {
    hear_turns();
    mark_arrived();
  } else {
    verdict_ = "it could not be handed over: " + said.error().text;
    owner_.say(fmt::format("message {}: {}", handed_->id, *verdict_), true);
    not_before_ = machine_.clock.now() + kTryAgain;
  }
  owner_.changed();
}

/// Until this is written, whoever comes after us hands it over once more.
void Courier::mark_arrived() {
  auto gate = open();
  if (!gate) return trouble(gate.error().text);
  const auto marked =
      (*gate)->gate.arrived(handed_->id, handed_->tries, *handed_->handed, machine_.clock.wall());
  if (!marked) return trouble(marked.error().text);
  problem_.clear();
  is_marked_ = true;
  if (marked->did != MessageAnswer::Did::done) let_go();
}

void Courier::settle(const std::string& why_failed) {
  auto gate = open();
  if (!gate) return trouble(gate.error().text);
  const WallTime now = machine_.clock.wall();
  const auto answer = why_failed.empty()
                          ? (*gate)->gate.done(handed_->id, now)
                          : (*gate)->gate.fail(handed_->id, handed_->tries, why_failed, now);
  if (!answer) return trouble(answer.error().text);
  problem_.clear();
  if (answer->did == MessageAnswer::Did::given_up) {
    owner_.say(fmt::format("message {} is given up: {}", handed_->id, why_failed), true);
  }
  let_go();
  look_is_due_ = true;
  if (const auto waiting = (*gate)->gate.waiting(owner_.agent, now)) owner_.waiting(*waiting);
}

/// Who lost it all the same gets it again: nobody else works for this agent.
void Courier::extend(Instant now) {
  extend_at_ = now + owner_.limits.lease / 3;
  auto gate = open();
  if (!gate) return trouble(gate.error().text);
  const auto extended = (*gate)->gate.extend(handed_->id, handed_->tries, machine_.clock.wall());
  if (!extended) return trouble(extended.error().text);
  if (extended->did != MessageAnswer::Did::done) let_go();
}

void Courier::let_go() {
  handed_.reset();
  verdict_.reset();
  extend_at_.reset();
}

void Courier::trouble(const std::string& why) {
  not_before_ = machine_.clock.now() + kTryAgain;
  if (std::exchange(problem_, why) != why) {
    owner_.say("its messages cannot be handed over: " + why, true);
  }
}

}  // namespace tend
