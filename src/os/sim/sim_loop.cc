// Subscriptions are listeners held weakly by the kernel; see sim_loop.h.
#include "os/sim/sim_loop.h"

#include <stdexcept>

namespace tend {
namespace {

constexpr Duration kYear = std::chrono::hours{24 * 365};

class SimTimer final : public Subscription {
 public:
  SimTimer(std::shared_ptr<SimListener> listener, SimQueue::Key key)
      : listener_(std::move(listener)), key_(key) {}
  ~SimTimer() override {
    if (listener_->handle->kernel != nullptr) listener_->handle->kernel->queue.take_back(key_);
  }
  SimTimer(const SimTimer&) = delete;
  SimTimer& operator=(const SimTimer&) = delete;

 private:
  std::shared_ptr<SimListener> listener_;
  SimQueue::Key key_;
};

Subscribed nothing() { return std::make_unique<SimSubscription>(nullptr); }

}  // namespace

Instant SimClock::now() {
  return handle_->kernel == nullptr ? Instant{} : handle_->kernel->queue.now();
}

Duration SimClock::awake() {
  return handle_->kernel == nullptr ? Duration{} : handle_->kernel->queue.awake();
}

WallTime SimClock::wall() {
  return handle_->kernel == nullptr ? WallTime{} : handle_->kernel->queue.wall();
}

Subscribed SimLoop::at(Instant when, Callback callback) {
  if (!handle_->call()) return nothing();
  auto listener = std::make_shared<SimListener>(handle_, std::move(callback));
  const auto key =
      handle_->kernel->queue.post(when, {handle_->row.lock(), [weak = std::weak_ptr(listener)] {
                                           const auto hears = weak.lock();
                                           if (hears != nullptr && !hears->handle->dead)
                                             hears->callback();
                                         }});
  return std::make_unique<SimTimer>(std::move(listener), key);
}

Subscribed SimLoop::on(Order order, Callback callback) {
  if (!handle_->call()) return nothing();
  auto listener = std::make_shared<SimListener>(handle_, std::move(callback));
  handle_->row.lock()->orders.emplace_back(order, listener);
  return std::make_unique<SimSubscription>(std::move(listener));
}

Subscribed SimLoop::on_change(const std::string& folder, Callback callback) {
  if (!handle_->call()) return nothing();
  const SimNodePtr node = handle_->kernel->disk.find(folder);
  if (node == nullptr || node->kind != SimKind::folder ||
      handle_->kernel->settings.hints == SimHints::none) {
    return nullptr;
  }
  auto listener = std::make_shared<SimListener>(handle_, std::move(callback));
  node->watchers.push_back(listener);
  return std::make_unique<SimSubscription>(std::move(listener));
}

void SimLoop::run() {
  if (!handle_->call()) return;
  SimKernel& kernel = *handle_->kernel;
  const auto over = [&] { return handle_->stopped || handle_->dead; };
  const bool ended = kernel.run(kernel.queue.now() + kYear, over);
  handle_->stopped = false;
  if (handle_->dead) throw SimKilled{};
  if (!ended) throw std::logic_error("a loop ran for a simulated year and nobody stopped it");
}

void SimLoop::stop() {
  if (!handle_->dead) handle_->stopped = true;
}

std::uint64_t SimEntropy::number() {
  return handle_->kernel == nullptr ? 0 : handle_->kernel->random();
}

}  // namespace tend
