# Link every family, or every family and battery, whole, because each registers itself at start-up and nothing names it.
function(assay_link_families target)
  foreach(folder IN LISTS ASSAY_FAMILIES)
    target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,assay_properties_${folder}>)
  endforeach()
endfunction()
function(assay_link_registered target)
  assay_link_families(${target})
  foreach(folder IN LISTS ASSAY_INFRASTRUCTURE_properties)
    if(TARGET assay_properties_${folder})
      target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,assay_properties_${folder}>)
    endif()
  endforeach()
endfunction()

# assay_program(TARGET [OBJECTS object-library...])
#
# The whole command-line program: its main, the gate, and every family and battery (assay_properties_<folder>), which
# registers itself at start-up and is therefore linked whole. TARGET assay_program is called `assay`. OBJECTS are linked
# ahead of the libraries, so that what they define takes the place of the archive members of the same definitions; a
# planted fault is such an object (AssayFaults.cmake).
function(assay_program target)
  cmake_parse_arguments(arg "" "" "OBJECTS" ${ARGN})
  add_executable(${target} ${PROJECT_SOURCE_DIR}/properties/cli/assay_main.cpp)
  foreach(objects IN LISTS arg_OBJECTS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_link_libraries(${target} PRIVATE assay_cli)
  assay_link_registered(${target})
  # The libraries of a bundle lie beside the program. The old tag, because only that one also serves the libraries that
  # libraries need; in the build tree there is no such folder and it does nothing.
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  string(REGEX REPLACE "_program$" "" output ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} BUILD_RPATH "$ORIGIN/lib"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# The test program `across` of properties/across/*_test.cpp: what holds of every family alike.
function(assay_tests_across_families)
  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/properties/across/*_test.cpp)
  add_executable(across_test ${tests})
  target_link_libraries(across_test PRIVATE assay_cli GTest::gtest GTest::gtest_main)
  assay_link_registered(across_test)
  target_compile_definitions(across_test PRIVATE ASSAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME across COMMAND across_test)
  set_tests_properties(across PROPERTIES LABELS properties)
  add_dependencies(properties_tests across_test)
endfunction()

# `bundle`: bundle/assay and bundle/lib in the source folder, to be copied to a machine that has no such libraries.
function(assay_bundle target)
  add_custom_target(bundle
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DBUNDLE=${PROJECT_SOURCE_DIR}/bundle
      -DSTRIP=${CMAKE_STRIP} -P ${PROJECT_SOURCE_DIR}/cmake/AssayBundle.cmake
    DEPENDS ${target} VERBATIM)
endfunction()
