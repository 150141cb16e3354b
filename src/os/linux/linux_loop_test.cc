// Real timers, pipes, signals to ourselves and folders. Every wait has a deadline against hanging.
#include "os/linux/linux_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "os/linux/fd.h"
#include "os/linux/linux_clock.h"
#include "os/linux/sanitized_testing.h"
#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  void put(const std::string& text) const {
    EXPECT_EQ(::write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string take(std::size_t most = 100) const {
    std::string text(most, '\0');
    const ssize_t got = ::read(out.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  Fd out;
  Fd in;
};

class LinuxLoopTest : public testing::Test {
 protected:
  LinuxLoopTest() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  }

  /// Runs until stop() or until a deadline that only a bug can reach.
  void run() {
    const Subscribed deadline = in(30s, [&] {
      ADD_FAILURE() << "the loop hangs";
      loop.stop();
    });
    loop.run();
  }
  /// Lets everything happen that is ready now: each timer takes a turn of the loop.
  void settle() {
    int turns = 0;
    Subscribed turn;
    std::function<void()> next = [&] {
      if (++turns == 200) return loop.stop();
      turn = in(0ms, next);
    };
    turn = in(0ms, next);
    run();
  }
  Subscribed in(Duration wait, Callback callback) {
    return loop.at(clock.now() + wait, std::move(callback));
  }

  LinuxClock clock;
  LinuxLoop loop;
  std::vector<std::string> heard;
};

TEST_F(LinuxLoopTest, calls_a_timer_once_and_not_before_its_time) {
  const Instant when = clock.now() + 5ms;
  int calls = 0;
  const Subscribed timer = loop.at(when, [&] {
    ++calls;
    EXPECT_GE(clock.now(), when);
  });
  const Subscribed later = loop.at(when + 10ms, [&] { loop.stop(); });
  run();
  EXPECT_EQ(calls, 1);
}

TEST_F(LinuxLoopTest, calls_timers_in_the_order_of_their_times_and_then_of_asking) {
  const Instant now = clock.now();
  const auto say = [&](const std::string& word) { return [&, word] { heard.push_back(word); }; };
  const Subscribed third = loop.at(now + 2ms, say("third"));
  const Subscribed first = loop.at(Instant{}, say("first"));
  const Subscribed fourth = loop.at(now + 2ms, say("fourth"));
  const Subscribed second = loop.at(now - 1ms, say("second"));
  const Subscribed before_boot = loop.at(Instant{-1h}, say("before boot"));
  const Subscribed last = loop.at(now + 3ms, [&] { loop.stop(); });
  const Subscribed never = loop.at(Instant{kNoLimit}, say("never"));
  run();
  EXPECT_EQ(heard, (std::vector<std::string>{"before boot", "first", "second", "third", "fourth"}));
}

TEST_F(LinuxLoopTest, never_calls_a_timer_that_was_taken_back) {
  Subscribed other;
  const Subscribed first = in(0ms, [&] { other.reset(); });
  other = in(0ms, [&] { heard.emplace_back("other"); });
  Subscribed gone = in(0ms, [&] { heard.emplace_back("gone"); });
  gone.reset();
  settle();
  EXPECT_TRUE(heard.empty());
}

TEST_F(LinuxLoopTest, lets_a_timer_replace_itself_in_its_own_callback) {
  int calls = 0;
  Subscribed timer;
  std::function<void()> again = [&] {
    if (++calls == 100) return loop.stop();
    timer = in(0ms, again);
  };
  timer = in(0ms, again);
  run();
  EXPECT_EQ(calls, 100);
}

TEST_F(LinuxLoopTest, keeps_due_timers_for_the_next_run_after_a_stop) {
  const Subscribed first = in(0ms, [&] { loop.stop(); });
  const Subscribed second = in(0ms, [&] { heard.emplace_back("second"); });
  run();
  EXPECT_TRUE(heard.empty());
  settle();
  EXPECT_EQ(heard.size(), 1U);
}

TEST_F(LinuxLoopTest, calls_for_as_long_as_a_descriptor_is_readable) {
  const Pipe pipe;
  pipe.put("abc");
  std::string taken;
  const Subscribed reading = loop.when_readable(pipe.out.get(), [&] {
    taken += pipe.take(1);
    if (taken.size() == 3) loop.stop();
  });
  ASSERT_NE(reading, nullptr);
  run();
  EXPECT_EQ(taken, "abc");
  settle();
  EXPECT_EQ(taken, "abc");
  pipe.put("d");
  settle();
  EXPECT_EQ(taken, "abcd");
}

TEST_F(LinuxLoopTest, calls_when_the_other_end_is_gone) {
  Pipe pipe;
  pipe.in.reset();
  Subscribed reading = loop.when_readable(pipe.out.get(), [&] {
    heard.emplace_back("hung up");
    reading.reset();
  });
  settle();
  EXPECT_EQ(heard.size(), 1U);
}

TEST_F(LinuxLoopTest, never_calls_for_a_descriptor_given_up_in_the_same_round) {
  const Pipe one;
  const Pipe two;
  one.put("x");
  two.put("x");
  std::array<Subscribed, 2> reading;
  reading[0] = loop.when_readable(one.out.get(), [&] {
    heard.emplace_back("one");
    reading[1].reset();
    (void)one.take();
  });
  reading[1] = loop.when_readable(two.out.get(), [&] {
    heard.emplace_back("two");
    reading[0].reset();
    (void)two.take();
  });
  settle();
  EXPECT_EQ(heard.size(), 1U);
}

TEST_F(LinuxLoopTest, does_not_mistake_a_new_descriptor_for_one_given_up_in_the_same_round) {
  const Pipe trigger;
  const Pipe ready;
  const Pipe empty;
  trigger.put("x");
  ready.put("x");
  Subscribed fresh;
  std::array<Subscribed, 2> reading;
  const auto swap = [&](std::size_t other) {
    reading[other].reset();
    fresh = loop.when_readable(empty.out.get(), [&] { heard.emplace_back("empty"); });
    reading[1 - other].reset();
  };
  reading[0] = loop.when_readable(trigger.out.get(), [&] { swap(1); });
  reading[1] = loop.when_readable(ready.out.get(), [&] { swap(0); });
  settle();
  EXPECT_TRUE(heard.empty());
}

// How many descriptors the kernel watches for us, as /proc tells.
int watched() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (target != "anon_inode:[eventpoll]") continue;
    std::ifstream info("/proc/self/fdinfo/" + entry.path().filename().string());
    for (std::string line; std::getline(info, line);) count += line.starts_with("tfd:") ? 1 : 0;
  }
  return count;
}

// A copy of a descriptor, as in a forked child, keeps it in the kernel's list after it is closed.
TEST_F(LinuxLoopTest, forgets_a_descriptor_though_a_copy_of_it_lives_on) {
  Pipe pipe;
  const Fd copy(::dup(pipe.out.get()));
  const int before = watched();
  Subscribed reading = loop.when_readable(pipe.out.get(), [&] { heard.emplace_back("old"); });
  EXPECT_EQ(watched(), before + 1);
  reading.reset();
  EXPECT_EQ(watched(), before);
  pipe.out.reset();
  pipe.put("x");
  settle();
  EXPECT_TRUE(heard.empty());
}

TEST_F(LinuxLoopTest, cannot_watch_a_regular_file_or_a_descriptor_twice) {
  const TemporaryFolder folder;
  folder.write("file", "text");
  const Fd file(::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(loop.when_readable(file.get(), [] {}), nullptr);
  EXPECT_EQ(loop.when_readable(-1, [] {}), nullptr);
  const Pipe pipe;
  const Subscribed once = loop.when_readable(pipe.out.get(), [] {});
  EXPECT_NE(once, nullptr);
  EXPECT_EQ(loop.when_readable(pipe.out.get(), [] {}), nullptr);
}

TEST_F(LinuxLoopTest, posts_in_order_and_not_what_was_taken_back) {
  const Subscribed one = loop.post([&] { heard.emplace_back("one"); });
  Subscribed gone = loop.post([&] { heard.emplace_back("gone"); });
  const Subscribed two = loop.post([&] {
    heard.emplace_back("two");
    loop.stop();
  });
  gone.reset();
  EXPECT_TRUE(heard.empty());
  run();
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two"}));
}

TEST_F(LinuxLoopTest, hears_every_order) {
  const std::vector<std::pair<Order, int>> orders{{Order::interrupt, SIGINT},
                                                  {Order::terminate, SIGTERM},
                                                  {Order::hang_up, SIGHUP},
                                                  {Order::look, SIGUSR1},
                                                  {Order::resized, SIGWINCH}};
  for (const auto& [order, signal] : orders) {
    int calls = 0;
    const Subscribed first = loop.on(order, [&] { ++calls; });
    const Subscribed second = loop.on(order, [&] { loop.stop(); });
    ASSERT_EQ(::kill(::getpid(), signal), 0);
    run();
    EXPECT_EQ(calls, 1) << signal;
  }
}

TEST_F(LinuxLoopTest, leaves_an_order_to_the_system_once_nobody_listens) {
  Subscribed first = loop.on(Order::terminate, [] {});
  Subscribed second = loop.on(Order::terminate, [&] { heard.emplace_back("second"); });
  first.reset();
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  settle();
  EXPECT_EQ(heard.size(), 1U);
  second.reset();
  EXPECT_EXIT(
      {
        ::kill(::getpid(), SIGTERM);
        ::_exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST_F(LinuxLoopTest, leaves_what_the_terminal_says_ignored_under_nohup) {
  for (const auto& [order, signal] :
       {std::pair{Order::hang_up, SIGHUP}, {Order::interrupt, SIGINT}}) {
    ::signal(signal, SIG_IGN);
    const Subscribed never = loop.on(order, [&] { heard.emplace_back("never"); });
    ASSERT_EQ(::kill(::getpid(), signal), 0);
    settle();
    ::signal(signal, SIG_DFL);
  }
  EXPECT_TRUE(heard.empty());
}

TEST_F(LinuxLoopTest, lets_a_listener_leave_in_its_own_callback) {
  Subscribed listening;
  const Subscribed other = loop.on(Order::look, [&] { heard.emplace_back("other"); });
  listening = loop.on(Order::look, [&] {
    heard.emplace_back("once");
    listening.reset();
  });
  ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
  settle();
  ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
  settle();
  EXPECT_EQ(heard, (std::vector<std::string>{"other", "once", "other"}));
}

TEST_F(LinuxLoopTest, hears_of_children_even_if_they_were_to_be_ignored) {
  ASSERT_NE(::signal(SIGCHLD, SIG_IGN), SIG_ERR);
  pid_t child = -1;
  int status = 0;
  const Subscribed listening = loop.on_child([&] {
    if (::waitpid(child, &status, WNOHANG) == child) loop.stop();
  });
  child = ::fork();
  if (child == 0) ::_exit(7);
  ASSERT_GT(child, 0);
  run();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(LinuxLoopTest, hears_of_new_changed_renamed_and_removed_files) {
  const TemporaryFolder folder;
  int calls = 0;
  const Subscribed listening = loop.on_change(folder.path(), [&] { ++calls; });
  ASSERT_NE(listening, nullptr);
  const auto heard_of = [&](const std::function<void()>& change) {
    calls = 0;
    change();
    settle();
    return calls > 0;
  };
  EXPECT_TRUE(heard_of([&] { folder.write("a", "1"); }));
  EXPECT_TRUE(heard_of([&] { folder.write("a", "2"); }));
  EXPECT_TRUE(heard_of([&] { std::filesystem::rename(folder / "a", folder / "b"); }));
  EXPECT_TRUE(heard_of([&] { std::filesystem::remove(folder / "b"); }));
  EXPECT_TRUE(heard_of([&] { std::filesystem::create_directory(folder / "c"); }));
  EXPECT_FALSE(heard_of([] {}));
}

TEST_F(LinuxLoopTest, does_not_take_a_new_time_of_a_file_for_a_change) {
  const TemporaryFolder folder;
  folder.write("beat", "");
  const Subscribed listening = loop.on_change(folder.path(), [&] { heard.emplace_back("change"); });
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / "beat").c_str(), nullptr, 0), 0);
  settle();
  EXPECT_TRUE(heard.empty());
}

TEST_F(LinuxLoopTest, tells_all_listeners_of_a_folder_until_they_leave) {
  const TemporaryFolder folder;
  const Subscribed one = loop.on_change(folder.path(), [&] { heard.emplace_back("one"); });
  Subscribed two = loop.on_change(folder.path(), [&] {
    heard.emplace_back("two");
    two.reset();
  });
  std::filesystem::create_directory(folder / "a");
  settle();
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two"}));
  std::filesystem::create_directory(folder / "b");
  settle();
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two", "one"}));
}

TEST_F(LinuxLoopTest, hears_that_a_folder_is_gone_and_forgets_it) {
  const TemporaryFolder folder;
  const std::string inner = folder / "inner";
  std::filesystem::create_directory(inner);
  Subscribed listening = loop.on_change(inner, [&] { heard.emplace_back("gone"); });
  std::filesystem::remove(inner);
  settle();
  EXPECT_EQ(heard.size(), 1U);
  listening.reset();
  EXPECT_EQ(loop.on_change(inner, [] {}), nullptr);
}

TEST_F(LinuxLoopTest, takes_lost_events_for_a_change_everywhere) {
  const TemporaryFolder busy;
  const TemporaryFolder quiet;
  busy.write("a", "");
  const Subscribed one = loop.on_change(busy.path(), [] {});
  const Subscribed two = loop.on_change(quiet.path(), [&] { heard.emplace_back("quiet"); });
  int limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  ASSERT_GT(limit, 0);
  // Two names in turn, because the kernel merges equal events that follow each other.
  for (int i = 0; i < limit; ++i) {
    std::filesystem::rename(busy / (i % 2 == 0 ? "a" : "b"), busy / (i % 2 == 0 ? "b" : "a"));
  }
  settle();
  EXPECT_FALSE(heard.empty());
}

TEST_F(LinuxLoopTest, gives_no_hint_when_the_system_has_no_more_of_them) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers need descriptors too";
  const TemporaryFolder folder;
  rlimit kept{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &kept), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = kept.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(loop.on_change(folder.path(), [] {}), nullptr);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &kept), 0);
  EXPECT_NE(loop.on_change(folder.path(), [] {}), nullptr);
}

TEST_F(LinuxLoopTest, does_not_wake_while_nothing_happens) {
  const TemporaryFolder folder;
  const Subscribed changes = loop.on_change(folder.path(), [] {});
  const Subscribed order = loop.on(Order::look, [] {});
  Subscribed soon = in(1ms, [] {});
  soon.reset();
  rusage before{};
  rusage after{};
  const Subscribed start = in(0ms, [&] { ::getrusage(RUSAGE_THREAD, &before); });
  const Subscribed end = in(300ms, [&] {
    ::getrusage(RUSAGE_THREAD, &after);
    loop.stop();
  });
  run();
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 2);  // the wait for the last timer
}

}  // namespace
}  // namespace tend
