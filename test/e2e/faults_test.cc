// The machine misbehaves: a disk that is full at every moment of a life, and pids that come to mean
// somebody else. The program must not pay for either.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// --- A full disk --------------------------------------------------------------------------------

/// The home is a small disk of its own, in a mount namespace of our own.
class FullDiskTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount a disk";
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      GTEST_SKIP() << "no mount namespace of our own here";
    }
    fs::create_directory(home());
    mounted_ = mount("tmpfs", home().c_str(), "tmpfs", 0, "size=8m,mode=0700") == 0;
    if (!mounted_) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  }
  void TearDown() override {
    if (mounted_) {
      end_everything();
      umount2(home().c_str(), MNT_DETACH);
    }
    E2e::TearDown();
  }

  [[nodiscard]] Path filler() const { return home() / "filler"; }
  /// Takes every page that is left.
  void fill() const {
    const int file = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const std::string page(4096, 'x');
    while (::write(file, page.data(), page.size()) > 0) {
    }
    ::close(file);
  }
  void make_room() const { fs::remove(filler()); }

  /// Works without end, whatever becomes of its output, and counts in a file elsewhere. Each of its
  /// lines needs a page of its own: on a full disk there is room for ours and none for its.
  [[nodiscard]] Arguments stubborn() const {
    return {"sh",
            "-c",
            R"(echo "main $$" >"$1"; i=0; while :; do i=$((i+1)); printf '%4095s\n' "line $i" )"
            R"(2>/dev/null; echo x >>"$2"; sleep 0.2; done)",
            "sh",
            pids().string(),
            work().string()};
  }
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  [[nodiscard]] Path work() const { return scratch() / "work"; }
  bool works_on() const {
    const auto before = fs::file_size(work());
    return eventually([&] { return fs::file_size(work()) > before + 20; });
  }
  static bool is_working(const Json& h) { return text_in(h, "verdict") == "working"; }
  static bool is_over(const Json& h) { return text_in(h, "status") == "withdrawn"; }

 private:
  bool mounted_ = false;
};

TEST_F(FullDiskTest, nothing_is_started_that_could_not_be_kept) {
  fill();
  const auto ran = tend(Arguments{"run", "--"} + worker({"--pids", pids().string()}));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_NE(ran.exit, 0);
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  EXPECT_TRUE(ran.err.contains("No space left on device")) << ran.err;
  EXPECT_EQ(read_file(pids()), "") << "it was started";
  make_room();
  EXPECT_EQ(tend(Arguments{"run", "--"} + worker({"--lines", "2"})).out, "line 1\nline 2\n");
}

TEST_F(FullDiskTest, a_program_whose_output_cannot_be_written_is_not_ended_for_its_silence) {
  const Path folder = keep({"--name", "a", "--policy", "agent", "--limit", "model=2s", "--limit",
                            "confirm=2s", "--beat", "1s"},
                           stubborn());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  fill();
  std::this_thread::sleep_for(seconds{12});  // past all limits, and more
  EXPECT_TRUE(is_running(agent)) << read_file(home() / "events.jsonl");
  EXPECT_TRUE(works_on());
  make_room();
  EXPECT_TRUE(eventually([&] { return has_event("can be read and written again"); }));
  const auto printed = fs::file_size(folder / "stream.jsonl");
  EXPECT_TRUE(eventually([&] { return fs::file_size(folder / "stream.jsonl") > printed + 9000; }));
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), agent);
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
}

TEST_F(FullDiskTest, an_end_is_written_down_as_soon_as_there_is_room) {
  const Path go = scratch() / "go";
  Background viewer = start_tend({"run", "--name", "a", "--", "sh", "-c",
                                  R"(echo begun; while [ ! -e "$1" ]; do sleep 0.1; done; exit 7)",
                                  "sh", go.string()});
  ASSERT_TRUE(eventually([&] { return viewer.out() == "begun\n"; }));
  const Path folder = only_agent();
  ASSERT_TRUE(await(folder, is_working));
  fill();
  std::ofstream(go) << "go\n";
  std::this_thread::sleep_for(seconds{2});
  EXPECT_FALSE(viewer.is_over());
  make_room();
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 7) << ran.err;
  EXPECT_EQ(text_in(heartbeat_of(folder), "ended_by"), "exit 7");
}

TEST_F(FullDiskTest, a_stop_that_cannot_be_written_says_so_and_can_be_repeated) {
  const Path folder = keep({"--name", "a"}, stubborn());
  const pid_t agent = pid_of(pids(), "main");
  fill();
  const auto refused = tend({"stop", "a"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(lines_of(refused.err).size(), 1U) << refused.err;
  EXPECT_TRUE(refused.err.contains("No space left on device")) << refused.err;
  EXPECT_TRUE(is_running(agent));
  make_room();
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_FALSE(is_running(agent));
  EXPECT_TRUE(is_over(heartbeat_of(folder)));
}

TEST_F(FullDiskTest, a_successor_that_finds_no_room_leaves_the_program_alone) {
  const Path folder = keep({"--name", "a"}, stubborn());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(kill(keeper));
  ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  fill();
  Background starved = start_tend({"keep", folder.string()});
  std::this_thread::sleep_for(seconds{2});
  EXPECT_TRUE(is_running(agent)) << starved.err();
  EXPECT_TRUE(works_on());
  make_room();
  Background viewer = start_tend({"run", "--attach", "a"});
  EXPECT_TRUE(eventually([&] { return lines_of(viewer.out()).size() > 3; })) << viewer.err();
  EXPECT_TRUE(is_running(agent));
  EXPECT_EQ(number_in(heartbeat_of(folder), "life"), 1);
  viewer.signal(SIGTERM);
  EXPECT_FALSE(viewer.wait().timed_out);
  EXPECT_FALSE(is_running(agent));
}

TEST_F(FullDiskTest, a_new_life_begins_on_a_full_disk_or_when_there_is_room) {
  const Path folder =
      keep({"--name", "a", "--policy", "agent", "--restart", "on-failure"}, stubborn());
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await(folder, is_working));
  fill();
  ASSERT_TRUE(kill(agent));
  std::this_thread::sleep_for(seconds{3});
  make_room();
  EXPECT_TRUE(await(
      folder, [](const Json& h) { return number_in(h, "life") == 2 && is_working(h); },
      4 * kPatience));
  EXPECT_EQ(number_in(heartbeat_of(folder), "pid"), pid_of(pids(), "main"));
}

// --- Numbers that come to mean another ----------------------------------------------------------

/// In a pid namespace of its own, where the next number can be chosen.
class ReusedPidTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a pid namespace";
    if (run({.arguments = {"unshare", "--pid", "--fork", "--mount-proc", "true"}}).exit != 0) {
      GTEST_SKIP() << "no pid namespace here";
    }
  }

  /// What this script prints, run as the first process of a namespace. It knows $tend, and
  /// `as_pid N COMMAND...` which starts a command in the background with that very number.
  Finished in_namespace(const std::string& script) {
    std::ofstream(scratch() / "script") << R"sh(
      tend=)sh" << TEND_BINARY << R"sh(
      worker=)sh" << E2E_WORKER << R"sh(
      as_pid() {
        wanted=$1; shift
        for try in 1 2 3 4 5 6 7 8 9 10; do
          echo $((wanted - 1)) >/proc/sys/kernel/ns_last_pid
          "$@" & got=$!
          [ "$got" = "$wanted" ] && return 0
          kill -9 "$got"; wait "$got" 2>/dev/null
        done
        echo "no process became $wanted"; exit 9
      }
      field() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$TEND_HOME"/sessions/*/.heartbeat; }
      until_gone() {
        while kill -0 "$1" 2>/dev/null; do sleep 0.05; done
      }
    )sh" << script;
    return run({.arguments = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh",
                              (scratch() / "script").string()}},
               2 * kPatience);
  }
};

TEST_F(ReusedPidTest, the_new_owner_of_an_agents_number_is_never_signalled) {
  const auto ran = in_namespace(R"sh(
    $tend run --detach --name a -- $worker --hang-after 0 >/dev/null
    agent=$(field pid); keeper=$(field keeper_pid)
    kill -9 "$keeper"; until_gone "$keeper"
    kill -9 "$agent"; until_gone "$agent"
    as_pid "$agent" sleep 600
    $tend run --attach a; echo "attach $?"
    sed -n 's/.*"outcome":"\([a-z]*\)".*/outcome \1/p' "$TEND_HOME"/sessions/*/.heartbeat
    kill -0 "$agent" && grep -q '^State:.S' "/proc/$agent/status" && echo innocent lives
  )sh");
  EXPECT_EQ(ran.out, "attach 1\noutcome failed\ninnocent lives\n") << ran.err;
}

TEST_F(ReusedPidTest, the_new_owner_of_an_agents_number_is_not_stopped_for_it) {
  const auto ran = in_namespace(R"sh(
    $tend run --detach --name a -- $worker --hang-after 0 >/dev/null
    agent=$(field pid); keeper=$(field keeper_pid)
    kill -9 "$keeper"; until_gone "$keeper"
    kill -9 "$agent"; until_gone "$agent"
    as_pid "$agent" sleep 600
    $tend stop --now a >/dev/null; echo "stop $?"
    kill -0 "$agent" && grep -q '^State:.S' "/proc/$agent/status" && echo innocent lives
  )sh");
  EXPECT_EQ(ran.out, "stop 0\ninnocent lives\n") << ran.err;
}

TEST_F(ReusedPidTest, the_new_owner_of_a_keepers_number_is_neither_poked_nor_reloaded) {
  const auto ran = in_namespace(R"sh(
    $tend run --detach --name a -- $worker --hang-after 0 >/dev/null
    agent=$(field pid); keeper=$(field keeper_pid)
    kill -9 "$keeper"; until_gone "$keeper"
    as_pid "$keeper" sleep 600
    $tend reload a 2>/dev/null; echo "reload $?"
    $tend pause a >/dev/null; echo "pause $?"
    $tend stop a >/dev/null; echo "stop $?"
    kill -0 "$keeper" && grep -q '^State:.S' "/proc/$keeper/status" && echo innocent lives
    kill -0 "$agent" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$agent/status" && echo agent lives
    true
  )sh");
  EXPECT_EQ(ran.out, "reload 1\npause 0\nstop 0\ninnocent lives\n") << ran.err;
}

TEST_F(ReusedPidTest, a_resumed_agent_does_not_end_the_new_owner_of_its_old_number) {
  const auto ran = in_namespace(R"sh(
    $tend run --detach --name a --policy agent --restart on-failure -- $worker >/dev/null
    agent=$(field pid); keeper=$(field keeper_pid)
    kill -9 "$keeper"; until_gone "$keeper"
    kill -9 "$agent"; until_gone "$agent"
    as_pid "$agent" sleep 600
    $tend run --attach a >/dev/null 2>&1 & viewer=$!
    for try in $(seq 200); do [ "$(field life)" = 2 ] && break; sleep 0.05; done
    echo "life $(field life)"
    $tend stop a >/dev/null; echo "stop $?"
    kill -0 "$agent" && grep -q '^State:.S' "/proc/$agent/status" && echo innocent lives
  )sh");
  EXPECT_EQ(ran.out, "life 2\nstop 0\ninnocent lives\n") << ran.err;
}

TEST_F(ReusedPidTest, an_agent_of_another_namespace_is_unknown_and_left_alone) {
  const Path folder = keep({"--name", "a"}, worker({"--pids", (scratch() / "pids").string()}));
  const pid_t agent = pid_of(scratch() / "pids", "main");
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(kill(keeper));
  ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  const auto ran = in_namespace(R"sh(
    timeout 5 $tend keep "$TEND_HOME"/sessions/*; echo "keep $?"
  )sh");
  EXPECT_TRUE(is_running(agent)) << ran.out << ran.err;
  EXPECT_NE(text_in(heartbeat_of(folder), "status"), "withdrawn") << heartbeat_of(folder);
  EXPECT_EQ(tend({"stop", "a"}).exit, 0);
  EXPECT_FALSE(is_running(agent));
}

}  // namespace
}  // namespace tend::e2e
