// Whoever received a message in the very moment of the recovery may begin an outage that nobody
// sees the end of: so it is looked for once more, and again later.
#include "run/all_clear.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "act/gate_words.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTryAgain = 10s;
constexpr Duration kLookAgain = 60s;
constexpr int kLooks = 5;
constexpr Duration kSoonest = 1s;
constexpr Duration kLatest = 1h;

}  // namespace

AllClear::AllClear(Machine& machine, Folder& home, Owner owner)
    : machine_(machine), home_(home), owner_(std::move(owner)) {}

void AllClear::begin(std::function<void(const std::string&)> done) {
  if (done_) done_("not done: there is a later one");
  done_ = std::move(done);
  looks_left_ = kLooks;
  again_ = machine_.loop.at(machine_.clock.now(), [this] { try_to_end(); });
}

void AllClear::take_back() {
  again_.reset();
  looks_left_ = 0;
  if (const auto done = std::exchange(done_, nullptr)) done("not done: it is down again");
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
    const auto untold = gate.pending(owner_.agent);
    if (!untold) return std::unexpected(untold.error());
    if (!untold->empty()) send(untold->front().outage);
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
  send((*open)->id);
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

std::vector<PendingChannel> AllClear::pending() {
  const auto there = home_.facts(kDatabaseFile);
  if (!there || !*there) return {};
  const auto database =
      open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return {};
  return Gate(**database).pending(owner_.agent).value_or(std::vector<PendingChannel>{});
}

void AllClear::send(std::int64_t outage) {
  if (postman_ && postman_->busy()) return;
  postman_ = std::make_unique<Postman>(
      machine_, home_, std::vector<NotifyChannel>{}, outage_key(outage),
      [this](const Postman::Delivery& delivery) { hear(delivery); },
      [this](const Postman::Round& round) { plan(round); });
  postman_->send();
}

/// What waits is tried again when its time has come, if this keeper is still there then.
void AllClear::plan(const Postman::Round& round) {
  send_again_.reset();
  owner_.changed();
  if (round.problem.empty() && !round.next) return;
  Duration wait = kTryAgain;
  if (round.next) {
    wait = std::clamp(std::chrono::duration_cast<Duration>(*round.next - machine_.clock.wall()),
                      kSoonest, kLatest);
  }
  send_again_ = machine_.loop.at(machine_.clock.now() + wait, [this] { postman_->send(); });
}

void AllClear::hear(const Postman::Delivery& delivery) {
  owner_.changed();
  if (delivery.told.heard) return;
  owner_.say(fmt::format("a sender was not told that it is over{}: {}",
                         delivery.given_up ? ", and that is given up" : "", delivery.told.words),
             delivery.given_up);
}

}  // namespace tend
