// A line of the list is a letter and a path, with mode, object and stage between them for what is
// in the index:
//
//   H, S, M   in the index; S: not checked out on purpose; M: a side of a conflict
//   C, R      and different in the work tree, or gone from it
//   ?         only in the work tree; a path that ends in a slash is a repository of its own
//
// A small letter: the index claims that the file never changes. Such claims (and S) are taken back
// for files that are there, by putting the entry in anew.
#include "os/linux/git_plan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <expected>
#include <map>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "os/linux/fd.h"
#include "os/linux/git_command.h"

namespace tend {
namespace {

constexpr std::size_t kMostNamed = 1000;
constexpr std::string_view kLink = "160000";  // the mode of a repository in a repository

struct Entry {
  std::string_view mode;
  std::string_view object;
  bool claimed = false;  // to be unchanged, or not checked out
  bool skipped = false;  // not checked out on purpose
  bool changed = false;
};

struct Line {
  char letter = 0;
  Entry entry;
  std::string_view path;
};

std::optional<Line> read_line(std::string_view text) {
  if (text.size() < 3 || text[1] != ' ') return std::nullopt;
  Line line{.letter = text[0], .path = text.substr(2)};
  if (line.letter == '?') return line;
  const auto mode_end = line.path.find(' ');
  const auto object_end = line.path.find(' ', mode_end + 1);
  const auto tab = line.path.find('\t');
  if (mode_end > object_end || object_end > tab || tab == std::string_view::npos) {
    return std::nullopt;
  }
  const char kind = static_cast<char>(std::toupper(static_cast<unsigned char>(line.letter)));
  line.entry = {.mode = line.path.substr(0, mode_end),
                .object = line.path.substr(mode_end + 1, object_end - mode_end - 1),
                .claimed = kind != line.letter || kind == 'S',
                .skipped = kind == 'S',
                .changed = kind == 'C' || kind == 'R' || kind == 'M'};
  line.path.remove_prefix(tab + 1);
  return line;
}

class Planner {
 public:
  explicit Planner(const GitPlanOrder& order)
      : order_(order), top_(::open(order.top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    const std::string before = without_links(order.top) + "/";
    for (const std::string& path : order.exclude) {
      const std::string excluded = without_links(path);
      if (excluded.starts_with(before)) excluded_.push_back(excluded.substr(before.size()));
    }
  }

  Result<GitPlan> plan(std::string_view output) {
    if (!top_) return fail("cannot open " + order_.top + ": " + system_says(errno));
    std::map<std::string_view, Entry> tracked;
    for (const std::string_view part : parts_of(output)) {
      const auto line = read_line(part);
      if (!line || is_excluded(line->path)) continue;
      if (line->entry.claimed && order_.believes_claims) continue;
      if (line->letter == '?') {
        untracked(line->path);
      } else if (line->entry.changed || line->entry.claimed || line->entry.mode == kLink) {
        const auto [at, is_new] = tracked.try_emplace(line->path, line->entry);
        if (!is_new) at->second.changed |= line->entry.changed;
      }
    }
    for (const auto& [path, entry] : tracked) look_at(path, entry);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool is_excluded(std::string_view path) const {
    return std::ranges::any_of(excluded_, [&](const std::string& excluded) {
      return path.starts_with(excluded) &&
             (path.size() == excluded.size() || path[excluded.size()] == '/');
    });
  }

  /// Or the errno that says why not.
  [[nodiscard]] std::expected<struct stat, int> facts(const std::string& path) const {
    struct stat found{};
    if (::fstatat(top_.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      return std::unexpected(errno);
    }
    return found;
  }

  /// The same, but not through a folder that became a link: it leads to other files.
  [[nodiscard]] std::expected<struct stat, int> facts_beyond_no_link(
      const std::string& path) const {
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const auto folder = facts(path.substr(0, slash));
      if (!folder) return folder;
      if (!S_ISDIR(folder->st_mode)) return std::unexpected(ENOTDIR);
    }
    return facts(path);
  }

  static bool is_gone(int error) { return error == ENOENT || error == ENOTDIR; }

  void cannot_be_read(const std::string& path, int error) {
    plan_.left_out.add(path, "cannot be read: " + system_says(error));
  }

  [[nodiscard]] bool can_be_read(const std::string& path, const struct stat& found) const {
    return S_ISLNK(found.st_mode) || ::faccessat(top_.get(), path.c_str(), R_OK, AT_EACCESS) == 0;
  }

  void untracked(std::string_view listed) {
    const std::string path(listed);
    if (path.ends_with('/')) return plan_.left_out.add(path, "a repository of its own");
    const auto found = facts(path);
    if (!found) {
      if (!is_gone(found.error())) cannot_be_read(path, found.error());
      return;
    }
    const auto size = static_cast<std::uint64_t>(found->st_size);
    if (S_ISREG(found->st_mode) && size > order_.largest_file) {
      constexpr std::uint64_t kMega = std::uint64_t{1024} * 1024;
      return plan_.left_out.add(
          path, fmt::format("{} MB, more than {} MB", size / kMega, order_.largest_file / kMega));
    }
    update(path, *found);
  }

  void look_at(std::string_view listed, const Entry& entry) {
    const std::string path(listed);
    const auto found = facts_beyond_no_link(path);
    if (!found) {
      if (!is_gone(found.error())) return cannot_be_read(path, found.error());
      if (!entry.skipped && order_.missing_is_deleted) remove(path, entry);
      return;
    }
    if (S_ISDIR(found->st_mode)) {
      if (entry.mode != kLink) return remove(path, entry);
      if (has_git_entry(order_.top + "/" + path)) {
        plan_.left_out.add(path, "a repository of its own, of which only the commit is saved");
      }
      if (entry.changed) plan_.updates.push_back(path);
      return;
    }
    if (entry.claimed) put(entry.mode, entry.object, path);
    if (entry.claimed || entry.changed) update(path, *found);
  }

  void update(const std::string& path, const struct stat& found) {
    if (!S_ISREG(found.st_mode) && !S_ISLNK(found.st_mode)) {
      plan_.left_out.add(path, "neither a file nor a link");
    } else if (!can_be_read(path, found)) {
      cannot_be_read(path, errno);
    } else {
      plan_.updates.push_back(path);
    }
  }

  void remove(const std::string& path, const Entry& entry) {
    put("0", std::string(entry.object.size(), '0'), path);
  }

  void put(std::string_view mode, std::string_view object, std::string_view path) {
    plan_.index_info += fmt::format("{} {}\t{}", mode, object, path);
    plan_.index_info += '\0';
  }

  const GitPlanOrder& order_;
  Fd top_;
  std::vector<std::string> excluded_;
  GitPlan plan_;
};

}  // namespace

void LeftOut::add(std::string_view path, std::string_view why) {
  if (named_.size() < kMostNamed) {
    named_.push_back(fmt::format("{}: {}", on_one_line(path), why));
  } else {
    ++more_;
  }
}

std::vector<std::string> LeftOut::told() const {
  std::vector<std::string> all = named_;
  if (more_ > 0) all.push_back(fmt::format("{} more", more_));
  return all;
}

UpdateBatches::UpdateBatches(std::vector<std::string> paths) : paths_(std::move(paths)) {
  if (!paths_.empty()) open_.push_back({0, paths_.size()});
}

std::string UpdateBatches::next() const {
  std::string list;
  for (std::size_t i = open_.front().begin; i < open_.front().end; ++i) {
    list += paths_[i];
    list += '\0';
  }
  return list;
}

void UpdateBatches::taken() { open_.pop_front(); }

std::optional<std::string> UpdateBatches::failed() {
  ++failures_;
  const Batch batch = open_.front();
  open_.pop_front();
  if (batch.end - batch.begin == 1) return paths_[batch.begin];
  const std::size_t middle = batch.begin + (batch.end - batch.begin) / 2;
  open_.push_front({middle, batch.end});
  open_.push_front({batch.begin, middle});
  return std::nullopt;
}

bool UpdateBatches::failed_too_often() const {
  constexpr int kMostFailures = 200;
  return failures_ > kMostFailures;
}

std::vector<std::string> git_list_arguments() {
  return {"ls-files", "-z", "-v", "--stage", "--modified", "--others", "--exclude-standard"};
}

Result<GitPlan> plan_of(std::string_view output, const GitPlanOrder& order) {
  return Planner(order).plan(output);
}

}  // namespace tend
