// What others wrote is shown with its lines, and without anything that a terminal would obey.
#include "app/gate_view.h"

#include <fmt/format.h>

#include "app/columns.h"
#include "app/mail_view.h"
#include "app/when.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLongestShown = 200;

std::string_view word_of(MessageState state) {
  return kMessageStateWords.at(static_cast<std::size_t>(state));
}

std::string agent_of(const std::string& agent) {
  return agent.empty() ? "nobody in particular" : on_one_line(agent);
}

Ink ink_of(MessageState state) {
  switch (state) {
    case MessageState::dead:
      return Ink::red;
    case MessageState::held:
      return Ink::yellow;
    case MessageState::queued:
    case MessageState::taken:
      return Ink::bold;
    case MessageState::done:
      break;
  }
  return Ink::plain;
}

std::string reply_in_words(const ReplyDone& reply) {
  if (reply.is == "sent") return "; its sender is told so";
  if (reply.is == "waiting") {
    return "; its sender is told so as soon as that works" +
           (reply.error.empty() ? "" : " (" + reply.error + ")");
  }
  return reply.error.empty() ? "" : "; nobody is told: " + reply.error;
}

}  // namespace

std::string received_in_words(const ReceiveAnswer& answer, const ReplyDone& reply) {
  using enum ReceiveAnswer::Action;
  const Message& message = answer.message;
  const std::string agent = agent_of(message.agent);
  const std::string down = fmt::format("{} is down ({})", agent, answer.mode.why);
  switch (answer.action) {
    case queued:
      return fmt::format("message {} is queued for {}\n", message.id, agent);
    case auto_replied:
    case held:
      return fmt::format("message {} is held: {}{}\n", message.id, down, reply_in_words(reply));
    case rejected:
      return fmt::format("the message is not kept: {}{}\n", down, reply_in_words(reply));
    case duplicate:
      break;
  }
  return fmt::format("received before, as message {}, which is {}\n", message.id,
                     word_of(message.state));
}

std::string message_in_words(const Message& message, WallTime now) {
  std::string words = fmt::format("message {}, {}\n", message.id, word_of(message.state));
  const auto line = [&](std::string_view name, const std::string& text) {
    words += fmt::format("  {:<10}{}\n", name, text);
  };
  line("for", agent_of(message.agent));
  line("from", on_one_line(message.channel) + " " + on_one_line(message.endpoint));
  line("priority", std::to_string(message.priority));
  line("received", age_label(message.received_at, now) + " ago");
  if (message.state == MessageState::taken) {
    const auto left = std::chrono::duration_cast<Duration>(message.lease_until - now);
    line("taken", fmt::format("by {}, {}", on_one_line(message.holder.value_or("nobody")),
                              left > Duration{} ? "for another " + short_age(left)
                                                : "and not done in time"));
  }
  if (message.tries > 0) line("tries", std::to_string(message.tries));
  if (message.last_error) line("error", on_one_line(*message.last_error));
  if (message.key) line("key", on_one_line(*message.key));
  if (message.outage != 0) line("outage", std::to_string(message.outage));
  return words + "\n" + text_for_people(message.content);
}

std::string messages_for_people(std::span<const Message> messages, const Look& look,
                                std::size_t width, WallTime now) {
  Columns columns({{"MESSAGE", true},
                   {"STATE"},
                   {"PRIO", true},
                   {"FOR"},
                   {"FROM"},
                   {"AGE", true},
                   {"TRIES", true},
                   {"WHAT"}});
  for (const Message& message : messages) {
    columns.add({{std::to_string(message.id)},
                 {std::string(word_of(message.state)), ink_of(message.state)},
                 {std::to_string(message.priority)},
                 {message.agent.empty() ? "-" : on_one_line(message.agent)},
                 {on_one_line(message.channel) + " " + on_one_line(message.endpoint)},
                 {age_label(message.received_at, now)},
                 {std::to_string(message.tries)},
                 {one_line(message.content, kLongestShown)}});
  }
  return columns.text(look, width);
}

std::string status_in_words(const GateStatus& status, WallTime now) {
  const WallTime since = status.mode.since != WallTime{} ? status.mode.since
                         : status.outage                 ? status.outage->since
                                                         : WallTime{};
  std::string words = agent_of(status.agent) + ": ";
  if (status.mode.down) {
    words += fmt::format("degraded for {}: {}\n", age_label(since, now), status.mode.why);
  } else {
    words += status.mode.over                       ? "normal, and its work is over\n"
             : status.known || status.agent.empty() ? "normal\n"
                                                    : "normal, and nobody of that name is known\n";
  }
  const GateCount& count = status.count;
  words += fmt::format("  messages  {} queued, {} held, {} taken, {} dead, {} done\n", count.queued,
                       count.held, count.taken, count.dead, count.done);
  if (count.oldest) words += fmt::format("  oldest    {}\n", age_label(*count.oldest, now));
  for (const PendingChannel& channel : status.pending) {
    words += fmt::format("  told      {} {}, {} ago, and not yet that it is over{}\n",
                         on_one_line(channel.channel), on_one_line(channel.endpoint),
                         age_label(channel.since, now),
                         channel.state == NoticeState::dead ? ": it was given up" : "");
    if (channel.last_error) {
      words += fmt::format("            {}\n", on_one_line(*channel.last_error));
    }
  }
  if (count.dead > 0) {
    words +=
        "  `tend gate list --state dead` shows what was given up, `tend gate retry ID` tries "
        "it again\n";
  }
  if (status.mode.looping) {
    words += fmt::format("  it is not started any more; `tend gate resume --agent {}` lets it\n",
                         agent_of(status.agent));
  }
  return words;
}

}  // namespace tend
