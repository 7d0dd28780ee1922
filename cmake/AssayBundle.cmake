# cmake -DPROGRAM=file -DBUNDLE=folder -DSTRIP=strip -P AssayBundle.cmake
#
# Copies a program and the shared objects it needs, without debug information, to a folder that runs wherever the C and
# C++ runtimes are at least as new as this machine's. Those are left out: what a driver or a debugging tool loads into
# the process may need the newer ones of the machine it runs on.
cmake_minimum_required(VERSION 3.25)
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${PROGRAM}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|nsl|anl|gcc_s|stdc\\+\\+)\\.so")
if(missing)
  message(FATAL_ERROR "not found, needed by ${PROGRAM}: ${missing}")
endif()
file(REMOVE_RECURSE ${BUNDLE})
file(COPY ${PROGRAM} DESTINATION ${BUNDLE})
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${BUNDLE}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()
file(GLOB_RECURSE files LIST_DIRECTORIES false ${BUNDLE}/*)
set(bytes 0)
foreach(file IN LISTS files)
  if(NOT IS_SYMLINK ${file})
    execute_process(COMMAND ${STRIP} -g ${file} COMMAND_ERROR_IS_FATAL ANY)
    file(SIZE ${file} size)
    math(EXPR bytes "${bytes} + ${size}")
  endif()
endforeach()
list(LENGTH libraries count)
math(EXPR megabytes "(${bytes} + 999999) / 1000000")
message(STATUS "${BUNDLE}: program and ${count} libraries, ${megabytes} MB")
if(megabytes GREATER_EQUAL 60)
  message(FATAL_ERROR "the bundle is ${megabytes} MB; it must stay under 60 to travel")
endif()
