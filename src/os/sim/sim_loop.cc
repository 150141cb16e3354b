// Subscriptions are listeners held weakly by the kernel; see sim_loop.h.
#include "os/sim/sim_loop.h"

#include <stdexcept>

namespace tend {
namespace {

constexpr Duration kYear = std::chrono::hours{24 * 365};

class SimTimer final : public Subscription {
 public:
  SimTimer(const SimHandlePtr& handle, Instant when, Callback&& callback) : handle_(handle) {
    handle_->kernel->post(handle_, when, std::move(callback), ticket_);
  }
  ~SimTimer() override {
    if (handle_->kernel != nullptr) handle_->kernel->take_back(*handle_, ticket_);
  }
  SimTimer(const SimTimer&) = delete;
  SimTimer& operator=(const SimTimer&) = delete;

 private:
  SimHandlePtr handle_;
  SimTicket ticket_;
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
  return std::make_unique<SimTimer>(handle_, when, std::move(callback));
}

Subscribed SimLoop::on(Order order, Callback callback) {
  if (!handle_->call()) return nothing();
  auto listener = std::make_shared<SimListener>(handle_, std::move(callback));
  handle_->row->orders.emplace_back(order, listener);
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
  add_listener(node->watchers, listener);
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
