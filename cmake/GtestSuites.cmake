# Included by ctest for every gtest binary: one test per suite, as the binary lists them at that moment.
#
#   name      the target
#   program   its file
#   labels, timeout, environment
#
# A process per suite and not per case: see docs/decisions/0021-tests-by-suite.md.
if(NOT EXISTS "${program}")
  add_test("${name}" "${program}")  # fails: not built
  set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
  return()
endif()
set(list "${program}.suites")
if(NOT EXISTS "${list}" OR "${program}" IS_NEWER_THAN "${list}")
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_FILE "${list}" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    file(REMOVE "${list}")
    add_test("${name}" "${program}" --gtest_list_tests)
    set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
    return()
  endif()
endif()
file(STRINGS "${list}" suites REGEX "^[A-Za-z_][^ ]*\\.")
foreach(suite ${suites})
  string(REGEX REPLACE "\\..*$" "" suite "${suite}")
  add_test("${name}.${suite}" "${program}" "--gtest_filter=${suite}.*" --gtest_brief=1)
  set_tests_properties("${name}.${suite}" PROPERTIES LABELS "${labels}" TIMEOUT "${timeout}"
                       ENVIRONMENT "${environment}")
endforeach()
