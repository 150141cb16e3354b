// A beat changes what it must and nothing else, and says so when it did not arrive.
#include "store/foreign/foreign_write.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "os/linux/linux_world.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono;

constexpr WallTime kBeat{seconds{1'767'557'953}};  // 2026-01-04T20:19:13Z
const TimeContext kNow{.now = kBeat + seconds{60} + nanoseconds{123'456'789}};

bool everybody(std::int64_t, const std::optional<WallTime>&) { return true; }
bool nobody(std::int64_t, const std::optional<WallTime>&) { return false; }

class ForeignWriters : public testing::Test {
 protected:
  std::string write(const ForeignStore& store, const StoreBeat& beat = {}) {
    const auto done = write_store(files, store, beat, kNow, lives);
    return done ? "done" : done.error().text;
  }
  std::string& at(const std::string& path) { return files.contents[path]; }

  SimFiles files;
  ProcessLives lives = everybody;
};

const ForeignStore kDeacon{.kind = StoreKind::json_time, .path = "/d", .field = "timestamp"};
const ForeignStore kSession{.kind = StoreKind::session_state, .path = "/s"};
const ForeignStore kLease{.kind = StoreKind::lease_file, .path = "/l", .locked = true};
const ForeignStore kRegistry{.kind = StoreKind::registry,
                             .path = "/r",
                             .field = "agents[assigned_role=orchestrator].last_heartbeat",
                             .locked = true};

TEST_F(ForeignWriters, beat_in_the_deacons_file_of_gas_town_in_its_own_style) {
  at("/d") =
      "{\n  \"timestamp\": \"2026-01-04T20:19:13.5Z\",\n  \"cycle\": 41,\n  \"theirs\": [1, 2]\n}";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(
      at("/d"),
      "{\n  \"timestamp\": \"2026-01-04T20:20:13.1Z\",\n  \"cycle\": 41,\n  \"theirs\": [1, 2]\n}");
}

TEST_F(ForeignWriters, beat_in_unix_time_where_that_was_written) {
  at("/d") = "{\"timestamp\": 1767557953}";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(at("/d"), "{\"timestamp\": 1767558013}");
  at("/d") = "{\"timestamp\": 1767557953.250}";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(at("/d"), "{\"timestamp\": 1767558013.123}");
  at("/d") = "{\"timestamp\": \"1767557953250\"}";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(at("/d"), "{\"timestamp\": \"1767558013123\"}");
}

TEST_F(ForeignWriters, put_a_session_state_and_keep_what_they_are_not_told) {
  at("/s") = R"({"timestamp":"2026-01-04T20:19:13Z","state":"idle","x":1,"bead":"gt-1"})";
  EXPECT_EQ(write(kSession, {.state = "stuck", .context = "no \"key\""}), "done");
  EXPECT_EQ(at("/s"), R"({"timestamp":"2026-01-04T20:20:13Z","state":"stuck","x":1,)"
                      R"("bead":"gt-1","context":"no \"key\""})");
}

TEST_F(ForeignWriters, make_a_session_state_that_is_missing_or_empty) {
  EXPECT_EQ(write(kSession, {.task = "gt-2"}), "done");
  const std::string made =
      "{\"timestamp\":\"2026-01-04T20:20:13.123456789Z\",\"state\":\"working\","
      "\"bead\":\"gt-2\"}\n";
  EXPECT_EQ(at("/s"), made);
  at("/s") = "";
  EXPECT_EQ(write(kSession, {.task = "gt-2"}), "done");
  EXPECT_EQ(at("/s"), made);
  EXPECT_EQ(write(kRegistry), "/r: there is none, and a beat makes none");
}

const std::string kAgents =
    "{\n  \"agents\": [\n"
    "    {\"agent_id\": \"a1\", \"assigned_role\": \"orchestrator\", \"pid\": 7, "
    "\"last_heartbeat\": \"2026-01-04T20:00:00Z\"},\n"
    "    {\"agent_id\": \"a2\", \"assigned_role\": \"orchestrator\", \"pid\": 8, "
    "\"last_heartbeat\": \"2026-01-04T20:19:13.000Z\", \"status\": \"active\"}\n"
    "  ],\n  \"lock_version\": 4\n}\n";

TEST_F(ForeignWriters, beat_the_entry_of_their_own_process_in_a_registry) {
  at("/r") = kAgents;
  EXPECT_EQ(write(kRegistry, {.pid = 8, .state = "working"}), "done");
  std::string wanted = kAgents;
  wanted.replace(wanted.find("2026-01-04T20:19:13.000Z"), 24, "2026-01-04T20:20:13.123Z");
  wanted.replace(wanted.find("\"active\""), 8, "\"working\"");
  EXPECT_EQ(at("/r"), wanted);
  EXPECT_FALSE(files.contents.contains("/r.lock")) << "given back";
  EXPECT_EQ(write(kRegistry, {.id = "a1"}), "done") << "known by its id alone";
}

TEST_F(ForeignWriters, leave_the_entry_of_another_process_alone) {
  at("/r") = kAgents;
  const std::string other =
      "/r: the entry that is 'agents[assigned_role=orchestrator].last_heartbeat' is of another: ";
  EXPECT_EQ(write(kRegistry, {.pid = 9}), other + "process 7, a1; process 8, a2");
  EXPECT_EQ(write(kRegistry, {.pid = 9, .id = "a2"}), other + "process 7, a1; process 8, a2")
      << "the same agent in another life";
  EXPECT_EQ(write(kRegistry), other + "process 7, a1; process 8, a2") << "nobody is nobody's";
  EXPECT_EQ(at("/r"), kAgents);

  at("/d") = R"({"pid":8,"started":1767557900,"timestamp":1767557953})";
  EXPECT_EQ(write(kDeacon, {.pid = 8, .started = kBeat - seconds{52}}), "done");
  EXPECT_EQ(write(kDeacon, {.pid = 8, .started = kBeat - seconds{10}}),
            "/d: the entry is of another: process 8")
      << "a pid that was used again";
}

TEST_F(ForeignWriters, do_not_beat_for_the_dead) {
  at("/r") = kAgents;
  lives = nobody;
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "/r is not refreshed: process 8 is gone");
  EXPECT_EQ(at("/r"), kAgents);
}

TEST_F(ForeignWriters, S14_renew_a_lease_that_they_hold_and_no_other) {
  const auto lease = [](const std::string& beat) {
    return R"({"leader_id":"a2","leader_epoch":19,"last_heartbeat":")" + beat +
           R"(","ttl_ms":180000})";
  };
  at("/l") = lease("2026-01-04T20:19:13.000Z");
  EXPECT_EQ(write(kLease, {.id = "a2", .epoch = 19}), "done");
  EXPECT_EQ(at("/l"), lease("2026-01-04T20:20:13.123Z"));
  EXPECT_EQ(write(kLease, {.id = "a2", .epoch = 18}), "/l: the lease is in epoch 19, not 18");
  EXPECT_EQ(write(kLease, {.id = "a1", .epoch = 19}), "/l: the entry is of another: a2");
  EXPECT_EQ(write(kLease), "/l: the lease is held by a2");
  at("/l") = lease("2026-01-04T20:17:13.000Z");
  EXPECT_EQ(write(kLease, {.id = "a2"}), "/l: the lease ran out");
  at("/l") = lease("1970-01-01T00:00:00.000Z");
  EXPECT_EQ(write(kLease, {.id = "a2"}), "/l: the lease was given back");
}

TEST_F(ForeignWriters, count_their_beats_and_say_what_they_did) {
  at("/d") = R"({"timestamp":1767557953,"cycle":41,"last_action":"old"})";
  EXPECT_EQ(write(kDeacon, {.action = "patrol", .counter = "cycle"}), "done");
  EXPECT_EQ(at("/d"), R"({"timestamp":1767558013,"cycle":42,"last_action":"patrol"})");
  at("/d") = R"({"timestamp":1767557953,"cycle":"many"})";
  EXPECT_EQ(write(kDeacon, {.action = "", .counter = "cycle"}), "done");
  EXPECT_EQ(at("/d"), R"({"timestamp":1767558013,"cycle":1})") << "no text, no new field";
  at("/d") = R"({"timestamp":1767557953,"cycle":9223372036854775807})";
  EXPECT_EQ(write(kDeacon, {.counter = "cycle"}), "done");
  EXPECT_EQ(at("/d"), R"({"timestamp":1767558013,"cycle":1})");
}

TEST_F(ForeignWriters, begin_a_store_as_they_are_told) {
  const StoreBeat beat{
      .counter = "n", .first = "{\n  \"timestamp\": 0,\n  \"n\": 0\n}", .heals = true};
  EXPECT_EQ(write(kDeacon, beat), "done");
  EXPECT_EQ(at("/d"), "{\n  \"timestamp\": 1767558013,\n  \"n\": 1\n}");
  at("/d") = "{\n  \"timest";
  EXPECT_EQ(write(kDeacon, beat), "done") << "what is torn for good";
  EXPECT_EQ(at("/d"), "{\n  \"timestamp\": 1767558013,\n  \"n\": 1\n}");
}

TEST_F(ForeignWriters, refuse_what_they_do_not_understand) {
  at("/s") = "{\"timestamp\": \"2026-01-04T20:19:13Z\",\n oops}";
  EXPECT_EQ(write(kSession), "/s: no JSON: no key at line 2, column 2");
  EXPECT_EQ(at("/s"), "{\"timestamp\": \"2026-01-04T20:19:13Z\",\n oops}");
  files.full = true;
  EXPECT_EQ(write(kDeacon), "cannot write /d: No space left on device");
}

TEST_F(ForeignWriters, touch_a_file_whose_time_is_the_beat) {
  const ForeignStore store{.kind = StoreKind::mtime, .path = "/t"};
  files.now = [] { return kNow.now; };
  EXPECT_EQ(write(store), "done") << "there was none";
  EXPECT_EQ(at("/t"), "");
  at("/t") = "of somebody";
  files.times["/t"] = kNow.now - seconds{3600};
  EXPECT_EQ(write(store), "done");
  EXPECT_EQ(at("/t"), "of somebody");
  EXPECT_EQ(files.times["/t"], kNow.now);
  files.now = [] { return kNow.now - seconds{3600}; };
  EXPECT_EQ(write(store), "/t was touched, and shows nothing of it");
}

TEST_F(ForeignWriters, touch_only_the_heartbeat_of_their_own_process) {
  const ForeignStore store{.kind = StoreKind::heartbeat_dir, .path = "/j"};
  const std::string path = "/j/.heartbeat";
  files.now = [] { return kNow.now; };
  EXPECT_EQ(write(store, {.pid = 7}), path + ": there is none, and a beat makes none");
  at(path) = R"({"pid":7,"started":1767550000.5,"status":"running"})";
  const WallTime before = kNow.now - seconds{3600};
  files.times[path] = before;
  EXPECT_EQ(write(store, {.pid = 8}), path + " is of another: process 7");
  const WallTime later{seconds{1767550100}};
  EXPECT_EQ(write(store, {.pid = 7, .started = later}), path + " is of another: process 7");
  EXPECT_EQ(write(store, {.pid = 8, .also = {{.pid = 7, .started = later}}}),
            path + " is of another: process 7");
  EXPECT_EQ(files.times[path], before);
  const WallTime started{seconds{1767550000}};
  EXPECT_EQ(write(store, {.pid = 8, .also = {{.pid = 7, .started = started}}}), "done");
  EXPECT_EQ(files.times[path], kNow.now);
  EXPECT_EQ(at(path), R"({"pid":7,"started":1767550000.5,"status":"running"})");
  at(path) = R"({"pid":7,"status":"completed"})";
  EXPECT_EQ(write(store, {.pid = 7}), path + " is not refreshed: it is completed");
  at(path) = "{\"pid\":";
  EXPECT_EQ(write(store, {.pid = 7}), path + " is no JSON object");
}

TEST_F(ForeignWriters, wait_for_a_lock_as_long_as_they_have_patience) {
  at("/r") = kAgents;
  at("/r.lock") = R"({"agent_id":"w","locked_at":"2026-01-04T20:20:00.000Z","pid":55})";
  int waited = 0;
  StoreBeat beat{.pid = 8};
  beat.writer.patience = [&] {
    if (++waited == 7) files.contents.erase("/r.lock");
    return true;
  };
  EXPECT_EQ(write(kRegistry, beat), "done");
  EXPECT_EQ(waited, 7);
  EXPECT_FALSE(files.contents.contains("/r.lock")) << "and given back";
  at("/r.lock") = R"({"agent_id":"w","locked_at":"2026-01-04T20:20:00.000Z","pid":55})";
  waited = 0;
  beat.writer.patience = [&] { return ++waited < 5; };
  EXPECT_EQ(write(kRegistry, beat),
            "/r is locked by process 55 (w), who did not give it up in time");
  EXPECT_EQ(waited, 5);
  EXPECT_NE(at("/r.lock"), "") << "it stays";
}

TEST_F(ForeignWriters, wait_for_no_lock_without_patience_but_name_its_holder) {
  at("/r") = kAgents;
  at("/r.lock") = R"({"agent_id":"w","locked_at":"2026-01-04T20:20:00.000Z","pid":55})";
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "/r is locked by process 55 (w)");
  EXPECT_EQ(at("/r"), kAgents);
  EXPECT_NE(at("/r.lock"), "") << "it stays";
}

TEST_F(ForeignWriters, take_a_lock_whose_holder_is_gone_or_that_is_old) {
  at("/r") = kAgents;
  lives = [](std::int64_t pid, const std::optional<WallTime>&) { return pid != 55; };
  at("/r.lock") = R"({"agent_id":"w","locked_at":"2026-01-04T20:20:00.000Z","pid":55})";
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "done");
  at("/r.lock") = R"({"agent_id":"w","locked_at":"2026-01-04T20:18:13.000Z","pid":56})";
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "done");
  at("/r.lock") = "";
  files.times["/r.lock"] = kBeat;
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "/r is locked by somebody") << "it is being written";
  files.times["/r.lock"] = kBeat - minutes{2};
  EXPECT_EQ(write(kRegistry, {.pid = 8}), "done");
  EXPECT_FALSE(files.contents.contains("/r.lock"));
}

/// Lets somebody else in between: before each reading, while the new bytes go to the disk, and
/// behind each writing.
class SharedFiles final : public Files {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    return files.open(path);
  }
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override {
    before_read(++reads);
    return files.read(path, most);
  }
  Result<bool> replace_if(const std::string& path, std::string_view bytes,
                          const std::function<bool()>& still) override {
    while_written(++writes);
    auto done = files.replace_if(path, bytes, still);
    if (done && *done) after_write();
    return done;
  }
  Result<bool> make_new(const std::string& path, std::string_view bytes) override {
    return files.make_new(path, bytes);
  }
  Result<std::optional<WallTime>> modified(const std::string& path) override {
    return files.modified(path);
  }
  Result<bool> touch(const std::string& path) override { return files.touch(path); }
  Result<void> append_line(const std::string& path, std::string_view line,
                           std::uint64_t most) override {
    return files.append_line(path, line, most);
  }
  Result<void> remove(const std::string& path) override { return files.remove(path); }

  SimFiles files;
  int reads = 0;
  int writes = 0;
  std::function<void(int)> before_read = [](int) {};
  std::function<void(int)> while_written = [](int) {};
  std::function<void()> after_write = [] {};
};

TEST(ForeignWriter, loses_nothing_that_another_wrote_in_between) {
  SharedFiles shared;
  shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":1})";
  shared.before_read = [&](int reads) {
    if (reads == 2) shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":2})";
  };
  EXPECT_TRUE(write_store(shared, kDeacon, {}, kNow, everybody));
  EXPECT_EQ(shared.files.contents["/d"], R"({"timestamp":1767558013,"cycle":2})");
}

TEST(ForeignWriter, loses_nothing_that_another_wrote_while_its_own_bytes_went_to_the_disk) {
  SharedFiles shared;
  shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":1})";
  shared.while_written = [&](int writes) {
    if (writes == 1) shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":2})";
  };
  EXPECT_TRUE(write_store(shared, kDeacon, {}, kNow, everybody));
  EXPECT_EQ(shared.files.contents["/d"], R"({"timestamp":1767558013,"cycle":2})");
  EXPECT_EQ(shared.writes, 2) << "once for what it had read, once for what was there then";
}

TEST(ForeignWriter, does_not_make_a_store_anew_that_another_made_meanwhile) {
  SharedFiles shared;
  shared.while_written = [&](int writes) {
    if (writes == 1) shared.files.contents["/s"] = R"({"timestamp":1767557953,"bead":"gt-1"})";
  };
  EXPECT_TRUE(write_store(shared, kSession, {.state = "idle"}, kNow, everybody));
  EXPECT_EQ(shared.files.contents["/s"],
            R"({"timestamp":1767558013,"bead":"gt-1","state":"idle"})");
}

TEST(ForeignWriter, does_not_write_once_its_lock_was_taken_while_its_bytes_went_to_the_disk) {
  SharedFiles shared;
  shared.files.contents["/r"] = kAgents;
  shared.while_written = [&](int) {
    shared.files.contents["/r.lock"] = "{\"agent_id\":\"thief\",\"pid\":5}";
  };
  const auto done = write_store(shared, kRegistry, {.pid = 8}, kNow, everybody);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "/r: its lock was taken away");
  EXPECT_EQ(shared.files.contents["/r"], kAgents);
}

TEST(ForeignWriter, does_not_write_once_its_lock_was_taken_away) {
  SharedFiles shared;
  shared.files.contents["/r"] = kAgents;
  shared.before_read = [&](int reads) {
    if (reads == 2) shared.files.contents["/r.lock"] = "{\"agent_id\":\"thief\",\"pid\":5}";
  };
  const auto done = write_store(shared, kRegistry, {.pid = 8}, kNow, everybody);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "/r: its lock was taken away");
  EXPECT_EQ(shared.files.contents["/r"], kAgents);
  EXPECT_EQ(shared.files.contents["/r.lock"], "{\"agent_id\":\"thief\",\"pid\":5}");
}

TEST(ForeignWriter, gives_up_on_a_file_that_never_rests) {
  SharedFiles shared;
  shared.before_read = [&](int reads) {
    shared.files.contents["/d"] = R"({"timestamp":1767557953,"n":)" + std::to_string(reads) + "}";
  };
  const auto done = write_store(shared, kDeacon, {}, kNow, everybody);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "/d is changed by others faster than it can be written");
}

TEST(ForeignWriter, S20_reads_back_what_it_wrote) {
  SharedFiles shared;
  shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":1})";
  shared.after_write = [&] {
    shared.files.contents["/d"] = R"({"timestamp":1767558013,"cycle":9})";
  };
  EXPECT_TRUE(write_store(shared, kDeacon, {}, kNow, everybody)) << "another field is not ours";
  shared.after_write = [&] {
    shared.files.contents["/d"] = R"({"timestamp":1767557953,"cycle":9})";
  };
  const auto lost = write_store(shared, kDeacon, {}, kNow, everybody);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().text, "/d does not hold what was written: somebody else wrote it");
  shared.after_write = [&] {
    shared.files.contents["/d"] = R"({"timestamp":1767558014,"cycle":9})";
  };
  EXPECT_TRUE(write_store(shared, kDeacon, {}, kNow, everybody)) << "a beat that came later";
}

TEST_F(ForeignWriters, do_not_turn_a_store_back_to_their_own_moment) {
  at("/d") = "{\"timestamp\": \"2026-01-04T20:20:14.5Z\"}";
  EXPECT_EQ(write(kDeacon, {.action = "patrol"}), "done");
  EXPECT_EQ(at("/d"), "{\"timestamp\": \"2026-01-04T20:20:14.5Z\",\"last_action\": \"patrol\"}")
      << "somebody was faster";
  at("/d") = "{\"timestamp\": \"2026-01-04T21:20:14.5Z\"}";
  EXPECT_EQ(write(kDeacon), "done");
  EXPECT_EQ(at("/d"), "{\"timestamp\": \"2026-01-04T20:20:13.1Z\"}") << "a clock that was wrong";
}

TEST(ForeignWriter, keeps_the_mode_and_the_link_and_leaves_nothing_beside_it) {
  const TemporaryFolder folder;
  LinuxFiles files;
  std::filesystem::create_directory(folder / "real");
  folder.write("real/s.json", "{\"timestamp\":\"2026-01-04T20:19:13Z\"}\n");
  std::filesystem::permissions(folder / "real/s.json", std::filesystem::perms{0640});
  std::filesystem::create_symlink("real/s.json", folder / "s.json");
  const ForeignStore store{
      .kind = StoreKind::session_state, .path = folder / "s.json", .locked = true};
  ASSERT_TRUE(write_store(files, store, {.state = "idle"}, kNow, everybody));
  EXPECT_EQ(folder.read("real/s.json"),
            "{\"timestamp\":\"2026-01-04T20:20:13Z\",\"state\":\"idle\"}\n");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "s.json"));
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "real/s.json").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0640U);
  const auto names = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(names), end(names)), 2);
}

}  // namespace
}  // namespace tend
