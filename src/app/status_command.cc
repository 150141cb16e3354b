// Choose whom to show, count them, show them.
#include "app/status_command.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/home_option.h"
#include "app/look.h"
#include "app/patrol_view.h"
#include "app/status_view.h"
#include "base/quote.h"
#include "run/roster.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::hours kRecently{24};

/// The folders that were asked for; empty: all.
Result<std::vector<std::string>> wanted_folders(const Arguments& arguments, Home& home) {
  std::vector<std::string> folders;
  for (const std::string& name : arguments.positionals) {
    auto known = find_agent(home.machine.folders, *home.folder, name);
    if (!known) return std::unexpected(known.error());
    folders.push_back(known->folder->path());
  }
  return folders;
}

bool is_below(const Entry& entry, const std::vector<std::string>& folders) {
  if (!entry.known.folder) return false;
  const std::string& path = entry.known.folder->path();
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    return path == folder || path.starts_with(folder + "/");
  });
}

void count(const Entry& entry, Counts& counts) {
  switch (entry.group) {
    case Group::needs_you:
      ++counts.needs_you;
      break;
    case Group::working:
      ++counts.working;
      break;
    case Group::waiting:
      ++counts.waiting;
      break;
    case Group::done:
      ++counts.done;
      break;
  }
}

std::string status_json(const std::vector<const Entry*>& shown, const std::vector<Entry>& all,
                        const Counts& counts, const SeenPatrol& patrol) {
  nlohmann::ordered_json agents = nlohmann::ordered_json::array();
  for (const Entry* entry : shown) agents.push_back(agent_json(*entry, all));
  return json_line({{"agents", std::move(agents)},
                    {"counts",
                     {{"agents", counts.shown()},
                      {"needs_you", counts.needs_you},
                      {"working", counts.working},
                      {"waiting", counts.waiting},
                      {"done", counts.done},
                      {"hidden", counts.hidden}}},
                    {"patrol", patrol.is == PatrolIs::none ? nullptr : patrol_json(patrol)}});
}

/// "" if there never was one.
std::string patrol_line(const SeenPatrol& patrol, const Look& look, std::size_t columns,
                        WallTime now) {
  if (patrol.is == PatrolIs::none) return "";
  const std::string words = "patrol: " + patrol_words(patrol, now);
  const bool in_trouble = patrol.is == PatrolIs::hung || patrol.is == PatrolIs::gone;
  return look.in(in_trouble ? Ink::yellow : Ink::faint,
                 columns == 0 ? words : look.cut(words, columns)) +
         "\n";
}

}  // namespace

int status_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "status", home.error().text, kExitUsage);
  const auto folders = wanted_folders(arguments, *home);
  if (!folders) return complain(world, "status", folders.error().text, kExitNo);
  const auto entries = roster(home->machine, *home->folder);
  if (!entries) return complain(world, "status", entries.error().text, kExitUsage);

  for (const std::string& folder : *folders) {
    if (std::ranges::any_of(*entries, [&](const Entry& e) { return is_below(e, {folder}); }))
      continue;
    return complain(
        world, "status",
        fmt::format("{} is of another home; set TEND_HOME to that one", on_one_line(folder)),
        kExitNo);
  }

  const WallTime now = home->machine.clock.wall();
  const bool all = arguments.has("all") || !folders->empty();
  std::vector<const Entry*> shown;
  Counts counts;
  for (const Entry& entry : *entries) {
    if (!folders->empty() && !is_below(entry, *folders)) continue;
    if (!all && entry.group == Group::done && now - entry.since >= kRecently) {
      ++counts.hidden;
      continue;
    }
    shown.push_back(&entry);
    count(entry, counts);
  }
  if (arguments.has("names")) {
    std::set<std::string_view> said;
    for (const Entry* entry : shown) {
      const std::string& name = entry->known.heartbeat.agent;
      if (!name.empty() && said.insert(name).second) world.out.write(on_one_line(name) + "\n");
    }
    return kExitYes;
  }
  const SeenPatrol patrol = see_patrol(*home).value_or(SeenPatrol{});
  const Look look(world.out, world.environment);
  const std::size_t columns = screen_width(world.out);
  if (arguments.has("json")) {
    world.out.write(status_json(shown, *entries, counts, patrol));
  } else if (entries->empty()) {
    world.out.write(fmt::format("no agents in {}; start one: tend run -- CMD\n",
                                on_one_line(home->folder->path())));
  } else {
    world.out.write(status_table(shown, *entries, counts, look, columns, now));
  }
  if (!arguments.has("json") && folders->empty()) {
    world.out.write(patrol_line(patrol, look, columns, now));
  }
  const bool well = counts.needs_you == 0 || arguments.has("exit-zero");
  return well ? kExitYes : kExitNeedsYou;
}

}  // namespace tend
