// The beater under a service manager: a socket that listens as one does, and the user's systemd
// itself, in namespaces and a cgroup of its own. What it needs and the machine does not give skips
// the test, with the reason.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "service_testing.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

// --- A socket that listens ----------------------------------------------------------------------

/// What a manager is told.
class Listener {
 public:
  explicit Listener(const Path& path)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path.string();
    EXPECT_LT(name.size(), sizeof address.sun_path);
    std::ranges::copy(name, std::begin(address.sun_path));
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }

  /// How many lines so far begin so.
  long count(const std::string& beginning) {
    hear();
    return std::ranges::count_if(lines_,
                                 [&](const auto& line) { return line.starts_with(beginning); });
  }
  std::string last(const std::string& beginning) {
    hear();
    std::string found;
    for (const std::string& line : lines_) {
      if (line.starts_with(beginning)) found = line;
    }
    return found;
  }

 private:
  void hear() {
    std::string text(4096, '\0');
    for (ssize_t size = 0; (size = ::recv(fd_, text.data(), text.size(), 0)) > 0;) {
      for (auto& line : lines_of(text.substr(0, static_cast<std::size_t>(size)))) {
        lines_.push_back(std::move(line));
      }
    }
  }

  int fd_;
  std::vector<std::string> lines_;
};

class ServiceManagerTest : public ServiceE2e {
 protected:
  Background serve_under(const std::map<std::string, std::string>& manager, pid_t subject) {
    return start({.arguments = {TEND_BINARY, "service", "run", "--pidfile", pidfile().string(),
                                "--pid", std::to_string(subject), "--interval", "1s"},
                  .environment = manager,
                  .input = ""});
  }
};

TEST_F(ServiceManagerTest, hears_that_it_is_ready_how_it_is_that_it_is_not_stuck_and_that_it_ends) {
  const Path socket = scratch() / "notify";
  Listener manager(socket);
  Background subject = orchestrator();
  ASSERT_EQ(tend({"lease", "acquire", "--name", "n", "--pid", std::to_string(subject.pid())}).exit,
            0);
  Background service = serve_under(
      {{"NOTIFY_SOCKET", socket.string()}, {"WATCHDOG_USEC", "1000000"}}, subject.pid());
  EXPECT_TRUE(eventually([&] { return manager.count("READY=1") == 1; })) << service.err();
  EXPECT_TRUE(eventually([&] { return manager.last("STATUS=").contains("beating"); }))
      << manager.last("STATUS=");
  const long seen = manager.count("WATCHDOG=1");
  EXPECT_TRUE(eventually([&] { return manager.count("WATCHDOG=1") >= seen + 3; }));
  EXPECT_EQ(manager.count("STOPPING=1"), 0);
  subject.signal(SIGKILL);
  subject.wait();
  EXPECT_EQ(service.wait().exit, 0) << "that its subject is gone is no failure";
  EXPECT_EQ(manager.count("STOPPING=1"), 1);
  EXPECT_EQ(manager.count("READY=1"), 1);
}

TEST_F(ServiceManagerTest, is_not_told_by_one_that_it_does_not_watch) {
  const Path socket = scratch() / "notify";
  Listener manager(socket);
  Background subject = orchestrator();
  Background service = serve_under({{"NOTIFY_SOCKET", socket.string()},
                                    {"WATCHDOG_USEC", "1000"},
                                    {"WATCHDOG_PID", std::to_string(::getpid())}},
                                   subject.pid());
  EXPECT_TRUE(eventually([&] { return manager.count("READY=1") == 1; })) << service.err();
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().exit, 0);
  EXPECT_EQ(manager.count("STOPPING=1"), 1);
  EXPECT_EQ(manager.count("WATCHDOG=1"), 0);
}

TEST_F(ServiceManagerTest, that_is_gone_costs_nobody_a_beat) {
  Background subject = orchestrator();
  ASSERT_EQ(tend({"lease", "acquire", "--name", "n", "--pid", std::to_string(subject.pid())}).exit,
            0);
  Background service =
      serve_under({{"NOTIFY_SOCKET", (scratch() / "nobody").string()}, {"WATCHDOG_USEC", "1000"}},
                  subject.pid());
  EXPECT_TRUE(eventually([&] { return number_in(report(), "success") >= 2; })) << report();
  EXPECT_FALSE(service.is_over());
}

// --- The user's systemd -------------------------------------------------------------------------

/// What the shell in the namespaces does: it has its own /run, and sees no cgroup but its own.
constexpr const char* kManager =
    "set -e\n"
    "mount --make-rprivate /\n"
    "mount -t tmpfs tmpfs /run\n"
    "mount -t cgroup2 cgroup2 /sys/fs/cgroup\n"
    "mkdir -p /run/systemd/system \"$XDG_RUNTIME_DIR\"\n"  // as if systemd had started the machine
    "chmod 700 \"$XDG_RUNTIME_DIR\"\n"
    "unset XDG_CONFIG_HOME XDG_CONFIG_DIRS DBUS_SESSION_BUS_ADDRESS\n"
    "touch \"$READY\"\n"
    "/lib/systemd/systemd --user --log-target=console &\n"
    "wait\n";

class UserSystemdTest : public ServiceE2e {
 protected:
  void SetUp() override {
    ServiceE2e::SetUp();
    for (const char* program : {"unshare", "nsenter", "systemctl"}) {
      if (run({.arguments = {"sh", "-c", std::string("command -v ") + program}}).exit != 0) {
        GTEST_SKIP() << program << " is not installed";
      }
    }
    if (!std::filesystem::exists("/lib/systemd/systemd")) GTEST_SKIP() << "there is no systemd";
    if (!make_group()) GTEST_SKIP() << "no cgroup of our own can be made";
    const std::string enter = "echo 0 >>" + group_.string() + "/cgroup.procs && exec \"$@\"";
    manager_ = std::make_unique<Background>(start(
        {.arguments = {"sh", "-c", enter, "sh", "unshare", "--mount", "--pid", "--cgroup", "--ipc",
                       "--net", "--fork", "--kill-child", "--mount-proc", "sh", "-c", kManager},
         .environment = environment(),
         .input = ""}));
    // Before it is ready, what /sys/fs/cgroup is there is that of everybody.
    const bool runs = eventually(
        [&] { return manager_->is_over() || (std::filesystem::exists(ready()) && is_there()); });
    if (!runs || manager_->is_over()) {
      GTEST_SKIP() << "no systemd in namespaces of its own: " << manager_->err();
    }
  }
  void TearDown() override {
    manager_.reset();
    ServiceE2e::TearDown();
    if (group_.empty()) return;
    EXPECT_TRUE(eventually([&] { return remove_group(); })) << group_;
  }

  /// Runs in the namespaces.
  Finished inside(const Arguments& words) {
    const std::string pid = std::to_string(manager_->pid());
    std::string first = read_file("/proc/" + pid + "/task/" + pid + "/children");
    first.erase(std::remove(first.begin(), first.end(), ' '), first.end());
    if (first.empty()) return {.exit = -1, .err = "it is not there yet"};
    const Arguments enter{"nsenter",
                          "--target",
                          first,
                          "--mount",
                          "--pid",
                          "--cgroup",
                          "--ipc",
                          "--net",
                          "sh",
                          "-c",
                          "echo 0 >>/sys/fs/cgroup/cgroup.procs && exec \"$@\"",
                          "sh"};
    return run({.arguments = enter + words, .environment = environment(), .input = ""});
  }
  Finished systemctl(const Arguments& words) {
    return inside(Arguments{"systemctl", "--user"} + words);
  }
  /// Whichever of the other units of this machine it could not start.
  bool is_there() {
    const std::string said = systemctl({"is-system-running"}).out;
    return said == "running\n" || said == "degraded\n";
  }
  std::string shown(const std::string& property) {
    const auto said = systemctl({"show", "--value", "--property", property, unit()});
    return said.out.substr(0, said.out.find('\n'));
  }
  bool becomes_shown(const std::string& property, const std::string& value) {
    return eventually([&] { return shown(property) == value; });
  }
  [[nodiscard]] static std::string unit() { return "tend-service-e2e.service"; }

  /// As it is installed; only its times are shorter.
  void install(const Arguments& words) {
    const auto installed = inside(
        Arguments{TEND_BINARY, "service", "install", "--name", "e2e", "--interval", "1s"} + words);
    ASSERT_EQ(installed.exit, 0) << installed.err;
    const Path more = user_home() / ".config" / "systemd" / "user" / (unit() + ".d");
    std::filesystem::create_directories(more);
    std::ofstream(more / "times.conf")
        << "[Service]\nWatchdogSec=2\nRestartSec=100ms\nLimitCORE=0\n";
    ASSERT_EQ(systemctl({"daemon-reload"}).exit, 0);
    const auto started = systemctl({"start", unit()});
    ASSERT_EQ(started.exit, 0) << "it says that it is ready: " << started.err;
  }
  [[nodiscard]] Path user_home() const { return scratch() / "user"; }
  [[nodiscard]] Path ready() const { return scratch() / "ready"; }

 private:
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return {{"TEND_HOME", home().string()},
            {"HOME", user_home().string()},
            {"READY", ready().string()},
            {"XDG_CONFIG_HOME", (user_home() / ".config").string()},
            {"XDG_RUNTIME_DIR", "/run/user/tend"}};
  }
  bool make_group() {
    std::string own;
    for (const std::string& line : lines_of(read_file("/proc/self/cgroup"))) {
      if (line.starts_with("0::")) own = line.substr(3);
    }
    for (const std::string& line : lines_of(read_file("/proc/self/mountinfo"))) {
      std::istringstream words(line);
      std::string word;
      for (int i = 0; i < 5; ++i) words >> word;  // the fifth is where it is mounted
      if (own.empty() || !line.contains(" - cgroup2 ")) continue;
      const Path group = word + own + "/tend-e2e-" + std::to_string(::getpid());
      if (::mkdir(group.c_str(), 0700) != 0) return false;
      group_ = group;
      return true;
    }
    return false;
  }
  bool remove_group() const {
    std::error_code none;
    std::vector<Path> all{group_};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(group_, none)) {
      if (entry.is_directory(none)) all.push_back(entry.path());
    }
    std::ranges::sort(all, std::greater{});
    for (const Path& each : all) ::rmdir(each.c_str());
    return !std::filesystem::exists(group_, none);
  }

  Path group_;
  std::unique_ptr<Background> manager_;
};

TEST_F(UserSystemdTest, runs_it_brings_it_back_and_lets_it_end_with_its_agent) {
  ASSERT_EQ(inside({TEND_BINARY, "run", "--detach", "--name", "lead", "--", "sleep", "1000"}).exit,
            0);
  ASSERT_TRUE(eventually([&] {
    return inside({TEND_BINARY, "lease", "acquire", "--name", "n", "--agent", "lead"}).exit == 0;
  }));
  ASSERT_NO_FATAL_FAILURE(install({"--agent", "lead"}));
  EXPECT_EQ(shown("ActiveState"), "active");
  EXPECT_TRUE(eventually([&] { return shown("StatusText").contains("beating"); }))
      << shown("StatusText");
  const std::string pinged = shown("WatchdogTimestampMonotonic");
  EXPECT_NE(pinged, "0");
  EXPECT_TRUE(eventually([&] { return shown("WatchdogTimestampMonotonic") != pinged; }));

  const std::string first = shown("MainPID");
  EXPECT_EQ(inside({"kill", "-KILL", first}).exit, 0);
  EXPECT_TRUE(becomes_shown("NRestarts", "1"));
  EXPECT_TRUE(becomes_shown("ActiveState", "active"));
  EXPECT_NE(shown("MainPID"), first);

  EXPECT_EQ(inside({"kill", "-STOP", shown("MainPID")}).exit, 0);
  EXPECT_TRUE(becomes_shown("NRestarts", "2")) << "one that is stuck is ended, and begun again";
  EXPECT_TRUE(becomes_shown("ActiveState", "active"));
  EXPECT_TRUE(eventually([&] { return shown("StatusText").contains("beating"); }));

  EXPECT_EQ(inside({TEND_BINARY, "stop", "lead"}).exit, 0);
  EXPECT_TRUE(becomes_shown("ActiveState", "inactive")) << shown("ActiveState");
  EXPECT_EQ(shown("Result"), "success") << "that its subject is over is no failure";
  EXPECT_NE(systemctl({"is-failed", unit()}).out, "failed\n");
}

TEST_F(UserSystemdTest, lets_it_wait_for_the_next_orchestrator_and_ends_it_when_it_is_told) {
  const auto begin = [&] {
    const auto pid = inside({"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"}).out;
    registry({entry("a" + pid, static_cast<pid_t>(std::stol(pid)))});
    lease("a" + pid);
    return pid;
  };
  const std::string first = begin();
  ASSERT_NO_FATAL_FAILURE(
      install({"--pidfile", pidfile().string(), "--preset", "hyrm", "--root", root().string()}));
  EXPECT_TRUE(eventually([&] { return shown("StatusText").contains("beating"); }))
      << shown("StatusText");
  EXPECT_EQ(inside({"kill", first.substr(0, first.find('\n'))}).exit, 0);
  EXPECT_TRUE(eventually([&] { return shown("StatusText").contains("waiting"); }))
      << shown("StatusText");
  EXPECT_EQ(shown("Result"), "success");
  begin();
  EXPECT_TRUE(eventually([&] { return shown("StatusText").contains("beating"); }))
      << shown("StatusText");
  EXPECT_EQ(systemctl({"stop", unit()}).exit, 0);
  EXPECT_EQ(shown("ActiveState"), "inactive");
  EXPECT_EQ(shown("Result"), "success");
  EXPECT_FALSE(std::filesystem::exists(pidfile()));
}

}  // namespace
}  // namespace tend::e2e
