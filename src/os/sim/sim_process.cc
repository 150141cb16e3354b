// The table of the kernel, seen through one handle; see sim_process.h.
#include "os/sim/sim_process.h"

#include <fmt/format.h>

#include <algorithm>

namespace tend {
namespace {

constexpr const char* kGroups = "/sys/fs/cgroup/";

class SimProcess final : public Process {
 public:
  SimProcess(SimHandlePtr handle, ProcessId id) : handle_(std::move(handle)), id_(std::move(id)) {
    if (handle_->dead || handle_->kernel == nullptr) return;
    const SimRowPtr now = handle_->kernel->find(id_.pid);
    foreign_ = id_.pid_ns != handle_->kernel->settings.pid_ns;
    // Nobody who asks outlives its boot.
    of_this_boot_ = id_.boot_id == handle_->kernel->boot_id();
    if (now == nullptr || now->facts.state == RunState::gone) return;
    if (now->facts.id == id_) row_ = now;
    reused_ = row_ == nullptr && of_this_boot_;
  }

  [[nodiscard]] const ProcessId& id() const override { return id_; }

  Condition look() override {
    if (!handle_->call()) return {RunState::unknown, {}, kSimOver};
    const std::string& trouble = handle_->kernel->settings.looking_fails;
    if (!trouble.empty()) return {RunState::unknown, {}, trouble};
    if (handle_->kernel->settings.unseen.contains(id_.pid)) {
      return {RunState::unknown, {}, "it cannot be looked at"};
    }
    if (id_.pid <= 0) return {RunState::unknown, {}, "it has no pid"};
    if (id_.boot_id.empty()) {
      return {RunState::unknown, {}, "it is not known in which boot it was started"};
    }
    if (!of_this_boot_) return {RunState::gone, {}, {}};
    if (foreign_) return {RunState::unknown, {}, "it is in another pid namespace"};
    if (row_ == nullptr) return {reused_ ? RunState::reused : RunState::gone, {}, {}};
    if (!row_->over()) return {row_->facts.state, {}, {}};
    const SimRowPtr self = handle_->row;
    const bool zombie = row_->facts.state == RunState::zombie;
    if (zombie && row_->facts.parent == self->facts.id.pid) handle_->kernel->reap(row_, self);
    const bool known = zombie || row_->reaped_by.lock() == self;
    return {row_->facts.state, known ? row_->facts.exit : ExitStatus{}, {}};
  }

  [[nodiscard]] Subscribed on_exit(Callback callback) override {
    if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
    auto listener = std::make_shared<SimListener>(handle_, std::move(callback));
    if (row_ != nullptr && !row_->over()) {
      add_listener(row_->on_exit, listener);
    } else if (!foreign_) {
      handle_->kernel->tell(listener);
    }
    return std::make_unique<SimSubscription>(std::move(listener));
  }

  Result<void> signal(Kill kill) override {
    if (!handle_->call()) return sim_over();
    if (row_ == nullptr || row_->facts.state == RunState::gone) {
      return fail(fmt::format("process {} is gone", id_.pid));
    }
    const SimRowPtr self = handle_->row;
    handle_->kernel->signal(row_, kill, self->facts.id.pid);
    if (self->over()) throw SimKilled{};
    return {};
  }

 private:
  SimHandlePtr handle_;
  ProcessId id_;
  SimRowPtr row_;  // held like a descriptor: it cannot come to mean another
  bool of_this_boot_ = false;
  bool reused_ = false;
  bool foreign_ = false;
};

class SimGatedChild final : public GatedChild {
 public:
  // As the real one it opens its outputs before it waits, and says later what went wrong.
  SimGatedChild(SimHandlePtr handle, SimRowPtr row, Launch launch)
      : handle_(std::move(handle)),
        row_(std::move(row)),
        launch_(std::move(launch)),
        output_trouble_(handle_->kernel->open_outputs(launch_)) {}
  ~SimGatedChild() override {
    if (!handle_->dead && row_->facts.gated) give_up(0);
  }
  SimGatedChild(const SimGatedChild&) = delete;
  SimGatedChild& operator=(const SimGatedChild&) = delete;

  [[nodiscard]] const ProcessId& id() const override { return row_->facts.id; }

  std::expected<std::unique_ptr<Process>, NotStarted> release() override {
    if (!handle_->call()) return std::unexpected(NotStarted{126, kSimOver});
    if (row_->over()) {
      return std::unexpected(NotStarted{126, "it ended before it was let run its program"});
    }
    if (auto trouble = find_trouble()) {
      give_up(trouble->exit_code);
      return std::unexpected(*trouble);
    }
    auto process = std::make_unique<SimProcess>(handle_, row_->facts.id);
    sign();
    handle_->kernel->exec(row_, launch_);
    return process;
  }

 private:
  void sign() {
    const auto& [path, offset] = launch_.sign;
    SimDisk& disk = handle_->kernel->disk;
    const SimNodePtr file = path.empty() ? nullptr : disk.find(path);
    if (file == nullptr || file->kind != SimKind::file || offset >= file->bytes.size()) return;
    std::string bytes = file->bytes;
    bytes[offset] = kSigned;
    std::ignore = disk.overwrite(*file, bytes);
  }

  void give_up(int code) {
    handle_->kernel->end(row_, {ExitStatus::How::code, code});
    handle_->kernel->reap(row_, handle_->row);
    row_->facts.gated = false;
  }

  // Why the program cannot run; what the child finds out on its way to exec.
  [[nodiscard]] std::optional<NotStarted> find_trouble() const {
    const SimKernel& kernel = *handle_->kernel;
    const auto because = [this](const std::string& why, int code) {
      return NotStarted{code, "cannot run '" + launch_.command.front() + "': " + why};
    };
    const auto missing = [](const SimNodePtr& node) {
      return node == nullptr || node->kind != SimKind::folder;
    };
    const std::string& home = launch_.working_folder;
    if (!home.empty() && missing(kernel.disk.find(home))) {
      return because("cannot enter '" + home + "': No such file or directory", 126);
    }
    if (!output_trouble_.empty()) return because(output_trouble_, 126);
    if (!kernel.knows(launch_.command.front())) return because("not found in PATH", 127);
    return std::nullopt;
  }

  SimHandlePtr handle_;
  SimRowPtr row_;
  Launch launch_;
  std::string output_trouble_;
};

Result<void> kernel_knows(const SimKernel& kernel, const Launch& launch) {
  if (launch.command.empty()) return fail("there is no command to run");
  if (kernel.knows(launch.command.front())) return {};
  return fail("cannot run '" + launch.command.front() + "': not found in PATH");
}

std::optional<std::string> value_in(const std::vector<std::string>& environment,
                                    std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

SimAnswer answer_to(const SimSettings& settings, const Run& run) {
  if (settings.on_run) {
    if (auto answer = settings.on_run(run)) return *answer;
  }
  const std::string whole = fmt::format("{}", fmt::join(run.command, " "));
  const std::string first = run.command.empty() ? "" : run.command.front();
  for (const std::string& key : {whole, first}) {
    const auto found = settings.answers.find(key);
    if (found != settings.answers.end()) return found->second;
  }
  SimAnswer none;
  none.exit.value = 127;
  none.error = first + ": command not found\n";
  return none;
}

}  // namespace

ProcessId SimProcesses::self() {
  const SimRowPtr row = handle_->row;
  return row == nullptr ? ProcessId{} : row->facts.id;
}

Result<std::optional<ProcessId>> SimProcesses::identify(std::int64_t pid) {
  if (!handle_->call()) return sim_over();
  const std::string& trouble = handle_->kernel->settings.looking_fails;
  if (!trouble.empty()) return fail(fmt::format("cannot look at process {}: {}", pid, trouble));
  const SimRowPtr row = handle_->kernel->find(pid);
  if (row == nullptr || row->facts.state == RunState::gone) return std::nullopt;
  return row->facts.id;
}

std::unique_ptr<Process> SimProcesses::open(const ProcessId& id) {
  handle_->call();
  return std::make_unique<SimProcess>(handle_, id);
}

std::uint64_t SimProcesses::disk_bytes(const ProcessId& id) {
  const SimRowPtr row = handle_->call() ? handle_->kernel->find(id) : nullptr;
  return row == nullptr ? 0 : row->disk_bytes;
}

std::optional<std::uint64_t> SimProcesses::received_bytes(std::span<const ProcessId> ids) {
  std::optional<std::uint64_t> sum;
  if (!handle_->call()) return sum;
  for (const ProcessId& id : ids) {
    const SimRowPtr row = handle_->kernel->find(id);
    if (row != nullptr && row->received_bytes) sum = sum.value_or(0) + *row->received_bytes;
  }
  return sum;
}

std::optional<std::vector<std::string>> SimProcesses::environment_of(const ProcessId& id) {
  if (!handle_->call()) return std::nullopt;
  const SimSettings& settings = handle_->kernel->settings;
  const SimRowPtr row = handle_->kernel->find(id);
  if (row == nullptr || row->over() || settings.hidden.contains(id.pid) ||
      !settings.looking_fails.empty()) {
    return std::nullopt;
  }
  return row->facts.environment;
}

double SimProcesses::started(const ProcessId& id) {
  if (handle_->kernel == nullptr) return 0;
  const SimRowPtr row = handle_->kernel->find(id);
  return row == nullptr ? 0 : row->started;
}

std::expected<std::unique_ptr<GatedChild>, NotStarted> SimProcesses::spawn(const Launch& launch) {
  if (!handle_->call()) return std::unexpected(NotStarted{126, kSimOver});
  SimKernel& kernel = *handle_->kernel;
  if (launch.command.empty()) return std::unexpected(NotStarted{127, "there is no command to run"});
  if (!kernel.settings.spawning_fails.empty()) {
    return std::unexpected(NotStarted{126, "cannot fork: " + kernel.settings.spawning_fails});
  }
  const SimRowPtr self = handle_->row;
  self->reaps_orphans = true;
  const SimRowPtr row = kernel.make_row("(gated)", self->facts.id.pid);
  row->facts.gated = true;
  row->facts.environment = self->facts.environment;  // until its program replaces them
  row->facts.group = launch.group;
  return std::make_unique<SimGatedChild>(handle_, row, launch);
}

Result<void> SimProcesses::detach(const Launch& launch) {
  if (!handle_->call()) return sim_over();
  SimKernel& kernel = *handle_->kernel;
  if (!kernel.settings.spawning_fails.empty()) {
    return fail("cannot fork: " + kernel.settings.spawning_fails);
  }
  if (auto known = kernel_knows(kernel, launch); !known) return known;
  if (const std::string trouble = kernel.open_outputs(launch); !trouble.empty()) {
    return fail("cannot run '" + launch.command.front() + "': " + trouble);
  }
  kernel.exec(kernel.make_row(launch.command.front(), 1), launch);
  return {};
}

Result<void> SimProcesses::become(const Launch& launch) {
  if (!handle_->call()) return sim_over();
  SimKernel& kernel = *handle_->kernel;
  if (auto known = kernel_knows(kernel, launch); !known) return known;
  const SimRowPtr row = handle_->row;
  kernel.drop_handle(*row);
  kernel.disk.release_locks_of(row->facts.id.pid);
  row->handle.reset();
  kernel.exec(row, launch);
  throw SimKilled{};
}

Result<std::string> SimProcesses::own_program() {
  if (!handle_->call()) return sim_over();
  return handle_->kernel->settings.own_program;
}

Result<std::vector<Seen>> SimProcesses::all(std::string_view variable) {
  if (!handle_->call()) return sim_over();
  const SimSettings& settings = handle_->kernel->settings;
  if (!settings.looking_fails.empty()) {
    return fail("cannot look at the processes: " + settings.looking_fails);
  }
  std::vector<Seen> seen;
  for (const auto& [pid, row] : handle_->kernel->rows()) {
    if (row->facts.state == RunState::gone) continue;
    const bool hidden = row->over() || settings.hidden.contains(pid);
    seen.push_back({row->facts.id, row->facts.parent, row->over(),
                    hidden ? std::nullopt : value_in(row->facts.environment, variable),
                    row->cpu_used(handle_->kernel->queue.awake()), row->facts.session});
  }
  return seen;
}

std::string SimProcesses::make_group(const std::string& name) {
  if (!handle_->call() || !handle_->kernel->settings.groups) return "";
  return kGroups + name;
}

std::vector<std::int64_t> SimProcesses::members(const std::string& group) {
  std::vector<std::int64_t> pids;
  if (!handle_->call() || group.empty()) return pids;
  for (const auto& [pid, row] : handle_->kernel->rows()) {
    if (!row->over() && row->facts.group == group) pids.push_back(pid);
  }
  return pids;
}

// A group is its members' name for it, so there is nothing to remove.
void SimProcesses::remove_group(const std::string& /*group*/) { handle_->call(); }

bool SimProcesses::childless(const std::string& group) {
  if (!group.empty()) return members(group).empty();
  if (!handle_->call()) return false;
  const SimRowPtr self = handle_->row;
  return self->reaps_orphans &&
         std::ranges::none_of(handle_->kernel->rows(), [&](const auto& entry) {
           return entry.second->facts.parent == self->facts.id.pid && !entry.second->over();
         });
}

Subscribed SimProcesses::run(const Run& run, std::function<void(Result<Ran>)> done) {
  if (!handle_->call()) return std::make_unique<SimSubscription>(nullptr);
  SimKernel& kernel = *handle_->kernel;
  if (kernel.settings.keeps_log) kernel.ran.push_back(run);
  const SimAnswer answer = answer_to(kernel.settings, run);
  Ran ran{answer.exit, answer.takes >= run.deadline, answer.output.substr(0, run.most_output),
          answer.error.substr(0, run.most_output)};
  if (ran.timed_out) ran.exit = {ExitStatus::How::signal, 9};
  auto listener = std::make_shared<SimListener>(
      handle_, [done = std::move(done), ran = std::move(ran)] { done(ran); });
  kernel.post(handle_->row, kernel.queue.now() + std::min(answer.takes, run.deadline),
              [weak = std::weak_ptr(listener)] {
                const auto hears = weak.lock();
                if (hears != nullptr && !hears->handle->dead) hears->callback();
              });
  return std::make_unique<SimSubscription>(std::move(listener));
}

}  // namespace tend
