// A tree of agents on one simulated machine: every keeper is a program `tend keep FOLDER` that the
// universe starts, so that keepers really start those of their children and of their parents. All
// agents are claude; what each does is said by its name.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/launch.h"
#include "run/family.h"
#include "run/kept_test.h"
#include "run/recover.h"
#include "store/children.h"
#include "store/inbox.h"

namespace tend {

// --- What an agent prints ------------------------------------------------------------------------

inline std::string claude_said(const std::string& text) {
  return R"({"type":"assistant","message":{"content":[{"type":"text","text":")" + text +
         R"("}]},"parent_tool_use_id":null})"
         "\n";
}
inline std::string claude_tool(const std::string& id, const std::string& more = "") {
  return R"({"type":"assistant","message":{"content":[{"type":"tool_use","id":")" + id +
         R"(","name":"Bash","input":{"command":"make")" + more +
         R"(}}]},"parent_tool_use_id":null})"
         "\n";
}
inline std::string claude_tool_closed(const std::string& id) {
  return R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":")" + id +
         R"(","content":"ok"}]},"parent_tool_use_id":null})"
         "\n";
}
inline std::string claude_result() {
  return R"({"type":"result","subtype":"success","is_error":false})"
         "\n";
}

// --- What an agent does; its session it names before
// ----------------------------------------------

inline void talk(SimSelf& self) {
  using namespace std::chrono_literals;
  self.every(20s, [n = 0](SimSelf& me) mutable { me.print(claude_said(std::to_string(++n))); });
}
/// Its turn is over, and it stays.
inline void rest(SimSelf& self) { self.print(claude_said("I wait") + claude_result()); }
inline void end_well(SimSelf& self) {
  self.print(claude_tool("t1") + claude_tool_closed("t1") + claude_said("done") + claude_result());
  self.exit(0);
}
inline SimBehaviour work_for(Duration time) {
  return [time](SimSelf& self) {
    talk(self);
    self.after(time, end_well);
  };
}

// --- The tree ------------------------------------------------------------------------------------

struct ChildWish {
  std::string role = "coding";
  std::string task_id;
  std::vector<std::string> environment{"PATH=/bin", "HOME=/home/user"};
};

class Family {
 public:
  static constexpr const char* kHome = "/home/user/tend";
  static constexpr const char* kTend = "/usr/bin/tend";
  static constexpr const char* kWork = "/home/user/work";

  explicit Family(std::uint64_t seed = 1) : universe(seed), policy(*built_in_policy("agent")) {
    universe.disk.make_folder(std::string(kHome) + "/sessions");
    universe.programs[kTend] = [this](Machine& machine, const Launch& launch) {
      return keep(machine, launch);
    };
    universe.behaviours["claude"] = [this](SimSelf& self) { live(self); };
  }

  // Growing.
  AgentFile file_of(const std::string& name) const {
    AgentFile file;
    file.agent = name;
    file.role = "lead";
    file.command = {"claude", "-p", "do it"};
    file.adapter = AdapterKind::claude;
    file.policy = "agent";
    file.restart = RestartPolicy::on_failure;
    file.working_folder = "/home/user";
    if (change) {
      AgentFile changed = file;
      change(changed);
      return changed;
    }
    return file;
  }
  /// The first of a tree, not kept yet.
  void make_root(const std::string& name) {
    Machine& machine = universe.machine();
    auto home = machine.folders.open(kHome);
    AgentFile file = file_of(name);
    auto folder = make_agent(machine, **home, file);
    if (!folder) throw std::runtime_error(folder.error().text);
    folders[name] = (*folder)->path();
  }
  void root(const std::string& name) {
    make_root(name);
    put_keeper_on(name);
  }
  /// As `tend dispatch` does it, in this process.
  Result<void> dispatch_in(std::int64_t pid, const std::string& parent, const std::string& name,
                           const ChildWish& wish = {}) {
    Machine& machine = universe.machine_of(pid);
    auto home = machine.folders.open(kHome);
    auto folder = machine.folders.open(folders.at(parent));
    auto agent = read_agent_file(**folder);
    ParentAgent above{*std::move(folder), *std::move(agent)};
    AgentFile file = file_of(name);
    file.role = wish.role;
    file.task_id = wish.task_id;
    auto place = reserve_child(machine, **home, above, file);
    if (!place) return std::unexpected(place.error());
    folders[name] = place->folder->path();
    return register_child(machine, **home, above, *std::move(place), file);
  }
  std::int64_t start_dispatcher(const ChildWish& wish = {}) {
    return universe.start_process("dispatch", {.environment = wish.environment});
  }
  void dispatch(const std::string& parent, const std::string& name, const ChildWish& wish = {}) {
    const auto done = dispatch_in(start_dispatcher(wish), parent, name, wish);
    ASSERT_TRUE(done) << done.error().text;
  }
  /// As `tend run --attach` and every order do it.
  std::int64_t put_keeper_on(const std::string& name, bool again = false) {
    Launch launch;
    launch.command = {kTend, "keep", folders.at(name)};
    if (again) launch.command.emplace_back("--again");
    launch.environment = {"PATH=/bin", "HOME=/home/user"};
    return universe.start_command(launch);
  }

  // Looking.
  [[nodiscard]] std::string path(const std::string& name, const std::string& file) const {
    return folders.at(name) + "/" + file;
  }
  [[nodiscard]] std::string text_of(const std::string& name, const std::string& file) const {
    return universe.disk.read(path(name, file)).value_or("");
  }
  [[nodiscard]] Heartbeat heartbeat(const std::string& name) const {
    return parse_heartbeat(text_of(name, ".heartbeat")).value_or(Heartbeat{});
  }
  [[nodiscard]] std::string verdict(const std::string& name) const {
    return std::string(word(heartbeat(name).verdict));
  }
  [[nodiscard]] std::string outcome(const std::string& name) const {
    return std::string(kWorkOutcomeWords[static_cast<std::size_t>(heartbeat(name).outcome)]);
  }
  [[nodiscard]] bool over(const std::string& name) const {
    return is_terminal(heartbeat(name).status);
  }
  /// The living processes of this agent.
  [[nodiscard]] std::vector<std::int64_t> agents(const std::string& name) const {
    std::vector<std::int64_t> found;
    for (const std::int64_t pid : universe.pids("claude")) {
      const auto owner = owners_.find({universe.boot_id(), pid});
      if (owner != owners_.end() && owner->second == name) found.push_back(pid);
    }
    return found;
  }
  [[nodiscard]] std::vector<std::int64_t> keepers(const std::string& name) const {
    std::vector<std::int64_t> found;
    for (const std::int64_t pid : universe.pids(kTend)) {
      if (universe.facts(pid)->command[2] == folders.at(name)) found.push_back(pid);
    }
    return found;
  }
  [[nodiscard]] int keepers_started(const std::string& name) const {
    return static_cast<int>(std::ranges::count_if(universe.log(), [&](const std::string& line) {
      const std::string keep = " keep " + folders.at(name);
      return line.contains(" exec ") && (line.ends_with(keep) || line.contains(keep + " --"));
    }));
  }
  /// When it ended, by the log; nothing if it did not.
  [[nodiscard]] std::optional<std::int64_t> ended_at(std::int64_t pid) const {
    for (const std::string& line : universe.log()) {
      if (line.contains(" end " + std::to_string(pid) + " ")) return std::stoll(line);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string events() const {
    return universe.disk.read(std::string(kHome) + "/events.jsonl").value_or("");
  }
  /// The lines of a journal that have all of these.
  [[nodiscard]] std::vector<nlohmann::json> journal(
      const std::string& name, const std::map<std::string, std::string>& with) const {
    std::vector<nlohmann::json> found;
    std::istringstream lines(text_of(name, "journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      auto json = nlohmann::json::parse(line, nullptr, false);
      if (!json.is_object() || json.contains("trace") || json.contains("carried")) continue;
      if (std::ranges::all_of(with, [&](const auto& field) {
            return json.contains(field.first) && json[field.first] == field.second;
          })) {
        found.push_back(std::move(json));
      }
    }
    return found;
  }
  [[nodiscard]] int decided(const std::string& name, const std::string& action) const {
    return static_cast<int>(journal(name, {{"action", action}}).size());
  }
  /// What the judge of a parent was told of a child, in this order.
  [[nodiscard]] std::vector<std::string> told(const std::string& parent,
                                              const std::string& child) const {
    std::vector<std::string> words;
    for (const auto& line : journal(parent, {{"is", "child"}, {"child", child}})) {
      words.push_back(line["verdict"]);
    }
    return words;
  }
  [[nodiscard]] std::string last_told(const std::string& parent, const std::string& child) const {
    const auto words = told(parent, child);
    return words.empty() ? "" : words.back();
  }
  [[nodiscard]] ChildLine registered(const std::string& parent, const std::string& child) {
    const auto folder = universe.machine().folders.open(folders.at(parent));
    const auto read = read_children(**folder);
    for (const ChildLine& line : read->children) {
      if (line.agent == child) return line;
    }
    return {};
  }
  [[nodiscard]] std::string status(const std::string& parent, const std::string& child) {
    return std::string(
        kChildStatusWords[static_cast<std::size_t>(registered(parent, child).status)]);
  }
  /// "kind: text" of every message.
  [[nodiscard]] std::vector<std::string> inbox(const std::string& name) {
    const auto folder = universe.machine().folders.open(folders.at(name));
    const auto read = read_inbox(**folder);
    std::vector<std::string> words;
    for (const InboxMessage& message : read->messages) {
      words.push_back(message.kind + ": " + message.text);
    }
    return words;
  }

  // Doing.
  void order(const std::string& name, Want want, bool tree) {
    Machine& machine = universe.machine();
    auto folder = machine.folders.open(folders.at(name));
    const Intent intent{.want = want, .by = "tend stop", .at = ++orders_, .tree = tree};
    ASSERT_TRUE(write_intent(**folder, intent));
    poke_keeper(machine, **folder);
  }
  void kill_keepers(const std::string& name) {
    for (const std::int64_t pid : keepers(name)) universe.kill(pid);
  }
  void kill_agents(const std::string& name) {
    for (const std::int64_t pid : agents(name)) universe.kill(pid);
  }
  /// Nobody is left of it, and nobody could see how it went.
  void kill_both(const std::string& name) {
    kill_keepers(name);
    kill_agents(name);
  }
  RecoveryScan scan() {
    auto home = universe.machine().folders.open(kHome);
    auto scan = scan_home(universe.machine(), **home);
    if (!scan) throw std::runtime_error(scan.error().text);
    return *std::move(scan);
  }
  std::vector<std::string> due() {
    std::vector<std::string> lines;
    for (const Recovery& one : scan().agents) {
      if (one.is_due()) lines.push_back(one.agent + ": " + one.why);
    }
    return lines;
  }
  /// As `tend recover` does it, in this process. False if another one is at it.
  bool recover_in(std::int64_t pid) {
    Machine& machine = universe.machine_of(pid);
    auto home = machine.folders.open(kHome);
    const auto lock = lock_recovery(**home);
    if (!lock || *lock == nullptr) return false;
    const auto found = scan_home(machine, **home);
    if (!found) throw std::runtime_error(found.error().text);
    return begin_roots(machine, *found, keeper_program(),
                       [this](const Recovery& one) { recovered.push_back(one.agent); })
        .has_value();
  }
  bool recover() { return recover_in(universe.start_process("recover")); }

  /// A repository in kWork, and a work tree of its own for a child.
  void have_repository() {
    universe.disk.write(std::string(kWork) + "/a", "1");
    universe.repositories[kWork].head = {{"a", "1"}};
  }
  std::string make_worktree(const std::string& name) {
    Machine& machine = universe.machine();
    WorktreeOrder order;
    order.repository = kWork;
    order.path = std::string(kHome) + "/worktrees/" + name;
    order.branch = "tend/" + name;
    std::optional<Result<WorktreeState>> made;
    const Subscribed making = machine.version_control.make_worktree(order, [&](auto state) {
      made = std::move(state);
      machine.loop.stop();
    });
    if (!made) machine.loop.run();
    if (!*made) throw std::runtime_error(made->error().text);
    return order.path;
  }
  /// The lead works in kWork, the child in a work tree of its own, where it makes a file.
  void have_merging_child(const std::string& name) {
    have_repository();
    const std::string worktree = make_worktree(name);
    change = [name, worktree](AgentFile& file) {
      if (file.agent == "lead") file.worktree = kWork;
      if (file.agent != name) return;
      file.worktree = worktree;
      file.working_folder = worktree;
      file.own_worktree = true;
    };
    behaves[name] = [name](SimSelf& self) {
      self.write("b", "of " + name);
      self.after(std::chrono::seconds{30}, end_well);
    };
  }
  [[nodiscard]] int merges() {
    return static_cast<int>(
        std::ranges::count_if(universe.repositories[kWork].commits,
                              [](const auto& entry) { return entry.second.parents.size() == 2; }));
  }

  /// What must hold of every tree at any time: nobody runs twice, and a replay of what was seen
  /// decides the same.
  void check() const {
    for (const auto& [name, folder] : folders) {
      EXPECT_LE(agents(name).size(), over(name) ? 0U : 1U) << name;
      EXPECT_LE(keepers(name).size(), 1U) << name;
      const std::string text = text_of(name, "journal.jsonl");
      if (text.empty()) continue;
      const Decided decided = JournalRead::decisions(text);
      EXPECT_EQ(decided.recorded, decided.replayed) << name;
    }
  }

  static KeeperProgram keeper_program() {
    return {.program = kTend, .home = kHome, .environment = {"PATH=/bin", "HOME=/home/user"}};
  }

  SimUniverse universe;
  Policy policy;
  std::function<void(AgentFile&)> change;       // of every agent that is made
  std::map<std::string, SimBehaviour> behaves;  // by name; who is not here talks
  std::map<std::string, std::string> folders;   // by name
  std::map<std::string, bool> cannot_be_kept;   // whose keepers die at once
  std::vector<std::string> begun;               // "lead 1", in this order
  std::vector<std::string> recovered;
  std::map<std::string, std::vector<std::string>> last_command;  // by name
  std::map<std::string, std::vector<std::string>> last_environment;

 private:
  std::shared_ptr<void> keep(Machine& machine, const Launch& launch) {
    auto folder = machine.folders.open(launch.command.at(2));
    auto home = machine.folders.open(kHome);
    if (!folder || !home) throw std::runtime_error("no folder: " + launch.command.at(2));
    auto agent = read_agent_file(**folder);
    if (!agent) throw std::runtime_error(agent.error().text);
    if (cannot_be_kept[agent->agent]) {
      machine.loop.stop();
      return nullptr;
    }
    KeeperProgram program = keeper_program();
    program.environment = keeper_environment(launch.environment);
    KeeperSettings settings{.agent = *std::move(agent),
                            .policy = policy,
                            .environment = launch.environment,
                            .runtime_folder = "/home/user",
                            .program = std::move(program),
                            .again = launch.command.back() == "--again"};
    auto keeper = std::make_shared<Keeper>(machine, *std::move(folder), *std::move(home),
                                           std::move(settings));
    const auto began = keeper->begin();
    if (!began) ADD_FAILURE() << began.error().text;
    if (!began || *began != Keeper::Began::keeping) machine.loop.stop();
    return keeper;
  }

  void live(SimSelf& self) {
    const std::string name = self.variable("TEND_AGENT").value_or("");
    owners_[{self.id().boot_id, self.pid()}] = name;
    EXPECT_EQ(agents(name).size(), 1U) << name << " runs twice";
    begun.push_back(name + " " + self.variable("TEND_LIFE").value_or(""));
    last_command[name] = self.command();
    last_environment[name] = universe.facts(self.pid())->environment;
    self.print(R"({"type":"system","subtype":"init","session_id":"session-of-)" + name + "\"}\n");
    const auto found = behaves.find(name);
    found == behaves.end() ? talk(self) : found->second(self);
  }

  double orders_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::string> owners_;  // of processes
};

inline bool is_in(const std::vector<std::string>& lines, std::string_view what) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.contains(what); });
}

/// A lead, and what most tests of trees do with it.
class FamilyTest : public testing::Test {
 protected:
  void grow(const std::vector<std::string>& children) {
    family.root("lead");
    universe.run_for(std::chrono::seconds{5});
    for (const std::string& child : children) family.dispatch("lead", child);
    universe.run_for(std::chrono::seconds{30});
  }
  /// lead -> mid -> leaf
  void grow_three() {
    grow({"mid"});
    family.dispatch("mid", "leaf");
    universe.run_for(std::chrono::seconds{30});
  }

  Family family;
  SimUniverse& universe = family.universe;
};

}  // namespace tend
