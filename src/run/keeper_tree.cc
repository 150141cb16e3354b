// The keeper in its tree: it cares for the children of its agent, watches the parent, and stays
// until all that was begun below it is settled. What an agent says of its own work is heard here.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "run/keeper.h"
#include "store/inbox.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLeavesMayTake = 150s;  // saving, three signals, and their bounds
constexpr Duration kLeavesMayTakeNow = 40s;
constexpr Duration kRegistryAgain = 50ms;
constexpr std::uint32_t kMostRegistryWaits = 1200;  // a minute: as long as a dispatch may take
constexpr Duration kUnknownAgain = 1s;
constexpr std::uint32_t kMostUnknownWaits = 3600;  // an hour
constexpr std::size_t kMostNews = 10;
constexpr std::size_t kLongestNews = 300;
constexpr std::string_view kTheWork = "work";  // the task that an agent's own work is to the judge

}  // namespace

void Keeper::begin_tree() {
  Children::Owner owner{.folder = *folder_,
                        .worktree = settings_.agent.worktree,
                        .program = settings_.program,
                        .say = [this](const std::string& text,
                                      bool needs_person) { event("note", text, "", needs_person); },
                        .changed =
                            [this] {
                              tree_due_ = {};
                              look_soon();
                            }};
  children_ = std::make_unique<Children>(machine_, std::move(owner));
  if (!settings_.program.program.empty()) {
    patrol_ = std::make_unique<PatrolLookout>(machine_, settings_.program, settings_.agent.beat,
                                              [this](const std::string& text, bool needs_person) {
                                                event("note", text, "", needs_person);
                                              });
  }
  if (settings_.agent.parent_heartbeat.empty()) return;
  parent_ = std::make_unique<ParentWatch>(machine_, settings_.agent.parent_heartbeat,
                                          settings_.program, [this] {
                                            tree_due_ = {};
                                            look_soon();
                                          });
}

void Keeper::look_at_tree(Instant now) {
  const bool is_due = now >= tree_due_;
  if (is_due) tree_due_ = now + settings_.agent.beat;
  // Nobody is given up for a parent that came back a moment ago.
  if (is_due || (parent_ && parent_->is_gone())) look_at_parent();
  if (is_due && patrol_ && !shutting_down_) patrol_->look(*home_);
  pass_on_order();
  // After a restart of the machine the lead comes before those below it.
  const bool lead_first = goes_on_ && !staying_ && !stopping_ && !wants_pause();
  children_->look(batch_, {.begin = !shutting_down_ && !lead_first, .all = is_due});
  const std::uint32_t unsettled = children_->unsettled();
  if (pulse_->says().children != unsettled) pulse_->change().children = unsettled;
  look_at_outcome(is_due);
  note_asking();
  go_on_stopping(now);
}

/// Who waits for its own parent is no excuse for that one to wait.
void Keeper::note_asking() {
  for (const Signal& signal : batch_.signals) {
    if (signal.is == Kind::tool_open && signal.tool == kWaitForParent) {
      asking_.emplace_back(signal.id);
    } else if (signal.is == Kind::tool_close) {
      std::erase(asking_, signal.id);
    }
  }
  if (!process_) asking_.clear();
  if (pulse_->says().asks_parent == !asking_.empty()) return;
  pulse_->change().asks_parent = !asking_.empty();
  parent_waits_ = true;
}

// --- The parent ---------------------------------------------------------------------------------

/// Once it has given its parent up, nobody may adopt it: it ends, and is then begun again.
void Keeper::look_at_parent() {
  if (!parent_ || shutting_down_) return;  // who goes with the machine brings nobody back
  const auto news = parent_->look(recorder_->judge().parent());
  if (staying_ && staying_->outcome == WorkOutcome::orphaned && parent_->is_kept()) {
    stop_staying();
    pulse_->change().leaving = false;
    go_on_later("its parent is back");
    return;
  }
  if (!news || pulse_->says().leaving || stage_ >= Stage::leaving) return;
  // A life that is over loses no parent any more; the next one is told. But one that came back
  // meanwhile makes it no orphan.
  if (!process_ && (*news == ParentState::dead || begins_by_order_)) return;
  batch_.signals.push_back({.is = Kind::parent, .parent = *news});
  event("note",
        *news == ParentState::dead ? "its parent is gone, keeper and agent"
                                   : "its parent is back and keeps it",
        "", false);
}

/// Its next life begins without anybody having decided on it: it did not end by itself.
void Keeper::go_on_later(const std::string& why) {
  begins_by_order_ = true;
  goes_on_ = true;
  begin_outage();
  event("note", "it goes on: " + why, "", false);
}

bool Keeper::write_run_intent() {
  const Intent intent{
      .want = Want::run, .by = "recovery", .at = calendar_seconds(machine_.clock.wall())};
  return write_intent(*folder_, intent).has_value();
}

/// An end that was no end of its own work is taken back. False if there is no such end.
bool Keeper::reopen(Heartbeat& says) {
  const ChildEnd end = child_end_of(says);
  if (!settings_.again || (end != ChildEnd::orphaned && end != ChildEnd::shutdown)) return false;
  if (!is_wanted(*folder_)) return false;  // somebody stopped it since
  if (!write_run_intent()) return false;
  says.status = Status::starting;
  says.outcome = WorkOutcome::none;
  says.ended_by.clear();
  says.leaving = false;
  reopened_ = true;
  return true;
}

/// The machine that it was to end with is back: that order is fulfilled, and it goes on.
void Keeper::forget_shutdown() {
  const std::string& before = record_.keeper.boot_id;
  if (before.empty() || before == machine_.processes.self().boot_id) return;
  const auto intent = read_intent(*folder_);
  if (!intent || !*intent || (*intent)->want != Want::stop || (*intent)->by != kShutdownWords) {
    return;
  }
  reopened_ = write_run_intent();
}

// --- Stopping a tree ----------------------------------------------------------------------------

/// Leaves first: what is below ends before its lead does.
bool Keeper::stops_below_first(const Intent& intent) {
  if (!intent.tree) return false;
  children_->refresh();
  if (children_->unsettled() == 0) return false;
  const Duration may_take = intent.now ? kLeavesMayTakeNow : kLeavesMayTake;
  if (!stop_below_) event("note", "what is below it is stopped first", "", false);
  stop_below_ = StopBelow{.intent = intent, .until = machine_.clock.now() + may_take};
  begin_at_.reset();
  return true;
}

/// Before anybody is begun: who was requested in the last moment finds the order and never runs.
void Keeper::pass_on_order() {
  if (!intent_ || !intent_->tree) return;
  if (intent_->want == Want::stop || intent_->want == Want::drain) children_->pass_on(*intent_);
}

void Keeper::go_on_stopping(Instant now) {
  if (stopping_ && process_ && !acting_ && kill_after_ && now >= *kill_after_) {
    kill_after_.reset();
    save_and_end(false, false);
  }
  if (!stop_below_) return;
  const bool is_late = now >= stop_below_->until;
  if (!children_->all_over() && !is_late) return;
  if (is_late) event("note", "not everything below it ended in time", "", true);
  const Intent intent = std::exchange(stop_below_, std::nullopt)->intent;
  stop_now(intent);
}

// --- Staying ------------------------------------------------------------------------------------

/// Its own work is over; that of its children is not.
bool Keeper::stays_for_children(WorkOutcome outcome, const std::string& ended_by) {
  const std::uint32_t left = shutting_down_ ? 0 : children_->unsettled();
  if (left == 0) {
    stop_staying();
    return false;
  }
  if (!staying_) {
    event("note",
          left == 1 ? "its own work is over; it stays for a child"
                    : fmt::format("its own work is over; it stays for {} children", left),
          "", false);
  }
  staying_ = Staying{outcome, ended_by};
  // How its own work ended is told at once; that the agent is over is not.
  pulse_->change().outcome = outcome;
  pulse_->change().ended_by = ended_by;
  pulse_->change().stays = true;
  return true;
}

void Keeper::stop_staying() {
  staying_.reset();
  if (pulse_->says().stays) pulse_->change().stays = false;
}

/// Who would stay for its children cannot while the machine goes down: it comes back for them.
bool Keeper::stays_when_it_is_back() {
  if (!shutting_down_ || outcome_ == WorkOutcome::stopped || children_->unsettled() == 0)
    return false;
  pulse_->change().stays = true;
  outcome_ = WorkOutcome::stopped;
  ended_by_ = kShutdownWords;
  return true;
}

/// Nobody may be registered between the last look at the children and the last word: who comes
/// later sees that it is over. nullopt: not yet.
std::optional<std::unique_ptr<File>> Keeper::close_registry() {
  if (only_watches() || record_.life == 0 || shutting_down_) return nullptr;
  auto lock = lock_registry(*folder_);
  children_->refresh();
  const bool is_unknown = !children_->problem().empty();
  const bool is_open = (lock && *lock == nullptr) || is_unknown;
  // Nobody comes to a good end before children that are only not to be read for a while.
  const bool is_patient = is_unknown && outcome_ == WorkOutcome::done;
  const std::uint32_t most = is_patient ? kMostUnknownWaits : kMostRegistryWaits;
  if (is_open && ++registry_waits_ < most) {
    const Duration again = is_patient ? kUnknownAgain : kRegistryAgain;
    end_again_ = machine_.loop.at(machine_.clock.now() + again, [this] { write_end(); });
    return std::nullopt;
  }
  if (children_->unsettled() == 0) return lock ? *std::move(lock) : nullptr;
  stage_ = Stage::between;
  std::ignore = stays_for_children(outcome_, ended_by_);
  look_now();
  return std::nullopt;
}

/// A life is over: what children brought to an end meanwhile is brought home while nobody works
/// there.
void Keeper::bring_children_home() {
  if (only_watches() || shutting_down_) return;
  children_->forget_tries();
  if (!children_->has_work_abroad() || acting_) return;
  acting_ = true;
  children_->bring_home([this] {
    acting_ = false;
    look_now();
  });
}

/// The last things of a good end: its branch gets everything, then what its children did.
void Keeper::settle_work() {
  if (outcome_ != WorkOutcome::done || only_watches()) return write_end();
  if (!settings_.agent.own_worktree) return settle_children_work();
  CommitOrder order;
  order.worktree = settings_.agent.worktree;
  order.message = fmt::format("Work of {}\n\nEverything that was not committed when it ended.",
                              on_one_line(settings_.agent.agent));
  order.exclude = excluded();
  commit_ = machine_.version_control.commit(order, [this](Result<Committed> committed) {
    const Subscribed done = std::move(commit_);
    const std::string why = !committed                    ? committed.error().text
                            : !committed->refused.empty() ? committed->refused
                                                          : "";
    if (!why.empty()) return keep_uncommitted(why);
    if (!committed->commit.empty()) {
      event("note", "what was left is committed: " + committed->commit.substr(0, 7), "", false);
    }
    settle_children_work();
  });
}

/// What cannot be committed is saved beside the branch.
void Keeper::keep_uncommitted(const std::string& why) {
  preserve("not committed: " + why, [this, why](const Result<Preserved>& saved) {
    event("note",
          fmt::format("its branch does not have everything: {}; {}", why,
                      saved ? saved->what : "not saved: " + saved.error().text),
          "", true);
    settle_children_work();
  });
}

void Keeper::settle_children_work() {
  children_->forget_tries();
  if (!children_->has_work_abroad()) return write_end();
  children_->bring_home([this] { write_end(); });
}

// --- What it says of its work -------------------------------------------------------------------

void Keeper::look_at_outcome(bool is_due) {
  const auto file = folder_->facts(std::string(kOutcomeFile));
  const std::uint64_t now = file && *file ? (*file)->file : 0;
  if (std::exchange(outcome_file_, now) == now && !is_due) return;
  const bool is_missing = file && !*file;
  const auto read = is_missing ? read_foreign_state(*folder_) : read_any_outcome(*folder_);
  if (!read || !*read) return;
  const OutcomeFile& said = **read;
  Heartbeat& says = pulse_->change();
  if (said.phase != says.work_phase) {
    // The first word is no advance.
    if (!says.work_phase.empty()) {
      Signal advance{.is = Kind::task, .event = TaskEvent::advance};
      advance.task = kTheWork;
      batch_.signals.push_back(advance);
    }
    says.work_phase = said.phase;
  }
  const bool of_this_life = said.life == 0 || said.life == record_.life;
  if (!of_this_life || said.outcome == own_word_) return;
  own_word_ = said.outcome;
  if (own_word_ == WorkOutcome::none) {  // it goes on after all
    batch_.signals.push_back({.is = Kind::status, .status = Status::running});
    return;
  }
  if (!said.note.empty()) says.note = said.note;
  batch_.signals.push_back(
      {.is = Kind::status,
       .status = said.outcome == WorkOutcome::done ? Status::completed : Status::withdrawn});
  event("note",
        fmt::format("it says of its work: {}{}",
                    kWorkOutcomeWords[static_cast<std::size_t>(said.outcome)],
                    said.note.empty() ? "" : ", " + on_one_line(said.note)),
        "", said.outcome == WorkOutcome::escalated);
}

/// What happened to its children while it was away, short enough for a prompt.
std::string Keeper::news() {
  const auto inbox = read_inbox(*folder_);
  if (!inbox || inbox->unread() == 0) return "";
  std::string text = "News for you (`tend inbox` has all of it):";
  std::size_t left = kMostNews;
  for (const InboxMessage& message : inbox->messages) {
    if (message.id <= inbox->read_to) continue;
    if (left-- == 0) return text + "\n- and more";
    text += "\n- " + on_one_line(cut_text(message.text, kLongestNews));
  }
  return text;
}

}  // namespace tend
