// A signal with listeners is blocked, so that it waits in the signalfd; without them it is
// unblocked.
#include "os/linux/linux_signals.h"

#include <signal.h>
#include <sys/signalfd.h>

#include <memory>
#include <utility>

#include "base/check.h"
#include "os/linux/linux_loop.h"

namespace tend {

LinuxSignals::LinuxSignals(LinuxLoop& loop) {
  sigset_t none;
  sigemptyset(&none);
  descriptor_ = Fd(::signalfd(-1, &none, SFD_CLOEXEC | SFD_NONBLOCK));
  CHECK(descriptor_);
  readable_ = loop.when_readable(descriptor_.get(), [this] { hear(); });
  CHECK(readable_ != nullptr);
}

Subscribed LinuxSignals::on(int signal, Callback callback) {
  auto called = std::make_shared<Callback>(std::move(callback));
  Listeners& listeners = listeners_[signal];
  listeners.push_back(called);
  if (listeners.size() == 1) listen(signal, true);
  return until([this, signal, called = std::move(called)] {
    Listeners& left = listeners_[signal];
    remove(left, called);
    if (!left.empty()) return;
    listeners_.erase(signal);
    listen(signal, false);
  });
}

void LinuxSignals::listen(int signal, bool wanted) {
  sigset_t one;
  sigset_t all;
  sigemptyset(&one);
  sigaddset(&one, signal);
  sigemptyset(&all);
  for (const auto& [number, listeners] : listeners_) sigaddset(&all, number);
  if (wanted) CHECK(::pthread_sigmask(SIG_BLOCK, &one, nullptr) == 0);
  CHECK(::signalfd(descriptor_.get(), &all, 0) == descriptor_.get());
  if (!wanted) CHECK(::pthread_sigmask(SIG_UNBLOCK, &one, nullptr) == 0);
}

void LinuxSignals::hear() {
  signalfd_siginfo heard{};
  if (::read(descriptor_.get(), &heard, sizeof heard) != static_cast<ssize_t>(sizeof heard)) return;
  const auto found = listeners_.find(static_cast<int>(heard.ssi_signo));
  if (found != listeners_.end()) tell(found->second);
}

}  // namespace tend
