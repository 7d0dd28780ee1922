# Defines rapidcheck, visible in every folder; Debian's package brings no CMake file.
include_guard(GLOBAL)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
find_path(RAPIDCHECK_INCLUDE rapidcheck.h REQUIRED)
mark_as_advanced(RAPIDCHECK_LIBRARY RAPIDCHECK_INCLUDE)
add_library(rapidcheck INTERFACE IMPORTED GLOBAL)
target_include_directories(rapidcheck SYSTEM INTERFACE ${RAPIDCHECK_INCLUDE})
target_link_libraries(rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
