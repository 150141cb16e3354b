// Each agent is looked at alone, then those that share a name or a tree are told apart.
#include "run/roster.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "run/account_of.h"
#include "store/agent_file.h"
#include "store/children.h"
#include "store/home_database.h"
#include "store/journal.h"
#include "store/life_record.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMayBeginLater = 10s;  // a keeper that was just asked for
constexpr Duration kPulseMayLag = 120s;   // beyond two of its beats
constexpr Duration kComesBackWithin = 120s;
constexpr Duration kReadersWait = 1s;  // for somebody who writes tasks
constexpr Duration kEndMatters = 24h;
// Journals are read for what is true now. With more to read than this, the heartbeats must do: a
// look at 1,000 agents is to stay below 150 ms of processor time.
constexpr std::size_t kFew = 64;
constexpr std::uint64_t kMostOfFew = std::uint64_t{64} * 1024 * 1024;
constexpr std::uint64_t kMostOfMany = std::uint64_t{8} * 1024 * 1024;

WallTime calendar_of(double seconds) {
  return WallTime{std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}};
}

Duration age_of(WallTime then, WallTime now) {
  return std::max(Duration{}, std::chrono::duration_cast<Duration>(now - then));
}

WallTime modified(Folder& folder, std::string_view name) {
  const auto facts = folder.facts(std::string(name));
  return facts && *facts ? (*facts)->modified : WallTime{};
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view word(WorkOutcome outcome) {
  return kWorkOutcomeWords[static_cast<std::size_t>(outcome)];
}

std::string exit_words(const Exit& exit) {
  switch (exit.how) {
    case Exit::How::code:
      return fmt::format("exit {}", exit.value);
    case Exit::How::signal:
      return fmt::format("signal {}", exit.value);
    case Exit::How::unknown:
      break;
  }
  return "";
}

class Observer {
 public:
  Observer(Machine& machine, Source source)
      : machine_(machine), source_(source), now_(machine.clock.wall()) {}

  /// The entry will stand at `place`. `folder` is the agent's; nullptr where there is a problem
  /// with it.
  void look(Entry& entry, std::size_t place, Folder* folder) {
    if (!entry.known.problem.empty() || folder == nullptr) return unreadable(entry);
    if (!entry.over()) look_at_keeper(entry, *folder);
    if (entry.over()) return ended(entry, *folder);
    switch (entry.keeper) {
      case KeeperIs::alive:
        kept_.push_back({place, size_of_journal(*folder)});
        break;
      case KeeperIs::hung:
        entry.state = "keeper hangs";
        entry.why = fmt::format("its keeper (process {}) has shown no pulse for {}",
                                entry.known.heartbeat.keeper.pid, format_duration(pulse_age_));
        entry.since = now_ - pulse_age_;
        break;
      case KeeperIs::gone:
        without_keeper(entry, *folder);
        break;
    }
  }

  /// Judges those that have a keeper: only when all were looked at is it known how much there is to
  /// read. The smallest journals first, so that most are read.
  void judge_kept(std::span<Entry> entries) {
    std::ranges::sort(kept_, {}, &WithKeeper::journal);
    std::uint64_t left = kept_.size() <= kFew ? kMostOfFew : kMostOfMany;
    for (const WithKeeper& one : kept_) {
      const bool reads = one.journal > 0 && one.journal <= left;
      if (reads) left -= one.journal;
      judge(entries[one.place], reads);
    }
  }

 private:
  struct WithKeeper {
    std::size_t place = 0;
    std::uint64_t journal = 0;  // its size
  };

  static void unreadable(Entry& entry) {
    entry.state = "unreadable";
    entry.why = entry.known.problem;
  }

  void look_at_keeper(Entry& entry, Folder& folder) {
    const auto lock = look_at_lock(folder);
    const bool there = lock && *lock;
    if (there && (*lock)->held) {
      entry.keeper = has_pulse(folder) ? KeeperIs::alive : KeeperIs::hung;
      return;
    }
    // It may have written the end and let go of the lock since the heartbeat was read.
    if (auto again = read_heartbeat(folder); again && *again) {
      (*again)->agent = entry.known.heartbeat.agent;
      (*again)->session = entry.known.heartbeat.session;
      entry.known.heartbeat = **std::move(again);
    }
    // One that is replaced by its newer self, in place, lets go for a moment.
    const ProcessId keeper = there ? (*lock)->record.keeper : ProcessId{};
    if (keeper.pid != 0 && machine_.processes.open(keeper)->look().state == RunState::running) {
      entry.keeper = KeeperIs::alive;
    }
  }

  bool has_pulse(Folder& folder) {
    pulse_age_ = age_of(modified(folder, kLockFile), now_);
    if (pulse_age_ <= kPulseMayLag) return true;
    const auto agent = read_agent_file(folder);
    return agent && pulse_age_ <= kPulseMayLag + 2 * agent->beat;
  }

  void judge(Entry& entry, bool reads_journal) {
    const Heartbeat& says = entry.known.heartbeat;
    entry.verdict = says.verdict;
    entry.phase = says.phase;
    entry.because = says.because;
    entry.next = says.next;
    entry.next_at = calendar_of(says.next_at);
    entry.since = calendar_of(says.since);
    if (reads_journal) ask_journal(entry);
    entry.stuck = says_stuck(entry.because);
    entry.state = tend::word(entry.verdict);
    if (says.life == 0) entry.state = "starting";
    if (says.status == Status::paused) entry.state = "paused";
    if (!entry.because.empty()) entry.why = entry.because.front();
    entry.group = group_of(entry);
    add_divergence(entry);
    if (entry.verdict == Verdict::dead && entry.group == Group::working) {
      entry.why += "; it is being brought back";
    }
    if (says.outcome != WorkOutcome::none) stays(entry);
  }

  /// Of one that is well it is all there is to tell; else it comes behind the trouble.
  static void add_divergence(Entry& entry) {
    const std::string& sides = entry.known.heartbeat.divergence;
    if (sides.empty()) return;
    const std::string words = "its stores disagree: " + on_one_line(sides);
    const bool is_well = entry.verdict == Verdict::working || entry.verdict == Verdict::idle;
    entry.why = is_well || entry.why.empty() ? words : entry.why + "; " + words;
  }

  /// Its own work is over; its keeper is there for those below it.
  static void stays(Entry& entry) {
    const Heartbeat& says = entry.known.heartbeat;
    entry.state = word(says.outcome);
    entry.why = says.children == 1 ? "its keeper stays for a child"
                                   : fmt::format("its keeper stays for {} children", says.children);
    entry.group = Group::waiting;
  }

  [[nodiscard]] Group group_of(const Entry& entry) const {
    if (entry.known.heartbeat.status == Status::paused) return Group::waiting;
    if (entry.stuck) return Group::needs_you;
    switch (entry.verdict) {
      case Verdict::stalled:
      case Verdict::looping:
      case Verdict::orphaned:
        return Group::needs_you;
      case Verdict::dead:
        return age_of(entry.since, now_) < kComesBackWithin ? Group::working : Group::needs_you;
      case Verdict::waiting:
        return entry.phase == Phase::person ? Group::needs_you : Group::waiting;
      case Verdict::idle:
        return Group::waiting;
      case Verdict::starting:
      case Verdict::working:
      case Verdict::suspect:
      case Verdict::finished:
      case Verdict::unknown:
        break;
    }
    return Group::working;
  }

  /// 0 if it is not to be read.
  [[nodiscard]] std::uint64_t size_of_journal(Folder& folder) const {
    if (source_ != Source::journal) return 0;
    const auto facts = folder.facts(std::string(kJournalFile));
    return facts && *facts ? (*facts)->size : 0;
  }

  void ask_journal(Entry& entry) {
    const auto standing = account_of(machine_, *entry.known.folder, Telling::now);
    if (!standing || !*standing || !(*standing)->of_this_boot) return;
    const Account& account = (*standing)->account;
    if (account.verdict != entry.verdict) entry.since = now_;
    entry.verdict = account.verdict;
    entry.phase = account.phase;
    entry.because.clear();
    for (const Reason& reason : account.because) entry.because.push_back(describe(reason));
    if (account.real.seen) entry.progressed = now_ - account.real.age;
    for (const KnownChild& child : account.children) {
      if (child.for_parent) entry.asked_by.push_back(child.name);
    }
    if (!entry.next.empty()) return;  // its keeper knows better when the next life begins
    const auto first = first_moment(account.next);
    entry.next = describe(first);
    entry.next_at = entry.next.empty() ? WallTime{} : now_ + first.front().in;
  }

  void without_keeper(Entry& entry, Folder& folder) {
    const Heartbeat& says = entry.known.heartbeat;
    if (says.life == 0 && age_of(modified(folder, kAgentFile), now_) < kMayBeginLater) {
      entry.state = "starting";
      entry.why = "its keeper is not there yet";
      entry.group = Group::working;
      return;
    }
    entry.state = "no keeper";
    entry.since = entry.known.last_beat;
    if (says.process.pid == 0) {
      entry.process = RunState::gone;
      entry.why = "it never had a keeper, and was not started";
      if (says.keeper.pid != 0) entry.why = "its keeper is gone, and it was not started";
      return;
    }
    entry.process = machine_.processes.open(says.process)->look().state;
    switch (entry.process) {
      case RunState::running:
      case RunState::stopped:
        entry.why =
            fmt::format("its keeper is gone; its process {} {}, unwatched", says.process.pid,
                        entry.process == RunState::running ? "runs on" : "is stopped");
        break;
      case RunState::unknown:
        entry.why = fmt::format("its keeper is gone; whether its process {} runs is not known",
                                says.process.pid);
        break;
      case RunState::zombie:
      case RunState::gone:
      case RunState::reused:
        entry.why = "its keeper is gone, and so is its process";
        break;
    }
  }

  void ended(Entry& entry, Folder& folder) const {
    const Heartbeat& says = entry.known.heartbeat;
    entry.verdict = says.verdict;
    entry.phase = says.phase;
    entry.because = says.because;
    // The last write to the lock file is the keeper's word that nothing is left.
    entry.since =
        std::max({calendar_of(says.since), entry.known.last_beat, modified(folder, kLockFile)});
    const bool known = says.outcome != WorkOutcome::none;
    entry.state = known ? word(says.outcome) : kStatusWords[static_cast<std::size_t>(says.status)];
    entry.why = says.life == 0 && !says.note.empty() ? says.note : says.ended_by;
    if (says.outcome == WorkOutcome::done && !says.note.empty()) entry.why += ", " + says.note;
    if (entry.why.empty()) entry.why = exit_words(says.exit);
    const bool bad = says.outcome == WorkOutcome::failed ||
                     says.outcome == WorkOutcome::escalated ||
                     says.outcome == WorkOutcome::orphaned;
    const bool matters = bad && age_of(entry.since, now_) < kEndMatters;
    entry.group = matters ? Group::needs_you : Group::done;
  }

  Machine& machine_;
  Source source_;
  WallTime now_;
  Duration pulse_age_{};
  std::vector<WithKeeper> kept_;
};

std::string what_to_do(const Entry& entry) {
  if (entry.group != Group::needs_you || !entry.known.folder) return "";
  const char* command = "explain";
  if (!entry.known.problem.empty()) return "look at " + entry.known.folder->path();
  if (entry.verdict == Verdict::looping) command = "unpause";
  if (!entry.over() && entry.keeper != KeeperIs::alive) command = "run -d --attach";
  if (entry.over() || entry.phase == Phase::person || entry.stuck) command = "logs";
  if (entry.unmerged) command = "merge";
  return fmt::format("tend {} {}", command, entry.handle);
}

void name(Entry& entry) {
  if (entry.known.folder) entry.handle = base_name(entry.known.folder->path());
}

/// A child by its parent's heartbeat; a name by whoever else has it.
void relate(std::vector<Entry>& entries) {
  std::map<std::string, std::size_t> places;
  std::map<std::string, std::vector<std::size_t>> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    if (!entry.known.folder) continue;
    places[entry.known.folder->path() + "/" + std::string(kHeartbeatFile)] = i;
    names[entry.known.heartbeat.agent].push_back(i);
    const auto parent = places.find(entry.known.heartbeat.parent_heartbeat);
    if (parent == places.end() || parent->second == i) continue;
    entry.parent = parent->second;
    entry.depth = entries[parent->second].depth + 1;
  }
  for (const auto& [agent, all] : names) {
    const auto living =
        std::ranges::count_if(all, [&](std::size_t i) { return !entries[i].over(); });
    std::size_t newest = all.front();
    for (const std::size_t i : all) {
      if (is_newer(entries[newest].known, entries[i].known)) newest = i;
    }
    for (const std::size_t i : all) {
      Entry& entry = entries[i];
      const bool meant = living == 0 ? i == newest : living == 1 && !entry.over();
      if (meant && !agent.empty()) entry.handle = agent;
      // Whoever started it again has seen how it ended.
      if (entry.over() && (living > 0 || i != newest)) entry.group = Group::done;
    }
  }
}

/// Work that ended well and is not where it belongs: of a lead that is over a person has to see to
/// it.
void note_unmerged(std::vector<Entry>& entries, WallTime now) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].parent && entries[i].known.folder) places[entries[i].known.folder->path()] = i;
  }
  for (const Entry& lead : entries) {
    if (places.empty() || !lead.known.folder) continue;
    const auto there = lead.known.folder->facts(std::string(kChildrenFile));
    if (!there || !*there) continue;
    const auto children = read_children(*lead.known.folder);
    if (!children) continue;
    for (const ChildLine& line : children->children) {
      const auto place = places.find(folder_of_heartbeat(line.heartbeat));
      if (line.status != ChildStatus::unmerged || place == places.end()) continue;
      Entry& child = entries[place->second];
      if (!child.over()) continue;
      child.unmerged = true;
      child.why = "not merged: " + on_one_line(line.note);
      if (lead.over() && age_of(child.since, now) < kEndMatters) child.group = Group::needs_you;
    }
  }
}

}  // namespace

bool says_stuck(const std::vector<std::string>& because) {
  Reason stuck;
  stuck.because = Because::stuck_by_own_word;
  return std::ranges::find(because, describe(stuck)) != because.end();
}

std::optional<WallTime> progressed_of(Machine& machine, Folder& agent) {
  const auto standing = account_of(machine, agent, Telling::now);
  if (!standing || !*standing || !(*standing)->of_this_boot) return std::nullopt;
  const auto& real = (*standing)->account.real;
  return real.seen ? std::optional(machine.clock.wall() - real.age) : std::nullopt;
}

Result<std::vector<Entry>> roster(Machine& machine, Folder& home, Source source) {
  Observer observer(machine, source);
  std::vector<Entry> entries;
  const auto told = for_each_agent(home, [&](KnownAgent known, Folder* open) {
    Entry& entry = entries.emplace_back();
    entry.known = std::move(known);
    observer.look(entry, entries.size() - 1, open);
    name(entry);
  });
  if (!told) return std::unexpected(told.error());
  observer.judge_kept(entries);
  relate(entries);
  note_unmerged(entries, machine.clock.wall());
  for (Entry& entry : entries) entry.to_do = what_to_do(entry);
  look_at_tasks(machine, home, entries);
  return entries;
}

void look_at_tasks(Machine& machine, Folder& home, std::span<Entry> entries) {
  std::unique_ptr<Database> database;
  for (Entry& entry : entries) {
    const std::string& id = entry.known.heartbeat.task;
    if (id.empty()) continue;
    if (!database) {
      auto opened = open_home_database(machine.databases, home, {.may_wait = kReadersWait});
      if (opened) database = *std::move(opened);
    }
    auto found = database ? Tasks(*database, TaskLimits{}).find(id) : std::nullopt;
    if (found && *found) {
      entry.task = **std::move(found);
    } else {
      entry.task.emplace();
      entry.task->id = id;
      entry.task->status.clear();
    }
  }
}

Entry look_at_agent(Machine& machine, KnownAgent known, Source source) {
  Entry entry;
  entry.known = std::move(known);
  Observer observer(machine, source);
  observer.look(entry, 0, entry.known.folder.get());
  observer.judge_kept({&entry, 1});
  entry.handle = entry.known.heartbeat.agent;
  if (entry.handle.empty()) name(entry);
  entry.to_do = what_to_do(entry);
  return entry;
}

}  // namespace tend
