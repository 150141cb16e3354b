# Run at every build: writes version.cc, and leaves it untouched while the commit stays the same.
# Takes SOURCE (the tree), OUTPUT (the file), VERSION.

set(COMMIT "unknown")
# --show-cdup is empty only at the top of a clone: a tree unpacked inside another project's clone
# must not claim that project's commit.
execute_process(
  COMMAND git -C "${SOURCE}" rev-parse --show-cdup
  OUTPUT_VARIABLE up OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed AND up STREQUAL "")
  execute_process(
    COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(COMMIT "${found}")
  endif()
endif()
configure_file("${SOURCE}/cmake/version.cc.in" "${OUTPUT}" @ONLY)
