// One question after the other, the first that answers wins.
#include "judge/recovery.h"

#include <utility>

namespace tend {
namespace {

ChildPlan plan(Bucket bucket, std::string why) { return {bucket, std::move(why)}; }

ChildPlan nothing_known(const ChildFacts& child) {
  if (child.just_asked) return plan(Bucket::wait, "it is being registered");
  if (child.worktree_there) {
    return plan(Bucket::tell, "nothing is known of it any more, but its work tree is there");
  }
  return plan(Bucket::drop, "nothing is left of it: no file and no work tree");
}

ChildPlan ended_well(const ChildFacts& child) {
  if (!child.own_worktree)
    return plan(Bucket::settled, "it ended well, and there is nothing to merge");
  if (child.merged) return plan(Bucket::settled, "it ended well, and its work is merged");
  if (!child.worktree_there) {
    return plan(Bucket::tell, "it ended well, but its work tree is gone before it was merged");
  }
  return plan(Bucket::merge, "it ended well, and its work is not merged");
}

ChildPlan ended(const ChildFacts& child) {
  switch (child.end) {
    case ChildEnd::done:
      return ended_well(child);
    case ChildEnd::withdrawn:
      return plan(Bucket::tell, "it says that its work cannot be done");
    case ChildEnd::failed:
      return plan(Bucket::tell, "it failed, and is not to be brought back");
    case ChildEnd::stopped:
      return plan(Bucket::tell, "it was stopped by order");
    case ChildEnd::orphaned:
    case ChildEnd::shutdown:
    case ChildEnd::none:
      break;
  }
  if (!child.wanted) return plan(Bucket::tell, "it ended early, and is not wanted any more");
  if (child.allowed > 0 && child.spent >= child.allowed) {
    return plan(Bucket::tell, "it ended early, and its budget is spent");
  }
  if (child.own_worktree && !child.worktree_there) {
    return plan(Bucket::tell, "it ended early, and its work tree is gone");
  }
  return plan(Bucket::resume, child.end == ChildEnd::orphaned
                                  ? "it ended because its parent was gone"
                                  : "it ended because the machine was shut down");
}

ChildPlan without_keeper(const ChildFacts& child) {
  if (child.process == ProcessIs::unknown) {
    return plan(Bucket::unknown, "whether its process lives cannot be known");
  }
  if (child.process == ProcessIs::alive) {
    return plan(Bucket::attach, "it lives, and its keeper is gone");
  }
  if (child.just_asked) return plan(Bucket::wait, "its keeper is about to begin");
  if (!child.wanted) return plan(Bucket::attach, "it is to be stopped, and its end is not written");
  if (!child.started) return plan(Bucket::start, "it was requested and never started");
  if (child.own_worktree && !child.worktree_there) {
    return plan(Bucket::attach, "it is dead, and its work tree is gone: it can only be ended");
  }
  if (child.allowed > 0 && child.spent >= child.allowed) {
    return plan(Bucket::attach, "it is dead, and its budget is spent: it is held");
  }
  return plan(Bucket::resume,
              child.of_this_boot ? "it is dead, and so is its keeper" : "it died with the machine");
}

}  // namespace

ChildPlan plan_for(const ChildFacts& child) {
  if (child.settled) return plan(Bucket::settled, "it was settled before");
  if (!child.unreadable.empty()) return plan(Bucket::unknown, child.unreadable);
  if (!child.folder || !child.agent_file) return nothing_known(child);
  switch (child.keeper) {
    case ChildKeeper::alive:
      if (child.end != ChildEnd::none) return plan(Bucket::wait, "its keeper is about to go");
      if (child.leaving) return plan(Bucket::wait, "it gave its parent up and is about to end");
      return plan(Bucket::adopt, "it is alive");
    case ChildKeeper::hung:
      return plan(Bucket::attach, "its keeper hangs");
    case ChildKeeper::none:
      break;
  }
  return child.end == ChildEnd::none ? without_keeper(child) : ended(child);
}

}  // namespace tend
