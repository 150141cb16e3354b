// 10,000 messages through the gate while its door, its senders and its takers are killed: none is
// lost, none is there twice, and within a priority none overtakes another of its sender.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "database_testing.h"
#include "gate_testing.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

constexpr int kSenders = 4;
constexpr int kWindow = 16;  // messages that a sender sends ahead

int messages_of_all() {
  const char* const asked = std::getenv("TEND_GATE_MESSAGES");
  return asked != nullptr ? std::atoi(asked) : 10'000;
}

class GateLoadE2e : public GateE2e {
 protected:
  [[nodiscard]] Path socket() const { return home() / "gate.sock"; }

  Json message(int sender, int number) const {
    return {{"verb", "receive"},
            {"agent", "claude"},
            {"channel", "load"},
            {"endpoint", "s" + std::to_string(sender)},
            {"priority", 1 + number % 3},
            {"key", "s" + std::to_string(sender) + "-" + std::to_string(number)},
            {"content", std::to_string(number)},
            {"ref", number}};
  }

  /// Sends all its messages, a few ahead of their answers; what was not answered when the door went
  /// away is sent again, in the same order.
  void send_all(int sender, int count) {
    int answered = 0;
    while (answered < count) {
      DoorClient client(socket());
      int sent = answered;
      bool is_open = client.is_in();
      while (is_open && answered < count) {
        while (is_open && sent < count && sent < answered + kWindow) {
          is_open = client.send(message(sender, sent++));
        }
        const Json answer = is_open ? client.hear() : Json();
        is_open = answer.is_object();
        if (!is_open) break;
        ASSERT_EQ(answer["ok"], true) << answer;
        ASSERT_EQ(number_in(answer, "ref"), answered);
        ++answered;
        if (answered % 500 == sender) break;  // and comes again: killed, as it were
      }
      if (!is_open) std::this_thread::sleep_for(20ms);
    }
  }

  /// Takes until all were done. Now and then it vanishes with what it took.
  void take_all(int taker, const std::string& count) {
    std::mt19937 chance(static_cast<unsigned>(taker));
    while (asked_of(home() / "tend.db", kDone) != count) {
      DoorClient client(socket());
      bool stays = client.is_in();
      while (stays) {
        const Json taken = client.ask({{"verb", "next"}, {"agent", "claude"}});
        stays = text_in(taken, "action") == "taken" && chance() % 200 != 0;
        if (stays)
          stays = client.ask({{"verb", "done"}, {"id", taken["message"]["id"]}}).is_object();
      }
      std::this_thread::sleep_for(20ms);
    }
  }

  /// A command that takes the next message, killed before it has it, meanwhile, or afterwards.
  void take_and_die(std::mt19937& chance) {
    const Background taker = start_tend({"gate", "next", "--agent", "claude"});
    std::this_thread::sleep_for(std::chrono::milliseconds(chance() % 40));
    taker.signal(SIGKILL);
  }

  static inline const std::string kDone = "SELECT count(*) FROM messages WHERE state = 'done'";
};

TEST_F(GateLoadE2e, loses_none_and_reorders_none_whoever_is_killed) {
  configure("[gate]\nlease = \"2s\"\nmost_tries = 100\n");
  ASSERT_EQ(tend({"gate", "list"}).exit, 0);
  const int each = messages_of_all() / kSenders;
  const int all = each * kSenders;
  std::atomic<bool> over = false;
  int killed = 0;
  std::thread deaths([&] {
    std::mt19937 chance(11);
    while (!over) {
      Background door = start_tend({"gate", "serve"});
      for (int i = 0; i < 12 && !over; ++i) {
        std::this_thread::sleep_for(250ms);
        take_and_die(chance);
      }
      door.signal(SIGKILL);
      ++killed;
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kSenders; ++i) threads.emplace_back([&, i] { send_all(i, each); });
  for (int i = 0; i < 2; ++i) threads.emplace_back([&, i] { take_all(i, std::to_string(all)); });
  for (std::thread& thread : threads) thread.join();
  over = true;
  deaths.join();
  std::cout << "the door was killed " << killed << " times\n";

  const Path database = home() / "tend.db";
  EXPECT_EQ(asked_of(database, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(asked_of(database, "SELECT count(*), count(DISTINCT key) FROM messages"),
            std::to_string(all) + " " + std::to_string(all));
  EXPECT_EQ(asked_of(database, kDone), std::to_string(all));
  // The next is always the lowest number of its priority, so its sender's order is that of the
  // numbers.
  EXPECT_EQ(asked_of(database,
                     "SELECT count(*) FROM messages a JOIN messages b ON a.endpoint = b.endpoint "
                     "AND a.priority = b.priority AND CAST(b.content AS INTEGER) = "
                     "CAST(a.content AS INTEGER) + 3 WHERE b.id < a.id"),
            "0");
}

TEST_F(GateLoadE2e, hands_out_in_order_what_killed_commands_put_in) {
  std::mt19937 chance(7);
  std::vector<Background> senders;
  constexpr int kMessages = 60;
  for (int i = 0; i < kMessages; ++i) {
    const Arguments words{"gate",
                          "receive",
                          "-c",
                          "c",
                          "-e",
                          "e",
                          "--content",
                          "x",
                          "--priority",
                          std::to_string(1 + i % 3),
                          "--idempotency-key",
                          std::to_string(i)};
    {
      const Background sender = start_tend(words);
      std::this_thread::sleep_for(std::chrono::milliseconds(chance() % 30));
      sender.signal(SIGKILL);
    }
    ASSERT_EQ(tend(words).exit, 0);
  }
  std::map<long, long> last;  // by priority
  long priority = 1;
  for (int i = 0; i < kMessages; ++i) {
    const Json taken = next();
    const long now = number_in(taken["message"], "priority");
    EXPECT_GE(now, priority);
    priority = now;
    EXPECT_GT(number_in(taken["message"], "id"), last[now]);
    last[now] = number_in(taken["message"], "id");
  }
  next(1);
}

}  // namespace
}  // namespace tend::e2e
