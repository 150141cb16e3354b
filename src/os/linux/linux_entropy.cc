// Eight bytes of getrandom(2) at a time.
#include "os/linux/linux_entropy.h"

#include <sys/random.h>

#include "base/check.h"
#include "os/linux/fd.h"

namespace tend {

std::uint64_t LinuxEntropy::number() {
  std::uint64_t number = 0;
  // So few bytes come whole or not at all.
  const ssize_t got = retried([&] { return ::getrandom(&number, sizeof number, 0); });
  CHECK(got == static_cast<ssize_t>(sizeof number));
  return number;
}

}  // namespace tend
