// What behaviours do to the simulated machine; see sim_self.h.
#include "os/sim/sim_self.h"

#include <tuple>

#include <algorithm>

#include "os/sim/sim_kernel.h"

namespace tend {
namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// What a child gets of its parent's environment.
std::vector<std::string> environment_for(const SimChild& child,
                                         const std::vector<std::string>& inherited) {
  std::vector<std::string> environment = child.environment;
  for (const std::string& entry : inherited) {
    const auto same = [&](const std::string& other) { return name_of(other) == name_of(entry); };
    if (std::ranges::none_of(child.environment, same) &&
        std::ranges::find(child.without, name_of(entry)) == child.without.end()) {
      environment.push_back(entry);
    }
  }
  return environment;
}

}  // namespace

const ProcessId& SimSelf::id() const { return row_.facts.id; }
bool SimSelf::alive() const { return !row_.over(); }
std::vector<std::string> SimSelf::command() const { return row_.facts.command; }

std::optional<std::string> SimSelf::variable(std::string_view name) const {
  for (const std::string& entry : row_.facts.environment) {
    if (name_of(entry) == name && entry.size() > name.size()) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::string SimSelf::working_folder() const { return row_.facts.working_folder; }
Instant SimSelf::now() const { return kernel_.queue.now(); }

void SimSelf::after(Duration wait, SimBehaviour then) {
  if (!alive()) return;
  kernel_.post(
      row_.shared_from_this(), kernel_.queue.now() + wait,
      [this, then = std::move(then)] { then(*this); }, true);
}

void SimSelf::every(Duration interval, SimBehaviour then) {
  again(interval, std::make_shared<SimBehaviour>(std::move(then)));
}

void SimSelf::again(Duration interval, std::shared_ptr<SimBehaviour> then) {
  after(interval, [interval, then = std::move(then)](SimSelf& self) {
    (*then)(self);
    self.again(interval, then);
  });
}

void SimSelf::print(std::string_view text) {
  if (!row_.output.empty()) append(row_.output, text);
}

void SimSelf::complain(std::string_view text) {
  if (!row_.error.empty()) append(row_.error, text);
}

void SimSelf::print_after(Duration wait, std::string text) {
  after(wait, [text = std::move(text)](SimSelf& self) { self.print(text); });
}

void SimSelf::exit(int code) {
  if (alive()) kernel_.end(row_.shared_from_this(), {ExitStatus::How::code, code});
}

void SimSelf::exit_after(Duration wait, int code) {
  after(wait, [code](SimSelf& self) { self.exit(code); });
}

void SimSelf::crash(int signal) {
  if (alive()) kernel_.end(row_.shared_from_this(), {ExitStatus::How::signal, signal});
}

std::int64_t SimSelf::spawn(const SimChild& child) {
  if (!alive() || child.command.empty() || !kernel_.knows(child.command.front())) return 0;
  const std::int64_t parent = child.orphan ? kernel_.heir_of(row_) : pid();
  const SimRowPtr row = kernel_.make_row(child.command.front(), parent);
  row->facts.session = child.own_session ? row->facts.id.pid : row_.facts.session;
  row->facts.group = child.group.value_or(row_.facts.group);
  Launch launch;
  launch.command = child.command;
  launch.environment = environment_for(child, row_.facts.environment);
  launch.working_folder = row_.facts.working_folder;
  launch.output = row_.output;
  launch.error = row_.error;
  kernel_.exec(row, launch);
  return row->facts.id.pid;
}

void SimSelf::ignore(Kill kill) { on(kill, nullptr); }

void SimSelf::on(Kill kill, SimBehaviour then) {
  if (alive()) row_.handlers[kill] = std::move(then);
}

void SimSelf::slow_to_end(Duration wait) {
  for (const Kill kill : {Kill::interrupt, Kill::terminate}) {
    on(kill, [wait, kill](SimSelf& self) {
      self.after(wait, [kill](SimSelf& it) { it.crash(kill == Kill::interrupt ? 2 : 15); });
    });
  }
}

void SimSelf::when_child_ends(SimChildEnd then) {
  if (alive()) row_.child_ended = std::move(then);
}

void SimSelf::never_reap() {
  if (alive()) row_.never_reaps = true;
}

std::string SimSelf::absolute(const std::string& path) const {
  return path.starts_with('/') ? path : working_folder() + "/" + path;
}

void SimSelf::write(const std::string& path, std::string_view text) {
  if (!alive()) return;
  const SimNodePtr file = kernel_.disk.make_all(absolute(path), SimKind::file);
  kernel_.disk.cut(*file, 0);
  // A program that meets a full disk is not the one that is tested.
  std::ignore = kernel_.disk.grow(*file, text);
}

void SimSelf::append(const std::string& path, std::string_view text) {
  if (!alive()) return;
  const SimNodePtr file = path.starts_with('/')
                              ? kernel_.disk.make_all(path, SimKind::file)
                              : kernel_.disk.make_all(absolute(path), SimKind::file);
  std::ignore = kernel_.disk.grow(*file, text);
}

void SimSelf::touch(const std::string& path) {
  if (alive()) kernel_.disk.touch(*kernel_.disk.make_all(absolute(path), SimKind::file));
}

std::optional<std::string> SimSelf::read(const std::string& path) const {
  return kernel_.disk.read(absolute(path));
}

void SimSelf::remove(const std::string& path) {
  if (alive()) kernel_.disk.remove(absolute(path));
}

bool SimSelf::send(const std::string& path, std::string_view text) {
  return alive() && kernel_.send(pid(), path, text, true);
}

bool SimSelf::write_fifo(const std::string& path, std::string_view text) {
  return alive() && kernel_.write_fifo(path, text);
}

std::string SimSelf::read_fifo(const std::string& path) {
  const SimNodePtr node = alive() ? kernel_.disk.find(path) : nullptr;
  if (node == nullptr || node->kind != SimKind::fifo) return "";
  return std::exchange(node->bytes, "");
}

void SimSelf::use_disk(std::uint64_t bytes) {
  if (alive()) row_.disk_bytes += bytes;
}

void SimSelf::receive(std::uint64_t bytes) {
  if (!alive()) return;
  auto& received = row_.received_bytes;
  received = received.value_or(0) + bytes;
}

void SimSelf::use_cpu(Duration used) {
  if (alive()) row_.cpu += used;
}

void SimSelf::compute(int percent) {
  if (!alive()) return;
  row_.count_cpu(kernel_.queue.awake());
  row_.cpu_percent = percent;
}

}  // namespace tend
