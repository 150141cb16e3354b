// What a patrol says of leases that go from hand to hand, beside what their holders say.
#include "run/lease_voice.h"
#include "run/patrol_test.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// A lease of half a minute that is held, and was taken three times just now.
class PatrolLeaseTest : public PatrolTest {
 protected:
  PatrolLeaseTest() {
    LeaseFiles files(*home);
    record.name = "leader";
    record.version = 1;
    record.fence = 4;
    record.held = true;
    record.ttl = 30s;
    record.renewed = machine.clock.awake();
    record.clock = machine.processes.self();
    record.holder = {machine.processes.self(), "boss", ""};
    record.takeovers = {record.renewed, record.renewed, record.renewed};
    EXPECT_TRUE(files.write(record).value());
    universe.on_run = [](const tend::Run&) { return SimAnswer{}; };
  }
  bool is_told() {
    NoticeFilter filter;
    filter.key = "lease:leader";
    filter.open_only = true;
    return !ask([&](Database& database) { return Outbox(database).list(filter); }).empty();
  }

  LeaseRecord record;
};

TEST_F(PatrolLeaseTest, a_lease_that_goes_from_hand_to_hand_is_told_of_and_closed_when_it_is_calm) {
  sweep();
  sweep();
  EXPECT_EQ(count("tell patrol"), 1);
  ASSERT_EQ(notices("lease:leader").size(), 1U);
  EXPECT_EQ(last.open, 1U);
  universe.run_for(301s);
  sweep();
  EXPECT_FALSE(is_told());
  EXPECT_EQ(count("over patrol"), 1);
  EXPECT_EQ(last.open, 0U);
}

TEST_F(PatrolLeaseTest, what_its_holder_told_of_a_lease_is_not_told_again_and_is_closed_for_it) {
  LeaseVoice voice(machine, *home, "leader", {{.name = "phone", .command = {"call"}}},
                   [](const std::string& text) { FAIL() << text; });
  voice.flaps(record);
  sweep();
  EXPECT_EQ(count("tell patrol"), 0);
  EXPECT_EQ(notices("lease:leader").size(), 1U);
  EXPECT_EQ(last.open, 1U);
  begin_anew();
  universe.run_for(301s);
  sweep();
  EXPECT_FALSE(is_told());
  EXPECT_EQ(count("over patrol"), 1);
}

TEST_F(PatrolLeaseTest, what_its_holder_said_is_over_is_over) {
  LeaseVoice voice(machine, *home, "leader", {{.name = "phone", .command = {"call"}}},
                   [](const std::string& text) { FAIL() << text; });
  voice.flaps(record);
  sweep();
  universe.run_for(301s);
  voice.is_calm();
  sweep();
  EXPECT_EQ(count("over patrol"), 0) << "it was said already";
  EXPECT_FALSE(is_told());
}

TEST_F(PatrolLeaseTest, a_lease_that_cannot_be_read_is_told_of_and_nothing_is_over_for_it) {
  sweep();
  universe.disk.write(std::string(Family::kHome) + "/leases/leader/record.1.json", "{");
  universe.run_for(301s);
  sweep();
  ASSERT_EQ(notices("leases").size(), 1U);
  EXPECT_TRUE(notices("leases").front().payload.contains("record.1.json"));
  EXPECT_EQ(notices("lease:leader").size(), 1U);
}

TEST_F(PatrolLeaseTest, a_lease_that_cannot_be_read_does_not_keep_others_from_being_over) {
  become_fit();
  have("t", "alice");
  patrol_for(30min);
  ASSERT_EQ(notices("task:t").size(), 1U);
  universe.disk.write(std::string(Family::kHome) + "/leases/leader/record.1.json", "{");
  beat("t", "alice");
  sweep();
  EXPECT_EQ(notices("leases").size(), 1U);
  EXPECT_TRUE(notices("task:t").empty() || notices("task:t").back().closed);
}

}  // namespace
}  // namespace tend
