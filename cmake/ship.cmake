# The binary, what is made from it, and where it all is installed.

add_custom_target(tend_commit
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${PROJECT_BINARY_DIR}/version.cc
    -DVERSION=${PROJECT_VERSION} -P "${PROJECT_SOURCE_DIR}/cmake/version.cmake"
  BYPRODUCTS "${PROJECT_BINARY_DIR}/version.cc"
  COMMENT "Asking git for the commit")
if(TARGET tend_app)
  target_sources(tend_app PRIVATE "${PROJECT_BINARY_DIR}/version.cc")
  add_dependencies(tend_app tend_commit)
endif()

if(NOT TARGET tend_app OR NOT EXISTS "${PROJECT_SOURCE_DIR}/src/app/main.cc")
  return()
endif()

add_executable(tend "${PROJECT_SOURCE_DIR}/src/app/main.cc")
target_link_libraries(tend PRIVATE tend_app tend_warnings)

if(TEND_SHIP)
  include(GNUInstallDirs)
  # Hooks run `tend beat` thousands of times, and nearly all it costs is pages touched before main:
  # docs/decisions/0006. At a fixed address no pointer has to be relocated (libc, heap and stack are
  # still placed at random), and what is inside the binary has not to be mapped.
  target_link_options(tend PRIVATE -static-libstdc++ -static-libgcc -no-pie -Wl,--as-needed)

  # The man page and the completions are the binary's own words.
  function(tend_says file)
    add_custom_command(OUTPUT ${file}
      COMMAND tend ${ARGN} > ${file}.new
      COMMAND ${CMAKE_COMMAND} -E rename ${file}.new ${file}
      DEPENDS tend VERBATIM)
  endfunction()
  tend_says(tend.1 help --man)
  tend_says(tend.bash completion bash)
  tend_says(tend.zsh completion zsh)
  tend_says(tend.fish completion fish)
  add_custom_target(tend_words ALL DEPENDS tend.1 tend.bash tend.zsh tend.fish)
  add_dependencies(tend_words tend_client tend_client_shared)  # what is built to be installed

  set(made "${PROJECT_BINARY_DIR}")
  install(TARGETS tend tend_client tend_client_shared)
  install(FILES client/tend.h client/tend.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${made}/client/tend.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${made}/tend.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${made}/tend.bash RENAME tend
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${made}/tend.zsh RENAME _tend
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  # Under the name `bd` it speaks the dialect of beads, under `gt` that of Gas Town's heartbeats; who
  # wants that puts this folder into PATH.
  file(MAKE_DIRECTORY "${made}/compat")
  foreach(name bd gt)
    file(CREATE_LINK "../../../bin/tend" "${made}/compat/${name}" SYMBOLIC)
    install(FILES ${made}/compat/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/tend/compat)
  endforeach()
  install(PROGRAMS compat/heartbeat-ack.sh compat/heartbeat-service.sh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tend/compat)
  install(FILES ${made}/tend.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
