// The registry says who there is, each child's own folder what became of it. Everything that is
// written here is written by the one who holds the parent's lock.
#include "run/children.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "base/quote.h"
#include "run/family.h"
#include "store/inbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTellAgain = 300s;      // the judge forgets a child's word after 900 s
constexpr std::size_t kMostTold = 200;     // it cannot remember more than 256
constexpr std::size_t kMostHeld = 100;     // processes of keepers whose end is waited for
constexpr std::uint32_t kBegunAtOnce = 4;  // the others a moment later: a reboot is a stampede
constexpr Duration kNextToBegin = 250ms;
constexpr std::size_t kManySettled = 64;  // lines that are worth a compaction
constexpr std::string_view kMerging = "merging ";
constexpr std::string_view kChildDone = "child-done";
constexpr std::string_view kChildGone = "child-gone";

bool is_over(const Heartbeat& says) { return is_terminal(says.status); }

}  // namespace

Children::Children(Machine& machine, Owner owner) : machine_(machine), owner_(std::move(owner)) {
  end_unregistered();
  read_registry();
}

Children::~Children() = default;

std::string Children::name_of(const Child& child) {
  if (!child.line.agent.empty()) return child.line.agent;
  return child.name;
}

// --- Who there is -------------------------------------------------------------------------------

void Children::read_registry() {
  problem_.clear();
  const auto facts = owner_.folder.facts(std::string(kChildrenFile));
  if (!facts) problem_ = facts.error().text;
  if (!facts || !*facts) return;
  if ((*facts)->file == registry_file_ && (*facts)->size == registry_size_) return;
  const auto read = read_children(owner_.folder);
  if (!read) {
    problem_ = read.error().text;
    return;
  }
  registry_file_ = (*facts)->file;
  registry_size_ = (*facts)->size;
  for (const ChildLine& line : read->children) {
    auto& child = by_heartbeat_[line.heartbeat];
    if (child == nullptr) {
      child = children_.emplace_back(std::make_unique<Child>()).get();
      child->folder = folder_of_heartbeat(line.heartbeat);
      const std::size_t slash = child->folder.rfind('/');
      if (slash != std::string::npos) child->team = child->folder.substr(0, slash);
      child->open_team = &teams_[child->team];
      child->name = child->folder.substr(slash + 1);
    }
    child->line = line;
  }
  // Once, before anything new is taken on, and only while nobody registers a child.
  if (std::exchange(compacted_, true) || read->lines < read->children.size() + kManySettled) return;
  const auto lock = lock_registry(owner_.folder);
  if (!lock || *lock == nullptr) return;
  const auto again = read_children(owner_.folder);
  if (again) std::ignore = compact_children(owner_.folder, again->children);
}

void Children::end_unregistered() {
  const auto lock = lock_registry(owner_.folder);
  if (lock && *lock != nullptr) tend::end_unregistered(owner_.folder);  // else one is under way
}

/// Children of ours are two folders below; whoever is elsewhere is opened by its whole path.
std::unique_ptr<Folder> Children::open(const Child& child, std::string& problem) {
  if (child.team.empty()) return nullptr;
  auto& folder = *child.open_team;
  if (!folder) {
    auto opened = machine_.folders.open(child.team);
    if (!opened) {
      // Nothing there is an answer; anything else is no knowledge.
      if (machine_.folders.real_path(child.team)) problem = opened.error().text;
      return nullptr;
    }
    folder = *std::move(opened);
  }
  auto opened = folder->folder(child.name);
  if (opened) return *std::move(opened);
  problem = opened.error().text;
  return nullptr;
}

std::unique_ptr<Folder> Children::open(const Child& child) {
  std::string problem;
  return open(child, problem);
}

std::uint32_t Children::unsettled() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(children_, [](const auto& child) { return !is_closed(child->line); }));
}

bool Children::all_over() const {
  return std::ranges::all_of(children_, [](const auto& child) {
    if (is_settled(child->line.status)) return true;
    return is_over(child->seen.says) && child->keeper == ChildKeeper::none;
  });
}

// --- Looking ------------------------------------------------------------------------------------

void Children::look(SignalBatch& batch, const Care& care) {
  read_registry();
  next_.reset();
  tell_of_settled();
  for (const auto& child : children_) {
    if (!is_settled(child->line.status)) look_at(*child, care);
    tell_judge(*child, batch);
  }
}

void Children::look_at(Child& child, const Care& care) {
  std::string problem;
  const auto folder = open(child, problem);
  const bool was_over = is_over(child.seen.says);
  if (folder &&
      (care.all || child.keeper_changed || child.keeper != ChildKeeper::alive || was_over)) {
    look_at_keeper(child, *folder);
  }
  ChildFacts facts = facts_of(machine_, folder.get(), child.keeper, child.seen);
  if (!was_over && facts.end != ChildEnd::none && folder) {  // it may have gone with that word
    look_at_keeper(child, *folder);
    facts.keeper = child.keeper;
    facts = facts_of(machine_, folder.get(), child.keeper, child.seen);
  }
  facts.just_asked = folder && child.keeper_changed;
  if (!problem.empty()) facts.unreadable = problem;
  carry_out(child, plan_for(facts), care);
  tell_if_held(child);
}

/// It ended the same way too often. Its lead decides: nobody else may be there to.
void Children::tell_if_held(Child& child) {
  const Heartbeat& says = child.seen.says;
  const bool is_held = child.keeper == ChildKeeper::alive && says.verdict == Verdict::looping;
  if (!std::exchange(child.is_held, is_held) && is_held) {
    tell_lead(child, "child-held",
              fmt::format("{0} is held: {1}. `tend unpause {0}` lets it try again, `tend stop {0}` "
                          "gives it up",
                          name_of(child),
                          says.because.empty() ? "it ended the same way too often"
                                               : on_one_line(says.because.front())));
  }
}

void Children::look_at_keeper(Child& child, Folder& folder) {
  if (!child.watch) child.watch = std::make_unique<KeeperWatch>(machine_);
  child.keeper_changed = false;
  const bool is_held = children_.size() <= kMostHeld;
  const auto on_end = [this, &child] {
    child.keeper_changed = true;
    owner_.changed();
  };
  const auto found = child.watch->look(folder, is_held ? Callback(on_end) : nullptr);
  child.is_begun = found == KeeperWatch::Found::starting;
  switch (found) {
    case KeeperWatch::Found::kept:
      child.keeper = ChildKeeper::alive;
      return;
    case KeeperWatch::Found::starting:
      child.keeper_changed = true;
      next_ = machine_.clock.now() + kNextToBegin;
      [[fallthrough]];
    case KeeperWatch::Found::dead:
      child.keeper = ChildKeeper::none;
      return;
    case KeeperWatch::Found::hangs:
      owner_.say(fmt::format("the keeper of {} hung: it is ended and replaced", name_of(child)),
                 false);
      child.keeper = ChildKeeper::hung;
      return;
    case KeeperWatch::Found::not_known:
      return;
  }
}

/// What its word is worth; each word once, and again before it is forgotten.
void Children::tell_judge(Child& child, SignalBatch& batch) {
  const Verdict verdict = child.line.status == ChildStatus::requested && !child.seen.agent
                              ? Verdict::starting
                              : child_verdict_of(child.seen.says, child.keeper);
  const Instant now = machine_.clock.now();
  const bool is_settled_now = is_settled(child.line.status);
  if (!child.told && (is_settled_now || told_ >= kMostTold)) return;
  const bool is_due = !is_settled_now && now - child.told_at >= kTellAgain;
  const bool asks = child.seen.says.asks_parent && child.keeper == ChildKeeper::alive;
  if (child.told == verdict && child.told_asking == asks && !is_due) return;
  if (!child.told) ++told_;
  child.told = verdict;
  child.told_asking = asks;
  child.told_at = now;
  Signal signal{.is = Kind::child};
  signal.child = batch.texts.copy(name_of(child));
  signal.verdict = verdict;
  signal.for_parent = asks;
  batch.signals.push_back(signal);
}

void Children::retell() {
  told_ = 0;
  for (const auto& child : children_) child->told.reset();
}

// --- Doing what is due --------------------------------------------------------------------------

void Children::carry_out(Child& child, const ChildPlan& plan, const Care& care) {
  switch (plan.bucket) {
    case Bucket::adopt:
      if (child.line.status == ChildStatus::requested) settle(child, ChildStatus::active, "");
      return;
    case Bucket::attach:
    case Bucket::start:
    case Bucket::resume:
      if (care.begin && !child.is_begun) begin(child, is_over(child.seen.says));
      return;
    case Bucket::settled:
      return end(child, ChildStatus::done, plan.why, end_words(child));
    case Bucket::merge:
      return end(child, ChildStatus::unmerged, plan.why, unmerged_words(child));
    case Bucket::tell:
      return end(
          child, ChildStatus::gone, plan.why,
          fmt::format("{}: {}. See `tend logs {}`", end_words(child), plan.why, name_of(child)));
    case Bucket::drop:
      return end(child, ChildStatus::gone, plan.why,
                 fmt::format("{}: {}", name_of(child), plan.why));
    case Bucket::unknown:
      return say_once(child, fmt::format("{} is left alone: {}", name_of(child), plan.why));
    case Bucket::wait:
      if (is_over(child.seen.says)) {
        child.keeper_changed = true;
        next_ = machine_.clock.now() + kNextToBegin;
      }
      return;
  }
}

void Children::say_once(Child& child, const std::string& text) {
  if (std::exchange(child.said, text) != text) owner_.say(text, true);
}

/// With the environment of whoever asked for it, as long as that can be had: values are never
/// written down.
KeeperProgram Children::program_for(const Child& child) {
  KeeperProgram program = owner_.program;
  if (!child.seen.agent || !child.seen.agent->dispatched_by) return program;
  auto asked = machine_.processes.environment_of(*child.seen.agent->dispatched_by);
  if (asked) program.environment = keeper_environment(*asked);
  return program;
}

void Children::begin(Child& child, bool again) {
  const Instant now = machine_.clock.now();
  if (now - begun_at_ >= kNextToBegin) begun_ = 0;
  if (begun_ >= kBegunAtOnce) {
    next_ = begun_at_ + kNextToBegin;
    return;
  }
  if (begun_++ == 0) begun_at_ = now;
  child.end_told = false;
  const auto begun = child.watch->replace(program_for(child), child.folder, {.again = again});
  child.keeper_changed = true;
  if (!begun) return say_once(child, begun.error().text);
  if (*begun) {
    next_ = now + kNextToBegin;
    if (child.seen.says.life > 0) {
      owner_.say(fmt::format("{} gets a new keeper", name_of(child)), false);
    }
    return;
  }
  say_once(child, fmt::format("{} keepers of {} died within 10 minutes: it gets no new one for a "
                              "while; see {}/keeper.log",
                              KeeperWatch::kMostReplaced, name_of(child), child.folder));
}

void Children::settle(Child& child, ChildStatus status, const std::string& note) {
  ChildLine line = child.line;
  line.status = status;
  line.note = note;
  line.untold = line.untold && !child.end_told;
  line.at = calendar_seconds(machine_.clock.wall());
  if (auto written = append_child(owner_.folder, line); !written) {
    return say_once(child, written.error().text);  // the next look tries again
  }
  child.line = std::move(line);
}

/// Told first: what is settled is never looked at again. The same told twice is heard once.
void Children::end(Child& child, ChildStatus status, const std::string& why,
                   const std::string& text) {
  const std::string kind(status == ChildStatus::gone ? kChildGone : kChildDone);
  if (!child.end_told && !tell_lead(child, kind, text)) return;  // the next look tries again
  child.end_told = true;
  settle(child, status, why);
}

/// Whom `tend merge` settled: its lead hears of that end as of any other. Under the lock, as what a
/// merge has announced meanwhile must not be written over.
void Children::tell_of_settled() {
  const auto is_untold = [](const auto& child) {
    return is_settled(child->line.status) && child->line.untold;
  };
  if (std::ranges::none_of(children_, is_untold)) return;
  const auto lock = lock_registry(owner_.folder);
  if (lock && *lock == nullptr) next_ = machine_.clock.now() + kNextToBegin;
  if (!lock || *lock == nullptr) return;
  read_registry();
  for (const auto& child : children_) {
    if (is_untold(child)) tell_of_settled(*child);
  }
}

void Children::tell_of_settled(Child& child) {
  std::string problem;
  const auto folder = open(child, problem);
  const ChildFacts facts = facts_of(machine_, folder.get(), child.keeper, child.seen);
  if (problem.empty()) problem = facts.unreadable;
  if (!problem.empty()) {
    return say_once(child,
                    fmt::format("the end of {} is not told yet: {}", name_of(child), problem));
  }
  child.end_told = child.end_told || is_told(child);
  const bool is_home = child.line.status == ChildStatus::done || !child.seen.agent;
  end(child, child.line.status, child.line.note,
      is_home ? end_words(child) : unmerged_words(child));
}

/// By a keeper before this one, that died before it could settle it.
bool Children::is_told(const Child& child) {
  const auto inbox = read_inbox(owner_.folder);
  return inbox && std::ranges::any_of(inbox->messages, [&](const InboxMessage& message) {
           return message.folder == child.folder && message.life == child.seen.says.life &&
                  (message.kind == kChildDone || message.kind == kChildGone);
         });
}

/// What its lead should know: in the file that it reads, and for people who follow.
bool Children::tell_lead(Child& child, const std::string& kind, const std::string& text) {
  InboxMessage message;
  message.at = calendar_seconds(machine_.clock.wall());
  message.kind = kind;
  message.from = name_of(child);
  message.text = text;
  message.folder = child.folder;
  message.life = child.seen.says.life;
  if (auto told = append_message(owner_.folder, message); !told) {
    say_once(child, told.error().text);
    return false;
  }
  const WorkOutcome outcome = child.seen.says.outcome;
  owner_.say(text, outcome == WorkOutcome::failed || outcome == WorkOutcome::escalated);
  return true;
}

std::string Children::end_words(const Child& child) {
  const Heartbeat& says = child.seen.says;
  std::string words = name_of(child);
  if (!child.line.team.empty() && child.line.team != words) words += " (" + child.line.team + ")";
  // Who was merged had ended well, whatever became of its last word.
  words +=
      says.outcome == WorkOutcome::done || child.line.untold
          ? " finished"
          : fmt::format(" ended, {}", kWorkOutcomeWords[static_cast<std::size_t>(says.outcome)]);
  if (!says.note.empty()) words += ": " + on_one_line(says.note);
  return words;
}

std::string Children::unmerged_words(const Child& child) {
  return fmt::format("{}. Its work is in {}; `tend merge {}` brings it here", end_words(child),
                     child.seen.agent->worktree, name_of(child));
}

void Children::pass_on(const Intent& intent) {
  read_registry();
  for (const auto& child : children_) {
    if (is_settled(child->line.status) || is_over(child->seen.says)) continue;
    const auto folder = open(*child);
    if (!folder) continue;
    const auto before = read_intent(*folder);
    const bool knows_it = before && *before && (*before)->want == intent.want &&
                          (*before)->now >= intent.now && (*before)->tree >= intent.tree;
    if (knows_it) continue;
    if (auto written = write_intent(*folder, intent); !written) {
      owner_.say(written.error().text, true);
      continue;
    }
    poke_keeper(machine_, *folder);
  }
}

// --- Bringing work home -------------------------------------------------------------------------

bool Children::has_work_abroad() const {
  return !owner_.worktree.empty() && std::ranges::any_of(children_, [](const auto& child) {
    return child->line.status == ChildStatus::unmerged && !child->tried;
  });
}

void Children::forget_tries() {
  for (const auto& child : children_) child->tried = false;
}

void Children::bring_home(Callback done) {
  brought_ = std::move(done);
  bring_next();
}

void Children::bring_next() {
  bringing_.reset();
  read_registry();  // somebody may have announced a merge since the last look, and died in it
  const auto next = std::ranges::find_if(children_, [](const auto& child) {
    return child->line.status == ChildStatus::unmerged && !child->tried;
  });
  if (next == children_.end()) {
    const auto done = std::exchange(brought_, nullptr);
    if (done) done();
    return;
  }
  Child& child = **next;
  child.tried = true;
  if (const std::string why = why_not_known(child); !why.empty()) {
    return take_home(child, fail(why));
  }
  BringHomeOrder order;
  order.child = name_of(child);
  order.into = owner_.worktree;
  order.from = child.seen.agent->worktree;
  if (child.line.note.starts_with(kMerging))
    order.announced = child.line.note.substr(kMerging.size());
  bringing_ = std::make_unique<BringHome>(
      machine_, std::move(order),
      [this, &child](const std::string& commit) -> Result<void> {
        ChildLine line = child.line;
        line.note = std::string(kMerging) + commit;
        auto written = append_child(owner_.folder, line);
        if (written) child.line = std::move(line);
        return written;
      },
      [this, &child](const Result<BroughtHome>& brought) { take_home(child, brought); });
}

/// One that was settled before this keeper came was never looked at. Where its work is only its own
/// file says: while that cannot be read nobody knows that there is none.
std::string Children::why_not_known(Child& child) {
  if (child.seen.agent) return "";
  std::string problem;
  const auto folder = open(child, problem);
  const auto facts = facts_of(machine_, folder.get(), ChildKeeper::none, child.seen);
  if (child.seen.agent) return "";
  if (problem.empty()) problem = facts.unreadable;
  return problem.empty() ? "its folder is gone: merge its branch by hand" : problem;
}

void Children::take_home(Child& child, const Result<BroughtHome>& brought) {
  const std::string how = brought ? brought->how : brought.error().text;
  if (brought && brought->home) {
    settle(child, ChildStatus::done, how);
    tell_lead(child, "child-merged", fmt::format("{}: {}", name_of(child), how));
  } else {
    // After an error nobody knows how far it came: what was announced stays so.
    settle(child, ChildStatus::unmerged, brought ? how : child.line.note);
    tell_lead(child, "child-unmerged",
              fmt::format("the work of {} is not merged: {}. `tend merge {}` tries again",
                          name_of(child), how, name_of(child)));
  }
  bring_next();
}

}  // namespace tend
