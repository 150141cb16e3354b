// `tend watch tmux:SESSION` beside a real tmux, whose server is the test's own.
#include "e2e.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

class TmuxTest : public E2e {
 protected:
  void TearDown() override {
    std::ignore = tmux({"kill-server"});
    E2e::TearDown();
  }

  Finished tmux(const Arguments& arguments) {
    return run({.arguments = Arguments{"tmux", "-f", "/dev/null"} + arguments,
                .environment = environment()});
  }
  Finished tend_beside_tmux(const Arguments& arguments) {
    return run({.arguments = Arguments{TEND_BINARY} + arguments, .environment = environment()});
  }
  void start_session(const std::string& name, const std::string& command) {
    const auto made = tmux({"new-session", "-d", "-x", "80", "-y", "24", "-s", name, command});
    ASSERT_EQ(made.exit, 0) << made.err;
  }
  /// The folder of the watched session, "" if it could not be watched.
  Path watch(const std::string& session) {
    const auto ran = tend_beside_tmux({"watch", "--beat", "1s", "tmux:" + session});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with("tmux-" + session + " ")) << ran.out;
    const auto space = ran.out.find(' ');
    if (ran.exit != 0 || space == std::string::npos) return {};
    return lines_of(ran.out.substr(space + 1)).front();
  }
  /// Whether what was painted in the terminal has reached the judge.
  bool was_painted(const Path& folder) {
    for (const Json& line : json_lines(folder / "journal.jsonl")) {
      if (text_in(line, "is") == "activity" && text_in(line, "from") == "terminal") return true;
    }
    return false;
  }

 private:
  std::map<std::string, std::string> environment() const {
    return {{"TMUX_TMPDIR", scratch().string()}, {"TMUX", ""}, {"TERM", "xterm"}};
  }
};

TEST_F(TmuxTest, a_session_is_kept_by_its_process_and_what_it_paints_is_a_weak_sign) {
  start_session("work", "cat");
  const Path folder = watch("work");
  ASSERT_FALSE(folder.empty());
  const auto shown = tmux({"display-message", "-p", "-t", "work", "#{pane_pid}"});
  EXPECT_EQ(std::to_string(number_in(heartbeat_of(folder), "pid")) + "\n", shown.out);
  EXPECT_TRUE(eventually([&] {
    std::ignore = tmux({"send-keys", "-t", "work", "hello", "Enter"});
    return was_painted(folder);
  }));
  EXPECT_EQ(text_in(heartbeat_of(folder), "status"), "running");
}

TEST_F(TmuxTest, a_session_that_is_closed_is_seen_as_over_and_not_started_again) {
  start_session("work", "cat");
  const Path folder = watch("work");
  ASSERT_FALSE(folder.empty());
  ASSERT_EQ(tmux({"kill-session", "-t", "work"}).exit, 0);
  EXPECT_TRUE(await(folder, [](const Json& says) { return text_in(says, "status") != "running"; }));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

TEST_F(TmuxTest, the_end_of_a_watch_leaves_the_session_alone) {
  start_session("work", "cat");
  const Path folder = watch("work");
  ASSERT_FALSE(folder.empty());
  EXPECT_EQ(tend({"stop", "tmux-work"}).exit, 0);
  EXPECT_EQ(tmux({"has-session", "-t", "work"}).exit, 0);
}

TEST_F(TmuxTest, a_session_that_is_not_there_cannot_be_watched) {
  start_session("work", "cat");
  const auto ran = tend_beside_tmux({"watch", "tmux:play"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err, "tend watch: tmux knows no session 'play': `tmux ls` lists those there are\n");
  EXPECT_TRUE(agent_folders().empty());
}

}  // namespace
}  // namespace tend::e2e
