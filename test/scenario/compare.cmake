# Runs short.yaml and compares the report with what is expected, as text and as JSON.
function(check output file)
  execute_process(COMMAND ${BERTH} simulate --kubernetes-version 1.34 --scenario ${DIR}/short.yaml
                          -o ${output}
                  OUTPUT_VARIABLE got ERROR_VARIABLE complaint RESULT_VARIABLE code)
  if(NOT code EQUAL 1)  # two pods cannot be scheduled
    message(FATAL_ERROR "exit code ${code} instead of 1: ${complaint}")
  endif()
  string(REGEX REPLACE ", in [0-9.]+ s \\([0-9,]+ times as fast\\)" "" got "${got}")
  if(UPDATE)
    file(WRITE ${DIR}/${file} "${got}")
    return()
  endif()
  file(READ ${DIR}/${file} expected)
  if(NOT got STREQUAL expected)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/scenario-${file} "${got}")
    message(FATAL_ERROR "the report differs: diff ${DIR}/${file} ${CMAKE_CURRENT_BINARY_DIR}/scenario-${file}")
  endif()
endfunction()

check(table short.txt)
check(json short.json)
