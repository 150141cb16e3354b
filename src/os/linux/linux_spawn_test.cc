// Children that wait at their gate, programs that cannot be run, and those that leave us.
#include "os/linux/linux_spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "os/linux/process_testing.h"
#include "os/linux/sanitized_testing.h"

namespace tend {
namespace {

class LinuxSpawn : public testing::RealProcesses {
 protected:
  /// Why a launch fails, at the latest at its release.
  NotStarted why_not(const Launch& launch) {
    auto child = processes_.spawn(launch);
    if (!child) return child.error();
    auto process = (*child)->release();
    if (!process) return process.error();
    to_end_.push_back((*process)->id());
    ADD_FAILURE() << "it was started";
    return {};
  }

  /// What a launch leaves in "out" at its end.
  std::string output_of(const Launch& launch) {
    const auto process = started(launch);
    if (process) end_of(*process);
    EXPECT_EQ(contents(path("err")), "");
    return contents(path("out"));
  }

  static std::set<std::string> descriptors_of(std::int64_t pid) {
    std::set<std::string> all;
    DIR* folder = ::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
    if (folder == nullptr) return all;
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] != '.') all.insert(entry->d_name);
    }
    ::closedir(folder);
    return all;
  }

  bool is_gone(const ProcessId& id) { return processes_.open(id)->look().state == RunState::gone; }

  /// The exit code of what a forked copy of this test does.
  static int exit_of_fork(const std::function<void()>& in_child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      in_child();
      ::_exit(111);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(LinuxSpawn, runs_nothing_before_the_release) {
  auto child = processes_.spawn(shell("echo ran"));
  ASSERT_TRUE(child);
  const ProcessId id = (*child)->id();
  EXPECT_EQ(id.pid_ns, processes_.self().pid_ns);
  EXPECT_EQ(id.boot_id, processes_.self().boot_id);
  EXPECT_EQ(*processes_.identify(id.pid), id);
  EXPECT_TRUE(run_until([&] { return descriptors_of(id.pid).size() == 4; }));
  EXPECT_EQ(contents(path("out")), "");
  auto process = (*child)->release();
  ASSERT_TRUE(process);
  child->reset();
  EXPECT_EQ((*process)->id(), id);
  EXPECT_EQ(end_of(**process), code(0));
  EXPECT_EQ(contents(path("out")), "ran\n");
}

TEST_F(LinuxSpawn, signs_when_it_is_let_through_its_gate_and_not_before) {
  std::ofstream(path("record")) << "{}      \n";
  Launch launch = shell("cat record");
  launch.sign = {path("record"), 7};
  {
    const auto dropped = processes_.spawn(launch);
    ASSERT_TRUE(dropped);
  }
  EXPECT_EQ(contents(path("record")), "{}      \n");
  EXPECT_EQ(output_of(launch), "{}     !\n");
}

TEST_F(LinuxSpawn, runs_where_it_cannot_sign_all_the_same) {
  Launch launch = shell("echo ran");
  launch.sign = {path("nothing/there"), 7};
  EXPECT_EQ(output_of(launch), "ran\n");
}

TEST_F(LinuxSpawn, runs_nothing_if_the_gate_is_dropped) {
  auto child = processes_.spawn(shell("echo ran > trace"));
  ASSERT_TRUE(child);
  const ProcessId id = (*child)->id();
  child->reset();
  EXPECT_TRUE(is_gone(id));
  EXPECT_EQ(::access(path("trace").c_str(), F_OK), -1);
}

TEST_F(LinuxSpawn, runs_nothing_if_the_one_at_the_gate_dies) {
  const Launch launch = shell("echo ran > trace");
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              const auto one = processes.spawn(launch);
              const auto two = processes.spawn(launch);
              if (!one || !two) ::_exit(1);
              std::ofstream(path("pids")) << (*one)->id().pid << ' ' << (*two)->id().pid << '\n';
              ::_exit(0);
            }),
            0);
  std::ifstream pids(path("pids"));
  std::int64_t one = 0, two = 0;
  pids >> one >> two;
  ASSERT_GT(two, 0);
  EXPECT_TRUE(run_until([&] {
    const auto first = processes_.identify(one);
    const auto second = processes_.identify(two);
    return first && !*first && second && !*second;
  }));
  EXPECT_EQ(::access(path("trace").c_str(), F_OK), -1);
}

TEST_F(LinuxSpawn, keeps_gates_apart) {
  auto first = processes_.spawn(shell("exit 1"));
  auto second = processes_.spawn(shell("exit 2"));
  ASSERT_TRUE(first && second);
  const std::set<std::string> own = {"0", "1", "2", "3"};
  EXPECT_TRUE(run_until([&] { return descriptors_of((*first)->id().pid) == own; }));
  EXPECT_TRUE(run_until([&] { return descriptors_of((*second)->id().pid) == own; }));
  first->reset();
  auto process = (*second)->release();
  ASSERT_TRUE(process);
  EXPECT_EQ(end_of(**process), code(2));
}

TEST_F(LinuxSpawn, leaks_no_descriptor) {
  const int open = ::open("/dev/null", O_RDONLY);  // not closed at exec
  ASSERT_GE(open, 0);
  EXPECT_EQ(output_of(shell("exec ls /proc/self/fd")), "0\n1\n2\n3\n");  // 3 is what ls reads
  ::close(open);
}

TEST_F(LinuxSpawn, gives_a_session_and_signals_as_new) {
  std::signal(SIGUSR2, SIG_IGN);
  const Subscribed order = loop_.on(Order::look, [] {});
  const std::string status =
      output_of(shell("grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ps -o sid= -p $$; echo $$"));
  std::signal(SIGUSR2, SIG_DFL);
  EXPECT_NE(status.find("SigBlk:\t0000000000000000"), std::string::npos) << status;
  EXPECT_NE(status.find("SigIgn:\t0000000000000000"), std::string::npos) << status;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < status.size();) {
    const std::size_t end = std::min(status.find_first_of(" \n\t", at), status.size());
    if (end > at) words.push_back(status.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_GE(words.size(), 2U);
  EXPECT_EQ(words[words.size() - 1], words[words.size() - 2]);
}

TEST_F(LinuxSpawn, resets_the_signals_that_the_c_library_keeps_for_itself) {
  struct KernelAction {
    std::uintptr_t handler = 0;
    std::array<unsigned long, 7> rest{};
  };
  const auto set = [](int signal, const KernelAction& action) {
    return ::syscall(SYS_rt_sigaction, signal, &action, nullptr, NSIG / 8);
  };
  const KernelAction ignored{.handler = reinterpret_cast<std::uintptr_t>(SIG_IGN)};
  for (int signal = __SIGRTMIN; signal < SIGRTMIN; ++signal) ASSERT_EQ(set(signal, ignored), 0);
  const std::string status = output_of(shell("grep SigIgn /proc/self/status"));
  for (int signal = __SIGRTMIN; signal < SIGRTMIN; ++signal) ASSERT_EQ(set(signal, {}), 0);
  EXPECT_EQ(status, "SigIgn:\t0000000000000000\n");
}

TEST_F(LinuxSpawn, gives_exactly_the_environment_and_folder_it_was_told) {
  Launch launch = shell("");
  launch.command = {"env"};
  launch.environment = {"PATH=/usr/bin:/bin", "ONE=1", "EMPTY=", "ODD=a b\tc"};
  EXPECT_EQ(output_of(launch), "PATH=/usr/bin:/bin\nONE=1\nEMPTY=\nODD=a b\tc\n");
  EXPECT_EQ(output_of(shell("pwd")),
            "PATH=/usr/bin:/bin\nONE=1\nEMPTY=\nODD=a b\tc\n" + folder_ + "\n");
}

TEST_F(LinuxSpawn, opens_outputs_for_its_owner_alone_and_input_as_nothing) {
  EXPECT_EQ(output_of(shell("cat; echo end")), "end\n");
  struct stat about{};
  ASSERT_EQ(::stat(path("out").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  Launch silent = shell("echo lost; echo lost >&2");
  silent.output.clear();
  silent.error.clear();
  const auto process = started(silent);
  EXPECT_EQ(end_of(*process), code(0));
}

TEST_F(LinuxSpawn, inherits_input_if_told_to) {
  write("in", "from us\n");
  const int kept = ::dup(STDIN_FILENO);
  const int input = ::open(path("in").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(input, 0);
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  Launch launch = shell("cat");
  launch.inherit_input = true;
  EXPECT_EQ(output_of(launch), "from us\n");
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  } else {
    ::close(STDIN_FILENO);
  }
}

TEST_F(LinuxSpawn, opens_more_files_at_their_numbers) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  write("more", "more\n");
  Launch launch = shell("cat <&3; echo said >&5; read word <&5; echo $word; ls /proc/self/fd");
  launch.extra = {{5, path("fifo")}, {3, path("more")}};
  const std::string output = output_of(launch);
  EXPECT_EQ(output, "more\nsaid\n0\n1\n2\n3\n4\n5\n");  // 4 is what ls reads
  launch.extra = {{3, path("missing")}};
  EXPECT_EQ(why_not(launch).text, "cannot run 'sh': cannot open its file '" + path("missing") +
                                      "': No such file or directory");
}

TEST_F(LinuxSpawn, gives_an_input_that_never_comes_to_an_end) {
  ASSERT_EQ(::mkfifo(path("input").c_str(), 0600), 0);
  Launch launch = shell("echo first >&0; read one; echo got $one; read -t 0 two || echo waits");
  launch.command[0] = "bash";
  launch.input = path("input");
  EXPECT_EQ(output_of(launch), "got first\nwaits\n");
}

TEST_F(LinuxSpawn, says_that_a_program_is_not_in_the_path) {
  Launch launch = shell("");
  launch.command = {"no-such-program-anywhere"};
  const NotStarted why = why_not(launch);
  EXPECT_EQ(why.exit_code, 127);
  EXPECT_EQ(why.text, "cannot run 'no-such-program-anywhere': not found in PATH");
}

TEST_F(LinuxSpawn, says_what_is_wrong_with_a_program) {
  Launch launch = shell("");
  launch.command = {path("absent")};
  EXPECT_EQ(why_not(launch).exit_code, 127);

  launch.command = {write("plain", "text")};
  EXPECT_EQ(why_not(launch).exit_code, 126);
  EXPECT_EQ(why_not(launch).text, "cannot run '" + path("plain") + "': Permission denied");

  launch.command = {write("bad", "#!/no/such/interpreter\n", 0700)};
  EXPECT_EQ(why_not(launch).exit_code, 126);
  EXPECT_EQ(why_not(launch).text,
            "cannot run '" + path("bad") + "': the interpreter it names is missing");

  launch.command = {};
  EXPECT_EQ(why_not(launch).text, "there is no command to run");
  launch.command = {"sh", std::string("a\0b", 3)};
  EXPECT_EQ(why_not(launch).exit_code, 126);
  launch.command = {""};
  EXPECT_EQ(why_not(launch).exit_code, 127);
}

TEST_F(LinuxSpawn, says_what_is_wrong_around_a_program) {
  Launch launch = shell("exit 0");
  launch.working_folder = path("nowhere");
  EXPECT_EQ(why_not(launch).text,
            "cannot run 'sh': cannot enter '" + path("nowhere") + "': No such file or directory");
  launch = shell("exit 0");
  ASSERT_EQ(::symlink("/dev/null", path("link").c_str()), 0);
  launch.output = path("link");
  EXPECT_EQ(why_not(launch).exit_code, 126);
  EXPECT_EQ(why_not(launch).text.find("cannot run 'sh': cannot open its output '" + path("link")),
            0U);
}

TEST_F(LinuxSpawn, looks_on_in_the_path_after_a_file_it_may_not_run) {
  write("env", "not a program");
  Launch launch = shell("");
  launch.command = {"env"};
  launch.environment = {"PATH=" + folder_ + ":/usr/bin:/bin"};
  EXPECT_EQ(output_of(launch), launch.environment[0] + "\n");
  launch.environment = {"PATH=" + folder_};
  EXPECT_EQ(why_not(launch).text, "cannot run 'env': Permission denied");
}

TEST_F(LinuxSpawn, runs_a_script_without_a_first_line_by_the_shell) {
  Launch launch = shell("");
  launch.command = {write("script", "echo $0 $1 $2\n", 0700), "one", "two"};
  EXPECT_EQ(output_of(launch), path("script") + " one two\n");
}

TEST_F(LinuxSpawn, takes_a_path_from_the_working_folder) {
  write("local", "#!/bin/sh\necho local\n", 0700);
  Launch launch = shell("");
  launch.command = {"./local"};
  EXPECT_EQ(output_of(launch), "local\n");
}

TEST_F(LinuxSpawn, says_so_if_no_process_may_be_made) {
  const Launch launch = shell("exit 0");
  EXPECT_EQ(exit_of_fork([&] {
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_NPROC, &none);
              if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              const auto child = processes.spawn(launch);
              const bool right =
                  !child && child.error().exit_code == 126 &&
                  child.error().text == "cannot run 'sh': Resource temporarily unavailable";
              ::_exit(right ? 0 : 1);
            }),
            0);
}

TEST_F(LinuxSpawn, says_so_if_there_are_no_descriptors_left) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers need descriptors too";
  const Launch launch = shell("exit 0");
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              const ProcessId self = processes.self();
              const rlimit few{3, 3};
              ::setrlimit(RLIMIT_NOFILE, &few);
              const auto child = processes.spawn(launch);
              const Condition condition = processes.open(self)->look();
              const bool right = !child && child.error().exit_code == 126 &&
                                 condition.state == RunState::unknown &&
                                 !condition.problem.empty() && !processes.all("X") &&
                                 !processes.detach(launch);
              ::_exit(right ? 0 : 1);
            }),
            0);
}

TEST_F(LinuxSpawn, finds_one_that_fled_by_its_mark_and_gets_it_as_an_orphan) {
  Launch launch = shell("(setsid sleep 1000 & echo $! > pid); exit 0");
  launch.environment.push_back("TEND_TEST_MARK=" + folder_);
  const auto process = started(launch);
  const std::int64_t pid = number_in(path("pid"));
  identified(pid);
  EXPECT_EQ(end_of(*process), code(0));
  const auto all = processes_.all("TEND_TEST_MARK");
  ASSERT_TRUE(all);
  std::vector<Seen> marked;
  for (const Seen& seen : *all) {
    if (seen.mark == folder_) marked.push_back(seen);
    EXPECT_TRUE(seen.id.pid != ::getpid() || !seen.mark);
  }
  ASSERT_EQ(marked.size(), 1U);
  EXPECT_EQ(marked[0].id.pid, pid);
  EXPECT_EQ(marked[0].parent, ::getpid());
  EXPECT_FALSE(marked[0].zombie);
  // Nobody holds it: it is reaped all the same.
  ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGKILL), 0);
  EXPECT_TRUE(run_until([&] {
    const auto left = processes_.identify(pid);
    return left && !*left;
  }));
}

TEST_F(LinuxSpawn, sees_the_mark_of_one_that_changes_programs_all_the_time) {
  Launch launch = shell("echo 'exec sh again' > again; exec sh again");
  launch.environment.push_back("TEND_TEST_MARK=" + folder_);
  const auto process = started(launch);
  for (int look = 0; look < 300; ++look) {
    const auto all = processes_.all("TEND_TEST_MARK");
    ASSERT_TRUE(all);
    ASSERT_EQ(std::ranges::count(*all, folder_, &Seen::mark), 1) << "in look " << look;
  }
}

TEST_F(LinuxSpawn, knows_when_nothing_is_left_of_what_it_started) {
  const Launch launch = shell("(setsid sleep 1000 & echo $! > pid); exit 0");
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              if (processes.childless("")) ::_exit(1);  // it does not know yet
              auto child = processes.spawn(launch);
              if (!child || processes.childless("")) ::_exit(2);
              const auto process = (*child)->release();
              while ((*process)->look().state != RunState::gone) ::sched_yield();
              if (processes.childless("")) ::_exit(3);  // one fled, and came to us
              ::kill(static_cast<pid_t>(std::atoi(contents(path("pid")).c_str())), SIGKILL);
              while (!processes.childless("")) ::sched_yield();
              if (!processes.detach(shell("exit 0")) || !processes.childless("")) ::_exit(4);
              ::_exit(0);
            }),
            0);
}

TEST_F(LinuxSpawn, does_not_claim_to_know_once_an_orphan_may_have_passed_it_by) {
  const Launch launch = shell("exit 0");
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              {
                const auto child = processes.spawn(launch);
                if (!child || !processes.detach(launch)) ::_exit(1);
              }
              ::_exit(processes.childless("") ? 2 : 0);
            }),
            0);
}

TEST_F(LinuxSpawn, counts_the_time_that_was_used) {
  const auto process =
      started(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "
                    "echo done; exec sleep 1000"));
  ASSERT_TRUE(run_until([&] { return contents(path("out")) == "done\n"; }));
  const auto all = processes_.all("");
  ASSERT_TRUE(all);
  const auto seen = std::ranges::find(*all, process->id(), &Seen::id);
  ASSERT_NE(seen, all->end());
  EXPECT_GT(seen->cpu, Duration{0});
  // Told in ticks, and both may have been started in the same one.
  constexpr double kTick = 0.01;
  EXPECT_GT(processes_.started(process->id()), processes_.started(processes_.self()) - kTick);
}

TEST_F(LinuxSpawn, detaches_what_is_no_child_of_ours_even_if_orphans_come_to_us) {
  const auto makes_us_adopt = started(shell("exit 0"));
  ASSERT_TRUE(processes_.detach(shell("echo $$ > pid; echo out; exec sleep 1000")));
  const ProcessId id = identified(number_in(path("pid")));
  const auto stat = read_stat(id.pid);
  ASSERT_TRUE(stat && *stat);
  EXPECT_NE((*stat)->parent, ::getpid());
  EXPECT_EQ((*stat)->session, id.pid);
  EXPECT_EQ(contents(path("out")), "out\n");
  // Orphans still come to us afterwards.
  started(shell("(setsid sleep 1000 & echo $! > other); exit 0"));
  const ProcessId orphan = identified(number_in(path("other")));
  EXPECT_TRUE(run_until([&] {
    const auto now = read_stat(orphan.pid);
    return now && *now && (*now)->parent == ::getpid();
  }));
}

TEST_F(LinuxSpawn, says_why_it_cannot_detach) {
  Launch launch = shell("");
  launch.command = {"no-such-program-anywhere"};
  const auto detached = processes_.detach(launch);
  ASSERT_FALSE(detached);
  EXPECT_EQ(detached.error().text, "cannot run 'no-such-program-anywhere': not found in PATH");
}

TEST_F(LinuxSpawn, becomes_another_program_with_the_same_pid) {
  const Launch launch = {
      .command = {"sh", "-c",
                  "echo $$ > " + path("pid") + "; ls /proc/self/fd > " + path("fds") + "; exit 9"},
      .environment = {"PATH=/usr/bin:/bin"}};
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              std::ofstream(path("before")) << ::getpid() << '\n';
              ::dup2(::open("/dev/null", O_RDONLY), 77);
              [[maybe_unused]] const auto became = processes.become(launch);
            }),
            9);
  EXPECT_EQ(contents(path("pid")), contents(path("before")));
  EXPECT_EQ(contents(path("fds")), "0\n1\n2\n3\n");
}

TEST_F(LinuxSpawn, stays_what_it_is_if_it_cannot_become_another) {
  EXPECT_EQ(exit_of_fork([&] {
              LinuxLoop loop;
              LinuxProcesses processes(loop);
              const auto became = processes.become({.command = {"/no/such/program"}});
              ::_exit(!became && became.error().text ==
                                     "cannot run '/no/such/program': No such file or directory"
                          ? 0
                          : 1);
            }),
            0);
}

TEST_F(LinuxSpawn, knows_its_own_program_also_after_it_was_replaced) {
  constexpr const char* kCopy = "TEND_TEST_COPY_OF_PROGRAM";
  if (const char* copy = std::getenv(kCopy)) {
    ASSERT_EQ(processes_.own_program(), copy);
    ASSERT_EQ(::unlink(copy), 0);
    ASSERT_EQ(processes_.own_program(), "/proc/self/exe");
    std::ofstream(copy) << "a newer version";
    ASSERT_EQ(processes_.own_program(), copy);
    return;
  }
  const std::string copy = path("program");
  {
    std::ifstream from("/proc/self/exe", std::ios::binary);
    std::ofstream(copy, std::ios::binary) << from.rdbuf();
  }
  ASSERT_EQ(::chmod(copy.c_str(), 0700), 0);
  Launch launch = shell("");
  launch.command = {copy, "--gtest_filter=LinuxSpawn.knows_its_own_program*"};
  launch.environment = {std::string(kCopy) + "=" + copy};
  const auto process = started(launch);
  EXPECT_EQ(end_of(*process), code(0)) << contents(path("out"));
  EXPECT_EQ(contents(copy), "a newer version");
}

}  // namespace
}  // namespace tend
