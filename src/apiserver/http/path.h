// RequestInfo: what a request path is about, as the API server reads it.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/resource.h"

namespace berth::apiserver {

struct RequestInfo {
  const Resource* resource = nullptr;  // null: no path of a resource that is served
  std::string namespace_;
  std::string name;
  std::string subresource;
};

// Of /api/VERSION/… and /apis/GROUP/VERSION/… paths.
RequestInfo ParsePath(const Catalog& catalog, std::string_view path);

}  // namespace berth::apiserver
