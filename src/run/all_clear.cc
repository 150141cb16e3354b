// Whoever received a message in the very moment of the recovery may begin an outage that nobody
// sees the end of: so it is looked for once more, and again later.
#include "run/all_clear.h"

#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/gate_words.h"
#include "run/postman.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTryAgain = 10s;
constexpr Duration kLookAgain = 60s;
constexpr int kLooks = 5;

}  // namespace

AllClear::AllClear(Machine& machine, Folder& home, Owner owner)
    : machine_(machine),
      home_(home),
      owner_(std::move(owner)),
      replies_(machine, home,
               {.delivered = [this](const Postman::Delivery& delivery) { hear(delivery); },
                .tried = [this](const std::string&) { owner_.changed(); }}) {}

void AllClear::begin(std::function<void(const std::string&)> done) {
  if (done_) done_("not done: there is a later one");
  done_ = std::move(done);
  looks_left_ = kLooks;
  again_ = machine_.loop.at(machine_.clock.now(), [this] { try_to_end(); });
}

void AllClear::go_down() {
  looks_left_ = 0;
  if (const auto done = std::exchange(done_, nullptr)) done("not done: it is down again");
  again_ = machine_.loop.at(machine_.clock.now() + kLookAgain, [this] { look_while_down(); });
}

/// Whoever received a message tries once to tell its sender, and is gone.
void AllClear::look_while_down() {
  const Subscribed done = std::move(again_);
  again_ = machine_.loop.at(machine_.clock.now() + kLookAgain, [this] { look_while_down(); });
  const auto there = home_.facts(kDatabaseFile);
  if (there && !*there) return;
  auto database = open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return;
  Gate gate(**database);
  std::ignore = send_what_waits(gate);  // tried again at the next look
}

Result<void> AllClear::send_what_waits(Gate& gate) {
  const auto pending = gate.pending(owner_.agent);
  if (!pending) return std::unexpected(pending.error());
  for (const PendingChannel& channel : *pending) {
    const bool waits =
        channel.state == NoticeState::waiting || channel.state == NoticeState::sending;
    if (waits) replies_.send(channel.outage);
  }
  return {};
}

void AllClear::try_to_end() {
  const Subscribed done = std::move(again_);
  const auto ended = end();
  if (!ended) {
    if (std::exchange(problem_, ended.error().text) != ended.error().text) {
      owner_.say("its messages cannot be released yet: " + problem_, true);
    }
    again_ = machine_.loop.at(machine_.clock.now() + kTryAgain, [this] { try_to_end(); });
    return;
  }
  problem_.clear();
  owner_.changed();
  if (const auto hears = std::exchange(done_, nullptr)) {
    hears(ended->words);
  } else if (ended->was_open) {
    owner_.say(ended->words, false);
  }
  look_again();
}

void AllClear::look_again() {
  if (looks_left_-- <= 0) return;
  again_ = machine_.loop.at(machine_.clock.now() + kLookAgain, [this] { try_to_end(); });
}

Result<AllClear::End> AllClear::end() {
  End nobody{.was_open = false, .words = "nobody has written to it"};
  const auto there = home_.facts(kDatabaseFile);
  if (there && !*there) return nobody;
  auto database = open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return std::unexpected(database.error());
  Gate gate(**database);
  const WallTime now = machine_.clock.wall();
  const auto open = gate.open_outage(owner_.agent);
  if (!open) return std::unexpected(open.error());
  if (!*open) {
    // Whoever ended it may have died before everybody was told.
    if (auto sent = send_what_waits(gate); !sent) return std::unexpected(sent.error());
    return nobody;
  }
  GateNews news{.agent = owner_.agent,
                .outage = (*open)->id,
                .why = {},
                .at = calendar_seconds(now),
                .language = owner_.gate.language,
                .texts = {}};
  for (const auto& [language, texts] : owner_.gate.texts) news.texts[language] = texts.recovered;
  const auto ended = gate.end_outage(owner_.agent, all_clear_payload(news), now);
  if (!ended) return std::unexpected(ended.error());
  if (const auto waiting = gate.waiting(owner_.agent, now)) owner_.released(*waiting);
  replies_.send((*open)->id);
  return End{.was_open = true,
             .words = fmt::format("outage {} is over: {} released, {} to be told", (*open)->id,
                                  ended->released, ended->told)};
}

bool AllClear::is_due() {
  const auto there = home_.facts(kDatabaseFile);
  if (there && !*there) return false;
  const auto database =
      open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return true;
  const auto open = Gate(**database).open_outage(owner_.agent);
  return !open || open->has_value();
}

Result<std::int64_t> AllClear::waiting() {
  const auto there = home_.facts(kDatabaseFile);
  if (there && !*there) return 0;
  const auto database =
      open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return std::unexpected(database.error());
  return Gate(**database).waiting(owner_.agent, machine_.clock.wall());
}

std::vector<PendingChannel> AllClear::pending() {
  const auto there = home_.facts(kDatabaseFile);
  if (!there || !*there) return {};
  const auto database =
      open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return {};
  return Gate(**database).pending(owner_.agent).value_or(std::vector<PendingChannel>{});
}

void AllClear::hear(const Postman::Delivery& delivery) {
  owner_.changed();
  if (delivery.told.heard) return;
  const bool is_end = delivery.notice.kind == NoticeKind::close;
  owner_.say(fmt::format("a sender was not told that it is {}{}: {}", is_end ? "over" : "down",
                         delivery.given_up ? ", and that is given up" : "", delivery.told.words),
             delivery.given_up);
}

}  // namespace tend
