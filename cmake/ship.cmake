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
  target_link_options(tend PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)

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

  set(made "${PROJECT_BINARY_DIR}")
  install(TARGETS tend)
  install(FILES ${made}/tend.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${made}/tend.bash RENAME tend
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${made}/tend.zsh RENAME _tend
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${made}/tend.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
