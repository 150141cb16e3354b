// The door of the gate on a simulated machine: several clients, all kinds of lines, and its bounds.
#include "app/gate_door.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kHome = "/home/user/tend";
constexpr const char* kSocket = "/home/user/tend/gate.sock";

/// Somebody at the door, in the test's own process.
class Visitor {
 public:
  explicit Visitor(Machine& machine) : machine_(machine) {
    auto connection = machine.sockets.connect(kSocket);
    if (!connection) return;
    connection_ = *std::move(connection);
    listen();
  }

  void send(std::string text) {
    unsent_ += text;
    if (!writing_) write();
  }
  void go() {
    reading_.reset();
    writing_.reset();
    connection_.reset();
  }
  [[nodiscard]] bool is_in() const { return connection_ != nullptr; }
  [[nodiscard]] bool was_closed() const { return closed_; }
  [[nodiscard]] std::vector<Json> answers() const {
    std::vector<Json> all;
    std::istringstream lines(heard_);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }

 private:
  void listen() {
    reading_ = connection_->read([this](std::string_view piece) {
      heard_ += piece;
      closed_ = piece.empty();
      if (!closed_) listen();
    });
  }
  void write() {
    writing_ = connection_->write(std::exchange(unsent_, {}), [this](bool) {
      writing_.reset();
      if (!unsent_.empty()) write();
    });
  }

  Machine& machine_;
  std::unique_ptr<Connection> connection_;
  std::string heard_;
  std::string unsent_;
  bool closed_ = false;
  Subscribed reading_;
  Subscribed writing_;
};

class GateDoorTest : public testing::Test {
 protected:
  GateDoorTest() {
    universe.disk.make_folder(kHome);
    universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      ran.push_back(fmt::format("{}", fmt::join(run.command, " ")));
      return answer;
    };
    door = start();
    universe.run_for(1s);
  }

  std::int64_t start() {
    struct Served {
      std::unique_ptr<Folder> home;
      std::unique_ptr<GateDesk> desk;
      std::unique_ptr<GateDoor> door;
    };
    return universe.start_program("door", [this](Machine& machine) -> std::shared_ptr<void> {
      auto served = std::make_shared<Served>();
      served->home = *machine.folders.open(kHome);
      GateSettings settings;
      settings.texts["en"] = {.degraded = "down", .recovered = "well"};
      served->desk = std::make_unique<GateDesk>(machine, *served->home, settings);
      served->door = std::make_unique<GateDoor>(
          machine, *served->home, *served->desk,
          GateDoor::Settings{.socket = kSocket,
                             .program = {},
                             .say = [this](const std::string& line) { said.push_back(line); }});
      const auto opened = served->door->open();
      problem = opened ? "" : opened.error().text;
      if (!opened) machine.loop.stop();
      return served;
    });
  }
  std::unique_ptr<Visitor> come() { return std::make_unique<Visitor>(universe.machine()); }
  void pass() { universe.run_for(1s); }
  static std::string message(int number, std::string_view more = "") {
    return fmt::format(
        R"({{"verb":"receive","ref":{},"channel":"sms","endpoint":"7","content":"m{}"{}}})"
        "\n",
        number, number, more);
  }
  Json only_answer(const std::string& line) {
    const auto visitor = come();
    visitor->send(line);
    pass();
    const auto answers = visitor->answers();
    EXPECT_EQ(answers.size(), 1U) << line;
    return answers.empty() ? Json() : answers[0];
  }
  std::string error(const std::string& line) {
    const Json no = only_answer(line);
    EXPECT_EQ(no["ok"], false);
    EXPECT_EQ(no["error"]["code"], "bad-request");
    return no["error"]["message"];
  }

  SimUniverse universe{1};
  SimAnswer answer{.takes = 1s};
  std::vector<std::string> ran;
  std::vector<std::string> said;
  std::string problem;
  std::int64_t door = 0;
};

TEST_F(GateDoorTest, answers_as_the_commands_do_and_gives_the_ref_back) {
  EXPECT_EQ(only_answer(message(1)),
            Json::parse(R"({"ref":1,"ok":true,"action":"queued","id":1,"agent":"",)"
                        R"("state":"queued","mode":"normal","reply":"none"})"));
  const Json taken = only_answer("{\"verb\":\"next\",\"holder\":\"bridge\"}\n");
  EXPECT_EQ(taken["message"]["content"], "m1");
  EXPECT_EQ(taken["message"]["holder"], "bridge");
  EXPECT_EQ(only_answer("{\"verb\":\"fail\",\"id\":1,\"tries\":1}\n")["action"], "queued");
  EXPECT_EQ(only_answer("{\"verb\":\"next\",\"ref\":\"r\"}\n")["ref"], "r");
  EXPECT_EQ(only_answer("{\"verb\":\"done\",\"id\":1}\n")["action"], "done");
  EXPECT_EQ(only_answer("{\"verb\":\"retry\",\"id\":1}\n")["action"], "as-before");
  EXPECT_EQ(only_answer("{\"verb\":\"done\",\"id\":9}\n")["error"]["code"], "no-such-message");
  EXPECT_EQ(only_answer("{\"verb\":\"status\"}\n")["ok"], true);
  EXPECT_EQ(only_answer("{\"verb\":\"resume\"}\n")["error"]["code"], "no-such-agent");
}

TEST_F(GateDoorTest, answers_each_client_in_order_and_all_of_them) {
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 5; ++i) visitors.push_back(come());
  for (int i = 0; i < 100; ++i) {
    for (const auto& visitor : visitors) visitor->send(message(i));
  }
  universe.run_for(10s);
  std::set<std::int64_t> ids;
  for (const auto& visitor : visitors) {
    const auto answers = visitor->answers();
    ASSERT_EQ(answers.size(), 100U);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(answers[static_cast<std::size_t>(i)]["ref"], i);
      ids.insert(answers[static_cast<std::size_t>(i)]["id"].get<std::int64_t>());
    }
  }
  EXPECT_EQ(ids.size(), 500U);
}

TEST_F(GateDoorTest, goes_on_after_a_bad_line) {
  const auto visitor = come();
  visitor->send("nonsense\n\n[1]\n" + message(4));
  pass();
  const auto answers = visitor->answers();
  ASSERT_EQ(answers.size(), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)]["ok"], false);
  EXPECT_EQ(answers[3]["action"], "queued");
  EXPECT_FALSE(visitor->was_closed());
}

TEST_F(GateDoorTest, says_what_is_wrong_with_a_request) {
  EXPECT_EQ(error("\xff\n"), "the line is not valid UTF-8");
  EXPECT_EQ(error("7\n"), "the line is not one JSON object");
  EXPECT_EQ(error("{}\n"),
            "verb is receive, next, done, fail, retry, status or resume, and is missing");
  EXPECT_EQ(error("{\"verb\":\"eat\"}\n"),
            "verb is receive, next, done, fail, retry, status or resume, not 'eat'");
  EXPECT_EQ(error("{\"verb\":7}\n"), "verb has to be a text");
  EXPECT_EQ(error("{\"verb\":\"status\",\"ref\":{}}\n"),
            "ref has to be a number, or a text of up to 1000 bytes");
  EXPECT_EQ(error("{\"verb\":\"done\"}\n"), "id has to be the number of a message");
  EXPECT_EQ(error("{\"verb\":\"done\",\"id\":\"1\"}\n"), "id has to be a whole number");
  EXPECT_EQ(error("{\"verb\":\"receive\",\"channel\":\"c\",\"endpoint\":\"e\"}\n"),
            "content is missing");
  EXPECT_EQ(error(message(1, R"(,"reply_with":[1])")),
            "reply_with has to be a text or a list of texts");
  EXPECT_EQ(error(message(1, R"(,"no_reply":1)")), "no_reply has to be true or false");
  EXPECT_EQ(error(message(1, R"(,"idempotency_key":"k")")),
            "there is no field 'idempotency_key'; there are: agent, channel, endpoint, content, "
            "priority, key, reply_with, no_reply, language");
  EXPECT_EQ(error("{\"verb\":\"done\",\"id\":1,\"error\":\"x\"}\n"),
            "there is no field 'error'; there are: id");
}

TEST_F(GateDoorTest, takes_a_last_line_without_an_end_only_if_it_is_whole) {
  auto visitor = come();
  visitor->send("{\"verb\":\"receive\",\"channel\":\"c\",\"endpoint\":\"e\",\"cont");
  pass();
  visitor->go();
  pass();
  EXPECT_EQ(only_answer("{\"verb\":\"status\"}\n")["agents"], Json::array());
}

TEST_F(GateDoorTest, closes_after_a_line_that_is_too_long) {
  const auto visitor = come();
  visitor->send(std::string(GateDoor::kLongestLine + 100, 'x'));
  universe.run_for(10s);
  const auto answers = visitor->answers();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["error"]["code"], "too-large");
  EXPECT_TRUE(visitor->was_closed());
  EXPECT_TRUE(universe.runs(door));
}

TEST_F(GateDoorTest, turns_away_who_is_too_many) {
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (std::size_t i = 0; i < GateDoor::kMostClients; ++i) visitors.push_back(come());
  pass();
  const auto late = come();
  pass();
  ASSERT_EQ(late->answers().size(), 1U);
  EXPECT_EQ(late->answers()[0]["error"]["code"], "busy");
  EXPECT_TRUE(late->was_closed());
  visitors.pop_back();
  pass();
  EXPECT_EQ(only_answer(message(1))["action"], "queued");
}

TEST_F(GateDoorTest, closes_who_says_nothing_for_long) {
  const auto silent = come();
  const auto talks = come();
  for (int i = 0; i < 4; ++i) {
    universe.run_for(4min);
    talks->send(message(i));
    pass();
  }
  EXPECT_TRUE(silent->was_closed());
  EXPECT_FALSE(talks->was_closed());
  EXPECT_EQ(talks->answers().size(), 4U);
}

TEST_F(GateDoorTest, is_the_only_one_of_its_home) {
  const std::int64_t second = start();
  pass();
  EXPECT_FALSE(universe.runs(second));
  EXPECT_EQ(problem, fmt::format("another process is the door of this home: process {} at {}", door,
                                 kSocket));
  EXPECT_EQ(only_answer(message(1))["action"], "queued") << "the first goes on";
}

TEST_F(GateDoorTest, is_opened_again_after_a_kill) {
  only_answer(message(1));
  universe.kill(door);
  EXPECT_FALSE(come()->is_in());
  door = start();
  pass();
  EXPECT_EQ(problem, "");
  EXPECT_EQ(only_answer(message(2))["id"], 2);
}

TEST_F(GateDoorTest, ends_when_it_is_asked_to) {
  const auto visitor = come();
  pass();
  universe.order(door, Order::terminate);
  pass();
  EXPECT_FALSE(universe.runs(door));
  EXPECT_TRUE(visitor->was_closed());
  EXPECT_FALSE(universe.disk.read(kSocket));
}

}  // namespace
}  // namespace tend
