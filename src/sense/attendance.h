// Whether the observer itself was there to see anything.
#pragma once

#include "base/time.h"

namespace tend {

class Attendance {
 public:
  virtual ~Attendance() = default;
  /// False strictly inside a sleep of the machine or a lag of the observer.
  virtual bool was_there(Instant at) = 0;
};

}  // namespace tend
