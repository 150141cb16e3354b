// The files of other systems, as those write them, and what becomes of them in bad hours.
#include "store/foreign/foreign_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "os/linux/linux_world.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono;

constexpr WallTime kBeat{seconds{1'767'557'953}};  // 2026-01-04T20:19:13Z
constexpr WallTime kChanged = kBeat + seconds{100};
const TimeContext kHere{.now = kBeat + minutes{5}};

bool nobody(std::int64_t, const std::optional<WallTime>&) { return false; }

class ForeignStores : public testing::Test {
 protected:
  void put(const std::string& path, std::string text) {
    files.contents[path] = std::move(text);
    files.times[path] = kChanged;
  }
  StoreReading read(StoreKind kind, const std::string& path, const std::string& field = "") {
    return read_store(files, {.kind = kind, .path = path, .field = field}, kHere, lives);
  }

  SimFiles files;
  ProcessLives lives = nobody;
};

TEST_F(ForeignStores, have_the_deacons_heartbeat_of_gas_town) {
  put("/gt/deacon/heartbeat.json",
      "{\n  \"timestamp\": \"2026-01-04T20:19:13.123456789Z\",\n  \"cycle\": 41,\n"
      "  \"last_action\": \"patrol\",\n  \"healthy_agents\": 3,\n  \"unhealthy_agents\": 0\n}");
  const auto reading = read(StoreKind::json_time, "/gt/deacon/heartbeat.json", "timestamp");
  EXPECT_EQ(reading.last_sign, kBeat + nanoseconds{123'456'789});
  EXPECT_FALSE(reading.from_mtime);
  EXPECT_EQ(reading.context, "patrol");
  EXPECT_EQ(reading.problem, "");
}

TEST_F(ForeignStores, have_the_session_state_of_gas_town) {
  put("/s.json",
      R"({"timestamp":"2026-01-04T20:19:13Z","state":"idle","context":"no work","bead":"gt-12"})");
  const auto reading = read(StoreKind::session_state, "/s.json");
  EXPECT_EQ(reading.last_sign, kBeat);
  EXPECT_EQ(reading.state, "idle");
  EXPECT_EQ(reading.context, "no work");
  EXPECT_EQ(reading.task, "gt-12");
  put("/s.json", R"({"timestamp":"2026-01-04T20:19:13Z"})");
  EXPECT_EQ(read(StoreKind::session_state, "/s.json").state, "working") << "the first version";
}

TEST_F(ForeignStores, have_the_status_of_zylos) {
  put("/agent-status.json",
      "{\n  \"state\": \"busy\",\n  \"last_activity\": 1767557953,\n"
      "  \"runtime_launch_at\": 1767557900250,\n  \"last_check_human\": \"2026-01-04 20:19:13\",\n"
      "  \"health\": \"ok\"\n}\n");
  for (const char* field : {"last_activity", "last_check_human"}) {
    EXPECT_EQ(read(StoreKind::json_time, "/agent-status.json", field).last_sign, kBeat) << field;
  }
  const auto launch = read(StoreKind::json_time, "/agent-status.json", "runtime_launch_at");
  EXPECT_EQ(launch.last_sign, kBeat - seconds{53} + milliseconds{250});
  EXPECT_EQ(launch.state, "busy");
}

TEST_F(ForeignStores, have_no_sign_of_an_agent_of_zylos_that_its_monitor_calls_offline) {
  for (const std::string state : {"offline", "stopped"}) {
    put("/agent-status.json", fmt::format("{{\n  \"state\": \"{}\",\n  \"since\": 1767557000,\n"
                                          "  \"not_running_seconds\": 953,\n"
                                          "  \"message\": \"not running\"\n}}\n",
                                          state));
    const auto reading = read(StoreKind::json_time, "/agent-status.json", "last_activity");
    EXPECT_EQ(reading.last_sign, std::nullopt) << "it was the monitor who wrote";
    EXPECT_FALSE(reading.from_mtime);
    EXPECT_EQ(reading.written, std::nullopt);
    EXPECT_EQ(reading.state, state);
    EXPECT_EQ(reading.problem, "its system says that it is " + state);
    EXPECT_FALSE(reading.unread) << "and that is an answer";
  }
}

const std::string kRegistry =
    R"({"version":"1.0.0","agents":[)"
    R"({"agent_id":"a1","started_at":"2026-01-04T18:00:00.000Z",)"
    R"("last_heartbeat":"2026-01-04T20:20:13Z","status":"working",)"
    R"("assigned_role":"orchestrator","pid":656016},)"
    R"({"agent_id":"a2","last_heartbeat":"2026-01-04T20:19:13.000Z","status":"active",)"
    R"("current_task":"t7","assigned_role":"orchestrator","pid":656099},)"
    R"({"agent_id":"w","last_heartbeat":1767557953,"assigned_role":"worker"}],)"
    R"("last_updated":"2026-01-04T20:19:13.000Z","lock_version":4})";
const std::string kOrchestrator = "agents[assigned_role=orchestrator].last_heartbeat";

TEST_F(ForeignStores, have_the_registry_of_hyrm_and_take_the_entry_that_lives) {
  put("/r.json", kRegistry);
  lives = [](std::int64_t pid, const std::optional<WallTime>& started) {
    return pid == 656099 && !started;
  };
  const auto reading = read(StoreKind::registry, "/r.json", kOrchestrator);
  EXPECT_EQ(reading.last_sign, kBeat) << "the zombie's is newer, and not believed";
  EXPECT_EQ(reading.id, "a2");
  EXPECT_EQ(reading.pid, 656099);
  EXPECT_EQ(reading.state, "active");
  EXPECT_EQ(reading.task, "t7");
  EXPECT_EQ(reading.problem, "");
}

TEST_F(ForeignStores, take_the_entry_that_beat_last_where_several_live) {
  put("/r.json", kRegistry);
  lives = [](std::int64_t, const std::optional<WallTime>&) { return true; };
  const auto reading = read(StoreKind::registry, "/r.json", kOrchestrator);
  EXPECT_EQ(reading.id, "a1");
  EXPECT_EQ(reading.last_sign, kBeat + minutes{1});
}

TEST_F(ForeignStores, have_the_session_lock_of_maestro_and_the_pending_probe_of_zylos) {
  put("/session-lock_web.json", R"({"track_id":"web","last_heartbeat":"2026-01-04T20:19:13Z"})");
  EXPECT_EQ(read(StoreKind::json_time, "/session-lock_web.json", "last_heartbeat").last_sign,
            kBeat);
  put("/heartbeat-pending.json",
      "{\n  \"control_id\": 7,\n  \"phase\": \"primary\",\n  \"created_at\": 1767557953\n}");
  EXPECT_EQ(read(StoreKind::json_time, "/heartbeat-pending.json", "created_at").last_sign, kBeat);
  put("/restart_state.json",
      R"({"agents":{"deacon":{"last_restart":"2026-01-04T22:19:13+02:00"}}})");
  EXPECT_EQ(
      read(StoreKind::json_time, "/restart_state.json", "agents.deacon.last_restart").last_sign,
      kBeat);
}

TEST_F(ForeignStores, say_that_no_entry_of_a_registry_lives_or_is_there) {
  put("/r.json", kRegistry);
  const auto dead = read(StoreKind::registry, "/r.json", kOrchestrator);
  EXPECT_EQ(dead.last_sign, std::nullopt);
  EXPECT_EQ(dead.problem,
            "none of the 2 entries that are 'agents[assigned_role=orchestrator].last_heartbeat' "
            "has a living process");
  const auto none = read(StoreKind::registry, "/r.json", "agents[agent_id=x].last_heartbeat");
  EXPECT_EQ(none.last_sign, std::nullopt) << "the mtime is everybody's";
  EXPECT_EQ(none.problem, "no entry is 'agents[agent_id=x].last_heartbeat'");
  const auto only =
      read(StoreKind::registry, "/r.json", "agents[assigned_role=worker].last_heartbeat");
  EXPECT_EQ(only.last_sign, kBeat) << "one alone is judged by who asks";
}

TEST_F(ForeignStores, have_the_lease_of_hyrm_and_know_that_it_was_given_back) {
  put("/l.json",
      R"({"leader_id":"a2","leader_epoch":19,"last_heartbeat":"2026-01-04T20:19:13.000Z","ttl_ms":180000})");
  const auto held = read(StoreKind::lease_file, "/l.json");
  EXPECT_EQ(held.last_sign, kBeat);
  EXPECT_EQ(held.id, "a2");
  EXPECT_EQ(held.epoch, 19U);
  EXPECT_EQ(held.ttl, Duration{180'000});
  EXPECT_FALSE(held.released);
  put("/l.json",
      R"({"leader_id":"a2","leader_epoch":19,"last_heartbeat":"1970-01-01T00:00:00.000Z","ttl_ms":180000})");
  const auto back = read(StoreKind::lease_file, "/l.json");
  EXPECT_TRUE(back.released);
  EXPECT_EQ(back.last_sign, std::nullopt);
  EXPECT_EQ(back.problem, "");
  put("/l.json", "{");
  EXPECT_EQ(read(StoreKind::lease_file, "/l.json").last_sign, std::nullopt)
      << "a lease is not renewed by a touch";
}

TEST_F(ForeignStores, have_the_folder_of_teaparty) {
  put("/job/.heartbeat",
      R"({"pid":4711,"parent_heartbeat":"","role":"coding","started":1767557900.25,"status":"running"})");
  put("/job/.children",
      "{\"heartbeat\":\"/job/a/"
      ".heartbeat\",\"team\":\"a\",\"task_id\":null,\"status\":\"active\"}\n"
      "{\"heartbeat\":\"/job/a/"
      ".heartbeat\",\"team\":\"a\",\"task_id\":null,\"status\":\"active\"}\n"
      "torn {\n"
      "{\"heartbeat\":\"/job/b/"
      ".heartbeat\",\"team\":\"b\",\"task_id\":\"t\",\"status\":\"active\"}\n");
  const auto reading = read(StoreKind::heartbeat_dir, "/job");
  EXPECT_EQ(reading.last_sign, kChanged) << "the beat is the touch";
  EXPECT_TRUE(reading.from_mtime);
  EXPECT_EQ(reading.pid, 4711);
  EXPECT_EQ(reading.started, kBeat - seconds{53} + milliseconds{250});
  EXPECT_EQ(reading.state, "running");
  EXPECT_EQ(reading.children, (std::vector<std::string>{"/job/a/.heartbeat", "/job/b/.heartbeat"}));
  EXPECT_EQ(reading.problem, "");
}

TEST_F(ForeignStores, have_the_bare_pid_of_an_older_folder) {
  put("/job/.running", "4711\n");
  EXPECT_EQ(read(StoreKind::heartbeat_dir, "/job").pid, 4711);
  EXPECT_EQ(read(StoreKind::heartbeat_dir, "/job").last_sign, kChanged);
  put("/job/.running", "4711|Sun Jan  4 20:18:20 2026");
  EXPECT_EQ(read(StoreKind::heartbeat_dir, "/job").started, kBeat - seconds{53});
  for (const char* text : {"", "0", "-1", "x", "4711x", "99999999999"}) {
    put("/job/.running", text);
    const auto reading = read(StoreKind::heartbeat_dir, "/job");
    EXPECT_EQ(reading.pid, 0) << text;
    EXPECT_EQ(reading.problem, "/job/.running holds no pid");
  }
  EXPECT_EQ(read(StoreKind::heartbeat_dir, "/none").problem, "there is no /none/.heartbeat");
}

TEST_F(ForeignStores, fall_back_to_the_mtime_and_say_why) {
  const auto problem = [&](const std::string& text) {
    put("/h.json", text);
    const auto reading = read(StoreKind::json_time, "/h.json", "timestamp");
    EXPECT_EQ(reading.last_sign, kChanged) << text;
    EXPECT_TRUE(reading.from_mtime) << text;
    return reading.problem;
  };
  EXPECT_EQ(problem(""), "/h.json is empty");
  EXPECT_EQ(problem("{\"timestamp\": \"2026"),
            "/h.json: no JSON: the text ends at line 1, column 20");
  EXPECT_EQ(problem("{}"), "no field 'timestamp' in /h.json");
  EXPECT_EQ(problem("7"), "/h.json is neither an object nor an array");
  EXPECT_EQ(problem(R"({"timestamp":"soon"})"), "'soon' is no time");
  EXPECT_EQ(problem(R"({"timestamp":"2036-01-04T20:19:13Z"})"),
            "'2036-01-04T20:19:13Z': the time is more than a day ahead");
  EXPECT_NE(problem(std::string(kLargestEdited + 1, ' ')).find("larger than"), std::string::npos);
}

TEST_F(ForeignStores, do_not_believe_a_time_that_is_later_than_its_own_file) {
  put("/h.json", R"({"t":"2026-01-04T20:20:54Z"})");
  EXPECT_EQ(read(StoreKind::json_time, "/h.json", "t").last_sign, kChanged + seconds{1});
  put("/h.json", R"({"t":"2026-01-04T20:29:54Z"})");
  const auto reading = read(StoreKind::json_time, "/h.json", "t");
  EXPECT_EQ(reading.last_sign, kChanged);
  EXPECT_TRUE(reading.from_mtime);
  EXPECT_EQ(reading.problem, "its time is later than its last change");
}

TEST_F(ForeignStores, give_no_sign_where_there_is_none) {
  EXPECT_EQ(read(StoreKind::json_time, "/none", "t").problem, "there is no /none");
  EXPECT_EQ(read(StoreKind::mtime, "/none").problem, "there is no /none");
  put("/h.json", R"({"t":0})");
  EXPECT_EQ(read(StoreKind::json_time, "/h.json", "t").last_sign, std::nullopt);
  EXPECT_EQ(read(StoreKind::json_time, "/h.json").problem,
            "the store /h.json needs the field that holds its time");
}

TEST_F(ForeignStores, do_not_believe_an_mtime_that_cannot_be) {
  put("/touched", "");
  EXPECT_EQ(read(StoreKind::mtime, "/touched").last_sign, kChanged);
  files.times["/touched"] = kBeat + days{3};
  EXPECT_EQ(read(StoreKind::mtime, "/touched").last_sign, std::nullopt);
  files.times["/touched"] = WallTime{};
  EXPECT_EQ(read(StoreKind::mtime, "/touched").problem,
            "of its last change: the time is before the year 2000");
}

/// Gives these texts one after the other, the last one for ever.
class ChangingFiles final : public Files {
 public:
  explicit ChangingFiles(std::deque<std::string> texts) : texts_(std::move(texts)) {}

  Result<std::unique_ptr<ByteSource>> open(const std::string&) override {
    return fail("not asked");
  }
  Result<std::optional<std::string>> read(const std::string&, std::size_t) override {
    ++reads;
    std::string text = texts_.front();
    if (texts_.size() > 1) texts_.pop_front();
    return text;
  }
  Result<bool> replace_if(const std::string&, std::string_view,
                          const std::function<bool()>&) override {
    return fail("not asked");
  }
  Result<bool> make_new(const std::string&, std::string_view) override { return false; }
  Result<std::optional<WallTime>> modified(const std::string&) override { return kChanged; }
  Result<bool> touch(const std::string&) override { return fail("not asked"); }
  Result<void> append_line(const std::string&, std::string_view, std::uint64_t) override {
    return fail("not asked");
  }
  Result<void> remove(const std::string&) override { return {}; }

  int reads = 0;

 private:
  std::deque<std::string> texts_;
};

TEST(ForeignStore, is_read_again_while_it_is_being_written) {
  const std::string whole = R"({"timestamp":"2026-01-04T20:19:13Z","state":"idle"})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ChangingFiles files({"", whole.substr(0, size), whole});
    const ForeignStore store{.kind = StoreKind::session_state, .path = "/s", .field = ""};
    const auto reading = read_store(files, store, kHere, nobody);
    EXPECT_EQ(reading.last_sign, kBeat) << size;
    EXPECT_EQ(reading.problem, "") << size;
  }
}

TEST(ForeignStore, that_stays_torn_is_as_old_as_its_last_change_and_no_older) {
  const std::string whole = R"({"timestamp":"2026-01-04T20:19:13Z","state":"idle"})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ChangingFiles files({whole.substr(0, size)});
    const ForeignStore store{.kind = StoreKind::session_state, .path = "/s", .field = ""};
    EXPECT_EQ(read_store(files, store, kHere, nobody).last_sign, kChanged) << size;
  }
}

TEST(ForeignStore, that_is_large_and_torn_is_read_once_a_look_and_is_as_old_as_its_last_change) {
  const ForeignStore store{.kind = StoreKind::json_time, .path = "/s", .field = "t"};
  const std::string torn = R"({"t":1767557953,"more":")" + std::string(3'000'000, 'x');
  ChangingFiles large({torn});
  const auto reading = read_store(large, store, kHere, nobody);
  EXPECT_EQ(large.reads, 1);
  EXPECT_EQ(reading.last_sign, kChanged);
  EXPECT_EQ(reading.problem, "/s is torn, or no JSON");
  ChangingFiles small({torn.substr(0, 100'000)});
  std::ignore = read_store(small, store, kHere, nobody);
  EXPECT_EQ(small.reads, 3) << "until that is too much in all";
  ChangingFiles tiny({R"({"t":)"});
  std::ignore = read_store(tiny, store, kHere, nobody);
  EXPECT_EQ(tiny.reads, 4);
}

TEST(ForeignStore, that_is_no_plain_file_is_refused_and_not_waited_for) {
  const TemporaryFolder folder;
  LinuxFiles files;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", folder / "loop");
  std::filesystem::create_directory(folder / "folder");
  for (const std::string& path :
       {folder / "fifo", folder / "loop", folder / "folder", std::string("/dev/zero")}) {
    for (const auto kind : {StoreKind::json_time, StoreKind::mtime, StoreKind::session_state,
                            StoreKind::registry, StoreKind::lease_file}) {
      const auto reading =
          read_store(files, {.kind = kind, .path = path, .field = "a"}, kHere, nobody);
      EXPECT_EQ(reading.last_sign, std::nullopt) << path;
      EXPECT_NE(reading.problem, "") << path;
    }
  }
}

}  // namespace
}  // namespace tend
