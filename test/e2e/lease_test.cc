// Leases on real processes: fifty that want one lease, stopped and killed at random, and a ledger
// that shows whether two ever acted at once; and the life of one holder, step by step. A minute and
// more of it: TEND_LEASE_SECONDS=300.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

class LeaseE2e : public E2e {
 protected:
  Json status(const std::string& name) {
    return Json::parse(tend({"lease", "status", "--name", name, "--json"}).out, nullptr, false);
  }
  Background lease_run(const std::string& name, const std::string& script,
                       const Arguments& options = {}) {
    return start_tend(Arguments{"lease", "run", "--name", name, "--ttl", "3s"} + options +
                      Arguments{"--", "sh", "-c", script});
  }
  [[nodiscard]] Path ledger() const { return scratch() / "ledger"; }
  /// Writes a line, with its fence, after every check that says yes.
  [[nodiscard]] std::string acting(const std::string& rounds) const {
    return "i=0; while [ $i -lt " + rounds + " ]; do " + TEND_BINARY +
           " lease check >/dev/null 2>&1 && echo \"$TEND_FENCE $$\" >>" + ledger().string() +
           "; i=$((i+1)); sleep 0.05; done";
  }
};

/// An entry of the ledger.
struct Entry {
  long fence = 0;
  long pid = 0;
};

std::vector<Entry> entries_of(const Path& ledger) {
  std::vector<Entry> entries;
  for (const std::string& line : lines_of(read_file(ledger))) {
    std::istringstream words(line);
    Entry entry;
    EXPECT_TRUE(words >> entry.fence >> entry.pid) << "a torn line: " << line;
    entries.push_back(entry);
  }
  return entries;
}

/// The order of the lines is the order of writing: under a fence nobody writes after one wrote
/// under a later fence, and one program alone writes under each.
void check_ledger(const std::vector<Entry>& entries) {
  Entry last;
  for (const Entry& entry : entries) {
    EXPECT_GE(entry.fence, last.fence) << "written by " << entry.pid << " beside its successor";
    if (entry.fence == last.fence) {
      EXPECT_EQ(entry.pid, last.pid) << "two acted under one fence";
    }
    last = entry;
  }
}

TEST_F(LeaseE2e, lets_no_two_of_fifty_act_at_once_whoever_is_stopped_or_killed) {
  constexpr std::size_t kContenders = 50;
  const char* const asked = std::getenv("TEND_LEASE_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  const std::chrono::seconds lasts{asked == nullptr ? 15 : std::atol(asked)};
  std::mt19937 random(std::random_device{}());
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::vector<std::unique_ptr<Background>> all(kContenders);
  int kills = 0;
  int stops = 0;
  const auto until = std::chrono::steady_clock::now() + lasts;
  while (std::chrono::steady_clock::now() < until) {
    for (auto& each : all) {
      if (each == nullptr || each->is_over()) {
        each =
            std::make_unique<Background>(lease_run("one", acting(std::to_string(1 + below(30)))));
      }
    }
    // A runner, or something of a program that runs under the lease.
    pid_t victim = all[below(kContenders)]->pid();
    const auto programs = processes_with("TEND_LEASE=one");
    const auto holder = status("one");
    if (below(2) == 0 && !programs.empty()) {
      victim = programs[below(programs.size())];
    } else if (below(2) == 0 && holder.contains("holder") && holder["holder"].is_object()) {
      victim = static_cast<pid_t>(number_in(holder["holder"], "pid"));
    }
    const std::size_t what = below(6);
    if (what == 0) {
      kills += signal_process_of(home(), victim, SIGKILL) ? 1 : 0;
    } else if (what < 3) {
      stops += signal_process_of(home(), victim, SIGSTOP) ? 1 : 0;
    } else {
      for (auto& each : all) {
        if (below(4) == 0) each->signal(SIGCONT);
      }
      for (const pid_t pid : programs) signal_process_of(home(), pid, SIGCONT);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(below(100)));
  }
  const auto entries = entries_of(ledger());
  check_ledger(entries);
  const long fence = number_in(status("one"), "fence");
  std::cout << entries.size() << " entries, " << fence << " grants, " << kills << " kills, "
            << stops << " stops\n";
  EXPECT_GT(fence, 3) << "it went from hand to hand";
  EXPECT_GT(entries.size(), 10U);
}

TEST_F(LeaseE2e, gives_the_program_its_fence_and_its_exit_code_back) {
  const auto ran = tend({"lease", "run", "--name", "n", "--", "sh", "-c",
                         "echo $TEND_LEASE $TEND_FENCE; cat; exit 7"},
                        "typed\n");
  EXPECT_EQ(ran.exit, 7) << ran.err;
  EXPECT_EQ(ran.out, "n 1\ntyped\n");
  EXPECT_EQ(tend({"lease", "run", "--name", "n", "--", "sh", "-c", "echo $TEND_FENCE"}).out, "2\n");
  EXPECT_EQ(text_in(status("n"), "state"), "free");
  EXPECT_EQ(tend({"lease", "check", "--name", "n", "--fence", "2"}).exit, 1);
}

TEST_F(LeaseE2e, waits_its_turn_or_says_who_has_it) {
  auto first = lease_run("n", "sleep 2");
  ASSERT_TRUE(eventually([&] { return text_in(status("n"), "state") == "held"; }));
  const auto refused = tend({"lease", "run", "--name", "n", "--no-wait", "--", "true"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(refused.err.contains("n is held by pid ")) << refused.err;
  const auto waited = tend({"lease", "run", "--name", "n", "--", "sh", "-c", "echo $TEND_FENCE"});
  EXPECT_EQ(waited.exit, 0) << waited.err;
  EXPECT_EQ(waited.out, "2\n");
  EXPECT_EQ(first.wait().exit, 0);
}

TEST_F(LeaseE2e, I134_one_that_is_kept_and_waits_its_turn_is_not_taken_for_one_that_hangs) {
  auto first = lease_run("slot", "sleep 1000");
  ASSERT_TRUE(eventually([&] { return text_in(status("slot"), "state") == "held"; }));
  const Path folder =
      keep({"--name", "second", "--policy", "agent", "--limit", "start=10s", "--limit", "model=1s",
            "--limit", "beats=1s,2s", "--limit", "confirm=1s"},
           {TEND_BINARY, "lease", "run", "--name", "slot", "--ttl", "3s", "--", "sh", "-c",
            "echo led; exit 0"});
  ASSERT_TRUE(await(folder, [](const Json& says) { return text_in(says, "verdict") == "idle"; }));
  std::this_thread::sleep_for(4s);  // more than all of its limits
  EXPECT_EQ(text_in(heartbeat_of(folder), "verdict"), "idle");
  first.signal(SIGTERM);
  EXPECT_EQ(tend({"wait", "second"}).exit, 0);
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  EXPECT_EQ(read_file(folder / "stream.jsonl"), "led\n");
}

TEST_F(LeaseE2e, I085_a_stopped_holder_has_its_program_ended_by_the_next_one) {
  auto first = lease_run("n", acting("1000"));
  ASSERT_TRUE(eventually([&] { return !entries_of(ledger()).empty(); }));
  first.signal(SIGSTOP);
  const auto second = tend({"lease", "run", "--name", "n", "--ttl", "3s", "--", "sh", "-c",
                            "echo \"$TEND_FENCE $$\" >>" + ledger().string() + "; sleep 1"});
  EXPECT_EQ(second.exit, 0) << second.err;
  first.signal(SIGCONT);
  EXPECT_EQ(first.wait().exit, 75);
  const auto entries = entries_of(ledger());
  check_ledger(entries);
  EXPECT_EQ(entries.back().fence, 2) << "nothing was written behind the successor's back";
}

TEST_F(LeaseE2e, a_killed_holder_is_followed_at_once) {
  auto first = lease_run("n", acting("1000"));
  ASSERT_TRUE(eventually([&] { return !entries_of(ledger()).empty(); }));
  auto second = start_tend({"lease", "run", "--name", "n", "--ttl", "1h", "--", "sleep", "1000"});
  ASSERT_TRUE(eventually([&] { return second.err().contains("waiting for n"); })) << second.err();
  first.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return number_in(status("n"), "fence") == 2; }, 2500ms))
      << status("n").dump();
  EXPECT_EQ(first.wait().exit, -SIGKILL);
  const auto written = entries_of(ledger()).size();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(entries_of(ledger()).size(), written) << "its program is gone";
}

TEST_F(LeaseE2e, is_held_by_a_process_that_renews_and_gives_back) {
  auto holder = start({.arguments = {"sleep", "1000"}, .environment = {}, .input = ""});
  const std::string pid = std::to_string(holder.pid());
  const auto granted = tend({"lease", "acquire", "--name", "n", "--pid", pid, "--json"});
  EXPECT_EQ(granted.exit, 0) << granted.err;
  EXPECT_EQ(number_in(Json::parse(granted.out), "fence"), 1);
  EXPECT_EQ(tend({"lease", "renew", "--name", "n", "--pid", pid}).exit, 0);
  EXPECT_EQ(tend({"lease", "check", "--name", "n", "--fence", "1"}).exit, 0);
  EXPECT_EQ(tend({"lease", "renew", "--name", "n"}).exit, 1) << "not the leader is a failure";
  EXPECT_EQ(tend({"lease", "release", "--name", "n", "--pid", pid}).exit, 0);
  EXPECT_EQ(tend({"lease", "status", "--name", "n"}).exit, 1);
  ASSERT_EQ(tend({"lease", "acquire", "--name", "n", "--pid", pid}).exit, 0);
  holder.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_letter(holder.pid()) == 'T'; }));
  const auto stopped = tend({"lease", "renew", "--name", "n", "--pid", pid, "--json"});
  EXPECT_EQ(stopped.exit, 1);
  EXPECT_EQ(Json::parse(stopped.out)["error"]["code"], "not-alive");
  holder.signal(SIGKILL);
  holder.wait();
  EXPECT_EQ(tend({"lease", "check", "--name", "n", "--fence", "2"}).exit, 1) << "it is dead";
}

TEST_F(LeaseE2e, watch_follows_it_from_hand_to_hand) {
  auto watch = start_tend({"lease", "watch", "--name", "n", "--json"});
  ASSERT_TRUE(eventually([&] { return lines_of(watch.out()).size() == 1; }));
  EXPECT_EQ(tend({"lease", "run", "--name", "n", "--", "sleep", "0.3"}).exit, 0);
  EXPECT_TRUE(eventually([&] { return lines_of(watch.out()).size() >= 3; })) << watch.out();
  watch.signal(SIGINT);
  EXPECT_EQ(watch.wait().exit, 0);
}

/// Whoever leads is stopped again and again, as on a machine that has no time for it.
TEST_F(LeaseE2e, I086_is_held_back_for_longer_if_its_holders_are_late_and_people_are_told_once) {
  std::filesystem::create_directories(home());
  std::filesystem::permissions(home(), std::filesystem::perms::owner_all);
  const Path told = scratch() / "told";
  std::ofstream(home() / "config.toml")
      << "[[notify]]\nname = \"file\"\ncommand = [\"sh\", \"-c\", \"cat >>" << told.string()
      << "\"]\n";
  std::vector<std::unique_ptr<Background>> all(3);
  const auto refill = [&] {
    for (auto& each : all) {
      if (each == nullptr || each->is_over()) {
        each = std::make_unique<Background>(lease_run("n", acting("10000")));
      }
    }
  };
  const auto holder = [&] {
    const Json now = status("n");
    return now.contains("holder") && now["holder"].is_object() && now["in_force"] == true
               ? static_cast<pid_t>(number_in(now["holder"], "pid"))
               : 0;
  };
  // Taken from one that is stopped for longer than its time, three times.
  for (long fence = 1; fence <= 3; ++fence) {
    refill();
    ASSERT_TRUE(eventually([&] {
      return holder() != 0 && number_in(status("n"), "fence") == fence;
    })) << status("n");
    const pid_t leader = holder();
    ASSERT_TRUE(signal_process_of(home(), leader, SIGSTOP));
    ASSERT_TRUE(eventually([&] { return number_in(status("n"), "fence") == fence + 1; }))
        << status("n");
    signal_process_of(home(), leader, SIGCONT);
  }
  EXPECT_EQ(number_in(status("n"), "takeovers"), 3);
  EXPECT_GE(status("n").value("lag_s", 0.0), 1.0) << status("n");
  // The next one has to wait for more than two of its times.
  refill();
  ASSERT_TRUE(eventually([&] { return holder() != 0; }));
  const pid_t leader = holder();
  ASSERT_TRUE(signal_process_of(home(), leader, SIGSTOP));
  double longest = 0;
  ASSERT_TRUE(eventually([&] {
    const Json now = status("n");
    longest = std::max(longest, now.value("age_s", 0.0));
    return number_in(now, "fence") == 5;
  })) << status("n");
  signal_process_of(home(), leader, SIGCONT);
  EXPECT_GT(longest, 6.5) << "longer than without any lag";
  ASSERT_TRUE(eventually([&] { return read_file(told).contains("goes from hand to hand"); }));
  EXPECT_EQ(lines_of(read_file(told)).size(), 1U) << read_file(told);
  EXPECT_TRUE(has_event("goes from hand to hand"));
  check_ledger(entries_of(ledger()));
}

TEST_F(LeaseE2e, I080_a_second_one_on_the_same_home_defers_and_says_so) {
  auto first = lease_run("supervisor", "sleep 1000");
  ASSERT_TRUE(eventually([&] { return text_in(status("supervisor"), "state") == "held"; }));
  auto second = lease_run("supervisor", "echo second >>" + ledger().string());
  EXPECT_TRUE(
      eventually([&] { return second.err().contains("waiting for supervisor: held by "); }));
  EXPECT_TRUE(read_file(ledger()).empty());
  first.signal(SIGKILL);
  EXPECT_EQ(second.wait().exit, 0) << second.err();
  EXPECT_EQ(read_file(ledger()), "second\n");
}

}  // namespace
}  // namespace tend::e2e
