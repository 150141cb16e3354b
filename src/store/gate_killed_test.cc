// The gate on a simulated machine that kills its users: all of a change happens, or nothing.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "os/sim/sim_universe.h"
#include "store/gate.h"
#include "store/gate_testing.h"
#include "store/home_database.h"
#include "store/outbox_testing.h"

namespace tend {
namespace {

/// 1 is queued, 2 taken, 3 done, 4 dead and 5 held; who sent 5 was told, and waits for the end.
class KilledUser {
 public:
  using Act = std::function<void(Gate&, WallTime)>;

  explicit KilledUser(std::uint64_t call) : call_(call) {
    for (const std::int64_t priority : {3, 2, 1, 1}) {
      Arrival arrival = arrival_of("hello");
      arrival.draft.priority = priority;
      std::ignore = gate_.receive(arrival, now_).value();
    }
    for (int i = 0; i < 3; ++i) std::ignore = gate_.next("boss", "me", now_).value();
    std::ignore = gate_.done(3, now_).value();
    std::ignore = Gate(*database_, {.most_tries = 1}).fail(4, {}, "no", now_).value();
    std::ignore = gate_.receive(arrival_while_down("help"), now_).value();
    Outbox outbox(*database_);
    std::ignore = outbox.sent(outbox.take(1, now_, kLease).value().notice, now_).value();
  }

  /// Whether the act was cut short.
  bool kills(const Act& act) {
    const auto pid = universe_.start_process("using");
    try {
      const auto its = open(universe_.machine_of(pid));
      Gate gate(*its);
      universe_.kill_at_call(pid, call_);
      act(gate, now_);
    } catch (const SimKilled&) {
      return true;
    }
    return false;
  }
  std::string all() {
    std::string text = shown(gate_.list(std::nullopt, std::nullopt, 100).value());
    text += " | " + shown(Outbox(*database_).list({}).value()) + " |";
    const std::vector<Outage> outages = gate_.open_outages().value();
    for (const Outage& each : outages) text += " " + each.agent;
    for (std::int64_t way = 1; way < 5; ++way) {
      if (gate_.find_way(way).value()) text += fmt::format(" {}", way);
    }
    const auto second = gate_.find(2).value();
    return text + fmt::format(" {}", second ? second->lease_until.time_since_epoch().count() : 0);
  }

 private:
  static std::unique_ptr<Database> open(Machine& machine) {
    const auto home = machine.folders.make("/home/user/tend").value();
    return open_home_database(machine.databases, *home).value();
  }

  SimUniverse universe_;
  std::unique_ptr<Database> database_ = open(universe_.machine());
  Gate gate_{*database_};
  WallTime now_{std::chrono::hours{24 * 20'000}};
  std::uint64_t call_;
};

Arrival from_another() {
  Arrival arrival = arrival_while_down("help");
  arrival.draft.endpoint = "chat-2";
  return arrival;
}

Arrival for_another() {
  Arrival arrival = arrival_while_down("help");
  arrival.draft.agent = "other";
  arrival.keep = false;
  return arrival;
}

TEST(GateOnASimulatedMachine, is_changed_or_as_before_wherever_its_user_is_killed) {
  const std::vector<KilledUser::Act> acts{
      [](Gate& it, WallTime now) { std::ignore = it.receive(arrival_of("a"), now); },
      [](Gate& it, WallTime now) { std::ignore = it.receive(from_another(), now); },
      [](Gate& it, WallTime now) { std::ignore = it.receive(for_another(), now); },
      [](Gate& it, WallTime now) { std::ignore = it.next("boss", "me", now); },
      [](Gate& it, WallTime now) { std::ignore = it.extend(2, 1, now + kLease); },
      [](Gate& it, WallTime now) { std::ignore = it.done(2, now); },
      [](Gate& it, WallTime now) { std::ignore = it.fail(2, 1, "no", now); },
      [](Gate& it, WallTime now) { std::ignore = it.retry(4, now); },
      [](Gate& it, WallTime now) { std::ignore = it.begin_outage("other", "", now); },
      [](Gate& it, WallTime now) { std::ignore = it.end_outage("boss", "1", now); },
      [](Gate& it, WallTime now) { std::ignore = it.prune(now + kLease); },
  };
  const std::string before = KilledUser(1).all();
  ASSERT_TRUE(
      before.starts_with("1 queued; 2 taken; 3 done; 4 dead; 5 held | "
                         "1 open sent \"down\" | boss 1 "))
      << before;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    std::uint64_t call = 1;
    for (bool killed = true; killed; ++call) {
      KilledUser user(call);
      killed = user.kills(acts[i]);
      EXPECT_EQ(user.all() == before, killed) << i << " at " << call << ": " << user.all();
    }
    EXPECT_GE(call, 3U) << i << " was never killed";
  }
}

}  // namespace
}  // namespace tend
