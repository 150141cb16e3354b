// The least a keeper can be, and so the yardstick of keeper_bench and fleet_bench: starts a
// program, sleeps on its pidfd, notes its end in a file, starts it again, and sets the time of a
// file every 30 s. It judges nothing, remembers nothing, saves nothing.
//
//   raw_keeper FOLDER PROGRAM [ARGUMENT...]    until it is ended; its child ends with it
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

namespace {

constexpr int kBeatMs = 30'000;
constexpr std::string_view kNote = R"({"t":0.0,"is":"process","state":"gone","exit":{"signal":9}})"
                                   "\n";

/// A pidfd of a new child; -1 if there is none.
int start(char** command) {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execv(command[0], command);
    ::_exit(127);
  }
  return child < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string folder = words[1];
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const int journal = ::open((folder + "/journal.jsonl").c_str(), kAppend, 0600);
  const int beat = ::open((folder + "/.heartbeat").c_str(), kAppend, 0600);
  const int output = ::open((folder + "/stream.jsonl").c_str(), kAppend, 0600);
  if (journal < 0 || beat < 0 || ::dup2(output, STDOUT_FILENO) < 0) return 1;
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  while (true) {
    const int child = start(words + 2);
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {}};
    if (child < 0 || ::epoll_ctl(loop, EPOLL_CTL_ADD, child, &event) != 0) return 1;
    while (::epoll_wait(loop, &event, 1, kBeatMs) <= 0) ::futimens(beat, nullptr);
    if (::write(journal, kNote.data(), kNote.size()) < 0) return 1;
    siginfo_t how{};
    ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(child), &how, WEXITED);
    ::close(child);
  }
}
