// One message or piece per call of the loop, so that a flood of them cannot keep the rest waiting.
#include "os/linux/linux_sockets.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/quote.h"
#include "os/linux/fd.h"
#include "os/linux/linux_file.h"
#include "os/linux/linux_loop.h"
#include "os/linux/socket_file.h"

namespace tend {
namespace {

constexpr std::size_t kMostText = 4096;
constexpr int kMostAtOnce = 1000;              // messages: a sender may be as fast as we are
constexpr std::size_t kMostDescriptors = 253;  // that the kernel passes in one message
constexpr std::size_t kPiece = std::size_t{16} * 1024;
constexpr mode_t kOwnerOnly = 0600;

/// A message, and descriptors that came with it. Their closing tells a sender that waits for it
/// that it was heard.
struct Received {
  Datagram datagram;
  std::vector<Fd> held;
};

void take_control(const cmsghdr& control, const std::byte* data, std::size_t size, Received& into) {
  if (control.cmsg_level != SOL_SOCKET) return;
  if (control.cmsg_type == SCM_CREDENTIALS && size >= sizeof(ucred)) {
    ucred sender{};
    std::memcpy(&sender, data, sizeof sender);
    into.datagram.pid = sender.pid;
    into.datagram.same_user = sender.uid == ::geteuid();
  } else if (control.cmsg_type == SCM_RIGHTS) {
    for (std::size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, data + at, sizeof descriptor);
      into.held.emplace_back(descriptor);
    }
  }
}

std::optional<Received> receive_one(int socket) {
  constexpr std::size_t kControl =
      CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * kMostDescriptors);
  std::array<char, kMostText> text{};
  alignas(cmsghdr) std::array<std::byte, kControl> control{};
  iovec where{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got =
      retried([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT); });
  if (got < 0) return std::nullopt;
  Received received;
  received.datagram.text.assign(text.data(), static_cast<std::size_t>(got));
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    const auto* data = reinterpret_cast<const std::byte*>(CMSG_DATA(at));
    take_control(*at, data, at->cmsg_len - CMSG_LEN(0), received);
  }
  return received;
}

Result<Fd> bound_receiver(const std::string& path) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return cannot("make a socket for", path);
  }
  if (auto bound = bind_to(socket.get(), path); !bound) return std::unexpected(bound.error());
  return socket;
}

/// A bound socket with its file.
class Receiver final : public Subscription {
 public:
  Receiver(Fd socket, const std::string& path, std::function<void(const Datagram&)> callback)
      : socket_(std::move(socket)),
        file_(path),
        callback_(std::make_shared<std::function<void(const Datagram&)>>(std::move(callback))) {}
  bool start(LinuxLoop& loop) {
    readable_ = loop.when_readable(socket_.get(), [this] { hear(); });
    return readable_ != nullptr;
  }

  void hand_over() override {
    const std::weak_ptr<const void> here = callback_;
    for (int left = kMostAtOnce; left > 0 && !here.expired() && hear(); --left) {
    }
  }

 private:
  bool hear() {
    const auto received = receive_one(socket_.get());
    if (!received) return false;
    const auto callback = callback_;  // which may end this receiver
    (*callback)(received->datagram);
    return true;
  }

  Fd socket_;
  SocketFile file_;
  std::shared_ptr<std::function<void(const Datagram&)>> callback_;
  Subscribed readable_;
};

Result<Fd> open_fifo(const std::string& path) {
  const bool made = ::mkfifo(path.c_str(), kOwnerOnly) == 0;
  if (!made && errno != EEXIST) return cannot("make the fifo", path);
  // Open for writing too: with a writer of its own a reader never sees an end.
  Fd fifo(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
  if (!fifo) return cannot("open the fifo", path);
  struct stat seen{};
  if (::fstat(fifo.get(), &seen) != 0) return cannot("look at", path);
  if (!S_ISFIFO(seen.st_mode) || seen.st_uid != ::geteuid()) {
    return fail(on_one_line(path) + " is in the way: it is not a fifo of ours");
  }
  if (made && ::fchmod(fifo.get(), kOwnerOnly) != 0) return cannot("make the fifo", path);
  return fifo;
}

class FifoReader final : public Subscription {
 public:
  FifoReader(Fd fifo, std::function<void(std::string_view)> callback)
      : fifo_(std::move(fifo)),
        callback_(std::make_shared<std::function<void(std::string_view)>>(std::move(callback))) {}

  bool start(LinuxLoop& loop) {
    readable_ = loop.when_readable(fifo_.get(), [this] { hear(); });
    return readable_ != nullptr;
  }

 private:
  void hear() {
    std::array<char, kPiece> piece{};
    const ssize_t got = retried([&] { return ::read(fifo_.get(), piece.data(), piece.size()); });
    if (got <= 0) return;
    const auto callback = callback_;  // which may end this reader
    (*callback)({piece.data(), static_cast<std::size_t>(got)});
  }

  Fd fifo_;
  std::shared_ptr<std::function<void(std::string_view)>> callback_;
  Subscribed readable_;
};

}  // namespace

Result<Subscribed> LinuxSockets::receive(const std::string& path,
                                         std::function<void(const Datagram&)> callback) {
  if (auto fits = check_socket_path(path); !fits) return std::unexpected(fits.error());
  if (auto room = remove_socket(path); !room) return std::unexpected(room.error());
  auto socket = bound_receiver(path);
  if (!socket) return std::unexpected(socket.error());
  auto receiver = std::make_unique<Receiver>(std::move(*socket), path, std::move(callback));
  if (!receiver->start(loop_)) return cannot("listen at", path);
  return receiver;
}

Result<void> LinuxSockets::send(const std::string& path, std::string_view text) {
  if (auto fits = check_socket_path(path); !fits) return std::unexpected(fits.error());
  sockaddr_un address = socket_address(path);
  // A name without a file begins with a zero, and every byte behind it counts.
  const bool is_abstract = path.starts_with('@');
  if (is_abstract) address.sun_path[0] = '\0';
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract ? 0 : 1));
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return cannot("make a socket for", path);
  const ssize_t sent = retried([&] {
    return ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address), size);
  });
  if (sent != static_cast<ssize_t>(text.size())) return cannot("send to", path);
  return {};
}

Result<Subscribed> LinuxSockets::read_fifo(const std::string& path,
                                           std::function<void(std::string_view)> callback) {
  auto fifo = open_fifo(path);
  if (!fifo) return std::unexpected(fifo.error());
  auto reader = std::make_unique<FifoReader>(std::move(*fifo), std::move(callback));
  if (!reader->start(loop_)) return cannot("listen at", path);
  return reader;
}

Result<void> LinuxSockets::make_fifo(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot("remove the old", path);
  auto fifo = open_fifo(path);
  if (!fifo) return std::unexpected(fifo.error());
  return {};
}

Result<void> LinuxSockets::write_fifo(const std::string& path, std::string_view bytes) {
  CHECK(bytes.size() <= kMostInFifo);
  const Fd fifo(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
  if (!fifo && errno == ENXIO) return fail("nobody reads " + on_one_line(path));
  if (!fifo) return cannot("open the fifo", path);
  struct stat seen{};
  if (::fstat(fifo.get(), &seen) != 0) return cannot("look at", path);
  if (!S_ISFIFO(seen.st_mode)) return fail(on_one_line(path) + " is not a fifo");
  // More than PIPE_BUF may be written by halves, unless there is room for all of it.
  int unread = 0;
  const int room = ::fcntl(fifo.get(), F_GETPIPE_SZ);
  const bool is_known = room >= 0 && ::ioctl(fifo.get(), FIONREAD, &unread) == 0;
  const bool fits = is_known && unread == 0 && bytes.size() <= static_cast<std::size_t>(room);
  if (bytes.size() > PIPE_BUF && !fits) {
    return fail("what stands in " + on_one_line(path) + " was not read yet");
  }
  const ssize_t wrote = ::write(fifo.get(), bytes.data(), bytes.size());
  if (wrote < 0 && errno == EAGAIN) {
    return fail("what stands in " + on_one_line(path) + " was not read yet");
  }
  if (wrote != static_cast<ssize_t>(bytes.size())) return cannot("write into", path);
  return {};
}

}  // namespace tend
