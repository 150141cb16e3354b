// A receiver is known by its path; see sim_sockets.h.
#include "os/sim/sim_sockets.h"

#include "base/check.h"
#include "os/sim/sim_streams.h"

namespace tend {
namespace {

constexpr std::size_t kLongestPath = 100;

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// A receiver with its file, which goes with it, unless somebody put another one there or the
/// process was killed.
class SimBound final : public Subscription {
 public:
  SimBound(std::shared_ptr<SimReceiver> receiver, SimNodePtr node, std::string path)
      : receiver_(std::move(receiver)), node_(std::move(node)), path_(std::move(path)) {}
  ~SimBound() override {
    const SimHandle& handle = *receiver_->handle;
    if (handle.dead || handle.kernel == nullptr || handle.kernel->disk.find(path_) != node_) return;
    handle.kernel->disk.unlink(*node_->above.lock(), name_in(path_));
  }
  SimBound(const SimBound&) = delete;
  SimBound& operator=(const SimBound&) = delete;

 private:
  std::shared_ptr<SimReceiver> receiver_;
  SimNodePtr node_;
  std::string path_;
};

}  // namespace

Result<SimNodePtr> SimSockets::folder_of(const std::string& path) const {
  SimNodePtr folder = handle_->kernel->disk.find(path.substr(0, path.rfind('/')));
  if (!path.starts_with('/') || folder == nullptr || folder->kind != SimKind::folder) {
    return fail("cannot make " + path + ": No such file or directory");
  }
  return folder;
}

Result<SimNodePtr> SimSockets::make_socket(const std::string& path) const {
  if (path.size() > kLongestPath) return fail(path + " is too long for a socket");
  const auto folder = folder_of(path);
  if (!folder) return fail(folder.error().text);
  SimDisk& disk = handle_->kernel->disk;
  if (const SimNodePtr old = disk.find(path); old != nullptr) {
    if (old->kind != SimKind::socket || old->owner != SimOwner::us) {
      return fail(path + " is in the way: it is not a socket of ours");
    }
    disk.unlink(**folder, name_in(path));
  }
  return disk.make(*folder, name_in(path), SimKind::socket);
}

Result<Subscribed> SimSockets::receive(const std::string& path,
                                       std::function<void(const Datagram&)> callback) {
  if (!handle_->call()) return sim_over();
  auto node = make_socket(path);
  if (!node) return std::unexpected(node.error());
  auto receiver = std::make_shared<SimReceiver>(handle_, std::move(callback));
  handle_->kernel->hear(path, receiver);
  return std::make_unique<SimBound>(std::move(receiver), *std::move(node), path);
}

Result<void> SimSockets::send(const std::string& path, std::string_view text) {
  if (!handle_->call()) return sim_over();
  if (handle_->kernel->send(handle_->row->facts.id.pid, path, text, true)) return {};
  return fail("cannot send to " + path + ": Connection refused");
}

Result<Subscribed> SimSockets::listen(const std::string& path,
                                      std::function<void(std::unique_ptr<Connection>)> callback) {
  if (!handle_->call()) return sim_over();
  if (handle_->kernel->listener(path) != nullptr) {
    return fail("somebody listens at " + path + " already");
  }
  auto node = make_socket(path);
  if (!node) return std::unexpected(node.error());
  auto receiver = std::make_shared<SimReceiver>(handle_);
  receiver->on_connection = std::move(callback);
  handle_->kernel->hear(path, receiver);
  return std::make_unique<SimBound>(std::move(receiver), *std::move(node), path);
}

Result<std::unique_ptr<Connection>> SimSockets::connect(const std::string& path) {
  if (!handle_->call()) return sim_over();
  const auto listener = handle_->kernel->listener(path);
  if (listener == nullptr) return fail("cannot connect to " + path + ": Connection refused");
  auto [ours, theirs] = sim_connection(handle_, listener->handle);
  // A shared one, because whoever is called is known by a copy of the callback.
  const auto given = std::make_shared<std::unique_ptr<Connection>>(std::move(theirs));
  handle_->kernel->post(listener->handle->row, handle_->kernel->queue.now(),
                        [weak = std::weak_ptr(listener), given] {
                          const auto hears = weak.lock();
                          if (hears == nullptr || hears->handle->dead) return given->reset();
                          hears->on_connection(std::move(*given));
                        });
  return std::move(ours);
}

Result<Subscribed> SimSockets::read_fifo(const std::string& path,
                                         std::function<void(std::string_view)> callback) {
  if (!handle_->call()) return sim_over();
  const auto folder = folder_of(path);
  if (!folder) return fail(folder.error().text);
  SimKernel& kernel = *handle_->kernel;
  SimNodePtr node = kernel.disk.find(path);
  if (node == nullptr) node = kernel.disk.make(*folder, name_in(path), SimKind::fifo);
  if (node->kind != SimKind::fifo || node->owner != SimOwner::us) {
    return fail(path + " is in the way: it is not a fifo of ours");
  }
  auto receiver = std::make_shared<SimReceiver>(handle_, nullptr, std::move(callback));
  kernel.hear(path, receiver);
  if (!node->bytes.empty()) kernel.deliver_fifo(path);
  return std::make_unique<SimSubscription>(std::move(receiver));
}

Result<void> SimSockets::make_fifo(const std::string& path) {
  if (!handle_->call()) return sim_over();
  const auto folder = folder_of(path);
  if (!folder) return fail(folder.error().text);
  SimDisk& disk = handle_->kernel->disk;
  if (!disk.broken.empty()) return fail("cannot make the fifo " + path + ": " + disk.broken);
  if (disk.find(path) != nullptr) disk.unlink(**folder, name_in(path));
  disk.make(*folder, name_in(path), SimKind::fifo);
  return {};
}

Result<void> SimSockets::write_fifo(const std::string& path, std::string_view bytes) {
  CHECK(bytes.size() <= kMostInFifo);
  if (!handle_->call()) return sim_over();
  if (handle_->kernel->write_fifo(path, bytes)) {
    SimObserver* const observer = handle_->kernel->settings.observer;
    if (observer != nullptr) observer->on_words(handle_->row->facts.id.pid, path, bytes);
    return {};
  }
  return fail("what stands in " + path + " was not read yet");
}

void SimKernel::hear(const std::string& path, const std::shared_ptr<SimReceiver>& receiver) {
  std::erase_if(receivers_, [](const auto& entry) { return entry.second.expired(); });
  receivers_[path] = receiver;
}

std::shared_ptr<SimReceiver> SimKernel::listener(const std::string& path) const {
  const auto found = receivers_.find(path);
  const SimNodePtr node = disk.find(path);
  if (found == receivers_.end() || node == nullptr || node->kind != SimKind::socket) return nullptr;
  auto listener = found->second.lock();
  const bool listens = listener && !listener->handle->dead && listener->on_connection;
  return listens ? listener : nullptr;
}

bool SimKernel::send(std::int64_t from, const std::string& path, std::string_view text,
                     bool same_user) {
  const auto found = receivers_.find(path);
  const SimNodePtr node = disk.find(path);
  if (found == receivers_.end() || node == nullptr || node->kind != SimKind::socket) return false;
  const auto receiver = found->second.lock();
  if (receiver == nullptr || receiver->handle->dead || !receiver->on_datagram) return false;
  constexpr std::size_t kLongest = 4096;
  const Datagram datagram{from, same_user, std::string(text.substr(0, kLongest))};
  post(receiver->handle->row, queue.now(), [weak = found->second, datagram] {
    const auto hears = weak.lock();
    if (hears != nullptr && !hears->handle->dead) hears->on_datagram(datagram);
  });
  return true;
}

bool SimKernel::write_fifo(const std::string& path, std::string_view text) {
  constexpr std::size_t kFull = std::size_t{64} * 1024;
  const SimNodePtr node = disk.find(path);
  if (node == nullptr || node->kind != SimKind::fifo) return false;
  if (node->bytes.size() + text.size() > kFull) return false;
  node->bytes.append(text);
  deliver_fifo(path);
  return true;
}

void SimKernel::deliver_fifo(const std::string& path) {
  const auto found = receivers_.find(path);
  if (found == receivers_.end()) return;
  const auto receiver = found->second.lock();
  if (receiver == nullptr || receiver->handle->dead || !receiver->on_piece) return;
  post(receiver->handle->row, queue.now(), [this, path, weak = found->second] {
    constexpr std::size_t kPiece = 4096;
    const auto hears = weak.lock();
    const SimNodePtr node = disk.find(path);
    if (hears == nullptr || hears->handle->dead || node == nullptr || node->bytes.empty()) return;
    const std::string piece = node->bytes.substr(0, kPiece);
    node->bytes.erase(0, piece.size());
    if (!node->bytes.empty()) deliver_fifo(path);
    hears->on_piece(piece);
  });
}

}  // namespace tend
