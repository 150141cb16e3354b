// The test's side of the kernel; see sim_universe.h.
#include "os/sim/sim_universe.h"

#include <utility>

#include "base/check.h"
#include "os/sim/sim_kernel.h"
#include "os/sim/sim_machine.h"

namespace tend {

SimUniverse::SimUniverse(std::uint64_t seed)
    : kernel_(std::make_unique<SimKernel>(*this, seed)), disk(kernel_->disk) {}

SimUniverse::~SimUniverse() = default;

Instant SimUniverse::now() const { return kernel_->queue.now(); }
Duration SimUniverse::awake() const { return kernel_->queue.awake(); }
WallTime SimUniverse::wall() const { return kernel_->queue.wall(); }

void SimUniverse::run_for(Duration time) { run_until(now() + time); }

void SimUniverse::run_until(Instant when) {
  kernel_->run(when, [] { return false; });
}

bool SimUniverse::run_until(const std::function<bool()>& holds, Duration at_most) {
  return kernel_->run(now() + at_most, holds);
}

void SimUniverse::sleep_machine(Duration time) { kernel_->queue.sleep(time); }
void SimUniverse::step_wall(Duration step) { kernel_->queue.step_wall(step); }
void SimUniverse::reboot(const SimReboot& how) { kernel_->reboot(how); }
const std::string& SimUniverse::boot_id() const { return kernel_->boot_id(); }

void SimUniverse::at(Instant when, Callback callback) {
  kernel_->post(nullptr, when, std::move(callback));
}

void SimUniverse::after(Duration wait, Callback callback) { at(now() + wait, std::move(callback)); }

std::int64_t SimUniverse::start_program(const std::string& name, SimFactory factory,
                                        SimStart start) {
  const std::int64_t pid = start_process(name, std::move(start));
  kernel_->start_object(kernel_->find(pid), std::move(factory));
  return pid;
}

std::int64_t SimUniverse::start_process(const std::string& name, SimStart start) {
  const SimRowPtr row = kernel_->make_row(name, start.parent);
  row->facts.environment = std::move(start.environment);
  row->facts.working_folder = std::move(start.working_folder);
  kernel_->give_machine(row);
  if (observer != nullptr) observer->on_exec(row->facts);
  return row->facts.id.pid;
}

Machine& SimUniverse::machine(const std::string& name) {
  for (const std::int64_t pid : pids(name)) {
    const SimRowPtr row = kernel_->find(pid);
    if (row->handle != nullptr && !row->ends_with_loop) return row->machines.back()->machine;
  }
  return machine_of(start_process(name));
}

Machine& SimUniverse::machine_of(std::int64_t pid) {
  const SimRowPtr row = kernel_->find(pid);
  CHECK(row != nullptr && row->handle != nullptr && !row->over());
  return row->machines.back()->machine;
}

void SimUniverse::kill(std::int64_t pid) { signal(pid, Kill::kill); }

void SimUniverse::kill_at_call(std::int64_t pid, std::uint64_t n, bool torn) {
  const SimRowPtr row = kernel_->find(pid);
  CHECK(row != nullptr && n > 0);
  row->kill_at = row->calls + n;
  row->kill_tears = torn;
}

void SimUniverse::pause_at_call(std::int64_t pid, std::uint64_t n, Duration lasts) {
  const SimRowPtr row = kernel_->find(pid);
  CHECK(row != nullptr);
  row->pause_at = n == 0 ? 0 : row->calls + n;
  row->pause_for = lasts;
}

std::uint64_t SimUniverse::calls(std::int64_t pid) const {
  const SimRowPtr row = kernel_->find(pid);
  return row == nullptr ? 0 : row->calls;
}

void SimUniverse::pause(std::int64_t pid) { signal(pid, Kill::stop); }
void SimUniverse::go_on(std::int64_t pid) { signal(pid, Kill::cont); }

void SimUniverse::order(std::int64_t pid, Order order) {
  const SimRowPtr row = kernel_->find(pid);
  if (row != nullptr && !row->over()) kernel_->order(row, order);
}

std::int64_t SimUniverse::start_command(const Launch& launch, std::int64_t parent) {
  if (launch.command.empty() || !kernel_->knows(launch.command.front())) return 0;
  const SimRowPtr row = kernel_->make_row(launch.command.front(), parent);
  kernel_->exec(row, launch);
  return row->facts.id.pid;
}

void SimUniverse::signal(std::int64_t pid, Kill kill) {
  const SimRowPtr row = kernel_->find(pid);
  if (row == nullptr || row->facts.state == RunState::gone) return;
  kernel_->signal(row, kill, 0);
  if (!kernel_->in_callback()) kernel_->bury();
}

std::optional<SimFacts> SimUniverse::facts(std::int64_t pid) const {
  const SimRowPtr row = kernel_->find(pid);
  if (row == nullptr) return std::nullopt;
  return row->facts;
}

const SimFacts* SimUniverse::find(std::int64_t pid) const {
  const SimRowPtr row = kernel_->find(pid);
  return row == nullptr ? nullptr : &row->facts;
}

std::vector<std::int64_t> SimUniverse::pids(const std::string& name) const {
  std::vector<std::int64_t> found;
  for (const auto& [pid, row] : kernel_->rows()) {
    if (!row->over() && row->facts.command.front() == name) found.push_back(pid);
  }
  return found;
}

bool SimUniverse::runs(std::int64_t pid) const {
  const SimRowPtr row = kernel_->find(pid);
  return row != nullptr && !row->over();
}

bool SimUniverse::send(std::int64_t from, const std::string& path, std::string_view text,
                       bool same_user) {
  return kernel_->send(from, path, text, same_user);
}

bool SimUniverse::write_fifo(const std::string& path, std::string_view text) {
  return kernel_->write_fifo(path, text);
}

const std::vector<SimSent>& SimUniverse::sent() const { return kernel_->sent; }
const std::vector<Run>& SimUniverse::ran() const { return kernel_->ran; }
const std::vector<std::string>& SimUniverse::log() const { return kernel_->log; }
std::uint64_t SimUniverse::digest() const { return kernel_->digest(); }

}  // namespace tend
