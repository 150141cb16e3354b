// The stores of other systems in a configuration: what can be written, what a preset stands for,
// and what is said about the rest.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "store/config.h"
#include "store/foreign/foreign_agent.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

std::string problems_in(std::string_view text) {
  const auto config = parse_config(text, "c.toml");
  std::string all;
  if (config) return all;
  for (const ConfigProblem& problem : config.error()) all += describe(problem) + "\n";
  return all;
}

Config read(std::string_view text) {
  auto config = parse_config(text, "c.toml");
  EXPECT_TRUE(config.has_value()) << problems_in(text);
  return config.value_or(Config{});
}

ForeignAgent agent_in(std::string_view text, std::string_view name) {
  return foreign_agent(read(text), name, "", "/home/me");
}

std::vector<std::string> names_of(const std::vector<AgentStore>& stores) {
  std::vector<std::string> names;
  for (const AgentStore& store : stores) names.push_back(store.name);
  return names;
}

AgentStore store_named(const std::vector<AgentStore>& stores, std::string_view name) {
  const auto found = std::ranges::find(stores, name, &AgentStore::name);
  EXPECT_NE(found, stores.end()) << name;
  return found == stores.end() ? AgentStore{} : *found;
}

using Names = std::vector<std::string>;

TEST(ConfigStores, reads_every_key_of_a_source) {
  const Config config = read(R"(
[[source]]
name = "status"
agent = "w1"
kind = "command"
command = ["show", "it"]
field = "data.beat"
stale = "90s"
may_lag = true
believe_state = true
ignore_pid = true
deadline = "3s"
)");
  ASSERT_EQ(config.sources.size(), 1U);
  AgentStore expected;
  expected.name = "status";
  expected.agent = "w1";
  expected.store.kind = StoreKind::command;
  expected.store.command = {"show", "it"};
  expected.store.field = "data.beat";
  expected.store.ignores_pid = true;
  expected.store.deadline = 3s;
  expected.stale = 90s;
  expected.may_lag = true;
  expected.believed = true;
  expected.line = 2;
  EXPECT_EQ(config.sources.front(), expected);
}

TEST(ConfigStores, reads_every_key_of_a_sink) {
  const Config config = read(R"(
[[sink]]
name = "label"
role = "deacon"
kind = "label"
label = "alive"
command = ["bd", "show", "x", "--json"]
set = ["bd", "update", "x", "--set-labels={labels}"]
folder = "~/gt"
refresh_after = "150s"
[[sink]]
name = "registry"
agent = "o"
kind = "registry"
path = "/app/registry.json"
field = "agents[assigned_role=orchestrator].last_heartbeat"
locked = true
id = "agent-{agent}"
[[sink]]
name = "file"
agent = "o"
kind = "json-time"
path = "/f"
field = "timestamp"
counter = "cycle"
)");
  ASSERT_EQ(config.sinks.size(), 3U);
  EXPECT_EQ(config.sinks[0].store.folder, "~/gt");
  EXPECT_EQ(config.sinks[1].id, "agent-{agent}");
  EXPECT_EQ(config.sinks[2].counter, "cycle");
  const ForeignAgent orchestrator = foreign_agent(config, "o", "deacon", "/home/me");
  EXPECT_EQ(store_named(orchestrator.sinks, "registry").id, "agent-o");
  EXPECT_EQ(store_named(orchestrator.sinks, "label").store.folder, "/home/me/gt");
  EXPECT_EQ(config.sinks[0].role, "deacon");
  EXPECT_EQ(config.sinks[0].store.label, "alive");
  EXPECT_EQ(config.sinks[0].store.set.size(), 4U);
  EXPECT_EQ(config.sinks[0].refresh_after, 150s);
  EXPECT_TRUE(config.sinks[1].store.locked);
}

TEST(ConfigStores, takes_every_kind_with_what_it_needs) {
  const std::pair<StoreKind, std::string_view> rows[] = {
      {StoreKind::json_time, "path = '/f'\nfield = 't'"},
      {StoreKind::mtime, "path = '~/f'"},
      {StoreKind::session_state, "path = '/f'"},
      {StoreKind::registry, "path = '/f'\nfield = 'agents[role=x].t'"},
      {StoreKind::lease_file, "path = '/f'"},
      {StoreKind::heartbeat_dir, "path = '/f'"},
      {StoreKind::label, "command = ['bd']"},
      {StoreKind::command, "command = ['x']\nfield = 't'"},
      {StoreKind::tmux, "session = 's'"},
  };
  ASSERT_EQ(std::size(rows), kStoreKindWords.size());
  for (const auto& [kind, keys] : rows) {
    const std::string head =
        "[[source]]\nname = 'n'\nagent = 'a'\nkind = '" + std::string(word(kind)) + "'\n";
    const Config config = read(head + std::string(keys));
    ASSERT_EQ(config.sources.size(), 1U) << word(kind);
    EXPECT_EQ(config.sources.front().store.kind, kind);
    if (kind == StoreKind::tmux) continue;
    EXPECT_FALSE(problems_in(head).empty()) << word(kind) << " without what it needs";
  }
}

TEST(ConfigStores, says_where_and_what_is_wrong) {
  EXPECT_EQ(problems_in("[[source]]\nname = 'a'\nagent = 'x'\nkind = 'mtime'\n"),
            "c.toml:1: source: is of kind mtime and lacks path, like path = "
            "\"~/gt/deacon/heartbeat.json\"\n");
  EXPECT_EQ(problems_in("[[source]]\nname = 'a'\nagent = 'x'\nkind = 'mtimes'\npath = '/f'\n"),
            "c.toml:4: source.kind: no such kind 'mtimes'; allowed: json-time, mtime, "
            "session-state, registry, lease-file, heartbeat-dir, label, command, tmux; did you "
            "mean 'mtime'?\n");
  EXPECT_EQ(problems_in("[[source]]\nname = 'a'\nkind = 'mtime'\npath = '/f'\n"),
            "c.toml:1: source: lacks whose it is: agent = \"deacon\" or role = \"witness\"\n");
  EXPECT_EQ(
      problems_in("[[source]]\nname = 'a'\nagent = 'x'\nrole = 'y'\nkind = 'mtime'\npath = '/f'\n"),
      "c.toml:1: source: has both agent and role; keep one\n");
  EXPECT_EQ(problems_in("[[source]]\nname = 'a'\nagent = 'x'\nkind = 'mtime'\npath = 'f'\n"),
            "c.toml:5: source.path: must be an absolute path, or one that begins with ~/\n");
  EXPECT_EQ(problems_in("[[source]]\nname='a'\nagent='x'\nkind='tmux'\nsession='s'\npath='/f'\n"),
            "c.toml:1: source: has path, which is not for kind tmux\n");
  EXPECT_EQ(problems_in("[[sink]]\nname='a'\nagent='x'\nkind='command'\ncommand=['c']\n"
                        "field='t'\n"),
            "c.toml:1: sink: is of kind command, which can only be read\n");
  EXPECT_EQ(problems_in("[[source]]\nname='a'\nagent='x'\nkind='registry'\npath='/f'\n"
                        "field='agents.t'\n"),
            "c.toml:1: source: is of kind registry, so its field chooses an entry, like field = "
            "\"agents[assigned_role=orchestrator].last_heartbeat\"\n");
  EXPECT_EQ(problems_in("[store.d]\npreset = 'gastwon'\n"),
            "c.toml:2: store.d.preset: no such preset 'gastwon'; allowed: gastown, teaparty, "
            "zylos, hyrm; did you mean 'gastown'?\n");
  EXPECT_EQ(problems_in("[store.d]\npreset = 'teaparty'\n"),
            "c.toml:1: store.d: is of preset teaparty and lacks root, the folder of the job, like "
            "root = \"~/project/.teaparty/jobs/job-1--fix\"\n");
  EXPECT_EQ(problems_in("[store.d]\nstale = '5m'\nvery_stale = '5m'\n"),
            "c.toml:1: store.d: very_stale (5m) must be above stale (5m)\n");
  EXPECT_EQ(problems_in("[[sources]]\nx = 1\n").substr(0, 34),
            "c.toml:1: sources: no such table; ");
}

TEST(ConfigStores, wants_a_name_of_its_own_for_every_store_of_an_agent) {
  constexpr std::string_view kOne =
      "[[source]]\nname = 'n'\nagent = 'a'\nkind = 'mtime'\npath = '/f'\n";
  EXPECT_EQ(problems_in(std::string(kOne) + std::string(kOne)),
            "c.toml:6: source: there is another 'n' of this agent in line 1; each has a name of "
            "its own\n");
  std::string other(kOne);
  other.replace(other.find("'a'"), 3, "'b'");
  EXPECT_EQ(problems_in(std::string(kOne) + other), "");
}

TEST(ForeignAgents, of_gas_town_the_deacon_has_three_stores_and_its_session) {
  const ForeignAgent deacon = agent_in("[store.deacon]\npreset = 'gastown'\n", "deacon");
  EXPECT_EQ(names_of(deacon.sources), (Names{"file", "legacy", "session", "label", "tmux"}));
  EXPECT_EQ(names_of(deacon.sinks), (Names{"file", "legacy", "session", "label"}));
  EXPECT_EQ(deacon.stale, 5min);
  EXPECT_EQ(deacon.very_stale, 20min);
  EXPECT_EQ(deacon.poke_after, 20min);
  EXPECT_EQ(deacon.poke.front(), "gt");
  EXPECT_FALSE(deacon.kill);
  const AgentStore file = store_named(deacon.sources, "file");
  EXPECT_EQ(file.store.path, "/home/me/gt/deacon/heartbeat.json");
  EXPECT_EQ(file.store.field, "timestamp");
  EXPECT_EQ(file.stale, 5min);
  EXPECT_EQ(store_named(deacon.sources, "session").store.path,
            "/home/me/gt/.runtime/heartbeats/hq-deacon.json");
  EXPECT_TRUE(store_named(deacon.sources, "session").believed);
  EXPECT_TRUE(store_named(deacon.sources, "label").may_lag) << "a known false alarm";
  EXPECT_EQ(store_named(deacon.sinks, "label").refresh_after, 150s) << "half the limit";
  EXPECT_EQ(store_named(deacon.sinks, "label").store.folder, "/home/me/gt");
  EXPECT_EQ(store_named(deacon.sinks, "label").store.environment,
            Names{"BEADS_DIR=/home/me/gt/.beads"});
  EXPECT_EQ(store_named(deacon.sinks, "file").counter, "cycle");
  EXPECT_EQ(store_named(deacon.sources, "tmux").store.session, "hq-deacon");
}

TEST(ForeignAgents, of_gas_town_others_have_their_session_alone) {
  const ForeignAgent toast = agent_in(
      "[store.toast]\npreset = 'gastown'\nroot = '/town/'\nsession = 'gt-rig-toast'\n", "toast");
  EXPECT_EQ(names_of(toast.sources), (Names{"session", "tmux"}));
  EXPECT_EQ(toast.stale, 3min);
  EXPECT_EQ(store_named(toast.sources, "session").store.path,
            "/town/.runtime/heartbeats/gt-rig-toast.json");
}

TEST(ForeignAgents, of_the_other_systems_have_theirs) {
  const ForeignAgent job =
      agent_in("[store.job]\npreset = 'teaparty'\nroot = '/p/jobs/job-1'\n", "job");
  EXPECT_EQ(names_of(job.sources), Names{"heartbeat"});
  EXPECT_EQ(job.stale, 2min);
  EXPECT_EQ(job.very_stale, 5min);

  const ForeignAgent main = agent_in("[store.main]\npreset = 'zylos'\n", "main");
  EXPECT_EQ(names_of(main.sources), (Names{"status", "hooks", "tmux"}));
  EXPECT_TRUE(main.sinks.empty()) << "its monitor writes what it sees; it is not ours to beat";
  EXPECT_EQ(store_named(main.sources, "tmux").store.session, "claude-main");
  EXPECT_EQ(store_named(main.sources, "status").store.path,
            "/home/me/zylos/activity-monitor/agent-status.json");

  const ForeignAgent lead = agent_in("[store.orchestrator]\npreset = 'hyrm'\n", "orchestrator");
  EXPECT_EQ(names_of(lead.sources), (Names{"registry", "lease"}));
  EXPECT_EQ(store_named(lead.sources, "registry").store.field,
            "agents[assigned_role=orchestrator].last_heartbeat");
  EXPECT_TRUE(store_named(lead.sinks, "registry").store.locked);
  EXPECT_EQ(lead.very_stale, 210s) << "the lease and its grace";
}

TEST(ForeignAgents, take_what_people_wrote_in_the_place_of_the_preset) {
  const ForeignAgent deacon = agent_in(R"(
[store.deacon]
preset = "gastown"
stale = "30m"
poke = []
kill = true
[[source]]
name = "file"
agent = "deacon"
kind = "mtime"
path = "~/{agent}.beat"
stale = "1m"
[[source]]
name = "own"
agent = "deacon"
kind = "mtime"
path = "/own"
)",
                                       "deacon");
  EXPECT_EQ(names_of(deacon.sources), (Names{"file", "legacy", "session", "label", "tmux", "own"}));
  EXPECT_EQ(store_named(deacon.sources, "file").store.path, "/home/me/deacon.beat");
  EXPECT_EQ(store_named(deacon.sources, "file").stale, 1min);
  EXPECT_EQ(store_named(deacon.sources, "own").stale, 30min);
  EXPECT_EQ(deacon.very_stale, 60min) << "above stale, whatever that is";
  EXPECT_TRUE(deacon.poke.empty());
  EXPECT_TRUE(deacon.kill);
}

TEST(ForeignAgents, have_the_stores_of_their_role_too) {
  const Config config = read(
      "[[source]]\nname = 's'\nrole = 'witness'\nkind = 'session-state'\npath = '/hb/{agent}'\n"
      "[[source]]\nname = 'o'\nagent = 'other'\nkind = 'mtime'\npath = '/o'\n");
  const ForeignAgent one = foreign_agent(config, "w1", "witness", "/home/me");
  ASSERT_EQ(names_of(one.sources), Names{"s"});
  EXPECT_EQ(one.sources.front().store.path, "/hb/w1");
  EXPECT_TRUE(foreign_agent(config, "w1", "coder", "/home/me").sources.empty());
  EXPECT_EQ(foreign_names(config), Names{"other"});
}

TEST(ConfigStores, the_example_of_the_manual_can_be_read) {
  std::ifstream manual(TEND_SOURCE_DIR "/docs/stores.md");
  const std::string text{std::istreambuf_iterator<char>(manual), {}};
  std::size_t examples = 0;
  std::string whole;
  for (std::size_t at = 0; (at = text.find("```toml\n", at)) != std::string::npos;) {
    at += std::string_view("```toml\n").size();
    const std::size_t end = text.find("```", at);
    whole += text.substr(at, end - at);
    ++examples;
    at = end;
  }
  EXPECT_GE(examples, 2U);
  const Config config = read(whole);
  EXPECT_GE(config.sources.size(), 4U);
  EXPECT_GE(config.sinks.size(), 1U);
  EXPECT_EQ(config.stores.count("deacon"), 1U);
}

TEST(ConfigStores, every_key_is_in_the_manual) {
  std::ifstream manual(TEND_SOURCE_DIR "/docs/stores.md");
  const std::string text{std::istreambuf_iterator<char>(manual), {}};
  for (const std::string_view key :
       {"name",    "agent",         "role",       "kind",       "path",   "field",
        "session", "label",         "command",    "set",        "stale",  "very_stale",
        "may_lag", "believe_state", "ignore_pid", "deadline",   "locked", "refresh_after",
        "preset",  "root",          "poke",       "poke_after", "kill",   "folder",
        "id",      "counter"}) {
    EXPECT_NE(text.find("`" + std::string(key) + "`"), std::string::npos) << key;
  }
  for (const std::string_view kind : kStoreKindWords) {
    EXPECT_NE(text.find("`" + std::string(kind) + "`"), std::string::npos) << kind;
  }
}

}  // namespace
}  // namespace tend
