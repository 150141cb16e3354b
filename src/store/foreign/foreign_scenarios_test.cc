// What went wrong with stores in other systems, each by the number that its scenario has in the
// collection of incidents: S04 is a pid that was used again, wherever it is tested.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "os/linux/linux_world.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_world.h"
#include "store/foreign/foreign_store.h"
#include "store/foreign/foreign_write.h"

namespace tend {
namespace {

using namespace std::chrono;

constexpr WallTime kNow{seconds{1'767'558'013}};  // 2026-01-04T20:20:13Z
const TimeContext kContext{.now = kNow};

const ForeignStore kRegistry{.kind = StoreKind::registry,
                             .path = "/r",
                             .field = "agents[assigned_role=orchestrator].last_heartbeat"};
const ForeignStore kLease{.kind = StoreKind::lease_file, .path = "/l"};
const ForeignStore kDeacon{.kind = StoreKind::json_time, .path = "/d", .field = "timestamp"};

class ForeignScenarios : public testing::Test {
 protected:
  void put(const std::string& path, std::string text, WallTime changed = kNow) {
    files.contents[path] = std::move(text);
    files.times[path] = changed;
  }
  StoreReading read(const ForeignStore& store) { return read_store(files, store, kContext, lives); }
  StoreReading read_folder(const std::string& path) {
    return read({.kind = StoreKind::heartbeat_dir, .path = path});
  }
  std::string write(const ForeignStore& store, const StoreBeat& beat = {}) {
    const auto done = write_store(files, store, beat, kContext, lives);
    return done ? "done" : done.error().text;
  }
  /// An entry of a registry.
  static std::string entry(const std::string& id, std::int64_t pid, const std::string& beat) {
    return fmt::format(
        R"({{"agent_id":"{}","assigned_role":"orchestrator","pid":{},"last_heartbeat":"{}"}})", id,
        pid, beat);
  }
  static std::string lease(const std::string& holder, int epoch, const std::string& beat) {
    return fmt::format(
        R"({{"leader_id":"{}","leader_epoch":{},"last_heartbeat":"{}","ttl_ms":180000}})", holder,
        epoch, beat);
  }

  SimFiles files;
  std::map<std::int64_t, WallTime> processes;  // that live, and since when
  ProcessLives lives = [this](std::int64_t pid, const std::optional<WallTime>& started) {
    const auto found = processes.find(pid);
    return found != processes.end() && (!started || abs(*started - found->second) < seconds{2});
  };
};

TEST_F(ForeignScenarios, S01_a_silent_lead_shows_where_its_beating_child_is) {
  put("/job/.heartbeat", R"({"pid":7,"started":1767550000,"status":"running"})",
      kNow - minutes{40});
  put("/job/.children", "{\"heartbeat\":\"/job/c/.heartbeat\",\"status\":\"active\"}\n");
  put("/job/c/.heartbeat", R"({"pid":8,"started":1767550001,"status":"running"})",
      kNow - seconds{10});
  const auto lead = read_folder("/job");
  EXPECT_EQ(lead.last_sign, kNow - minutes{40});
  ASSERT_EQ(lead.children, std::vector<std::string>{"/job/c/.heartbeat"});
  EXPECT_EQ(read_folder("/job/c").last_sign, kNow - seconds{10});
}

TEST_F(ForeignScenarios, S02_a_finished_child_says_so_and_is_no_sign_of_its_lead) {
  put("/job/.heartbeat", R"({"pid":7,"status":"running"})", kNow - hours{2});
  put("/job/.children", "{\"heartbeat\":\"/job/c/.heartbeat\",\"status\":\"active\"}\n");
  put("/job/c/.heartbeat", R"({"pid":8,"status":"completed"})", kNow - seconds{10});
  EXPECT_EQ(read_folder("/job/c").state, "completed");
  EXPECT_EQ(read_folder("/job").last_sign, kNow - hours{2});
}

TEST_F(ForeignScenarios, S03_a_pid_that_lives_makes_no_old_beat_younger) {
  processes[8] = kNow - hours{3};
  put("/job/.heartbeat", R"({"pid":8,"status":"running"})", kNow - minutes{50});
  EXPECT_EQ(read_folder("/job").last_sign, kNow - minutes{50});
  put("/r", "{\"agents\":[" + entry("a1", 8, "2026-01-04T19:30:13Z") + "]}");
  EXPECT_EQ(read(kRegistry).last_sign, kNow - minutes{50});
}

TEST_F(ForeignScenarios, S04_a_pid_that_was_used_again_is_not_who_was_meant) {
  processes[8] = kNow - minutes{1};
  const std::string old = R"({"pid":8,"started":1767550000,"timestamp":1767557000})";
  put("/d", old);
  EXPECT_EQ(write(kDeacon, {.pid = 8, .started = kNow - minutes{1}}),
            "/d: the entry is of another: process 8");
  EXPECT_EQ(write(kDeacon, {.pid = 8, .started = WallTime{seconds{1'767'550'000}}}),
            "/d is not refreshed: process 8 is gone");
  EXPECT_EQ(files.contents["/d"], old);
  const auto started = [](const std::string& text, int at) {
    return text.substr(0, text.size() - 1) + fmt::format(",\"started\":{}}}", at);
  };
  processes[9] = WallTime{seconds{1'767'550'500}};
  put("/r", "{\"agents\":[" + started(entry("a1", 8, "2026-01-04T20:20:00Z"), 1'767'550'000) + "," +
                started(entry("a2", 9, "2026-01-04T20:19:00Z"), 1'767'550'500) + "]}");
  EXPECT_EQ(read(kRegistry).id, "a2");
}

TEST_F(ForeignScenarios, S09_a_file_from_before_the_restart_is_as_old_as_it_is) {
  put("/d", R"({"pid":7,"timestamp":"2026-01-04T19:00:00Z"})", kNow - minutes{80});
  processes[8] = kNow - seconds{5};
  const auto reading = read(kDeacon);
  EXPECT_EQ(reading.last_sign, kNow - minutes{80} - seconds{13});
  EXPECT_EQ(reading.pid, 7) << "so that it is known not to be of the new one";
  EXPECT_EQ(write(kDeacon, {.pid = 8}), "/d: the entry is of another: process 7");
}

TEST_F(ForeignScenarios, S11_a_fresh_beat_of_a_dead_process_is_not_taken_for_the_living) {
  processes[9] = kNow - hours{1};
  put("/r", "{\"agents\":[" + entry("dead", 8, "2026-01-04T20:20:12Z") + "," +
                entry("alive", 9, "2026-01-04T20:18:00Z") + "]}");
  const auto reading = read(kRegistry);
  EXPECT_EQ(reading.id, "alive");
  EXPECT_EQ(reading.last_sign, kNow - seconds{133});
}

TEST_F(ForeignScenarios, S12_nobody_beats_for_a_subject_that_is_gone) {
  const std::string old = "{\"agents\":[" + entry("a1", 8, "2026-01-04T20:18:00Z") + "]}";
  put("/r", old);
  put("/l", lease("a1", 3, "2026-01-04T20:19:00Z"));
  EXPECT_EQ(write(kRegistry, {.pid = 8, .id = "a1"}), "/r is not refreshed: process 8 is gone");
  EXPECT_EQ(write(kLease, {.pid = 8, .id = "a1"}), "/l is not refreshed: process 8 is gone");
  EXPECT_EQ(files.contents["/r"], old);
  EXPECT_EQ(files.contents["/l"], lease("a1", 3, "2026-01-04T20:19:00Z"));
}

TEST_F(ForeignScenarios, S13_the_first_of_two_entries_is_dead) {
  const std::string dead = entry("first", 8, "2026-01-04T18:00:00Z");
  put("/r", "{\"agents\":[" + dead + "," + entry("second", 9, "2026-01-04T20:18:00Z") + "]}");
  processes[9] = kNow - hours{1};
  EXPECT_EQ(read(kRegistry).id, "second");
  EXPECT_EQ(write(kRegistry, {.pid = 9}), "done");
  EXPECT_EQ(files.contents["/r"],
            "{\"agents\":[" + dead + "," + entry("second", 9, "2026-01-04T20:20:13Z") + "]}");
}

TEST_F(ForeignScenarios, S14_the_beat_of_one_who_does_not_lead_fails) {
  put("/l", lease("a2", 19, "2026-01-04T20:19:13Z"));
  EXPECT_EQ(write(kLease, {.id = "a1"}), "/l: the entry is of another: a2");
  EXPECT_EQ(write(kLease), "/l: the lease is held by a2");
  EXPECT_EQ(write(kLease, {.id = "a2", .epoch = 18}), "/l: the lease is in epoch 19, not 18");
  EXPECT_EQ(files.contents["/l"], lease("a2", 19, "2026-01-04T20:19:13Z"));
}

TEST_F(ForeignScenarios, S16_the_lease_of_a_predecessor_is_its_own_to_its_end) {
  put("/l", lease("before", 4, "2026-01-04T20:18:13Z"));
  const auto reading = read(kLease);
  EXPECT_EQ(reading.id, "before");
  EXPECT_EQ(reading.epoch, 4U);
  EXPECT_EQ(*reading.last_sign + *reading.ttl, kNow + minutes{1}) << "when it may be taken";
  EXPECT_EQ(write(kLease, {.id = "after", .epoch = 5}), "/l: the entry is of another: before");
  put("/l", lease("before", 4, "2026-01-04T20:10:13Z"));
  EXPECT_EQ(write(kLease, {.id = "before", .epoch = 4}), "/l: the lease ran out")
      << "nor does it come back to who let it go";
}

/// Says that all is well, and writes nothing.
class ForgetfulFiles final : public Files {
 public:
  explicit ForgetfulFiles(SimFiles& files) : files_(files) {}
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    return files_.open(path);
  }
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override {
    return files_.read(path, most);
  }
  Result<bool> replace_if(const std::string&, std::string_view,
                          const std::function<bool()>& still) override {
    return still();
  }
  Result<bool> make_new(const std::string&, std::string_view) override { return true; }
  Result<std::optional<WallTime>> modified(const std::string& path) override {
    return files_.modified(path);
  }
  Result<bool> touch(const std::string&) override { return true; }
  Result<void> append_line(const std::string&, std::string_view, std::uint64_t) override {
    return fail("not asked");
  }
  Result<void> remove(const std::string&) override { return {}; }

 private:
  SimFiles& files_;
};

TEST_F(ForeignScenarios, S20_a_write_that_fails_silently_is_a_failure) {
  put("/d", R"({"timestamp":1767557000})");
  put("/s", R"({"timestamp":1767557000})");
  put("/l", lease("a1", 3, "2026-01-04T20:19:00Z"));
  ForgetfulFiles forgetful(files);
  const std::string end = " does not hold what was written: somebody else wrote it";
  const ForeignStore session{.kind = StoreKind::session_state, .path = "/s"};
  for (const ForeignStore& store : {kDeacon, session, kLease}) {
    const auto done = write_store(forgetful, store, {.id = "a1"}, kContext, lives);
    ASSERT_FALSE(done) << store.path;
    EXPECT_EQ(done.error().text, store.path + end);
  }
  const ForeignStore missing{.kind = StoreKind::session_state, .path = "/none"};
  EXPECT_FALSE(write_store(forgetful, missing, {}, kContext, lives));
}

TEST_F(ForeignScenarios, S29_a_clock_that_was_an_hour_off_freezes_no_store) {
  put("/d", R"({"timestamp":"2026-01-04T21:20:13Z"})");
  EXPECT_EQ(read(kDeacon).last_sign, kNow) << "the file is younger than it says";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(files.contents["/d"], R"({"timestamp":"2026-01-04T20:20:13Z"})");
  put("/d", R"({"timestamp":"2026-01-04T19:20:13Z"})");
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(read(kDeacon).last_sign, kNow);
}

TEST_F(ForeignScenarios, S38_a_full_disk_is_named_and_takes_nothing_away) {
  const std::string old = R"({"timestamp":1767557000,"theirs":[1, 2]})";
  put("/d", old);
  files.full = true;
  EXPECT_EQ(write(kDeacon), "cannot write /d: No space left on device");
  EXPECT_EQ(files.contents["/d"], old);
  EXPECT_EQ(write({.kind = StoreKind::session_state, .path = "/none"}),
            "cannot write /none: No space left on device");
  EXPECT_FALSE(files.contents.contains("/none"));
  ForeignStore locked = kDeacon;
  locked.locked = true;
  EXPECT_EQ(write(locked), "cannot write /d.lock: No space left on device");
}

TEST(ForeignScenario, S43_ten_thousand_stores_are_all_read_in_one_sweep) {
  constexpr int kStores = 10'000;
  const TemporaryFolder folder;
  LinuxFiles files;
  for (int i = 0; i < kStores; ++i) {
    folder.write(fmt::format("{}.json", i),
                 fmt::format(R"({{"timestamp":{},"state":"idle"}})", 1'767'500'000 + i));
  }
  const auto nobody = [](std::int64_t, const std::optional<WallTime>&) { return false; };
  int right = 0;
  for (int i = 0; i < kStores; ++i) {
    const ForeignStore store{.kind = StoreKind::session_state,
                             .path = folder / fmt::format("{}.json", i)};
    const auto reading = read_store(files, store, kContext, nobody);
    right += reading.last_sign == WallTime{seconds{1'767'500'000 + i}} && reading.state == "idle";
  }
  EXPECT_EQ(right, kStores);
  const auto open = std::filesystem::directory_iterator("/proc/self/fd");
  EXPECT_LT(std::distance(begin(open), end(open)), 100) << "each file was closed";
}

}  // namespace
}  // namespace tend
