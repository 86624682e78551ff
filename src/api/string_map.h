// StringMap: labels, annotations, node selectors. Sorted by key, so iteration order is the order
// Kubernetes prints.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include <boost/container/flat_map.hpp>

namespace berth::api {

using StringMap = boost::container::flat_map<std::string, std::string, std::less<>>;

// The value of `key`, or null. Objects carry few labels: comparing lengths first finds one faster
// than bisecting does.
inline const std::string* FindValue(const StringMap& map, std::string_view key) {
  constexpr size_t kFew = 24;
  if (map.size() > kFew) {
    const auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
  }
  for (const auto& [k, value] : map) {
    if (k.size() == key.size() && std::memcmp(k.data(), key.data(), key.size()) == 0) return &value;
  }
  return nullptr;
}

}  // namespace berth::api
