// `[gate]` and `[probe.NAME]` in a configuration: what can be written, and what is said about the
// rest.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "store/config.h"

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

GateSettings gate_in(std::string_view text) { return read(text).gate; }

ProbeSettings probe_in(const std::string& keys) {
  return read("[probe.boss]\nchannel = \"stdin-stream\"\n" + keys).probes.find("boss")->second;
}

// ---- [gate] ----

TEST(ConfigGate, has_its_defaults_without_a_section_and_with_an_empty_one) {
  for (const GateSettings& gate : {gate_in(""), gate_in("[gate]")}) {
    EXPECT_EQ(gate, GateSettings{});
    EXPECT_EQ(gate.while_down, WhileDown::hold);
    EXPECT_EQ(gate.texts.find("zh")->second,
              (GateTexts{"系统异常，正在尝试恢复", "系统已恢复正常"}));
    EXPECT_TRUE(gate.texts.contains("en"));
  }
}

TEST(ConfigGate, is_all_that_is_written) {
  const GateSettings gate = gate_in(R"(
[gate]
degraded = "reject"
language = "de"
lease = "2m"
most_tries = 3
reply_every = 0
mirror = "~/zylos/comm-bridge"

[gate.texts.de]
degraded = "Es klemmt."
recovered = "Es geht\nwieder."

[gate.texts.en]
recovered = "Back."
)");
  EXPECT_EQ(gate.while_down, WhileDown::reject);
  EXPECT_EQ(gate.language, "de");
  EXPECT_EQ(gate.lease, 2min);
  EXPECT_EQ(gate.most_tries, 3U);
  EXPECT_EQ(gate.reply_every, 0s);
  EXPECT_EQ(gate.mirror, "~/zylos/comm-bridge");
  EXPECT_EQ(gate.texts.find("de")->second, (GateTexts{"Es klemmt.", "Es geht\nwieder."}));
  EXPECT_EQ(gate.texts.find("en")->second.recovered, "Back.");
  EXPECT_EQ(gate.texts.find("en")->second.degraded, shipped_gate_texts()["en"].degraded);
  EXPECT_EQ(gate.texts.size(), 3U);
}

TEST(ConfigGate, says_what_is_wrong_and_where) {
  EXPECT_EQ(problems_in(R"([gate]
degraded = "held"
lease = 0
most_tries = 0
mirror = "here"
mirrors = 1
texts.en.degraded = ""
texts.de.degraded = "x"
texts."a b".degraded = "x"
)"),
            "c.toml:2: gate.degraded: no such way 'held'; allowed: hold, reject; did you mean "
            "'hold'?\n"
            "c.toml:3: gate.lease: must be above 0\n"
            "c.toml:4: gate.most_tries: must be from 1 to 1000\n"
            "c.toml:5: gate.mirror: must be an absolute path, or one that begins with ~/\n"
            "c.toml:6: gate.mirrors: no such key; allowed: degraded, language, lease, most_tries, "
            "reply_every, mirror, texts; did you mean 'mirror'?\n"
            "c.toml:7: gate.texts.en.degraded: must be a text of 1 to 1000 bytes, without control "
            "characters\n"
            "c.toml:8: gate.texts.de: is a new language and lacks recovered, what is told when the "
            "agent is well again\n"
            "c.toml:9: gate.texts.'a b': a language is 1 to 64 letters, digits, - and _, like en "
            "or pt-BR\n");
  EXPECT_EQ(problems_in("gate = 1"), "c.toml:1: gate: must be a table, not an integer\n");
}

TEST(ConfigGate, has_no_language_without_texts) {
  EXPECT_EQ(problems_in("[gate]\nlanguage = \"fr\""),
            "c.toml:2: gate.language: there are no texts in 'fr'; there are: en, zh; write "
            "[gate.texts.fr]\n");
}

TEST(ConfigGate, bounds_its_languages) {
  std::string text = "[gate]\n";
  for (int i = 0; i < 65; ++i) text += fmt::format("texts.l{}.degraded = \"x\"\n", i);
  EXPECT_EQ(problems_in(text), "c.toml:2: gate.texts: 65 languages; at most 64\n");
}

TEST(GateTexts, are_in_the_language_of_the_sender_or_the_next_best) {
  GateSettings gate;
  gate.texts["pt"] = {"pt", ""};
  gate.texts["pt-BR"] = {"br", ""};
  EXPECT_EQ(gate_texts(gate, "pt-BR").degraded, "br");
  EXPECT_EQ(gate_texts(gate, "pt_PT").degraded, "pt");
  EXPECT_EQ(gate_texts(gate, "zh-CN").recovered, "系统已恢复正常");
  EXPECT_EQ(gate_texts(gate, "fr"), gate.texts["en"]);
  gate.language = "zh";
  EXPECT_EQ(gate_texts(gate, "").recovered, "系统已恢复正常");
  gate.texts.clear();
  EXPECT_EQ(gate_texts(gate, "fr"), shipped_gate_texts()["en"]);
}

// ---- [probe.NAME] ----

TEST(ConfigProbe, needs_a_channel_and_has_the_rest_by_default) {
  const ProbeSettings probe = probe_in("");
  EXPECT_EQ(probe.channel, ProbeChannel::stdin_stream);
  EXPECT_EQ(probe.interval, 5min);
  EXPECT_EQ(probe.deadline, 15min);
  EXPECT_FALSE(probe.direct);
  EXPECT_FALSE(probe.deliver);
  EXPECT_EQ(probe.line, 1U);
  EXPECT_EQ(problems_in("[probe.boss]"),
            "c.toml:1: probe.boss: lacks channel, the way on which it is asked: stdin-stream, "
            "tmux-keys, command, file\n");
}

TEST(ConfigProbe, is_all_that_is_written) {
  const Config config = read(R"(
[probe."my agent"]
channel = "command"
interval = "1m"
deadline = "4m"
command = ["tell", "{agent}", "{text}"]
env_file = "~/zylos/.env"
direct = true
deliver = true
[probe.typed]
channel = "tmux-keys"
target = "main:1.0"
[probe.filed]
channel = "file"
file = "in/box.txt"
)");
  const ProbeSettings& probe = config.probes.find("my agent")->second;
  EXPECT_EQ(probe.channel, ProbeChannel::command);
  EXPECT_EQ(probe.interval, 1min);
  EXPECT_EQ(probe.deadline, 4min);
  EXPECT_EQ(probe.command, (std::vector<std::string>{"tell", "{agent}", "{text}"}));
  EXPECT_EQ(probe.env_file, "~/zylos/.env");
  EXPECT_TRUE(probe.direct && probe.deliver);
  EXPECT_EQ(config.probes.find("typed")->second.target, "main:1.0");
  EXPECT_EQ(config.probes.find("filed")->second.file, "in/box.txt");
}

TEST(ConfigProbe, makes_room_for_the_time_that_is_written) {
  EXPECT_EQ(probe_in("interval = \"10m\"").deadline, 30min);
  EXPECT_EQ(probe_in("deadline = \"6m\"").interval, 2min);
  EXPECT_EQ(probe_in("deadline = \"2h\"").interval, 5min);
  EXPECT_EQ(probe_in("deadline = \"1ms\"").interval, 1ms);
  EXPECT_EQ(probe_in("interval = \"1095000d\"").deadline, kLongestTime);
}

TEST(ConfigProbe, says_what_is_wrong_and_where) {
  EXPECT_EQ(problems_in(R"(
[probe.a]
channel = "stdin"
interval = 0
deadlines = 3
[probe.b]
channel = "command"
file = "x"
target = "y"
[probe.c]
channel = "file"
[probe.d]
channel = "tmux-keys"
interval = "10m"
deadline = "5m"
[probe.e]
channel = "file"
file = "../x"
env_file = "here"
[probe.""]
channel = "tmux-keys"
)"),
            "c.toml:3: probe.a.channel: no such channel 'stdin'; allowed: stdin-stream, tmux-keys, "
            "command, file\n"
            "c.toml:4: probe.a.interval: must be above 0\n"
            "c.toml:5: probe.a.deadlines: no such key; allowed: channel, interval, deadline, "
            "target, command, file, env_file, direct, deliver; did you mean 'deadline'?\n"
            "c.toml:6: probe.b: has file, which is for channel file; this one is command\n"
            "c.toml:6: probe.b: has target, which is for channel tmux-keys; this one is command\n"
            "c.toml:6: probe.b: is of channel command and lacks command, like command = "
            "[\"tmux-send\", \"{agent}\", \"{text}\"]\n"
            "c.toml:10: probe.c: is of channel file and lacks file, like file = \"inbox.txt\"\n"
            "c.toml:15: probe.d.deadline: 5m is below the interval of 10m: it is over before the "
            "next question; 30m would be 3 of them\n"
            "c.toml:18: probe.e.file: must not have .. in it\n"
            "c.toml:19: probe.e.env_file: must be an absolute path, or one that begins with ~/\n"
            "c.toml:20: probe.'': an agent's name is one line of 1 to 128 bytes\n");
  EXPECT_EQ(problems_in("probe = []"),
            "c.toml:1: probe: must be a table of agents that are asked: [probe.NAME], not an "
            "array\n");
}

TEST(ConfigProbe, bounds_how_many_there_are) {
  std::string text;
  for (int i = 0; i < 257; ++i) text += fmt::format("[probe.p{}]\nchannel = \"file\"\n", i);
  EXPECT_EQ(problems_in(text), "c.toml:1: probe: 257 agents; at most 256\n");
}

}  // namespace
}  // namespace tend
