// Lives, deaths and callbacks of the simulated processes; see sim_kernel.h.
#include "os/sim/sim_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "base/check.h"
#include "os/sim/sim_machine.h"

namespace tend {
namespace {

constexpr std::int64_t kInit = 1;
constexpr std::int64_t kFirstPid = 1000;
constexpr std::int64_t kLowestPid = 300;          // of those that are given again
constexpr std::uint64_t kMostAtOnce = 1'000'000;  // callbacks while time stands still
constexpr std::size_t kMostNoted = 100'000;
constexpr std::size_t kMostPast = 10'000;
constexpr ExitStatus kKilled{ExitStatus::How::signal, 9};

int number_of(Kill kill) {
  switch (kill) {
    case Kill::interrupt:
      return 2;
    case Kill::terminate:
      return 15;
    case Kill::kill:
      return 9;
    case Kill::cont:
      return 18;
    case Kill::stop:
      return 19;
    case Kill::look:
      return 10;
    case Kill::hang_up:
      return 1;
  }
  return 0;
}

// What an order does to a process that did not ask for it; 0: nothing.
int default_of(Order order) {
  switch (order) {
    case Order::interrupt:
      return 2;
    case Order::terminate:
      return 15;
    case Order::hang_up:
      return 1;
    case Order::look:
      return 10;
    case Order::resized:
      return 0;
  }
  return 0;
}

std::string last_part(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

template <class Map>
auto find_command(const Map& map, const std::string& command) {
  const auto found = map.find(command);
  return found != map.end() ? found : map.find(last_part(command));
}

// The handles of a process may outlive it, and the kernel.
void forget_kernel(const SimRow& row) {
  for (const auto& machine : row.machines) machine->handle->kernel = nullptr;
}

}  // namespace

std::unexpected<Error> sim_over() { return fail(kSimOver); }

void SimHandle::die() {
  const SimRowPtr process = row;
  kernel->end(process, kKilled);
  if (!in_destructor && std::uncaught_exceptions() == 0) throw SimKilled{};
}

/// False, or a kill, if it did not survive it.
bool SimHandle::stand_still() {
  if (in_destructor || std::uncaught_exceptions() > 0) return true;
  kernel->run_beside(row, row->pause_for);
  if (dead) throw SimKilled{};
  return true;
}

SimKernel::SimKernel(SimSettings& its_settings, std::uint64_t seed)
    : settings(its_settings),
      disk([this] { return queue.wall(); }, [this](SimNode& folder) { folder_changed(folder); }),
      random_(seed) {
  begin_boot();
}

SimKernel::~SimKernel() {
  for (const auto& [pid, row] : rows_) drop_handle(*row);
  bury();
  queue.clear();
  for (const auto& [pid, row] : rows_) forget_kernel(*row);
  for (const auto& row : past_) forget_kernel(*row);
}

template <class... Args>
void SimKernel::note(std::string_view what, const SimRow& row, fmt::format_string<Args...> more,
                     Args&&... args) {
  if (!settings.keeps_log || log.size() >= kMostNoted) return;
  log.push_back(fmt::format("{} {} {} {}", queue.now().time_since_epoch().count(), what,
                            row.facts.id.pid, fmt::format(more, std::forward<Args>(args)...)));
}

void SimKernel::begin_boot() {
  ++boots_;
  boot_id_ = fmt::format("{:08x}-0000-4000-8000-{:012x}", boots_, random() >> 16U);
  last_pid_ = kFirstPid - 1;
  settings.next_pid = kInit;
  make_row("init", 0);
}

std::uint64_t SimKernel::random() {  // splitmix64
  random_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

bool SimKernel::run(Instant until, const std::function<bool()>& holds) {
  CHECK(!in_callback());  // a program's callback cannot run the universe that runs it
  bury();
  Instant moved = queue.now();
  std::uint64_t at_once = 0;
  while (!holds()) {
    SimEvent event;
    if (!queue.next(until, event)) return false;
    dispatch(event);
    at_once = queue.now() == moved ? at_once + 1 : 0;
    moved = queue.now();
    if (at_once > kMostAtOnce) throw std::logic_error("the simulated machine runs in circles");
  }
  return true;
}

void SimKernel::run_beside(const SimRowPtr& row, Duration lasts) {
  if (beside_ != nullptr) return;
  beside_ = row;
  const SimRowPtr process = beside_;  // what it was called with may be gone
  const bool was_in_callback = std::exchange(in_callback_, false);
  signal(process, Kill::stop, 0);
  run(queue.now() + lasts, [&] { return process->over(); });
  in_callback_ = was_in_callback;
  beside_.reset();
  if (!process->over()) signal(process, Kill::cont, 0);
}

void SimKernel::dispatch(SimEvent& event) {
  SimRowPtr owner = event.owner;
  if (const SimHandle* const program = event.program.get(); program != nullptr) {
    if (program->dead) return;
    owner = program->row;
  }
  if (owner != nullptr) {
    if (owner->over()) return;
    if (owner->facts.state == RunState::stopped || owner == beside_) {
      owner->held.push_back(std::move(event));
      return;
    }
    count(static_cast<std::uint64_t>(owner->facts.id.pid));
  }
  count(static_cast<std::uint64_t>(queue.now().time_since_epoch().count()));
  struct Running {
    bool& is_on;
    ~Running() { is_on = false; }
  };
  try {
    const Running running{in_callback_};
    in_callback_ = owner != nullptr;
    event.run();
    event.run = nullptr;
  } catch (const SimKilled&) {
    event.run = nullptr;  // the process is over already
  }
  bury();
  if (owner != nullptr && !owner->over() && owner->ends_with_loop && owner->handle->stopped) {
    finish(owner);
  }
}

// The end of main: destructors run and still reach everything.
void SimKernel::finish(const SimRowPtr& row) {
  row->handle->in_destructor = true;
  row->object.reset();
  end(row, {ExitStatus::How::code, 0});
  bury();
}

void SimKernel::post(SimRowPtr owner, Instant when, std::function<void()> run, bool awake) {
  SimEvent& event = queue.post(when);
  event.owner = std::move(owner);
  event.run = std::move(run);
  event.awake = awake;
}

void SimKernel::post(const SimHandlePtr& program, Instant when, std::function<void()>&& run,
                     SimTicket& ticket) {
  SimEvent& event = queue.post(when, &ticket);
  event.run.swap(run);
  event.program = program;
}

void SimKernel::take_back(const SimHandle& program, const SimTicket& ticket) {
  if (queue.take_back(ticket) || program.row == nullptr || program.row->held.empty()) return;
  std::erase_if(program.row->held, [&](const SimEvent& event) { return event.ticket == &ticket; });
}

void SimKernel::tell(const std::weak_ptr<SimListener>& listener) {
  const auto heard = listener.lock();
  if (heard == nullptr || heard->pending || heard->handle->dead) return;
  heard->pending = true;
  post(heard->handle->row, queue.now(), [listener] {
    const auto hears = listener.lock();
    if (hears == nullptr || hears->handle->dead) return;
    hears->pending = false;
    hears->callback();
  });
}

void SimKernel::folder_changed(SimNode& folder) {
  if (folder.watchers.empty()) return;
  std::erase_if(folder.watchers, [](const auto& watcher) { return watcher.expired(); });
  for (const auto& watcher : folder.watchers) {
    const bool lost = settings.hints == SimHints::none ||
                      (settings.hints == SimHints::lossy && (random() & 1U) == 0);
    if (!lost) tell(watcher);
  }
}

SimRowPtr SimKernel::find(std::int64_t pid) const {
  const auto found = known_.find(pid);
  return found == known_.end() ? nullptr : found->second;
}

SimRowPtr SimKernel::find(const ProcessId& id) const {
  SimRowPtr row = find(id.pid);
  return row != nullptr && row->facts.id == id ? row : nullptr;
}

// As Linux does it: the next number, from the lowest again after the highest; none that a process
// or a session still has.
std::int64_t SimKernel::free_pid() {
  const auto is_taken = [&](std::int64_t pid) {
    return std::ranges::any_of(rows_, [&](const auto& entry) {
      return entry.first == pid || entry.second->facts.session == pid;
    });
  };
  for (std::int64_t tries = settings.most_pid; tries > 0; --tries) {
    last_pid_ = last_pid_ >= settings.most_pid ? kLowestPid : last_pid_ + 1;
    if (!is_taken(last_pid_)) return last_pid_;
  }
  throw std::logic_error("the simulated machine has no pid left");
}

SimRowPtr SimKernel::make_row(const std::string& name, std::int64_t parent) {
  auto row = std::make_shared<SimRow>();
  const std::int64_t pid = settings.next_pid ? *settings.next_pid : free_pid();
  CHECK(!rows_.contains(pid));  // a pid is given anew only after its process was reaped
  settings.next_pid.reset();
  const auto ticks = static_cast<std::uint64_t>(queue.now().time_since_epoch().count() / 10);
  row->facts.id = {pid, ticks, settings.pid_ns, boot_id_};
  row->facts.parent = parent;
  row->facts.session = pid;
  row->facts.command = {name};
  row->facts.working_folder = settings.working_folder;
  row->started = std::chrono::duration<double>(queue.wall().time_since_epoch()).count();
  rows_[pid] = row;
  known_[pid] = row;
  note("start", *row, "{}", name);
  return row;
}

void SimKernel::file_away(const SimRowPtr& row) {
  rows_.erase(row->facts.id.pid);
  past_.push_back(row);
  if (past_.size() <= kMostPast) return;
  const SimRowPtr oldest = std::move(past_.front());
  past_.pop_front();
  forget_kernel(*oldest);
  const auto found = known_.find(oldest->facts.id.pid);
  if (found != known_.end() && found->second == oldest) known_.erase(found);
}

SimMachine& SimKernel::give_machine(const SimRowPtr& row) {
  row->handle = std::make_shared<SimHandle>();
  row->handle->kernel = this;
  row->handle->row = row;
  return *row->machines.emplace_back(std::make_shared<SimMachine>(row->handle));
}

void SimKernel::start_object(const SimRowPtr& row, SimFactory factory) {
  SimMachine& machine = row->handle != nullptr ? *row->machines.back() : give_machine(row);
  row->ends_with_loop = true;
  post(row, queue.now(), [this, process = row.get(), &machine, factory = std::move(factory)] {
    auto object = factory(machine.machine);
    (machine.handle->dead ? graveyard_.emplace_back() : process->object) = std::move(object);
  });
}

bool SimKernel::knows(const std::string& command) const {
  return find_command(settings.programs, command) != settings.programs.end() ||
         find_command(settings.behaviours, command) != settings.behaviours.end();
}

std::string SimKernel::open_outputs(const Launch& launch) {
  for (const std::string& path : {launch.output, launch.error}) {
    if (path.empty()) continue;
    const SimNodePtr folder = disk.find(path.substr(0, path.rfind('/')));
    const SimNodePtr file = disk.find(path);
    const std::string begin = "cannot open its output '" + path + "': ";
    if (folder == nullptr || folder->kind != SimKind::folder) {
      return begin + "No such file or directory";
    }
    if (file != nullptr && (file->kind != SimKind::file || file->unreadable)) {
      return begin + "Permission denied";
    }
    if (file == nullptr && !disk.broken.empty()) return begin + disk.broken;
    if (file == nullptr) disk.make(folder, last_part(path), SimKind::file);
  }
  if (!launch.input.empty() && disk.find(launch.input) == nullptr) {
    return "cannot open its input '" + launch.input + "': No such file or directory";
  }
  for (const auto& [number, path] : launch.extra) {
    if (disk.find(path) == nullptr) {
      return "cannot open its file '" + path + "': No such file or directory";
    }
  }
  return "";
}

void SimKernel::exec(const SimRowPtr& row, const Launch& launch) {
  CHECK(!launch.command.empty() && knows(launch.command.front()));
  row->facts.command = launch.command;
  row->facts.environment = launch.environment;
  if (!launch.working_folder.empty()) row->facts.working_folder = launch.working_folder;
  row->facts.gated = false;
  row->output = launch.output;
  row->error = launch.error;
  note("exec", *row, "{}", fmt::join(launch.command, " "));
  if (settings.observer != nullptr) settings.observer->on_exec(row->facts);
  const std::string& command = launch.command.front();
  if (const auto ours = find_command(settings.programs, command); ours != settings.programs.end()) {
    start_object(row, [make = ours->second, launch](Machine& m) { return make(m, launch); });
    return;
  }
  row->self = std::make_unique<SimSelf>(*this, *row);
  post(row, queue.now(),
       [self = row->self.get(), begin = find_command(settings.behaviours, command)->second] {
         begin(*self);
       });
}

void SimKernel::drop_handle(SimRow& row) {
  row.held.clear();
  row.orders.clear();
  if (row.handle == nullptr) return;
  row.handle->dead = true;
  row.handle->row.reset();
  row.ends_with_loop = false;
  if (row.object != nullptr) graveyard_.push_back(std::move(row.object));
}

void SimKernel::bury() {
  if (beside_ != nullptr) return;
  while (!graveyard_.empty()) {
    const auto object = std::move(graveyard_.back());
    graveyard_.pop_back();
  }
}

std::int64_t SimKernel::heir_of(const SimRow& row) const {
  for (SimRowPtr above = find(row.facts.parent); above != nullptr && above->facts.id.pid != kInit;
       above = find(above->facts.parent)) {
    if (above->reaps_orphans && !above->over()) return above->facts.id.pid;
  }
  return kInit;
}

void SimKernel::end(const SimRowPtr& row, ExitStatus exit) {
  if (row->over()) return;
  row->count_cpu(queue.awake());
  row->facts.state = RunState::zombie;
  row->facts.exit = exit;
  note("end", *row, "{} {}", exit.how == ExitStatus::How::signal ? "signal" : "code", exit.value);
  if (settings.observer != nullptr) settings.observer->on_end(row->facts);
  drop_handle(*row);
  disk.release_locks_of(row->facts.id.pid);
  leave_children(row);
  for (const auto& listener : std::exchange(row->on_exit, {})) tell(listener);
  leave_corpse(row);
}

void SimKernel::leave_children(const SimRowPtr& row) {
  const std::int64_t heir = heir_of(*row);
  std::vector<SimRowPtr> children;  // the end of one changes the table
  for (const auto& [pid, child] : rows_) {
    if (child->facts.parent == row->facts.id.pid) children.push_back(child);
  }
  for (const SimRowPtr& child : children) {
    if (child->facts.state == RunState::gone) continue;
    child->facts.parent = heir;
    if (child->over()) {
      leave_corpse(child);
    } else if (child->facts.gated) {
      end(child, {ExitStatus::How::code, 0});
    }
  }
}

// A zombie stays one until its parent gets to run, and forever if that never reaps.
void SimKernel::leave_corpse(const SimRowPtr& row) {
  const SimRowPtr parent = find(row->facts.parent);
  if (parent == nullptr || parent->over() || parent->facts.id.pid == kInit) {
    reap(row, parent);
  } else if (!parent->never_reaps) {
    post(parent, queue.now(), [this, row, weak = std::weak_ptr(parent)] {
      if (row->facts.state != RunState::zombie) return;
      const SimRowPtr by = weak.lock();
      reap(row, by);
      if (by != nullptr && by->self != nullptr && by->child_ended) {
        by->child_ended(*by->self, row->facts.id.pid, row->facts.exit);
      }
    });
  }
}

void SimKernel::reap(const SimRowPtr& row, const SimRowPtr& by) {
  if (row->facts.state == RunState::gone) return;
  row->facts.state = RunState::gone;
  file_away(row);
  row->reaped_by = by;
  if (by != nullptr) by->cpu += row->cpu;
}

void SimKernel::signal(const SimRowPtr& row, Kill kill, std::int64_t from) {
  note("signal", *row, "{} from {}", number_of(kill), from);
  const SimSent signal{queue.now(), from, row->facts.id, kill};
  if (settings.keeps_log) sent.push_back(signal);
  if (settings.observer != nullptr) settings.observer->on_signal(signal, row->facts);
  if (row->over()) return;
  row->count_cpu(queue.awake());
  if (kill == Kill::kill) {
    end(row, kKilled);
  } else if (kill == Kill::stop) {
    row->facts.state = RunState::stopped;
  } else if (kill == Kill::cont) {
    row->facts.state = RunState::running;
    for (auto& held : std::exchange(row->held, {})) {
      queue.post(queue.now(), held.ticket) = std::move(held);
    }
  } else if (row->facts.state == RunState::stopped) {
    SimEvent& later = row->held.emplace_back();
    later.owner = row;
    later.run = [this, process = row.get(), kill] { deliver(process->shared_from_this(), kill); };
  } else {
    deliver(row, kill);
  }
}

void SimKernel::deliver(const SimRowPtr& row, Kill kill) {
  if (row->over()) return;
  const auto handler = row->handlers.find(kill);
  if (row->handle != nullptr) {
    order(row, kill == Kill::interrupt   ? Order::interrupt
               : kill == Kill::terminate ? Order::terminate
               : kill == Kill::hang_up   ? Order::hang_up
                                         : Order::look);
  } else if (handler == row->handlers.end()) {
    end(row, {ExitStatus::How::signal, number_of(kill)});
  } else if (handler->second) {
    post(row, queue.now(), [self = row->self.get(), run = handler->second] { run(*self); });
  }
}

void SimKernel::order(const SimRowPtr& row, Order order) {
  bool heard = false;
  std::erase_if(row->orders, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [wanted, listener] : row->orders) {
    if (wanted != order) continue;
    tell(listener);
    heard = true;
  }
  const int number = default_of(order);
  if (!heard && number != 0) end(row, {ExitStatus::How::signal, number});
}

void SimKernel::cut_power(SimReboot::Lost lost) {
  if (lost == SimReboot::Lost::nothing) return;
  const bool torn = lost == SimReboot::Lost::torn;
  const auto chance = [this] { return random(); };
  torn ? disk.tear(chance) : disk.cut_power();
  for (const auto& [path, file] : settings.databases) {
    torn ? file->tear(chance) : file->cut_power();
  }
}

void SimKernel::reboot(const SimReboot& how) {
  note("reboot", *find(kInit), "");
  const auto all = rows_;
  for (const auto& [pid, row] : all) {
    drop_handle(*row);
    const bool ends_now = !row->over();
    row->facts.state = RunState::gone;
    file_away(row);
    if (ends_now && settings.observer != nullptr) settings.observer->on_end(row->facts);
    disk.release_locks_of(pid);
  }
  known_.clear();
  receivers_.clear();
  queue.restart(how.takes);
  cut_power(how.lost);
  begin_boot();
  if (!in_callback()) bury();
}

}  // namespace tend
