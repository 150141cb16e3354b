# Every trace in incidents/ and cases/ is a test of its own name: it passes if `tend replay` says that
# all its expectations held. Those in incidents-known.txt are expected to fail.

set(known_list "${CMAKE_CURRENT_LIST_DIR}/incidents-known.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${known_list}")
file(STRINGS "${known_list}" known_lines REGEX "^[^#]")
set(known_ids)
foreach(line IN LISTS known_lines)
  string(REGEX MATCH "^[^ ]+" id "${line}")
  list(APPEND known_ids "${id}")
endforeach()

foreach(kind incident case)
  file(GLOB traces CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/${kind}s/*.jsonl")
  foreach(trace IN LISTS traces)
    get_filename_component(id "${trace}" NAME_WE)
    add_test(NAME ${kind}.${id} COMMAND tend replay --json "${trace}")
    if(id IN_LIST known_ids)
      list(REMOVE_ITEM known_ids "${id}")
      set_tests_properties(${kind}.${id} PROPERTIES WILL_FAIL TRUE)
    endif()
  endforeach()
endforeach()
if(known_ids)
  message(FATAL_ERROR "${known_list} names traces that do not exist: ${known_ids}")
endif()

add_test(NAME incidents_known COMMAND ${CMAKE_COMMAND} -E cat "${known_list}")
