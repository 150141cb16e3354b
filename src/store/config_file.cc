// Files are read whole, up to the largest configuration and one byte more.
#include "store/config_file.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/suggest.h"
#include "store/config_reader.h"

namespace tend {
namespace {

Result<std::string> read_whole(const std::string& path, Files& files) {
  auto source = files.open(path);
  if (!source) return std::unexpected(source.error());
  std::string text;
  std::array<char, 16'384> piece{};
  while (text.size() <= kLargestConfig) {
    const auto size = (*source)->read(piece);
    if (!size) return std::unexpected(size.error());
    if (*size == 0) break;
    text.append(piece.data(), *size);
  }
  return text;
}

/// One line for a place that has only one: the first problem, and where to see the others.
Error summary(const ConfigProblems& problems) {
  const ConfigProblem& first = problems.front();
  std::string text = describe(first);
  if (problems.size() > 1) {
    text += fmt::format(" (and {} more: tend config check {})", problems.size() - 1,
                        on_one_line(first.file));
  }
  return Error{std::move(text)};
}

Result<Policy> only_policy(const std::string& path, Files& files) {
  const auto config = load_config(path, files);
  if (!config) return std::unexpected(summary(config.error()));
  if (config->policies.size() == 1) return config->policies.begin()->second.policy;
  const std::string file = on_one_line(path);
  if (config->policies.empty()) return fail(file + ": has no policy; write [policy.NAME]");
  return fail(fmt::format("{0}: has several policies; say {0}:NAME with one of: {1}", file,
                          fmt::join(config->names(), ", ")));
}

Result<Policy> named_policy(const std::string& path, std::string_view name, Files& files) {
  const auto config = load_config(path, files);
  if (!config) return std::unexpected(summary(config.error()));
  return config->find(name);
}

bool looks_like_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".toml");
}

bool can_be_read(const std::string& path, Files& files) {
  return path != "-" && read_whole(path, files).has_value();
}

struct FileAndName {
  std::string file;
  std::string name;
};

std::optional<FileAndName> split(const std::string& argument) {
  const std::size_t colon = argument.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  FileAndName parts{argument.substr(0, colon), argument.substr(colon + 1)};
  if (parts.name.empty() || looks_like_file(parts.name)) return std::nullopt;
  return parts;
}

Result<Policy> policy_of_user(const std::string& name, World& world) {
  const auto path = default_config_path(world.environment);
  if (path && can_be_read(*path, world.files)) return named_policy(*path, name, world.files);
  return fail(fmt::format("no policy {}; there are: {}; your own go into {}{}", in_quotes(name),
                          fmt::join(kBuiltInPolicies, ", "),
                          path ? on_one_line(*path) : "a FILE named here",
                          did_you_mean(name, kBuiltInPolicies)));
}

std::optional<std::string> non_empty(const Environment& environment, const std::string& name) {
  auto value = environment.variable(name);
  return value && !value->empty() ? value : std::nullopt;
}

/// The environment of somebody who was told no home.
class WithoutHome final : public Environment {
 public:
  explicit WithoutHome(const Environment& whole) : whole_(whole) {}
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const override {
    return name == "TEND_HOME" ? std::nullopt : whole_.variable(name);
  }
  [[nodiscard]] std::vector<std::string> all() const override { return whole_.all(); }

 private:
  const Environment& whole_;
};

}  // namespace

Result<std::string> default_config_path(const Environment& environment) {
  if (const auto home = non_empty(environment, "TEND_HOME")) return *home + "/config.toml";
  const auto state = non_empty(environment, "XDG_STATE_HOME");
  if (state && state->starts_with('/')) return *state + "/tend/config.toml";
  if (const auto home = non_empty(environment, "HOME")) {
    return *home + "/.local/state/tend/config.toml";
  }
  return fail("no place for a configuration: set TEND_HOME or HOME, or name a FILE");
}

std::expected<Config, ConfigProblems> load_config(const std::string& path, Files& files) {
  const auto text = read_whole(path, files);
  if (text) return parse_config(*text, path);
  return std::unexpected(ConfigProblems{{"", 0, 0, "", on_one_line(text.error().text)}});
}

Result<Config> user_config(World& world) {
  const WithoutHome without_home(world.environment);
  const std::array<const Environment*, 2> environments{&world.environment, &without_home};
  for (const Environment* const environment : environments) {
    const auto path = default_config_path(*environment);
    if (!path) continue;
    const auto text = world.files.read(*path, kLargestConfig);
    if (!text) return std::unexpected(text.error());
    if (!*text) continue;
    auto config = parse_config(**text, *path);
    if (config) return *std::move(config);
    return fail(describe(config.error().front()) + "; see `tend config check`");
  }
  return Config{};
}

Result<Policy> policy_from_argument(const std::string& argument, World& world) {
  if (auto built_in = built_in_policy(argument)) return *std::move(built_in);
  if (argument.ends_with(".toml")) return only_policy(argument, world.files);
  if (const auto parts = split(argument)) {
    if (looks_like_file(parts->file) || can_be_read(parts->file, world.files)) {
      return named_policy(parts->file, parts->name, world.files);
    }
  }
  if (looks_like_file(argument) || can_be_read(argument, world.files)) {
    return only_policy(argument, world.files);
  }
  return policy_of_user(argument, world);
}

}  // namespace tend
