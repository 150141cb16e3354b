// `gt` beside a town and a `bd`, both in memory.
#include "app/gt_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

constexpr const char* kSession = "/gt/.runtime/heartbeats/gt-rig-ace.json";
constexpr const char* kDeacon = "/gt/deacon/heartbeat.json";

class GtTest : public testing::Test {
 protected:
  GtTest() {
    universe.disk.write("/gt/mayor/town.json", "{}");
    universe.disk.make_folder("/gt/.beads");
    universe.disk.make_folder("/gt/rig");
    universe.working_folder = "/gt/rig";
    universe.on_run = [this](const tend::Run& run) { return bd(run); };
    sim.files.now = [this] { return universe.wall(); };
    sim.environment.variables = {{"GT_SESSION", "gt-rig-ace"}, {"HOME", "/home/user"}};
    sim.caller.above = {{.pid = 90, .start_ticks = 1, .name = "sh"},
                        {.pid = 1, .start_ticks = 1, .name = "systemd"}};
  }

  int gt(const std::vector<std::string_view>& words) {
    sim.out.text.clear();
    sim.err.text.clear();
    World world = sim.world();
    return gt_program(words, world);
  }
  std::string& at(const std::string& path) { return sim.files.contents[path]; }
  nlohmann::json json(const std::string& path) {
    return nlohmann::json::parse(at(path), nullptr, false);
  }
  [[nodiscard]] std::int64_t epoch() const {
    return std::chrono::floor<std::chrono::seconds>(universe.wall().time_since_epoch()).count();
  }
  [[nodiscard]] std::string label(std::int64_t seconds_ago) const {
    return fmt::format("heartbeat:{}", epoch() - seconds_ago);
  }

  /// A `bd` that has one issue.
  std::optional<SimAnswer> bd(const tend::Run& run) {
    asked.push_back(fmt::format("{}", fmt::join(run.command, " ")));
    EXPECT_EQ(run.working_folder, "/gt");
    EXPECT_EQ(run.environment, Texts{"BEADS_DIR=/gt/.beads"});
    if (answer) return answer;
    if (run.command.at(1) == "show") {
      return SimAnswer{.output = nlohmann::json{{{"id", "hq-deacon"}, {"labels", labels}}}.dump()};
    }
    for (const std::string& word : run.command) {
      if (word.starts_with("--remove-label=")) std::erase(labels, word.substr(15));
      if (word.starts_with("--add-label=") && !forgets) labels.push_back(word.substr(12));
    }
    return SimAnswer{};
  }

  SimUniverse universe;
  SimWorld sim{universe};
  Texts labels{"gt:agent", "idle:3"};
  Texts asked;
  std::optional<SimAnswer> answer;  // for everything
  bool forgets = false;             // takes a label and does not keep it
};

TEST(GtProgram, is_known_by_the_last_part_of_what_it_was_called_by) {
  EXPECT_TRUE(is_called_gt("gt"));
  EXPECT_TRUE(is_called_gt("/usr/share/tend/compat/gt"));
  EXPECT_FALSE(is_called_gt("/opt/gt/tend"));
  EXPECT_FALSE(is_called_gt("agt"));
}

TEST_F(GtTest, writes_the_heartbeat_of_its_session) {
  EXPECT_EQ(gt({"heartbeat"}), kExitYes);
  EXPECT_EQ(sim.out.text, "Heartbeat updated: state=working\n");
  EXPECT_EQ(sim.err.text, "");
  EXPECT_EQ(json(kSession)["state"], "working");
  EXPECT_FALSE(json(kSession).contains("context"));
  EXPECT_EQ(gt({"heartbeat", "--state=stuck", "blocked", "on auth"}), kExitYes);
  EXPECT_EQ(sim.out.text, "Heartbeat updated: state=stuck\n");
  EXPECT_EQ(json(kSession)["state"], "stuck");
  EXPECT_EQ(json(kSession)["context"], "blocked on auth");
  EXPECT_EQ(gt({"heartbeat", "waiting", "--state", "idle", "--", "--really"}), kExitYes);
  EXPECT_EQ(json(kSession)["state"], "idle");
  EXPECT_EQ(json(kSession)["context"], "waiting --really");
  EXPECT_EQ(asked, Texts{}) << "a worker has no label";
  EXPECT_FALSE(sim.files.contents.contains(kDeacon));
}

TEST_F(GtTest, takes_words_that_look_like_a_command_as_words) {
  EXPECT_EQ(gt({"heartbeat", "status", "deacon"}), kExitYes);
  EXPECT_EQ(json(kSession)["context"], "status deacon");
}

TEST_F(GtTest, keeps_what_others_put_into_the_heartbeat) {
  at(kSession) = R"({"bead":"gt-12","timestamp":"2026-01-01T00:00:00Z","last_keepalive":"x"})";
  EXPECT_EQ(gt({"heartbeat"}), kExitYes);
  EXPECT_EQ(json(kSession)["bead"], "gt-12");
  EXPECT_TRUE(at(kSession).starts_with(R"({"bead":"gt-12","timestamp":")")) << at(kSession);
  EXPECT_EQ(json(kSession)["last_keepalive"], "x");
}

TEST_F(GtTest, needs_a_session) {
  sim.environment.variables.erase("GT_SESSION");
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.out.text, "");
  EXPECT_EQ(sim.err.text, "Error: GT_SESSION not set (not running in a Gas Town session)\n");
  sim.environment.variables["GT_SESSION"] = "../../x";
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: GT_SESSION: '../../x' is no name of a session\n");
  EXPECT_TRUE(sim.files.contents.empty());
}

TEST_F(GtTest, knows_four_states_and_one_flag) {
  EXPECT_EQ(gt({"heartbeat", "--state=dead"}), kExitNo);
  EXPECT_EQ(sim.err.text,
            "Error: invalid state \"dead\" (must be working, idle, exiting, or stuck)\n");
  EXPECT_EQ(gt({"heartbeat", "--state"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: flag needs an argument: --state\n");
  EXPECT_EQ(gt({"heartbeat", "--stat=idle"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: unknown flag: --stat=idle\n");
  EXPECT_TRUE(sim.files.contents.empty());
}

TEST_F(GtTest, finds_the_town_by_the_environment_where_the_folder_is_in_none) {
  universe.working_folder = "/home/user";
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: could not find town root: not in a Gas Town workspace\n");
  sim.environment.variables["GT_ROOT"] = "/gt/";
  EXPECT_EQ(gt({"heartbeat"}), kExitYes);
  sim.environment.variables["GT_TOWN_ROOT"] = "/nowhere";
  EXPECT_EQ(gt({"heartbeat"}), kExitYes) << "what is no town is none";
  universe.disk.write("/home/user/gt/mayor/town.json", "{}");
  EXPECT_EQ(gt({"heartbeat"}), kExitYes);
  EXPECT_FALSE(sim.files.contents.contains("/home/user/gt/.runtime/heartbeats/gt-rig-ace.json"));
  sim.environment.variables.erase("GT_ROOT");
  EXPECT_EQ(gt({"heartbeat"}), kExitYes);
  EXPECT_TRUE(sim.files.contents.contains("/home/user/gt/.runtime/heartbeats/gt-rig-ace.json"));
}

TEST_F(GtTest, refreshes_all_stores_of_the_deacon) {
  labels.push_back(label(200));
  EXPECT_EQ(gt({"deacon", "heartbeat", "patrol", "round"}), kExitYes);
  EXPECT_EQ(sim.out.text, fmt::format("✓ Heartbeat updated: patrol round\n"
                                      "  deacon/heartbeat.json written\n"
                                      "  deacon/.deacon-heartbeat touched\n"
                                      "  hq-deacon has heartbeat:{} now\n",
                                      epoch()));
  EXPECT_EQ(sim.err.text, "");
  EXPECT_EQ(json(kDeacon)["cycle"], 1);
  EXPECT_EQ(json(kDeacon)["last_action"], "patrol round");
  EXPECT_TRUE(sim.files.contents.contains("/gt/deacon/.deacon-heartbeat"));
  EXPECT_EQ(labels, (Texts{"gt:agent", "idle:3", label(0)})) << "those of others stay";
  EXPECT_FALSE(sim.files.contents.contains(kSession));
}

TEST_F(GtTest, refreshes_them_with_a_plain_heartbeat_of_the_deacon_too) {
  sim.environment.variables["GT_SESSION"] = "hq-deacon";
  sim.environment.variables["GT_ROLE"] = "deacon";
  EXPECT_EQ(gt({"heartbeat", "--state=idle", "nothing to do"}), kExitYes);
  EXPECT_EQ(sim.out.text, fmt::format("Heartbeat updated: state=idle\n"
                                      "  .runtime/heartbeats/hq-deacon.json written\n"
                                      "  deacon/heartbeat.json written\n"
                                      "  deacon/.deacon-heartbeat touched\n"
                                      "  hq-deacon has heartbeat:{} now\n",
                                      epoch()));
  EXPECT_EQ(json(kDeacon)["last_action"], "nothing to do");
  EXPECT_EQ(json("/gt/.runtime/heartbeats/hq-deacon.json")["state"], "idle");
}

TEST_F(GtTest, leaves_a_label_alone_that_is_fresh) {
  labels.push_back(label(100));
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitYes);
  EXPECT_TRUE(
      sim.out.text.ends_with(fmt::format("  hq-deacon has {}, fresh for 50s\n", label(100))))
      << sim.out.text;
  EXPECT_EQ(asked, Texts{"bd show hq-deacon --json"});
  labels.back() = label(150);
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitYes);
  EXPECT_EQ(labels.back(), label(0));
}

TEST_F(GtTest, does_not_believe_a_label_of_tomorrow_and_cleans_up_doubled_ones) {
  labels = {label(-86'400), label(900), "heartbeat:soon"};
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitYes);
  EXPECT_EQ(labels, Texts{label(0)});
}

TEST_F(GtTest, is_refused_while_the_deacon_is_paused) {
  at("/gt/.runtime/deacon/paused.json") = R"({"paused":true,"reason":"upgrade"})";
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(sim.out.text,
            "⏸️ Deacon is paused. Use 'gt deacon resume' to unpause.\n  Reason: upgrade\n");
  EXPECT_EQ(sim.err.text, "Error: Deacon is paused\n");
  sim.environment.variables["GT_ROLE"] = "deacon";
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.out.text, "  .runtime/heartbeats/gt-rig-ace.json written\n");
  EXPECT_EQ(sim.err.text, "Error: Deacon is paused; its own stores are not refreshed\n");
  EXPECT_FALSE(sim.files.contents.contains(kDeacon));
  EXPECT_EQ(asked, Texts{});
  at("/gt/.runtime/deacon/paused.json") = "{";
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo) << "what cannot be read may say yes";
}

TEST_F(GtTest, names_the_store_that_was_not_written_and_writes_the_others) {
  answer = SimAnswer{.exit = {ExitStatus::How::code, 1}, .error = "Error: no database\n"};
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(sim.out.text, "  deacon/heartbeat.json written\n  deacon/.deacon-heartbeat touched\n");
  EXPECT_EQ(sim.err.text, "Error: label of hq-deacon: bd failed (exit 1): Error: no database\n");
  answer.reset();
  sim.files.broken[kDeacon] = "Input/output error";
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: cannot read /gt/deacon/heartbeat.json: Input/output error\n");
  EXPECT_TRUE(sim.out.text.contains("hq-deacon has heartbeat:")) << sim.out.text;
  EXPECT_FALSE(sim.out.text.contains("✓"));
}

TEST_F(GtTest, does_not_take_a_bd_by_its_word) {
  forgets = true;
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(
      sim.err.text,
      fmt::format("Error: label of hq-deacon: {} is not there, although bd took it\n", label(0)));
  answer = SimAnswer{.output = "oops"};
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: label of hq-deacon: bd printed no JSON: oops\n");
}

TEST_F(GtTest, S37_does_not_wait_for_a_bd_that_hangs) {
  answer = SimAnswer{.takes = 1h};
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: label of hq-deacon: bd did not answer in 30s\n");
}

class GtSubject : public GtTest {
 protected:
  void note(std::int64_t pid, std::chrono::seconds off = {}) {
    const auto started = std::chrono::floor<std::chrono::seconds>(universe.wall()) + off;
    const auto day = std::chrono::floor<std::chrono::days>(started.time_since_epoch());
    const std::chrono::year_month_day date{std::chrono::sys_days{day}};
    const std::chrono::hh_mm_ss clock{started.time_since_epoch() - day};
    constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    at("/gt/.runtime/pids/gt-rig-ace.pid") = fmt::format(
        "{}|Mon {} {:>2} {:02}:{:02}:{:02} {}", pid,
        kMonths.at(static_cast<unsigned>(date.month()) - 1), static_cast<unsigned>(date.day()),
        clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
        static_cast<int>(date.year()));
  }
};

TEST_F(GtSubject, is_the_session_that_the_caller_runs_in) {
  const std::int64_t pid = universe.start_process("claude", {});
  note(pid);
  sim.caller.above.insert(sim.caller.above.begin(), {.pid = pid, .start_ticks = 1, .name = "node"});
  EXPECT_EQ(gt({"heartbeat"}), kExitYes) << sim.err.text;
  at("/gt/.runtime/pids/gt-rig-ace.pid") = "torn";
  EXPECT_EQ(gt({"heartbeat"}), kExitYes) << "what says nothing holds nothing against it";
}

TEST_F(GtSubject, is_not_another_life_of_the_session) {
  const std::int64_t pid = universe.start_process("claude", {});
  note(pid);
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text,
            fmt::format("Error: not refreshed: process {} of session gt-rig-ace is another, and "
                        "not above this one\n",
                        pid));
  EXPECT_FALSE(sim.files.contents.contains(kSession));
  EXPECT_EQ(gt({"deacon", "heartbeat"}), kExitNo);
  EXPECT_FALSE(sim.files.contents.contains(kDeacon));
}

TEST_F(GtSubject, is_not_one_that_is_gone) {
  note(4711);
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_EQ(sim.err.text, "Error: not refreshed: process 4711 of session gt-rig-ace is gone\n");
  const std::int64_t pid = universe.start_process("claude", {});
  note(pid, std::chrono::minutes{-7});
  EXPECT_EQ(gt({"heartbeat"}), kExitNo) << "its number was used again";
  EXPECT_FALSE(sim.files.contents.contains(kSession));
}

TEST_F(GtSubject, S39_is_not_a_zombie) {
  const std::int64_t parent = universe.start_process("sh", {});
  const std::int64_t pid = universe.start_process("claude", {.parent = parent});
  note(pid);
  universe.kill(pid);
  EXPECT_EQ(gt({"heartbeat"}), kExitNo);
  EXPECT_TRUE(sim.err.text.ends_with("of session gt-rig-ace is gone\n")) << sim.err.text;
}

TEST_F(GtSubject, may_have_been_started_again_in_its_place) {
  note(4711);
  sim.caller.above.insert(sim.caller.above.begin() + 1,
                          {.pid = 80, .start_ticks = 1, .name = "tmux: server"});
  EXPECT_EQ(gt({"heartbeat"}), kExitYes) << "the note is of the life before";
}

TEST_F(GtSubject, may_be_known_by_another_number_outside_of_a_container) {
  note(4711);
  universe.pid_ns = 4026532000;
  EXPECT_EQ(gt({"heartbeat"}), kExitYes) << sim.err.text;
}

TEST_F(GtTest, leaves_all_other_commands_to_the_original) {
  for (const auto& words : std::vector<std::vector<std::string_view>>{
           {}, {"status"}, {"deacon"}, {"deacon", "status", "--json"}, {"mol", "await-signal"}}) {
    EXPECT_EQ(gt(words), kExitUsage);
    EXPECT_EQ(sim.out.text, "");
    EXPECT_EQ(sim.err.text,
              "gt: this gt is Tend's and speaks only `gt heartbeat` and `gt deacon heartbeat`\n");
  }
}

TEST_F(GtTest, helps_and_writes_nothing) {
  for (const auto& words : std::vector<std::vector<std::string_view>>{
           {"--help"}, {"help"}, {"heartbeat", "-h"}, {"deacon", "heartbeat", "--help"}}) {
    EXPECT_EQ(gt(words), kExitYes);
    EXPECT_TRUE(sim.out.text.starts_with("Usage: gt heartbeat ")) << sim.out.text;
    EXPECT_TRUE(sim.files.contents.empty());
  }
}

TEST_F(GtTest, says_that_its_answer_was_lost) {
  sim.out.room = 4;
  EXPECT_EQ(gt({"heartbeat"}), kExitUsage);
  EXPECT_EQ(sim.err.text, "gt: standard output could not be written to its end\n");
}

}  // namespace
}  // namespace tend
