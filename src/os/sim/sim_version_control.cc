// Snapshots are copies of a map; see sim_version_control.h. The work is done when its time has
// passed, so that a kill in between leaves no ref behind.
#include "os/sim/sim_version_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/name.h"

namespace tend {
namespace {

constexpr const char* kOver = "this process is over";

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

bool is_below_any(std::string_view path, const auto& folders) {
  return std::ranges::any_of(folders, [&](const auto& one) { return is_below(path, one); });
}

// The repository that holds a path, and where it is.
std::pair<std::string, SimRepository*> repository_of(SimSettings& settings,
                                                     const std::string& path) {
  std::pair<std::string, SimRepository*> deepest{path, nullptr};
  for (auto& [top, repository] : settings.repositories) {
    if (is_below(path, top)) deepest = {top, &repository};
  }
  return deepest;
}

// Relative paths of the work tree's files, those left out excepted.
std::map<std::string, SimNodePtr> work_tree(const SimDisk& disk, const std::string& top,
                                            const std::vector<std::string>& exclude,
                                            const SimRepository* repository) {
  std::map<std::string, SimNodePtr> tree;
  for (const std::string& path : disk.files(top)) {
    const std::string relative = path.substr(top.size() + 1);
    if (is_below_any(path, exclude)) continue;
    if (repository != nullptr && is_below_any(relative, repository->ignored)) continue;
    tree[relative] = disk.find(path);
  }
  return tree;
}

std::string id_of(const SimRepository::Commit& commit) {
  std::string all = commit.message;
  for (const auto& [path, bytes] : commit.files) {
    all.append(path).append(1, '\0').append(bytes).append(1, '\0');
  }
  const std::uint64_t hash = Name(all).hash();
  return fmt::format("{:016x}{:016x}{:08x}", hash, ~hash, hash >> 32U);
}

std::uint64_t differences(const std::map<std::string, std::string>& a,
                          const std::map<std::string, std::string>& b) {
  std::uint64_t count = 0;
  for (const auto& [path, bytes] : a) {
    const auto other = b.find(path);
    if (other == b.end() || other->second != bytes) ++count;
  }
  for (const auto& [path, bytes] : b) count += a.contains(path) ? 0U : 1U;
  return count;
}

Result<Snapshot> take(SimKernel& kernel, const SnapshotOrder& order) {
  if (!kernel.settings.version_control_fails.empty()) {
    return fail(kernel.settings.version_control_fails);
  }
  const auto [top, repository] = repository_of(kernel.settings, order.worktree);
  if (repository == nullptr) return Snapshot{};
  Snapshot snapshot{.versioned = true, .ref = order.ref};
  SimRepository::Commit commit{.message = order.message};
  for (const auto& [path, node] : work_tree(kernel.disk, top, order.exclude, repository)) {
    if (node->bytes.size() > order.largest_file && !repository->head.contains(path)) {
      snapshot.left_out.push_back(fmt::format("{}: {} bytes", path, node->bytes.size()));
    } else {
      commit.files[path] = node->bytes;
    }
  }
  snapshot.files = differences(commit.files, repository->head);
  if (snapshot.files == 0) return snapshot;
  commit.id = id_of(commit);
  // What exists is never moved: the next free name, unless the last one has it all.
  std::string last;
  for (std::uint64_t n = 2; repository->refs.contains(snapshot.ref); ++n) {
    last = std::exchange(snapshot.ref, fmt::format("{}-{}", order.ref, n));
  }
  if (!last.empty() && repository->refs.at(last).files == commit.files) {
    snapshot.ref = last;
    snapshot.commit = repository->refs.at(last).id;
    return snapshot;
  }
  snapshot.commit = commit.id;
  repository->refs[snapshot.ref] = std::move(commit);
  return snapshot;
}

}  // namespace

Subscribed SimVersionControl::later(Callback work) {
  SimKernel& kernel = *handle_->kernel;
  auto listener = std::make_shared<SimListener>(handle_, std::move(work));
  kernel.post(handle_->row.lock(), kernel.queue.now() + kernel.settings.version_control_takes,
              [weak = std::weak_ptr(listener)] {
                const auto hears = weak.lock();
                if (hears != nullptr && !hears->handle->dead) hears->callback();
              });
  return std::make_unique<SimSubscription>(std::move(listener));
}

Subscribed SimVersionControl::snapshot(const SnapshotOrder& order,
                                       std::function<void(Result<Snapshot>)> done) {
  if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
  return later([handle = handle_, order, done = std::move(done)] {
    if (handle->call()) done(take(*handle->kernel, order));
  });
}

Subscribed SimVersionControl::changed_since(const std::string& worktree, WallTime since,
                                            const std::vector<std::string>& exclude,
                                            std::function<void(Result<bool>)> done) {
  if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
  return later([handle = handle_, worktree, since, exclude, done = std::move(done)] {
    SimKernel& kernel = *handle->kernel;
    if (!kernel.settings.version_control_fails.empty()) {
      done(fail(kernel.settings.version_control_fails));
      return;
    }
    const auto [top, repository] = repository_of(kernel.settings, worktree);
    auto tree = work_tree(kernel.disk, top, exclude, repository);
    std::erase_if(tree, [&, at = top](const auto& entry) {
      return !is_below(at + "/" + entry.first, worktree);
    });
    done(std::ranges::any_of(tree,
                             [&](const auto& entry) { return entry.second->modified > since; }));
  });
}

std::string SimVersionControl::repository(const std::string& path) {
  if (!handle_->call()) return "";
  const auto [top, repository] = repository_of(handle_->kernel->settings, path);
  return repository == nullptr ? "" : top;
}

std::string SimVersionControl::top(const std::string& path) {
  if (!handle_->call()) return path;
  return repository_of(handle_->kernel->settings, path).first;
}

Result<Salvage> SimSalvager::salvage(const SalvageOrder& order) {
  if (!handle_->call()) return fail(kOver);
  SimDisk& disk = handle_->kernel->disk;
  const SimNodePtr into = disk.find(order.into);
  if (into == nullptr || into->kind != SimKind::folder) {
    return fail("cannot open " + order.into + ": No such file or directory");
  }
  std::vector<std::string> exclude = order.exclude;
  exclude.push_back(order.into);
  Salvage salvage;
  for (const auto& [path, node] : work_tree(disk, order.worktree, exclude, nullptr)) {
    if (node->modified < order.changed_since) continue;
    if (salvage.files == order.most_files ||
        salvage.bytes + node->bytes.size() > order.most_bytes || node->unreadable) {
      ++salvage.left_out;
      continue;
    }
    if (!handle_->call()) return fail(kOver);
    const SimNodePtr copy = disk.make_all(order.into + "/" + path, SimKind::file);
    copy->bytes.clear();
    if (auto written = disk.grow(*copy, node->bytes); !written) {
      return fail("cannot write " + order.into + "/" + path + ": " + written.error().text);
    }
    disk.sync(*copy);
    ++salvage.files;
    salvage.bytes += node->bytes.size();
  }
  return salvage;
}

}  // namespace tend
