// Where a home is, and the names of new sessions in it. store/known_agents.cc looks at what is
// there.
#include "store/home.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/name.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr int kMostTries = 20;
constexpr std::size_t kLongestPrefix = 40;

// ---- Where it is

std::optional<std::string> non_empty(const Environment& environment, const std::string& name) {
  auto value = environment.variable(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// The path without doubled and trailing slashes and dots. Fails if it is not absolute or goes up.
Result<std::string> tidy(std::string_view path, std::string_view what) {
  if (!path.starts_with('/')) {
    return fail(fmt::format("{} must be an absolute path, not {}", what, in_quotes(path)));
  }
  std::string tidied;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "..") {
      return fail(fmt::format("{} must be a path without '..'", what));
    }
    if (!part.empty() && part != ".") tidied += "/" + std::string(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return tidied.empty() ? "/" : tidied;
}

/// Without links, as far as there is something. Requires a tidy path.
std::string resolved(Folders& folders, const std::string& path) {
  std::string there = path;
  while (there.size() > 1) {
    if (const auto real = folders.real_path(there)) {
      return (*real == "/" ? "" : *real) + path.substr(there.size());
    }
    there.resize(there.rfind('/'));
  }
  return path;
}

bool is_inside(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

/// A folder without version control is no work tree: nothing there is cloned or committed.
bool is_work_tree(Folders& folders, const std::string& top, const std::string& working) {
  return top != working || folders.real_path(top + "/.git").has_value();
}

/// "tend-0f3c..." : a name to read, and one to tell it from others.
std::string repository_name(std::string_view top) {
  std::string prefix(base_name(top).substr(0, kLongestPrefix));
  for (char& c : prefix) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  if (prefix.empty()) prefix = "root";
  return fmt::format("{}-{:016x}", prefix, Name(top).hash());
}

struct Place {
  std::string path;
  std::string_view because_of;  // the variable that says so
};

Result<Place> place_of_home(const Environment& environment, std::string_view top) {
  if (const auto home = non_empty(environment, "TEND_HOME")) {
    auto path = tidy(*home, "TEND_HOME");
    if (!path) return std::unexpected(path.error());
    return Place{*std::move(path), "TEND_HOME"};
  }
  const auto state = non_empty(environment, "XDG_STATE_HOME");
  const bool has_state = state && state->starts_with('/');  // others are to be ignored: XDG
  const auto user = non_empty(environment, "HOME");
  if (!has_state && !user) return fail("no place for Tend's files: set TEND_HOME or HOME");
  const std::string_view variable = has_state ? "XDG_STATE_HOME" : "HOME";
  auto path = tidy(has_state ? *state : *user + "/.local/state", variable);
  if (!path) return std::unexpected(path.error());
  return Place{fmt::format("{}/tend/{}", *path == "/" ? "" : *path, repository_name(top)),
               variable};
}

// ---- Names

/// "20260308-203749": UTC.
std::string calendar_name(WallTime now) {
  const auto since = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
  const auto days = std::chrono::floor<std::chrono::days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days{days}};
  const std::chrono::hh_mm_ss time{since - days};
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::string chance_name(Entropy& entropy) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::uint64_t chance = entropy.number();
  std::string name;
  for (int i = 0; i < 4; ++i, chance /= kDigits.size()) name += kDigits[chance % kDigits.size()];
  return name;
}

}  // namespace

Result<std::string> home_path(const Environment& environment, Machine& machine) {
  const auto folder = machine.folders.working_folder();
  if (!folder) return std::unexpected(folder.error());
  const std::string working = resolved(machine.folders, *folder);
  const std::string top = resolved(machine.folders, machine.version_control.top(working));
  const auto place = place_of_home(environment, top);
  if (!place) return std::unexpected(place.error());
  if (is_inside(resolved(machine.folders, place->path), top) &&
      is_work_tree(machine.folders, top, working)) {
    return fail(fmt::format(
        "Tend's files would be in {}, inside the work tree {}, because of {}; set TEND_HOME to a "
        "folder outside of it",
        on_one_line(place->path), on_one_line(top), place->because_of));
  }
  return place->path;
}

Result<std::unique_ptr<Folder>> make_dated_folder(Folder& in, WallTime now, Entropy& entropy) {
  for (int i = 0; i < kMostTries; ++i) {
    auto made = in.make_new_folder(calendar_name(now) + "-" + chance_name(entropy));
    if (!made || *made != nullptr) return made;
  }
  return fail(fmt::format("{}: {} names for a new folder were all taken", on_one_line(in.path()),
                          kMostTries));
}

Result<std::unique_ptr<Folder>> make_session(Folder& home, WallTime now, Entropy& entropy) {
  const auto sessions = home.make_folder(std::string(kSessionsFolder));
  if (!sessions) return std::unexpected(sessions.error());
  return make_dated_folder(**sessions, now, entropy);
}

}  // namespace tend
