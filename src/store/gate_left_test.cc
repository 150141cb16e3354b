// Who hears of messages that nobody will come for, on a real SQLite file.
#include "store/gate_left.h"

#include <gtest/gtest.h>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "store/gate_testing.h"
#include "store/home_database.h"
#include "store/outbox_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class GateLeftTest : public testing::Test {
 protected:
  std::int64_t receive(const std::string& endpoint, bool has_way = true) {
    Arrival arrival = arrival_of("hello");
    arrival.draft.endpoint = endpoint;
    if (has_way) arrival.reply = ReplyWay{.command = {"send", "{text}"}};
    return gate.receive(arrival, now).value().message.id;
  }
  std::int64_t tell(WallTime before) {
    const auto told = tell_left(*database,
                                {.agent = "boss",
                                 .why = "it has ended",
                                 .before = before,
                                 .undelivered =
                                     [](const std::vector<std::int64_t>& messages) {
                                       return fmt::format("[{}]", fmt::join(messages, ","));
                                     }},
                                now);
    EXPECT_TRUE(told) << told.error().text;
    return told.value_or(-1);
  }
  [[nodiscard]] std::string notices() { return shown(Outbox(*database).list({}).value()); }

  TemporaryFolder scratch;
  std::unique_ptr<Folder> home = LinuxFolders().make(scratch.path() + "/home").value();
  LinuxDatabases databases;
  std::unique_ptr<Database> database =
      open_home_database(databases, *home, {.durable = false}).value();
  Gate gate{*database};
  WallTime now{std::chrono::hours{24 * 365 * 50}};
};

TEST_F(GateLeftTest, is_told_to_each_sender_once_with_all_his_messages) {
  receive("ann");
  receive("bob");
  receive("ann");
  now += 1min;
  EXPECT_EQ(tell(now), 2);
  EXPECT_EQ(notices(), "1 open waiting [1,3]; 2 open waiting [2]");
  receive("ann");
  now += 1min;
  EXPECT_EQ(tell(now), 0) << "once for each outage";
  EXPECT_EQ(shown(gate.list("boss", std::nullopt, 9).value()),
            "1 queued; 2 queued; 3 queued; 4 queued");
}

TEST_F(GateLeftTest, is_of_no_message_that_just_came_was_worked_on_or_has_no_way_back) {
  receive("done");
  receive("taken");
  receive("nobody", false);
  std::ignore = gate.next("boss", "me", now).value();
  std::ignore = gate.next("boss", "me", now).value();
  ASSERT_TRUE(gate.done(1, now));
  const WallTime before = now + 1s;
  now += 1min;
  receive("ann");
  EXPECT_EQ(tell(before), 0);
  EXPECT_EQ(notices(), "");
  EXPECT_FALSE(gate.open_outage("boss").value()) << "nobody is to be told of one";
}

TEST_F(GateLeftTest, is_over_with_the_outage) {
  receive("ann");
  now += 1min;
  EXPECT_EQ(tell(now), 1);
  Outbox outbox(*database);
  ASSERT_TRUE(outbox.sent(outbox.take(1, now, kLease).value().notice, now));
  EXPECT_EQ(gate.end_outage("boss", R"("well")", now).value().told, 1);
  EXPECT_EQ(notices(), R"((1 open sent [1]); (2 close waiting "well"))");
}

TEST_F(GateLeftTest, goes_on_where_it_was_cut_short) {
  receive("ann");
  std::ignore = gate.begin_outage("boss", "it has ended", now).value();
  now += 1min;
  EXPECT_EQ(tell(now), 1);
  EXPECT_EQ(gate.open_outages().value().size(), 1U);
}

}  // namespace
}  // namespace tend
