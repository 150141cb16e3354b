// Lines of attributes that hold "filter=NAME" or "merge=NAME" are enough: whether a path matches
// them is not asked, because the files of a merge are not there yet.
#include "os/linux/git_guard.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "os/linux/linux_proc_files.h"

namespace tend {
namespace {

constexpr std::size_t kMostAttributes = std::size_t{1024} * 1024;

std::string words(std::string_view what, const std::string& name) {
  return fmt::format("its {} {} is defined by the repository and is not run; do this by hand", what,
                     in_quotes(name));
}

}  // namespace

std::vector<std::string> git_guard_arguments(const GitConfig& config,
                                             std::vector<std::string> trees) {
  std::vector<std::string> arguments{"grep", "-h", "-F", "--no-color"};
  if (trees.empty()) arguments.emplace_back("--untracked");
  const std::size_t without_names = arguments.size();
  for (const std::string& name : config.filters_of_repository) {
    arguments.insert(arguments.end(), {"-e", "filter=" + name});
  }
  for (const std::string& name : config.merge_drivers_of_repository) {
    arguments.insert(arguments.end(), {"-e", "merge=" + name});
  }
  if (arguments.size() == without_names) return {};
  arguments.insert(arguments.end(), trees.begin(), trees.end());
  arguments.insert(arguments.end(), {"--", ":(top,glob)**/.gitattributes"});
  return arguments;
}

std::string git_danger(const GitConfig& config, std::string_view attributes,
                       const std::string& common_git_folder) {
  const std::string path = common_git_folder + "/info/attributes";
  const auto more = read_file(path.c_str(), kMostAttributes);
  const auto is_named = [&](const std::string& text) {
    return attributes.contains(text) || (more && more->contains(text));
  };
  for (const std::string& name : config.filters_of_repository) {
    if (is_named("filter=" + name)) return words("filter", name);
  }
  for (const std::string& name : config.merge_drivers_of_repository) {
    if (is_named("merge=" + name)) return words("merge driver", name);
  }
  return "";
}

}  // namespace tend
