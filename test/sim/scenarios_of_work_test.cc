// Incidents of other supervisors in which several want the same thing: a lease, a task, a turn, the
// next message. Played with everything that ships: whole keepers, the patrol, `tend lease run` and
// the commands, on a simulated machine. Each test is named after the row of docs/incidents.md that
// it covers; those of one agent and its keeper are in scenarios_test.cc.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/growing_test.h"
#include "run/chat_test.h"
#include "run/lease_desk.h"
#include "run/lease_runner.h"
#include "run/patrol_test.h"
#include "store/gate.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using Words = std::vector<std::string_view>;
using Variables = std::map<std::string, std::string>;

/// As it is typed below that process.
Answer type(SimUniverse& universe, const Words& words, Variables variables = {},
            std::int64_t parent = 1) {
  SimWorld sim(universe);
  variables.insert(
      {{"TEND_HOME", Family::kHome}, {"PATH", "/bin"}, {"HOME", "/home/user"}, {"USER", "ann"}});
  sim.environment.variables = std::move(variables);
  MachinesBelow machines(universe, sim.environment, {.environment = {}, .parent = parent});
  World world{sim.files, sim.out, sim.err, sim.environment, machines, sim.caller};
  const int exit = dispatch(commands(), words, world);
  return {exit, sim.out.text, sim.err.text};
}

// --- Leases, tasks and turns ---------------------------------------------------------------------

class ScenarioOfWork : public PatrolTest {
 protected:
  Answer tend(const Words& words) { return type(universe, words); }
  /// As a program types it that runs under a lease.
  Answer tend_under_lease(std::int64_t program, const Words& words) {
    Variables variables;
    for (const std::string& entry : universe.find(program)->environment) {
      const std::size_t at = entry.find('=');
      const std::string name = entry.substr(0, at);
      if (name == "TEND_LEASE" || name == "TEND_FENCE") variables[name] = entry.substr(at + 1);
    }
    return type(universe, words, std::move(variables), program);
  }
  bool may_act(std::int64_t program) {
    return tend_under_lease(program, {"lease", "check"}).exit == kExitYes;
  }
  void expect_refused(const Words& words, const std::string& because) {
    const Answer answer = tend(words);
    EXPECT_EQ(answer.exit, kExitNo) << answer.out;
    EXPECT_TRUE(answer.err.contains(because)) << answer.err;
  }

  /// A `tend lease run --name leader`. How it ended is in `ends`, by its name.
  std::int64_t lease_run(const std::string& name, const Lines& command, Duration ttl) {
    struct Program {
      std::unique_ptr<Folder> home;
      std::unique_ptr<LeaseFiles> files;
      std::unique_ptr<LeaseDesk> desk;
      std::unique_ptr<LeaseRunner> runner;
    };
    return universe.start_program(name, [=, this](Machine& theirs) {
      auto made = std::make_shared<Program>();
      made->home = theirs.folders.open(Family::kHome).value();
      made->files = std::make_unique<LeaseFiles>(*made->home);
      made->desk = std::make_unique<LeaseDesk>(theirs, *made->home, *made->files);
      LeaseRunner::Settings wanted;
      wanted.request = {.name = "leader",
                        .holder = LeaseDesk::holder_of(theirs.processes.self(), name),
                        .ttl = ttl,
                        .mirror = ""};
      wanted.command = command;
      wanted.environment = {"PATH=/bin"};
      wanted.working_folder = "/home/user";
      wanted.say = [](const std::string&) {};
      made->runner = std::make_unique<LeaseRunner>(
          *made->desk, std::move(wanted), [this, name, &theirs](const LeaseRunner::End& end) {
            ends[name] = end;
            theirs.loop.stop();
          });
      return made;
    });
  }
  void expect_lost(const std::string& name) {
    ASSERT_TRUE(ends.contains(name));
    EXPECT_EQ(ends[name].how, LeaseRunner::End::How::lost);
    EXPECT_EQ(ends[name].exit_code, kExitLeaseLost);
  }
  [[nodiscard]] LeaseRecord lease() const {
    return LeaseFiles(*home).read("leader").value().value_or(LeaseRecord{});
  }
  /// Since the last renewal that was confirmed.
  [[nodiscard]] Duration age_of_lease() const { return universe.awake() - lease().renewed; }
  [[nodiscard]] std::int64_t only(const std::string& program) const {
    const auto all = universe.pids(program);
    EXPECT_EQ(all.size(), 1U) << program;
    return all.empty() ? 0 : all.front();
  }
  [[nodiscard]] std::ptrdiff_t lives(const std::string& name) const {
    return std::ranges::count_if(
        family.begun, [&](const std::string& line) { return line.starts_with(name + " "); });
  }
  void expect_nobody_told() {
    const auto all = ask([](Database& database) { return Outbox(database).list(NoticeFilter{}); });
    EXPECT_TRUE(all.empty()) << all.front().payload;
    EXPECT_EQ(events("\"needs_person\":true"), 0);
  }

  std::map<std::string, LeaseRunner::End> ends;
};

/// Two that want to lead. The first is blocked in the middle of a renewal: it hears of nothing, and
/// finds when it goes on that others have written since.
class BlockedLeader final : public ScenarioOfWork {
 public:
  void play(std::uint64_t call) {
    constexpr Duration kTime = 30s;
    universe.behaviours["leads"] = [this](SimSelf& self) { act_while_it_may(self); };
    const auto a = lease_run("a", {"leads"}, kTime);
    universe.run_for(5s);
    const auto program = only("leads");
    lease_run("b", {"leads"}, kTime);
    universe.run_for(4s);
    universe.pause_at_call(a, call, 60s);
    Duration confirmed{};
    const bool was_taken = universe.run_until(
        [&] {
          const LeaseRecord now = lease();
          if (now.fence == 1) confirmed = now.renewed;
          return now.fence == 2;
        },
        60s);
    ASSERT_TRUE(was_taken);
    EXPECT_GE(universe.awake() - confirmed, kTime) << "its time was not over";
    EXPECT_FALSE(universe.runs(program)) << "ended before another one leads";
    EXPECT_FALSE(ends.contains("a")) << "it has heard of nothing";
    expect_refused({"lease", "check", "--name", "leader", "--fence", "1"}, "under fence 2 by now");
    const std::string pid = std::to_string(a);
    expect_refused({"lease", "renew", "--name", "leader", "--pid", pid}, "leader is held by b");
    universe.run_for(1min);
    expect_lost("a");
    EXPECT_EQ(lease().holder.id, "b");
    for (const Act& act : acts_) {
      EXPECT_TRUE(act.fence == 2 || act.at < confirmed + kTime) << "under a lease that ran out";
    }
    ASSERT_FALSE(acts_.empty());
    EXPECT_EQ(acts_.back().fence, 2U);
  }

 private:
  struct Act {
    Duration at{};
    std::uint64_t fence = 0;
  };
  void act_while_it_may(SimSelf& self) {
    self.every(1s, [this](SimSelf& me) {
      if (!may_act(me.pid())) return;
      const Act act{universe.awake(), std::stoull(*me.variable("TEND_FENCE"))};
      EXPECT_TRUE(acts_.empty() || acts_.back().fence <= act.fence) << "beside its successor";
      acts_.push_back(act);
    });
  }
  void TestBody() override {}

  std::vector<Act> acts_;
};

TEST_F(ScenarioOfWork, I087_one_that_is_blocked_in_a_renewal_never_acts_beside_its_successor) {
  for (std::uint64_t call = 1; call <= 12 && !HasFailure(); ++call) {
    SCOPED_TRACE(call);
    BlockedLeader().play(call);
  }
}

TEST_F(ScenarioOfWork, I087_one_that_was_blocked_is_told_no_before_it_has_noticed_anything) {
  const auto a = universe.start_process("a");
  const std::string pid_of_a = std::to_string(a);
  const std::string pid_of_b = std::to_string(universe.start_process("b"));
  const Words acquire{"lease", "acquire", "--name", "leader", "--ttl", "30s", "--pid"};
  const auto acquire_for = [&](const std::string& pid) {
    Words words = acquire;
    words.emplace_back(pid);
    return tend(words);
  };
  ASSERT_EQ(acquire_for(pid_of_a).exit, kExitYes);
  universe.pause(a);
  for (int i = 0; i < 6; ++i) {
    expect_refused({"lease", "renew", "--name", "leader", "--pid", pid_of_a}, "is stopped");
    EXPECT_EQ(acquire_for(pid_of_b).exit, kExitNo) << "its time is not over";
    universe.run_for(5s);
  }
  expect_refused({"lease", "check", "--name", "leader", "--fence", "1"}, "it ran out");
  EXPECT_EQ(acquire_for(pid_of_b).exit, kExitYes);
  universe.go_on(a);
  expect_refused({"lease", "check", "--name", "leader", "--fence", "1"}, "under fence 2 by now");
  expect_refused({"lease", "renew", "--name", "leader", "--pid", pid_of_a}, "leader is held by");
  EXPECT_EQ(acquire_for(pid_of_a).exit, kExitNo);
  EXPECT_EQ(tend({"lease", "check", "--name", "leader", "--fence", "2"}).exit, kExitYes);
}

TEST_F(ScenarioOfWork, I134_a_run_that_waits_its_turn_is_not_missed_and_begins_when_it_comes) {
  universe.behaviours["first"] = [](SimSelf& self) { self.exit_after(812s, 0); };
  universe.behaviours["second"] = [](SimSelf& self) { self.exit_after(60s, 0); };
  become_fit();
  const Instant begin = universe.now();
  lease_run("a", {"first"}, 3min);
  universe.run_for(23s);
  const auto waits = lease_run("b", {"second"}, 3min);
  patrol_for(5min);
  universe.run_until(begin + 330s);
  sweep();
  EXPECT_TRUE(universe.runs(waits));
  EXPECT_FALSE(universe.runs("second"));
  EXPECT_EQ(lease().fence, 1U) << "it was never begun";
  EXPECT_TRUE(said.empty()) << said.front();
  expect_nobody_told();
  ASSERT_TRUE(universe.run_until([&] { return ends.contains("a"); }, 10min));
  EXPECT_EQ(universe.now() - begin, 812s);
  EXPECT_EQ(ends["a"].exit_code, 0);
  ASSERT_TRUE(universe.run_until([&] { return universe.runs("second"); }, 1s));
  EXPECT_LT(age_of_lease(), 1s) << "its time begins with it";
  patrol_for(5min);
  EXPECT_EQ(ends["b"].exit_code, 0);
  EXPECT_TRUE(said.empty()) << said.front();
  expect_nobody_told();
}

TEST_F(ScenarioOfWork, I134_a_child_that_was_requested_and_never_begun_is_not_taken_for_dead) {
  become_fit();
  keep("lead");
  family.kill_keepers("lead");
  family.dispatch("lead", "coder");
  universe.run_for(330s);
  EXPECT_EQ(lives("coder"), 0);
  EXPECT_EQ(family.status("lead", "coder"), "requested");
  sweep();
  EXPECT_EQ(said, Lines{"keeper agent lead"});
  ASSERT_TRUE(universe.run_until([&] { return !family.agents("coder").empty(); }, 5s));
  patrol_for(10min);
  EXPECT_EQ(lives("coder"), 1);
  EXPECT_EQ(family.heartbeat("coder").life, 1U);
  EXPECT_EQ(family.heartbeat("coder").resumes_spent, 0U);
  EXPECT_EQ(family.decided("lead", "resume"), 0);
  EXPECT_EQ(family.status("lead", "coder"), "active");
  expect_nobody_told();
  family.check();
}

TEST_F(ScenarioOfWork, I141_work_that_is_left_and_nobody_is_at_is_one_incident_until_somebody_is) {
  become_fit();
  family.change = [](AgentFile& file) { file.restart = RestartPolicy::never; };
  keep("coder");
  have("claimed", "coder");
  add("open");
  patrol_for(10min);
  EXPECT_TRUE(notices("standstill").empty()) << "somebody is at it";
  family.kill_agents("coder");
  ASSERT_TRUE(universe.run_until([&] { return family.over("coder"); }, 1min));
  patrol_for(5min);
  ASSERT_EQ(notices("standstill").size(), 1U);
  EXPECT_TRUE(notices("standstill").front().payload.contains("the last that failed is coder"));
  patrol_for(1h);
  EXPECT_EQ(task("claimed").status, kOpen);
  EXPECT_EQ(task("claimed").fence, 2) << "who had it has lost it";
  expect_refused({"heartbeat", "claimed", "--actor", "coder", "--fence", "1"}, "claimed");
  expect_refused({"task", "close", "claimed", "--actor", "coder", "--fence", "1"}, "claimed");
  EXPECT_EQ(notices("standstill").size(), 1U) << "one incident, and told once";
  EXPECT_EQ(events("over: work is left and nobody is at it"), 0);
  family.change = {};
  keep("another");
  patrol_for(5min);
  EXPECT_EQ(events("\"text\":\"work is left and nobody is at it: 2 tasks"), 1);
  EXPECT_EQ(events("over: work is left and nobody is at it"), 1);
  const auto told = notices("standstill");
  EXPECT_TRUE(told.empty() || told.back().closed);
}

TEST_F(ScenarioOfWork, I204_a_tool_of_three_times_the_lease_costs_nothing_and_a_freeze_is_fenced) {
  constexpr Duration kTime = 60s;
  int begun = 0;
  Lines results;
  universe.behaviours["worker"] = [&](SimSelf& self) {
    ++begun;
    EXPECT_EQ(universe.pids("worker").size(), 1U) << "two at work on one thing";
    self.ignore(Kill::terminate);  // its loop is blocked by the tool
    self.every(180s, [&](SimSelf& me) {
      if (may_act(me.pid())) results.push_back(*me.variable("TEND_FENCE"));
    });
  };
  const auto a = lease_run("a", {"worker"}, kTime);
  universe.run_for(1s);
  const auto frozen = only("worker");
  lease_run("b", {"worker"}, kTime);
  for (int i = 0; i < 40; ++i) {
    universe.run_for(5s);
    EXPECT_LT(age_of_lease(), kTime / 2);
  }
  EXPECT_EQ(begun, 1) << "no second one";
  EXPECT_EQ(results, Lines{"1"});

  universe.pause(a);
  universe.signal(frozen, Kill::stop);
  const Duration renewed = lease().renewed;
  ASSERT_TRUE(universe.run_until([&] { return begun == 2; }, 2min));
  EXPECT_GE(universe.awake() - renewed, kTime);
  EXPECT_FALSE(universe.runs(frozen));
  expect_refused({"lease", "check", "--name", "leader", "--fence", "1"}, "under fence 2 by now");
  universe.go_on(a);
  universe.run_for(200s);
  expect_lost("a");
  EXPECT_EQ(results, (Lines{"1", "2"}));
  EXPECT_EQ(begun, 2);
}

TEST_F(ScenarioOfWork, I204_the_task_of_a_frozen_agent_is_gone_on_with_when_the_old_life_is_ended) {
  become_fit();
  add("t");
  family.change = [](AgentFile& file) { file.task = "t"; };
  family.behaves["coder"] = [](SimSelf& self) {
    if (self.variable("TEND_LIFE") != "1") return talk(self);
    self.print(claude_tool("t1", R"(,"timeout":1800000)"));  // three times the lease
  };
  keep("coder");
  const auto nobody_else_gets_it = [&] {
    expect_refused({"run", "-d", "--task", "t", "--name", "other", "--", "claude", "-p", "do it"},
                   "coder");
    EXPECT_EQ(task("t").assignee, "coder");
    EXPECT_EQ(task("t").fence, 1);
  };
  for (int i = 0; i < 5; ++i) {
    patrol_for(5min);
    EXPECT_GT(task("t").lease_expires_at, universe.wall());
    nobody_else_gets_it();
  }
  EXPECT_TRUE(said.empty()) << said.front();

  const auto frozen = family.agents("coder").front();
  universe.pause(family.keepers("coder").front());
  universe.signal(frozen, Kill::stop);
  patrol_for(3min);
  nobody_else_gets_it();
  ASSERT_TRUE(universe.runs(frozen));
  patrol_for(1h);
  EXPECT_FALSE(universe.runs(frozen));
  EXPECT_EQ(family.heartbeat("coder").life, 2U);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  nobody_else_gets_it();
  EXPECT_EQ(count("reassign"), 0);
  family.check();
}

TEST_F(ScenarioOfWork, I214_two_that_both_think_they_lead_assign_an_agent_once) {
  universe.behaviours["orchestrates"] = [](SimSelf&) {};
  keep("lead");
  lease_run("a", {"orchestrates"}, 30s);
  universe.run_for(1s);
  const auto of_a = only("orchestrates");
  ASSERT_TRUE(may_act(of_a));
  // The store ends the session of a and gives its lock to b.
  const auto b = universe.start_process(
      "b", {.environment = {"PATH=/bin", "TEND_LEASE=leader", "TEND_FENCE=2"}});
  LeaseRecord given = lease();
  ++given.version;
  ++given.fence;
  given.holder = LeaseDesk::holder_of(universe.find(b)->id, "b");
  given.run = {};
  ASSERT_TRUE(LeaseFiles(*home).write(given).value());
  ASSERT_FALSE(ends.contains("a")) << "it thinks that it leads";
  const auto assign = [&](std::int64_t program) {
    return tend_under_lease(program, {"dispatch", "--parent", "lead", "--name", "coder", "--",
                                      "claude", "-p", "do it"});
  };
  const Answer no = tend_under_lease(of_a, {"lease", "check"});
  EXPECT_EQ(no.exit, kExitNo);
  EXPECT_TRUE(no.err.contains("leader is under fence 2 by now, not 1")) << no.err;
  ASSERT_TRUE(may_act(b));
  EXPECT_EQ(assign(b).exit, kExitYes);
  EXPECT_EQ(assign(of_a).exit, kExitNo) << "who does not ask finds the name taken";
  universe.run_for(10s);
  expect_lost("a");
  EXPECT_FALSE(universe.runs(of_a));
  EXPECT_TRUE(may_act(b));
  EXPECT_EQ(lives("coder"), 1);
  EXPECT_EQ(lease().fence, 2U);
}

// --- Messages ------------------------------------------------------------------------------------

class ScenarioOfMessages : public ChatTest {
 protected:
  ScenarioOfMessages() {
    kept.config.probes["worker-s1"].deliver = true;
    // Simulated databases are no files; whoever looks whether there is one looks for a file.
    universe.disk.write(std::string(Kept::kHome) + "/" + kDatabaseFile, "");
  }

  Answer receive(const std::string& content, const std::string& key) {
    return type(universe, {"gate", "receive", "--agent", "worker-s1", "--channel", "chat",
                           "--endpoint", "ann", "--idempotency-key", key, "--content", content});
  }
  std::unique_ptr<Database> database() {
    const std::string path = std::string(Kept::kHome) + "/" + kDatabaseFile;
    return look_into(universe.databases.at(path), path);
  }
  std::int64_t messages_in(const std::string& state) {
    std::int64_t count = 0;
    EXPECT_TRUE(database()->each("SELECT count(*) FROM messages WHERE state = ?",
                                 {std::string_view(state)},
                                 [&](const DatabaseRow& row) { count = row.number(0); }));
    return count;
  }
  /// What the agent was told that is no question, by its last line.
  [[nodiscard]] Lines executed() const {
    Lines found;
    for (const std::string& line : heard_) {
      const auto json = nlohmann::json::parse(line);
      const std::string text = json["message"]["content"][0]["text"];
      if (text.starts_with("[message ")) found.push_back(text.substr(text.find('\n') + 1));
    }
    return found;
  }
};

TEST_F(ScenarioOfMessages, I161_a_queue_that_is_full_says_so_and_drops_nothing) {
  ASSERT_EQ(receive("1", "k1").exit, kExitYes);
  ASSERT_TRUE(database()->run_script(R"(
WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO messages SELECT i, 'worker-s1', 'chat', 'ann', 3, 'queued', NULL, NULL, 0, 0, 0, NULL,
  0, 0, 0, NULL, NULL, i FROM n;)"));
  const Answer refused = receive("one more", "more");
  EXPECT_EQ(refused.exit, kExitNo);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(refused.err.contains("there is no room for more until some are")) << refused.err;
  EXPECT_EQ(messages_in("queued"), kMostMessages);
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return executed().size() == 4; }, 2min));
  EXPECT_EQ(executed(), (Lines{"1", "2", "3", "4"}));
  EXPECT_EQ(receive("one more", "more").exit, kExitYes) << "the refusal took its key for nothing";
  EXPECT_EQ(messages_in("queued") + messages_in("taken") + messages_in("done"), kMostMessages + 1);
}

TEST_F(ScenarioOfMessages, I161_a_message_that_was_done_before_a_kill_is_not_executed_again) {
  kept.start_keeper();
  universe.run_for(10s);
  turn_of_ = [this](const std::string& line) {
    if (line.contains("\\ntwo")) {
      // Its turn is over, and nobody has seen that.
      universe.after({}, [this] {
        universe.kill(kept.keeper);
        kill_worker();
      });
    }
    return turn(++turns_);
  };
  for (const char* content : {"one", "two", "three", "four"}) {
    EXPECT_EQ(receive(content, content).exit, kExitYes);
  }
  ASSERT_TRUE(universe.run_until([&] { return !universe.runs(kept.keeper); }, 1min));
  EXPECT_EQ(messages_in("done"), 1);
  turn_of_ = {};
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(executed(), (Lines{"one", "two", "three", "four"})) << "each once, in order";
  EXPECT_EQ(messages_in("done"), 4);
  const Answer again = receive("two", "two");
  EXPECT_EQ(again.exit, kExitYes) << again.err;
  EXPECT_TRUE(again.out.contains("before")) << again.out;
  universe.run_for(1min);
  EXPECT_EQ(executed().size(), 4U);
  kept.check_replay();
}

}  // namespace
}  // namespace tend
