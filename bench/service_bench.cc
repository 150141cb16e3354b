// What a beater holds and uses while it rests, and what a beat costs it. Beside it, in the same
// minute, the shape that it takes the place of: a shell that sleeps and runs a script at each beat,
// which reads and writes the same two files. The ratios are what counts.
#include <cstring>
#include <ctime>

#include "kept.h"

namespace tend::bench {
namespace {

constexpr auto kMeasured = 20s;
constexpr const char* kEvery = "1";  // seconds: a minute's work of an hour in a minute

std::string now_text() {
  const auto seconds =
      static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%FT%TZ", &utc));
  return text;
}

void write_stores(const fs::path& root, pid_t subject) {
  fs::create_directories(root / "memory");
  const std::string now = now_text();
  std::ofstream(root / "memory/agent-registry.json")
      << R"({"version":"1.0.0","agents":[{"agent_id":"a1","assigned_role":"orchestrator","pid":)"
      << subject << R"(,"started_at":")" << now << R"(","last_heartbeat":")" << now
      << R"(","status":"working"}],"lock_version":1})";
  std::ofstream(root / "memory/orchestrator-state.json")
      << R"({"leader_id":"a1","leader_epoch":1,"last_heartbeat":")" << now
      << R"(","ttl_ms":180000})";
}

/// sed stands for what edited the files there: it is smaller than that was.
std::string script(const fs::path& root) {
  std::string text = "while true; do now=$(date -u +%Y-%m-%dT%H:%M:%SZ); for f in";
  for (const char* file : {"agent-registry.json", "orchestrator-state.json"}) {
    text += " " + (root / "memory" / file).string();
  }
  return text +
         R"(; do sed "s/\"last_heartbeat\":\"[^\"]*\"/\"last_heartbeat\":\"$now\"/" $f >$f.tmp)"
         R"( && mv $f.tmp $f; done; sleep )" +
         kEvery + "; done";
}

/// Of a process and of those that it reaped.
double all_cpu_of(pid_t pid) {
  const std::string text = read_all(fs::path("/proc") / std::to_string(pid) / "stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) give_up("it is gone");
  constexpr int kFirst = 11;  // fields behind the name before utime
  const char* at = text.c_str() + name_end + 2;
  for (int i = 0; i < kFirst; ++i) at = std::strchr(at, ' ') + 1;
  double ticks = 0;
  for (int i = 0; i < 4; ++i) {  // utime, stime, cutime, cstime
    char* end = nullptr;
    ticks += std::strtod(at, &end);
    at = end;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void compare() {
  const BenchHome home;
  const fs::path ours = home.path() / "ours";
  const fs::path theirs = home.path() / "theirs";
  const pid_t subject = start({"/bin/sleep", "1000"});
  write_stores(ours, subject);
  write_stores(theirs, subject);
  const std::string pidfile = (ours / "memory/service.pid").string();
  run({kTend, "service", "start", "--pidfile", pidfile, "--preset", "hyrm", "--root", ours.string(),
       "--interval", std::string(kEvery) + "s"});
  // There is more than one shell on any machine: so that pages of the program are shared here, too.
  const std::string another = (home.path() / "another.pid").string();
  run({kTend, "service", "start", "--pidfile", another, "--pid", std::to_string(subject)});
  const pid_t shell = start({"/bin/bash", "-c", script(theirs)});
  const pid_t service = std::atoi(read_all(pidfile).c_str());
  std::this_thread::sleep_for(2s);
  const double service_before = all_cpu_of(service);
  const double shell_before = all_cpu_of(shell);
  const auto from = Clock::now();
  std::this_thread::sleep_for(kMeasured);
  const double beats = seconds_since(from);  // one a second
  const double service_cpu = all_cpu_of(service) - service_before;
  const double shell_cpu = all_cpu_of(shell) - shell_before;
  const Memory service_memory = memory_of(service);
  const Memory shell_memory = memory_of(shell);
  for (const std::string& each : {pidfile, another}) {
    run({kTend, "service", "stop", "--pidfile", each});
  }
  for (const pid_t each : {shell, subject}) {
    ::kill(each, SIGKILL);
    ::waitpid(each, nullptr, 0);
  }
  table_head();
  row("a beater at rest: memory written to", service_memory.dirty, shell_memory.dirty, "MB", "");
  row("the same, that nobody else has", service_memory.alone, shell_memory.alone, "MB", "2-3 MB");
  row("the same, as ps counts it", service_memory.seen, shell_memory.seen, "MB", "2-3 MB");
  row("processor time of a beat", service_cpu / beats * 1e3, shell_cpu / beats * 1e3, "ms", "");
  row("the same, 60 beats an hour", service_cpu / beats * 6e4, shell_cpu / beats * 6e4, "ms", "");
}

}  // namespace
}  // namespace tend::bench

int main() { tend::bench::compare(); }
