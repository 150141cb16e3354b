// One kept agent on a simulated machine, for tests of the keeper: its files, its keeper, and short
// words for what tests ask about them.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "os/sim/sim_universe.h"
#include "run/keeper.h"
#include "run/past.h"
#include "run/replay.h"
#include "sense/trace_reader.h"
#include "store/agent_file.h"
#include "store/heartbeat.h"
#include "store/intent.h"
#include "store/policy_json.h"

namespace tend {

/// What a journal says was decided, and what a replay of it decides: one line each, with its time.
struct Decided {
  std::vector<std::string> recorded;
  std::vector<std::string> replayed;
};

/// Reads a journal as `tend replay` does.
class JournalRead final : ByteSource, DecisionSink {
 public:
  static Decided decisions(std::string text) {
    JournalRead read(std::move(text));
    read.play();
    return std::move(read.decided_);
  }

 private:
  explicit JournalRead(std::string text) : text_(std::move(text)), left_(text_) {}

  void play() {
    TraceReader reader(*this, "journal", [](std::uint64_t line, std::string_view what) {
      ADD_FAILURE() << "line " << line << ": " << what;
    });
    reader.on_record([this](std::string_view line, Instant at) { hear(line, at); });
    const auto header = reader.open();
    ASSERT_TRUE(header) << header.error().text;
    auto policy = parse_policy_json(header->policy_full);
    ASSERT_TRUE(policy) << policy.error().text;
    auto judge = first_judge(*header, *std::move(policy));
    ASSERT_TRUE(judge) << judge.error().text;
    Replay replay(*std::move(judge), reader, *this);
    Moment moment;
    while (reader.next(moment).value_or(false)) replay.take(moment);
    replay.run_to(reader.last());
  }

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), left_.size());
    std::copy_n(left_.begin(), size, into.begin());
    left_.remove_prefix(size);
    return size;
  }
  void decided(Instant at, const Decision& decision) override {
    const bool is_verdict = decision.kind == Decision::Kind::verdict;
    add(decided_.replayed, at, is_verdict ? "verdict" : "action",
        std::string(is_verdict ? word(decision.verdict) : word(decision.action)));
  }
  void hear(std::string_view line, Instant at) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("carried")) return;
    for (const char* what : {"verdict", "action"}) {
      if (json.contains(what)) add(decided_.recorded, at, what, json[what]);
    }
  }
  static void add(std::vector<std::string>& to, Instant at, const char* what,
                  const std::string& which) {
    to.push_back(std::to_string(at.time_since_epoch().count()) + " " + what + " " + which);
  }

  std::string text_;
  std::string_view left_;
  Decided decided_;
};

class Kept {
 public:
  static constexpr const char* kHome = "/home/user/tend";
  static constexpr const char* kFolder = "/home/user/tend/sessions/s1";

  explicit Kept(std::uint64_t seed = 1) : universe(seed) {
    agent.agent = "worker-s1";
    agent.session = "s1";
    agent.role = "worker";
    agent.command = {"worker"};
    agent.working_folder = "/home/user";
    agent.adapter = AdapterKind::lines;
    agent.restart = RestartPolicy::never;
    policy = *built_in_policy("plain");
    universe.disk.make_folder(kFolder);
    universe.disk.make_folder("/home/user");
  }

  /// Policy `agent`, brought back when it fails.
  void be_patient_as_with_an_agent() {
    policy = *built_in_policy("agent");
    agent.policy = "agent";
    agent.restart = RestartPolicy::on_failure;
  }

  void have_a_work_tree(Duration saving_takes) {
    agent.worktree = "/home/user/work";
    universe.disk.write("/home/user/work/a", "1");
    universe.repositories["/home/user/work"] = {};
    universe.version_control_takes = saving_takes;
  }

  /// Writes the agent's file and starts a keeper, which runs when the universe does.
  std::int64_t start_keeper() {
    universe.disk.write(path("agent.json"), format_agent_file(agent));
    universe.disk.write(kHome + ("/names/" + agent.agent), std::string(kFolder) + "\n");
    keeper = universe.start_program("keeper", [this](Machine& machine) -> std::shared_ptr<void> {
      auto folder = machine.folders.open(kFolder);
      auto home = machine.folders.open(kHome);
      if (!folder || !home) throw std::runtime_error("no folder: " + folder.error().text);
      KeeperSettings settings{.agent = agent,
                              .policy = policy,
                              .environment = {"PATH=/bin", "HOME=/home/user"},
                              .runtime_folder = "/home/user",
                              .again = again,
                              .config = config,
                              .config_problem = config_problem,
                              .may_reload = may_reload};
      auto kept = std::make_shared<Keeper>(machine, *std::move(folder), *std::move(home),
                                           std::move(settings));
      const auto began = kept->begin();
      problem = began ? "" : began.error().text;
      if (!began || *began != Keeper::Began::keeping) machine.loop.stop();
      return kept;
    });
    return keeper;
  }

  [[nodiscard]] static std::string path(const std::string& name) {
    return std::string(kFolder) + "/" + name;
  }
  [[nodiscard]] Heartbeat heartbeat() const {
    const auto text = universe.disk.read(path(".heartbeat"));
    if (!text) return {};
    return parse_heartbeat(*text).value_or(Heartbeat{});
  }
  [[nodiscard]] bool over() const { return is_terminal(heartbeat().status); }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return universe.disk.read(path(name)).value_or("");
  }
  /// The lines of the journal that say one thing: `what` is "action", "verdict", "did" or "note".
  [[nodiscard]] std::vector<std::string> journal(const std::string& what) const {
    std::vector<std::string> found;
    std::istringstream lines(text_of("journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.contains(what) && !json.contains("trace") &&
          json[what].is_string()) {
        found.push_back(json[what]);
      }
    }
    return found;
  }
  [[nodiscard]] int count(const std::string& what, const std::string& word) const {
    const auto all = journal(what);
    return static_cast<int>(std::count(all.begin(), all.end(), word));
  }
  void say(const Intent& intent) {
    Machine& machine = universe.machine();
    auto folder = machine.folders.open(kFolder);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_intent(**folder, intent));
  }
  [[nodiscard]] std::vector<std::int64_t> workers() const { return universe.pids("worker"); }
  /// The judge that the journal leaves behind.
  [[nodiscard]] std::optional<Past> past() {
    auto folder = universe.machine().folders.open(kFolder);
    auto past = folder ? read_past(**folder) : std::unexpected(folder.error());
    if (!past) ADD_FAILURE() << past.error().text;
    return past ? *std::move(past) : std::nullopt;
  }
  /// A replay of the journal decides what the keeper decided.
  void check_replay() const {
    const std::string text = text_of("journal.jsonl");
    if (text.empty()) return;
    const Decided decided = JournalRead::decisions(text);
    EXPECT_EQ(decided.recorded, decided.replayed);
  }

  SimUniverse universe;
  AgentFile agent;
  Policy policy;
  Config config;
  std::string config_problem;
  bool again = false;  // as `tend recover` begins it
  std::function<Result<void>()> may_reload;
  std::int64_t keeper = 0;
  std::string problem;
};

// --- Behaviours and a fixture that several tests share
// ----------------------------------------------

inline void print_now_and_then(SimSelf& self) {
  using namespace std::chrono_literals;
  self.every(7s, [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
}

inline void hang(SimSelf& self) { self.print_after(std::chrono::seconds{1}, "hello\n"); }

/// The first life hangs, the others work.
inline void hang_once(SimSelf& self) {
  self.variable("TEND_LIFE") == "1" ? hang(self) : print_now_and_then(self);
}

/// A fixture: policy `agent` with short limits, and short words for what happens.
class KeptTest : public testing::Test {
 protected:
  KeptTest() {
    using namespace std::chrono_literals;
    kept.be_patient_as_with_an_agent();
    kept.policy.limits.model = 100s;
    kept.policy.limits.confirm = 20s;
    kept.universe.behaviours["worker"] = print_now_and_then;
  }

  void behave(SimBehaviour behaviour) { kept.universe.behaviours["worker"] = std::move(behaviour); }
  void stop(bool now = false) {
    kept.say({.want = Want::stop, .now = now, .by = "tend stop", .at = ++orders_});
  }
  void pause() { kept.say({.want = Want::pause, .by = "tend pause", .at = ++orders_}); }
  void unpause() { kept.say({.want = Want::run, .by = "tend unpause", .at = ++orders_}); }
  void kill_worker() { universe.signal(kept.workers().front(), Kill::kill); }
  [[nodiscard]] int starts() const {
    return static_cast<int>(std::ranges::count_if(universe.log(), [](const std::string& line) {
      return line.contains(" exec ") && line.contains(" worker");
    }));
  }
  void expect_working(std::uint32_t life) {
    EXPECT_EQ(kept.workers().size(), 1U);
    EXPECT_EQ(kept.heartbeat().life, life);
    EXPECT_EQ(word(kept.heartbeat().verdict), "working");
    kept.check_replay();
  }
  void expect_stopped() {
    EXPECT_TRUE(kept.workers().empty());
    EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
    EXPECT_EQ(kept.heartbeat().ended_by, "tend stop");
    EXPECT_FALSE(universe.runs(kept.keeper));
    kept.check_replay();
  }

  Kept kept;
  SimUniverse& universe = kept.universe;
  double orders_ = 0;
};

}  // namespace tend
