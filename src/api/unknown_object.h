// UnknownObject: an object of a kind without a type of its own, kept as JSON.
#pragma once

#include <string>

#include "api/meta.h"

namespace berth::api {

// A ConfigMap, a custom resource, an unknown version.
struct UnknownObject {
  std::string api_version;
  std::string kind;
  ObjectMeta metadata;
  std::string json = {};  // the whole object; empty when it was decoded from protobuf

  bool operator==(const UnknownObject&) const = default;
};

}  // namespace berth::api
