// The beater on a simulated machine, beside the stores of another system: whom it beats for, when
// it does not, and when it ends.
#include "run/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "os/sim/sim_universe.h"
#include "store/config.h"
#include "store/foreign/foreign_time.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kHome = "/home/user/tend";
constexpr const char* kRoot = "/home/user/hyrm";
constexpr const char* kPidfile = "/home/user/hyrm/memory/.heartbeat-service.pid";

class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    universe.behaviours["orchestrator"] = [](SimSelf&) {};
    std::ignore = universe.machine().folders.make(kHome);
    universe.run_for(1h);  // the machine did not start just now
  }

  struct Running {
    explicit Running(Machine& machine, const ServiceSettings& settings)
        : home(machine.folders.open(kHome).value()),
          leases(*home),
          desk(machine, *home, leases),
          service(desk, service_folder(*home, settings.pidfile).value(), settings) {}
    std::unique_ptr<Folder> home;
    LeaseFiles leases;
    LeaseDesk desk;
    Service service;
  };

  std::int64_t orchestrator() {
    Launch launch;
    launch.command = {"orchestrator"};
    const std::int64_t pid = universe.start_command(launch);
    universe.run_for(1s);
    return pid;
  }
  [[nodiscard]] std::string when(Duration ago = {}) const {
    return format_foreign_time(universe.wall() - ago, TimeStyle{.decimals = 3});
  }
  [[nodiscard]] Json entry(const std::string& id, std::int64_t pid, Duration ago = {}) const {
    return {{"agent_id", id},          {"assigned_role", "orchestrator"}, {"pid", pid},
            {"started_at", when(ago)}, {"last_heartbeat", when(ago)},     {"status", "working"}};
  }
  void registry(const std::vector<Json>& entries) {
    const Json all{{"version", "1.0.0"}, {"agents", entries}, {"lock_version", 7}};
    universe.disk.write(std::string(kRoot) + "/memory/agent-registry.json", all.dump(2));
  }
  void lease(const std::string& leader, Duration ago = {}) {
    const Json all{{"leader_id", leader},
                   {"leader_epoch", 3},
                   {"last_heartbeat", when(ago)},
                   {"ttl_ms", 180000}};
    universe.disk.write(std::string(kRoot) + "/memory/orchestrator-state.json", all.dump(2));
  }
  [[nodiscard]] Json stored(const std::string& file) const {
    return Json::parse(universe.disk.read(std::string(kRoot) + "/memory/" + file).value_or("null"));
  }
  [[nodiscard]] std::string beat_of(const std::string& id) const {
    const Json all = stored("agent-registry.json");
    for (const Json& each : all["agents"]) {
      if (each["agent_id"] == id) return each["last_heartbeat"];
    }
    return "";
  }
  [[nodiscard]] std::string lease_beat() const {
    return stored("orchestrator-state.json")["last_heartbeat"];
  }
  /// Seconds since a beat that is written as text.
  [[nodiscard]] double age(const std::string& beat) const {
    const auto at = parse_foreign_time(beat, {.now = universe.wall()});
    return std::chrono::duration<double>(universe.wall() - at.value().at).count();
  }

  [[nodiscard]] ServiceSettings settings() const {
    Config config;
    ForeignSetting setting;
    setting.preset = Preset::hyrm;
    setting.root = kRoot;
    config.stores["orchestrator"] = setting;
    ServiceSettings settings;
    settings.pidfile = kPidfile;
    settings.sinks = foreign_agent(config, "orchestrator", "", "/home/user").sinks;
    settings.subject.registry = settings.sinks.at(0).store;
    settings.log = std::string(kRoot) + "/logs/heartbeat-service.log";
    settings.shared_log = std::string(kRoot) + "/memory/realtime.log";
    return settings;
  }
  std::int64_t serve(const ServiceSettings& settings) {
    const auto pid = universe.start_program("service", [this, settings](Machine& machine) {
      auto running = std::make_shared<Running>(machine, settings);
      const auto began = running->service.begin();
      EXPECT_TRUE(began) << began.error().text;
      if (began && *began == Service::Began::held_by_another) {
        ++turned_away;
        machine.loop.stop();
      }
      return running;
    });
    universe.run_for(2s);
    return pid;
  }
  std::int64_t serve() { return serve(settings()); }
  ServiceStatus status() {
    const auto home = universe.machine().folders.open(kHome).value();
    return read_service_status(*service_folder(*home, kPidfile).value()).value().value();
  }
  [[nodiscard]] std::string log() const {
    return universe.disk.read(std::string(kRoot) + "/logs/heartbeat-service.log").value_or("");
  }
  [[nodiscard]] std::string shared_log() const {
    return universe.disk.read(std::string(kRoot) + "/memory/realtime.log").value_or("");
  }
  static long count(const std::string& text, const std::string& part) {
    long found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  SimUniverse universe;
  int turned_away = 0;
};

TEST_F(ServiceTest, beats_the_entry_and_the_lease_of_its_subject_every_minute) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  EXPECT_EQ(universe.disk.read(kPidfile), fmt::format("{}\n", service));
  for (int i = 0; i < 5; ++i) {
    universe.run_for(1min);
    EXPECT_LE(age(beat_of("a1")), 61);
    EXPECT_LE(age(lease_beat()), 61);
  }
  EXPECT_EQ(status().success, 6U);
  EXPECT_EQ(status().failure, 0U);
  EXPECT_EQ(status().subject_id, "a1");
  EXPECT_EQ(status().subject_process.pid, subject);
  EXPECT_EQ(stored("agent-registry.json")["lock_version"], 7) << "what is of others stays";
  EXPECT_EQ(count(log(), "Heartbeat of process"), 6);
  EXPECT_EQ(count(shared_log(), "heartbeat-service: Heartbeat of process"), 1);
}

TEST_F(ServiceTest, ends_the_moment_its_subject_is_gone) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  universe.run_for(10s);
  const std::string last = lease_beat();
  universe.signal(subject, Kill::kill);
  universe.run_for(1s);
  EXPECT_FALSE(universe.runs(service));
  EXPECT_EQ(lease_beat(), last);
  EXPECT_FALSE(universe.disk.exists(kPidfile));
  EXPECT_EQ(status().state, ServiceState::ended);
  EXPECT_EQ(status().ended_because, fmt::format("process {} is gone", subject));
  EXPECT_EQ(status().failure, 0U) << "a clean end is no failure";
  EXPECT_TRUE(log().contains("Heartbeat service stopped: process"));
}

TEST_F(ServiceTest, believes_the_system_that_its_subject_ended_while_it_can_look_at_nobody) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  universe.looking_fails = "Permission denied";
  universe.run_for(3min);
  EXPECT_TRUE(universe.runs(service)) << "not to know is not to leave";
  universe.signal(subject, Kill::kill);
  universe.run_for(1s);
  EXPECT_FALSE(universe.runs(service));
  EXPECT_EQ(status().ended_because, fmt::format("process {} is gone", subject));
}

TEST_F(ServiceTest, looks_past_entries_whose_process_is_gone) {
  const auto dead = orchestrator();
  universe.signal(dead, Kill::kill);
  universe.run_for(1s);
  const auto subject = orchestrator();
  registry({entry("dead", dead, 1h), entry("alive", subject)});
  lease("alive");
  const std::string before = beat_of("dead");
  serve();
  universe.run_for(5min);
  EXPECT_EQ(beat_of("dead"), before);
  EXPECT_LE(age(beat_of("alive")), 61);
  EXPECT_EQ(status().subject_id, "alive");
}

TEST_F(ServiceTest, takes_no_process_that_is_younger_than_its_entry) {
  const auto other = orchestrator();
  registry({entry("before", other, 30min)});
  lease("before");
  const std::string before = beat_of("before");
  const auto service = serve();
  universe.run_for(5min);
  EXPECT_TRUE(universe.runs(service));
  EXPECT_EQ(beat_of("before"), before);
  EXPECT_EQ(status().success, 0U);
  EXPECT_GT(status().skipped, 0U);
  EXPECT_EQ(status().state, ServiceState::waiting);
  EXPECT_EQ(count(shared_log(), "skipped"), 1) << shared_log();
}

TEST_F(ServiceTest, takes_no_process_by_an_entry_that_is_of_the_future) {
  const auto other = orchestrator();
  registry({entry("before", other)});
  lease("before");
  const std::string before = beat_of("before");
  universe.step_wall(-1h);  // it may have that number since, and look older than it is
  serve();
  universe.run_for(5min);
  EXPECT_EQ(beat_of("before"), before);
  EXPECT_EQ(status().state, ServiceState::waiting);
}

TEST_F(ServiceTest, waits_for_a_subject_and_takes_the_one_that_comes) {
  registry({});
  serve();
  universe.run_for(3min);
  EXPECT_EQ(status().state, ServiceState::waiting);
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  universe.run_for(61s);
  EXPECT_EQ(status().state, ServiceState::beating);
  EXPECT_EQ(status().subject_process.pid, subject);
}

TEST_F(ServiceTest, not_to_be_the_leader_is_a_failure) {
  const auto subject = orchestrator();
  registry({entry("a2", subject)});
  lease("a1");
  const std::string before = lease_beat();
  serve();
  universe.run_for(30min);
  EXPECT_EQ(lease_beat(), before) << "the lease of another is never renewed";
  EXPECT_LE(age(beat_of("a2")), 61) << "it lives, and that may be said";
  EXPECT_EQ(status().success, 0U);
  EXPECT_GT(status().failure, 25U);
  EXPECT_EQ(status().failed_in_row, status().failure);
  EXPECT_TRUE(status().last_error.contains("not the leader: the lease is held by a1"))
      << status().last_error;
  EXPECT_EQ(status().parts.at(0).failure, 0U);
  EXPECT_EQ(status().parts.at(1).success, 0U);
  EXPECT_LE(count(log(), "Heartbeat failed"), 7) << log();
  EXPECT_EQ(count(log(), "Heartbeat of process"), 0);
}

TEST_F(ServiceTest, says_that_it_works_again_after_failures) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  serve();
  universe.disk.broken = "Input/output error";
  universe.run_for(110s);
  universe.disk.broken.clear();
  universe.run_for(61s);
  EXPECT_EQ(status().state, ServiceState::beating);
  EXPECT_GT(status().failure, 1U);
  EXPECT_EQ(status().failed_in_row, 0U);
  EXPECT_TRUE(status().last_error.contains("Input/output error")) << status().last_error;
  EXPECT_TRUE(log().contains("Heartbeats arrive again, after")) << log();
}

TEST_F(ServiceTest, vouches_for_nobody_who_is_stopped) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  universe.signal(subject, Kill::stop);
  const std::string before = beat_of("a1");
  universe.run_for(5min);
  EXPECT_EQ(beat_of("a1"), before);
  EXPECT_EQ(status().last_error, fmt::format("process {} is stopped", subject));
  EXPECT_TRUE(universe.runs(service));
  universe.signal(subject, Kill::cont);
  lease("a1");
  universe.run_for(61s);
  EXPECT_LE(age(beat_of("a1")), 61);
}

TEST_F(ServiceTest, renews_no_lease_that_ran_out) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1", 4min);
  const std::string before = lease_beat();
  serve();
  EXPECT_EQ(lease_beat(), before);
  EXPECT_TRUE(status().last_error.contains("the lease ran out")) << status().last_error;
}

TEST_F(ServiceTest, waits_for_writers_that_hold_the_lock_and_loses_nothing_of_theirs) {
  const auto subject = orchestrator();
  const auto writer = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const std::string lock = std::string(kRoot) + "/memory/agent-registry.json.lock";
  universe.disk.write(lock, Json{{"agent_id", "w"}, {"locked_at", when()}, {"pid", writer}}.dump());
  const std::string before = beat_of("a1");
  universe.after(1s, [&] {
    EXPECT_EQ(beat_of("a1"), before);
    registry({entry("a1", subject, 1s), entry("w", writer)});
    universe.disk.remove(lock);
  });
  serve();
  EXPECT_LE(age(beat_of("a1")), 1.5);
  EXPECT_NE(beat_of("w"), "");
  EXPECT_EQ(status().failure, 0U);
}

TEST_F(ServiceTest, is_one_for_a_pid_file) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto first = serve();
  const auto second = serve();
  EXPECT_EQ(turned_away, 1);
  EXPECT_TRUE(universe.runs(first));
  EXPECT_FALSE(universe.runs(second));
  EXPECT_EQ(universe.disk.read(kPidfile), fmt::format("{}\n", first));
}

TEST_F(ServiceTest, does_not_mind_a_closed_terminal_and_ends_when_told) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  universe.order(service, Order::hang_up);
  universe.run_for(1min);
  EXPECT_TRUE(universe.runs(service));
  universe.order(service, Order::terminate);
  universe.run_for(1s);
  EXPECT_FALSE(universe.runs(service));
  EXPECT_FALSE(universe.disk.exists(kPidfile));
  EXPECT_EQ(status().ended_because, "it was told to end");
  EXPECT_TRUE(universe.runs(subject));
}

TEST_F(ServiceTest, puts_a_pid_file_back_and_leaves_that_of_another) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const auto service = serve();
  universe.disk.remove(kPidfile);
  universe.run_for(1min);
  EXPECT_EQ(universe.disk.read(kPidfile), fmt::format("{}\n", service));
  universe.disk.write(kPidfile, "77\n");
  universe.order(service, Order::terminate);
  universe.run_for(1s);
  EXPECT_EQ(universe.disk.read(kPidfile), "77\n");
}

TEST_F(ServiceTest, tells_its_manager_that_it_is_ready_beats_and_ends) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  std::vector<std::string> heard;
  auto receiver = universe.machine().sockets.receive(
      std::string(kHome) + "/notify",
      [&](const Datagram& datagram) { heard.push_back(datagram.text); });
  ASSERT_TRUE(receiver);
  ServiceSettings settings = this->settings();
  settings.manager = {.socket = std::string(kHome) + "/notify", .watchdog = 20s};
  const auto service = serve(settings);
  universe.run_for(1min);
  ASSERT_FALSE(heard.empty());
  EXPECT_TRUE(heard.front().starts_with("READY=1\n"));
  EXPECT_GE(std::ranges::count(heard, "WATCHDOG=1\n"), 6);
  EXPECT_NE(std::ranges::find(heard, "STATUS=beating, 2 beats, 0 failed\n"), heard.end());
  universe.order(service, Order::terminate);
  universe.run_for(1s);
  EXPECT_TRUE(heard.back().starts_with("STOPPING=1\n")) << heard.back();
}

TEST_F(ServiceTest, puts_logs_aside_that_are_full) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  const std::string shared = std::string(kRoot) + "/memory/realtime.log";
  universe.disk.write(shared, std::string(kMostOfLog - 10, 'x'));
  serve();
  EXPECT_EQ(universe.disk.read(shared + ".1").value_or("").size(), kMostOfLog - 10);
  EXPECT_TRUE(shared_log().starts_with("[")) << shared_log();
}

TEST_F(ServiceTest, for_a_process_it_needs_no_registry_to_name_it_first) {
  const auto subject = orchestrator();
  const auto other = orchestrator();
  registry({entry("other", other), entry("mine", subject)});
  lease("mine");
  ServiceSettings settings = this->settings();
  settings.subject = {};
  settings.subject.process = universe.machine().processes.identify(subject).value().value();
  const std::string before = beat_of("other");
  serve(settings);
  universe.run_for(1min);
  EXPECT_EQ(beat_of("other"), before);
  EXPECT_LE(age(beat_of("mine")), 61);
  EXPECT_LE(age(lease_beat()), 61);
  EXPECT_EQ(status().failure, 0U);
}

TEST_F(ServiceTest, leaves_the_entry_of_an_earlier_process_with_the_same_number) {
  const auto subject = orchestrator();
  registry({entry("earlier", subject, -1h), entry("mine", subject)});
  lease("mine");
  const std::string before = beat_of("earlier");
  serve();
  universe.run_for(1min);
  EXPECT_EQ(beat_of("earlier"), before) << "the calendar was put back since";
  EXPECT_LE(age(beat_of("mine")), 61);
  EXPECT_EQ(status().failure, 0U);
}

TEST_F(ServiceTest, renews_the_leases_that_its_subject_holds_and_misses_one_that_it_lost) {
  const auto subject = orchestrator();
  Machine& machine = universe.machine();
  const auto home = machine.folders.open(kHome).value();
  LeaseFiles leases(*home);
  LeaseDesk desk(machine, *home, leases);
  const ProcessId process = machine.processes.identify(subject).value().value();
  bool granted = false;
  const auto acquired =
      desk.acquire({.name = "lead", .holder = LeaseDesk::holder_of(process), .ttl = 30s},
                   [&](const LeaseAnswer& answer) { granted = answer.has_value(); });
  universe.run_for(1s);
  ASSERT_TRUE(granted);
  ServiceSettings settings = this->settings();
  settings.sinks.clear();
  settings.subject = {};
  settings.subject.process = process;
  serve(settings);
  universe.run_for(5min);
  EXPECT_TRUE(desk.look("lead").value().in_force.may) << "every third of its time";
  EXPECT_EQ(status().failure, 0U);
  EXPECT_GT(status().success, 25U);
  // It is stopped for longer than its lease lasts.
  universe.signal(subject, Kill::stop);
  universe.run_for(2min);
  EXPECT_FALSE(desk.look("lead").value().in_force.may);
  universe.signal(subject, Kill::cont);
  universe.run_for(61s);
  EXPECT_FALSE(desk.look("lead").value().in_force.may) << "what ran out is not revived";
  EXPECT_TRUE(status().last_error.starts_with("lease lead: ")) << status().last_error;
}

TEST_F(ServiceTest, killed_at_any_call_it_leaves_what_the_next_one_goes_on_from) {
  const auto subject = orchestrator();
  registry({entry("a1", subject)});
  lease("a1");
  // The locks of other systems are given back by destructors; they are killed on a real machine.
  ServiceSettings unlocked = settings();
  for (AgentStore& sink : unlocked.sinks) sink.store.locked = false;
  for (std::uint64_t call = 1;; ++call) {
    const auto pid = universe.start_program("service", [&unlocked](Machine& machine) {
      auto running = std::make_shared<Running>(machine, unlocked);
      std::ignore = running->service.begin();
      return running;
    });
    universe.kill_at_call(pid, call, true);
    universe.run_for(3s);
    const bool lived = universe.runs(pid);
    if (lived) {
      universe.order(pid, Order::terminate);
      universe.run_for(1s);
      if (universe.runs(pid)) universe.kill(pid);
    }
    EXPECT_FALSE(beat_of("a1").empty()) << call;
    const auto next = serve();
    EXPECT_TRUE(universe.runs(next)) << call;
    EXPECT_EQ(status().state, ServiceState::beating) << call << status().last_error;
    universe.order(next, Order::terminate);
    universe.run_for(1s);
    if (lived) break;
  }
}

}  // namespace
}  // namespace tend
