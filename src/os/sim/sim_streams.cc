// What is written lies with the reader until it is read, and there is only so much room for it.
#include "os/sim/sim_streams.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace tend {
namespace {

constexpr std::size_t kRoom = std::size_t{64} * 1024;
constexpr std::size_t kPiece = 4096;

struct SimReading {
  std::function<void(std::string_view)> done;
  bool posted = false;
};

struct SimWriting {
  std::string left;
  std::function<void(bool)> done;
  bool posted = false;
};

class SimStream : public std::enable_shared_from_this<SimStream> {
 public:
  struct Side {
    SimHandlePtr handle;
    bool open = true;
    std::string inbound{};  // sent to it and not read yet
    std::weak_ptr<SimReading> reading{};
    std::weak_ptr<SimWriting> writing{};
  };

  SimStream(const SimHandlePtr& one, const SimHandlePtr& other)
      : sides_{Side{.handle = one}, Side{.handle = other}} {}

  Side& side(std::size_t which) { return sides_.at(which); }

  /// Somebody wrote, read or closed: all who wait for that hear of it.
  void settle() {
    for (const std::size_t which : {0U, 1U}) {
      go_on_writing(which);
      go_on_reading(which);
    }
  }

 private:
  void post(std::size_t which, std::function<void()> run) {
    const SimHandle& handle = *sides_.at(which).handle;
    if (handle.dead || handle.kernel == nullptr) return;
    handle.kernel->post(handle.row, handle.kernel->queue.now(), std::move(run));
  }

  void go_on_reading(std::size_t which) {
    Side& self = sides_.at(which);
    const auto reading = self.reading.lock();
    const bool is_over = !sides_.at(1 - which).open;
    if (!reading || reading->posted || (self.inbound.empty() && !is_over)) return;
    reading->posted = true;
    post(which, [stream = shared_from_this(), which, weak = std::weak_ptr(reading)] {
      stream->finish_reading(which, weak.lock());
    });
  }
  void finish_reading(std::size_t which, const std::shared_ptr<SimReading>& reading) {
    Side& self = sides_.at(which);
    if (!reading || self.handle->dead) return;
    const std::string piece = self.inbound.substr(0, kPiece);
    self.inbound.erase(0, piece.size());
    self.reading.reset();
    settle();  // there is room again
    reading->done(piece);
  }

  void go_on_writing(std::size_t which) {
    Side& other = sides_.at(1 - which);
    const auto writing = sides_.at(which).writing.lock();
    if (!writing || writing->posted) return;
    if (other.open) {
      const std::size_t size = std::min(kRoom - other.inbound.size(), writing->left.size());
      other.inbound += writing->left.substr(0, size);
      writing->left.erase(0, size);
    }
    if (other.open && !writing->left.empty()) return;
    writing->posted = true;
    post(which, [stream = shared_from_this(), which, weak = std::weak_ptr(writing)] {
      const auto written = weak.lock();
      Side& self = stream->side(which);
      if (!written || self.handle->dead) return;
      self.writing.reset();
      written->done(written->left.empty());
    });
  }

  std::array<Side, 2> sides_;
};

class SimConnection final : public Connection {
 public:
  SimConnection(std::shared_ptr<SimStream> stream, std::size_t which)
      : stream_(std::move(stream)), which_(which) {}
  ~SimConnection() override {
    SimStream::Side& self = stream_->side(which_);
    self.open = false;
    self.inbound.clear();
    stream_->settle();
  }
  SimConnection(const SimConnection&) = delete;
  SimConnection& operator=(const SimConnection&) = delete;

  [[nodiscard]] bool same_user() const override { return true; }
  [[nodiscard]] Subscribed read(std::function<void(std::string_view)> done) override {
    SimStream::Side& self = stream_->side(which_);
    if (!self.handle->call()) return nullptr;
    auto reading = std::make_shared<SimReading>(std::move(done));
    self.reading = reading;
    stream_->settle();
    return std::make_unique<SimSubscription>(std::move(reading));
  }
  [[nodiscard]] Subscribed write(std::string bytes, std::function<void(bool)> done) override {
    SimStream::Side& self = stream_->side(which_);
    if (!self.handle->call()) return nullptr;
    auto writing = std::make_shared<SimWriting>(std::move(bytes), std::move(done));
    self.writing = writing;
    stream_->settle();
    return std::make_unique<SimSubscription>(std::move(writing));
  }

 private:
  std::shared_ptr<SimStream> stream_;
  std::size_t which_;
};

}  // namespace

std::pair<std::unique_ptr<Connection>, std::unique_ptr<Connection>> sim_connection(
    const SimHandlePtr& one, const SimHandlePtr& other) {
  auto stream = std::make_shared<SimStream>(one, other);
  return {std::make_unique<SimConnection>(stream, 0), std::make_unique<SimConnection>(stream, 1)};
}

}  // namespace tend
