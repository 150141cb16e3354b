# Fails when BINARY needs a shared library that is not part of libc.

execute_process(COMMAND "${READELF}" --dynamic --wide "${BINARY}"
  OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^\n]*\\]" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR "${BINARY}: no libraries found in what readelf says")
endif()
list(TRANSFORM needed REPLACE ".*\\[(.*)\\]" "\\1")
message(STATUS "needs: ${needed}")
list(FILTER needed EXCLUDE REGEX "^(libc|libm|ld-linux-[^.]*)\\.so\\.")
if(needed)
  message(FATAL_ERROR "${BINARY} needs ${needed}: the shipped binary must need libc alone")
endif()
