// `tend gate`: what becomes of a message, who gets it, and who is told what.
#include "app/gate_commands.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "app/typing_test.h"
#include "store/gate.h"
#include "store/heartbeat.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class GateCommands : public Typing {
 protected:
  GateCommands() {
    be("ann");
    reading.universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      ran.push_back(fmt::format("{}", fmt::join(run.command, " ")));
      return answer;
    };
  }

  /// A message from telegram 42.
  Json receive(const Words& more = {}, int exit = kExitYes) {
    Words words{"gate", "receive", "--channel", "telegram", "--endpoint", "42", "--json"};
    const bool has_content = std::ranges::find(more, "--content") != more.end();
    if (!has_content) words.insert(words.end(), {"--content", "hello"});
    words.insert(words.end(), more.begin(), more.end());
    return lines(words, exit).at(0);
  }
  Json receive_with_reply(const Words& more = {}) {
    Words words{"--reply-with", "c4-send {channel} {endpoint} {text}"};
    words.insert(words.end(), more.begin(), more.end());
    return receive(words);
  }
  Json next(int exit = kExitYes) { return lines({"gate", "next", "--json"}, exit).at(0); }
  Json status() { return lines({"gate", "status", "--json"}).at(0)["agents"]; }

  void start_agent() {
    reading.start_worker();
    reading.universe.run_for(5s);
  }
  /// As its keeper would say it.
  void degrade(bool down = true) {
    Heartbeat says = reading.heartbeat();
    says.degraded_since = down ? 1'773'002'269.25 : 0;
    says.verdict = down ? Verdict::stalled : Verdict::working;
    says.because = {"nothing new for 20m"};
    reading.universe.disk.write(Kept::path(".heartbeat"), format_heartbeat(says));
  }
  void configure(const std::string& text) {
    reading.universe.disk.write(std::string(Kept::kHome) + "/config.toml", text);
  }

  SimAnswer answer{.takes = 1s};
  std::vector<std::string> ran;
};

// --- Normal -------------------------------------------------------------------------------------

TEST_F(GateCommands, take_messages_before_anybody_is_known) {
  const Json first = receive();
  const Json expected = {{"ok", true},        {"action", "queued"}, {"id", 1},        {"agent", ""},
                         {"state", "queued"}, {"mode", "normal"},   {"reply", "none"}};
  EXPECT_EQ(first, expected);
  EXPECT_EQ(did({"gate", "receive", "-c", "mail", "-e", "ann", "--content", "x"}),
            "message 2 is queued for nobody in particular\n");
}

TEST_F(GateCommands, queue_for_the_one_agent_and_tell_its_keeper) {
  start_agent();
  EXPECT_EQ(receive()["agent"], "worker-s1");
  receive();
  EXPECT_TRUE(reading.text_of("signals.jsonl").ends_with("{\"is\":\"inbox\",\"waiting\":2}\n"));
  const Json taken = next();
  EXPECT_EQ(taken["action"], "taken");
  EXPECT_EQ(taken["message"]["id"], 1);
  EXPECT_EQ(taken["message"]["content"], "hello");
  EXPECT_EQ(taken["message"]["holder"], "ann");
  EXPECT_EQ(taken["message"]["tries"], 1);
  EXPECT_TRUE(reading.text_of("signals.jsonl").ends_with("{\"is\":\"inbox\",\"waiting\":1}\n"));
  EXPECT_EQ(did({"gate", "done", "1"}), "1: done\n");
  EXPECT_EQ(did({"gate", "done", "1"}), "1: is done already\n");
}

TEST_F(GateCommands, start_a_new_line_behind_one_that_was_torn) {
  start_agent();
  reading.universe.disk.write(Kept::path("signals.jsonl"), "{\"is\":");
  receive();
  EXPECT_EQ(reading.text_of("signals.jsonl"), "{\"is\":\n{\"is\":\"inbox\",\"waiting\":1}\n");
}

TEST_F(GateCommands, name_the_life_that_took_a_message) {
  start_agent();
  receive();
  reading.variables = {{"TEND_INFRA", Kept::kFolder}, {"TEND_LIFE", "1"}};
  EXPECT_EQ(next()["message"]["holder"], "worker-s1 (life 1)");
}

TEST_F(GateCommands, hand_out_what_came_before_the_agent_was_there) {
  receive();
  start_agent();
  receive();
  EXPECT_EQ(next()["message"]["id"], 1);
  EXPECT_EQ(next()["message"]["id"], 2);
  EXPECT_EQ(next(kExitNo)["action"], "none");
  EXPECT_EQ(tend({"gate", "next"}).out, "nothing waits\n");
}

TEST_F(GateCommands, hand_out_by_priority_and_age) {
  receive({"--content", "third"});
  receive({"--content", "fourth"});
  receive({"--priority", "1", "--content", "first"});
  receive({"--priority", "2", "--content", "second"});
  for (const char* const content : {"first", "second", "third", "fourth"}) {
    EXPECT_EQ(next()["message"]["content"], content);
  }
}

TEST_F(GateCommands, give_a_message_back_after_its_lease_and_bury_it_in_the_end) {
  receive();
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(next()["message"]["tries"], i);
    if (i < 5) reading.universe.run_for(10min);
  }
  EXPECT_EQ(did({"gate", "fail", "1", "--error", "no\nuse"}),
            "1: given up after 5 tries; `tend gate retry 1` queues it again\n");
  EXPECT_EQ(next(kExitNo)["message"], nullptr);
  const Json all = lines({"gate", "status", "--json"}, kExitNeedsYou).at(0);
  EXPECT_EQ(all["agents"][0]["dead"], 1);
  EXPECT_EQ(all["agents"][0]["needs_you"], true);
  EXPECT_EQ(did({"gate", "retry", "1"}), "1: queued\n");
  EXPECT_EQ(next()["message"]["id"], 1);
}

TEST_F(GateCommands, fail_only_for_who_has_it) {
  receive();
  next();
  reading.universe.run_for(11min);
  next();
  EXPECT_EQ(refused({"gate", "fail", "1", "--tries", "1"}),
            "tend gate fail: somebody else took message 1 since: ann\n");
  EXPECT_EQ(lines({"gate", "fail", "1", "--tries", "2", "--json"}).at(0)["action"], "queued");
  EXPECT_EQ(refused({"gate", "fail", "1"}),
            "tend gate fail: nobody works on message 1: it is queued\n");
  EXPECT_EQ(refused({"gate", "done", "7"}),
            "tend gate done: there is no message 7; `tend gate list` shows them\n");
  EXPECT_EQ(refused({"gate", "done", "x"}, kExitUsage),
            "tend gate done: wants the number of a message (`tend gate list` shows them), not "
            "'x'\n");
}

TEST_F(GateCommands, recognise_a_message_that_was_sent_before) {
  EXPECT_EQ(receive({"--idempotency-key", "m1"})["action"], "queued");
  const Json again = receive({"--idempotency-key", "m1"});
  EXPECT_EQ(again["action"], "duplicate");
  EXPECT_EQ(again["id"], 1);
  EXPECT_EQ(did({"gate", "receive", "-c", "telegram", "-e", "42", "--content", "hello",
                 "--idempotency-key", "m1"}),
            "received before, as message 1, which is queued\n");
}

TEST_F(GateCommands, wait_for_a_message) {
  const Instant before = reading.universe.now();
  const Answer nothing = tend({"gate", "next", "--wait=5m"});
  EXPECT_EQ(nothing.exit, kExitNo);
  EXPECT_GE(reading.universe.now() - before, 5min);
  receive();
  EXPECT_EQ(tend({"gate", "next", "--wait"}).exit, kExitYes);
  EXPECT_EQ(reading.tend({"gate", "next", "--wait"}, 10s).exit, kExitNo) << "Ctrl-C";
  EXPECT_EQ(refused({"gate", "next", "--wait=soon"}, kExitUsage).substr(0, 23),
            "tend gate next: --wait:");
}

TEST_F(GateCommands, show_what_there_is) {
  receive({"--content", "one\ntwo \x1b[2J"});
  reading.universe.run_for(2min);
  EXPECT_EQ(did({"gate", "list"}),
            "MESSAGE  STATE   PRIO  FOR  FROM         AGE  TRIES  WHAT\n"
            "      1  queued     3  -    telegram 42   2m      0  one\\x0atwo \\x1b[2J\n");
  EXPECT_EQ(did({"gate", "show", "1"}),
            "message 1, queued\n"
            "  for       nobody in particular\n"
            "  from      telegram 42\n"
            "  priority  3\n"
            "  received  2m ago\n"
            "\n"
            "one\n"
            "two \\x1b[2J\n");
  EXPECT_EQ(did({"gate", "list", "--state", "dead"}), "no messages\n");
  EXPECT_EQ(lines({"gate", "list", "--json"}).size(), 1U);
}

// --- What cannot be received --------------------------------------------------------------------

TEST_F(GateCommands, refuse_what_cannot_be_received_as_it_is) {
  const auto error = [&](const Words& words) {
    Words all{"gate", "receive"};
    all.insert(all.end(), words.begin(), words.end());
    return refused(all, kExitUsage);
  };
  EXPECT_EQ(error({"--channel", "c", "--endpoint", "e"}),
            "tend gate receive: needs --content TEXT, or - for standard input\n");
  EXPECT_EQ(error({"--endpoint", "e", "--content", "x"}),
            "tend gate receive: needs --channel: where it comes from\n");
  EXPECT_EQ(error({"--channel", "c", "--content", "x"}),
            "tend gate receive: needs --endpoint: where it comes from\n");
  EXPECT_EQ(error({"-c", "c", "-e", "e", "--content", "\xff"}),
            "tend gate receive: the message is not valid UTF-8\n");
  EXPECT_EQ(error({"-c", "c", "-e", "a\nb", "--content", "x"}),
            "tend gate receive: the endpoint 'a\\x0ab' is not one printable line\n");
  EXPECT_EQ(error({"-c", "c", "-e", "e", "--content", "x", "--priority", "4"}),
            "tend gate receive: --priority is 1, 2 or 3, not '4'\n");
  EXPECT_EQ(error({"-c", "c", "-e", "e", "--content", "x", "--reply-with", "a 'b"}),
            "tend gate receive: --reply-with: 'a 'b' ends inside of a quote or behind a "
            "backslash\n");
  EXPECT_EQ(error({"-c", "c", "-e", "e", "--content", "x", "--no-reply", "--", "say"}),
            "tend gate receive: --no-reply and a command for replies: choose one\n");
  EXPECT_EQ(did({"gate", "list"}), "no messages\n");
}

TEST_F(GateCommands, refuse_in_json_what_a_bridge_may_hand_over) {
  const auto code = [&](const Words& words) {
    Words all{"gate", "receive", "-c", "c", "-e", "e", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const auto answers = lines(all, kExitUsage);
    return answers.size() == 1 ? answers.at(0)["error"]["code"].get<std::string>() : "";
  };
  EXPECT_EQ(code({"--content", ""}), "empty") << "as of a picture";
  EXPECT_EQ(code({"--content", "x", "--priority", "4"}), "bad-priority");
  EXPECT_EQ(code({"--content", "x", "--priority", "high"}), "bad-priority");
  receive({"--content", "--wait, what?"});
  EXPECT_EQ(next()["message"]["content"], "--wait, what?");
}

TEST_F(GateCommands, read_standard_input_up_to_a_bound) {
  reading.input = "from\nstandard input\n";
  const Json json = lines({"gate", "receive", "-c", "c", "-e", "e", "--json", "-"}).at(0);
  EXPECT_EQ(json["id"], 1);
  EXPECT_EQ(next()["message"]["content"], "from\nstandard input\n");
  reading.input = std::string(10'485'760, 'x');
  EXPECT_EQ(refused({"gate", "receive", "-c", "c", "-e", "e", "-"}, kExitUsage),
            "tend gate receive: the message has 10485760 bytes; at most 1000000 are allowed\n");
  const Json no = lines({"gate", "receive", "-c", "c", "-e", "e", "--json", "-"}, kExitUsage).at(0);
  EXPECT_EQ(no["ok"], false);
  EXPECT_EQ(no["error"]["code"], "too-large");
}

TEST_F(GateCommands, ask_which_agent_if_there_are_several) {
  start_agent();
  Heartbeat other = reading.heartbeat();
  other.agent = "other";
  reading.universe.disk.write("/home/user/tend/sessions/s2/.heartbeat", format_heartbeat(other));
  const Json no = receive({}, kExitUsage);
  EXPECT_EQ(no["error"]["code"], "several-agents");
  EXPECT_EQ(no["error"]["message"],
            "this home has several agents: other, worker-s1; say which with --agent");
  EXPECT_EQ(receive({"--agent", "worker-s1"})["agent"], "worker-s1");
  EXPECT_EQ(receive({"--agent", "nobody-yet"})["agent"], "nobody-yet");
}

TEST_F(GateCommands, go_on_with_a_configuration_that_is_broken) {
  configure("[gate\n");
  const Answer received = tend({"gate", "receive", "-c", "c", "-e", "e", "--content", "x"});
  EXPECT_EQ(received.exit, kExitYes);
  EXPECT_TRUE(received.err.contains("the built-in settings of the gate are used")) << received.err;
}

// --- Degraded -----------------------------------------------------------------------------------

TEST_F(GateCommands, hold_a_message_while_its_agent_is_down_and_tell_its_sender) {
  start_agent();
  degrade();
  const Json json = receive_with_reply();
  EXPECT_EQ(json["action"], "auto-replied");
  EXPECT_EQ(json["state"], "held");
  EXPECT_EQ(json["mode"], "degraded");
  EXPECT_EQ(json["why"], "stalled: nothing new for 20m");
  EXPECT_EQ(json["reply"], "sent");
  ASSERT_EQ(ran.size(), 1U);
  EXPECT_TRUE(ran[0].starts_with("c4-send telegram 42 ")) << ran[0];
  EXPECT_EQ(next(kExitNo)["message"], nullptr) << "it is apart from the conversation";
  EXPECT_EQ(receive()["action"], "held") << "nobody is to be told";
  EXPECT_EQ(receive_with_reply()["reply_error"], "its sender was told a moment ago");
  EXPECT_EQ(ran.size(), 1U);

  const Json one = status()[0];
  EXPECT_EQ(one["mode"], "degraded");
  EXPECT_EQ(one["since"], 1'773'002'269.25);
  EXPECT_EQ(one["held"], 3);
  ASSERT_EQ(one["pending_channels"].size(), 1U);
  EXPECT_EQ(one["pending_channels"][0]["endpoint"], "42");
}

TEST_F(GateCommands, release_what_a_keeper_says_is_well) {
  start_agent();
  degrade();
  receive_with_reply();
  degrade(false);
  receive();
  EXPECT_EQ(status()[0]["queued"], 2);
  EXPECT_EQ(status()[0]["mode"], "normal");
  EXPECT_EQ(next()["message"]["id"], 1);
  EXPECT_EQ(tend({"outbox", "send"}).exit, kExitYes);
  EXPECT_EQ(ran.size(), 2U) << "the all-clear";
  EXPECT_TRUE(status()[0]["pending_channels"].empty());
}

TEST_F(GateCommands, reject_messages_if_that_is_wanted) {
  configure("[gate]\ndegraded = \"reject\"\n");
  start_agent();
  degrade();
  const Json json = receive_with_reply();
  EXPECT_EQ(json["action"], "rejected");
  EXPECT_EQ(json["id"], nullptr);
  EXPECT_EQ(json["reply"], "sent");
  EXPECT_EQ(did({"gate", "list"}), "no messages\n");
}

TEST_F(GateCommands, say_that_a_reply_waits) {
  start_agent();
  degrade();
  answer = {.exit = {ExitStatus::How::code, 3}, .error = "no such chat\n", .takes = 1s};
  const Json json = receive_with_reply();
  EXPECT_EQ(json["action"], "auto-replied");
  EXPECT_EQ(json["reply"], "waiting");
  EXPECT_EQ(json["reply_error"], "'c4-send' exited with 3: no such chat");
  const Answer outbox = tend({"outbox"});
  EXPECT_TRUE(outbox.has("reply:1 (telegram 42)")) << outbox.out;
  EXPECT_TRUE(tend({"outbox", "show", "1"}).has("reply:1 (telegram 42)"));
}

TEST_F(GateCommands, wait_for_a_reply_no_longer_than_its_deadline) {
  start_agent();
  degrade();
  answer = {.takes = 24h};
  const Instant before = reading.universe.now();
  EXPECT_EQ(receive_with_reply()["reply_error"], "'c4-send' did not end within 30 s and was ended");
  EXPECT_LE(reading.universe.now() - before, 31s);
}

TEST_F(GateCommands, take_the_words_of_a_reply_behind_two_dashes) {
  start_agent();
  degrade();
  lines({"gate", "receive", "-c", "sms", "-e", "7", "--json", "--content", "x", "--", "say", "-v",
         "{endpoint} {channel}"});
  ASSERT_EQ(ran.size(), 1U);
  EXPECT_EQ(ran[0], "say -v 7 sms");
  reading.input = "x";
  lines({"gate", "receive", "-c", "sms", "-e", "8", "--json", "-", "--", "say", "{endpoint}"});
  EXPECT_EQ(ran.back(), "say 8");
}

TEST_F(GateCommands, release_by_hand_what_nobody_keeps) {
  start_agent();
  reading.universe.kill(reading.keeper);
  reading.universe.signal(reading.workers().front(), Kill::kill);
  receive_with_reply();
  EXPECT_EQ(refused({"gate", "release"}),
            "tend gate release: worker-s1 is down (its process is gone, and nobody keeps it); "
            "--force releases its messages all the same\n");
  EXPECT_EQ(did({"gate", "release", "--force"}),
            "1 message is released; 1 of 1 sender is told that it is over\n");
  EXPECT_EQ(ran.size(), 2U);
  EXPECT_EQ(next()["message"]["id"], 1);
  EXPECT_EQ(did({"gate", "release", "--force"}),
            "0 messages are released; 0 of 0 senders are told that it is over\n");
}

TEST_F(GateCommands, let_an_agent_go_on_that_is_paused) {
  EXPECT_EQ(refused({"gate", "resume"}),
            "tend gate resume: there is no agent that could go on; see `tend status`\n");
  start_agent();
  did({"pause", "worker-s1"});
  EXPECT_EQ(did({"gate", "resume"}), "worker-s1: running\n");
}

}  // namespace
}  // namespace tend
