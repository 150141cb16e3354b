// A descriptor that closes itself, and the words of the system for a call that failed.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace tend {

/// Owns a descriptor, or none (-1).
class Fd {
 public:
  Fd() = default;
  explicit Fd(int descriptor) : descriptor_(descriptor) {}
  Fd(Fd&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// Closes it now. errno stays what it was, so that a failure can be told after cleaning up.
  void reset() {
    if (descriptor_ < 0) return;
    const int kept = errno;
    ::close(std::exchange(descriptor_, -1));
    errno = kept;
  }
  /// Gives it away, unclosed.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// "No such file or directory": what an errno means.
inline std::string system_says(int error) { return std::generic_category().message(error); }

/// Calls until it is not a signal that broke in.
template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace tend
