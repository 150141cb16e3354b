// The row of commands:
//
//   rev-parse      where is the git folder?            none: there is no version control here
//   config         which filters does the repository define?
//   for-each-ref   which names are taken?              those are never moved
//   cat-file       HEAD and its tree, the last of these refs and its tree
//   (read-tree     if there is no index that can be read)
//   ls-files       what differs between index and work tree?
//   (update-index  removals, and claims taken back)
//   (update-index  the files; a batch that fails is halved until it is one file, left out)
//   write-tree     the same as HEAD's, or as the last ref's: nothing to do
//   commit-tree
//   sync           a ref must never name what is not on the disk
//   update-ref     the first free name; one that was taken meanwhile: the next
//   sync
//   diff-tree      how many files is that?
//
// Nothing but objects and the ref is written to the repository. One sync of the file system is many
// times faster than one of each object, and git has none for folders; it is a command because it
// may wait for what others wrote.
#include "os/linux/git_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "os/linux/git_command.h"
#include "os/linux/git_files.h"
#include "os/linux/git_fill.h"

namespace tend {
namespace {

constexpr int kMostNamesTried = 10;
constexpr std::uint64_t kMostNumber = 1'000'000'000;

/// What stands behind "REF-" in a name: 2, 3 and so on; 1 for REF itself, 0 for any other name.
std::uint64_t number_of(std::string_view name, std::string_view ref) {
  if (!name.starts_with(ref)) return 0;
  name.remove_prefix(ref.size());
  if (name.empty()) return 1;
  if (!name.starts_with('-')) return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool is_number = error == std::errc{} && end == name.data() + name.size();
  return is_number && number > 1 && number < kMostNumber ? number : 0;
}

class GitSnapshot final : public GitFill<GitSnapshot, Snapshot> {
 public:
  GitSnapshot(Processes& processes, Clock& clock, SnapshotOrder order, Done done)
      : GitFill(processes, clock, order.worktree, "save", std::move(done)),
        order_(std::move(order)) {}
  ~GitSnapshot() override { stop(); }
  GitSnapshot(const GitSnapshot&) = delete;
  GitSnapshot& operator=(const GitSnapshot&) = delete;

 private:
  friend GitRow;
  friend GitFill;
  struct Commit {
    std::string id;
    std::string tree;
  };

  void without() { finish(Snapshot{}); }

  void begin() {
    git({"for-each-ref", "--format=%(refname)", order_.ref, order_.ref + "-*"},
        &GitSnapshot::named);
  }

  void refuse(std::string_view why) { give_up(why); }

  void finish(Result<Snapshot> result) {
    index_.reset();
    GitRow::finish(std::move(result));
  }

  void named(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    std::string_view rest = ran.output;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      taken_ = std::max(taken_, number_of(line, order_.ref));
    }
    git({"cat-file", "--batch-check"}, &GitSnapshot::known,
        fmt::format("HEAD^{{commit}}\nHEAD^{{tree}}\n{0}^{{commit}}\n{0}^{{tree}}\n", ref(taken_)));
  }

  /// The name with this number; of 0, as of 1, the one that was asked for.
  [[nodiscard]] std::string ref(std::uint64_t number) const {
    return number < 2 ? order_.ref : fmt::format("{}-{}", order_.ref, number);
  }

  // "ID TYPE SIZE", or "WHAT missing", for each line of the question.
  void known(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    std::array<std::string, 4> ids;
    std::string_view rest = ran.output;
    for (std::string& id : ids) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (!line.ends_with(" missing")) id = line.substr(0, line.find(' '));
    }
    head_ = {ids[0], ids[1]};
    former_ = {ids[2], ids[3]};

    index_.emplace(git_folder_);
    place_.index = index_->path();
    const auto copied = index_->copy_real_one();
    if (!copied) return give_up(copied.error().text);
    if (*copied) return list();
    build_index();
  }

  void build_index() {
    index_->clear();
    index_is_new_ = true;
    git({"read-tree", head_.tree.empty() ? "--empty" : head_.tree}, &GitSnapshot::index_built);
  }

  void index_built(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    list();
  }

  void list() {
    fill({.top = place_.top,
          .largest_file = order_.largest_file,
          .exclude = order_.exclude,
          .missing_is_deleted = !(index_is_new_ && config_.sparse)});
  }

  // The filters of the user failed, or seem to: files are then saved as they stand.
  bool can_do_without_filters() {
    if (place_.filters.size() == config_.filters.size()) return false;
    place_.filters = config_.filters;
    return true;
  }

  void not_listed(const Ran& ran) {
    if (!index_is_new_) return build_index();
    give_up(complaint(ran));
  }

  void filled() { git({"write-tree", "--missing-ok"}, &GitSnapshot::written); }

  void written(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    tree_ = line_of(ran);
    if (tree_ == head_.tree) return finish(result(""));
    if (tree_ == former_.tree) return count(former_.id);
    std::vector<std::string> arguments{"commit-tree", "--no-gpg-sign", "-F", "-"};
    if (!head_.id.empty()) arguments.insert(arguments.end(), {"-p", head_.id});
    arguments.push_back(tree_);
    git(std::move(arguments), &GitSnapshot::committed, order_.message + "\n");
  }

  void committed(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    commit_ = line_of(ran);
    sync(objects_folder(), &GitSnapshot::stored);
  }

  void stored(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    refer();
  }

  /// The zeros: only if there is no ref of this name.
  void refer() {
    const std::string none(commit_.size(), '0');
    git({"update-ref", "--no-deref", "-m", "tend", ref(++taken_), commit_, none},
        &GitSnapshot::referenced);
  }

  void referenced(const Ran& ran) {
    if (!succeeded(ran))
      return ++names_tried_ < kMostNamesTried ? refer() : give_up(complaint(ran));
    sync(objects_folder(), &GitSnapshot::kept);
  }

  void kept(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    count(commit_);
  }

  void count(std::string commit) {
    commit_ = std::move(commit);
    if (head_.tree.empty()) {
      return git({"ls-tree", "-r", "-z", "--name-only", tree_}, &GitSnapshot::counted);
    }
    git({"diff-tree", "-r", "-z", "--name-only", "--no-renames", head_.tree, tree_},
        &GitSnapshot::counted);
  }

  // The work is saved; that it cannot be counted is no reason to say otherwise.
  void counted(const Ran& ran) {
    Snapshot snapshot = result(commit_);
    snapshot.files = succeeded(ran)
                         ? static_cast<std::uint64_t>(std::ranges::count(ran.output, '\0'))
                         : updates();
    finish(std::move(snapshot));
  }

  [[nodiscard]] Snapshot result(std::string commit) const {
    return {
        .versioned = true, .commit = std::move(commit), .ref = ref(taken_), .left_out = left_out()};
  }

  SnapshotOrder order_;
  Commit head_;              // empty: nothing was ever committed
  std::uint64_t taken_ = 0;  // the largest number among the refs of this name
  Commit former_;            // what that one names
  int names_tried_ = 0;
  std::optional<PrivateIndex> index_;
  bool index_is_new_ = false;
  std::string tree_;
  std::string commit_;
};

}  // namespace

Subscribed begin_git_snapshot(Processes& processes, Clock& clock, SnapshotOrder order,
                              std::function<void(Result<Snapshot>)> done) {
  CHECK(order.ref.starts_with("refs/"));
  return std::make_unique<GitSnapshot>(processes, clock, std::move(order), std::move(done));
}

}  // namespace tend
