# Defines mpfr, visible in every folder; Debian's package brings no CMake file.
include_guard(GLOBAL)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)
find_path(MPFR_INCLUDE mpfr.h REQUIRED)
mark_as_advanced(MPFR_LIBRARY GMP_LIBRARY MPFR_INCLUDE)
add_library(mpfr INTERFACE IMPORTED GLOBAL)
target_include_directories(mpfr SYSTEM INTERFACE ${MPFR_INCLUDE})
target_link_libraries(mpfr INTERFACE ${MPFR_LIBRARY} ${GMP_LIBRARY})
