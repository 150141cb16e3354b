// Agents of other systems beside the real `tend`: a real tmux, real processes, and files laid out
// as each of these systems lays them out.
#include <csignal>
#include <fstream>
#include <tuple>

#include <fmt/format.h>

#include "e2e.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string rfc3339(std::chrono::system_clock::time_point at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss time(at - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(),
                     std::chrono::nanoseconds(time.subseconds()).count());
}

std::string now_text() { return rfc3339(std::chrono::system_clock::now()); }

long now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class StoresTest : public E2e {
 protected:
  void TearDown() override {
    if (has_tmux_) std::ignore = tmux({"kill-server"});
    E2e::TearDown();
  }

  void write(const Path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// The whole configuration. Limits are seconds here.
  void configure(const std::string& name, const std::string& preset, const std::string& more = "") {
    fs::create_directories(home());
    fs::permissions(home(), fs::perms::owner_all);
    write(home() / "config.toml",
          fmt::format("[store.{}]\npreset = \"{}\"\nroot = \"{}\"\nstale = \"3s\"\n"
                      "very_stale = \"8s\"\n{}",
                      name, preset, root().string(), more));
  }
  [[nodiscard]] Path root() const { return scratch() / "system"; }

  Finished tmux(const Arguments& arguments) {
    has_tmux_ = true;
    return run({.arguments = Arguments{"tmux", "-f", "/dev/null"} + arguments,
                .environment = environment()});
  }
  Finished tend_beside(const Arguments& arguments) {
    return run({.arguments = Arguments{TEND_BINARY} + arguments, .environment = environment()});
  }
  void start_session(const std::string& name, const std::string& command) {
    const auto made = tmux({"new-session", "-d", "-x", "80", "-y", "24", "-s", name, command});
    ASSERT_EQ(made.exit, 0) << made.err;
  }
  /// The folder of the watch.
  Path watch(const std::string& name) {
    const auto ran = tend_beside(
        {"watch", "--beat", "1s", "--notify", "cat >> " + told_file().string(), "store:" + name});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const auto space = ran.out.find(' ');
    if (ran.exit != 0 || space == std::string::npos) return {};
    return lines_of(ran.out.substr(space + 1)).front();
  }
  [[nodiscard]] Path told_file() const { return scratch() / "told"; }
  /// Whether a person was told this.
  [[nodiscard]] bool told(const std::string& words) const {
    return read_file(told_file()).find(words) != std::string::npos;
  }
  Json stores(const std::string& name) {
    const auto ran = tend_beside({"stores", "--json", name});
    const auto json = Json::parse(ran.out, nullptr, false);
    if (!json.is_object()) {
      ADD_FAILURE() << ran.out << ran.err;
      return {};
    }
    return json["agents"][0];
  }
  static std::string verdict_of(const Json& agent, const std::string& store) {
    for (const Json& each : agent["stores"]) {
      if (each["store"] == store) return each["verdict"];
    }
    return "no such store";
  }
  bool has_verdict(const Path& folder, const std::string& verdict) {
    return text_in(heartbeat_of(folder), "verdict") == verdict;
  }
  /// Does something again and again for that long, and says whether it always held.
  static bool holds_for(Patience time, const std::function<bool()>& held) {
    bool always = true;
    std::ignore = eventually([&] { return !(always = held()); }, time);
    return always;
  }

  // ---- Gas Town

  /// A `bd` that knows one label, which nobody refreshes.
  void make_bd(long epoch) {
    const Path program = scratch() / "bin" / "bd";
    write(program, fmt::format("#!/bin/sh\necho '[{{\"id\":\"hq-deacon\",\"labels\":"
                               "[\"gt:agent\",\"heartbeat:{}\"]}}]'\n",
                               epoch));
    fs::permissions(program, fs::perms::owner_all);
  }
  void write_deacon_file() {
    write(
        root() / "deacon/heartbeat.json",
        fmt::format("{{\n  \"timestamp\": \"{}\",\n  \"cycle\": 12,\n  \"healthy_agents\": 3\n}}\n",
                    now_text()));
  }
  void write_session(const std::string& state) {
    write(
        root() / ".runtime/heartbeats/hq-deacon.json",
        fmt::format(R"({{"timestamp":"{}","state":"{}","context":"patrol"}})", now_text(), state));
  }

 private:
  std::map<std::string, std::string> environment() const {
    const char* const path = std::getenv("PATH");
    return {{"TMUX_TMPDIR", scratch().string()},
            {"TMUX", ""},
            {"TERM", "xterm"},
            {"PATH", (scratch() / "bin").string() + ":" + (path == nullptr ? "" : path)}};
  }

  bool has_tmux_ = false;
};

TEST_F(StoresTest, S19_a_fresh_session_and_a_stale_file_are_a_divergence_and_no_stuck_agent) {
  configure("deacon", "gastown", "poke = []\n");
  make_bd(now_seconds());
  start_session("hq-deacon", "cat");
  write_deacon_file();
  write_session("working");
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] {
    write_session("working");
    return told("its stores disagree: session fresh");
  })) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(told("file stale (")) << read_file(told_file());
  EXPECT_TRUE(holds_for(10s, [&] {
    write_session("working");
    return !has_verdict(folder, "stalled") && !told("\"escalate\"");
  })) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(has_verdict(folder, "working"));
  const Json shown = stores("deacon");
  EXPECT_EQ(verdict_of(shown, "session"), "fresh");
  EXPECT_EQ(verdict_of(shown, "file"), "stale");
  EXPECT_TRUE(shown["diverges"]);
  EXPECT_EQ(tend_beside({"stores", "deacon"}).exit, 3);
}

TEST_F(StoresTest, all_stale_and_a_quiet_terminal_is_poked_and_escalated_and_not_ended) {
  const Path poked = scratch() / "poked";
  configure("deacon", "gastown", "poke = [\"touch\", \"" + poked.string() + "\"]\n");
  make_bd(now_seconds());
  start_session("hq-deacon", "cat");
  write_deacon_file();
  write_session("working");
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] { return told("\"escalate\""); }))
      << read_file(home() / "events.jsonl");
  EXPECT_TRUE(eventually([&] { return fs::exists(poked); }));
  EXPECT_TRUE(has_verdict(folder, "stalled"));
  EXPECT_EQ(tmux({"has-session", "-t", "hq-deacon"}).exit, 0);
  EXPECT_TRUE(done("kill").empty());
  EXPECT_TRUE(eventually([&] {
    write_deacon_file();
    write_session("working");
    return has_verdict(folder, "working");
  })) << "and it may come back";
}

TEST_F(StoresTest, a_stale_label_beside_a_fresh_file_stays_quiet) {
  configure("deacon", "gastown", "poke = []\n");
  start_session("hq-deacon", "cat");
  const auto began = now_seconds();
  ASSERT_TRUE(eventually([&] { return now_seconds() > began; }));
  make_bd(now_seconds());  // older than the session it would be void
  write_deacon_file();
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(holds_for(10s, [&] {
    write_deacon_file();
    return read_file(told_file()).empty();
  })) << read_file(told_file());
  EXPECT_TRUE(has_verdict(folder, "working"));
  const Json shown = stores("deacon");
  EXPECT_EQ(verdict_of(shown, "label"), "stale") << shown;
  EXPECT_TRUE(shown["finding"].is_null()) << shown;
}

TEST_F(StoresTest, S21_malformed_JSON_falls_back_to_its_mtime) {
  configure("deacon", "gastown", "poke = []\n");
  make_bd(now_seconds());
  const auto tear = [&] { write(root() / "deacon/heartbeat.json", "{\n  \"timestamp\": \"20"); };
  tear();
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(holds_for(8s, [&] {
    tear();
    return !has_verdict(folder, "suspect") && !has_verdict(folder, "stalled");
  }));
  EXPECT_TRUE(has_verdict(folder, "working"));
  const Json shown = stores("deacon");
  EXPECT_TRUE(shown["stores"][0]["from_mtime"]) << shown;
}

TEST_F(StoresTest, S18_idle_by_its_own_word_is_not_stale_and_stuck_is_told_at_once) {
  configure("deacon", "gastown", "poke = []\n");
  make_bd(now_seconds());
  write_session("idle");
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] { return has_verdict(folder, "idle"); }));
  EXPECT_TRUE(holds_for(9s, [&] { return has_verdict(folder, "idle"); }));
  EXPECT_EQ(read_file(told_file()), "");
  write_session("stuck");
  EXPECT_TRUE(eventually([&] { return told("\"escalate\""); }))
      << read_file(home() / "events.jsonl");
}

TEST_F(StoresTest, S11_a_job_of_teaparty_is_followed_from_process_to_process) {
  configure("job", "teaparty");
  const auto beat_for = [&](pid_t pid) {
    const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
    const auto ticks = std::stoull(lines_of([&] {
                                     std::string rest = stat.substr(stat.rfind(')') + 2);
                                     for (int i = 0; i < 19; ++i)
                                       rest = rest.substr(rest.find(' ') + 1);
                                     return rest.substr(0, rest.find(' '));
                                   }())
                                       .front());
    long booted = 0;
    for (const std::string& line : lines_of(read_file("/proc/stat"))) {
      if (line.starts_with("btime ")) booted = std::stol(line.substr(6));
    }
    const double started = static_cast<double>(booted) + static_cast<double>(ticks) / 100;
    write(root() / ".heartbeat",
          fmt::format(R"({{"pid":{},"parent_heartbeat":"","role":"coding","started":{:.2f},)"
                      R"("status":"running"}})",
                      pid, started));
  };
  auto first = start({.arguments = {"sleep", "1000"}, .environment = {}, .input = ""});
  beat_for(first.pid());
  const Path folder = watch("job");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] { return has_verdict(folder, "working"); }));
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), first.pid());
  first.signal(SIGKILL);
  std::ignore = first.wait();
  EXPECT_TRUE(eventually([&] {
    fs::last_write_time(root() / ".heartbeat", fs::file_time_type::clock::now());
    return has_verdict(folder, "dead");
  })) << "however fresh the beat";
  auto second = start({.arguments = {"sleep", "1000"}, .environment = {}, .input = ""});
  beat_for(second.pid());
  EXPECT_TRUE(eventually([&] { return has_verdict(folder, "working"); }));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 2);
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), second.pid());
  EXPECT_EQ(tend({"stop", "job"}).exit, 0);
  EXPECT_TRUE(is_running(second.pid())) << "it was only watched";
}

TEST_F(StoresTest, S13_the_living_one_of_two_entries_of_a_registry_is_meant) {
  configure("orchestrator", "hyrm");
  const auto live = start({.arguments = {"sleep", "1000"}, .environment = {}, .input = ""});
  const auto entry = [](const std::string& id, pid_t pid) {
    return fmt::format(R"(    {{"agent_id": "{}", "assigned_role": "orchestrator", "pid": {}, )"
                       R"("last_heartbeat": "{}", "status": "working"}})",
                       id, pid, now_text());
  };
  const auto write_registry = [&] {
    write(root() / "memory/agent-registry.json",
          fmt::format("{{\n  \"agents\": [\n{},\n{}\n  ]\n}}\n", entry("zombie", 4194301),
                      entry("live", live.pid())));
  };
  write_registry();
  const Path folder = watch("orchestrator");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(holds_for(6s, [&] {
    write_registry();
    return !has_verdict(folder, "dead");
  }));
  EXPECT_TRUE(has_verdict(folder, "working"));
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), live.pid());
}

TEST_F(StoresTest, the_status_of_zylos_is_idle_while_its_monitor_says_so) {
  configure("main", "zylos");
  const long moved = now_seconds();
  const auto write_status = [&](const std::string& state) {
    write(root() / "activity-monitor/agent-status.json",
          fmt::format("{{\n  \"state\": \"{}\",\n  \"last_activity\": {},\n  \"last_check\": {},\n"
                      "  \"health\": \"ok\"\n}}\n",
                      state, moved, now_seconds()));
  };
  write_status("idle");
  const Path folder = watch("main");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(holds_for(9s, [&] {
    write_status("idle");
    return !has_verdict(folder, "suspect");
  }));
  EXPECT_TRUE(has_verdict(folder, "idle"));
  write_status("busy");
  EXPECT_TRUE(eventually([&] {
    write_status("busy");
    return has_verdict(folder, "suspect");
  })) << "a monitor that writes is no agent that moves";
}

TEST_F(StoresTest, an_agent_of_zylos_that_is_offline_is_not_kept_alive_by_its_monitor) {
  configure("main", "zylos");
  const Path status = root() / "activity-monitor/agent-status.json";
  write(status,
        fmt::format("{{\n  \"state\": \"busy\",\n  \"last_activity\": {}\n}}\n", now_seconds()));
  const Path folder = watch("main");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] { return has_verdict(folder, "working"); }));
  EXPECT_TRUE(eventually([&] {
    write(status, fmt::format("{{\n  \"state\": \"offline\",\n  \"since\": {},\n"
                              "  \"not_running_seconds\": 1\n}}\n",
                              now_seconds()));
    return has_verdict(folder, "stalled");
  })) << read_file(home() / "events.jsonl");
  EXPECT_EQ(verdict_of(stores("main"), "status"), "none");
}

TEST_F(StoresTest, the_pane_of_a_terminal_is_not_ended_even_where_that_is_allowed) {
  configure("deacon", "gastown", "poke = []\nkill = true\n");
  make_bd(now_seconds());
  start_session("hq-deacon", "cat");
  write_deacon_file();
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] {
    return read_file(home() / "events.jsonl").contains("not done: its process is not proven");
  })) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(has_verdict(folder, "stalled"));
  EXPECT_TRUE(holds_for(5s, [&] { return tmux({"has-session", "-t", "hq-deacon"}).exit == 0; }));
}

TEST_F(StoresTest, a_broken_configuration_and_a_reload_leave_the_keeper_as_it_was) {
  configure("deacon", "gastown", "poke = []\n");
  make_bd(now_seconds());
  write_deacon_file();
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(eventually([&] { return has_verdict(folder, "working"); }));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  write(home() / "config.toml", "[store.deacon\n");
  const auto refused = tend_beside({"reload", "deacon"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_TRUE(refused.err.contains("config.toml")) << refused.err;
  EXPECT_TRUE(refused.err.contains("nothing is reloaded")) << refused.err;
  ASSERT_EQ(::kill(keeper, SIGHUP), 0) << "nor does the keeper end if it is told all the same";
  EXPECT_TRUE(eventually([&] {
    return read_file(home() / "events.jsonl").contains("not reloaded, it goes on as it was");
  })) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(holds_for(5s, [&] {
    write_deacon_file();
    return is_running(keeper) && has_verdict(folder, "working");
  }));
  configure("other", "gastown");
  ASSERT_EQ(::kill(keeper, SIGHUP), 0) << "its stores are not there any more";
  EXPECT_TRUE(eventually([&] {
    return read_file(home() / "events.jsonl").contains("has no stores of 'deacon'");
  })) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(is_running(keeper));
  configure("deacon", "gastown", "poke = []\n");
  EXPECT_EQ(tend_beside({"reload", "deacon"}).exit, 0);
  EXPECT_TRUE(holds_for(4s, [&] {
    write_deacon_file();
    return is_running(keeper);
  }));
  EXPECT_TRUE(has_verdict(folder, "working"));
}

TEST_F(StoresTest, a_divergence_is_shown_by_status_and_told_once_over_a_reload) {
  configure("deacon", "gastown", "poke = []\n");
  make_bd(now_seconds());
  write_deacon_file();
  write_session("working");
  const Path folder = watch("deacon");
  ASSERT_FALSE(folder.empty());
  const auto count = [&] {
    const std::string text = read_file(told_file());
    int times = 0;
    for (std::size_t at = 0; (at = text.find("its stores disagree", at)) != std::string::npos;
         ++at) {
      ++times;
    }
    return times;
  };
  const auto is_shown = [&] {
    write_session("working");
    return tend_beside({"status"}).out.contains("its stores disagree: session fresh, file stale");
  };
  EXPECT_TRUE(eventually(is_shown)) << tend_beside({"status"}).out;
  EXPECT_TRUE(eventually([&] { return count() > 0; }));
  const int told_before = count();
  EXPECT_EQ(tend_beside({"reload", "deacon"}).exit, 0);
  EXPECT_TRUE(holds_for(6s, [&] {
    write_session("working");
    return count() == told_before;
  })) << read_file(told_file());
  EXPECT_TRUE(is_shown()) << tend_beside({"status"}).out;
}

TEST_F(StoresTest, what_is_not_configured_cannot_be_watched) {
  configure("deacon", "gastown");
  const auto ran = tend({"watch", "store:deacn"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err,
            "tend watch: the configuration has no stores of 'deacn'; did you mean 'deacon'?\n");
  EXPECT_EQ(tend({"stores", "deacn"}).exit, 1);
}

}  // namespace
}  // namespace tend::e2e
