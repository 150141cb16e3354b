// Bytes over real connections, on loopback.
#include "os/linux/linux_received.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "os/linux/fd.h"

namespace tend {
namespace {

struct Connection {
  Fd near;
  Fd far;
};

Connection connect_on_loopback() {
  const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listening.get(), any, size), 0);
  EXPECT_EQ(::listen(listening.get(), 1), 0);
  EXPECT_EQ(::getsockname(listening.get(), any, &size), 0);
  Connection made;
  made.near = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(made.near.get(), any, size), 0);
  made.far = Fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(made.far);
  return made;
}

TEST(LinuxReceived, counts_what_came_in_and_not_what_went_out) {
  const std::array<std::int64_t, 1> self{::getpid()};
  const Connection connection = connect_on_loopback();
  const auto before = received_bytes(self);
  if (!before) GTEST_SKIP() << "this kernel does not tell";
  const std::string text(1000, 'x');
  ASSERT_EQ(::send(connection.far.get(), text.data(), text.size(), 0), 1000);
  // Both ends are ours: the near one received it. It is counted before it is read.
  EXPECT_EQ(received_bytes(self).value(), *before + 1000);
}

TEST(LinuxReceived, says_nothing_of_a_process_without_connections) {
  const std::array<std::int64_t, 1> nobody{0};
  EXPECT_EQ(received_bytes(nobody), std::nullopt);
  EXPECT_EQ(received_bytes({}), std::nullopt);
}

}  // namespace
}  // namespace tend
