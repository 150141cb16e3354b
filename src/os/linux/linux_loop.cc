// Asio waits; what there is to wait for (timers, signals, changes) are descriptors like any other,
// each in a file of its own.
#include "os/linux/linux_loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "os/linux/linux_changes.h"
#include "os/linux/linux_signals.h"
#include "os/linux/linux_timers.h"
#include "os/linux/subscription.h"

namespace tend {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

int signal_of(Order order) {
  switch (order) {
    case Order::interrupt:
      return SIGINT;
    case Order::terminate:
      return SIGTERM;
    case Order::hang_up:
      return SIGHUP;
    case Order::look:
      return SIGUSR1;
    case Order::resized:
      return SIGWINCH;
  }
  CHECK(false);
}

// nohup and a shell's `&` mean it: what the terminal says is then not for us.
bool stays_ignored(Order order) {
  if (order != Order::interrupt && order != Order::hang_up) return false;
  struct sigaction set{};
  return ::sigaction(signal_of(order), nullptr, &set) == 0 && set.sa_handler == SIG_IGN;
}

// epoll refuses these two; Asio takes them and then fails at every wait.
bool can_be_watched(int descriptor) {
  struct stat facts{};
  return ::fstat(descriptor, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

using WaitFor = asio::posix::descriptor_base::wait_type;

bool is_ready(int descriptor, WaitFor wait) {
  const bool reads = wait == WaitFor::wait_read;
  pollfd asked{descriptor, static_cast<short>(reads ? POLLIN : POLLOUT), 0};
  return ::poll(&asked, 1, 0) > 0;
}

/// One descriptor that is waited for. Asio's handlers know it weakly: it ends with its
/// subscription.
class Watch final : public std::enable_shared_from_this<Watch> {
 public:
  Watch(asio::io_context& context, WaitFor wait_for, Callback callback)
      : descriptor_(context), wait_for_(wait_for), callback_(std::move(callback)) {}
  ~Watch() { end(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool start(int descriptor) {
    if (!can_be_watched(descriptor)) return false;
    error_code error;
    if (descriptor_.assign(descriptor, error)) return false;
    wait();
    return true;
  }

  // release() takes it out of epoll by name. close() would leave that to the kernel, which does it
  // only when the last copy, maybe one in a forked child, is closed.
  void end() {
    if (descriptor_.is_open()) descriptor_.release();
  }

 private:
  void wait() {
    descriptor_.async_wait(wait_for_, [weak = weak_from_this()](const error_code& error) {
      const auto watch = weak.lock();
      if (watch != nullptr && !error) watch->ready();
    });
  }

  void ready() {
    if (!descriptor_.is_open()) return;
    // Asio recycles its bookkeeping: an event of a descriptor that was given up in this very round
    // can reach the one that came after it.
    if (is_ready(descriptor_.native_handle(), wait_for_)) callback_();
    if (descriptor_.is_open()) wait();
  }

  asio::posix::stream_descriptor descriptor_;
  WaitFor wait_for_;
  Callback callback_;
};

Subscribed watched(asio::io_context& context, int descriptor, WaitFor wait_for, Callback callback) {
  auto watch = std::make_shared<Watch>(context, wait_for, std::move(callback));
  if (!watch->start(descriptor)) return nullptr;
  return until([watch = std::move(watch)] { watch->end(); });
}

}  // namespace

struct LinuxLoop::Core {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  bool running = false;
  std::optional<LinuxTimers> timers;
  std::optional<LinuxSignals> signals;
  std::optional<LinuxChanges> changes;
};

LinuxLoop::LinuxLoop() noexcept : core_(std::make_unique<Core>()) {
  core_->timers.emplace(*this);
  core_->signals.emplace(*this);
  core_->changes.emplace(*this);
}

LinuxLoop::~LinuxLoop() = default;

Subscribed LinuxLoop::at(Instant when, Callback callback) {
  return core_->timers->at(when, std::move(callback));
}

Subscribed LinuxLoop::on(Order order, Callback callback) {
  if (stays_ignored(order)) return until([] {});
  return core_->signals->on(signal_of(order), std::move(callback));
}

Subscribed LinuxLoop::on_child(Callback callback) {
  // Whoever started us may have ignored SIGCHLD, which means that nobody waits for children.
  CHECK(::signal(SIGCHLD, SIG_DFL) != SIG_ERR);
  return core_->signals->on(SIGCHLD, std::move(callback));
}

Subscribed LinuxLoop::on_change(const std::string& folder, Callback callback) {
  return core_->changes->on_change(folder, std::move(callback));
}

Subscribed LinuxLoop::when_readable(int descriptor, Callback callback) {
  return watched(core_->context, descriptor, WaitFor::wait_read, std::move(callback));
}

Subscribed LinuxLoop::when_writable(int descriptor, Callback callback) {
  return watched(core_->context, descriptor, WaitFor::wait_write, std::move(callback));
}

Subscribed LinuxLoop::post(Callback callback) {
  auto called = std::make_shared<Callback>(std::move(callback));
  asio::post(core_->context, [weak = std::weak_ptr(called)] {
    if (const auto still = weak.lock()) (*still)();
  });
  return until([called = std::move(called)] {});
}

void LinuxLoop::run() {
  CHECK(!core_->running);
  core_->running = true;
  core_->context.restart();
  while (!core_->context.stopped()) {
    core_->timers->arm();
    core_->context.run_one();
  }
  core_->running = false;
}

void LinuxLoop::stop() { core_->context.stop(); }

}  // namespace tend
