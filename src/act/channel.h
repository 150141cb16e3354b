// How one notice leaves the machine: as the input of a command, as an HTTP POST, on the desktop, or
// as an answer to whoever wrote.
// Each way is one program that is run to its end, so that a way that hangs, crashes or is not
// installed costs one run and no more. Deciding what to send, and when again, is not done here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "os/process.h"

namespace tend {

/// The notice is its standard input, as JSON. No shell is in between.
struct ByCommand {
  std::vector<std::string> command;  // not empty
};
/// The notice is POSTed as JSON. The address may hold a secret: it is on no command line and in no
/// words.
struct ByWebhook {
  std::string url;     // http:// or https://
  bool slack = false;  // {"text": "..."}
};
/// A notice of the desktop, by notify-send.
struct ByDesktop {};
/// The text for one sender, by the command that answers it. In each argument {channel}, {endpoint},
/// {text} and {key} are replaced, no shell is in between; where none has {text}, the text is its
/// standard input, as a line. The environment has TEND_CHANNEL, TEND_ENDPOINT, TEND_GATE
/// (auto-reply, undelivered, all-clear), TEND_IDEMPOTENCY_KEY: the same however often it is tried.
struct ByReply {
  std::vector<std::string> command;  // not empty
  std::string channel;
  std::string endpoint;
  std::string language;  // "": that of the notice
};
using Way = std::variant<ByCommand, ByWebhook, ByDesktop, ByReply>;

/// A notice as it goes out.
struct Outgoing {
  std::string payload;  // JSON, an object
  std::int64_t incident = 0;
  std::string_view kind;  // open, update, close
  std::string key{};      // the same however often it is sent, and of no other notice
};

inline constexpr Duration kSendDeadline = std::chrono::seconds{30};

/// The payload with "incident" and "kind" behind its own fields, and a newline.
std::string addressed(const Outgoing& notice);

/// For people: "coder: looping", "over: coder: working".
std::string title_of(const Outgoing& notice);
/// For people: why, and what to do, on a line each.
std::string body_of(const Outgoing& notice);

/// What is to be run to send it.
Run sending(const Way& way, const Outgoing& notice);

/// What came of it.
struct Told {
  bool heard = false;
  std::string words;  // "told by 'notify-me'", "'notify-me' exited with 3: no such channel"
};
Told told_by(const Way& way, const Result<Ran>& ran);

}  // namespace tend
