// Everything is read anew for every answer, and written only over what was read: whoever is stopped
// in the middle of it finds, when it goes on, that its picture is of the past.
#include "run/lease_desk.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "act/ending.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/roster.h"
#include "run/store_watch.h"
#include "store/home.h"
#include "store/lease_files.h"
#include "store/lease_mirror.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr char kBetweenMarks = ';';
constexpr int kMostTries = 20;  // of writing, while others write too
constexpr Duration kKillFor = 5s;

std::string mark_without_fence(const Folder& home, std::string_view name) {
  return fmt::format("{}/{}/{}#", home.path(), kLeasesFolder, name);
}

LeaseNo no(LeaseRefusal refusal, std::string why, std::optional<LeaseRecord> seen = {},
           Duration again_in = {}) {
  return {refusal, std::move(why), again_in, std::move(seen)};
}

LeaseNo failed(const Error& error) { return no(LeaseRefusal::failed, error.text); }

std::string words_of(const LeaseHolder& holder) {
  return fmt::format("{} (process {})", on_one_line(holder.id), holder.process.pid);
}

/// "orchestrator is held by boss (process 12) under fence 3, for 2m41s unless it is renewed"
std::string words_of_held(const LeaseRecord& record, const LeaseTaking& taking) {
  const auto in = format_duration(std::chrono::ceil<std::chrono::seconds>(taking.again_in));
  if (taking.flapping) {
    return fmt::format("{} is held back for {}: {}; its last holder was {} under fence {}",
                       record.name, in, taking.why, words_of(record.holder), record.fence);
  }
  return fmt::format("{} is held by {} under fence {}, for {} unless it is renewed", record.name,
                     words_of(record.holder), record.fence, in);
}

}  // namespace

std::string lease_mark(const Folder& home, std::string_view name, std::uint64_t fence) {
  return mark_without_fence(home, name) + std::to_string(fence);
}

bool acts_under(std::string_view marks, const Folder& home, std::string_view name,
                std::uint64_t fence) {
  const std::string before = mark_without_fence(home, name);
  while (!marks.empty()) {
    const std::string_view one = marks.substr(0, marks.find(kBetweenMarks));
    marks.remove_prefix(std::min(marks.size(), one.size() + 1));
    if (!one.starts_with(before)) continue;
    std::uint64_t number = 0;
    const char* const end = one.data() + one.size();
    const auto read = std::from_chars(one.data() + before.size(), end, number);
    if (read.ec == std::errc{} && read.ptr == end && number <= fence) return true;
  }
  return false;
}

LeaseHolder LeaseDesk::holder_of(const ProcessId& process, std::string id, std::string agent) {
  if (id.empty()) id = fmt::format("pid {}@{}", process.pid, process.start_ticks);
  return {process, std::move(id), std::move(agent)};
}

// --- What is known ------------------------------------------------------------------------------

HolderIs LeaseDesk::holder_is(const ProcessId& process) const {
  const ProcessId self = machine_.processes.self();
  if (process.boot_id != self.boot_id) return HolderIs::dead;
  if (process.pid_ns != self.pid_ns) return HolderIs::unknown;
  switch (machine_.processes.open(process)->look().state) {
    case RunState::running:
      return HolderIs::running;
    case RunState::stopped:
      return HolderIs::stopped;
    case RunState::unknown:
      return HolderIs::unknown;
    case RunState::zombie:
    case RunState::gone:
    case RunState::reused:
      break;
  }
  return HolderIs::dead;
}

LeaseAgent LeaseDesk::agent_is(const std::string& agent) const {
  LeaseAgent facts{.meant = !agent.empty()};
  if (agent.empty()) return facts;
  auto known = find_agent(machine_.folders, home_, agent);
  if (!known) return facts;
  const Entry entry = look_at_agent(machine_, *std::move(known), Source::heartbeat);
  facts.known = entry.known.problem.empty();
  facts.kept = entry.keeper == KeeperIs::alive;
  facts.over = entry.over();
  facts.verdict = entry.verdict;
  return facts;
}

/// Where its clock is not ours, from when this version was seen first.
Duration LeaseDesk::age_of(const LeaseRecord& record) {
  const ProcessId self = machine_.processes.self();
  const Duration now = machine_.clock.awake();
  if (record.clock.boot_id != self.boot_id) return record.ttl;
  if (record.clock.pid_ns == self.pid_ns) return std::max(Duration{}, now - record.renewed);
  auto& [version, since] = first_seen_[record.name];
  if (version != record.version) {
    version = record.version;
    since = now;
  }
  return now - since;
}

std::size_t LeaseDesk::takeovers_of(const LeaseRecord& record) const {
  const Duration now = machine_.clock.awake();
  const Duration within = lease_flaps_within(record.ttl, record.lag);
  return static_cast<std::size_t>(std::ranges::count_if(
      record.takeovers, [&](Duration at) { return at <= now && now - at <= within; }));
}

LeaseFacts LeaseDesk::facts_of(const LeaseRecord& record) {
  LeaseFacts facts{.held = record.held, .ttl = record.ttl};
  if (record.clock.boot_id == machine_.processes.self().boot_id) {
    facts.lag = record.lag;
    facts.takeovers = takeovers_of(record);
  }
  if (!record.held) return facts;
  facts.holder = holder_is(record.holder.process);
  facts.agent = agent_is(record.holder.agent);
  facts.age = age_of(record);
  return facts;
}

Result<LeaseLook> LeaseDesk::look(const std::string& name) {
  auto record = leases_.read(name);
  if (!record) return std::unexpected(record.error());
  LeaseLook look;
  look.record.name = name;
  if (*record) {
    look.record = **std::move(record);
    look.facts = facts_of(look.record);
  }
  look.taking = may_take(look.facts);
  if (look.record.version == 0) look.taking.because = LeaseFree::never_held;
  look.in_force = is_in_force(look.facts);
  return look;
}

Result<std::vector<LeaseLook>> LeaseDesk::look_at_all(std::vector<std::string>& problems) {
  const auto names = leases_.list();
  if (!names) return std::unexpected(names.error());
  std::vector<LeaseLook> looks;
  for (const std::string& name : *names) {
    auto one = look(name);
    if (!one) {
      problems.push_back(one.error().text);
    } else if (one->record.version > 0) {
      looks.push_back(*std::move(one));
    }
  }
  return looks;
}

Result<std::vector<LeaseRecord>> LeaseDesk::held_by(const ProcessId& process) {
  const auto names = leases_.list();
  if (!names) return std::unexpected(names.error());
  std::vector<LeaseRecord> held;
  for (const std::string& name : *names) {
    auto record = leases_.read(name);
    if (record && *record && (*record)->held && (*record)->holder.process == process) {
      held.push_back(**std::move(record));
    }
  }
  return held;
}

// --- What its holder may do ---------------------------------------------------------------------

/// A mirror that cannot be written is no reason to take a lease away.
LeaseAnswer LeaseDesk::mirrored(LeaseRecord record) {
  LeaseGrant grant{.record = std::move(record), .problem = {}};
  if (grant.record.mirror.empty()) return grant;
  const LockHolder writer{.id = grant.record.holder.id, .pid = machine_.processes.self().pid};
  const auto lives = [this](std::int64_t pid, const std::optional<WallTime>& started) {
    return process_lives(machine_, pid, started);
  };
  const auto written =
      write_lease_mirror(machine_.files, grant.record, machine_.clock.wall(), writer, lives);
  if (!written) grant.problem = written.error().text;
  return grant;
}

LeaseAnswer LeaseDesk::change_own(const std::string& name, const ProcessId& holder,
                                  std::uint64_t fence, bool renews, const Change& change) {
  for (int i = 0; i < kMostTries; ++i) {
    const Duration began = machine_.clock.awake();
    const auto seen = look(name);
    if (!seen) return std::unexpected(failed(seen.error()));
    const LeaseRecord& record = seen->record;
    if (record.version == 0) {
      return std::unexpected(no(LeaseRefusal::free, "there is no lease " + name));
    }
    if (fence != 0 && record.fence != fence) {
      return std::unexpected(no(
          LeaseRefusal::lost,
          fmt::format("{} is under fence {} by now, not {}", name, record.fence, fence), record));
    }
    if (record.holder.process != holder) {
      return std::unexpected(
          no(LeaseRefusal::not_the_holder,
             record.held
                 ? fmt::format("{} is held by {}, not by process {}", name, words_of(record.holder),
                               holder.pid)
                 : fmt::format("{} is free, and process {} was not its holder", name, holder.pid),
             record));
    }
    if (!record.held) {
      return std::unexpected(no(LeaseRefusal::lost, name + " was given back", record));
    }
    if (const LeaseRenewing may = may_renew(seen->facts); renews && !may.may) {
      return std::unexpected(no(may.refusal, fmt::format("{}: {}", name, may.why), record));
    }
    LeaseRecord next = record;
    ++next.version;
    next.clock = machine_.processes.self();
    // Who gives back what it did not have to renew any more was not late.
    if (renews || seen->facts.age >= record.ttl) {
      next.lag = lease_lag(record.lag, lease_lateness(seen->facts.age, record.ttl));
    }
    if (renews) {
      next.renewed = began;
      next.renewed_at = machine_.clock.wall();
    }
    change(next);
    const auto written = leases_.write(next);
    if (!written) return std::unexpected(failed(written.error()));
    if (!*written) continue;
    LeaseAnswer grant = mirrored(std::move(next));
    grant->flapping = is_flapping(seen->facts);
    return grant;
  }
  return std::unexpected(
      no(LeaseRefusal::busy, name + " is written by others all the time; try again"));
}

LeaseAnswer LeaseDesk::renew(const std::string& name, const ProcessId& holder,
                             std::uint64_t fence) {
  return change_own(name, holder, fence, true, [](LeaseRecord&) {});
}

LeaseAnswer LeaseDesk::renew_with(const std::string& name, const ProcessId& holder,
                                  std::uint64_t fence, const LeaseRun& run) {
  return change_own(name, holder, fence, true, [&](LeaseRecord& next) { next.run = run; });
}

LeaseAnswer LeaseDesk::release(const std::string& name, const ProcessId& holder,
                               std::uint64_t fence, const std::string& why) {
  return change_own(name, holder, fence, false, [&](LeaseRecord& next) {
    next.held = false;
    next.run = {};
    next.why_free = why;
  });
}

LeaseAnswer LeaseDesk::check(const std::string& name, std::uint64_t fence) {
  auto seen = look(name);
  if (!seen) return std::unexpected(failed(seen.error()));
  LeaseRecord& record = seen->record;
  if (record.version == 0) {
    return std::unexpected(no(LeaseRefusal::free, "there is no lease " + name));
  }
  if (record.fence != fence) {
    return std::unexpected(
        no(LeaseRefusal::stale_fence,
           fmt::format("{} is under fence {} by now, not {}", name, record.fence, fence), record));
  }
  if (!seen->in_force.may) {
    return std::unexpected(no(seen->in_force.refusal,
                              fmt::format("{}, fence {}: {}", name, fence, seen->in_force.why),
                              record));
  }
  return LeaseGrant{.record = std::move(record), .problem = {}};
}

// --- Being granted it ---------------------------------------------------------------------------

class LeaseDesk::Acquiring final : public Subscription {
 public:
  Acquiring(LeaseDesk& desk, LeaseRequest request, Answered answered)
      : desk_(desk), request_(std::move(request)), answered_(std::move(answered)) {
    later([this] { attempt(); });
  }

 private:
  void later(Callback callback) {
    timer_ = desk_.machine_.loop.at(desk_.machine_.clock.now(), std::move(callback));
  }

  /// The last thing that is done: `answered_` may destroy this.
  void answer(const LeaseAnswer& answer) {
    const auto answered = std::move(answered_);
    answered(answer);
  }
  void refuse(LeaseNo why) { answer(std::unexpected(std::move(why))); }

  void attempt() {
    if (++tries_ > kMostTries) {
      return refuse(
          no(LeaseRefusal::busy, request_.name + " is written by others all the time; try again"));
    }
    auto seen = desk_.look(request_.name);
    if (!seen) return refuse(failed(seen.error()));
    seen_ = *std::move(seen);
    const LeaseRenewing fit =
        may_vouch(desk_.holder_is(request_.holder.process), desk_.agent_is(request_.holder.agent));
    if (!fit.may) {
      return refuse(no(fit.refusal, fmt::format("{} cannot hold {}: {}", words_of(request_.holder),
                                                request_.name, fit.why)));
    }
    if (is_ours() && seen_.in_force.may) return renew();
    if (!seen_.taking.may) {
      const Duration again_in = seen_.taking.again_in;
      return refuse(no(LeaseRefusal::held, words_of_held(seen_.record, seen_.taking), seen_.record,
                       again_in));
    }
    if (!import_mirror()) return;
    if (is_clean(seen_.taking.because)) return write();
    ended_.clear();
    end_left({.mark = seen_.record.run.mark,
              .root = seen_.record.run.first,
              .group = seen_.record.run.group,
              .not_ = {}});
  }

  [[nodiscard]] bool is_ours() const {
    return seen_.record.held && seen_.record.holder.process == request_.holder.process;
  }

  void renew() { answer(desk_.renew(request_.name, request_.holder.process, seen_.record.fence)); }

  /// What other tools know of a leader. False if it was refused for that.
  bool import_mirror() {
    epoch_ = 0;
    if (request_.mirror.empty()) return true;
    const auto mirror =
        read_lease_mirror(desk_.machine_.files, request_.mirror, desk_.machine_.clock.wall());
    if (!mirror) {
      refuse(failed(mirror.error()));
      return false;
    }
    if (!*mirror) return true;
    epoch_ = (*mirror)->epoch;
    if (epoch_ <= seen_.record.fence || (*mirror)->valid_for == Duration::zero()) return true;
    refuse(no(LeaseRefusal::held,
              fmt::format("{} leads in epoch {}, as {} says; free in {} unless it is renewed",
                          on_one_line((*mirror)->leader), epoch_, on_one_line(request_.mirror),
                          format_duration((*mirror)->valid_for)),
              {}, (*mirror)->valid_for));
    return false;
  }

  /// One that is demoted lives, and may put its things in order first; all others had their time.
  void end_left(Belonging who) {
    // An ending leaves only those above ourselves: whoever asks from below an old grant.
    if (!who.mark.empty() && !ended_.insert(who.mark).second) {
      return refuse(no(LeaseRefusal::held,
                       fmt::format("{}: we are ourselves below what acted under an older grant; "
                                   "ask from elsewhere",
                                   request_.name),
                       seen_.record));
    }
    EndOrder order{.who = std::move(who),
                   .variable = kLeaseMarkVariable,
                   .now = seen_.taking.because != LeaseFree::demoted,
                   .interrupt_for = {},
                   .terminate_for = seen_.facts.ttl / 6,
                   .kill_for = kKillFor,
                   .may_act = {}};
    ending_ = std::make_unique<Ending>(
        desk_.machine_, std::move(order),
        [this](const Ended& ended) { later([this, ended] { after_ending(ended); }); });
  }

  void after_ending(const Ended& ended) {
    ending_.reset();
    if (!ended.all_gone) {
      return refuse(no(LeaseRefusal::held,
                       fmt::format("{}: what acted under fence {} is not gone: {}", request_.name,
                                   seen_.record.fence, ended.how),
                       seen_.record));
    }
    const auto all = desk_.machine_.processes.all(kLeaseMarkVariable);
    if (!all) return refuse(failed(all.error()));
    const std::string& group = seen_.record.run.group;
    if (!group.empty()) desk_.machine_.processes.remove_group(group);
    for (const Seen& one : *all) {
      if (is_left(one)) return end_left({.mark = *one.mark, .root = {}, .group = {}, .not_ = {}});
    }
    write();
  }

  [[nodiscard]] bool is_left(const Seen& one) const {
    return !one.zombie && one.mark &&
           acts_under(*one.mark, desk_.home_, request_.name, seen_.record.fence);
  }

  void write() {
    const LeaseRecord next = granted();
    const auto written = desk_.leases_.write(next);
    if (!written) return refuse(failed(written.error()));
    if (!*written) return later([this] { attempt(); });
    // Who was stopped meanwhile may have lost it before it knows that it has it.
    if (desk_.machine_.clock.awake() - next.renewed >= next.ttl) {
      return refuse(no(LeaseRefusal::lost,
                       fmt::format("{}: to write it down took longer than its time, which is over; "
                                   "ask again",
                                   request_.name),
                       next));
    }
    LeaseAnswer grant = desk_.mirrored(next);
    grant->because = seen_.taking.because;
    grant->flapping = !is_clean(grant->because) && desk_.takeovers_of(next) >= kFlapping;
    answer(grant);
  }

  [[nodiscard]] LeaseRecord granted() const {
    Machine& machine = desk_.machine_;
    const ProcessId self = machine.processes.self();
    LeaseRecord next;
    next.name = request_.name;
    next.version = seen_.record.version + 1;
    next.fence = std::max(seen_.record.fence, epoch_) + 1;
    next.held = true;
    next.holder = request_.holder;
    next.ttl = request_.ttl;
    next.renewed = machine.clock.awake();
    next.clock = self;
    next.granted_at = machine.clock.wall();
    next.renewed_at = next.granted_at;
    next.mirror = request_.mirror;
    // Of another boot, times say nothing.
    if (seen_.record.clock.boot_id == self.boot_id) {
      next.takeovers = seen_.record.takeovers;
      next.lag = seen_.record.lag;
    }
    // Who is dead was not late.
    if (seen_.taking.because == LeaseFree::expired) {
      next.lag = lease_lag(next.lag, lease_lateness(seen_.facts.age, seen_.facts.ttl));
    }
    if (!is_clean(seen_.taking.because)) next.takeovers.push_back(next.renewed);
    if (next.takeovers.size() > kMostTakeovers) next.takeovers.erase(next.takeovers.begin());
    return next;
  }

  LeaseDesk& desk_;
  LeaseRequest request_;
  Answered answered_;
  int tries_ = 0;
  std::set<std::string> ended_;  // marks
  LeaseLook seen_;
  std::uint64_t epoch_ = 0;
  std::unique_ptr<Ending> ending_;
  Subscribed timer_;
};

Subscribed LeaseDesk::acquire(const LeaseRequest& request, Answered answered) {
  return std::make_unique<Acquiring>(*this, request, std::move(answered));
}

}  // namespace tend
