// `tend lease`: what is typed, what is said, and which exit code it has.
#include "app/lease_commands.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "app/typing_test.h"
#include "store/heartbeat.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class LeaseCommands : public Typing {
 protected:
  LeaseCommands() {
    be("ann");
    reading.universe.behaviours["sleeps"] = [](SimSelf&) {};
    reading.universe.behaviours["ends"] = [](SimSelf& self) { self.exit_after(1s, 7); };
    one_ = process();
    other_ = process();
  }
  std::string process() {
    return std::to_string(reading.universe.start_command(
        {.command = {"sleeps"}, .environment = {}, .working_folder = "/home/user"}));
  }
  Json acquire(const std::string& pid, int exit = kExitYes) {
    return lines({"lease", "acquire", "--name", "n", "--ttl", "1m", "--pid", pid, "--json"}, exit)
        .at(0);
  }
  std::string code_of(const Json& json) {
    EXPECT_EQ(json["ok"], false);
    return json["error"]["code"];
  }
  void judged(Verdict verdict) {
    Heartbeat says = reading.heartbeat();
    says.verdict = verdict;
    reading.universe.disk.write(Kept::path(".heartbeat"), format_heartbeat(says));
  }

  std::string one_;
  std::string other_;
};

TEST_F(LeaseCommands, grant_it_to_one_and_tell_the_other_who_has_it) {
  const Json granted = acquire(one_);
  EXPECT_EQ(granted["ok"], true);
  EXPECT_EQ(granted["fence"], 1);
  EXPECT_EQ(granted["state"], "held");
  EXPECT_EQ(granted["holder"]["pid"], std::stoi(one_));
  EXPECT_EQ(granted["holder"]["process"], "running");
  EXPECT_EQ(granted["in_force"], true);
  const Json refused = acquire(other_, kExitNo);
  EXPECT_EQ(code_of(refused), "held");
  EXPECT_EQ(refused["fence"], 1);
}

TEST_F(LeaseCommands, say_in_one_line_what_they_did) {
  const std::string granted =
      did({"lease", "acquire", "--name", "n", "--ttl", "1m", "--pid", one_});
  EXPECT_TRUE(granted.starts_with("n is held under fence 1 by pid " + one_ + "@")) << granted;
  EXPECT_EQ(did({"lease", "renew", "--name", "n", "--pid", one_}),
            "n is renewed under fence 1, for 1m\n");
  EXPECT_EQ(did({"lease", "check", "--name", "n", "--fence", "1"}), "n: fence 1 is in force\n");
  EXPECT_EQ(refused({"lease", "check", "--name", "n", "--fence", "2"}),
            "tend lease check: n is under fence 1 by now, not 2\n");
  EXPECT_TRUE(did({"lease", "status", "--name", "n"}).starts_with("n: held by pid "));
  EXPECT_TRUE(did({"lease", "status"}).contains("held")) << "the table of all";
  EXPECT_EQ(did({"lease", "release", "--name", "n", "--pid", one_}),
            "n is given back; its last fence is 1\n");
  EXPECT_TRUE(did({"lease", "status", "--name", "n"}, kExitNo).starts_with("n: free (given back)"));
}

TEST_F(LeaseCommands, never_call_it_a_success_not_to_be_the_leader) {
  EXPECT_EQ(
      code_of(lines({"lease", "renew", "--name", "n", "--pid", one_, "--json"}, kExitNo).at(0)),
      "free");
  acquire(one_);
  for (const char* verb : {"renew", "release"}) {
    const auto said = lines({"lease", verb, "--name", "n", "--pid", other_, "--json"}, kExitNo);
    EXPECT_EQ(code_of(said.at(0)), "not-the-holder");
  }
}

TEST_F(LeaseCommands, take_the_name_and_the_fence_from_the_environment) {
  acquire(one_);
  reading.variables["TEND_LEASE"] = "n";
  reading.variables["TEND_FENCE"] = "1";
  EXPECT_EQ(did({"lease", "check"}), "n: fence 1 is in force\n");
}

TEST_F(LeaseCommands, refuse_what_cannot_be_meant) {
  EXPECT_EQ(refused({"lease", "acquire", "--pid", one_}, kExitUsage),
            "tend lease acquire: needs --name NAME, the lease that is meant\n");
  EXPECT_EQ(refused({"lease", "acquire", "--name", "a b", "--pid", one_}, kExitUsage),
            "tend lease acquire: 'a b' is no name of a lease: use letters, digits, '-', '_' and "
            "'.', at most 100\n");
  EXPECT_EQ(refused({"lease", "acquire", "--name", "n", "--ttl", "1s", "--pid", one_}, kExitUsage),
            "tend lease acquire: --ttl is 3s to 1d, not 1s\n");
  EXPECT_EQ(refused({"lease", "check", "--name", "n", "--fence", "x"}, kExitUsage),
            "tend lease check: a fence is a number from 1 on, not 'x'\n");
  EXPECT_EQ(refused({"lease", "acquire", "--name", "n", "--pid", "99999"}),
            "tend lease acquire: there is no process 99999\n");
  EXPECT_EQ(refused({"lease", "acquire", "--name", "n", "--pid", "0"}, kExitUsage),
            "tend lease acquire: --pid wants the number of a process, not '0'\n");
  EXPECT_EQ(refused({"lease", "renew", "--name", "n", "--pid", one_, "--agent", "a"}, kExitUsage),
            "tend lease renew: --pid and --agent: choose one\n");
  const auto typed = lines({"lease", "release", "--name", "n", "--pid", "x", "--json"}, kExitUsage);
  EXPECT_EQ(code_of(typed.at(0)), "bad-input");
  const auto gone = lines({"lease", "renew", "--name", "n", "--pid", "99999", "--json"}, kExitNo);
  EXPECT_EQ(code_of(gone.at(0)), "not-alive");
}

TEST_F(LeaseCommands, never_call_a_lease_free_whose_record_cannot_be_read) {
  acquire(one_);
  for (const std::string& text : {std::string("{"), std::string(100'000, 'x')}) {
    reading.universe.disk.write(std::string(Kept::kHome) + "/leases/n/record.1.json", text);
    const Answer one = tend({"lease", "status", "--name", "n"});
    EXPECT_EQ(one.exit, kExitNeedsYou);
    EXPECT_TRUE(one.err.contains("put a copy back")) << one.err;
    const Answer all = tend({"lease", "status"});
    EXPECT_EQ(all.exit, kExitNeedsYou);
    EXPECT_EQ(all.out, "") << "it does not say that there are none";
    EXPECT_EQ(tend({"lease", "acquire", "--name", "n", "--pid", other_}).exit, kExitNo);
  }
}

TEST_F(LeaseCommands, I086_show_that_it_is_held_back_for_how_long_and_how_late_its_renewals_come) {
  reading.universe.disk.write(std::string(Kept::kHome) + "/config.toml",
                              "[[notify]]\nname = \"mail\"\ncommand = [\"mail-me\"]\n");
  std::string last = process();
  const auto take = [&](int exit = kExitYes) {
    const std::string next = process();
    const Answer answer = tend({"lease", "acquire", "--name", "n", "--ttl", "1m", "--pid", next});
    EXPECT_EQ(answer.exit, exit) << answer.err;
    last = next;
    return answer;
  };
  take();
  Answer taken;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(taken.err, "");
    reading.universe.run_for(50s);
    did({"lease", "renew", "--name", "n", "--pid", last});  // half a minute late
    reading.universe.signal(std::stoi(last), Kill::kill);
    taken = take();
  }
  EXPECT_TRUE(taken.err.contains("goes from hand to hand without being given back")) << taken.err;
  const auto told = lines({"outbox", "--json"});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["key"], "lease:n");
  const std::string held = did({"lease", "status", "--name", "n"});
  EXPECT_TRUE(held.contains("renewals come up to 30s late")) << held;
  EXPECT_TRUE(held.contains("taken 3 times lately without being given back")) << held;
  EXPECT_TRUE(held.contains("until 3m after the last renewal")) << held;
  reading.universe.signal(std::stoi(last), Kill::kill);
  const std::string back = did({"lease", "status", "--name", "n"}, kExitNo);
  EXPECT_TRUE(back.starts_with("n: held back for 3m: it went from hand to hand too often")) << back;
  const Json json = lines({"lease", "status", "--name", "n", "--json"}, kExitNo).at(0);
  EXPECT_EQ(json["state"], "held");
  EXPECT_EQ(json["flapping"], true);
  EXPECT_EQ(json["lag_s"], 30);
  EXPECT_EQ(json["free_in_s"], 180);
  EXPECT_TRUE(take(kExitNo).err.contains("n is held back for 3m: "));
  reading.universe.run_for(180s);
  take();
  EXPECT_EQ(lines({"outbox", "--json"}).size(), 1U) << "people know already";
  for (int i = 0; i < 50; ++i) {
    reading.universe.run_for(20s);
    did({"lease", "renew", "--name", "n", "--pid", last});
  }
  EXPECT_TRUE(lines({"outbox", "--json"}).empty()) << "nobody heard of it, and it is over";
}

TEST_F(LeaseCommands, say_who_has_it_and_for_how_long) {
  acquire(one_);
  const std::string no =
      refused({"lease", "acquire", "--name", "n", "--pid", other_, "--ttl", "1m"});
  EXPECT_TRUE(no.contains("(process " + one_ + ") under fence 1, for 1m unless it is renewed"))
      << no;
}

TEST_F(LeaseCommands, hold_it_for_an_agent_as_long_as_that_is_at_work) {
  reading.start_worker();
  reading.universe.run_for(5s);
  const Json granted =
      lines({"lease", "acquire", "--name", "n", "--agent", "worker-s1", "--json"}).at(0);
  EXPECT_EQ(granted["holder"]["id"], "worker-s1");
  EXPECT_EQ(granted["holder"]["verdict"], "working");
  did({"lease", "renew", "--name", "n", "--agent", "worker-s1"});
  EXPECT_EQ(code_of(acquire(one_, kExitNo)), "held");
  judged(Verdict::stalled);
  const Json renewed =
      lines({"lease", "renew", "--name", "n", "--agent", "worker-s1", "--json"}, kExitNo).at(0);
  EXPECT_EQ(code_of(renewed), "demoted");
  EXPECT_EQ(lines({"lease", "status", "--name", "n", "--json"}, kExitNo).at(0)["state"], "demoted");
  EXPECT_EQ(acquire(one_)["fence"], 2) << "a leader that lives and does not work is no leader";
}

TEST_F(LeaseCommands, run_a_program_and_give_its_exit_code) {
  EXPECT_EQ(tend({"lease", "run", "--name", "n", "--", "ends"}).exit, 7);
  EXPECT_EQ(tend({"lease", "status", "--name", "n", "--json"}).json()["why"], "given back");
  acquire(one_);
  const Answer refused = tend({"lease", "run", "--name", "n", "--no-wait", "--", "ends"});
  EXPECT_EQ(refused.exit, kExitNo);
  EXPECT_TRUE(refused.err.starts_with("tend lease run: n is held by pid ")) << refused.err;
  EXPECT_EQ(tend({"lease", "run", "--name", "n", "--wait", "--no-wait", "--", "ends"}).exit,
            kExitUsage);
}

TEST_F(LeaseCommands, take_what_a_lease_is_like_from_the_configuration) {
  reading.universe.disk.write(std::string(Kept::kHome) + "/config.toml",
                              "[lease.n]\nttl = \"10s\"\nmirror = \"/srv/state.json\"\n");
  reading.universe.disk.make_folder("/srv");
  const Json granted = lines({"lease", "acquire", "--name", "n", "--pid", one_, "--json"}).at(0);
  EXPECT_EQ(granted["ttl_s"], 10);
  EXPECT_EQ(granted["mirror"], "/srv/state.json");
  EXPECT_TRUE(reading.universe.disk.read("/srv/state.json")->contains("\"leader_epoch\""));
}

TEST_F(LeaseCommands, watch_until_they_are_interrupted) {
  acquire(one_);
  const Answer watched = reading.tend({"lease", "watch", "--name", "n", "--json"}, 90s);
  EXPECT_EQ(watched.exit, kExitYes);
  EXPECT_TRUE(watched.has("\"state\":\"held\"") && watched.has("\"state\":\"expired\""))
      << watched.out;
}

}  // namespace
}  // namespace tend
