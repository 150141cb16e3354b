// The lock that programs of another system take before they write a store: a file beside it,
// `<file>.lock`, that is there while it is held.
//
//   {"agent_id":"a2","locked_at":"2026-01-04T20:19:13.000Z","pid":656099}
//
// Theirs look first and write then, so two of them may hold it at once; ours is made only where
// none is. It is taken from a holder whose process is gone, and from any after two minutes, as they
// do. Whoever else has it is waited for, for as long as the caller has patience.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "os/world.h"
#include "store/foreign/foreign_store.h"

namespace tend {

/// Lets a moment pass; false if there is no patience left.
using LockPatience = std::function<bool()>;

struct LockHolder {
  std::string id;
  std::int64_t pid = 0;
  LockPatience patience = {};  // none: nobody is waited for
};

/// Held while it exists.
class ForeignLock {
 public:
  /// Fails, and says who has it, if somebody else does for longer than the patience of the holder.
  static Result<std::unique_ptr<ForeignLock>> take(Files& files, const std::string& file,
                                                   const LockHolder& holder,
                                                   const TimeContext& context,
                                                   const ProcessLives& lives);
  ~ForeignLock();
  ForeignLock(const ForeignLock&) = delete;
  ForeignLock& operator=(const ForeignLock&) = delete;

  /// Whether nobody took it away meanwhile. Ask right before what it protects.
  [[nodiscard]] bool is_held();

 private:
  ForeignLock(Files& files, std::string path, std::string text)
      : files_(files), path_(std::move(path)), text_(std::move(text)) {}

  Files& files_;
  std::string path_;
  std::string text_;
};

}  // namespace tend
