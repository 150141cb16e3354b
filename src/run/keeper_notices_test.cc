// What a keeper tells people, through the outbox: on every channel, until it is heard, and as one
// incident from the begin of trouble to its end.
#include <gtest/gtest.h>

#include "run/kept_test.h"
#include "run/patrol.h"
#include "run/work_items.h"
#include "store/home_database.h"
#include "store/outbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class KeeperNotices : public KeptTest {
 protected:
  KeeperNotices() {
    kept.agent.notify = {"tell-me"};
    kept.config.channels = {{.name = "mail", .command = {"mail-me"}}};
    universe.answers["tell-me"] = {.takes = 1s};
    universe.answers["mail-me"] = {.takes = 1s};
    behave([](SimSelf& self) { self.exit_after(2s, 1); });
  }

  /// What that command was told, in order.
  [[nodiscard]] std::vector<nlohmann::json> told(const std::string& command) const {
    std::vector<nlohmann::json> all;
    for (const auto& run : universe.ran()) {
      if (run.command.front() == command) all.push_back(nlohmann::json::parse(run.input));
    }
    return all;
  }
  [[nodiscard]] std::string kinds(const std::string& command) const {
    std::string all;
    for (const auto& one : told(command)) all += one["kind"].get<std::string>() + " ";
    return all;
  }
  [[nodiscard]] std::string events() const {
    return universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  }
  std::unique_ptr<Database> database() {
    Machine& machine = universe.machine();
    auto opened =
        machine.databases.open(std::string(Kept::kHome) + "/" + kDatabaseFile, DatabaseSettings{});
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  /// Made by a newer tend: nothing can be asked of it.
  void spoil_outbox() { EXPECT_TRUE(database()->run_script("PRAGMA user_version = 99")); }
  std::int64_t version_of_outbox() {
    std::int64_t version = 0;
    EXPECT_TRUE(database()->each("PRAGMA user_version", {},
                                 [&](const DatabaseRow& row) { version = row.number(0); }));
    return version;
  }
  void mend_outbox(std::int64_t version) {
    EXPECT_TRUE(database()->run_script("PRAGMA user_version = " + std::to_string(version)));
  }
  void patrol_twice() {
    Machine& machine = universe.machine("patrol");
    const auto home = machine.folders.open(Kept::kHome).value();
    const auto items = home_work_items(machine, *home);
    Patrol patrol(machine, *home, *items, {});
    for (int i = 0; i < 2; ++i) {
      patrol.sweep([&](const Sweep&) { machine.loop.stop(); });
      machine.loop.run();
    }
  }
  void hold_it() {
    kept.start_keeper();
    universe.run_for(5min);
    ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  }
};

TEST_F(KeeperNotices, go_out_on_every_channel) {
  hold_it();
  for (const char* const command : {"tell-me", "mail-me"}) {
    ASSERT_EQ(told(command).size(), 1U) << command;
    const nlohmann::json notice = told(command).front();
    EXPECT_EQ(notice["agent"], "worker-s1");
    EXPECT_EQ(notice["verdict"], "looping");
    EXPECT_EQ(notice["action"], "escalate");
    EXPECT_EQ(notice["kind"], "open");
    EXPECT_GT(notice["incident"], 0);
  }
  EXPECT_TRUE(kept.text_of("journal.jsonl").contains("in the outbox for mail, --notify"));
}

TEST_F(KeeperNotices, are_sent_again_until_they_are_heard_and_then_no_more) {
  universe.answers["tell-me"] = {.exit = {ExitStatus::How::code, 1}, .takes = 1s};
  hold_it();
  EXPECT_GT(told("tell-me").size(), 1U);
  EXPECT_EQ(told("mail-me").size(), 1U);
  for (const auto& one : told("tell-me"))
    EXPECT_EQ(one["incident"], told("tell-me")[0]["incident"]);
  EXPECT_TRUE(events().contains("a notice was not heard: --notify: 'tell-me' exited with 1"));
  universe.answers["tell-me"] = {.takes = 1s};
  universe.run_for(15min);
  const std::size_t tries = told("tell-me").size();
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_EQ(told("tell-me").size(), tries);
  EXPECT_EQ(told("mail-me").size(), 1U);
}

TEST_F(KeeperNotices, say_when_it_is_over) {
  hold_it();
  behave(print_now_and_then);
  unpause();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::working);
  EXPECT_EQ(kinds("mail-me"), "open close ");
  EXPECT_EQ(told("mail-me").back()["verdict"], "working");
  EXPECT_EQ(told("mail-me").back()["incident"], told("mail-me").front()["incident"]);
}

TEST_F(KeeperNotices, say_when_it_is_over_whoever_keeps_it_then) {
  hold_it();
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kinds("mail-me"), "open ");
  behave(print_now_and_then);
  unpause();
  universe.run_for(5min);
  EXPECT_EQ(kinds("mail-me"), "open close ");
}

TEST_F(KeeperNotices, say_that_a_person_ended_it) {
  hold_it();
  stop();
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(kept.keeper));
  EXPECT_EQ(kinds("tell-me"), "open close ");
  EXPECT_EQ(told("tell-me").back()["why"], "over: stopped, tend stop");
}

TEST_F(KeeperNotices, stay_open_when_it_ends_with_the_machine) {
  hold_it();
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1min);
  ASSERT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
  patrol_twice();
  universe.reboot();
  kept.again = true;
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::looping) << "it is held as before";
  EXPECT_EQ(kinds("tell-me"), "open ");
  behave(print_now_and_then);
  unpause();
  universe.run_for(5min);
  EXPECT_EQ(kinds("tell-me"), "open close ");
}

TEST_F(KeeperNotices, are_owed_until_the_outbox_can_be_written) {
  spoil_outbox();
  hold_it();
  EXPECT_TRUE(universe.ran().empty());
  EXPECT_TRUE(events().contains("no person can be told yet: ")) << events();
  ASSERT_TRUE(kept.past());
  EXPECT_TRUE(std::ranges::any_of(
      kept.past()->owed, [](const Ruling& one) { return one.action == Action::escalate; }));
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(1min);
  mend_outbox(0);
  universe.run_for(1min);
  EXPECT_EQ(kinds("mail-me"), "open ");
  EXPECT_EQ(kinds("tell-me"), "open ");
  EXPECT_TRUE(kept.past()->owed.empty());
}

TEST_F(KeeperNotices, hold_up_no_end_for_long) {
  kept.agent.restart = RestartPolicy::never;
  spoil_outbox();
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  EXPECT_FALSE(universe.runs(kept.keeper));
  EXPECT_TRUE(events().contains("no person was told of this end: ")) << events();
}

TEST_F(KeeperNotices, that_it_is_over_are_said_by_the_patrol_where_the_keeper_could_not) {
  hold_it();
  const auto version = version_of_outbox();
  spoil_outbox();
  stop();
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(kept.keeper));
  EXPECT_TRUE(events().contains("no person was told of this end: ")) << events();
  mend_outbox(version);
  EXPECT_EQ(Outbox(*database()).list({.open_only = true}).value().size(), 2U);

  patrol_twice();
  const auto owed = Outbox(*database()).list({.state = NoticeState::waiting}).value();
  ASSERT_EQ(owed.size(), 2U) << "once on each channel";
  for (const Notice& notice : owed) {
    EXPECT_EQ(notice.kind, NoticeKind::close);
    const auto says = nlohmann::json::parse(notice.payload);
    EXPECT_EQ(says["agent"], "worker-s1");
    EXPECT_EQ(says["why"], "over: stopped, tend stop");
  }
}

TEST_F(KeeperNotices, are_left_to_others_when_they_are_not_heard_at_the_end) {
  kept.agent.restart = RestartPolicy::never;
  universe.answers["mail-me"] = {.exit = {ExitStatus::How::code, 7}, .takes = 1s};
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_FALSE(universe.runs(kept.keeper));
  EXPECT_EQ(told("tell-me").size(), 1U);
  EXPECT_EQ(told("mail-me").size(), 1U);
  const auto open = database();
  const auto left = Outbox(*open).list({.state = NoticeState::waiting});
  ASSERT_TRUE(left);
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().channel, "mail");
  EXPECT_EQ(left->front().key, "agent:sessions/s1:trouble");
}

TEST_F(KeeperNotices, need_no_database_where_there_is_nobody_to_tell) {
  kept.agent.notify.clear();
  kept.config.channels.clear();
  hold_it();
  EXPECT_TRUE(universe.databases.empty());
  EXPECT_TRUE(kept.text_of("journal.jsonl").contains("there is no --notify"));
}

TEST_F(KeeperNotices, say_that_the_configuration_cannot_be_used) {
  kept.config_problem = "config.toml:3: no such table";
  behave(print_now_and_then);
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_TRUE(events().contains("the configuration cannot be used: config.toml:3: no such table"));
}

}  // namespace
}  // namespace tend
