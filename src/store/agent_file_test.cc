// Our own file: what is not as we write it is refused, with the reason.
#include "store/agent_file.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

AgentFile full() {
  AgentFile file;
  file.agent = "coder";
  file.session = "20260308-203749-x7f2";
  file.role = "coding";
  file.parent_heartbeat = "/home/me/tend/sessions/s/.heartbeat";
  file.task_id = "toolu_01";
  file.dispatched_by = ProcessId{77, 12, 4026531836, "boot"};
  file.command = {"sh", "-c", "echo \"hi\" \n \xff\xc3", ""};
  file.environment_names = {"PATH", "HOME"};
  file.working_folder = "/home/me/k\xe4se";
  file.worktree = "/home/me/project";
  file.own_worktree = true;
  file.inherit_input = true;
  file.ready_fd = 3;
  file.policy = "night.toml:night";
  file.limits = {"model=10m", "beats=1m,2m"};
  file.adapter = AdapterKind::none;
  file.on_stall = OnStall::report;
  file.restart = RestartPolicy::on_failure;
  file.beat = 5s;
  file.max_life = 2h;
  file.notify = {"mail", "me"};
  return file;
}

void expect_equal(const AgentFile& a, const AgentFile& b) {
  EXPECT_EQ(a.agent, b.agent);
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.role, b.role);
  EXPECT_EQ(a.parent_heartbeat, b.parent_heartbeat);
  EXPECT_EQ(a.task_id, b.task_id);
  EXPECT_EQ(a.dispatched_by, b.dispatched_by);
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.watched, b.watched);
  EXPECT_EQ(a.tmux, b.tmux);
  EXPECT_EQ(a.environment_names, b.environment_names);
  EXPECT_EQ(a.working_folder, b.working_folder);
  EXPECT_EQ(a.worktree, b.worktree);
  EXPECT_EQ(a.own_worktree, b.own_worktree);
  EXPECT_EQ(a.inherit_input, b.inherit_input);
  EXPECT_EQ(a.ready_fd, b.ready_fd);
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_EQ(a.limits, b.limits);
  EXPECT_EQ(a.adapter, b.adapter);
  EXPECT_EQ(a.on_stall, b.on_stall);
  EXPECT_EQ(a.restart, b.restart);
  EXPECT_EQ(a.beat, b.beat);
  EXPECT_EQ(a.max_life, b.max_life);
  EXPECT_EQ(a.notify, b.notify);
}

AgentFile parsed(const std::string& text) {
  const auto file = parse_agent_file(text);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().text);
  return file.value_or(AgentFile{});
}

/// What is wrong with an otherwise good file that has `more` in it.
std::string error(const std::string& more) {
  const auto file = parse_agent_file(R"({"format":1,"agent":"a",)" + more + "}");
  return file ? "no error" : file.error().text;
}

TEST(AgentFile, comes_back_as_it_was_with_bytes_of_any_kind) {
  expect_equal(parsed(format_agent_file(full())), full());
}

TEST(AgentFile, holds_a_watched_process_or_a_terminal_in_the_place_of_a_command) {
  AgentFile file;
  file.agent = "a";
  file.watched = ProcessId{12, 18'446'744'073'709'551'615U, 4026531836, "boot"};
  expect_equal(parsed(format_agent_file(file)), file);
  file.tmux = "main:1";
  expect_equal(parsed(format_agent_file(file)), file);
}

TEST(AgentFile, has_defaults_for_what_is_not_there) {
  AgentFile file;
  file.agent = "a";
  file.command = {"true"};
  expect_equal(parsed(R"({"format":1,"agent":"a","command":["true"]})"), file);
}

TEST(AgentFile, needs_one_thing_to_keep) {
  const std::string wanted = "command: exactly one of command, watched and store must be given";
  EXPECT_EQ(error(R"("role":"x")"), wanted);
  EXPECT_EQ(error(R"("command":["x"],"tmux":"y")"), "tmux: is for a watched process only");
  EXPECT_EQ(error(R"("command":[""])"), "command: names no program");
  EXPECT_EQ(error(R"("watched":{"pid":-4})"), "watched: names no process");
}

TEST(AgentFile, refuses_a_dispatch_that_is_not_as_we_write_it) {
  EXPECT_EQ(error(R"("command":["x"],"dispatched_by":5)"), "dispatched_by: must be an object");
  EXPECT_EQ(error(R"("command":["x"],"dispatched_by":{})"), "dispatched_by: names no process");
  EXPECT_EQ(error(R"("command":["x"],"task_id":"a\nb")"), "task_id: has control characters");
  EXPECT_EQ(error(R"("command":["x"],"own_worktree":"yes")"),
            "own_worktree: must be true or false");
}

TEST(AgentFile, says_what_is_allowed_in_the_place_of_an_unknown_word) {
  EXPECT_EQ(error(R"("command":["x"],"adapter":"line")"),
            "adapter: is 'line'; allowed: lines, none, auto, claude, codex, opencode, gemini; did "
            "you mean 'lines'?");
  EXPECT_EQ(error(R"("command":["x"],"restart":5)"),
            "restart: is ''; allowed: never, on-failure, always");
  EXPECT_EQ(error(R"("command":["x"],"on_stall":"Kill")"),
            "on_stall: is 'Kill'; allowed: resume, kill, report; did you mean 'kill'?");
  EXPECT_EQ(error(R"("command":["x"],"polcy":"agent")"),
            "'polcy': is no field of it; did you mean 'policy'?");
}

TEST(AgentFile, refuses_relative_paths) {
  EXPECT_EQ(error(R"("command":["x"],"working_folder":"src")"),
            "working_folder: must be an absolute path, not 'src'");
  EXPECT_EQ(error(R"("command":["x"],"worktree":"./x")"),
            "worktree: must be an absolute path, not './x'");
  EXPECT_EQ(error(R"("command":["x"],"parent_heartbeat":"x")"),
            "parent_heartbeat: must be an absolute path, not 'x'");
}

TEST(AgentFile, refuses_nul_wrong_types_and_numbers_out_of_range) {
  EXPECT_EQ(error(R"("command":["a\u0000b"])"), "command: has a NUL");
  EXPECT_EQ(error(R"("command":[{"bytes":"\u0000"}])"), "command: has a NUL");
  EXPECT_EQ(error(R"("command":[{"bytes":"\u0100"}])"),
            "command: has a code point that is no byte");
  EXPECT_EQ(error(R"("command":[5])"), "command: must be a text");
  EXPECT_EQ(error(R"("command":"ls")"), "command: must be a list of texts");
  EXPECT_EQ(error(R"("command":["x"],"inherit_input":1)"), "inherit_input: must be true or false");
  EXPECT_EQ(error(R"("command":["x"],"ready_fd":-1)"),
            "ready_fd: must be a whole number from 0 to 1023");
  EXPECT_EQ(error(R"("command":["x"],"beat_ms":0)"),
            "beat_ms: must be a whole number from 1 to 94608000000000");
  EXPECT_EQ(error(R"("command":["x"],"role":"a\nb")"), "role: has control characters");
}

TEST(AgentFile, bounds_every_size) {
  AgentFile file;
  file.agent = "a";
  file.command.assign(4097, "x");
  EXPECT_EQ(parse_agent_file(format_agent_file(file)).error().text,
            "command: has more than 4096 entries");
  file.command = {std::string(131'071, '\xff')};
  expect_equal(parsed(format_agent_file(file)), file);
  file.command = {std::string(131'072, 'x')};
  EXPECT_EQ(parse_agent_file(format_agent_file(file)).error().text,
            "command: is longer than 131072 bytes");
  file.command = {"x"};
  file.agent.assign(129, 'x');
  EXPECT_EQ(parse_agent_file(format_agent_file(file)).error().text,
            "agent: is longer than 128 bytes");
  EXPECT_EQ(parse_agent_file(std::string(5'000'000, ' ')).error().text, "is larger than 4 MB");
}

TEST(AgentFile, of_another_format_is_refused) {
  EXPECT_EQ(parse_agent_file(R"({"format":2,"agent":"a"})").error().text,
            "is not of format 1, the only one that this tend reads");
  EXPECT_EQ(parse_agent_file("[]").error().text, "is no JSON object");
}

TEST(ReadAgentFile, names_the_file_in_its_errors) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make("/home/user/a");
  ASSERT_TRUE(folder.has_value());
  EXPECT_EQ(read_agent_file(**folder).error().text,
            "/home/user/a/agent.json: there is no such file");
  universe.disk.write("/home/user/a/agent.json", "{}");
  EXPECT_EQ(read_agent_file(**folder).error().text,
            "/home/user/a/agent.json: is not of format 1, the only one that this tend reads");
  universe.disk.write("/home/user/a/agent.json", format_agent_file(full()));
  EXPECT_EQ(read_agent_file(**folder).value().agent, "coder");
}

}  // namespace
}  // namespace tend
