// Every step that takes the lease for granted asks the clock first, after it was written and not
// before: whoever was stopped in between finds out here, or is found out by its successor.
#include "run/lease_runner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/name.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookAgain = 5s;        // without a hint
constexpr Duration kShortestRetry = 50ms;  // of a renewal that failed
constexpr Duration kBeginsAgain = 1s;      // what could not be written may not be for a while
constexpr int kRetries = 12;               // of that in one time of the lease
constexpr int kSignalBase = 128;

int exit_code_of(const ExitStatus& exit) {
  switch (exit.how) {
    case ExitStatus::How::code:
      return exit.value;
    case ExitStatus::How::signal:
      return kSignalBase + exit.value;
    case ExitStatus::How::unknown:
      break;
  }
  return 1;
}

int exit_code_of(Order order) {
  switch (order) {
    case Order::hang_up:
      return kSignalBase + 1;
    case Order::interrupt:
      return kSignalBase + 2;
    default:
      return kSignalBase + 15;
  }
}

bool is_variable(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

LeaseRunner::LeaseRunner(LeaseDesk& desk, Settings settings, std::function<void(const End&)> done)
    : desk_(desk),
      machine_(desk.machine()),
      settings_(std::move(settings)),
      done_(std::move(done)) {
  for (const Order each : {Order::interrupt, Order::terminate, Order::hang_up}) {
    orders_.push_back(machine_.loop.on(each, [this, each] { order(each); }));
  }
  look_soon();
}

void LeaseRunner::say(const std::string& text) const {
  if (settings_.say) settings_.say(text);
}

/// The last thing that is done: `done_` may destroy this.
void LeaseRunner::finish(const End& end) {
  stage_ = Stage::ended;
  note_queued(false);
  leave_line();
  timer_.reset();
  const auto done = std::move(done_);
  done(end);
}

Duration LeaseRunner::age() const { return machine_.clock.awake() - record_.renewed; }

// --- Waiting ------------------------------------------------------------------------------------

void LeaseRunner::look_soon() {
  if (soon_) return;
  soon_ = machine_.loop.at(machine_.clock.now(), [this] {
    const Subscribed held = std::move(soon_);
    look();
  });
}

/// Who came first tries at once, the next a moment later, and so on.
void LeaseRunner::look() {
  if (stage_ != Stage::waiting || asking_) return;
  if (machine_.clock.now() < not_before_) {
    timer_ = machine_.loop.at(not_before_, [this] { look_soon(); });
    return;
  }
  const auto seen = desk_.look(settings_.request.name);
  if (!seen) return finish({.how = End::How::refused, .exit_code = 1, .why = seen.error().text});
  if (!settings_.waits) return try_it();
  if (!seen->taking.may) {
    free_since_.reset();
    stand_in_line();
    say_held_back(*seen);
    return wait_for(seen->taking.again_in, seen->record);
  }
  const Instant now = machine_.clock.now();
  if (!free_since_ || free_version_ != seen->record.version) free_since_ = now;
  free_version_ = seen->record.version;
  std::size_t ahead = 0;
  if (ticket_) ahead = ticket_->ahead().value_or(0);
  const Instant turn = *free_since_ + kLeaseTurn * static_cast<Duration::rep>(ahead);
  if (now >= turn) return try_it();
  wait_for(turn - now, std::nullopt);
}

/// Once for each grant.
void LeaseRunner::say_held_back(const LeaseLook& seen) {
  if (!seen.taking.flapping || held_back_ == seen.record.fence) return;
  held_back_ = seen.record.fence;
  const auto in = std::chrono::ceil<std::chrono::seconds>(seen.taking.again_in);
  say(fmt::format("{} is held back for {}: {}", seen.record.name, format_duration(in),
                  seen.taking.why));
}

/// A queue that cannot be kept leaves it to chance who is first.
void LeaseRunner::stand_in_line() {
  if (ticket_) return;
  auto ticket = LeaseTicket::take(desk_.home(), settings_.request.name);
  if (ticket) ticket_ = *std::move(ticket);
}

void LeaseRunner::leave_line() {
  if (ticket_) ticket_->leave();
  ticket_.reset();
  holder_exit_.reset();
  holder_.reset();
  changes_.reset();
  soon_.reset();
}

void LeaseRunner::note_queued(bool waits) {
  if (std::exchange(is_queued_, waits) == waits) return;
  if (settings_.queued) settings_.queued(waits);
}

void LeaseRunner::wait_for(Duration at_most, const std::optional<LeaseRecord>& held) {
  note_queued(true);
  if (!changes_) {
    const std::string folder =
        fmt::format("{}/{}/{}", desk_.home().path(), kLeasesFolder, settings_.request.name);
    changes_ = machine_.loop.on_change(folder, [this] { look_soon(); });
  }
  if (held && held->held && (!holder_ || holder_->id() != held->holder.process)) {
    holder_ = machine_.processes.open(held->holder.process);
    holder_exit_ = holder_->on_exit([this] { look_soon(); });
    if (!told_waiting_) {
      told_waiting_ = true;
      say(fmt::format("waiting for {}: held by {} (process {}) under fence {}", held->name,
                      held->holder.id, held->holder.process.pid, held->fence));
    }
  }
  const Duration wait = at_most > Duration::zero() ? std::min(at_most, kLookAgain) : kLookAgain;
  timer_ = machine_.loop.at(machine_.clock.now() + wait, [this] { look_soon(); });
}

void LeaseRunner::try_it() {
  timer_.reset();
  asking_ =
      desk_.acquire(settings_.request, [this](const LeaseAnswer& answer) { answered(answer); });
}

void LeaseRunner::answered(const LeaseAnswer& answer) {
  const LeaseAnswer copy = answer;
  const Subscribed held = std::move(asking_);  // until this is over
  if (copy) {
    record_ = copy->record;
    if (!copy->problem.empty()) say(copy->problem);
    is_calm_ = false;
    if (copy->flapping && !is_clean(copy->because) && settings_.flaps) settings_.flaps(record_);
    return start();
  }
  const LeaseNo& no = copy.error();
  const bool may_change = no.refusal == LeaseRefusal::held || no.refusal == LeaseRefusal::busy;
  if (!settings_.waits || !may_change) {
    return finish({.how = End::How::refused, .exit_code = 1, .why = no.why, .refusal = no.refusal});
  }
  stand_in_line();
  wait_for(no.again_in > Duration::zero() ? no.again_in : kLeaseTurn, no.seen);
}

// --- Leading ------------------------------------------------------------------------------------

Launch LeaseRunner::launch_of(const std::string& group) const {
  Launch launch{.command = settings_.command,
                .environment = settings_.environment,
                .working_folder = settings_.working_folder,
                .output = {},
                .error = {},
                .inherit_input = true,
                .inherit_output = true,
                .input = {},
                .extra = {},
                .group = group,
                .sign = {}};
  const auto set = [&](std::string_view name, std::string_view value) {
    std::erase_if(launch.environment,
                  [&](const std::string& entry) { return is_variable(entry, name); });
    launch.environment.push_back(fmt::format("{}={}", name, value));
  };
  set("TEND_LEASE", record_.name);
  set("TEND_FENCE", std::to_string(record_.fence));
  set("TEND_HOME", desk_.home().path());
  set(kLeaseMarkVariable, run_.mark);
  return launch;
}

/// Nothing runs before it is written down, and nothing is let through on a grant that grew old.
void LeaseRunner::start() {
  leave_line();
  stage_ = Stage::leading;
  note_queued(false);  // before its program has anything to say
  const auto outer = std::ranges::find_if(settings_.environment, [](const std::string& entry) {
    return is_variable(entry, kLeaseMarkVariable);
  });
  run_.mark = lease_mark(desk_.home(), record_.name, record_.fence);
  if (outer != settings_.environment.end()) {
    run_.mark = outer->substr(kLeaseMarkVariable.size() + 1) + ";" + run_.mark;
  }
  run_.group = machine_.processes.make_group(fmt::format(
      "lease-{:016x}-{}", Name(desk_.home().path() + "/" + record_.name).hash(), record_.fence));
  auto child = machine_.processes.spawn(launch_of(run_.group));
  if (!child) {
    why_ = child.error().text;
    drop_group();
    std::ignore = desk_.release(record_.name, record_.holder.process, record_.fence);
    return finish({.how = End::How::not_started,
                   .exit_code = child.error().exit_code,
                   .why = why_,
                   .fence = record_.fence});
  }
  run_.first = (*child)->id();
  const auto written = desk_.renew_with(record_.name, record_.holder.process, record_.fence, run_);
  if (written) record_ = written->record;
  if (!written || age() >= lease_asks_after(record_.ttl)) {
    child->reset();
    return begin_again(written ? "it took too long to begin" : written.error().why);
  }
  auto program = (*child)->release();
  if (!program) {
    drop_group();
    std::ignore = desk_.release(record_.name, record_.holder.process, record_.fence);
    return finish({.how = End::How::not_started,
                   .exit_code = program.error().exit_code,
                   .why = program.error().text,
                   .fence = record_.fence});
  }
  program_ = *std::move(program);
  program_exit_ = program_->on_exit([this] { program_ended(); });
  renew_in(lease_renews_after(record_.ttl) - age());
}

void LeaseRunner::drop_group() {
  if (!run_.group.empty()) machine_.processes.remove_group(run_.group);
}

/// Nothing was let through: it is as if it had never been granted.
void LeaseRunner::begin_again(const std::string& why) {
  drop_group();
  std::ignore = desk_.release(record_.name, record_.holder.process, record_.fence);
  run_ = {};
  stage_ = Stage::waiting;
  not_before_ = machine_.clock.now() + kBeginsAgain;
  if (settings_.waits) return look_soon();
  finish({.how = End::How::lost, .exit_code = kExitLeaseLost, .why = why, .fence = record_.fence});
}

void LeaseRunner::renew_in(Duration wait) {
  timer_ = machine_.loop.at(machine_.clock.now() + std::max(wait, Duration{}), [this] { renew(); });
}

/// Nobody renews for a program that does not run, as one that is stopped.
LeaseAnswer LeaseRunner::ask_to_renew() {
  if (program_->look().state == RunState::stopped) {
    return std::unexpected(LeaseNo{.refusal = LeaseRefusal::not_alive,
                                   .why = record_.name + ": its program is stopped",
                                   .again_in = {},
                                   .seen = {}});
  }
  return desk_.renew(record_.name, record_.holder.process, record_.fence);
}

void LeaseRunner::renew() {
  const auto answer = ask_to_renew();
  if (answer) {
    record_ = answer->record;
    note_calm(*answer);
    if (std::exchange(renew_problem_, answer->problem) != answer->problem &&
        !answer->problem.empty()) {
      say(answer->problem);
    }
    return renew_in(lease_renews_after(record_.ttl) - age());
  }
  const LeaseNo& no = answer.error();
  if (std::exchange(renew_problem_, no.why) != no.why) say("not renewed: " + no.why);
  const bool is_over =
      no.refusal == LeaseRefusal::lost || no.refusal == LeaseRefusal::not_the_holder ||
      no.refusal == LeaseRefusal::free || age() >= lease_insists_after(record_.ttl);
  if (is_over) return lose(no.why, true);
  if (no.refusal == LeaseRefusal::demoted || age() >= lease_asks_after(record_.ttl)) {
    return lose(no.why, false);
  }
  const Duration retry = std::max(kShortestRetry, record_.ttl / kRetries);
  renew_in(std::min(retry, lease_asks_after(record_.ttl) - age()));
}

/// Only of a lease that went from hand to hand there is something to say.
void LeaseRunner::note_calm(const LeaseGrant& grant) {
  if (is_calm_ || grant.flapping || record_.takeovers.size() < kFlapping) return;
  is_calm_ = true;
  if (settings_.calm) settings_.calm();
}

/// It is asked to end, and has to before others may take the lease.
void LeaseRunner::lose(const std::string& why, bool at_once) {
  timer_.reset();
  EndOrder order;
  order.now = at_once;
  order.interrupt_for = {};
  order.terminate_for =
      std::max(Duration{}, lease_insists_after(record_.ttl) - std::max(age(), Duration{}));
  end_program(std::move(order), true, why);
}

/// Its first process is over. What it left behind acts under the lease too.
void LeaseRunner::program_ended() {
  if (ending_) return;
  EndOrder order;
  order.interrupt_for = {};
  order.terminate_for = record_.ttl / 6;
  end_program(std::move(order), false, "");
}

void LeaseRunner::end_program(EndOrder order, bool lost, std::string why) {
  stage_ = Stage::closing;
  if (lost) {
    lost_ = true;
    why_ = std::move(why);
    say(fmt::format("the lease {} is lost ({}): the program is ended", record_.name, why_));
  }
  order.who = {.mark = run_.mark, .root = run_.first, .group = run_.group, .not_ = {}};
  order.variable = kLeaseMarkVariable;
  ending_ = std::make_unique<Ending>(machine_, std::move(order), [this](const Ended& ended) {
    soon_ = machine_.loop.at(machine_.clock.now(), [this, ended] { all_ended(ended); });
  });
}

void LeaseRunner::all_ended(const Ended& ended) {
  ending_.reset();
  if (!ended.all_gone) {
    // Not given back: whoever takes it next has to end what is left.
    return finish({.how = lost_ ? End::How::lost : End::How::ran,
                   .exit_code = kExitLeaseLost,
                   .why = "not all of the program is gone: " + ended.how,
                   .fence = record_.fence});
  }
  drop_group();
  give_back();
}

void LeaseRunner::give_back() {
  timer_.reset();
  const auto released = desk_.release(record_.name, record_.holder.process, record_.fence,
                                      lost_ ? why_ : "given back");
  if (released && !released->problem.empty()) say(released->problem);
  if (lost_) {
    return finish(
        {.how = End::How::lost, .exit_code = kExitLeaseLost, .why = why_, .fence = record_.fence});
  }
  if (!released) say("not given back: " + released.error().why);
  finish({.how = End::How::ran,
          .exit_code = program_ ? exit_code_of(program_->look().exit) : 1,
          .why = {},
          .fence = record_.fence});
}

/// Whoever is told to end while it leads passes it on and leads until its program is gone.
void LeaseRunner::order(Order order) {
  if (stage_ == Stage::ended || ending_) return;
  if (stage_ == Stage::waiting) {
    asking_.reset();
    return finish({.how = End::How::broken_off,
                   .exit_code = exit_code_of(order),
                   .why = "broken off while it waited"});
  }
  EndOrder end;
  if (order != Order::interrupt) end.interrupt_for = {};
  end_program(std::move(end), false, "");
}

}  // namespace tend
