// Two commands: for-each-ref lists them, diff-tree tells what each changed.
#include "os/linux/git_saved.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "os/linux/git_row.h"

namespace tend {
namespace {

WallTime time_from(std::string_view seconds) {
  std::int64_t number = 0;
  std::from_chars(seconds.data(), seconds.data() + seconds.size(), number);
  return WallTime{std::chrono::seconds{number}};
}

class GitSaved final : public GitRow<GitSaved, std::vector<SavedWork>> {
 public:
  GitSaved(Processes& processes, Clock& clock, const std::string& path, Done done)
      : GitRow(processes, clock, path, "list what is saved in", std::move(done)) {}

 private:
  friend GitRow;

  void without() { finish(std::vector<SavedWork>{}); }

  // The last key comes first; those of one second are told apart by their numbers.
  void begin() {
    const std::string format =
        "%(objecttype)%00%(refname)%00%(objectname)%00%(committerdate:unix)%00"
        "%(contents:subject)%00%(contents:body)%00";
    git({"for-each-ref", "--count=1000", "--sort=-version:refname", "--sort=-committerdate",
         "--format=" + format, "refs/tend/"},
        &GitSaved::listed);
  }

  void listed(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    constexpr std::size_t kFields = 6;
    const auto parts = parts_of(ran.output);
    for (std::size_t i = 0; i + kFields <= parts.size(); i += kFields) {
      if (!parts[i].ends_with("commit")) continue;  // before it: the end of the line before
      saved_.push_back({.ref = std::string(parts[i + 1]),
                        .commit = std::string(parts[i + 2]),
                        .at = time_from(parts[i + 3]),
                        .message = std::string(parts[i + 4]),
                        .why = std::string(parts[i + 5].substr(0, parts[i + 5].find('\n'))),
                        .files = 0});
    }
    std::ranges::reverse(saved_);
    if (saved_.empty()) return finish(std::move(saved_));
    count();
  }

  void count() {
    std::string commits;
    for (const SavedWork& one : saved_) commits += one.commit + "\n";
    git({"diff-tree", "--stdin", "--root", "--always", "-r", "-z", "--name-only", "--no-renames"},
        &GitSaved::counted, std::move(commits), kGitFiles);
  }

  // A commit, then its paths. That they cannot be counted is no reason to say nothing.
  void counted(const Ran& ran) {
    std::map<std::string_view, std::uint64_t> files;
    for (const SavedWork& one : saved_) files[one.commit] = 0;
    auto current = files.end();
    for (const std::string_view part : parts_of(ran.output)) {
      if (const auto commit = files.find(part); commit != files.end()) {
        current = commit;
      } else if (current != files.end()) {
        ++current->second;
      }
    }
    for (SavedWork& one : saved_) one.files = files.at(one.commit);
    finish(std::move(saved_));
  }

  std::vector<SavedWork> saved_;
};

}  // namespace

Subscribed begin_git_saved(Processes& processes, Clock& clock, const std::string& path,
                           std::function<void(Result<std::vector<SavedWork>>)> done) {
  return std::make_unique<GitSaved>(processes, clock, path, std::move(done));
}

}  // namespace tend
