// A whole outage on real processes: an agent that is spoken to on its input hangs, whoever writes
// to it is told, it is ended and begun again, answers, gets what was held, and everybody hears that
// it is over. Messages come all the while, and all of them are counted.
#include <csignal>
#include <fstream>
#include <set>

#include "e2e.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

/// Speaks as Claude Code does: takes stream-json from its input and prints a turn for each line. It
/// runs what a question tells it to, and a life hangs while a file says so.
constexpr const char* kChat = R"(#!/bin/bash
cd "$1" || exit 1
turn=0
while IFS= read -r line; do
  while [ -e "hang-$TEND_LIFE" ]; do sleep 0.05; done
  turn=$((turn + 1))
  echo '{"type":"system","subtype":"init","session_id":"s-1"}'
  printf '{"type":"assistant","message":{"id":"m%s","content":[{"type":"text","text":"%s"}]}}\n' \
    "$TEND_LIFE-$turn" "$TEND_LIFE $turn"
  printf '%s\n' "$line" >>heard
  if [[ $line =~ tend\ ack\ ([0-9a-f-]+) ]] && [ ! -e mute ]; then
    "$2" ack "${BASH_REMATCH[1]}" >>acks 2>&1
  fi
  echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1"}'
done
)";

/// Writes one line for each time that a sender is told something.
constexpr const char* kReply = R"(#!/bin/bash
[ ! -e "$1/no-reply" ] || exit 1
printf '%s|%s|%s|%s\n' "$TEND_GATE" "$2" "$3" "$TEND_IDEMPOTENCY_KEY" >>"$1/replies"
)";

class OutageTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    write_program("chat", kChat);
    write_program("reply", kReply);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(scratch() / name) << text;
  }
  void write_program(const std::string& name, const std::string& text) {
    write(name, text);
    std::filesystem::permissions(scratch() / name, std::filesystem::perms::owner_all);
  }
  void configure(const std::string& more) {
    std::filesystem::create_directories(home());
    std::filesystem::permissions(home(), std::filesystem::perms::owner_all);
    std::ofstream(home() / "config.toml") << more;
  }
  /// Asked every second, two seconds for an answer.
  Path keep_chat(const std::string& more = "", const std::string& gate = "") {
    configure("[probe.chat]\nchannel = \"stdin-stream\"\ninterval = \"1s\"\ndeadline = \"2s\"\n" +
              more + gate);
    return keep({"--name", "chat", "--adapter", "claude", "--policy", "agent", "--limit",
                 "confirm=1s", "--beat", "1s"},
                {(scratch() / "chat").string(), scratch().string(), TEND_BINARY});
  }
  Json receive(int number, const std::string& endpoint = "ann") {
    const auto ran =
        tend({"gate", "receive", "--agent", "chat", "--channel", "telegram", "--endpoint", endpoint,
              "--idempotency-key", "k" + std::to_string(number), "--json", "--content",
              "message number " + std::to_string(number) + ".", "--",
              (scratch() / "reply").string(), scratch().string(), "{endpoint}", "{text}"});
    EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
    return Json::parse(ran.out, nullptr, false);
  }
  /// How often each message was heard, by its number.
  std::map<int, int> heard() {
    std::map<int, int> times;
    for (const std::string& line : lines_of(read_file(scratch() / "heard"))) {
      constexpr std::string_view kWords = "message number ";
      const auto at = line.find(kWords);
      if (at != std::string::npos) ++times[std::stoi(line.substr(at + kWords.size()))];
    }
    return times;
  }
  std::size_t replies(const std::string& beginning) {
    std::size_t count = 0;
    for (const std::string& line : lines_of(read_file(scratch() / "replies"))) {
      if (line.starts_with(beginning)) ++count;
    }
    return count;
  }
  [[nodiscard]] std::size_t answers() const {
    return lines_of(read_file(scratch() / "acks")).size();
  }
  /// Its first life; the next is well.
  void hang() { write("hang-1", ""); }
  bool await_down(const Path& folder) {
    return await(folder, [](const Json& says) { return says.contains("degraded"); });
  }
  bool await_up(const Path& folder, long life) {
    return await(folder, [life](const Json& says) {
      return number_in(says, "life") == life && !says.contains("degraded") &&
             text_in(says, "status") == "running";
    });
  }
};

TEST_F(OutageTest, an_idle_agent_is_asked_and_answers_and_lives_on) {
  const Path folder = keep_chat();
  ASSERT_FALSE(folder.empty());
  ASSERT_TRUE(eventually([&] { return answers() >= 4; }));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  EXPECT_FALSE(heartbeat_of(folder).contains("degraded"));
}

TEST_F(OutageTest, a_late_answer_is_refused_and_said_to_be) {
  const Path folder = keep_chat();
  ASSERT_FALSE(folder.empty());
  ASSERT_TRUE(eventually([&] { return answers() >= 1; }));
  hang();
  Finished late;
  EXPECT_TRUE(eventually([&] {
    late = run({.arguments = {TEND_BINARY, "ack", "1-00000000"},
                .environment = {{"TEND_INFRA", folder.string()}, {"TEND_LIFE", "1"}}});
    return late.exit == 1;
  })) << "once a question is open that it does not answer";
  EXPECT_TRUE(late.err.starts_with("tend ack: question 1-00000000 is not open, question 1-"))
      << late.err;
  EXPECT_TRUE(eventually([&] { return has_event("'1-00000000' was refused"); }));
}

TEST_F(OutageTest, senders_are_told_once_when_it_hangs_and_once_when_it_is_over) {
  const Path folder = keep_chat("deliver = true\n");
  ASSERT_FALSE(folder.empty());
  int sent = 0;
  for (; sent < 3; ++sent) EXPECT_EQ(text_in(receive(sent), "action"), "queued");
  ASSERT_TRUE(eventually([&] { return heard().size() == 3; })) << "handed over while it is well";

  hang();
  std::set<std::string> actions;
  ASSERT_TRUE(eventually([&] {
    actions.insert(text_in(receive(sent, sent % 2 == 0 ? "ann" : "bob"), "action"));
    ++sent;
    return actions.contains("auto-replied") && replies("auto-reply|ann") == 1 &&
           replies("auto-reply|bob") == 1;
  }));
  EXPECT_TRUE(await_down(folder));
  EXPECT_FALSE(read_file(folder / ".degraded").empty());
  EXPECT_TRUE(read_file(folder / ".pending-channels.json").contains("bob"));
  const auto status = tend({"gate", "status", "--agent", "chat", "--json"});
  EXPECT_TRUE(status.out.contains("degraded")) << status.out;
  for (int i = 0; i < 5; ++i) receive(sent++);

  ASSERT_TRUE(eventually([&] { return number_in(heartbeat_of(folder), "life") >= 2; }));
  for (int i = 0; i < 3; ++i) receive(sent++);
  ASSERT_TRUE(await_up(folder, number_in(heartbeat_of(folder), "life")));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_in(receive(sent++), "action"), "queued");
  ASSERT_TRUE(eventually([&] { return heard().size() == static_cast<std::size_t>(sent); }))
      << heard().size() << " of " << sent << " were heard";
  EXPECT_TRUE(eventually([&] { return replies("all-clear|ann") == 1; }));
  EXPECT_TRUE(eventually([&] { return replies("all-clear|bob") == 1; }));
  EXPECT_EQ(replies("all-clear"), 2U);
  EXPECT_EQ(replies("auto-reply|bob"), 1U) << "not more often than once a minute";
  EXPECT_TRUE(eventually([&] { return read_file(folder / ".pending-channels.json").empty(); }));
  EXPECT_TRUE(read_file(folder / ".degraded").empty());
  EXPECT_TRUE(eventually([&] {
    return tend({"gate", "list", "--agent", "chat", "--state", "done", "--json"})
        .out.contains("message number " + std::to_string(sent - 1));
  }));
}

TEST_F(OutageTest, a_new_life_that_does_not_answer_takes_no_messages) {
  write("mute", "");
  const Path folder = keep_chat();
  ASSERT_FALSE(folder.empty());
  ASSERT_TRUE(await(folder, [](const Json& says) { return text_in(says, "verdict") == "idle"; }));
  ASSERT_TRUE(kill(static_cast<pid_t>(number_in(heartbeat_of(folder), "pid"))));
  ASSERT_TRUE(await(folder, [](const Json& says) {
    return number_in(says, "life") == 2 && text_in(says, "verdict") == "idle";
  }));
  EXPECT_EQ(text_in(receive(1), "action"), "auto-replied") << "it works, and has not answered";
  std::filesystem::remove(scratch() / "mute");
  ASSERT_TRUE(await_up(folder, 2));
  EXPECT_TRUE(eventually([&] { return replies("all-clear|ann") == 1; }));
}

TEST_F(OutageTest, a_keeper_that_is_killed_in_the_middle_loses_and_doubles_nothing) {
  const Path folder = keep_chat("deliver = true\n");
  ASSERT_FALSE(folder.empty());
  ASSERT_TRUE(eventually([&] { return answers() >= 1; }));
  hang();
  ASSERT_TRUE(await_down(folder));
  int sent = 0;
  for (; sent < 4; ++sent) receive(sent);
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(kill(keeper));
  ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  ASSERT_EQ(tend({"recover"}).exit, 0);
  ASSERT_TRUE(await_up(folder, 2));
  ASSERT_TRUE(eventually([&] { return heard().size() == static_cast<std::size_t>(sent); }));
  EXPECT_TRUE(eventually([&] { return replies("all-clear|ann") == 1; }));
  for (const auto& [number, times] : heard()) EXPECT_EQ(times, 1) << number;
}

TEST_F(OutageTest, a_sender_that_cannot_be_told_is_tried_again) {
  const Path folder = keep_chat();
  ASSERT_FALSE(folder.empty());
  ASSERT_TRUE(eventually([&] { return answers() >= 1; }));
  hang();
  ASSERT_TRUE(await_down(folder));
  receive(1);
  ASSERT_EQ(replies("auto-reply|ann"), 1U);
  write("no-reply", "");
  ASSERT_TRUE(await_up(folder, 2));
  ASSERT_TRUE(eventually([&] { return has_event("a sender was not told that it is over"); }));
  EXPECT_TRUE(read_file(folder / ".pending-channels.json").contains("ann"));
  std::filesystem::remove(scratch() / "no-reply");
  EXPECT_TRUE(eventually([&] { return replies("all-clear|ann") == 1; }, 60s));
  EXPECT_TRUE(eventually([&] { return read_file(folder / ".pending-channels.json").empty(); }));
}

}  // namespace
}  // namespace tend::e2e
