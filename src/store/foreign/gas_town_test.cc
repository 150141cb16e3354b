// A town as its own programs lay it out.
#include "store/foreign/gas_town.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono;

constexpr WallTime kNow{seconds{1'767'558'013} + nanoseconds{123'456'789}};  // 2026-01-04T20:20:13Z
const TimeContext kContext{.now = kNow};

std::string town_from(const std::string& folder, const std::set<std::string>& paths) {
  return find_town(folder, [&](const std::string& path) { return paths.contains(path); })
      .value_or("none");
}

TEST(GasTown, is_found_from_the_working_folder_upwards) {
  EXPECT_EQ(town_from("/home/me/gt/rig/src", {"/home/me/gt/mayor/town.json"}), "/home/me/gt");
  EXPECT_EQ(town_from("/home/me/gt", {"/home/me/gt/mayor/town.json"}), "/home/me/gt");
  EXPECT_EQ(town_from("/home/me", {"/home/me/gt/mayor/town.json"}), "none");
  EXPECT_EQ(town_from("/", {"/mayor/town.json"}), "/");
  EXPECT_EQ(town_from("/a", {"/mayor/town.json"}), "/");
  EXPECT_EQ(town_from("", {"/mayor/town.json"}), "none");
}

TEST(GasTown, is_the_one_with_a_file_of_its_own_before_one_with_a_folder_alone) {
  EXPECT_EQ(town_from("/gt/rig/x", {"/gt/rig/mayor/.", "/gt/mayor/.", "/gt/mayor/town.json"}),
            "/gt");
  EXPECT_EQ(town_from("/gt/rig/x", {"/gt/rig/mayor/.", "/gt/mayor/."}), "/gt/rig");
}

TEST(GasTown, is_the_outermost_from_inside_a_work_tree) {
  const std::set<std::string> both{"/gt/mayor/town.json",
                                   "/gt/rig/polecats/ace/rig/mayor/town.json"};
  EXPECT_EQ(town_from("/gt/rig/polecats/ace/rig/src", both), "/gt");
  EXPECT_EQ(town_from("/gt/rig/crew/ace", {"/gt/mayor/town.json"}), "/gt");
}

TEST(GasTown, has_sessions_whose_names_are_names_of_files) {
  EXPECT_TRUE(check_session_name("gt-rig-ace"));
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../../x"),
        std::string("a\0b", 3), std::string(201, 'x')}) {
    EXPECT_FALSE(check_session_name(name)) << name;
  }
}

TEST(GasTown, says_why_its_deacon_is_paused) {
  SimFiles files;
  EXPECT_EQ(deacon_pause(files, "/gt").value(), std::nullopt);
  files.contents["/gt/.runtime/deacon/paused.json"] = R"({"paused":true,"reason":"upgrade"})";
  EXPECT_EQ(deacon_pause(files, "/gt").value(), "upgrade");
  files.contents["/gt/.runtime/deacon/paused.json"] = R"({"paused":false,"reason":"upgrade"})";
  EXPECT_EQ(deacon_pause(files, "/gt").value(), std::nullopt);
  files.contents["/gt/.runtime/deacon/paused.json"] = R"({"pau)";
  EXPECT_EQ(deacon_pause(files, "/gt").error().text,
            "/gt/.runtime/deacon/paused.json is no JSON object");
}

TEST(GasTown, has_a_heartbeat_for_each_session) {
  SimFiles files;
  const std::string path = "/gt/.runtime/heartbeats/s.json";
  ASSERT_TRUE(beat_session(files, "/gt", "s", "working", "", kContext));
  EXPECT_EQ(files.contents[path],
            "{\"timestamp\":\"2026-01-04T20:20:13.123456789Z\",\"state\":\"working\"}\n");
  ASSERT_TRUE(beat_session(files, "/gt", "s", "stuck", "blocked on \"auth\"", kContext));
  EXPECT_EQ(files.contents[path],
            "{\"timestamp\":\"2026-01-04T20:20:13.123456789Z\",\"state\":\"stuck\","
            "\"context\":\"blocked on \\\"auth\\\"\"}\n");
  ASSERT_TRUE(beat_session(files, "/gt", "s", "working", "", kContext));
  EXPECT_EQ(files.contents[path],
            "{\"timestamp\":\"2026-01-04T20:20:13.123456789Z\",\"state\":\"working\","
            "\"context\":\"\"}\n")
      << "what was true of the state before is not said of this one";
}

TEST(GasTown, counts_the_cycles_of_its_deacon) {
  SimFiles files;
  std::string& text = files.contents["/gt/deacon/heartbeat.json"];
  ASSERT_TRUE(beat_deacon(files, "/gt", "", kContext));
  EXPECT_EQ(text,
            "{\n  \"timestamp\": \"2026-01-04T20:20:13.123456789Z\",\n  \"cycle\": 1,\n"
            "  \"healthy_agents\": 0,\n  \"unhealthy_agents\": 0\n}");
  ASSERT_TRUE(beat_deacon(files, "/gt", "patrol", kContext));
  EXPECT_EQ(text,
            "{\n  \"timestamp\": \"2026-01-04T20:20:13.123456789Z\",\n  \"cycle\": 2,\n"
            "  \"healthy_agents\": 0,\n  \"unhealthy_agents\": 0,\n"
            "  \"last_action\": \"patrol\"\n}");
  text =
      R"({"theirs":[1, 2],"cycle":41,"last_action":"patrol","timestamp":"2026-01-04T20:19:13Z"})";
  ASSERT_TRUE(beat_deacon(files, "/gt", "", kContext));
  EXPECT_EQ(text,
            R"({"theirs":[1, 2],"cycle":42,"last_action":"","timestamp":"2026-01-04T20:20:13Z"})");
}

TEST(GasTown, heals_a_heartbeat_that_was_left_torn) {
  SimFiles files;
  std::string& text = files.contents["/gt/deacon/heartbeat.json"];
  for (const char* torn : {"{\n  \"timest", "null", "[]", "\0\0"}) {
    text = torn;
    ASSERT_TRUE(beat_deacon(files, "/gt", "", kContext)) << torn;
    EXPECT_EQ(read_store(files,
                         {.kind = StoreKind::json_time,
                          .path = "/gt/deacon/heartbeat.json",
                          .field = "timestamp"},
                         kContext, [](auto, auto&) { return true; })
                  .last_sign,
              kNow)
        << torn;
  }
}

TEST(GasTown, has_a_side_file_that_is_touched) {
  SimFiles files;
  files.now = [] { return kNow; };
  ASSERT_TRUE(touch_deacon(files, "/gt", kContext));
  EXPECT_EQ(files.contents["/gt/deacon/.deacon-heartbeat"], "");
  files.contents["/gt/deacon/.deacon-heartbeat"] = "notes\n";
  ASSERT_TRUE(touch_deacon(files, "/gt", kContext));
  EXPECT_EQ(files.contents["/gt/deacon/.deacon-heartbeat"], "notes\n");
  files.now = [] { return kNow - hours{1}; };
  EXPECT_FALSE(touch_deacon(files, "/gt", kContext)) << "it is looked at afterwards";
  files.full = true;
  EXPECT_EQ(touch_deacon(files, "/gt", kContext).error().text,
            "cannot touch /gt/deacon/.deacon-heartbeat: No space left on device");
}

TEST(GasTown, notes_whose_session_it_is_in_a_clock_that_is_local) {
  SimFiles files;
  files.contents["/gt/.runtime/pids/s.pid"] = "4711|Sun Jan  4 20:19:13 2026";
  const auto noted = read_session_process(files, "/gt", "s", kContext);
  EXPECT_EQ(noted.pid, 4711);
  ASSERT_TRUE(noted.started.has_value());
  const WallTime said = *noted.started;
  EXPECT_TRUE(is_same_start(said + milliseconds{900}, said));
  EXPECT_TRUE(is_same_start(said - hours{2}, said)) << "a summer in Berlin";
  EXPECT_TRUE(is_same_start(said - hours{5} - minutes{45}, said)) << "Nepal";
  EXPECT_FALSE(is_same_start(said + seconds{10}, said));
  EXPECT_FALSE(is_same_start(said + minutes{7}, said));
  EXPECT_FALSE(is_same_start(said + hours{48}, said));
  EXPECT_EQ(read_session_process(files, "/gt", "none", kContext).pid, 0);
}

}  // namespace
}  // namespace tend
