// Of a payload people see its text where it has one; what a channel made of it is not known here.
#include "app/outbox_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "act/gate_words.h"
#include "app/agent_json.h"
#include "app/columns.h"
#include "app/when.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

std::string_view word_of(NoticeKind kind) {
  return kNoticeKindWords.at(static_cast<std::size_t>(kind));
}

std::string_view word_of(NoticeState state) {
  return kNoticeStateWords.at(static_cast<std::size_t>(state));
}

Ink ink_of(NoticeState state) {
  switch (state) {
    case NoticeState::dead:
      return Ink::red;
    case NoticeState::waiting:
    case NoticeState::sending:
      return Ink::yellow;
    case NoticeState::sent:
      break;
  }
  return Ink::plain;
}

bool is_to_be_sent(const Notice& notice) {
  return notice.state == NoticeState::waiting || notice.state == NoticeState::sending;
}

std::string text_in(const std::string& payload) {
  if (const auto words = gate_words(payload, "")) return words->gate + ": " + words->text;
  const Json json = Json::parse(payload, nullptr, false);
  if (json.is_object()) {
    for (const char* const name : {"title", "subject", "summary", "text"}) {
      const auto found = json.find(name);
      if (found != json.end() && found->is_string()) return found->get<std::string>();
    }
  }
  return payload;
}

std::string channel_of(const Notice& notice, const ChannelNames& names) {
  const std::string channel = on_one_line(notice.channel);
  const auto found = names.find(notice.channel);
  return found == names.end() ? channel
                              : fmt::format("{} ({})", channel, on_one_line(found->second));
}

std::string what_of(const Notice& notice) {
  const std::string text = on_one_line(text_in(notice.payload));
  if (!notice.last_error) return text;
  return fmt::format("{} -- {}", on_one_line(*notice.last_error), text);
}

std::string next_of(const Notice& notice, WallTime now) {
  if (notice.state != NoticeState::waiting) return "-";
  if (notice.next_at <= now) return "now";
  return short_age(std::chrono::duration_cast<Duration>(notice.next_at - now));
}

}  // namespace

Json notice_json(const Notice& notice) {
  Json payload = Json::parse(notice.payload, nullptr, false);
  if (payload.is_discarded()) payload = notice.payload;
  return {{"id", notice.id},
          {"incident", notice.incident},
          {"incident_open", !notice.closed},
          {"channel", notice.channel},
          {"key", notice.key},
          {"kind", word_of(notice.kind)},
          {"state", word_of(notice.state)},
          {"tries", notice.tries},
          {"next_at", is_to_be_sent(notice) ? calendar_json(notice.next_at) : Json()},
          {"last_error", notice.last_error ? Json(*notice.last_error) : Json()},
          {"in_doubt", notice.in_doubt},
          {"created_at", calendar_json(notice.created_at)},
          {"updated_at", calendar_json(notice.updated_at)},
          {"payload", std::move(payload)}};
}

std::string notice_in_words(const Notice& notice, const ChannelNames& names, WallTime now) {
  std::string words = fmt::format("notice {}, {}\n", notice.id, word_of(notice.state));
  const auto line = [&](std::string_view name, const std::string& text) {
    words += fmt::format("  {:<10}{}\n", name, text);
  };
  line("channel", channel_of(notice, names));
  line("incident", fmt::format("{} ({}, {})", on_one_line(notice.key), notice.incident,
                               notice.closed ? "over" : "open"));
  line("kind", std::string(word_of(notice.kind)));
  line("tries", std::to_string(notice.tries));
  if (notice.state == NoticeState::waiting) {
    const std::string next = next_of(notice, now);
    line("next", next == "now" ? next : "in " + next);
  }
  if (notice.last_error) line("error", on_one_line(*notice.last_error));
  if (notice.in_doubt) line("in doubt", "a sender vanished with it: it may have arrived");
  line("made", age_label(notice.created_at, now) + " ago");
  line("changed", age_label(notice.updated_at, now) + " ago");
  return words + "\n" + on_one_line(notice.payload) + "\n";
}

std::string notices_for_people(std::span<const Notice> notices, const ChannelNames& names,
                               const Look& look, std::size_t width, WallTime now) {
  Columns columns({{"NOTICE", true},
                   {"STATE"},
                   {"CHANNEL"},
                   {"INCIDENT"},
                   {"KIND"},
                   {"TRIES", true},
                   {"NEXT", true},
                   {"WHAT"}});
  for (const Notice& notice : notices) {
    columns.add({{std::to_string(notice.id)},
                 {std::string(word_of(notice.state)), ink_of(notice.state)},
                 {channel_of(notice, names)},
                 {on_one_line(notice.key)},
                 {std::string(word_of(notice.kind))},
                 {std::to_string(notice.tries)},
                 {next_of(notice, now)},
                 {what_of(notice)}});
  }
  return columns.text(look, width);
}

}  // namespace tend
