# Defines hdf5::hdf5, visible in every folder. CMake's own FindHDF5 is not used: it needs the C language enabled for a
# trial compilation, and it links every dependency of libhdf5 (curl, crypto, ...) by name, which the shared library
# already does itself. Debian keeps header and library in a folder of their own, because serial and MPI builds coexist.
include_guard(GLOBAL)
find_path(ASSAY_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(ASSAY_HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(ASSAY_HDF5_INCLUDE ASSAY_HDF5_LIBRARY)
if(NOT ASSAY_HDF5_INCLUDE OR NOT ASSAY_HDF5_LIBRARY)
  message(FATAL_ERROR "HDF5 not found (on Debian: apt install libhdf5-dev)")
endif()
add_library(hdf5::hdf5 SHARED IMPORTED GLOBAL)
set_target_properties(hdf5::hdf5 PROPERTIES
  IMPORTED_LOCATION ${ASSAY_HDF5_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${ASSAY_HDF5_INCLUDE}
  INTERFACE_COMPILE_DEFINITIONS H5_USE_110_API)  # the API of 1.10 under newer headers too
