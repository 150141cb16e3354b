// A round ends when nothing is on its way and nothing is due that it has not tried.
#include "run/postman.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/agent_file.h"
#include "store/gate.h"
#include "store/home_database.h"
#include "store/names.h"

namespace tend {
namespace {

constexpr std::size_t kLongestChannel = 240;
constexpr std::int64_t kMostAsked = 64;

/// Within [0, 1).
double jitter(Entropy& entropy) { return static_cast<double>(entropy.number() >> 11U) * 0x1.0p-53; }

Way way_of_channel(const NotifyChannel& channel) {
  switch (channel.kind) {
    case NotifyChannel::Kind::webhook:
      return ByWebhook{channel.url, channel.slack};
    case NotifyChannel::Kind::desktop:
      return ByDesktop{};
    case NotifyChannel::Kind::command:
      break;
  }
  return ByCommand{channel.command};
}

/// Whoever has the channel's own tool can tell by it that he has seen this one. The time tells
/// apart what other homes and earlier databases counted.
std::string key_of(const Notice& notice) {
  return fmt::format("tend-{}-{}-{}-{}", notice.incident,
                     kNoticeKindWords.at(static_cast<std::size_t>(notice.kind)), notice.id,
                     database_time(notice.created_at));
}

Result<Way> way_of_reply(Database& database, std::string_view number) {
  std::int64_t id = 0;
  std::from_chars(number.data(), number.data() + number.size(), id);
  auto way = Gate(database).find_way(id);
  if (!way) return std::unexpected(way.error());
  if (!*way || (*way)->command.empty()) {
    return fail(fmt::format("no way back to its sender is known any more: {}", in_quotes(number)));
  }
  return ByReply{std::move((*way)->command), std::move((*way)->channel),
                 std::move((*way)->endpoint), std::move((*way)->language)};
}

}  // namespace

std::string agent_channel(const Folder& home, const std::string& folder, const std::string& agent) {
  const std::string within = home.path() + "/";
  const std::string where = folder.starts_with(within) ? folder.substr(within.size()) : folder;
  return std::string(kAgentChannel) + (where.size() <= kLongestChannel ? where : agent);
}

Postman::Postman(Machine& machine, Folder& home, std::vector<NotifyChannel> channels,
                 std::optional<std::string> key, Delivered delivered, Done done)
    : machine_(machine),
      home_(home),
      channels_(std::move(channels)),
      key_(std::move(key)),
      delivered_(std::move(delivered)),
      done_(std::move(done)) {}

void Postman::send() {
  if (busy()) return;  // what came since is seen before the round ends
  tried_.clear();
  starting_ = machine_.loop.at(machine_.clock.now(), [this] {
    starting_.reset();
    go_on();
  });
}

void Postman::send_only(std::int64_t notice) {
  only_ = notice;
  send();
}

void Postman::go_on() {
  const auto next = begin_what_is_due();
  if (!sending_.empty()) return;
  if (!next) return end_round({.next = {}, .problem = next.error().text});
  end_round({.next = *next, .problem = ""});
}

void Postman::end_round(Round round) {
  const Done done = done_;  // it may destroy this
  if (done) done(round);
}

/// When the next is due, which is of interest only if nothing is on its way.
Result<std::optional<WallTime>> Postman::begin_what_is_due() {
  auto database = open_home_database(machine_.databases, home_, {.may_wait = kMayWait});
  if (!database) return std::unexpected(database.error());
  Outbox outbox(**database);
  const auto most = only_ ? static_cast<std::int64_t>(kMostInARound)
                          : kMostAsked + static_cast<std::int64_t>(tried_.size());
  bool more = true;
  while (more && tried_.size() < kMostInARound) {
    more = false;
    const auto due = outbox.due(machine_.clock.wall(), most, key_);
    if (!due) return std::unexpected(due.error());
    for (const Notice& notice : *due) {
      if (sending_.size() >= kMostAtOnce) break;
      if (only_ && notice.id != *only_) continue;
      if (tried_.contains(notice.id) || sending_.contains(notice.channel)) continue;
      if (auto begun = begin(**database, notice); !begun) return std::unexpected(begun.error());
      more = true;  // one that could not even be begun may have stood before another
    }
  }
  return outbox.next_due(key_);
}

Result<void> Postman::begin(Database& database, const Notice& notice) {
  tried_.insert(notice.id);
  Outbox outbox(database);
  auto taken = outbox.take(notice.id, machine_.clock.wall(), kLease);
  if (!taken) return std::unexpected(taken.error());
  if (taken->did != NoticeAnswer::Did::done) return {};  // somebody else has it
  const Notice& held = taken->notice;
  auto way = way_of(database, held.channel);
  if (!way) return note_in(outbox, held, {.words = way.error().text});
  const Outgoing outgoing{.payload = held.payload,
                          .incident = held.incident,
                          .kind = kNoticeKindWords.at(static_cast<std::size_t>(held.kind)),
                          .key = key_of(held)};
  Sending& sending =
      sending_.insert_or_assign(held.channel, Sending{held, *std::move(way), nullptr})
          .first->second;
  sending.run = machine_.processes.run(
      tend::sending(sending.way, outgoing),
      [this, channel = held.channel](const Result<Ran>& ran) { finish(channel, ran); });
  return {};
}

void Postman::finish(const std::string& channel, const Result<Ran>& ran) {
  auto node = sending_.extract(channel);
  if (node.empty()) return;
  const Sending& sending = node.mapped();
  Told told = told_by(sending.way, ran);
  if (auto noted = note(sending.notice, told); !noted) {
    told.words += "; that could not be noted, so it is sent again: " + noted.error().text;
    told.heard = false;
    delivered_({.notice = sending.notice, .told = told});
  }
  go_on();
}

Result<void> Postman::note(const Notice& held, const Told& told) {
  auto database = open_home_database(machine_.databases, home_, {.may_wait = kMayWait});
  if (!database) return std::unexpected(database.error());
  Outbox outbox(**database);
  return note_in(outbox, held, told);
}

Result<void> Postman::note_in(Outbox& outbox, const Notice& held, const Told& told) {
  const WallTime now = machine_.clock.wall();
  const auto answer = told.heard ? outbox.sent(held, now)
                                 : outbox.failed(held, told.words, now, jitter(machine_.entropy));
  if (!answer) return std::unexpected(answer.error());
  const bool is_known = answer->did != NoticeAnswer::Did::no_such_notice;
  delivered_({.notice = is_known ? answer->notice : held,
              .told = told,
              .given_up = answer->did == NoticeAnswer::Did::given_up});
  return {};
}

Result<Way> Postman::way_of(Database& database, std::string_view channel) {
  if (channel.starts_with(kReplyChannel)) {
    return way_of_reply(database, channel.substr(kReplyChannel.size()));
  }
  if (channel.starts_with(kAgentChannel)) return way_of_agent(channel.substr(kAgentChannel.size()));
  const auto found = std::ranges::find(channels_, channel, &NotifyChannel::name);
  if (found != channels_.end()) return way_of_channel(*found);
  return fail(fmt::format(
      "no channel {} is configured any more: give a [[notify]] of config.toml that name",
      in_quotes(channel)));
}

Result<Way> Postman::way_of_agent(std::string_view who) {
  std::string path(who);
  if (!who.contains('/')) {
    const auto named = named_folder(home_, who);
    if (!named) return std::unexpected(named.error());
    if (!*named) return fail(fmt::format("nobody is called {}", in_quotes(who)));
    path = **named;
  }
  if (!path.starts_with('/')) path = home_.path() + "/" + path;
  const auto folder = machine_.folders.open(path);
  if (!folder) return std::unexpected(folder.error());
  auto agent = read_agent_file(**folder);
  if (!agent) return std::unexpected(agent.error());
  if (agent->notify.empty()) return fail(fmt::format("{} has no --notify", agent->agent));
  return ByCommand{std::move(agent->notify)};
}

}  // namespace tend
