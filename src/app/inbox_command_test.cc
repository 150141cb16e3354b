// `tend inbox`: what is new, for whom, and what counts as read.
#include "app/inbox_command.h"

#include <gtest/gtest.h>

#include "app/reading_test.h"
#include "store/inbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class InboxCommand : public testing::Test {
 protected:
  InboxCommand() {
    reading.start_worker();
    reading.universe.run_for(5s);
    be_inside();
  }

  void be_inside() { reading.variables = {{"TEND_INFRA", Kept::kFolder}, {"TEND_LIFE", "1"}}; }
  void be_outside() { reading.variables.clear(); }
  void send(const std::string& text) {
    const auto folder = reading.universe.machine().folders.open(Kept::kFolder);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(append_message(
        **folder, {.at = 1'773'002'269.25, .kind = "child-done", .from = "coder", .text = text}));
  }

  Reading reading;
};

TEST_F(InboxCommand, shows_what_is_new_once) {
  send("coder finished");
  send("and merged");
  const Answer answer = reading.tend({"inbox"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out,
            "1  2026-03-08 20:37:49 UTC  child-done from coder\n"
            "    coder finished\n"
            "2  2026-03-08 20:37:49 UTC  child-done from coder\n"
            "    and merged\n");
  EXPECT_EQ(reading.tend({"inbox"}).out, "nothing new\n");
  send("more");
  EXPECT_FALSE(reading.tend({"inbox", "--peek"}).has("merged"));
}

TEST_F(InboxCommand, shows_all_when_asked) {
  send("coder finished");
  EXPECT_EQ(reading.tend({"inbox"}).exit, kExitYes);
  EXPECT_TRUE(reading.tend({"inbox", "--all"}).has("coder finished"));
}

TEST_F(InboxCommand, counts_nothing_as_read_that_was_only_peeked_at) {
  send("coder finished");
  EXPECT_TRUE(reading.tend({"inbox", "--peek"}).has("coder finished"));
  EXPECT_TRUE(reading.tend({"inbox"}).has("coder finished"));
}

TEST_F(InboxCommand, leaves_it_unread_when_a_person_looks) {
  send("coder finished");
  be_outside();
  EXPECT_TRUE(reading.tend({"inbox", "worker"}).has("coder finished"));
  be_inside();
  EXPECT_TRUE(reading.tend({"inbox", "worker-s1"}).has("coder finished")) << "the agent, by name";
  EXPECT_EQ(reading.tend({"inbox"}).out, "nothing new\n");
}

TEST_F(InboxCommand, gives_an_object_for_each_message) {
  send("coder finished");
  EXPECT_EQ(reading.tend({"inbox", "--json"}).out,
            R"({"id":1,"at":1773002269.25,"kind":"child-done","from":"coder",)"
            R"("text":"coder finished","read":false})"
            "\n");
  EXPECT_EQ(reading.tend({"inbox", "--json"}).out, "");
  EXPECT_EQ(reading.tend({"inbox", "--json", "--all"}).json()["read"], true);
}

TEST_F(InboxCommand, prints_no_control_characters_of_others) {
  reading.universe.disk.write(Kept::path("inbox.jsonl"),
                              R"({"id":1,"at":1,"kind":"n\u001b[2J","from":"a\nb",)"
                              R"("text":"x\u001b[31m\r\ny"})"
                              "\n");
  const Answer answer = reading.tend({"inbox"});
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 2) << answer.out;
  EXPECT_EQ(answer.out.find('\x1b'), std::string::npos) << answer.out;
  EXPECT_EQ(answer.out.find('\r'), std::string::npos) << answer.out;
  EXPECT_TRUE(answer.has("x\\x1b[31m")) << answer.out;
}

TEST_F(InboxCommand, says_in_one_line_what_is_wrong) {
  be_outside();
  Answer answer = reading.tend({"inbox"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_TRUE(answer.err.starts_with("tend inbox: not inside a kept agent")) << answer.err;
  answer = reading.tend({"inbox", "nobody"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend inbox: no agent 'nobody'")) << answer.err;
  be_inside();
  reading.variables["TEND_LIFE"] = "2";
  EXPECT_EQ(reading.tend({"inbox"}).exit, kExitNo);
}

}  // namespace
}  // namespace tend
