// Long lives by chance: an agent that works, beats, speaks, asks, hangs, dies and ends, a person
// who pauses it, a machine that sleeps and is started anew, keepers that are stopped and killed at
// any call. Through all of it a replay of the journal has to decide what the keeper decided, there
// is never more than one agent, and nobody is ended who showed anything lately.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestLimit = 60s;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return (state_ >> 11U) % bound;
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  Duration upto(Duration most) {
    return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most.count())) + 1)};
  }

 private:
  std::uint64_t state_;
};

class Life {
 public:
  explicit Life(std::uint64_t seed) : kept(seed), chance(seed) {
    kept.be_patient_as_with_an_agent();
    Limits& limits = kept.policy.limits;
    limits.start = limits.model = limits.tool = limits.idle = kShortestLimit;
    limits.confirm = chance.one_in(2) ? 30s : 1s;
    limits.beats = {.suspect = kShortestLimit, .stalled = 2 * kShortestLimit};
    if (chance.one_in(4)) kept.policy.direct = true;
    if (chance.one_in(3)) kept.agent.restart = RestartPolicy::always;
    if (chance.one_in(5)) kept.agent.on_stall = OnStall::kill;
    if (chance.one_in(3)) kept.universe.hints = SimHints::lossy;
    if (chance.one_in(6)) kept.universe.hints = SimHints::none;
    if (chance.one_in(2)) {
      kept.agent.worktree = "/home/user/work";
      kept.universe.repositories["/home/user/work"] = {};
      kept.universe.version_control_takes = chance.upto(20s);
    }
    kept.agent.notify = {"tell-me"};
    kept.universe.answers["tell-me"] = {.takes = chance.upto(40s)};
    kept.universe.behaviours["tool"] = [](SimSelf& self) { self.slow_to_end(1s); };
    kept.universe.behaviours["worker"] = [this](SimSelf& self) { begin(self); };
  }

  Kept kept;
  Chance chance;
  bool ordered_to_stop = false;

  /// Nobody was asked to end who had shown a real sign within the shortest limit.
  void check_kills() {
    const auto& sent = kept.universe.sent();
    for (; checked_ < sent.size(); ++checked_) {
      const SimSent& one = sent[checked_];
      // The first signal of an ending: what it prints after that is its goodbye.
      if (one.kill != Kill::interrupt || ordered_to_stop || one.to != newest_) continue;
      const auto after = std::ranges::upper_bound(shown_, one.at);
      ASSERT_NE(after, shown_.begin());
      EXPECT_GE(one.at - *(after - 1), kShortestLimit) << "killed while it worked";
    }
  }

 private:
  void begin(SimSelf& self) {
    EXPECT_EQ(kept.workers().size(), 1U) << "two at once";
    newest_ = self.id();
    shown_ = {self.now()};
    if (chance.one_in(4)) self.slow_to_end(chance.upto(20s));
    if (chance.one_in(4)) self.spawn({.command = {"tool"}, .environment = {}});
    go_on(self);
  }

  void go_on(SimSelf& self) {
    self.after(chance.upto(chance.one_in(10) ? 300s : 20s), [this](SimSelf& me) {
      if (do_something(me)) go_on(me);
    });
  }

  void say(SimSelf& self, const std::string& line) {
    const std::string life = chance.one_in(2) ? ",\"life\":" + *self.variable("TEND_LIFE") : "";
    self.append(kept.path("signals.jsonl"), "{" + line + life + "}\n");
  }

  /// False if that was the last thing.
  bool do_something(SimSelf& self) {
    const auto id = [this] { return "\"id\":\"" + std::to_string(chance.below(3)) + "\""; };
    switch (chance.below(24)) {
      case 0:
        self.exit(chance.one_in(2) ? 0 : 3);
        return false;
      case 1:
        self.crash(11);
        return false;
      case 2:
        return chance.one_in(3);  // hangs
      case 3:
        self.touch(kept.path(".beat"));
        return true;
      case 4:
        say(self, R"("is":"tool-open","tool":"Bash","limit":)" +
                      std::to_string(60 + chance.below(200)) + "," + id());
        break;
      case 5:
        say(self, R"("is":"tool-close",)" + id());
        break;
      case 6:
        say(self, R"("is":"turn-end")");
        break;
      case 7:
        say(self, R"("is":"turn-start")");
        break;
      case 8:
        say(self, R"("is":"ask",)" + id());
        break;
      case 9:
        say(self, R"("is":"answer",)" + id());
        break;
      case 10: {
        const std::array states{"working", "idle", "exiting", "stuck"};
        const std::string state = states[chance.below(4)];
        say(self, R"("is":"state","state":")" + state + "\"");
        // Whoever says so has to go in time, whatever else it shows.
        if (state == "exiting") newest_ = {};
        return true;
      }
      case 11:
        say(self, R"("is":"retry","cause":"rate","until":)" +
                      std::to_string(self.now().time_since_epoch() / 1s + 100));
        break;
      case 12:
        self.append(kept.path("signals.jsonl"), chance.one_in(2) ? "junk\n" : "{\"is\":\"kil\n");
        return true;
      case 13:
        self.complain("warning\n");
        return true;
      case 14:
        self.use_cpu(10s);
        return true;
      case 15:
        if (kept.agent.worktree.empty()) return true;
        self.write("/home/user/work/f" + std::to_string(chance.below(9)), std::to_string(++lines_));
        return true;  // seen only near a limit
      case 16:
        self.print("the same\n");
        return true;
      default:
        self.print("line " + std::to_string(++lines_) + "\n");
        break;
    }
    if (!kept.universe.disk.room) shown_.push_back(self.now());  // else it is lost on the way
    return true;
  }

  std::uint64_t lines_ = 0;
  std::size_t checked_ = 0;
  ProcessId newest_;
  std::vector<Instant> shown_;  // real signs of the newest life
};

/// One thing that happens to the agent's surroundings.
void happen(Life& life) {
  Kept& kept = life.kept;
  Chance& chance = life.chance;
  SimUniverse& universe = kept.universe;
  const bool kept_now = universe.runs(kept.keeper);
  switch (chance.below(12)) {
    case 0:
      kept.say({.want = chance.one_in(2) ? Want::pause : Want::run,
                .by = "a test",
                .at = static_cast<double>(chance.below(1'000'000))});
      break;
    case 1:
      universe.sleep_machine(chance.upto(chance.one_in(2) ? 5s : 1h));
      break;
    case 2:
      if (!kept_now) break;
      universe.pause(kept.keeper);
      universe.run_for(chance.upto(chance.one_in(2) ? 5s : 10min));
      if (universe.runs(kept.keeper)) universe.go_on(kept.keeper);
      break;
    case 3:
      universe.step_wall(chance.upto(2h) - 1h);
      break;
    case 4:
      if (kept_now) universe.kill(kept.keeper);
      universe.run_for(chance.upto(chance.one_in(2) ? 5s : 5min));
      kept.start_keeper();
      break;
    case 5:
      if (!kept_now) break;
      universe.kill_at_call(kept.keeper, 1 + chance.below(200));
      universe.run_until([&] { return !universe.runs(kept.keeper); }, 10min);
      universe.run_for(chance.upto(5s));
      if (!universe.runs(kept.keeper)) kept.start_keeper();
      break;
    case 6:
      kept.check_replay();
      universe.reboot();
      kept.start_keeper();
      break;
    case 7:
      if (!kept_now) break;
      kept.check_replay();
      universe.order(kept.keeper, Order::hang_up);
      universe.run_for(10ms);
      kept.policy.limits.model = kShortestLimit + chance.upto(60s);
      kept.start_keeper();
      break;
    case 8:
      universe.disk.room = 0;
      universe.run_for(chance.upto(3min));
      universe.disk.room.reset();
      universe.run_for(35s);  // what could not be written is written now
      break;
    case 9:
      universe.looking_fails = "Permission denied";
      universe.run_for(chance.upto(3min));
      universe.looking_fails.clear();
      break;
    default:
      break;
  }
}

void live(std::uint64_t seed) {
  Life life(seed);
  Kept& kept = life.kept;
  kept.start_keeper();
  const std::uint64_t events = 5 + life.chance.below(25);
  for (std::uint64_t i = 0; i < events && !kept.over(); ++i) {
    kept.universe.run_for(life.chance.upto(life.chance.one_in(3) ? 20min : 2min));
    happen(life);
    EXPECT_EQ(kept.problem, "");
    life.check_kills();
    if (testing::Test::HasFailure()) break;
  }
  kept.universe.run_for(40s);
  kept.check_replay();
  if (!testing::Test::HasFailure() && !kept.over()) {
    life.ordered_to_stop = true;
    kept.say({.want = Want::stop, .by = "the end", .at = 1});
    if (!kept.universe.runs(kept.keeper)) kept.start_keeper();
    kept.universe.run_for(5min);
    EXPECT_TRUE(kept.over());
    kept.check_replay();
  }
  EXPECT_TRUE(kept.workers().empty());
}

TEST(KeeperStories, are_told_by_the_journal_as_they_were_lived) {
  const char* const more = std::getenv("TEND_STORIES");
  const std::uint64_t stories = more != nullptr ? std::stoull(more) : 300;
  for (std::uint64_t seed = 1; seed <= stories; ++seed) {
    live(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tend
