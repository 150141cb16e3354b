// Members: up for those who are never taken in, then down from the seeds: the marked, the grouped,
// the root.
#include "os/process_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace tend {
namespace {

class Tree {
 public:
  explicit Tree(std::span<const Seen> all) : all_(all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      by_pid_[all[i].id.pid] = i;
      children_.emplace(all[i].parent, i);
    }
  }

  [[nodiscard]] const Seen& at(std::size_t i) const { return all_[i]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const Seen* find(std::int64_t pid) const {
    const auto found = by_pid_.find(pid);
    return found == by_pid_.end() ? nullptr : &all_[found->second];
  }

  /// Calls `visit` for the process and what is below it; where it says no, not for what is below.
  template <class Visit>
  void walk_down(std::size_t from, Visit visit) const {
    std::vector<std::size_t> open = {from};
    // A snapshot is not taken in one moment: a reused pid can make it a circle.
    for (std::set<std::size_t> met; !open.empty();) {
      const std::size_t i = open.back();
      open.pop_back();
      if (!met.insert(i).second || !visit(i)) continue;
      const auto [first, last] = children_.equal_range(all_[i].id.pid);
      for (auto child = first; child != last; ++child) open.push_back(child->second);
    }
  }

 private:
  std::span<const Seen> all_;
  std::map<std::int64_t, std::size_t> by_pid_;
  std::multimap<std::int64_t, std::size_t> children_;
};

/// The one who asks and all it descends from.
std::set<std::int64_t> self_and_ancestors(const Tree& tree, std::int64_t self) {
  std::set<std::int64_t> line;
  for (std::int64_t pid = self; pid > 0 && line.insert(pid).second;) {
    const Seen* seen = tree.find(pid);
    pid = seen == nullptr ? 0 : seen->parent;
  }
  return line;
}

std::set<std::size_t> kept_out(const Tree& tree, const std::vector<ProcessId>& not_) {
  std::set<std::size_t> out;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (std::ranges::find(not_, tree.at(i).id) == not_.end()) continue;
    tree.walk_down(i, [&](std::size_t below) { return out.insert(below).second; });
  }
  return out;
}

}  // namespace

std::vector<ProcessId> members(std::span<const Seen> all, const Belonging& belonging,
                               std::span<const std::int64_t> in_group, const ProcessId& self) {
  const Tree tree(all);
  const std::set<std::int64_t> grouped(in_group.begin(), in_group.end());
  const std::set<std::int64_t> own_line = self_and_ancestors(tree, self.pid);
  const std::set<std::size_t> out = kept_out(tree, belonging.not_);

  const auto is_root = [&](const Seen& seen) {
    return belonging.root.pid != 0 && seen.id == belonging.root;
  };
  const auto carries = [&](const Seen& seen) {
    return !belonging.mark.empty() && seen.mark == belonging.mark;
  };
  const auto is_unmarked = [](const Seen& seen) { return !seen.mark || seen.mark->empty(); };
  const auto may_belong = [&](const Seen& seen) {
    return is_root(seen) || carries(seen) || is_unmarked(seen);
  };
  const auto is_seed = [&](const Seen& seen) {
    return is_root(seen) || carries(seen) || (grouped.contains(seen.id.pid) && is_unmarked(seen));
  };

  std::set<std::size_t> taken;
  for (std::size_t seed = 0; seed < tree.size(); ++seed) {
    if (!is_seed(tree.at(seed))) continue;
    tree.walk_down(seed, [&](std::size_t i) {
      const Seen& seen = tree.at(i);
      if (out.contains(i) || !may_belong(seen)) return false;
      // What is below our own line is not all theirs: init is part of it. Below the root it is.
      if (own_line.contains(seen.id.pid)) return is_root(seen);
      return taken.insert(i).second;
    });
  }

  std::vector<ProcessId> found;
  for (const std::size_t i : taken) {
    if (!tree.at(i).zombie) found.push_back(tree.at(i).id);
  }
  return found;
}

bool stands_below(std::span<const Seen> all, std::int64_t pid, const ProcessId& above,
                  const ProcessId& keeper, std::string_view mark,
                  std::span<const std::int64_t> in_group) {
  const Tree tree(all);
  const std::set<std::int64_t> grouped(in_group.begin(), in_group.end());
  const Seen* taker_in = tree.find(keeper.pid);
  const bool keeper_lives = taker_in != nullptr && taker_in->id == keeper;
  const auto was_taken_in = [&](const Seen& seen) {
    return keeper_lives && seen.parent == keeper.pid && !mark.empty() && seen.mark == mark;
  };

  std::set<std::int64_t> met;
  for (const Seen* seen = tree.find(pid); seen != nullptr && met.insert(seen->id.pid).second;
       seen = tree.find(seen->parent)) {
    if (seen->id == above || was_taken_in(*seen) || grouped.contains(seen->id.pid)) return true;
  }
  return false;
}

}  // namespace tend
