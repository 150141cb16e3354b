// Letters with the built program: between people, to and from kept agents, and what is refused.
#include <pwd.h>
#include <unistd.h>

#include "e2e.h"

namespace tend::e2e {
namespace {

class MailE2e : public E2e {
 protected:
  /// The number of a letter that was sent; 0 if it was not.
  long send(const std::string& from, const std::string& to, const std::string& subject,
            const Arguments& more = {}) {
    const Finished sent =
        tend(Arguments{"mail", "send", to, "--from", from, "-s", subject, "--json"} + more);
    EXPECT_EQ(sent.exit, 0) << sent.err;
    return number_in(Json::parse(sent.out, nullptr, false), "id");
  }
  std::vector<Json> inbox(const std::string& actor, const Arguments& more = {}) {
    const Finished listed = tend(Arguments{"mail", "inbox", "--actor", actor, "--json"} + more);
    EXPECT_EQ(listed.exit, 0) << listed.err;
    std::vector<Json> letters;
    for (const std::string& line : lines_of(listed.out)) {
      letters.push_back(Json::parse(line, nullptr, false));
    }
    return letters;
  }
  Json letter(long id, const std::string& reader) {
    const Finished shown = tend({"mail", "read", std::to_string(id), "--actor", reader, "--json"});
    EXPECT_EQ(shown.exit, 0) << shown.err;
    return Json::parse(shown.out, nullptr, false);
  }
  /// One line on standard error, and nothing on standard output.
  std::string refused(const Arguments& words, int exit) {
    const Finished answer = tend(words);
    EXPECT_EQ(answer.exit, exit) << answer.out << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(lines_of(answer.err).size(), 1U) << answer.err;
    return answer.err;
  }
};

TEST_F(MailE2e, a_letter_waits_until_its_recipient_has_acknowledged_it) {
  const long id = send("alice", "bob", "blocked", {"--body", "need the key"});
  ASSERT_EQ(id, 1);
  EXPECT_TRUE(inbox("alice").empty());
  ASSERT_EQ(inbox("bob").size(), 1U);
  const Finished listed = tend({"mail", "inbox", "--actor", "bob"});
  EXPECT_TRUE(listed.out.contains("blocked")) << listed.out;

  const Json first = letter(id, "bob");
  EXPECT_EQ(text_in(first, "from"), "alice");
  EXPECT_EQ(text_in(first, "to"), "bob");
  EXPECT_EQ(text_in(first, "body"), "need the key");
  EXPECT_TRUE(first.at("read_at").is_null()) << "as it was before";
  EXPECT_TRUE(letter(id, "bob").at("read_at").is_number());
  EXPECT_TRUE(inbox("bob", {"--unread"}).empty());
  EXPECT_EQ(inbox("bob").size(), 1U) << "read, and not acknowledged";

  const Finished acked = tend({"mail", "ack", "1", "--actor", "bob"});
  EXPECT_EQ(acked.exit, 0) << acked.err;
  EXPECT_EQ(acked.out, "1: acknowledged\n");
  EXPECT_TRUE(inbox("bob").empty());
  ASSERT_EQ(inbox("bob", {"--all"}).size(), 1U);
  EXPECT_TRUE(inbox("bob", {"--all"})[0].at("acked_at").is_number());
  const Finished again = tend({"mail", "ack", "1", "--actor", "bob"});
  EXPECT_EQ(again.exit, 0);
  EXPECT_EQ(again.out, "1: acknowledged already\n");
}

TEST_F(MailE2e, an_answer_joins_the_thread) {
  const long question = send("alice", "bob", "which port?");
  const long other = send("carol", "bob", "lunch");
  const long answer = send("bob", "alice", "8080", {"--reply-to", std::to_string(question)});
  const Finished thread = tend({"mail", "thread", std::to_string(answer), "--json"});
  EXPECT_EQ(thread.exit, 0) << thread.err;
  const auto lines = lines_of(thread.out);
  ASSERT_EQ(lines.size(), 2U) << thread.out;
  EXPECT_EQ(number_in(Json::parse(lines[0]), "id"), question);
  EXPECT_EQ(number_in(Json::parse(lines[1]), "id"), answer);
  EXPECT_EQ(number_in(Json::parse(lines[1]), "reply_to"), question);
  EXPECT_EQ(number_in(Json::parse(lines[1]), "thread"), question);
  EXPECT_EQ(number_in(letter(other, "bob"), "thread"), other);
}

TEST_F(MailE2e, a_body_comes_from_standard_input_whole) {
  const Finished sent =
      tend({"mail", "send", "bob", "--from", "alice", "-s", "plan", "-b", "-"}, "one\ntwo\n");
  EXPECT_EQ(sent.exit, 0) << sent.err;
  EXPECT_EQ(sent.out, "1\n");
  EXPECT_EQ(text_in(letter(1, "bob"), "body"), "one\ntwo\n");
}

TEST_F(MailE2e, what_is_for_somebody_else_is_shown_and_neither_read_nor_acknowledged) {
  const long id = send("alice", "bob", "for bob");
  const Finished shown = tend({"mail", "read", "1", "--actor", "eve"});
  EXPECT_EQ(shown.exit, 0);
  EXPECT_TRUE(shown.err.contains("is for bob, not for eve, and stays unread")) << shown.err;
  EXPECT_TRUE(refused({"mail", "ack", "1", "--actor", "eve"}, 1).contains("is for bob"));
  EXPECT_EQ(inbox("bob", {"--unread"}).size(), 1U);
  EXPECT_TRUE(letter(id, "bob").at("read_at").is_null());
}

TEST_F(MailE2e, what_is_wrong_is_said_in_a_line_and_sends_nothing) {
  for (const char* command : {"read", "ack", "thread"}) {
    EXPECT_TRUE(refused({"mail", command, "7"}, 1).contains("there is no letter 7")) << command;
    EXPECT_TRUE(refused({"mail", command, "x"}, 2).contains("the number of a letter")) << command;
    refused({"mail", command}, 2);
  }
  refused({"mail", "send", "", "-s", "x"}, 2);
  refused({"mail", "send", " bob", "-s", "x"}, 2);
  refused({"mail", "send", "bob"}, 2);
  refused({"mail", "send", "-s", "x"}, 2);
  refused({"mail", "send", "bob", "-s", "x", "--from", ""}, 2);
  refused({"mail", "send", "bob", "-s", "x", "--from", "a", "--actor", "b"}, 2);
  refused({"mail", "send", "bob", "-s", "x", "--reply-to", "0"}, 2);
  refused({"mail", "send", "bob", "-s", "x", "--reply-to", "99"}, 1);
  EXPECT_TRUE(inbox("bob", {"--all"}).empty());
  // Of several letters those that can be are acknowledged.
  send("alice", "bob", "one");
  EXPECT_EQ(tend({"mail", "ack", "99", "1", "--actor", "bob"}).exit, 1);
  EXPECT_TRUE(inbox("bob").empty());
}

TEST_F(MailE2e, letters_are_there_when_nobody_runs_and_whoever_was_killed) {
  const Path folder = keep({"--name", "coder"}, worker({}));
  ASSERT_FALSE(folder.empty());
  send("alice", "coder", "first");
  end_everything();
  send("alice", "coder", "second");
  const auto letters = inbox("coder");
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_EQ(text_in(letters[0], "subject"), "first");
  EXPECT_EQ(text_in(letters[1], "subject"), "second");
}

TEST_F(MailE2e, a_kept_agent_reads_its_own_mail_and_writes_under_its_name) {
  send("alice", "coder", "what is new?");
  const Path done = scratch() / "done";
  const std::string script =
      R"("$1" mail inbox --json; "$1" mail send alice -s "tests pass" --reply-to 1 && )"
      R"("$1" mail ack 1 && TEND_ACTOR=scribe "$1" mail send alice -s noted && )"
      R"("$1" mail send alice -s said --from PinkHill; echo $? >"$2"; sleep 60)";
  const Path folder =
      keep({"--name", "coder"}, {"sh", "-c", script, "sh", TEND_BINARY, done.string()});
  ASSERT_TRUE(eventually([&] { return read_file(done) == "0\n"; })) << read_file(done);
  const auto letters = inbox("alice");
  ASSERT_EQ(letters.size(), 3U);
  EXPECT_EQ(text_in(letters[0], "from"), "coder");
  EXPECT_EQ(number_in(letters[0], "reply_to"), 1);
  EXPECT_EQ(text_in(letters[1], "from"), "scribe");
  EXPECT_EQ(text_in(letters[2], "from"), "PinkHill");
  EXPECT_TRUE(inbox("coder").empty()) << "acknowledged by itself";
  EXPECT_TRUE(tend({"logs", "coder"}).out.contains("what is new?"));
}

TEST_F(MailE2e, the_user_is_known_without_an_environment) {
  const passwd* const user = ::getpwuid(::geteuid());
  const std::string name = user != nullptr ? user->pw_name : "uid " + std::to_string(::geteuid());
  const Finished sent = run({.arguments = {"env", "-u", "USER", "-u", "LOGNAME", TEND_BINARY,
                                           "mail", "send", "bob", "-s", "x", "--json"}});
  EXPECT_EQ(sent.exit, 0) << sent.err;
  EXPECT_EQ(text_in(Json::parse(sent.out, nullptr, false), "from"), name);
  const Finished named =
      run({.arguments = {TEND_BINARY, "mail", "send", "bob", "-s", "x", "--json"},
           .environment = {{"USER", "ann"}}});
  EXPECT_EQ(text_in(Json::parse(named.out, nullptr, false), "from"), "ann");
}

}  // namespace
}  // namespace tend::e2e
