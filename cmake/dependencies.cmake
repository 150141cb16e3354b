# What Debian gives us. Header-only libraries need no target: their headers are in /usr/include.
# simdjson is built here from Debian's own source, because the packaged shared library would drag
# libstdc++.so into the binary and slow its start.

foreach(header fmt/format.h nlohmann/json.hpp CLI/CLI.hpp toml++/toml.h boost/asio.hpp sqlite3.h)
  string(MAKE_C_IDENTIFIER "TEND_HAS_${header}" has)
  find_file(${has} ${header})
  mark_as_advanced(${has})
  if(NOT ${has})
    message(FATAL_ERROR "<${header}> is missing: run tools/setup")
  endif()
endforeach()

# tools/setup unpacks the source to the first of these; a build elsewhere may name its own.
set(TEND_SIMDJSON "${PROJECT_SOURCE_DIR}/build/deps/simdjson" CACHE PATH "Source of simdjson")

if(EXISTS "${TEND_SIMDJSON}/src/simdjson.cpp")
  add_library(simdjson STATIC "${TEND_SIMDJSON}/src/simdjson.cpp")
  target_include_directories(simdjson PRIVATE "${TEND_SIMDJSON}/src")
  target_include_directories(simdjson SYSTEM PUBLIC "${TEND_SIMDJSON}/include")
  target_compile_options(simdjson PRIVATE -w -O3)  # in every build: its speed is why it is here
  # Its types have another shape with these checks, and it would choose by optimisation.
  target_compile_definitions(simdjson PUBLIC SIMDJSON_DEVELOPMENT_CHECKS=$<CONFIG:Debug>)
  add_library(tend::simdjson ALIAS simdjson)
elseif(TEND_SHIP)
  message(FATAL_ERROR "The source of simdjson is not in ${TEND_SIMDJSON}: run tools/setup")
else()
  message(STATUS "No source of simdjson in ${TEND_SIMDJSON}: the shared library is used instead. "
                 "tools/setup fetches it.")
  find_package(simdjson REQUIRED CONFIG)
  add_library(tend::simdjson ALIAS simdjson::simdjson)
endif()

add_library(fmt STATIC "${PROJECT_SOURCE_DIR}/cmake/fmt_library.cc")
target_compile_options(fmt PRIVATE -w -O2)
add_library(tend::fmt ALIAS fmt)

# Inside the binary, like the others: only who opens a database pays for it.
find_library(TEND_SQLITE_ARCHIVE libsqlite3.a)
mark_as_advanced(TEND_SQLITE_ARCHIVE)
if(NOT TEND_SQLITE_ARCHIVE)
  message(FATAL_ERROR "libsqlite3.a is missing: run tools/setup")
endif()
add_library(tend::sqlite STATIC IMPORTED)
set_target_properties(tend::sqlite PROPERTIES
  IMPORTED_LOCATION "${TEND_SQLITE_ARCHIVE}" INTERFACE_LINK_LIBRARIES m)

if(TEND_TESTS)
  find_package(GTest REQUIRED CONFIG)
  find_package(rapidcheck REQUIRED CONFIG)
endif()
