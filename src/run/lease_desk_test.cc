// The desk of leases on the simulated machine: processes that ask, die, stop and come back.
#include "run/lease_desk.h"

#include "run/lease_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

using LeaseDeskTest = LeaseTest;

TEST_F(LeaseDeskTest, grants_to_one_and_refuses_the_other_with_a_reason_and_a_time) {
  Asker a = asker("a");
  Asker b = asker("b");
  const auto first = acquire(a);
  ASSERT_TRUE(first) << first.error().why;
  EXPECT_EQ(first->record.fence, 1U);
  universe_->run_for(10s);
  const auto second = acquire(b);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().refusal, LeaseRefusal::held);
  EXPECT_EQ(second.error().again_in, 20s);
  EXPECT_TRUE(second.error().why.starts_with("leader is held by a (process "));
}

TEST_F(LeaseDeskTest, grants_nothing_that_ran_out_while_it_was_written) {
  Asker a = asker("a");
  universe_->call_takes = 2s;
  const auto late = acquire(a, 3s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().refusal, LeaseRefusal::lost);
  universe_->call_takes = 0s;
  const auto again = acquire(a, 3s);
  ASSERT_TRUE(again) << again.error().why;
  EXPECT_EQ(again->record.fence, 2U);
}

TEST_F(LeaseDeskTest, gives_it_again_to_who_has_it_under_the_same_fence) {
  Asker a = asker("a");
  ASSERT_TRUE(acquire(a));
  universe_->run_for(10s);
  const auto again = acquire(a);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->record.fence, 1U);
  EXPECT_EQ(again->record.renewed, universe_->awake());
}

TEST_F(LeaseDeskTest, raises_the_fence_with_every_grant_and_keeps_it_when_it_is_free) {
  Asker a = asker("a");
  Asker b = asker("b");
  ASSERT_TRUE(acquire(a));
  ASSERT_TRUE(a.desk->release("leader", a.holder.process));
  EXPECT_EQ(record()->fence, 1U);
  const auto next = acquire(b);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->record.fence, 2U);
  EXPECT_EQ(next->because, LeaseFree::given_back);
  EXPECT_TRUE(next->record.takeovers.empty());
}

TEST_F(LeaseDeskTest, takes_it_from_a_dead_holder_at_once_and_from_a_silent_one_after_its_time) {
  Asker a = asker("a");
  Asker b = asker("b");
  Asker c = asker("c");
  ASSERT_TRUE(acquire(a));
  universe_->signal(a.holder.process.pid, Kill::kill);
  const auto taken = acquire(b);
  ASSERT_TRUE(taken) << taken.error().why;
  EXPECT_EQ(taken->because, LeaseFree::holder_dead);
  universe_->run_for(30s - 1ms);
  EXPECT_FALSE(acquire(c));
  universe_->run_for(1ms);
  const auto later = acquire(c);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->because, LeaseFree::expired);
  EXPECT_EQ(later->record.fence, 3U);
  EXPECT_EQ(later->record.takeovers.size(), 2U);
}

TEST_F(LeaseDeskTest, does_not_count_the_sleep_of_the_machine_and_no_step_of_the_calendar) {
  Asker a = asker("a");
  Asker b = asker("b");
  ASSERT_TRUE(acquire(a));
  universe_->sleep_machine(10h);
  universe_->step_wall(-24h);
  EXPECT_FALSE(acquire(b));
  EXPECT_TRUE(a.desk->renew("leader", a.holder.process));
  EXPECT_TRUE(a.desk->check("leader", 1));
}

TEST_F(LeaseDeskTest, is_free_after_a_boot_and_goes_on_from_the_old_fence) {
  {
    Asker a = asker("a");
    ASSERT_TRUE(acquire(a));
  }
  universe_->reboot({.lost = SimReboot::Lost::unsynced});
  Asker b = asker("b");
  const auto taken = acquire(b);
  ASSERT_TRUE(taken) << taken.error().why;
  EXPECT_EQ(taken->record.fence, 2U);
  EXPECT_EQ(taken->because, LeaseFree::holder_dead);
}

TEST_F(LeaseDeskTest, renews_for_its_holder_alone_and_never_says_yes_to_another) {
  Asker a = asker("a");
  Asker b = asker("b");
  EXPECT_EQ(b.desk->renew("leader", b.holder.process).error().refusal, LeaseRefusal::free);
  ASSERT_TRUE(acquire(a));
  EXPECT_EQ(b.desk->renew("leader", b.holder.process).error().refusal,
            LeaseRefusal::not_the_holder);
  EXPECT_EQ(b.desk->release("leader", b.holder.process).error().refusal,
            LeaseRefusal::not_the_holder);
  EXPECT_TRUE(b.desk->renew("leader", a.holder.process)) << "for a, who is proven to run";
  EXPECT_EQ(a.desk->renew("leader", a.holder.process, 9).error().refusal, LeaseRefusal::lost);
}

TEST_F(LeaseDeskTest, renews_for_no_process_that_is_stopped_or_dead) {
  Asker a = asker("a");
  Asker b = asker("b");
  ASSERT_TRUE(acquire(a));
  universe_->signal(a.holder.process.pid, Kill::stop);
  EXPECT_EQ(b.desk->renew("leader", a.holder.process).error().refusal, LeaseRefusal::not_alive);
  universe_->signal(a.holder.process.pid, Kill::kill);
  EXPECT_EQ(b.desk->renew("leader", a.holder.process).error().refusal, LeaseRefusal::not_alive);
  EXPECT_EQ(b.desk->check("leader", 1).error().refusal, LeaseRefusal::not_alive);
}

TEST_F(LeaseDeskTest, I223_of_one_that_is_late_refuses_the_renewal_and_the_old_fence) {
  Asker a = asker("a");
  Asker b = asker("b");
  ASSERT_TRUE(acquire(a));
  universe_->run_for(30s);
  EXPECT_EQ(a.desk->check("leader", 1).error().refusal, LeaseRefusal::lost);
  ASSERT_TRUE(acquire(b));
  EXPECT_EQ(a.desk->renew("leader", a.holder.process).error().refusal,
            LeaseRefusal::not_the_holder);
  EXPECT_EQ(a.desk->check("leader", 1).error().refusal, LeaseRefusal::stale_fence);
  EXPECT_TRUE(b.desk->check("leader", 2));
  EXPECT_TRUE(universe_->runs(a.holder.process.pid)) << "nobody is ended for being slow";
}

TEST_F(LeaseDeskTest, I214_believes_the_record_and_not_what_a_holder_thinks_of_itself) {
  Asker a = asker("a");
  Asker b = asker("b");
  const auto grant = acquire(a);
  ASSERT_TRUE(grant);
  // The record went to another behind the back of a.
  LeaseRecord stolen = grant->record;
  ++stolen.version;
  ++stolen.fence;
  stolen.holder = b.holder;
  ASSERT_TRUE(b.files->write(stolen).value());
  EXPECT_EQ(a.desk->check("leader", 1).error().refusal, LeaseRefusal::stale_fence);
  EXPECT_EQ(a.desk->renew("leader", a.holder.process, 1).error().refusal, LeaseRefusal::lost);
}

TEST_F(LeaseDeskTest, counts_from_its_first_look_where_the_clock_of_the_record_is_not_its_own) {
  Asker a = asker("a");
  ASSERT_TRUE(acquire(a));
  LeaseRecord foreign = *record();
  ++foreign.version;
  foreign.clock.pid_ns = 77;
  foreign.holder.process.pid_ns = 77;
  foreign.renewed = 0s;
  ASSERT_TRUE(a.files->write(foreign).value());
  universe_->run_for(10min);
  Asker b = asker("b");
  EXPECT_FALSE(acquire(b)) << "seen for the first time just now";
  universe_->run_for(29s);
  EXPECT_FALSE(acquire(b));
  universe_->run_for(1s);
  EXPECT_TRUE(acquire(b));
}

TEST_F(LeaseDeskTest, refuses_a_holder_that_is_not_there) {
  Asker a = asker("a");
  LeaseHolder gone = a.holder;
  gone.process.start_ticks += 1;
  const auto answer = acquire(a, {.name = "leader", .holder = gone, .ttl = 30s, .mirror = ""});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().refusal, LeaseRefusal::not_alive);
}

TEST_F(LeaseDeskTest, never_grants_what_it_cannot_read) {
  Asker a = asker("a");
  ASSERT_TRUE(acquire(a));
  universe_->disk.write(std::string(kLeaseHome) + "/leases/leader/record.1.json", "torn");
  Asker b = asker("b");
  EXPECT_EQ(acquire(b).error().refusal, LeaseRefusal::failed);
  EXPECT_EQ(a.desk->renew("leader", a.holder.process).error().refusal, LeaseRefusal::failed);
}

TEST_F(LeaseDeskTest, tells_marks_of_one_lease_from_those_of_another) {
  const auto home = universe_->machine().folders.make(kLeaseHome).value();
  const std::string one = lease_mark(*home, "leader", 7);
  EXPECT_EQ(one, "/home/user/tend/leases/leader#7");
  EXPECT_TRUE(acts_under(one, *home, "leader", 7));
  EXPECT_TRUE(acts_under(one, *home, "leader", 8));
  EXPECT_FALSE(acts_under(one, *home, "leader", 6));
  EXPECT_FALSE(acts_under(one, *home, "lead", 8));
  EXPECT_FALSE(acts_under(one + "x", *home, "leader", 99));
  const std::string both = one + ";" + lease_mark(*home, "night", 1);
  EXPECT_TRUE(acts_under(both, *home, "leader", 7)) << "what runs below runs under both";
  EXPECT_TRUE(acts_under(both, *home, "night", 1));
  EXPECT_FALSE(acts_under("", *home, "leader", 7));
}

TEST_F(LeaseDeskTest, mirrors_every_change_and_goes_on_from_the_epoch_of_others) {
  const std::string mirror = "/srv/orchestrator-state.json";
  universe_->disk.write(mirror,
                        "{\n  \"leader_id\": \"old\",\n  \"leader_epoch\": 19,\n"
                        "  \"last_heartbeat\": \"1970-01-01T00:00:00.000Z\",\n"
                        "  \"ttl_ms\": 180000,\n  \"theirs\": [1,  2]\n}\n");
  Asker a = asker("a");
  const auto answer =
      acquire(a, {.name = "leader", .holder = a.holder, .ttl = 30s, .mirror = mirror});
  ASSERT_TRUE(answer) << answer.error().why;
  EXPECT_EQ(answer->record.fence, 20U);
  EXPECT_EQ(answer->problem, "");
  std::string text = universe_->disk.read(mirror).value();
  EXPECT_TRUE(text.contains("\"leader_id\": \"a\"") && text.contains("\"leader_epoch\": 20") &&
              text.contains("\"ttl_ms\": 30000") && text.contains("\"theirs\": [1,  2]"))
      << text;
  EXPECT_FALSE(text.contains("1970"));
  ASSERT_TRUE(a.desk->release("leader", a.holder.process));
  text = universe_->disk.read(mirror).value();
  EXPECT_TRUE(text.contains("1970-01-01T00:00:00.000Z")) << text;
}

TEST_F(LeaseDeskTest, waits_for_a_leader_that_only_another_tool_knows) {
  const std::string mirror = "/srv/orchestrator-state.json";
  Asker a = asker("a");
  universe_->machine()
      .files
      .replace(mirror,
               R"({"leader_id":"theirs","leader_epoch":4,"last_heartbeat":)" +
                   std::to_string(universe_->wall().time_since_epoch().count() / 1'000'000) +
                   R"(,"ttl_ms":60000})")
      .value();
  const LeaseRequest request{.name = "leader", .holder = a.holder, .ttl = 30s, .mirror = mirror};
  const auto refused = acquire(a, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().refusal, LeaseRefusal::held);
  EXPECT_LE(refused.error().again_in, 60s);
  universe_->run_for(61s);
  const auto granted = acquire(a, request);
  ASSERT_TRUE(granted) << granted.error().why;
  EXPECT_EQ(granted->record.fence, 5U) << "a predecessor whose time is over keeps nobody out";
}

}  // namespace
}  // namespace tend
