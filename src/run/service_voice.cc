// A line that cannot be written is no reason to beat less.
#include "run/service_voice.h"

#include <tuple>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/foreign/foreign_time.h"

namespace tend {
namespace {

std::string_view word_of(ServiceLog::Level level) {
  switch (level) {
    case ServiceLog::Level::info:
      return "INFO";
    case ServiceLog::Level::warn:
      return "WARN";
    case ServiceLog::Level::error:
      break;
  }
  return "ERROR";
}

}  // namespace

void ServiceLog::say(Level level, std::string_view text, For whom) {
  const std::string at = format_foreign_time(machine_.clock.wall(), TimeStyle{});
  const auto put = [&](const std::string& path, std::string_view from) {
    const auto line = fmt::format("[{}] [{}] {}{}", at, word_of(level), from, on_one_line(text));
    const auto written = machine_.files.append_line(path, line, kMostOfLog);
    if (!written) problem_ = written.error().text;
  };
  problem_.clear();
  put(own_, "");
  if (whom == For::all && !shared_.empty()) put(shared_, "heartbeat-service: ");
}

void ServiceNotify::send(std::string_view what, std::string_view status) {
  if (manager_.socket.empty()) return;
  std::ignore =
      machine_.sockets.send(manager_.socket, fmt::format("{}{}\n", what, on_one_line(status)));
}

void ServiceNotify::keep_watchdog() {
  if (manager_.socket.empty() || manager_.watchdog <= Duration::zero()) return;
  std::ignore = machine_.sockets.send(manager_.socket, "WATCHDOG=1\n");
  timer_ =
      machine_.loop.at(machine_.clock.now() + manager_.watchdog / 2, [this] { keep_watchdog(); });
}

}  // namespace tend
