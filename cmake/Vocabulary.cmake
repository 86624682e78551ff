# The words that redacted recordings keep, from the sources of the core: made when one of them changes, so that it
# cannot be out of date.
function(berth_vocabulary target)
  set(tool ${CMAKE_SOURCE_DIR}/tools/redaction-vocabulary)
  set(out ${CMAKE_BINARY_DIR}/generated/record/vocabulary.inc)
  set(sources)
  foreach(module api cel config cluster queue framework plugins scheduler)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
         ${CMAKE_SOURCE_DIR}/src/${module}/*.cc ${CMAKE_SOURCE_DIR}/src/${module}/*.h
         ${CMAKE_SOURCE_DIR}/src/${module}/*.inc)
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$|/testing/|/testdata/")
  add_custom_command(OUTPUT ${out} DEPENDS ${sources} ${tool} COMMAND ${tool} ${out}
    COMMENT "Collecting the vocabulary of redacted recordings" VERBATIM)
  target_sources(${target} PRIVATE ${out})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()
