// curl and notify-send have habits that a notice must not trip over: curl reads @, globs and a
// configuration of the user's; notify-send reads markup and backslashes.
#include "act/channel.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "act/gate_words.h"
#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHttpSeconds = 20;  // within kSendDeadline
constexpr int kConnectSeconds = 10;
constexpr std::size_t kLongestPiece = 20'000;
constexpr std::size_t kLongestTitle = 200;
constexpr std::size_t kLongestBody = 3'000;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json object_of(std::string_view payload) {
  Json json = Json::parse(payload, nullptr, false);
  if (json.is_object()) return json;
  return {{"why", std::string(payload)}};
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Cut where no letter is torn.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most) + "...";
}

std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> with) {
  std::string made;
  for (const char c : text) {
    const auto* const found =
        std::find_if(with.begin(), with.end(), [c](const auto& one) { return one.first == c; });
    if (found == with.end()) {
      made += c;
    } else {
      made += found->second;
    }
  }
  return made;
}

/// Slack and desktops read markup; the three letters that begin it are written otherwise.
std::string without_markup(std::string_view text) {
  return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}});
}

// --- curl ---------------------------------------------------------------------------------------

std::string in_curl_quotes(std::string_view text) {
  return "\"" +
         replaced(text,
                  {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}}) +
         "\"";
}

/// As curl puts it together again: a line of its configuration has a bound of 100 KB, and what
/// begins with @ is the name of a file.
std::string in_pieces(std::string_view body) {
  std::string lines;
  while (!body.empty()) {
    std::size_t size = std::min(body.size(), kLongestPiece);
    while (size < body.size() && body[size] == '@') ++size;
    lines += fmt::format("json = {}\n", in_curl_quotes(body.substr(0, size)));
    body.remove_prefix(size);
  }
  return lines;
}

std::string posted(const ByWebhook& webhook, const Outgoing& notice) {
  if (!webhook.slack) return addressed(notice);
  const std::string text = title_of(notice) + "\n" + body_of(notice);
  return dump({{"text", without_markup(text)}}) + "\n";
}

/// All that it is to do comes to its standard input: a command line is there for all to read.
Run by_curl(const ByWebhook& webhook, const Outgoing& notice) {
  Run run;
  run.command = {"curl", "-q", "-K", "-"};
  run.input = fmt::format(
      "url = {}\n"
      "{}"
      "header = \"Expect:\"\n"
      "user-agent = \"tend\"\n"
      "proto = \"=http,https\"\n"
      "max-redirs = 0\n"
      "connect-timeout = {}\n"
      "max-time = {}\n"
      "output = \"/dev/null\"\n"
      "write-out = \"%{{http_code}}\"\n"
      "globoff\nfail\nsilent\nshow-error\n",
      in_curl_quotes(webhook.url), in_pieces(posted(webhook, notice)), kConnectSeconds,
      kHttpSeconds);
  return run;
}

/// It ended well, and was answered so: to curl a redirect that it does not follow is no failure.
Told answered(std::string_view code) {
  if (code.size() == 3 && code.front() == '2') return {.heard = true, .words = "posted"};
  if (code.empty()) return {.words = "nobody knows what the webhook answered"};
  return {.words = fmt::format("the webhook answered {}, which is no 2xx", on_one_line(code))};
}

// --- notify-send --------------------------------------------------------------------------------

Run by_notify_send(const Outgoing& notice) {
  const bool over = notice.kind == "close";
  const std::string body =
      replaced(without_markup(body_of(notice)), {{'\\', "\\\\"}});  // it reads \n and the like
  Run run;
  run.command = {"notify-send", "--app-name=tend", over ? "--urgency=normal" : "--urgency=critical",
                 "--",          title_of(notice),  body};
  return run;
}

// --- Answers ------------------------------------------------------------------------------------

/// What stands in for each name; one pass, so that nothing inside of a value is a name.
std::string filled_in(std::string_view argument,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string made;
  while (!argument.empty()) {
    const auto* const found = std::find_if(values.begin(), values.end(), [&](const auto& one) {
      return argument.starts_with(one.first);
    });
    if (found == values.end()) {
      made += argument.front();
      argument.remove_prefix(1);
    } else {
      made += found->second;
      argument.remove_prefix(found->first.size());
    }
  }
  return made;
}

constexpr std::string_view kText = "{text}";

Run by_reply(const ByReply& reply, const Outgoing& notice) {
  const GateWords words = gate_words(notice.payload, reply.language)
                              .value_or(GateWords{.gate = "", .text = body_of(notice)});
  Run run;
  bool has_text = false;
  for (const std::string& argument : reply.command) {
    has_text = has_text || argument.contains(kText);
    run.command.push_back(filled_in(argument, {{"{channel}", reply.channel},
                                               {"{endpoint}", reply.endpoint},
                                               {kText, words.text},
                                               {"{key}", notice.key}}));
  }
  if (!has_text) run.input = words.text + "\n";
  run.environment = {"TEND_CHANNEL=" + reply.channel, "TEND_ENDPOINT=" + reply.endpoint,
                     "TEND_GATE=" + words.gate, "TEND_IDEMPOTENCY_KEY=" + notice.key};
  return run;
}

// --- What became of it --------------------------------------------------------------------------

/// What a command said last, on one line and not too long: ": no such channel", or "".
std::string last_words(std::string_view error) {
  constexpr std::size_t kMost = 200;
  const auto end = error.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "";
  error = error.substr(0, end + 1);
  const auto begin = error.find_last_of('\n');
  if (begin != std::string_view::npos) error.remove_prefix(begin + 1);
  return ": " + on_one_line(error.substr(0, kMost));
}

std::string program_of(const Way& way) {
  if (const auto* const by = std::get_if<ByCommand>(&way)) return by->command.front();
  if (const auto* const reply = std::get_if<ByReply>(&way)) return reply->command.front();
  return std::holds_alternative<ByWebhook>(way) ? "curl" : "notify-send";
}

}  // namespace

std::string addressed(const Outgoing& notice) {
  Json json = object_of(notice.payload);
  json["incident"] = notice.incident;
  json["kind"] = notice.kind;
  return dump(json) + "\n";
}

std::string title_of(const Outgoing& notice) {
  const Json json = object_of(notice.payload);
  std::string title = text_in(json, "title");
  const std::string agent = text_in(json, "agent");
  const std::string verdict = text_in(json, "verdict");
  if (title.empty()) title = agent;
  if (title.empty()) title = "tend";
  if (title == agent && !verdict.empty()) title += ": " + verdict;
  if (notice.kind == "close") title.insert(0, "over: ");
  return cut(on_one_line(title), kLongestTitle);
}

std::string body_of(const Outgoing& notice) {
  const Json json = object_of(notice.payload);
  std::string body = text_in(json, "why");
  const std::string what_to_do = text_in(json, "what_to_do");
  if (!what_to_do.empty()) body += (body.empty() ? "" : "\n") + what_to_do;
  return cut(std::move(body), kLongestBody);
}

Run sending(const Way& way, const Outgoing& notice) {
  Run run;
  if (const auto* const by = std::get_if<ByCommand>(&way)) {
    run.command = by->command;
    run.input = addressed(notice);
  } else if (const auto* const webhook = std::get_if<ByWebhook>(&way)) {
    run = by_curl(*webhook, notice);
  } else if (const auto* const reply = std::get_if<ByReply>(&way)) {
    run = by_reply(*reply, notice);
  } else {
    run = by_notify_send(notice);
  }
  run.deadline = kSendDeadline;
  return run;
}

Told told_by(const Way& way, const Result<Ran>& ran) {
  const std::string name = in_quotes(program_of(way));
  if (!ran) return {.words = fmt::format("{} could not be run: {}", name, ran.error().text)};
  const std::string said = last_words(ran->error);
  if (ran->timed_out) {
    return {.words = fmt::format("{} did not end within {} and was ended{}", name,
                                 format_seconds(kSendDeadline), said)};
  }
  switch (ran->exit.how) {
    case ExitStatus::How::unknown:
      return {.words = fmt::format("{} ended, nobody knows how{}", name, said)};
    case ExitStatus::How::signal:
      return {.words = fmt::format("{} died of signal {}{}", name, ran->exit.value, said)};
    case ExitStatus::How::code:
      break;
  }
  if (ran->exit.value != 0) {
    return {.words = fmt::format("{} exited with {}{}", name, ran->exit.value, said)};
  }
  if (std::holds_alternative<ByWebhook>(way)) return answered(ran->output);
  return {.heard = true, .words = "told by " + name};
}

}  // namespace tend
