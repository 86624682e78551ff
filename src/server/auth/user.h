// The authenticated user of a request.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::server {

inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kAllUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kAllAuthenticated = "system:authenticated";

struct UserInfo {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool operator==(const UserInfo&) const = default;
};

}  // namespace berth::server
