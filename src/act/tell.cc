// A queue before one command.
#include "act/tell.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

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

}  // namespace

std::string format_incident(const Incident& incident) {
  const nlohmann::ordered_json json{
      {"agent", incident.agent},
      {"session", incident.session},
      {"life", incident.life},
      {"verdict", incident.verdict},
      {"phase", incident.phase},
      {"because", incident.because},
      {"action", incident.action},
      {"why", incident.why},
      {"folder", incident.folder},
      {"at", incident.at},
      {"what_to_do", incident.what_to_do},
  };
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Tell::Tell(Machine& machine, std::vector<std::string> command,
           std::function<void(const Told&)> told)
    : machine_(machine), command_(std::move(command)), told_(std::move(told)) {
  CHECK(!command_.empty());
}

Result<void> Tell::tell(const Incident& incident) {
  if (waiting_.size() >= kMostWaiting) {
    return fail(fmt::format("{} notices wait for {}: this one is not told", waiting_.size(),
                            in_quotes(command_.front())));
  }
  waiting_.push_back(format_incident(incident));
  if (waiting_.size() == 1) begin();
  return {};
}

void Tell::begin() {
  running_ = machine_.processes.run(
      {.command = command_, .input = waiting_.front(), .deadline = kDeadline},
      [this](const Result<Ran>& ran) { finish(ran); });
}

void Tell::finish(const Result<Ran>& ran) {
  const Told told = told_by(ran);
  waiting_.pop_front();
  running_.reset();
  if (!waiting_.empty()) begin();
  told_(told);  // last: it may destroy this
}

Told Tell::told_by(const Result<Ran>& ran) const {
  const std::string name = in_quotes(command_.front());
  if (!ran) return {.words = fmt::format("{} could not be run: {}", name, ran.error().text)};
  const std::string said = last_words(ran->error);
  if (ran->timed_out) {
    return {.words = fmt::format("{} did not end within {} and was ended{}", name,
                                 format_seconds(kDeadline), said)};
  }
  switch (ran->exit.how) {
    case ExitStatus::How::unknown:
      return {.words = fmt::format("{} ended, nobody knows how{}", name, said)};
    case ExitStatus::How::signal:
      return {.words = fmt::format("{} died of signal {}{}", name, ran->exit.value, said)};
    case ExitStatus::How::code:
      break;
  }
  if (ran->exit.value == 0) return {.heard = true, .words = "told by " + name};
  return {.words = fmt::format("{} exited with {}{}", name, ran->exit.value, said)};
}

}  // namespace tend
