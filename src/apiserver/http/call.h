// One request on its way through the API server. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/api_server.h"
#include "apiserver/registry/registry.h"

namespace berth::apiserver {

struct ApiServer::Call {
  server::Request request;
  server::Respond respond;
  RequestInfo info = {};
  Encoding encoding = {};

  const Resource& resource() const { return *info.resource; }
  // The decoded value of a query parameter, "" when absent.
  std::string Query(std::string_view key) const {
    const auto values = server::QueryValues(request.query, key);
    return values.empty() ? "" : values.front();
  }
  bool QueryFlag(std::string_view key) const {
    const std::string value = Query(key);
    // What Go reads as true; clients write it in many ways.
    return value == "true" || value == "1" || value == "True" || value == "TRUE" || value == "t" ||
           value == "T" || (value.empty() && server::QueryHas(request.query, key));
  }
  WriteOptions Options() const {
    return {.dry_run = Query("dryRun") == "All", .field_manager = Manager()};
  }
  bool Strict() const { return Query("fieldValidation") == "Strict"; }
  // Who writes, for managedFields: said by the client or its program's name.
  std::string Manager() const {
    std::string manager = Query("fieldManager");
    if (!manager.empty()) return manager;
    const std::string_view agent = request.Header("user-agent");
    return std::string(agent.substr(0, agent.find('/')));
  }
};

}  // namespace berth::apiserver
