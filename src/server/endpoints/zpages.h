// /statusz and /flagz: what the process is and how it was started.
//
// Kubernetes 1.34 has text only. From 1.35 on a client can ask for an object, by an Accept header
// as "application/json;v=v1beta1;g=config.k8s.io;as=Statusz". Kubernetes draws the sign between
// name and value of the text at random; here it is "=".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/message.h"
#include "server/server.h"

namespace berth::server {

// What /statusz shows beside ZPages.
struct StatuszFacts {
  std::string_view component;
  int64_t started = 0;  // seconds since 1970
  int64_t up = 0;       // seconds
};

Response Statusz(const Request& request, const ZPages& pages, const StatuszFacts& facts);
// `flags` are sorted by name.
Response Flagz(const Request& request, const ZPages& pages, std::string_view component,
               const std::vector<std::pair<std::string, std::string>>& flags);

// Does the Accept header take text/plain (1.34 insists on it)?
bool AcceptsPlainText(std::string_view accept);

// "Sun Nov 15 19:58:13 UTC 2026".
std::string UnixDate(int64_t seconds);
// "1 hr 02 min 03 sec".
std::string Uptime(int64_t seconds);

}  // namespace berth::server
