# An operator family is one folder of the same name under each of these concerns. Whatever is not listed
# as infrastructure is a family, so adding one edits no list; a family that lacks a concern stops here.
set(ASSAY_CONCERNS oracles kernels properties fixtures goldens)
set(ASSAY_INFRASTRUCTURE_oracles formats arithmetic)
set(ASSAY_INFRASTRUCTURE_kernels device executor runtime)
set(ASSAY_INFRASTRUCTURE_properties comparator gate exchange bench wrappers decode repro across cli fuzz)
set(ASSAY_INFRASTRUCTURE_fixtures tensor files functions)
set(ASSAY_INFRASTRUCTURE_goldens record)

set(ASSAY_FAMILIES "")
foreach(concern IN LISTS ASSAY_CONCERNS)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/${concern}
    ${PROJECT_SOURCE_DIR}/${concern}/*)
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${concern}/${entry}
       AND NOT entry IN_LIST ASSAY_INFRASTRUCTURE_${concern})
      list(APPEND ASSAY_FAMILIES ${entry})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES ASSAY_FAMILIES)
list(SORT ASSAY_FAMILIES)
foreach(family IN LISTS ASSAY_FAMILIES)
  foreach(concern IN LISTS ASSAY_CONCERNS)
    if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${concern}/${family})
      message(FATAL_ERROR "family '${family}' has no folder ${concern}/${family}; every family needs one under "
        "each of: ${ASSAY_CONCERNS}. If '${family}' is infrastructure, list it in cmake/AssayFamilies.cmake.")
    endif()
  endforeach()
endforeach()
message(STATUS "assay families: ${ASSAY_FAMILIES}")

# Adds the folders of this concern that have a build file: first infrastructure, in the order listed, then families.
function(assay_add_concern concern)
  foreach(folder IN LISTS ASSAY_INFRASTRUCTURE_${concern} ASSAY_FAMILIES)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${concern}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
