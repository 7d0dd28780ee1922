# For the tests that need Python; without it they are not registered, and the configuration says so.
#   ASSAY_PYTHON       any python3
#   ASSAY_PYTHON_H5PY  one that can import numpy and h5py. The first python3 of the PATH may be one without Debian's
#                      packages, so the system's own is asked too.
include_guard(GLOBAL)
find_program(ASSAY_PYTHON python3)
mark_as_advanced(ASSAY_PYTHON)
if(NOT ASSAY_PYTHON)
  message(STATUS "no python3: the tests of the scripts are not registered")
endif()
set(ASSAY_PYTHON_H5PY "" CACHE STRING "A Python with numpy and h5py; empty: looked for")
foreach(candidate ${ASSAY_PYTHON} /usr/bin/python3)
  if(NOT ASSAY_PYTHON_H5PY AND EXISTS ${candidate})
    execute_process(COMMAND ${candidate} -c "import numpy, h5py" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set_property(CACHE ASSAY_PYTHON_H5PY PROPERTY VALUE ${candidate})
    endif()
  endif()
endforeach()
if(NOT ASSAY_PYTHON_H5PY)
  message(STATUS "no python3 with numpy and h5py: the tests that exchange files with them are not registered")
endif()
