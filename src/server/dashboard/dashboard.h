// The dashboard: the built files of web/, held in the binary.
//
//   /dashboard        goes to /dashboard/
//   /dashboard/       index.html
//   /dashboard/FILE   the file
//   /dashboard/apis.json   which APIs the server has, so that the page shows what they serve
//
// The files hold no data of any cluster; everything the page shows it asks of the explain API. So
// they are given to anybody, and only the API asks who it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"
#include "server/http/mount.h"

namespace berth::server {

struct DashboardFile {
  std::string_view path;  // below /dashboard/
  std::string_view hash;  // of its bytes
  std::string_view bytes;
};

// All of them, sorted by path. Made by cmake/Embed.cmake.
std::span<const DashboardFile> DashboardFiles();

// `apis`: "explain", "shadow", "replay".
using DashboardApis = std::vector<std::string>;

Response ServeDashboard(const Request& request, const DashboardApis& apis = {"explain"});

Mount DashboardMount(DashboardApis apis = {"explain"});

}  // namespace berth::server
