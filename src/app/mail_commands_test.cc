// `tend mail`: what arrives, what counts as read, and what waits to be acknowledged.
#include "app/mail_commands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/typing_test.h"
#include "store/home_database.h"
#include "store/mail.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class MailCommands : public Typing {
 protected:
  MailCommands() { be("ann"); }

  void send(std::string_view to, std::string_view subject = "hello") {
    did({"mail", "send", to, "--subject", subject, "--body", "how is it going?"});
  }
  std::vector<int> ids(const Words& words) {
    std::vector<int> found;
    for (const Json& letter : lines(words)) found.push_back(letter["id"]);
    return found;
  }
};

using Ids = std::vector<int>;

TEST_F(MailCommands, send_a_letter_and_print_its_number) {
  EXPECT_EQ(did({"mail", "send", "bob", "--subject", "plan", "--body", "the plan"}), "1\n");
  EXPECT_EQ(did({"mail", "send", "bob", "-s", "more"}), "2\n");
  const Json letter = lines({"mail", "read", "1", "--actor", "bob", "--json"}).front();
  const Json expected = {{"id", 1},
                         {"thread", 1},
                         {"reply_to", nullptr},
                         {"from", "ann"},
                         {"to", "bob"},
                         {"subject", "plan"},
                         {"body", "the plan"},
                         {"at", letter["at"]},
                         {"read_at", nullptr},
                         {"acked_at", nullptr},
                         {"key", nullptr}};
  EXPECT_EQ(letter, expected);
  EXPECT_TRUE(letter["at"].is_number());
}

TEST_F(MailCommands, send_what_comes_from_standard_input) {
  reading.input = "first line\n\nthird line\n";
  const Json letter =
      lines({"mail", "send", "bob", "--subject", "plan", "--body", "-", "--json"}).front();
  EXPECT_EQ(letter["body"], "first line\n\nthird line\n");
  reading.input = std::string(kLongestBody + 1, 'x');
  EXPECT_EQ(refused({"mail", "send", "bob", "--subject", "plan", "--body=-"}, kExitUsage),
            "tend mail send: the body is longer than 1000000 bytes\n");
  EXPECT_EQ(ids({"mail", "inbox", "--actor", "bob", "--json"}), Ids{1});
}

TEST_F(MailCommands, send_for_the_actor_that_is_nearest) {
  reading.start_worker();
  reading.universe.run_for(5s);
  reading.variables = {{"USER", "ann"}, {"TEND_INFRA", Kept::kFolder}, {"TEND_LIFE", "1"}};
  send("bob");
  reading.variables["TEND_ACTOR"] = "RedLake";
  send("bob");
  did({"mail", "send", "bob", "-s", "x", "--from", "PinkHill"});
  did({"mail", "send", "bob", "-s", "x", "--actor", "BlueHill"});
  be("ann");
  send("bob");
  std::vector<std::string> from;
  for (const Json& letter : lines({"mail", "inbox", "--actor", "bob", "--json"})) {
    from.push_back(letter["from"]);
  }
  EXPECT_EQ(from,
            (std::vector<std::string>{"worker-s1", "RedLake", "PinkHill", "BlueHill", "ann"}));
}

TEST_F(MailCommands, refuse_what_cannot_be_sent) {
  EXPECT_EQ(refused({"mail", "send", "bob"}, kExitUsage),
            "tend mail send: needs --subject TEXT: what it is about, in a line\n");
  EXPECT_EQ(refused({"mail", "send", "bob", "--subject", "a\nb"}, kExitUsage),
            "tend mail send: the subject has control characters; it has to be one plain line\n");
  EXPECT_EQ(refused({"mail", "send", "", "--subject", "x"}, kExitUsage),
            "tend mail send: the recipient is empty\n");
  EXPECT_EQ(refused({"mail", "send", "bob", "-s", "x", "--from", "a", "--actor", "b"}, kExitUsage),
            "tend mail send: --from and --actor say two names; choose one\n");
  EXPECT_EQ(refused({"mail", "send", "bob", "-s", "x", "--reply-to", "one"}, kExitUsage),
            "tend mail send: --reply-to wants the number of a letter, not 'one'\n");
  EXPECT_EQ(refused({"mail", "send", "bob", "-s", "x", "--reply-to", "7"}),
            "tend mail send: there is no letter 7 to reply to\n");
  EXPECT_EQ(refused({"mail", "send", "bob", "-s", "x", "--body", "\xff"}, kExitUsage),
            "tend mail send: the body is not valid UTF-8\n");
  EXPECT_EQ(did({"mail", "inbox", "--all", "--actor", "bob"}), "no letters for bob\n");
}

TEST_F(MailCommands, keep_subjects_that_look_like_lists) {
  did({"mail", "send", "bob", "--subject", "[a,b]", "--body", "[c,d]"});
  const Json letter = lines({"mail", "inbox", "--actor", "bob", "--json"}).front();
  EXPECT_EQ(letter["subject"], "[a,b]");
  EXPECT_EQ(letter["body"], "[c,d]");
}

TEST_F(MailCommands, list_what_waits_and_mark_what_is_unread) {
  send("bob", "first");
  reading.universe.run_for(2min);
  send("bob", "second");
  send("cid", "third");
  be("bob");
  did({"mail", "read", "1"});
  EXPECT_EQ(did({"mail", "inbox"}),
            "LETTER  STATE   FROM  AGE  SUBJECT\n"
            "     1  read    ann    2m  first\n"
            "     2  unread  ann    0s  second\n");
  EXPECT_EQ(ids({"mail", "inbox", "--unread", "--json"}), Ids{2});
  did({"mail", "ack", "1"});
  EXPECT_EQ(ids({"mail", "inbox", "--json"}), Ids{2});
  EXPECT_EQ(ids({"mail", "inbox", "--all", "--json"}), (Ids{1, 2}));
  EXPECT_TRUE(tend({"mail", "inbox", "--all"}).has("acked"));
  did({"mail", "ack", "2"});
  EXPECT_EQ(did({"mail", "inbox"}), "no unacknowledged letters for bob\n");
  EXPECT_EQ(did({"mail", "inbox", "--unread"}), "no unread letters for bob\n");
  EXPECT_EQ(did({"mail", "inbox", "--json"}), "");
  EXPECT_EQ(refused({"mail", "inbox", "--all", "--unread"}, kExitUsage),
            "tend mail inbox: --all and --unread: choose one\n");
}

TEST_F(MailCommands, show_a_whole_letter_and_mark_it_as_read) {
  did({"mail", "send", "bob", "-s", "plan", "-b", "one\r\n\n\ttwo \x1b[2J"});
  be("bob");
  const std::string words = did({"mail", "read", "1"});
  EXPECT_TRUE(
      words.starts_with("letter 1, unread\n"
                        "  from     ann\n"
                        "  to       bob\n"
                        "  sent     20"))
      << words;
  EXPECT_TRUE(
      words.ends_with("  subject  plan\n"
                      "\n"
                      "one\n"
                      "\n"
                      "\ttwo \\x1b[2J\n"))
      << words;
  EXPECT_TRUE(tend({"mail", "read", "1"}).has("letter 1, read\n"));
  EXPECT_EQ(ids({"mail", "inbox", "--json"}), Ids{1}) << "it still waits to be acknowledged";
}

TEST_F(MailCommands, leave_it_unread_if_somebody_else_looks) {
  send("bob");
  const Answer answer = tend({"mail", "read", "1"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.has("how is it going?\n"));
  EXPECT_EQ(answer.err, "tend mail read: letter 1 is for bob, not for ann, and stays unread\n");
  EXPECT_EQ(ids({"mail", "inbox", "--actor", "bob", "--unread", "--json"}), Ids{1});
}

TEST_F(MailCommands, acknowledge_letters_of_ones_own) {
  send("bob");
  send("bob");
  EXPECT_EQ(refused({"mail", "ack", "1"}),
            "tend mail ack: letter 1 is for bob, not for ann; only who it is for acknowledges "
            "it\n");
  be("bob");
  EXPECT_EQ(did({"mail", "ack", "1", "2"}), "1: acknowledged\n2: acknowledged\n");
  EXPECT_EQ(did({"mail", "ack", "1"}), "1: acknowledged already\n");
  EXPECT_EQ(did({"mail", "ack", "1", "--quiet"}), "");
  const Json letter = lines({"mail", "ack", "2", "--json"}).front();
  EXPECT_TRUE(letter["acked_at"].is_number() && letter["read_at"].is_number()) << letter;
}

TEST_F(MailCommands, acknowledge_what_there_is_and_name_the_rest) {
  send("bob");
  be("bob");
  const Answer answer = tend({"mail", "ack", "7", "1"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.out, "1: acknowledged\n");
  EXPECT_EQ(answer.err, "tend mail ack: there is no letter 7; `tend mail inbox` shows them\n");
}

TEST_F(MailCommands, want_the_number_of_a_letter) {
  for (const std::string_view command : {"read", "ack", "thread"}) {
    EXPECT_EQ(refused({"mail", command, "x"}, kExitUsage),
              "tend mail " + std::string(command) +
                  ": wants the number of a letter (`tend mail inbox` shows them), not 'x'\n");
    EXPECT_EQ(refused({"mail", command, "7"}),
              "tend mail " + std::string(command) +
                  ": there is no letter 7; `tend mail inbox` shows them\n");
  }
}

TEST_F(MailCommands, acknowledge_nothing_if_one_is_no_number) {
  send("ann");
  refused({"mail", "ack", "1", "-1x"}, kExitUsage);
  refused({"mail", "ack", "1", "x"}, kExitUsage);
  EXPECT_EQ(ids({"mail", "inbox", "--json"}), Ids{1});
}

TEST_F(MailCommands, show_a_thread_by_any_of_its_letters) {
  send("bob", "question");
  send("bob", "something else");
  be("bob");
  did({"mail", "send", "ann", "-s", "answer", "--reply-to", "1"});
  EXPECT_EQ(ids({"mail", "thread", "1", "--json"}), (Ids{1, 3}));
  EXPECT_EQ(ids({"mail", "thread", "3", "--json"}), (Ids{1, 3}));
  const std::string words = did({"mail", "thread", "3"});
  EXPECT_TRUE(words.contains("how is it going?\n\nletter 3, unread\n")) << words;
  EXPECT_TRUE(words.contains("  reply to 1 (thread 1)\n")) << words;
  EXPECT_EQ(ids({"mail", "inbox", "--unread", "--json"}), (Ids{1, 2})) << "marks nothing";
}

TEST_F(MailCommands, say_that_there_is_more_than_is_shown) {
  Machine& machine = reading.universe.machine();
  const auto home = machine.folders.open(Kept::kHome);
  ASSERT_TRUE(home) << home.error().text;
  const auto database = open_home_database(machine.databases, **home);
  ASSERT_TRUE(database) << database.error().text;
  Letter draft;
  draft.from = "ann";
  draft.to = "bob";
  for (int i = 0; i < kMostListed; ++i) {
    ASSERT_TRUE(Mailbox(**database).send(draft, reading.universe.wall()));
  }
  const Answer answer = tend({"mail", "inbox", "--actor", "bob", "--json"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), kMostListed);
  EXPECT_EQ(answer.err,
            "tend mail inbox: only the oldest 1000 are shown; `tend mail ack` makes room\n");
}

TEST_F(MailCommands, nobody_has_to_say_who_they_are) {
  reading.variables.clear();
  EXPECT_EQ(tend({"mail", "inbox"}).out, "no unacknowledged letters for uid 1000\n");
}

}  // namespace
}  // namespace tend
