// Programs that speak sd_notify are heard as they are: redis, etcd, PostgreSQL, systemd's own tool;
// and nobody is heard who does not belong to the program. The descriptor of s6 is here too.
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

#define NEEDS(program, package)                                                            \
  if (run({.arguments = {"sh", "-c", "command -v " program}}).exit != 0) {                 \
    GTEST_SKIP() << program " is not here: tools/setup installs it (package " package ")"; \
  }

class NotifyTest : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }

  static std::string journal(const Path& folder) { return read_file(folder / "journal.jsonl"); }
  /// READY=1 came through.
  static bool says_ready(const Path& folder) {
    return journal(folder).contains(R"("is":"state","state":"working")");
  }

  /// The program shows that it is ready, is stopped by name, and leaves nothing.
  void expect_heard_and_stopped(const Path& folder) {
    ASSERT_FALSE(folder.empty());
    EXPECT_TRUE(eventually([&] { return says_ready(folder); }, 2 * kPatience))
        << journal(folder) << read_file(folder / "stderr.log");
    EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "verdict") == "working"; }));
    const auto stopped = tend({"stop", folder.string()});
    EXPECT_EQ(stopped.exit, 0) << stopped.err;
    EXPECT_TRUE(processes_with("TEND_INFRA=" + folder.string()).empty());
  }

  static std::string variable_of(pid_t pid, const std::string& name) {
    std::istringstream variables(read_file(Path("/proc") / std::to_string(pid) / "environ"));
    for (std::string variable; std::getline(variables, variable, '\0');) {
      if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
    }
    return "";
  }

  /// As any process of this user could.
  static bool send(const std::string& path, const std::string& text) {
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
    const ssize_t sent = ::sendto(descriptor, text.data(), text.size(), 0,
                                  reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(descriptor);
    return sent == static_cast<ssize_t>(text.size());
  }

  static int free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                       ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(descriptor);
    return bound ? ntohs(address.sin_port) : 0;
  }
};

// Real programs.

TEST_F(NotifyTest, redis_is_heard) {
  NEEDS("redis-server", "redis-server")
  const Path folder =
      keep({"--name", "redis", "--policy", "worker"},
           {"redis-server", "--supervised", "systemd", "--port", "0", "--unixsocket",
            (scratch() / "socket").string(), "--save", "", "--dir", scratch().string()});
  expect_heard_and_stopped(folder);
  EXPECT_TRUE(journal(folder).contains(R"("state":"exiting")")) << "STOPPING=1 came through";
}

TEST_F(NotifyTest, etcd_is_heard) {
  NEEDS("etcd", "etcd-server")
  const std::string client = "http://127.0.0.1:" + std::to_string(free_port());
  const std::string peer = "http://127.0.0.1:" + std::to_string(free_port());
  const Path folder =
      keep({"--name", "etcd", "--policy", "worker"},
           {"etcd", "--data-dir", (scratch() / "data").string(), "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer});
  expect_heard_and_stopped(folder);
}

// It refuses to run as root: then all of this, Tend too, is done as its own user.
TEST_F(NotifyTest, postgres_is_heard) {
  NEEDS("initdb && command -v postgres", "postgresql")
  Arguments as_user;
  if (geteuid() == 0) {
    const passwd* const user = getpwnam("postgres");
    if (user == nullptr) GTEST_SKIP() << "there is no user postgres, and we are root";
    as_user = {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"};
    for (const Path& path : {home(), home().parent_path() / "run", scratch()}) {
      fs::create_directory(path);
      ASSERT_EQ(::chown(path.c_str(), user->pw_uid, user->pw_gid), 0);
      ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    }
    ASSERT_EQ(::chmod(home().parent_path().c_str(), 0711), 0);
  }
  const Path program = home().parent_path() / "tend";
  fs::copy_file(TEND_BINARY, program);
  const std::string data = (scratch() / "data").string();
  const auto made =
      run({.arguments = as_user + Arguments{"initdb", "-D", data, "-A", "trust", "--no-sync"},
           .environment = {{"PWD", "/"}}},
          2 * kPatience);
  ASSERT_EQ(made.exit, 0) << made.err;
  const auto ran =
      run({.arguments = as_user + Arguments{"env", "-C", "/", program.string(), "run", "--detach",
                                            "--name", "db", "--policy", "worker", "--", "postgres",
                                            "-D", data, "-c", "listen_addresses=", "-c",
                                            "unix_socket_directories=" + scratch().string()}});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const Path folder = only_agent();
  EXPECT_TRUE(eventually([&] { return says_ready(folder); })) << journal(folder);
  const auto stopped =
      run({.arguments = as_user + Arguments{"env", "-C", "/", program.string(), "stop", "db"}});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_TRUE(processes_with("TEND_INFRA=" + folder.string()).empty());
}

// One that gives up its user cannot reach a socket that is for this user alone. That does no harm.
TEST_F(NotifyTest, a_program_that_became_another_user_is_not_heard_and_not_harmed) {
  NEEDS("systemd-notify", "systemd")
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chmod(home().parent_path().c_str(), 0711), 0);
  const Path folder =
      keep({"--name", "a", "--policy", "worker"},
           {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
            "systemd-notify --ready; echo \"said $?\"; while :; do echo on; sleep 0.2; done"});
  EXPECT_TRUE(eventually([&] { return read_file(folder / "stream.jsonl").contains("said 1\n"); }))
      << read_file(folder / "stderr.log");
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "verdict") == "working"; }));
  EXPECT_FALSE(says_ready(folder)) << journal(folder);
}

// Every message there is.

TEST_F(NotifyTest, ready_status_and_watchdog_are_heard) {
  NEEDS("systemd-notify", "systemd")
  const Path folder = keep({"--name", "a", "--policy", "worker", "--limit", "beats=2m,5m"},
                           {"sh", "-c",
                            "systemd-notify --ready --status='loading the model'; "
                            "systemd-notify WATCHDOG=1; exec sleep 600"});
  EXPECT_TRUE(eventually([&] { return says_ready(folder); })) << journal(folder);
  EXPECT_TRUE(eventually([&] { return journal(folder).contains(R"("is":"beat","by":"agent")"); }))
      << journal(folder);
  EXPECT_TRUE(
      await(folder, [](const Json& h) { return text_in(h, "note") == "loading the model"; }));
  const auto agent = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  EXPECT_EQ(variable_of(agent, "WATCHDOG_USEC"), "120000000");
}

TEST_F(NotifyTest, one_that_no_longer_feeds_its_watchdog_is_resumed) {
  NEEDS("systemd-notify", "systemd")
  const Path folder =
      keep({"--name", "a", "--policy", "worker", "--limit", "beats=2s,3s", "--limit", "confirm=1s"},
           {"sh", "-c",
            "i=0; while [ \"$TEND_LIFE\" != 1 ] || [ $i -lt 5 ]; do systemd-notify WATCHDOG=1; "
            "i=$((i+1)); sleep 0.2; done; exec sleep 600"});
  EXPECT_TRUE(await(folder, [](const Json& h) {
    return number_in(h, "life") == 2 && text_in(h, "verdict") == "working";
  }));
  EXPECT_EQ(done("kill").size(), 1U);
}

TEST_F(NotifyTest, one_that_asks_for_more_time_is_given_it) {
  NEEDS("systemd-notify", "systemd")
  const Path folder =
      keep({"--name", "a", "--policy", "agent", "--limit", "model=4s"},
           {"sh", "-c", "echo begun; systemd-notify EXTEND_TIMEOUT_USEC=8000000; exec sleep 600"});
  EXPECT_TRUE(eventually([&] { return journal(folder).contains("\"until\":"); }))
      << journal(folder);
  ASSERT_TRUE(await(folder, [](const Json& h) { return text_in(h, "verdict") == "suspect"; }));
  const std::string because = heartbeat_of(folder)["because"].dump();
  EXPECT_TRUE(because.contains("in phase model")) << because;
  EXPECT_FALSE(because.contains("(limit 4 s)")) << because;
}

TEST_F(NotifyTest, a_program_may_name_another_of_its_processes_the_main_one) {
  NEEDS("systemd-notify", "systemd")
  const Path go = scratch() / "go";
  const Path folder =
      keep({"--name", "a"},
           {"sh", "-c",
            R"(sh -c 'echo "main $$" >>"$1"; while [ ! -e "$2" ]; do echo on; sleep 0.1; done; )"
            R"(exit 7' sh "$1" "$2" & systemd-notify MAINPID=$!; sleep 1; exit 0)",
            "sh", pids().string(), go.string()});
  const pid_t second = pid_of(pids(), "main");
  EXPECT_TRUE(await(folder, [&](const Json& h) { return number_in(h, "pid") == second; }));
  std::this_thread::sleep_for(seconds{2});  // the first one has ended by now
  EXPECT_TRUE(is_running(second));
  EXPECT_EQ(text_in(heartbeat_of(folder), "status"), "running") << heartbeat_of(folder);
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  ASSERT_EQ(run({.arguments = {"touch", go.string()}}).exit, 0);
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "status") == "withdrawn"; }));
  EXPECT_EQ(text_in(heartbeat_of(folder), "ended_by"), "exit 7") << heartbeat_of(folder);
}

// Forged messages.

TEST_F(NotifyTest, a_stranger_is_refused) {
  const Path folder =
      keep({"--name", "a", "--policy", "worker"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const std::string socket = variable_of(agent, "NOTIFY_SOCKET");
  ASSERT_FALSE(socket.empty());
  struct stat seen{};
  ASSERT_EQ(::stat(socket.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0600U);
  ASSERT_TRUE(send(socket, "WATCHDOG=1\nSTATUS=forged\nMAINPID=" + std::to_string(getpid())));
  EXPECT_TRUE(eventually([&] { return journal(folder).contains("was refused"); }));
  EXPECT_NE(text_in(heartbeat_of(folder), "note"), "forged");
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), agent);
  EXPECT_FALSE(journal(folder).contains(R"("is":"beat","by":"agent")"));
}

TEST_F(NotifyTest, a_program_cannot_name_a_stranger_its_main_process) {
  NEEDS("systemd-notify", "systemd")
  Background innocent = start({.arguments = {"sleep", "600"}});
  const Path folder =
      keep({"--name", "a"}, {"sh", "-c", "systemd-notify MAINPID=\"$1\"; exec sleep 600", "sh",
                             std::to_string(innocent.pid())});
  EXPECT_TRUE(eventually([&] {
    return journal(folder).contains("MAINPID=" + std::to_string(innocent.pid()) + " was refused");
  })) << journal(folder);
  EXPECT_NE(number_in(heartbeat_of(folder), "pid"), innocent.pid());
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_FALSE(innocent.is_over());
}

TEST_F(NotifyTest, a_flood_of_nonsense_does_no_harm) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", pids().string()}));
  const pid_t agent = pid_of(pids(), "main");
  const std::string socket = variable_of(agent, "NOTIFY_SOCKET");
  const std::string nonsense(4000, '\xff');
  for (int i = 0; i < 300; ++i) send(socket, nonsense + "\n=\n\0STATUS=\nMAINPID=-1");
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_FALSE(is_running(agent));
  EXPECT_LT(fs::file_size(folder / "journal.jsonl"), 100'000U);
}

// A descriptor, as s6 has it.

TEST_F(NotifyTest, a_newline_on_the_ready_descriptor_is_heard) {
  const Path folder = keep({"--name", "a", "--policy", "worker", "--ready-fd", "7"},
                           {"sh", "-c", "sleep 1; echo >&7; exec 7>&-; exec sleep 600"});
  EXPECT_FALSE(says_ready(folder));
  EXPECT_TRUE(eventually([&] { return says_ready(folder); })) << journal(folder);
}

}  // namespace
}  // namespace tend::e2e
