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
constexpr std::uint64_t kMostAtOnce = 1'000'000;  // callbacks while time stands still
constexpr std::size_t kMostNoted = 100'000;
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

}  // namespace

bool SimHandle::call() {
  const SimRowPtr process = row.lock();
  if (dead || kernel == nullptr || process == nullptr) return false;
  ++process->calls;
  kernel->count(process->calls);
  if (process->kill_at == 0 || process->calls < process->kill_at) return true;
  kernel->end(process, kKilled);
  if (in_destructor || std::uncaught_exceptions() > 0) return false;
  throw SimKilled{};
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
  for (const auto& machine : machines_) machine->handle->kernel = nullptr;
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
    auto event = queue.next(until);
    if (!event) return false;
    dispatch(std::move(*event));
    at_once = queue.now() == moved ? at_once + 1 : 0;
    moved = queue.now();
    if (at_once > kMostAtOnce) throw std::logic_error("the simulated machine runs in circles");
  }
  return true;
}

void SimKernel::dispatch(SimEvent event) {
  const SimRowPtr owner = event.owner;
  if (owner != nullptr) {
    if (owner->over()) return;
    if (owner->facts.state == RunState::stopped) {
      owner->held.push_back(std::move(event.run));
      return;
    }
    count(static_cast<std::uint64_t>(owner->facts.id.pid));
  }
  count(static_cast<std::uint64_t>(queue.now().time_since_epoch().count()));
  struct Running {
    SimRowPtr& place;
    ~Running() { place.reset(); }
  };
  try {
    const Running running{running_};
    running_ = owner;
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

void SimKernel::post(const SimRowPtr& owner, Instant when, std::function<void()> what, bool awake) {
  queue.post(when, SimEvent{owner, std::move(what), awake});
}

void SimKernel::tell(const std::weak_ptr<SimListener>& listener) {
  const auto heard = listener.lock();
  if (heard == nullptr || heard->pending || heard->handle->dead) return;
  heard->pending = true;
  post(heard->handle->row.lock(), queue.now(), [listener] {
    const auto hears = listener.lock();
    if (hears == nullptr || hears->handle->dead) return;
    hears->pending = false;
    hears->callback();
  });
}

void SimKernel::folder_changed(SimNode& folder) {
  std::erase_if(folder.watchers, [](const auto& watcher) { return watcher.expired(); });
  for (const auto& watcher : folder.watchers) {
    const bool lost = settings.hints == SimHints::none ||
                      (settings.hints == SimHints::lossy && (random() & 1U) == 0);
    if (!lost) tell(watcher);
  }
}

SimRowPtr SimKernel::find(std::int64_t pid) const {
  const auto found = rows_.find(pid);
  return found == rows_.end() ? nullptr : found->second;
}

SimRowPtr SimKernel::find(const ProcessId& id) const {
  SimRowPtr row = find(id.pid);
  return row != nullptr && row->facts.id == id ? row : nullptr;
}

SimRowPtr SimKernel::make_row(const std::string& name, std::int64_t parent) {
  const auto taken = [&](std::int64_t pid) {
    const SimRowPtr row = find(pid);
    return row != nullptr && row->facts.state != RunState::gone;
  };
  auto row = std::make_shared<SimRow>();
  std::int64_t pid = settings.next_pid.value_or(0);
  if (!settings.next_pid) {
    do pid = ++last_pid_;
    while (taken(pid));
  }
  CHECK(!taken(pid));  // a pid is given anew only after its process was reaped
  settings.next_pid.reset();
  const auto ticks = static_cast<std::uint64_t>(queue.now().time_since_epoch().count() / 10);
  row->facts.id = {pid, ticks, settings.pid_ns, boot_id_};
  row->facts.parent = parent;
  row->facts.session = pid;
  row->facts.command = {name};
  row->facts.working_folder = settings.working_folder;
  row->started = std::chrono::duration<double>(queue.wall().time_since_epoch()).count();
  rows_[pid] = row;
  note("start", *row, name);
  return row;
}

SimMachine& SimKernel::give_machine(const SimRowPtr& row) {
  auto handle = std::make_shared<SimHandle>();
  handle->kernel = this;
  handle->row = row;
  machines_.push_back(std::make_unique<SimMachine>(handle));
  row->handle = std::move(handle);
  row->machine = machines_.back().get();
  return *row->machine;
}

void SimKernel::start_object(const SimRowPtr& row, SimFactory factory) {
  SimMachine& machine = row->handle != nullptr ? *row->machine : give_machine(row);
  row->ends_with_loop = true;
  post(row, queue.now(), [this, weak = std::weak_ptr(row), &machine, factory = std::move(factory)] {
    auto object = factory(machine.machine);
    const SimRowPtr process = weak.lock();
    const bool dead = machine.handle->dead || process == nullptr;
    (dead ? graveyard_.emplace_back() : process->object) = std::move(object);
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
  note("exec", *row, fmt::format("{}", fmt::join(launch.command, " ")));
  const std::string& command = launch.command.front();
  if (const auto ours = find_command(settings.programs, command); ours != settings.programs.end()) {
    start_object(row, [make = ours->second, launch](Machine& m) { return make(m, launch); });
    return;
  }
  selves_.push_back(std::make_unique<SimSelf>(*this, row->facts.id));
  row->self = selves_.back().get();
  post(row, queue.now(),
       [self = row->self, begin = find_command(settings.behaviours, command)->second] {
         begin(*self);
       });
}

void SimKernel::drop_handle(SimRow& row) {
  row.held.clear();
  row.orders.clear();
  if (row.handle == nullptr) return;
  row.handle->dead = true;
  row.ends_with_loop = false;
  if (row.object != nullptr) graveyard_.push_back(std::move(row.object));
}

void SimKernel::bury() {
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
  row->facts.state = RunState::zombie;
  row->facts.exit = exit;
  note("end", *row,
       fmt::format("{} {}", exit.how == ExitStatus::How::signal ? "signal" : "code", exit.value));
  drop_handle(*row);
  disk.release_locks_of(row->facts.id.pid);
  leave_children(row);
  for (const auto& listener : std::exchange(row->on_exit, {})) tell(listener);
  leave_corpse(row);
}

void SimKernel::leave_children(const SimRowPtr& row) {
  const std::int64_t heir = heir_of(*row);
  const std::map<std::int64_t, SimRowPtr> all = rows_;  // an end of a child changes the table
  for (const auto& [pid, child] : all) {
    if (child->facts.parent != row->facts.id.pid || child->facts.state == RunState::gone) continue;
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
      if (row->facts.state == RunState::zombie) reap(row, weak.lock());
    });
  }
}

void SimKernel::reap(const SimRowPtr& row, const SimRowPtr& by) {
  row->facts.state = RunState::gone;
  row->reaped_by = by;
  if (by != nullptr) by->cpu += row->cpu;
}

void SimKernel::signal(const SimRowPtr& row, Kill kill, std::int64_t from) {
  sent.push_back({queue.now(), from, row->facts.id, kill});
  note("signal", *row, fmt::format("{} from {}", number_of(kill), from));
  if (row->over()) return;
  if (kill == Kill::kill) {
    end(row, kKilled);
  } else if (kill == Kill::stop) {
    row->facts.state = RunState::stopped;
  } else if (kill == Kill::cont) {
    row->facts.state = RunState::running;
    for (auto& held : std::exchange(row->held, {})) post(row, queue.now(), std::move(held));
  } else if (row->facts.state == RunState::stopped) {
    row->held.emplace_back([this, weak = std::weak_ptr(row), kill] {
      if (const SimRowPtr process = weak.lock()) deliver(process, kill);
    });
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
    post(row, queue.now(), [self = row->self, run = handler->second] { run(*self); });
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

void SimKernel::reboot(const SimReboot& how) {
  note("reboot", *find(kInit));
  const auto gone = std::exchange(rows_, {});
  for (const auto& [pid, row] : gone) {
    drop_handle(*row);
    row->facts.state = RunState::gone;
    disk.release_locks_of(pid);
  }
  receivers.clear();
  queue.restart(how.takes);
  if (how.lose_unsynced) disk.cut_power();
  begin_boot();
  if (!in_callback()) bury();
}

bool SimKernel::send(std::int64_t from, const std::string& path, std::string_view text,
                     bool same_user) {
  const auto found = receivers.find(path);
  const SimNodePtr node = disk.find(path);
  if (found == receivers.end() || node == nullptr || node->kind != SimKind::socket) return false;
  const auto receiver = found->second.lock();
  if (receiver == nullptr || receiver->handle->dead || !receiver->on_datagram) return false;
  constexpr std::size_t kLongest = 4096;
  const Datagram datagram{from, same_user, std::string(text.substr(0, kLongest))};
  post(receiver->handle->row.lock(), queue.now(), [weak = found->second, datagram] {
    const auto hears = weak.lock();
    if (hears != nullptr && !hears->handle->dead) hears->on_datagram(datagram);
  });
  return true;
}

bool SimKernel::write_fifo(const std::string& path, std::string_view text) {
  constexpr std::size_t kFull = std::size_t{64} * 1024;
  const SimNodePtr node = disk.find(path);
  if (node == nullptr || node->kind != SimKind::fifo) return false;
  if (node->bytes.size() + text.size() > kFull) return false;
  node->bytes.append(text);
  deliver_fifo(path);
  return true;
}

void SimKernel::deliver_fifo(const std::string& path) {
  const auto found = receivers.find(path);
  if (found == receivers.end()) return;
  const auto receiver = found->second.lock();
  if (receiver == nullptr || receiver->handle->dead || !receiver->on_piece) return;
  post(receiver->handle->row.lock(), queue.now(), [this, path, weak = found->second] {
    constexpr std::size_t kPiece = 4096;
    const auto hears = weak.lock();
    const SimNodePtr node = disk.find(path);
    if (hears == nullptr || hears->handle->dead || node == nullptr || node->bytes.empty()) return;
    const std::string piece = node->bytes.substr(0, kPiece);
    node->bytes.erase(0, piece.size());
    if (!node->bytes.empty()) deliver_fifo(path);
    hears->on_piece(piece);
  });
}

void SimKernel::note(std::string_view what, const SimRow& row, std::string_view more) {
  if (log.size() >= kMostNoted) return;
  log.push_back(fmt::format("{} {} {} {}", queue.now().time_since_epoch().count(), what,
                            row.facts.id.pid, more));
}

}  // namespace tend
