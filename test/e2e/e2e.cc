// The system's side of the tests: starting, waiting, looking through /proc, cleaning up.
#include "e2e.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/name.h"

extern "C" {  // glibc 2.36 forgot it in this header
#include <sys/pidfd.h>
}

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Patience kPoll{20};

// Variables of the one who runs the tests that would change what is tested.
constexpr std::array<std::string_view, 9> kNotPassedOn{
    "TEND_",    "NOTIFY_SOCKET=", "WATCHDOG_",       "LISTEN_",         "INVOCATION_ID=",
    "COLUMNS=", "NO_COLOR=",      "XDG_STATE_HOME=", "XDG_RUNTIME_DIR="};

std::vector<std::string> environment_for(const Path& home, const Command& command) {
  std::vector<std::string> result;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const auto name = variable.substr(0, variable.find('='));
    const bool hidden = std::ranges::any_of(
        kNotPassedOn, [&](std::string_view beginning) { return variable.starts_with(beginning); });
    if (!hidden && !command.environment.contains(std::string(name))) result.emplace_back(variable);
  }
  if (!command.environment.contains("TEND_HOME")) result.push_back("TEND_HOME=" + home.string());
  if (!command.environment.contains("XDG_RUNTIME_DIR")) {
    result.push_back("XDG_RUNTIME_DIR=" + (home.parent_path() / "run").string());
  }
  for (const auto& [name, value] : command.environment) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// In the middle of an exec a process has a program and no environment yet: that is waited out.
std::string environment_of(pid_t pid) {
  constexpr int kLooks = 200;
  const Path process = Path("/proc") / std::to_string(pid);
  std::string text = read_file(process / "environ");
  for (int look = 1; look < kLooks && text.empty(); ++look) {
    std::error_code none;
    const bool has_program = !fs::read_symlink(process / "exe", none).empty();
    if (!has_program || !is_running(pid)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    text = read_file(process / "environ");
  }
  return text;
}

bool has_variable(pid_t pid, const std::string& wanted) {
  std::istringstream variables(environment_of(pid));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable == wanted) return true;
  }
  return false;
}

bool carries(const Path& home, pid_t pid) {
  return has_variable(pid, "TEND_HOME=" + home.string());
}

/// The group of the system that the keeper of this folder recorded; "" if none.
Path group_of(const Path& folder) {
  const Json record = Json::parse(read_file(folder / ".lock"), nullptr, false);
  const Path group = record.is_object() ? text_in(record, "group") : "";
  return group.is_absolute() && group.filename().string().starts_with("tend-") ? group : Path();
}

/// Removes this group and those of the agent's other lives, tend-NAME-LIFE: a keeper that was
/// killed did not live to do it.
void remove_groups(const Path& group) {
  const std::string name = group.filename();
  const std::string of_all_lives = name.substr(0, name.rfind('-') + 1);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(group.parent_path(), none)) {
    const Path found = entry.path();
    if (found.filename().string().starts_with(of_all_lives)) rmdir(found.c_str());
  }
}

int exit_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

}  // namespace

Background::Background(pid_t pid, Path out, Path err)
    : pid_(pid), pidfd_(pidfd_open(pid, 0)), out_(std::move(out)), err_(std::move(err)) {
  if (pidfd_ < 0) throw std::runtime_error("no pidfd");
}

Background::Background(Background&& other) noexcept
    : pid_(other.pid_),
      pidfd_(std::exchange(other.pidfd_, -1)),
      exit_(other.exit_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

Background::~Background() {
  if (pidfd_ < 0) return;
  if (!is_over()) {
    signal(SIGKILL);
    poll_exit(kPatience);
  }
  close(pidfd_);
}

void Background::signal(int number) const {
  if (!exit_) pidfd_send_signal(pidfd_, number, nullptr, 0);
}

std::string Background::out() const { return read_file(out_); }
std::string Background::err() const { return read_file(err_); }

bool Background::poll_exit(Patience patience) {
  if (exit_) return true;
  pollfd readable{pidfd_, POLLIN, 0};
  const auto until = Clock::now() + patience;
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<Patience>(until - Clock::now());
    ready = poll(&readable, 1, static_cast<int>(std::max(left.count(), Patience::rep{0})));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  siginfo_t info{};
  if (waitid(P_PIDFD, static_cast<id_t>(pidfd_), &info, WEXITED) != 0) {
    throw std::runtime_error("somebody else reaped our child");
  }
  exit_ = exit_of(info);
  return true;
}

Finished Background::wait(Patience patience) {
  Finished finished;
  if (!poll_exit(patience)) {
    finished.timed_out = true;
    signal(SIGKILL);
    poll_exit(kPatience);
  }
  finished.exit = exit_.value_or(-SIGKILL);
  finished.out = out();
  finished.err = err();
  return finished;
}

bool eventually(const std::function<bool()>& predicate, Patience patience) {
  const auto until = Clock::now() + patience;
  while (!predicate()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

std::string read_file(const Path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return "";
  // Not by streams: a file of /proc cannot be read any more once its process is gone.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"),
                                                           &std::fclose);
  std::string text;
  std::array<char, 4096> piece{};
  while (in) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), in.get());
    if (got == 0) break;
    text.append(piece.data(), got);
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

Json heartbeat_of(const Path& folder) {
  Json json = Json::parse(read_file(folder / ".heartbeat"), nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::vector<Json> json_lines(const Path& file) {
  std::vector<Json> result;
  for (const std::string& line : lines_of(read_file(file))) {
    Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) result.push_back(std::move(json));
  }
  return result;
}

std::string text_in(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

long number_in(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number() ? found->get<long>() : 0;
}

char state_letter(pid_t pid) {
  const std::string stat = read_file(fs::path("/proc") / std::to_string(pid) / "stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return '\0';
  return stat[name_end + 2];
}

bool is_running(pid_t pid) {
  const char state = state_letter(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

std::vector<pid_t> processes_with(const std::string& variable) {
  std::vector<pid_t> result;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const bool is_number = error == std::errc{} && end == name.data() + name.size();
    if (is_number && pid != getpid() && is_running(pid) && has_variable(pid, variable)) {
      result.push_back(pid);
    }
  }
  return result;
}

bool signal_process_of(const Path& home, pid_t pid, int number) {
  if (pid <= 1) return false;
  const int pidfd = pidfd_open(pid, 0);
  if (pidfd < 0) return false;
  // Looked at only now: what is held by a pidfd cannot come to be another process.
  const bool sent = carries(home, pid) && pidfd_send_signal(pidfd, number, nullptr, 0) == 0;
  close(pidfd);
  return sent;
}

Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

void E2e::SetUp() {
  std::string name = (Path(testing::TempDir()) / "tend-e2e-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  base_ = fs::canonical(name);
  fs::create_directory(scratch());
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what loses its parent comes to us, not to a distant init
}

void E2e::TearDown() {
  if (base_.empty()) return;
  end_everything();
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(home(), none)) {
    if (entry.path().filename() == ".lock") groups_.insert(group_of(entry.path().parent_path()));
  }
  // Those of leases are told by their names: a runner may be killed before it wrote one down.
  for (const auto& entry : fs::directory_iterator(home() / "leases", none)) {
    const std::string lease = home().string() + "/" + entry.path().filename().string();
    const auto name = fmt::format("tend-lease-{:016x}-1", Name(lease).hash());
    for (const char* where : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      groups_.insert(Path(where) / name);
    }
  }
  groups_.erase(Path());
  for (const Path& group : groups_) remove_groups(group);
  if (HasFailure() && getenv("TEND_E2E_KEEP") != nullptr) {
    std::cerr << "kept: " << base_ << "\n";
    return;
  }
  std::error_code error;
  fs::remove_all(base_, error);
  EXPECT_FALSE(error) << "cannot remove " << base_ << ": " << error.message();
}

// Keepers bring back what is killed and viewers bring back keepers: all are stopped before any is
// killed, and it is over when nobody was seen twice in a row.
void E2e::end_everything() {
  int unseen = 0;
  const bool ended = eventually([&] {
    const auto pids = processes_with("TEND_HOME=" + home().string());
    for (const pid_t pid : pids) signal_process_of(home(), pid, SIGSTOP);
    for (const pid_t pid : pids) signal_process_of(home(), pid, SIGKILL);
    unseen = pids.empty() ? unseen + 1 : 0;
    return unseen == 2;
  });
  EXPECT_TRUE(ended) << "processes of " << home() << " are left";
}

Background E2e::start(const Command& command) {
  const std::string number = std::to_string(++started_);
  const Path in = command.input.empty() ? Path("/dev/null") : scratch() / ("in." + number);
  const Path out = scratch() / ("out." + number);
  const Path err = scratch() / ("err." + number);
  if (!command.input.empty()) std::ofstream(in, std::ios::binary) << command.input;

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kNew, 0600);
  // Not where the tests are called: that is a repository, whose work would be saved.
  posix_spawn_file_actions_addchdir_np(&files, scratch().c_str());
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_for(home(), command);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments.at(0).c_str(), &files, &how,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot start " + arguments[0]);
  return {pid, out, err};
}

Finished E2e::run(const Command& command, Patience patience) {
  return start(command).wait(patience);
}

Background E2e::start_tend(Arguments arguments, std::string input) {
  return start(
      {.arguments = Arguments{TEND_BINARY} + std::move(arguments), .input = std::move(input)});
}

Finished E2e::tend(Arguments arguments, std::string input) {
  return start_tend(std::move(arguments), std::move(input)).wait();
}

Arguments E2e::worker(const Arguments& options) { return Arguments{E2E_WORKER} + options; }

Path E2e::keep(const Arguments& options, const Arguments& command) {
  const auto ran = tend(Arguments{"run", "--detach"} + options + Arguments{"--"} + command);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const auto blank = ran.out.find(' ');
  if (ran.exit != 0 || blank == std::string::npos || !ran.out.ends_with('\n')) return {};
  Path folder = ran.out.substr(blank + 1, ran.out.size() - blank - 2);
  groups_.insert(group_of(folder));
  return folder;
}

bool E2e::await(const Path& folder, const std::function<bool(const Json&)>& wanted,
                Patience patience) {
  const bool came = eventually([&] { return wanted(heartbeat_of(folder)); }, patience);
  EXPECT_TRUE(came) << heartbeat_of(folder) << "\n" << read_file(home() / "events.jsonl");
  return came;
}

bool E2e::has_event(const std::string& text) const {
  return read_file(home() / "events.jsonl").contains(text);
}

std::vector<std::string> E2e::done(const std::string& action) const {
  std::vector<std::string> results;
  for (const Json& event : events()) {
    if (text_in(event, "action") == action) results.push_back(text_in(event, "result"));
  }
  return results;
}

std::vector<Path> E2e::agent_folders() const {
  std::vector<Path> result;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(home() / "sessions", none)) {
    result.push_back(entry.path());
  }
  std::ranges::sort(result);
  return result;
}

Path E2e::only_agent() {
  std::vector<Path> folders;
  const bool there = eventually([&] {
    folders = agent_folders();
    return !folders.empty() && fs::exists(folders.front() / ".heartbeat");
  });
  EXPECT_LE(folders.size(), 1U) << "there is more than one agent";
  return there ? folders.front() : Path();
}

pid_t E2e::pid_of(const Path& pids, const std::string& name) {
  pid_t pid = 0;
  eventually([&] {
    const std::string text = read_file(pids);
    for (const std::string& line : lines_of(text.substr(0, text.rfind('\n') + 1))) {
      if (line.starts_with(name + " ")) pid = std::stoi(line.substr(name.size() + 1));
    }
    return pid != 0;
  });
  return pid;
}

bool E2e::kill(pid_t pid) { return signal_process_of(home(), pid, SIGKILL); }

}  // namespace tend::e2e
