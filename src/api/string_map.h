// StringMap: labels, annotations, node selectors. Sorted by key, so iteration order is the order Kubernetes prints.
#pragma once

#include <functional>
#include <string>

#include <boost/container/flat_map.hpp>

namespace berth::api {

using StringMap = boost::container::flat_map<std::string, std::string, std::less<>>;

}  // namespace berth::api
