// What is beside the tasks: each thing that people should know of has a key, is told when it is
// new, and closed when a later sweep finds it no more.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "act/preserve.h"
#include "base/quote.h"
#include "run/child_look.h"
#include "run/gate_desk.h"
#include "run/herald.h"
#include "run/lease_desk.h"
#include "run/lease_voice.h"
#include "run/patrol.h"
#include "store/agent_file.h"
#include "store/inbox.h"
#include "store/json.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kUnreadAfter = 1h;
constexpr Duration kUntakenAfter = 10min;
constexpr Duration kEndMatters = 24h;  // as in the roster: later nobody is told any more
constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kLongestText = 1000;    // bytes
constexpr std::string_view kNotes = "note:";  // keys of what needs nobody
constexpr const char* kSilence = "silence";   // key of an incident
constexpr const char* kStandstill = "standstill";

std::string names(std::vector<std::string> all) {
  std::ranges::sort(all);
  const auto doubled = std::ranges::unique(all);
  all.erase(doubled.begin(), doubled.end());
  const std::size_t more = all.size() > kMostNamed ? all.size() - kMostNamed : 0;
  all.resize(all.size() - more);
  std::string text = fmt::format("{}", fmt::join(all, ", "));
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

bool has_salvage(Folder& folder) {
  const auto salvage = folder.folder("salvage");
  if (!salvage || *salvage == nullptr) return false;
  const auto copies = (*salvage)->folders(1);
  return copies && !copies->empty();
}

}  // namespace

// --- Keepers ------------------------------------------------------------------------------------

void Patrol::say_keepers(const KeeperRounds::Found& found, std::vector<SweepLine>& lines) {
  for (const KeeperRounds::About& one : found.done) {
    Event event;
    event.kind = Event::Kind::action;
    event.agent = one.agent;
    event.session = one.session;
    event.action = "keeper";
    event.text = "the patrol found: " + one.text;
    if (auto written = voice_.event(std::move(event)); !written) {
      undone_.push_back("an event: " + written.error().text);
    }
    lines.push_back({.about = "agent " + on_one_line(one.agent),
                     .what = "keeper",
                     .why = one.text,
                     .result = {}});
  }
}

bool Patrol::look_at_keepers(std::vector<SweepLine>& lines) {
  const KeeperRounds::Found found = rounds_.look();
  say_keepers(found, lines);
  return found.again_soon;
}

void Patrol::round_of_keepers(const std::vector<Entry>& agents) {
  if (!settings_.dry) {
    const bool same_boot = past_.boot_id == machine_.processes.self().boot_id;
    rounds_.know(agents, same_boot ? past_.pulses : SeenPulses{});
    take_round(rounds_.look());
    past_.pulses = rounds_.pulses();
    return;
  }
  for (const Entry& entry : agents) {
    if (!KeeperRounds::needs_keeper(entry) || entry.keeper == KeeperIs::alive) continue;
    say({.about = "agent " + on_one_line(entry.known.heartbeat.agent),
         .what = "keeper",
         .why = entry.why,
         .result = {}});
  }
}

void Patrol::take_round(const KeeperRounds::Found& found) {
  say_keepers(found, sweep_.lines);
  sweep_.keepers_again = found.again_soon;
  for (const KeeperRounds::About& one : found.troubled) {
    concern({.key = "keeper:" + one.agent,
             .text = fmt::format("agent {}: {}", one.agent, one.text),
             .to_do = "tend explain " + one.agent});
  }
  if (found.held_back) {
    concern({.key = "keepers",
             .text = once("keepers", fmt::format("{} of {} keepers hang: one cause is likely, "
                                                 "nobody was ended",
                                                 found.silent, found.of)),
             .to_do = "tend status"});
  }
  if (!found.of_earlier_boot.empty()) {
    concern(
        {.key = "boot",
         .text = "not brought back since the machine was started: " + names(found.of_earlier_boot),
         .to_do = "tend recover"});
  }
}

/// A power cut may have taken from a patrol what it remembered. What it told is in the outbox:
/// somebody has to say when that is over, and what people were told is over is not open to them.
void Patrol::take_up_what_was_told() {
  if (has_taken_up_ || settings_.dry) return;
  const auto open = voice_.open_incidents();
  if (!open) return;
  has_taken_up_ = true;
  for (const auto& [key, told] : *open) {
    if (!told.by_patrol || past_.told.size() >= kMostTold) continue;
    if (past_.told.emplace(key, told.why).second) taken_up_.insert(key);
  }
  if (settings_.channels.empty()) return;  // nothing is put there
  for (auto& [id, memory] : past_.state.tasks) {
    const std::string key = task_key(id);
    if (!memory.took(PatrolRung::escalate) || open->contains(key)) continue;
    memory.not_done(PatrolRung::escalate);
    past_.told.erase(key);
  }
  for (const auto& [key, text] : past_.told) {
    if (!open->contains(key)) unsent_.insert(key);
  }
  // While an incident lasts nobody is asked: that must not go on without people knowing of it.
  if (unsent_.erase(kSilence) > 0) {
    past_.told.erase(kSilence);
    past_.state.incident = false;
  }
}

/// A keeper whose outbox could not be written ended without saying that the trouble is over. What
/// did not end well stays open: that is for a person. So does what goes on with the machine.
void Patrol::close_for_keepers(const std::vector<Entry>& agents) {
  if (settings_.dry) return;
  const auto open = voice_.open_incidents();
  if (!open || open->empty()) return;  // that it cannot be read is said of the outbox
  const auto key_of = [&](const Entry& entry) {
    return trouble_key(home_, entry.known.folder->path(), entry.known.heartbeat.agent);
  };
  std::set<std::string, std::less<>> not_over;
  for (const Entry& entry : agents) {
    if (entry.known.folder && !entry.over()) not_over.insert(key_of(entry));
  }
  for (const Entry& entry : agents) {
    const Heartbeat& says = entry.known.heartbeat;
    if (!entry.known.folder || !entry.over() || says.outcome == WorkOutcome::failed) continue;
    if (child_end_of(says) == ChildEnd::shutdown) continue;
    const std::string key = key_of(entry);
    if (!open->contains(key) || not_over.contains(key)) continue;
    const std::string why =
        fmt::format("over: {}, {}", kWorkOutcomeWords[static_cast<std::size_t>(says.outcome)],
                    on_one_line(says.ended_by));
    if (auto closed = voice_.is_over_of(key, says, entry.known.folder->path(), why); !closed) {
      undone_.push_back("the end of " + key + ": " + closed.error().text);
      continue;
    }
    say({.about = "agent " + on_one_line(says.agent), .what = "over", .why = why, .result = {}});
  }
}

// --- Tasks as a whole ---------------------------------------------------------------------------

void Patrol::note_incident() {
  using enum PatrolIncident::Is;
  const PatrolIncident& incident = plan_.incident;
  if (incident.is != begins && incident.is != goes_on) return;
  concern({.key = kSilence,
           .text = once(kSilence, incident.why),
           .to_do = "tend list --heartbeat-stale"});
}

/// While others wait to be taken.
void Patrol::note_idle(const std::vector<Entry>& agents, const WorkersOfHome& workers) {
  std::set<const Entry*> at_work;
  bool work_waits = false;
  for (const Task& task : tasks_) {
    if (task_status(task) == TaskIs::in_progress) at_work.insert(workers.agent_of(task));
    work_waits = work_waits || task_status(task) == TaskIs::open;
  }
  if (!work_waits) return;
  for (const Entry& entry : agents) {
    if (entry.over() || entry.keeper != KeeperIs::alive || entry.verdict != Verdict::idle) continue;
    if (at_work.contains(&entry)) continue;
    const std::string& name = entry.known.heartbeat.agent;
    concern({.key = std::string(kNotes) + "idle:" + name,
             .text = fmt::format("agent {} is idle and holds no task, and open ones wait", name),
             .to_do = "tend list --status open",
             .needs_person = false,
             .leaves = false});
  }
}

/// Each by itself may be in order: who failed is told of, and open work may wait. Who is there, in
/// whichever state, is looked after by its keeper; and who stopped them all knows it.
void Patrol::note_standstill(const std::vector<Entry>& agents, const WorkersOfHome& workers) {
  std::size_t left = 0;
  for (const Task& task : tasks_) {
    const TaskIs is = task_status(task);
    if (is != TaskIs::open && is != TaskIs::in_progress) continue;
    const WorkerIs worker = workers.of(task).is;
    if (is == TaskIs::in_progress && worker != WorkerIs::over && worker != WorkerIs::gone) return;
    ++left;
  }
  if (left == 0) return;
  const WallTime now = machine_.clock.wall();
  const Entry* failed = nullptr;
  for (const Entry& entry : agents) {
    if (!entry.over()) return;
    const bool matters =
        entry.known.heartbeat.outcome == WorkOutcome::failed && now - entry.since <= kEndMatters;
    if (matters && (failed == nullptr || failed->since < entry.since)) failed = &entry;
  }
  if (failed == nullptr) return;
  concern({.key = kStandstill,
           .text = once(kStandstill,
                        fmt::format("work is left and nobody is at it: {} task{}; the last that "
                                    "failed is {}",
                                    left, left == 1 ? "" : "s", failed->known.heartbeat.agent)),
           .to_do = "tend list --status open"});
}

// --- What nobody has read -----------------------------------------------------------------------

/// Of agents that are over since a while, and not for long.
void Patrol::look_for_unread(const std::vector<Entry>& agents) {
  const WallTime now = machine_.clock.wall();
  for (const Entry& entry : agents) {
    if (!entry.over() || !entry.known.folder) continue;
    const auto ago = now - entry.since;
    if (ago < kUnreadAfter || ago > kEndMatters) continue;
    Folder& folder = *entry.known.folder;
    const std::string& name = entry.known.heartbeat.agent;
    const auto inbox = read_inbox(folder);
    if (inbox && inbox->unread() > 0) unread_.push_back("the inbox of " + name);
    if (has_salvage(folder)) unread_.push_back("saved work of " + name);
    const auto agent = read_agent_file(folder);
    const auto made = folder.facts(std::string(kAgentFile));
    if (!agent || agent->worktree.empty() || !made || !*made) continue;
    const std::string repository = machine_.version_control.repository(agent->worktree);
    if (!repository.empty()) repositories_[repository].push_back({name, (*made)->modified});
  }
}

/// Only where an agent worked that may have left something.
void Patrol::ask_for_saved_work() {
  if (repositories_.empty()) {
    note_unread();
    return finish();
  }
  const std::string next = repositories_.begin()->first;
  asked_ = machine_.version_control.saved(next, [this, next](const auto& saved) {
    if (saved) {
      take_saved_work(next, *saved);
    } else {
      blind("saved", "saved work could not be looked at: " + saved.error().text);
    }
    repositories_.erase(next);
    asked_ = machine_.loop.at(machine_.clock.now(), [this] { ask_for_saved_work(); });
  });
}

void Patrol::take_saved_work(const std::string& repository, const std::vector<SavedWork>& saved) {
  for (const MayHaveSaved& one : repositories_.at(repository)) {
    const auto is_its_own = [&](const SavedWork& work) {
      return work.at >= std::chrono::floor<std::chrono::seconds>(one.from) &&
             work.message.starts_with(saved_title(one.agent));
    };
    if (std::ranges::any_of(saved, is_its_own)) {
      unread_.push_back(fmt::format("saved work of {} in {}", one.agent, repository));
    }
  }
}

void Patrol::note_unread() {
  if (unread_.empty()) return;
  concern({.key = "unread",
           .text = "left behind by agents that are over: " + names(std::move(unread_)),
           .to_do = "tend inbox NAME; tend salvage list"});
}

void Patrol::note_mail() {
  const auto letters = voice_.unanswered_since(machine_.clock.wall() - kUnreadAfter);
  if (!letters) return blind("mail", "mail could not be looked at: " + letters.error().text);
  std::vector<std::string> readers;
  for (const Letter& letter : *letters) {
    if (!letter.read_at && !letter.subject.starts_with("[HEARTBEAT]")) readers.push_back(letter.to);
  }
  if (readers.empty()) return;
  concern({.key = "mail",
           .text = "letters wait for an hour or more: for " + names(std::move(readers)),
           .to_do = "tend mail inbox"});
}

/// Messages that nobody will take if nobody is told of them.
void Patrol::note_gate() {
  GateDesk desk(machine_, home_, settings_.gate);
  if (!settings_.dry) {
    if (auto ended = desk.end_forgotten(); !ended) undone_.push_back("gate: " + ended.error().text);
  }
  const auto all = desk.status(std::nullopt);
  if (!all) return blind("gate", "the gate could not be looked at: " + all.error().text);
  const WallTime then = machine_.clock.wall() - kUntakenAfter;
  if (!settings_.dry) {
    if (auto told = desk.tell_left(then); !told) undone_.push_back("gate: " + told.error().text);
  }
  std::vector<std::string> given_up;
  std::vector<std::string> waited_for;
  for (const GateStatus& status : *all) {
    const std::string name = status.agent.empty() ? "nobody in particular" : status.agent;
    if (status.count.dead > 0) given_up.push_back(name);
    const bool will_not_come = !status.known || status.mode.over || !status.mode.kept;
    if (will_not_come && status.count.oldest && *status.count.oldest < then) {
      waited_for.push_back(name);
    }
  }
  if (!given_up.empty()) {
    concern({.key = "gate:dead",
             .text = "messages were given up: for " + names(std::move(given_up)),
             .to_do = "tend gate list --state dead"});
  }
  if (!waited_for.empty()) {
    concern({.key = "gate:waiting",
             .text = "messages wait for agents that are over or that nobody keeps: for " +
                     names(std::move(waited_for)),
             .to_do = "tend gate status"});
  }
}

/// Leases that go from hand to hand. Who took one so has told of it; that it is over, nobody may be
/// there to say.
void Patrol::note_leases() {
  LeaseFiles files(home_);
  LeaseDesk desk(machine_, home_, files);
  std::vector<std::string> problems;
  const auto looks = desk.look_at_all(problems);
  if (!looks) problems.push_back(looks.error().text);
  if (!problems.empty()) return keep_what_was_told_of_leases(names(std::move(problems)));
  const auto open = voice_.open_incidents();
  if (!open) return;  // that is said of the outbox
  take_up_of_leases(*open);
  for (const LeaseLook& look : *looks) {
    if (!is_flapping(look.facts)) continue;
    const std::string key = lease_key(look.record.name);
    concern({.key = key,
             .text = once(key, words_of_flapping(look.record.name)),
             .to_do = "tend lease status --name " + look.record.name});
  }
}

/// A record that cannot be read stays so until a person mends it: all else is closed meanwhile.
void Patrol::keep_what_was_told_of_leases(const std::string& problem) {
  concern({.key = "leases", .text = once("leases", problem), .to_do = "tend lease status"});
  for (const auto& [key, text] : past_.told) {
    if (key.starts_with(kLeaseKeys)) concern({.key = key, .text = text, .to_do = {}});
  }
}

/// What others told of leases is as if we had; and so is what they told is over.
void Patrol::take_up_of_leases(const std::map<std::string, PatrolVoice::Told, std::less<>>& open) {
  if (settings_.channels.empty()) return;
  const auto is_of_lease = [](const auto& one) { return one.first.starts_with(kLeaseKeys); };
  std::erase_if(past_.told, [&](const auto& one) {
    return is_of_lease(one) && !open.contains(one.first) && !unsent_.contains(one.first);
  });
  for (const auto& one : open) {
    if (!is_of_lease(one) || past_.told.size() >= kMostTold) continue;
    past_.told.emplace(one.first, one.second.why);
  }
}

/// Told where it can be: notices that do not get out are no news for the same channels.
void Patrol::note_outbox() {
  const auto dead = voice_.dead_notices();
  const auto waiting = voice_.waiting_since(machine_.clock.wall() - kUnreadAfter);
  if (!dead || !waiting) {
    return blind("outbox", "the outbox could not be looked at: " +
                               (dead ? waiting.error().text : dead.error().text));
  }
  if (dead->empty() && waiting->empty()) return;
  std::vector<std::string> channels;
  for (const auto* list : {&*dead, &*waiting}) {
    for (const Notice& notice : *list) channels.push_back(notice.channel);
  }
  concern({.key = "outbox",
           .text = fmt::format("{} notices were given up, {} wait for an hour or more: on {}",
                               dead->size(), waiting->size(), names(std::move(channels))),
           .to_do = "tend outbox",
           .leaves = false});
}

// --- Telling ------------------------------------------------------------------------------------

void Patrol::concern(Concern concern) {
  concern.key = cut_text(on_one_line(concern.key), kLongestKey);
  concern.text = cut_text(on_one_line(concern.text), kLongestText);
  concerns_.push_back(std::move(concern));
}

void Patrol::blind(const std::string& key, const std::string& text) {
  blind_ = true;
  const bool is_of_outbox = key == "outbox" || key == "mail";  // and cannot go out through it
  concern({.key = key, .text = once(key, text), .to_do = {}, .leaves = !is_of_outbox});
}

/// What was told of it stays what is told, whatever the numbers are now.
std::string Patrol::once(const std::string& key, const std::string& text) const {
  const auto told = past_.told.find(key);
  return told == past_.told.end() ? text : told->second;
}

void Patrol::tell(const Concern& concern) {
  const auto before = past_.told.find(concern.key);
  const bool is_news = before == past_.told.end() || before->second != concern.text;
  if (concern.needs_person) ++sweep_.open;
  if (is_news && before == past_.told.end() && past_.told.size() >= kMostTold) {
    undone_.emplace_back("too much is told already");
    return;
  }
  const bool is_due = is_news || unsent_.contains(concern.key);
  if (concern.leaves && is_due && !settings_.dry) {
    unsent_.erase(concern.key);
    if (auto put = voice_.notice(concern, {}); !put) {
      unsent_.insert(concern.key);
      undone_.push_back("notice of " + concern.key + ": " + put.error().text);
    }
  }
  if (!is_news) return;
  past_.told[concern.key] = concern.text;
  say({.about = "patrol",
       .what = concern.needs_person ? "tell" : "note",
       .why = concern.text,
       .result = concern.to_do,
       .needs_person = concern.needs_person});
}

void Patrol::close_others() {
  std::set<std::string, std::less<>> current;
  for (const Concern& concern : concerns_) current.insert(concern.key);
  for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
    const std::string key = task_key(tasks_[i].id);
    const auto memory = past_.state.tasks.find(tasks_[i].id);
    const bool is_told =
        memory != past_.state.tasks.end() && memory->second.took(PatrolRung::escalate);
    // Where it stands on its ladder is forgotten; that it is silent is not.
    if (is_told || (taken_up_.contains(key) && plan_.tasks[i].on_ladder)) current.insert(key);
  }
  for (auto told = past_.told.begin(); told != past_.told.end();) {
    const std::string key = told->first;
    const std::string text = told->second;
    const bool stays = current.contains(key) || key == "undone";
    if (!stays && !settings_.dry) {
      if (auto closed = voice_.is_over(key, "over: " + text); !closed) {
        undone_.push_back("the end of " + key + ": " + closed.error().text);
        ++told;
        continue;
      }
    }
    if (!stays) taken_up_.erase(key);
    told = stays ? std::next(told) : past_.told.erase(told);
    if (stays || key.starts_with(kNotes)) continue;
    say({.about = "patrol", .what = "over", .why = text, .result = {}});
  }
}

/// Told apart from the rest: it is about telling.
void Patrol::note_undone() {
  if (undone_.empty()) {
    past_.told.erase("undone");
    return;
  }
  const std::string text =
      "could not be done, and is tried again: " + names(std::exchange(undone_, {}));
  Concern undone{.key = "undone",
                 .text = once("undone", std::string(cut_text(on_one_line(text), kLongestText))),
                 .to_do = {},
                 .leaves = false};
  tell(undone);
  undone_.clear();
}

}  // namespace tend
