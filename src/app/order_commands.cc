// An order is a file in the agent's folder and a poke for its keeper; then the effect is waited
// for, because "asked" is not "done".
#include "app/order_commands.h"

#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "act/launch.h"
#include "app/home_option.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/child_look.h"
#include "run/hire.h"
#include "run/viewer.h"
#include "store/agent_file.h"
#include "store/config_file.h"
#include "store/home.h"
#include "store/intent.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookAgain = 20ms;
constexpr Duration kStopMayTake = 90s;    // saving, three signals, and their bounds
constexpr Duration kTreeMayTake = 10min;  // the same for every level, one after the other
constexpr Duration kDrainMayTake = 24h;   // a turn is as long as it is
constexpr Duration kOthersMayTake = 10s;

/// One order, as it was typed.
struct OrderGiven {
  std::string_view command;
  Intent intent;
  Duration may_take = kOthersMayTake;
  std::function<bool(const Heartbeat&)> done;
  std::string_view in_words;    // "stopped"
  std::string_view if_watched;  // of a process that is not ours to stop
};

/// Looks at the heartbeat until `done`; false if that does not come in time.
bool wait_for(Machine& machine, Folder& folder, Duration at_most,
              const std::function<bool(const Heartbeat&)>& done, Heartbeat& heartbeat) {
  const Instant until = machine.clock.now() + at_most;
  bool reached = false;
  Subscribed timer;
  std::function<void()> look = [&] {
    const auto read = read_heartbeat(folder);
    if (read && *read) heartbeat = **read;
    reached = done(heartbeat);
    if (reached || machine.clock.now() >= until) {
      machine.loop.stop();
      return;
    }
    timer = machine.loop.at(machine.clock.now() + kLookAgain, look);
  };
  timer = machine.loop.at(machine.clock.now(), look);
  machine.loop.run();
  return reached;
}

/// A folder whose keeper died gets a new one: an order needs somebody to follow it.
Result<void> see_to_keeper(World& world, Home& home, Folder& folder) {
  if (has_keeper(home.machine, folder)) return {};
  auto program = home.machine.processes.own_program();
  if (!program) return std::unexpected(program.error());
  return start_keeper(home.machine,
                      {.program = *program,
                       .home = home.folder->path(),
                       .environment = keeper_environment(world.environment.all())},
                      folder.path(), {});
}

/// The order to all that is below, from the top down: nobody there begins anything new, also where
/// a keeper in between is dead.
void pass_down(World& world, Home& home, Folder& folder, const Intent& intent) {
  const auto agents = agents_of(*home.folder);
  if (!agents) return;
  const std::string below = folder.path() + "/";
  for (const KnownAgent& known : *agents) {
    if (!known.folder || !known.folder->path().starts_with(below)) continue;
    if (is_terminal(known.heartbeat.status)) continue;
    if (auto written = write_intent(*known.folder, intent); !written) {
      world.err.write(fmt::format("tend stop: {}\n", written.error().text));
      continue;
    }
    std::ignore = see_to_keeper(world, home, *known.folder);
    poke_keeper(home.machine, *known.folder);
  }
}

void report(const Arguments& arguments, World& world, const OrderGiven& order,
            const std::string& agent, bool reached, const Heartbeat& heartbeat) {
  if (arguments.has("json")) {
    const nlohmann::ordered_json line{
        {"agent", agent},
        {"order", order.command},
        {"done", reached},
        {"verdict", word(heartbeat.verdict)},
        {"status", kStatusWords[static_cast<std::size_t>(heartbeat.status)]},
        {"ended_by", heartbeat.ended_by}};
    world.out.write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (reached) {
    const bool stays = heartbeat.outcome != WorkOutcome::none && !is_terminal(heartbeat.status);
    world.out.write(fmt::format(
        "{}: {}{}\n", agent, order.in_words,
        stays ? fmt::format("; what it dispatched goes on, `tend stop --tree {}` ends that too",
                            agent)
              : ""));
  }
}

bool is_held(const Heartbeat& heartbeat) {
  return heartbeat.verdict == Verdict::looping && heartbeat.status != Status::paused;
}

/// What the order means for this one.
OrderGiven fitted(OrderGiven order, Folder& folder, const Heartbeat& before) {
  const auto agent = read_agent_file(folder);
  const bool is_watched = agent && agent->command.empty();
  if (is_watched) order.in_words = order.if_watched;
  if (order.intent.want == Want::run && is_held(before) && !is_watched) {
    order.may_take = kStopMayTake;
    order.done = [life = before.life](const Heartbeat& h) { return h.life > life; };
  }
  return order;
}

/// Why it is too late for this order; empty if it is not.
std::string too_late(const Intent& wanted, Folder& folder, const Heartbeat& heartbeat) {
  if (wanted.want == Want::stop || wanted.want == Want::drain) return "";
  const auto before = read_intent(folder);
  if (before && *before && (*before)->want == Want::stop) {
    return fmt::format("{} is being stopped ({})", heartbeat.agent, (*before)->by);
  }
  if (heartbeat.outcome == WorkOutcome::none) return "";
  return fmt::format(
      "the own work of {0} is over; it stays for what it dispatched: see `tend tree {0}`",
      heartbeat.agent);
}

/// It is over, and `tend recover` would bring it back.
int stop_for_good(const Arguments& arguments, World& world, Home& home, const KnownAgent& known,
                  OrderGiven order) {
  order.intent.at = calendar_seconds(home.machine.clock.wall());
  if (auto written = write_intent(*known.folder, order.intent); !written) {
    return complain(world, order.command, written.error().text, kExitNo);
  }
  if (order.intent.tree) pass_down(world, home, *known.folder, order.intent);
  const std::string words = fmt::format("over already ({}), and not to be brought back any more",
                                        on_one_line(known.heartbeat.ended_by));
  order.in_words = words;
  report(arguments, world, order, known.heartbeat.agent, true, known.heartbeat);
  return kExitYes;
}

int give_one(const Arguments& arguments, World& world, Home& home, const std::string& name,
             const OrderGiven& given) {
  OrderGiven order = given;
  auto known = find_agent(home.machine.folders, *home.folder, name);
  if (!known) return complain(world, order.command, known.error().text, kExitNo);
  const std::string& agent = known->heartbeat.agent;
  if (is_terminal(known->heartbeat.status)) {
    const ChildEnd end = child_end_of(known->heartbeat);
    const bool comes_back = end == ChildEnd::shutdown || end == ChildEnd::orphaned;
    if (order.intent.want == Want::stop && comes_back) {
      return stop_for_good(arguments, world, home, *known, order);
    }
    return complain(world, order.command,
                    fmt::format("{} is over already: {}", agent, known->heartbeat.ended_by),
                    order.intent.want == Want::stop ? kExitYes : kExitNo);
  }
  Folder& folder = *known->folder;
  if (const std::string why = too_late(order.intent, folder, known->heartbeat); !why.empty()) {
    return complain(world, order.command, why, kExitNo);
  }
  order = fitted(std::move(order), folder, known->heartbeat);
  order.intent.at = calendar_seconds(home.machine.clock.wall());
  if (auto written = write_intent(folder, order.intent); !written) {
    return complain(world, order.command, written.error().text, kExitNo);
  }
  if (order.intent.tree) pass_down(world, home, folder, order.intent);
  if (auto kept = see_to_keeper(world, home, folder); !kept) {
    return complain(world, order.command, kept.error().text, kExitNo);
  }
  poke_keeper(home.machine, folder);
  if (order.intent.want == Want::drain) {
    world.err.write(fmt::format(
        "tend stop: {} finishes its turn first; a program without turns ends by itself\n", agent));
  }
  Heartbeat heartbeat = known->heartbeat;
  const bool reached = wait_for(home.machine, folder, order.may_take, order.done, heartbeat);
  report(arguments, world, order, agent, reached, heartbeat);
  if (reached) return kExitYes;
  return complain(world, order.command,
                  fmt::format("{} is not {} after {}; see `tend explain {}`", agent, order.in_words,
                              format_duration(order.may_take), agent),
                  kExitNo);
}

int give(const Arguments& arguments, World& world, OrderGiven order) {
  auto home = open_home(world);
  if (!home) return complain(world, order.command, home.error().text, kExitUsage);
  order.intent.by = fmt::format("tend {}", order.command);
  int code = kExitYes;
  for (const std::string& name : arguments.positionals) {
    code = std::max(code, give_one(arguments, world, *home, name, order));
  }
  return code;
}

OrderGiven unpause(std::string_view command) {
  return {.command = command,
          .intent = {.want = Want::run},
          .done = [](const Heartbeat& h) { return h.status != Status::paused; },
          .in_words = "running",
          .if_watched = "judged again"};
}

}  // namespace

int stop_command(const Arguments& arguments, World& world) {
  const bool drains = arguments.has("drain");
  if (drains && arguments.has("now")) {
    return complain(world, "stop", "--drain waits and --now does not: choose one", kExitUsage);
  }
  const bool tree = arguments.has("tree");
  return give(arguments, world,
              {.command = "stop",
               .intent = {.want = drains ? Want::drain : Want::stop,
                          .now = arguments.has("now"),
                          .tree = tree},
               .may_take = drains ? kDrainMayTake
                           : tree ? kTreeMayTake
                                  : kStopMayTake,
               // Without --tree its keeper stays for what is below it.
               .done =
                   [tree](const Heartbeat& h) {
                     return is_terminal(h.status) || (!tree && h.outcome != WorkOutcome::none);
                   },
               .in_words = "stopped",
               .if_watched = "no longer watched"});
}

int pause_command(const Arguments& arguments, World& world) {
  return give(arguments, world,
              {.command = "pause",
               .intent = {.want = Want::pause, .keep_running = arguments.has("keep-running")},
               .done = [](const Heartbeat& h) { return h.status == Status::paused; },
               .in_words = "paused",
               .if_watched = "no longer judged"});
}

int unpause_command(const Arguments& arguments, World& world) {
  return give(arguments, world, unpause("unpause"));
}

int unpause_agent(const Arguments& arguments, World& world, std::string_view command,
                  const std::string& agent) {
  Arguments of_one = arguments;
  of_one.positionals = {agent};
  return give(of_one, world, unpause(command));
}

int reload_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "reload", home.error().text, kExitUsage);
  // A keeper would refuse it too, but where nobody sees it.
  if (const auto config = user_config(world); !config) {
    return complain(
        world, "reload",
        fmt::format("{}; nothing is reloaded, all go on as they are", config.error().text),
        kExitUsage);
  }
  int code = kExitYes;
  for (const std::string& name : arguments.positionals) {
    auto known = find_agent(home->machine.folders, *home->folder, name);
    if (!known) {
      code = std::max(code, complain(world, "reload", known.error().text, kExitNo));
      continue;
    }
    const std::string& agent = known->heartbeat.agent;
    const auto lock = look_at_lock(*known->folder);
    if (!lock || !*lock || !(*lock)->held) {
      code = std::max(code, complain(world, "reload",
                                     fmt::format("{} has no keeper; `tend run -d --attach {}` puts "
                                                 "one on",
                                                 agent, agent),
                                     kExitNo));
      continue;
    }
    const auto keeper = home->machine.processes.open((*lock)->record.keeper);
    if (auto sent = keeper->signal(Kill::hang_up); !sent) {
      code = std::max(code, complain(world, "reload", sent.error().text, kExitNo));
      continue;
    }
    world.out.write(fmt::format("{}: its keeper begins anew\n", agent));
  }
  return code;
}

}  // namespace tend
