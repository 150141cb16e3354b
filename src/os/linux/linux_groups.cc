// cgroup2, found by the magic number of its file system: what is mounted at the usual place may be
// something else, and cgroup2 somewhere below it.
#include "os/linux/linux_groups.h"

#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <optional>

#include "os/linux/linux_proc_files.h"

namespace tend {
namespace {

constexpr std::string_view kPrefix = "tend-";
constexpr std::size_t kLongestTable = std::size_t{1024} * 1024;

bool is_cgroup2_folder(const std::string& folder) {
  struct statfs about{};
  return ::statfs(folder.c_str(), &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

/// A path of mountinfo: blanks and the like are \040 there.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain.push_back(static_cast<char>(code));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

/// What is left of `path` below `root`: "" for itself, else with its first slash.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  if (!path.starts_with('/') || path.find("/../") != std::string::npos || path.ends_with("/..")) {
    return std::nullopt;
  }
  if (root == "/") return path == "/" ? "" : path;
  if (path == root) return "";
  if (path.starts_with(root + "/")) return path.substr(root.size());
  return std::nullopt;
}

std::string without_own_group(std::string path) {
  const std::size_t last = path.rfind('/');
  if (last != std::string::npos && std::string_view(path).substr(last + 1).starts_with(kPrefix)) {
    path.resize(last);
  }
  return path;
}

/// What is above the first group of ours in a path; nullopt if there is none in it. A name with a
/// dot is a unit of systemd, whatever it begins with.
std::optional<std::string> outside_groups(const std::string& path) {
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto before = static_cast<std::size_t>(rest.data() - path.data());
    const std::string_view name = take_until(rest, '/');
    if (name.starts_with(kPrefix) && name.find('.') == std::string_view::npos) {
      return path.substr(0, before == 0 ? 0 : before - 1);
    }
  }
  return std::nullopt;
}

struct OwnGroup {
  std::string mounted_at;
  std::string path;  // below that, with its first slash
};

std::optional<OwnGroup> find_own_group(std::string_view mounts, std::string_view own_group,
                                       bool (*is_cgroup2)(const std::string& folder)) {
  constexpr std::string_view kUnified = "0::";
  std::optional<std::string> own;
  while (!own_group.empty() && !own) {
    const std::string_view line = take_until(own_group, '\n');
    if (line.starts_with(kUnified)) own = std::string(line.substr(kUnified.size()));
  }
  if (!own) return std::nullopt;
  while (!mounts.empty()) {
    std::string_view line = take_until(mounts, '\n');
    for (int skipped = 0; skipped < 3; ++skipped) take_until(line, ' ');
    const std::string root = unescaped(take_until(line, ' '));
    const std::string mounted_at = unescaped(take_until(line, ' '));
    if (line.find(" - cgroup2 ") == std::string_view::npos || !is_cgroup2(mounted_at)) continue;
    if (const auto path = below(*own, root)) return OwnGroup{mounted_at, *path};
  }
  return std::nullopt;
}

/// The table of mounts is long on some machines, and the kernel slow to write it.
std::string find_groups_folder() {
  const auto mounts = read_file("/proc/self/mountinfo", kLongestTable);
  const auto own = read_file("/proc/self/cgroup", kLongestTable);
  return mounts && own ? groups_folder(*mounts, *own, is_cgroup2_folder) : "";
}

bool is_ours(const std::string& group) {
  const std::size_t last = group.rfind('/');
  return last != std::string::npos &&
         std::string_view(group).substr(last + 1).starts_with(kPrefix) && is_cgroup2_folder(group);
}

}  // namespace

std::string groups_folder(std::string_view mounts, std::string_view own_group,
                          bool (*is_cgroup2)(const std::string& folder)) {
  const auto own = find_own_group(mounts, own_group, is_cgroup2);
  return own ? own->mounted_at + without_own_group(own->path) : "";
}

std::string folder_outside_groups(std::string_view mounts, std::string_view own_group,
                                  bool (*is_cgroup2)(const std::string& folder)) {
  const auto own = find_own_group(mounts, own_group, is_cgroup2);
  if (!own) return "";
  const auto outside = outside_groups(own->path);
  return outside ? own->mounted_at + *outside : "";
}

std::string folder_outside_groups() {
  const auto own = read_file("/proc/self/cgroup", kLongestTable);
  if (!own || own->find("/" + std::string(kPrefix)) == std::string::npos) return "";
  const auto mounts = read_file("/proc/self/mountinfo", kLongestTable);
  return mounts ? folder_outside_groups(*mounts, *own, is_cgroup2_folder) : "";
}

std::string make_group(const std::string& name, std::string& folder) {
  constexpr std::size_t kLongestName = 200;
  if (name.empty() || name.size() > kLongestName || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return "";
  }
  if (folder.empty() || !is_cgroup2_folder(folder)) folder = find_groups_folder();
  if (folder.empty()) return "";
  std::string group = folder + "/" + std::string(kPrefix) + name;
  constexpr mode_t kMode = 0755;
  if (::mkdir(group.c_str(), kMode) == 0) return group;
  // One of this name that is in use is somebody's; an empty one is left from an earlier time.
  if (errno != EEXIST || ::rmdir(group.c_str()) != 0 || ::mkdir(group.c_str(), kMode) != 0) {
    return "";
  }
  return group;
}

std::vector<std::int64_t> group_members(const std::string& group) {
  std::vector<std::int64_t> members;
  if (!is_ours(group)) return members;
  const auto text = read_file((group + "/cgroup.procs").c_str(), kLongestTable);
  if (!text) return members;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = take_until(rest, '\n');
    std::int64_t pid = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    // 0 stands for a process of a pid namespace that we cannot see.
    if (error == std::errc{} && end == line.data() + line.size() && pid > 0) members.push_back(pid);
  }
  return members;
}

bool group_is_empty(const std::string& group) {
  if (!is_ours(group)) return false;
  const auto events = read_file((group + "/cgroup.events").c_str(), kLongestTable);
  return events && ("\n" + *events).find("\npopulated 0\n") != std::string::npos;
}

void remove_group(const std::string& group) {
  constexpr int kTries = 10;
  constexpr int kPauseMs = 2;
  if (!is_ours(group)) return;
  for (int i = 0; i < kTries; ++i) {
    if (::rmdir(group.c_str()) == 0 || errno != EBUSY) return;
    ::poll(nullptr, 0, kPauseMs);
  }
}

}  // namespace tend
