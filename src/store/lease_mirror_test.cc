// The file that other tools read: what is written into it, and what of theirs is believed.
#include "store/lease_mirror.h"

#include <gtest/gtest.h>

#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

const std::string kMirror = "/srv/orchestrator-state.json";
constexpr WallTime kNow{1'773'002'269s};

LeaseRecord record_of(std::uint64_t fence, bool held = true) {
  LeaseRecord record;
  record.name = "orchestrator";
  record.fence = fence;
  record.held = held;
  record.holder.id = "boss";
  record.ttl = 180s;
  record.mirror = kMirror;
  return record;
}

class LeaseMirrorTest : public testing::Test {
 protected:
  Result<void> write(const LeaseRecord& record) {
    return write_lease_mirror(universe_.machine().files, record, kNow,
                              {.id = "boss", .pid = 12, .patience = {}},
                              [](std::int64_t, const std::optional<WallTime>&) { return true; });
  }
  Result<std::optional<LeaseMirror>> read(WallTime now = kNow) {
    return read_lease_mirror(universe_.machine().files, kMirror, now);
  }
  std::string text() { return universe_.disk.read(kMirror).value_or(""); }

  SimUniverse universe_;
};

TEST_F(LeaseMirrorTest, begins_a_file_that_is_not_there) {
  EXPECT_EQ(read().value(), std::nullopt);
  universe_.disk.make_folder("/srv");
  ASSERT_TRUE(write(record_of(7)));
  const auto mirror = read(kNow + 60s).value().value();
  EXPECT_EQ(mirror, (LeaseMirror{.leader = "boss", .epoch = 7, .valid_for = 120s}));
  EXPECT_FALSE(universe_.disk.exists(kMirror + ".lock"));
}

TEST_F(LeaseMirrorTest, changes_its_four_values_and_nothing_else) {
  universe_.disk.write(
      kMirror,
      "{\r\n\t\"notes\": [1,   2],\r\n\t\"leader_id\": \"x\",\r\n\t\"leader_epoch\": "
      "6,\r\n\t\"last_heartbeat\": \"2026-01-04T20:19:13Z\",\r\n\t\"ttl_ms\": 1\r\n}");
  ASSERT_TRUE(write(record_of(7)));
  EXPECT_EQ(text(),
            "{\r\n\t\"notes\": [1,   2],\r\n\t\"leader_id\": \"boss\",\r\n\t\"leader_epoch\": "
            "7,\r\n\t\"last_heartbeat\": \"2026-03-08T20:37:49Z\",\r\n\t\"ttl_ms\": 180000\r\n}");
}

TEST_F(LeaseMirrorTest, says_given_back_as_other_tools_do) {
  universe_.disk.make_folder("/srv");
  ASSERT_TRUE(write(record_of(7, false)));
  EXPECT_TRUE(text().contains("\"1970-01-01T00:00:00.000Z\"")) << text();
  EXPECT_EQ(read().value()->valid_for, 0s);
  EXPECT_EQ(read().value()->epoch, 7U);
}

TEST_F(LeaseMirrorTest, leaves_a_later_leader_alone) {
  universe_.disk.write(kMirror, R"({"leader_id":"other","leader_epoch":9})");
  const auto written = write(record_of(7));
  ASSERT_FALSE(written);
  EXPECT_TRUE(written.error().text.contains("other leads in epoch 9, later than our 7"));
  EXPECT_EQ(text(), R"({"leader_id":"other","leader_epoch":9})");
}

TEST_F(LeaseMirrorTest, waits_for_nobody_who_has_its_lock) {
  universe_.disk.write(kMirror, "{}");
  universe_.disk.write(kMirror + ".lock",
                       R"({"agent_id":"other","locked_at":"2026-03-08T20:37:49Z","pid":99})");
  EXPECT_FALSE(write(record_of(7)));
  EXPECT_EQ(text(), "{}");
}

TEST_F(LeaseMirrorTest, refuses_what_is_no_object_and_overwrites_nothing) {
  universe_.disk.write(kMirror, "[1");
  EXPECT_FALSE(read());
  EXPECT_FALSE(write(record_of(7)));
  EXPECT_EQ(text(), "[1");
}

}  // namespace
}  // namespace tend
