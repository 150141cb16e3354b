// The completion scripts at work: each is loaded by its own shell, which is then asked what it
// would offer at the end of a command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/command.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

/// A folder with three files, and scripts run in it.
class Completion : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tend-completion-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* file : {"trace.jsonl", "my trace.jsonl", "agents.toml"}) {
      std::ofstream(folder_ / file) << "x\n";
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The sorted lines that `shell` prints for `script`, its errors among them.
  Lines lines_of(const std::string& shell, const std::string& script) {
    const fs::path file = folder_ / ".script";
    std::ofstream(file) << script;
    const std::string command = "cd '" + folder_.string() + "' && HOME='" + folder_.string() +
                                "' " + shell + " '" + file.string() + "' 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("no shell");
    std::string text;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      text.append(buffer.data(), got);
    }
    EXPECT_EQ(pclose(pipe), 0) << text;
    Lines lines;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
      if (end > 0) lines.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    std::ranges::sort(lines);
    return lines;
  }

  /// `words` as bash splits them, the last one being completed.
  Lines bash(const std::string& words) {
    const std::string load = "source <('" TEND_BINARY "' completion bash)\n";
    const std::string complete =
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tend\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    return lines_of("bash --norc", load + "COMP_WORDS=(" + words + ")\n" + complete);
  }

  Lines fish(const std::string& line) {
    const std::string load = "'" TEND_BINARY "' completion fish | source\n";
    Lines lines = lines_of("fish --no-config", load + "complete -C '" + line + "'\n");
    for (std::string& offer : lines) offer.resize(std::min(offer.find('\t'), offer.size()));
    return lines;
  }

 private:
  fs::path folder_;
};

/// As `tend --help` lists them, the first word of each once.
Lines all_commands() {
  Lines words;
  for (const CommandRow& row : commands()) {
    const std::string word(row.name.substr(0, row.name.find(' ')));
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

TEST_F(Completion, in_bash_offers_commands) {
  EXPECT_EQ(bash("tend rep"), Lines{"replay"});
  EXPECT_EQ(bash("tend re"), (Lines{"reclaim", "recover", "reload", "replay"}));
  EXPECT_EQ(bash("tend co"), (Lines{"completion", "config"}));
  EXPECT_EQ(bash("tend --v"), Lines{"--version"});
  EXPECT_EQ(bash("tend config ''"), (Lines{"--help", "check"}));
  EXPECT_EQ(bash("tend nothing ''"), Lines{});
}

TEST_F(Completion, in_bash_offers_options) {
  EXPECT_EQ(bash("tend replay -"), (Lines{"--diff", "--help", "--json", "--limit", "--policy"}));
  EXPECT_EQ(bash("tend config check --j"), Lines{"--json"});
}

TEST_F(Completion, in_bash_offers_values) {
  EXPECT_EQ(bash("tend replay --policy w"), Lines{"worker"});
  EXPECT_EQ(bash("tend replay --policy a"), (Lines{"agent", "agents.toml"}));
  EXPECT_EQ(bash("tend replay --policy = o"), Lines{"overnight"});
  EXPECT_EQ(bash("tend replay --diff = cr"), Lines{"critical"});
  EXPECT_EQ(bash("tend replay --limit b"), (Lines{"background=", "beats="}));
  EXPECT_EQ(bash("tend replay --limit = mod"), Lines{"model="});
}

TEST_F(Completion, in_bash_knows_a_value_that_may_be_left_out) {
  EXPECT_EQ(bash("tend list --heart"), Lines{"--heartbeat-stale"});
  EXPECT_EQ(bash("tend list --heartbeat-stale --js"), Lines{"--json"});
  EXPECT_EQ(bash("tend list --heartbeat-stale ="), Lines{});
  EXPECT_EQ(bash("tend list --heartbeat-stale = 1"), Lines{});
}

TEST_F(Completion, in_bash_knows_a_group_that_is_a_command_itself) {
  EXPECT_EQ(bash("tend outbox ''"), (Lines{"--all", "--channel", "--help", "--json", "--state",
                                           "prune", "retry", "send", "show"}));
  EXPECT_EQ(bash("tend outbox --state d"), Lines{"dead"});
  EXPECT_EQ(bash("tend outbox --state dead --c"), Lines{"--channel"});
  EXPECT_EQ(bash("tend outbox retry -"), (Lines{"--all", "--help", "--json"}));
}

TEST_F(Completion, in_bash_offers_nothing_for_a_duration) {
  EXPECT_EQ(bash("tend replay --limit model ="), Lines{});
  EXPECT_EQ(bash("tend replay --limit model = 5"), Lines{});
}

TEST_F(Completion, in_bash_offers_arguments) {
  EXPECT_EQ(bash("tend replay ''"),
            (Lines{".script", "agents.toml", "my trace.jsonl", "trace.jsonl"}));
  EXPECT_EQ(bash("tend replay trace.jsonl --json my"), Lines{"my trace.jsonl"});
  EXPECT_EQ(bash("tend config check t"), Lines{"trace.jsonl"});
  EXPECT_EQ(bash("tend completion ''"), (Lines{"bash", "fish", "zsh"}));
  EXPECT_EQ(bash("tend completion bash ''"), Lines{});
  EXPECT_EQ(bash("tend help ''"), all_commands());
  EXPECT_EQ(bash("tend help config ''"), Lines{"check"});
  EXPECT_EQ(bash("tend help replay ''"), Lines{});
}

TEST_F(Completion, in_fish_offers_commands) {
  EXPECT_EQ(fish("tend "), all_commands());
  EXPECT_EQ(fish("tend config "), Lines{"check"});
  EXPECT_EQ(fish("tend --v"), Lines{"--version"});
}

TEST_F(Completion, in_fish_offers_options_and_values) {
  EXPECT_EQ(fish("tend replay --"), (Lines{"--diff", "--help", "--json", "--limit", "--policy"}));
  EXPECT_EQ(fish("tend config check --j"), Lines{"--json"});
  EXPECT_EQ(fish("tend replay --policy wor"), Lines{"worker"});
  EXPECT_EQ(fish("tend replay --policy=wor"), Lines{"--policy=worker"});
  EXPECT_EQ(fish("tend replay --policy age"), (Lines{"agent", "agents.toml"}));
  EXPECT_EQ(fish("tend replay --limit mod"), Lines{"model="});
  EXPECT_EQ(fish("tend replay --limit trac"), Lines{});
}

TEST_F(Completion, in_fish_knows_a_value_that_may_be_left_out) {
  EXPECT_EQ(fish("tend list --heart"), Lines{"--heartbeat-stale"});
  EXPECT_EQ(fish("tend list --heartbeat-stale --js"), Lines{"--json"});
}

TEST_F(Completion, in_fish_knows_a_group_that_is_a_command_itself) {
  EXPECT_EQ(fish("tend outbox "), (Lines{"prune", "retry", "send", "show"}));
  EXPECT_EQ(fish("tend outbox --s"), Lines{"--state"});
  EXPECT_EQ(fish("tend outbox --state d"), Lines{"dead"});
  EXPECT_EQ(fish("tend outbox retry --"), (Lines{"--all", "--help", "--json"}));
}

TEST_F(Completion, in_fish_offers_arguments) {
  EXPECT_EQ(fish("tend replay tr"), Lines{"trace.jsonl"});
  EXPECT_EQ(fish("tend replay config tr"), Lines{"trace.jsonl"});
  EXPECT_EQ(fish("tend completion "), (Lines{"bash", "fish", "zsh"}));
  EXPECT_EQ(fish("tend completion bash "), Lines{});
  EXPECT_EQ(fish("tend help "), all_commands());
  EXPECT_EQ(fish("tend help config "), Lines{"check"});
}

TEST_F(Completion, is_correct_zsh_and_registers_itself) {
  EXPECT_EQ(lines_of("zsh -f", "'" TEND_BINARY "' completion zsh > _tend && zsh -n _tend\n"),
            Lines{});
  EXPECT_EQ(lines_of("zsh -f",
                     "autoload -Uz compinit && compinit -u -D\n"
                     "source <('" TEND_BINARY "' completion zsh)\nprint $_comps[tend]\n"),
            Lines{"_tend"});
}

TEST_F(Completion, is_correct_fish) {
  EXPECT_EQ(lines_of("fish --no-config", "'" TEND_BINARY "' completion fish > tend.fish\n"
                                         "fish --no-config --no-execute tend.fish\n"),
            Lines{});
}

}  // namespace
}  // namespace tend
