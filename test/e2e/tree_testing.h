// Trees of real agents: each holds a lock of its own for as long as it lives, and writes into one
// ledger when it starts and when it ends. So it shows if anything ever runs twice.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "e2e.h"

namespace tend::e2e {

/// What one agent of a tree does. They all work until let_go().
struct Part {
  std::string name;
  std::vector<std::string> children;  // dispatched by it, one after the other
  std::string outcome = "done";       // its word at the end; "": it says nothing and exits
  std::string writes;                 // a file of its work tree, beside its own NAME.txt
  bool works = true;                  // writes its NAME.txt
  bool waits = true;                  // for its children, and merges them
  bool lingers = false;               // takes some seconds to end when it is asked to
};

/// What the ledger says of one agent.
struct LedgerEntry {
  std::vector<long> starts;  // the lives
  long ends = 0;
  bool twice = false;  // it was started while it lived
};

class TreeE2e : public E2e {
 protected:
  void SetUp() override;

  using Names = std::vector<std::string>;

  [[nodiscard]] Path repository() const { return scratch() / "repository"; }
  std::string git(const Path& where, const Arguments& arguments);
  /// A new commit with one file more, or changed.
  void commit_file(const Path& where, const std::string& name, const std::string& text);

  /// Writes down what these do. The options are those of every dispatch.
  void plan(const std::vector<Part>& parts, const Arguments& options = {"--limit", "orphan=10m"});
  /// The command line of the agent of that name.
  [[nodiscard]] Arguments agent(const std::string& name) const;
  /// `tend run --detach` of a root, in a work tree of its own; its folder.
  Path keep_root(const std::string& name, const Arguments& options = {"--worktree", "new"});
  /// All of them may end, or one.
  void let_go(const std::string& name = "") const;

  /// Where an agent of this name is kept, the newest if several are; "" if there is none.
  [[nodiscard]] Path folder_of(const std::string& name) const;
  [[nodiscard]] Json says(const std::string& name) const { return heartbeat_of(folder_of(name)); }
  [[nodiscard]] Path worktree_of(const std::string& name) const;
  /// As its lock records them; 0 if there is none.
  [[nodiscard]] pid_t keeper_of(const std::string& name) const;
  [[nodiscard]] pid_t process_of(const std::string& name) const;
  [[nodiscard]] bool is_at_work(const std::string& name) const;
  [[nodiscard]] bool is_over(const std::string& name) const;
  /// Waits until each of them has a living keeper, a living process, and the word that it runs.
  bool await_work(const Names& names);
  bool await_end(const Names& names, Patience patience = kPatience);
  /// Kills these as if at once: none sees another one die.
  void kill_all(const std::vector<pid_t>& pids);
  [[nodiscard]] std::map<std::string, pid_t> processes_of(const Names& names) const;

  [[nodiscard]] std::map<std::string, LedgerEntry> ledger() const;
  /// Nobody ran twice, everybody ended once, and no life was counted twice.
  void expect_clean_ledger(const Names& names) const;
  /// The work of all of them is in the commit that this work tree is at.
  void expect_merged(const Names& names, const Path& into);
  /// Clean, and not in the middle of a merge.
  void expect_clean_tree(const Path& worktree);
  void expect_nothing_left();
  void expect_nothing_to_recover();
  /// The text of all messages to an agent.
  std::string inbox_of(const std::string& name);
  /// What the registry of the parent says last of a child: its status.
  [[nodiscard]] std::string registered(const std::string& parent, const std::string& child) const;
  /// Everything that a tree which ended well leaves: merged, reported, nobody twice, nothing left.
  void expect_good_end(const Names& names, const std::string& root);

  /// This test kills whoever dispatches: work trees may be left that are no agent's.
  bool cuts_dispatches_ = false;

 private:
  [[nodiscard]] Json lock_of(const std::string& name) const;
};

}  // namespace tend::e2e
