// The scaffold and the worker, without `tend`: what the other tests rely on.
#include <csignal>
#include <filesystem>

#include "e2e.h"

namespace tend::e2e {
namespace {

class ScaffoldTest : public E2e {
 protected:
  Finished run_worker(const Arguments& options) { return run({.arguments = worker(options)}); }
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
};

TEST_F(ScaffoldTest, runs_a_command_and_hands_over_what_it_said) {
  const auto ran = run({.arguments = {"sh", "-c", "cat; echo $WORD >&2; echo $TEND_HOME; exit 5"},
                        .environment = {{"WORD", "hello"}},
                        .input = "in\n"});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.out, "in\n" + home().string() + "\n");
  EXPECT_EQ(ran.err, "hello\n");
}

TEST_F(ScaffoldTest, tells_a_signal_from_an_exit_code) {
  EXPECT_EQ(run_worker({"--lines", "1", "--crash", std::to_string(SIGSEGV)}).exit, -SIGSEGV);
  EXPECT_EQ(run_worker({"--lines", "1", "--exit", "139"}).exit, 139);
}

TEST_F(ScaffoldTest, ends_a_command_that_does_not_end) {
  const auto ran = run({.arguments = worker({"--hang-after", "1"})}, Patience{300});
  EXPECT_TRUE(ran.timed_out);
  EXPECT_EQ(ran.exit, -SIGKILL);
}

TEST_F(ScaffoldTest, signals_only_what_carries_its_home) {
  Background ours = start({.arguments = worker({})});
  Background other = start({.arguments = worker({}), .environment = {{"TEND_HOME", "/another"}}});
  EXPECT_FALSE(signal_process_of(home(), other.pid(), SIGKILL));
  EXPECT_TRUE(eventually([&] { return kill(ours.pid()); }));
  EXPECT_EQ(ours.wait().exit, -SIGKILL);
  EXPECT_FALSE(other.is_over());
}

TEST_F(ScaffoldTest, ends_everything_that_carries_its_home) {
  Background main = start({.arguments = worker({"--escape", "--hold-stream", "--ignore-term",
                                                "--pids", pids().string()})});
  const pid_t escaped = pid_of(pids(), "escaped");
  const pid_t holder = pid_of(pids(), "holder");
  ASSERT_TRUE(is_running(escaped));
  ASSERT_TRUE(is_running(holder));
  EXPECT_NE(escaped, holder);
  end_everything();
  EXPECT_FALSE(is_running(escaped));
  EXPECT_FALSE(is_running(holder));
  EXPECT_EQ(main.wait().exit, -SIGKILL);
}

TEST_F(ScaffoldTest, has_a_worker_that_writes_numbered_lines) {
  const Path file = scratch() / "work";
  const auto ran = run_worker({"--lines", "3", "--every", "1", "--write", file.string()});
  EXPECT_EQ(ran.out, "line 1\nline 2\nline 3\n");
  EXPECT_EQ(read_file(file), ran.out);
  EXPECT_EQ(ran.exit, 0);
}

TEST_F(ScaffoldTest, has_a_worker_that_empties_its_stream) {
  const auto ran = run_worker({"--lines", "3", "--every", "1", "--truncate-stdout", "2"});
  EXPECT_EQ(ran.out, "line 3\n");
}

TEST_F(ScaffoldTest, has_a_worker_that_stops_itself) {
  Background stopping = start({.arguments = worker({"--lines", "2", "--stop-self", "1"})});
  const auto state = [&] {
    const std::string stat = read_file(Path("/proc") / std::to_string(stopping.pid()) / "stat");
    const auto name_end = stat.rfind(')');
    return name_end == std::string::npos ? '?' : stat.at(name_end + 2);
  };
  EXPECT_TRUE(eventually([&] { return state() == 'T'; }));
  stopping.signal(SIGCONT);
  EXPECT_EQ(stopping.wait().exit, 0);
}

TEST_F(ScaffoldTest, has_a_worker_that_ignores_what_is_asked) {
  Background deaf = start({.arguments = worker({"--ignore-term"})});
  EXPECT_TRUE(eventually([&] { return deaf.out().contains("line 1\n"); }));
  deaf.signal(SIGINT);
  deaf.signal(SIGTERM);
  const std::size_t before = lines_of(deaf.out()).size();
  EXPECT_TRUE(eventually([&] { return lines_of(deaf.out()).size() > before + 2; }));
}

TEST_F(ScaffoldTest, has_a_worker_that_refuses_what_it_does_not_know) {
  const auto ran = run_worker({"--fly"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "worker: no such option: --fly\n");
}

}  // namespace
}  // namespace tend::e2e
