# One library per room of src/. A room sees its own headers and those of the rooms it declares, nothing else:
# each room is reached through a private include directory that holds one link, so `#include "cluster/x.h"` compiles
# only where `cluster` was declared. Dependencies of dependencies stay visible: layers are cumulative.
#
#   berth_room(NAME DEPS room... LIBS target...)
#
# Files are found by ending: *_test.cc become one test binary per room, *_bench.cc one microbenchmark binary, main.cc
# files are left to berth_binary, everything else is the library.

set(BERTH_ROOMS_DIR ${CMAKE_BINARY_DIR}/rooms)

function(berth_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(MAKE_DIRECTORY ${BERTH_ROOMS_DIR}/${name})
  file(CREATE_LINK ${dir} ${BERTH_ROOMS_DIR}/${name}/${name} SYMBOLIC)

  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${dir}/*.h)
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER all EXCLUDE REGEX "(_test|_bench|/main|_main)\\.cc$")

  if(all)
    add_library(berth_${name} STATIC ${all})
    set(scope PUBLIC)
  else()
    add_library(berth_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(berth_${name} ${scope} ${BERTH_ROOMS_DIR}/${name})
  foreach(dep ${ROOM_DEPS})
    target_link_libraries(berth_${name} ${scope} berth_${dep})
  endforeach()
  target_link_libraries(berth_${name} ${scope} ${ROOM_LIBS})

  if(BERTH_FUZZ)
    return()
  endif()
  if(tests)
    berth_test(${name}_test SOURCES ${tests} DEPS berth_${name})
  endif()
  if(benches)
    find_package(benchmark REQUIRED)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE berth_${name} benchmark::benchmark_main)
    add_test(NAME ${name}_bench_runs COMMAND ${name}_bench --benchmark_min_time=0)
  endif()
  # Every header compiles alone.
  foreach(header ${headers})
    file(RELATIVE_PATH rel ${dir} ${header})
    string(REPLACE "/" "_" flat ${rel})
    set(stub ${CMAKE_BINARY_DIR}/headers/${name}_${flat}.cc)
    if(NOT EXISTS ${stub})
      file(WRITE ${stub} "#include \"${name}/${rel}\"\n")
    endif()
    list(APPEND stubs ${stub})
  endforeach()
  if(stubs)
    add_library(check_headers_${name} OBJECT EXCLUDE_FROM_ALL ${stubs})
    target_link_libraries(check_headers_${name} PRIVATE berth_${name})
    if(NOT TARGET check_headers)
      add_custom_target(check_headers)
    endif()
    add_dependencies(check_headers check_headers_${name})
  endif()
endfunction()

# A gtest binary, registered with CTest as one test.
function(berth_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_DEPS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "BERTH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ASAN_OPTIONS=detect_leaks=1;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# An executable in build/bin from STEM.cc.
function(berth_binary name stem)
  cmake_parse_arguments(B "" "" "DEPS" ${ARGN})
  add_executable(${name} ${stem}.cc)
  foreach(dep ${B_DEPS})
    target_link_libraries(${name} PRIVATE berth_${dep})
  endforeach()
endfunction()
