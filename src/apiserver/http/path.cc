#include "apiserver/http/path.h"

#include <vector>

namespace berth::apiserver {
namespace {

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t pos = 0; pos < path.size();) {
    size_t end = path.find('/', pos);
    if (end == std::string_view::npos) end = path.size();
    if (end > pos) parts.push_back(path.substr(pos, end - pos));
    pos = end + 1;
  }
  return parts;
}

}  // namespace

RequestInfo ParsePath(const Catalog& catalog, std::string_view path) {
  RequestInfo info;
  std::vector<std::string_view> parts = Split(path);
  if (parts.size() < 3) return info;
  std::string_view group;
  std::string_view version;
  size_t at = 0;
  if (parts[0] == "api") {
    version = parts[1];
    at = 2;
  } else if (parts[0] == "apis" && parts.size() >= 4) {
    group = parts[1];
    version = parts[2];
    at = 3;
  } else {
    return info;
  }
  // /namespaces/NAME[/status|/finalize] is a namespace, /namespaces/NAME/pods lies in it.
  const bool in_namespace = parts[at] == "namespaces" && parts.size() > at + 2 &&
                            parts[at + 2] != "status" && parts[at + 2] != "finalize";
  if (in_namespace) {
    info.namespace_ = parts[at + 1];
    at += 2;
  }
  const Resource* resource = catalog.Find(group, version, parts[at]);
  if (!resource || (in_namespace && !resource->namespaced)) return info;
  if (parts.size() > at + 3) return info;
  if (parts.size() > at + 1) info.name = parts[at + 1];
  if (parts.size() > at + 2) info.subresource = parts[at + 2];
  // An object of a namespace is only found in one.
  if (resource->namespaced && !in_namespace && !info.name.empty()) return info;
  info.resource = resource;
  return info;
}

}  // namespace berth::apiserver
