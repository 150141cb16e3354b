// Several stores of one agent: what each says, whether they agree, and how such an agent is judged.
#include "judge/stores.h"

#include <gtest/gtest.h>

#include "judge/judge.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

StoreSight seen(std::string name, std::optional<Duration> age) {
  StoreSight sight;
  sight.name = std::move(name);
  sight.age = age;
  sight.limit = 5min;
  return sight;
}

using Sights = std::vector<StoreSight>;

TEST(StoreSights, a_store_is_fresh_up_to_its_limit) {
  EXPECT_EQ(verdict_of(seen("a", 5min - 1ms)), StoreVerdict::fresh);
  EXPECT_EQ(verdict_of(seen("a", 5min)), StoreVerdict::stale);
  EXPECT_EQ(verdict_of(seen("a", std::nullopt)), StoreVerdict::none);
}

TEST(StoreSights, its_own_word_comes_before_the_timer_and_what_is_not_its_own_before_that) {
  StoreSight sight = seen("a", 25min);
  sight.state = SelfState::idle;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::idle);
  sight.state = SelfState::stuck;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::stuck);
  sight.state = SelfState::working;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::stale) << "working is what timers are for";
  sight.of_another = true;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::void_sign);
  sight.unread = true;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::unreadable);
}

TEST(Divergence, S19_is_one_fresh_and_one_stale_store_either_way) {
  EXPECT_EQ(divergence_of(Sights{seen("file", 26min), seen("session", 40s)}),
            "session fresh (40s), file stale (26m)");
  EXPECT_EQ(divergence_of(Sights{seen("file", 40s), seen("session", 26min)}),
            "file fresh (40s), session stale (26m)");
  EXPECT_EQ(divergence_of(Sights{seen("file", 40s), seen("session", 1min)}), "");
  EXPECT_EQ(divergence_of(Sights{seen("file", 26min), seen("session", 26min)}), "");
  EXPECT_EQ(divergence_of(Sights{seen("file", std::nullopt), seen("session", 1min)}), "")
      << "a store that was never written";
}

TEST(Divergence, leaves_out_what_often_lags_and_a_quiet_terminal) {
  StoreSight label = seen("label", 3h);
  label.may_lag = true;
  EXPECT_EQ(divergence_of(Sights{seen("file", 40s), label}), "");
  StoreSight tmux = seen("tmux", 3h);
  tmux.is_beat = false;
  EXPECT_EQ(divergence_of(Sights{seen("file", 40s), tmux}), "");
  tmux.age = 2s;
  EXPECT_EQ(divergence_of(Sights{seen("file", 26min), tmux}), "tmux fresh (2s), file stale (26m)");
}

TEST(Divergence, S18_is_none_of_an_agent_that_rests) {
  StoreSight session = seen("session", 25min);
  session.state = SelfState::idle;
  StoreSight tmux = seen("tmux", 2s);
  tmux.is_beat = false;
  EXPECT_EQ(divergence_of(Sights{seen("file", 26min), session, tmux}), "");
}

TEST(Divergence, that_was_told_before_a_restart_of_the_observer_is_not_told_again) {
  DivergenceWatch watch;
  const Sights differ{seen("a", 1s), seen("b", 6min)};
  EXPECT_EQ(sides_of(differ), "a fresh, b stale");
  watch.go_on("a fresh, b stale");
  EXPECT_FALSE(watch.look(differ, 10s));
  EXPECT_EQ(watch.text(), "a fresh (1s), b stale (6m)");
  EXPECT_EQ(watch.sides(), "a fresh, b stale");
  const Sights agree{seen("a", 1s), seen("b", 1s)};
  EXPECT_FALSE(watch.look(agree, 20s));
  EXPECT_FALSE(watch.look(agree, 20s + 5min));
  EXPECT_EQ(watch.sides(), "");
  EXPECT_TRUE(watch.look(differ, 30min));
}

TEST(StoreSights, one_is_outrun_by_what_is_fresh_and_was_written_that_much_later) {
  const StoreSight registry = seen("registry", 90s);
  EXPECT_TRUE(is_outrun(registry, Sights{seen("file", 30s)}, 1min));
  EXPECT_FALSE(is_outrun(registry, Sights{seen("file", 31s)}, 1min)) << "of the same moment";
  EXPECT_FALSE(is_outrun(registry, Sights{}, 1min)) << "nobody knows better";
  EXPECT_FALSE(is_outrun(seen("registry", 10min), Sights{seen("file", 6min)}, 1min))
      << "both are of the past";
  EXPECT_TRUE(is_outrun(seen("registry", std::nullopt), Sights{seen("file", 10s)}, 1min))
      << "nobody knows when it was written";
  for (const auto spoil : {+[](StoreSight& other) { other.is_beat = false; },
                           +[](StoreSight& other) { other.of_another = true; },
                           +[](StoreSight& other) { other.unread = true; }}) {
    StoreSight other = seen("other", 10s);
    spoil(other);
    EXPECT_FALSE(is_outrun(registry, Sights{other}, 1min));
  }
}

TEST(StoreSights, the_word_idle_excuses_up_to_an_age) {
  StoreSight sight = seen("session", 39min);
  sight.state = SelfState::idle;
  sight.rests_for = 40min;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::idle);
  sight.age = 40min;
  EXPECT_EQ(verdict_of(sight), StoreVerdict::stale);
}

TEST(Divergence, is_told_once_until_the_stores_have_agreed_for_a_while) {
  DivergenceWatch watch;
  const Sights agree{seen("a", 1s), seen("b", 1s)};
  const Sights differ{seen("a", 1s), seen("b", 6min)};
  EXPECT_FALSE(watch.look(agree, 0s));
  EXPECT_TRUE(watch.look(differ, 10s));
  EXPECT_FALSE(watch.look(differ, 20s));
  EXPECT_FALSE(watch.look(agree, 30s));
  EXPECT_FALSE(watch.look(differ, 60s)) << "a store that beats too seldom";
  EXPECT_FALSE(watch.look(agree, 100s));
  EXPECT_FALSE(watch.look(agree, 100s + 5min));
  EXPECT_EQ(watch.text(), "");
  EXPECT_TRUE(watch.look(differ, 100s + 6min)) << "another episode";
}

TEST(StoreSights, nothing_is_known_if_the_only_store_that_may_be_fresh_cannot_be_read) {
  StoreSight unread = seen("session", 1min);
  unread.unread = true;
  EXPECT_TRUE(is_blind(Sights{unread}));
  EXPECT_TRUE(is_blind(Sights{unread, seen("file", 26min)}));
  EXPECT_FALSE(is_blind(Sights{unread, seen("file", 1min)}));
  unread.may_lag = true;
  EXPECT_FALSE(is_blind(Sights{unread, seen("file", 26min)}));
}

// ---- How such an agent is judged

class WatchedAgent : public testing::Test {
 protected:
  WatchedAgent() { see({.is = Kind::spawn, .life = 1}); }

  void see(const Signal& signal) { step({signal}); }
  void pass(Duration time) {
    const Instant end = now_ + time;
    while (next_ && *next_ <= end) {
      now_ = *next_;
      step({});
    }
    now_ = end;
    step({});
  }
  void sleep(Duration time) {
    now_ += time;
    see({.is = Kind::suspend, .seconds = time});
  }
  void beat() { see({.is = Kind::beat, .by = BeatBy::agent}); }
  void say(SelfState state) { see({.is = Kind::state, .state = state}); }
  [[nodiscard]] int count(Action action) const {
    return static_cast<int>(std::ranges::count(actions_, action));
  }

  Judge judge_{policy_of_stores({5min, 20min}, 20min, false)};
  std::vector<Action> actions_;

 private:
  void step(const std::vector<Signal>& signals) {
    const Outcome done = judge_.step(signals, now_);
    next_ = done.next;
    for (const Decision& decision : done.decisions) {
      if (decision.kind == Decision::Kind::action) actions_.push_back(decision.action);
    }
  }
  Instant now_{1h};
  std::optional<Instant> next_;
};

TEST_F(WatchedAgent, is_suspect_when_stale_and_escalated_when_very_stale_and_never_more) {
  beat();
  pass(5min - 1s);
  EXPECT_EQ(judge_.verdict(), Verdict::working);
  pass(2s);
  EXPECT_EQ(judge_.verdict(), Verdict::suspect);
  EXPECT_EQ(count(Action::escalate), 0);
  EXPECT_EQ(count(Action::ping), 1);
  pass(15min);
  EXPECT_EQ(judge_.verdict(), Verdict::stalled);
  EXPECT_EQ(count(Action::escalate), 1);
  EXPECT_EQ(count(Action::ping), 2) << "the poke";
  see({.is = Kind::process, .process = ProcessState::running});
  pass(48h);
  EXPECT_EQ(count(Action::escalate), 1);
  for (const Action action : {Action::kill, Action::resume, Action::restart, Action::preserve}) {
    EXPECT_EQ(count(action), 0) << word(action);
  }
}

TEST_F(WatchedAgent, a_spinner_puts_the_alarm_off_and_does_not_hide_it) {
  beat();
  for (int i = 0; i < 39 * 2; ++i) {
    pass(30s);
    see({.is = Kind::activity, .from = ActivityFrom::terminal});
  }
  EXPECT_EQ(judge_.verdict(), Verdict::suspect) << "39 min: something moves";
  EXPECT_EQ(count(Action::escalate), 0);
  for (int i = 0; i < 4; ++i) {
    pass(30s);
    see({.is = Kind::activity, .from = ActivityFrom::terminal});
  }
  EXPECT_EQ(judge_.verdict(), Verdict::stalled) << "twice its limit";
  EXPECT_EQ(count(Action::escalate), 1);
}

TEST_F(WatchedAgent, S18_idle_with_nothing_to_do_is_not_stale) {
  say(SelfState::idle);
  pass(25min);
  EXPECT_EQ(judge_.verdict(), Verdict::idle);
  see({.is = Kind::process, .process = ProcessState::running});
  pass(24h);
  EXPECT_EQ(judge_.verdict(), Verdict::idle) << "its process is there";
  EXPECT_TRUE(actions_.empty());
}

TEST_F(WatchedAgent, idle_by_its_word_alone_is_believed_for_twice_the_limit_and_no_longer) {
  say(SelfState::idle);
  pass(40min - 1s);
  EXPECT_EQ(judge_.verdict(), Verdict::idle);
  EXPECT_TRUE(actions_.empty());
  pass(1s);
  EXPECT_EQ(judge_.verdict(), Verdict::suspect);
  EXPECT_EQ(count(Action::escalate), 0);
  pass(2min);
  EXPECT_EQ(judge_.verdict(), Verdict::stalled);
  EXPECT_EQ(count(Action::escalate), 1);
  beat();
  EXPECT_EQ(judge_.verdict(), Verdict::idle) << "it says so again";
  pass(40min - 1s);
  EXPECT_EQ(judge_.verdict(), Verdict::idle);
}

TEST_F(WatchedAgent, idle_and_beating_rests_as_long_as_it_likes) {
  say(SelfState::idle);
  for (int i = 0; i < 24 * 6; ++i) {
    pass(10min);
    beat();
  }
  EXPECT_EQ(judge_.verdict(), Verdict::idle);
  EXPECT_TRUE(actions_.empty());
}

TEST_F(WatchedAgent, a_process_that_cannot_be_looked_at_is_none_to_rest_with) {
  say(SelfState::idle);
  see({.is = Kind::process, .process = ProcessState::running});
  pass(1h);
  EXPECT_EQ(judge_.verdict(), Verdict::idle);
  see({.is = Kind::process, .process = ProcessState::unknown});
  pass(3min);
  EXPECT_EQ(judge_.verdict(), Verdict::stalled);
}

TEST_F(WatchedAgent, exiting_has_its_limit) {
  beat();
  say(SelfState::exiting);
  pass(59s);
  EXPECT_EQ(judge_.verdict(), Verdict::working);
  pass(1s);
  EXPECT_EQ(judge_.verdict(), Verdict::suspect);
  pass(2min);
  EXPECT_EQ(count(Action::escalate), 1);
}

TEST_F(WatchedAgent, stuck_is_escalated_at_once_and_never_restarted) {
  beat();
  see({.is = Kind::process, .process = ProcessState::running});
  say(SelfState::stuck);
  EXPECT_EQ(judge_.verdict(), Verdict::suspect);
  EXPECT_EQ(count(Action::escalate), 1);
  pass(24h);
  EXPECT_EQ(count(Action::kill), 0);
  EXPECT_EQ(count(Action::restart), 0);
}

TEST_F(WatchedAgent, S22_gone_after_it_said_so_is_a_clean_end) {
  beat();
  say(SelfState::exiting);
  see({.is = Kind::process, .process = ProcessState::gone});
  EXPECT_EQ(judge_.verdict(), Verdict::finished);
  pass(1h);
  EXPECT_EQ(count(Action::escalate), 0);
}

TEST_F(WatchedAgent, S11_gone_without_a_word_is_dead_however_fresh_the_beat) {
  beat();
  see({.is = Kind::process, .process = ProcessState::gone});
  EXPECT_EQ(judge_.verdict(), Verdict::dead);
  beat();
  EXPECT_EQ(judge_.verdict(), Verdict::dead);
  EXPECT_EQ(count(Action::escalate), 0) << "its own system may bring it back";
  pass(90s);
  EXPECT_EQ(count(Action::escalate), 1);
}

TEST_F(WatchedAgent, that_is_back_at_once_is_no_alarm) {
  beat();
  see({.is = Kind::process, .process = ProcessState::gone});
  pass(30s);
  see({.is = Kind::spawn, .life = 2});
  beat();
  pass(4min);
  EXPECT_EQ(judge_.verdict(), Verdict::working);
  EXPECT_EQ(count(Action::escalate), 0);
}

TEST_F(WatchedAgent, S17_a_crash_loop_is_told_and_forgotten_again) {
  for (std::uint32_t life = 2; life <= 4; ++life) {
    beat();
    see({.is = Kind::process, .process = ProcessState::gone});
    see({.is = Kind::spawn, .life = life});
  }
  beat();
  pass(1min);
  EXPECT_EQ(judge_.verdict(), Verdict::working) << "a new life that works ends it";
}

TEST_F(WatchedAgent, S28_eight_hours_of_sleep_make_nobody_stale) {
  beat();
  pass(1min);
  sleep(8h);
  pass(2min);
  beat();
  EXPECT_EQ(judge_.verdict(), Verdict::working);
  EXPECT_EQ(count(Action::escalate), 0);
}

TEST(PolicyOfStores, ends_only_what_it_may_end) {
  const Policy policy = policy_of_stores({5min, 20min}, std::nullopt, true);
  EXPECT_EQ(policy.promise, Promise::beats);
  EXPECT_TRUE(policy.ladder.empty());
  EXPECT_EQ(policy_of_stores({10s, 20s}, std::nullopt, false).limits.confirm, 10s);
}

TEST_F(WatchedAgent, S10_a_poke_from_before_the_restart_is_nothing_to_the_new_life) {
  beat();
  see({.is = Kind::ping, .id = "p1"});
  pass(4min);
  see({.is = Kind::process, .process = ProcessState::gone});
  see({.is = Kind::spawn, .life = 2});
  beat();
  pass(4min + 50s);
  EXPECT_EQ(judge_.verdict(), Verdict::working)
      << "that nobody answered it is no fault of this one";
  for (const Action action : {Action::ping, Action::warn, Action::escalate}) {
    EXPECT_EQ(count(action), 0) << word(action);
  }
  see({.is = Kind::ack, .id = "p1"});
  pass(11s);
  EXPECT_EQ(judge_.verdict(), Verdict::suspect) << "nor is a late answer a sign of its life";
}

}  // namespace
}  // namespace tend
