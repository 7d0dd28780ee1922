# assay_source_revisions(TARGET)
#
# Builds into TARGET the function source_revision() of goldens/record/source_revision.hpp: for every family a SHA-256 over
# the sources that decide what its golden records hold. It is computed when one of them changes, from names and contents
# alone: neither the version control system, nor the place of the build, nor the time has a part in it.
#
# As a script (cmake -DSOURCE_DIR=... -DFAMILIES=a,b -DOUTPUT=file -P AssayRevision.cmake) it writes that source file.
cmake_minimum_required(VERSION 3.25)

# The files of one family, relative to `root`, in the order of their bytes. CONFIGURE_DEPENDS may follow: it is an error
# in a script.
function(assay_revision_files root family out)
  set(found "")
  foreach(folder oracles/formats oracles/arithmetic oracles/${family} fixtures/tensor fixtures/${family})
    file(GLOB_RECURSE files ${ARGN} RELATIVE ${root} ${root}/${folder}/*.cpp ${root}/${folder}/*.hpp ${root}/${folder}/*.json)
    list(APPEND found ${files})
  endforeach()
  list(FILTER found EXCLUDE REGEX "(_test|_bench|_main)\\.cpp$")
  list(SORT found COMPARE STRING CASE SENSITIVE)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "," ";" families "${FAMILIES}")
  set(entries "")
  foreach(family IN LISTS families)
    assay_revision_files(${SOURCE_DIR} ${family} files)
    set(sums "")
    foreach(file IN LISTS files)
      file(SHA256 ${SOURCE_DIR}/${file} sum)
      string(APPEND sums "${sum}  ${file}\n")
    endforeach()
    string(SHA256 revision "${sums}")
    string(APPEND entries "  if (family == \"${family}\") return \"${revision}\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#include \"goldens/record/source_revision.hpp\"

namespace assay::goldens {

std::string_view source_revision(std::string_view family) {
@entries@  return {};
}

}  // namespace assay::goldens
")
  return()
endif()

function(assay_source_revisions target)
  set(sources "")
  foreach(family IN LISTS ASSAY_FAMILIES)
    assay_revision_files(${PROJECT_SOURCE_DIR} ${family} files CONFIGURE_DEPENDS)
    list(APPEND sources ${files})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  list(JOIN ASSAY_FAMILIES "," families)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/source_revision.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DFAMILIES=${families} -DOUTPUT=${output}
      -P ${PROJECT_SOURCE_DIR}/cmake/AssayRevision.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/AssayRevision.cmake
    COMMENT "Hashing the sources that decide goldens" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
