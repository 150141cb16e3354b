// CHECK stops the program at a bug, in release builds too: a supervisor that goes on with a broken
// invariant kills the wrong process.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) [[unlikely]] {                                                    \
      std::fprintf(stderr, "tend: bug: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                     \
    }                                                                                   \
  } while (false)
