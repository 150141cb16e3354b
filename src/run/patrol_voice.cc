// Everything said here can be said twice without harm: letters and notices have keys.
#include "run/patrol_voice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "act/tell.h"
#include "base/quote.h"
#include "store/gate.h"
#include "store/home_database.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMayWait = 2s;          // it has other things to look at
constexpr Duration kKeptFor = 30 * 24h;    // what is over, for people who look back
constexpr std::int64_t kMostLooked = 200;  // letters or notices at once
constexpr std::size_t kLongestTold = 2048;

/// One letter for each time that a task went silent.
std::string ping_key(const Task& task) {
  return fmt::format("ping:{}:{}:{}", task.id, task.fence, database_time(task.last_sign()));
}

}  // namespace

std::string task_key(std::string_view id) { return "task:" + std::string(id); }

Result<Database*> PatrolVoice::database() {
  if (database_) return database_.get();
  auto opened = open_home_database(machine_.databases, home_, {.may_wait = kMayWait});
  if (!opened) return std::unexpected(opened.error());
  database_ = *std::move(opened);
  return database_.get();
}

Result<void> PatrolVoice::event(Event event) {
  if (event.agent.empty()) event.agent = kPatrolName;
  event.at = calendar_seconds(machine_.clock.wall());
  return append_event(home_, event);
}

Result<PatrolVoice::Pinged> PatrolVoice::ping(const Task& task,
                                              const std::vector<std::string>& because) {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  const std::string id = on_one_line(task.id);
  Letter letter;
  letter.from = kPatrolName;
  letter.to = task.assignee.value_or("");
  letter.subject = fmt::format("[PING] {}: are you still at it?", id);
  letter.body = fmt::format(
      "You hold the task {} ({}).\n\n{}.\n\nIf you work on it, say so: `tend heartbeat {}`; or "
      "acknowledge this letter with `tend mail ack`. If you do not, give it back: `tend task "
      "release {}`.\n",
      id, on_one_line(task.title), fmt::join(because, ";\n"), id, id);
  letter.key = ping_key(task);
  const WallTime now = machine_.clock.wall();
  Mailbox mailbox(**open);
  const auto sent = mailbox.send(letter, now);
  if (!sent) return std::unexpected(sent.error());
  const auto found = mailbox.find(*sent);
  if (!found) return std::unexpected(found.error());
  return Pinged{*sent, *found && database_time((*found)->at) == database_time(now)};
}

Result<std::optional<WallTime>> PatrolVoice::last_answer(const std::string& worker) {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  const auto letters = Mailbox(**open).inbox(worker, LetterView::all, kMostLooked);
  if (!letters) return std::unexpected(letters.error());
  std::optional<WallTime> last;
  for (const Letter& letter : *letters) {
    if (letter.acked_at) last = std::max(last.value_or(*letter.acked_at), *letter.acked_at);
  }
  return last;
}

std::string PatrolVoice::payload(std::string_view action, const std::string& text,
                                 const std::vector<std::string>& because,
                                 const std::string& to_do) {
  Incident incident;
  incident.agent = kPatrolName;
  incident.action = action;
  incident.why = text;
  incident.because = because;
  incident.what_to_do = to_do;
  incident.folder = home_.path();
  incident.at = calendar_seconds(machine_.clock.wall());
  return format_incident(incident);
}

Result<void> PatrolVoice::notice(const Concern& concern, const std::vector<std::string>& because) {
  if (channels_.empty()) return {};
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  Outbox outbox(**open);
  for (const std::string& channel : channels_) {
    const auto put =
        outbox.put(channel, concern.key, payload("escalate", concern.text, because, concern.to_do),
                   machine_.clock.wall());
    if (!put) return std::unexpected(put.error());
  }
  return {};
}

Result<void> PatrolVoice::is_over(const std::string& key, const std::string& text) {
  if (channels_.empty()) return {};
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  const auto closed =
      Outbox(**open).close(key, payload("over", text, {}, ""), machine_.clock.wall());
  if (!closed) return std::unexpected(closed.error());
  return {};
}

Result<std::map<std::string, PatrolVoice::Told, std::less<>>> PatrolVoice::open_incidents() {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  NoticeFilter filter;
  filter.open_only = true;
  const auto notices = Outbox(**open).list(filter);
  if (!notices) return std::unexpected(notices.error());
  std::map<std::string, Told, std::less<>> all;
  for (const Notice& notice : *notices) {
    Told& told = all[notice.key];
    const auto incident = parse_object(notice.payload, notice.payload.size());
    if (!incident) continue;
    told.why = shown_text(*incident, "why", kLongestTold);
    told.by_patrol = shown_text(*incident, "agent", kLongestTold) == kPatrolName;
  }
  return all;
}

Result<void> PatrolVoice::is_over_of(const std::string& key, const Heartbeat& agent,
                                     const std::string& folder, const std::string& why) {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  Incident incident;
  incident.agent = agent.agent;
  incident.session = agent.session;
  incident.life = agent.life;
  incident.action = "notify";
  incident.why = why;
  incident.what_to_do = "nothing: that is over";
  incident.folder = folder;
  incident.at = calendar_seconds(machine_.clock.wall());
  const auto closed = Outbox(**open).close(key, format_incident(incident), machine_.clock.wall());
  if (!closed) return std::unexpected(closed.error());
  return {};
}

Result<std::vector<Notice>> PatrolVoice::dead_notices() {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  NoticeFilter filter;
  filter.state = NoticeState::dead;
  filter.most = kMostLooked;
  return Outbox(**open).list(filter);
}

Result<std::vector<Notice>> PatrolVoice::waiting_since(WallTime then) {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  NoticeFilter filter;
  filter.state = NoticeState::waiting;
  filter.most = kMostLooked;
  auto waiting = Outbox(**open).list(filter);
  if (waiting) std::erase_if(*waiting, [&](const Notice& one) { return one.created_at > then; });
  return waiting;
}

Result<std::vector<Letter>> PatrolVoice::unanswered_since(WallTime then) {
  const auto open = database();
  if (!open) return std::unexpected(open.error());
  auto letters = Mailbox(**open).unacked_before(then, kMostLooked);
  // A worker that does not answer is on its ladder.
  if (letters) {
    std::erase_if(*letters, [](const Letter& letter) { return letter.from == kPatrolName; });
  }
  return letters;
}

Result<void> PatrolVoice::tidy() {
  const auto opened = database();
  if (!opened) return std::unexpected(opened.error());
  const WallTime before = machine_.clock.wall() - kKeptFor;
  if (auto letters = Mailbox(**opened).prune(before); !letters) {
    return std::unexpected(letters.error());
  }
  if (auto notices = Outbox(**opened).prune(before); !notices) {
    return std::unexpected(notices.error());
  }
  if (auto messages = Gate(**opened).prune(before); !messages) {
    return std::unexpected(messages.error());
  }
  return {};
}

}  // namespace tend
