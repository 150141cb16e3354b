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
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "os/linux/git_command.h"
#include "os/linux/git_files.h"
#include "os/linux/git_plan.h"

namespace tend {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kUsual = seconds{60};
constexpr Duration kReading = minutes{5};  // listing, adding and writing out files
constexpr Duration kLongest = minutes{10};
constexpr std::size_t kMostListed = std::size_t{128} * 1024 * 1024;
constexpr int kMostFailures = 200;  // of batches
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

std::string line_of(const Ran& ran) {
  std::string text = ran.output;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class GitSnapshot final : public Subscription {
 public:
  GitSnapshot(Processes& processes, Clock& clock, SnapshotOrder order,
              std::function<void(Result<Snapshot>)> done)
      : processes_(processes),
        clock_(clock),
        order_(std::move(order)),
        done_(std::move(done)),
        began_(clock.now()),
        began_wall_(clock.wall()) {
    const std::string top = top_of(order_.worktree);
    has_repository_ = !top.empty();
    place_.top = has_repository_ ? top : order_.worktree;
    git({"rev-parse", "--absolute-git-dir"}, &GitSnapshot::located);
  }

 private:
  using Next = void (GitSnapshot::*)(const Ran&);
  struct Commit {
    std::string id;
    std::string tree;
  };

  void git(std::vector<std::string> arguments, Next next, std::string input = {},
           Duration limit = kUsual) {
    Run run = git_command(place_, std::move(arguments), began_wall_);
    run.input = std::move(input);
    run.most_output = kMostListed;
    start(std::move(run), next, limit);
  }

  void sync(Next next) {
    const std::string objects = common_git_folder(git_folder_) + "/objects";
    start({.command = {"sync", "--file-system", objects}}, next, kReading);
  }

  void start(Run run, Next next, Duration limit) {
    const Duration left = began_ + kLongest - clock_.now();
    if (left <= Duration::zero()) return give_up("it took too long");
    run.deadline = std::min(limit, left);
    running_ = processes_.run(run, [this, next](const Result<Ran>& ran) { answered(next, ran); });
  }

  void answered(Next next, const Result<Ran>& ran) {
    if (!ran) return give_up(ran.error().text);
    if (ran->timed_out) return give_up(complaint(*ran));
    (this->*next)(*ran);
  }

  void give_up(std::string_view why) {
    finish(fail(fmt::format("git could not save {}: {}", place_.top, why)));
  }

  void finish(Result<Snapshot> result) {
    index_.reset();
    const auto done = std::move(done_);
    done(std::move(result));  // which may destroy this
  }

  void located(const Ran& ran) {
    if (!has_repository_ || not_found(ran)) return finish(Snapshot{});
    if (!succeeded(ran)) {
      if (ran.error.contains("dubious ownership")) {
        return give_up(
            fmt::format("it belongs to somebody else; to allow it: git config --global "
                        "--add safe.directory {}",
                        place_.top));
      }
      return give_up(complaint(ran));
    }
    git_folder_ = line_of(ran);
    git(git_config_arguments(), &GitSnapshot::configured);
  }

  void configured(const Ran& ran) {
    config_ = read_git_config(ran.output);  // exit code 1: nothing to tell
    place_.filters = config_.filters_of_repository;
    git({"for-each-ref", "--format=%(refname)", order_.ref, order_.ref + "-*"},
        &GitSnapshot::named);
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

  void list() { git(git_list_arguments(), &GitSnapshot::listed, {}, kReading); }

  void listed(const Ran& ran) {
    if (!succeeded(ran)) {
      if (stop_filters()) return list();
      if (!index_is_new_) return build_index();
      return give_up(complaint(ran));
    }
    auto plan = plan_of(ran.output, {.top = place_.top,
                                     .largest_file = order_.largest_file,
                                     .exclude = order_.exclude,
                                     .missing_is_deleted = !(index_is_new_ && config_.sparse)});
    if (!plan) return give_up(plan.error().text);
    plan_ = *std::move(plan);
    if (ran.output.size() >= kMostListed) plan_.left_out.add("...", "too many files to list");
    tell_warnings(ran.error, "warning: could not open directory ");
    if (!plan_.updates.empty()) batches_.push_back({0, plan_.updates.size()});
    if (plan_.index_info.empty()) return add();
    git({"update-index", "-z", "--index-info"}, &GitSnapshot::prepared,
        std::exchange(plan_.index_info, {}));
  }

  void prepared(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    add();
  }

  /// The filters of the user failed, or seem to: files are then saved as they stand. false if there
  /// is nothing left to stop.
  bool stop_filters() {
    if (place_.filters.size() == config_.filters.size()) return false;
    place_.filters = config_.filters;
    return true;
  }

  void add() {
    if (batches_.empty()) return git({"write-tree", "--missing-ok"}, &GitSnapshot::written);
    std::string paths;
    for (std::size_t i = batches_.front().begin; i < batches_.front().end; ++i) {
      paths += plan_.updates[i];
      paths += '\0';
    }
    git({"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}, &GitSnapshot::added,
        std::move(paths), kReading);
  }

  void added(const Ran& ran) {
    if (succeeded(ran)) {
      tell_warnings(ran.error, "Ignoring path ");
      batches_.pop_front();
      return add();
    }
    if (stop_filters()) return add();
    if (++failures_ > kMostFailures) return give_up(complaint(ran));
    const Batch failed = batches_.front();
    batches_.pop_front();
    if (failed.end - failed.begin == 1) {
      plan_.left_out.add(plan_.updates[failed.begin], complaint(ran));
    } else {
      const std::size_t middle = failed.begin + (failed.end - failed.begin) / 2;
      batches_.push_front({middle, failed.end});
      batches_.push_front({failed.begin, middle});
    }
    add();
  }

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
    sync(&GitSnapshot::stored);
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
    sync(&GitSnapshot::kept);
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
                         : plan_.updates.size();
    finish(std::move(snapshot));
  }

  [[nodiscard]] Snapshot result(std::string commit) const {
    return {.versioned = true,
            .commit = std::move(commit),
            .ref = ref(taken_),
            .left_out = plan_.left_out.told()};
  }

  void tell_warnings(std::string_view said, std::string_view beginning) {
    while (!said.empty()) {
      const std::string_view line = said.substr(0, said.find('\n'));
      said.remove_prefix(std::min(line.size() + 1, said.size()));
      if (line.starts_with(beginning)) {
        plan_.left_out.add(line.substr(beginning.size()), "git does not take it");
      }
    }
  }

  struct Batch {
    std::size_t begin;
    std::size_t end;
  };

  Processes& processes_;
  Clock& clock_;
  SnapshotOrder order_;
  std::function<void(Result<Snapshot>)> done_;
  Instant began_;
  WallTime began_wall_;

  bool has_repository_ = false;
  GitPlace place_;
  std::string git_folder_;
  GitConfig config_;
  Commit head_;              // empty: nothing was ever committed
  std::uint64_t taken_ = 0;  // the largest number among the refs of this name
  Commit former_;            // what that one names
  int names_tried_ = 0;
  std::optional<PrivateIndex> index_;
  bool index_is_new_ = false;
  GitPlan plan_;
  std::deque<Batch> batches_;
  int failures_ = 0;
  std::string tree_;
  std::string commit_;
  Subscribed running_;  // last: it goes first
};

}  // namespace

Subscribed begin_git_snapshot(Processes& processes, Clock& clock, SnapshotOrder order,
                              std::function<void(Result<Snapshot>)> done) {
  CHECK(order.ref.starts_with("refs/"));
  return std::make_unique<GitSnapshot>(processes, clock, std::move(order), std::move(done));
}

}  // namespace tend
