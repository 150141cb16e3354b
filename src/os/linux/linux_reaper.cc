// One pass per SIGCHLD: look at a zombie, tell who holds it, take it away, until there is none.
#include "os/linux/linux_reaper.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "os/linux/linux_pidfd.h"
#include "os/linux/linux_proc_files.h"

namespace tend {
namespace {

bool adopts() {
  int yes = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &yes) == 0 && yes != 0;
}

bool set_adopts(bool yes) { return ::prctl(PR_SET_CHILD_SUBREAPER, yes ? 1UL : 0UL) == 0; }

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

Reaper::Held::Held(Reaper& reaper, ProcessId id) : reaper_(reaper), id_(std::move(id)) {
  reaper_.held_.emplace(id_.pid, this);
}

Reaper::Held::~Held() {
  const auto [first, last] = reaper_.held_.equal_range(id_.pid);
  for (auto held = first; held != last; ++held) {
    if (held->second == this) {
      reaper_.held_.erase(held);
      return;
    }
  }
}

Reaper::Reaper(LinuxLoop& loop) : loop_(loop), missed_some_(has_children()) {
  if (adopts()) adopt_orphans();
}

void Reaper::start() {
  if (ended_) return;
  ended_ = loop_.on_child([this] { reap_all(); });
  // Children that ended before we listened sent their signal to nobody.
  first_ = loop_.post([this] { reap_all(); });
}

void Reaper::adopt_orphans() {
  start();
  if (!adopts_) adopts_ = set_adopts(true);
}

bool Reaper::is_childless() {
  if (!adopts_ || missed_some_) return false;
  reap_all();
  return !has_children();
}

void Reaper::reap_all() {
  constexpr int kMostAtOnce = 10'000;
  for (int i = 0; i < kMostAtOnce; ++i) {
    siginfo_t info{};
    // Looked at before it is reaped: until then its pid cannot mean another.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    reap_one(info.si_pid);
  }
}

void Reaper::reap_one(std::int64_t pid) {
  const auto [first, last] = held_.equal_range(pid);
  const auto stat = first == last ? Result<std::optional<ProcStat>>{} : read_stat(pid);
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0) return;
  if (info.si_pid == 0 || !stat || !*stat) return;
  for (auto held = first; held != last; ++held) {
    if (held->second->id_.start_ticks != (*stat)->start_ticks) continue;
    held->second->exit_ = exit_status(info.si_code, info.si_status);
  }
}

NoAdoption::NoAdoption(Reaper& reaper) : adopted_(adopts()) {
  if (!adopted_) return;
  set_adopts(false);
  reaper.missed_some_ = reaper.missed_some_ || has_children();
}

NoAdoption::~NoAdoption() {
  if (adopted_) set_adopts(true);
}

}  // namespace tend
