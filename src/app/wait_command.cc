// Looks until the state has come, cannot come any more, or the time is over.
#include "app/wait_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/awaiting.h"
#include "app/follow.h"
#include "app/home_option.h"
#include "app/number_option.h"
#include "base/duration.h"
#include "run/roster.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kKeeperMayReturn = 10s;  // whoever sees one die puts a new one on

enum class Reached { not_yet, yes, never };

class Waiting {
 public:
  Waiting(Machine& machine, Folder& home, std::string folder, std::string state)
      : machine_(machine), home_(home), folder_(std::move(folder)), state_(std::move(state)) {}

  /// True as long as there is something to wait for.
  bool look() {
    auto known = find_agent(machine_.folders, home_, folder_);
    if (!known) {
      problem_ = known.error().text;
      reached_ = Reached::never;
      return false;
    }
    entry_ = look_at_agent(machine_, *std::move(known), Source::heartbeat);
    reached_ = judge();
    return reached_ == Reached::not_yet;
  }

  [[nodiscard]] Reached reached() const { return reached_; }
  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Reached judge() {
    const Heartbeat& says = entry_.known.heartbeat;
    if (entry_.over()) {
      if (state_ == "finished") return Reached::yes;
      if (state_ == "done") {
        return says.outcome == WorkOutcome::done ? Reached::yes : Reached::never;
      }
      return state_ == word(entry_.verdict) ? Reached::yes : Reached::never;
    }
    if (entry_.keeper == KeeperIs::gone && entry_.state != "starting") {
      const Instant now = machine_.clock.now();
      if (!without_keeper_) without_keeper_ = now;
      return now - *without_keeper_ < kKeeperMayReturn ? Reached::not_yet : Reached::never;
    }
    without_keeper_.reset();
    const bool waits_for_end = state_ == "finished" || state_ == "done";
    if (waits_for_end && entry_.verdict == Verdict::looping && entry_.group == Group::needs_you) {
      return Reached::never;  // held: it goes on if a person lets it
    }
    // `finished` is the agent's end, not the end of one of its lives.
    const bool is_it = state_ != "finished" && says.life > 0 && state_ == word(entry_.verdict);
    return is_it ? Reached::yes : Reached::not_yet;
  }

  Machine& machine_;
  Folder& home_;
  std::string folder_;
  std::string state_;
  Entry entry_;
  Reached reached_ = Reached::not_yet;
  std::optional<Instant> without_keeper_;
  std::string problem_;
};

std::string words_of(const Entry& entry) {
  return entry.why.empty() ? entry.state : fmt::format("{}, {}", entry.state, entry.why);
}

/// What all of them are waited for.
struct Awaited {
  std::string state;
  std::optional<Duration> timeout;
  std::optional<Instant> until;
};

int wait_for_one(const Arguments& arguments, World& world, Home& home, const std::string& name,
                 const Awaited& awaited) {
  Machine& machine = home.machine;
  const auto known = find_agent(machine.folders, *home.folder, name);
  if (!known) return complain(world, "wait", known.error().text, kExitNo);
  const std::string& state = awaited.state;
  Waiting waiting(machine, *home.folder, known->folder->path(), state);
  const Awaiting awaiting(world, known->folder->path(), known->heartbeat.parent_heartbeat);
  follow(machine, known->folder->path(), OnInterrupt::as_usual, awaited.until,
         [&] { return waiting.look(); });

  const Entry& entry = waiting.entry();
  const bool yes = waiting.reached() == Reached::yes;
  if (!waiting.problem().empty()) return complain(world, "wait", waiting.problem(), kExitNo);
  if (arguments.has("json")) {
    world.out.write(json_line({{"for", state},
                               {"reached", yes},
                               {"timed_out", waiting.reached() == Reached::not_yet},
                               {"agent", agent_json(entry)}}));
    return yes ? kExitYes : kExitNo;
  }
  if (yes) {
    world.out.write(fmt::format("{}: {}\n", entry.handle, words_of(entry)));
    return kExitYes;
  }
  if (waiting.reached() == Reached::not_yet) {
    return complain(world, "wait",
                    fmt::format("{}: still {} after {}", entry.handle, entry.state,
                                format_duration(awaited.timeout.value_or(Duration{}))),
                    kExitNo);
  }
  const std::string cure = entry.over()                      ? ""
                           : entry.keeper == KeeperIs::alive ? "; see: " + entry.to_do
                                                             : "; put one on: " + entry.to_do;
  return complain(
      world, "wait",
      fmt::format("{} will not be {}: {}{}", entry.handle, state, words_of(entry), cure), kExitNo);
}

}  // namespace

int wait_command(const Arguments& arguments, World& world) {
  const auto timeout = time_option(arguments, "timeout");
  if (!timeout) return complain(world, "wait", timeout.error().text, kExitUsage);
  auto home = open_home(world);
  if (!home) return complain(world, "wait", home.error().text, kExitUsage);
  Awaited awaited{arguments.value("for").value_or("finished"), *timeout, std::nullopt};
  if (*timeout) awaited.until = home->machine.clock.now() + **timeout;
  int code = kExitYes;
  for (const std::string& name : arguments.positionals) {
    code = std::max(code, wait_for_one(arguments, world, *home, name, awaited));
  }
  return code;
}

}  // namespace tend
