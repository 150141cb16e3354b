// `tend service install`: a unit for the user's systemd. It is written and nothing is started: the
// lines that do it are shown.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/service_call.h"
#include "app/service_commands.h"
#include "base/quote.h"
#include "os/machine.h"

namespace tend {
namespace {

constexpr std::string_view kName = "service install";
constexpr std::string_view kUsualName = "heartbeat";
constexpr std::size_t kLongestName = 64;

Result<std::string> name_typed(const Arguments& arguments) {
  std::string name = arguments.value("name").value_or(std::string(kUsualName));
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (plain && !name.empty() && name.size() <= kLongestName) return name;
  return fail("--name wants letters, digits, '_' and '-', at most 64, not " + in_quotes(name));
}

Result<std::string> unit_folder(const Environment& environment) {
  const auto config = environment.variable("XDG_CONFIG_HOME");
  if (config && config->starts_with('/')) return *config + "/systemd/user";
  const auto home = environment.variable("HOME");
  if (home && home->starts_with('/')) return *home + "/.config/systemd/user";
  return fail("HOME is not set, so there is no place for units of yours");
}

/// One word as systemd reads it: '%' and '$' mean something to it, also in quotes.
std::string quoted(std::string_view word, bool in_command) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '%' || (c == '$' && in_command)) text += c;
    text += c;
  }
  return text + "\"";
}

std::string unit_text(const std::string& name, const std::string& program, const std::string& home,
                      const ServiceCall& call) {
  std::string command = quoted(program, true) + " service run";
  for (const std::string& word : call.words) command += " " + quoted(word, true);
  const auto set = [](std::string_view variable, const std::string& value) {
    return fmt::format("Environment={}\n", quoted(fmt::format("{}={}", variable, value), false));
  };
  // One whose subject is gone ends well, and waits for the next one; an agent that is over has
  // none.
  const bool again = call.settings.subject.agent.empty();
  return fmt::format(
      "[Unit]\n"
      "Description=Tend heartbeat service {}\n"
      "Documentation=man:tend(1)\n"
      "StartLimitIntervalSec=0\n\n"
      "[Service]\n"
      "Type=notify\n"
      "NotifyAccess=main\n"
      "ExecStart={}\n"
      "{}{}"
      "WatchdogSec=60\n"
      "TimeoutStopSec=5\n"
      "Restart={}\n"
      "RestartSec=10\n"
      "RestartPreventExitStatus=2\n\n"
      "[Install]\n"
      "WantedBy=default.target\n",
      name, command, set("TEND_HOME", home), set(kServiceMark, call.settings.pidfile),
      again ? "always" : "on-failure");
}

int explain(World& world, const std::string& path, const std::string& unit) {
  world.out.write(
      fmt::format("wrote {}; nothing was started. To start it now and at every login:\n"
                  "  systemctl --user daemon-reload\n"
                  "  systemctl --user enable --now {}\n"
                  "Without lingering, systemd ends all your services with your last session, and "
                  "this one too. To keep it\nfrom boot to shutdown, logged in or not:\n"
                  "  loginctl enable-linger\n",
                  on_one_line(path), unit));
  return kExitYes;
}

}  // namespace

int service_install_command(const Arguments& arguments, World& world) {
  const auto name = name_typed(arguments);
  if (!name) return complain(world, kName, name.error().text, kExitUsage);
  // A process has another number next time: no unit can be for one.
  if (!arguments.has("agent") && !arguments.has("preset")) {
    return complain(world, kName, "needs a subject: --agent A, or --preset hyrm with --root DIR",
                    kExitUsage);
  }
  auto home = open_home(world);
  if (!home) return complain(world, kName, home.error().text, kExitUsage);
  const auto pidfile = pidfile_of(arguments, *home);
  if (!pidfile) return complain(world, kName, pidfile.error().text, kExitUsage);
  const auto call = service_call(arguments, world, *home, *pidfile);
  if (!call) return complain(world, kName, call.error().text, kExitUsage);
  const auto program = home->machine.processes.own_program();
  if (!program) return complain(world, kName, program.error().text, kExitNo);
  const std::string text = unit_text(*name, *program, home->folder->path(), *call);
  std::vector<std::string> words = call->words;
  words.insert(words.end(), {*program, home->folder->path()});
  for (const std::string& word : words) {
    if (on_one_line(word) == word) continue;
    return complain(world, kName, in_quotes(word) + " cannot stand in a unit", kExitUsage);
  }
  if (arguments.has("dry-run")) {
    world.out.write(text);
    return kExitYes;
  }
  const auto folder = unit_folder(world.environment);
  if (!folder) return complain(world, kName, folder.error().text, kExitUsage);
  const std::string unit = fmt::format("tend-service-{}.service", *name);
  const std::string path = *folder + "/" + unit;
  if (auto written = home->machine.files.replace(path, text); !written) {
    return complain(world, kName, written.error().text, kExitNo);
  }
  for (const std::string& warning : call->warnings) complain(world, kName, warning, kExitYes);
  return explain(world, path, unit);
}

}  // namespace tend
