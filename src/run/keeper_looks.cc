// Evidence that costs something, looked for only when it matters: the work tree and the processor
// shortly before a limit, the rest of the fleet when somebody is suspect, a terminal that is only
// watched. None of it proves progress but a changed file.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/account.h"
#include "run/hire.h"
#include "run/keeper.h"
#include "store/home.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSampleShortest = 200ms;
constexpr Duration kSampleLongest = 5s;
constexpr Duration kFleetAgain = 20s;
constexpr std::uint32_t kFleetAtLeast = 3;
constexpr double kTogether = 900;  // seconds: who was in a call then spoke last when it began
constexpr Duration kTmuxDeadline = 5s;

// An idle JavaScript runtime uses up to 30 ms a second; less than this says nothing.
constexpr int kBusyMsPerSecond = 100;
constexpr std::uint64_t kBusyDiskBytes = std::uint64_t{256} * 1024;

bool is_silent(Verdict verdict) {
  return verdict == Verdict::suspect || verdict == Verdict::stalled;
}

/// Silent, or nobody can tell.
bool is_quiet(Verdict verdict) { return is_silent(verdict) || verdict == Verdict::unknown; }

bool fell_silent_together(const Heartbeat& one, const Heartbeat& other) {
  if (one.silent_since <= 0 || other.silent_since <= 0) return true;
  return std::abs(one.silent_since - other.silent_since) <= kTogether;
}

bool counts_in_fleet(const Heartbeat& heartbeat) {
  return !is_terminal(heartbeat.status) && heartbeat.status != Status::starting &&
         heartbeat.verdict != Verdict::dead && heartbeat.verdict != Verdict::looping;
}

}  // namespace

void Keeper::look_around(Instant now) {
  if (life_ends_at_ && now >= *life_ends_at_) {
    life_ends_at_.reset();
    order_own_stop("--max-life");
  }
  if (poll_at_ && now >= *poll_at_) {
    // The first beats of a life are looked for early; later the keeper's own beat is often enough.
    const Duration waited = now - life_began_at_;
    poll_at_ = waited < settings_.agent.beat ? std::optional(now + std::max(waited, Duration{1s}))
                                             : std::nullopt;
  }
  if (files_changed_) {
    files_changed_ = false;
    const ActivityFrom from = shares_worktree() ? ActivityFrom::log : ActivityFrom::files;
    batch_.signals.push_back({.is = Kind::activity, .from = from});
  }
  if (sample_again_at_ && now >= *sample_again_at_) compare_samples(now);
  if (sample_at_ && now >= *sample_at_) sample();
  if (fleet_silent_ || is_silent(recorder_->judge().verdict())) look_at_fleet(now);
}

/// Whether it computed or received anything since the sample before.
void Keeper::compare_samples(Instant now) {
  sample_again_at_.reset();
  const auto before = std::exchange(used_before_, std::nullopt);
  const auto used = before && now > before->at ? used_so_far() : std::nullopt;
  if (!used) return;
  const bool computes = (used->cpu - before->cpu) * 1000 >= (now - before->at) * kBusyMsPerSecond;
  if (computes || used->disk_bytes >= before->disk_bytes + kBusyDiskBytes) {
    batch_.signals.push_back({.is = Kind::activity, .from = ActivityFrom::cpu});
  }
  if (used->received && before->received && *used->received > *before->received) {
    batch_.signals.push_back({.is = Kind::activity, .from = ActivityFrom::socket});
  }
}

/// Before a deadline of the judge there is time for two samples: a sign that comes at the deadline
/// itself comes too late.
void Keeper::plan_sample() {
  const auto next = recorder_->next();
  if ((!process_ && !stores_) || !next) {
    sample_at_.reset();
    sample_again_at_.reset();
    sample_for_.reset();
    return;
  }
  if (sample_for_ == next) return;
  sample_for_ = next;
  const Instant now = machine_.clock.now();
  const Duration ahead = std::clamp((*next - now) / 8, kSampleShortest, kSampleLongest);
  sample_at_ = *next - now > kSampleShortest ? std::optional(*next - ahead) : std::nullopt;
}

void Keeper::sample() {
  sample_at_.reset();
  if (process_) used_before_ = used_so_far();
  if (stores_ && stores_->look()) look_soon();
  const Instant now = machine_.clock.now();
  if (sample_for_ > now) sample_again_at_ = now + (*sample_for_ - now) / 2;
  if (!settings_.agent.tmux.empty()) look_at_terminal();
  if (settings_.agent.worktree.empty() || files_look_) return;
  // What changed before its last real sign was part of that, and is no news.
  const Account account = tend::account(recorder_->judge(), now + recorder_->shift());
  if (account.real.seen) files_since_ = std::max(files_since_, now - account.real.age);
  const WallTime since = machine_.clock.wall() - (now - files_since_);
  files_look_ = machine_.version_control.changed_since(
      settings_.agent.worktree, since, excluded(), [this, now](Result<bool> changed) {
        const Subscribed done = std::move(files_look_);
        if (!changed || !*changed) return;
        files_since_ = now;
        files_changed_ = true;
        look_soon();
      });
}

/// Where several work, a change of files proves that one of them does, and not which.
bool Keeper::shares_worktree() {
  bool shares = false;
  const auto look = [&](const KnownAgent& other, Folder* open) {
    if (shares || open == nullptr || !other.problem.empty()) return;
    if (is_terminal(other.heartbeat.status) || open->path() == folder_->path()) return;
    const auto agent = read_agent_file(*open);
    shares = agent && agent->worktree == settings_.agent.worktree;
  };
  return !for_each_agent(*home_, look) || shares;
}

std::optional<Keeper::Used> Keeper::used_so_far() {
  Used used{.at = machine_.clock.now()};
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all) return std::nullopt;
  const auto grouped = machine_.processes.members(record_.group);
  const auto ours = members(*all, belonging(), grouped, machine_.processes.self());
  used.received = machine_.processes.received_bytes(ours);
  for (const ProcessId& id : ours) {
    used.disk_bytes += machine_.processes.disk_bytes(id);
    const auto seen =
        std::ranges::find_if(*all, [&](const Seen& one) { return one.id.pid == id.pid; });
    if (seen != all->end()) used.cpu += seen->cpu;
  }
  return used;
}

/// An agent runs each tool in a process group of its own. Whether one is there proves neither work
/// nor a hang, but tells a person where to look.
void Keeper::note_tool_processes() {
  const auto all = machine_.processes.all(kMarkVariable);
  if (!all || !process_) return;
  const auto seen_as = [&](const ProcessId& id) {
    return std::ranges::find_if(*all, [&](const Seen& one) { return one.id == id; });
  };
  const auto main = seen_as(record_.process);
  if (main == all->end()) return;
  std::int64_t tool = 0;
  const auto grouped = machine_.processes.members(record_.group);
  for (const ProcessId& id : members(*all, belonging(), grouped, machine_.processes.self())) {
    const auto seen = seen_as(id);
    if (seen != all->end() && seen->job != main->job) tool = id.pid;
  }
  const std::string said =
      tool == 0 ? "a tool is open, and no process of a tool is there: its result may be lost"
                : fmt::format("a tool is open, and its process {} is there", tool);
  recorder_->remark(said);
  event("note", said, "", false);
}

double Keeper::silent_since(Verdict verdict) const {
  if (!is_quiet(verdict)) return 0;
  const Judge& judge = recorder_->judge();
  const SignAge real = account(judge, machine_.clock.now() + recorder_->shift()).real;
  return real.seen ? calendar_seconds(machine_.clock.wall() - real.age) : 0;
}

/// Many silent at once is our fault, or the network's; not theirs. Whoever sees that says `unknown`
/// of its own agent, so for the others that is the same. Whoever fell silent at another time has
/// its own trouble.
void Keeper::look_at_fleet(Instant now) {
  if (fleet_looked_ && now - *fleet_looked_ < kFleetAgain) return;
  const Verdict own = recorder_->judge().verdict();
  const bool matters = is_silent(own) || (fleet_silent_ && own == Verdict::unknown);
  std::uint32_t silent = 1;
  std::uint32_t all = 1;
  const auto count = [&](const KnownAgent& agent, Folder* open) {
    if (!matters || !agent.problem.empty() || !counts_in_fleet(agent.heartbeat)) return;
    if (agent.folder->path() == folder_->path()) return;
    const bool quiet = is_quiet(agent.heartbeat.verdict);
    if (quiet && !has_keeper(machine_, *open)) return;  // nobody stands by that word
    ++all;
    if (quiet && fell_silent_together(agent.heartbeat, pulse_->says())) ++silent;
  };
  if (!for_each_agent(*home_, count)) return;
  fleet_looked_ = now;
  fleet_silent_ = matters && silent >= kFleetAtLeast && silent * 2 >= all;
  if (fleet_silent_) batch_.signals.push_back({.is = Kind::fleet, .count = silent, .of = all});
}

/// The terminal of a watched session: that it was painted is a weak sign.
void Keeper::look_at_terminal() {
  if (tmux_look_) return;
  Run run;
  run.command = {"tmux", "display-message", "-p", "-t", settings_.agent.tmux, "#{window_activity}"};
  run.deadline = kTmuxDeadline;
  run.most_output = 256;
  tmux_look_ = machine_.processes.run(run, [this](Result<Ran> ran) {
    const Subscribed done = std::move(tmux_look_);
    if (!ran || ran->timed_out || ran->exit != ExitStatus{ExitStatus::How::code, 0}) return;
    const bool first = tmux_activity_.empty();
    if (std::exchange(tmux_activity_, ran->output) == ran->output || first) return;
    batch_.signals.push_back({.is = Kind::activity, .from = ActivityFrom::terminal});
    look_soon();
  });
}

}  // namespace tend
