// JSON to YAML as Kubernetes writes it (sigs.k8s.io/yaml over go-yaml v2): block style, keys in
// natural order, strings quoted where they would read as something else.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api {

// The error is that of reading `json`, which is read as YAML.
Result<std::string> JsonToYaml(std::string_view json);

}  // namespace berth::api
