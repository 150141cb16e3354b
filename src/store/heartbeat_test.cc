// The file that everybody reads, from everybody who may have written it.
#include "store/heartbeat.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

Heartbeat full() {
  Heartbeat heartbeat{
      .agent = "coder",
      .session = "20260308-203749-x7f2",
      .role = "coding",
      .parent_heartbeat = "/home/me/tend/sessions/s/.heartbeat",
      .status = Status::running,
      .process = {4711, 123456, 4026531836, "boot-1"},
      .started = 1773002269.25,
      .keeper = {4700, 123400, 4026531836, "boot-1"},
      .life = 3,
      .verdict = Verdict::suspect,
      .phase = Phase::model,
      .since = 1773002300.5,
      .because = {"silent 730 s", "process running"},
      .next = "kill",
      .next_at = 1773002420,
      .resumes_spent = 1,
      .resumes_allowed = 3,
  };
  heartbeat.ended_by = "SIGKILL";
  heartbeat.exit = {Exit::How::signal, 9};
  heartbeat.note = "indexing";
  heartbeat.leaving = true;
  heartbeat.asks_parent = true;
  heartbeat.work_phase = "tests";
  heartbeat.task = "web:3";
  heartbeat.children = 2;
  heartbeat.divergence = "session fresh, file stale";
  return heartbeat;
}

Heartbeat parsed(std::string_view text) {
  const auto heartbeat = parse_heartbeat(text);
  EXPECT_TRUE(heartbeat.has_value()) << text;
  return heartbeat.value_or(Heartbeat{});
}

TEST(Heartbeat, has_the_fields_that_others_read_and_ours) {
  const std::string wanted =
      R"({"pid":4711,"parent_heartbeat":"/home/me/tend/sessions/s/.heartbeat","role":"coding",)"
      R"("started":1773002269.25,"status":"running","boot_id":"boot-1","pid_ns":4026531836,)"
      R"("start_ticks":123456,"keeper_pid":4700,"keeper_start_ticks":123400,"life":3,)"
      R"("agent":"coder","session":"20260308-203749-x7f2","verdict":"suspect","phase":"model",)"
      R"("since":1773002300.5,"because":["silent 730 s",)"
      R"("process running"],"next":{"what":"kill","at":1773002420.0},)"
      R"("budget":{"spent":1,"allowed":3},"outcome":"none","ended_by":"SIGKILL",)"
      R"("exit":{"signal":9},"note":"indexing","leaving":true,"asks_parent":true,"work_phase":"tests",)"
      R"("task":"web:3","children":2,"divergence":"session fresh, file stale"})";
  EXPECT_EQ(format_heartbeat(full()), wanted + "\n");
}

TEST(Heartbeat, says_null_where_there_is_nothing) {
  const std::string text = format_heartbeat({});
  EXPECT_NE(text.find("\"next\":null"), std::string::npos) << text;
  EXPECT_NE(text.find("\"exit\":null"), std::string::npos) << text;
}

TEST(Heartbeat, leaves_out_what_few_agents_have) {
  const std::string text = format_heartbeat({});
  for (const char* key : {"leaving", "asks_parent", "work_phase", "task", "children"}) {
    EXPECT_EQ(text.find(key), std::string::npos) << text;
  }
  const Heartbeat heartbeat = parsed(R"({"leaving":1,"work_phase":["x"],"children":-2})");
  EXPECT_FALSE(heartbeat.leaving);
  EXPECT_EQ(heartbeat.work_phase, "");
  EXPECT_EQ(heartbeat.children, 0U);
}

TEST(Heartbeat, comes_back_as_it_was) {
  const Heartbeat before = full();
  const Heartbeat after = parsed(format_heartbeat(before));
  EXPECT_EQ(after.agent, before.agent);
  EXPECT_EQ(after.session, before.session);
  EXPECT_EQ(after.role, before.role);
  EXPECT_EQ(after.parent_heartbeat, before.parent_heartbeat);
  EXPECT_EQ(after.status, before.status);
  EXPECT_EQ(after.process, before.process);
  EXPECT_EQ(after.started, before.started);
  EXPECT_EQ(after.keeper, before.keeper);
  EXPECT_EQ(after.life, before.life);
  EXPECT_EQ(after.verdict, before.verdict);
  EXPECT_EQ(after.phase, before.phase);
  EXPECT_EQ(after.since, before.since);
  EXPECT_EQ(after.because, before.because);
  EXPECT_EQ(after.next, before.next);
  EXPECT_EQ(after.next_at, before.next_at);
  EXPECT_EQ(after.resumes_spent, before.resumes_spent);
  EXPECT_EQ(after.resumes_allowed, before.resumes_allowed);
  EXPECT_EQ(after.outcome, before.outcome);
  EXPECT_EQ(after.ended_by, before.ended_by);
  EXPECT_EQ(after.exit, before.exit);
  EXPECT_EQ(after.note, before.note);
  EXPECT_EQ(after.leaving, before.leaving);
  EXPECT_EQ(after.work_phase, before.work_phase);
  EXPECT_EQ(after.task, before.task);
  EXPECT_EQ(after.children, before.children);
}

TEST(Heartbeat, names_its_keeper_before_the_first_life_and_knows_it_is_not_the_agent) {
  Heartbeat heartbeat = full();
  heartbeat.process = {};
  const std::string text = format_heartbeat(heartbeat);
  EXPECT_TRUE(text.starts_with("{\"pid\":4700,")) << text;
  EXPECT_EQ(parsed(text).process.pid, 0);
  EXPECT_EQ(parsed(text).keeper, heartbeat.keeper);

  heartbeat.process = heartbeat.keeper;
  EXPECT_EQ(format_heartbeat(heartbeat), text);
}

TEST(Heartbeat, of_another_system_is_enough) {
  const Heartbeat heartbeat =
      parsed(R"({"pid":12,"parent_heartbeat":"","role":"lead","started":1773002269.25,)"
             R"("status":"completed","theirs":[1,2]})");
  EXPECT_EQ(heartbeat.process.pid, 12);
  EXPECT_EQ(heartbeat.role, "lead");
  EXPECT_EQ(heartbeat.status, Status::completed);
  EXPECT_EQ(heartbeat.verdict, Verdict::unknown);
  EXPECT_TRUE(heartbeat.agent.empty());
  EXPECT_EQ(parsed("{}").status, Status::starting);
}

TEST(Heartbeat, takes_hostile_values_for_missing) {
  for (const char* pid : {"-1", "1.5", "\"7\"", "null", "[7]", "{}", "true", "2147483648",
                          "18446744073709551615", "99999999999999999999", "1e300"}) {
    EXPECT_EQ(parsed(std::string("{\"pid\":") + pid + "}").process.pid, 0) << pid;
  }
  EXPECT_EQ(parsed(R"({"status":"ready"})").status, Status::starting);
  EXPECT_EQ(parsed(R"({"started":-5})").started, 0);
  EXPECT_EQ(parsed(R"({"started":1e40})").started, 0);
  EXPECT_EQ(parsed(R"({"parent_heartbeat":"../../etc"})").parent_heartbeat, "");
  EXPECT_EQ(parsed(R"({"parent_heartbeat":"/a\u0000b"})").parent_heartbeat, "");
  EXPECT_EQ(parsed(R"({"agent":"a\u0000b"})").agent, "");
  EXPECT_EQ(parsed(R"({"exit":{"code":"0"}})").exit, Exit{});
  EXPECT_EQ(parsed(R"({"exit":{"code":-1}})").exit, Exit{});
  EXPECT_EQ(parsed(R"({"exit":{"code":3}})").exit, (Exit{Exit::How::code, 3}));
  EXPECT_EQ(parsed(R"({"next":"kill"})").next, "");
  EXPECT_TRUE(parsed(R"({"because":"x"})").because.empty());
  EXPECT_EQ(parsed(R"({"because":["x",5,null,"y"]})").because,
            (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(parsed(R"({"pid":1,"pid":2})").process.pid, 2) << "the last of two";
}

TEST(Heartbeat, bounds_what_people_will_see) {
  const std::string text(5000, 'x');
  const Heartbeat heartbeat =
      parsed("{\"agent\":\"" + text + "\",\"note\":\"" + text + "\",\"role\":\"a\\nb\"}");
  EXPECT_EQ(heartbeat.agent.size(), 128U);
  EXPECT_EQ(heartbeat.note.size(), 400U);
  EXPECT_EQ(heartbeat.role, "a\\x0ab");

  Heartbeat ours;
  ours.note = text;
  ours.agent = text;
  ours.because.assign(99, text);
  EXPECT_LT(format_heartbeat(ours).size(), 5000U);
}

TEST(Heartbeat, refuses_what_is_no_object_however_deep_or_large) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"pid\":1"), std::string(1, '\0'),
        std::string(60'000, '['), "{\"a\":" + std::string(60'000, '[')}) {
    EXPECT_EQ(parse_heartbeat(text).error().text, "the heartbeat is no JSON object");
  }
  std::string deep = "{\"a\":" + std::string(30'000, '[') + std::string(30'000, ']') + "}";
  EXPECT_TRUE(parse_heartbeat(deep).has_value());
  EXPECT_EQ(parse_heartbeat(std::string(65'537, ' ')).error().text,
            "the heartbeat is larger than 64 KB");
}

TEST(ReadHeartbeat, tells_none_from_one_that_cannot_be_read) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make("/home/user/a");
  ASSERT_TRUE(folder.has_value());
  EXPECT_FALSE(read_heartbeat(**folder).value().has_value());

  universe.disk.write("/home/user/a/.heartbeat", format_heartbeat(full()));
  EXPECT_EQ(read_heartbeat(**folder).value().value().agent, "coder");

  universe.disk.write("/home/user/a/.heartbeat", "what");
  EXPECT_EQ(read_heartbeat(**folder).error().text,
            "/home/user/a/.heartbeat: the heartbeat is no JSON object");
}

}  // namespace
}  // namespace tend
