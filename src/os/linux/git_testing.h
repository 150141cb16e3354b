// What the tests of version control share: the real loop with a deadline, and a folder with a
// repository and a home of its own, so that no setting of the user plays a part.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "os/linux/git.h"
#include "os/linux/linux_clock.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_process.h"

namespace tend {

/// A variable of the environment that has another value for a while.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* former = std::getenv(name_.c_str())) former_ = former;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() {
    if (former_) {
      ::setenv(name_.c_str(), former_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> former_;
};

/// A new folder, removed with all that is in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& where) {
    std::string name = where + "/tend-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = std::filesystem::canonical(name).string();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  CHECK(out.good());
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The parts of the machine that git needs, and a way to wait for answers.
class GitBench {
 private:
  LinuxClock clock_;
  LinuxLoop loop_;
  LinuxProcesses processes_{loop_};

 public:
  Git git{processes_, clock_};

  /// Calls `ask` with a callback and returns what the callback was told.
  template <class Answer, class Ask>
  Answer wait_for(Ask ask) {
    std::optional<Answer> answer;
    const Subscribed asked = ask([&](Answer told) {
      answer = std::move(told);
      loop_.stop();
    });
    CHECK(!answer);  // never from the call itself
    const Subscribed deadline =
        loop_.at(clock_.now() + std::chrono::minutes{3}, [this] { loop_.stop(); });
    loop_.run();
    CHECK(answer);
    return *std::move(answer);
  }

  Ran run(const std::string& command, const std::string& folder) {
    const Run run{.command = {"sh", "-c", command},
                  .environment = {"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true"},
                  .working_folder = folder};
    auto ran = wait_for<Result<Ran>>([&](auto done) { return processes_.run(run, done); });
    CHECK(ran);
    return *std::move(ran);
  }

  Result<Snapshot> snapshot(const SnapshotOrder& order) {
    return wait_for<Result<Snapshot>>([&](auto done) { return git.snapshot(order, done); });
  }
  Result<WorktreeState> state(const std::string& worktree) {
    return wait_for<Result<WorktreeState>>([&](auto done) { return git.state(worktree, done); });
  }
  Result<WorktreeState> make_worktree(const WorktreeOrder& order) {
    return wait_for<Result<WorktreeState>>(
        [&](auto done) { return git.make_worktree(order, done); });
  }
  Result<Committed> commit(const CommitOrder& order) {
    return wait_for<Result<Committed>>([&](auto done) { return git.commit(order, done); });
  }
  Result<Merged> merge(const MergeOrder& order) {
    return wait_for<Result<Merged>>([&](auto done) { return git.merge(order, done); });
  }
  Result<bool> abort_merge(const std::string& worktree, const std::string& commit) {
    return wait_for<Result<bool>>(
        [&](auto done) { return git.abort_merge(worktree, commit, done); });
  }
  Result<bool> contains(const std::string& worktree, const std::string& commit) {
    return wait_for<Result<bool>>([&](auto done) { return git.contains(worktree, commit, done); });
  }
  Result<std::vector<WorktreeEntry>> worktrees(const std::string& path) {
    return wait_for<Result<std::vector<WorktreeEntry>>>(
        [&](auto done) { return git.worktrees(path, done); });
  }
  Result<std::vector<SavedWork>> saved(const std::string& path) {
    return wait_for<Result<std::vector<SavedWork>>>(
        [&](auto done) { return git.saved(path, done); });
  }
  Result<bool> changed_since(const std::string& worktree, WallTime since,
                             const std::vector<std::string>& exclude = {}) {
    return wait_for<Result<bool>>(
        [&](auto done) { return git.changed_since(worktree, since, exclude, done); });
  }
};

/// A repository with one commit: "kept", "changed" and "deleted" hold their names; "*.o" and
/// "build/" are ignored.
class Repository {
 public:
  static constexpr const char* kRef = "refs/tend/coder/3";

  explicit Repository(const std::string& where)
      : scratch_(where),
        home_("HOME", scratch_.path() + "/home"),
        config_("XDG_CONFIG_HOME", scratch_.path() + "/home/config") {
    write_file(scratch_.path() + "/home/.gitconfig",
               "[user]\nname = Somebody\nemail = s@example.org\n[init]\ndefaultBranch = main\n");
    std::filesystem::create_directories(top());
    sh("git init -q");
    for (const std::string name : {"kept", "changed", "deleted"}) write(name, name + "\n");
    write(".gitignore", "*.o\nbuild/\n");
    sh("git add -A && git commit -qm first");
  }

  [[nodiscard]] std::string scratch() const { return scratch_.path(); }
  [[nodiscard]] std::string top() const { return scratch_.path() + "/tree"; }
  [[nodiscard]] std::string path(const std::string& name) const { return top() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(path(name)); }

  /// What a shell in the work tree says. It must not fail.
  std::string sh(const std::string& command) { return sh_in(top(), command); }
  std::string sh_in(const std::string& folder, const std::string& command) {
    const Ran ran = bench.run(command, folder);
    if (ran.exit != ExitStatus{ExitStatus::How::code, 0}) {
      std::fprintf(stderr, "%s: %s%s", command.c_str(), ran.output.c_str(), ran.error.c_str());
      CHECK(false);
    }
    return ran.output;
  }
  /// The same, without the end of its line.
  std::string line(const std::string& command) {
    std::string text = sh(command);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }
  bool succeeds(const std::string& command) {
    return bench.run(command, top()).exit == ExitStatus{ExitStatus::How::code, 0};
  }

  [[nodiscard]] SnapshotOrder order() const {
    return {.worktree = top(), .ref = kRef, .message = "Work of coder"};
  }
  /// A snapshot that must not fail.
  Snapshot save() { return save(order()); }
  Snapshot save(const SnapshotOrder& order) {
    auto saved = bench.snapshot(order);
    if (!saved) std::fprintf(stderr, "%s\n", saved.error().text.c_str());
    CHECK(saved);
    last_ref_ = saved->ref;
    return *std::move(saved);
  }
  /// What the last snapshot holds of a path, which is in quotes already if it must be.
  std::string saved(const std::string& name) { return sh("git show " + last_ref_ + ":" + name); }
  bool has_saved(const std::string& name) {
    return succeeds("git cat-file -e " + last_ref_ + ":" + name);
  }
  /// Everything that a snapshot must not touch.
  std::string untouched() {
    return sh(
        "git status --porcelain=v2 --branch -z | od -c; git symbolic-ref -q HEAD;"
        "git for-each-ref | grep -v refs/tend/; git stash list; git reflog;"
        "D=$(git rev-parse --absolute-git-dir); sha1sum $D/index; cd $D; "
        "find . -name objects -prune -o -path '*refs/tend*' -prune -o -print | sort; true");
  }

  GitBench bench;

 private:
  std::string last_ref_ = kRef;
  ScratchFolder scratch_;
  Variable home_;
  Variable config_;
};

}  // namespace tend
