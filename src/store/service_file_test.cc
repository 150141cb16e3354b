// What a service keeps in the home: its lock with who holds it, and what it did so far.
#include "store/service_file.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class ServiceFile : public testing::Test {
 protected:
  SimUniverse universe;
  Machine& machine = universe.machine();
  std::unique_ptr<Folder> folder = machine.folders.make("/home/user/tend/services/a").value();
};

TEST_F(ServiceFile, is_held_by_one_who_says_who_it_is) {
  EXPECT_EQ(look_at_service(*folder).value(), std::nullopt);
  const auto lock = ServiceLock::take(*folder).value();
  ASSERT_NE(lock, nullptr);
  EXPECT_EQ(lock->record().process.pid, 0);
  const ProcessId self = machine.processes.self();
  ASSERT_TRUE(lock->write({.process = self, .start = "s1", .ready = true}));
  EXPECT_EQ(ServiceLock::take(*folder).value(), nullptr);
  const auto seen = look_at_service(*folder).value();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->held);
  EXPECT_EQ(seen->record.process, self);
  EXPECT_EQ(seen->record.start, "s1");
  EXPECT_TRUE(seen->record.ready);
}

TEST_F(ServiceFile, damaged_says_nothing_of_anybody) {
  universe.disk.write(folder->path() + "/.lock", "{\"pid\": torn");
  const auto seen = look_at_service(*folder).value();
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->held);
  EXPECT_EQ(seen->record.process.pid, 0);
}

TEST_F(ServiceFile, a_status_is_read_as_it_was_written) {
  ServiceStatus status;
  status.pidfile = "/srv/memory/.heartbeat-service.pid";
  status.state = ServiceState::failing;
  status.process = {.pid = 12, .start_ticks = 34, .pid_ns = 56, .boot_id = "b"};
  status.began = WallTime{1773002269250ms};
  status.interval = 60s;
  status.subject = "the orchestrator of the registry";
  status.subject_process = {.pid = 99, .start_ticks = 1, .pid_ns = 56, .boot_id = "b"};
  status.subject_id = "agent-1";
  status.words = "it runs";
  status.success = 24;
  status.failure = 281;
  status.skipped = 2;
  status.failed_in_row = 281;
  status.last_success = WallTime{1773002260s};
  status.last_failure = WallTime{1773002269s};
  status.last_error = "lease: the lease is held by agent-2";
  status.parts = {{.name = "registry", .success = 305, .failure = 0, .last_error = ""},
                  {.name = "lease", .success = 24, .failure = 281, .last_error = "held"}};
  status.log = "/srv/logs/heartbeat-service.log";
  ASSERT_TRUE(write_service_status(*folder, status));
  EXPECT_EQ(read_service_status(*folder).value(), status);
}

TEST_F(ServiceFile, a_hostile_status_says_little_and_breaks_nothing) {
  EXPECT_EQ(read_service_status(*folder).value(), std::nullopt);
  EXPECT_FALSE(parse_service_status("[1]"));
  const auto status = parse_service_status(
      R"({"pid":-4,"success":"many","state":"glad","parts":[7,{"name":["x"]}],"subject":3})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->process.pid, 0);
  EXPECT_EQ(status->success, 0U);
  EXPECT_EQ(status->state, ServiceState::waiting);
}

TEST_F(ServiceFile, every_pid_file_has_a_folder_of_its_own) {
  EXPECT_NE(service_folder_name("/a/b.pid"), service_folder_name("/a/c.pid"));
  EXPECT_EQ(service_folder_name("/a/b.pid"), service_folder_name("/a/b.pid"));
}

}  // namespace
}  // namespace tend
