// Clock, loop and chance of a simulated process.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "os/clock.h"
#include "os/entropy.h"
#include "os/loop.h"
#include "os/sim/sim_kernel.h"

namespace tend {

class SimClock final : public Clock {
 public:
  explicit SimClock(SimHandlePtr handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Instant now() override;
  [[nodiscard]] Duration awake() override;
  [[nodiscard]] WallTime wall() override;

 private:
  SimHandlePtr handle_;
};

class SimLoop final : public Loop {
 public:
  explicit SimLoop(SimHandlePtr handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Subscribed at(Instant when, Callback callback) override;
  [[nodiscard]] Subscribed on(Order order, Callback callback) override;
  [[nodiscard]] Subscribed on_change(const std::string& folder, Callback callback) override;
  /// Runs the whole universe until stop(); only a process that the test drives can ask for it. A
  /// year without a stop() is an exception; the death of the process is SimKilled.
  void run() override;
  void stop() override;

 private:
  SimHandlePtr handle_;
};

class SimEntropy final : public Entropy {
 public:
  explicit SimEntropy(SimHandlePtr handle) : handle_(std::move(handle)) {}
  std::uint64_t number() override;

 private:
  SimHandlePtr handle_;
};

}  // namespace tend
