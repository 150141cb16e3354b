// How git is called in a repository that is not trusted: with an environment of our own, and with
// everything in its configuration that would run a command, use the network or touch what others
// see switched off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/process.h"

namespace tend {

/// Where git works, and what it must leave alone.
struct GitPlace {
  std::string top;                   // the top of the work tree, whatever the configuration says
  std::string index;                 // a private index; empty: the repository's own
  std::vector<std::string> filters;  // drivers of .gitattributes that must not run
};

/// "git" with these arguments, in the top of the work tree. `identity_at` is the time of a commit
/// that it makes.
Run git_command(const GitPlace& place, std::vector<std::string> arguments,
                WallTime identity_at = {});

/// What the configuration of a repository says that matters to us.
struct GitConfig {
  std::vector<std::string> filters_of_repository;  // drivers that its own configuration defines
  std::vector<std::string> filters;                // all drivers
  bool sparse = false;                             // only a part of the work tree is checked out
};

/// The arguments that ask for it, and the answer read.
std::vector<std::string> git_config_arguments();
GitConfig read_git_config(std::string_view output);

bool succeeded(const Ran& ran);
/// The program itself was not found.
bool not_found(const Ran& ran);
/// What git said when it failed, in one line.
std::string complaint(const Ran& ran);

/// The parts of a list in which each part ends in a NUL.
std::vector<std::string_view> parts_of(std::string_view list);

/// The same path without links and without a slash at its end; as it is if there is nothing.
std::string without_links(const std::string& path);
/// Whether a folder holds a ".git" that git would take for one.
bool has_git_entry(const std::string& folder);
/// The nearest folder at or above `path` that does; empty if there is none.
std::string top_of(const std::string& path);

}  // namespace tend
