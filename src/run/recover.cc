// Parents come before their children, so whoever is looked at knows whether somebody above will
// act.
#include "run/recover.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "run/child_look.h"
#include "run/moment.h"
#include "store/children.h"

namespace tend {
namespace {

constexpr const char* kRecoveryLock = ".recover";
constexpr const char* kWorktreesFolder = "worktrees";
constexpr const char* kRecover = "recover";
constexpr std::size_t kMostWorktrees = 10'000;
constexpr Duration kApart = std::chrono::milliseconds{250};

bool wants_keeper(Bucket bucket) {
  return bucket == Bucket::attach || bucket == Bucket::resume || bucket == Bucket::start;
}

/// What the registry of a parent says of a child.
class Registries {
 public:
  explicit Registries(Machine& machine) : machine_(machine) {}

  /// nullptr if it says nothing.
  const ChildLine* line_of(const std::string& parent_folder, const std::string& heartbeat) {
    auto [found, is_new] = read_.try_emplace(parent_folder);
    if (is_new) {
      const auto folder = machine_.folders.open(parent_folder);
      const auto children = folder ? read_children(**folder) : std::unexpected(folder.error());
      if (children) {
        for (const ChildLine& line : children->children) found->second[line.heartbeat] = line;
      }
    }
    const auto line = found->second.find(heartbeat);
    return line == found->second.end() ? nullptr : &line->second;
  }

 private:
  Machine& machine_;
  std::map<std::string, std::map<std::string, ChildLine>> read_;
};

/// Of each agent that was looked at: whether there is, or will be, a keeper to care for its
/// children.
using Cared = std::map<std::string, std::string>;  // folder to name

ChildKeeper keeper_of(Machine& machine, Folder& folder) {
  return has_keeper(machine, folder) ? ChildKeeper::alive : ChildKeeper::none;
}

/// Nobody above it will do anything, or knows of it (a power cut took the line of its registry):
/// what is over stays so, what lives is not left alone.
ChildPlan plan_without_parent(const ChildPlan& plan, bool is_over) {
  if (!is_over) return plan;
  return {Bucket::settled, "it is over, and nobody above it waits for it"};
}

/// The first of a tree: there is nobody to merge it into, or to tell of it.
void plan_root(ChildFacts facts, Recovery& found) {
  facts.own_worktree = false;
  const ChildPlan plan = plan_for(facts);
  found.bucket = plan.bucket == Bucket::tell ? Bucket::settled : plan.bucket;
  found.why = plan.why;
  if (wants_keeper(found.bucket)) found.by = kRecover;
}

/// `cares` is the name of the parent, if there is or will be a keeper of it.
void plan_child(ChildFacts facts, const ChildLine* line, const std::string* cares,
                Recovery& found) {
  facts.settled = line != nullptr && is_settled(line->status);
  ChildPlan plan = plan_for(facts);
  const bool never_began = !facts.heartbeat || (found.is_over && !facts.started);
  if (line == nullptr && never_began) {
    plan = {Bucket::settled, "its dispatch was cut off before it was registered"};
  } else if (line != nullptr && line->status == ChildStatus::unmerged) {
    plan = {Bucket::merge, line->note};
  } else if (cares != nullptr && line != nullptr) {
    const bool is_due = wants_keeper(plan.bucket) || plan.bucket == Bucket::merge ||
                        plan.bucket == Bucket::tell || plan.bucket == Bucket::drop ||
                        (plan.bucket == Bucket::settled && !facts.settled);
    if (is_due) found.by = *cares;
  } else {
    plan = plan_without_parent(plan, found.is_over);
    if (wants_keeper(plan.bucket)) found.by = kRecover;
  }
  found.bucket = plan.bucket;
  found.why = std::move(plan.why);
}

Recovery look_at(Machine& machine, KnownAgent& known, Registries& registries, Cared& cared) {
  Recovery found;
  found.agent = known.heartbeat.agent;
  found.folder = known.folder ? known.folder->path() : "";
  ChildSeen seen;
  ChildFacts facts =
      facts_of(machine, known.folder.get(),
               known.folder ? keeper_of(machine, *known.folder) : ChildKeeper::none, seen);
  if (!known.folder) facts.unreadable = known.problem;
  if (seen.agent) found.agent = seen.agent->agent;
  found.is_over = facts.end != ChildEnd::none;
  const std::string parent = seen.agent ? folder_of_heartbeat(seen.agent->parent_heartbeat) : "";
  if (parent.empty()) {
    plan_root(facts, found);
  } else {
    const auto cares = cared.find(parent);
    plan_child(facts, registries.line_of(parent, found.folder + "/" + std::string(kHeartbeatFile)),
               cares == cared.end() ? nullptr : &cares->second, found);
  }
  if (facts.keeper == ChildKeeper::alive || wants_keeper(found.bucket)) {
    cared[found.folder] = found.agent;
  }
  return found;
}

std::vector<std::string> lost_worktrees(Folder& home, const std::set<std::string>& owned) {
  std::vector<std::string> lost;
  const auto trees = home.folder(kWorktreesFolder);
  if (!trees || !*trees) return lost;
  const auto names = (*trees)->folders(kMostWorktrees);
  if (!names) return lost;
  for (const std::string& name : *names) {
    const std::string path = (*trees)->path() + "/" + name;
    if (!owned.contains(path)) lost.push_back(path);
  }
  return lost;
}

}  // namespace

Result<RecoveryScan> scan_home(Machine& machine, Folder& home) {
  auto agents = agents_of(home);
  if (!agents) return std::unexpected(agents.error());
  RecoveryScan scan;
  Registries registries(machine);
  Cared cared;
  std::set<std::string> owned;
  bool knows_all = true;  // a work tree of one that cannot be read is somebody's
  for (KnownAgent& known : *agents) {
    scan.agents.push_back(look_at(machine, known, registries, cared));
    const auto agent =
        known.folder ? read_agent_file(*known.folder) : Result<AgentFile>(fail(known.problem));
    if (agent) owned.insert(agent->worktree);
    knows_all = knows_all && agent.has_value();
  }
  if (knows_all) scan.lost_worktrees = lost_worktrees(home, owned);
  return scan;
}

Result<std::unique_ptr<File>> lock_recovery(Folder& home) {
  auto file = home.open(kRecoveryLock, Folder::Open::update);
  if (!file) return file;
  const auto locked = (*file)->lock();
  if (!locked) return std::unexpected(locked.error());
  if (!*locked) return nullptr;
  return file;
}

Result<void> begin_roots(Machine& machine, const RecoveryScan& scan, const KeeperProgram& program,
                         const std::function<void(const Recovery&)>& did) {
  for (const Recovery& one : scan.agents) {
    if (one.by != kRecover) continue;
    auto started = start_keeper(machine, program, one.folder, {.again = one.is_over});
    if (!started) return started;
    did(one);
    let_pass(machine, kApart);
  }
  return {};
}

}  // namespace tend
