// A command's input is a file in memory and its outputs are pipes that are read to their end and
// kept up to the bound, so that no size of either can hold up the command or us.
#include "os/linux/linux_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "os/linux/fd.h"
#include "os/linux/linux_clock.h"
#include "os/linux/linux_held.h"
#include "os/linux/linux_pidfd.h"
#include "os/linux/linux_spawn.h"
#include "os/linux/linux_start.h"

namespace tend {
namespace {

using std::chrono::seconds;

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<std::string> added_to_ours(const std::vector<std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view ours = *entry;
    const bool replaced = std::ranges::any_of(
        added, [&](const std::string& other) { return name_of(other) == name_of(ours); });
    if (!replaced) all.emplace_back(ours);
  }
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

/// A file in memory with this text, at its beginning.
std::expected<Fd, int> in_memory(std::string_view text) {
  Fd file = above_standard(Fd(::memfd_create("input", MFD_CLOEXEC)));
  if (!file) return std::unexpected(errno);
  while (!text.empty()) {
    const ssize_t put = retried([&] { return ::write(file.get(), text.data(), text.size()); });
    if (put < 0) return std::unexpected(errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return std::unexpected(errno);
  return file;
}

struct Ends {
  Fd read, write;
};

std::expected<Ends, int> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(errno);
  Ends made{above_standard(Fd(ends[0])), above_standard(Fd(ends[1]))};
  if (!made.read || !made.write) return std::unexpected(errno);
  return made;
}

/// The processes below the known ones, and those still in the session of `root`; the known left
/// out.
std::vector<ProcStat> family_of(std::int64_t root, const std::set<std::int64_t>& known) {
  std::vector<ProcStat> all;
  // A pass that fails midway still found those it found.
  [[maybe_unused]] const auto passed =
      list_processes([&](const Listed& listed) { all.push_back(listed.stat); });
  std::set<std::int64_t> family = known;
  std::vector<ProcStat> found;
  for (bool grown = true; grown;) {
    grown = false;
    for (const ProcStat& one : all) {
      if (one.is_zombie() || family.contains(one.pid) || one.pid == ::getpid()) continue;
      if (!family.contains(one.parent) && one.session != root) continue;
      family.insert(one.pid);
      found.push_back(one);
      grown = true;
    }
  }
  return found;
}

void kill_verified(const ProcStat& one) {
  const auto pidfd = open_pidfd(one.pid);
  if (!pidfd) return;
  const auto now = read_stat(one.pid);
  if (now && *now && (*now)->start_ticks == one.start_ticks) send_signal(pidfd->get(), SIGKILL);
}

/// Kills a child of ours and all below it. Found first and killed then: a killed parent's children
/// are no longer below it.
void kill_tree(LinuxProcess& child) {
  constexpr int kPasses = 5;                         // for those that forked meanwhile
  if (child.look().state == RunState::gone) return;  // reaped: its pid may be another's by now
  std::set<std::int64_t> known = {child.id().pid};
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto family = family_of(child.id().pid, known);
    if (pass == 0) [[maybe_unused]]
      const auto killed = child.signal(Kill::kill);
    if (family.empty()) return;
    for (const ProcStat& one : family) {
      kill_verified(one);
      known.insert(one.pid);
    }
  }
}

/// One output, read as it comes.
class Collected {
 public:
  Collected(Fd pipe, std::string& into, std::size_t most)
      : pipe_(std::move(pipe)), into_(into), most_(most) {}

  /// False if the system cannot watch it.
  bool watch(LinuxLoop& loop) {
    readable_ = loop.when_readable(pipe_.get(), [this] {
      if (take() == Took::end) readable_.reset();
    });
    return readable_ != nullptr;
  }

  /// What is there now; the writer may be one that was left behind and writes for ever.
  void take_rest() {
    constexpr int kMostPieces = 64;
    for (int i = 0; i < kMostPieces && take() == Took::some; ++i) continue;
    readable_.reset();
  }

 private:
  enum class Took { some, nothing, end };

  Took take() {
    std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    const ssize_t got = retried([&] { return ::read(pipe_.get(), piece.data(), piece.size()); });
    if (got < 0 && errno == EAGAIN) return Took::nothing;
    if (got <= 0) return Took::end;
    into_.append(piece.data(), std::min(static_cast<std::size_t>(got), most_ - into_.size()));
    return Took::some;
  }

  Fd pipe_;
  std::string& into_;
  std::size_t most_;
  Subscribed readable_;
};

/// A command that runs, until its end was told or nobody wants to know.
class Running final : public Subscription {
 public:
  Running(LinuxLoop& loop, std::function<void(Result<Ran>)> done)
      : loop_(loop), done_(std::move(done)) {}
  ~Running() override {
    if (process_) end_it();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void start(Reaper& reaper, const Result<Place>& place, const Run& run) {
    if (auto started = try_start(reaper, place, run); !started) {
      waiting_ = loop_.post([this, text = started.error().text] { tell(fail(text)); });
    }
  }

 private:
  Result<void> try_start(Reaper& reaper, const Result<Place>& place, const Run& run) {
    if (!place) return fail(place.error().text);
    const std::vector<std::string> environment = added_to_ours(run.environment);
    if (const auto no = refused(run.command, environment)) return fail(no->text);
    const auto cannot = [&](int error) {
      return fail(fmt::format("cannot run {}: {}", in_quotes(run.command[0]), system_says(error)));
    };
    const auto input = in_memory(run.input);
    if (!input) return cannot(input.error());
    auto output = make_pipe();
    if (!output) return cannot(output.error());
    auto error = make_pipe();
    if (!error) return cannot(error.error());

    Plan plan{.program = Program(run.command, environment),
              .working_folder = run.working_folder,
              .input = {input->get(), ""},
              .output = {output->write.get(), ""},
              .error = {error->write.get(), ""},
              .extra = {}};
    auto child = fork_child(loop_, reaper, *place, plan, false, "");
    if (!child) return fail(child.error().text);
    output->write.reset();
    error->write.reset();
    process_ = std::move(child->process);
    if (const auto trouble = hear(child->line.get())) {
      end_it();
      return fail(not_started(plan, *trouble).text);
    }
    return watch(run, std::move(output->read), std::move(error->read));
  }

  Result<void> watch(const Run& run, Fd output, Fd error) {
    output_ = std::make_unique<Collected>(std::move(output), ran_.output, run.most_output);
    error_ = std::make_unique<Collected>(std::move(error), ran_.error, run.most_output);
    if (!output_->watch(loop_) || !error_->watch(loop_)) {
      end_it();
      return fail(
          fmt::format("cannot run {}: too many files are watched", in_quotes(run.command[0])));
    }
    waiting_ = process_->on_exit([this] { finish(); });
    deadline_ = loop_.at(LinuxClock{}.now() + run.deadline, [this] { too_late(); });
    return {};
  }

  void too_late() {
    constexpr Duration kUntilKilled = seconds{5};  // the kernel may have to write its pages first
    ran_.timed_out = true;
    kill_tree(*process_);
    deadline_ = loop_.at(LinuxClock{}.now() + kUntilKilled, [this] { finish(); });
  }

  void finish() {
    output_->take_rest();
    error_->take_rest();
    ran_.exit = process_->look().exit;
    process_.reset();
    tell(std::move(ran_));
  }

  void tell(Result<Ran> result) {
    const auto done = std::move(done_);
    waiting_.reset();
    deadline_.reset();
    done(std::move(result));  // may destroy this
  }

  void end_it() {
    kill_tree(*process_);
    process_->finish_off();
    process_.reset();
  }

  LinuxLoop& loop_;
  std::function<void(Result<Ran>)> done_;
  Ran ran_;
  std::unique_ptr<LinuxProcess> process_;
  std::unique_ptr<Collected> output_, error_;
  Subscribed waiting_;
  Subscribed deadline_;
};

}  // namespace

Subscribed run_command(LinuxLoop& loop, Reaper& reaper, const Result<Place>& place, const Run& run,
                       std::function<void(Result<Ran>)> done) {
  auto running = std::make_unique<Running>(loop, std::move(done));
  reaper.start();
  running->start(reaper, place, run);
  return running;
}

}  // namespace tend
