# Every src/**/NAME_fuzz.cc is a fuzzer. In the asan preset it gets libFuzzer's main; elsewhere one of
# ours. Either way it is fed its seed corpus, test/corpus/NAME_fuzz, as a test.

add_custom_target(fuzzers)

function(tend_add_fuzzers folder)
  tend_sources_ending(${folder} _fuzz.cc sources)
  tend_libraries_of(${folder} libraries)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    target_link_libraries(${name} PRIVATE tend_code ${libraries} tend_warnings)
    add_dependencies(fuzzers ${name})
    if(TEND_FUZZ)
      set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY fuzzers)
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      set(only_seeds -runs=0)
    else()
      target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test/corpus_main.cc")
      set(only_seeds)
    endif()
    if(TEND_TESTS)
      add_test(NAME corpus_${name}
        COMMAND ${name} ${only_seeds} "${PROJECT_SOURCE_DIR}/test/corpus/${name}")
    endif()
  endforeach()
endfunction()

if(TEND_FUZZ OR TEND_TESTS)
  foreach(folder IN LISTS TEND_FOLDERS)
    tend_add_fuzzers(${folder})
  endforeach()
endif()
