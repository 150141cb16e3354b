// kill -9 at every call of the machine, in every state: each story is played once undisturbed, to
// count the calls its keeper makes, and then once for each of them, with the keeper killed there
// and another one put on. Whatever the moment, the story has to come to the same end.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "run/kept_test.h"
#include "run/recorder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostTries = 400;  // of one story
constexpr Duration kReplacedAfter = 2s;
constexpr Duration kSettles = 2min;

struct Story {
  std::function<void(Kept&)> set_up;  // before the first keeper: the behaviour, and what happens
  Duration takes{};
  std::function<void(Kept&)> check;
};

void print(SimSelf& self) {
  self.every(7s, [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
}

bool is_first_life(const SimSelf& self) { return self.variable("TEND_LIFE") == "1"; }

/// One at a time: whoever begins looks whether there is another.
void behave(Kept& kept, SimBehaviour behaviour) {
  kept.universe.behaviours["worker"] = [&kept, behaviour](SimSelf& self) {
    EXPECT_EQ(kept.workers().size(), 1U) << "two at once";
    behaviour(self);
  };
}

/// What must hold at the end of every story.
void check_always(Kept& kept) {
  EXPECT_EQ(kept.problem, "");
  const Heartbeat says = kept.heartbeat();
  EXPECT_NE(is_terminal(says.status), kept.universe.disk.is_locked(kept.path(".lock")));
  EXPECT_LE(kept.workers().size(), is_terminal(says.status) ? 0U : 1U);
  const auto past = kept.past();
  ASSERT_TRUE(past);
  EXPECT_EQ(word(says.verdict), word(past->judge.verdict()));
  EXPECT_TRUE(past->owed.empty()) << word(past->owed.front().action) << " is still owed";
  kept.check_replay();
}

/// Plays it with the keeper killed at its n-th call; 0: undisturbed. The calls that it made.
std::uint64_t play(const Story& story, std::uint64_t n) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  story.set_up(kept);
  const std::int64_t first = kept.start_keeper();
  if (n > 0) kept.universe.kill_at_call(first, n);
  const Instant end = kept.universe.now() + story.takes;
  const bool ended =
      kept.universe.run_until([&] { return !kept.universe.runs(first); }, story.takes);
  if (ended && n > 0) {
    kept.universe.run_for(kReplacedAfter);
    if (kept.keeper == first) kept.start_keeper();
  }
  const std::uint64_t calls = kept.universe.calls(first);
  kept.universe.run_until(std::max(end, kept.universe.now() + kSettles));
  check_always(kept);
  story.check(kept);
  return calls;
}

void play_at_every_call(const Story& story) {
  const std::uint64_t calls = play(story, 0);
  ASSERT_FALSE(testing::Test::HasFailure()) << "undisturbed";
  ASSERT_GT(calls, 20U);
  const std::uint64_t step = std::max<std::uint64_t>(1, calls / kMostTries);
  for (std::uint64_t n = 1; n <= calls; n += step) {
    play(story, n);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at call " << n << " of " << calls;
  }
}

TEST(KeeperCrash, brings_back_once_what_was_killed) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            behave(kept, print);
                            kept.universe.after(10s, [&kept] {
                              for (const auto pid : kept.workers())
                                kept.universe.signal(pid, Kill::kill);
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            ASSERT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(kept.heartbeat().life, 2U);
                            EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
                            EXPECT_LE(kept.heartbeat().resumes_spent, 1U);
                          }});
}

TEST(KeeperCrash, ends_once_what_the_old_life_left) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.universe.behaviours["tool"] = [](SimSelf& self) {
                              self.slow_to_end(3s);
                            };
                            behave(kept, [](SimSelf& self) {
                              print(self);
                              if (is_first_life(self))
                                self.spawn({.command = {"tool"}, .environment = {}});
                            });
                            kept.universe.after(10s, [&kept] {
                              for (const auto pid : kept.workers())
                                kept.universe.signal(pid, Kill::kill);
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            ASSERT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(kept.heartbeat().life, 2U);
                            EXPECT_FALSE(kept.universe.runs("tool"));
                            EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
                          }});
}

TEST(KeeperCrash, finds_and_cures_one_that_hangs) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.agent.worktree = "/home/user/work";
                            kept.universe.disk.write("/home/user/work/a", "1");
                            kept.universe.repositories["/home/user/work"] = {};
                            kept.universe.version_control_takes = 3s;
                            kept.policy.limits.model = 60s;
                            kept.policy.limits.confirm = 30s;
                            behave(kept, [](SimSelf& self) {
                              is_first_life(self) ? self.print_after(1s, "hello\n") : print(self);
                              self.slow_to_end(1s);
                            });
                          },
                      .takes = 15min,
                      .check =
                          [](Kept& kept) {
                            ASSERT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(kept.heartbeat().life, 2U);
                            EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
                            EXPECT_LE(kept.heartbeat().resumes_spent, 1U);
                            EXPECT_EQ(kept.universe.repositories["/home/user/work"].refs.size(),
                                      1U);
                          }});
}

TEST(KeeperCrash, stops_what_is_to_be_stopped) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.agent.worktree = "/home/user/work";
                            kept.universe.disk.write("/home/user/work/a", "1");
                            kept.universe.repositories["/home/user/work"] = {};
                            behave(kept, [](SimSelf& self) {
                              print(self);
                              self.slow_to_end(1s);
                            });
                            kept.universe.after(10s, [&kept] {
                              kept.say({.want = Want::stop, .by = "tend stop", .at = 1});
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            EXPECT_TRUE(kept.workers().empty());
                            EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
                            EXPECT_EQ(kept.heartbeat().ended_by, "tend stop");
                            EXPECT_FALSE(kept.universe.runs(kept.keeper));
                          }});
}

TEST(KeeperCrash, stops_when_its_own_end_was_ordered) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.agent.restart = RestartPolicy::always;
                            behave(kept, [](SimSelf& self) {
                              print(self);
                              self.slow_to_end(1s);
                            });
                            kept.agent.max_life = 10s;
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            EXPECT_TRUE(kept.workers().empty());
                            EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
                            EXPECT_EQ(kept.heartbeat().ended_by, "--max-life");
                            EXPECT_FALSE(kept.universe.runs(kept.keeper));
                          }});
}

TEST(KeeperCrash, sees_one_through_to_its_good_end) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            behave(kept, [](SimSelf& self) {
                              self.print_after(1s, "hello\n");
                              self.exit_after(10s, 0);
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
                            EXPECT_EQ(kept.heartbeat().ended_by, "exit 0");
                            EXPECT_EQ(kept.heartbeat().exit, (Exit{Exit::How::code, 0}));
                            EXPECT_FALSE(kept.universe.runs(kept.keeper));
                            // An exit that nobody could see is no proof of a good end: then it is
                            // run again.
                            EXPECT_LE(kept.heartbeat().life, 2U);
                          }});
}

TEST(KeeperCrash, calls_failed_what_failed) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.agent.restart = RestartPolicy::never;
                            behave(kept, [](SimSelf& self) {
                              self.print_after(1s, "hello\n");
                              self.exit_after(10s, 3);
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
                            EXPECT_EQ(kept.heartbeat().life, 1U);
                            EXPECT_FALSE(kept.universe.runs(kept.keeper));
                          }});
}

TEST(KeeperCrash, holds_what_loops_and_tells_a_person) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            kept.agent.notify = {"tell-me"};
                            kept.universe.answers["tell-me"] = {.takes = 1s};
                            behave(kept, [](SimSelf& self) {
                              self.print_after(1s, "hello\n");
                              self.exit_after(2s, 1);
                            });
                          },
                      .takes = 8min,
                      .check =
                          [](Kept& kept) {
                            EXPECT_EQ(kept.heartbeat().verdict, Verdict::looping);
                            EXPECT_TRUE(kept.workers().empty());
                            EXPECT_TRUE(kept.universe.runs(kept.keeper));
                            EXPECT_LE(kept.heartbeat().resumes_spent, 3U);
                            const auto& ran = kept.universe.ran();
                            EXPECT_TRUE(std::ranges::any_of(ran, [](const auto& run) {
                              return run.input.contains("escalate");
                            }));
                          }});
}

TEST(KeeperCrash, pauses_and_lets_go_on) {
  play_at_every_call(
      {.set_up =
           [](Kept& kept) {
             behave(kept, print);
             kept.universe.after(
                 10s, [&kept] { kept.say({.want = Want::pause, .by = "tend pause", .at = 1}); });
             kept.universe.after(60s, [&kept] {
               ASSERT_EQ(kept.workers().size(), 1U);
               EXPECT_EQ(kept.universe.facts(kept.workers().front())->state, RunState::stopped);
               EXPECT_EQ(kept.heartbeat().status, Status::paused);
               kept.say({.want = Want::run, .by = "tend unpause", .at = 2});
             });
           },
       .takes = 3min,
       .check =
           [](Kept& kept) {
             ASSERT_EQ(kept.workers().size(), 1U);
             EXPECT_EQ(kept.universe.facts(kept.workers().front())->state, RunState::running);
             EXPECT_EQ(kept.heartbeat().status, Status::running);
             EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
             EXPECT_EQ(kept.heartbeat().life, 1U);
           }});
}

TEST(KeeperCrash, is_reloaded_with_another_policy) {
  play_at_every_call({.set_up =
                          [](Kept& kept) {
                            behave(kept, print);
                            kept.universe.after(10s, [&kept] {
                              kept.policy.limits.model = 200s;
                              const auto old = kept.keeper;
                              if (kept.universe.runs(old)) kept.universe.order(old, Order::hang_up);
                              kept.universe.after(1ms, [&kept] { kept.start_keeper(); });
                            });
                          },
                      .takes = 3min,
                      .check =
                          [](Kept& kept) {
                            ASSERT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
                            EXPECT_EQ(kept.heartbeat().life, 1U);
                            EXPECT_EQ(kept.past()->judge.policy().limits.model, 200s);
                          }});
}

/// The keeper that goes on is killed too, at every call of its own begin.
TEST(KeeperCrash, goes_on_from_one_that_died_while_it_went_on) {
  for (std::uint64_t n = 1;; ++n) {
    Kept kept;
    kept.be_patient_as_with_an_agent();
    behave(kept, print);
    kept.start_keeper();
    kept.universe.run_for(10s);
    kept.universe.kill(kept.keeper);
    kept.universe.run_for(1h);
    const auto second = kept.start_keeper();
    kept.universe.kill_at_call(second, n);
    kept.universe.run_for(5s);
    if (kept.universe.runs(second)) return;
    kept.start_keeper();
    kept.universe.run_for(3min);
    check_always(kept);
    EXPECT_EQ(kept.workers().size(), 1U);
    EXPECT_EQ(kept.heartbeat().life, 1U);
    EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at call " << n;
  }
}

/// A silence that a keeper was away for is nobody's fault, even if its successor died at once.
TEST(KeeperCrash, judges_nobody_for_the_absence_of_two_keepers) {
  for (std::uint64_t n = 1;; ++n) {
    Kept kept;
    kept.be_patient_as_with_an_agent();
    // It works on after the absence, so whoever ends it ends work in progress.
    kept.universe.behaviours["worker"] = [](SimSelf& self) {
      self.print_after(1s, "hello\n");
      self.after(3600s + 200s, [](SimSelf& me) { print(me); });
    };
    kept.start_keeper();
    kept.universe.run_for(10s);
    kept.universe.kill(kept.keeper);
    kept.universe.run_for(1h);
    const auto second = kept.start_keeper();
    kept.universe.kill_at_call(second, n);
    kept.universe.run_for(1s);
    if (kept.universe.runs(second)) return;
    kept.start_keeper();
    kept.universe.run_for(100s);
    EXPECT_EQ(kept.heartbeat().life, 1U);
    EXPECT_EQ(kept.count("action", "kill"), 0);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at call " << n;
  }
}

/// One line of a journal, as far as a test of torn ones has to know it.
struct Line {
  std::size_t begins = 0;
  std::size_t ends = 0;  // behind its newline
  double at = 0;
  std::string decided;  // "" if it is no decision
};

std::vector<Line> lines_of(const std::string& journal) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < journal.size(); at = lines.back().ends) {
    Line line{.begins = at, .ends = journal.find('\n', at) + 1, .decided = {}};
    const auto json = nlohmann::json::parse(journal.substr(at, line.ends - at), nullptr, false);
    if (!json.is_discarded()) {
      line.at = json.value("t", 0.0);
      for (const char* what : {"verdict", "action"}) {
        if (!json.contains("trace")) line.decided += json.value(what, "");
      }
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> decided_up_to(const std::vector<Line>& lines, double last) {
  std::vector<std::string> decided;
  for (const Line& line : lines) {
    if (line.at <= last && !line.decided.empty()) decided.push_back(line.decided);
  }
  return decided;
}

/// The journal of one that was found to hang and ended.
std::string journal_of_a_hang(Kept& kept) {
  kept.be_patient_as_with_an_agent();
  kept.policy.limits.model = 60s;
  kept.policy.limits.confirm = 30s;
  behave(kept, hang);
  kept.start_keeper();
  kept.universe.run_until([&] { return kept.count("did", "kill") > 0; }, 10min);
  kept.universe.kill(kept.keeper);
  kept.universe.run_for(1s);
  return kept.text_of("journal.jsonl");
}

/// It is done by whoever goes on, so it has to stand there.
TEST(KeeperCrash, writes_down_what_the_keeper_before_it_decided_and_could_not_write) {
  Kept kept;
  const std::string whole = journal_of_a_hang(kept);
  const std::vector<Line> lines = lines_of(whole);
  const Policy policy = kept.past()->judge.policy();
  auto folder = kept.universe.machine().folders.open(Kept::kFolder);
  ASSERT_TRUE(folder);
  int cuts = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Line& torn = lines[i];
    if (torn.decided.empty() || lines[i - 1].at != torn.at) continue;
    for (const std::size_t end : {torn.begins, (torn.begins + torn.ends) / 2, torn.ends - 1}) {
      kept.universe.disk.write(kept.path("journal.jsonl"), whole.substr(0, end));
      Recorder::Found found;
      ASSERT_TRUE(
          Recorder::open(kept.universe.machine(), **folder, kept.agent.agent, policy, found));
      EXPECT_EQ(found.problem, "");
      const std::string now = kept.text_of("journal.jsonl");
      EXPECT_EQ(decided_up_to(lines_of(now), torn.at), decided_up_to(lines, torn.at))
          << torn.decided << " was cut off at byte " << end - torn.begins;
      ++cuts;
    }
  }
  EXPECT_GT(cuts, 15) << "the verdicts and the actions of a hang";
}

}  // namespace
}  // namespace tend
