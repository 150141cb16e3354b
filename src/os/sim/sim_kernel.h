// What is below the processes of the simulated machine: their table, their lives and deaths, the
// running of their callbacks. Tests use SimUniverse; the machines of the processes use this.
#pragma once

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

/// The os handle of one program in one process. Everything its machine gave out shares it.
struct SimHandle {
  SimKernel* kernel = nullptr;
  std::weak_ptr<SimRow> row;
  bool dead = false;
  bool in_destructor = false;  // a kill cannot be thrown; the handle dies silently
  bool stopped = false;        // stop() was called

  /// Opens every call of the machine: false if the handle is dead and the call must do nothing.
  /// Throws SimKilled if this is the call to be killed at.
  bool call();
};
using SimHandlePtr = std::shared_ptr<SimHandle>;

/// A callback that somebody subscribed. The Subscription owns it, all others hold it weakly, so
/// that it is over with its Subscription; whoever runs it holds it for that time.
struct SimListener {
  SimHandlePtr handle;
  Callback callback;
  bool pending = false;  // a call is under way
};

/// Keeps something alive for as long as it is subscribed.
class SimSubscription final : public Subscription {
 public:
  explicit SimSubscription(std::shared_ptr<void> held) : held_(std::move(held)) {}

 private:
  std::shared_ptr<void> held_;
};

/// One process, from its start until nobody asks for it any more.
struct SimRow {
  SimFacts facts;
  std::string output;
  std::string error;
  double started = 0;
  Duration cpu{};
  std::uint64_t disk_bytes = 0;
  std::optional<std::uint64_t> received_bytes;  // none: it has no connection
  std::uint64_t calls = 0;
  std::uint64_t kill_at = 0;  // 0: never

  SimHandlePtr handle;            // of a program of ours
  SimMachine* machine = nullptr;  // of the handle
  std::shared_ptr<void> object;
  bool ends_with_loop = false;  // stop() ends it: it has a program of ours
  SimSelf* self = nullptr;      // of a behaviour
  std::map<Kill, SimBehaviour> handlers;

  bool reaps_orphans = false;
  bool never_reaps = false;
  std::weak_ptr<SimRow> reaped_by;
  std::deque<std::function<void()>> held;  // came while it was stopped
  std::vector<std::weak_ptr<SimListener>> on_exit;
  std::vector<std::pair<Order, std::weak_ptr<SimListener>>> orders;

  [[nodiscard]] bool over() const {
    return facts.state == RunState::zombie || facts.state == RunState::gone;
  }
};

struct SimReceiver {
  SimHandlePtr handle;
  std::function<void(const Datagram&)> on_datagram;
  std::function<void(std::string_view)> on_piece;
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
  void post(const SimRowPtr& owner, Instant when, std::function<void()> run, bool awake = false);
  /// Calls a listener soon.
  void tell(const std::weak_ptr<SimListener>& listener);
  [[nodiscard]] bool in_callback() const { return running_ != nullptr; }
  void reboot(const SimReboot& how);
  std::uint64_t random();
  void count(std::uint64_t what) { digest_ = (digest_ ^ what) * 0x100000001b3U; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  // The table.
  [[nodiscard]] SimRowPtr find(std::int64_t pid) const;  // the latest with that pid, or nullptr
  [[nodiscard]] SimRowPtr find(const ProcessId& id) const;
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
  /// Destroys the objects of dead programs. REQUIRES that nothing of them is on the stack.
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
  std::map<std::string, std::weak_ptr<SimReceiver>> receivers;  // sockets and fifos by path

  std::vector<SimSent> sent;
  std::vector<Run> ran;
  std::vector<std::string> log;

 private:
  void dispatch(SimEvent event);
  void finish(const SimRowPtr& row);
  void note(std::string_view what, const SimRow& row, std::string_view more = {});
  void deliver(const SimRowPtr& row, Kill kill);
  void leave_children(const SimRowPtr& row);
  void leave_corpse(const SimRowPtr& row);
  void begin_boot();
  void folder_changed(SimNode& folder);

  std::map<std::int64_t, SimRowPtr> rows_;
  std::vector<std::unique_ptr<SimMachine>> machines_;  // outlive what was made on them
  std::vector<std::unique_ptr<SimSelf>> selves_;
  std::vector<std::shared_ptr<void>> graveyard_;
  SimRowPtr running_;
  std::string boot_id_;
  std::uint64_t boots_ = 0;
  std::int64_t last_pid_ = 0;
  std::uint64_t random_;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
};

}  // namespace tend
