// `tend stores` as people and programs see it, and `tend watch store:NAME` as it is begun.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "app/reading_test.h"
#include "store/foreign/foreign_time.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class StoresCommand : public testing::Test {
 protected:
  StoresCommand() { reading.variables["HOME"] = "/home/user"; }

  void configure(const std::string& text) {
    universe.disk.write(std::string(Kept::kHome) + "/config.toml", text);
  }
  [[nodiscard]] std::string ago(Duration age) const {
    return format_foreign_time(universe.wall() - age, TimeStyle{.decimals = 3});
  }
  void write_session(Duration age, const std::string& state = "working") {
    universe.disk.write(
        "/home/user/gt/.runtime/heartbeats/hq-deacon.json",
        fmt::format(R"({{"timestamp":"{}","state":"{}","bead":"gt-7"}})", ago(age), state));
  }
  void write_file(Duration age) {
    universe.disk.write("/home/user/gt/deacon/heartbeat.json",
                        fmt::format(R"({{"timestamp":"{}","cycle":3}})", ago(age)));
  }
  void be_gas_town() {
    configure("[store.deacon]\npreset = \"gastown\"\n");
    universe.answers["tmux"] = {.exit = {ExitStatus::How::code, 1}};
    universe.answers["bd"] = {.output = R"([{"labels":[]}])"};
    universe.run_for(2h);
  }

  Reading reading;
  SimUniverse& universe = reading.universe;
};

TEST_F(StoresCommand, has_a_friendly_line_where_nothing_is_configured) {
  const Answer answer = reading.tend({"stores"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "no agents of other systems in the configuration\n");
}

TEST_F(StoresCommand, shows_all_stores_side_by_side) {
  be_gas_town();
  write_session(40s);
  write_file(26min);
  const Answer answer = reading.tend({"stores", "deacon"});
  EXPECT_EQ(answer.exit, kExitNeedsYou) << answer.err;
  EXPECT_EQ(answer.out,
            "deacon: its stores disagree: session fresh (40s), file stale (26m)\n"
            "STORE    KIND           AGE  VERDICT  SAYS              PROBLEM\n"
            "file     json-time      26m  stale    -                 -\n"
            "legacy   mtime            -  none     -                 there is no "
            "/home/user/gt/deacon/.deacon-heartbeat\n"
            "session  session-state  40s  fresh    working, on gt-7  -\n"
            "label    label            -  none     -                 no label "
            "'heartbeat:<epoch>'\n"
            "tmux     tmux             -  none     -                 tmux has no session "
            "'hq-deacon'\n");
}

TEST_F(StoresCommand, is_well_if_they_agree) {
  be_gas_town();
  write_session(40s);
  write_file(1min);
  const Answer answer = reading.tend({"stores"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.has("deacon: all well\n")) << answer.out;
}

TEST_F(StoresCommand, has_every_field_as_JSON) {
  be_gas_town();
  write_session(40s, "idle");
  const Answer answer = reading.tend({"stores", "--json", "deacon"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.out;
  const auto agent = answer.json()["agents"][0];
  EXPECT_EQ(agent["agent"], "deacon");
  EXPECT_EQ(agent["diverges"], false);
  EXPECT_TRUE(agent["finding"].is_null());
  EXPECT_TRUE(agent["pid"].is_null());
  ASSERT_EQ(agent["stores"].size(), 5U);
  const auto session = agent["stores"][2];
  EXPECT_EQ(session["store"], "session");
  EXPECT_EQ(session["kind"], "session-state");
  EXPECT_EQ(session["age_s"], 40.0);
  EXPECT_EQ(session["stale_after_s"], 300.0);
  EXPECT_EQ(session["verdict"], "idle");
  EXPECT_EQ(session["state"], "idle");
  EXPECT_EQ(session["task"], "gt-7");
  EXPECT_TRUE(session["problem"].is_null());
  EXPECT_EQ(agent["stores"][3]["may_lag"], true);
}

TEST_F(StoresCommand, says_that_no_store_is_fresh_or_that_one_cannot_be_read) {
  be_gas_town();
  write_file(26min);
  EXPECT_TRUE(reading.tend({"stores"}).has("deacon: no store is fresh\n"));
  universe.disk.make_unreadable("/home/user/gt/deacon/heartbeat.json");
  const Answer answer = reading.tend({"stores"});
  EXPECT_EQ(answer.exit, kExitNeedsYou);
  EXPECT_TRUE(answer.has("deacon: its stores cannot be read\n")) << answer.out;
  EXPECT_TRUE(answer.has("unreadable")) << answer.out;
}

TEST_F(StoresCommand, refuses_whom_nobody_configured) {
  be_gas_town();
  const Answer answer = reading.tend({"stores", "deacn"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err,
            "tend stores: the configuration has no stores of 'deacn'; did you mean 'deacon'?\n");
  configure("[store.deacon]\npreset = 3\n");
  EXPECT_EQ(reading.tend({"stores"}).exit, kExitUsage);
}

TEST_F(StoresCommand, a_watch_refuses_what_it_cannot_mean) {
  be_gas_town();
  EXPECT_EQ(reading.tend({"watch", "store:"}).exit, kExitUsage);
  EXPECT_EQ(reading.tend({"watch", "store:nobody"}).exit, kExitNo);
  const Answer answer = reading.tend({"watch", "--policy", "agent", "store:deacon"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err,
            "tend watch: --policy is not for stores: their limits are in [store.NAME] of the "
            "configuration; --limit changes one\n");
}

}  // namespace
}  // namespace tend
