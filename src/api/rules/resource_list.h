// ResourceList: amounts by resource name (cpu, memory, ephemeral-storage, hugepages-*,
// example.com/gpu), sorted by name.
#pragma once

#include <functional>
#include <string>

#include <boost/container/flat_map.hpp>

#include "api/rules/quantity.h"

namespace berth::api {

using ResourceList = boost::container::flat_map<std::string, Quantity, std::less<>>;

}  // namespace berth::api
