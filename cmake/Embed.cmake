# The built dashboard (web/dist) as C++: run as a script, it writes OUT from the files below DIR.
#
#   cmake -DDIR=web/dist -DOUT=files.cc -P cmake/Embed.cmake
#
# Included, berth_embed_dashboard(target) does that at build time, whenever a file has changed.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files RELATIVE ${DIR} ${DIR}/*)
  list(FILTER files EXCLUDE REGEX "sources\\.sha256$")
  list(SORT files)
  set(arrays "")
  set(rows "")
  set(n 0)
  foreach(file ${files})
    file(READ ${DIR}/${file} hex HEX)
    file(SHA256 ${DIR}/${file} hash)
    string(SUBSTRING ${hash} 0 16 hash)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "constexpr unsigned char kFile${n}[] = {${bytes}};\n")
    string(APPEND rows
      "      {\"${file}\", \"${hash}\", {reinterpret_cast<const char*>(kFile${n}), sizeof kFile${n}}},\n")
    math(EXPR n "${n} + 1")
  endforeach()
  file(WRITE ${OUT} "// Made by cmake/Embed.cmake from web/dist.
#include \"server/dashboard/dashboard.h\"

namespace berth::server {
namespace {
${arrays}}  // namespace

std::span<const DashboardFile> DashboardFiles() {
  static const DashboardFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace berth::server
")
  return()
endif()

set(BERTH_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(berth_embed_dashboard target)
  set(dist ${CMAKE_SOURCE_DIR}/web/dist)
  set(out ${CMAKE_BINARY_DIR}/generated/dashboard_files.cc)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${dist}/*)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${BERTH_EMBED_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DDIR=${dist} -DOUT=${out} -P ${BERTH_EMBED_SCRIPT}
    COMMENT "Embedding the dashboard" VERBATIM)
  target_sources(${target} PRIVATE ${out})
  # What is embedded was built from what is in web/: needs no Node.
  add_test(NAME web_dist_is_current COMMAND ${CMAKE_SOURCE_DIR}/web/hashes --check)
  berth_label(lint web_dist_is_current)
endfunction()
