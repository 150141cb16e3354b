// Agents whose language is known, on a simulated machine: they are started so that they are
// understood, and brought back into their own session.
#include <chrono>
#include <map>
#include <sstream>
#include <string>

#include "run/kept_test.h"
#include "run/task_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr std::string_view kSession = "4ae045cd-5686-452c-a75d-2891b5ca8bd5";

std::string init() {
  return R"({"type":"system","subtype":"init","session_id":")" + std::string(kSession) + "\"}\n";
}
std::string said(const std::string& text) {
  return R"({"type":"assistant","message":{"content":[{"type":"text","text":")" + text +
         R"("}]},"parent_tool_use_id":null})"
         "\n";
}
std::string tool_opened(const std::string& id, const std::string& more = "") {
  return R"({"type":"assistant","message":{"content":[{"type":"tool_use","id":")" + id +
         R"(","name":"Bash","input":{"command":"make")" + more +
         R"(}}]},"parent_tool_use_id":null})"
         "\n";
}
std::string tool_closed(const std::string& id) {
  return R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":")" + id +
         R"(","content":"ok"}]},"parent_tool_use_id":null})"
         "\n";
}
std::string result(const std::string& more = R"("is_error":false)") {
  return R"({"type":"result","subtype":"success",)" + more + "}\n";
}

std::string held_until(WallTime wall) {
  const auto resets = std::chrono::duration_cast<std::chrono::seconds>(wall.time_since_epoch());
  return R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":)" +
         std::to_string(resets.count()) + "}}\n";
}

class KeptAgent : public testing::Test {
 protected:
  KeptAgent() {
    kept.be_patient_as_with_an_agent();
    kept.agent.command = {"claude", "-p", "do it"};
    kept.agent.adapter = AdapterKind::claude;
  }

  void behave(SimBehaviour behaviour) { kept.universe.behaviours["claude"] = std::move(behaviour); }
  [[nodiscard]] std::vector<std::int64_t> claudes() const { return kept.universe.pids("claude"); }
  [[nodiscard]] Words command() const {
    return claudes().empty() ? Words{} : kept.universe.facts(claudes().front())->command;
  }
  [[nodiscard]] bool has(const std::string& word) const {
    return std::ranges::count(command(), word) > 0;
  }
  [[nodiscard]] bool told(std::string_view what) const {
    return std::ranges::any_of(kept.journal("note"),
                               [&](const std::string& note) { return note.contains(what); });
  }
  /// With a limit of 300 s, and a weak sign now and then.
  void expect_twice_the_time() {
    kept.start_keeper();
    kept.universe.run_for(560s);
    // Without it this would have been stalled at 420 s.
    EXPECT_EQ(kept.heartbeat().verdict, Verdict::suspect);
    EXPECT_EQ(kept.heartbeat().life, 1U);
    kept.universe.run_for(200s);
    EXPECT_EQ(kept.heartbeat().life, 2U) << "it proves no progress, and has a ceiling";
  }
  void kill_agent() { kept.universe.signal(claudes().front(), Kill::kill); }

  Kept kept;
};

void work(SimSelf& self) {
  self.print(init());
  self.every(10s, [n = 0](SimSelf& me) mutable { me.print(said(std::to_string(++n))); });
}

TEST_F(KeptAgent, is_started_so_that_its_stream_is_understood) {
  behave(work);
  kept.start_keeper();
  kept.universe.run_for(5s);
  EXPECT_TRUE(has("stream-json"));
  EXPECT_TRUE(has("--verbose"));
  EXPECT_FALSE(has("--resume"));
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
}

TEST_F(KeptAgent, has_its_words_counted_as_heard_with_the_last_that_was_heard_at_once) {
  behave([](SimSelf& self) { self.print(init() + tool_opened("t1")); });
  kept.start_keeper();
  kept.universe.run_for(5s);
  std::map<std::string, std::size_t> read;  // by what was heard
  std::istringstream journal(kept.text_of("journal.jsonl"));
  for (std::string line; std::getline(journal, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("is")) read[json["is"]] = json.value("offset", std::size_t{0});
  }
  EXPECT_EQ(read.at("turn-start"), 0U) << "a full disk may take the next line";
  EXPECT_EQ(read.at("tool-open"), kept.text_of("stream.jsonl").size());
}

TEST_F(KeptAgent, is_started_as_it_is_if_told_so) {
  kept.agent.as_is = true;
  behave(work);
  kept.start_keeper();
  kept.universe.run_for(5s);
  EXPECT_EQ(command(), (Words{"claude", "-p", "do it"}));
}

TEST_F(KeptAgent, goes_on_in_its_session_after_it_was_killed) {
  behave(work);
  kept.start_keeper();
  kept.universe.run_for(25s);
  kill_agent();
  kept.universe.run_for(5s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_TRUE(has("--resume"));
  EXPECT_TRUE(has(std::string(kSession)));
  EXPECT_FALSE(has("do it")) << "what it was told first it has in its session";
  kept.check_replay();
}

TEST_F(KeptAgent, goes_on_in_its_session_also_under_another_keeper) {
  behave(work);
  kept.start_keeper();
  kept.universe.run_for(25s);
  kept.universe.signal(kept.keeper, Kill::kill);
  kept.universe.run_for(5s);
  kept.start_keeper();
  kept.universe.run_for(5s);
  kill_agent();
  kept.universe.run_for(5s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_TRUE(has(std::string(kSession)));
}

TEST_F(KeptAgent, has_its_open_tool_remembered_by_the_next_keeper) {
  behave([](SimSelf& self) {
    self.print(init() + tool_opened("t1", R"(,"timeout":60000)"));
    self.print_after(100s, tool_closed("t1") + said("done") + result());
    self.exit_after(101s, 0);
  });
  kept.start_keeper();
  kept.universe.run_for(25s);
  kept.universe.signal(kept.keeper, Kill::kill);
  kept.universe.run_for(1s);
  kept.start_keeper();
  kept.universe.run_for(120s);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(kept.heartbeat().note, "") << "a tool was used: no doubt";
  kept.check_replay();
}

TEST_F(KeptAgent, has_its_open_tool_remembered_by_a_keeper_that_could_not_hear_it_at_first) {
  behave([](SimSelf& self) {
    self.print(init() + tool_opened("t1", R"(,"timeout":60000)"));
    self.print_after(40s, tool_closed("t1") + said("now I think"));
  });
  kept.start_keeper();
  kept.universe.run_for(25s);
  kept.universe.signal(kept.keeper, Kill::kill);
  kept.universe.disk.make_unreadable(kept.path("stream.jsonl"));
  kept.start_keeper();
  kept.universe.run_for(5min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::unknown);
  kept.universe.disk.make_readable(kept.path("stream.jsonl"));
  kept.universe.run_for(10min);
  EXPECT_EQ(kept.heartbeat().phase, Phase::model) << "its call is over";
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.check_replay();
}

TEST_F(KeptAgent, is_begun_anew_if_it_does_not_know_its_session_any_more) {
  behave([](SimSelf& self) {
    if (self.variable("TEND_LIFE") == "2") {
      self.print(R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
                 R"("errors":["No conversation found with session ID: x"]})"
                 "\n");
      self.exit_after(1s, 1);
      return;
    }
    work(self);
  });
  kept.start_keeper();
  kept.universe.run_for(25s);
  kill_agent();
  kept.universe.run_for(30s);
  EXPECT_EQ(kept.heartbeat().life, 3U);
  EXPECT_FALSE(has("--resume"));
  EXPECT_TRUE(has("do it"));
  EXPECT_TRUE(told("does not know its session"));
}

TEST_F(KeptAgent, that_ends_well_and_did_nothing_is_done_in_doubt) {
  behave([](SimSelf& self) {
    self.print(init() + said("I would do it") + result());
    self.exit_after(1s, 0);
  });
  kept.start_keeper();
  kept.universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(kept.heartbeat().note, "in doubt: it used no tool, so it changed nothing");
}

TEST_F(KeptAgent, that_was_denied_everything_is_done_in_doubt_and_told_of) {
  behave([](SimSelf& self) {
    self.print(init() + tool_opened("t1") + tool_closed("t1") + said("I may not") +
               result(R"("is_error":false,"permission_denials":[{"tool_name":"Bash"}])"));
    self.exit_after(1s, 0);
  });
  kept.start_keeper();
  kept.universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().note, "in doubt: everything it wanted to do was denied");
  EXPECT_TRUE(told("'Bash' was not allowed"));
}

TEST_F(KeptAgent, that_waits_for_a_retry_is_waiting_and_not_suspect) {
  behave([](SimSelf& self) {
    self.print(init() + R"({"type":"system","subtype":"api_retry","retry_delay_ms":3000000,)"
                        R"("error_status":429})"
                        "\n");
  });
  kept.start_keeper();
  kept.universe.run_for(1500s);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
}

TEST_F(KeptAgent, that_gave_up_on_a_long_limit_is_resumed_when_it_is_over) {
  behave([](SimSelf& self) {
    if (self.variable("TEND_LIFE") != "1") return work(self);
    self.print(init() + result(R"("is_error":true,"api_error_status":429)"));
    self.exit_after(1s, 1);
  });
  kept.start_keeper();
  kept.universe.run_for(500s);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(200s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_TRUE(has(std::string(kSession)));
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U) << "a provider's limit spends nothing";
}

TEST_F(KeptAgent, whose_wrapper_died_while_it_was_held_up_may_end_its_work_alone) {
  kept.have_a_work_tree(10s);
  behave([](SimSelf& self) {
    self.print(init() + R"({"type":"system","subtype":"api_retry","error_status":429})"
                        "\n");
  });
  kept.start_keeper();
  kept.universe.run_for(25s);
  kept.universe.kill(kept.keeper);
  kill_agent();
  kept.start_keeper();
  kept.universe.run_for(1min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  // By what it had started, which nobody has killed.
  kept.universe.disk.append(kept.path("stream.jsonl"), said("I am back"));
  kept.universe.run_for(1500ms);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::dead) << "it is no more, and its hold is over";
  kept.universe.disk.append(kept.path("stream.jsonl"), result());
  kept.universe.run_for(1min);
  EXPECT_TRUE(kept.over());
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(kept.heartbeat().life, 1U) << "it has nothing left to do";
}

TEST_F(KeptAgent, whose_wrapper_died_goes_on_in_a_session_that_was_named_while_its_work_was_saved) {
  kept.have_a_work_tree(10s);
  behave([](SimSelf&) {});
  kept.start_keeper();
  kept.universe.run_for(5s);
  kept.universe.kill(kept.keeper);
  kill_agent();
  kept.start_keeper();
  kept.universe.run_for(5s);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::dead);
  ASSERT_EQ(kept.heartbeat().life, 1U) << "its work is being saved";
  // By what it had started, which nobody has killed.
  kept.universe.disk.append(kept.path("stream.jsonl"), init() + said("I am here"));
  kept.universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_TRUE(has("--resume") && has(std::string(kSession)));
}

TEST_F(KeptAgent, that_is_silent_in_a_tool_without_a_process_is_told_of) {
  behave([](SimSelf& self) { self.print(init() + tool_opened("t1", R"(,"timeout":60000)")); });
  kept.start_keeper();
  kept.universe.run_for(130s);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::suspect);
  EXPECT_TRUE(told("no process of a tool is there"));
}

TEST_F(KeptAgent, whose_session_grows_on_disk_is_given_more_time) {
  const std::string transcript =
      "/home/user/.claude/projects/-home-user/" + std::string(kSession) + ".jsonl";
  behave([&](SimSelf& self) {
    self.print(init());
    self.every(20s, [transcript](SimSelf& me) { me.write(transcript, "more\n"); });
  });
  kept.policy.limits.model = 300s;
  expect_twice_the_time();
}

TEST_F(KeptAgent, whose_tool_computes_without_a_word_is_given_twice_its_time) {
  behave([](SimSelf& self) {
    self.print(init() + tool_opened("t1", ""));
    self.compute(50);
  });
  kept.policy.limits.tool = 300s;
  expect_twice_the_time();
}

TEST_F(KeptAgent, that_receives_something_now_and_then_is_given_more_time) {
  behave([](SimSelf& self) {
    self.print(init());
    self.every(1s, [](SimSelf& me) { me.receive(100); });
  });
  kept.policy.limits.model = 300s;
  expect_twice_the_time();
}

TEST_F(KeptAgent, S25_a_limit_that_names_its_end_is_waited_for_until_then_and_spends_nothing) {
  behave([until = kept.universe.wall() + 5h](SimSelf& self) {
    if (self.variable("TEND_LIFE") != "1") return work(self);
    self.print(init() + held_until(until) + result(R"("is_error":true,"api_error_status":429)"));
    self.exit_after(1s, 1);
  });
  kept.start_keeper();
  kept.universe.run_for(5h - 1min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(10min);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U);
  kept.check_replay();
}

/// It said so by the calendar that was put forward since, and waits by a clock that was not.
TEST_F(KeptAgent, that_is_held_is_waited_for_though_the_calendar_and_the_journal_were_lost) {
  behave([until = kept.universe.wall() + 2h](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? self.print(init() + held_until(until)) : work(self);
  });
  kept.start_keeper();
  kept.universe.run_for(5min);
  kept.universe.kill(kept.keeper);
  kept.universe.disk.write(kept.path("journal.jsonl"), "not a journal\n");
  kept.universe.step_wall(3h);
  kept.start_keeper();
  kept.universe.run_for(110min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(40min);
  EXPECT_EQ(kept.heartbeat().life, 2U) << "not for ever";
}

/// It waits by a clock that stood still while the machine slept.
TEST_F(KeptAgent, that_is_held_is_waited_for_though_the_machine_slept_and_the_journal_was_lost) {
  behave([until = kept.universe.wall() + 2h](SimSelf& self) {
    self.variable("TEND_LIFE") == "1" ? self.print(init() + held_until(until)) : work(self);
  });
  kept.start_keeper();
  kept.universe.run_for(5min);
  kept.universe.sleep_machine(3h);
  kept.universe.run_for(1min);
  kept.universe.kill(kept.keeper);
  kept.universe.disk.write(kept.path("journal.jsonl"), "not a journal\n");
  kept.start_keeper();
  kept.universe.run_for(110min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(40min);
  EXPECT_EQ(kept.heartbeat().life, 2U) << "not for ever";
}

TEST_F(KeptAgent, that_is_held_where_nobody_read_it_is_waited_for_though_the_calendar_was_set) {
  behave([until = kept.universe.wall() + 2h](SimSelf& self) {
    if (self.variable("TEND_LIFE") != "1") return work(self);
    self.print(init());
    self.print_after(30s, held_until(until));
  });
  kept.start_keeper();
  kept.universe.run_for(20s);
  kept.universe.kill(kept.keeper);
  kept.universe.run_for(1min);
  kept.universe.step_wall(3h);
  kept.start_keeper();
  kept.universe.run_for(110min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(40min);
  EXPECT_EQ(kept.heartbeat().life, 2U) << "not for ever";
}

TEST_F(KeptAgent, S26_one_that_only_talks_of_rate_limits_is_no_limited_one) {
  behave([](SimSelf& self) {
    self.print(init());
    self.every(10s, [n = 0](SimSelf& me) mutable {
      me.print(said("429 rate limit reached: unauthorized, overloaded " + std::to_string(++n)));
    });
    self.after(2min, [](SimSelf& me) { me.exit(1); });
  });
  kept.start_keeper();
  kept.universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  kept.universe.run_for(2min);
  EXPECT_EQ(kept.heartbeat().life, 2U) << "it failed, and is not waited for as for a provider";
  EXPECT_EQ(kept.heartbeat().resumes_spent, 1U);
}

/// Exits as often as it is begun.
void be_refused(SimSelf& self) {
  self.print(init() + result(R"("is_error":true,"api_error_status":401)"));
  self.exit_after(1s, 1);
}

TEST_F(KeptAgent, S27_one_that_may_not_log_in_waits_for_a_person_and_is_no_crash_loop) {
  behave(be_refused);
  kept.start_keeper();
  kept.universe.run_for(24h);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  EXPECT_GE(kept.count("action", "notify"), 1);
  EXPECT_EQ(kept.count("action", "escalate"), 0);
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U);
  EXPECT_LE(kept.heartbeat().life, 24 * 6U) << "a try in ten minutes";
  kept.check_replay();
}

TEST_F(KeptAgent, S27_of_one_that_may_not_log_in_a_person_hears_once_until_it_works_again) {
  const auto told = [this] {
    std::string kinds;
    for (const auto& run : kept.universe.ran()) {
      if (run.command.front() != "tell-me") continue;
      kinds += nlohmann::json::parse(run.input)["kind"].get<std::string>() + " ";
    }
    return kinds;
  };
  kept.agent.notify = {"tell-me"};
  kept.universe.answers["tell-me"] = {.takes = 1s};
  behave(be_refused);
  kept.start_keeper();
  kept.universe.run_for(24h);
  EXPECT_EQ(told(), "open ");
  EXPECT_GT(kept.heartbeat().life, 100U);
  behave([](SimSelf& self) {
    self.print(init());
    self.every(10s, [n = 0](SimSelf& me) mutable { me.print(said(std::to_string(++n))); });
  });
  kept.universe.run_for(15min);
  EXPECT_EQ(told(), "open close ");
}

TEST_F(KeptAgent, S40_one_that_was_allowed_nothing_and_exits_well_has_not_done_its_task) {
  TasksAtHome tasks(kept.universe);
  tasks.add("t1");
  kept.agent.task = "t1";
  behave([](SimSelf& self) {
    self.print(init() + tool_opened("t1") + tool_closed("t1") +
               said("Please grant me permission to write") +
               result(R"("is_error":false,"permission_denials":[{"tool_name":"Write"}])"));
    self.exit_after(1s, 0);
  });
  kept.start_keeper();
  kept.universe.run_for(1min);
  EXPECT_TRUE(kept.over());
  EXPECT_EQ(tasks.task("t1").status, kOpen);
  EXPECT_EQ(tasks.task("t1").heartbeat_message,
            "given back: done, exit 0, in doubt: everything it wanted to do was denied");
}

}  // namespace
}  // namespace tend
