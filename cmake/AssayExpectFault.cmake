# cmake -DPROGRAM=file -DFAMILY=name -DFAULT=name -DPATTERN=text -DWHY=sentence -P AssayExpectFault.cmake
#
# The gate must reject a program with a planted fault, and must name the fault's pattern; what else it would find is of no
# interest.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} gate --family ${FAMILY} --device cpu --until "${PATTERN}"
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "planted fault '${FAULT}' (${WHY}): the gate ended with ${code}, not 1. Its output:\n${output}")
elseif(NOT output MATCHES "\n *pattern: [^\n]*${PATTERN}")
  message(FATAL_ERROR "planted fault '${FAULT}' (${WHY}): rejected, but not as '${PATTERN}'. The gate's output:\n${output}")
endif()
message(STATUS "planted fault '${FAULT}' rejected as '${PATTERN}'")
