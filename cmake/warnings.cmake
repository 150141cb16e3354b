# The warnings every target of ours is built with, all of them errors.

add_library(tend_warnings INTERFACE)
target_compile_options(tend_warnings INTERFACE
  -Werror
  -Wall -Wextra -Wpedantic
  -Wshadow
  -Wconversion -Wsign-conversion -Wdouble-promotion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override
  -Wcast-qual -Wcast-align -Wold-style-cast
  -Wformat=2 -Wimplicit-fallthrough
  -Wundef -Wextra-semi -Wvla
  -Wno-missing-field-initializers)  # {.is = Kind::beat} leaves the rest at its default on purpose

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tend_warnings INTERFACE
    -Wduplicated-cond -Wlogical-op
    -Wno-restrict               # g++ 12 sees overlaps in std::string's operator+, and reads of
    -Wno-maybe-uninitialized)   # unset members in std::expected; clang and the sanitizers look too
else()
  target_compile_options(tend_warnings INTERFACE
    -Wrange-loop-analysis -Wunreachable-code -Wimplicit-int-conversion)
endif()
