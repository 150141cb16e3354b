// Which agent a command starts, what it is dressed in, and what is known about it.
#include "act/agents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "act/agent_testing.h"

namespace tend {
namespace {

using Words = std::vector<std::string>;
using enum AdapterKind;

const std::string kClaudeOptions =
    "--output-format stream-json --verbose --include-partial-messages";
const Words kClaudeVariable{"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"};

Dressed dressed(const std::string& line, Dressing dressing = Dressing::added,
                const Words& environment = {}) {
  const Words command = words(line);
  const auto start = agent_of(command);
  EXPECT_TRUE(start) << line;
  return start ? dress(*start, command, environment, dressing) : Dressed{};
}

TEST(AgentOf, finds_the_agent_by_the_name_of_its_program) {
  struct Case {
    std::string line;
    AgentStart start;
  };
  const std::vector<Case> cases{
      {"claude", {claude, 1}},
      {"/usr/local/bin/claude -p hi", {claude, 1}},
      {"codex exec hi", {codex, 1}},
      {"./opencode run", {opencode, 1}},
      {"gemini", {gemini, 1}},
      {"env claude", {claude, 2}},
      {"env -i A=b PATH=/bin claude -p", {claude, 5}},
      {"env -u A --unset=B -C /tmp -- C=d codex", {codex, 9}},
      {"nice claude", {claude, 2}},
      {"nice -n 5 claude", {claude, 4}},
      {"nice -n5 claude", {claude, 3}},
      {"nice -10 claude", {claude, 3}},
      {"nohup nice --adjustment=3 gemini -p x", {gemini, 4}},
      {"timeout 10m claude", {claude, 3}},
      {"timeout -k 5 --signal=INT --foreground 1h claude", {claude, 7}},
      {"stdbuf -oL -e 0 codex", {codex, 5}},
      {"/usr/bin/env A=b timeout 5 nice stdbuf -oL claude", {claude, 8}},
      {"npx claude", {claude, 2}},
      {"npx -y @anthropic-ai/claude-code -p hi", {claude, 3}},
      {"npx --yes @anthropic-ai/claude-code@2.1.197 -p hi", {claude, 3}},
      {"npx @openai/codex exec", {codex, 2}},
      {"npx opencode-ai@latest run", {opencode, 2}},
      {"npx -- @google/gemini-cli", {gemini, 3}},
      {"npx -p @google/gemini-cli gemini", {gemini, 4}},
      {"bun x @openai/codex", {codex, 3}},
      {"bunx --bun opencode-ai", {opencode, 3}},
      {"node /opt/bin/claude", {claude, 2}},
      {"node --no-warnings --max-old-space-size=4096 /x/gemini.js -p hi", {gemini, 4}},
      {"node -r ./hook.js /x/codex.mjs", {codex, 4}},
      {"nodejs /lib/node_modules/@anthropic-ai/claude-code/cli.js", {claude, 2}},
      {"/x/@anthropic-ai/claude-code/bin/claude.exe", {claude, 1}},
  };
  for (const Case& c : cases) {
    const auto start = agent_of(words(c.line));
    ASSERT_TRUE(start) << c.line;
    EXPECT_EQ(start->kind, c.start.kind) << c.line;
    EXPECT_EQ(start->arguments, c.start.arguments) << c.line;
  }
}

TEST(AgentOf, does_not_guess) {
  for (const std::string line : {"",
                                 "make",
                                 "claude-squad",
                                 "myclaude -p",
                                 "sh -c claude",
                                 "bash -c claude",
                                 "env",
                                 "env A=b",
                                 "env -S claude",
                                 "env --split-string=claude",
                                 "nice -n",
                                 "timeout claude",
                                 "timeout 5",
                                 "timeout --unknown 5 claude",
                                 "npx -c claude",
                                 "npx @evil/claude-code",
                                 "npx prettier claude",
                                 "bun run claude",
                                 "bun",
                                 "node -e claude",
                                 "node server.js claude",
                                 "/home/x/claude/run.sh",
                                 "node /x/@anthropic-ai/claude-code-tools/cli.js",
                                 "cat claude"}) {
    EXPECT_FALSE(agent_of(words(line))) << line;
  }
}

TEST(AgentDress, adds_what_makes_the_stream_understood_and_moves_nothing) {
  struct Case {
    std::string line;
    std::string expected;
    AdapterKind adapter;
  };
  const std::vector<Case> cases{
      {"claude -p hi", "claude " + kClaudeOptions + " -p hi", claude},
      {"claude hi --print", "claude " + kClaudeOptions + " hi --print", claude},
      {"claude -cp hi", "claude " + kClaudeOptions + " -cp hi", claude},
      {"env A=b claude -p --tools Bash -- hi",
       "env A=b claude " + kClaudeOptions + " -p --tools Bash -- hi", claude},
      {"claude -p --output-format stream-json hi",
       "claude --verbose --include-partial-messages -p --output-format stream-json hi", claude},
      {"claude -p --verbose --output-format=stream-json hi",
       "claude --include-partial-messages -p --verbose --output-format=stream-json hi", claude},
      {"claude -p --append-system-prompt --verbose hi",
       "claude " + kClaudeOptions + " -p --append-system-prompt --verbose hi", claude},
      {"claude -p hi -- --output-format text",
       "claude " + kClaudeOptions + " -p hi -- --output-format text", claude},

      {"codex exec hi", "codex exec --json hi", codex},
      {"codex e hi", "codex e --json hi", codex},
      {"codex -m exec exec -m x hi", "codex -m exec exec --json -m x hi", codex},
      {"codex exec resume --last hi", "codex exec --json resume --last hi", codex},
      {"codex exec hi --json", "codex exec hi --json", codex},
      {"codex exec --experimental-json hi", "codex exec --experimental-json hi", codex},
      {"codex exec -- --json", "codex exec --json -- --json", codex},

      {"opencode run hi you", "opencode run --format json hi you", opencode},
      {"opencode --log-level INFO run hi", "opencode --log-level INFO run --format json hi",
       opencode},
      {"opencode run --format=json hi", "opencode run --format=json hi", opencode},
      {"opencode --format json run hi", "opencode --format json run hi", opencode},

      {"gemini -p hi", "gemini --output-format stream-json -p hi", gemini},
      {"gemini hi you", "gemini --output-format stream-json hi you", gemini},
      {"gemini --prompt=hi -o stream-json", "gemini --prompt=hi -o stream-json", gemini},
      {"gemini --outputFormat stream-json hi", "gemini --outputFormat stream-json hi", gemini},
      {"node /x/gemini.js -p mcp", "node /x/gemini.js --output-format stream-json -p mcp", gemini},
  };
  for (const Case& c : cases) {
    const Dressed result = dressed(c.line);
    EXPECT_EQ(result.command, words(c.expected)) << c.line;
    EXPECT_EQ(result.manner, Manner::headless) << c.line;
    EXPECT_EQ(result.adapter, c.adapter) << c.line;
    EXPECT_TRUE(result.remarks.empty()) << c.line;
  }
}

TEST(AgentDress, changes_nothing_the_second_time) {
  for (const std::string line :
       {"claude -p hi", "codex exec hi", "opencode run hi", "gemini -p hi"}) {
    const Words once = dressed(line).command;
    EXPECT_EQ(dress(*agent_of(once), once, {}).command, once);
  }
}

TEST(AgentDress, respects_another_output_and_says_what_that_costs) {
  struct Case {
    std::string line;
    AdapterKind adapter;
  };
  for (const Case& c : std::vector<Case>{
           {"claude -p --output-format text hi", none},
           {"claude -p --output-format=json hi", none},
           {"claude -p --output-format stream-json --verbose --output-format text hi", none},
           {"opencode run --format default hi", lines},
           {"gemini -p hi -o text", lines},
           {"gemini -p hi --output-format=json", none},
           {"codex review", lines},
       }) {
    const Dressed result = dressed(c.line);
    EXPECT_EQ(result.command, words(c.line)) << c.line;
    EXPECT_EQ(result.manner, Manner::headless) << c.line;
    EXPECT_EQ(result.adapter, c.adapter) << c.line;
    EXPECT_TRUE(result.environment.empty()) << c.line;
    EXPECT_EQ(result.remarks.size(), 1U) << c.line;
  }
}

TEST(AgentDress, leaves_an_interactive_start_alone_and_says_that_it_is_one) {
  for (const std::string line :
       {"claude", "claude hi", "claude --model -p hi", "claude -p --tmux hi", "claude -- -p",
        "codex", "codex hi", "codex -- exec", "codex resume --last", "opencode", "opencode .",
        "opencode run -i hi", "gemini", "gemini -m x", "gemini -i hi"}) {
    const Dressed result = dressed(line);
    EXPECT_EQ(result.command, words(line)) << line;
    EXPECT_EQ(result.manner, Manner::interactive) << line;
    EXPECT_EQ(result.adapter, none) << line;
    ASSERT_EQ(result.remarks.size(), 1U) << line;
    EXPECT_NE(result.remarks[0].find("needs a terminal"), std::string::npos) << line;
  }
}

TEST(AgentDress, leaves_alone_what_is_no_work) {
  for (const std::string line :
       {"claude --version", "claude -p --help", "claude mcp list", "claude doctor",
        "claude --bg -p hi", "codex login", "codex exec --help", "codex exec help",
        "codex mcp list", "opencode serve", "opencode -v", "opencode run --help", "gemini mcp list",
        "gemini --acp", "gemini --list-sessions"}) {
    const Dressed result = dressed(line);
    EXPECT_EQ(result.command, words(line)) << line;
    EXPECT_EQ(result.manner, Manner::aside) << line;
    EXPECT_EQ(result.adapter, none) << line;
  }
}

TEST(AgentDress, adds_nothing_as_is_and_still_says_what_is_understood) {
  struct Case {
    std::string line;
    AdapterKind adapter;
  };
  for (const Case& c : std::vector<Case>{
           {"claude -p hi", none},
           {"claude -p --output-format stream-json --verbose hi", claude},
           {"claude -p --output-format stream-json hi", none},
           {"codex exec hi", lines},
           {"codex exec --json hi", codex},
           {"opencode run hi", lines},
           {"opencode run hi --format json", opencode},
           {"gemini hi", lines},
           {"gemini hi -o stream-json", gemini},
       }) {
    const Dressed result = dressed(c.line, Dressing::as_is);
    EXPECT_EQ(result.command, words(c.line)) << c.line;
    EXPECT_TRUE(result.environment.empty()) << c.line;
    EXPECT_EQ(result.adapter, c.adapter) << c.line;
  }
}

TEST(AgentDress, asks_claude_for_its_states_unless_somebody_decided_that) {
  EXPECT_EQ(dressed("claude -p hi").environment, kClaudeVariable);
  EXPECT_EQ(dressed("claude -p hi", Dressing::added, {"PATH=/bin"}).environment, kClaudeVariable);
  EXPECT_TRUE(dressed("claude -p hi", Dressing::added, {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=0"})
                  .environment.empty());
  EXPECT_EQ(dressed("claude -p hi", Dressing::added, {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS_X=0"})
                .environment,
            kClaudeVariable);
  EXPECT_TRUE(dressed("codex exec hi").environment.empty());
}

TEST(AgentDress, knows_when_the_prompt_comes_on_the_input) {
  for (const std::string line :
       {"claude -p", "claude -p --tools Bash hi", "claude -p --input-format stream-json hi",
        "codex exec", "codex exec -", "codex exec -i a.png hi", "codex exec resume ID",
        "codex exec resume --last", "opencode run", "opencode run -f a hi",
        "gemini -o stream-json"}) {
    EXPECT_TRUE(dressed(line).prompt_on_input) << line;
  }
  for (const std::string line :
       {"claude -p hi", "codex exec hi", "codex exec resume ID hi", "codex exec resume --last hi",
        "codex exec review", "opencode run hi", "opencode run -- hi", "opencode run --command x",
        "gemini -p hi"}) {
    EXPECT_FALSE(dressed(line).prompt_on_input) << line;
  }
}

TEST(AgentObedience, tells_who_minds_which_signal) {
  EXPECT_TRUE(obedience_of(claude).to_interrupt);
  EXPECT_TRUE(obedience_of(codex).to_interrupt);
  EXPECT_FALSE(obedience_of(opencode).to_interrupt);
  EXPECT_TRUE(obedience_of(opencode).to_terminate);
  EXPECT_FALSE(obedience_of(gemini).to_interrupt);
  EXPECT_FALSE(obedience_of(gemini).to_terminate);
  EXPECT_TRUE(obedience_of(codex).has_inner);
  EXPECT_TRUE(obedience_of(gemini).has_inner);
  EXPECT_FALSE(obedience_of(claude).has_inner);
}

TEST(AgentTranscripts, names_the_files_of_claude_after_the_folder) {
  const Transcripts found = transcripts_of(claude, "ab-12", "/home/x/my_repo.git", "/home/x");
  const std::string stem = "/home/x/.claude/projects/-home-x-my-repo-git/ab-12";
  EXPECT_EQ(found.files, Words{stem + ".jsonl"});
  EXPECT_EQ(found.folders, Words{stem + "/subagents"});
  EXPECT_EQ(found.depth, 0U);
  EXPECT_EQ(transcripts_of(claude, "s", "/a", "/home/x", "/cfg").files,
            Words{"/cfg/projects/-a/s.jsonl"});
  // One dash for é, two for a character beyond the first plane.
  EXPECT_EQ(transcripts_of(claude, "s", "/\u00e9\U0001f600b", "/h").files,
            Words{"/h/.claude/projects/----b/s.jsonl"});
}

TEST(AgentTranscripts, looks_for_the_session_where_the_folder_cannot_be_told) {
  const Transcripts found = transcripts_of(claude, "s1", "/" + std::string(200, 'a'), "/h");
  EXPECT_TRUE(found.files.empty());
  EXPECT_EQ(found.folders, Words{"/h/.claude/projects"});
  EXPECT_EQ(found.containing, "s1");
  EXPECT_EQ(found.depth, 1U);
}

TEST(AgentTranscripts, knows_the_places_of_the_others) {
  const Transcripts of_codex = transcripts_of(codex, "019-x", "/w", "/h");
  EXPECT_EQ(of_codex.folders, Words{"/h/.codex/sessions"});
  EXPECT_EQ(of_codex.containing, "019-x");
  EXPECT_EQ(of_codex.depth, 3U);
  EXPECT_EQ(transcripts_of(codex, "s", "/w", "/h", "/c").folders, Words{"/c/sessions"});

  EXPECT_EQ(
      transcripts_of(opencode, "ses_1", "/w", "/h").files,
      (Words{"/h/.local/share/opencode/opencode.db", "/h/.local/share/opencode/opencode.db-wal"}));
  EXPECT_EQ(transcripts_of(opencode, "ses_1", "/w", "/h", "/d").files.front(),
            "/d/opencode/opencode.db");

  const Transcripts of_gemini = transcripts_of(gemini, "842c67af-980a-49d5", "/w", "/h");
  EXPECT_EQ(of_gemini.folders, Words{"/h/.gemini/tmp"});
  EXPECT_EQ(of_gemini.containing, "842c67af");
  EXPECT_EQ(of_gemini.depth, 2U);
}

TEST(AgentTranscripts, finds_nothing_for_what_cannot_be_a_session) {
  for (const std::string session : {"", "../../etc", "a/b", "-x", "a b"}) {
    const Transcripts found = transcripts_of(claude, session, "/w", "/h");
    EXPECT_TRUE(found.files.empty() && found.folders.empty()) << session;
  }
}

}  // namespace
}  // namespace tend
