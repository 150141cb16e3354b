// The command by which a session is taken up again.
#include <gtest/gtest.h>

#include "act/agent_testing.h"
#include "act/agents.h"

namespace tend {
namespace {

using Words = std::vector<std::string>;

Result<Words> resumed(const std::string& line, const std::string& session = "ID",
                      const std::string& prompt = "GO") {
  const Words command = words(line);
  const auto start = agent_of(command);
  if (!start) return fail("no agent");
  return resume_command(*start, command, session, prompt);
}

void expect_resumed(const std::string& line, const std::string& expected) {
  const auto result = resumed(line);
  ASSERT_TRUE(result) << line << ": " << result.error().text;
  EXPECT_EQ(*result, words(expected)) << line;
}

TEST(AgentResume, keeps_the_options_of_claude_and_replaces_its_prompt) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"claude -p hi", "claude --resume ID GO -p"},
      {"claude -p", "claude --resume ID GO -p"},
      {"claude hi --print --verbose", "claude --resume ID GO --print --verbose"},
      {"claude -p hi you", "claude --resume ID GO -p"},
      {"nice claude -p --model=x -- hi", "nice claude --resume ID GO -p --model=x"},
      {"claude -p --tools Bash Edit -- hi", "claude --resume ID GO -p --tools Bash Edit"},
      {"claude -p hi --tools Bash Edit", "claude --resume ID GO -p --tools Bash Edit"},
      {"claude -pc hi", "claude --resume ID GO -p"},
      {"claude --continue -p hi", "claude --resume ID GO -p"},
      {"claude -p -r OLD hi", "claude --resume ID GO -p"},
      {"claude -p --resume=OLD --fork-session hi", "claude --resume ID GO -p"},
      {"claude -p --session-id U hi --max-turns 3", "claude --resume ID GO -p --max-turns 3"},
      {"claude -p -d api hi", "claude --resume ID GO -p -d api"},
      {"claude -p --append-system-prompt -c hi",
       "claude --resume ID GO -p --append-system-prompt -c"},
      {"claude -p -w tree hi", "claude --resume ID GO -p -w tree"},
      {"claude -p hi --not-known", "claude --resume ID GO -p --not-known"},
      {"claude -p --not-known=x hi", "claude --resume ID GO -p --not-known=x"},
  };
  for (const auto& [line, expected] : cases) expect_resumed(line, expected);
}

TEST(AgentResume, puts_the_options_of_codex_before_its_resume) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"codex exec hi", "codex exec resume ID GO"},
      {"codex e --json hi", "codex exec --json resume ID GO"},
      {"codex exec hi -s read-only -C /w", "codex exec -s read-only -C /w resume ID GO"},
      {"codex -c a=b exec -mx -", "codex -c a=b exec -mx resume ID GO"},
      {"codex exec -i a.png b.png -- hi", "codex exec resume ID GO"},
      {"codex exec -i a.png --json", "codex exec --json resume ID GO"},
      {"codex exec --yolo resume --last hi", "codex exec --yolo resume ID GO"},
      {"codex exec resume OLD hi --json", "codex exec --json resume ID GO"},
      {"codex exec fork OLD hi", "codex exec resume ID GO"},
      {"codex exec -- resume", "codex exec resume ID GO"},
      {"npx -y @openai/codex exec hi", "npx -y @openai/codex exec resume ID GO"},
  };
  for (const auto& [line, expected] : cases) expect_resumed(line, expected);
}

TEST(AgentResume, names_the_session_of_opencode_behind_its_run) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"opencode run hi you", "opencode run --session ID GO"},
      {"opencode --pure run --format json hi", "opencode --pure run --session ID GO --format json"},
      {"opencode run -c --fork hi", "opencode run --session ID GO"},
      {"opencode run -s OLD -m x/y hi", "opencode run --session ID GO -m x/y"},
      {"opencode -s OLD run hi", "opencode run --session ID GO"},
      {"opencode run hi -f a b --auto", "opencode run --session ID GO --auto"},
      {"opencode run --command test --title T -- a b", "opencode run --session ID GO"},
  };
  for (const auto& [line, expected] : cases) expect_resumed(line, expected);
}

TEST(AgentResume, says_the_task_again_to_gemini_which_has_forgotten_it) {
  struct Case {
    std::string line;
    Words expected;
  };
  for (const Case& c : std::vector<Case>{
           {"gemini -p hi", {}},
           {"gemini --prompt=hi --yolo", {"--yolo"}},
           {"gemini -y hi -m x", {"-y", "-m", "x"}},
           {"gemini -p hi --session-id OLD -o stream-json", {"-o", "stream-json"}},
           {"gemini -p hi --resume latest", {}},
           {"gemini -r --policy a hi", {"--policy", "a"}},
       }) {
    Words expected{"gemini", "--resume", "ID", "--prompt", "GO\n\nThis was the task:\nhi"};
    expected.insert(expected.end(), c.expected.begin(), c.expected.end());
    const auto result = resumed(c.line);
    ASSERT_TRUE(result) << c.line;
    EXPECT_EQ(*result, expected) << c.line;
  }
}

TEST(AgentResume, refuses_where_it_is_not_sure_and_says_why) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"claude", "only claude -p"},
      {"claude hi", "only claude -p"},
      {"claude -p --help", "only claude -p"},
      {"claude -p --not-known hi", "--not-known is not known"},
      {"claude -p -Z hi", "-Z is not known"},
      {"claude -p --no-session-persistence hi", "keeps no session"},
      {"claude -p --input-format stream-json", "from its input"},
      {"claude -p -w -- hi", "another one each time"},
      {"codex hi", "only codex exec"},
      {"codex resume --last", "only codex exec"},
      {"codex exec review", "only codex exec"},
      {"codex exec --ephemeral hi", "keeps no session"},
      {"codex exec --worktree hi", "another one each time"},
      {"codex exec --not-known hi", "--not-known is not known"},
      {"codex --not-known exec hi", "--not-known is not known"},
      {"opencode", "only opencode run"},
      {"opencode run -i hi", "only opencode run"},
      {"opencode run -mx hi", "-mx is not known"},
      {"gemini -i hi", "only gemini -p"},
      {"gemini mcp list", "only gemini -p"},
      {"gemini -o stream-json", "on its input"},
      {"gemini -w -p hi", "another one each time"},
      {"gemini --not-known hi", "--not-known is not known"},
  };
  for (const auto& [line, why] : cases) {
    const auto result = resumed(line);
    ASSERT_FALSE(result) << line;
    EXPECT_NE(result.error().text.find(why), std::string::npos)
        << line << ": " << result.error().text;
  }
}

TEST(AgentResume, refuses_a_session_that_could_be_something_else) {
  for (const std::string session : {"", "--yolo", "-x", "a b", "a/../b", "a;b", "a\nb"}) {
    EXPECT_FALSE(resumed("claude -p hi", session)) << session;
  }
  EXPECT_FALSE(resumed("claude -p hi", std::string(129, 'a')));
  EXPECT_TRUE(resumed("opencode run hi", "ses_Ab12"));
}

TEST(AgentResume, refuses_a_prompt_that_would_be_read_as_an_option) {
  EXPECT_FALSE(resumed("claude -p hi", "ID", "--yolo"));
  EXPECT_FALSE(resumed("claude -p hi", "ID", ""));
}

TEST(AgentResume, resumes_what_was_dressed_to_a_command_that_is_still_dressed) {
  for (const std::string line :
       {"claude -p hi", "codex exec hi", "opencode run hi", "gemini -p hi"}) {
    const Words command = words(line);
    const Words first = dress(*agent_of(command), command, {}).command;
    const auto second = resume_command(*agent_of(first), first, "ID");
    ASSERT_TRUE(second) << line;
    const Dressed again = dress(*agent_of(*second), *second, {});
    EXPECT_EQ(again.command, *second) << line;
    EXPECT_EQ(again.manner, Manner::headless) << line;
    EXPECT_EQ(again.adapter, agent_of(command)->kind) << line;
    EXPECT_FALSE(again.prompt_on_input) << line;
  }
}

TEST(AgentAnew, does_not_name_its_session_as_the_first_life_did) {
  const std::vector<std::string> command{"env",   "A=1",          "claude", "-p",
                                         "do it", "--session-id", "u-1",    "--session-id=x",
                                         "--",    "--session-id"};
  const auto start = agent_of(command);
  ASSERT_TRUE(start);
  EXPECT_EQ(
      anew_command(*start, command),
      (std::vector<std::string>{"env", "A=1", "claude", "-p", "do it", "--", "--session-id"}));
}

}  // namespace
}  // namespace tend
