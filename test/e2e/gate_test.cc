// The gate with the built program: messages in and out, whoever is down, killed, or says nonsense.
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "gate_testing.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

// --- Normal -------------------------------------------------------------------------------------

TEST_F(GateE2e, a_message_is_received_taken_and_done) {
  const Json received = receive();
  EXPECT_EQ(text_in(received, "action"), "queued");
  EXPECT_EQ(number_in(received, "id"), 1);
  const Json taken = next();
  EXPECT_EQ(text_in(taken["message"], "content"), "hello");
  EXPECT_EQ(text_in(taken["message"], "channel"), "telegram");
  EXPECT_EQ(text_in(next(1), "action"), "none") << "it is somebody's";
  EXPECT_EQ(text_in(answer_of({"gate", "fail", "1", "--error", "busy", "--json"}), "action"),
            "queued");
  EXPECT_EQ(number_in(next()["message"], "tries"), 2);
  EXPECT_EQ(text_in(answer_of({"gate", "done", "1", "--json"}), "action"), "done");
  EXPECT_EQ(text_in(next(1), "action"), "none");
  EXPECT_TRUE(status()["agents"].empty()) << "nothing is left to do";
}

TEST_F(GateE2e, messages_come_by_priority_and_age_each_once) {
  for (const char* const priority : {"3", "1", "2", "3", "1"}) receive({"--priority", priority});
  EXPECT_EQ(text_in(receive({"--idempotency-key", "k"}), "action"), "queued");
  const Json again = receive({"--idempotency-key", "k"});
  EXPECT_EQ(text_in(again, "action"), "duplicate");
  EXPECT_EQ(number_in(again, "id"), 6);
  for (const long id : {2, 5, 3, 1, 4, 6}) EXPECT_EQ(number_in(next()["message"], "id"), id);
  next(1);
}

TEST_F(GateE2e, a_lease_that_ran_out_brings_a_message_back) {
  configure("[gate]\nlease = \"1s\"\n");
  receive();
  EXPECT_EQ(number_in(next()["message"], "id"), 1);
  const Json again = answer_of({"gate", "next", "--wait=20s", "--json"});
  EXPECT_EQ(number_in(again["message"], "id"), 1);
  EXPECT_EQ(number_in(again["message"], "tries"), 2);
}

TEST_F(GateE2e, whoever_waits_gets_the_message_that_comes) {
  auto waiting = start_tend({"gate", "next", "--wait", "--json"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(home() / "tend.db"); }));
  receive();
  const Finished got = waiting.wait();
  EXPECT_EQ(got.exit, 0) << got.err;
  EXPECT_EQ(number_in(Json::parse(got.out, nullptr, false)["message"], "id"), 1);
}

TEST_F(GateE2e, standard_input_is_taken_whole_and_within_a_bound) {
  receive({"-"}, 0, "one\ntwo\n");
  EXPECT_EQ(text_in(next()["message"], "content"), "one\ntwo\n");
  const Finished large =
      tend({"gate", "receive", "-c", "c", "-e", "e", "-"}, std::string(10 * 1024 * 1024, 'x'));
  EXPECT_EQ(large.exit, 2);
  EXPECT_EQ(large.err,
            "tend gate receive: the message has 10485760 bytes; at most 1000000 are allowed\n");
  EXPECT_EQ(text_in(receive({"-"}, 0, std::string(1'000'000, 'y')), "action"), "queued");
  const Json bad = receive({"-"}, 2, "a\xff");
  EXPECT_EQ(text_in(bad["error"], "code"), "not-utf8");
  EXPECT_EQ(text_in(receive({"-"}, 2, std::string("a\0b", 3))["error"], "code"), "has-nul");
}

TEST_F(GateE2e, a_kept_agent_takes_its_own_messages) {
  const Path done = scratch() / "done";
  const std::string script =
      R"("$1" gate next --wait=20s --json >"$2.next" && "$1" gate done 1 && touch "$2"; sleep 60)";
  const Path folder =
      keep({"--name", "claude"}, {"sh", "-c", script, "sh", TEND_BINARY, done.string()});
  ASSERT_TRUE(await(folder, [](const Json& says) { return number_in(says, "life") == 1; }));
  EXPECT_EQ(text_in(receive(), "agent"), "claude");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(done); }));
  const Json taken = Json::parse(read_file(done.string() + ".next"), nullptr, false);
  EXPECT_EQ(text_in(taken["message"], "holder"), "claude (life 1)");
  const auto said = json_lines(folder / "signals.jsonl");
  EXPECT_TRUE(std::ranges::any_of(said, [](const Json& line) {
    return text_in(line, "is") == "inbox" && line["waiting"] == 0;
  }));
}

TEST_F(GateE2e, a_script_that_other_systems_know_answers_and_leaves_their_file) {
  const std::string script = std::string(TEND_SOURCE_DIR) + "/compat/heartbeat-ack.sh";
  const Path bin = scratch() / "bin";
  std::filesystem::create_directories(bin);
  std::filesystem::create_symlink(TEND_BINARY, bin / "tend");
  const Path file = scratch() / "ack";
  const std::string answers =
      R"(PATH="$1:$PATH" HEARTBEAT_ACK_FILE="$2" sh "$3"; echo $? >"$2.exit"; sleep 60)";
  const Path folder =
      keep({"--name", "claude"}, {"sh", "-c", answers, "sh", bin.string(), file.string(), script});
  ASSERT_TRUE(eventually([&] { return read_file(file.string() + ".exit") == "0\n"; }));
  const Json left = Json::parse(read_file(file), nullptr, false);
  EXPECT_GT(number_in(left, "ack_at"), 0);
  EXPECT_EQ(text_in(left, "status"), "alive");
  EXPECT_TRUE(std::ranges::any_of(json_lines(folder / "signals.jsonl"),
                                  [](const Json& line) { return text_in(line, "is") == "ack"; }));
}

// --- Down ---------------------------------------------------------------------------------------

TEST_F(GateE2e, the_sender_is_told_at_once_and_told_again_when_it_is_over) {
  have_a_dead_agent();
  const Json held = receive(noting());
  EXPECT_EQ(text_in(held, "action"), "auto-replied");
  EXPECT_EQ(text_in(held, "reply"), "sent");
  EXPECT_EQ(text_in(held, "state"), "held");
  EXPECT_TRUE(read_file(told()).starts_with("auto-reply 42 ")) << read_file(told());
  EXPECT_EQ(text_in(receive(), "action"), "held");
  next(1);
  const Json one = status()["agents"][0];
  EXPECT_EQ(text_in(one, "mode"), "degraded");
  EXPECT_EQ(number_in(one, "held"), 2);
  EXPECT_EQ(one["pending_channels"].size(), 1U);
  EXPECT_EQ(tend({"gate", "release"}).exit, 1);
  const Json released = answer_of({"gate", "release", "--force", "--json"});
  EXPECT_EQ(number_in(released, "released"), 2);
  EXPECT_EQ(number_in(released, "heard"), 1);
  const auto lines = lines_of(read_file(told()));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[1].starts_with("all-clear 42 ")) << lines[1];
  EXPECT_EQ(number_in(next()["message"], "id"), 1);
  EXPECT_EQ(number_in(next()["message"], "id"), 2);
}

TEST_F(GateE2e, a_message_may_be_rejected_and_its_sender_told) {
  configure("[gate]\ndegraded = \"reject\"\nlanguage = \"zh\"\n");
  have_a_dead_agent();
  const Json rejected = receive(noting());
  EXPECT_EQ(text_in(rejected, "action"), "rejected");
  EXPECT_TRUE(rejected["id"].is_null());
  EXPECT_EQ(read_file(told()), "auto-reply 42 系统异常，正在尝试恢复\n");
  EXPECT_EQ(tend({"gate", "list"}).out, "no messages\n");
  answer_of({"gate", "release", "--force", "--json"});
  EXPECT_TRUE(read_file(told()).ends_with("all-clear 42 系统已恢复正常\n"));
}

TEST_F(GateE2e, a_reply_command_that_fails_or_is_not_there_holds_nothing_up) {
  have_a_dead_agent();
  const Json failed = receive({"--reply-with", "sh -c 'echo no such chat >&2; exit 3'"});
  EXPECT_EQ(text_in(failed, "action"), "auto-replied");
  EXPECT_EQ(text_in(failed, "reply"), "waiting");
  EXPECT_EQ(text_in(failed, "reply_error"), "'sh' exited with 3: no such chat");
  const Json missing = receive({"--endpoint", "43", "--reply-with", "/no/such/command {text}"});
  EXPECT_EQ(text_in(missing, "reply"), "waiting");
  EXPECT_TRUE(text_in(missing, "reply_error").contains("/no/such/command")) << missing;
  const Finished outbox = tend({"outbox"});
  EXPECT_TRUE(outbox.out.contains("telegram 42")) << outbox.out;
  EXPECT_TRUE(outbox.out.contains("telegram 43")) << outbox.out;
}

TEST_F(GateE2e, a_reply_command_that_hangs_is_ended) {
  have_a_dead_agent();
  auto hangs = start_tend({"gate", "receive", "-c", "telegram", "-e", "42", "--json", "--content",
                           "x", "--reply-with", "sleep 1000"});
  // The message is safe long before that.
  EXPECT_TRUE(eventually([&] { return tend({"gate", "list"}).out.contains("held"); }));
  const Finished ended = hangs.wait(90s);
  EXPECT_EQ(ended.exit, 0) << ended.err;
  const Json json = Json::parse(ended.out, nullptr, false);
  EXPECT_EQ(text_in(json, "reply"), "waiting");
  EXPECT_EQ(text_in(json, "reply_error"), "'sleep' did not end within 30 s and was ended");
}

TEST_F(GateE2e, the_patrol_tells_of_messages_that_nobody_will_take) {
  receive({"--agent", "nobody"});
  for (int i = 0; i < 5; ++i) {
    answer_of({"gate", "next", "--agent", "nobody", "--json"});
    answer_of({"gate", "fail", "1", "--json"});
  }
  const Finished patrol = tend({"patrol", "--once"});
  EXPECT_EQ(patrol.exit, 3) << patrol.out << patrol.err;
  EXPECT_TRUE(patrol.out.contains("messages were given up: for nobody")) << patrol.out;
  EXPECT_EQ(tend({"gate", "status"}).exit, 3);
}

// --- The door -----------------------------------------------------------------------------------

class GateDoorE2e : public GateE2e {
 protected:
  [[nodiscard]] Path socket() const { return home() / "gate.sock"; }
  Background open_door() {
    Background door = start_tend({"gate", "serve"});
    EXPECT_TRUE(eventually([&] { return door.out().contains("gate is open") || door.is_over(); }));
    EXPECT_FALSE(door.is_over()) << door.err();
    return door;
  }
  static Json message(const std::string& content) {
    return {{"verb", "receive"}, {"channel", "c"}, {"endpoint", "e"}, {"content", content}};
  }
};

TEST_F(GateDoorE2e, several_clients_are_answered_each_in_order) {
  Background door = open_door();
  struct stat facts{};
  ASSERT_EQ(::lstat(socket().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  DoorClient one(socket());
  DoorClient other(socket());
  std::string ahead;
  for (int i = 0; i < 50; ++i) {
    Json request = message(std::to_string(i));
    request["ref"] = i;
    ahead += request.dump() + "\n";
  }
  ASSERT_TRUE(one.send(ahead));
  EXPECT_EQ(text_in(other.ask(message("from the other")), "action"), "queued");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(number_in(one.hear(), "ref"), i);
  EXPECT_EQ(one.ask("no object")["ok"], false);
  EXPECT_EQ(text_in(one.ask({{"verb", "next"}}), "action"), "taken");
  std::ignore = other.send(std::string(7'000'000, 'x'));  // which is not read to its end
  EXPECT_EQ(text_in(other.hear()["error"], "code"), "too-large");
  EXPECT_TRUE(other.hear().is_null()) << "closed";
  const Finished second = tend({"gate", "serve"});
  EXPECT_EQ(second.exit, 1);
  EXPECT_TRUE(second.err.contains("another process is the door of this home")) << second.err;
  door.signal(SIGTERM);
  EXPECT_EQ(door.wait().exit, 0);
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(GateDoorE2e, a_socket_that_was_left_is_replaced) {
  {
    const Background door = open_door();
    door.signal(SIGKILL);
  }
  EXPECT_TRUE(std::filesystem::exists(socket()));
  EXPECT_FALSE(DoorClient(socket()).is_in());
  const Background door = open_door();
  EXPECT_EQ(text_in(DoorClient(socket()).ask(message("x")), "action"), "queued");
}

TEST_F(GateDoorE2e, a_path_that_is_too_long_is_refused) {
  const Finished refused =
      tend({"gate", "serve", "--socket", (scratch() / std::string(100, 's')).string()});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(refused.err.contains("it may have up to 100 bytes")) << refused.err;
}

TEST_F(GateDoorE2e, senders_are_told_in_the_background) {
  have_a_dead_agent();
  const Background door = open_door();
  DoorClient client(socket());
  Json request = message("x");
  request["reply_with"] = {"sh", "-c", R"(cat >>"$0")", told().string()};
  const Json answer = client.ask(request);
  EXPECT_EQ(text_in(answer, "action"), "auto-replied");
  EXPECT_EQ(text_in(answer, "reply"), "waiting");
  EXPECT_TRUE(eventually([&] { return !read_file(told()).empty(); }));
}

}  // namespace
}  // namespace tend::e2e
