// Where the settings are, and what is said about them. What stands in them is hooks_file.cc's.
#include "app/hooks_command.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/home_option.h"
#include "app/hook_signals.h"
#include "app/hooks_diff.h"
#include "app/hooks_file.h"
#include "base/check.h"
#include "base/quote.h"
#include "judge/words.h"
#include "os/machine.h"

namespace tend {
namespace {

constexpr std::size_t kLargestSettings = std::size_t{4} * 1024 * 1024;
constexpr std::string_view kBackup = ".tend-backup";

enum class Scope : std::uint8_t { user, project };

std::string_view word_of(Scope scope) { return scope == Scope::user ? "user" : "project"; }
std::string_view word_of(HookAgent agent) { return kHookAgents[static_cast<std::size_t>(agent)]; }

// ---- Where

std::string file_in_folder(HookAgent agent) {
  return agent == HookAgent::codex ? "/hooks.json" : "/settings.json";
}

Result<std::string> user_folder(HookAgent agent, const Environment& environment) {
  const std::string moved = agent == HookAgent::claude  ? "CLAUDE_CONFIG_DIR"
                            : agent == HookAgent::codex ? "CODEX_HOME"
                                                        : "";
  if (!moved.empty()) {
    const auto folder = environment.variable(moved);
    if (folder && !folder->empty()) return *folder;
  }
  const auto home = environment.variable("HOME");
  if (!home || home->empty()) return fail("HOME is not set, so there are no settings of yours");
  return *home + "/." + std::string(word_of(agent));
}

Result<std::string> settings_path(HookAgent agent, Scope scope, World& world) {
  if (scope == Scope::user) {
    const auto folder = user_folder(agent, world.environment);
    if (!folder) return folder;
    return *folder + file_in_folder(agent);
  }
  const auto here = world.machines.machine().folders.working_folder();
  if (!here) return here;
  return *here + "/." + std::string(word_of(agent)) + file_in_folder(agent);
}

// ---- Changing

/// A settings file and what it is to become.
struct Change {
  std::string path;
  std::optional<std::string> before{};  // none: there is no file
  std::optional<std::string> after{};   // none: there is to be none
};

Result<std::string> own_program(World& world) {
  return world.machines.machine().processes.own_program();
}

Error in_file(const std::string& path, const Error& error) {
  return Error{on_one_line(path) + ": " + error.text};
}

/// What starts and ends the beater of a session, if that was asked for. Paths stay as they were
/// typed: relative ones are of the folder that the session works in.
std::optional<ServiceWords> service_typed(const Arguments& arguments) {
  const auto pidfile = arguments.value("service");
  if (!pidfile) return std::nullopt;
  ServiceWords words{.start = {"--quiet", "--pidfile", *pidfile},
                     .stop = {"--quiet", "--pidfile", *pidfile}};
  if (const auto root = arguments.value("service-root")) {
    words.start.insert(words.start.end(), {"--preset", "hyrm", "--root", *root});
  }
  return words;
}

Result<Change> plan_install(HookAgent agent, Change change, World& world,
                            const std::optional<ServiceWords>& service) {
  const auto program = own_program(world);
  if (!program) return std::unexpected(program.error());
  auto after = with_hooks(change.before.value_or(""), agent, *program);
  if (after && service) after = with_service(*after, agent, *program, *service);
  if (!after) return std::unexpected(in_file(change.path, after.error()));
  change.after = *std::move(after);
  return change;
}

/// What the file was before, if all that happened to it since is our own doing.
std::optional<std::optional<std::string>> restored(HookAgent agent, const Change& change,
                                                   World& world) {
  const auto found = find_hooks(*change.before, agent);
  if (!found || found->programs.size() != 1) return std::nullopt;
  const std::string& program = *found->programs.begin();
  const auto backup = world.files.read(change.path + std::string(kBackup), kLargestSettings);
  if (!backup) return std::nullopt;
  const auto again = with_hooks(backup->value_or(""), agent, program);
  if (!again || *again != *change.before) return std::nullopt;
  return *backup;
}

Result<Change> plan_uninstall(HookAgent agent, Change change, World& world) {
  if (!change.before) return change;
  auto after = without_hooks(*change.before, agent);
  if (!after) return std::unexpected(in_file(change.path, after.error()));
  change.after = *std::move(after);
  if (change.after == change.before) return change;
  if (auto was = restored(agent, change, world)) change.after = *std::move(was);
  return change;
}

/// Keeps what the file was before, once.
Result<bool> keep_backup(const Change& change, World& world) {
  const std::string path = change.path + std::string(kBackup);
  const auto there = world.files.read(path, kLargestSettings);
  if (!there) return std::unexpected(there.error());
  if (*there || !change.before) return false;
  if (auto kept = world.files.replace(path, *change.before); !kept) {
    return std::unexpected(kept.error());
  }
  return true;
}

Result<void> carry_out(const Change& change, World& world) {
  if (!change.after) return world.files.remove(change.path);
  return world.files.replace(change.path, *change.after);
}

/// The parts of a command's call that install and uninstall share.
struct Call {
  HookAgent agent = HookAgent::claude;
  Scope scope = Scope::user;
  bool dry_run = false;
};

Call call_of(const Arguments& arguments) {
  const auto agent = from_word<HookAgent>(kHookAgents, arguments.positionals.at(0));
  CHECK(agent.has_value());  // the row has the choices
  return {.agent = *agent,
          .scope = arguments.has("project") ? Scope::project : Scope::user,
          .dry_run = arguments.has("dry-run")};
}

Result<Change> read_settings(const Call& call, World& world) {
  auto path = settings_path(call.agent, call.scope, world);
  if (!path) return std::unexpected(path.error());
  auto text = world.files.read(*path, kLargestSettings);
  if (!text) return std::unexpected(text.error());
  return Change{.path = *std::move(path), .before = *std::move(text)};
}

int show(const Change& change, World& world) {
  const auto shown =
      show_difference(change.path, change.before.value_or(""), change.after.value_or(""));
  world.out.write(shown.empty() ? on_one_line(change.path) + ": nothing would change\n" : shown);
  return kExitYes;
}

int say(const Change& change, std::string_view what, World& world) {
  world.out.write(fmt::format("{}: {}\n", on_one_line(change.path), what));
  return kExitYes;
}

// ---- Status

struct Row {
  HookAgent agent;
  Scope scope;
  std::string file;
  HooksFound found{};
  std::string problem{};

  [[nodiscard]] std::string_view installed() const {
    if (!problem.empty()) return "unknown";
    if (found.events == 0) return "no";
    return found.events == hooked_events(agent).size() ? "yes" : "partly";
  }
};

Row look(HookAgent agent, Scope scope, World& world) {
  Row row{.agent = agent, .scope = scope};
  const auto path = settings_path(agent, scope, world);
  if (!path) {
    row.problem = path.error().text;
    return row;
  }
  row.file = *path;
  const auto text = world.files.read(*path, kLargestSettings);
  if (!text) {
    row.problem = text.error().text;
    return row;
  }
  auto found = find_hooks(text->value_or(""), agent);
  if (!found) {
    row.problem = in_file(*path, found.error()).text;
  } else {
    row.found = *std::move(found);
  }
  return row;
}

std::string as_json(const Row& row) {
  nlohmann::ordered_json json{{"agent", word_of(row.agent)},
                              {"scope", word_of(row.scope)},
                              {"file", row.file},
                              {"installed", row.installed()},
                              {"events", row.found.events},
                              {"of", hooked_events(row.agent).size()},
                              {"programs", row.found.programs},
                              {"service", row.found.service}};
  if (!row.problem.empty()) json["problem"] = row.problem;
  using Handler = nlohmann::ordered_json::error_handler_t;
  return json.dump(-1, ' ', false, Handler::replace) + "\n";
}

std::string as_line(const Row& row) {
  std::string what(row.installed());
  if (what == "partly") {
    what = fmt::format("partly ({} of {}; tend hooks install {}{} completes it)", row.found.events,
                       hooked_events(row.agent).size(), word_of(row.agent),
                       row.scope == Scope::project ? " --project" : "");
  }
  std::string line = fmt::format("{:<7} {:<8} {}", word_of(row.agent), word_of(row.scope), what);
  if (!row.problem.empty()) return line + ": " + row.problem + "\n";
  line += "  " + on_one_line(row.file);
  for (const std::string& program : row.found.programs) line += "  " + on_one_line(program);
  if (row.found.service) line += "  with a service";
  return line + "\n";
}

}  // namespace

int hooks_install_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "hooks install";
  const Call call = call_of(arguments);
  auto settings = read_settings(call, world);
  if (!settings) return complain(world, kName, settings.error().text, kExitNo);
  if (arguments.has("service-root") && !arguments.has("service")) {
    return complain(world, kName, "--service-root needs --service FILE", kExitUsage);
  }
  const auto change =
      plan_install(call.agent, *std::move(settings), world, service_typed(arguments));
  if (!change) return complain(world, kName, change.error().text, kExitNo);
  if (call.dry_run) return show(*change, world);
  if (change->after == change->before) return say(*change, "all hooks are there already", world);
  const auto kept = keep_backup(*change, world);
  if (!kept) return complain(world, kName, kept.error().text, kExitNo);
  if (auto done = carry_out(*change, world); !done) {
    return complain(world, kName, done.error().text, kExitNo);
  }
  say(*change,
      fmt::format(
          "{} events run tend hook now{}", hooked_events(call.agent).size(),
          *kept ? "; what it was before is in " + on_one_line(change->path) + std::string(kBackup)
                : ""),
      world);
  if (call.agent == HookAgent::codex) {
    world.out.write("codex runs new hooks only after you trusted them: start it and say /hooks\n");
  }
  return kExitYes;
}

int hooks_uninstall_command(const Arguments& arguments, World& world) {
  constexpr std::string_view kName = "hooks uninstall";
  const Call call = call_of(arguments);
  auto settings = read_settings(call, world);
  if (!settings) return complain(world, kName, settings.error().text, kExitNo);
  const auto change = plan_uninstall(call.agent, *std::move(settings), world);
  if (!change) return complain(world, kName, change.error().text, kExitNo);
  if (call.dry_run) return show(*change, world);
  if (change->after == change->before) return say(*change, "it has no hook of ours", world);
  if (auto done = carry_out(*change, world); !done) {
    return complain(world, kName, done.error().text, kExitNo);
  }
  const std::string backup = change->path + std::string(kBackup);
  const auto kept = world.files.read(backup, kLargestSettings);
  if (kept && *kept && *kept == change->after) {  // the same twice
    if (auto gone = world.files.remove(backup); !gone) {
      return complain(world, kName, gone.error().text, kExitNo);
    }
  }
  return say(*change, change->after ? "the hooks are out" : "removed; it held our hooks alone",
             world);
}

int hooks_status_command(const Arguments& arguments, World& world) {
  bool all_read = true;
  for (std::size_t i = 0; i < kHookAgents.size(); ++i) {
    for (const Scope scope : {Scope::user, Scope::project}) {
      const Row row = look(static_cast<HookAgent>(i), scope, world);
      all_read = all_read && row.problem.empty();
      world.out.write(arguments.has("json") ? as_json(row) : as_line(row));
    }
  }
  return all_read ? kExitYes : kExitNo;
}

}  // namespace tend
