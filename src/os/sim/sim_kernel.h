// What is below the processes of the simulated machine: their table, their lives and deaths, the
// running of their callbacks. Tests use SimUniverse; the machines of the processes use this.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/sim/sim_disk.h"
#include "os/sim/sim_queue.h"
#include "os/sim/sim_self.h"
#include "os/sim/sim_universe.h"
#include "os/sockets.h"

namespace tend {

class SimKernel;
struct SimMachine;
struct SimRow;
using SimRowPtr = std::shared_ptr<SimRow>;

constexpr const char* kSimOver = "this process is over";  // says every call of a dead one
[[gnu::cold]] std::unexpected<Error> sim_over();

/// The os handle of one program in one process. Everything its machine gave out shares it.
struct SimHandle {
  SimKernel* kernel = nullptr;  // nullptr: the universe is gone
  SimRowPtr row;                // nullptr: dead
  bool dead = false;
  bool in_destructor = false;  // a kill cannot be thrown; the handle dies silently
  bool stopped = false;        // stop() was called

  /// Opens every call of the machine: false if the handle is dead and the call must do nothing.
  /// Throws SimKilled if this is the call to be killed at.
  bool call();
  /// The same for one that reads or changes files, and for a sync: they take their time.
  bool call_disk();
  bool call_sync();
  /// The same for one that writes bytes: who is killed there may have written the first of them.
  template <class Write>
  bool call_to_write(std::string_view bytes, const Write& write);

 private:
  [[gnu::cold]] void die();
  [[gnu::cold]] bool stand_still();
};
using SimHandlePtr = std::shared_ptr<SimHandle>;

/// A callback that somebody subscribed. The Subscription owns it, all others hold it weakly, so
/// that it is over with its Subscription; whoever runs it holds it for that time.
struct SimListener {
  SimHandlePtr handle;
  Callback callback;
  bool pending = false;  // a call is under way
};

/// Adds one to those who listen, and now and then forgets those who do no more.
inline void add_listener(std::vector<std::weak_ptr<SimListener>>& all,
                         const std::shared_ptr<SimListener>& listener) {
  if (all.size() == all.capacity()) {
    std::erase_if(all, [](const auto& one) { return one.expired(); });
  }
  all.push_back(listener);
}

/// Keeps something alive for as long as it is subscribed.
class SimSubscription final : public Subscription {
 public:
  explicit SimSubscription(std::shared_ptr<void> held) : held_(std::move(held)) {}

 private:
  std::shared_ptr<void> held_;
};

/// One process, from its start until nobody asks for it any more.
struct SimRow : std::enable_shared_from_this<SimRow> {
  SimFacts facts;
  std::string output;
  std::string error;
  double started = 0;
  Duration cpu{};       // up to `cpu_at`
  Duration cpu_at{};    // awake time
  int cpu_percent = 0;  // since then, while it runs
  std::uint64_t disk_bytes = 0;
  std::optional<std::uint64_t> received_bytes;  // none: it has no connection
  std::uint64_t calls = 0;
  std::uint64_t kill_at = 0;  // 0: never
  bool kill_tears = false;
  std::uint64_t pause_at = 0;  // 0: never
  Duration pause_for{};

  SimHandlePtr handle;                                // of a program of ours
  std::vector<std::shared_ptr<SimMachine>> machines;  // of its programs; the last is the handle's
  std::shared_ptr<void> object;
  bool ends_with_loop = false;    // stop() ends it: it has a program of ours
  std::unique_ptr<SimSelf> self;  // of a behaviour
  std::map<Kill, SimBehaviour> handlers;
  SimChildEnd child_ended;

  bool reaps_orphans = false;
  bool never_reaps = false;
  std::weak_ptr<SimRow> reaped_by;
  std::vector<SimEvent> held;  // came while it was stopped
  std::vector<std::weak_ptr<SimListener>> on_exit;
  std::vector<std::pair<Order, std::weak_ptr<SimListener>>> orders;

  [[nodiscard]] bool over() const {
    return facts.state == RunState::zombie || facts.state == RunState::gone;
  }
  [[nodiscard]] Duration cpu_used(Duration awake) const {
    const bool computes = facts.state == RunState::running && cpu_percent > 0;
    return computes ? cpu + (awake - cpu_at) * cpu_percent / 100 : cpu;
  }
  /// Before its state or its share changes.
  void count_cpu(Duration awake) {
    cpu = cpu_used(awake);
    cpu_at = awake;
  }
};

struct SimReceiver {
  SimHandlePtr handle;
  std::function<void(const Datagram&)> on_datagram{};
  std::function<void(std::string_view)> on_piece{};
  std::function<void(std::unique_ptr<Connection>)> on_connection{};
};

class SimKernel {
 public:
  SimKernel(SimSettings& settings, std::uint64_t seed);
  ~SimKernel();
  SimKernel(const SimKernel&) = delete;
  SimKernel& operator=(const SimKernel&) = delete;

  SimSettings& settings;
  SimQueue queue;
  SimDisk disk;

  // Running.
  /// Until it holds or until then, whichever is first; true if it holds.
  bool run(Instant until, const std::function<bool()>& holds);
  /// The same, in the middle of a call of that process, which is stopped meanwhile; ends when that
  /// is over. Nothing happens if another one is in the middle of a call.
  void run_beside(const SimRowPtr& row, Duration lasts);
  void post(SimRowPtr owner, Instant when, std::function<void()> run, bool awake = false);
  /// Something that a program asked to happen, for as long as whoever has the ticket wants it.
  void post(const SimHandlePtr& program, Instant when, std::function<void()>&& run,
            SimTicket& ticket);
  void take_back(const SimHandle& program, const SimTicket& ticket);
  /// Calls a listener soon.
  void tell(const std::weak_ptr<SimListener>& listener);
  [[nodiscard]] bool in_callback() const { return in_callback_; }
  void reboot(const SimReboot& how);
  void cut_power(SimReboot::Lost lost);
  std::uint64_t random();
  /// Tells open files apart.
  std::uint64_t number_of_opening() { return ++openings_; }
  void count(std::uint64_t what) { digest_ = (digest_ ^ what) * 0x100000001b3U; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  // The table.
  /// The latest with that pid; nullptr if there was none, or too many have gone since.
  [[nodiscard]] SimRowPtr find(std::int64_t pid) const;
  [[nodiscard]] SimRowPtr find(const ProcessId& id) const;
  /// All that are not gone.
  [[nodiscard]] const std::map<std::int64_t, SimRowPtr>& rows() const { return rows_; }
  [[nodiscard]] const std::string& boot_id() const { return boot_id_; }
  SimRowPtr make_row(const std::string& name, std::int64_t parent);
  SimMachine& give_machine(const SimRowPtr& row);
  void start_object(const SimRowPtr& row, SimFactory factory);
  /// Whether there is such a command.
  [[nodiscard]] bool knows(const std::string& command) const;
  /// Makes the files that a start opens to write. Says why it cannot; empty if it can.
  std::string open_outputs(const Launch& launch);
  /// Makes a process run a command. REQUIRES knows().
  void exec(const SimRowPtr& row, const Launch& launch);
  /// Its handle is dead from now on, its object waits for its burial.
  void drop_handle(SimRow& row);
  /// Destroys the objects of dead programs, unless one may be in the middle of a call.
  void bury();
  void end(const SimRowPtr& row, ExitStatus exit);
  void reap(const SimRowPtr& row, const SimRowPtr& by);
  void signal(const SimRowPtr& row, Kill kill, std::int64_t from);
  void order(const SimRowPtr& row, Order order);
  /// Who gets the children of a process that is over.
  [[nodiscard]] std::int64_t heir_of(const SimRow& row) const;

  // Messages.
  bool send(std::int64_t from, const std::string& path, std::string_view text, bool same_user);
  bool write_fifo(const std::string& path, std::string_view text);
  void deliver_fifo(const std::string& path);
  /// Who takes connections there; nullptr if nobody does.
  [[nodiscard]] std::shared_ptr<SimReceiver> listener(const std::string& path) const;
  /// Whoever hears what comes to a socket or fifo, in the place of who did.
  void hear(const std::string& path, const std::shared_ptr<SimReceiver>& receiver);

  std::vector<SimSent> sent;
  std::vector<Run> ran;
  std::vector<std::string> log;

 private:
  void dispatch(SimEvent& event);
  void finish(const SimRowPtr& row);
  template <class... Args>
  void note(std::string_view what, const SimRow& row, fmt::format_string<Args...> more,
            Args&&... args);
  void deliver(const SimRowPtr& row, Kill kill);
  void leave_children(const SimRowPtr& row);
  void leave_corpse(const SimRowPtr& row);
  void begin_boot();
  [[nodiscard]] std::int64_t free_pid();
  void file_away(const SimRowPtr& row);
  void folder_changed(SimNode& folder);

  std::map<std::int64_t, SimRowPtr> rows_;
  std::map<std::int64_t, SimRowPtr> known_;  // and the latest of those that are gone
  std::deque<SimRowPtr> past_;               // the gone, for a while: somebody may look back
  std::map<std::string, std::weak_ptr<SimReceiver>> receivers_;  // by path
  std::vector<std::shared_ptr<void>> graveyard_;
  bool in_callback_ = false;  // of a program
  SimRowPtr beside_;          // it is in the middle of a call
  std::string boot_id_;
  std::uint64_t boots_ = 0;
  std::int64_t last_pid_ = 0;
  std::uint64_t random_;
  std::uint64_t openings_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
};

inline bool SimHandle::call() {
  if (dead) return false;
  kernel->count(++row->calls);
  if (row->calls == row->kill_at) {
    die();
    return false;
  }
  return row->calls != row->pause_at || stand_still();
}

inline bool SimHandle::call_disk() {
  if (!call()) return false;
  kernel->queue.pass(kernel->settings.call_takes);
  return true;
}

inline bool SimHandle::call_sync() {
  if (!call()) return false;
  kernel->queue.pass(kernel->settings.sync_takes);
  return true;
}

template <class Write>
bool SimHandle::call_to_write(std::string_view bytes, const Write& write) {
  if (!dead && row->kill_tears && row->calls + 1 == row->kill_at) {
    write(bytes.substr(0, kernel->random() % (bytes.size() + 1)));
  }
  return call_disk();
}

}  // namespace tend
