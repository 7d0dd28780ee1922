# Planted faults: does the gate turn red, and for the right reason?
#
# Every properties/<family>/faults/<fault>.fault is one, <name> being <family>_<fault>. It names a source file and a text
# in it that occurs exactly once; a copy of the file with the replacement takes precedence over the original in
#   assay_fault_<name>   the whole program with the family's kernels compiled from the copy, and
#   fault_<name>         the test that its `gate --family <gate> --device cpu --until <pattern>` exits 1 and prints the pattern.
# Nothing but the kernels that can see the file is compiled again. Form of a specification (AssayPlantFault.cmake):
#
#   file: kernels/<family>/<source>
#   pattern: <what the diagnostic must name>
#   why: <one sentence, no semicolon>
#   gate: <the family or battery that must see it; without this line <family>>
#   --- find
#   <text>
#   --- replace
#   <text>
#   --- end
function(_assay_fault_field spec key out)
  file(STRINGS ${spec} line REGEX "^${key}: ")
  list(LENGTH line count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${spec}: needs exactly one line '${key}: ...', has ${count}")
  endif()
  string(REGEX REPLACE "^${key}: *" "" value "${line}")
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# The kernel sources to compile again when `file` changes: itself when it is one, else, it being a header, all sources
# of its own folder and of the family.
function(_assay_fault_sources file family root out)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".cpp")
    set(sources ${root}/${file})
  else()
    set(sources "")
    set(folders ${folder} kernels/${family})
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
      get_property(more GLOBAL PROPERTY assay_sources:${folder})
      list(APPEND sources ${more})
    endforeach()
    if(extension STREQUAL ".cu")
      cmake_path(GET file FILENAME name)
      list(FILTER sources INCLUDE REGEX "/${name}\\.cpu\\.cpp$")
    endif()
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(assay_fault family spec)
  cmake_path(GET spec STEM name)
  string(PREPEND name ${family}_)
  _assay_fault_field(${spec} file file)
  _assay_fault_field(${spec} pattern pattern)
  _assay_fault_field(${spec} why why)
  set(gate ${family})
  file(STRINGS ${spec} gate_line REGEX "^gate: ")
  if(gate_line)
    _assay_fault_field(${spec} gate gate)
  endif()
  set(root ${PROJECT_BINARY_DIR}/faults/${name})
  _assay_fault_sources(${file} ${family} ${root} sources)
  if(NOT sources)
    message(FATAL_ERROR "${spec}: no kernel source is compiled from ${file}")
  endif()

  add_custom_command(OUTPUT ${root}/${file}
    COMMAND ${CMAKE_COMMAND} -DSPEC=${spec} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DROOT=${root}
      -P ${PROJECT_SOURCE_DIR}/cmake/AssayPlantFault.cmake
    DEPENDS ${spec} ${PROJECT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/AssayPlantFault.cmake
    COMMENT "Planting ${name}" VERBATIM)
  add_library(assay_fault_${name}_kernels OBJECT ${sources} ${root}/${file})
  set_source_files_properties(${root}/${file} PROPERTIES GENERATED TRUE)
  if(file MATCHES "\\.cu$")
    set_source_files_properties(${root}/${file} PROPERTIES HEADER_FILE_ONLY TRUE)
  endif()
  target_include_directories(assay_fault_${name}_kernels BEFORE PRIVATE ${root})
  target_link_libraries(assay_fault_${name}_kernels PRIVATE assay_kernels_${family})
  target_compile_options(assay_fault_${name}_kernels PRIVATE -O0 -g0)
  assay_program(assay_fault_${name} OBJECTS assay_fault_${name}_kernels)

  add_test(NAME fault_${name}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:assay_fault_${name}> -DFAMILY=${gate} -DFAULT=${name}
      "-DPATTERN=${pattern}" "-DWHY=${why}" -P ${PROJECT_SOURCE_DIR}/cmake/AssayExpectFault.cmake
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(fault_${name} PROPERTIES LABELS fault)
endfunction()

function(assay_faults)
  foreach(family IN LISTS ASSAY_FAMILIES)
    file(GLOB specs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/properties/${family}/faults/*.fault)
    foreach(spec IN LISTS specs)
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spec})
      assay_fault(${family} ${spec})
    endforeach()
  endforeach()
endfunction()
