// Choose whom to show, show them.
#include "app/tree_command.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "app/columns.h"
#include "app/home_option.h"
#include "app/look.h"
#include "app/tree_view.h"
#include "base/quote.h"
#include "run/roster.h"

namespace tend {
namespace {

constexpr std::chrono::hours kRecently{24};

/// All below one of them, itself included.
std::vector<bool> below(const std::vector<Entry>& entries, std::size_t top) {
  std::vector<bool> shown(entries.size());
  shown[top] = true;
  for (std::size_t i = top + 1; i < entries.size(); ++i) {
    const auto parent = entries[i].parent;
    if (parent && shown[*parent]) shown[i] = true;
  }
  return shown;
}

/// Those that are not over for long, and whoever stands above one of them.
std::vector<bool> recent(const std::vector<Entry>& entries, WallTime now) {
  std::vector<bool> shown(entries.size());
  for (std::size_t i = entries.size(); i-- > 0;) {
    const Entry& entry = entries[i];
    if (entry.group != Group::done || now - entry.since < kRecently) shown[i] = true;
    if (shown[i] && entry.parent) shown[*entry.parent] = true;
  }
  return shown;
}

std::string hidden_line(const std::vector<bool>& shown, const Look& look) {
  const auto hidden = std::ranges::count(shown, false);
  if (hidden == 0) return "";
  return look.in(Ink::faint, fmt::format("({} over for more than a day: --all shows {})", hidden,
                                         hidden == 1 ? "it" : "them")) +
         "\n";
}

/// The place of the agent that was asked for.
Result<std::size_t> place_of(const std::vector<Entry>& entries, Home& home,
                             const std::string& name) {
  const auto known = find_agent(home.machine.folders, *home.folder, name);
  if (!known) return std::unexpected(known.error());
  const std::string& path = known->folder->path();
  const auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
    return entry.known.folder && entry.known.folder->path() == path;
  });
  if (found == entries.end()) {
    return fail(on_one_line(path) + " is of another home; set TEND_HOME to that one");
  }
  return static_cast<std::size_t>(found - entries.begin());
}

}  // namespace

int tree_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "tree", home.error().text, kExitUsage);
  const auto entries = roster(home->machine, *home->folder);
  if (!entries) return complain(world, "tree", entries.error().text, kExitUsage);

  const WallTime now = home->machine.clock.wall();
  const Look look(world.out, world.environment);
  std::vector<bool> shown(entries->size(), true);
  std::string hidden;
  if (!arguments.positionals.empty()) {
    const auto top = place_of(*entries, *home, arguments.positionals.front());
    if (!top) return complain(world, "tree", top.error().text, kExitNo);
    shown = below(*entries, *top);
  } else if (!arguments.has("all")) {
    shown = recent(*entries, now);
    hidden = hidden_line(shown, look);
  }

  const Forest forest(*entries);
  if (arguments.has("json")) {
    world.out.write(tree_json(forest, shown, now));
  } else if (entries->empty()) {
    world.out.write(fmt::format("no agents in {}; start one: tend run -- CMD\n",
                                on_one_line(home->folder->path())));
  } else {
    const bool any = std::ranges::find(shown, true) != shown.end();
    if (any) world.out.write(tree_text(forest, shown, look, screen_width(world.out), now));
    world.out.write(hidden);
  }
  bool needs_you = false;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] && (*entries)[i].group == Group::needs_you) needs_you = true;
  }
  return needs_you ? kExitNeedsYou : kExitYes;
}

}  // namespace tend
