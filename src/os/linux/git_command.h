// How git is called in a repository that is not trusted: with an environment of our own, and with
// everything in its configuration that would run a command, use the network or touch what others
// see switched off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/process.h"

namespace tend {

/// Who made a commit.
struct GitIdentity {
  std::string name = "Tend";
  std::string email = "tend@localhost";
};

/// Where git works, and what it must leave alone.
struct GitPlace {
  std::string top;                   // the top of the work tree, whatever the configuration says
  std::string index;                 // a private index; empty: the repository's own
  std::vector<std::string> filters;  // drivers of .gitattributes that must not run
  std::vector<std::string> merge_drivers;  // likewise; what they would merge is in conflict
  GitIdentity identity;
  bool durable = false;  // everything that is written is on the disk before a ref names it
};

/// "git" with these arguments, in the top of the work tree. `identity_at` is the time of a commit
/// that it makes.
Run git_command(const GitPlace& place, std::vector<std::string> arguments,
                WallTime identity_at = {});

/// What the configuration of a repository says that matters to us.
struct GitConfig {
  std::vector<std::string> filters_of_repository;  // drivers that its own configuration defines
  std::vector<std::string> filters;                // all drivers
  std::vector<std::string> merge_drivers_of_repository;
  GitIdentity identity;  // the user's if there is one, else our own
  bool sparse = false;   // only a part of the work tree is checked out
};

/// The arguments that ask for it, and the answer read.
std::vector<std::string> git_config_arguments();
GitConfig read_git_config(std::string_view output);

bool succeeded(const Ran& ran);
/// It answered a question with no: exit code 1.
bool said_no(const Ran& ran);
/// It is too old for an option that it was given.
bool takes_no_option(const Ran& ran);
/// The program itself was not found.
bool not_found(const Ran& ran);
/// What it said, without the end of the line.
std::string line_of(const Ran& ran);
/// Why git takes a folder with a ".git" for no repository, and what to do.
std::string why_no_repository(const Ran& ran, const std::string& top);
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
