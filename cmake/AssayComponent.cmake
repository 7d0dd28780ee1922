# assay_component(NAME [DEPENDS ...] [TEST_DEPENDS ...])
#
# Turns the current folder into the library assay_NAME. The file name registers:
#   *_test.cpp   go into the test program NAME_test (one ctest entry, labelled with the top-level folder, whose tests
#                are built together by the target <folder>_tests)
#   *_bench.cpp  go into the benchmark program NAME_bench
#   *.cu         are kernels: compiled by the host compiler for the executor and, with ASSAY_CUDA, by nvcc
#   *.cpp        are the library
# A folder without library sources becomes an interface library.
function(assay_component name)
  cmake_parse_arguments(arg "" "" "DEPENDS;TEST_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cu)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|main)\\.cpp$")

  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  foreach(kernel IN LISTS kernels)
    # The executor's copy is a one-line includer, because a source file has one language per folder.
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${kernel}.cpu.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${folder}/${kernel}\"\n" @ONLY)
    list(APPEND sources ${wrapper})
  endforeach()

  set_property(GLOBAL PROPERTY assay_sources:${folder} ${sources})  # a planted fault compiles them again

  if(sources)
    add_library(assay_${name} STATIC ${sources})
    target_link_libraries(assay_${name} PUBLIC assay_flags ${arg_DEPENDS})
  else()
    add_library(assay_${name} INTERFACE)
    target_link_libraries(assay_${name} INTERFACE assay_flags ${arg_DEPENDS})
  endif()
  if(kernels AND ASSAY_CUDA)
    add_library(assay_${name}_cuda STATIC ${kernels})
    target_link_libraries(assay_${name}_cuda PUBLIC assay_flags ${arg_DEPENDS} CUDA::cudart_static)
    target_link_libraries(assay_${name} PUBLIC assay_${name}_cuda)
  endif()

  if(tests AND ASSAY_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE assay_${name} ${arg_TEST_DEPENDS} GTest::gtest GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name}_test)
    string(REGEX REPLACE "/.*" "" concern ${folder})
    set_tests_properties(${name} PROPERTIES LABELS ${concern})
    if(NOT TARGET ${concern}_tests)
      add_custom_target(${concern}_tests)
    endif()
    add_dependencies(${concern}_tests ${name}_test)
  endif()
  if(benches AND ASSAY_BENCH AND benchmark_FOUND)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE assay_${name} ${arg_TEST_DEPENDS} benchmark::benchmark_main)
  endif()
endfunction()
