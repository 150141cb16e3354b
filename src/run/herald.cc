// One key for one agent, or one lease: whatever is wrong with it is one incident.
#include "run/herald.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAfterTrouble = 30s;  // of the outbox
constexpr Duration kSoonest = 1s;
constexpr Duration kLatest = 1h;

std::vector<std::string> names_of(const Folder& home, const Herald::About& about) {
  std::vector<std::string> names;
  names.reserve(about.channels.size() + 1);
  for (const NotifyChannel& channel : about.channels) names.push_back(channel.name);
  if (about.own) names.push_back(agent_channel(home, about.folder, about.agent));
  return names;
}

std::string shown(const std::string& channel) {
  return channel.starts_with(kAgentChannel) ? "--notify" : channel;
}

}  // namespace

std::string trouble_key(const Folder& home, const std::string& folder, const std::string& agent) {
  return agent_channel(home, folder, agent) + ":trouble";
}

Herald::Herald(Machine& machine, Folder& home, const About& about,
               std::function<void(const std::string&)> not_heard, Callback idle)
    : machine_(machine),
      home_(home),
      names_(names_of(home, about)),
      key_(about.key.empty() ? trouble_key(home, about.folder, about.agent) : about.key),
      not_heard_(std::move(not_heard)),
      idle_(std::move(idle)),
      postman_(
          machine, home, about.channels, key_,
          [this](const Postman::Delivery& delivery) { hear(delivery); },
          [this](const Postman::Round& round) { plan(round); }) {}

Result<std::string> Herald::tell(const Incident& incident) {
  if (auto done = put(format_incident(incident)); !done) return std::unexpected(done.error());
  close_.reset();
  owed_because_.clear();
  close_again_.reset();
  postman_.send();
  std::vector<std::string> ways;
  std::ranges::transform(names_, std::back_inserter(ways), shown);
  return fmt::format("in the outbox for {}", fmt::join(ways, ", "));
}

/// Said again after a failure, it is on some channels already, and stays there as it is.
Result<void> Herald::put(const std::string& payload) {
  const DatabaseSettings settings{.may_wait = Postman::kMayWait};
  auto database = open_home_database(machine_.databases, home_, settings);
  if (!database) return std::unexpected(database.error());
  Outbox outbox(**database);
  for (const std::string& name : names_) {
    if (auto done = outbox.put(name, key_, payload, machine_.clock.wall()); !done) {
      return std::unexpected(done.error());
    }
  }
  return {};
}

void Herald::close(const Incident& incident) {
  close_ = format_incident(incident);
  try_to_close();
}

void Herald::try_to_close() {
  const auto closed = [this]() -> Result<std::int64_t> {
    const DatabaseSettings settings{.may_wait = Postman::kMayWait};
    auto database = open_home_database(machine_.databases, home_, settings);
    if (!database) return std::unexpected(database.error());
    return Outbox(**database).close(key_, close_, machine_.clock.wall());
  }();
  close_again_.reset();
  owed_because_ = closed ? "" : closed.error().text;
  if (!closed) {
    close_again_ =
        machine_.loop.at(machine_.clock.now() + kAfterTrouble, [this] { try_to_close(); });
    return;
  }
  close_.reset();
  postman_.send();
}

/// What waits is tried again when its time has come, if this keeper is still there then.
void Herald::plan(const Postman::Round& round) {
  again_.reset();
  std::optional<Duration> in;
  if (!round.problem.empty()) {
    in = kAfterTrouble;
    if (std::exchange(problem_, round.problem) != round.problem) {
      not_heard_("notices cannot be sent: " + round.problem);
    }
  } else if (round.next) {
    const auto wait = std::chrono::duration_cast<Duration>(*round.next - machine_.clock.wall());
    in = std::clamp(wait, kSoonest, kLatest);
    problem_.clear();
  }
  if (in) again_ = machine_.loop.at(machine_.clock.now() + *in, [this] { postman_.send(); });
  if (idle_) idle_();
}

void Herald::hear(const Postman::Delivery& delivery) {
  if (delivery.told.heard) return;
  not_heard_(fmt::format("a notice was not heard{}: {}: {}",
                         delivery.given_up ? ", and is given up" : "",
                         shown(delivery.notice.channel), delivery.told.words));
}

}  // namespace tend
