// Streams of bytes between processes: what can be done at once is done, the loop waits for the
// rest, and every callback comes from it.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/quote.h"
#include "os/linux/fd.h"
#include "os/linux/linux_file.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_sockets.h"
#include "os/linux/socket_file.h"

namespace tend {
namespace {

constexpr int kBacklog = 128;
constexpr std::size_t kPiece = std::size_t{64} * 1024;

bool would_wait() { return errno == EAGAIN; }

class StreamRead final : public Subscription {
 public:
  StreamRead(int socket, std::function<void(std::string_view)> done)
      : socket_(socket), done_(std::move(done)) {}

  void start(LinuxLoop& loop) {
    waiting_ = loop.when_readable(socket_, [this] { hear(); });
    if (waiting_ == nullptr) waiting_ = loop.post([this] { end(""); });
  }

 private:
  void hear() {
    std::array<char, kPiece> piece{};
    const ssize_t got =
        retried([&] { return ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT); });
    if (got < 0 && would_wait()) return;
    end({piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
  }
  void end(std::string_view piece) {
    waiting_.reset();
    const auto done = std::move(done_);
    done(piece);  // which may destroy this
  }

  int socket_;
  std::function<void(std::string_view)> done_;
  Subscribed waiting_;
};

class StreamWrite final : public Subscription {
 public:
  StreamWrite(int socket, std::string bytes, std::function<void(bool)> done)
      : socket_(socket), bytes_(std::move(bytes)), done_(std::move(done)) {}

  void start(LinuxLoop& loop) {
    const auto over = go_on();
    if (!over) waiting_ = loop.when_writable(socket_, [this] { write_more(); });
    if (waiting_ == nullptr) waiting_ = loop.post([this, all = over == true] { end(all); });
  }

 private:
  /// Whether all is written, once it is known.
  std::optional<bool> go_on() {
    while (written_ < bytes_.size()) {
      const ssize_t sent = retried([&] {
        return ::send(socket_, bytes_.data() + written_, bytes_.size() - written_,
                      MSG_DONTWAIT | MSG_NOSIGNAL);
      });
      if (sent < 0) return would_wait() ? std::nullopt : std::optional(false);
      written_ += static_cast<std::size_t>(sent);
    }
    return true;
  }
  void write_more() {
    if (const auto over = go_on()) end(*over);
  }
  void end(bool all) {
    waiting_.reset();
    const auto done = std::move(done_);
    done(all);  // which may destroy this
  }

  int socket_;
  std::string bytes_;
  std::size_t written_ = 0;
  std::function<void(bool)> done_;
  Subscribed waiting_;
};

class LinuxConnection final : public Connection {
 public:
  LinuxConnection(LinuxLoop& loop, Fd socket, Fd copy)
      : loop_(loop), socket_(std::move(socket)), copy_(std::move(copy)) {
    ucred peer{};
    socklen_t size = sizeof peer;
    same_user_ = ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                 peer.uid == ::geteuid();
  }

  [[nodiscard]] bool same_user() const override { return same_user_; }
  [[nodiscard]] Subscribed read(std::function<void(std::string_view)> done) override {
    auto reading = std::make_unique<StreamRead>(socket_.get(), std::move(done));
    reading->start(loop_);
    return reading;
  }
  [[nodiscard]] Subscribed write(std::string bytes, std::function<void(bool)> done) override {
    auto writing = std::make_unique<StreamWrite>(copy_.get(), std::move(bytes), std::move(done));
    writing->start(loop_);
    return writing;
  }

 private:
  LinuxLoop& loop_;
  Fd socket_;
  Fd copy_;  // a descriptor is watched for one thing at a time
  bool same_user_ = false;
};

/// nullptr if there is no descriptor left for it.
std::unique_ptr<Connection> connection_of(LinuxLoop& loop, Fd socket) {
  Fd copy(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return nullptr;
  return std::make_unique<LinuxConnection>(loop, std::move(socket), std::move(copy));
}

Fd reserve() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

/// One connection per call of the loop, so that a flood of them cannot keep the rest waiting.
class Listener final : public Subscription {
 public:
  using Accepted = std::function<void(std::unique_ptr<Connection>)>;
  Listener(LinuxLoop& loop, Fd socket, const std::string& path, Accepted callback)
      : loop_(loop),
        socket_(std::move(socket)),
        file_(path),
        reserve_(reserve()),
        callback_(std::make_shared<Accepted>(std::move(callback))) {}

  bool listen() { return ::listen(socket_.get(), kBacklog) == 0; }
  bool start() {
    readable_ = loop_.when_readable(socket_.get(), [this] { hear(); });
    return readable_ != nullptr;
  }

 private:
  void hear() {
    Fd socket(accept_one());
    if (!socket && (errno == EMFILE || errno == ENFILE)) return turn_away();
    if (!socket) return;
    auto connection = connection_of(loop_, std::move(socket));
    if (connection == nullptr) return;
    const auto callback = callback_;  // which may end this listener
    (*callback)(std::move(connection));
  }
  int accept_one() {
    return retried(
        [&] { return ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
  }
  /// Whoever cannot be taken would be there again at once, and again.
  void turn_away() {
    reserve_.reset();
    {
      const Fd turned_away(accept_one());
    }
    reserve_ = reserve();
  }

  LinuxLoop& loop_;
  Fd socket_;
  SocketFile file_;
  Fd reserve_;
  std::shared_ptr<Accepted> callback_;
  Subscribed readable_;
};

Fd stream_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

bool connect_to(int socket, const std::string& path) {
  const sockaddr_un address = socket_address(path);
  return retried([&] {
           return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
         }) == 0;
}

/// Somebody listens there, or has so much to do that it cannot be asked.
bool is_listened_at(const std::string& path) {
  const Fd probe = stream_socket();
  return probe && (connect_to(probe.get(), path) || errno == EAGAIN);
}

}  // namespace

Result<Subscribed> LinuxSockets::listen(const std::string& path,
                                        std::function<void(std::unique_ptr<Connection>)> callback) {
  if (auto fits = check_socket_path(path); !fits) return std::unexpected(fits.error());
  if (is_listened_at(path)) return fail("somebody listens at " + on_one_line(path) + " already");
  if (auto room = remove_socket(path); !room) return std::unexpected(room.error());
  Fd socket = stream_socket();
  if (!socket) return cannot("make a socket for", path);
  if (auto bound = bind_to(socket.get(), path); !bound) return std::unexpected(bound.error());
  auto listener = std::make_unique<Listener>(loop_, std::move(socket), path, std::move(callback));
  if (!listener->listen() || !listener->start()) return cannot("listen at", path);
  return listener;
}

Result<std::unique_ptr<Connection>> LinuxSockets::connect(const std::string& path) {
  if (auto fits = check_socket_path(path); !fits) return std::unexpected(fits.error());
  Fd socket = stream_socket();
  if (!socket || !connect_to(socket.get(), path)) return cannot("connect to", path);
  auto connection = connection_of(loop_, std::move(socket));
  if (connection == nullptr) return cannot("connect to", path);
  return connection;
}

}  // namespace tend
