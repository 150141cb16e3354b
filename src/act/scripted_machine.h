// A machine for tests of acting: processes that do what a test says when they are signalled, and a
// clock that the test moves. What acting has no use for fails.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "os/machine.h"

namespace tend {

/// One process of the script. Signals that `dies_of` does not name are ignored, SIGKILL too.
struct ScriptedProcess {
  ProcessId id;
  std::int64_t parent = 1;
  std::int64_t job = 0;  // 0: its own
  std::optional<std::string> mark;
  std::map<Kill, Duration> dies_of;   // and how long after it
  std::function<void(Kill)> on_hear;  // anything else it does
  bool stopped = false;               // hears nothing but SIGKILL until SIGCONT
  bool refuses = false;               // it belongs to another user
  bool zombie = false;
  std::vector<Kill> heard;
};

/// Version control that never answers.
struct NoVersionControl : VersionControl {
  Subscribed snapshot(const SnapshotOrder&, std::function<void(Result<Snapshot>)>) override {
    return nullptr;
  }
  Subscribed changed_since(const std::string&, WallTime, const std::vector<std::string>&,
                           std::function<void(Result<bool>)>) override {
    return nullptr;
  }
  Subscribed state(const std::string&, std::function<void(Result<WorktreeState>)>) override {
    return nullptr;
  }
  Subscribed make_worktree(const WorktreeOrder&,
                           std::function<void(Result<WorktreeState>)>) override {
    return nullptr;
  }
  Subscribed commit(const CommitOrder&, std::function<void(Result<Committed>)>) override {
    return nullptr;
  }
  Subscribed merge(const MergeOrder&, std::function<void(Result<Merged>)>) override {
    return nullptr;
  }
  Subscribed abort_merge(const std::string&, const std::string&,
                         std::function<void(Result<bool>)>) override {
    return nullptr;
  }
  Subscribed contains(const std::string&, const std::string&,
                      std::function<void(Result<bool>)>) override {
    return nullptr;
  }
  Subscribed worktrees(const std::string&,
                       std::function<void(Result<std::vector<WorktreeEntry>>)>) override {
    return nullptr;
  }
  Subscribed saved(const std::string&,
                   std::function<void(Result<std::vector<SavedWork>>)>) override {
    return nullptr;
  }
  std::string repository(const std::string&) override { return ""; }
  std::string top(const std::string& path) override { return path; }
};

class ScriptedMachine final : public Clock, public Loop, public Processes {
 public:
  /// The machine, as the code under test gets it.
  Machine& machine() { return machine_; }

  /// A process that carries `mark` and dies of everything at once.
  ScriptedProcess& add(std::int64_t pid, std::string mark) {
    actors_.push_back({.id = id_of(pid), .mark = std::move(mark)});
    for (const Kill kill : {Kill::interrupt, Kill::terminate, Kill::kill}) {
      actors_.back().dies_of[kill] = Duration::zero();
    }
    return actors_.back();
  }
  static ProcessId id_of(std::int64_t pid) {
    return {.pid = pid, .start_ticks = 1000 + static_cast<std::uint64_t>(pid), .pid_ns = 1};
  }
  /// It is over; its children come to us.
  void remove(const ProcessId& id) {
    actors_.remove_if([&](const ScriptedProcess& actor) { return actor.id == id; });
    for (ScriptedProcess& actor : actors_) {
      if (actor.parent == id.pid) actor.parent = self().pid;
    }
    for (auto [first, last] = exits_.equal_range(id.pid); first != last; ++first) {
      soon(first->second);
    }
    exits_.erase(id.pid);
  }
  [[nodiscard]] bool has(std::int64_t pid) const {
    return std::ranges::any_of(actors_, [&](const ScriptedProcess& a) { return a.id.pid == pid; });
  }

  /// Lets that much time pass, and everything happen that is due in it.
  void pass(Duration time) {
    const Instant until = now_ + time;
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      const auto timer = timers_.extract(timers_.begin());
      awake_ += std::max(timer.key().first - now_, Duration::zero());
      now_ = std::max(now_, timer.key().first);
      timer.mapped()();
    }
    awake_ += until - now_;
    now_ = until;
  }
  /// The machine sleeps.
  void sleep(Duration time) { now_ += time; }
  /// We do not run for that long, and everything else does.
  void stall(Duration time) {
    now_ += time;
    awake_ += time;
  }
  void do_in(Duration time, Callback callback) { insert(now_ + time, std::move(callback)); }

  /// Every signal that reached a process: (pid, signal).
  std::vector<std::pair<std::int64_t, Kill>> signals;
  std::string blind;  // why processes cannot be listed; "": they can
  std::size_t scans = 0;
  /// The command that runs now and how to end it.
  std::vector<Run> ran;
  std::function<void(Result<Ran>)> end_run;

  Instant now() override { return now_; }
  Duration awake() override { return awake_; }
  WallTime wall() override { return WallTime{now_.time_since_epoch()}; }

  Subscribed at(Instant when, Callback callback) override {
    return std::make_unique<Undo>(
        [this, key = insert(when, std::move(callback))] { timers_.erase(key); });
  }
  Subscribed on(Order, Callback) override { return nullptr; }
  Subscribed on_change(const std::string&, Callback) override { return nullptr; }
  void run() override {}
  void stop() override {}

  ProcessId self() override { return id_of(2); }
  Result<std::optional<ProcessId>> identify(std::int64_t pid) override {
    return has(pid) ? std::optional(id_of(pid)) : std::nullopt;
  }
  std::unique_ptr<Process> open(const ProcessId& id) override {
    return std::make_unique<Handle>(*this, id);
  }
  std::uint64_t disk_bytes(const ProcessId&) override { return 0; }
  std::optional<std::uint64_t> received_bytes(std::span<const ProcessId>) override { return {}; }
  std::optional<std::vector<std::string>> environment_of(const ProcessId&) override { return {}; }
  double started(const ProcessId&) override { return 0; }
  std::expected<std::unique_ptr<GatedChild>, NotStarted> spawn(const Launch&) override {
    return std::unexpected(NotStarted{});
  }
  Result<void> detach(const Launch&) override { return fail("not here"); }
  Result<void> become(const Launch&) override { return fail("not here"); }
  Result<std::string> own_program() override { return fail("not here"); }
  Result<std::vector<Seen>> all(std::string_view) override {
    ++scans;
    if (!blind.empty()) return fail(blind);
    std::vector<Seen> seen{{.id = id_of(1)}, {.id = self(), .parent = 1}};
    for (const ScriptedProcess& actor : actors_) {
      seen.push_back({.id = actor.id,
                      .parent = actor.parent,
                      .zombie = actor.zombie,
                      .mark = actor.zombie ? std::nullopt : actor.mark,
                      .job = actor.job == 0 ? actor.id.pid : actor.job});
    }
    return seen;
  }
  std::string make_group(const std::string&) override { return ""; }
  std::vector<std::int64_t> members(const std::string&) override { return group; }
  void remove_group(const std::string&) override {}
  bool childless(const std::string&) override { return actors_.empty(); }
  std::vector<std::int64_t> group;
  Subscribed run(const Run& run, std::function<void(Result<Ran>)> done) override {
    ran.push_back(run);
    end_run = std::move(done);
    return std::make_unique<Undo>([] {});
  }

 private:
  using Key = std::pair<Instant, std::uint64_t>;

  struct Undo final : Subscription {
    explicit Undo(Callback undo_now) : undo(std::move(undo_now)) {}
    ~Undo() override { undo(); }
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    Callback undo;
  };

  class Handle final : public Process {
   public:
    Handle(ScriptedMachine& machine, ProcessId id) : machine_(machine), id_(std::move(id)) {}
    const ProcessId& id() const override { return id_; }
    Condition look() override {
      return {.state = machine_.find(id_) != nullptr ? RunState::running : RunState::gone};
    }
    Subscribed on_exit(Callback callback) override {
      if (machine_.find(id_) == nullptr) {
        return machine_.at(machine_.now(), std::move(callback));
      }
      const auto where = machine_.exits_.emplace(id_.pid, std::move(callback));
      return std::make_unique<Undo>([this_machine = &machine_, where, pid = id_.pid] {
        auto& exits = this_machine->exits_;
        for (auto [at, last] = exits.equal_range(pid); at != last; ++at) {
          if (at == where) {
            exits.erase(at);
            return;
          }
        }
      });
    }
    Result<void> signal(Kill kill) override { return machine_.hear(id_, kill); }

   private:
    ScriptedMachine& machine_;
    ProcessId id_;
  };

  struct NoFolders final : Folders {
    std::optional<WallTime> newest_below(const std::string&, std::string_view,
                                         std::size_t) override {
      return {};
    }
    Result<std::unique_ptr<Folder>> open(const std::string&) override { return fail("not here"); }
    Result<std::unique_ptr<Folder>> make(const std::string&) override { return fail("not here"); }
    Result<std::string> working_folder() override { return fail("not here"); }
    Result<std::string> real_path(const std::string&) override { return fail("not here"); }
  };
  struct NoSockets final : Sockets {
    Result<Subscribed> receive(const std::string&, std::function<void(const Datagram&)>) override {
      return fail("not here");
    }
    Result<Subscribed> listen(const std::string&,
                              std::function<void(std::unique_ptr<Connection>)>) override {
      return fail("not here");
    }
    Result<std::unique_ptr<Connection>> connect(const std::string&) override {
      return fail("not here");
    }
    Result<void> send(const std::string&, std::string_view) override { return fail("not here"); }
    Result<Subscribed> read_fifo(const std::string&,
                                 std::function<void(std::string_view)>) override {
      return fail("not here");
    }
    Result<void> make_fifo(const std::string&) override { return fail("not here"); }
    Result<void> write_fifo(const std::string&, std::string_view) override {
      return fail("not here");
    }
  };
  struct NoSalvager final : Salvager {
    Result<Salvage> salvage(const SalvageOrder&) override { return fail("not here"); }
  };
  struct NoEntropy final : Entropy {
    std::uint64_t number() override { return 4; }
  };
  struct NoFiles final : Files {
    Result<std::unique_ptr<ByteSource>> open(const std::string&) override { return none(); }
    Result<std::optional<std::string>> read(const std::string&, std::size_t) override {
      return none();
    }
    Result<bool> replace_if(const std::string&, std::string_view,
                            const std::function<bool()>&) override {
      return none();
    }
    Result<bool> make_new(const std::string&, std::string_view) override { return none(); }
    Result<void> append_line(const std::string&, std::string_view, std::uint64_t) override {
      return none();
    }
    Result<std::optional<WallTime>> modified(const std::string&) override { return none(); }
    Result<bool> touch(const std::string&) override { return none(); }
    Result<void> remove(const std::string&) override { return none(); }
    static std::unexpected<Error> none() { return fail("there are no files here"); }
  };
  struct NoDatabases final : Databases {
    Result<std::unique_ptr<Database>> open(const std::string&, const DatabaseSettings&) override {
      return fail("not here");
    }
    Result<void> copy(Database&, const std::string&) override { return fail("not here"); }
  };

  Key insert(Instant when, Callback callback) {
    const Key key{when, ++last_timer_};
    timers_.emplace(key, std::move(callback));
    return key;
  }
  void soon(Callback callback) { insert(now_, std::move(callback)); }

  ScriptedProcess* find(const ProcessId& id) {
    const auto found = std::ranges::find(actors_, id, &ScriptedProcess::id);
    return found == actors_.end() ? nullptr : &*found;
  }

  Result<void> hear(const ProcessId& id, Kill kill) {
    ScriptedProcess* actor = find(id);
    if (actor == nullptr) return fail("it is gone");
    if (actor->refuses) return fail("Operation not permitted");
    signals.emplace_back(id.pid, kill);
    actor->heard.push_back(kill);
    if (kill == Kill::stop) actor->stopped = true;
    if (kill == Kill::cont && std::exchange(actor->stopped, false)) {
      for (const Kill pending : std::vector(actor->heard)) react(id, pending);
      return {};
    }
    if (!actor->stopped || kill == Kill::kill) react(id, kill);
    return {};
  }

  void react(const ProcessId& id, Kill kill) {
    ScriptedProcess* actor = find(id);
    if (actor == nullptr) return;
    if (actor->on_hear) actor->on_hear(kill);
    const auto after = actor->dies_of.find(kill);
    if (after == actor->dies_of.end()) return;
    if (after->second == Duration::zero()) return remove(id);
    insert(now_ + after->second, [this, id] { remove(id); });
  }

  Instant now_{std::chrono::hours{1}};
  Duration awake_ = std::chrono::hours{1};
  std::map<Key, Callback> timers_;
  std::uint64_t last_timer_ = 0;
  std::list<ScriptedProcess> actors_;
  std::multimap<std::int64_t, Callback> exits_;
  NoFolders folders_;
  NoSockets sockets_;
  NoVersionControl version_control_;
  NoSalvager salvager_;
  NoEntropy entropy_;
  NoDatabases databases_;
  NoFiles files_;
  Machine machine_{*this,     *this,    folders_,   *this, sockets_, version_control_,
                   salvager_, entropy_, databases_, files_};
};

}  // namespace tend
