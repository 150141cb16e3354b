# One library per folder of src, and what each may link: DESIGN in CMake. The include edges are
# checked by test/layering_test.cc, the link edges by test/CMakeLists.txt.

set(TEND_FOLDERS base judge os sense store act run app)  # lowest first
set(TEND_base_USES)
set(TEND_judge_USES base)
set(TEND_os_USES base)
set(TEND_sense_USES base judge os)
set(TEND_store_USES base judge os)
set(TEND_act_USES base judge os)
set(TEND_run_USES base judge os sense store act)
set(TEND_app_USES base judge os sense store act run client)  # client/ is C, and no folder of src

# The sources of a folder that end in `suffix`, for example _test.cc.
function(tend_sources_ending folder suffix result)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*${suffix}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# The libraries that code in `folder` may link, its own included; those without sources are left out.
function(tend_libraries_of folder result)
  set(libraries)
  foreach(name IN LISTS folder TEND_${folder}_USES)
    if(TARGET tend_${name})
      list(APPEND libraries tend_${name})
    endif()
  endforeach()
  set(${result} "${libraries}" PARENT_SCOPE)
endfunction()

# What all our code is compiled with.
add_library(tend_code INTERFACE)
target_include_directories(tend_code INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(tend_code INTERFACE tend::simdjson tend::fmt tend::sqlite)

function(tend_add_library folder)
  tend_sources_ending(${folder} .cc sources)
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz)\\.cc$|/app/main\\.cc$")
  if(NOT sources)
    return()
  endif()
  tend_sources_ending(${folder} .h headers)
  # Those that open a source file of their own are compiled alone there (test/layering_test.cc).
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cc$" ".h" own "${source}")
    list(REMOVE_ITEM headers "${own}")
  endforeach()
  tend_libraries_of(${folder} uses)
  add_library(tend_${folder} STATIC ${sources})
  target_sources(tend_${folder} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${headers})
  target_link_libraries(tend_${folder} PUBLIC tend_code ${uses} PRIVATE tend_warnings)
  # Tests may be slow, but what they exercise a million times may not.
  if(TEND_SANITIZE AND NOT folder STREQUAL app)
    target_compile_options(tend_${folder} PRIVATE -O1)
  endif()
endfunction()

foreach(folder IN LISTS TEND_FOLDERS)
  tend_add_library(${folder})
endforeach()
