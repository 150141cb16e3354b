// Find what was saved, then list it, show it, or make a new folder of it.
#include "app/salvage_command.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/home_option.h"
#include "app/look.h"
#include "app/salvage.h"
#include "app/when.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestAgent = 40;

/// All saved work, and where the command stands.
struct SavedHere {
  Home home;
  std::string working_folder;
  std::vector<SavedItem> items;
};

Result<SavedHere> gather(World& world) {
  auto home = open_home(world);
  if (!home) return std::unexpected(home.error());
  auto working = home->machine.folders.working_folder();
  if (!working) return std::unexpected(working.error());
  auto items = saved_work(home->machine, *home->folder, *working);
  if (!items) return std::unexpected(items.error());
  return SavedHere{*std::move(home), *std::move(working), *std::move(items)};
}

std::string moment_label(WallTime at) {
  return at == WallTime{} ? "-" : fmt::format("{} {}", date_label(at), clock_label(at));
}

std::string or_dash(std::string_view text) { return text.empty() ? "-" : on_one_line(text); }

std::string files_label(const SavedItem& item) {
  return item.files ? std::to_string(*item.files) : "-";
}

Json item_json(const SavedItem& item) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"what", item.what},
          {"kind", item.is_copy() ? "copy" : "commit"},
          {"agent", item.agent},
          {"life", item.life},
          {"at", calendar_json(item.at)},
          {"files", item.files ? Json(*item.files) : Json(nullptr)},
          {"why", or_null(item.why)},
          {"commit", or_null(item.commit)},
          {"from", or_null(item.from)}};
}

/// What a person types to see all of it.
std::vector<std::string> commands_to_see(const SavedItem& item) {
  if (item.is_copy()) return {fmt::format("find {} -type f", in_shell(item.what + "/files"))};
  const std::string ref = in_shell(item.what);
  return {"git show --stat " + ref, fmt::format("git diff {0}^ {0}", ref)};
}

std::string shown_json(const SavedItem& item, Folders& folders) {
  Json json = item_json(item);
  json["paths"] = nullptr;
  if (item.is_copy()) {
    const CopiedPaths found = paths_in(folders, item);
    json["paths"] = found.paths;
    json["paths_complete"] = found.complete;
  }
  json["see"] = commands_to_see(item);
  return json_line(json);
}

std::string shown_text(const SavedItem& item, Folders& folders) {
  std::string text = on_one_line(item.what) + "\n";
  const auto add = [&](std::string_view title, std::string_view words) {
    text += fmt::format("  {:<8} {}\n", title, words);
  };
  add("agent", fmt::format("{}, life {}", on_one_line(item.agent), or_dash(item.life)));
  add("saved", moment_label(item.at) + " UTC");
  add("files", files_label(item));
  if (!item.why.empty()) add("why", on_one_line(item.why));
  if (!item.from.empty()) add("from", on_one_line(item.from));
  if (!item.commit.empty()) add("commit", item.commit);
  std::string_view title = "see";
  for (const std::string& command : commands_to_see(item)) {
    add(std::exchange(title, ""), on_one_line(command));
  }
  add("restore", "tend salvage restore " + on_one_line(in_shell(item.what)));
  if (!item.is_copy()) return text;
  const CopiedPaths found = paths_in(folders, item);
  for (const std::string& path : found.paths) text += "    " + path + "\n";
  if (!found.complete) text += "    and more, which the command above shows\n";
  return text;
}

/// Beside the work tree: never in it, where it would look like work.
std::string usual_place(const SavedItem& item, const std::string& top) {
  std::string name =
      fmt::format("{}-{}", item.agent, item.life.empty() ? item.commit.substr(0, 7) : item.life);
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        return !plain;
      },
      '-');
  return top + "-" + name;
}

std::string place_for(const Arguments& arguments, const SavedItem& item, const SavedHere& here) {
  const auto typed = arguments.value("into");
  if (!typed) {
    return usual_place(item, here.home.machine.version_control.top(here.working_folder));
  }
  return typed->starts_with('/') ? *typed : here.working_folder + "/" + *typed;
}

}  // namespace

int salvage_list_command(const Arguments& arguments, World& world) {
  const auto here = gather(world);
  if (!here) return complain(world, "salvage list", here.error().text, kExitUsage);
  if (arguments.has("json")) {
    for (const SavedItem& item : here->items) world.out.write(json_line(item_json(item)));
    return kExitYes;
  }
  if (here->items.empty()) {
    world.out.write("no work was saved for this repository\n");
    return kExitYes;
  }
  const Look look(world.out, world.environment);
  Columns columns({{"WHAT"}, {"AGENT"}, {"LIFE"}, {"WHEN (UTC)"}, {"FILES", true}, {"WHY"}});
  for (const SavedItem& item : here->items) {
    columns.add({{on_one_line(item.what)},
                 {look.cut(or_dash(item.agent), kLongestAgent)},
                 {or_dash(item.life)},
                 {moment_label(item.at)},
                 {files_label(item)},
                 {or_dash(item.why)}});
  }
  world.out.write(columns.text(look, screen_width(world.out)));
  return kExitYes;
}

int salvage_show_command(const Arguments& arguments, World& world) {
  const auto here = gather(world);
  if (!here) return complain(world, "salvage show", here.error().text, kExitUsage);
  const auto items = meant_by(here->items, arguments.positionals.front());
  if (!items) return complain(world, "salvage show", items.error().text, kExitNo);
  Folders& folders = here->home.machine.folders;
  for (const SavedItem& item : *items) {
    if (arguments.has("json")) {
      world.out.write(shown_json(item, folders));
    } else {
      world.out.write((&item == &items->front() ? "" : "\n") + shown_text(item, folders));
    }
  }
  return kExitYes;
}

int salvage_restore_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kCommand = "salvage restore";
  const auto here = gather(world);
  if (!here) return complain(world, kCommand, here.error().text, kExitUsage);
  const auto items = meant_by(here->items, arguments.positionals.front());
  if (!items) return complain(world, kCommand, items.error().text, kExitNo);
  const SavedItem& item = items->back();
  const std::string branch = arguments.value("branch").value_or("");
  if (item.is_copy() && !branch.empty()) {
    return complain(world, kCommand, "--branch is for a commit, and this is a copy of files",
                    kExitUsage);
  }
  const std::string into = place_for(arguments, item, *here);
  const auto left_out = restore(here->home.machine, item, here->working_folder, into, branch);
  if (!left_out) return complain(world, kCommand, left_out.error().text, kExitNo);
  const std::string which = items->size() > 1 ? fmt::format(", the newest of {} of {},",
                                                            items->size(), on_one_line(item.agent))
                                              : "";
  world.out.write(fmt::format("{}{} is in {}\n", on_one_line(item.what), which, on_one_line(into)));
  if (left_out->empty()) return kExitYes;
  return complain(world, kCommand, *left_out, kExitNo);
}

}  // namespace tend
