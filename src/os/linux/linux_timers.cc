// A map sorted by time; the kernel knows only its first entry.
#include "os/linux/linux_timers.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "os/linux/linux_loop.h"
#include "os/linux/subscription.h"

namespace tend {

LinuxTimers::LinuxTimers(LinuxLoop& loop)
    : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  CHECK(descriptor_);
  readable_ = loop.when_readable(descriptor_.get(), [this] { fire(); });
  CHECK(readable_ != nullptr);
}

Subscribed LinuxTimers::at(Instant when, Callback callback) {
  const Key key{when, ++asked_};
  timers_.emplace(key, std::move(callback));
  return until([this, key] { timers_.erase(key); });
}

void LinuxTimers::arm() {
  const std::optional<Instant> first =
      timers_.empty() ? std::nullopt : std::optional{timers_.begin()->first.first};
  if (first == armed_) return;
  itimerspec setting{};  // all zero: never
  if (first) {
    using std::chrono::nanoseconds, std::chrono::seconds;
    const auto when = std::max(first->time_since_epoch(), Duration::zero());
    const auto whole = std::chrono::floor<seconds>(when);
    setting.it_value.tv_sec = whole.count();
    setting.it_value.tv_nsec = nanoseconds{when - whole}.count();
    if (when == Duration::zero()) setting.it_value.tv_nsec = 1;  // zero would mean never
  }
  CHECK(::timerfd_settime(descriptor_.get(), TFD_TIMER_ABSTIME, &setting, nullptr) == 0);
  armed_ = first;
}

// One at a time: others that are due make the timerfd fire again at once, and a stop() or a
// subscription that ended in between is honoured without further ado.
void LinuxTimers::fire() {
  std::uint64_t times = 0;
  if (::read(descriptor_.get(), &times, sizeof times) < 0) return;
  armed_.reset();
  if (timers_.empty() || timers_.begin()->first.first > clock_.now()) return;
  const auto due = timers_.extract(timers_.begin());
  due.mapped()();
}

}  // namespace tend
