# TEND_SANITIZE=address,undefined and the like, for everything that is compiled here, simdjson too.

set(TEND_SANITIZE "" CACHE STRING "Sanitizers for all code, as -fsanitize= takes them")

if(TEND_SANITIZE)
  add_compile_options(
    -fsanitize=${TEND_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TEND_SANITIZE})
endif()
