// Agents whose language is known, on a simulated machine: they are started so that they are
// understood, and brought back into their own session.
#include <chrono>
#include <string>

#include "run/kept_test.h"

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
  kept.start_keeper();
  kept.universe.run_for(560s);
  // Without it this would have been stalled at 420 s.
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::suspect);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(200s);
  EXPECT_EQ(kept.heartbeat().life, 2U) << "it proves no progress, and has a ceiling";
}

}  // namespace
}  // namespace tend
