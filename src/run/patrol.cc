// Tasks are listed through the loop, one status after the other; then everything is looked at and
// planned in one go; then claims are taken, one after the other; then version control is asked,
// which may take long; then all is written down.
#include "run/patrol.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMostTasks = 100'000;  // of one status
constexpr Duration kSleep = 1s;               // less is the clocks' own difference
constexpr Duration kClockStep = 2s;           // less is a clock being disciplined

std::string about(const Task& task) {
  std::string words = "task " + on_one_line(task.id);
  if (task.assignee) words += " of " + on_one_line(*task.assignee);
  return words;
}

std::string joined(const std::vector<std::string>& because) {
  return fmt::format("{}", fmt::join(because, "; "));
}

}  // namespace

Patrol::Patrol(Machine& machine, Folder& home, WorkItems& items, PatrolSettings settings)
    : machine_(machine),
      home_(home),
      items_(items),
      settings_(std::move(settings)),
      voice_(machine, home, settings_.channels),
      rounds_(machine, settings_.program) {}

std::optional<SweepLine> Patrol::remember() {
  has_taken_up_ = false;
  auto past = read_patrol_past(home_);
  if (past) {
    past_ = (*std::move(past)).value_or(PatrolPast{});
    return std::nullopt;
  }
  past_ = {};
  return SweepLine{.about = "patrol",
                   .what = "note",
                   .why = "what was remembered is forgotten: " + past.error().text,
                   .result = {},
                   .needs_person = false};
}

// --- Gathering ----------------------------------------------------------------------------------

void Patrol::sweep(Done done) {
  CHECK(!done_);
  done_ = std::move(done);
  sweep_ = {};
  plan_ = {};
  concerns_.clear();
  reassigns_.clear();
  repositories_.clear();
  unread_.clear();
  undone_.clear();
  blind_ = false;
  list_all();
}

void Patrol::list_all() {
  tasks_.clear();
  tasks_problem_.clear();
  asleep_ = asleep_so_far();
  // All others are left alone.
  statuses_ = {std::string(kInProgress), std::string(kOpen)};
  list_next();
}

Duration Patrol::asleep_so_far() {
  return machine_.clock.now().time_since_epoch() - machine_.clock.awake();
}

void Patrol::list_next() {
  if (statuses_.empty()) {
    asked_ = machine_.loop.at(machine_.clock.now(), [this] { look_around(); });
    return;
  }
  TaskFilter filter;
  filter.status = statuses_.front();
  filter.most = kMostTasks;
  statuses_.pop_front();
  asked_ = items_.list(filter, [this](const auto& listed) { take_list(listed); });
}

void Patrol::take_list(const Result<std::vector<Task>>& listed) {
  if (!listed) {
    tasks_problem_ = listed.error().text;
    statuses_.clear();
    return list_next();
  }
  if (std::ssize(*listed) == kMostTasks) {
    concern({.key = "tasks:many",
             .text = fmt::format("there are more than {} tasks of one status: some are not looked "
                                 "at; close what is done",
                                 kMostTasks),
             .to_do = "tend list"});
  }
  // Between two lists a task may change its status: it is looked at once.
  std::set<std::string, std::less<>> known;
  for (const Task& task : tasks_) known.insert(task.id);
  for (const Task& task : *listed) {
    if (!known.contains(task.id)) tasks_.push_back(task);
  }
  list_next();
}

void Patrol::look_around() {
  // A task that was claimed between the list and a sleep is not on it: the next sweep would take
  // that sleep for its silence.
  if (asleep_so_far() - asleep_ >= kSleep) return list_all();
  take_up_what_was_told();
  const auto agents = roster(machine_, home_, Source::heartbeat);
  const WorkersOfHome workers(agents, machine_.clock.wall());
  if (tasks_problem_.empty()) {
    plan_tasks(workers);
    note_incident();
  } else {
    blind("tasks", "the tasks could not be read: " + tasks_problem_);
  }
  if (agents) {
    sweep_.agents = static_cast<std::size_t>(
        std::ranges::count_if(*agents, [](const Entry& entry) { return !entry.over(); }));
    round_of_keepers(*agents);
    close_for_keepers(*agents);
    look_for_unread(*agents);
    note_idle(*agents, workers);
    note_standstill(*agents, workers);
  } else {
    blind("agents", "the agents could not be looked at: " + agents.error().text);
  }
  note_outbox();
  note_mail();
  note_gate();
  note_leases();
  // At once: whoever was gone may be brought back while version control takes its time.
  reassign_next();
}

/// Only who was pinged is asked about, or was to be where no letter could be written.
std::optional<WallTime> Patrol::answer_of(const Task& task, const WorkersOfHome& workers) {
  const auto memory = past_.state.tasks.find(task.id);
  if (memory == past_.state.tasks.end() || !memory->second.pinged_at) return std::nullopt;
  std::optional<WallTime> answered;
  const Entry* const agent = workers.agent_of(task);
  if (agent != nullptr && agent->keeper == KeeperIs::alive && agent->known.folder) {
    answered = progressed_of(machine_, *agent->known.folder);
  }
  if (!task.assignee) return answered;
  const auto acked = voice_.last_answer(*task.assignee);
  if (!acked || !*acked) return answered;
  return answered ? std::max(*answered, **acked) : **acked;
}

std::vector<TaskFacts> Patrol::gather_facts(const WorkersOfHome& workers) {
  const WallTime now = machine_.clock.wall();
  std::vector<TaskFacts> facts;
  facts.reserve(tasks_.size());
  for (const Task& task : tasks_) {
    facts.push_back(task_facts(task, workers.of(task), answer_of(task, workers), now));
  }
  return facts;
}

/// Ages are by the calendar. What it went on while this machine was not awake, or not there, nobody
/// has watched.
PatrolWatch Patrol::look_at_oneself() {
  PatrolWatch watch;
  watch.now = machine_.clock.now();
  watch.busy = std::exchange(busy_, Duration::zero());
  const Duration awake = machine_.clock.awake();
  const WallTime wall = machine_.clock.wall();
  const std::string boot = machine_.processes.self().boot_id;
  const Duration went_on = std::chrono::duration_cast<Duration>(wall - past_.wall);
  if (past_.boot_id != boot) {
    past_.state.last_sweep.reset();
    past_.pulses.clear();
    if (!past_.boot_id.empty()) watch.unwatched = std::max(went_on, Duration::zero());
  } else if (past_.state.last_sweep) {
    const Duration passed = watch.now - *past_.state.last_sweep;
    const Duration slept = passed - (awake - past_.awake);
    const Duration stepped = went_on - passed;
    watch.slept = slept >= kSleep;
    watch.calendar_stepped = stepped >= kClockStep || stepped <= -kClockStep;
    if (watch.slept) watch.unwatched += slept;
    if (watch.calendar_stepped) watch.unwatched += stepped;
    watch.unwatched = std::max(watch.unwatched, Duration::zero());
  }
  past_.boot_id = boot;
  past_.awake = awake;
  past_.wall = wall;
  return watch;
}

// --- Acting -------------------------------------------------------------------------------------

void Patrol::plan_tasks(const WorkersOfHome& workers) {
  const PatrolWatch watch = look_at_oneself();
  plan_ = plan_patrol(gather_facts(workers), settings_.policy, past_.state, watch);
  std::erase_if(past_.decided,
                [&](const auto& one) { return !past_.state.tasks.contains(one.first); });
  sweep_.tasks = tasks_.size();
  sweep_.unfit_because = plan_.unfit_because;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (plan_.tasks[i].on_ladder) ++sweep_.silent;
    act_on(tasks_[i], plan_.tasks[i]);
  }
}

void Patrol::act_on(const Task& task, const PatrolDecision& decision) {
  if (decision.rungs.empty()) return;
  past_.decided[task.id] = {machine_.clock.wall(), decision.rungs, decision.because};
  for (const PatrolRung rung : decision.rungs) {
    switch (rung) {
      case PatrolRung::warn:
        warn(task, decision);
        break;
      case PatrolRung::ping:
        ping(task, decision);
        break;
      case PatrolRung::escalate:
        escalate(task, decision);
        break;
      case PatrolRung::reassign:
        reassigns_.push_back({task, joined(decision.because)});
        break;
    }
  }
}

/// Who answers and does not beat is at the same point again and again: that is no news.
void Patrol::warn(const Task& task, const PatrolDecision& decision) {
  if (past_.state.tasks[task.id].answered) return;
  say({.about = about(task), .what = "warn", .why = joined(decision.because), .result = {}});
}

void Patrol::ping(const Task& task, const PatrolDecision& decision) {
  SweepLine line{
      .about = about(task), .what = "ping", .why = joined(decision.because), .result = {}};
  if (!settings_.dry) {
    const auto pinged = voice_.ping(task, decision.because);
    if (!pinged) return not_done(task.id, PatrolRung::ping, pinged.error().text);
    if (!pinged->is_new && past_.state.tasks[task.id].answered) return;
    line.result =
        fmt::format("letter {} to {}", pinged->letter, on_one_line(task.assignee.value_or("")));
  }
  say(std::move(line));
}

void Patrol::escalate(const Task& task, const PatrolDecision& decision) {
  const std::string key = task_key(task.id);
  Concern told{.key = key,
               .text = fmt::format("{}: {}", about(task), joined(decision.because)),
               .to_do = "tend explain task:" + on_one_line(task.id)};
  if (!settings_.dry) {
    if (past_.told.size() >= kMostTold && !past_.told.contains(key)) {
      return not_done(task.id, PatrolRung::escalate, "too much is told already");
    }
    if (auto put = voice_.notice(told, decision.because); !put) {
      return not_done(task.id, PatrolRung::escalate, put.error().text);
    }
    past_.told[key] = told.text;
  }
  say({.about = about(task),
       .what = "escalate",
       .why = joined(decision.because),
       .result = {},
       .needs_person = true});
}

void Patrol::not_done(const std::string& task, PatrolRung rung, const std::string& why) {
  past_.state.tasks[task].not_done(rung);
  undone_.push_back(fmt::format("{} of task {}: {}", word(rung), on_one_line(task), why));
}

void Patrol::reassign_next() {
  if (reassigns_.empty()) return ask_for_saved_work();
  Reassign next = std::move(reassigns_.front());
  reassigns_.pop_front();
  if (settings_.dry) {
    say({.about = about(next.task), .what = "reassign", .why = next.why, .result = {}});
    return reassign_next();
  }
  asked_ = items_.reclaim(next.task, [this, next](const Result<TaskAnswer>& answer) {
    reassigned(next.task, next.why, answer);
    reassign_next();
  });
}

void Patrol::reassigned(const Task& task, const std::string& why,
                        const Result<TaskAnswer>& answer) {
  if (!answer) return not_done(task.id, PatrolRung::reassign, answer.error().text);
  SweepLine line{.about = about(task), .what = "reassign", .why = why, .result = {}};
  if (answer->did != TaskAnswer::Did::done) {
    line.result = "nothing was taken: somebody was heard of meanwhile";
    return say(std::move(line));
  }
  line.result = "it is open again";
  const Concern told{
      .key = task_key(task.id),
      .text = fmt::format("{}: taken from a worker that is gone, and open again", about(task)),
      .to_do = "tend explain task:" + on_one_line(task.id)};
  if (auto put = voice_.notice(told, {why}); !put) {
    undone_.push_back("notice of " + line.about + ": " + put.error().text);
  } else {
    past_.told[told.key] = told.text;
  }
  say(std::move(line));
}

/// What a sweep does, people who follow can read.
void Patrol::say(SweepLine line) {
  if (!settings_.dry) {
    Event event;
    event.kind = line.what == "note" || line.what == "tell" || line.what == "over"
                     ? Event::Kind::note
                     : Event::Kind::action;
    event.action = line.what;
    event.text = line.what == "over" ? "over: " + line.why : line.why;
    if (line.about != kPatrolName) event.text = line.about + ": " + line.why;
    event.result = line.result;
    event.needs_person = line.needs_person;
    if (auto written = voice_.event(std::move(event)); !written) {
      undone_.push_back("an event: " + written.error().text);
    }
  }
  sweep_.lines.push_back(std::move(line));
}

void Patrol::finish() {
  for (const Concern& each : concerns_) tell(each);
  if (!blind_) close_others();
  if (!settings_.dry) {
    if (auto tidied = voice_.tidy(); !tidied) undone_.push_back("tidying: " + tidied.error().text);
  }
  note_undone();
  for (const auto& [id, memory] : past_.state.tasks) {
    if (memory.took(PatrolRung::escalate)) ++sweep_.open;
  }
  sweep_.next = tasks_problem_.empty() ? past_.state.asked : settings_.policy.sweeps.usual;
  if (!settings_.dry) {
    if (auto written = write_past(); !written) {
      sweep_.lines.push_back(
          {.about = "patrol",
           .what = "note",
           .why = "what it remembers could not be written: " + written.error().text,
           .result = {},
           .needs_person = true});
      ++sweep_.open;
    }
  }
  voice_.rest();
  if (past_.state.last_sweep) busy_ = machine_.clock.now() - *past_.state.last_sweep;
  const Done done = std::exchange(done_, nullptr);
  done(sweep_);
}

}  // namespace tend
