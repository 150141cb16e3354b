// Every store is tried, whatever became of the others, and each is told of by its name. No command
// table: hooks run this at every tool call (docs/decisions/0006).
#include "app/gt_program.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/label_beat.h"
#include "base/duration.h"
#include "base/quote.h"
#include "judge/words.h"
#include "os/machine.h"
#include "store/foreign/gas_town.h"

namespace tend {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kHelp =
    "Usage: gt heartbeat [--state=working|idle|exiting|stuck] [TEXT...]\n"
    "       gt deacon heartbeat [ACTION...]\n"
    "\n"
    "Writes the heartbeat of the session GT_SESSION, and with GT_ROLE=deacon all\n"
    "stores of the deacon; `gt deacon heartbeat` writes those of the deacon alone.\n"
    "This is Tend; all other commands are left to the gt of Gas Town.\n";

/// What was done, store by store.
struct Report {
  std::vector<std::string> done;
  std::vector<std::string> failed;

  void add(const Result<void>& result, std::string_view words) {
    if (result) {
      done.emplace_back(words);
    } else {
      failed.push_back(result.error().text);
    }
  }
};

std::string joined(Words words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

std::string variable(World& world, const std::string& name) {
  return world.environment.variable(name).value_or("");
}

int refuse(World& world, const std::string& why) {
  world.err.write("Error: " + why + "\n");
  return kExitNo;
}

/// What was said goes out even if not all of it was good; the first line only if all was.
int tell(World& world, const Report& report, const std::string& line, bool each_by_name) {
  if (report.failed.empty()) world.out.write(line + "\n");
  if (each_by_name) {
    for (const std::string& done : report.done) world.out.write("  " + done + "\n");
  }
  for (const std::string& failed : report.failed) refuse(world, failed);
  return report.failed.empty() ? kExitYes : kExitNo;
}

// --- Where and for whom --------------------------------------------------------------------------

Result<std::string> town_of(World& world) {
  Machine& machine = world.machines.machine();
  const IsThere is_there = [&](const std::string& path) {
    return machine.folders.real_path(path).has_value();
  };
  const auto here = machine.folders.working_folder();
  if (here) {
    if (auto town = find_town(*here, is_there)) return *std::move(town);
  }
  const std::string home = variable(world, "HOME");
  for (std::string root : {variable(world, "GT_TOWN_ROOT"), variable(world, "GT_ROOT"),
                           home.empty() ? "" : home + "/gt"}) {
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    if (root.starts_with('/') && is_town(root, is_there)) return root;
  }
  return fail("could not find town root: not in a Gas Town workspace");
}

bool is_alive(Machine& machine, const ProcessId& id) {
  const RunState state = machine.processes.open(id)->look().state;
  return state != RunState::zombie && state != RunState::gone && state != RunState::reused;
}

/// Why this process may not beat for the session: the one that it is noted to be of is another, or
/// gone and we are what it left behind. Nothing is held against it that is not proven.
Result<void> check_author(World& world, const std::string& town, const std::string& session,
                          const TimeContext& context) {
  constexpr std::size_t kMostAncestors = 64;
  constexpr std::uint64_t kFirstPidNamespace = 4026531836;
  const StoreReading noted = read_session_process(world.files, town, session, context);
  if (noted.pid == 0) return {};
  const auto above = world.caller.ancestors(kMostAncestors);
  const bool is_above = std::ranges::find(above, noted.pid, &Ancestor::pid) != above.end();
  if (above.empty() || is_above) return {};
  Machine& machine = world.machines.machine();
  const auto found = machine.processes.identify(noted.pid);
  if (!found) return {};
  const std::string whose = "process " + std::to_string(noted.pid) + " of session " + session;
  const auto started_at = [&](const ProcessId& id) {
    const std::chrono::duration<double> since(machine.processes.started(id));
    return WallTime{std::chrono::round<std::chrono::nanoseconds>(since)};
  };
  if (*found && !noted.started) return {};
  if (*found && is_alive(machine, **found) && is_same_start(started_at(**found), *noted.started)) {
    return fail("not refreshed: " + whose + " is another, and not above this one");
  }
  // A session that was started again in its place has the note of the one before.
  const bool in_tmux =
      std::ranges::any_of(above, [](const Ancestor& one) { return one.name.starts_with("tmux"); });
  if (in_tmux || machine.processes.self().pid_ns != kFirstPidNamespace) return {};
  return fail("not refreshed: " + whose + " is gone");
}

// --- The stores ----------------------------------------------------------------------------------

void beat_deacon_stores(World& world, const std::string& town, const std::string& action,
                        const TimeContext& context, Report& report) {
  report.add(beat_deacon(world.files, town, action, context), "deacon/heartbeat.json written");
  report.add(touch_deacon(world.files, town, context), "deacon/.deacon-heartbeat touched");
  Machine& machine = world.machines.machine();
  ForeignStore store = deacon_label(town);
  if (!machine.folders.real_path(town + "/.beads")) store.environment.clear();
  const auto label = beat_label(machine, store, kLabelIsFresh);
  const std::string bead(kDeaconBead);
  if (!label) {
    report.failed.push_back("label of " + bead + ": " + label.error().text);
  } else if (label->fresh > Duration::zero()) {
    report.done.push_back(bead + " has heartbeat:" + std::to_string(label->epoch) + ", fresh for " +
                          format_duration(label->fresh));
  } else {
    report.done.push_back(bead + " has heartbeat:" + std::to_string(label->epoch) + " now");
  }
}

struct HeartbeatWords {
  std::string state = "working";
  std::string text;
};

/// Options anywhere before `--`, as the original takes them.
Result<HeartbeatWords> parse_heartbeat(Words words) {
  constexpr std::string_view kState = "--state";
  HeartbeatWords parsed;
  std::vector<std::string_view> text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      text.insert(text.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word == kState) {
      if (++i == words.size()) return fail("flag needs an argument: --state");
      parsed.state = words[i];
    } else if (word.starts_with("--state=")) {
      parsed.state = word.substr(kState.size() + 1);
    } else if (word.starts_with('-') && word != "-") {
      return fail("unknown flag: " + on_one_line(word));
    } else {
      text.push_back(word);
    }
  }
  parsed.text = joined(text);
  return parsed;
}

int heartbeat(Words words, World& world) {
  const auto parsed = parse_heartbeat(words);
  if (!parsed) return refuse(world, parsed.error().text);
  const std::string session = variable(world, "GT_SESSION");
  if (session.empty()) {
    return refuse(world, "GT_SESSION not set (not running in a Gas Town session)");
  }
  if (const auto good = check_session_name(session); !good) {
    return refuse(world, "GT_SESSION: " + good.error().text);
  }
  const auto town = town_of(world);
  if (!town) return refuse(world, town.error().text);
  if (!from_word<SelfState>(kSelfStateWords, parsed->state)) {
    return refuse(world, "invalid state \"" + on_one_line(parsed->state) +
                             "\" (must be working, idle, exiting, or stuck)");
  }
  const TimeContext context{.now = world.machines.machine().clock.wall()};
  if (const auto ours = check_author(world, *town, session, context); !ours) {
    return refuse(world, ours.error().text);
  }
  Report report;
  report.add(beat_session(world.files, *town, session, parsed->state, parsed->text, context),
             ".runtime/heartbeats/" + session + ".json written");
  const bool is_deacon = variable(world, "GT_ROLE") == "deacon";
  if (is_deacon) {
    const auto pause = deacon_pause(world.files, *town);
    if (!pause) {
      report.failed.push_back("checking pause state: " + pause.error().text);
    } else if (*pause) {
      report.failed.emplace_back("Deacon is paused; its own stores are not refreshed");
    } else {
      beat_deacon_stores(world, *town, parsed->text, context, report);
    }
  }
  return tell(world, report, "Heartbeat updated: state=" + parsed->state, is_deacon);
}

int deacon_heartbeat(Words words, World& world) {
  const auto town = town_of(world);
  if (!town) return refuse(world, town.error().text);
  const auto pause = deacon_pause(world.files, *town);
  if (!pause) return refuse(world, "checking pause state: " + pause.error().text);
  if (*pause) {
    world.out.write("⏸️ Deacon is paused. Use 'gt deacon resume' to unpause.\n");
    if (!(*pause)->empty()) world.out.write("  Reason: " + **pause + "\n");
    return refuse(world, "Deacon is paused");
  }
  const TimeContext context{.now = world.machines.machine().clock.wall()};
  const std::string session = variable(world, "GT_SESSION");
  if (!session.empty() && check_session_name(session)) {
    if (const auto ours = check_author(world, *town, session, context); !ours) {
      return refuse(world, ours.error().text);
    }
  }
  const std::string action = joined(words);
  Report report;
  beat_deacon_stores(world, *town, action, context, report);
  const std::string line =
      "✓ Heartbeat updated" + (action.empty() ? "" : ": " + on_one_line(action));
  return tell(world, report, line, true);
}

bool wants_help(Words words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end,
                     [](std::string_view word) { return word == "--help" || word == "-h"; });
}

int perform(Words words, World& world) {
  const bool is_heartbeat = !words.empty() && words[0] == "heartbeat";
  const bool is_deacon = words.size() > 1 && words[0] == "deacon" && words[1] == "heartbeat";
  const bool is_help = words.size() == 1 && (words[0] == "help" || wants_help(words));
  if (is_help || ((is_heartbeat || is_deacon) && wants_help(words))) {
    world.out.write(kHelp);
    return kExitYes;
  }
  if (is_heartbeat) return heartbeat(words.subspan(1), world);
  if (is_deacon) return deacon_heartbeat(words.subspan(2), world);
  world.err.write(
      "gt: this gt is Tend's and speaks only `gt heartbeat` and `gt deacon heartbeat`\n");
  return kExitUsage;
}

}  // namespace

bool is_called_gt(std::string_view path) { return path.substr(path.rfind('/') + 1) == "gt"; }

int gt_program(std::span<const std::string_view> words, World& world) {
  const int code = perform(words, world);
  const bool written = world.out.flush();
  if (!written) world.err.write("gt: standard output could not be written to its end\n");
  world.err.flush();
  return written ? code : kExitUsage;
}

}  // namespace tend
