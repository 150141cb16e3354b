// What people hear of a lease that goes from hand to hand, on the simulated machine.
#include "run/lease_voice.h"

#include "run/lease_test.h"
#include "store/home_database.h"
#include "store/outbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class LeaseVoiceTest : public LeaseTest {
 protected:
  LeaseVoiceTest() {
    channels_ = {{.name = "mail", .command = {"mail-me"}}, {.name = "pager", .command = {"page"}}};
    universe_->on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      heard_.push_back(run.command.front() + " " + run.input);
      return SimAnswer{};
    };
  }
  /// The holder is killed, and somebody else waits for it.
  void pass_on() {
    const std::string name = "a" + std::to_string(++runs_);
    const auto next = run(name, {"works"}, 30s);
    universe_->run_for(1s);
    if (last_ != 0) universe_->signal(last_, Kill::kill);
    ASSERT_TRUE(universe_->run_until([&] { return holder() == name; }, 10min));
    universe_->run_for(1s);
    last_ = next;
  }
  std::vector<Notice> notices() {
    Machine& machine = universe_->machine();
    auto home = machine.folders.make(kLeaseHome).value();
    auto database = open_home_database(machine.databases, *home).value();
    NoticeFilter filter;
    filter.key = "lease:leader";
    return Outbox(*database).list(filter).value();
  }
  [[nodiscard]] std::string events() const {
    return universe_->disk.read(std::string(kLeaseHome) + "/events.jsonl").value_or("");
  }

  int runs_ = 0;
  std::int64_t last_ = 0;
  std::vector<std::string> heard_;
};

TEST_F(LeaseVoiceTest, I086_tells_people_once_and_says_when_it_is_over) {
  for (int i = 0; i < 3; ++i) pass_on();
  EXPECT_TRUE(heard_.empty());
  EXPECT_FALSE(universe_->disk.exists(std::string(kLeaseHome) + "/tend.db"))
      << "nobody looks into the outbox of a lease that is well";
  pass_on();
  EXPECT_EQ(flaps_.size(), 1U);
  ASSERT_EQ(notices().size(), 2U) << "one on each channel";
  EXPECT_EQ(notices().front().state, NoticeState::sent);
  EXPECT_TRUE(notices().front().payload.contains("the lease leader goes from hand to hand"));
  EXPECT_TRUE(notices().front().payload.contains("tend lease status --name leader"));
  EXPECT_EQ(heard_.size(), 2U);
  pass_on();
  EXPECT_EQ(flaps_.size(), 2U) << "and once more";
  EXPECT_EQ(notices().size(), 2U) << "people know already";
  universe_->run_for(10min);
  EXPECT_EQ(calm_, 1);
  ASSERT_EQ(notices().size(), 4U);
  EXPECT_EQ(notices().back().kind, NoticeKind::close);
  EXPECT_EQ(notices().back().state, NoticeState::sent);
  EXPECT_TRUE(notices().back().payload.contains("over: the lease leader goes from hand to hand"));
  EXPECT_TRUE(events().contains("over: the lease leader goes from hand to hand"));
}

TEST_F(LeaseVoiceTest, tells_of_the_next_time_anew) {
  for (int i = 0; i < 4; ++i) pass_on();
  universe_->run_for(10min);
  ASSERT_EQ(notices().size(), 4U);
  for (int i = 0; i < 3; ++i) pass_on();
  ASSERT_EQ(notices().size(), 6U);
  EXPECT_FALSE(notices().back().closed);
}

TEST_F(LeaseVoiceTest, says_what_could_not_be_told_and_tells_it_the_next_time) {
  Machine& machine = universe_->machine();
  const auto home = machine.folders.make(kLeaseHome).value();
  std::vector<std::string> said;
  LeaseVoice voice(machine, *home, "leader", channels_,
                   [&](const std::string& text) { said.push_back(text); });
  LeaseRecord record;
  record.holder.id = "boss";
  universe_->disk.room = 0;
  voice.flaps(record);
  ASSERT_EQ(said.size(), 2U) << "neither in the events nor on the channels";
  EXPECT_TRUE(said.back().starts_with("nobody could be told: ")) << said.back();
  universe_->disk.room.reset();
  voice.flaps(record);
  EXPECT_EQ(said.size(), 2U);
  EXPECT_EQ(notices().size(), 2U);
  universe_->disk.room = 0;
  voice.is_calm();
  EXPECT_EQ(notices().size(), 2U);
  universe_->disk.room.reset();
  universe_->run_for(1min);
  EXPECT_TRUE(std::ranges::all_of(notices(), &Notice::closed)) << "it is tried again";
}

TEST_F(LeaseVoiceTest, without_a_channel_writes_an_event_and_makes_no_outbox) {
  channels_.clear();
  for (int i = 0; i < 5; ++i) pass_on();
  universe_->run_for(10min);
  EXPECT_TRUE(events().contains("the lease leader goes from hand to hand"));
  EXPECT_FALSE(universe_->disk.exists(std::string(kLeaseHome) + "/tend.db"));
}

}  // namespace
}  // namespace tend
