// In the foreground every decision is a line, and every sweep that decided something or found
// something silent; with --json every line is an object.
#include "app/patrol_command.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/agent_options.h"
#include "app/home_option.h"
#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/child_look.h"
#include "run/moment.h"
#include "run/patrol_process.h"
#include "run/postman.h"
#include "run/probe_of.h"
#include "run/work_items.h"
#include "store/config_file.h"
#include "store/patrol_file.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr Duration kShortestInterval = 100ms;
constexpr Duration kMayTake = 10s;  // to come or to go
constexpr Duration kLookAgain = 20ms;

Result<Duration> interval_option(const Arguments& arguments) {
  const auto text = arguments.value("interval");
  if (!text) return Duration::zero();
  const auto interval = parse_duration(*text);
  if (!interval) return fail("--interval: " + interval.error().text);
  if (*interval < kShortestInterval) return fail("--interval is at least 100ms");
  return *interval;
}

// --- Saying -------------------------------------------------------------------------------------

class PatrolLines {
 public:
  PatrolLines(World& world, Clock& clock, bool json, bool dry)
      : world_(world), clock_(clock), json_(json), dry_(dry) {}

  void put(const std::vector<SweepLine>& lines) {
    for (const SweepLine& line : lines) json_ ? put_json(line) : put_words(line);
    world_.out.flush();
  }

  void put(const Sweep& sweep) {
    put(sweep.lines);
    if (json_) {
      world_.out.write(json_line({{"at", calendar_json(clock_.wall())},
                                  {"kind", "sweep"},
                                  {"tasks", sweep.tasks},
                                  {"silent", sweep.silent},
                                  {"agents", sweep.agents},
                                  {"needs_you", sweep.open},
                                  {"unfit", sweep.unfit_because},
                                  {"next_s", seconds_json(sweep.next)}}));
    } else {
      world_.out.write(fmt::format("{}  sweep: {}\n", clock_label(clock_.wall()), in_words(sweep)));
    }
    world_.out.flush();
  }

 private:
  static std::string in_words(const Sweep& sweep) {
    std::string words =
        fmt::format("{} {}, {} silent; {} {}; {}", sweep.tasks, sweep.tasks == 1 ? "task" : "tasks",
                    sweep.silent, sweep.agents, sweep.agents == 1 ? "agent" : "agents",
                    sweep.open == 0 ? "all is well"
                                    : fmt::format("{} {} you", sweep.open,
                                                  sweep.open == 1 ? "thing needs" : "things need"));
    if (!sweep.unfit_because.empty()) {
      words += fmt::format("; only warns: {}", sweep.unfit_because);
    }
    return words + "; next in " +
           format_duration(std::chrono::ceil<std::chrono::seconds>(sweep.next));
  }

  void put_words(const SweepLine& line) {
    std::string words = fmt::format("{}  {}{} {}: {}", clock_label(clock_.wall()),
                                    dry_ ? "would " : "", line.what, line.about, line.why);
    if (!line.result.empty()) words += fmt::format(" ({})", line.result);
    world_.out.write(words + "\n");
  }

  void put_json(const SweepLine& line) {
    world_.out.write(json_line({{"at", calendar_json(clock_.wall())},
                                {"kind", "decision"},
                                {"what", line.what},
                                {"about", line.about},
                                {"why", line.why},
                                {"result", line.result},
                                {"needs_person", line.needs_person},
                                {"dry_run", dry_}}));
  }

  World& world_;
  Clock& clock_;
  bool json_;
  bool dry_;
};

// --- The one that is there ----------------------------------------------------------------------

std::string who_holds_it(const PatrolRecord& record) {
  if (record.process.pid == 0) return "another patrol is at work in this home";
  return fmt::format("process {} is the patrol of this home; `tend patrol --stop` ends it",
                     record.process.pid);
}

Result<PatrolRecord> record_of(Folder& home) {
  const auto patrol = look_at_patrol(home);
  if (!patrol) return std::unexpected(patrol.error());
  return *patrol ? (*patrol)->record : PatrolRecord{};
}

/// nullptr if it stays held.
Result<std::unique_ptr<PatrolLock>> wait_for_lock(Machine& machine, Folder& home) {
  const Instant until = machine.clock.now() + kMayTake;
  while (true) {
    auto lock = PatrolLock::take(home);
    if (!lock || *lock != nullptr || machine.clock.now() >= until) return lock;
    let_pass(machine, kLookAgain);
  }
}

/// Ends whoever holds the lock, and takes it.
Result<std::unique_ptr<PatrolLock>> end_patrol(Machine& machine, Folder& home) {
  for (const Kill kill : {Kill::terminate, Kill::kill}) {
    const auto record = record_of(home);
    if (!record) return std::unexpected(record.error());
    if (process_state(machine, record->process) != ProcessIs::alive) {
      return fail("another process than the recorded one holds .patrol; look who has it open");
    }
    if (kill == Kill::kill) {
      std::ignore = machine.processes.open(record->process)->signal(Kill::kill);
    } else {
      std::ignore = machine.processes.open(record->process)->signal(Kill::terminate);
    }
    auto lock = wait_for_lock(machine, home);
    if (!lock || *lock != nullptr) return lock;
  }
  return fail("the patrol does not end; try again");
}

int stop(World& world, Home& home) {
  Machine& machine = home.machine;
  const auto seen = look_at_patrol(*home.folder);
  if (!seen) return complain(world, "patrol", seen.error().text, kExitNo);
  const bool is_to_come = *seen && ((*seen)->record.wanted || (*seen)->record.next_boot);
  if (!*seen || (!(*seen)->held && !is_to_come)) {
    return complain(world, "patrol", "no patrol is at work in this home", kExitNo);
  }
  auto lock = (*seen)->held ? end_patrol(machine, *home.folder) : PatrolLock::take(*home.folder);
  if (!lock) return complain(world, "patrol", lock.error().text, kExitNo);
  if (*lock == nullptr) return complain(world, "patrol", "another one just began", kExitNo);
  PatrolRecord record = (*lock)->record();
  record.wanted = false;
  record.next_boot = false;
  if (auto written = (*lock)->write(record); !written) {
    return complain(world, "patrol", written.error().text, kExitNo);
  }
  world.out.write((*seen)->held ? "the patrol is ended\n" : "no other one is started\n");
  return kExitYes;
}

int detach(World& world, Home& home, Duration interval) {
  Machine& machine = home.machine;
  const auto before = look_at_patrol(*home.folder);
  if (before && *before && (*before)->held) {
    return complain(world, "patrol", who_holds_it((*before)->record), kExitNo);
  }
  const auto program = keeper_program(world, machine, *home.folder);
  if (!program) return complain(world, "patrol", program.error().text, kExitNo);
  if (auto started = start_patrol(machine, *program, interval); !started) {
    return complain(world, "patrol", started.error().text, kExitNo);
  }
  const Instant until = machine.clock.now() + kMayTake;
  while (machine.clock.now() < until) {
    const auto patrol = look_at_patrol(*home.folder);
    if (patrol && *patrol && (*patrol)->held && (*patrol)->record.wanted) {
      world.out.write(fmt::format("process {}\n", (*patrol)->record.process.pid));
      return kExitYes;
    }
    let_pass(machine, kLookAgain);
  }
  return complain(world, "patrol",
                  fmt::format("it did not begin; see {}/patrol.log", home.folder->path()), kExitNo);
}

// --- Being it -----------------------------------------------------------------------------------

Result<PatrolSettings> settings_of(World& world, Home& home, const Config& config,
                                   Duration interval, bool dry) {
  auto program = keeper_program(world, home.machine, *home.folder);
  if (!program) return std::unexpected(program.error());
  PatrolSettings settings{.policy = with_interval(config.patrol, interval),
                          .channels = {},
                          .program = *std::move(program),
                          .gate = config.gate,
                          .dry = dry};
  settings.gate.mirror = path_of_user(config.gate.mirror, world.environment.all());
  for (const NotifyChannel& channel : config.channels) settings.channels.push_back(channel.name);
  return settings;
}

int look_only(World& world, Home& home, WorkItems& items, PatrolSettings settings,
              PatrolLines& lines) {
  Patrol patrol(home.machine, *home.folder, items, std::move(settings));
  if (const auto forgotten = patrol.remember()) lines.put({*forgotten});
  std::size_t open = 0;
  patrol.sweep([&](const Sweep& sweep) {
    lines.put(sweep);
    open = sweep.open;
    home.machine.loop.stop();
  });
  home.machine.loop.run();
  std::ignore = world;
  return open > 0 ? kExitNeedsYou : kExitYes;
}

std::vector<SweepLine> not_heard(const Postman::Delivery& delivery) {
  return {{.about = "outbox",
           .what = "note",
           .why = fmt::format("notice {} on {}: {}", delivery.notice.id,
                              on_one_line(delivery.notice.channel), delivery.told.words),
           .result = delivery.given_up ? "given up" : "tried again later",
           .needs_person = delivery.given_up}};
}

int be_patrol(const Arguments& arguments, World& world, Home& home, Duration interval) {
  Machine& machine = home.machine;
  const auto config = user_config(world);
  if (!config) return complain(world, "patrol", config.error().text, kExitUsage);
  const bool dry = arguments.has("dry-run");
  auto settings = settings_of(world, home, *config, interval, dry);
  if (!settings) return complain(world, "patrol", settings.error().text, kExitNo);
  const auto items = work_items(machine, *home.folder, *config);
  PatrolLines lines(world, machine.clock, arguments.has("json"), dry);
  if (dry) return look_only(world, home, *items, *std::move(settings), lines);

  std::size_t open = 0;
  // What nobody else has sent: its own words, and those of keepers that are gone.
  Callback when_sent;
  Postman postman(
      machine, *home.folder, config->channels, std::nullopt,
      [&](const Postman::Delivery& delivery) {
        if (!delivery.told.heard) lines.put(not_heard(delivery));
      },
      [&](const Postman::Round&) {
        if (const Callback sent = std::exchange(when_sent, nullptr)) sent();
      });
  PatrolProcess patrol(machine, *home.folder, *items,
                       {.patrol = *std::move(settings),
                        .interval = interval,
                        .once = arguments.has("once"),
                        .swept =
                            [&](const Sweep& sweep) {
                              lines.put(sweep);
                              open = sweep.open;
                            },
                        .found = [&](const std::vector<SweepLine>& found) { lines.put(found); },
                        .deliver =
                            [&](Callback sent) {
                              if (sent) when_sent = std::move(sent);
                              postman.send();
                            }});
  const auto began = patrol.begin();
  if (!began) return complain(world, "patrol", began.error().text, kExitNo);
  if (*began == PatrolProcess::Began::held_by_another) {
    const auto record = record_of(*home.folder);
    return complain(world, "patrol", who_holds_it(record.value_or(PatrolRecord{})), kExitNo);
  }
  machine.loop.run();
  if (!patrol.ended_because().empty()) {
    return complain(world, "patrol", patrol.ended_because(), kExitNo);
  }
  return arguments.has("once") && open > 0 ? kExitNeedsYou : kExitYes;
}

}  // namespace

int patrol_command(const Arguments& arguments, World& world) {
  const auto interval = interval_option(arguments);
  if (!interval) return complain(world, "patrol", interval.error().text, kExitUsage);
  const auto clash = [&](std::string_view one, std::string_view other) {
    return arguments.has(one) && arguments.has(other);
  };
  for (const std::string_view other : {"once", "dry-run"}) {
    for (const std::string_view one : {"stop", "detach"}) {
      if (clash(one, other)) {
        return complain(world, "patrol", fmt::format("--{} and --{}: choose one", one, other),
                        kExitUsage);
      }
    }
  }
  if (clash("stop", "detach")) {
    return complain(world, "patrol", "--stop and --detach: choose one", kExitUsage);
  }
  auto home = open_home(world);
  if (!home) return complain(world, "patrol", home.error().text, kExitUsage);
  if (arguments.has("stop")) return stop(world, *home);
  if (arguments.has("detach")) return detach(world, *home, *interval);
  return be_patrol(arguments, world, *home, *interval);
}

}  // namespace tend
