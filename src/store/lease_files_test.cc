// Writers that are stopped, killed or cut from their power between any two of their calls.
#include "store/lease_files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHome = "/home/user/tend";

LeaseRecord record_of(std::uint64_t version, std::uint64_t fence) {
  LeaseRecord record;
  record.name = "leader";
  record.version = version;
  record.fence = fence;
  record.held = true;
  record.ttl = 3s;
  record.clock = {1, 2, 3, "boot"};
  return record;
}

class LeaseFilesTest : public testing::Test {
 protected:
  std::unique_ptr<Folder> home(const std::string& process = "test") {
    return universe_.machine(process).folders.make(kHome).value();
  }
  [[nodiscard]] static std::string path(const std::string& file) {
    return std::string(kHome) + "/leases/leader/" + file;
  }

  SimUniverse universe_;
  std::unique_ptr<Folder> home_ = home();
  LeaseFiles files_{*home_};
};

TEST_F(LeaseFilesTest, keep_the_record_and_the_one_before_it) {
  for (std::uint64_t version = 1; version <= 5; ++version) {
    ASSERT_TRUE(files_.write(record_of(version, 1)).value());
  }
  EXPECT_EQ(universe_.disk.files(std::string(kHome) + "/leases"),
            (std::vector<std::string>{path("record.4.json"), path("record.5.json")}));
}

TEST_F(LeaseFilesTest, never_begin_anew_over_a_record_that_cannot_be_read) {
  ASSERT_TRUE(files_.write(record_of(1, 7)).value());
  for (const char* text : {"", "{", "{}", "[]", "{\"name\":\"leader\",\"version\":1}"}) {
    universe_.disk.write(path("record.1.json"), text);
    const auto read = files_.read("leader");
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().text.contains("put a copy back")) << read.error().text;
  }
  universe_.disk.write(path("record.1.json"), std::string(100'000, 'x'));
  const auto large = files_.read("leader");
  ASSERT_FALSE(large);
  EXPECT_TRUE(large.error().text.contains("put a copy back")) << large.error().text;
  universe_.disk.write(path("record.1.json"), format_lease(record_of(2, 9)));
  EXPECT_FALSE(files_.read("leader")) << "the record of another version";
}

TEST_F(LeaseFilesTest, understand_a_record_of_before_the_lag_was_measured) {
  LeaseRecord late = record_of(1, 7);
  late.lag = 12s;
  std::string text = format_lease(late);
  EXPECT_EQ(parse_lease(text).value(), late);
  const std::string lag = R"(,"lag_ms":12000)";
  ASSERT_NE(text.find(lag), std::string::npos) << text;
  text.erase(text.find(lag), lag.size());
  EXPECT_EQ(parse_lease(text).value(), record_of(1, 7));
}

TEST_F(LeaseFilesTest, of_a_writer_killed_anywhere_leave_the_old_record_or_the_new_one) {
  for (std::uint64_t call = 1;; ++call) {
    SimUniverse universe;
    auto home = universe.machine().folders.make(kHome).value();
    ASSERT_TRUE(LeaseFiles(*home).write(record_of(1, 1)).value());
    const auto pid = universe.start_program("writer", [](Machine& machine) {
      auto folder = machine.folders.make(kHome).value();
      LeaseFiles(*folder).write(record_of(2, 2)).value();
      return std::shared_ptr<void>();
    });
    universe.kill_at_call(pid, call, true);
    universe.run_for(1s);
    const bool was_killed = universe.calls(pid) == call;
    const auto read = LeaseFiles(*home).read("leader").value();
    ASSERT_TRUE(read);
    EXPECT_TRUE(*read == record_of(1, 1) || *read == record_of(2, 2));
    ASSERT_TRUE(LeaseFiles(*home).write(record_of(read->version + 1, 3)).value())
        << "whoever comes next goes on, call " << call;
    if (!was_killed) {
      EXPECT_GT(call, 5U);
      return;
    }
  }
}

TEST_F(LeaseFilesTest, keep_what_was_confirmed_through_any_power_cut) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SimUniverse universe(seed);
    {
      auto home = universe.machine().folders.make(kHome).value();
      for (std::uint64_t version = 1; version <= 3; ++version) {
        ASSERT_TRUE(LeaseFiles(*home).write(record_of(version, version)).value());
      }
    }
    universe.reboot({.lost = SimReboot::Lost::torn});
    auto home = universe.machine("after").folders.make(kHome).value();
    const auto read = LeaseFiles(*home).read("leader");
    ASSERT_TRUE(read) << seed << ": " << read.error().text;
    ASSERT_TRUE(*read) << seed;
    EXPECT_EQ((*read)->fence, 3U) << seed;
  }
}

TEST_F(LeaseFilesTest, tell_one_that_was_stopped_for_long_that_it_is_too_late) {
  ASSERT_TRUE(files_.write(record_of(1, 1)).value());
  // It has seen version 1 and wakes up when version 2 was made and put away.
  for (std::uint64_t version = 2; version <= 6; ++version) {
    ASSERT_TRUE(files_.write(record_of(version, version)).value());
  }
  universe_.disk.write(path("record.2.json"), format_lease(record_of(2, 99)));
  EXPECT_EQ(files_.read("leader").value()->fence, 6U) << "nobody sees it";
  EXPECT_FALSE(files_.write(record_of(2, 99)).value());
  ASSERT_TRUE(files_.write(record_of(7, 7)).value());
  EXPECT_FALSE(universe_.disk.exists(path("record.2.json"))) << "it is swept";
}

}  // namespace
}  // namespace tend
