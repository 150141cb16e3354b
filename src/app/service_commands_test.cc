// `tend service` as it is typed, on a simulated machine: what is refused, what it says of one that
// is not there, and the unit that it writes. Whole services are in run/service_test.cc and on real
// processes.
#include "app/service_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "app/reading_test.h"
#include "store/service_file.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPidfile = "/home/user/hyrm/memory/.heartbeat-service.pid";

class ServiceCommands : public testing::Test {
 protected:
  ServiceCommands() {
    reading.variables["HOME"] = "/home/user";
    reading.universe.disk.make_folder("/home/user/hyrm/memory");
  }
  [[nodiscard]] std::string unit(const std::string& name = "heartbeat") {
    return reading.universe.disk
        .read("/home/user/.config/systemd/user/tend-service-" + name + ".service")
        .value_or("");
  }

  Reading reading;
};

TEST_F(ServiceCommands, refuse_what_does_not_fit_together) {
  for (const std::vector<std::string_view>& words :
       {std::vector<std::string_view>{"service", "start"},
        {"service", "start", "--pidfile", kPidfile},
        {"service", "start", "--pidfile", kPidfile, "--pid", "nobody"},
        {"service", "start", "--pidfile", kPidfile, "--pid", "999999"},
        {"service", "start", "--pidfile", kPidfile, "--agent", "a", "--pid", "1"},
        {"service", "start", "--pidfile", kPidfile, "--agent", "nobody"},
        {"service", "start", "--pidfile", kPidfile, "--root", "/home/user/hyrm"},
        {"service", "start", "--pidfile", kPidfile, "--preset", "hyrm", "--root", "/none"},
        {"service", "run", "--pidfile", kPidfile, "--pid", "1", "--interval", "10ms"},
        {"service", "install", "--pidfile", kPidfile},
        {"service", "stop"},
        {"service", "status"}}) {
    const Answer answer = reading.tend(words);
    EXPECT_EQ(answer.exit, kExitUsage) << words.back() << answer.err;
    EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1) << answer.err;
  }
}

TEST_F(ServiceCommands, say_of_one_that_is_not_there_what_scripts_know) {
  const Answer none = reading.tend({"service", "status", "--pidfile", kPidfile});
  EXPECT_EQ(none.exit, kExitNo);
  EXPECT_EQ(none.out, "Heartbeat service: NOT RUNNING (no PID file)\n");
  reading.universe.disk.write(kPidfile, "4711\n");
  const Answer stale = reading.tend({"service", "stop", "--pidfile", kPidfile});
  EXPECT_EQ(stale.exit, kExitNo);
  EXPECT_EQ(stale.out, "Heartbeat service: NOT RUNNING (stale PID: 4711)\n");
  EXPECT_FALSE(reading.universe.disk.exists(kPidfile));
  const Answer json = reading.tend({"service", "status", "--json", "--pidfile", kPidfile});
  EXPECT_EQ(json.exit, kExitNo);
  EXPECT_EQ(json.json()["running"], false);
  EXPECT_EQ(json.json()["state"], "ended");
  const Answer no = reading.tend({"service", "stop", "--json", "--pidfile", kPidfile});
  EXPECT_EQ(no.json()["error"]["code"], "not-running");
  EXPECT_EQ(reading.tend({"service", "stop", "-q", "--pidfile", kPidfile}).exit, kExitYes);
}

TEST_F(ServiceCommands, leave_no_trace_of_who_only_asks) {
  EXPECT_EQ(reading.tend({"service", "status", "--pidfile", kPidfile}).exit, kExitNo);
  EXPECT_EQ(reading.tend({"service", "stop", "--pidfile", kPidfile}).exit, kExitNo);
  EXPECT_FALSE(reading.universe.disk.exists(std::string(Kept::kHome) + "/services"));
}

TEST_F(ServiceCommands, know_whether_it_runs_also_where_nothing_can_be_written) {
  reading.universe.disk.write(kPidfile, "4711\n");
  reading.universe.disk.broken = "Read-only file system";
  const Answer status = reading.tend({"service", "status", "--pidfile", kPidfile});
  EXPECT_EQ(status.exit, kExitNo) << status.err;
  EXPECT_EQ(status.out, "Heartbeat service: NOT RUNNING (stale PID: 4711)\n");
  const Answer start = reading.tend(
      {"service", "start", "--pidfile", kPidfile, "--preset", "hyrm", "--root", "hyrm", "--json"});
  EXPECT_EQ(start.exit, kExitNo) << "nothing is wrong with how it was said: " << start.err;
  EXPECT_EQ(start.json()["error"]["code"], "not-started");
}

TEST_F(ServiceCommands, show_what_they_can_of_a_status_that_is_garbage) {
  const std::string folder =
      std::string(Kept::kHome) + "/services/" + service_folder_name(kPidfile);
  reading.universe.disk.make_folder(folder);
  for (const std::string& text : {std::string("garbage"), std::string(5'000'000, 'x')}) {
    reading.universe.disk.write(folder + "/status.json", text);
    const Answer status = reading.tend({"service", "status", "--json", "--pidfile", kPidfile});
    EXPECT_EQ(status.exit, kExitNo) << status.err;
    EXPECT_EQ(status.json()["running"], false);
    EXPECT_NE(status.json()["problem"], "") << "and it is said that there is more";
  }
}

TEST_F(ServiceCommands, mean_one_service_by_every_name_of_its_pid_file) {
  reading.universe.disk.write(kPidfile, "4711\n");
  const Answer other = reading.tend(
      {"service", "status", "--pidfile", "hyrm/../hyrm/./memory//.heartbeat-service.pid"});
  EXPECT_EQ(other.out, "Heartbeat service: NOT RUNNING (stale PID: 4711)\n") << other.err;
}

TEST_F(ServiceCommands, be_one_until_ctrl_c) {
  reading.start_worker();
  reading.universe.run_for(5s);
  const Answer ran =
      reading.tend({"service", "run", "--agent", "worker", "--pidfile", kPidfile}, 3min);
  EXPECT_EQ(ran.exit, kExitYes) << ran.err;
  const Answer status = reading.tend({"service", "status", "--json", "--pidfile", kPidfile});
  EXPECT_EQ(status.json()["ended_because"], "it was told to end") << status.out;
  EXPECT_GT(status.json()["skipped"], 0) << "it has nowhere to beat";
  EXPECT_EQ(status.json()["skipped_because"],
            "it has no store and holds no lease that a beat could go to");
}

TEST_F(ServiceCommands, write_a_unit_and_start_nothing) {
  const std::vector<std::string_view> words{"service",  "install", "--pidfile", kPidfile,
                                            "--preset", "hyrm",    "--root",    "hyrm"};
  const Answer answer = reading.tend(words);
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.has("loginctl enable-linger")) << answer.out;
  EXPECT_TRUE(answer.has("systemctl --user enable --now tend-service-heartbeat.service"));
  for (const std::string_view line :
       {"Type=notify\n", "WatchdogSec=60\n", "Restart=always\n", "WantedBy=default.target\n",
        "\"--root\" \"/home/user/hyrm\"",
        "Environment=\"TEND_SERVICE=/home/user/hyrm/memory/.heartbeat-service.pid\"\n"}) {
    EXPECT_NE(unit().find(line), std::string::npos) << line << unit();
  }
  EXPECT_FALSE(reading.universe.disk.exists(kPidfile));
  std::vector<std::string_view> dry = words;
  dry.insert(dry.end(), {"--dry-run", "--name", "other"});
  EXPECT_TRUE(reading.tend(dry).out.starts_with("[Unit]\n"));
  EXPECT_EQ(unit("other"), "");
  std::vector<std::string_view> hostile = words;
  hostile.insert(hostile.end(), {"--name", "../up"});
  EXPECT_EQ(reading.tend(hostile).exit, kExitUsage);
}

TEST_F(ServiceCommands, write_words_that_mean_nothing_to_systemd) {
  reading.universe.disk.make_folder("/home/user/50% \"off\"/memory");
  const Answer answer = reading.tend({"service", "install", "--pidfile", kPidfile, "--preset",
                                      "hyrm", "--root", "/home/user/50% \"off\"", "--dry-run"});
  EXPECT_NE(answer.out.find(R"("/home/user/50%% \"off\"")"), std::string::npos) << answer.out;
}

}  // namespace
}  // namespace tend
