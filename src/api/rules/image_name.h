// Names of container images.
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

// With ":latest" added if there is neither a tag nor a digest: the form in which nodes list their
// images.
std::string NormalizedImageName(std::string_view name);

}  // namespace berth::api
