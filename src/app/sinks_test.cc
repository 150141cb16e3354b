// Beats into the stores of other systems: whose entry may be written, what is left alone, and what
// is said of each.
#include "app/sinks.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

AgentStore sink(const std::string& name, StoreKind kind, const std::string& field = "") {
  AgentStore made;
  made.name = name;
  made.store.kind = kind;
  made.store.path = "/stores/" + name;
  made.store.field = field;
  return made;
}

class Sinks : public testing::Test {
 protected:
  Sinks() {
    agent.name = "crawler";
    universe.disk.make_folder("/stores");
    universe.on_run = [this](const tend::Run& run) { return run_command(run); };
  }

  /// Each sink with what became of it.
  Texts beat(const std::optional<SelfState>& state = std::nullopt) {
    World world = sim.world();
    Texts said;
    for (const SinkDone& done : beat_sinks(world, agent, kept, state)) {
      constexpr std::string_view kWords[] = {"written", "left", "failed"};
      const std::string_view how = kWords[static_cast<std::size_t>(done.how)];
      said.push_back(
          fmt::format("{} {}{}{}", done.sink, how, done.words.empty() ? "" : ": ", done.words));
    }
    return said;
  }
  void put(const std::string& name, const std::string& text) {
    universe.disk.write("/stores/" + name, text);
  }
  std::string at(const std::string& name) {
    return universe.disk.read("/stores/" + name).value_or("none");
  }
  [[nodiscard]] std::int64_t epoch() const {
    return std::chrono::floor<std::chrono::seconds>(universe.wall().time_since_epoch()).count();
  }
  /// A process that the caller is below of.
  ProcessId start_above() {
    const std::int64_t pid = universe.start_process("agent", {});
    World world = sim.world();
    const ProcessId id = world.machines.machine().processes.identify(pid).value().value();
    sim.caller.above.push_back({.pid = pid, .start_ticks = id.start_ticks, .name = "agent"});
    return id;
  }

  std::optional<SimAnswer> run_command(const tend::Run& run) {
    asked.push_back(fmt::format("{}", fmt::join(run.command, " ")));
    if (run.command.at(1) == "show") {
      std::string list;
      for (const std::string& label : labels) list += (list.empty() ? "\"" : ",\"") + label + "\"";
      return SimAnswer{.output = R"({"labels":[)" + list + "]}"};
    }
    labels.clear();
    std::istringstream words(run.command.back());
    for (std::string label; std::getline(words, label, ',');) labels.push_back(label);
    return SimAnswer{};
  }

  SimUniverse universe;
  SimWorld sim{universe};
  ForeignAgent agent;
  std::optional<ProcessId> kept;
  Texts labels;
  Texts asked;
};

TEST_F(Sinks, are_all_tried_and_told_of_by_name) {
  agent.sinks = {sink("a", StoreKind::json_time, "t"), sink("b", StoreKind::lease_file),
                 sink("c", StoreKind::mtime)};
  agent.sinks[0].counter = "cycle";
  put("a", R"({"t":1,"cycle":4,"note":"stays"})");
  EXPECT_EQ(beat(), (Texts{"a written", "b failed: /stores/b: there is none, and a beat makes none",
                           "c written"}));
  EXPECT_EQ(at("a"), fmt::format(R"({{"t":{},"cycle":5,"note":"stays"}})", epoch()));
  EXPECT_EQ(at("c"), "");
}

TEST_F(Sinks, wait_for_the_lock_of_another_and_name_who_does_not_give_it_up) {
  agent.sinks = {sink("r", StoreKind::json_time, "t"), sink("s", StoreKind::json_time, "t")};
  agent.sinks[0].store.locked = true;
  put("r", R"({"t":7})");
  put("s", R"({"t":7})");
  const std::int64_t other = universe.start_process("other", {});
  put("r.lock", fmt::format(R"({{"agent_id":"w","pid":{}}})", other));
  universe.after(1s, [this] { universe.disk.remove("/stores/r.lock"); });
  EXPECT_EQ(beat(), (Texts{"r written", "s written"}));
  EXPECT_EQ(at("r.lock"), "none");
  put("r.lock", fmt::format(R"({{"agent_id":"w","pid":{}}})", other));
  const auto before = universe.wall();
  EXPECT_EQ(beat(), (Texts{fmt::format("r failed: /stores/r is locked by process {} (w), who did "
                                       "not give it up in time",
                                       other),
                           "s written"}));
  EXPECT_GE(universe.wall() - before, 2s);
  EXPECT_LT(universe.wall() - before, 3s) << "and nobody is waited for without end";
  EXPECT_NE(at("r.lock"), "none") << "it stays theirs";
}

TEST_F(Sinks, write_an_entry_of_a_process_that_is_above_and_no_other) {
  agent.sinks = {sink("r", StoreKind::registry, "agents[role=lead].seen")};
  const ProcessId ours = start_above();
  const std::string entry = R"({{"agents":[{{"role":"lead","pid":{},"seen":7}}]}})";
  put("r", fmt::format(fmt::runtime(entry), ours.pid));
  EXPECT_EQ(beat(), Texts{"r written"});
  EXPECT_TRUE(at("r").contains(fmt::format("\"seen\":{}", epoch()))) << at("r");
  const std::int64_t other = universe.start_process("other", {});
  const std::string theirs = fmt::format(fmt::runtime(entry), other);
  put("r", theirs);
  EXPECT_EQ(beat(), Texts{fmt::format("r failed: /stores/r: the entry that is "
                                      "'agents[role=lead].seen' is of another: process {}",
                                      other)});
  EXPECT_EQ(at("r"), theirs);
}

TEST_F(Sinks, do_not_write_for_one_that_had_the_same_number_before) {
  agent.sinks = {sink("d", StoreKind::heartbeat_dir)};
  const ProcessId ours = start_above();
  universe.disk.make_folder("/stores/d");
  put("d/.heartbeat",
      fmt::format(R"({{"pid":{},"started":{},"status":"running"}})", ours.pid, epoch() - 86'400));
  EXPECT_EQ(beat(), Texts{fmt::format("d failed: /stores/d/.heartbeat is of another: process {}",
                                      ours.pid)});
  put("d/.heartbeat",
      fmt::format(R"({{"pid":{},"started":{},"status":"running"}})", ours.pid, epoch()));
  EXPECT_EQ(beat(), Texts{"d written"});
}

TEST_F(Sinks, do_not_refresh_one_whose_process_is_gone) {
  agent.sinks = {sink("a", StoreKind::json_time, "t")};
  kept = start_above();
  sim.caller.above.clear();
  put("a", R"({"t":1})");
  EXPECT_EQ(beat(), Texts{"a written"});
  universe.kill(kept->pid);
  universe.run_for(1s);
  put("a", R"({"t":1})");
  EXPECT_EQ(beat(), Texts{fmt::format("a failed: /stores/a is not refreshed: process {} is gone",
                                      kept->pid)});
  EXPECT_EQ(at("a"), R"({"t":1})");
}

TEST_F(Sinks, hold_a_lease_under_the_name_that_the_registry_knows) {
  agent.sinks = {sink("r", StoreKind::registry, "agents[assigned_role=lead].last_heartbeat"),
                 sink("l", StoreKind::lease_file)};
  const ProcessId ours = start_above();
  put("r",
      fmt::format(
          R"({{"agents":[{{"agent_id":"a7","assigned_role":"lead","pid":{},"last_heartbeat":7}}]}})",
          ours.pid));
  const std::string lease =
      R"({{"leader_id":"{}","leader_epoch":3,"last_heartbeat":{},"ttl_ms":180000}})";
  put("l", fmt::format(fmt::runtime(lease), "a7", epoch() - 60));
  EXPECT_EQ(beat(), (Texts{"r written", "l written"}));
  EXPECT_EQ(at("l"), fmt::format(fmt::runtime(lease), "a7", epoch()));
  put("l", fmt::format(fmt::runtime(lease), "a8", epoch() - 60));
  EXPECT_EQ(beat(), (Texts{"r written", "l failed: /stores/l: the entry is of another: a8"}));
  agent.sinks[1].id = "a8";
  EXPECT_EQ(beat(), (Texts{"r written", "l written"})) << "the configuration says who we are";
}

TEST_F(Sinks, say_a_state_where_the_store_has_one) {
  agent.sinks = {sink("s", StoreKind::session_state),
                 sink("r", StoreKind::registry, "agents[agent_id=a7].last_heartbeat")};
  put("s", R"({"timestamp":7,"state":"working"})");
  const std::string registry =
      R"({"agents":[{"agent_id":"a7","status":"active","last_heartbeat":7}]})";
  put("r", registry);
  EXPECT_EQ(beat(), (Texts{"s written", "r written"}));
  EXPECT_TRUE(at("s").contains(R"("state":"working")")) << "a beat leaves it";
  EXPECT_TRUE(at("r").contains(R"("status":"active")"));
  EXPECT_EQ(beat(SelfState::stuck), (Texts{"s written", "r written"}));
  EXPECT_TRUE(at("s").contains(R"("state":"stuck")")) << at("s");
  EXPECT_TRUE(at("r").contains(R"("status":"blocked")")) << at("r");
  EXPECT_EQ(beat(SelfState::exiting), (Texts{"s written", "r written"}));
  EXPECT_TRUE(at("s").contains(R"("state":"exiting")")) << at("s");
  EXPECT_TRUE(at("r").contains(R"("status":"blocked")")) << "it has no word for that";
}

TEST_F(Sinks, leave_alone_what_is_young_unless_there_is_news) {
  agent.sinks = {sink("s", StoreKind::session_state)};
  agent.sinks[0].refresh_after = 150s;
  const std::string young = fmt::format(R"({{"timestamp":{},"state":"idle"}})", epoch() - 50);
  put("s", young);
  const Texts said = beat();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("s left: fresh for 1m")) << said[0];
  EXPECT_EQ(at("s"), young);
  EXPECT_TRUE(beat(SelfState::idle)[0].starts_with("s left"));
  EXPECT_EQ(beat(SelfState::working), Texts{"s written"});
}

TEST_F(Sinks, set_a_label_when_it_is_old_and_look_whether_it_is_there) {
  AgentStore label = sink("l", StoreKind::label);
  label.store.command = {"bd", "show", "x"};
  label.store.set = {"bd", "update", "x", "{label}"};
  label.refresh_after = 150s;
  agent.sinks = {label};
  labels = {fmt::format("heartbeat:{}", epoch() - 200)};
  EXPECT_EQ(beat(), Texts{"l written"});
  const std::string now = fmt::format("heartbeat:{}", epoch());
  EXPECT_EQ(asked, (Texts{"bd show x", "bd update x " + now, "bd show x"}));
  asked.clear();
  EXPECT_TRUE(beat()[0].starts_with("l left: fresh for 2m"));
  EXPECT_EQ(asked, Texts{"bd show x"});
}

TEST_F(Sinks, change_no_other_label) {
  AgentStore label = sink("l", StoreKind::label);
  label.store.command = {"bd", "show", "x"};
  const std::string old = fmt::format("heartbeat:{}", epoch() - 300);
  const std::string older = fmt::format("heartbeat:{}", epoch() - 900);
  const std::string now = fmt::format("heartbeat:{}", epoch());
  label.store.set = {"bd", "--remove={old}", "update", "{label}"};
  agent.sinks = {label};
  labels = {"gt:agent", old, older};
  EXPECT_EQ(beat(), Texts{"l written"});
  EXPECT_EQ(asked.at(1), "bd --remove=" + old + " --remove=" + older + " update " + now);
  agent.sinks[0].store.set = {"bd", "update", "{labels}"};
  labels = {"gt:agent", old, "idle:3"};
  asked.clear();
  EXPECT_EQ(beat(), Texts{"l written"}) << "the last of them is ours";
  EXPECT_EQ(asked.at(1), "bd update gt:agent,idle:3," + now);
}

}  // namespace
}  // namespace tend
