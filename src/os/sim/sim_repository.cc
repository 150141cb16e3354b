// A work tree is a row in the settings of the universe; what its work trees share is in the row of
// the main one. See sim_repository.h.
#include "os/sim/sim_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/name.h"

namespace tend {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostConflicts = 20;

std::string id_of(const SimRepository::Commit& commit) {
  std::string all = commit.message;
  for (const std::string& parent : commit.parents) all.append(parent).append(1, '\0');
  for (const auto& [path, bytes] : commit.files) {
    all.append(path).append(1, '\0').append(bytes).append(1, '\0');
  }
  const std::uint64_t hash = Name(all).hash();
  return fmt::format("{:016x}{:016x}{:08x}", hash, ~hash, hash >> 32U);
}

bool is_below_any(std::string_view path, const auto& folders) {
  return std::ranges::any_of(folders,
                             [&](const auto& one) { return sim_path_is_below(path, one); });
}

std::optional<std::string> content(const SimContents& files, const std::string& path) {
  const auto found = files.find(path);
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

std::set<std::string> paths_of(std::initializer_list<const SimContents*> all) {
  std::set<std::string> paths;
  for (const SimContents* files : all) {
    for (const auto& [path, bytes] : *files) paths.insert(path);
  }
  return paths;
}

struct ThreeWay {
  SimContents files;
  std::vector<std::string> conflicts;
};

ThreeWay three_way(const SimContents& base, const SimContents& ours, const SimContents& theirs) {
  ThreeWay result;
  for (const std::string& path : paths_of({&base, &ours, &theirs})) {
    const auto before = content(base, path);
    const auto mine = content(ours, path);
    const auto other = content(theirs, path);
    if (mine != other && mine != before && other != before) result.conflicts.push_back(path);
    const auto& taken = mine == before ? other : mine;
    if (taken) result.files[path] = *taken;
  }
  return result;
}

std::set<std::string> ancestors_of(const SimRepository& shared, const std::string& commit) {
  std::set<std::string> line;
  std::vector<std::string> open{commit};
  while (!open.empty()) {
    const std::string id = std::move(open.back());
    open.pop_back();
    const auto found = shared.commits.find(id);
    if (found == shared.commits.end() || !line.insert(id).second) continue;
    open.insert(open.end(), found->second.parents.begin(), found->second.parents.end());
  }
  return line;
}

Merged refused(const SimRepository& here, std::string why) {
  return {.how = Merged::How::refused, .commit = here.commit, .why = std::move(why), .paths = {}};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }
std::string body_of(const std::string& text) {
  const std::size_t body = text.find("\n\n");
  return body == std::string::npos ? "" : first_line(text.substr(body + 2));
}

}  // namespace

bool sim_path_is_below(std::string_view path, std::string_view folder) {
  return path == folder ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

std::uint64_t sim_differences(const SimContents& a, const SimContents& b) {
  const auto differ = [&](const std::string& path) { return content(a, path) != content(b, path); };
  return static_cast<std::uint64_t>(std::ranges::count_if(paths_of({&a, &b}), differ));
}

std::string SimWorktree::top_of(const SimSettings& settings, const std::string& path) {
  std::string deepest;  // they are sorted: the deepest comes last
  for (const auto& [top, repository] : settings.repositories) {
    if (sim_path_is_below(path, top)) deepest = top;
  }
  return deepest;
}

std::optional<SimWorktree> SimWorktree::holding(SimKernel& kernel, const std::string& path) {
  auto& repositories = kernel.settings.repositories;
  const std::string top = top_of(kernel.settings, path);
  if (top.empty()) return std::nullopt;
  SimRepository& here = repositories.at(top);
  SimRepository& shared = here.main.empty() ? here : repositories.at(here.main);
  SimWorktree tree(kernel, top, here, shared);
  tree.settle();
  return tree;
}

void SimWorktree::settle() {
  const auto known = shared_->commits.find(here_->commit);
  const bool is_known = known != shared_->commits.end();
  if (is_known ? known->second.files == here_->head : here_->head.empty()) return;
  std::vector<std::string> parents;
  if (is_known) parents.push_back(here_->commit);
  move_to(make_commit("by the test", here_->head, std::move(parents)));
}

SimRepository::Commit SimWorktree::make_commit(std::string message, SimContents files,
                                               std::vector<std::string> parents) const {
  SimRepository::Commit commit{.id = {},
                               .message = std::move(message),
                               .files = std::move(files),
                               .parents = std::move(parents),
                               .at = kernel_->queue.wall()};
  commit.id = id_of(commit);
  return shared_->commits.try_emplace(commit.id, commit).first->second;
}

void SimWorktree::move_to(const SimRepository::Commit& commit) {
  here_->commit = commit.id;
  here_->head = commit.files;
  if (!here_->branch.empty()) shared_->branches[here_->branch] = commit.id;
}

/// From these files to those, and on the disk for good. What is the same in both is left as it is.
void SimWorktree::check_out(const SimContents& before, const SimContents& files) {
  SimDisk& disk = kernel_->disk;
  for (const auto& [path, bytes] : before) {
    if (!files.contains(path)) disk.remove(top_ + "/" + path);
  }
  for (const auto& [path, bytes] : files) {
    const auto known = before.find(path);
    if (known != before.end() && known->second == bytes) continue;
    if (disk.read(top_ + "/" + path) == bytes) continue;
    disk.write(top_ + "/" + path, bytes);
  }
}

std::map<std::string, SimNodePtr> SimWorktree::on_disk(
    const std::vector<std::string>& exclude) const {
  std::map<std::string, SimNodePtr> tree;
  for (const std::string& path : kernel_->disk.files(top_)) {
    const std::string relative = path.substr(top_.size() + 1);
    if (top_of(kernel_->settings, path) != top_ || is_below_any(path, exclude)) continue;
    if (is_below_any(relative, here_->ignored) || is_below_any(relative, shared_->ignored))
      continue;
    tree[relative] = kernel_->disk.find(path);
  }
  return tree;
}

SimContents SimWorktree::tracked_on_disk() const {
  SimContents files;
  for (const auto& [path, bytes] : here_->head) {
    if (const auto now = kernel_->disk.read(top_ + "/" + path)) files[path] = *now;
  }
  return files;
}

WorktreeState SimWorktree::state() const {
  SimContents files = tracked_on_disk();
  for (const auto& [path, node] : on_disk({})) files[path] = node->bytes;
  return {.versioned = true,
          .top = top_,
          .commit = here_->commit,
          .branch = here_->branch,
          .busy = here_->merging.empty() ? here_->busy : "a merge",
          .merging = here_->merging,
          .dirty = files != here_->head};
}

bool SimWorktree::contains(const std::string& commit) const {
  return ancestors_of(*shared_, here_->commit).contains(commit);
}

std::vector<WorktreeEntry> SimWorktree::all() const {
  std::vector<WorktreeEntry> entries;
  const std::string main = here_->main.empty() ? top_ : here_->main;
  const auto add = [&](const std::string& path, const SimRepository& tree) {
    entries.push_back({.path = path, .branch = tree.branch, .commit = tree.commit});
  };
  add(main, *shared_);
  for (const auto& [path, tree] : kernel_->settings.repositories) {
    if (tree.main == main) add(path, tree);
  }
  return entries;
}

std::vector<SavedWork> SimWorktree::saved() const {
  std::vector<SavedWork> all;
  for (const auto& [ref, commit] : shared_->refs) {
    if (!ref.starts_with("refs/tend/")) continue;
    const auto parent = commit.parents.empty() ? shared_->commits.end()
                                               : shared_->commits.find(commit.parents.front());
    const SimContents before =
        parent == shared_->commits.end() ? SimContents{} : parent->second.files;
    all.push_back({.ref = ref,
                   .commit = commit.id,
                   .at = commit.at,
                   .message = first_line(commit.message),
                   .why = body_of(commit.message),
                   .files = sim_differences(before, commit.files)});
  }
  std::ranges::sort(all, {}, [](const SavedWork& one) { return std::pair(one.at, one.ref); });
  return all;
}

Result<WorktreeState> SimWorktree::make_another(const WorktreeOrder& order) {
  auto& repositories = kernel_->settings.repositories;
  const std::string main = here_->main.empty() ? top_ : here_->main;
  const auto same = repositories.find(order.path);
  if (same != repositories.end() && same->second.main == main &&
      same->second.branch == order.branch && !order.branch.empty()) {
    return SimWorktree(*kernel_, order.path, same->second, *shared_).state();
  }
  if (here_->commit.empty() && order.from.empty()) {
    return fail("there is no commit yet to start from; commit once, or use --worktree DIR");
  }
  if (shared_->branches.contains(order.branch)) {
    return fail(fmt::format("a branch named {} exists already", order.branch));
  }
  if (same != repositories.end() || !kernel_->disk.files(order.path).empty()) {
    return fail(fmt::format("{} exists already", order.path));
  }
  std::string from = order.from.empty() ? here_->commit : order.from;
  if (const auto branch = shared_->branches.find(from); branch != shared_->branches.end()) {
    from = branch->second;
  }
  const auto commit = shared_->commits.find(from);
  if (commit == shared_->commits.end()) return fail("there is no commit " + from);

  SimRepository& made = repositories[order.path];
  made.main = main;
  made.branch = order.branch;
  kernel_->disk.make_folder(order.path);
  SimWorktree tree(*kernel_, order.path, made, *shared_);
  tree.check_out({}, commit->second.files);
  tree.move_to(commit->second);
  return tree.state();
}

Committed SimWorktree::commit(const CommitOrder& order) {
  const WorktreeState now = state();
  if (!now.busy.empty()) return {.commit = {}, .refused = now.busy + " is in progress"};
  if (here_->branch.empty()) return {.commit = {}, .refused = "it is on no branch"};
  if (here_->index_held) {
    return {.commit = {}, .refused = "somebody else holds the index (index.lock)"};
  }
  Committed committed;
  SimContents files = tracked_on_disk();
  for (const auto& [path, bytes] : here_->head) {
    if (is_below_any(top_ + "/" + path, order.exclude)) files[path] = bytes;
  }
  for (const auto& [path, node] : on_disk(order.exclude)) {
    if (node->bytes.size() > order.largest_file && !here_->head.contains(path)) {
      committed.left_out.push_back(fmt::format("{}: {} bytes", path, node->bytes.size()));
    } else {
      files[path] = node->bytes;
    }
  }
  if (files == here_->head) return committed;
  std::vector<std::string> parents;
  if (!here_->commit.empty()) parents.push_back(here_->commit);
  const auto made = make_commit(order.message, std::move(files), std::move(parents));
  move_to(made);
  committed.commit = made.id;
  return committed;
}

/// Of what is tracked; at most three are named.
std::string SimWorktree::changed_paths() const {
  const SimContents now = tracked_on_disk();
  std::vector<std::string> changed;
  for (const auto& [path, bytes] : here_->head) {
    if (content(now, path) != bytes) changed.push_back(path);
  }
  if (changed.size() > kMostNamed) changed.resize(kMostNamed);
  return fmt::format("{}", fmt::join(changed, ", "));
}

std::optional<std::string> SimWorktree::common_ancestor(const std::string& one,
                                                        const std::string& other) const {
  const std::set<std::string> line = ancestors_of(*shared_, one);
  std::optional<std::string> best;
  for (const std::string& id : ancestors_of(*shared_, other)) {
    if (line.contains(id) && (!best || ancestors_of(*shared_, id).contains(*best))) best = id;
  }
  return best;
}

std::optional<Merged> SimWorktree::begin_merge(const MergeOrder& order) {
  const WorktreeState now = state();
  if (here_->commit.empty()) return refused(*here_, "there is no commit yet to merge into");
  if (!now.busy.empty()) return refused(*here_, now.busy + " is in progress there");
  if (here_->index_held) return refused(*here_, "somebody else holds the index (index.lock)");
  if (!shared_->commits.contains(order.commit)) {
    return refused(*here_, "there is no commit " + order.commit);
  }
  if (contains(order.commit)) {
    return Merged{.how = Merged::How::already, .commit = here_->commit, .why = {}, .paths = {}};
  }
  if (const std::string paths = changed_paths(); !paths.empty()) {
    return refused(*here_, "it has changes that are not committed: " + paths);
  }
  const auto base = common_ancestor(here_->commit, order.commit);
  if (!base) return refused(*here_, "refusing to merge unrelated histories");
  const ThreeWay result = three_way(shared_->commits.at(*base).files, here_->head,
                                    shared_->commits.at(order.commit).files);
  for (const auto& [path, bytes] : result.files) {
    if (!here_->head.contains(path) && kernel_->disk.exists(top_ + "/" + path)) {
      return refused(*here_, "files that are not tracked are in the way: " + path);
    }
  }
  here_->merging = order.commit;
  return std::nullopt;
}

/// Whoever works there may have written since the merge began. "": nothing is.
std::string SimWorktree::in_the_way_of(const SimContents& files) const {
  for (const auto& [path, bytes] : files) {
    const auto known = here_->head.find(path);
    const std::optional<std::string> before =
        known == here_->head.end() ? std::nullopt : std::optional(known->second);
    if (before != bytes && kernel_->disk.read(top_ + "/" + path) != before) return path;
  }
  return "";
}

Merged SimWorktree::finish_merge(const MergeOrder& order) {
  here_->merging.clear();
  const auto base = common_ancestor(here_->commit, order.commit);
  const SimContents before = base ? shared_->commits.at(*base).files : SimContents{};
  ThreeWay result = three_way(before, here_->head, shared_->commits.at(order.commit).files);
  if (!result.conflicts.empty()) {
    if (result.conflicts.size() > kMostConflicts) result.conflicts.resize(kMostConflicts);
    return {.how = Merged::How::conflict,
            .commit = here_->commit,
            .why = fmt::format("both changed {}", fmt::join(result.conflicts, ", ")),
            .paths = result.conflicts};
  }
  if (const std::string path = in_the_way_of(result.files); !path.empty()) {
    return refused(*here_, "your local changes to " + path + " would be overwritten");
  }
  check_out(here_->head, result.files);
  const auto merge =
      make_commit(order.message, std::move(result.files), {here_->commit, order.commit});
  move_to(merge);
  if (SimObserver* observer = kernel_->settings.observer) observer->on_merge(top_, merge);
  return {.how = Merged::How::merged, .commit = here_->commit, .why = {}, .paths = {}};
}

bool SimWorktree::abort_merge(const std::string& commit) {
  if (here_->merging.empty() || here_->merging != commit) return false;
  here_->merging.clear();  // it had not touched any file yet
  return true;
}

}  // namespace tend
