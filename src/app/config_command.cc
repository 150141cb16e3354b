// Errors go to standard error, warnings and the sum to standard output; with --json everything is
// one object on standard output.
#include "app/config_command.h"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quote.h"
#include "store/config.h"
#include "store/config_check.h"
#include "store/config_file.h"

namespace tend {
namespace {

struct Report {
  std::string file;
  std::size_t policies = 0;
  std::size_t channels = 0;
  ConfigProblems errors;
  ConfigProblems warnings;
};

Report examine(const std::string& path, Files& files) {
  const auto config = load_config(path, files);
  if (!config) return {path, 0, 0, config.error(), {}};
  return {path, config->policies.size(), config->channels.size(), {}, check_config(*config)};
}

Report examine_default(World& world) {
  const auto path = default_config_path(world.environment);
  if (!path) return {"", 0, 0, {{"", 0, 0, "", path.error().text}}, {}};
  Report report = examine(*path, world.files);
  for (ConfigProblem& error : report.errors) {
    const bool unreadable = error.file.empty();
    if (unreadable) error.text += "; write your policies there, or name a FILE";
  }
  return report;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return count == 0 ? fmt::format("no {}", many)
                    : fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string warning_line(const ConfigProblem& problem) {
  return fmt::format("{}:{}: warning: {}: {}\n", on_one_line(problem.file), problem.line,
                     problem.key, problem.text);
}

void print_text(const Report& report, World& world) {
  for (const ConfigProblem& error : report.errors) world.err.write(describe(error) + "\n");
  if (!report.errors.empty()) return;
  for (const ConfigProblem& warning : report.warnings) world.out.write(warning_line(warning));
  const std::size_t count = report.warnings.size();
  const std::string channels =
      report.channels == 0 ? "" : ", " + counted(report.channels, "channel", "channels");
  world.out.write(fmt::format("{}: {}{}, {}\n", on_one_line(report.file),
                              counted(report.policies, "policy", "policies"), channels,
                              count == 0 ? "all well" : counted(count, "warning", "warnings")));
}

nlohmann::ordered_json to_json(const ConfigProblems& problems) {
  auto list = nlohmann::ordered_json::array();
  for (const ConfigProblem& problem : problems) {
    list.push_back({{"line", problem.line}, {"key", problem.key}, {"text", problem.text}});
  }
  return list;
}

void print_json(const Report& report, World& world) {
  const nlohmann::ordered_json object{{"file", report.file},
                                      {"errors", to_json(report.errors)},
                                      {"warnings", to_json(report.warnings)}};
  constexpr auto kReplace =
      nlohmann::ordered_json::error_handler_t::replace;  // a path may be no UTF-8
  world.out.write(object.dump(-1, ' ', false, kReplace) + "\n");
}

}  // namespace

int config_check_command(const Arguments& arguments, World& world) {
  const Report report = arguments.positionals.empty()
                            ? examine_default(world)
                            : examine(arguments.positionals.front(), world.files);
  arguments.has("json") ? print_json(report, world) : print_text(report, world);
  return report.errors.empty() ? kExitYes : kExitUsage;
}

}  // namespace tend
