// Answers are read without trust: bounded, and whatever does not fit is a problem with its words.
#include "store/foreign/foreign_command.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/duration.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1024} * 1024;
constexpr std::size_t kMostLabels = 1'000;
constexpr std::string_view kBackoff = "backoff-until:";  // as its writer spells it
constexpr std::int64_t kLargestPid = std::numeric_limits<std::int32_t>::max();

std::string first_line(std::string_view text) {
  constexpr std::size_t kMost = 200;
  return on_one_line(text.substr(0, std::min(kMost, text.find('\n'))));
}

std::string program_of(const ForeignStore& store) {
  return store.kind == StoreKind::tmux ? "tmux" : on_one_line(store.command.front());
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || number <= 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

/// "1773002269 4711": when the window was painted, and whose the pane is.
void take_tmux(const ForeignStore& store, std::string_view output, const TimeContext& context,
               StoreReading& reading) {
  const auto painted = take_number(output);
  if (!painted) {
    reading.problem = "tmux has no session " + in_quotes(store.session);
    return;
  }
  const auto time = parse_foreign_time(fmt::to_string(*painted), context);
  if (time) {
    reading.last_sign = time->at;
  } else {
    reading.problem = time.error().text;
  }
  if (!output.starts_with(' ')) return;
  output.remove_prefix(1);
  const auto pid = take_number(output);
  if (pid && *pid <= kLargestPid) reading.pid = *pid;
}

/// Of the item, or of the one item in a list.
const ReadJson* labels_in(const ReadJson& json) {
  const ReadJson* const item = json.is_array() && json.size() == 1 ? &json[0] : &json;
  const ReadJson* const labels = item->is_object() ? find_field(*item, "labels") : nullptr;
  return labels != nullptr && labels->is_array() && labels->size() <= kMostLabels ? labels
                                                                                  : nullptr;
}

/// What the command printed, if that is JSON.
Result<ReadJson> answer_of(const ForeignStore& store, const Result<Ran>& ran) {
  if (const std::string why = trouble_with(store, ran); !why.empty()) return fail(why);
  ReadJson json = ReadJson::parse(ran->output, nullptr, false);
  if (json.is_object() || json.is_array()) return json;
  return fail(program_of(store) + " printed no JSON: " + first_line(ran->output));
}

void take_label(const std::string& label, const ForeignStore& store, const TimeContext& context,
                Labels& labels) {
  const std::string wanted = beat_label_name(store);
  labels.all.push_back(label);
  const bool is_beat = label.starts_with(wanted);
  if (is_beat) labels.beats.push_back(label);
  if (!is_beat && !label.starts_with(kBackoff)) return;
  const auto time =
      parse_foreign_time(label.substr(is_beat ? wanted.size() : kBackoff.size()), context);
  if (!time) {
    if (is_beat) labels.problem = time.error().text;
  } else if (!is_beat) {
    labels.quiet_until = time->at;
  } else if (!labels.beat || *labels.beat < time->at) {
    labels.beat = time->at;
  }
}

void put_in(std::string& word, std::string_view place, std::string_view text) {
  for (std::size_t at = 0; (at = word.find(place, at)) != std::string::npos; at += text.size()) {
    word.replace(at, place.size(), text);
  }
}

}  // namespace

std::string trouble_with(const ForeignStore& store, const Result<Ran>& ran) {
  const std::string program = program_of(store);
  if (!ran) return fmt::format("{} could not be run: {}", program, ran.error().text);
  if (ran->timed_out) {
    return fmt::format("{} did not answer in {}", program, format_duration(store.deadline));
  }
  if (ran->exit == ExitStatus{ExitStatus::How::code, 0} || store.kind == StoreKind::tmux) return "";
  const std::string said = first_line(ran->error.empty() ? ran->output : ran->error);
  return fmt::format("{} failed ({} {}){}", program,
                     ran->exit.how == ExitStatus::How::signal ? "signal" : "exit", ran->exit.value,
                     said.empty() ? "" : ": " + said);
}

bool asks_command(StoreKind kind) {
  return kind == StoreKind::label || kind == StoreKind::command || kind == StoreKind::tmux;
}

Run command_of(const ForeignStore& store) {
  CHECK(asks_command(store.kind));
  Run run;
  run.command = store.command;
  run.working_folder = store.folder;
  run.environment = store.environment;
  if (store.kind == StoreKind::tmux) {
    // The sign of equality: no session whose name only begins like that.
    run.command = {"tmux", "display-message",         "-p",
                   "-t",   "=" + store.session + ":", "#{window_activity} #{pane_pid}"};
  }
  run.deadline = store.deadline;
  run.most_output = kMostOutput;
  return run;
}

std::string beat_label_name(const ForeignStore& store) {
  return (store.label.empty() ? "heartbeat" : store.label) + ":";
}

Result<Labels> labels_of(const ForeignStore& store, const Result<Ran>& ran,
                         const TimeContext& context) {
  const auto json = answer_of(store, ran);
  if (!json) return std::unexpected(json.error());
  Labels labels;
  const ReadJson* const list = labels_in(*json);
  if (list == nullptr) {
    labels.problem = "no labels in what " + program_of(store) + " printed";
    return labels;
  }
  for (const ReadJson& each : *list) {
    if (each.is_string()) take_label(each.get<std::string>(), store, context, labels);
  }
  if (labels.beat) {
    labels.problem.clear();
  } else if (labels.problem.empty()) {
    labels.problem = "no label " + in_quotes(beat_label_name(store) + "<epoch>");
  }
  return labels;
}

Run set_command(const ForeignStore& store, const Labels& there, const std::string& label) {
  std::string whole;
  for (const std::string& each : there.all) {
    if (std::ranges::find(there.beats, each) == there.beats.end()) whole += each + ",";
  }
  whole += label;
  Run run = command_of(store);
  run.command.clear();
  for (const std::string& word : store.set) {
    if (word.contains("{old}")) {
      for (const std::string& old : there.beats) {
        if (old == label) continue;
        put_in(run.command.emplace_back(word), "{old}", old);
      }
      continue;
    }
    std::string& made = run.command.emplace_back(word);
    put_in(made, "{label}", label);
    put_in(made, "{labels}", whole);
  }
  return run;
}

StoreReading reading_of(const ForeignStore& store, const Result<Ran>& ran,
                        const TimeContext& context, const ProcessLives& lives) {
  StoreReading reading;
  if (store.kind == StoreKind::tmux) {
    reading.problem = trouble_with(store, ran);
    reading.unread = !reading.problem.empty();
    if (!reading.unread) take_tmux(store, ran->output, context, reading);
    return reading;
  }
  if (store.kind == StoreKind::label) {
    const auto labels = labels_of(store, ran, context);
    reading.unread = !labels;
    reading.problem = labels ? labels->problem : labels.error().text;
    if (!labels) return reading;
    reading.last_sign = labels->beat;
    reading.quiet_until = labels->quiet_until;
    return reading;
  }
  const auto json = answer_of(store, ran);
  reading.unread = !json;
  if (json) {
    take_json(*json, store, context, lives, reading);
  } else {
    reading.problem = json.error().text;
  }
  return reading;
}

}  // namespace tend
