// Scan, begin the roots, and look until their keepers have done the rest.
#include "app/recover_command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_options.h"
#include "app/home_option.h"
#include "app/look.h"
#include "base/duration.h"
#include "run/moment.h"
#include "run/recover.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr Duration kOthersMayTake = 120s;
constexpr Duration kRestMayTake = 120s;
constexpr Duration kLookAgain = 250ms;
constexpr Duration kBeginAgain = 5s;  // a keeper that comes has taken its lock by then

Json json_of(const Recovery& one) {
  return {{"agent", one.agent},
          {"folder", one.folder},
          {"bucket", word(one.bucket)},
          {"why", one.why},
          {"by", one.by}};
}

bool is_worth_a_line(const Recovery& one) {
  return one.is_due() || one.bucket == Bucket::unknown || one.bucket == Bucket::merge;
}

std::vector<Recovery> worth_lines(const RecoveryScan& scan) {
  std::vector<Recovery> lines;
  std::ranges::copy_if(scan.agents, std::back_inserter(lines), is_worth_a_line);
  return lines;
}

void print_text(World& world, const RecoveryScan& scan, bool dry) {
  const std::vector<Recovery> lines = worth_lines(scan);
  for (const Recovery& one : lines) {
    if (one.bucket == Bucket::merge && !one.is_due()) {
      world.out.write(fmt::format("unmerged  {0}: {1}; `tend merge {0}`\n", one.agent, one.why));
      continue;
    }
    world.out.write(fmt::format(
        "{}  {}: {}{}\n", left_aligned(word(one.bucket), 8), one.agent, one.why,
        one.by.empty() || one.by == "recover" ? ""
                                              : fmt::format(" (by the keeper of {})", one.by)));
  }
  for (const std::string& path : scan.lost_worktrees) {
    world.out.write(
        fmt::format("worktree  {}: no agent's; `git worktree remove` frees it, if "
                    "nothing in it is needed\n",
                    path));
  }
  const auto due = std::ranges::count_if(lines, [](const Recovery& r) { return r.is_due(); });
  if (due == 0) {
    world.out.write("nothing to recover\n");
  } else if (dry) {
    world.out.write(fmt::format("{} would be recovered\n", due));
  }
}

void print_json(World& world, const RecoveryScan& scan, bool dry) {
  Json agents = Json::array();
  for (const Recovery& one : scan.agents) agents.push_back(json_of(one));
  const auto due =
      std::ranges::count_if(scan.agents, [](const Recovery& one) { return one.is_due(); });
  const Json all{{"dry_run", dry},
                 {"due", due},
                 {"agents", std::move(agents)},
                 {"lost_worktrees", scan.lost_worktrees}};
  world.out.write(all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// Two at once do not both act: the second waits, and finds nothing left.
Result<std::unique_ptr<File>> wait_for_lock(World& world, Home& home) {
  const Instant until = home.machine.clock.now() + kOthersMayTake;
  bool said = false;
  while (true) {
    auto lock = lock_recovery(*home.folder);
    if (!lock || *lock != nullptr) return lock;
    if (home.machine.clock.now() >= until) {
      return fail("another `tend recover` is at work in this home; try again when it is done");
    }
    if (!std::exchange(said, true)) {
      world.err.write("tend recover: waits for another one in this home\n");
    }
    let_pass(home.machine, kLookAgain);
  }
}

/// The keepers that were begun do the rest, level by level. One that died just now, while it seemed
/// to be there, is begun like the others.
Result<std::vector<Recovery>> wait_for_rest(Home& home, const KeeperProgram& program) {
  const Instant until = home.machine.clock.now() + kRestMayTake;
  Instant begin_again = home.machine.clock.now() + kBeginAgain;
  while (true) {
    const auto scan = scan_home(home.machine, *home.folder);
    if (!scan) return std::unexpected(scan.error());
    std::vector<Recovery> left;
    std::ranges::copy_if(scan->agents, std::back_inserter(left), [](const Recovery& one) {
      return one.is_due() || one.bucket == Bucket::wait;
    });
    const Instant now = home.machine.clock.now();
    if (left.empty() || now >= until) return left;
    if (now >= begin_again) {
      begin_again = now + kBeginAgain;
      auto begun = begin_roots(home.machine, *scan, program, [](const Recovery&) {});
      if (!begun) return std::unexpected(begun.error());
    }
    let_pass(home.machine, kLookAgain);
  }
}

}  // namespace

int recover_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "recover", home.error().text, kExitUsage);
  const bool dry = arguments.has("dry-run");
  std::unique_ptr<File> lock;
  if (!dry) {
    auto locked = wait_for_lock(world, *home);
    if (!locked) return complain(world, "recover", locked.error().text, kExitNo);
    lock = *std::move(locked);
  }
  const auto scan = scan_home(home->machine, *home->folder);
  if (!scan) return complain(world, "recover", scan.error().text, kExitNo);
  arguments.has("json") ? print_json(world, *scan, dry) : print_text(world, *scan, dry);
  std::ignore = world.out.flush();
  const bool is_due =
      std::ranges::any_of(scan->agents, [](const Recovery& one) { return one.is_due(); });
  if (dry || !is_due) return kExitYes;
  auto program = keeper_program(world, home->machine, *home->folder);
  if (!program) return complain(world, "recover", program.error().text, kExitNo);
  auto begun = begin_roots(home->machine, *scan, *program, [](const Recovery&) {});
  if (!begun) return complain(world, "recover", begun.error().text, kExitNo);
  const auto left = wait_for_rest(*home, *program);
  if (!left) return complain(world, "recover", left.error().text, kExitNo);
  if (left->empty()) {
    if (!arguments.has("json")) world.out.write("recovered\n");
    return kExitYes;
  }
  return complain(
      world, "recover",
      fmt::format("{} is not recovered after {}: {}; see `tend explain {}`", left->front().agent,
                  format_duration(kRestMayTake), left->front().why, left->front().agent),
      kExitNo);
}

}  // namespace tend
