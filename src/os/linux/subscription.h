// How subscriptions are built: the subscriber owns the callback, the source only knows of it. So a
// subscription that is gone can no longer be called, and one that ends inside its own callback
// lives until the callback returns.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "os/loop.h"

namespace tend {

/// A subscription that ends by a call.
template <class End>
class Until final : public Subscription {
 public:
  explicit Until(End end) : end_(std::move(end)) {}
  ~Until() override { end_(); }
  Until(const Until&) = delete;
  Until& operator=(const Until&) = delete;

 private:
  End end_;
};

template <class End>
Subscribed until(End end) {
  return std::make_unique<Until<End>>(std::move(end));
}

/// Everybody who wants to hear of one thing.
using Listeners = std::vector<std::weak_ptr<Callback>>;

/// Takes a copy, because listeners come and go in their callbacks.
inline void tell(Listeners listeners) {
  for (const std::weak_ptr<Callback>& listener : listeners) {
    if (const auto callback = listener.lock()) (*callback)();
  }
}

inline void remove(Listeners& listeners, const std::shared_ptr<Callback>& callback) {
  std::erase_if(listeners, [&](const auto& listener) { return listener.lock() == callback; });
}

}  // namespace tend
