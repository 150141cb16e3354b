// `tend events`: the past, then what comes, over a file that is moved away meanwhile.
#include <gtest/gtest.h>

#include "app/reading_test.h"
#include "store/events.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

const std::string kEvents = std::string(Kept::kHome) + "/events.jsonl";
const std::string kOld = std::string(Kept::kHome) + "/events.1.jsonl";

std::string note(double at, const std::string& text, const std::string& agent = "worker-s1") {
  Event event;
  event.at = at;
  event.agent = agent;
  event.session = "s1";
  event.text = text;
  return format_event(event) + "\n";
}

TEST(EventsCommand, shows_nothing_where_nothing_happened) {
  Reading reading;
  const Answer answer = reading.tend({"events"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "");
}

TEST(EventsCommand, shows_the_old_file_then_the_new_one_with_times_in_utc) {
  Reading reading;
  reading.universe.disk.write(kOld, note(1'773'002'269, "first"));
  reading.universe.disk.write(kEvents,
                              note(1'773'002'270, "second") + note(1'773'100'000, "third"));
  const Answer answer = reading.tend({"events"});
  EXPECT_EQ(answer.out,
            "2026-03-08 UTC\n"
            "20:37:49  worker-s1  first\n"
            "20:37:50  worker-s1  second\n"
            "2026-03-09 UTC\n"
            "23:46:40  worker-s1  third\n");
}

TEST(EventsCommand, shows_the_last_n_only) {
  Reading reading;
  std::string all;
  for (int i = 0; i < 100; ++i) all += note(1'773'002'269 + i, "n" + std::to_string(i));
  reading.universe.disk.write(kEvents, all);
  EXPECT_EQ(std::ranges::count(reading.tend({"events"}).out, '\n'), 50 + 1);
  const Answer two = reading.tend({"events", "-n", "2"});
  EXPECT_FALSE(two.has("n97\n"));
  EXPECT_TRUE(two.has("n98\n"));
  EXPECT_TRUE(two.has("n99\n"));
}

TEST(EventsCommand, shows_all_since_a_time_and_of_one_agent) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const double now =
      std::chrono::duration<double>(reading.universe.wall().time_since_epoch()).count();
  reading.universe.disk.write(kEvents, note(now - 100, "long ago") + note(now - 10, "lately") +
                                           note(now - 5, "other", "other"));
  const Answer since = reading.tend({"events", "--since", "1m"});
  EXPECT_FALSE(since.has("long ago"));
  EXPECT_TRUE(since.has("lately"));
  EXPECT_TRUE(since.has("other"));
  const Answer one = reading.tend({"events", "--agent", "worker"});
  EXPECT_TRUE(one.has("lately"));
  EXPECT_FALSE(one.has("other"));
}

TEST(EventsCommand, follows_until_ctrl_c_and_over_a_change_of_files) {
  Reading reading;
  reading.universe.disk.write(kEvents, note(1'773'002'269, "before"));
  auto append = [&](const std::string& path, const std::string& line) {
    reading.universe.disk.write(path, reading.universe.disk.read(path).value_or("") + line);
  };
  reading.universe.after(1s, [&] { append(kEvents, note(1'773'002'270, "one")); });
  reading.universe.after(2s, [&] {
    Machine& machine = reading.universe.machine("writer");
    auto home = machine.folders.open(Kept::kHome);
    ASSERT_TRUE(home);
    ASSERT_TRUE((*home)->rename("events.jsonl", "events.1.jsonl"));
    append(kEvents, note(1'773'002'271, "two"));
  });
  const Answer answer = reading.tend({"events", "-f"}, 5s);
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out,
            "2026-03-08 UTC\n"
            "20:37:49  worker-s1  before\n"
            "20:37:50  worker-s1  one\n"
            "20:37:51  worker-s1  two\n");
}

TEST(EventsCommand, follows_where_the_system_gives_no_hints) {
  Reading reading;
  reading.universe.hints = SimHints::none;
  reading.universe.after(1s, [&] { reading.universe.disk.write(kEvents, note(1, "one")); });
  EXPECT_TRUE(reading.tend({"events", "--follow"}, 3s).has("one"));
}

TEST(EventsCommand, tells_verdicts_actions_and_what_needs_you) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  reading.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print_after(1s, "hello\n");
    self.exit_after(2s, 1);
  };
  reading.start_keeper();
  reading.universe.run_for(120s);
  const Answer answer = reading.tend({"events", "-n", "1000"});
  EXPECT_TRUE(answer.has("worker-s1  working (model): last real sign")) << answer.out;
  EXPECT_TRUE(answer.has("-> resume: process gone, exit code 1 (life 2 begun)")) << answer.out;
  EXPECT_TRUE(answer.has("looping (")) << answer.out;
}

TEST(EventsCommand, gives_one_json_object_a_line) {
  Reading reading;
  reading.universe.disk.write(kEvents, note(1'773'002'269, "first") + "no json\n" + note(2, "x"));
  const Answer answer = reading.tend({"events", "--json"});
  std::istringstream lines(answer.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_EQ(json["kind"], "note");
  }
  EXPECT_EQ(count, 2);
}

TEST(EventsCommand, refuses_a_number_that_is_none) {
  Reading reading;
  const Answer answer = reading.tend({"events", "-n", "many"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err, "tend events: --lines wants a whole number up to 10000000, not 'many'\n");
}

}  // namespace
}  // namespace tend
