// Each call looks when its time has passed, so that a kill in between leaves nothing behind; a
// merge alone leaves its first half.
#include "os/sim/sim_version_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "os/sim/sim_repository.h"

namespace tend {
namespace {

Result<Snapshot> take(SimKernel& kernel, const SnapshotOrder& order) {
  const auto tree = SimWorktree::holding(kernel, order.worktree);
  if (!tree) return Snapshot{};
  const SimContents& head = tree->here().head;
  Snapshot snapshot{.versioned = true, .commit = {}, .ref = order.ref};
  SimContents files;
  for (const auto& [path, node] : tree->on_disk(order.exclude)) {
    if (node->bytes.size() > order.largest_file && !head.contains(path)) {
      snapshot.left_out.push_back(fmt::format("{}: {} bytes", path, node->bytes.size()));
    } else {
      files[path] = node->bytes;
    }
  }
  snapshot.files = sim_differences(files, head);
  if (snapshot.files == 0) return snapshot;
  // What exists is never moved: the next free name, unless the last one has it all.
  auto& refs = tree->shared().refs;
  std::string last;
  for (std::uint64_t n = 2; refs.contains(snapshot.ref); ++n) {
    last = std::exchange(snapshot.ref, fmt::format("{}-{}", order.ref, n));
  }
  if (!last.empty() && refs.at(last).files == files) {
    snapshot.ref = last;
    snapshot.commit = refs.at(last).id;
    return snapshot;
  }
  std::vector<std::string> parents;
  if (!tree->here().commit.empty()) parents.push_back(tree->here().commit);
  const auto commit = tree->make_commit(order.message, std::move(files), std::move(parents));
  snapshot.commit = commit.id;
  refs[snapshot.ref] = commit;
  if (SimObserver* observer = kernel.settings.observer) {
    observer->on_snapshot(tree->top(), commit);
  }
  return snapshot;
}

bool has_changed(SimKernel& kernel, const std::string& worktree, WallTime since,
                 const std::vector<std::string>& exclude) {
  const WallTime until = kernel.queue.wall() + kClockMayBeAhead;
  const auto is_newer = [&](const SimNode& node) {
    return node.modified > since && node.modified <= until;
  };
  if (const auto tree = SimWorktree::holding(kernel, worktree)) {
    return std::ranges::any_of(tree->on_disk(exclude), [&](const auto& entry) {
      return sim_path_is_below(tree->top() + "/" + entry.first, worktree) &&
             is_newer(*entry.second);
    });
  }
  return std::ranges::any_of(kernel.disk.files(worktree), [&](const std::string& path) {
    const auto holds = [&](const std::string& folder) { return sim_path_is_below(path, folder); };
    return std::ranges::none_of(exclude, holds) && is_newer(*kernel.disk.find(path));
  });
}

std::unexpected<Error> no_repository(const std::string& path) {
  return fail(fmt::format("there is no version control in {}", path));
}

Merged nothing_to_merge_into() {
  return {.how = Merged::How::refused, .commit = {}, .why = "there is no version control there"};
}

}  // namespace

Subscribed SimVersionControl::later(Duration wait, Callback work) {
  SimKernel& kernel = *handle_->kernel;
  auto listener = std::make_shared<SimListener>(handle_, std::move(work));
  kernel.post(handle_->row, kernel.queue.now() + wait, [weak = std::weak_ptr(listener)] {
    const auto hears = weak.lock();
    if (hears != nullptr && !hears->handle->dead) hears->callback();
  });
  return std::make_unique<SimSubscription>(std::move(listener));
}

template <class Answer>
Subscribed SimVersionControl::ask(std::function<Result<Answer>(SimKernel&)> question,
                                  std::function<void(Result<Answer>)> done) {
  if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
  return later(handle_->kernel->settings.version_control_takes,
               [handle = handle_, question = std::move(question), done = std::move(done)] {
                 if (!handle->call()) return;
                 const std::string& trouble = handle->kernel->settings.version_control_fails;
                 if (!trouble.empty()) return done(fail(trouble));
                 done(question(*handle->kernel));
               });
}

Subscribed SimVersionControl::snapshot(const SnapshotOrder& order,
                                       std::function<void(Result<Snapshot>)> done) {
  return ask<Snapshot>([order](SimKernel& kernel) { return take(kernel, order); }, std::move(done));
}

Subscribed SimVersionControl::changed_since(const std::string& worktree, WallTime since,
                                            const std::vector<std::string>& exclude,
                                            std::function<void(Result<bool>)> done) {
  return ask<bool>([=](SimKernel& kernel) { return has_changed(kernel, worktree, since, exclude); },
                   std::move(done));
}

Subscribed SimVersionControl::state(const std::string& worktree,
                                    std::function<void(Result<WorktreeState>)> done) {
  return ask<WorktreeState>(
      [worktree](SimKernel& kernel) {
        const auto tree = SimWorktree::holding(kernel, worktree);
        return tree ? tree->state() : WorktreeState{};
      },
      std::move(done));
}

Subscribed SimVersionControl::make_worktree(const WorktreeOrder& order,
                                            std::function<void(Result<WorktreeState>)> done) {
  return ask<WorktreeState>(
      [order](SimKernel& kernel) -> Result<WorktreeState> {
        auto tree = SimWorktree::holding(kernel, order.repository);
        if (!tree) return no_repository(order.repository);
        return tree->make_another(order);
      },
      std::move(done));
}

Subscribed SimVersionControl::commit(const CommitOrder& order,
                                     std::function<void(Result<Committed>)> done) {
  return ask<Committed>(
      [order](SimKernel& kernel) {
        auto tree = SimWorktree::holding(kernel, order.worktree);
        return tree ? tree->commit(order)
                    : Committed{.commit = {}, .refused = "there is no version control there"};
      },
      std::move(done));
}

Subscribed SimVersionControl::merge(const MergeOrder& order,
                                    std::function<void(Result<Merged>)> done) {
  if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
  struct Halves {
    Subscribed first, second;
  };
  const Duration takes = handle_->kernel->settings.version_control_takes;
  auto halves = std::make_shared<Halves>();
  const auto finish = [handle = handle_, order, done] {
    if (!handle->call()) return;
    auto tree = SimWorktree::holding(*handle->kernel, order.into);
    done(tree ? tree->finish_merge(order) : nothing_to_merge_into());
  };
  halves->first = later(takes / 2, [this, handle = handle_, order, done, finish, takes,
                                    weak = std::weak_ptr(halves)] {
    if (!handle->call()) return;
    const std::string& trouble = handle->kernel->settings.version_control_fails;
    if (!trouble.empty()) return done(fail(trouble));
    auto tree = SimWorktree::holding(*handle->kernel, order.into);
    const auto over = tree ? tree->begin_merge(order) : nothing_to_merge_into();
    if (over) return done(*over);
    if (SimObserver* const observer = handle->kernel->settings.observer) {
      observer->on_half_a_merge(order.into, handle->row->facts.id.pid);
    }
    if (const auto both = weak.lock()) both->second = later(takes - takes / 2, finish);
  });
  return std::make_unique<SimSubscription>(std::move(halves));
}

Subscribed SimVersionControl::abort_merge(const std::string& worktree, const std::string& commit,
                                          std::function<void(Result<bool>)> done) {
  return ask<bool>(
      [worktree, commit](SimKernel& kernel) {
        auto tree = SimWorktree::holding(kernel, worktree);
        return tree && tree->abort_merge(commit);
      },
      std::move(done));
}

Subscribed SimVersionControl::contains(const std::string& worktree, const std::string& commit,
                                       std::function<void(Result<bool>)> done) {
  return ask<bool>(
      [worktree, commit](SimKernel& kernel) -> Result<bool> {
        const auto tree = SimWorktree::holding(kernel, worktree);
        if (!tree) return no_repository(worktree);
        return tree->contains(commit);
      },
      std::move(done));
}

Subscribed SimVersionControl::worktrees(
    const std::string& path, std::function<void(Result<std::vector<WorktreeEntry>>)> done) {
  return ask<std::vector<WorktreeEntry>>(
      [path](SimKernel& kernel) {
        const auto tree = SimWorktree::holding(kernel, path);
        return tree ? tree->all() : std::vector<WorktreeEntry>{};
      },
      std::move(done));
}

Subscribed SimVersionControl::saved(const std::string& path,
                                    std::function<void(Result<std::vector<SavedWork>>)> done) {
  return ask<std::vector<SavedWork>>(
      [path](SimKernel& kernel) {
        const auto tree = SimWorktree::holding(kernel, path);
        return tree ? tree->saved() : std::vector<SavedWork>{};
      },
      std::move(done));
}

std::string SimVersionControl::repository(const std::string& path) {
  return handle_->call() ? SimWorktree::top_of(handle_->kernel->settings, path) : "";
}

std::string SimVersionControl::top(const std::string& path) {
  const std::string found = repository(path);
  return found.empty() ? path : found;
}

Result<Salvage> SimSalvager::salvage(const SalvageOrder& order) {
  if (!handle_->call()) return sim_over();
  SimDisk& disk = handle_->kernel->disk;
  const SimNodePtr into = disk.find(order.into);
  if (into == nullptr || into->kind != SimKind::folder) {
    return fail("cannot open " + order.into + ": No such file or directory");
  }
  std::vector<std::string> exclude = order.exclude;
  exclude.push_back(order.into);
  Salvage salvage;
  for (const std::string& file : disk.files(order.worktree)) {
    const auto holds = [&](const std::string& folder) { return sim_path_is_below(file, folder); };
    if (std::ranges::any_of(exclude, holds)) continue;
    const std::string path = file.substr(order.worktree.size() + 1);
    const SimNodePtr node = disk.find(file);
    if (node->modified < order.changed_since) continue;
    if (salvage.files == order.most_files ||
        salvage.bytes + node->bytes.size() > order.most_bytes || node->unreadable) {
      ++salvage.left_out;
      continue;
    }
    const SimNodePtr copy = disk.make_all(order.into + "/" + path, SimKind::file);
    disk.cut(*copy, 0);
    const auto write = [&](std::string_view part) { std::ignore = disk.grow(*copy, part); };
    if (!handle_->call_to_write(node->bytes, write)) return sim_over();
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
