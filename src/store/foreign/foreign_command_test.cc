// What commands are run, and what their answers say.
#include "store/foreign/foreign_command.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{std::chrono::seconds{1'773'002'269}};
const TimeContext kContext{.now = kNow, .local_east = {}, .plain_is_local = false};

bool nobody_lives(std::int64_t, const std::optional<WallTime>&) { return false; }

Ran answer(std::string output) {
  return {{ExitStatus::How::code, 0}, false, std::move(output), ""};
}

ForeignStore label_store() {
  ForeignStore store;
  store.kind = StoreKind::label;
  store.command = {"bd", "show", "hq-deacon", "--json"};
  return store;
}

ForeignStore tmux_store() {
  ForeignStore store;
  store.kind = StoreKind::tmux;
  store.session = "hq-deacon";
  return store;
}

StoreReading read(const ForeignStore& store, const Result<Ran>& ran) {
  return reading_of(store, ran, kContext, nobody_lives);
}

TEST(CommandStores, are_run_without_a_shell_and_with_bounds) {
  ForeignStore store = label_store();
  store.deadline = 3s;
  const auto run = command_of(store);
  EXPECT_EQ(run.command, store.command);
  EXPECT_EQ(run.deadline, 3s);
  EXPECT_EQ(run.most_output, std::size_t{1024} * 1024);
  EXPECT_TRUE(run.input.empty());
}

TEST(CommandStores, a_label_holds_the_beat) {
  const auto reading = read(label_store(), answer(R"([{"id":"hq-deacon","labels":
      ["gt:agent","heartbeat:1773002200","idle:3","heartbeat:1773002100"]}])"));
  EXPECT_EQ(reading.last_sign, kNow - 69s) << "the newest of two";
  EXPECT_EQ(reading.problem, "");
  EXPECT_FALSE(reading.unread);
}

TEST(CommandStores, a_label_may_announce_silence) {
  const auto reading = read(label_store(), answer(R"({"labels":["heartbeat:1773002200",
      "backoff-until:1773002869"]})"));
  EXPECT_EQ(reading.quiet_until, kNow + 600s);
}

TEST(CommandStores, a_label_may_have_another_name) {
  ForeignStore store = label_store();
  store.label = "alive";
  EXPECT_EQ(
      read(store, answer(R"({"labels":["heartbeat:1773002200","alive:1773002260"]})")).last_sign,
      kNow - 9s);
}

TEST(CommandStores, a_label_that_is_not_there_is_a_fact_and_a_failure_to_ask_is_not) {
  const auto none = read(label_store(), answer(R"({"labels":["x"]})"));
  EXPECT_FALSE(none.last_sign);
  EXPECT_FALSE(none.unread);
  EXPECT_EQ(none.problem, "no label 'heartbeat:<epoch>'");
  EXPECT_EQ(read(label_store(), answer(R"({"labels":["heartbeat:soon"]})")).unread, false);

  Ran failed = answer("");
  failed.exit = {ExitStatus::How::code, 1};
  failed.error = "Error: no issue hq-deacon\nhint: x\n";
  const auto wrong = read(label_store(), failed);
  EXPECT_TRUE(wrong.unread);
  EXPECT_EQ(wrong.problem, "bd failed (exit 1): Error: no issue hq-deacon");
  EXPECT_TRUE(read(label_store(), fail("no such program")).unread);
  EXPECT_TRUE(read(label_store(), answer("not JSON")).unread);
}

TEST(CommandStores, S37_a_command_that_hangs_is_no_word_about_the_agent) {
  Ran slow = answer("");
  slow.timed_out = true;
  slow.exit = {ExitStatus::How::signal, 9};
  const auto reading = read(label_store(), slow);
  EXPECT_TRUE(reading.unread);
  EXPECT_FALSE(reading.last_sign);
  EXPECT_EQ(reading.problem, "bd did not answer in 10s");
}

TEST(CommandStores, a_command_prints_a_time_anywhere_in_its_JSON) {
  ForeignStore store;
  store.kind = StoreKind::command;
  store.command = {"gt", "deacon", "status", "--json"};
  store.field = "heartbeat.timestamp";
  const auto reading =
      read(store, answer(R"({"running":true,"heartbeat":{"timestamp":"2026-03-08T20:37:00.5Z",
           "state":"idle","pid":7}})"));
  EXPECT_EQ(reading.last_sign, WallTime{1'773'002'220'500ms});
  EXPECT_EQ(reading.state, "idle");
  EXPECT_EQ(reading.pid, 7);
}

TEST(CommandStores, tmux_tells_when_a_window_was_painted_and_whose_it_is) {
  const auto run = command_of(tmux_store());
  EXPECT_EQ(run.command.at(4), "=hq-deacon:") << "not of another whose name begins like it";
  const auto reading = read(tmux_store(), answer("1773002260 4711\n"));
  EXPECT_EQ(reading.last_sign, kNow - 9s);
  EXPECT_EQ(reading.pid, 4711);
}

TEST(CommandStores, that_tmux_has_no_such_session_is_an_answer) {
  for (const char* const said : {"", " \n", "\n"}) {
    Ran ran = answer(said);
    ran.exit = {ExitStatus::How::code, 1};
    const auto reading = read(tmux_store(), ran);
    EXPECT_FALSE(reading.unread);
    EXPECT_FALSE(reading.last_sign);
    EXPECT_EQ(reading.problem, "tmux has no session 'hq-deacon'");
  }
}

}  // namespace
}  // namespace tend
