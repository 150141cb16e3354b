// The environment is built from nothing: a list of what may be inherited is complete, a list of
// what must not be would never be. Settings go in by GIT_CONFIG_KEY_n, which outranks every file
// and takes any name.
//
// Filters of the user's own configuration (git-lfs) run as they do for every `git add`; those that
// the repository's configuration defines do not, and their files are saved as they stand. What is
// to be written to the work tree or to a branch is refused where that would matter: git_guard.h.
#include "os/linux/git_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "base/quote.h"

namespace tend {
namespace {

constexpr int kNotFound = 127;  // of env(1), for a program that is not there
constexpr std::size_t kMostComplaint = 300;

// Where programs and the user's own settings are found. SUDO_UID: git lets root work for them.
constexpr std::array kInherited{"PATH",          "HOME",   "XDG_CONFIG_HOME",   "LD_LIBRARY_PATH",
                                "GIT_EXEC_PATH", "TMPDIR", "GIT_CONFIG_GLOBAL", "SUDO_UID"};

constexpr std::array kEnvironment{
    "LC_ALL=C",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1",        // from 2.45 on
    "GIT_ALLOW_PROTOCOL=nobody",  // before that: no transport has this name
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kSettings{{
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.untrackedCache", "false"},
    {"core.splitIndex", "false"},
    {"index.sparse", "false"},
    {"core.safecrlf", "false"},
    {"core.fsync", "none"},  // one sync at the end does for all, folders too
    {"commit.gpgSign", "false"},
    {"i18n.commitEncoding", "UTF-8"},
    {"gc.auto", "0"},
    {"rerere.enabled", "false"},
    {"merge.verifySignatures", "false"},
    {"maintenance.auto", "false"},
    {"submodule.recurse", "false"},
    {"protocol.allow", "never"},
    {"safe.bareRepository", "explicit"},
}};

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

// "filter.NAME.clean" -> NAME, which may hold dots.
std::string_view driver_of(std::string_view key, std::string_view before) {
  const auto last = key.rfind('.');
  if (!key.starts_with(before) || last < before.size()) return {};
  return key.substr(before.size(), last - before.size());
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Run git_command(const GitPlace& place, std::vector<std::string> arguments, WallTime identity_at) {
  Run run{.command = {"env", "-i"}, .working_folder = place.top};
  auto& command = run.command;
  for (const char* name : kInherited) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets one
    if (value != nullptr) command.push_back(fmt::format("{}={}", name, value));
  }
  command.insert(command.end(), kEnvironment.begin(), kEnvironment.end());
  for (const std::string_view role : {"AUTHOR", "COMMITTER"}) {
    command.push_back(fmt::format("GIT_{}_NAME={}", role, place.identity.name));
    command.push_back(fmt::format("GIT_{}_EMAIL={}", role, place.identity.email));
  }
  command.push_back("GIT_WORK_TREE=" + place.top);
  if (!place.index.empty()) command.push_back("GIT_INDEX_FILE=" + place.index);

  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(identity_at.time_since_epoch());
  command.push_back(fmt::format("GIT_AUTHOR_DATE=@{} +0000", seconds.count()));
  command.push_back(fmt::format("GIT_COMMITTER_DATE=@{} +0000", seconds.count()));

  std::size_t settings = 0;
  const auto set = [&](std::string_view key, std::string_view value) {
    command.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", settings, key));
    command.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", settings, value));
    ++settings;
  };
  for (const auto& [key, value] : kSettings) set(key, value);
  if (place.durable) set("core.fsync", "all");
  for (const std::string& driver : place.merge_drivers) {
    set(fmt::format("merge.{}.driver", driver), "false");
  }
  for (const std::string& filter : place.filters) {
    set(fmt::format("filter.{}.clean", filter), "");
    set(fmt::format("filter.{}.smudge", filter), "");
    set(fmt::format("filter.{}.process", filter), "");
    set(fmt::format("filter.{}.required", filter), "false");
  }
  command.push_back(fmt::format("GIT_CONFIG_COUNT={}", settings));
  command.emplace_back("git");
  command.insert(command.end(), std::make_move_iterator(arguments.begin()),
                 std::make_move_iterator(arguments.end()));
  return run;
}

std::vector<std::string> git_config_arguments() {
  return {"config", "-z", "--show-scope", "--get-regexp",
          R"(^(filter\..*|merge\..*\.driver|user\.name|user\.email|core\.sparsecheckout)$)"};
}

// SCOPE NUL KEY LF VALUE NUL, again and again; a key without a value has no LF.
GitConfig read_git_config(std::string_view output) {
  GitConfig config;
  std::string name;
  std::string email;
  const auto parts = parts_of(output);
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    const bool of_repository = parts[i] == "local" || parts[i] == "worktree";
    const auto key_end = std::min(parts[i + 1].find('\n'), parts[i + 1].size());
    const std::string_view key = parts[i + 1].substr(0, key_end);
    const std::string_view value = parts[i + 1].substr(std::min(key_end + 1, parts[i + 1].size()));
    if (key == "core.sparsecheckout") config.sparse = value != "false";
    if (key == "user.name") name = value;
    if (key == "user.email") email = value;
    const std::string_view filter = driver_of(key, "filter.");
    const std::string_view merger = driver_of(key, "merge.");
    if (!filter.empty()) add_once(config.filters, filter);
    if (!filter.empty() && of_repository) add_once(config.filters_of_repository, filter);
    if (!merger.empty() && of_repository) add_once(config.merge_drivers_of_repository, merger);
  }
  if (!name.empty() && !email.empty()) config.identity = {std::move(name), std::move(email)};
  return config;
}

bool succeeded(const Ran& ran) {
  return !ran.timed_out && ran.exit.how == ExitStatus::How::code && ran.exit.value == 0;
}

bool said_no(const Ran& ran) {
  return !ran.timed_out && ran.exit.how == ExitStatus::How::code && ran.exit.value == 1;
}

bool takes_no_option(const Ran& ran) {
  constexpr int kUsage = 129;
  return ran.exit.how == ExitStatus::How::code && ran.exit.value == kUsage;
}

bool not_found(const Ran& ran) {
  return ran.exit.how == ExitStatus::How::code && ran.exit.value == kNotFound;
}

std::string line_of(const Ran& ran) {
  std::string text = ran.output;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string why_no_repository(const Ran& ran, const std::string& top) {
  if (!ran.error.contains("dubious ownership")) return complaint(ran);
  return fmt::format(
      "it belongs to somebody else; to allow it: git config --global --add safe.directory {}", top);
}

std::string complaint(const Ran& ran) {
  if (ran.timed_out) return "it took too long";
  std::string_view first;
  for (std::string_view rest = ran.error; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) {
      return on_one_line(line.substr(7, kMostComplaint));
    }
    if (first.empty()) first = line;
  }
  if (!first.empty()) return on_one_line(first.substr(0, kMostComplaint));
  const bool code = ran.exit.how == ExitStatus::How::code;
  return fmt::format("it ended with {} {}", code ? "exit code" : "signal", ran.exit.value);
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (auto end = list.find('\0'); end != std::string_view::npos; end = list.find('\0')) {
    parts.push_back(list.substr(0, end));
    list.remove_prefix(end + 1);
  }
  return parts;
}

bool has_git_entry(const std::string& folder) {
  struct stat facts{};
  const std::string entry = folder + "/.git";
  if (::lstat(entry.c_str(), &facts) != 0) return false;
  if (S_ISREG(facts.st_mode)) return true;
  return ::lstat((entry + "/HEAD").c_str(), &facts) == 0;
}

std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr),
                                                          &std::free);
  std::string result = found != nullptr ? found.get() : path;
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

std::string top_of(const std::string& path) {
  for (std::string folder = without_links(path); !folder.empty(); folder = parent_of(folder)) {
    if (has_git_entry(folder)) return folder;
    if (folder == "/") break;
  }
  return "";
}

}  // namespace tend
