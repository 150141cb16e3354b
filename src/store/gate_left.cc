// What was told is not remembered here: the outbox knows it, by the outage's key and the way's
// channel.
#include "store/gate_left.h"

#include <map>

#include <fmt/format.h>

#include "store/gate.h"
#include "store/home_database.h"
#include "store/outbox.h"

namespace tend {
namespace {

constexpr std::int64_t kMostTold = 1'000;  // messages at a time

/// Numbers of messages, by the way back to who sent them.
using ByWay = std::map<std::int64_t, std::vector<std::int64_t>>;

Result<ByWay> left_by_way(Database& database, const LeftMessages& left) {
  ByWay found;
  auto read = database.each(
      "SELECT reply_ways.id, messages.id FROM messages JOIN reply_ways "
      "ON reply_ways.agent = messages.agent AND reply_ways.channel = messages.channel "
      "AND reply_ways.endpoint = messages.endpoint "
      "WHERE messages.agent = ?1 AND messages.state <> 'done' "
      "AND messages.state IN ('queued', 'held') AND messages.received_at < ?2 "
      "ORDER BY messages.id LIMIT ?3",
      {left.agent, database_time(left.before), kMostTold},
      [&](const DatabaseRow& row) { found[row.number(0)].push_back(row.number(1)); });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<bool> was_told(Outbox& outbox, const std::string& channel, const std::string& key) {
  NoticeFilter filter;
  filter.channel = channel;
  filter.key = key;
  filter.most = 1;
  const auto notices = outbox.list(filter);
  if (!notices) return std::unexpected(notices.error());
  return !notices->empty();
}

}  // namespace

Result<std::int64_t> tell_left(Database& database, const LeftMessages& left, WallTime now) {
  const auto ways = left_by_way(database, left);
  if (!ways) return std::unexpected(ways.error());
  if (ways->empty()) return 0;
  const auto outage = Gate(database).begin_outage(left.agent, left.why, now);
  if (!outage) return std::unexpected(outage.error());
  const std::string key = outage_key(outage->id);
  Outbox outbox(database);
  std::int64_t told = 0;
  for (const auto& [way, messages] : *ways) {
    const std::string channel = fmt::format("{}{}", kReplyChannel, way);
    const auto before = was_told(outbox, channel, key);
    if (!before) return std::unexpected(before.error());
    if (*before) continue;
    const auto unsent = outbox.unsent();
    if (!unsent) return std::unexpected(unsent.error());
    if (*unsent >= kMostUnsent / 2) break;  // half of it is left to what is no answer
    const auto put = outbox.put(channel, key, left.undelivered(messages), now);
    if (!put) return std::unexpected(put.error());
    ++told;
  }
  return told;
}

}  // namespace tend
