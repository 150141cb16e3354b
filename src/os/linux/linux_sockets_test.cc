// Real sockets and fifos, with senders in this process and in others.
#include "os/linux/linux_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "os/linux/fd.h"
#include "os/linux/linux_clock.h"
#include "os/linux/linux_loop.h"
#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// Sends as sd_notify does, with descriptors if there are any.
bool send_to(const std::string& path, const std::string& text, const std::vector<int>& with = {}) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::string copy = text;
  iovec what{copy.data(), copy.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = &what;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control{};
  if (!with.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * with.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * with.size());
    std::memcpy(CMSG_DATA(header), with.data(), sizeof(int) * with.size());
  }
  return ::sendmsg(socket.get(), &message, 0) == static_cast<ssize_t>(text.size());
}

bool is_hung_up(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLHUP) != 0;
}

class LinuxSocketsTest : public testing::Test {
 protected:
  void run() {
    const Subscribed deadline = loop.at(clock.now() + 30s, [&] {
      ADD_FAILURE() << "the loop hangs";
      loop.stop();
    });
    loop.run();
  }
  Subscribed receive(const std::string& name, std::function<void(const Datagram&)> callback) {
    auto receiving = sockets.receive(place / name, std::move(callback));
    EXPECT_TRUE(receiving) << receiving.error().text;
    return receiving ? std::move(*receiving) : nullptr;
  }
  std::function<void(const Datagram&)> keep_and_stop() {
    return [this](const Datagram& datagram) {
      got.push_back(datagram);
      loop.stop();
    };
  }

  TemporaryFolder place;
  LinuxClock clock;
  LinuxLoop loop;
  LinuxSockets sockets{loop};
  std::vector<Datagram> got;
};

TEST_F(LinuxSocketsTest, receives_with_the_kernels_word_on_the_sender) {
  const Subscribed receiving = receive("notify", keep_and_stop());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(send_to(place / "notify", "STATUS=well\n") ? 0 : 1);
  run();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].pid, child);
  EXPECT_TRUE(got[0].same_user);
  EXPECT_EQ(got[0].text, "STATUS=well\n");
}

TEST_F(LinuxSocketsTest, tells_another_user_apart) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Subscribed receiving = receive("notify", keep_and_stop());
  ASSERT_EQ(::chmod(place.path().c_str(), 0755), 0);
  const auto send_as_somebody = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setresuid(4321, 4321, 4321) != 0) ::_exit(2);
      ::_exit(send_to(place / "notify", "hello") ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(send_as_somebody(), 1);  // the socket is for its owner
  ASSERT_EQ(::chmod((place / "notify").c_str(), 0666), 0);
  EXPECT_EQ(send_as_somebody(), 0);
  run();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_FALSE(got[0].same_user);
}

TEST_F(LinuxSocketsTest, holds_what_came_along_until_the_callback_returned) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd waiting(ends[0]);
  Fd given(ends[1]);
  const Subscribed receiving = receive("notify", [&](const Datagram& datagram) {
    EXPECT_EQ(datagram.text, "BARRIER=1");
    EXPECT_FALSE(is_hung_up(waiting.get()));
    loop.stop();
  });
  ASSERT_TRUE(send_to(place / "notify", "BARRIER=1", {given.get()}));
  given.reset();
  EXPECT_FALSE(is_hung_up(waiting.get()));
  run();
  EXPECT_TRUE(is_hung_up(waiting.get()));
}

TEST_F(LinuxSocketsTest, cuts_at_4_KB_and_takes_an_empty_one) {
  const Subscribed receiving = receive("notify", keep_and_stop());
  ASSERT_TRUE(send_to(place / "notify", std::string(10'000, 'x')));
  ASSERT_TRUE(send_to(place / "notify", ""));
  ASSERT_TRUE(send_to(place / "notify", "next"));
  for (int i = 0; i < 3; ++i) run();
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0].text, std::string(4096, 'x'));
  EXPECT_EQ(got[1].text, "");
  EXPECT_EQ(got[2].text, "next");
}

TEST_F(LinuxSocketsTest, hands_over_at_once_what_is_there) {
  const Subscribed receiving = receive("notify", [&](const Datagram& d) { got.push_back(d); });
  ASSERT_TRUE(send_to(place / "notify", "READY=1"));
  ASSERT_TRUE(send_to(place / "notify", "STOPPING=1"));
  receiving->hand_over();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].text, "READY=1");
  EXPECT_EQ(got[1].text, "STOPPING=1");
}

TEST_F(LinuxSocketsTest, hands_nothing_over_to_one_that_ended_itself) {
  Subscribed receiving;
  receiving = receive("notify", [&](const Datagram& d) {
    got.push_back(d);
    receiving.reset();
  });
  ASSERT_TRUE(send_to(place / "notify", "first"));
  ASSERT_TRUE(send_to(place / "notify", "second"));
  receiving->hand_over();
  EXPECT_EQ(got.size(), 1U);
}

TEST_F(LinuxSocketsTest, has_a_file_for_this_user_alone_for_as_long_as_it_receives) {
  const mode_t kept = ::umask(0);
  Subscribed receiving = receive("notify", keep_and_stop());
  ::umask(kept);
  struct stat seen{};
  ASSERT_EQ(::lstat((place / "notify").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777, 0600U);
  receiving.reset();
  EXPECT_FALSE(std::filesystem::exists(place / "notify"));
}

TEST_F(LinuxSocketsTest, replaces_an_older_socket_and_leaves_a_newer_one_alone) {
  Subscribed older = receive("notify", keep_and_stop());
  const Subscribed newer = receive("notify", keep_and_stop());
  older.reset();
  ASSERT_TRUE(send_to(place / "notify", "to the newer"));
  run();
  EXPECT_EQ(got.size(), 1U);
}

TEST_F(LinuxSocketsTest, replaces_nothing_but_a_socket) {
  place.write("file", "precious");
  const auto refused = sockets.receive(place / "file", keep_and_stop());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, place / "file" + " is in the way: it is not a socket of ours");
  EXPECT_EQ(place.read("file"), "precious");
  std::filesystem::create_symlink("file", place / "link");
  EXPECT_FALSE(sockets.receive(place / "link", keep_and_stop()));
}

TEST_F(LinuxSocketsTest, says_why_a_path_does_not_do) {
  EXPECT_FALSE(sockets.receive("", keep_and_stop()));
  const auto length = sockets.receive("/" + std::string(100, 'x'), keep_and_stop());
  ASSERT_FALSE(length);
  EXPECT_TRUE(length.error().text.ends_with("it may have up to 100 bytes"));
  const auto nowhere = sockets.receive(place / "none/notify", keep_and_stop());
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(nowhere.error().text.ends_with("No such file or directory"));
}

TEST_F(LinuxSocketsTest, may_end_in_its_own_callback) {
  Subscribed receiving = receive("notify", [&](const Datagram& datagram) {
    got.push_back(datagram);
    receiving.reset();
    loop.stop();
  });
  ASSERT_TRUE(send_to(place / "notify", "one"));
  ASSERT_TRUE(send_to(place / "notify", "two"));
  run();
  EXPECT_EQ(got.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(place / "notify"));
}

TEST_F(LinuxSocketsTest, reads_a_fifo_through_all_its_writers) {
  std::string text;
  Subscribed reading = std::move(*sockets.read_fifo(place / "fifo", [&](std::string_view piece) {
    text += piece;
    loop.stop();
  }));
  struct stat seen{};
  ASSERT_EQ(::lstat((place / "fifo").c_str(), &seen), 0);
  EXPECT_TRUE(S_ISFIFO(seen.st_mode));
  EXPECT_EQ(seen.st_mode & 07777, 0600U);
  for (const char* line : {"one\n", "two\n"}) {
    place.write("fifo", line);  // opens, writes, closes
    run();
  }
  EXPECT_EQ(text, "one\ntwo\n");
  reading.reset();
  EXPECT_TRUE(sockets.read_fifo(place / "fifo", [](std::string_view) {}));
}

TEST_F(LinuxSocketsTest, does_not_spin_on_a_fifo_without_writers) {
  int calls = 0;
  const auto reading = sockets.read_fifo(place / "fifo", [&](std::string_view) { ++calls; });
  ASSERT_TRUE(reading);
  const Fd writer(::open((place / "fifo").c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  EXPECT_TRUE(writer);
  const Subscribed end = loop.at(clock.now() + 5ms, [&] { loop.stop(); });
  run();
  EXPECT_EQ(calls, 0);
}

TEST_F(LinuxSocketsTest, reads_nothing_but_a_fifo) {
  const auto ignore = [](std::string_view) {};
  place.write("file", "text");
  const auto refused = sockets.read_fifo(place / "file", ignore);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, place / "file" + " is in the way: it is not a fifo of ours");
  ASSERT_EQ(::mkfifo((place / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("fifo", place / "link");
  EXPECT_FALSE(sockets.read_fifo(place / "link", ignore));
  EXPECT_FALSE(sockets.read_fifo(place / "none/fifo", ignore));
}

TEST_F(LinuxSocketsTest, writes_into_a_fifo_that_somebody_holds_open) {
  ASSERT_TRUE(sockets.make_fifo(place / "input"));
  EXPECT_FALSE(sockets.write_fifo(place / "input", "lost?\n")) << "nobody reads it";
  const Fd reader(::open((place / "input").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(reader);
  EXPECT_TRUE(sockets.write_fifo(place / "input", "one\n"));
  EXPECT_FALSE(sockets.write_fifo(place / "input", std::string(kMostInFifo, 'x')))
      << "what is there was not read, and half of it must not be written";
  std::array<char, 100> piece{};
  EXPECT_EQ(::read(reader.get(), piece.data(), piece.size()), 4);
  EXPECT_TRUE(sockets.write_fifo(place / "input", std::string(kMostInFifo, 'x')));
  while (sockets.write_fifo(place / "input", std::string(1000, 'y'))) {
  }
  std::string all(std::size_t{1} << 20U, 0);
  const ssize_t read = ::read(reader.get(), all.data(), all.size());
  EXPECT_EQ(static_cast<std::size_t>(read) % 1000, kMostInFifo % 1000) << "nothing by halves";
}

TEST_F(LinuxSocketsTest, makes_a_fifo_anew_with_nothing_in_it) {
  ASSERT_TRUE(sockets.make_fifo(place / "input"));
  const Fd old(::open((place / "input").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(sockets.write_fifo(place / "input", "for the old life\n"));
  ASSERT_TRUE(sockets.make_fifo(place / "input"));
  const Fd fresh(::open((place / "input").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  char byte = 0;
  EXPECT_EQ(::read(fresh.get(), &byte, 1), -1);
  place.write("file", "text");
  EXPECT_FALSE(sockets.write_fifo(place / "file", "x")) << "only into a fifo";
}

TEST_F(LinuxSocketsTest, may_stop_reading_a_fifo_in_its_own_callback) {
  int calls = 0;
  Result<Subscribed> reading;
  reading = sockets.read_fifo(place / "fifo", [&](std::string_view) {
    ++calls;
    reading->reset();
    loop.stop();
  });
  ASSERT_TRUE(reading);
  place.write("fifo", "x");
  run();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tend
