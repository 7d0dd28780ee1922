# assay_reported(FAMILY)
#
# Builds fixtures/FAMILY/reported/*.json into the library assay_fixtures_FAMILY, as what its reported_files() returns, so
# that the program needs no source tree to run them. The folder's reported.hpp declares the function and ReportedFile.
function(assay_reported family)
  file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/reported/*.json)
  list(SORT cases)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cases})
  set(entries "")
  foreach(case IN LISTS cases)
    cmake_path(GET case FILENAME name)
    file(READ ${case} text)
    string(APPEND entries "    {\"${name}\", R\"case(${text})case\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/reported_files.cpp @ONLY CONTENT
"#include \"fixtures/@family@/reported.hpp\"

namespace assay::fixtures::@family@ {

std::span<const ReportedFile> reported_files() {
  static const ReportedFile files[] = {
@entries@  };
  return files;
}

}  // namespace assay::fixtures::@family@
")
  target_sources(assay_fixtures_${family} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/reported_files.cpp)
endfunction()
