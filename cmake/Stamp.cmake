# The commit berth is built from, as C++: run as a script, it writes OUT if the commit has changed.
#
#   cmake -DSOURCE=. -DOUT=stamp.cc -P cmake/Stamp.cmake
#
# Included, berth_stamp(target) does that at every build. BERTH_COMMIT in the environment names the commit where there
# is no git checkout.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.21)  # a script starts with none, and warns
  set(commit "$ENV{BERTH_COMMIT}")
  if(commit STREQUAL "")
    execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git diff-index --quiet HEAD WORKING_DIRECTORY ${SOURCE}
                    RESULT_VARIABLE changed ERROR_QUIET)
    if(commit STREQUAL "")
      set(commit unknown)
    elseif(changed EQUAL 1)
      string(APPEND commit "-dirty")
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUT} CONTENT "// Made by cmake/Stamp.cmake.
#include \"cli/build_info.h\"

namespace berth::cli {

std::string_view BuildCommit() { return \"@commit@\"; }

}  // namespace berth::cli
" @ONLY)
  return()
endif()

set(BERTH_STAMP_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
# A library of its own: a commit rebuilds it and links what uses it, nothing else.
function(berth_stamp target)
  set(out ${CMAKE_BINARY_DIR}/generated/stamp.cc)
  add_custom_target(stamp_commit BYPRODUCTS ${out}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${out} -P ${BERTH_STAMP_SCRIPT} VERBATIM)
  add_library(berth_stamp STATIC ${out})
  target_include_directories(berth_stamp PRIVATE ${BERTH_MODULES_DIR}/cli)
  add_dependencies(berth_stamp stamp_commit)
  target_link_libraries(${target} PUBLIC berth_stamp)
endfunction()
