// `tend logs`: the last lines, byte for byte, and what follows.
#include <gtest/gtest.h>

#include "app/reading_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(LogsCommand, shows_the_last_hundred_lines) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(150s + 500ms);
  const Answer answer = reading.tend({"logs", "worker"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 100);
  EXPECT_EQ(answer.out.substr(0, 8), "line 51\n");
  EXPECT_TRUE(answer.out.ends_with("line 150\n"));
}

TEST(LogsCommand, shows_as_many_lines_as_are_wanted_byte_for_byte) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(1s);
  const std::string text("a\0b\nc\xff\nlast without an end", 26);
  reading.universe.disk.write(Kept::path("stream.jsonl"), text);
  EXPECT_EQ(reading.tend({"logs", "-n", "1", "worker"}).out, "last without an end");
  EXPECT_EQ(reading.tend({"logs", "-n", "2", "worker"}).out, "c\xff\nlast without an end");
  EXPECT_EQ(reading.tend({"logs", "-n", "3", "worker"}).out, text);
  EXPECT_EQ(reading.tend({"logs", "-n", "9", "worker"}).out, text);
  EXPECT_EQ(reading.tend({"logs", "-n", "0", "worker"}).out, "");
}

TEST(LogsCommand, finds_lines_over_the_borders_of_its_pieces) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(1s);
  std::string text;
  for (int i = 0; i < 5; ++i) text += std::string(100'000, static_cast<char>('a' + i)) + "\n";
  reading.universe.disk.write(Kept::path("stream.jsonl"), text);
  EXPECT_EQ(reading.tend({"logs", "-n", "2", "worker"}).out, text.substr(3 * 100'001));
}

TEST(LogsCommand, shows_standard_error_when_asked) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.complain("oh\n"); };
  reading.start_keeper();
  reading.universe.run_for(1s);
  EXPECT_EQ(reading.tend({"logs", "--stderr", "worker"}).out, "oh\n");
}

TEST(LogsCommand, follows_until_the_agent_is_over) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print("one\n");
    self.print_after(5s, "two\n");
    self.after(10s, [](SimSelf& me) {
      me.print("end");
      me.exit(0);
    });
  };
  reading.start_keeper();
  reading.universe.run_for(1s);
  const Answer answer = reading.tend({"logs", "-f", "worker"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "one\ntwo\nend");
}

TEST(LogsCommand, leaves_the_agent_alone_at_ctrl_c) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(1s);
  const Answer answer = reading.tend({"logs", "-f", "worker"}, 5s);
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.has("line 5\n"));
  EXPECT_EQ(reading.workers().size(), 1U);
  EXPECT_TRUE(reading.universe.runs(reading.keeper));
}

TEST(LogsCommand, stops_following_when_keeper_and_process_are_gone) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(3s);
  reading.universe.kill(reading.keeper);
  reading.universe.after(3s,
                         [&] { reading.universe.signal(reading.workers().front(), Kill::kill); });
  EXPECT_EQ(reading.tend({"logs", "-f", "worker"}).exit, kExitYes);
}

TEST(LogsCommand, says_that_nothing_was_printed) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf&) {};
  reading.start_keeper();
  reading.universe.run_for(1s);
  const Answer answer = reading.tend({"logs", "worker"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.err, "tend logs: worker-s1 has printed nothing yet\n");
}

}  // namespace
}  // namespace tend
