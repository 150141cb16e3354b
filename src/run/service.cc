// Nothing here waits: a lock of others that is held is tried again by a timer, so that an order or
// the end of the subject is heard meanwhile.
#include "run/service.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/backoff.h"
#include "base/quote.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookAtLock = 100ms;
constexpr int kMostTries = 20;  // at the lock of others: two seconds
constexpr Duration kFirstPause = 250ms;
constexpr Duration kLongestBetweenLives = 5s;
constexpr std::size_t kMostOfPidfile = 64;

/// Twice as long each time.
Duration rising(std::uint32_t before, Duration longest) {
  constexpr std::uint32_t kMostDoublings = 16;
  return std::min(longest, kFirstPause * (1U << std::min(before, kMostDoublings)));
}

void add_to(std::string& list, std::string_view separator, std::string_view text) {
  if (!list.empty()) list += separator;
  list += text;
}

}  // namespace

Result<std::unique_ptr<Folder>> service_folder(Folder& home, const std::string& pidfile) {
  const auto services = home.make_folder(std::string(kServicesFolder));
  if (!services) return std::unexpected(services.error());
  return (*services)->make_folder(service_folder_name(pidfile));
}

Service::Service(LeaseDesk& desk, std::unique_ptr<Folder> folder, ServiceSettings settings)
    : machine_(desk.machine()),
      folder_(std::move(folder)),
      settings_(std::move(settings)),
      subject_(desk, settings_.subject),
      leases_(desk),
      log_(machine_, settings_.log.empty() ? folder_->path() + "/service.log" : settings_.log,
           settings_.shared_log),
      notify_(machine_, settings_.manager) {}

// --- Coming and going ---------------------------------------------------------------------------

Result<Service::Began> Service::begin() {
  auto lock = ServiceLock::take(*folder_);
  if (!lock) return std::unexpected(lock.error());
  if (*lock == nullptr) return Began::held_by_another;
  lock_ = *std::move(lock);
  ServiceRecord record{
      .process = machine_.processes.self(), .start = settings_.start, .ready = false};
  if (auto written = lock_->write(record); !written) return std::unexpected(written.error());
  for (const Order order : {Order::interrupt, Order::terminate}) {
    orders_.push_back(machine_.loop.on(order, [this] { leave("it was told to end"); }));
  }
  // A terminal that is closed and a session that ends are nothing to it.
  orders_.push_back(machine_.loop.on(Order::hang_up, [] {}));
  status_.pidfile = settings_.pidfile;
  status_.process = record.process;
  status_.began = machine_.clock.wall();
  status_.interval = settings_.interval;
  status_.subject = subject_.asked();
  status_.log = log_.path();
  for (const AgentStore& sink : settings_.sinks) status_.parts.push_back({.name = sink.name});
  if (auto written = write_service_status(*folder_, status_); !written) {
    return std::unexpected(written.error());
  }
  if (auto written = write_pidfile(); !written) return std::unexpected(written.error());
  record.ready = true;
  if (auto written = lock_->write(record); !written) return std::unexpected(written.error());
  log_.say(Level::info, fmt::format("Heartbeat service started (PID: {})", record.process.pid),
           For::all);
  notify_.ready("waiting for " + status_.subject);
  notify_.keep_watchdog();
  // Through the loop, which it may have to stop.
  timer_ = machine_.loop.at(machine_.clock.now(), [this] { beat(); });
  return Began::at_work;
}

void Service::leave(const std::string& because) {
  timer_.reset();
  end_of_held_.reset();
  status_.state = ServiceState::ended;
  status_.ended_because = because;
  notify_.stopping(because);
  const std::string own = fmt::format("{}\n", status_.process.pid);
  const auto there = machine_.files.read(settings_.pidfile, kMostOfPidfile);
  if (there && *there == own) std::ignore = machine_.files.remove(settings_.pidfile);
  log_.say(Level::info, fmt::format("Heartbeat service stopped: {}", because), For::all);
  publish();
  machine_.loop.stop();
}

Result<void> Service::write_pidfile() {
  return machine_.files.replace(settings_.pidfile, fmt::format("{}\n", status_.process.pid));
}

/// For those who read it: one that was taken away is there again with the next beat. What another
/// wrote into it stays.
void Service::mend_pidfile() {
  const auto there = machine_.files.modified(settings_.pidfile);
  if (there && !*there) std::ignore = write_pidfile();
}

// --- A beat -------------------------------------------------------------------------------------

void Service::beat() {
  timer_.reset();
  to_write_.clear();
  const auto in_place = lock_->is_in_place(*folder_);
  if (in_place && !*in_place) {
    return leave("its folder was taken away: another service may be at work");
  }
  mend_pidfile();
  const auto look = subject_.look();
  status_.words = look.words;
  hold(look);
  switch (look.is) {
    case ServiceSubject::Is::over:
      return leave(look.words);
    case ServiceSubject::Is::none:
      return skip(look.words,
                  settings_.subject.agent.empty() ? settings_.interval : kLongestBetweenLives);
    case ServiceSubject::Is::unfit:
      return fail_with(look.words, settings_.interval);
    case ServiceSubject::Is::at_work:
      return write({.process = *look.process, .id = look.id});
  }
}

/// So that its end is known in the moment it comes.
void Service::hold(const ServiceSubject::Look& look) {
  if (!look.process || look.is == ServiceSubject::Is::over) return;
  if (!look.id.empty()) status_.subject_id = look.id;
  if (held_ != nullptr && held_->id() == *look.process) return;
  status_.subject_process = *look.process;
  end_of_held_.reset();
  held_ = machine_.processes.open(*look.process);
  end_of_held_ = held_->on_exit([this] {
    subject_.hear_end(held_->id());
    beat();
  });
}

void Service::skip(const std::string& words, Duration longest) {
  ++status_.skipped;
  status_.state = ServiceState::waiting;
  if (std::exchange(status_.skipped_because, words) != words) {
    log_.say(Level::info, "Nothing to beat for, skipped: " + words, For::all);
  }
  wait(rising(skipped_in_row_++, std::min(longest, settings_.interval)));
}

void Service::write(const BeatFor& whom) {
  whom_ = whom;
  errors_.clear();
  written_.clear();
  tries_ = 0;
  again_in_ = settings_.interval;
  for (std::size_t i = 0; i < settings_.sinks.size(); ++i) to_write_.push_back(i);
  try_stores();
}

/// Whoever holds the lock of a store does so for the time of one file.
void Service::try_stores() {
  std::vector<std::size_t> busy;
  for (const std::size_t i : std::exchange(to_write_, {})) {
    const PartDone done = beat_store(machine_, settings_.sinks[i], whom_);
    if (done.busy && tries_ < kMostTries) {
      busy.push_back(i);
    } else {
      note(done);
    }
  }
  if (busy.empty()) return finish();
  ++tries_;
  to_write_ = std::move(busy);
  timer_ = machine_.loop.at(machine_.clock.now() + kLookAtLock, [this] { try_stores(); });
}

void Service::note(const PartDone& done) {
  auto part = std::ranges::find(status_.parts, done.name, &ServicePart::name);
  if (part == status_.parts.end()) {
    status_.parts.push_back({.name = done.name});
    part = status_.parts.end() - 1;
  }
  if (done.again_in > Duration::zero()) again_in_ = std::min(again_in_, done.again_in);
  if (done.problem.empty()) {
    ++part->success;
    part->last_error.clear();
    return add_to(written_, ", ", done.name);
  }
  ++part->failure;
  part->last_error = done.problem;
  add_to(errors_, "; ", done.name + ": " + done.problem);
}

void Service::finish() {
  if (!whom_.id.empty()) status_.subject_id = whom_.id;
  for (const PartDone& done : leases_.renew(whom_.process)) note(done);
  if (!errors_.empty()) {
    const auto failed = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        status_.failed_in_row + 1, std::numeric_limits<std::uint32_t>::max()));
    return fail_with(errors_,
                     std::min(settings_.interval, backoff(failed, machine_.entropy.number())));
  }
  if (written_.empty()) {
    return skip("it has no store and holds no lease that a beat could go to", settings_.interval);
  }
  succeed();
}

void Service::succeed() {
  ++status_.success;
  status_.last_success = machine_.clock.wall();
  status_.state = ServiceState::beating;
  const auto failed = std::exchange(status_.failed_in_row, 0);
  skipped_in_row_ = 0;
  status_.skipped_because.clear();
  if (failed > 0) {
    log_.say(Level::info, fmt::format("Heartbeats arrive again, after {} that failed", failed),
             For::all);
  }
  log_.say(Level::info,
           fmt::format("Heartbeat of process {}{}{}: {}", whom_.process.pid,
                       whom_.id.empty() ? "" : ", ", whom_.id, written_),
           status_.success == 1 ? For::all : For::itself);
  wait(again_in_);
}

/// Said at the first one, the second, the fourth, the eighth ...
void Service::fail_with(const std::string& error, Duration pause) {
  ++status_.failure;
  ++status_.failed_in_row;
  status_.last_failure = machine_.clock.wall();
  status_.last_error = error;
  status_.state = ServiceState::failing;
  if (std::has_single_bit(status_.failed_in_row)) {
    const auto often = status_.failed_in_row == 1
                           ? std::string("Heartbeat failed: ")
                           : fmt::format("Heartbeat failed {} times: ", status_.failed_in_row);
    log_.say(Level::error, often + error, For::all);
  }
  wait(pause);
}

void Service::wait(Duration pause) {
  publish();
  timer_ = machine_.loop.at(machine_.clock.now() + pause, [this] { beat(); });
}

void Service::publish() {
  status_.log_problem = log_.problem();
  if (const auto written = write_service_status(*folder_, status_); !written) {
    log_.say(Level::error, "its status cannot be written: " + written.error().text, For::itself);
  }
  if (status_.state != ServiceState::ended) notify_.status(in_words());
}

std::string Service::in_words() const {
  std::string words = fmt::format("{}, {} beats, {} failed",
                                  kServiceStateWords.at(static_cast<std::size_t>(status_.state)),
                                  status_.success, status_.failure);
  const std::string& waits_for =
      status_.skipped_because.empty() ? status_.words : status_.skipped_because;
  if (status_.state == ServiceState::failing) words += ": " + status_.last_error;
  if (status_.state == ServiceState::waiting) words += ": " + waits_for;
  return words;
}

}  // namespace tend
