// The built program under the name `gt`, in a town of real files, with Tend's own `bd` for the
// label of the deacon.
#include <filesystem>
#include <fstream>

#include "e2e.h"

namespace tend::e2e {
namespace {

class GtTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    std::filesystem::create_directories(scratch() / "compat");
    std::filesystem::create_symlink(TEND_BINARY, scratch() / "compat" / "gt");
    std::filesystem::create_symlink(TEND_BINARY, scratch() / "compat" / "bd");
    write("mayor/town.json", "{}");
    environment_["PATH"] = (scratch() / "compat").string() + ":/usr/bin:/bin";
  }

  void write(const Path& name, const std::string& text) const {
    std::filesystem::create_directories((scratch() / name).parent_path());
    std::ofstream(scratch() / name) << text;
  }
  Command gt_command(const Arguments& arguments) {
    return {.arguments = Arguments{scratch() / "compat" / "gt"} + arguments,
            .environment = environment_,
            .input = {}};
  }
  Finished gt(const Arguments& arguments) { return run(gt_command(arguments)); }
  Finished bd(const Arguments& arguments) {
    return run({.arguments = Arguments{scratch() / "compat" / "bd"} + arguments,
                .environment = environment_,
                .input = {}});
  }
  [[nodiscard]] Json json(const Path& name) const {
    return Json::parse(read_file(scratch() / name), nullptr, false);
  }
  /// The labels of the deacon's work item.
  std::vector<std::string> labels() {
    const Json all = Json::parse(bd({"show", "hq-deacon", "--json"}).out, nullptr, false);
    return all.is_array() && all.size() == 1 ? all[0]["labels"].get<std::vector<std::string>>()
                                             : std::vector<std::string>{};
  }
  std::string heartbeat_label() {
    for (const std::string& label : labels()) {
      if (label.starts_with("heartbeat:")) return label;
    }
    return "";
  }

  std::map<std::string, std::string> environment_{{"GT_SESSION", "gt-rig-ace"}, {"GT_ROLE", ""}};
};

TEST_F(GtTest, writes_what_a_witness_reads) {
  const auto beat = gt({"heartbeat", "--state=stuck", "blocked on auth"});
  EXPECT_EQ(beat.exit, 0) << beat.err;
  EXPECT_EQ(beat.out, "Heartbeat updated: state=stuck\n");
  const Json session = json(".runtime/heartbeats/gt-rig-ace.json");
  EXPECT_EQ(session["state"], "stuck");
  EXPECT_EQ(session["context"], "blocked on auth");
  EXPECT_TRUE(text_in(session, "timestamp").ends_with("Z")) << session;
  EXPECT_FALSE(std::filesystem::exists(scratch() / "deacon"));

  environment_["GT_SESSION"] = "";
  const auto nobody = gt({"heartbeat"});
  EXPECT_EQ(nobody.exit, 1);
  EXPECT_EQ(nobody.out, "");
  EXPECT_EQ(nobody.err, "Error: GT_SESSION not set (not running in a Gas Town session)\n");
  const auto other = gt({"status"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_EQ(lines_of(other.err).size(), 1U) << other.err;
}

TEST_F(GtTest, refreshes_every_store_of_the_deacon_with_one_command) {
  ASSERT_EQ(bd({"create", "Deacon", "--id", "hq-deacon", "--labels", "idle:3"}).exit, 0);
  write(
      "deacon/heartbeat.json",
      "{\n  \"timestamp\": \"2026-01-04T20:19:13.5Z\",\n  \"cycle\": 41,\n  \"theirs\": [1, 2]\n}");
  std::filesystem::permissions(scratch() / "deacon/heartbeat.json", std::filesystem::perms{0640});
  environment_["GT_ROLE"] = "deacon";
  environment_["GT_SESSION"] = "hq-deacon";
  const auto beat = gt({"heartbeat", "patrol"});
  ASSERT_EQ(beat.exit, 0) << beat.out << beat.err;
  const std::string first = heartbeat_label();
  EXPECT_EQ(beat.out,
            "Heartbeat updated: state=working\n"
            "  .runtime/heartbeats/hq-deacon.json written\n"
            "  deacon/heartbeat.json written\n"
            "  deacon/.deacon-heartbeat touched\n"
            "  hq-deacon has " +
                first + " now\n");
  EXPECT_EQ(json("deacon/heartbeat.json")["cycle"], 42);
  EXPECT_EQ(json("deacon/heartbeat.json")["last_action"], "patrol");
  EXPECT_EQ(json("deacon/heartbeat.json")["theirs"], Json({1, 2}));
  EXPECT_EQ(std::filesystem::status(scratch() / "deacon/heartbeat.json").permissions(),
            std::filesystem::perms{0640});
  EXPECT_EQ(read_file(scratch() / "deacon/.deacon-heartbeat"), "");
  EXPECT_EQ(labels().size(), 2U) << "the other one stays";

  const auto again = gt({"deacon", "heartbeat"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_TRUE(again.out.starts_with("✓ Heartbeat updated\n")) << again.out;
  EXPECT_TRUE(again.out.contains(first + ", fresh for ")) << again.out;
  EXPECT_EQ(heartbeat_label(), first);
  EXPECT_EQ(json("deacon/heartbeat.json")["cycle"], 43);

  ASSERT_EQ(bd({"update", "hq-deacon", "--set-labels", "heartbeat:1767557953,idle:4"}).exit, 0);
  EXPECT_EQ(gt({"deacon", "heartbeat"}).exit, 0);
  EXPECT_GE(heartbeat_label(), first);
  EXPECT_EQ(labels().size(), 2U);
}

TEST_F(GtTest, refuses_while_the_deacon_is_paused) {
  write(".runtime/deacon/paused.json", R"({"paused": true, "reason": "upgrade"})");
  const auto refused = gt({"deacon", "heartbeat"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(refused.out.contains("Reason: upgrade")) << refused.out;
  EXPECT_EQ(refused.err, "Error: Deacon is paused\n");
  EXPECT_FALSE(std::filesystem::exists(scratch() / "deacon"));
}

// S20: a store that cannot be written is no success.
TEST_F(GtTest, S20_names_each_store_that_was_not_written_and_exits_with_1) {
  std::filesystem::create_directories(scratch() / "deacon/heartbeat.json");
  const auto beat = gt({"deacon", "heartbeat", "patrol"});
  EXPECT_EQ(beat.exit, 1);
  EXPECT_EQ(beat.out, "  deacon/.deacon-heartbeat touched\n");
  EXPECT_TRUE(beat.err.contains("deacon/heartbeat.json is no plain file")) << beat.err;
  EXPECT_TRUE(beat.err.contains("Error: label of hq-deacon: bd failed (exit 1): ")) << beat.err;
  environment_["PATH"] = "/nonexistent";
  EXPECT_TRUE(gt({"deacon", "heartbeat"}).err.contains("label of hq-deacon: bd "))
      << "no bd at all";
}

// S38: a disk that takes nothing more.
TEST_F(GtTest, S38_leaves_the_old_heartbeat_where_nothing_can_be_written) {
  const std::string old = R"({"timestamp":"2026-01-04T20:19:13Z","state":"idle"})";
  write(".runtime/heartbeats/gt-rig-ace.json", old);
  const auto beat =
      run({.arguments = {"sh", "-c",
                         "trap '' XFSZ; (ulimit -f 0; \"$0\" heartbeat; echo exit $?) 2>&1 | cat",
                         scratch() / "compat" / "gt"},
           .environment = environment_,
           .input = {}});
  const auto lines = lines_of(beat.out);
  ASSERT_EQ(lines.size(), 2U) << beat.out << beat.err;
  EXPECT_TRUE(lines[0].starts_with("Error: cannot write ")) << lines[0];
  EXPECT_TRUE(lines[0].contains("gt-rig-ace.json: ")) << lines[0];
  EXPECT_EQ(lines[1], "exit 1");
  EXPECT_EQ(read_file(scratch() / ".runtime/heartbeats/gt-rig-ace.json"), old);
  const auto left = std::filesystem::directory_iterator(scratch() / ".runtime/heartbeats");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "nothing is left beside it";
}

// S12: what outlives the session does not keep its heartbeat fresh.
TEST_F(GtTest, S12_does_not_beat_for_a_session_that_is_another_process) {
  Background other = start({.arguments = {"sleep", "600"}, .environment = {}, .input = {}});
  const auto lstart = run({.arguments = {"env", "LC_ALL=C", "TZ=UTC", "ps", "-o", "lstart=", "-p",
                                         std::to_string(other.pid())},
                           .environment = {},
                           .input = {}});
  ASSERT_EQ(lstart.exit, 0) << lstart.err;
  write(".runtime/pids/gt-rig-ace.pid",
        std::to_string(other.pid()) + "|" + lines_of(lstart.out).at(0));
  const auto refused = gt({"heartbeat"});
  EXPECT_EQ(refused.exit, 1) << refused.out;
  EXPECT_TRUE(refused.err.contains("is another, and not above this one")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(scratch() / ".runtime/heartbeats"));
  write(".runtime/pids/gt-rig-ace.pid", std::to_string(::getpid()));
  EXPECT_EQ(gt({"heartbeat"}).exit, 0) << "this test is above it";
}

// S21: what another writer left half written is written anew, and read whole at every moment.
TEST_F(GtTest, S21_leaves_a_whole_file_whoever_writes_beside_it) {
  write(".runtime/heartbeats/gt-rig-ace.json", R"({"timestamp":"2026-01-)");
  std::vector<Background> racing;
  for (int i = 0; i < 8; ++i) racing.push_back(start(gt_command({"heartbeat", std::to_string(i)})));
  for (Background& one : racing) {
    while (!one.is_over()) {
      const std::string text = read_file(scratch() / ".runtime/heartbeats/gt-rig-ace.json");
      EXPECT_TRUE(Json::accept(text) || text.ends_with("2026-01-")) << text;
    }
    const Finished finished = one.wait();
    EXPECT_EQ(finished.exit, 0) << finished.err;
  }
  EXPECT_EQ(json(".runtime/heartbeats/gt-rig-ace.json")["state"], "working");
  const auto left = std::filesystem::directory_iterator(scratch() / ".runtime/heartbeats");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "nothing is left beside it";
}

}  // namespace
}  // namespace tend::e2e
