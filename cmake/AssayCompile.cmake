# Flags every target shares. The two that decide bits: contraction is off and there is no fast math,
# on both compilers, so an fma exists only where the source writes one.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")  # asserts stay on: they guard programmer errors
set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -lineinfo")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

add_library(assay_flags INTERFACE)
target_include_directories(assay_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(assay_flags INTERFACE Threads::Threads)
target_compile_options(assay_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    -Wparentheses -ffp-contract=off -fno-fast-math -mno-fma>
  $<$<AND:$<BOOL:${ASSAY_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -ftz=false -prec-div=true -prec-sqrt=true --expt-relaxed-constexpr
    -Xcompiler=-ffp-contract=off,-Wall,-Wextra>
  $<$<AND:$<BOOL:${ASSAY_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings -Xcompiler=-Werror>)
target_link_options(assay_flags INTERFACE -Wl,--build-id=sha1)

if(ASSAY_SANITIZE STREQUAL "address") # -O1: with every operation checked, unrolled kernels take minutes at -O2
  target_compile_options(assay_flags INTERFACE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(assay_flags INTERFACE -fsanitize=address,undefined)
elseif(ASSAY_SANITIZE STREQUAL "thread")
  target_compile_options(assay_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(assay_flags INTERFACE -fsanitize=thread)
elseif(ASSAY_SANITIZE)
  message(FATAL_ERROR "ASSAY_SANITIZE is '${ASSAY_SANITIZE}'; it may be empty, 'address' or 'thread'")
endif()
if(ASSAY_COVERAGE)
  target_compile_options(assay_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(assay_flags INTERFACE --coverage)
endif()

if(ASSAY_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${ASSAY_CUDA_ARCHITECTURES})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
    message(FATAL_ERROR "the CUDA toolkit is ${CMAKE_CUDA_COMPILER_VERSION}; the cuda device needs 12.8 or newer. "
      "ASSAY_PRESET=cpu builds without it.")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
endif()

if(ASSAY_TESTS)
  find_package(GTest REQUIRED)
endif()
if(ASSAY_BENCH)
  find_package(benchmark QUIET)
endif()
