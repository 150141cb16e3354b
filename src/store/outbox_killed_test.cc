// The outbox on a simulated machine that kills its users: all of a change happens, or nothing.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <tuple>

#include <fmt/format.h>

#include "os/sim/sim_universe.h"
#include "store/home_database.h"
#include "store/outbox.h"
#include "store/outbox_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// Four incidents, one in each state that something can be done to: 1 waits, 2 is being sent with 3
/// behind it, 4 is sent and 5 dead.
class KilledUser {
 public:
  using Act = std::function<void(Outbox&, WallTime)>;

  explicit KilledUser(std::uint64_t call) : call_(call) {
    put("waits", "1");
    put("flies", "1");
    std::ignore = outbox_.take(2, now_, kLease).value();
    put("flies", "2");
    put("told", "1");
    std::ignore = outbox_.sent(outbox_.take(4, now_, kLease).value().notice, now_).value();
    put("dead", "1");
    Outbox hasty(*database_, {.most_tries = 1});
    const Notice held = hasty.take(5, now_, kLease).value().notice;
    std::ignore = hasty.failed(held, "no", now_, 0).value();
  }

  /// Whether the act was cut short.
  bool kills(const Act& act) {
    const auto pid = universe_.start_process("using");
    try {
      const auto its = open(universe_.machine_of(pid));
      Outbox outbox(*its);
      universe_.kill_at_call(pid, call_);
      act(outbox, now_);
    } catch (const SimKilled&) {
      return true;
    }
    return false;
  }
  std::string all() { return shown(outbox_.list({}).value()); }

 private:
  static std::unique_ptr<Database> open(Machine& machine) {
    const auto home = machine.folders.make("/home/user/tend").value();
    return open_home_database(machine.databases, *home).value();
  }
  void put(const char* key, const char* payload) {
    std::ignore = outbox_.put("hook", key, payload, now_).value();
  }

  SimUniverse universe_;
  std::unique_ptr<Database> database_ = open(universe_.machine());
  Outbox outbox_{*database_};
  WallTime now_{std::chrono::hours{24 * 20'000}};
  std::uint64_t call_;
};

TEST(OutboxOnASimulatedMachine, is_changed_or_as_before_wherever_its_user_is_killed) {
  const std::vector<KilledUser::Act> acts{
      [](Outbox& it, WallTime now) { std::ignore = it.put("hook", "new", "1", now); },
      [](Outbox& it, WallTime now) { std::ignore = it.put("hook", "waits", "2", now); },
      [](Outbox& it, WallTime now) { std::ignore = it.put("hook", "told", "2", now); },
      [](Outbox& it, WallTime now) { std::ignore = it.close("waits", {}, now); },
      [](Outbox& it, WallTime now) { std::ignore = it.close("flies", {}, now); },
      [](Outbox& it, WallTime now) { std::ignore = it.close("told", {}, now); },
      [](Outbox& it, WallTime now) { std::ignore = it.take(1, now, kLease); },
      [](Outbox& it, WallTime now) { std::ignore = it.sent({.id = 2, .payload = "1"}, now); },
      [](Outbox& it, WallTime now) { std::ignore = it.failed({.id = 2, .tries = 1}, "", now, 0); },
      [](Outbox& it, WallTime now) { std::ignore = it.retry(5, now); },
      [](Outbox& it, WallTime now) { std::ignore = it.retry_all(now); },
  };
  const std::string before = KilledUser(1).all();
  ASSERT_EQ(before,
            "1 open waiting 1; 2 open sending 1; 3 update waiting 2; 4 open sent 1; 5 open dead 1");
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
