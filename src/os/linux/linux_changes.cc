// One inotify watch a folder, shared by all who listen to it.
#include "os/linux/linux_changes.h"

#include <sys/inotify.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "os/linux/linux_loop.h"

namespace tend {
namespace {

// IN_ATTRIB is left out on purpose: a beat sets the time of a file and must wake nobody.
constexpr std::uint32_t kChanges =
    IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR;

constexpr std::size_t kBuffer = std::size_t{16} * 1024;  // holds some hundred events

}  // namespace

Subscribed LinuxChanges::on_change(const std::string& folder, Callback callback) {
  if (!ready()) return nullptr;
  const int watch = ::inotify_add_watch(descriptor_.get(), folder.c_str(), kChanges);
  if (watch < 0) return nullptr;
  auto called = std::make_shared<Callback>(std::move(callback));
  listeners_[watch].push_back(called);
  return until([this, watch, called = std::move(called)] {
    const auto found = listeners_.find(watch);
    if (found == listeners_.end()) return;
    remove(found->second, called);
    if (!found->second.empty()) return;
    listeners_.erase(found);
    ::inotify_rm_watch(descriptor_.get(), watch);
  });
}

bool LinuxChanges::ready() {
  if (readable_ != nullptr) return true;
  descriptor_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!descriptor_) return false;
  readable_ = loop_.when_readable(descriptor_.get(), [this] { hear(); });
  return readable_ != nullptr;
}

// However many events there are, a folder's listeners hear of them once.
void LinuxChanges::hear() {
  alignas(inotify_event) std::array<char, kBuffer> buffer{};
  const ssize_t got = ::read(descriptor_.get(), buffer.data(), buffer.size());
  if (got <= 0) return;
  std::set<int> changed;
  std::set<int> deleted;
  bool all = false;
  for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    at += sizeof event + event.len;
    if ((event.mask & IN_Q_OVERFLOW) != 0) all = true;
    if ((event.mask & IN_IGNORED) != 0) deleted.insert(event.wd);
    changed.insert(event.wd);
  }
  Listeners listeners;
  for (const auto& [watch, some] : listeners_) {
    if (all || changed.contains(watch)) listeners.insert(listeners.end(), some.begin(), some.end());
  }
  std::erase_if(listeners_, [&](const auto& entry) { return deleted.contains(entry.first); });
  tell(std::move(listeners));
}

}  // namespace tend
