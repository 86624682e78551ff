# Precompiled headers. Half of the time of a compilation goes into the same few headers: api/core/pod.h with the
# standard library, the cluster and the plugin interface over it, gtest. They are parsed once per layer and reused.
#
#   berth_pch(TARGET)        marks TARGET as compiled with the headers of the layer it stands on
#
# A file must still include what it uses: clang-tidy (tools/lint) and check_headers compile without.
set(BERTH_PCH_api "<fmt/format.h>;<algorithm>;<array>;<cstdint>;<functional>;<map>;<memory>;<optional>;<set>;<span>"
                  "<string>;<string_view>;<unordered_map>;<utility>;<variant>;<vector>;\"api/core/pod.h\"")
set(BERTH_PCH_framework ${BERTH_PCH_api} "\"cluster/cluster.h\"" "\"framework/points/plugin.h\"")
set(BERTH_PCH_test "<gmock/gmock.h>" "<gtest/gtest.h>")

# The layer whose headers a module may have read in advance: none for base and log, which stand below them all.
function(berth_pch_layer out module)
  if(module MATCHES "^(base|log|term)$")
    set(${out} "" PARENT_SCOPE)
  elseif(module MATCHES "^(api|cel|config|cluster|queue|files|net)$")
    set(${out} api PARENT_SCOPE)
  else()
    set(${out} framework PARENT_SCOPE)
  endif()
endfunction()

# kind: "" for libraries and programs, "test" for gtest binaries.
function(berth_pch target layer kind)
  if(NOT BERTH_PCH OR layer STREQUAL "")
    return()
  endif()
  set(owner berth_pch_${layer}${kind})
  if(NOT TARGET ${owner})
    set(stub ${CMAKE_BINARY_DIR}/pch/${owner}.cc)
    if(NOT EXISTS ${stub})
      file(WRITE ${stub} "")
    endif()
    add_library(${owner} OBJECT ${stub})
    if(layer STREQUAL "api")
      target_include_directories(${owner} PRIVATE ${BERTH_MODULES_DIR}/base ${BERTH_MODULES_DIR}/api)
    else()
      foreach(module base api config cluster framework)
        target_include_directories(${owner} PRIVATE ${BERTH_MODULES_DIR}/${module})
      endforeach()
    endif()
    target_link_libraries(${owner} PRIVATE fmt::fmt PkgConfig::simdjson)
    set(headers ${BERTH_PCH_${layer}})
    if(kind)
      list(APPEND headers ${BERTH_PCH_test})
      find_package(GTest REQUIRED)
      target_link_libraries(${owner} PRIVATE GTest::gmock)
      target_compile_options(${owner} PRIVATE ${BERTH_TEST_OPTIONS})
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
    # Not from the compiler cache: it would take a header that was parsed when white space or comments were others, and
    # g++ then fails to recognise the files of #pragma once.
    if(CCACHE)
      set_target_properties(${owner} PROPERTIES CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/compile-pch)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
