// Lines of one moment that say the same are one signal: a flood of deltas is one progress.
#include "sense/agent_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/session_id.h"

namespace tend {
namespace {

constexpr std::size_t kMostRemarks = 20;  // a life
constexpr double kLongestWait = 30.0 * 24 * 3600;

constexpr std::size_t kLongestName = 256;

/// Whether a byte goes on with a letter of several bytes.
bool is_inside_letter(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// A line that was cut short, on a full disk or by its writer's end, has the next one right behind
/// it: that one; "": none. Within a line an object comes after one of these, and in a text its
/// quotes would be escaped. What is no line of the agent's may quote one.
std::string_view after_torn(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == line.npos || line[first] != '{') return {};
  constexpr std::string_view kBegin = R"({"type":")";
  for (std::size_t at = line.find(kBegin, 1); at != line.npos; at = line.find(kBegin, at + 1)) {
    const std::size_t before = line.find_last_not_of(" \t\r", at - 1);
    if (before != line.npos && !std::string_view(":[,").contains(line[before])) {
      return line.substr(at);
    }
  }
  return {};
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

Duration duration_of(double seconds) {
  if (!(seconds > 0)) return {};
  const std::chrono::duration<double> bounded(std::min(seconds, kLongestWait));
  return std::chrono::round<std::chrono::milliseconds>(bounded);
}

}  // namespace

void AgentAdapter::take(std::string_view line, const LineTime& seen, SignalBatch& batch) {
  batch_ = &batch;
  seen_ = &seen;
  while (!is_blank(line)) {
    const std::string_view rest = after_torn(line);
    auto object = reader_.open(line.substr(0, line.size() - rest.size()));
    object ? hear(*object) : weak();
    line = rest;
  }
}

void AgentAdapter::begin_life() {
  calls_.clear();
  conversation_ = {};
  turn_open_ = had_turn_ = false;
  remarked_.clear();
  forget();
}

std::string_view AgentAdapter::name_in(Object& object, std::string_view field) {
  const std::string_view name = stream::text_in(object, field);
  if (name.size() <= kLongestName) return name;
  std::size_t cut = kLongestName;
  while (cut > 0 && is_inside_letter(name[cut])) --cut;
  return kept(fmt::format("{}#{:016x}", name.substr(0, cut), print_of(name)));
}

Signal& AgentAdapter::put(Kind kind, std::string_view task) {
  Signal& signal = batch_->signals.emplace_back();
  signal.is = kind;
  if (!task.empty()) signal.task = kept(task);
  return signal;
}

void AgentAdapter::put_plain(Kind kind, std::string_view task) {
  if (!batch_->signals.empty()) {
    const Signal& last = batch_->signals.back();
    if (last.is == kind && last.life == 0 && last.task == task) return;
  }
  put(kind, task);
}

void AgentAdapter::weak() {
  if (!batch_->signals.empty()) {
    const Signal& last = batch_->signals.back();
    if (last.is == Kind::activity && last.from == ActivityFrom::log && last.life == 0) return;
  }
  put(Kind::activity).from = ActivityFrom::log;
}

void AgentAdapter::beat(const OpenCalls::Call& call) { put(Kind::tool_beat).id = kept(call.id); }

void AgentAdapter::start_turn() {
  calls_.end_turn();
  turn_open_ = had_turn_ = true;
  put(Kind::turn_start);
}

void AgentAdapter::end_turn(std::string_view word) {
  calls_.end_turn();
  turn_open_ = false;
  had_turn_ = true;
  conversation_.failed = !word.empty();
  Signal& signal = put(Kind::turn_end);
  signal.count = calls_.background();
  if (!word.empty()) set_cause(signal, word);
}

OpenCalls::Call& AgentAdapter::open_call(std::string_view id, std::string_view tool,
                                         std::string_view input, std::string_view task) {
  if (calls_.find(id) == nullptr) ++conversation_.tools;
  OpenCalls::Call& call = calls_.open(id);
  call.tool = tool;
  call.task = task;
  call.print = print_of(input, print_of(tool));
  return call;
}

Signal& AgentAdapter::say_open(const OpenCalls::Call& call) {
  Signal& signal = put(Kind::tool_open, call.task);
  signal.id = kept(call.id);
  signal.tool = kept(call.tool);
  signal.background = call.background;
  return signal;
}

void AgentAdapter::close_call(std::string_view id, std::string_view result, std::string_view task) {
  OpenCalls::Call* const call = calls_.find(id);
  if (call == nullptr) return progress(task);
  if (call->question) put(Kind::answer).id = kept(call->id);
  say_closed(*call, calls_.count_same(*call, print_of(result)));
  calls_.close(*call);
}

void AgentAdapter::say_closed(const OpenCalls::Call& call, std::uint32_t same) {
  Signal& signal = put(Kind::tool_close, call.task);
  signal.id = kept(call.id);
  if (same > 1) signal.same = same;
}

void AgentAdapter::error(std::string_view word, bool final, std::string_view task) {
  Signal& signal = put(Kind::error, task);
  signal.final = final;
  set_cause(signal, word);
}

void AgentAdapter::set_cause(Signal& signal, std::string_view word) {
  signal.cause = from_word<Cause>(kCauseWords, word).value_or(Cause::another);
  if (signal.cause == Cause::none) signal.cause = Cause::another;
  signal.cause_word = kept(word);
}

Instant AgentAdapter::after(double seconds) const { return seen_->now + duration_of(seconds); }

std::optional<Instant> AgentAdapter::at_calendar(double seconds) const {
  if (!seen_->wall) return std::nullopt;
  const std::chrono::duration<double> since_epoch = seen_->wall->time_since_epoch();
  return after(seconds - since_epoch.count());
}

void AgentAdapter::learn_session(std::string_view id) {
  if (is_session_id(id)) conversation_.session = id;
}

void AgentAdapter::remark(std::string text) {
  const std::uint64_t print = print_of(text);
  if (remarked_.size() == kMostRemarks || std::ranges::count(remarked_, print) > 0) return;
  remarked_.push_back(print);
  remarks_.push_back(std::move(text));
}

}  // namespace tend
