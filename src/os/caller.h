// Who called this process, and with what on its standard input. For commands that must be over in a
// millisecond or two: asking needs no machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tend {

/// A process above ours.
struct Ancestor {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::string name;               // as the kernel knows it, at most 15 bytes

  bool operator==(const Ancestor&) const = default;
};

class Caller {
 public:
  virtual ~Caller() = default;
  /// Standard input to its end, which is not waited for longer than `patience`: then it is what
  /// came until then. Fails if it is more than `most`, which is read and thrown away.
  virtual Result<std::string> input(std::size_t most, Duration patience) = 0;
  /// The parent first, then its parent; at most `most`. Ends where nothing more can be seen.
  [[nodiscard]] virtual std::vector<Ancestor> ancestors(std::size_t most) const = 0;
  /// The name that the system has for this user; "uid 1000" where it has none.
  [[nodiscard]] virtual std::string user() const = 0;
};

}  // namespace tend
