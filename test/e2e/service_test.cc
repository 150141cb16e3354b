// The beater on real processes: its words and exit codes, and each thing that went wrong with a
// beater that was a loop in a shell.
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "service_testing.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

class ServiceTest : public ServiceE2e {};

TEST_F(ServiceTest, starts_says_that_it_runs_and_stops) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  EXPECT_EQ(status().out, "Heartbeat service: NOT RUNNING (no PID file)\n");
  EXPECT_EQ(status().exit, 1);
  const auto started = serve();
  ASSERT_EQ(started.exit, 0) << started.err;
  EXPECT_EQ(started.out, fmt::format("Heartbeat service: STARTED (PID: {})\n", service_pid()));
  EXPECT_EQ(status().out, fmt::format("Heartbeat service: RUNNING (PID: {})\n", service_pid()));
  EXPECT_EQ(status().exit, 0);
  const std::string first = lease_beat();
  EXPECT_TRUE(eventually([&] { return lease_beat() > first; }));
  EXPECT_TRUE(becomes("state", "beating"));
  EXPECT_EQ(report()["failure"], 0);
  const auto again = serve();
  EXPECT_EQ(again.exit, 1);
  EXPECT_TRUE(again.err.contains(
      fmt::format("it is already running (PID: {}), for the entry of ", service_pid())))
      << again.err;
  const pid_t pid = service_pid();
  const auto stopped = stop();
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_FALSE(is_running(pid));
  EXPECT_FALSE(std::filesystem::exists(pidfile()));
  EXPECT_EQ(stop().exit, 1);
  EXPECT_TRUE(read_file(log()).contains("Heartbeat service started (PID: "));
  EXPECT_TRUE(read_file(root() / "memory" / "realtime.log").contains("heartbeat-service: "));
}

TEST_F(ServiceTest, a_script_that_knows_the_old_words_finds_them) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  const std::string script = std::string(TEND_SOURCE_DIR) + "/compat/heartbeat-service.sh";
  const Path bin = scratch() / "bin";
  std::filesystem::create_directories(bin);
  std::filesystem::create_symlink(TEND_BINARY, bin / "tend");
  const auto call = [&](const Arguments& words) {
    return run({.arguments = Arguments{"sh", script} + words,
                .environment = {{"HEARTBEAT_ROOT", root().string()},
                                {"TEND_HOME", home().string()},
                                {"PATH", bin.string() + ":/usr/bin:/bin"}},
                .input = ""});
  };
  const std::string file = "memory/.heartbeat-service.pid";
  EXPECT_EQ(call({file, "status"}).exit, 1);
  const auto started = call({file, "start"});
  ASSERT_EQ(started.exit, 0) << started.err;
  EXPECT_EQ(call({file, "status"}).out,
            fmt::format("Heartbeat service: RUNNING (PID: {})\n", service_pid()));
  EXPECT_EQ(call({file, "start"}).exit, 1);
  EXPECT_EQ(call({file, "stop"}).exit, 0);
  EXPECT_EQ(call({file, "status"}).out, "Heartbeat service: NOT RUNNING (no PID file)\n");
  EXPECT_EQ(call({file, "dance"}).exit, 1);
}

TEST_F(ServiceTest, a_stale_pid_file_is_known_by_identity_and_not_by_number) {
  Background other = orchestrator();  // a number that came to mean another process
  std::ofstream(pidfile()) << other.pid() << "\n";
  const auto looked = status();
  EXPECT_EQ(looked.exit, 1);
  EXPECT_EQ(looked.out,
            fmt::format("Heartbeat service: NOT RUNNING (stale PID: {})\n", other.pid()));
  EXPECT_FALSE(std::filesystem::exists(pidfile()));
  std::ofstream(pidfile()) << other.pid() << "\n";
  EXPECT_EQ(stop().exit, 1);
  EXPECT_TRUE(is_running(other.pid())) << "nobody is ended by a number";
  std::ofstream(pidfile()) << other.pid() << "\n";
  registry({entry("a1", other.pid())});
  EXPECT_EQ(serve().exit, 0);
  EXPECT_NE(service_pid(), other.pid());
}

// --- What went wrong with the loop in a shell ---------------------------------------------------

TEST_F(ServiceTest, incident_subject_exits_and_the_beater_would_outlive_it) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  ASSERT_EQ(serve().exit, 0);
  const pid_t pid = service_pid();
  EXPECT_TRUE(becomes("state", "beating"));
  subject.signal(SIGKILL);
  subject.wait();
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }, 5s));
  const std::string last = lease_beat();
  const std::string entry_beat = beat_of("a1");
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(lease_beat(), last);
  EXPECT_EQ(beat_of("a1"), entry_beat);
  EXPECT_EQ(status().out, "Heartbeat service: NOT RUNNING (no PID file)\n");
}

TEST_F(ServiceTest, incident_a_non_leader_beats_and_calls_it_success) {
  Background leader = orchestrator();
  Background subject = orchestrator();
  registry({entry("leader", leader.pid(), 2s), entry("mine", subject.pid())});
  lease("leader");
  const std::string before = lease_beat();
  ASSERT_EQ(serve().exit, 0);
  EXPECT_TRUE(eventually([&] { return report()["failure"] >= 2; }));
  EXPECT_EQ(lease_beat(), before);
  const Json said = report();
  EXPECT_EQ(said["success"], 0);
  EXPECT_EQ(said["state"], "failing");
  EXPECT_TRUE(text_in(said, "last_error").contains("not the leader: the lease is held by leader"))
      << said;
}

TEST_F(ServiceTest, incident_predecessors_lease_still_valid_at_start) {
  Background subject = orchestrator();
  registry({entry("new", subject.pid())});
  lease("old", 1s, 3000);
  const std::string before = lease_beat();
  ASSERT_EQ(serve().exit, 0);
  EXPECT_TRUE(eventually([&] { return report()["failure"] >= 1; }));
  EXPECT_EQ(lease_beat(), before) << "it runs out, as if nobody were there";
  EXPECT_TRUE(is_running(service_pid())) << "and nobody gives up for that";
  lease("new");  // it was elected
  EXPECT_TRUE(becomes("state", "beating"));
}

TEST_F(ServiceTest, incident_first_registry_entry_is_dead) {
  Background dead = orchestrator();
  dead.signal(SIGKILL);
  dead.wait();
  Background subject = orchestrator();
  registry({entry("dead", dead.pid(), 1h), entry("alive", subject.pid())});
  lease("alive");
  const std::string before = beat_of("dead");
  ASSERT_EQ(serve().exit, 0);
  const std::string first = beat_of("alive");
  EXPECT_TRUE(eventually([&] { return beat_of("alive") > first; }));
  EXPECT_EQ(beat_of("dead"), before);
}

TEST_F(ServiceTest, incident_two_watchdogs_start_one_beater) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  std::vector<Background> starts;
  for (int i = 0; i < 6; ++i) starts.push_back(start_tend(start_words()));
  int won = 0;
  for (Background& each : starts) {
    const auto ended = each.wait();
    won += ended.exit == 0 ? 1 : 0;
    EXPECT_TRUE(ended.exit == 0 || ended.err.contains("already running")) << ended.err;
  }
  EXPECT_EQ(won, 1);
  EXPECT_TRUE(eventually([&] { return beaters().size() == 1; }));
  EXPECT_EQ(beaters(), std::vector<pid_t>{service_pid()});
}

TEST_F(ServiceTest, incident_clean_exit_mistaken_for_a_crash) {
  Background subject = start({.arguments = {"sh", "-c", "sleep 2; exit 0"}});
  registry({entry("a1", subject.pid())});
  lease("a1");
  ASSERT_EQ(serve().exit, 0);
  EXPECT_EQ(subject.wait().exit, 0);
  EXPECT_TRUE(becomes("state", "ended"));
  EXPECT_EQ(report()["failure"], 0);
  EXPECT_EQ(report()["ended_because"], fmt::format("process {} is gone", subject.pid()));
  EXPECT_FALSE(read_file(log()).contains("ERROR")) << read_file(log());
}

TEST_F(ServiceTest, incident_lease_expires_during_a_long_tool) {
  // It does nothing but wait for its tool, for longer than its lease lasts.
  Background subject = start({.arguments = {"sh", "-c", "sleep 1000; true"}});
  registry({entry("a1", subject.pid())});
  lease("a1", 0s, 3000);
  ASSERT_EQ(serve().exit, 0);
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(500ms);
    EXPECT_GE(lease_beat(), when(3s)) << "it has run out";
  }
  EXPECT_EQ(report()["failure"], 0) << report();
}

TEST_F(ServiceTest, incident_concurrent_writers_of_the_registry_lose_nothing) {
  Background subject = orchestrator();
  std::vector<Json> entries{entry("a1", subject.pid())};
  registry(entries);
  lease("a1", 0s, 3000);
  ASSERT_EQ(serve().exit, 0);
  // Others register under the lock of that system, one after the other.
  const Path lock = registry_file().string() + ".lock";
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(eventually([&] {
      const int fd = ::open(lock.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
      if (fd < 0) return false;
      const std::string text =
          Json{{"agent_id", "w"}, {"locked_at", when()}, {"pid", ::getpid()}}.dump();
      EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      ::close(fd);
      return true;
    }));
    Json all = Json::parse(read_file(registry_file()), nullptr, false);
    EXPECT_TRUE(all.is_object()) << i;
    all["agents"].push_back({{"agent_id", "w" + std::to_string(i)}, {"assigned_role", "worker"}});
    write(registry_file(), all);
    std::filesystem::remove(lock);
    std::this_thread::sleep_for(50ms);
  }
  const Json all = Json::parse(read_file(registry_file()), nullptr, false);
  EXPECT_EQ(all["agents"].size(), 61U);
  EXPECT_TRUE(eventually([&] { return beat_of("a1") >= when(3s); }));
  EXPECT_EQ(report()["failure"], 0) << report();
}

TEST_F(ServiceTest, incident_survives_the_session_that_started_it) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  // A shell that leads a session, and everything in its session is hung up and killed.
  const Arguments shell{"sh", "-c", "\"$@\"; trap '' HUP; kill -HUP 0; exit 0", "sh", TEND_BINARY};
  const auto session = run({.arguments = shell + start_words(),
                            .environment = {{"TEND_HOME", home().string()}},
                            .input = ""});
  ASSERT_EQ(session.exit, 0) << session.err;
  const pid_t pid = service_pid();
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::getsid(pid), pid) << "a session of its own";
  ASSERT_EQ(::kill(pid, SIGHUP), 0);  // and it does not mind being told itself
  const std::string before = lease_beat();
  EXPECT_TRUE(eventually([&] { return lease_beat() > before; }));
  EXPECT_TRUE(is_running(pid));
}

// --- Other subjects -----------------------------------------------------------------------------

TEST_F(ServiceTest, stays_with_an_agent_across_its_lives_and_ends_with_it) {
  const Path folder = keep({"--name", "lead"}, {"sleep", "1000"});
  ASSERT_FALSE(folder.empty());
  const auto started = tend({"service", "start", "--agent", "lead", "--preset", "hyrm", "--root",
                             root().string(), "--interval", "1s"});
  ASSERT_EQ(started.exit, 0) << started.err;
  const auto of_lead = [&] {
    const auto said = tend({"service", "status", "--json", "--agent", "lead"});
    return Json::parse(said.out, nullptr, false);
  };
  const pid_t agent = static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"));
  EXPECT_TRUE(eventually([&] { return of_lead()["subject"]["pid"] == agent; }));
  registry({entry("lead", agent)});
  lease("lead");
  EXPECT_TRUE(eventually([&] { return of_lead()["state"] == "beating"; })) << of_lead();
  EXPECT_EQ(tend({"stop", "lead"}).exit, 0);
  EXPECT_TRUE(eventually([&] { return of_lead()["running"] == false; }));
  EXPECT_TRUE(text_in(of_lead(), "ended_because").contains("lead is over")) << of_lead();
}

TEST_F(ServiceTest, begins_with_an_agent_and_ends_with_it) {
  const Path folder = keep({"--name", "lead", "--service"}, {"sleep", "1000"});
  ASSERT_FALSE(folder.empty());
  const auto said = [&] {
    const auto shown = tend({"service", "status", "--json", "--agent", folder.string()});
    return Json::parse(shown.out, nullptr, false);
  };
  EXPECT_TRUE(said()["running"]) << said();
  EXPECT_TRUE(eventually([&] {
    return tend({"service", "status", "--agent", folder.string()})
        .out.contains("  skipped   it has no store and holds no lease that a beat could go to\n");
  }));
  EXPECT_TRUE(eventually(
      [&] { return said()["subject"]["pid"] == number_in(heartbeat_of(folder), "pid"); }));
  EXPECT_EQ(tend({"stop", "lead"}).exit, 0);
  EXPECT_TRUE(eventually([&] { return said()["running"] == false; }));
}

TEST_F(ServiceTest, of_a_session_is_started_and_ended_by_its_hooks_and_by_no_other) {
  const std::string hook = std::string(TEND_BINARY) + " service ";
  const std::string words = " --caller --quiet --pidfile " + pidfile().string();
  // A program that runs hooks as sessions do, by a shell of their own.
  const std::string session =
      "import subprocess, sys, time\n"
      "for step in sys.argv[1:]:\n"
      "    if step == 'rest': time.sleep(1000)\n"
      "    print(subprocess.call(['sh', '-c', step + '; exit $?']), flush=True)\n";
  Background first = start({.arguments = {"python3", "-c", session, hook + "start" + words, "rest"},
                            .environment = {{"TEND_HOME", home().string()}},
                            .input = ""});
  ASSERT_TRUE(eventually([&] { return service_pid() > 0; })) << first.err();
  EXPECT_TRUE(eventually([&] { return report()["subject"]["pid"] == first.pid(); })) << report();
  const auto second =
      run({.arguments = {"python3", "-c", session, hook + "start" + words, hook + "stop" + words},
           .environment = {{"TEND_HOME", home().string()}},
           .input = ""});
  EXPECT_EQ(second.out, "0\n0\n") << second.err;
  EXPECT_TRUE(is_running(service_pid())) << "it is of another session";
  first.signal(SIGKILL);
  first.wait();
  EXPECT_TRUE(eventually([&] { return beaters().empty(); }));
}

TEST_F(ServiceTest, says_what_it_needs) {
  const auto none = tend({"service", "start", "--pidfile", pidfile().string()});
  EXPECT_EQ(none.exit, 2);
  EXPECT_TRUE(none.err.contains("needs a subject")) << none.err;
  const auto nowhere = tend({"service", "start", "--pidfile", pidfile().string(), "--preset",
                             "hyrm", "--root", (scratch() / "nowhere").string()});
  EXPECT_EQ(nowhere.exit, 2);
  EXPECT_TRUE(nowhere.err.contains("memory is not there")) << nowhere.err;
  const auto no_file = tend(
      {"service", "start", "--pidfile", "/proc/beat.pid", "--pid", std::to_string(::getpid())});
  EXPECT_EQ(no_file.exit, 1);
  EXPECT_TRUE(no_file.err.contains("it did not begin: cannot ")) << no_file.err;
  EXPECT_TRUE(no_file.err.contains("/proc/beat.pid")) << no_file.err;
  const auto early = serve();
  EXPECT_EQ(early.exit, 0);
  EXPECT_TRUE(early.err.contains("agent-registry.json")) << early.err;
  EXPECT_TRUE(becomes("state", "failing"));
}

TEST_F(ServiceTest, is_found_from_another_home) {
  Background subject = orchestrator();
  registry({entry("a1", subject.pid())});
  lease("a1");
  ASSERT_EQ(serve().exit, 0);
  const Arguments words{TEND_BINARY, "service", "status", "-q", "--pidfile", pidfile().string()};
  const auto seen = run({.arguments = words,
                         .environment = {{"TEND_HOME", (scratch() / "other").string()}},
                         .input = ""});
  EXPECT_EQ(seen.out, fmt::format("Heartbeat service: RUNNING (PID: {})\n", service_pid()));
}

}  // namespace
}  // namespace tend::e2e
