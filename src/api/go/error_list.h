// Several errors as one message, and messages about invalid fields, as Kubernetes prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::api {

// One error: itself. Several: "[a, b]", each message once.
std::string JoinErrors(const std::vector<std::string>& errors);

// `PATH: Invalid value: VALUE: DETAIL`; an empty path prints as <nil>. VALUE is a quoted string or
// a JSON list.
std::string InvalidString(std::string_view path, std::string_view value, std::string_view detail);
std::string InvalidList(std::string_view path, const std::vector<std::string>& values,
                        std::string_view detail);

// `PATH: Unsupported value: "VALUE": supported values: "A", "B"`.
std::string UnsupportedValue(std::string_view path, std::string_view value,
                             const std::vector<std::string_view>& supported);

}  // namespace berth::api
