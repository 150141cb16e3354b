// They look and set right; sending is the business of who has the channels.
#include "app/outbox_commands.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/home_records.h"
#include "app/number_option.h"
#include "app/outbox_view.h"
#include "base/quote.h"
#include "judge/words.h"
#include "store/gate.h"
#include "store/outbox.h"
#include "store/tasks.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = NoticeAnswer::Did;
using Notices = std::vector<Notice>;

constexpr Duration kPrunedAfter = 7 * 24h;

bool is_dead(const Notice& notice) { return notice.state == NoticeState::dead; }

std::string no_such_notice(std::int64_t id) {
  return fmt::format("there is no notice {}; `tend outbox --all` shows them", id);
}

Result<std::int64_t> notice_number(const std::string& text) {
  return number_from_1(text, "wants the number of a notice (`tend outbox` shows them)");
}

// --- Listing ------------------------------------------------------------------------------------

Result<NoticeFilter> filter_of(const Arguments& arguments) {
  NoticeFilter filter;
  if (const auto state = arguments.value("state")) {
    filter.state = from_word<NoticeState>(kNoticeStateWords, *state);
  }
  filter.channel = arguments.value("channel");
  if (filter.channel) {
    if (auto ok = check_task_word("--channel", *filter.channel); !ok) {
      return std::unexpected(ok.error());
    }
  }
  return filter;
}

/// What is not sent yet, and the last word on every incident that is open.
Result<Notices> what_matters(Outbox& outbox, NoticeFilter filter) {
  Notices found;
  for (const NoticeState state : {NoticeState::waiting, NoticeState::sending, NoticeState::dead}) {
    filter.state = state;
    const auto some = outbox.list(filter);
    if (!some) return some;
    found.insert(found.end(), some->begin(), some->end());
  }
  filter.state = NoticeState::sent;
  filter.open_only = true;
  auto sent = outbox.list(filter);
  if (!sent) return sent;
  std::map<std::int64_t, Notice*> last_of;  // by incident; they come oldest first
  for (Notice& notice : *sent) last_of[notice.incident] = &notice;
  for (const auto& [incident, notice] : last_of) found.push_back(std::move(*notice));
  std::ranges::sort(found, {}, &Notice::id);
  return found;
}

Result<Notices> listed(const Arguments& arguments, Outbox& outbox, const NoticeFilter& filter) {
  if (filter.state || arguments.has("all")) return outbox.list(filter);
  return what_matters(outbox, filter);
}

/// Of the ways back to who wrote to the gate.
ChannelNames names_of(Database& database, std::span<const Notice> notices) {
  ChannelNames names;
  Gate gate(database);
  for (const Notice& notice : notices) {
    if (!notice.channel.starts_with(kReplyChannel) || names.contains(notice.channel)) continue;
    const auto id = number_from_1(notice.channel.substr(kReplyChannel.size()), "");
    const auto way = id ? gate.find_way(*id) : std::nullopt;
    if (way && *way) names[notice.channel] = (*way)->channel + " " + (*way)->endpoint;
  }
  return names;
}

void print_for_people(World& world, Database& database, const Notices& notices, std::ptrdiff_t dead,
                      WallTime now) {
  if (notices.empty()) {
    world.out.write("no notices\n");
    return;
  }
  world.out.write(notices_for_people(notices, names_of(database, notices),
                                     Look(world.out, world.environment), screen_width(world.out),
                                     now));
  if (dead == 0) return;
  world.out.write(
      fmt::format("{} could not be sent: `tend outbox retry --all` tries again, `tend "
                  "outbox prune` drops what is over\n",
                  dead == 1 ? "1 notice" : fmt::format("{} notices", dead)));
}

// --- Setting right ------------------------------------------------------------------------------

int retry_all(const Arguments& arguments, World& world, Outbox& outbox, WallTime now) {
  const auto count = outbox.retry_all(now);
  if (!count) return complain(world, "outbox retry", count.error().text, kExitNo);
  world.out.write(
      arguments.has("json")
          ? json_line({{"retried", *count}})
          : fmt::format("{} {} again\n", *count, *count == 1 ? "notice waits" : "notices wait"));
  return kExitYes;
}

int retry_one(const Arguments& arguments, World& world, Outbox& outbox, std::int64_t id,
              WallTime now) {
  const auto answer = outbox.retry(id, now);
  if (!answer) return complain(world, "outbox retry", answer.error().text, kExitNo);
  if (answer->did == Did::no_such_notice) {
    return complain(world, "outbox retry", no_such_notice(id), kExitNo);
  }
  if (answer->did == Did::over) {
    return complain(world, "outbox retry",
                    fmt::format("notice {} is over: its incident has ended, or a later one tells "
                                "of it; `tend outbox prune` drops it",
                                id),
                    kExitNo);
  }
  if (arguments.has("json")) {
    world.out.write(json_line(notice_json(answer->notice)));
  } else if (answer->did == Did::done) {
    world.out.write(fmt::format("{}: waits again\n", id));
  } else {
    world.out.write(
        fmt::format("{}: is {}, not dead\n", id,
                    kNoticeStateWords.at(static_cast<std::size_t>(answer->notice.state))));
  }
  return kExitYes;
}

}  // namespace

int outbox_command(const Arguments& arguments, World& world) {
  const auto filter = filter_of(arguments);
  if (!filter) return complain(world, "outbox", filter.error().text, kExitUsage);
  auto records = open_home_records(world);
  if (!records) return complain(world, "outbox", records.error().text, kExitNo);
  Outbox outbox(*records->database);
  const auto notices = listed(arguments, outbox, *filter);
  if (!notices) return complain(world, "outbox", notices.error().text, kExitNo);
  const std::ptrdiff_t dead = std::ranges::count_if(*notices, is_dead);
  if (arguments.has("json")) {
    for (const Notice& notice : *notices) world.out.write(json_line(notice_json(notice)));
  } else {
    print_for_people(world, *records->database, *notices, dead, records->now());
  }
  return dead == 0 ? kExitYes : kExitNeedsYou;
}

int outbox_show_command(const Arguments& arguments, World& world) {
  const auto id = notice_number(arguments.positionals.front());
  if (!id) return complain(world, "outbox show", id.error().text, kExitUsage);
  auto records = open_home_records(world);
  if (!records) return complain(world, "outbox show", records.error().text, kExitNo);
  const auto notice = Outbox(*records->database).find(*id);
  if (!notice) return complain(world, "outbox show", notice.error().text, kExitNo);
  if (!*notice) return complain(world, "outbox show", no_such_notice(*id), kExitNo);
  world.out.write(arguments.has("json")
                      ? json_line(notice_json(**notice))
                      : notice_in_words(**notice, names_of(*records->database, {&**notice, 1}),
                                        records->now()));
  return kExitYes;
}

int outbox_retry_command(const Arguments& arguments, World& world) {
  if (arguments.has("all") == !arguments.positionals.empty()) {
    return complain(world, "outbox retry", "wants the number of one dead notice, or --all",
                    kExitUsage);
  }
  Result<std::int64_t> id = 0;
  if (!arguments.has("all")) id = notice_number(arguments.positionals.front());
  if (!id) return complain(world, "outbox retry", id.error().text, kExitUsage);
  auto records = open_home_records(world);
  if (!records) return complain(world, "outbox retry", records.error().text, kExitNo);
  Outbox outbox(*records->database);
  const WallTime now = records->now();
  return arguments.has("all") ? retry_all(arguments, world, outbox, now)
                              : retry_one(arguments, world, outbox, *id, now);
}

int outbox_prune_command(const Arguments& arguments, World& world) {
  const auto older = time_option(arguments, "older-than");
  if (!older) return complain(world, "outbox prune", older.error().text, kExitUsage);
  auto records = open_home_records(world);
  if (!records) return complain(world, "outbox prune", records.error().text, kExitNo);
  const auto count =
      Outbox(*records->database).prune(records->now() - older->value_or(kPrunedAfter));
  if (!count) return complain(world, "outbox prune", count.error().text, kExitNo);
  world.out.write(arguments.has("json")
                      ? json_line({{"pruned", *count}})
                      : fmt::format("{} {} dropped\n", *count, *count == 1 ? "notice" : "notices"));
  return kExitYes;
}

}  // namespace tend
