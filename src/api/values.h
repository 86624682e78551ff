// Values with a form of their own on the wire: a number or a percentage, JSON passed through,
// bytes, mere presence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <boost/container/flat_map.hpp>

namespace berth::api {

// A map of the API with values that are no strings, sorted by key.
template <class T>
using Map = boost::container::flat_map<std::string, T, std::less<>>;

// intstr.IntOrString: 3 or "25%".
struct IntOrString {
  bool is_string = false;
  int32_t int_value = 0;
  std::string string_value;

  static IntOrString Int(int32_t value) { return {false, value, {}}; }
  static IntOrString String(std::string value) { return {true, 0, std::move(value)}; }
  bool operator==(const IntOrString&) const = default;
};

// JSON that berth passes on without looking into it (runtime.RawExtension). Minified; empty when
// absent.
struct RawJson {
  std::string text;

  bool operator==(const RawJson&) const = default;
};

// Binary data: base64 in JSON.
struct Bytes {
  std::string data;

  bool operator==(const Bytes&) const = default;
};

// A message whose content never matters to scheduling, only that it is there.
struct Presence {
  bool operator==(const Presence&) const = default;
};

}  // namespace berth::api
